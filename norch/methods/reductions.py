"""Reductions: over all elements, one dimension or several, with `keepdim`. Running totals keep the shape.

`axis` and `keepdims`, NumPy's names, are the same arguments as `dim` and `keepdim`.
"""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence, overload

from .. import operation
from .._C import int64_array, lib
from ..arguments import axes_of, axis_of, flag, one_axis
from ..autograd import functions as f
from ..autograd.derivatives.indexing import CumprodBackward, CumsumBackward, PickBackward
from ..autograd.derivatives.statistics import DeviationBackward
from ..operation import check_floating, recorded, several, wrap
from ..return_types import PICKED, Picked
from ..types import Dims, DType, int64, shown, uint8

if TYPE_CHECKING:
    from ..autograd.node import Node
    from ..forward_declarations import Tensor


class ReductionMethods:
    """The methods of Tensor that reduce."""

    def sum(
        self: Tensor,
        dim: Dims = None,
        keepdim: bool = False,
        *,
        keepdims: bool = False,
        axis: Dims = None,
        dtype: DType | None = None,
    ) -> Tensor:
        """The sum; integers and bools sum to int64. Accurate to a few units in the last place at any length.

        Over all elements the shape of the result is []; over `dim`, one or several, these go away, or have size 1 with
        `keepdim`. With `dtype` the elements are converted first. Raises IndexError for a dim out of range, TypeError
        for a bool as dim.

        >>> x = norch.tensor([[1, 2], [3, 4]])
        >>> x.sum(), x.sum(0), x.sum(1, keepdim=True).shape
        (tensor(10), tensor([4, 6]), norch.Size([2, 1]))
        """
        x = self if dtype is None else self.to(dtype=dtype)
        result = _reduced(
            "sum", x, axes_of("sum", dim, axis), keepdim if keepdims is False else keepdims, f.SumBackward
        )
        return result if dtype is None else result.to(dtype=dtype)

    def mean(
        self: Tensor,
        dim: Dims = None,
        keepdim: bool = False,
        *,
        keepdims: bool = False,
        axis: Dims = None,
        dtype: DType | None = None,
    ) -> Tensor:
        """The mean; NaN over no elements. Shapes and errors as for `sum`; raises RuntimeError for integers.

        With `dtype` the elements are converted first.

        >>> norch.tensor([[1.0, 5.0], [7.0, 3.0]]).mean(0)
        tensor([4., 4.])
        """
        x = check_floating(self if dtype is None else self.to(dtype=dtype), "mean")
        return _reduced(
            "mean", x, axes_of("mean", dim, axis), keepdim if keepdims is False else keepdims, f.MeanBackward
        )

    def prod(
        self: Tensor,
        dim: Dims = None,
        keepdim: bool = False,
        *,
        keepdims: bool = False,
        axis: Dims = None,
        dtype: DType | None = None,
    ) -> Tensor:
        """The product; integers and bools multiply to int64. Shapes and errors as for `sum`.

        With `dtype` the elements are converted first.

        >>> norch.tensor([2, 3, 4]).prod()
        tensor(24)
        """
        return _as(
            dtype,
            _reduced(
                "prod",
                _as(dtype, self),
                axes_of("prod", dim, axis),
                keepdim if keepdims is False else keepdims,
                f.ProdBackward,
            ),
        )

    def var(
        self: Tensor,
        dim: Dims | bool = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        keepdims: bool = False,
        correction: float | None = None,
        axis: Dims = None,
    ) -> Tensor:
        """The variance: squared distances from the mean, summed and divided by n - correction (1 if it is None).

        `unbiased`, also alone in the place of `dim`, is a correction of 1 or 0. Shapes as for `sum`. Raises
        RuntimeError if the dtype is not floating, IndexError for a dim out of range, TypeError for both corrections.

        >>> norch.tensor([1.0, 3.0]).var(), norch.tensor([1.0, 3.0]).var(unbiased=False)
        (tensor(2.), tensor(1.))
        """
        return _spread("var", self, dim, unbiased, keepdim if keepdims is False else keepdims, correction, axis)

    def std(
        self: Tensor,
        dim: Dims | bool = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        keepdims: bool = False,
        correction: float | None = None,
        axis: Dims = None,
    ) -> Tensor:
        """The standard deviation: the square root of the variance; arguments, shapes and errors as for `var`.

        Its derivative is 0 if all elements are equal.

        >>> norch.tensor([1.0, 3.0]).std()
        tensor(1.4142)
        """
        return _spread("std", self, dim, unbiased, keepdim if keepdims is False else keepdims, correction, axis)

    def any(
        self: Tensor, dim: Dims = None, keepdim: bool = False, *, keepdims: bool = False, axis: Dims = None
    ) -> Tensor:
        """Whether any element is nonzero, as bool (of uint8 as uint8). Shapes and errors as for `sum`.

        >>> norch.tensor([[True, False], [True, False]]).any(0)
        tensor([ True, False])
        """
        return _truth("any", self, dim, axis, keepdim if keepdims is False else keepdims)

    def all(
        self: Tensor, dim: Dims = None, keepdim: bool = False, *, keepdims: bool = False, axis: Dims = None
    ) -> Tensor:
        """Whether all elements are nonzero, as bool (of uint8 as uint8). Shapes and errors as for `sum`.

        >>> norch.tensor([[True, False], [True, True]]).all(0)
        tensor([ True, False])
        """
        return _truth("all", self, dim, axis, keepdim if keepdims is False else keepdims)

    @overload
    def max(
        self: Tensor,
        dim: Tensor | None = None,
        keepdim: bool = False,
        *,
        keepdims: bool = False,
        axis: Dims = None,
        other: Tensor | None = None,
    ) -> Tensor: ...
    @overload
    def max(self: Tensor, dim: int, keepdim: bool = False, *, keepdims: bool = False) -> Picked: ...

    def max(
        self: Tensor,
        dim: Tensor | int | None = None,
        keepdim: bool = False,
        *,
        keepdims: bool = False,
        axis: Dims = None,
        other: Tensor | None = None,
    ) -> Tensor | Picked:
        """The largest element, in the dtype of x; NaN if there is one. Shapes as for `sum`.

        `max()` and `max(axis=)` return values, as in NumPy; `max(dim)` the pair (values, indices), as in PyTorch;
        `max(other)` with a tensor is `maximum`. Indices are int64. Raises RuntimeError over no elements, IndexError
        for a dim without elements or out of range, TypeError for a dim and a tensor.

        >>> x = norch.tensor([[1, 5], [7, 3]])
        >>> x.max(), x.max(axis=1)
        (tensor(7), tensor([5, 7]))
        >>> x.max(1).indices
        tensor([1, 0])
        """
        if other is not None or (isinstance(dim, operation.Tensor) and not keepdim):
            return self.maximum(_other("max", dim, axis, other))
        return _extremum("max", self, dim, axis, keepdim if keepdims is False else keepdims, f.MaxBackward)

    @overload
    def min(
        self: Tensor,
        dim: Tensor | None = None,
        keepdim: bool = False,
        *,
        keepdims: bool = False,
        axis: Dims = None,
        other: Tensor | None = None,
    ) -> Tensor: ...
    @overload
    def min(self: Tensor, dim: int, keepdim: bool = False, *, keepdims: bool = False) -> Picked: ...

    def min(
        self: Tensor,
        dim: Tensor | int | None = None,
        keepdim: bool = False,
        *,
        keepdims: bool = False,
        axis: Dims = None,
        other: Tensor | None = None,
    ) -> Tensor | Picked:
        """The smallest element; otherwise as `max`, in shapes, dtypes and errors.

        >>> x = norch.tensor([[1, 5], [7, 3]])
        >>> x.min(), x.min(axis=1)
        (tensor(1), tensor([1, 3]))
        """
        if other is not None or (isinstance(dim, operation.Tensor) and not keepdim):
            return self.minimum(_other("min", dim, axis, other))
        return _extremum("min", self, dim, axis, keepdim if keepdims is False else keepdims, f.MinBackward)

    def amax(
        self: Tensor, dim: Dims = None, keepdim: bool = False, *, keepdims: bool = False, axis: Dims = None
    ) -> Tensor:
        """The largest element over `dim`, one or several; equal ones share the gradient. Shapes as for `sum`.

        The dtype is that of x. Raises RuntimeError over no elements, IndexError for a dim without any or out of range.

        >>> norch.tensor([[1, 5], [7, 3]]).amax(1)
        tensor([5, 7])
        """
        return _reduced(
            "max", self, axes_of("amax", dim, axis), keepdim if keepdims is False else keepdims, f.MaxBackward
        )

    def amin(
        self: Tensor, dim: Dims = None, keepdim: bool = False, *, keepdims: bool = False, axis: Dims = None
    ) -> Tensor:
        """The smallest element over `dim`, one or several; equal ones share the gradient. Shapes as for `sum`.

        The dtype is that of x. Raises RuntimeError over no elements, IndexError for a dim without any or out of range.

        >>> norch.tensor([[1, 5], [7, 3]]).amin(1)
        tensor([1, 3])
        """
        return _reduced(
            "min", self, axes_of("amin", dim, axis), keepdim if keepdims is False else keepdims, f.MinBackward
        )

    def argmax(
        self: Tensor, dim: int | None = None, keepdim: bool = False, *, keepdims: bool = False, axis: int | None = None
    ) -> Tensor:
        """The index, int64, of the first largest element along `dim`, or in the flattened tensor (of shape []).

        Along `dim` that dimension goes away, or has size 1 with `keepdim`. Raises IndexError over no elements, and
        for a dim out of range.

        >>> norch.tensor([[1, 5], [7, 3]]).argmax(1)
        tensor([1, 0])
        """
        return _place("argmax", self, dim, axis, keepdim if keepdims is False else keepdims)

    def argmin(
        self: Tensor, dim: int | None = None, keepdim: bool = False, *, keepdims: bool = False, axis: int | None = None
    ) -> Tensor:
        """The index, int64, of the first smallest element along `dim`, or in the flattened tensor (of shape []).

        Along `dim` that dimension goes away, or has size 1 with `keepdim`. Raises IndexError over no elements, and
        for a dim out of range.

        >>> norch.tensor([[1, 5], [7, 3]]).argmin(1)
        tensor([0, 1])
        """
        return _place("argmin", self, dim, axis, keepdim if keepdims is False else keepdims)

    def cumsum(self: Tensor, dim: int | None = None, *, axis: int | None = None, dtype: DType | None = None) -> Tensor:
        """Along a dimension the sum of each element and all before it, in the shape of x.

        Integers and bools sum to int64; with `dtype` the elements are converted first. Raises IndexError for a dim out
        of range.

        >>> norch.tensor([1, 2, 3]).cumsum(0)
        tensor([1, 3, 6])
        """
        along = one_axis("cumsum", dim, axis)
        return self._cumsum(along, False) if dtype is None else _as(dtype, _as(dtype, self)._cumsum(along, False))

    def _cumsum(self: Tensor, axis: int, reverse: bool) -> Tensor:
        result: Tensor = wrap(lib.cumsum_tensor(self._ptr, axis, reverse))
        return result if self._edge is None else recorded(result, CumsumBackward, (self,), axis, reverse)

    def cumprod(self: Tensor, dim: int | None = None, *, axis: int | None = None, dtype: DType | None = None) -> Tensor:
        """Along a dimension the product of each element and all before it, in the shape of x.

        Integers and bools multiply to int64; with `dtype` the elements are converted first. Raises IndexError for a dim
        out of range.

        >>> norch.tensor([1, 2, 3]).cumprod(0)
        tensor([1, 2, 6])
        """
        x, along = _as(dtype, self), one_axis("cumprod", dim, axis)
        return _as(dtype, recorded(wrap(lib.cumprod_tensor(x._ptr, along)), CumprodBackward, (x,), along))

    def cumsum_(self: Tensor, dim: int | None = None, *, axis: int | None = None, dtype: DType | None = None) -> Tensor:
        """In place: the running sums of `cumsum`; shape and dtype stay. Raises IndexError for a dim out of range.

        >>> norch.tensor([1, 2, 3]).cumsum_(0)
        tensor([1, 3, 6])
        """
        along, kind = one_axis("cumsum_", dim, axis), _own_dtype("cumsum_", self, dtype)
        return self.copy_(self._cumsum(along, False) if kind is None else self.cumsum(along, dtype=kind))

    def cumprod_(
        self: Tensor, dim: int | None = None, *, axis: int | None = None, dtype: DType | None = None
    ) -> Tensor:
        """In place: the running products of `cumprod`; shape and dtype stay. Raises IndexError for a dim out of range.

        >>> norch.tensor([1, 2, 3]).cumprod_(0)
        tensor([1, 2, 6])
        """
        x = self if self._edge is None else self.clone()  # whose old values the derivative takes
        return self.copy_(x.cumprod(dim, axis=axis, dtype=_own_dtype("cumprod_", self, dtype)))


