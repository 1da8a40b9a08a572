"""What random programs may do otherwise than in torch, each with its reason; docs/departures.md has most of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .differences_of_options import CAUSED_BY_OPTIONS, OF_OPTIONS, OF_SURROUNDINGS
from .differences_of_statements import DIFFERENCES, GAVE_UP, OF_TARGET, REFUSED
from .execution import ends, run, unneeded, without
from .outside import agrees_without_transforms
from .questions import (
    agrees_in_wide,
    as_float64,
    copies_what_lies_otherwise,
    differs_as_float32,
    differs_in_signs_of_infinities,
    differs_in_zeros,
    digits_decide,
    edges_are_in_no_order,
    eigenvalues_meet,
    equal_weights_decide,
    gives_none,
    gradients_meet,
    has_no_elements,
    is_a_list,
    meets_infinity,
    norch_spreads_nan,
    on_an_edge,
    operand_is_rounding,
    overlaps,
    pairs_of,
    permuted,
    pivot_is_rounding,
    rank_is_rounding,
    rounded_otherwise,
    rounding_beside_0,
    ties_decide,
    torch_expands,
    torch_is_no_closer,
    torch_shares,
    torch_spreads_nan,
    variance_is_rounding,
    with_tail,
    zeros_have_signs,
)
from .shrinking import kind

STEPS = re.compile(
    r"\.to\(lib\.u?int|= int\(|\.(long|int|short|floor|ceil|trunc|round|frac)_?\(|//|%|fmod|remainder|floor_divide"
    r"| [=!<>]=? |\b(all|any|equal|count_nonzero|nonzero|argwhere|[gln][et]|eq|greater|less)(_equal)?_?\("
)
TAILED = r"lib\.(special\.ndtr|nn\.functional\.gelu)\((v\d+)\)"
INFINITE = re.compile(r"-?\binf\b")
DERIVED = re.compile(r"autograd\.(grad|functional)|lib\.func\.")
HOOK_OF_VIEW = r"(v\d+ = v\d+\[.*\]); v\d+\.register_hook\(lambda g: g \* 2\)"
MATRIX = re.compile(
    r"linalg\.|det\(|inv|cholesky|qrf?\(|svd|lu_|triangular_solve|definite|LowRank|Multivariate|Wishart"
)
BY_FREQUENCY = r"(scale_grad_by_freq=|\bEmbedding\(3, 2, [^,]+, [^,]+, [^,]+, )True"
CANCELLING = re.compile(
    r"grid_sample|conv|cdist|BCEWithLogits|prod\(|attention|kl_div|Transform|Adafactor|LBFGS|[Mm]argin|Upsample|interpolate|[Cc]ross_?[Ee]ntropy"
)
SPARSE = r"lib\.sparse_coo_tensor\((lib\.tensor\(\[\[.*?\]\]\)), (v\d+), (\(\d+, \d+\))\)"
AS_DENSE = r"lib.zeros(\3, dtype=\2.dtype).index_put(tuple(\1), \2, accumulate=True)"
ORDERED = r"permute|transpose|movedim|moveaxis|swap|channels_last|\.m?T\b"
DIVIDING = r" //?=? |div|reciprocal|\*\*|pow|gamma|rsqrt|logit"
CHOOSING = re.compile(r"\b(nan)?(quantile|median)|\b(topk|kthvalue|mode|sort|argsort|msort)\(")

# What explains a difference if it goes once these statements do, and what the difference is about
CAUSES: list[tuple[str, str, str]] = [
    (
        r" % |remainder|fmod|copy_|fill_|lerp|addm[mv]|addr|addc|(add)?bmm|alpha=|(deg|rad)2|(ect|ice|nal)_scatter"
        r"|affine_grid|to_sparse|cumsum_\(",
        "^norch raises RuntimeError: backward through a graph that was freed.*, torch computes",
        REFUSED + "a freed graph in which torch saved nothing, and norch the operands",
    ),
    (
        r"\.retain_grad\(\)",
        r"\.grad ",
        "every tensor of the graph that somebody holds has its gradient, but autograd.grad sets none",
    ),
    (r"grad\(\[.*\], \[(v\d+), \1\]", "", "two gradients of one walk are one tensor in torch"),
    (r"add_param_group", "'sum'", "torch's Adagrad has no state for parameters that come later, and fails at a step"),
    (r"diff\(", "is_leaf|requires_grad", "of no elements torch's diff gives the tensor itself"),
    (
        r"(save_on_cpu|saved_tensors_hooks).*vander\(",
        "elements",
        "torch's vander writes in place to what a hook has packed",
    ),
    (r"rrelu", "^norch computes.*modified by an inplace", GAVE_UP + "the slopes are all that rrelu saves"),
    (r"vander\(", "modified by an inplace", GAVE_UP + "vander, whose own writes torch refuses"),
    (
        r"dropout[123]d\(|Dropout[123]d",
        r"shape|dimension|is_leaf|\.grad ",
        "a dropout that drops nothing returns its input, torch's a view of what has no batch",
    ),
    (
        r"as_tuple=True|lib\.where\(v\d+ [<>=!]+ [^,]*\)",
        r"^v\d+: \[\d\] \d+, torch has \d+$",
        "where the columns of no indices begin",
    ),
    (
        r"poisson_nll_loss\(.*full=True|PoissonNLLLoss\(\w+, True",
        r"\.grad ",
        "torch's derivative to a target below 0 is 0 times NaN",
    ),
    (
        r"\.data\b(?!\.copy_\(lib.linspace)|from_dlpack",
        "elements",
        "what a write through `.data` or DLPack puts into a saved tensor, which neither library watches",
    ),
    (
        r"\.view\(lib\.",
        "requires_grad True, torch has False|is_leaf False, torch has True",
        "torch's view with the dtype that a tensor has is none for writes that require gradients",
    ),
    (
        r"(interpolate|Upsample)\(.*'bicubic'",
        r"elements",
        "torch's derivative of a bicubic scale that keeps the size is that of a copy: its own gradcheck fails",
    ),
    (
        r"increment_version",
        r"\.grad elements",
        "torch's values of a sparse tensor are a view, whose derivative is another one once it counts as written",
    ),
    (
        r"\.to_sparse\(",
        r"\.grad elements",
        "the gradient behind to_sparse is of the elements that the sparse tensor holds",
    ),
    (r"cumm(ax|in)\(", r"requires_grad False, torch has True", "of no elements torch's derivative is its operand"),
    (
        r"\.(var|std)\(|use_reentrant=True",
        r"requires_grad True, torch has False",
        "a derivative that is NaN, and that of a reentrant checkpoint, have no graph in torch",
    ),
    (
        r"(scatter|index)_reduce.*'am(ax|in)'.*include_self=False",
        r"\.grad elements",
        "of equal maxima torch gives the element that is replaced a share of the gradient, which is lost",
    ),
    (
        r"(?i)instance_?norm",
        r"\.grad elements",
        "torch's derivative of instance_norm misreads a gradient in another order of memory: its own gradcheck fails",
    ),
    (
        r"\.data = |\.set_\(",
        "requires_grad|is_leaf|require gradients",
        "a view that was given other memory by `.data =` is no view any more",
    ),
    (
        r"\.(requires_grad|detach)_\(",
        r"requires_grad|is_leaf|\.grad |: \[tensor|(does not|inputs that) require gradients.*torch computes"
        r"|arguments requires grad",
        "a leaf that is a view, or has views: torch gives these new nodes when the memory is written to",
    ),
    (
        r"(no_grad\(\): v\d+|\.detach\(\))(\[.*\] =|\.\w+_\(| [-+*/]=)",
        "None|shares memory",
        "torch gives a view a new node after a write under no_grad",
    ),
]


def explained(lines: Sequence[str], found: str, by_causes: bool = True) -> str | None:
    """Why a difference after the last of these statements is right, None if nothing says so."""
    whole = "\n".join(lines)
    if found.startswith("norch computes") and "modified by an inplace operation" in found:
        bare = [re.sub(r"^with lib\.autograd\.graph\.\w+\(.*?\): ", "", line) for line in lines]
        if unneeded([line for line in bare if "lib.func." not in line], explained):  # which know no saved copies
            return GAVE_UP + "torch saved a value that norch does not need"
    if hooked := re.match(r"at the end (v\d+): \[\d\] (elements|shape)", found):
        if f"register_hook({hooked[1]}.append)" in whole:
            return "in torch what a hook was given is the gradient itself, which others write to"
    if hooked := re.match(r"(?:at the end )?(v\d+): \[.*, torch has \[tensor", found, re.S):
        if f"register_hook({hooked[1]}.append)" in whole and "autograd.grad(" in whole:
            return "autograd.grad calls the hooks of what it walks through; torch also those of an output"
    if hooked := re.match(r"(?:at the end )?(v\d+): .*, torch has \[", found):
        if "multi_grad_hook(" in whole and f"{hooked[1]}.append([x is None" in whole:
            if "autograd.grad(" in whole or re.search(r"hook\(\[[^]]*\b(v\d+)\b.*^\1\.backward\(", whole, re.M | re.S):
                return "walks call the hooks of several tensors; torch's not if they start or end at one of these"
    if re.search(r"\.grad |autograd\.grad|: \[tensor.*torch has \[\]", found + lines[-1], re.S) and re.search(
        r"\.logical_\w+_\(", whole
    ):
        return "torch passes a gradient through logical operations in place, whose derivative is 0"
    if re.search(r"\.grad elements.*torch has .*inf", found) and re.search(r"binary_cross_entropy\(|BCELoss", whole):
        return "the loss has bounded logarithms; torch's gradient of a target has others"
    if re.search(r"elements|v\d+: [\d.]+e-\d+, torch has 0\.0", found) and variance_is_rounding(lines):
        return "the variance of equal numbers: 0, or what rounding leaves"
    close = 0.1 if "float16" in whole else 1e-6
    derived = ".grad" in found or "step()" in lines[-1] or DERIVED.search(lines[-1])
    if derived and differs_in_zeros(found):
        return "0 times NaN, or times infinity, where one of the libraries leaves out what has a factor of 0"
    if derived and torch_spreads_nan(found, close):
        return "a NaN gradient does not reach elements that were not chosen"
    if re.search(r"autograd\.grad\(\[", lines[-1]) and "elements" in found and "register_hook(lambda" in whole:
        return "torch takes the gradient of an input before its hooks if the walk goes on behind it"
    if "a view cannot be detached in place" in found and (told := re.search(r"(v\d+)(?:\.detach_\(|\)$)", lines[-1])):
        part = re.search(rf"^{told[1]} = (v\d+)\[\d\]$", whole, re.M)
        name = part[1] if part else told[1]
        if re.search(rf"^{name} = lib\.(autograd\.grad\(.*create_graph|func\.)", whole, re.M):
            return REFUSED + "a gradient that a rule computes as a view"
    if ".grad elements" in found and "stack(" in whole and gradients_meet(lines):
        return "the gradients of one walk have memory of their own"
    if (told := re.match(r"at the end (v\d+): \[\d\] ", found)) and f"{told[1]} = lib.autograd.grad([" in whole:
        return "two gradients of one walk are one tensor in torch"
    if "elements" in found and "autograd.grad(" in whole and torch_expands(lines):
        return "a gradient has memory for each element; in torch a write to a part shows in others"
    if (told := re.match(r"(?:at the end )?(v\d+): (\[\d\] )?requires_grad False", found)) and re.search(
        rf"^{_source(told[1], whole)} = lib\.func\.", whole, re.M
    ):
        return "in torch a transform's result that is a view of its argument follows writes to it"
    flags = "elements|requires_grad|is_leaf|does not require gradients|cannot be detached"
    if re.search(flags, found) and "lib.func." in whole and torch_shares(lines):
        return "a transform makes new memory; in torch its result may be a view"
    if "shares memory" in found and copies_what_lies_otherwise(lines, found):
        return "what lies in another order of memory is copied, or needs no copy"
    if "shares memory" in found and re.search(r"lib\.func\.|functional\.(jac|hess)", whole):
        return "how the results of transforms lie in memory"
    if "shares memory" in found and "autograd.grad(" in whole and torch_expands(lines):
        return "a gradient has memory for each element; in torch a write to a part shows in others"
    if re.match(r"at the end (v\d+) shares memory with \1, in torch", found) and "autograd.grad(" in whole:
        return "the gradients of one walk have memory of their own"
    if (
        ".grad elements" in found
        and "nan" in found
        and re.search("hardtanh|relu6|shrink|elu|hardswish|logit|[Mm]argin|[Hh]inge", whole)
    ):
        if norch_spreads_nan(found, close):
            return "torch's derivative at NaN depends on the place in memory: 0 in its vector loops, 1 behind them"
    written = re.search(r"\bout=(v\d+)\)", lines[-1]) or re.match(r"(?:lib\.\w+_\()?(v\d+)(?:\.\w+_\(|, )", lines[-1])
    if "elements" in found and written and overlaps(lines, written[1]):
        return GAVE_UP + "norch writes what it has read completely"
    if re.search(r"elements|shape|^v\d+: -?\d+, torch", found) and STEPS.search(lines[-1]) and rounded_otherwise(lines):
        return "rounding decides: the elements before a step differ in their last digits"
    if "elements" in found and "ldexp" in whole and not run([line for line in lines if "ldexp" not in line]):
        return "torch's derivative of ldexp computes 2 ** -1 of integers, which is 0"
    if ".grad elements" in found and "create_graph" in whole and re.search(r"\bnorm\(", whole):
        if not run([re.sub(r"; \w+\.register_hook.*|^\w+\.register_hook\(lambda.*", "", line) for line in lines]):
            return "torch's second derivative of a norm comes by its result, and its hooks, norch's by its parts"
    if "elements" in found and re.search(BY_FREQUENCY, whole) and re.search("create_graph|lib.func", whole):
        if not run([re.sub(BY_FREQUENCY, r"\1False", line) for line in lines]):
            return "torch's second derivative of an embedding forgets the frequencies: its own gradcheck fails"
    if "elements" in found and re.search(TAILED, whole):
        if not run([re.sub(TAILED, with_tail, line) for line in lines]):
            return "torch's ndtr and gelu have lost their digits far below 0"
    if "elements" in found and "create_graph" in whole and re.search(SPARSE, whole):
        if not run([re.sub(SPARSE, AS_DENSE, line) for line in lines]):
            return "torch's second derivative forgets that the gradient of a sparse tensor depends on its values"
    if ".grad elements" in found and re.search(ORDERED, whole) and re.search("(?i)batch_?norm", whole):
        if _goes(found, without(lines, "(?i)batch_?norm")):
            return "torch's derivative of batch_norm misreads a gradient in another order of memory"
    if "elements" in found and re.search(HOOK_OF_VIEW, whole):
        if not run([re.sub(HOOK_OF_VIEW, r"\1", line) for line in lines]):
            return "torch loses the hooks of a view when it is written to"
    if derived and "elements" in found and CHOOSING.search(whole) and pairs_of(found) and permuted(found):
        return "of equal elements any gets the gradient"
    if derived and "elements" in found and CHOOSING.search(whole) and ties_decide(lines):
        return "of equal elements any gets the gradient"
    if "elements" in found and "ContinuousBernoulli" in whole and not run(as_float64(lines)):
        return "near p = 1/2, and for large logits, torch's ContinuousBernoulli loses the digits of float32"
    if re.search(OF_TARGET, found) and (told := re.search(r"(v\d+)\.log_prob", lines[-1])):
        if f"{told[1]} = lib.distributions.Bernoulli(" in whole:
            return "torch's loss has the dtype of its target, norch's the common one"
    if ".grad elements" in found and "logcumsumexp" in whole and norch_spreads_nan(found, close):
        return "torch's derivative of logcumsumexp leaves out gradients that are NaN"
    if ".grad elements" in found and "float16" in whole and re.search(r"logcumsumexp|normalize\(", whole):
        if not run(as_float64(lines)):
            return "torch's derivative computes with numbers that were rounded to 16 bits on the way"
    if "Kumaraswamy" in whole and re.search(r"elements .*torch has .*e\+", found):
        return "of huge concentrations torch's mean has lost its digits"
    if "elements" in found and "histogram(" in lines[-1] and on_an_edge(found):
        return "a value on the edge between two bins, whose last digits differ"
    if "elements" in found and "matrix_rank" in lines[-1] and rank_is_rounding(lines):
        return "of a tolerance of 0, or of a singular value, rounding decides the rank"
    if "elements" in found and not found.startswith("at the end") and rounding_beside_0(lines):
        return "of elements that should be 0 rounding decides"
    if "elements" in found and not found.startswith("at the end") and zeros_have_signs(lines):
        return "the sign of a zero"
    if re.search(r"dtype=lib.(u?int|bool)|\.check\(|[cC]osine_?[eE]mbedding_?[lL]oss", whole) and differs_as_float32(
        found
    ):
        return "integers, and the eps of a loss, become float32, whose last digits differ"
    undecided = "elements (True|False)|computes, torch raises _LinAlg|_LinAlgError.*torch computes"
    if re.search("cholesky|definite", lines[-1]) and re.search(undecided, found):
        if pivot_is_rounding(lines) or operand_is_rounding(lines):
            return "rounding decides whether a pivot is 0"
    if MATRIX.search(whole if derived or "_LinAlgError" in found else lines[-1]) and meets_infinity(lines):
        return "nothing is promised of a matrix that is not finite"
    if re.search("elements .*nan", found) and CANCELLING.search(lines[-1] if not derived else whole):
        if meets_infinity(lines):
            return "0 times infinity, or a difference of infinities, that one of the formulas has on its way"
    if (
        "elements" in found
        and re.search(r"grid_sample(r_[23]d|r)?\(", whole if derived else lines[-1])
        and meets_infinity(lines)
    ):
        return "a coordinate that is not finite lies anywhere"
    if re.search(r"[cC]ross_?[eE]ntropy", lines[-1]) and re.search("elements -?inf, torch has nan", found):
        return "of weights whose sum is 0 torch divides the loss of the labels and that of all classes apart"
    if derived and "addcdiv" in whole and re.search("elements .*torch has .*inf", found):
        return "torch divides by the square of the divisor, which underflows"
    if re.search(DIVIDING, whole if derived else lines[-1]) and differs_in_signs_of_infinities(found):
        return "the sign of a zero"
    if derived and re.search(r"\b(var|std)(_mean)?\(.*correction=", whole) and differs_in_signs_of_infinities(found):
        return "torch's gradient of a variance of no more elements than the correction has no sign"
    if re.search("copysign|signbit", lines[-1]) and meets_infinity(lines):
        return "the sign of a NaN"
    if derived and re.search(r"softplus\(v\d+, (beta=)?(0|False)\b", whole):
        return "with a beta of 0 norch divides by it"
    bare = [*lines[:-1], lines[-1].replace("materialize_grads=True", "materialize_grads=False")]
    if "graph that was freed" in found and "allow_unused=True" in lines[-1] and gives_none(bare):
        return REFUSED + "a freed graph of what it never depended on, which it has forgotten"
    if re.search("graph that was freed.*torch computes", found) and re.search(r"backward\(inputs=", lines[-1]):
        return REFUSED + "a freed graph of what it never depended on, which it has forgotten"
    values = r"(sparse_coo_tensor\(lib\.tensor\([^()]*\)), (v\d+)"
    if "elements" in found and re.search(values, whole):
        if not run([re.sub(values, r"\1, \2.clone()", line) for line in lines]):
            return "torch does not watch the writes to the values of a sparse tensor, whose memory it shares"
    if re.search("norch computes, torch raises .*([sS]parse|memory format option)", found) and "parse" in whole:
        return GAVE_UP + "derivatives and parts that torch's sparse tensors do not have"
    refused = "norch raises (IndexError|RuntimeError: .*expected float32 or float64).*torch computes"
    if re.search(refused, found) and has_no_elements(lines):
        return REFUSED + "dims, indices and dtypes of no elements"
    if "requires_grad" in found and has_no_elements(lines):
        return "of no elements nothing needs a gradient"
    if "elements" in found and "save_on_cpu" in whole:
        if _goes(found, [re.sub(r"^with lib\.autograd\.graph\.save_on_cpu\(\): ", "", line) for line in lines]):
            return "of what is saved on the CPU, and written to later, each derivative reads other parts"
    if "float16" in whole and "strong_wolfe" in whole and "elements" in found:
        if _goes(found, without(lines, "strong_wolfe")):
            return "torch rounds the length of a step to 16 bits, and lines are searched by ever other steps"
    if agrees_in_wide(lines, found):
        return "in wide dtypes torch has norch's numbers"
    if torch_is_no_closer(lines, found):
        return "of few digits norch's are as near to the result in float64 as torch's"
    if "16" in whole and re.search(r"optim\.", lines[-1]) and torch_spreads_nan(INFINITE.sub("nan", found), close):
        return "torch rounds eps to 16 bits, where it becomes 0"
    if derived and (norch_spreads_nan(found, close) or "svdvals" in whole) and eigenvalues_meet(lines):
        return "of equal eigenvalues, and of a singular value of 0, rounding decides"
    if "a NoneType, torch has a tensor" in found and "autograd.Function" in whole:
        return "torch calls a custom operation with zeros for a gradient that is not there"
    if re.search(r"prune\.", lines[-1]) and "elements" in found and equal_weights_decide(lines):
        return "of equal weights any is pruned"
    if re.search(r"^v\d+: ['\"]", found) and rounded_otherwise(lines) and digits_decide(lines):
        return "a text shows the last digits of a number"
    if re.search(r"Adam", lines[-1]) and meets_infinity(lines) and torch_spreads_nan(found, close):
        return "with a first beta below 1/2 torch's lerp subtracts infinities"
    if "use_reentrant=True" in lines[-1] and re.search(r"is_leaf|requires_grad", found) and is_a_list(lines):
        return "a list that a custom operation returns holds its results; torch takes it for none"
    if "assume_unique=True" in lines[-1] and not run([*lines[:-1], lines[-1].replace(", assume_unique=True", "")]):
        return "of numbers that are not unique torch's isin promises nothing"
    if "elements" in found and edges_are_in_no_order(lines):
        return "among numbers in no order nothing is promised"
    if agrees_without_transforms(lines):
        return "torch's transforms refuse, or compute otherwise, what torch computes without them"
    for statement, difference, reason in [*DIFFERENCES, *OF_OPTIONS, *OF_SURROUNDINGS]:
        if re.search(statement, lines[-1]) and re.search(difference, found, re.S):
            return reason
    for cause, difference, reason in [*CAUSES, *CAUSED_BY_OPTIONS] if by_causes else ():
        if re.search(cause, whole) and re.search(difference, found):
            if _goes(found, without(lines, cause)):
                return reason
    return None


def _source(name: str, whole: str) -> str:
    """The name of which another one is only an alias."""
    alias = re.search(rf"^{name} = (v\d+)$", whole, re.M)
    return alias[1] if alias else name


def _goes(found: str, rest: Sequence[str]) -> bool:
    """Whether what is left of a program no longer differs so, also past what other reasons explain."""
    while (left := run(rest)) is not None:
        number, told = left
        if told.startswith("at the end"):
            return all(kind(x) != kind(found) and explained(rest, x, False) for x in ends(list(rest)))
        if kind(told) == kind(found) or not explained(rest[: number + 1], told, False):
            return False
        rest = [*rest[:number], *rest[number + 1 :]]
    return True
