"""Distributions made of others: Independent, TransformedDistribution, LogNormal, mixtures, relaxed classes."""

from __future__ import annotations

from typing import Any, Sequence

from ..functions.random import rand
from ..operation import check_kind
from ..tensor import Tensor
from ..types import Size, shown
from . import constraints
from .continuous import Normal
from .discrete import Categorical, _TwoOutcomes
from .distribution import Distribution
from .transforms import ComposeTransform, ExpTransform, SigmoidTransform, StickBreakingTransform, Transform
from .utils import broadcast_all, clamp_probs, softplus, sum_rightmost


class Independent(Distribution):
    """A distribution whose last batch dimensions are parts of one value: their log_prob is summed.

    >>> normal = norch.distributions.Normal(norch.zeros(3), norch.ones(3))
    >>> norch.distributions.Independent(normal, 1).log_prob(norch.zeros(3))
    tensor(-2.7568)
    """

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        shape = tuple(check_kind(base_distribution, Distribution, "Independent").batch_shape)
        if reinterpreted_batch_ndims > len(shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(shape)}"
            )
        kept = len(shape) - reinterpreted_batch_ndims
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        event = shape[kept:] + tuple(base_distribution.event_shape)
        super().__init__(shape[:kept], event, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Independent:
        inner = tuple(self._event_shape[: self.reinterpreted_batch_ndims])
        base = self.base_dist.expand((*batch_shape, *inner))
        return self._made_anew(Independent, _instance, base, self.reinterpreted_batch_ndims)

    has_rsample = property(lambda self: self.base_dist.has_rsample)
    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    @property
    def support(self) -> Any:
        """The base's, for whole values."""
        base = self.base_dist.support
        return constraints.independent(base, self.reinterpreted_batch_ndims) if self.reinterpreted_batch_ndims else base

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """Whether the base has, and its values are not joined."""
        return not self.reinterpreted_batch_ndims and self.base_dist.has_enumerate_support

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("enumerate_support: Independent does not combine the values of its parts")
        return self.base_dist.enumerate_support(expand)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """The distribution of t(x), for x of a base distribution and transforms t, one after another.

    >>> d = norch.distributions
    >>> d.TransformedDistribution(d.Normal(0.0, 1.0), d.ExpTransform()).log_prob(norch.tensor(1.0))
    tensor(-0.9189)
    """

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        listed: Any = [transforms] if isinstance(transforms, (Transform, type(None))) else transforms
        self.transforms: list[Transform] = list(listed)
        if not all(isinstance(transform, Transform) for transform in self.transforms):
            raise ValueError(f"transforms must be a Transform or a list of Transforms, got {shown(transforms)}")
        base = base_distribution
        whole, own = ComposeTransform(self.transforms), len(base.event_shape)
        takes, gives = whole.domain.event_dim, whole.codomain.event_dim
        before = (*base.batch_shape, *base.event_shape)
        if len(before) < takes:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {takes}, but got {Size(before)}."
            )
        shape = tuple(whole.forward_shape(before))
        wider = tuple(whole.inverse_shape(shape))  # parameters of the transforms may be batches
        if wider != before:
            base = base.expand(wider[: len(wider) - own])
        self.base_dist = Independent(base, takes - own, False) if takes > own else base
        count = len(shape) - max(gives, own + gives - takes)
        super().__init__(shape[:count], shape[count:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> TransformedDistribution:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        whole = ComposeTransform(self.transforms)
        shape = whole.inverse_shape((*batch_shape, *self._event_shape))
        made.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        made._batch_shape = Size(batch_shape)
        return made

    has_rsample = property(lambda self: self.base_dist.has_rsample)

    @property
    def support(self) -> Any:
        """The values that the last transform gives."""
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self._event_shape) - support.event_dim
        return constraints.independent(support, more) if more else support

    def _transformed(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._transformed(self.base_dist.sample(sample_shape)).detach()

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        events, y = len(self._event_shape), value
        total: Any = 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            events += transform.domain.event_dim - transform.codomain.event_dim
            total = total - sum_rightmost(transform.log_abs_det_jacobian(x, y), events - transform.domain.event_dim)
            y = x
        return total + sum_rightmost(self.base_dist.log_prob(y), events - len(self.base_dist.event_shape))

    def _monotonic(self, value: Tensor) -> tuple[Tensor, Any]:
        """The base's value for this one, and whether the transforms grow (1) or fall (-1)."""
        sign: Any = 1
        for transform in reversed(self.transforms):
            value = transform.inv(value)
            sign = sign * transform.sign
        return value, sign

    def cdf(self, value: Tensor) -> Tensor:
        x, sign = self._monotonic(value)
        self.base_dist._check_value(x)
        return sign * (self.base_dist.cdf(x) - 0.5) + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return self._transformed(self.base_dist.icdf(sign * (value - 0.5) + 0.5))


class LogNormal(TransformedDistribution):
    """exp(x) for normal x of mean `loc` and standard deviation `scale`.

    >>> norch.distributions.LogNormal(0.0, 1.0).mean
    tensor(1.6487)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args=validate_args)

    loc = property(lambda self: self.base_dist.loc, doc="The mean of the logarithm.")
    scale = property(lambda self: self.base_dist.scale, doc="The standard deviation of the logarithm.")
    mean = property(lambda self: (self.loc + self.scale.pow(2) / 2).exp())
    mode = property(lambda self: (self.loc - self.scale.square()).exp())

    @property
    def variance(self) -> Tensor:
        """(exp(scale^2) - 1) exp(2 loc + scale^2)."""
        squared = self.scale.pow(2)
        return squared.expm1() * (2 * self.loc + squared).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class MixtureSameFamily(Distribution):
    """One of several distributions of a kind, chosen by a Categorical: those of the last batch dimension.

    >>> d = norch.distributions
    >>> mix = d.Categorical(norch.tensor([1.0, 1.0]))
    >>> d.MixtureSameFamily(mix, d.Normal(norch.tensor([0.0, 4.0]), norch.ones(2))).mean
    tensor(2.)
    """

    def __init__(
        self, mixture_distribution: Categorical, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution need to be an instance of torch.distributions.Distribution")
        shape = component_distribution.batch_shape
        if mixture_distribution._num_events != shape[-1]:
            raise ValueError(
                f"`mixture_distribution` has {mixture_distribution._num_events} components, "
                f"`component_distribution` {shape[-1]}"
            )
        self._mixture, self._components = mixture_distribution, component_distribution
        self.has_rsample = False
        super().__init__(shape[:-1], component_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> MixtureSameFamily:
        count = self._mixture._num_events
        parts = self._mixture.expand(batch_shape), self._components.expand((*batch_shape, count))
        return self._made_anew(MixtureSameFamily, _instance, *parts)

    mixture_distribution = property(lambda self: self._mixture, doc="The Categorical that chooses.")
    component_distribution = property(lambda self: self._components, doc="The distributions among which it chooses.")
    support = property(lambda self: constraints.MixtureSameFamilyConstraint(self._components.support))

    def _weights(self) -> Tensor:
        return self._mixture.probs.reshape(*self._mixture.probs.shape, *[1] * len(self._event_shape))

    def _sum(self, values: Tensor) -> Tensor:
        return (self._weights() * values).sum(-1 - len(self._event_shape))

    mean = property(lambda self: self._sum(self._components.mean))

    @property
    def variance(self) -> Tensor:
        """The mean of the variances, and the variance of the means."""
        apart = self._components.mean - self.mean.unsqueeze(-1 - len(self._event_shape))
        return self._sum(self._components.variance) + self._sum(apart.pow(2))

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        events = len(self._event_shape)
        chosen = self._mixture.sample(sample_shape)
        drawn = self._components.sample(sample_shape).detach()
        index = chosen.reshape(*chosen.shape, *[1] * (events + 1)).expand(*chosen.shape, 1, *self._event_shape)
        return drawn.gather(-1 - events, index).squeeze(-1 - events)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        densities = self._components.log_prob(value.unsqueeze(-1 - len(self._event_shape)))
        return (densities + self._mixture.logits.log_softmax(-1)).logsumexp(-1)

    def cdf(self, value: Tensor) -> Tensor:
        return (self._components.cdf(value.unsqueeze(-1)) * self._mixture.probs).sum(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture},\n  {self._components})"


class _LogitRelaxedBernoulli(_TwoOutcomes):
    """The logits of RelaxedBernoulli."""

    support = constraints.real
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        logits = self.logits.expand(self._extended_shape(sample_shape))
        u = clamp_probs(rand(logits.shape, dtype=logits.dtype, device=logits.device))
        return (u.log() - (-u).log1p() + logits) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, value)
        difference = logits - value * self.temperature
        scale = (
            self.temperature.log() if isinstance(self.temperature, Tensor) else value.new_tensor(self.temperature).log()
        )
        return scale + difference - 2 * softplus(difference)


class _Relaxed(TransformedDistribution):
    """What the relaxed distributions of classes tell of themselves."""

    temperature = property(lambda self: self.base_dist.temperature, doc="How soft the choice is: at 0 it is sharp.")
    probs = property(lambda self: self.base_dist.probs, doc="The probabilities of the classes.")
    logits = property(lambda self: self.base_dist.logits, doc="The logarithms of the probabilities.")


class RelaxedBernoulli(_Relaxed):
    """Numbers from 0 to 1, close to either for a low temperature, differentiable in their probability.

    >>> relaxed = norch.distributions.RelaxedBernoulli(norch.tensor(0.5), probs=norch.tensor([0.5]))
    >>> relaxed.rsample().shape
    norch.Size([1])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = _LogitRelaxedBernoulli(temperature, probs, logits, validate_args)
        for name in ("probs", "logits"):  # each of the numbers that are now there: a later write may change one
            getattr(base, name)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)


class _ExpRelaxedCategorical(Distribution):
    """The logarithms of RelaxedOneHotCategorical."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits, validate_args)
        self.temperature = temperature
        shape = self._categorical.logits.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> _ExpRelaxedCategorical:
        logits = self.logits.expand(*batch_shape, *self._event_shape)
        return self._made_anew(_ExpRelaxedCategorical, _instance, self.temperature, logits=logits)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        logits = self.logits.expand(self._extended_shape(sample_shape))
        u = clamp_probs(rand(logits.shape, dtype=logits.dtype, device=logits.device))
        scores = (logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        count = self._event_shape[0]
        logits, value = broadcast_all(self.logits, value)
        temperature = value.detach().new_zeros(()) + self.temperature
        scale = temperature.detach().new_tensor(float(count)).lgamma() + temperature.log() * (count - 1)
        score = logits - value * temperature
        return (score - score.logsumexp(-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(_Relaxed):
    """Vectors of probabilities, close to one class for a low temperature, differentiable in `probs` (Gumbel-softmax).

    >>> relaxed = norch.distributions.RelaxedOneHotCategorical(norch.tensor(0.5), probs=norch.tensor([0.5, 0.5]))
    >>> relaxed.rsample().sum()
    tensor(1.)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = _ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    support = constraints.simplex


class LogisticNormal(TransformedDistribution):
    """Vectors of probabilities: those that breaking a stick makes of normal numbers; one more than `loc` has.

    >>> norch.distributions.LogisticNormal(norch.zeros(2), norch.ones(2)).sample().shape
    norch.Size([3])
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        normal = Normal(loc, scale, validate_args=validate_args)
        if not normal.batch_shape:
            normal = normal.expand([1])
        super().__init__(normal, StickBreakingTransform(), validate_args=validate_args)

    support = constraints.simplex
    loc = property(lambda self: self.base_dist.base_dist.loc, doc="The means of the normal numbers.")
    scale = property(lambda self: self.base_dist.base_dist.scale, doc="Their standard deviations.")
