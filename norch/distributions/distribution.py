"""Distribution: the base of all."""

from __future__ import annotations

from typing import Any, Sequence

from ..arguments import flags, sizes_in
from ..autograd.engine import grad
from ..autograd.mode import enable_grad, no_grad
from ..given import warn
from ..operation import check_range
from ..tensor import Tensor
from ..types import Size, shown
from . import constraints


class Distribution:
    """Base class: random numbers of shape `batch_shape + event_shape`, their densities and moments.

    `batch_shape` are independent distributions, `event_shape` the shape of one draw of each. Parameters are checked
    unless `validate_args` is False; a bad one raises ValueError.

    >>> isinstance(norch.distributions.Normal(0.0, 1.0), norch.distributions.Distribution)
    True
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: Any = {}
    support: Any = constraints.dependent
    _validate_args = __debug__

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__init__" in vars(cls) and cls.__module__.startswith("norch."):
            cls.__init__ = flags(cls.__init__)  # type: ignore[method-assign]

    @staticmethod
    @flags
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check their parameters if they are not told."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args: expected True or False, got {shown(value)}")
        Distribution._validate_args = value

    @flags
    def __init__(
        self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = (), validate_args: bool | None = None
    ) -> None:
        super().__init__()  # of a module that is a distribution too
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                left_out = name not in self.__dict__ and _is_lazy(type(self), name)  # of probs and logits one is given
                if left_out or isinstance(constraint, constraints._Dependent):
                    continue
                value = getattr(self, name)
                try:
                    check_range(constraint.check(value), 1, 1, f"Expected {name} to satisfy {constraint!r}", ValueError)
                except ValueError:
                    raise ValueError(
                        f"Expected parameter {name} (Tensor of shape {tuple(value.shape)}) of distribution {self!r} to "
                        f"satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                    ) from None

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one draw."""
        return self._event_shape

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """The distribution with its parameters expanded to a batch shape."""
        shape = Size(batch_shape)
        made = object.__new__(type(self))
        parameters = {*self.arg_constraints, *self._expanded()}
        kept = {k: v for k, v in self.__dict__.items() if k in parameters or not _is_lazy(type(self), k)}
        made.__dict__.update(kept)
        for name in parameters:
            if name in kept:
                value = made.__dict__[name]
                inner = value.shape[len(self.batch_shape) :] if isinstance(value, Tensor) else ()
                made.__dict__[name] = value.expand(*shape, *inner) if isinstance(value, Tensor) else value
        made._batch_shape = shape
        return made

    def _expanded(self) -> Sequence[str]:
        """Names of further tensors that expand with the parameters."""
        return ()

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        raise NotImplementedError(f"{type(self).__name__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """A draw of shape sample_shape + batch_shape + event_shape, outside of any graph."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """A draw as a differentiable function of the parameters, for distributions with `has_rsample`."""
        raise NotImplementedError(f"{type(self).__name__} has no rsample")

    def sample_n(self, n: int) -> Tensor:
        """n draws: `sample((n,))`."""
        warn("sample_n will be deprecated. Use .sample((n,)) instead")
        return self.sample((n,))

    def rsample_n(self, n: int) -> Tensor:
        """n differentiable draws: `rsample((n,))`."""
        return self.rsample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density or probability at a value."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of at most this value."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The value of which `cdf` is this."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values that a discrete distribution can have, in a new first dimension."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """exp(entropy)."""
        return self.entropy().exp()

    # ---- For subclasses

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """What the `expand` of `cls` fills: an instance whose `__init__` has not run.

        Raises NotImplementedError for a subclass with an `__init__` of its own, which needs an `expand` of its own.
        """
        if _instance is None and type(self).__init__ != cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return object.__new__(type(self)) if _instance is None else _instance

    def _made_anew(self, cls: type, _instance: Any, *arguments: Any, **named: Any) -> Any:
        """What the `expand` of `cls` returns: of the class of this instance, with other arguments of cls.__init__."""
        made = self._get_checked_instance(cls, _instance)
        cls.__init__(made, *arguments, **named, validate_args=False)  # type: ignore[misc]
        made._validate_args = self._validate_args
        return made

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Size:
        return Size((*sizes_in(sample_shape, "sample"), *self._batch_shape, *self._event_shape))

    def _check_value(self, value: Any) -> None:
        """Check a value unless `validate_args` is False."""
        if self._validate_args:
            self._validate_sample(value)

    def _validate_sample(self, value: Any) -> None:
        """Raise ValueError if a value has another shape or lies outside the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        events = len(self._event_shape)
        if events and tuple(value.shape[value.ndim - events :]) != tuple(self._event_shape):
            raise ValueError(
                f"The right-most size of value must match event_shape: {tuple(value.shape)} vs {self._event_shape}."
            )
        expected = tuple(self._batch_shape) + tuple(self._event_shape)
        for given, own in zip(reversed(value.shape), reversed(expected)):
            if 1 not in (given, own) and given != own:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {tuple(value.shape)} vs {expected}."
                )
        support = self.support
        if isinstance(support, constraints._Dependent):
            return
        try:
            check_range(support.check(value), 1, 1, f"Expected a value within the support ({support!r})", ValueError)
        except ValueError:
            raise ValueError(
                f"Expected value argument (Tensor of shape {tuple(value.shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            ) from None

    def __repr__(self) -> str:
        values = ((name, self.__dict__[name]) for name in self.arg_constraints if name in self.__dict__)
        parameters = [f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in values]
        return f"{type(self).__name__}({', '.join(parameters)})"


class ExponentialFamily(Distribution):
    """Base class of densities exp(t(x) . theta - F(theta) + k(x)).

    A subclass defines theta, `_natural_params`, F, `_log_normalizer`, and `_mean_carrier_measure`, the mean of k.

    Their entropy follows from the derivative of F (Nielsen and Nock, 2010), unless a subclass knows better.

    >>> isinstance(norch.distributions.Normal(0.0, 1.0), norch.distributions.ExponentialFamily)
    True
    """

    _mean_carrier_measure: Any = 0.0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        """theta."""
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        """F(theta)."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        with enable_grad():
            parameters = [p.detach().requires_grad_() for p in self._natural_params]
            normalizer = self._log_normalizer(*parameters)
            slopes = grad(normalizer.sum(), parameters, create_graph=True)
        result = normalizer - self._mean_carrier_measure
        for parameter, slope in zip(parameters, slopes):
            result = result - (parameter * slope).reshape((*self._batch_shape, -1)).sum(-1)
        return result


def _is_lazy(cls: type, name: str) -> bool:
    from_class = next((vars(c)[name] for c in cls.__mro__ if name in vars(c)), None)
    return type(from_class).__name__ == "lazy_property"
