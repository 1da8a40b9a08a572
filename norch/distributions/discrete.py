"""Distributions of counts and classes: Bernoulli, Geometric, Binomial, Categorical, Multinomial, Poisson and kin."""

from __future__ import annotations

import math
from typing import Any, Sequence

from ..arguments import broadcast_shapes, flags, sizes_in
from ..functions.creation import eye, zeros
from ..functions.promotion import finfo
from ..functions.random import rand
from ..functions.random_counts import binomial, poisson
from ..functions.ranges import arange
from ..nn.functional import binary_cross_entropy_with_logits, one_hot
from ..operation import check_tensor
from ..tensor import Tensor
from ..types import int64
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .gamma import Gamma
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits, smallest_step, softplus


def _one_given(probs: Any, logits: Any) -> tuple[str, Any]:
    """The name and the value of the one parameter that is given. Raises ValueError for none and for both."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return ("logits", logits) if probs is None else ("probs", probs)


class _ByProbability(Distribution):
    """Given by `probs` or by `logits`, of which each follows from the other."""

    _is_binary: bool

    @property
    def _param(self) -> Tensor:
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.__dict__["logits"]

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.shape

    @lazy_property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities; of two outcomes, log(p / (1 - p))."""
        return probs_to_logits(self.probs, self._is_binary)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities; of two outcomes, that of 1."""
        return logits_to_probs(self.logits, self._is_binary)

    def _in_front(self, values: Tensor, expand: bool) -> Tensor:
        """A vector as a new first dimension before the batch's, expanded to their sizes or of sizes 1."""
        values = values.reshape(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class _TwoOutcomes(_ByProbability):
    """What distributions of yes and no share."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    _is_binary = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        name, value = _one_given(probs, logits)
        (self.__dict__[name],) = broadcast_all(value)
        super().__init__(self._param.shape, validate_args=validate_args)


class Bernoulli(_TwoOutcomes, ExponentialFamily):
    """1 with probability `probs`, else 0.

    >>> norch.distributions.Bernoulli(norch.tensor([0.25])).log_prob(norch.tensor([1.0]))
    tensor([-1.3863])
    """

    support = constraints.boolean
    has_enumerate_support = True
    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    @property
    def mode(self) -> Tensor:
        """The likelier value, NaN if there is none."""
        return (self.probs == 0.5)._choose(float("nan"), (self.probs >= 0.5).to(self.probs.dtype))

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.probs.detach().expand(self._extended_shape(sample_shape)).bernoulli()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        value = value if value.is_floating_point() else value.to(logits.dtype)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    @flags
    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._in_front(arange(2, dtype=self._param.dtype, device=self._param.device), expand)


class Geometric(_TwoOutcomes):
    """How many trials fail before the first that succeeds, each with probability `probs`.

    >>> norch.distributions.Geometric(norch.tensor([0.25])).mean
    tensor([3.])
    """

    support = constraints.nonnegative_integer
    mean = property(lambda self: 1.0 / self.probs - 1.0)
    mode = property(lambda self: self.probs.zeros_like())
    variance = property(lambda self: (1.0 / self.probs - 1.0) / self.probs)

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise ValueError(f"Geometric: expected positive probabilities, got {self.probs}")

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        probs = self.probs.detach()
        u = rand(self._extended_shape(sample_shape), dtype=probs.dtype, device=probs.device)
        return (u.clamp(min=smallest_step(u) / 4).log() / (-probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        value, probs = broadcast_all(value, self.probs)
        probs = (probs == 1).logical_and(value == 0)._choose(0.0, probs)  # not 0 * log(0)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class _Trials(_TwoOutcomes):
    """What distributions of a number of trials share."""

    total_count: Tensor

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        name, value = _one_given(probs, logits)
        count, value = broadcast_all(total_count, value)
        self.total_count = count.to(value.dtype)
        super().__init__(**{name: value}, validate_args=validate_args)


class NegativeBinomial(_Trials):
    """How many trials succeed, each with probability `probs`, before `total_count` of them have failed.

    >>> norch.distributions.NegativeBinomial(3.0, norch.tensor([0.5])).mean
    tensor([3.])
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    mean = property(lambda self: self.total_count * self.logits.exp())
    mode = property(lambda self: ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0))
    variance = property(lambda self: self.mean / (-self.logits).sigmoid())

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        rate = Gamma(self.total_count, (-self.logits).exp(), validate_args=False).sample(sample_shape)
        return poisson(rate)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        count = self.total_count
        powers = count * -softplus(self.logits) - value * softplus(-self.logits)
        norm = (count + value).lgamma() - (1.0 + value).lgamma() - count.lgamma()
        return powers + (count + value == 0)._choose(0.0, norm)


