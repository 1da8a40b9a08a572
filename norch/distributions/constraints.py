"""What values a parameter or a sample may have: each constraint checks a tensor, element by element."""

from __future__ import annotations

from typing import Any, Sequence

from ..functions.creation import full
from ..functions.joining import cat as join
from ..functions.joining import stack as join_slices
from ..functions.promotion import finfo
from ..linalg import cholesky_ex, eigvalsh
from ..operation import check_kind
from ..tensor import Tensor
from ..types import bool_

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent",
    "dependent_property", "greater_than", "greater_than_eq", "half_open_interval", "independent",
    "integer_interval", "interval", "is_dependent", "less_than", "lower_cholesky", "lower_triangular",
    "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive", "positive_definite",
    "positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square", "stack", "symmetric",
    "unit_interval",
]  # fmt: skip


class Constraint:
    """`check(value)` is True for each value (for each vector, if `event_dim` is 1) that is allowed.

    >>> norch.distributions.constraints.positive.check(norch.tensor([-1.0, 2.0]))
    tensor([False,  True])
    """

    is_discrete = False
    event_dim = 0
    _printed: tuple[str, ...] = ()

    def check(self, value: Any) -> Tensor:
        """Whether the values are allowed, as a tensor of bools."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """The class and what it was made of, as PyTorch prints it: "GreaterThan(lower_bound=0.0)"."""
        bounds = [f"{name}={getattr(self, name)}" for name in ("lower_bound", "upper_bound") if name in self._printed]
        return f"{type(self).__name__.lstrip('_')}({', '.join(bounds)})"


class MixtureSameFamilyConstraint(Constraint):
    """Of samples of a MixtureSameFamily: those that each of its components allows.

    >>> d = norch.distributions
    >>> d.constraints.MixtureSameFamilyConstraint(d.constraints.positive).check(norch.tensor([-1.0, 2.0]))
    tensor([False,  True])
    """

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint
        self.is_discrete, self.event_dim = base_constraint.is_discrete, base_constraint.event_dim

    def check(self, value: Any) -> Tensor:
        """Raises ValueError for a value of fewer dimensions than a sample has."""
        if value.ndim < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.ndim}")
        found = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return found.reshape(*value.shape[: value.ndim - self.event_dim], -1).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Real(Constraint):
    def check(self, value: Any) -> Tensor:
        return value == value  # False for NaN


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Any) -> Tensor:
        return (value == 0) | (value == 1)


class _GreaterThan(Constraint):
    """Values above a bound.

    >>> norch.distributions.constraints.greater_than(1.0).check(norch.tensor([1.0, 2.0]))
    tensor([False,  True])
    """

    _printed = ("lower_bound",)

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Tensor:
        return value > self.lower_bound


class _GreaterThanEq(_GreaterThan):
    """Values from a bound on.

    >>> norch.distributions.constraints.greater_than_eq(1.0).check(norch.tensor([0.5, 1.0]))
    tensor([False,  True])
    """

    def check(self, value: Any) -> Tensor:
        return value >= self.lower_bound


class _LessThan(Constraint):
    """Values below a bound.

    >>> norch.distributions.constraints.less_than(1.0).check(norch.tensor([0.5, 1.0]))
    tensor([ True, False])
    """

    _printed = ("upper_bound",)

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Tensor:
        return value < self.upper_bound


class _Interval(Constraint):
    """Values between two bounds, which are allowed too.

    >>> norch.distributions.constraints.interval(0.0, 1.0).check(norch.tensor([1.0, 1.5]))
    tensor([ True, False])
    """

    _printed = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Any) -> Tensor:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Interval):
    """Values between two bounds, of which the lower one is allowed too.

    >>> norch.distributions.constraints.half_open_interval(0.0, 1.0).check(norch.tensor([0.0, 1.0]))
    tensor([ True, False])
    """

    def check(self, value: Any) -> Tensor:
        return (value >= self.lower_bound) & (value < self.upper_bound)


class _IntegerInterval(_Interval):
    """Integers between two bounds, which are allowed too.

    >>> norch.distributions.constraints.integer_interval(0, 4).check(norch.tensor([1.0, 1.5]))
    tensor([ True, False])
    """

    is_discrete = True

    def check(self, value: Any) -> Tensor:
        return (value % 1 == 0) & super().check(value)


class _IntegerGreaterThan(_GreaterThan):
    is_discrete = True

    def check(self, value: Any) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Any) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Multinomial(Constraint):
    """Vectors of counts whose sum is at most a bound.

    >>> norch.distributions.constraints.multinomial(3).check(norch.tensor([[1, 2], [2, 2]]))
    tensor([ True, False])
    """

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: int) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Tensor:
        return lower_triangular.check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    def check(self, value: Any) -> Tensor:
        tolerance = finfo(value.dtype).eps * value.shape[-1] * 10
        unit = ((value.detach().norm(dim=-1) - 1).abs() <= tolerance).all(-1)
        return super().check(value) & unit


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Any) -> Tensor:
        return full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=bool_, device=value.device)


class _Symmetric(_Square):
    def check(self, value: Any) -> Tensor:
        square = super().check(value)
        return value.isclose(value.mT, atol=1e-6).all(-1).all(-1) if square.all() else square


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Any) -> Tensor:
        symmetric = super().check(value)
        return (eigvalsh(value) >= 0).all(-1) if symmetric.all() else symmetric


class _PositiveDefinite(_Symmetric):
    def check(self, value: Any) -> Tensor:
        symmetric = super().check(value)
        return cholesky_ex(value)[1] == 0 if symmetric.all() else symmetric


class _Independent(Constraint):
    """A constraint whose last `count` dimensions are parts of one value: all of them must be allowed.

    >>> positive = norch.distributions.constraints.positive
    >>> norch.distributions.constraints.independent(positive, 1).check(norch.tensor([[1.0, -1.0], [1.0, 2.0]]))
    tensor([False,  True])
    """

    def __init__(self, base: Constraint, count: int) -> None:
        self.base, self.event_dim, self.is_discrete = base, base.event_dim + count, base.is_discrete
        self.count = count

    def check(self, value: Any) -> Tensor:
        result = self.base.check(value)
        if result.ndim < self.count:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.ndim}")
        return result.flatten(-self.count).all(-1) if self.count else result

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base!r}, {self.count})"


class _Parts(Constraint):
    """Constraints of the parts of a value along a dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq, self.dim = [check_kind(c, Constraint, type(self).__name__[1:].lower()) for c in cseq], dim
        if not self.cseq:
            raise ValueError(f"{type(self).__name__[1:].lower()}: expected at least one constraint, got none")
        self.is_discrete = any(c.is_discrete for c in self.cseq)
        self.event_dim = max(c.event_dim for c in self.cseq)


