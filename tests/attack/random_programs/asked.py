"""What random programs may do otherwise than in torch, if a question about the program or its elements says so."""

from __future__ import annotations

import re

from . import questions as ask
from .asked_of_numbers import OF_DIGITS, OF_INFINITIES, OF_ROUNDING
from .asking import but_for, left_out, of_found, of_lines, replaced
from .case import Case, Row
from .differences_of_options import GAVE_UP, REFUSED
from .differences_of_statements import OF_TARGET

# ---- Patterns -------------------------------------------------------------------------------------------------------

NUMBER_OF_HALVES = r"= (-?[\d.]+) // (v\d+)$"
STEPS = (
    r"\.to\(lib\.u?int|= int\(|\.(long|int|short|floor|ceil|trunc|round|frac)_?\(|//|%|fmod|remainder|floor_divide"
    r"| [=!<>]=? |\b(all|any|equal|count_nonzero|nonzero|argwhere|[gln][et]|eq|greater|less)(_equal)?_?\("
)
TAILED = r"lib\.(special\.ndtr|nn\.functional\.gelu)\((v\d+)\)"
HOOK_OF_VIEW = r"(v\d+ = v\d+\[.*\]); v\d+\.register_hook\(lambda g: g \* 2\)"
BY_FREQUENCY = r"(scale_grad_by_freq=|\bEmbedding\(3, 2, [^,]+, [^,]+, [^,]+, )True"
CHOOSING = r"\b(nan)?(quantile|median)|\b(topk|kthvalue|mode|sort|argsort|msort)\("
SPARSE = r"lib\.sparse_coo_tensor\((lib\.tensor\(\[\[.*?\]\]\)), (v\d+), (\(\d+, \d+\))\)"
AS_DENSE = r"lib.zeros(\3, dtype=\2.dtype).index_put(tuple(\1), \2, accumulate=True)"
OF_VALUES = r"(sparse_coo_tensor\(lib\.tensor\([^()]*\)), (v\d+)"
ORDERED = r"permute|transpose|movedim|moveaxis|swap|channels_last|\.m?T\b"

# ---- Questions ------------------------------------------------------------------------------------------------------


def detaches_a_gradient(case: Case) -> bool:
    """Whether what the last statement detaches in place is a gradient that has a graph."""
    told = re.search(r"(v\d+)(?:\.detach_\(|\)$)", case.last)
    part = told and re.search(rf"^{told[1]} = (v\d+)\[\d\]$", case.whole, re.M)
    name = part[1] if part else told[1] if told else ""
    return bool(re.search(rf"^{name} = lib\.(autograd\.grad\(.*create_graph|func\.)", case.whole, re.M))


def writes_into_an_operand(case: Case) -> bool:
    """Whether the last statement writes where another of its operands lies."""
    method = r"(?:lib\.\w+_\()?(v\d+)(?:\.\w+_\(|, | [^ \w]+= )"
    into = re.search(r"\bout=(v\d+)\)", case.last) or re.match(method, case.last)
    return bool(into) and ask.overlaps(case.lines, into[1])


def none_without_zeros(case: Case) -> bool:
    """Whether the gradients that the last statement asks for are None where nothing fills them in."""
    return ask.gives_none([*case.lines[:-1], case.last.replace("materialize_grads=True", "materialize_grads=False")])


# ---- The rows -------------------------------------------------------------------------------------------------------

