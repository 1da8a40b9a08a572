"""Transform: the base of the invertible functions between the values of distributions."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Sequence

from ..tensor import Tensor
from . import constraints

if TYPE_CHECKING:
    from typing_extensions import Self

_NOT_COMPARED = ("_cache_size", "_cached_x_y", "domain", "codomain", "bijective", "event_dim")


def _same(x: Any, y: Any) -> bool:
    return bool((x == y).all()) if isinstance(x, Tensor) or isinstance(y, Tensor) else x == y


class _EventDim:
    """That of the domain, where an instance or a subclass does not say otherwise."""

    def __get__(self, transform: Any, owner: type) -> Any:
        if transform is None:
            return self
        count = transform.domain.event_dim
        if count != transform.codomain.event_dim:
            raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")
        return count


class Transform:
    """y = t(x), x = t.inv(y), and the logarithm of |dy/dx|; `event_dim` dimensions of x make one value.

    A subclass defines `_call`, `_inverse` and `log_abs_det_jacobian`. With `cache_size=1` the inverse of the last
    result is the very argument.

    >>> double = norch.distributions.AffineTransform(0.0, 2.0)
    >>> double(norch.tensor(3.0)), double.inv(norch.tensor(6.0))
    (tensor(6.), tensor(3.))
    """

    bijective = True
    domain: Any = constraints.real
    codomain: Any = constraints.real
    event_dim: Any = _EventDim()
    _cached_x_y: tuple[Any, Any]

    def __init__(self, cache_size: int = 0) -> None:
        self._set_cache(cache_size)
        super().__init__()  # of a module that is a transform too

    def __call__(self, x: Tensor) -> Tensor:
        """t(x)."""
        if self._cache_size and x is self._cached_x_y[0]:
            return self._cached_x_y[1]
        y = self._call(x)
        self._cached_x_y = (x, y) if self._cache_size else (None, None)
        return y

    @property
    def sign(self) -> Any:
        """1 if y grows with x, -1 if it falls. Raises NotImplementedError if neither is so."""
        raise NotImplementedError(f"{type(self).__name__} has no sign")

    @property
    def inv(self) -> Transform:
        """The inverse transform."""
        return _InverseTransform(self)

    def with_cache(self, cache_size: int = 1) -> Self:
        """This transform, or a copy of it that keeps its last result."""
        if self._cache_size == cache_size:
            return self
        made = copy(self)
        made._set_cache(cache_size)
        return made

    def _set_cache(self, cache_size: int) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._cached_x_y = (None, None)

    def __eq__(self, other: object) -> bool:
        """Whether the other is of the same class, and has the same parameters."""
        if type(self) is not type(other):
            return False
        own, others = ({k: v for k, v in vars(x).items() if k not in _NOT_COMPARED} for x in (self, other))
        return own.keys() == others.keys() and all(_same(value, others[name]) for name, value in own.items())

    def __hash__(self) -> int:
        return hash(type(self))

    def _inv_call(self, y: Tensor) -> Tensor:
        if self._cache_size and y is self._cached_x_y[1]:
            return self._cached_x_y[0]
        return self._inverse(y)

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |dy/dx| at x, of which y is t(x)."""
        raise NotImplementedError

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of y for one of x."""
        return shape

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of x for one of y."""
        return shape

    def __repr__(self) -> str:
        return type(self).__name__ + "()"


class _InverseTransform(Transform):
    def __init__(self, transform: Transform) -> None:
        super().__init__()
        self._transform = transform
        self.domain, self.codomain = transform.codomain, transform.domain
        self.bijective = transform.bijective

    @property
    def sign(self) -> Any:
        return self._transform.sign

    @property
    def inv(self) -> Transform:
        return self._transform

    def __call__(self, x: Tensor) -> Tensor:
        return self._transform._inv_call(x)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self._transform(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._transform.log_abs_det_jacobian(y, x)

    def with_cache(self, cache_size: int = 1) -> Any:
        return self._transform.with_cache(cache_size).inv

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._transform.inverse_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._transform.forward_shape(shape)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._transform!r})"
