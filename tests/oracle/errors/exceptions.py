"""Where norch's exception is not of PyTorch's type, with the reason. docs/departures.md shows the same table.

A row says what PyTorch raises, and what norch raises. It explains a call for which both are as it says,
and whose text, or PyTorch's message, contains a match of `what`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Departure:
    theirs: str
    ours: str  # one or several names; "nothing" if nothing is raised
    what: str  # a pattern
    when: str  # in words, for the docs
    why: str

    def explains(self, call: str, theirs: BaseException, ours: BaseException | None) -> bool:
        name = "nothing" if ours is None else type(ours).__name__
        if type(theirs).__name__ not in self.theirs.split() or name not in self.ours.split():
            return False
        return re.search(self.what, call) is not None or re.search(self.what, str(theirs)) is not None


DEPARTURES = [
    Departure(
        "NotImplementedError",
        "RuntimeError",
        "not implemented for '",
        "an operation is not defined for a dtype",
        "NotImplementedError is derived from RuntimeError, which other operations of PyTorch raise for a dtype",
    ),
    Departure(
        "AttributeError",
        "TypeError",
        "object has no attribute|expected 'f' to be string",
        "something else stands in the place of a tensor, module, optimizer, file or dict",
        "the error says what was expected",
    ),
    Departure(
        "AssertionError",
        "ValueError ShapeError TypeError RuntimeError",
        "must be|was expecting|does not match|should |Expected|expected|only |Size mismatch|Fusion only",
        "PyTorch asserts something of an argument",
        "other functions of PyTorch raise these types for the same mistakes",
    ),
    Departure(
        "AssertionError",
        "RuntimeError",
        "not compiled with CUDA",
        "a CUDA device is asked for that is not there",
        "the same as for a device number that is too high",
    ),
    Departure(
        "IndexError NotImplementedError",
        "ShapeError",
        r"Dimension out of range|Number of indices|Only 3D, 4D and 5D",
        "a tensor has too few dimensions for `addbmm`, `baddbmm`, `unfold`, `interpolate` or `scatter`, or "
        "`index_copy` gets another number of indices",
        "shapes that do not fit are a ShapeError, which is also a RuntimeError, as in the neighbouring functions",
    ),
    Departure(
        "RuntimeError",
        "IndexError",
        r"^x\.index_add",
        "an index of `index_add` or `embedding_bag` is out of range",
        "IndexError, as in `index_copy`, `index_fill`, `index_reduce` and `embedding`",
    ),
    Departure(
        "IndexError",
        "RuntimeError",
        r"index_fill_\(\): Expected dtype int64",
        "the index of `index_fill` is not of integers",
        "RuntimeError, as in `index_select`, `index_add` and `gather`",
    ),
    Departure(
        "TypeError",
        "ValueError",
        "not a sequence|object cannot be interpreted as an integer",
        "a nested list is ragged: a number stands beside a list",
        "as for lists of two lengths",
    ),
    Departure(
        "RuntimeError",
        "TypeError",
        "Could not infer dtype",
        "`tensor` is given what is no number, such as None or a dict",
        "as for a string",
    ),
    Departure(
        "TypeError RuntimeError",
        "nothing",
        r"^x\.clamp\(0, |^x\.heaviside|^lib\.full\(2, 1\)|^lib\.device\(None\)|^F\.layer_norm\(x, 3\)|"
        r"^optim\.Optimizer\(\[p\]\)$|weight=lib\.ones\(3\)\.double|cross_entropy\(x, n\.int|"
        r"^F\.binary_cross_entropy\(lib\.rand\(2\), n\)$",
        "a bool tensor is subtracted from numbers, or they from it, as in `1 - mask`; "
        "`clamp` takes a number and a tensor; `heaviside` two dtypes; `full` and `layer_norm` one size as a number; "
        "`device` None; `cross_entropy` int32 targets and weights of another dtype; "
        "`binary_cross_entropy` integers as targets; `Optimizer` no defaults",
        "the meaning is clear",
    ),
    Departure(
        "NotImplementedError ValueError TypeError",
        "nothing",
        r"Optimizer\(\[p\], \{\}\)\.step|num_samples=0|DataLoader\(None, shuffle",
        "an optimizer without a rule steps parameters without gradients; a dataset is empty, or grows or comes later",
        "nothing is to be done; sampling begins with the iteration",
    ),
    Departure(
        "TypeError",
        "ShapeError RuntimeError",
        r"^x\.(view|reshape|repeat)\(\)",
        "`view`, `reshape` and `repeat` are given no sizes",
        "no sizes are the shape (), which a tensor of one element can take",
    ),
    Departure(
        "RuntimeError ValueError",
        "TypeError",
        "invalid capsule|but got str|invalid literal|could not convert|Legacy autograd function|proj_size argument|"
        "should be a boolean value",
        "`from_dlpack`, `manual_seed`, `set_num_threads`, a sampler, a dropout, or an instance of a Function gets what "
        "it cannot take; a layer gets an option that is not its own",
        "a wrong type or name is a TypeError",
    ),
    Departure(
        "RuntimeError ZeroDivisionError IndexError",
        "ValueError",
        "set_num_threads|Unknown nonlinearity|dropout probability|integer modulo by zero|index out of range",
        "a number or name is out of range: threads, a nonlinearity, a probability, groups or steps of 0, betas of "
        "another length, an empty batch to collate",
        "ValueError, when the object is made; PyTorch notices some of these at the first use",
    ),
    Departure(
        "IndexError",
        "TypeError",
        r"^nn\.LSTM\(",
        "an LSTM gets one state in place of two",
        "a wrong type is a TypeError",
    ),
    Departure(
        "AttributeError",
        "KeyError",
        r"^nn\.ParameterDict\(\)",
        "a key is not in a ParameterDict",
        "KeyError, as for a dict and a ModuleDict",
    ),
    Departure(
        "RuntimeError",
        "FileNotFoundError IsADirectoryError",
        r"^lib\.save",
        "`save` cannot write to a path",
        "an OSError with the reason, as `open` raises",
    ),
    Departure(
        "EOFError KeyError",
        "ValueError",
        r"lib\.load",
        "`load` is given a file that is empty, or no saved file at all",
        "ValueError says what is wrong with the file",
    ),
]


def alike(theirs: BaseException, ours: BaseException | None) -> bool:
    """Whether `except` with PyTorch's type, or the built-in type that it is derived from, catches norch's exception."""
    kind = next(kind for kind in type(theirs).__mro__ if kind.__module__ == "builtins")
    return isinstance(ours, kind)


def row_of(call: str, theirs: BaseException, ours: BaseException | None) -> Departure | None:
    """The row that explains why the exceptions of a call differ."""
    return next((row for row in DEPARTURES if row.explains(call, theirs, ours)), None)


def table() -> str:
    """The rows as docs/departures.md shows them."""
    lines = ["| PyTorch raises | norch raises | when | why |", "|---|---|---|---|"]
    for row in DEPARTURES:
        theirs, ours = (" or ".join(names.split()) for names in (row.theirs, row.ours))
        lines.append(f"| {theirs} | {ours} | {row.when} | {row.why} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