OF_HOOKS_AND_WALKS = [
    Row(
        "in torch what a hook was given is the gradient itself, which others write to",
        r"^at the end v\d+: \[\d\] (elements|shape)",
        whole=r"register_hook\({v}\.append\)",
    ),
    Row(
        "autograd.grad calls the hooks of what it walks through; torch also those of an output",
        r"^(at the end )?v\d+: \[.*, torch has \[tensor",
        whole=(r"register_hook\({v}\.append\)", r"autograd\.grad\("),
    ),
    Row(
        "walks call the hooks of several tensors; torch's not if they start or end at one of these",
        r"^(at the end )?v\d+: .*, torch has \[",
        whole=(
            r"multi_grad_hook\(",
            r"{v}\.append\(\[x is None",
            r"autograd\.grad\(|hook\(\[[^]]*\b(v\d+)\b(.|\n)*^\1\.backward\(",
        ),
    ),
    Row(
        "torch calls hooks of several tensors also if none of them has a gradient, and those of parts of one together",
        r"^at the end {v}: .*, torch has \[\[True",
        whole=(r"multi_grad_hook\(", r"{v}\.append\(\[x is None"),
    ),
    Row(
        "torch passes a gradient through logical operations in place, whose derivative is 0",
        r"\.grad |: \[tensor.*torch has \[\]",
        whole=r"\.logical_\w+_\(",
    ),
    Row(
        "torch passes a gradient through logical operations in place, whose derivative is 0",
        last=r"autograd\.grad",
        whole=r"\.logical_\w+_\(",
    ),
]

OF_GRADIENTS = [
    Row(
        "torch's derivative of cholesky_solve reads both triangles of the factor",
        r"\.grad elements",
        once=left_out(r"cholesky_solve\("),
    ),
    Row(
        "every tensor of the graph that somebody holds has its gradient, but autograd.grad sets none",
        r"^v\d+: \.grad elements",
        last=r"autograd\.grad\(",
        whole=r"{v}\.retain_grad\(\)",
    ),
    Row(
        "the loss has bounded logarithms; torch's gradient of a target has others",
        "elements.*torch has .*inf",
        whole=r"binary_cross_entropy\(|BCELoss",
        derived=True,
    ),
    Row(
        "the variance of equal numbers: 0, or what rounding leaves",
        r"elements|v\d+: [\d.]+e-\d+, torch has 0\.0",
        asks=of_lines(ask.variance_is_rounding),
    ),
    Row(
        "0 times NaN, or times infinity, where one of the libraries leaves out what has a factor of 0",
        derived=True,
        asks=of_found(ask.differs_in_zeros),
    ),
    Row(
        "a NaN gradient does not reach elements that were not chosen",
        derived=True,
        asks=but_for(ask.torch_spreads_nan),
    ),
    Row(
        "torch takes the gradient of an input before its hooks if the walk goes on behind it",
        "elements",
        last=r"autograd\.grad\(\[",
        whole=r"register_hook\(lambda",
    ),
    Row(
        REFUSED + "a gradient that a rule computes as a view",
        "a view cannot be detached in place",
        asks=detaches_a_gradient,
    ),
    Row(
        "the gradients of one walk have memory of their own",
        r"\.grad elements",
        whole=r"stack\(",
        asks=of_lines(ask.gradients_meet),
    ),
    Row(
        "two gradients of one walk are one tensor in torch",
        r"^at the end v\d+: \[\d\] ",
        whole=r"{v} = lib\.autograd\.grad\(\[",
    ),
    Row(
        "a gradient has memory for each element; in torch a write to a part shows in others",
        "elements|shares memory",
        whole=r"autograd\.grad\(",
        asks=of_lines(ask.torch_expands),
    ),
    Row(
        "in torch a transform's result that is a view of its argument follows writes to it",
        r"^(at the end )?v\d+: (\[\d\] )?requires_grad False",
        whole=r"^(v\d+) = {v}\[\d\]$(.|\n)*lib\.func\..*\b\1\b"
        r"|^(?=.*lib\.func\.).*\b({v}\b|(v\d+)\b(.|\n)*^{v} = \4$)",
    ),
    Row(
        "in torch a transform's result that is a view of its argument follows writes to it",
        "does not require gradients.*torch computes",
        whole=r"^(v\d+) = lib\.func\.(.|\n)*^\1\.\w+_\(",
    ),
    Row(
        "a transform makes new memory; in torch its result may be a view",
        "elements|requires_grad|is_leaf|does not require gradients|cannot be detached|a view of a leaf",
        whole=r"lib\.func\.",
        asks=of_lines(ask.torch_shares),
    ),
    Row(
        "what lies in another order of memory is copied, or needs no copy",
        "shares memory",
        asks=lambda case: ask.copies_what_lies_otherwise(case.lines, case.found),
    ),
    Row(
        "how the results of transforms lie in memory",
        "shares memory",
        whole=r"lib\.func\.|functional\.(jac|hess)",
    ),
    Row(
        "the gradients of one walk have memory of their own",
        r"^at the end (v\d+) shares memory with \1, in torch",
        whole=r"autograd\.grad\(",
    ),
    Row(
        "torch's derivative at NaN depends on the place in memory: 0 in its vector loops, 1 behind them",
        r"\.grad elements.*nan",
        whole="hardtanh|relu6|shrink|elu|hardswish|logit|[Mm]argin|[Hh]inge",
        asks=but_for(ask.norch_spreads_nan),
    ),
]