class Binomial(_Trials):
    """How many of `total_count` trials succeed, each with probability `probs`.

    >>> norch.distributions.Binomial(4, norch.tensor([0.25])).mean
    tensor([1.])
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }

    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(total_count, probs, logits, validate_args)

    @property
    def support(self) -> constraints.Constraint:
        """0 to total_count."""
        return constraints.integer_interval(0, self.total_count)

    mean = property(lambda self: self.total_count * self.probs)
    mode = property(lambda self: ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count))
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return binomial(self.total_count.expand(shape), self.probs.detach().expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        n, logits = self.total_count, self.logits
        choices = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        return choices + value * logits - n * softplus(logits)

    @flags
    def enumerate_support(self, expand: bool = True) -> Tensor:
        most = int(self.total_count.max().item())
        if not bool((self.total_count == most).all()):
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        return self._in_front(arange(most + 1, dtype=self._param.dtype, device=self._param.device), expand)

    def entropy(self) -> Tensor:
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)


class Categorical(_ByProbability):
    """A class, 0 to n - 1, with the probabilities of the last dimension of `probs` (of any sum), or `logits`.

    >>> norch.distributions.Categorical(norch.tensor([1.0, 3.0])).log_prob(norch.tensor(1))
    tensor(-0.2877)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _is_binary = False

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        name, given = _one_given(probs, logits)
        if check_tensor(given, type(self).__name__).ndim < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(-1, keepdim=True)
        self._num_events = given.shape[-1]
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @property
    def support(self) -> constraints.Constraint:
        """0 to n - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        """NaN: classes have no mean."""
        return self._param.detach().sum(-1) * float("nan")

    variance = mean

    @property
    def mode(self) -> Tensor:
        """The most likely class."""
        return self.probs.argmax(-1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = sizes_in(sample_shape, "sample")
        count = 1
        for size in shape:
            count *= size
        flat = self.probs.detach().reshape(-1, self._num_events)
        drawn = flat.multinomial(count, True) if count else zeros(len(flat), 0, dtype=int64, device=flat.device)
        return drawn.transpose(0, 1).reshape(*shape, *self._batch_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        index = value.long().unsqueeze(-1)
        shape = broadcast_shapes(index.shape[:-1], self.logits.shape[:-1])
        logits = self.logits.expand(*shape, self._num_events)
        return logits.gather(-1, index.expand(*shape, 1)).squeeze(-1)

    def entropy(self) -> Tensor:
        lowest = finfo(self.logits.dtype).min
        return -(self.logits.clamp(min=lowest) * self.probs).sum(-1)

    @flags
    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._in_front(arange(self._num_events, device=self._param.device), expand)


class _OfClasses(Distribution):
    """Vectors with an element for each class, drawn by a Categorical."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        made = super().expand(batch_shape)
        made._categorical = self._categorical.expand(batch_shape)
        return made

    probs = property(lambda self: self._categorical.probs, doc="The probabilities of the classes.")
    logits = property(lambda self: self._categorical.logits, doc="The logarithms of the probabilities.")
    param_shape = property(lambda self: self._categorical.param_shape, doc="The shape of the probabilities.")


class OneHotCategorical(_OfClasses):
    """A class as a vector with 1 at its place: `Categorical`, encoded.

    >>> norch.distributions.OneHotCategorical(norch.tensor([0.0, 1.0])).sample()
    tensor([0., 1.])
    """

    support = constraints.one_hot
    has_enumerate_support = True
    mean = property(lambda self: self._categorical.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    @property
    def mode(self) -> Tensor:
        """The most likely class."""
        return one_hot(self._categorical.mode, self._event_shape[0]).to(self.probs.dtype)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return one_hot(self._categorical.sample(sample_shape), self._event_shape[0]).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    @flags
    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self._event_shape[0]
        values = eye(n, dtype=self.probs.dtype, device=self.probs.device)
        values = values.reshape(n, *[1] * len(self._batch_shape), n)
        return values.expand(n, *self._batch_shape, n) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical whose `rsample` passes gradients on to the probabilities, as if it had returned them.

    >>> norch.distributions.OneHotCategoricalStraightThrough(norch.tensor([0.0, 1.0])).rsample()
    tensor([0., 1.])
    """

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(_OfClasses):
    """How often each class came in `total_count` draws.

    >>> norch.distributions.Multinomial(4, norch.tensor([0.0, 1.0])).sample()
    tensor([0., 4.])
    """

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        if total_count < 0:
            raise ValueError(f"Multinomial: total_count is {total_count}, expected a count")
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)

    @property
    def support(self) -> constraints.Constraint:
        """Counts that sum to total_count."""
        return constraints.multinomial(self.total_count)

    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        drawn = self._categorical.sample((self.total_count, *sizes_in(sample_shape, "sample")))
        return one_hot(drawn, self._event_shape[0]).sum(0).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        terms = (value == 0).logical_and(logits == -float("inf"))._choose(0.0, logits) * value
        ways = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        return ways + terms.sum(-1)

    def entropy(self) -> Tensor:
        each = Binomial(self.total_count, self.probs, validate_args=False)
        counts = each.enumerate_support(False).narrow(0, 1, self.total_count)
        repeats = (each.log_prob(counts).exp() * (counts + 1).lgamma()).sum((0, -1))
        return self.total_count * self._categorical.entropy() - math.lgamma(self.total_count + 1) + repeats


class Poisson(ExponentialFamily):
    """How many events come in one unit of time, at a rate.

    >>> norch.distributions.Poisson(norch.tensor([2.0])).log_prob(norch.tensor([0.0]))
    tensor([-2.])
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    mean = variance = property(lambda self: self.rate)
    mode = property(lambda self: self.rate.floor())

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return poisson(self.rate.detach().expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()
