"""Random numbers whose distribution a tensor gives, element by element: `bernoulli`, `multinomial`."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from typing import TYPE_CHECKING

from ..arguments import flags
from ..packing import uninitialized
from .statistics import bins_of

if TYPE_CHECKING:
    from ..forward_declarations import Tensor
    from ..functions.generator import Generator


class RandomDrawMethods:
    """The methods of Tensor that draw from the distributions that it gives."""

    def bernoulli(self: Tensor, p: Tensor | float | None = None, *, generator: Generator | None = None) -> Tensor:
        """1 with the probability that x gives for each element, else 0; in its shape and dtype.

        With `p`, as for `bernoulli_`, x gives shape and dtype alone. Raises RuntimeError for probabilities outside
        [0, 1] or of a dtype that is not floating.

        >>> norch.tensor([0.0, 1.0]).bernoulli()
        tensor([0., 1.])
        """
        result: Tensor = uninitialized(self.shape, self.dtype, self.device)
        return result.bernoulli_(self.detach() if p is None else p, generator=generator)

    @flags
    def multinomial(
        self: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
    ) -> Tensor:
        """Indices, int64, drawn in proportion to the weights of a vector [n], or of each row of a matrix [rows, n].

        Without `replacement` it is a race: index i arrives after an exponential time of rate weight i, so it comes
        first with the right probability, and the others follow in the order of arrival. Raises RuntimeError for weights
        that are negative or not finite, that sum to 0, or of which fewer than num_samples are positive.

        >>> norch.tensor([0.0, 1.0, 0.0]).multinomial(1)
        tensor([1])
        """
        if self.ndim not in (1, 2) or not self.is_floating_point():
            found = f"{self.dtype} of shape {list(self.shape)}"
            raise RuntimeError(f"multinomial: expected 1 or 2 dimensions of a floating dtype, got {found}")
        weights = (self.detach() if self.ndim == 2 else self.detach().unsqueeze(0)).double()  # [rows, n]
        if not bool((weights.isfinite().logical_and(weights >= 0)).all()):
            raise RuntimeError("multinomial: expected finite weights that are not negative")
        positive = int((weights > 0).sum(1).min().item()) if weights.numel else 0
        needed = 1 if replacement else num_samples
        if num_samples < 1 or needed > positive:
            raise RuntimeError(f"multinomial: cannot draw {num_samples} of {positive} indices of positive weight")
        if replacement:
            totals = weights.cumsum(1)
            places = weights.new_empty(weights.shape[0], num_samples).uniform_(generator=generator)
            last = totals.narrow(1, totals.shape[1] - 1, 1)
            chosen = bins_of(totals, places * last, right=True).minimum(bins_of(totals, last, right=False))
        else:
            chosen = _rates(weights, generator).topk(num_samples, 1).indices
        return chosen if self.ndim == 2 else chosen.select(0, 0)


def _rates(weights: Tensor, generator: Generator | None) -> Tensor:
    """The reciprocals of times of arrival; 0 (never) for a weight of 0."""
    uniform = weights.new_empty(weights.shape).uniform_(generator=generator)
    return weights / -(-uniform).log1p().clamp(max=-(2.0**-54))