OF_FORMULAS = [
    Row(GAVE_UP + "norch writes what it has read completely", "elements", asks=writes_into_an_operand),
    Row(
        "rounding decides: the elements before a step differ in their last digits",
        r"elements|shape|^v\d+: (-?\d+|True|False), torch",
        last=STEPS,
        asks=of_lines(ask.rounded_otherwise),
    ),
    Row(
        "rounding decides whether a bound is above the other",
        "Uniform is not defined when low",
        asks=of_lines(ask.rounded_otherwise),
    ),
    Row(
        "torch rounds the number that is divided to 16 bits first",
        "elements",
        last=NUMBER_OF_HALVES,
        whole="16",
        once=replaced(NUMBER_OF_HALVES, r"= lib.tensor(\1, dtype=\2.dtype) // \2"),
    ),
    Row(
        "torch's derivative of addcmul multiplies integers, which wrap around",
        r"\.grad elements",
        whole=("addcmul", r"2 \*\* 6[34]"),
        once=left_out("addcmul"),
    ),
    Row(
        "torch's derivative of ldexp computes 2 ** -1 of integers, which is 0",
        "elements",
        whole="ldexp",
        once=lambda case: [line for line in case.lines if "ldexp" not in line],
    ),
    Row(
        "torch's second derivative of a norm comes by its result, and its hooks, norch's by its parts",
        r"\.grad elements",
        whole=("create_graph", r"\bnorm\("),
        once=replaced(r"; \w+\.register_hook.*|^\w+\.register_hook\(lambda.*", ""),
    ),
    Row(
        "torch's second derivative of an embedding forgets the frequencies: its own gradcheck fails",
        "elements",
        whole=(BY_FREQUENCY, "create_graph|lib.func"),
        once=replaced(BY_FREQUENCY, r"\1False"),
    ),
    Row(
        "torch's ndtr and gelu have lost their digits far below 0",
        "elements",
        whole=TAILED,
        once=replaced(TAILED, ask.with_tail),
    ),
    Row(
        "torch's second derivative forgets that the gradient of a sparse tensor depends on its values",
        "elements",
        whole=("create_graph", SPARSE),
        once=replaced(SPARSE, AS_DENSE),
    ),
    Row(
        "torch's derivative of batch_norm misreads a gradient in another order of memory: its own gradcheck fails",
        r"\.grad elements",
        whole=(ORDERED, "(?i)batch_?norm"),
        once=left_out("(?i)batch_?norm"),
    ),
    Row(
        "torch loses the hooks of a view when it is written to",
        "elements",
        whole=HOOK_OF_VIEW,
        once=replaced(HOOK_OF_VIEW, r"\1"),
    ),
    Row(
        "of equal elements any gets the gradient",
        "elements",
        whole=CHOOSING,
        derived=True,
        asks=lambda case: bool(ask.pairs_of(case.found)) and ask.permuted(case.found) or ask.ties_decide(case.lines),
    ),
    Row(
        "near p = 1/2, and for large logits, torch's ContinuousBernoulli loses the digits of float32",
        "elements",
        whole="ContinuousBernoulli",
        once=lambda case: ask.as_float64(case.lines),
    ),
    Row(
        "torch's loss has the dtype of its target, norch's the common one",
        OF_TARGET,
        last=r"v\d+\.log_prob",
        whole=r"= lib\.distributions\.Bernoulli\(",
    ),
    Row(
        "torch's derivative of logcumsumexp leaves out gradients that are NaN",
        r"\.grad elements",
        whole="logcumsumexp",
        asks=but_for(ask.norch_spreads_nan),
    ),
    Row(
        "torch's derivative computes with numbers that were rounded to 16 bits on the way",
        r"\.grad elements",
        whole=("float16", r"logcumsumexp|normalize\("),
        once=lambda case: ask.as_float64(case.lines),
    ),
    Row(
        "of huge concentrations torch's mean has lost its digits",
        r"elements .*torch has .*e\+",
        whole="Kumaraswamy",
    ),
    Row(
        "torch's divergences of Wisharts have no gradients, and of batches are other sums",
        "elements|requires_grad",
        last="kl_divergence",
        whole="Wishart",
    ),
]

