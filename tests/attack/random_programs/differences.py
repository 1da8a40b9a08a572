"""What random programs may do otherwise than in torch, each with its reason; docs/departures.md has most of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .differences_of_options import BOTH, CAUSED_BY_OPTIONS, GAVE_UP, OF_OPTIONS, REFUSED
from .execution import run, unneeded
from .questions import (
    as_float64,
    differs_as_float32,
    differs_in_signs_of_infinities,
    differs_in_zeros,
    eigenvalues_meet,
    has_no_elements,
    meets_infinity,
    norch_spreads_nan,
    on_an_edge,
    overlaps,
    pairs_of,
    permuted,
    rank_is_rounding,
    rounded_otherwise,
    rounding_beside_0,
    ties_decide,
    torch_expands,
    torch_is_no_closer,
    torch_spreads_nan,
    variance_is_rounding,
    with_tail,
    zeros_have_signs,
)
from .shrinking import kind

STEPS = re.compile(
    r"\.to\(lib\.u?int|\.(long|int|short|floor|ceil|trunc|round|frac)_?\(|//|%|fmod|remainder|floor_divide"
    r"| [=!<>]=? |\b(all|any|equal|count_nonzero|nonzero|argwhere|[gln][et]|eq|greater|less)(_equal)?_?\("
)
TAILED = r"lib\.(special\.ndtr|nn\.functional\.gelu)\((v\d+)\)"
DERIVED = re.compile(r"autograd\.(grad|functional)|lib\.func\.")
OF_TARGET = "dtype norch.float(32|64), torch has b?float(16|32)"
HOOK_OF_VIEW = r"(v\d+ = v\d+\[.*\]); v\d+\.register_hook\(lambda g: g \* 2\)"
MATRIX = re.compile(r"linalg\.|det\(|inv|cholesky|qrf?\(|svd|lu_|triangular_solve|LowRank|Multivariate|Wishart")
CANCELLING = re.compile(
    r"grid_sample|conv|cdist|BCEWithLogits|prod\(|attention|kl_div|Transform|Adafactor|LBFGS|[Mm]argin|Upsample|interpolate|[Cc]ross_?[Ee]ntropy"
)
DIVIDING = r" //?=? |div|reciprocal|\*\*|pow|gamma|rsqrt|logit"
CHOOSING = re.compile(r"\b(nan)?(quantile|median)|\b(topk|kthvalue|mode|sort|argsort|msort)\(")

# The last statement, what differs, and the reason
DIFFERENCES: list[tuple[str, str, str]] = [
    # ---- both refuse: of several faults each names another
    (
        "",
        r"^norch raises TypeError: .*(expected (an? )?(True or False|Tensor|integers?|numbers?)|positional argument)"
        r".*, torch (?!computes)",
        BOTH + "norch looks at the types of arguments first",
    ),
    (
        "",
        r"^norch raises IndexError: .*(out of range|too many indices|at least (2|one) dimensions?|does not fit axes"
        r"|has no index|cannot be indexed).*, torch RuntimeError",
        BOTH + "norch looks at dims and indices first",
    ),
    (
        "",
        r"^norch raises RuntimeError: .*(floating dtype|not defined for|several elements).*, torch "
        r"(IndexError: (Dim|index|shape)|TypeError|ValueError: Weights)",
        BOTH + "norch looks at dtypes and memory first",
    ),
    ("hardtanh", "expected numbers, got norch.bool, torch ValueError", BOTH + "a minimum above the maximum"),
    ("hardtanh_", r"^norch raises ValueError: .*min_val.*, torch (?!computes)", BOTH + "a minimum above the maximum"),
    ("loss", "^norch raises .*, torch AttributeError: '(int|float|bool)'", BOTH + "a number for a tensor"),
    (
        "",
        "^norch raises .*(cannot be (broad)?cast|broadcast shape).*, torch TypeError: .*invalid combination",
        BOTH + "a dtype and a type",
    ),
    # ---- autograd
    (
        r"backward\(|autograd\.grad",
        "^norch raises RuntimeError: backward through a graph that was freed.*, torch computes",
        REFUSED + "a freed graph, even if nothing was saved in it",
    ),
    (
        "",
        r"^norch raises RuntimeError: \w+ needs a value that was modified.*, torch computes",
        REFUSED + "a derivative of norch's reads a value that torch does not save",
    ),
    ("", "multiple views", GAVE_UP + "norch follows writes to the parts that split, chunk and unbind give"),
    ("", "view was created (in no_grad mode|inside a custom)", GAVE_UP + "views that torch makes in backward"),
    ("", "detached in-place", GAVE_UP + "norch saves values, not tensors"),
    ("", "leaf variable has been moved", GAVE_UP + "a leaf that needs no gradient any more and is written to"),
    (r"\.grad\.", r"requires_grad False, torch has True", "the sum of two gradients is in no graph"),
    (r"", r"\.grad requires_grad False, torch has True", "the sum of two gradients is in no graph"),
    (r"retain_grad", r"\.grad tensor.*torch has None", "every tensor that is held has its gradient"),
    (r"autograd\.grad", r"^(at the end )?v\d+: \.grad None, torch has", "autograd.grad sets no .grad"),
    (
        "",
        "raises CheckpointError: torch.utils.checkpoint: A different number of tensors",
        GAVE_UP + "a checkpoint of a leaf that needs no gradient any more",
    ),
    ("", "out != nullptr INTERNAL ASSERT", GAVE_UP + "a retained result of several that is written to"),
    (
        r"backward\(|autograd\.grad",
        r"v\d+: \[.*\], torch has \[.*\bNone\b",
        "torch calls the hooks of an unused one of several results with None",
    ),
    (
        "",
        r"\.grad (tensor\()?[-\[\]\s0.,]*(\)|(dtype=norch\.\w+|grad_fn=<\w+>|, )*\))?, torch has None",
        "a derivative of 0 is zeros, not None",
    ),
    ("", "no derivative, torch raises", "what has no derivative needs no gradient; torch fails in backward"),
    (r"unique", "requires_grad False", "what has no derivative needs no gradient; torch fails in backward"),
    (
        r"jvp|logical_\w+_\(|copy_\(",
        r"^(at the end )?v\d+: (\[\d\] |\.grad )?requires_grad True, torch has False",
        "norch has a derivative, torch has none",
    ),
    (r"requires_grad_|no_grad", "requires_grad False, torch has True", "a view made without gradients has none"),
    ("", "a gradient of shape .* does not fit an input", REFUSED + "a tensor that was transposed in place since"),
    ("", "leaf tensor that requires grad", REFUSED + "every write to a leaf that requires gradients"),
    ("", "torch raises RuntimeError: a (view of a )?leaf", GAVE_UP + "a write of the same values, or after `.data =`"),
    (
        "",
        r"torch raises \w+: (Autograd not support|false INTERNAL|derivative for|the derivative)",
        GAVE_UP + "derivatives torch lacks",
    ),
    (r"backward\(|grad\(", "output with shape .* match the broadcast", GAVE_UP + "derivatives torch lacks"),
    ("", "is not differentiable with respect to argument", GAVE_UP + "derivatives torch lacks"),
    ("", r"\.grad None, torch has [\[\]\s0.,tensor(]*(0\.|\[\])", "a factor of 0 passes no gradient"),
    ("", "backward through the graph a second time", GAVE_UP + "two results of one call with graphs of their own"),
    (
        "",
        r"^(at the end )?v\d+: (\[\d\] )?tensor\([-\[\]\s0.,]*(dtype=norch\.\w+|grad_fn=<\w+>|, )*\), torch has None",
        "a derivative of 0 is zeros, not None",
    ),
    ("masked_scatter_", "requires_grad False", "where nothing was written nothing needs a gradient"),
    ("trapezoid|trapz", "elements .*inf.*torch has .*nan", "infinities, which torch subtracts from their sum"),
    ("lerp", "elements .*nan", "infinities are subtracted"),
    ("materialize_grads", "is_leaf", "a derivative of 0 is zeros, not None"),
    ("layer_norm", "is_leaf True", "of no elements a layer returns its input"),
    ("(?i)hinge_?embedding_?loss", "dtype", "of integers the loss is floating, as its margin"),
    (r"distributions\.", "finfo.. requires a floating", GAVE_UP + "bools that count as 0 and 1"),
    ("", "'NoneType'", GAVE_UP + "a derivative of 0 is zeros, not None"),
    ("", "ZeroTensors|view size is not compatible|setStorage: sizes", GAVE_UP + "what torch cannot read"),
    ("", "no gradient, torch wants one", "integers and bool need no gradient; torch fails in backward"),
    ("", "Can't detach views", GAVE_UP + "a view without gradients is detached, which changes nothing"),
    ("", "output 0 of (LinalgVectorNorm|Pow2)", GAVE_UP + "a derivative of 0, which needs nothing"),
    (
        r"create_graph|lib\.func\.",
        "requires_grad False, torch has True",
        "a gradient that does not depend on what it is of",
    ),
    (r"std_mean|var_mean", "elements .*inf.*torch has .*nan", "the mean of infinities of one sign"),
    (
        "binary_cross_entropy_with_logits|BCEWithLogits",
        "elements .*nan.*torch has .*inf",
        "the loss of an infinite target",
    ),
    ("multi_margin_loss", "elements .*nan.*torch has ", "a margin that is NaN, which torch takes for none"),
    ("polygamma", r"elements .*inf.*torch has .*(e\+|\d{9})", "the poles, where torch divides by the sine of -pi n"),
    (r"\bi[01]_?\(", "elements .*inf.*torch has .*nan", "of infinity it is infinite; torch divides it by itself"),
    ("(?i)group_?norm", "elements .*inf.*torch has .*nan", "an infinite weight, which torch multiplies with the mean"),
    ("igamma", "elements .*nan", "of a NaN order at 0 torch's igammac is 1"),
    ("unique", "shape", "rounding decides which elements are equal"),
    (r"prod\(.*dtype=lib\.int", "elements .*torch has", "torch loses products of numbers that it converts to integers"),
    (r"add(mm|mv|bmm)_?\(.*alpha=0\b", "elements .*nan", "0 times infinity, which BLAS does not read"),
    (r"median\(", "requires_grad False, torch has True", "of no elements nothing needs a gradient"),
    (r"autograd\.grad", "appears to not have been used", GAVE_UP + "a derivative of 0 is zeros, not None"),
    ("tensordot", "dims of tensors of .*torch IndexError", BOTH + "dims that are not there"),
    (r"cond\(", r"elements .*(e\+\d\d|inf).*torch has .*(e\+\d\d|inf)", "nothing is promised of a singular matrix"),
    (
        r"logit\(.*\b(True|0?\.[5-9]\d*|[1-9][.\d]*)\)",
        "elements",
        "with an eps above 1/2 torch's vector loop and what is behind it differ",
    ),
    (r"softplus\(v\d+, (0|False),", "elements .*nan", "with a beta of 0 norch divides by it"),
    ("clip_grad", r"nested_tensorlist", GAVE_UP + "nothing to clip"),
    (r"norm", "does not have an identity", GAVE_UP + "a norm of no elements"),
    ("RMSNorm|rms_norm", "floating dtype, got norch.*, torch ValueError", BOTH + "norch looks at dtypes first"),
    (r"backward\(|grad\(", "incompatible with .grad\\(\\)", GAVE_UP + "gradients of some inputs of a checkpoint"),
    ("", "In-place \\w+ backward .* negative slope", GAVE_UP + "a negative slope, as norch saves the input"),
    (r"functional\.", "stack expects a non-empty", GAVE_UP + "derivatives of nothing"),
    (r"jac(rev|fwd|obian)|hessian", "requires_grad False", "derivatives of nothing need no gradient"),
    ("vmap", r"select\(\): index 0 out of range", GAVE_UP + "a vmap of no numbers"),
    (r"jac|hessian|kron", "at most 8 dimensions", REFUSED + "more than 8 dimensions"),
    ("EmbeddingBag|embedding_bag", "step must be nonzero", GAVE_UP + "bags of nothing"),
    ("Pad|pad\\(", "possibly 0 batch size and other non-zero", GAVE_UP + "images of no channels"),
    ("matrix_rank|cond", "expected float32 or float64, got", REFUSED + "matrices of other dtypes, also of no elements"),
    (r"backward\(", "two tensors of one dtype", REFUSED + "a module that was converted between forward and backward"),
    ("", r"\.grad dtype", "after a conversion of its module a gradient has the dtype of its tensor"),
    (r"backward\(|grad\(", "none of output has requires_grad", GAVE_UP + "a checkpoint of what needs no gradient now"),
    (r"Linear\(", "shapes cannot be multiplied", GAVE_UP + "columns of numbers, as the article's Linear takes them"),
    (
        "with_logits|WithLogits",
        OF_TARGET,
        "torch's loss has the dtype of its target, norch's the common one",
    ),
    ("soft_margin_loss", r"dtype", "torch's loss has the dtype of its input, norch's the common one"),
    (r"backward\(|grad\(", "Singular matrix, torch computes", REFUSED + "derivatives by a singular matrix"),
    ("slogdet", r"\[0\] elements", "the sign of a determinant that is NaN, or that rounding made"),
    ("logdet", r"elements .*(nan|inf).*torch has .*(nan|inf)", "the same"),
    (
        "logdet",
        r"elements (-3\d\.\d+, torch has -inf|-inf, torch has -3\d\.\d+)",
        "rounding decides whether a pivot is 0",
    ),
    (r"matrix_power\(|\binv", "the input matrix is singular", "rounding decides whether a pivot is 0"),
    ("_lowrank", "float32 or float64, got norch.*, torch ValueError", BOTH + "norch looks at dtypes first"),
    # ---- distributions, and parameters that are made of others
    (
        r"distributions\.",
        r"torch raises \w+: (.*0 elements|.*non-zero size|.*of shape \(.*\b0\b)",
        GAVE_UP + "distributions of no elements",
    ),
    (
        r"log_prob|cdf",
        "^norch raises (Value|NotImplemented)Error.*, torch (?!computes)",
        BOTH + "a value that is not allowed, or a function that is not there",
    ),
    (r"distributions\.", "ShapeError: pad.*, torch IndexError: tuple", BOTH + "a number where vectors are expected"),
    ("biject_to", "MixtureSameFamilyConstraint", GAVE_UP + "the support of a mixture is that of its parts"),
    ("Multinomial|OneHot|Categorical", "torch raises AttributeError", GAVE_UP + "what torch forgets to define"),
    (
        "prune",
        "^norch raises .*, torch (AssertionError|KeyError|AttributeError|TypeError: cannot assign)",
        BOTH + "what is pruned",
    ),
    ("_norm", "parameter '\\w+' is None, torch TypeError", BOTH + "a parameter that is None"),
    (
        "weight_norm",
        r"^norch raises ValueError: .*(no parameter or buffer '|weightnorm of ')weight_ih.*, torch (Index|Type)Error",
        BOTH + "a parameter that is not there; torch reads those that are computed first",
    ),
    (
        "cdf",
        r"value argument .* the support \(Interval\(lower_bound=(tensor\()?\[*(2\.2251e-308|1\.1755e-38)",
        GAVE_UP + "numbers whose probability rounds to 0, which torch's Gumbel refuses",
    ),
    (
        "LowRank",
        "raises _LinAlgError: linalg.cholesky",
        GAVE_UP + "a covariance W W^T + D with a small D: torch decomposes I + W^T D^-1 W",
    ),
    (
        "kl_divergence",
        "ShapeError: .* cannot be broadcast together.*, torch computes",
        REFUSED + "divergences of shapes that do not fit each other, of which torch looks at one",
    ),
    (r"init\.", "expected a floating dtype, torch computes", REFUSED + "to fill integers, also if there are none"),
    ("init.xavier", "^norch raises .*ZeroDivisionError", BOTH + "to fill no elements by a negative gain"),
    ("init.xavier", "^norch computes, .*ZeroDivisionError", GAVE_UP + "to fill no elements, of no inputs and outputs"),
    ("transfer_param", "dictionary changed size", GAVE_UP + "parametrizations that a module transfers to itself"),
    # ---- memory
    ("", "refers? to a single memory location|overlap", GAVE_UP + "norch writes what it has read completely"),
    ("", "several elements of (the written-to|out).*, torch computes", REFUSED + "an expanded tensor"),
    # ---- arguments
    ("", "torch raises NotImplementedError: .* not implemented for", GAVE_UP + "dtypes that torch does not have there"),
    (
        "",
        "does not support bool|bool (tensor )?is not supported|with (a|two) bool tensor|negative integer powers",
        GAVE_UP + "bool counts as 0 and 1",
    ),
    ("", "torch raises TypeError: .*invalid combination of arguments", GAVE_UP + "mixtures of tensors and numbers"),
    (
        "",
        r"Expected a floating point|must be either float or double dtype"
        r"|could not infer output dtype|be cast to the desired|must not be a floating point"
        r"|Found dtype|source and destination dtypes match|expected dtype \w+ for"
        r"|different dtypes|the same dtype|dtypes must be the same|but got Bool|Unsupported input type"
        r"|more than 1 value",
        GAVE_UP + "dtypes that torch does not mix",
    ),
    ("", "Boolean value of Tensor|Boolean alpha|tensor has no dimensions", GAVE_UP + "an option that is not read"),
    ("soft_margin_loss", "match the broadcast shape", GAVE_UP + "an input that broadcasts to a larger target"),
    ("vander", "but got (BFloat16|Half)", GAVE_UP + "dtypes that torch does not have there"),
    ("index_reduce", "Loops.h.*please report a bug", GAVE_UP + "index_reduce in bfloat16, a bug of torch"),
    ("vecdot", "inconsistent tensor size", GAVE_UP + "vectors that broadcast, as matrices do in torch"),
    ("repeat_interleave", "Dimension out of range", GAVE_UP + "a tensor of no dimensions has one to repeat along"),
    ("", r"^norch raises .*got .*\b(True|False|(norch\.)?bool)\b.*torch computes", REFUSED + "a bool is no number"),
    (
        r"[hvd]split|permute|\.to\(|squeeze|count_nonzero",
        "^norch raises TypeError.*torch computes",
        REFUSED + "forms that torch's docs do not have",
    ),
    (r"loss\(", "^norch raises TypeError: .*expected a Tensor.*torch computes", REFUSED + "a number for a tensor"),
    (
        r"loss\(",
        r"input has dtype norch.(u?int\d+|bool), expected a floating.*torch computes",
        REFUSED + "losses of integers",
    ),
    (
        "",
        "^norch raises TypeError: .*inplace: expected True or False.*torch computes",
        REFUSED + "a flag of another type",
    ),
    (
        "lerp|cosine_similarity",
        r"expected a floating dtype, got (norch\.)?(bool|u?int\d+).*, torch computes",
        REFUSED + "bools and integers for floats",
    ),
    ("pow", "not defined for bool tensors.*, torch computes", REFUSED + "powers of bools"),
    ("tile|repeat", "numbers that are not negative.*, torch computes", REFUSED + "negative repeats of no elements"),
    ("tensordot", "^norch raises (Value|Runtime)Error: tensordot: expected", BOTH + "dims that are no dims"),
    ("scatter", "index of shape .*are not the same, torch computes", REFUSED + "an index that fits nothing"),
    ("cum(sum|prod)|sum", "can't be cast to norch.bool, .*, torch computes", REFUSED + "sums in a bool `out`"),
    ("index_put", "expected values of the tensor's dtype.*, torch IndexError", BOTH + "norch looks at dtypes first"),
    ("(?i)softmax|softmin", "floating dtype, got (u?int|bool).*, torch computes", REFUSED + "a softmax of no integers"),
    ("index_fill_?", "axis . has no index, its size is 0, torch computes", REFUSED + "an index into nothing"),
    ("diff", "^norch raises IndexError: diff: axis.*, torch computes", REFUSED + "a dim that is not there"),
    (r"fill|\] = ", r"cannot be converted to type u?int\d+_t", GAVE_UP + "a number is converted as by `.to()`"),
    (
        r"logical_\w+_\(",
        r"made under norch.no_grad\(\).*, torch computes",
        REFUSED + "logical operations in place are in the graph, whose gradients are 0; in torch they are in none",
    ),
    ("inv_ex", r"\[0\] elements .*torch has .*(nan|inf)", "nothing is promised of a singular matrix"),
    (r"subtract_?\(", "alpha, beta and value must not be floating.*, torch computes", REFUSED + "alpha and a number"),
    ("new_tensor|lib\\.(as_)?tensor", "RangeError.*torch computes", REFUSED + "a number below 0 in uint8"),
    ("SoftmaxTransform", "NotImplementedError: , torch IndexError", BOTH + "what is not there, of no elements"),
    (
        "load_state_dict",
        r"\[0\] \[\d+\] \[\d+\] dtype norch.float32, torch has (float64|b?float16)$",
        "the numbers of a loaded state stay float32",
    ),
    ("NAdam|ASGD", r"\[0\] \[0\] \[\d\] elements", "a step of no elements changes no numbers of the state"),
    ("zeta", "elements .*torch has .*nan", "of infinity it is 0"),
    ("kl_div", "elements .*inf.*torch has .*nan", "the loss of an infinite target"),
    ("", "norch does not have torch", REFUSED + "what norch does not have, by name"),
    (r"hardtanh_", "min_val.*, torch computes", REFUSED + "a minimum above the maximum"),
    (r"topk|kthvalue|median|mode|sort", r"^v\d+: (\[\d\] )?elements", "of equal elements any index"),
]


# What explains a difference if it goes once these statements do, and what the difference is about
CAUSES: list[tuple[str, str, str]] = [
    (
        r"\.retain_grad\(\)",
        r"\.grad ",
        "every tensor of the graph that somebody holds has its gradient, but autograd.grad sets none",
    ),
    (r"grad\(\[.*\], \[(v\d+), \1\]", "", "two gradients of one walk are one tensor in torch"),
    (r"add_param_group", "'sum'", "torch's Adagrad has no state for parameters that come later, and fails at a step"),
    (r"diff\(", "is_leaf|requires_grad", "of no elements torch's diff gives the tensor itself"),
    (r"vander\(", "modified by an inplace", GAVE_UP + "vander, whose own writes torch refuses"),
    (r"\.data\b", "elements", "what a write through `.data` puts into a saved tensor, which neither library watches"),
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
        r"\.data = ",
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


def explained(lines: Sequence[str], found: str) -> str | None:
    """Why a difference after the last of these statements is right, None if nothing says so."""
    whole = "\n".join(lines)
    if found.startswith("norch computes") and "modified by an inplace operation" in found:
        if unneeded([line for line in lines if "lib.func." not in line], explained):  # which know no saved copies
            return GAVE_UP + "torch saved a value that norch does not need"
    if hooked := re.match(r"at the end (v\d+): \[\d\] elements", found):
        if f"register_hook({hooked[1]}.append)" in whole:
            return "torch adds to the gradient that a hook was given"
    if hooked := re.match(r"(?:at the end )?(v\d+): \[.*, torch has \[tensor", found, re.S):
        if f"register_hook({hooked[1]}.append)" in whole and "autograd.grad(" in whole:
            return "autograd.grad calls the hooks of what it walks through; torch also those of an output"
    if re.search(r"\.grad |autograd\.grad|: \[tensor.*torch has \[\]", found + lines[-1], re.S) and re.search(
        r"\.logical_\w+_\(", whole
    ):
        return "torch passes a gradient through logical operations in place, whose derivative is 0"
    if re.search(r"\.grad elements.*torch has .*inf", found) and re.search(r"binary_cross_entropy\(|BCELoss", whole):
        return "the loss has bounded logarithms; torch's gradient of a target has others"
    if "elements" in found and variance_is_rounding(lines):
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
        if re.search(rf"^{told[1]} = lib\.(autograd\.grad\(.*create_graph|func\.)", whole, re.M):
            return REFUSED + "a gradient that a rule computes as a view"
    if (told := re.match(r"at the end (v\d+): \[\d\] ", found)) and f"{told[1]} = lib.autograd.grad([" in whole:
        return "two gradients of one walk are one tensor in torch"
    if "elements" in found and "autograd.grad(" in whole and torch_expands(lines):
        return "a gradient has memory for each element; in torch a write to a part shows in others"
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
    if "elements" in found and (told := re.search(r"\bout=(v\d+)\)", lines[-1])) and overlaps(lines, told[1]):
        return GAVE_UP + "norch writes what it has read completely"
    if re.search("elements|shape", found) and STEPS.search(lines[-1]) and rounded_otherwise(lines):
        return "rounding decides: the elements before a step differ in their last digits"
    if "elements" in found and "ldexp" in whole and not run([line for line in lines if "ldexp" not in line]):
        return "torch's derivative of ldexp computes 2 ** -1 of integers, which is 0"
    if ".grad elements" in found and "create_graph" in whole and re.search(r"\bnorm\(", whole):
        if not run([re.sub(r"; \w+\.register_hook.*|^\w+\.register_hook\(lambda.*", "", line) for line in lines]):
            return "torch's second derivative of a norm comes by its result, and its hooks, norch's by its parts"
    if "elements" in found and re.search(TAILED, whole):
        if not run([re.sub(TAILED, with_tail, line) for line in lines]):
            return "torch's ndtr and gelu have lost their digits far below 0"
    if "elements" in found and re.search(HOOK_OF_VIEW, whole):
        if not run([re.sub(HOOK_OF_VIEW, r"\1", line) for line in lines]):
            return "torch loses the hooks of a view when it is written to"
    if ".grad elements" in found and CHOOSING.search(whole) and pairs_of(found) and permuted(found):
        return "of equal elements any gets the gradient"
    if ".grad elements" in found and CHOOSING.search(whole) and ties_decide(lines):
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
    if "elements" in found and "histogram(" in lines[-1] and on_an_edge(found):
        return "a value on the edge between two bins, whose last digits differ"
    if "elements" in found and "matrix_rank" in lines[-1] and rank_is_rounding(lines):
        return "of a tolerance of 0, or of a singular value, rounding decides the rank"
    if "elements" in found and not found.startswith("at the end") and rounding_beside_0(lines):
        return "of elements that should be 0 rounding decides"
    if "elements" in found and not found.startswith("at the end") and zeros_have_signs(lines):
        return "the sign of a zero"
    if re.search(r"dtype=lib.(u?int|bool)|\.check\(", whole) and differs_as_float32(found):
        return "integers become float32, whose last digits differ"
    if MATRIX.search(whole if derived or "_LinAlgError" in found else lines[-1]) and meets_infinity(lines):
        return "nothing is promised of a matrix that is not finite"
    if re.search("elements .*nan", found) and CANCELLING.search(lines[-1] if not derived else whole):
        if meets_infinity(lines):
            return "0 times infinity, or a difference of infinities, that one of the formulas has on its way"
    if derived and "addcdiv" in whole and re.search("elements .*torch has .*inf", found):
        return "torch divides by the square of the divisor, which underflows"
    if re.search(DIVIDING, whole if derived else lines[-1]) and differs_in_signs_of_infinities(found):
        return "the sign of a zero"
    if re.search("copysign|signbit", lines[-1]) and meets_infinity(lines):
        return "the sign of a NaN"
    if derived and re.search(r"softplus\(v\d+, (0|False)\b", whole):
        return "with a beta of 0 norch divides by it"
    if "norch raises IndexError" in found and "torch computes" in found and has_no_elements(lines):
        return REFUSED + "dims and indices of no elements"
    if "requires_grad" in found and has_no_elements(lines):
        return "of no elements nothing needs a gradient"
    if "float16" in whole and re.search(r"(_l|L)oss\(|cosine|\*\* 0\.5", lines[-1]):
        if re.search("elements .*torch has .*(nan|inf)", found):
            return "torch rounds to 16 bits on the way, where infinities and zeros come"
    if torch_is_no_closer(lines, found):
        return "of few digits norch's are as near to the result in float64 as torch's"
    if "16" in whole and re.search(r"optim\.", lines[-1]) and torch_spreads_nan(found, close):
        return "torch rounds eps to 16 bits, where it becomes 0"
    if derived and norch_spreads_nan(found, close) and eigenvalues_meet(lines):
        return "of equal eigenvalues rounding decides"
    if "a NoneType, torch has a tensor" in found and "autograd.Function" in whole:
        return "torch calls a custom operation with zeros for a gradient that is not there"
    if "margin_ranking_loss" in lines[-1] and "uint8" in whole and "elements" in found:
        return "torch negates an unsigned target, which wraps around"
    for statement, difference, reason in [*DIFFERENCES, *OF_OPTIONS]:
        if re.search(statement, lines[-1]) and re.search(difference, found, re.S):
            return reason
    for cause, difference, reason in [*CAUSES, *CAUSED_BY_OPTIONS]:
        if re.search(cause, whole) and re.search(difference, found):
            rest = [line for line in lines if not re.search(cause, line)]
            left = run(rest)
            if left is None or kind(left[1]) != kind(found) and explained(rest[: left[0] + 1], left[1]):
                return reason
    return None
