"""Tensor: the article's class, with PyTorch's habits.

A Tensor holds the address of a C tensor (csrc/tensor.h) and the node where its gradient goes. Shape, strides and dtype
are read from the C struct, which `CTensor` mirrors. Here are the elementwise operations and the matrix product;
methods/ has the other families of methods, display/ the printing.

Type checkers read tensor.pyi, which tools/stubs.py writes from this file: there each row's methods are spelled out.
"""

from __future__ import annotations

import ctypes
import functools
from types import FunctionType
from typing import Any, overload

from . import _C, autocasting, operation
from ._C import CTensor, lib
from .arguments import checked_dim, is_size, one_size, sizes_of
from .autograd import functions as f
from .autograd.derivatives import elementary as d
from .autograd.derivatives import special as s
from .autograd.derivatives.activations import LogSoftmaxBackward, SoftmaxBackward
from .autograd.in_place import Views, write
from .methods.activations import ActivationMethods
from .methods.composed import ComposedMethods
from .methods.conversion import ConversionMethods
from .methods.dlpack import DLPackMethods
from .methods.elementary import ElementaryMethods
from .methods.elementwise import binary, ternary, unary
from .methods.gradient import GradientMethods
from .methods.in_place_views import InPlaceViewMethods
from .methods.interop import InteropMethods
from .methods.legacy import LegacyMethods
from .methods.linalg import LinalgMethods
from .methods.masking import MaskingMethods
from .methods.new_tensors import NewTensorMethods
from .methods.products import ProductMethods
from .methods.random_draws import RandomDrawMethods
from .methods.random_fill import RandomFillMethods
from .methods.rearranging import RearrangingMethods
from .methods.reductions import ReductionMethods
from .methods.scattering import ScatteringMethods
from .methods.selection import SelectionMethods
from .methods.sorting import SortingMethods
from .methods.sparse_forms import SparseFormMethods
from .methods.special_values import SpecialValueMethods
from .methods.splitting import SplittingMethods
from .methods.statistics import StatisticsMethods
from .methods.storage import StorageMethods
from .methods.subclasses import SubclassMethods
from .methods.values import ValueMethods
from .methods.view_writes import ViewWriteMethods
from .methods.views import ViewMethods
from .missing import ABSENT, Absent
from .operation import check_operand, check_tensor, mode, operand, record, recorded, wrap
from .packing import address_of, filled
from .precision import derived_in_float32, in_float32
from .types import DTYPES, Count, DType, Operand, Size, default, dtype

__all__ = ["CTensor", "Tensor"]


_sized = tuple.__new__  # a Size of integers that need no check
_count = functools.lru_cache(1024)(Count)