OF_GRAPHS = [
    Row(
        REFUSED + "every write to a leaf that requires gradients",
        "leaf tensor that requires grad",
        asks=of_lines(ask.meets_a_leaf),
    ),
    Row(
        GAVE_UP + "a vmap of no numbers",
        "norch computes, torch raises RuntimeError: a (view of a )?leaf",
        last="vmap",
        asks=of_lines(ask.has_no_elements),
    ),
    Row(
        GAVE_UP + "a write to what was a leaf, or had other memory, when the view of it was made",
        "norch computes, torch raises RuntimeError: a (view of a )?leaf",
        whole=r"\.(requires_grad_|set_|detach_)\(|\.data = |(split|chunk|unbind)\(",
    ),
    Row(
        GAVE_UP + "a variance of 16 bits, which norch computes of a copy in 32",
        "norch computes.*modified by an inplace",
        whole=("float16", r"(var|std)(_mean)?\("),
    ),
    Row(
        REFUSED + "a vector that is pruned by slices, as torch does unless it was pruned before",
        "Structured pruning can only",
        last="_structured",
    ),
    Row(
        REFUSED + "a freed graph of what it never depended on, which it has forgotten",
        "graph that was freed",
        last="allow_unused=True",
        asks=none_without_zeros,
    ),
    Row(
        REFUSED + "a freed graph of what it never depended on, which it has forgotten",
        "graph that was freed.*torch computes",
        last=r"backward\(inputs=",
    ),
    Row(
        "torch does not watch the writes to the values of a sparse tensor, whose memory it shares",
        "elements",
        whole=OF_VALUES,
        once=replaced(OF_VALUES, r"\1, \2.clone()"),
    ),
    Row(
        GAVE_UP + "derivatives and parts that torch's sparse tensors do not have",
        "norch computes, torch raises .*([sS]parse|memory format option|aten::_values)",
        whole="parse",
    ),
    Row(
        REFUSED + "dims, indices and dtypes of no elements",
        "norch raises (IndexError|RuntimeError: .*expected float32 or float64).*torch computes",
        asks=of_lines(ask.has_no_elements),
    ),
    Row("of no elements nothing needs a gradient", "requires_grad", asks=of_lines(ask.has_no_elements)),
    Row(
        "of what is saved on the CPU, and written to later, each derivative reads other parts",
        "elements",
        whole="save_on_cpu",
        once=replaced(r"^with lib\.autograd\.graph\.save_on_cpu\(\): ", ""),
    ),
    Row(
        "torch rounds the length of a step to 16 bits, and lines are searched by ever other steps",
        "elements",
        whole=("float16", "strong_wolfe"),
        once=left_out("strong_wolfe"),
    ),
]

ASKED = [
    *OF_HOOKS_AND_WALKS,
    *OF_GRADIENTS,
    *OF_FORMULAS,
    *OF_ROUNDING,
    *OF_INFINITIES,
    *OF_GRAPHS,
    *OF_DIGITS,
]
