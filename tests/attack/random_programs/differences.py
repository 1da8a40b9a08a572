"""Why a difference between norch and torch is right, if a row says so; docs/departures.md has most of the reasons."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .asked import ASKED
from .case import Case
from .differences_of_options import CAUSED_BY_OPTIONS, GAVE_UP, OF_OPTIONS, OF_SURROUNDINGS, REFUSED
from .differences_of_statements import DIFFERENCES
from .execution import ends, run, unneeded, without
from .outside import agrees_without_transforms
from .shrinking import kind

# What explains a difference if it goes once these statements do, and what the difference is about
CAUSES: list[tuple[str, str, str]] = [
    (
        r" % |remainder|fmod|copy_|fill_|lerp|addm[mv]|addr|addc|(add)?bmm|alpha=|(deg|rad)2|rsub"
        r"|(ect|ice|nal|ided)_scatter|scatter_add|matrix_power|affine_grid"
        r"|to_sparse|linear\(|trap(ezoid|z)\(|zero_\(|cumsum_\(|fill\(|\[(\.\.\.|:)\] = "
        r"|\b([lg][te]|eq|ne|less|greater|not_equal)(_equal)?_\(",
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
    (
        r"diff\(",
        "is_leaf|requires_grad|a view of a leaf|does not require",
        "of no elements torch's diff gives the tensor itself",
    ),
    (
        r"(save_on_cpu|saved_tensors_hooks).*vander\(",
        "elements",
        "torch's vander writes in place to what a hook has packed",
    ),
    (r"\.view\(lib\.u?int", "elements", "bytes of numbers whose last digits differ"),
    (
        r"\.(swapaxes|swapdims|transpose|t|squeeze|unsqueeze)_\(",
        "^norch computes.*modified by an inplace",
        GAVE_UP + "another shape of a saved value, in place, which writes none of its elements",
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
        r"^v\d+: \[\d\] \d+, torch has \d+$|needs a last axis of stride 1, got shape \[0\]",
        "where the columns of no indices begin",
    ),
    (
        r"poisson_nll_loss\(.*full=True|PoissonNLLLoss\(\w+, True",
        r"\.grad ",
        "torch's derivative to a target below 0 is 0 times NaN",
    ),
    (
        r"\.data\b(?!\.copy_\(lib.linspace)|from_dlpack|vector_to_parameters|\.numpy\(\)",
        "elements",
        "what a write through `.data`, DLPack or NumPy puts into a saved tensor, which neither library watches",
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
        r"\.([gln][te]|eq|greater|less)(_equal)?_\(",
        r"requires_grad|is_leaf|require gradients|\.grad ",
        "torch passes a gradient through comparisons in place, whose derivative is 0",
    ),
    (
        r"increment_version",
        r"\.grad elements",
        "torch's values of a sparse tensor are a view, whose derivative is another one once it counts as written",
    ),
    (
        r"\.to_sparse\(",
        "elements",
        "the gradient behind to_sparse is of the elements that the sparse tensor holds",
    ),
    (r"\bout=", "^at the end.*elements", "what lies in another order of memory, once it is an `out` of another shape"),
    (r"\bout=", "requires_grad False, torch has True", "a view that was an `out` of another shape is no view any more"),
    (r"sparse\.addmm\(.*beta=0", ".grad None, torch has", "with a beta of 0 nothing depends on the input"),
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
        "requires_grad|is_leaf|requires? grad",
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
    case = Case(lines, found)
    if _saves_more(case):
        return GAVE_UP + "torch saved a value that norch does not need"
    for row in ASKED:
        if row.fits(case) and (row.once is None or _goes(found, row.once(case))):
            return row.reason
    if agrees_without_transforms(lines):
        return "torch's transforms refuse, or compute otherwise, what torch computes without them"
    for statement, difference, reason in [*DIFFERENCES, *OF_OPTIONS, *OF_SURROUNDINGS]:
        if re.search(statement, case.last) and re.search(difference, found, re.S):
            return reason
    for cause, difference, reason in [*CAUSES, *CAUSED_BY_OPTIONS] if by_causes else ():
        if re.search(cause, case.whole) and re.search(difference, found):
            if _goes(found, without(lines, cause)):
                return reason
    return None


def _saves_more(case: Case) -> bool:
    """Whether torch refuses since a value that norch does not need was written to."""
    if not (case.found.startswith("norch computes") and "modified by an inplace operation" in case.found):
        return False
    bare = case.with_lines(r"^with lib\.autograd\.graph\.\w+\(.*?\): ", "")
    return unneeded([line for line in bare if "lib.func." not in line], explained)  # which know no saved copies


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