class _Cat(_Parts):
    """Constraints of parts that `cat` would join, of the sizes `lengths` (default 1).

    >>> c = norch.distributions.constraints
    >>> c.cat([c.positive, c.real], lengths=[1, 2]).check(norch.tensor([-1.0, -1.0, 2.0]))
    tensor([False,  True,  True])
    """

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise ValueError(f"cat: {len(self.lengths)} lengths for {len(self.cseq)} constraints")

    def check(self, value: Any) -> Tensor:
        parts = value.split(self.lengths, self.dim)
        return join([c.check(part) for c, part in zip(self.cseq, parts)], self.dim)


class _Stack(_Parts):
    """Constraints of slices that `stack` would join.

    >>> c = norch.distributions.constraints
    >>> c.stack([c.positive, c.real]).check(norch.tensor([-1.0, -1.0]))
    tensor([False,  True])
    """

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        super().__init__(cseq, dim)
        if dim + self.event_dim < 0:
            self.event_dim += 1

    def check(self, value: Any) -> Tensor:
        return join_slices([c.check(part) for c, part in zip(self.cseq, value.unbind(self.dim))], self.dim)


class _Dependent(Constraint):
    """A constraint that depends on other parameters: it is not checked."""

    def check(self, value: Any) -> Tensor:
        raise ValueError("this constraint depends on other values and cannot be checked alone")


class dependent_property(property):
    """A property of a distribution that is a constraint; as a decorator it may be given `is_discrete` and `event_dim`.

    >>> class Throw:
    ...     @norch.distributions.constraints.dependent_property(is_discrete=True)
    ...     def support(self):
    ...         return norch.distributions.constraints.interval(1, 6)
    >>> Throw().support
    Interval(lower_bound=1, upper_bound=6)
    """

    def __init__(self, fn: Any = None, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        super().__init__(fn)
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, fn: Any) -> dependent_property:
        return dependent_property(fn, is_discrete=self.is_discrete, event_dim=self.event_dim)


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on other values, and cannot be checked alone.

    >>> norch.distributions.constraints.is_dependent(norch.distributions.constraints.real)
    False
    """
    return isinstance(constraint, (_Dependent, dependent_property))


independent = _Independent
cat, stack = _Cat, _Stack
dependent = _Dependent()
real = _Real()
real_vector = _Independent(real, 1)
boolean = _Boolean()
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
positive_integer = _IntegerGreaterThan(1)
nonnegative_integer = _IntegerGreaterThan(0)
unit_interval = _Interval(0.0, 1.0)
simplex = _Simplex()
one_hot = _OneHot()
lower_triangular, lower_cholesky, corr_cholesky = _LowerTriangular(), _LowerCholesky(), _CorrCholesky()
square, symmetric = _Square(), _Symmetric()
positive_semidefinite, positive_definite = _PositiveSemidefinite(), _PositiveDefinite()
_IndependentConstraint, _DependentProperty = _Independent, dependent_property  # PyTorch's names
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan
interval, half_open_interval = _Interval, _HalfOpenInterval
integer_interval, multinomial = _IntegerInterval, _Multinomial