class Tensor(
    GradientMethods,
    ViewMethods,
    SplittingMethods,
    SparseFormMethods,
    InPlaceViewMethods,
    ViewWriteMethods,
    RearrangingMethods,
    ReductionMethods,
    SelectionMethods,
    MaskingMethods,
    ScatteringMethods,
    SortingMethods,
    StatisticsMethods,
    ComposedMethods,
    NewTensorMethods,
    ElementaryMethods,
    SpecialValueMethods,
    LinalgMethods,
    ProductMethods,
    ConversionMethods,
    ValueMethods,
    RandomFillMethods,
    RandomDrawMethods,
    StorageMethods,
    InteropMethods,
    DLPackMethods,
    LegacyMethods,
    ActivationMethods,
    SubclassMethods,
):
    """An n-dimensional array of numbers of one dtype on one device, that can record its gradient.

    `Tensor(data, device="cpu", requires_grad=False)` is of the default dtype, float32, always, as in the article
    (`norch.tensor` infers the dtype). `data` is nested lists or tuples of one length at each depth, another tensor, an
    array, or a float, which becomes a tensor of no dimensions. Integers, or a Size, are the shape of a tensor of zeros,
    which PyTorch leaves unset. Raises ValueError for ragged lists, TypeError if an element is not a number.

    >>> x = norch.Tensor([[1, 2], [3, 4]], requires_grad=True)
    >>> (x @ x).sum().backward()
    >>> x.grad
    tensor([[ 7., 11.],
            [ 9., 13.]])
    """

    __module__ = "norch"  # its public place, which `print(type(x))` shows

    # Every tensor has `_edge` and `_ptr` (operation.wrap), which C reads too; the others are set when they are needed.
    __slots__ = ("_edge", "_ptr")
    _ptr: _C.Handle  # the C tensor, which lives as long as this
    _base: Tensor | None = None  # of a view: the tensor it is a view of
    _shape: Size | None = None
    _untracked = False  # whether it is a view that was made under no_grad
    _views: Views | None = None  # of a base: its views, which follow it into a graph

    __array_priority__ = 1000  # NumPy leaves the operators between an array and a tensor to the tensor

    @overload
    def __init__(self, data: object = (), device: str | int | None = None, requires_grad: bool = False) -> None: ...
    @overload
    def __init__(self, *size: int, device: str | int | None = None, requires_grad: bool = False) -> None: ...

    def __init__(
        self, data: Any = (), *args: Any, device: str | int | None = None, requires_grad: bool = False
    ) -> None:
        if self._made_as is not None:  # its `__new__` has made it
            return
        if (type(data) is not list and is_size(data)) or (args and not isinstance(args[0], (str, type(None)))):
            self._ptr = filled(sizes_of((data, *args), "Tensor"), 0, default.dtype, device)._ptr
        else:
            if len(args) > 2:
                raise TypeError(f"Tensor: expected data, a device and requires_grad, got {len(args) + 1} arguments")
            device = args[0] if args else device
            requires_grad = args[1] if len(args) > 1 else requires_grad
            self._ptr = address_of(data, default.dtype, device)
        self._edge = self._shape = self._base = self._views = None  # it may be a second __init__
        if requires_grad:
            self.requires_grad = True

    # ---- What a tensor is ---------------------------------------------------------------------------------------

    @property
    def tensor(self) -> ctypes._Pointer[CTensor]:
        """A ctypes pointer to the C struct, as in the article: `x.tensor.contents.data[0]`.

        >>> norch.Tensor([1, 2]).tensor.contents.data[1]
        2.0
        """
        handle = self._ptr
        struct = CTensor.from_address(int(handle))
        struct.owner = handle  # so that the struct keeps its tensor alive
        return ctypes.pointer(struct)

    @property
    def _struct(self) -> CTensor:
        return CTensor.from_address(int(self._ptr))

    @property
    def shape(self) -> Size:
        """The size of each dimension: a tuple that also equals the same list.

        >>> norch.ones(2, 3).shape == [2, 3]
        True
        """
        if self._shape is None:
            self._shape = _sized(Size, lib.shape_of(self._ptr))
        return self._shape

    @overload
    def size(self) -> Size: ...
    @overload
    def size(self, dim: int) -> int: ...

    def size(self, dim: int | None = None) -> Size | int:
        """The shape, or the size of one dimension.

        >>> norch.ones(2, 3).size(), norch.ones(2, 3).size(1)
        (norch.Size([2, 3]), 3)
        """
        return self.shape if dim is None else self.shape[checked_dim(dim, "size")]

    @property
    def ndim(self) -> int:
        """The number of dimensions.

        >>> norch.ones(2, 3).ndim
        2
        """
        return lib.ndim_of(self._ptr)

    def dim(self) -> int:
        """The number of dimensions.

        >>> norch.ones(2, 3).dim()
        2
        """
        return lib.ndim_of(self._ptr)

    @property
    def numel(self) -> Count:
        """The number of elements: the article's attribute, and PyTorch's method `numel()`, at once.

        >>> norch.ones(2, 3).numel, norch.ones(2, 3).numel()
        (6, 6)
        """
        return _count(lib.count_of(self._ptr))

    @property
    def dtype(self) -> dtype:
        """The type of the elements, such as `norch.float32`.

        >>> norch.tensor([1, 2]).dtype
        norch.int64
        """
        return DTYPES[lib.dtype_of(self._ptr)]

    def is_floating_point(self) -> bool:
        """Whether the dtype is float16, bfloat16, float32 or float64.

        >>> norch.ones(2).is_floating_point()
        True
        """
        return self.dtype.is_floating_point

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of a tensor of 0 dimensions")
        return self.shape[0]

    # ---- Elementwise operations: a row in csrc/ops/operations.h, a line here, a class in autograd/functions.py ------

    __add__, __radd__, __iadd__, _, _ = binary("add", f.AddBackward, "x + y")
    __sub__, __rsub__, __isub__, _, _ = binary("sub", f.SubBackward, "x - y")
    __mul__, __rmul__, __imul__, mul, mul_ = binary("elementwise_mul", f.ElementwiseMulBackward, "x * y", "mul")
    __truediv__, __rtruediv__, __itruediv__, _, _ = binary("div", f.DivBackward, "x / y")
    __pow__, __rpow__, __ipow__, _, _ = binary("pow", f.PowBackward, "x to the power of y")
    __floordiv__, __rfloordiv__, __ifloordiv__, floor_divide, floor_divide_ = binary(
        "floor_divide", None, "x // y: rounded towards minus infinity. No gradient."
    )
    __mod__, __rmod__, __imod__, remainder, remainder_ = binary(
        "remainder", f.RemainderBackward, "x % y: with the sign of y, as in Python"
    )
    __and__, __rand__, __iand__, bitwise_and, bitwise_and_ = binary("bitwise_and", None, "x & y of integers or bools")
    __or__, __ror__, __ior__, bitwise_or, bitwise_or_ = binary("bitwise_or", None, "x | y of integers or bools")
    __xor__, __rxor__, __ixor__, bitwise_xor, bitwise_xor_ = binary("bitwise_xor", None, "x ^ y of integers or bools")
    # (Type checkers object because an object's == returns a bool.)
    __eq__, _, _, eq, eq_ = binary("eq", None, "x == y")  # type: ignore[assignment]
    __ne__, _, _, ne, ne_ = binary("ne", None, "x != y")  # type: ignore[assignment]
    __lt__, _, _, lt, lt_ = binary("lt", None, "x < y")
    __le__, _, _, le, le_ = binary("le", None, "x <= y")
    __gt__, _, _, gt, gt_ = binary("gt", None, "x > y")
    __ge__, _, _, ge, ge_ = binary("ge", None, "x >= y")
    _, _, _, fmod, fmod_ = binary(
        "fmod", d.FmodBackward, "The remainder of x / y rounded towards zero: with the sign of x"
    )
    _, _, _, atan2, atan2_ = binary(
        "atan2", d.Atan2Backward, "The angle, in radians, of the point (y, x)", numbers=False
    )
    _, _, _, hypot, hypot_ = binary(
        "hypot", d.HypotBackward, "sqrt(x^2 + y^2), whose squares cannot overflow", numbers=False
    )
    _minimum, _, _minimum_, minimum, minimum_ = binary(
        "minimum", f.MinimumBackward, "The smaller of x and y; NaN if either is", numbers=False
    )
    _maximum, _, _maximum_, maximum, maximum_ = binary(
        "maximum", f.MaximumBackward, "The larger of x and y; NaN if either is", numbers=False
    )
    _, _, _, logical_and, logical_and_ = binary("logical_and", None, "Whether x and y are both nonzero", numbers=False)
    _, _, _, logical_or, logical_or_ = binary("logical_or", None, "Whether x or y is nonzero", numbers=False)
    _, _, _, logical_xor, logical_xor_ = binary(
        "logical_xor", None, "Whether exactly one of x and y is nonzero", numbers=False
    )
    _, _, _, fmin, fmin_ = binary(
        "fmin", s.FminBackward, "The smaller of x and y; the other one if either is NaN", numbers=False
    )
    _, _, _, fmax, fmax_ = binary(
        "fmax", s.FmaxBackward, "The larger of x and y; the other one if either is NaN", numbers=False
    )
    _, _, _, copysign, copysign_ = binary("copysign", s.CopysignBackward, "|x| with the sign of y")
    _, _, _, _nextafter, _nextafter_ = binary(
        "nextafter", s.NextafterBackward, "The number next to x in y's direction", numbers=False
    )
    _, _, _, heaviside, heaviside_ = binary(
        "heaviside", None, "0 where x < 0, y where x is 0, 1 where x > 0", numbers=False, second="values"
    )
    _, _, _, logaddexp, logaddexp_ = binary(
        "logaddexp", s.LogaddexpBackward, "log(exp(x) + exp(y)), without overflow", numbers=False
    )
    _, _, _, logaddexp2, logaddexp2_ = binary(
        "logaddexp2", s.Logaddexp2Backward, "log2(2^x + 2^y), without overflow", numbers=False
    )
    _, _, _, xlogy, xlogy_ = binary("xlogy", s.XlogyBackward, "x log(y), 0 if x is 0")
    _, _, _, igamma, igamma_ = binary(
        "igamma", s.IgammaBackward, "The incomplete gamma function P(x, y), regularized", numbers=False
    )
    _, _, _, igammac, igammac_ = binary(
        "igammac", s.IgammacBackward, "1 - igamma(x, y), exact if that is small too", numbers=False
    )
    _, _, _, gcd, gcd_ = binary("gcd", None, "The greatest common divisor of integers", numbers=False)
    _, _, _, lcm, lcm_ = binary("lcm", None, "The least common multiple of integers", numbers=False)
    __lshift__, __rlshift__, __ilshift__, bitwise_left_shift, bitwise_left_shift_ = binary(
        "bitwise_left_shift", None, "x << y of integers: x times 2 to the power of y"
    )
    __rshift__, __rrshift__, __irshift__, bitwise_right_shift, bitwise_right_shift_ = binary(
        "bitwise_right_shift", None, "x >> y of integers: x divided by 2 to the power of y, rounded down"
    )
    multiply, multiply_ = mul, mul_
    not_equal, not_equal_, greater, greater_, less, less_ = ne, ne_, gt, gt_, lt, lt_
    greater_equal, greater_equal_, less_equal, less_equal_ = ge, ge_, le, le_
    arctan2, arctan2_ = atan2, atan2_
    __hash__ = object.__hash__

    neg, neg_ = unary("neg", f.NegBackward, "-x")
    abs, abs_ = unary("abs", f.AbsBackward, "The absolute value |x|")
    sign, sign_ = unary("sign", f.SignBackward, "-1, 0 or 1 by the sign of x")
    relu, relu_ = unary("relu", f.ReluBackward, "max(x, 0)")
    floor, floor_ = unary("floor", f.FloorBackward, "The largest integer not above x")
    ceil, ceil_ = unary("ceil", f.CeilBackward, "The smallest integer not below x")
    _round, _round_ = unary("round", f.RoundBackward, "The nearest integer; halves go to the even one")
    trunc, trunc_ = unary("trunc", f.TruncBackward, "The integer part of x: rounded towards zero")
    frac, frac_ = unary("frac", f.FracBackward, "The fraction x - trunc(x), with the sign of x")
    exp, exp_ = unary("exp", f.ExpBackward, "e to the power of x")
    log, log_ = unary("log", f.LogBackward, "The natural logarithm of x")
    sqrt, sqrt_ = unary("sqrt", f.SqrtBackward, "The square root of x")
    sin, sin_ = unary("sin", f.SinBackward, "The sine of x, in radians")
    cos, cos_ = unary("cos", f.CosBackward, "The cosine of x, in radians")
    tanh, tanh_ = unary("tanh", f.TanhBackward, "The hyperbolic tangent of x")
    sigmoid, sigmoid_ = unary("sigmoid", f.SigmoidBackward, "1 / (1 + exp(-x))")
    tan, tan_ = unary("tan", d.TanBackward, "The tangent of x, in radians")
    asin, asin_ = unary("asin", d.AsinBackward, "The angle, in radians, whose sine is x")
    acos, acos_ = unary("acos", d.AcosBackward, "The angle, in radians, whose cosine is x")
    atan, atan_ = unary("atan", d.AtanBackward, "The angle, in radians, whose tangent is x")
    sinh, sinh_ = unary("sinh", d.SinhBackward, "The hyperbolic sine of x")
    cosh, cosh_ = unary("cosh", d.CoshBackward, "The hyperbolic cosine of x")
    asinh, asinh_ = unary("asinh", s.AsinhBackward, "The number whose hyperbolic sine is x")
    acosh, acosh_ = unary("acosh", s.AcoshBackward, "The number at least 0 whose hyperbolic cosine is x")
    atanh, atanh_ = unary("atanh", s.AtanhBackward, "The number whose hyperbolic tangent is x")
    exp2, exp2_ = unary("exp2", d.Exp2Backward, "2 to the power of x")
    expm1, expm1_ = unary("expm1", d.Expm1Backward, "exp(x) - 1, exact near 0 too")
    log1p, log1p_ = unary("log1p", d.Log1pBackward, "log(1 + x), exact near 0 too")
    log2, log2_ = unary("log2", d.Log2Backward, "The logarithm of x to base 2")
    log10, log10_ = unary("log10", d.Log10Backward, "The logarithm of x to base 10")
    rsqrt, rsqrt_ = unary("rsqrt", d.RsqrtBackward, "1 / sqrt(x)")
    reciprocal, reciprocal_ = unary("reciprocal", d.ReciprocalBackward, "1 / x")
    erf, erf_ = unary("erf", d.ErfBackward, "The error function of x")
    erfc, erfc_ = unary("erfc", d.ErfcBackward, "1 - erf(x), exact for large x too")
    erfinv, erfinv_ = unary("erfinv", s.ErfinvBackward, "The number whose error function is x")
    lgamma, lgamma_ = unary("lgamma", s.LgammaBackward, "The logarithm of the absolute value of gamma(x)")
    digamma, digamma_ = unary("digamma", s.DigammaBackward, "The derivative of the logarithm of gamma(x)")
    sinc, sinc_ = unary("sinc", s.SincBackward, "sin(pi x) / (pi x), 1 at 0")
    _logit, _logit_ = unary("logit", s.LogitBackward, "log(x / (1 - x))")
    i0, i0_ = unary("i0", s.I0Backward, "The modified Bessel function of the first kind, of order 0")
    isnan = unary("isnan", None, "Whether x is NaN")[0]
    isinf = unary("isinf", None, "Whether x is infinite")[0]
    isfinite = unary("isfinite", None, "Whether x is neither infinite nor NaN")[0]
    signbit = unary("signbit", None, "Whether the sign of x is minus, of zeros and NaN too")[0]
    logical_not, logical_not_ = unary("logical_not", None, "Whether x is zero")
    bitwise_not, bitwise_not_ = unary("bitwise_not", None, "~x of integers or bools")
    __neg__, __abs__ = neg, abs
    del _

    def __invert__(self) -> Tensor:
        if self.is_floating_point():
            raise TypeError(f"~ is for integers and bools, got {self.dtype}")
        return self.bitwise_not()

    def __pos__(self) -> Tensor:
        return self

    def clamp(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """Each element moved into [min, max]: numbers or tensors that broadcast; one of them may be None.

        Shapes broadcast, dtypes are promoted. Raises RuntimeError if both are None, ShapeError if they do not fit.

        >>> norch.tensor([1, 5, 9]).clamp(2, 8)
        tensor([2, 5, 8])
        """
        return _clamp(self, *_bounds("clamp", min, max))

    def clamp_(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """In place: each element moved into [min, max], which broadcast to this shape; the dtype stays.

        Raises RuntimeError if both are None and for a leaf that requires gradients, ShapeError if they do not fit.

        >>> norch.tensor([1, 5, 9]).clamp_(2, 8)
        tensor([2, 5, 8])
        """
        low, high = map(check_operand, _bounds("clamp_", min, max), ("clamp_", "clamp_"))
        return write(self, f.ClampBackward, (low, high), lib.clamp_into, self._ptr, self._ptr, low._ptr, high._ptr)

    clip, clip_ = clamp, clamp_
    absolute, absolute_, negative, negative_, fix, fix_, sgn, sgn_ = abs, abs_, neg, neg_, trunc, trunc_, sign, sign_
    arcsin, arcsin_, arccos, arccos_, arctan, arctan_ = asin, asin_, acos, acos_, atan, atan_
    arcsinh, arcsinh_, arccosh, arccosh_, arctanh, arctanh_ = asinh, asinh_, acosh, acosh_, atanh, atanh_

    def where(self, condition: Tensor, other: Operand) -> Tensor:
        """This tensor's elements where the bool `condition` is True, those of `other` elsewhere; as `norch.where`.

        >>> norch.tensor([1, 2]).where(norch.tensor([True, False]), 0)
        tensor([1, 0])
        """
        return check_tensor(condition, "where")._choose(self, other)

    def _choose(self, x: Operand, y: Operand) -> Tensor:
        return _where(self, x, y)

    @overload
    def softmax(self, dim: int, dtype: DType | None = None) -> Tensor: ...
    @overload
    def softmax(self, *, axis: int, dtype: DType | None = None) -> Tensor: ...

    def softmax(self, dim: int | None = None, dtype: DType | None = None, *, axis: int | None = None) -> Tensor:
        """exp(x) divided by its sum along `dim`; the maximum is subtracted first, so that nothing overflows.

        The result has the shape and dtype of x, or `dtype`, into which x is converted first. Raises IndexError for a
        dim out of range, RuntimeError if the dtype is not floating.

        >>> norch.zeros(1, 2).softmax(1)
        tensor([[0.5000, 0.5000]])
        """
        x = self if dtype is None else self.to(dtype=dtype)
        axis = one_size(dim if axis is None else axis, "softmax")
        return recorded(wrap(lib.softmax_tensor(x._ptr, axis)), SoftmaxBackward, (x,), axis)

    @overload
    def log_softmax(self, dim: int, dtype: DType | None = None) -> Tensor: ...
    @overload
    def log_softmax(self, *, axis: int, dtype: DType | None = None) -> Tensor: ...

    def log_softmax(self, dim: int | None = None, dtype: DType | None = None, *, axis: int | None = None) -> Tensor:
        """log(softmax(x)) along `dim`, computed as x - max - log(sum(exp(x - max))). Otherwise as `softmax`.

        >>> norch.zeros(1, 2).log_softmax(1)
        tensor([[-0.6931, -0.6931]])
        """
        x = self if dtype is None else self.to(dtype=dtype)
        axis = one_size(dim if axis is None else axis, "log_softmax")
        return recorded(wrap(lib.log_softmax_tensor(x._ptr, axis)), LogSoftmaxBackward, (x,), axis)

    # ---- Matrix product -----------------------------------------------------------------------------------------

    def __matmul__(self, other: Operand) -> Tensor:
        matrix = operand(other)
        if not isinstance(matrix, Tensor):
            return NotImplemented
        result = wrap(lib.matmul_tensor(self._ptr, matrix._ptr))
        if (self._edge or matrix._edge) and mode.enabled:
            record(result, f.MatmulBackward(self, matrix), (self._edge, matrix._edge))
        return result

    def __rmatmul__(self, other: Operand) -> Tensor:
        matrix = operand(other)
        return matrix @ self if isinstance(matrix, Tensor) else NotImplemented

    def matmul(self, other: Tensor) -> Tensor:
        """The matrix product over the last two dimensions; the leading ones broadcast, and vectors have one dimension.

        [..., m, k] @ [..., k, n] is [..., m, n], all of one dtype. Raises ShapeError if the shapes do not chain,
        RuntimeError for two dtypes or bool, TypeError if `other` is not a tensor.

        >>> norch.ones(5, 2, 3).matmul(norch.ones(3, 4)).shape
        norch.Size([5, 2, 4])
        """
        if not isinstance(other, Tensor) and not getattr(other, "is_sparse", False):
            check_tensor(other, "matmul")
        return self @ other

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in ABSENT["Tensor"]]


operation.Tensor = Tensor
if _C.CPYTHON:
    lib.know_tensors(Tensor, Views, _C.raise_error, GradientMethods.__basicsize__)  # the slots come after a base's

for _methods in Tensor.__bases__:  # Python's own errors name a method as its users do, Tensor.unsqueeze
    for _method in vars(_methods).values():
        if type(_method) is FunctionType:
            _method.__qualname__ = f"Tensor.{_method.__name__}"

for _name in ABSENT["Tensor"]:
    setattr(Tensor, _name, Absent("Tensor", _name))

# Composed of several operations: halves are widened before the first and rounded after the last.
for _name in "nanmean norm logsumexp".split():
    setattr(Tensor, _name, in_float32(getattr(Tensor, _name)))
for _name in "mean var std".split():
    setattr(Tensor, _name, derived_in_float32(getattr(Tensor, _name)))
autocasting.classes.append(Tensor)


_where, _clamp = ternary("where", f.WhereBackward), ternary("clamp", f.ClampBackward)


def _bounds(name: str, min: Operand | None, max: Operand | None) -> tuple[Any, Any]:
    """The bounds of clamp."""
    if min is None and max is None:
        raise RuntimeError(f"{name}: expected min, max or both, got neither")
    return _LOWEST if min is None else min, _HIGHEST if max is None else max


# Of a bound that is not given, whatever the dtype: infinite for the derivative, null for C.
_LOWEST, _HIGHEST = _C.Number(-float("inf")), _C.Number(float("inf"))
_LOWEST._ptr = _HIGHEST._ptr = None
