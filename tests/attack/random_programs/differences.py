"""What random programs may do otherwise than in torch, each with its reason; docs/departures.md has most of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .execution import unneeded

GAVE_UP = "torch refuses, norch computes: "
REFUSED = "norch refuses, torch computes: "
BOTH = "both refuse: "

# The last statement, what differs, and the reason
DIFFERENCES: list[tuple[str, str, str]] = [
    # ---- both refuse, with another type of error
    ("", r"^norch raises \w+: .*, torch \w+", BOTH + "another of several faults is named, or the same by another type"),
    # ---- autograd
    (
        r"backward\(|autograd\.grad",
        "^norch raises RuntimeError: backward through a graph that was freed",
        REFUSED + "a freed graph, even if nothing was saved in it",
    ),
    (
        "",
        r"^norch raises RuntimeError: \w+ needs a value that was modified",
        REFUSED + "a derivative of norch's reads a value that torch does not save",
    ),
    ("", "multiple views", GAVE_UP + "norch follows writes to the parts that split, chunk and unbind give"),
    (
        "",
        "view was created (in no_grad mode|inside a custom)",
        GAVE_UP + "views that torch makes while it differentiates",
    ),
    ("", "detached in-place", GAVE_UP + "norch saves values, not tensors"),
    ("", "leaf variable has been moved", GAVE_UP + "a leaf that needs no gradient any more and is written to"),
    (
        r"",
        r"\.grad requires_grad False, torch has True",
        "a second gradient is added to the first in a new tensor, outside of any graph",
    ),
    (r"retain_grad", r"\.grad .*torch has None", "every tensor of the graph that somebody holds has its gradient"),
    ("", r"^v\d+: \.grad None, torch has", "autograd.grad sets no .grad, also after retain_grad"),
    (
        "",
        r"\.grad (tensor\()?[\[\]\s0.,]*(\)|(dtype=norch\.\w+|grad_fn=<\w+>|, )*\))?, torch has None",
        "a derivative of 0 is zeros, not None",
    ),
    ("", "no derivative, torch raises", "what has no derivative needs no gradient; torch fails in backward"),
    (r"unique", "requires_grad False", "what has no derivative needs no gradient; torch fails in backward"),
    ("", "^v\\d+: (\\[\\d\\] )?requires_grad True, torch has False", "norch has a derivative, torch has none"),
    (r"requires_grad_|no_grad", "requires_grad False, torch has True", "a view made without gradients has none"),
    ("", "a gradient of shape .* does not fit an input", REFUSED + "a tensor that was transposed in place since"),
    ("", "leaf tensor that requires grad", REFUSED + "every write to a leaf that requires gradients"),
    ("", "torch raises RuntimeError: a (view of a )?leaf", GAVE_UP + "a write of the same values, or after `.data =`"),
    ("", "a view cannot be detached in place", REFUSED + "a result that norch computes as a view"),
    (
        "",
        r"torch raises \w+: (Autograd not support|false INTERNAL|derivative for|the derivative)",
        GAVE_UP + "derivatives that torch does not have",
    ),
    ("", "is not differentiable with respect to argument", GAVE_UP + "derivatives that torch does not have"),
    ("", r"\.grad None, torch has [\[\]\s0.,tensor(]*0\.", "a factor of 0 passes no gradient"),
    ("", "backward through the graph a second time", GAVE_UP + "two results of one call with graphs of their own"),
    (
        "",
        r"^(at the end )?v\d+: (\[\d\] )?tensor\([\[\]\s0.,]*(dtype=norch\.\w+|grad_fn=<\w+>|, )*\), torch has None",
        "a derivative of 0 is zeros, not None",
    ),
    ("masked_scatter_", "requires_grad False", "where nothing was written nothing needs a gradient"),
    ("copysign", "elements", "the sign of a NaN"),
    ("trapezoid", "elements .*torch has nan", "one place has no area, also of NaN"),
    ("lerp", "elements .*nan", "infinities are subtracted"),
    ("materialize_grads", "is_leaf", "a derivative of 0 is zeros, not None"),
    ("layer_norm", "is_leaf True", "of no elements a layer returns its input"),
    ("hinge_embedding_loss", "dtype", "of integers the loss is floating, as its margin"),
    ("beta=0", "requires_grad False, torch has True", "a factor of 0 passes no gradient"),
    ("", "'NoneType'", GAVE_UP + "a derivative of 0 is zeros, not None"),
    ("", "ZeroTensors|view size is not compatible", GAVE_UP + "what torch's own functions cannot read"),
    ("", "no gradient, torch wants one", "integers and bool need no gradient; torch fails in backward"),
    (r" / |div|reciprocal|\*\*|pow", "elements .*inf.*torch has .*inf", "the sign of a zero that rounding made"),
    ("", "Can't detach views", GAVE_UP + "a view without gradients is detached, which changes nothing"),
    ("", "output 0 of (LinalgVectorNorm|Pow2)", GAVE_UP + "a derivative of 0, which needs nothing"),
    (
        r"backward\(|autograd\.grad",
        r"elements .*torch has .*nan",
        "a NaN gradient does not reach elements that were not chosen",
    ),
    (r"normal\(", "elements|leaf|grad", "norch passes the gradient of a mean on, torch's is 0"),
    ("create_graph", "requires_grad False, torch has True", "a gradient that does not depend on what it is of"),
    (r"std_mean|var_mean", "elements .*inf.*torch has .*nan", "the mean of infinities of one sign"),
    ("signbit", "elements", "the sign of a NaN"),
    ("unique", "shape", "rounding decides which elements are equal"),
    ("trapz|trapezoid", "dtype norch.float32, torch has int64", "of no integers torch gives integers"),
    (r"prod\(.*dtype=lib\.int", "elements .*torch has", "torch loses products of numbers that it converts to integers"),
    (r"add(mm|mv|bmm)_?\(.*alpha=0\b", "elements .*nan", "0 times infinity, which BLAS does not read"),
    (r"\.median\(\)", "requires_grad False, torch has True", "of no elements nothing needs a gradient"),
    (r"autograd\.grad", "appears to not have been used", GAVE_UP + "a derivative of 0 is zeros, not None"),
    ("adjoint", "is_leaf", "of no dimensions torch gives the tensor itself"),
    # ---- memory
    ("", "refers? to a single memory location|overlap", GAVE_UP + "norch writes what it has read completely"),
    ("", "several elements of (the written-to|out)", REFUSED + "an expanded tensor, which torch writes with a warning"),
    # ---- arguments
    ("", "torch raises NotImplementedError: .* not implemented for", GAVE_UP + "dtypes that torch does not have there"),
    (
        "",
        "does not support bool|bool is not supported|with (a|two) bool tensor|negative integer powers",
        GAVE_UP + "bool counts as 0 and 1",
    ),
    ("", "torch raises TypeError: .*invalid combination of arguments", GAVE_UP + "mixtures of tensors and numbers"),
    (
        "",
        r"Expected a floating point|could not infer output dtype|be cast to the desired|must not be a floating point"
        r"|Found dtype|source and destination dtypes match"
        r"|different dtypes|the same dtype|but got Bool|Unsupported input type|more than 1 value",
        GAVE_UP + "dtypes that torch does not mix",
    ),
    (
        "",
        "Boolean value of Tensor|Boolean alpha|tensor has no dimensions",
        GAVE_UP + "an option of a loss that is old and not read",
    ),
    ("vecdot", "inconsistent tensor size", GAVE_UP + "vectors that broadcast, as matrices do in torch"),
    ("repeat_interleave", "Dimension out of range", GAVE_UP + "a tensor of no dimensions has one to repeat along"),
    (
        "True|False|number",
        "^norch raises (TypeError|RuntimeError).*torch computes",
        REFUSED + "a bool is no number, size or dim",
    ),
    (
        r"[hvd]split|permute|\.to\(|squeeze",
        "^norch raises TypeError.*torch computes",
        REFUSED + "forms that torch's docs do not have",
    ),
    (r"loss\(", "^norch raises TypeError.*torch computes", REFUSED + "a number in the place of a tensor"),
    ("", "norch does not have torch", REFUSED + "what norch does not have, by name"),
    (r"hardtanh_", "min_val", REFUSED + "a minimum above the maximum"),
    (r"topk|kthvalue|median|mode|sort", r"^v\d+: (\[\d\] )?elements", "of equal elements any index"),
]


def explained(lines: Sequence[str], found: str) -> str | None:
    """Why a difference after the last of these statements is right, None if nothing says so."""
    if found.startswith("norch computes") and "modified by an inplace operation" in found:
        if unneeded(list(lines), explained):
            return GAVE_UP + "torch saved a value that norch does not need"
    if hooked := re.match(r"at the end (v\d+): \[\d\] elements", found):
        if any(f"register_hook({hooked[1]}.append)" in line for line in lines):
            return "torch adds to the gradient that a hook was given"
    if "requires_grad False, torch has True" in found and any("requires_grad_()" in line for line in lines):
        return "a view made without gradients has none"
    if ".grad" in found and any(re.search(r"\.logical_\w+_\(", line) for line in lines):
        return "torch passes a gradient through logical operations in place, whose derivative is 0"
    if "requires_grad False, torch has True" in found and any(re.search(r"\.data = ", line) for line in lines):
        return "a view that was given other memory by `.data =` is no view any more"
    if "elements" in found and any(".data = " in line for line in lines) and any("conv" in line for line in lines):
        return "norch's convolutions keep the values that they were given, torch reads what `.data =` put there"
    if re.search(r"\.grad elements", found) and any(re.search(r"\bnormal\(", line) for line in lines):
        return "norch passes the gradient of a mean on, torch's is 0"
    if re.search(r"autograd\.grad\(\[", lines[-1]):
        if "elements" in found and any("register_hook(lambda" in line for line in lines):
            return "torch takes the gradient of an input before its hooks if the walk goes on behind it"
        if "torch has None" in found and any("no_grad(): " in line for line in lines):
            return "torch gives a view a new node after a write under no_grad"
    for statement, difference, reason in DIFFERENCES:
        if re.search(statement, lines[-1]) and re.search(difference, found):
            return reason
    return None
