"""The named tuples that operations return, in the form in which PyTorch prints them.

>>> norch.tensor([3, 1, 2]).sort()
norch.return_types.sort(
values=tensor([1, 2, 3]),
indices=tensor([1, 2, 0]))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple, TypeVar

if TYPE_CHECKING:
    from .forward_declarations import Tensor

T = TypeVar("T", bound=type)


def printed(name: str) -> Callable[[T], T]:
    """Print a named tuple as PyTorch prints `torch.return_types.name`: a field on each line."""

    def __repr__(self: Any) -> str:
        fields = ",\n".join(f"{field}={value!r}" for field, value in zip(self._fields, self))
        return f"norch.return_types.{name}(\n{fields})"

    def decorated(tuples: T) -> T:
        tuples.__repr__ = __repr__  # type: ignore[method-assign, assignment]
        return tuples

    return decorated


class Picked(NamedTuple):
    """Values along a dimension, and their places there."""

    values: Tensor
    indices: Tensor  # int64


def _picked(name: str) -> type[Picked]:
    given = "1, dim=0" if name in ("kthvalue", "topk") else "dim=0"
    example = f">>> type(norch.tensor([3, 1]).{name}({given}))\n<class 'norch.return_types.{name}'>"
    text = f"The values and their places that `{name}` finds along a dimension.\n\n{example}"
    return printed(name)(type(name, (Picked,), {"__slots__": (), "__module__": __name__, "__doc__": text}))


PICKED = {name: _picked(name) for name in "cummax cummin kthvalue max median min mode nanmedian sort topk".split()}
globals().update(PICKED)  # (pickle finds them by their names)
__all__ = [*PICKED]
