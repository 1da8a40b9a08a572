"""What views show, in rows of memory of their own: `expand_copy` is `expand`, copied. Gradients flow through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from ..arguments import one_size
from ..operation import check_tensor
from ..tensor import Tensor
from ..types import contiguous_format
from .out import Out, into

if TYPE_CHECKING:
    Copying = Callable[..., Any]

__all__ = [
    "alias_copy",
    "as_strided_copy",
    "detach_copy",
    "diagonal_copy",
    "expand_copy",
    "narrow_copy",
    "permute_copy",
    "select_copy",
    "slice_copy",
    "split_copy",
    "split_with_sizes_copy",
    "squeeze_copy",
    "t_copy",
    "transpose_copy",
    "unbind_copy",
    "unfold_copy",
    "unsqueeze_copy",
    "view_copy",
]


def _copying(name: str, view: Callable[..., Any], arguments: str, shape: str, like: str = "") -> Copying:
    """The function that returns copies of the views that a function returns; with what its example shows."""

    def call(input: Tensor, *args: Any, out: Out = None, **kwargs: Any) -> Any:
        shown = view(check_tensor(input, name), *args, **kwargs)
        parts = [x.clone(memory_format=contiguous_format) for x in (shown if isinstance(shown, tuple) else (shown,))]
        return into(out, tuple(parts) if isinstance(shown, tuple) else parts[0], name)

    call.__name__ = call.__qualname__ = name
    like = like or name[: -len("_copy")]
    call.__doc__ = f"""What `{like}` shows, in rows of its own. Shapes, dtypes, arguments and errors as for `{like}`.

    >>> norch.{name}(norch.ones(2, 3){arguments}.shape
    norch.Size({shape})
    """
    return call


def _slice(x: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    return x.transpose(0, dim)[start : end : one_size(step, "slice_copy: step")].transpose(0, dim)


alias_copy = _copying("alias_copy", lambda x: x, ")", "[2, 3]", like="clone")
as_strided_copy = _copying("as_strided_copy", Tensor.as_strided, ", (2,), (1,))", "[2]")
detach_copy = _copying("detach_copy", Tensor.detach, ")", "[2, 3]")
diagonal_copy = _copying("diagonal_copy", Tensor.diagonal, ")", "[2]")
expand_copy = _copying("expand_copy", Tensor.expand, ", (4, 2, 3))", "[4, 2, 3]")
narrow_copy = _copying("narrow_copy", Tensor.narrow_copy, ", 1, 0, 2)", "[2, 2]", like="narrow")
permute_copy = _copying("permute_copy", Tensor.permute, ", (1, 0))", "[3, 2]")
select_copy = _copying("select_copy", Tensor.select, ", 0, 1)", "[3]")
slice_copy = _copying("slice_copy", _slice, ", 1, 0, 2)", "[2, 2]", like="narrow")
split_copy = _copying("split_copy", Tensor.split, ", 1)[0]", "[1, 3]")
split_with_sizes_copy = _copying("split_with_sizes_copy", Tensor.split_with_sizes, ", [1, 1])[0]", "[1, 3]")
squeeze_copy = _copying("squeeze_copy", Tensor.squeeze, ")", "[2, 3]")
t_copy = _copying("t_copy", Tensor.t, ")", "[3, 2]")
transpose_copy = _copying("transpose_copy", Tensor.transpose, ", 0, 1)", "[3, 2]")
unbind_copy = _copying("unbind_copy", Tensor.unbind, ")[0]", "[3]")
unfold_copy = _copying("unfold_copy", Tensor.unfold, ", 1, 2, 1)", "[2, 2, 2]")
unsqueeze_copy = _copying("unsqueeze_copy", Tensor.unsqueeze, ", 0)", "[1, 2, 3]")
view_copy = _copying("view_copy", lambda x, *shape: x.contiguous().view(*shape), ", -1)", "[6]")