def _own_dtype(name: str, x: Tensor, dtype: DType | None) -> DType | None:
    """The dtype to ask for to write into x: its own, None if it is so anyhow; RuntimeError if another is asked for."""
    own = x.dtype
    if dtype is not None and dtype != own:
        raise RuntimeError(f"{name}: dtype is {shown(dtype)}, expected {own}, which the tensor has")
    return None if own.is_floating_point or own is int64 else own


def _reduced(
    name: str, x: Tensor, axes: Sequence[int] | None, keepdim: bool, backward: type[Node] | None = None
) -> Tensor:
    """x reduced by the kernel `name` over these axes, or over all."""
    if keepdim is not False:
        flag(keepdim, f"{name}: keepdim")
    if axes is None:
        result = wrap(getattr(lib, _FUNCTIONS[name])(x._ptr, _NO_AXES, -1, keepdim))
    else:
        result = wrap(getattr(lib, _FUNCTIONS[name])(x._ptr, int64_array(axes), len(axes), keepdim))
    return result if x._edge is None else recorded(result, backward, (x,), axes, keepdim)


_NO_AXES = int64_array(())
_FUNCTIONS = {name: f"{name}_tensor" for name in "sum mean prod max min any all argmax argmin".split()}


def _spread(
    name: str,
    x: Tensor,
    dim: Dims | bool,
    unbiased: bool | None,
    keepdim: bool,
    correction: float | None,
    axis: Dims,
) -> Tensor:
    """The variance, or its square root."""
    axes, arguments = _of_spread(name, x, dim, unbiased, keepdim, correction, axis)
    is_variance = name == "var"
    result = wrap((lib.variance_tensor if is_variance else lib.deviation_tensor)(x._ptr, *arguments))
    return recorded(result, f.VarianceBackward if is_variance else DeviationBackward, (x,), axes, *arguments[2:])


