"""Transforms from all numbers to those that a constraint allows: for parameters that are optimized without bounds."""

from __future__ import annotations

from typing import Any, Callable

from . import constraints, transforms
from .transforms import Transform

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]

Factory = Callable[[Any], Transform]


class ConstraintRegistry:
    """For each kind of constraint, what makes its transform. Raises NotImplementedError for a kind that it has not.

    >>> d = norch.distributions
    >>> d.transform_to(d.constraints.positive)(norch.zeros(1))
    tensor([1.])
    """

    def __init__(self) -> None:
        self._factories: dict[type, Factory] = {}

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Have `factory(constraint)` make the transforms of a kind, that of a constraint or a class; or a decorator."""
        if factory is None:
            return lambda given: self.register(constraint, given)
        kind = constraint if isinstance(constraint, type) else type(constraint)
        if not issubclass(kind, constraints.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._factories[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Transform:
        """The transform whose results a constraint allows."""
        factory = self._factories.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _above(constraint: Any) -> Transform:
    if isinstance(constraint.lower_bound, (int, float)) and constraint.lower_bound == 0:
        return transforms.ExpTransform()
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)]
    )


def _below(constraint: Any) -> Transform:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)]
    )


def _between(constraint: Any) -> Transform:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


for _registry in (biject_to, transform_to):
    _registry.register(constraints.real, lambda constraint: transforms.identity_transform)
    _registry.register(constraints.positive, _above)
    _registry.register(constraints.nonnegative, _above)
    _registry.register(constraints.less_than, _below)
    _registry.register(constraints.interval, _between)
    _registry.register(constraints.half_open_interval, _between)
biject_to.register(constraints.simplex, lambda constraint: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda constraint: transforms.LowerCholeskyTransform())
for _constraint in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_constraint, lambda constraint: transforms.PositiveDefiniteTransform())


for _registry in (biject_to, transform_to):
    _registry.register(constraints.corr_cholesky, lambda constraint: transforms.CorrCholeskyTransform())


@biject_to.register(constraints.cat)
def _biject_to_cat(constraint: Any) -> Transform:
    return transforms.CatTransform([biject_to(c) for c in constraint.cseq], constraint.dim, constraint.lengths)


@transform_to.register(constraints.cat)
def _transform_to_cat(constraint: Any) -> Transform:
    return transforms.CatTransform([transform_to(c) for c in constraint.cseq], constraint.dim, constraint.lengths)


@biject_to.register(constraints.stack)
def _biject_to_stack(constraint: Any) -> Transform:
    return transforms.StackTransform([biject_to(c) for c in constraint.cseq], constraint.dim)


@transform_to.register(constraints.stack)
def _transform_to_stack(constraint: Any) -> Transform:
    return transforms.StackTransform([transform_to(c) for c in constraint.cseq], constraint.dim)


@biject_to.register(constraints.independent)
def _biject_to_independent(constraint: Any) -> Transform:
    return transforms.IndependentTransform(biject_to(constraint.base), constraint.count)


@transform_to.register(constraints.independent)
def _transform_to_independent(constraint: Any) -> Transform:
    return transforms.IndependentTransform(transform_to(constraint.base), constraint.count)
