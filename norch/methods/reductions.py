"""Reductions: over all elements, one dimension or several (`dim` and `axis` are the same), with `keepdim`.

Over everything the result is the article's scalar, of shape [1]. Running totals (cumsum, cumprod) keep the shape.
"""

from __future__ import annotations

from typing import Any

from .._C import int64_array, lib
from ..arguments import axes_of, one_axis
from ..autograd import functions as f
from ..autograd.derivatives.indexing import CumprodBackward, CumsumBackward, PickBackward
from ..operation import recorded, wrap
from .composed import root


def _reduce(name: str, x: Any, axes: Any, keepdim: bool, backward: Any = None) -> Any:
    function = getattr(lib, f"{name}_tensor")
    count = -1 if axes is None else len(axes)
    ptr = function(x._ptr, int64_array(axes or ()), count, keepdim)
    return wrap(ptr) if backward is None else recorded(wrap(ptr), backward, (x,), axes, keepdim)


class Reductions:
    """The methods of Tensor that reduce."""

    _ptr: Any

    def sum(self: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None, dtype: Any = None) -> Any:
        """The sum; integers and bools sum to int64. Accurate to a few units in the last place at any length.

        Of all elements, of shape [1]; or over `dim`, one or several, which go away, or have size 1 with `keepdim`.
        Raises IndexError for a dim out of range. With `dtype` the elements are converted first.

        >>> x = norch.tensor([[1, 2], [3, 4]])
        >>> x.sum(), x.sum(0), x.sum(1, keepdim=True).shape
        (tensor([10]), tensor([4, 6]), norch.Size([2, 1]))
        """
        x = self if dtype is None else self.to(dtype)
        return _reduce("sum", x, axes_of("sum", dim, axis), keepdim, f.SumBackward)

    def mean(self: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None, dtype: Any = None) -> Any:
        """The mean; NaN over no elements. Shapes and errors as for `sum`; raises RuntimeError for integers.

        With `dtype` the elements are converted first.

        >>> norch.tensor([[1.0, 5.0], [7.0, 3.0]]).mean(0)
        tensor([4., 4.])
        """
        if dtype is not None:
            return self.to(dtype).mean(dim, keepdim, axis=axis)
        if not self.is_floating_point():
            raise RuntimeError(f"mean: expected a floating dtype, got {self.dtype}")
        total = self.sum(dim, keepdim, axis=axis)
        return total / (int(self.numel) / int(total.numel) if total.numel else 1.0)

    def prod(self: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None, dtype: Any = None) -> Any:
        """The product; integers and bools multiply to int64. Shapes and errors as for `sum`.

        With `dtype` the elements are converted first.

        >>> norch.tensor([2, 3, 4]).prod()
        tensor([24])
        """
        x = self if dtype is None else self.to(dtype)
        return _reduce("prod", x, axes_of("prod", dim, axis), keepdim, f.ProdBackward)

    def var(
        self: Any,
        dim: Any = None,
        keepdim: bool = False,
        *,
        correction: int = 1,
        unbiased: Any = None,
        axis: Any = None,
    ) -> Any:
        """The variance: squared distances from the mean, summed and divided by n - correction (1: unbiased).

        Shapes as for `sum`. Raises RuntimeError for a dtype that is not floating, IndexError for a dim out of range.

        >>> norch.tensor([1.0, 3.0]).var()
        tensor([2.])
        """
        if unbiased is not None:
            correction = int(unbiased)
        if not self.is_floating_point():
            raise RuntimeError(f"var: expected a floating dtype, got {self.dtype}")
        axes = axes_of("var", dim, axis)
        centred = self - self.mean(axes, keepdim=True)
        total = (centred * centred).sum(axes, keepdim)
        count = int(self.numel) // int(total.numel) if total.numel else 0
        return total / float(max(count - correction, 0))

    def std(
        self: Any,
        dim: Any = None,
        keepdim: bool = False,
        *,
        correction: int = 1,
        unbiased: Any = None,
        axis: Any = None,
    ) -> Any:
        """The standard deviation: the square root of the variance; shapes, dtypes and errors as for `var`.

        Where all elements are equal its derivative is 0.

        >>> norch.tensor([1.0, 3.0]).std()
        tensor([1.4142])
        """
        return root(self.var(dim, keepdim, correction=correction, unbiased=unbiased, axis=axis))

    def any(self: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None) -> Any:
        """Whether any element is nonzero, as bool. Shapes and errors as for `sum`.

        >>> norch.tensor([[True, False], [True, False]]).any(0)
        tensor([ True, False])
        """
        return _reduce("any", self, axes_of("any", dim, axis), keepdim)

    def all(self: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None) -> Any:
        """Whether all elements are nonzero, as bool. Shapes and errors as for `sum`.

        >>> norch.tensor([[True, False], [True, True]]).all(0)
        tensor([ True, False])
        """
        return _reduce("all", self, axes_of("all", dim, axis), keepdim)

    def max(self: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None) -> Any:
        """The largest element, in the dtype of x; NaN if there is one. Shapes as for `sum`.

        `max()` and `max(axis=)` return values, as in NumPy; `max(dim)` the pair (values, indices), as in PyTorch;
        `max(other)` with a tensor is `maximum`. Indices are int64. Raises RuntimeError over no elements, IndexError
        for a dim out of range.

        >>> x = norch.tensor([[1, 5], [7, 3]])
        >>> x.max(), x.max(axis=1)
        (tensor([7]), tensor([5, 7]))
        >>> x.max(1).indices
        tensor([1, 0])
        """
        return _extremum(self, "max", "maximum", f.MaxBackward, dim, axis, keepdim)

    def min(self: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None) -> Any:
        """The smallest element; otherwise as `max`, in shapes, dtypes and errors.

        >>> x = norch.tensor([[1, 5], [7, 3]])
        >>> x.min(), x.min(axis=1)
        (tensor([1]), tensor([1, 3]))
        """
        return _extremum(self, "min", "minimum", f.MinBackward, dim, axis, keepdim)

    def amax(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        """The largest element over `dim`, one or several; the gradient is shared by equals. Shapes as for `sum`.

        The dtype is that of x. Raises RuntimeError over no elements, IndexError for a dim out of range.

        >>> norch.tensor([[1, 5], [7, 3]]).amax(1)
        tensor([5, 7])
        """
        return self.max(axis=dim, keepdim=keepdim)

    def amin(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        """The smallest element over `dim`, one or several; the gradient is shared by equals. Shapes as for `sum`.

        The dtype is that of x. Raises RuntimeError over no elements, IndexError for a dim out of range.

        >>> norch.tensor([[1, 5], [7, 3]]).amin(1)
        tensor([1, 3])
        """
        return self.min(axis=dim, keepdim=keepdim)

    def argmax(self: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None) -> Any:
        """The index, int64, of the first largest element along `dim`, or in the flattened tensor (shape [1]).

        Along `dim` that dimension goes away, or has size 1 with `keepdim`. Raises IndexError over no elements, and
        for a dim out of range.

        >>> norch.tensor([[1, 5], [7, 3]]).argmax(1)
        tensor([1, 0])
        """
        return _arg("argmax", self, dim, axis, keepdim)

    def argmin(self: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None) -> Any:
        """The index, int64, of the first smallest element along `dim`, or in the flattened tensor (shape [1]).

        Along `dim` that dimension goes away, or has size 1 with `keepdim`. Raises IndexError over no elements, and
        for a dim out of range.

        >>> norch.tensor([[1, 5], [7, 3]]).argmin(1)
        tensor([0, 1])
        """
        return _arg("argmin", self, dim, axis, keepdim)

    def cumsum(self: Any, dim: Any = None, *, axis: Any = None, dtype: Any = None) -> Any:
        """Along a dimension the sum of each element and all before it, in the shape of x.

        Integers and bools sum to int64. Raises IndexError for a dim out of range.

        >>> norch.tensor([1, 2, 3]).cumsum(0)
        tensor([1, 3, 6])
        """
        x = self if dtype is None else self.to(dtype)
        return x._cumsum(one_axis("cumsum", dim, axis), False)

    def _cumsum(self: Any, axis: int, reverse: bool) -> Any:
        result = wrap(lib.cumsum_tensor(self._ptr, axis, reverse))
        return recorded(result, CumsumBackward, (self,), axis, reverse)

    def cumprod(self: Any, dim: Any = None, *, axis: Any = None, dtype: Any = None) -> Any:
        """Along a dimension the product of each element and all before it, in the shape of x.

        Integers and bools multiply to int64. Raises IndexError for a dim out of range.

        >>> norch.tensor([1, 2, 3]).cumprod(0)
        tensor([1, 2, 6])
        """
        x = self if dtype is None else self.to(dtype)
        along = one_axis("cumprod", dim, axis)
        return recorded(wrap(lib.cumprod_tensor(x._ptr, along)), CumprodBackward, (x,), along)


def _extremum(x: Any, name: str, elementwise: str, backward: Any, dim: Any, axis: Any, keepdim: bool) -> Any:
    if isinstance(dim, type(x)) or hasattr(dim, "_ptr"):
        return getattr(x, elementwise)(dim)
    axes = axes_of(name, dim, axis)
    if dim is None or axes is None:
        return _reduce(name, x, axes, keepdim, backward)
    if len(axes) != 1:
        raise TypeError(f"{name}: expected one dim for values and indices, got {dim!r}; use axis= for values alone")
    indices = getattr(x, f"arg{name}")(axes[0], keepdim)
    values = recorded(_reduce(name, x, axes, keepdim), PickBackward, (x,), indices, axes[0], keepdim)
    return Picked(values, indices)


class Picked(tuple):
    """The pair that `max(dim)`, `min(dim)`, `sort` and `topk` return: `values` along a dimension, and `indices`."""

    __slots__ = ()

    def __new__(cls, values: Any, indices: Any) -> Any:
        return tuple.__new__(cls, (values, indices))

    @property
    def values(self) -> Any:
        """The values along the dimension."""
        return self[0]

    @property
    def indices(self) -> Any:
        """Where they were found, int64."""
        return self[1]

    def __repr__(self) -> str:
        return f"norch.Picked(values={self[0]!r}, indices={self[1]!r})"


def _arg(name: str, x: Any, dim: Any, axis: Any, keepdim: bool) -> Any:
    axes = axes_of(name, dim, axis)
    if axes is not None and len(axes) != 1:
        raise TypeError(f"{name}: expected one dim or None, got {dim if axis is None else axis!r}")
    ptr = getattr(lib, f"{name}_tensor")(x._ptr, axes[0] if axes else 0, axes is None, keepdim)
    return wrap(ptr)