def spread_and_mean(
    name: str, x: Tensor, dim: Dims | bool, unbiased: bool | None, keepdim: bool, correction: float | None
) -> tuple[Tensor, Tensor]:
    """The same and the mean, for `var_mean` and `std_mean`."""
    axes, arguments = _of_spread(name, x, dim, unbiased, keepdim, correction, None)
    is_variance = name == "var_mean"
    spread, mean = several(lib.moments_tensor(x._ptr, *arguments, not is_variance))
    backward = f.VarianceBackward if is_variance else DeviationBackward
    recorded(mean, f.MeanBackward, (x,), axes, arguments[2])
    return recorded(spread, backward, (x,), axes, *arguments[2:]), mean


def _of_spread(
    name: str,
    x: Tensor,
    dim: Dims | bool,
    unbiased: bool | None,
    keepdim: bool,
    correction: float | None,
    axis: Dims,
) -> tuple[list[int] | None, tuple[bytes, int, bool, float]]:
    """The axes, and what C takes beside x: these and their count, whether they are kept, and the elements lost."""
    check_floating(x, name)
    if isinstance(dim, bool) and unbiased is None:
        dim, unbiased = None, dim
    if unbiased is not None and correction is not None:
        raise TypeError(f"{name}: unbiased={unbiased} and correction={correction} are the same argument")
    lost = (1 if correction is None else correction) if unbiased is None else int(flag(unbiased, f"{name}: unbiased"))
    axes = axes_of(name, dim, axis)
    kept = flag(keepdim, f"{name}: keepdim")
    return axes, (_NO_AXES if axes is None else int64_array(axes), -1 if axes is None else len(axes), kept, lost)


def _other(name: str, dim: Any, axis: Dims, other: Tensor | None) -> Tensor:
    """The tensor that is given in place of a dimension. Raises TypeError if both are."""
    if isinstance(dim, operation.Tensor):
        dim, other = None, dim
    if dim is not None or axis is not None:
        raise TypeError(f"{name}: expected a dimension or another tensor, got both")
    return other  # type: ignore[return-value]


def _extremum(
    name: str,
    x: Tensor,
    dim: Dims | Tensor,
    axis: Dims,
    keepdim: bool,
    backward: type[Node],
) -> Tensor | Picked:
    """The values by `axis`, or over all elements; by `dim` the values and their places."""
    axes = axes_of(name, dim, axis)
    if dim is None or axes is None:
        return _reduced(name, x, axes, keepdim, backward)
    if len(axes) != 1:
        raise TypeError(
            f"{name}: expected one dim for values and indices, got {shown(dim)}; use axis= for values alone"
        )
    if keepdim is not False:
        flag(keepdim, f"{name}: keepdim")
    if x.ndim == 0:
        axis_of(x, axes[0], name)
    values, indices = several(lib.extreme_tensor(x._ptr, axes[0], keepdim, name == "max"))
    return PICKED[name](recorded(values, PickBackward, (x,), indices, axes[0], keepdim), indices)


def _place(name: str, x: Tensor, dim: int | None, axis: int | None, keepdim: bool) -> Tensor:
    axes = axes_of(name, dim, axis)
    if axes is not None and len(axes) != 1:
        raise TypeError(f"{name}: expected one dim or None, got {shown(dim if axis is None else axis)}")
    if axes:
        axis_of(x, axes[0], name)
    if keepdim is not False:
        flag(keepdim, f"{name}: keepdim")
    return wrap(getattr(lib, _FUNCTIONS[name])(x._ptr, axes[0] if axes else 0, axes is None, keepdim))


def _truth(name: str, x: Tensor, dim: Dims, axis: Dims, keepdim: bool) -> Tensor:
    result = _reduced(name, x, axes_of(name, dim, axis, empty_is_all=False), keepdim)
    return result.to(uint8) if x.dtype is uint8 else result


def _as(dtype: DType | None, x: Tensor) -> Tensor:
    return x if dtype is None else x.to(dtype=dtype)
