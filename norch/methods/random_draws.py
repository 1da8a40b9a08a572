"""Random numbers whose distribution a tensor gives, element by element: `bernoulli`, `multinomial`."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from typing import TYPE_CHECKING

from .._C import lib
from ..arguments import flags, whole
from ..functions.generator import state_of
from ..operation import wrap
from ..packing import uninitialized

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
        if p is None:
            return wrap(lib.bernoulli_tensor(self._ptr, state_of(generator)))
        result: Tensor = uninitialized(self.shape, self.dtype, self.device)
        return result.bernoulli_(p, generator=generator)

    @flags
    def multinomial(
        self: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
    ) -> Tensor:
        """Indices, int64, drawn in proportion to the weights of a vector [n], or of each row of a matrix [rows, n].

        Without `replacement` all are different. Raises RuntimeError for weights that are negative or not finite, that
        sum to 0, or of which fewer than num_samples are positive.

        >>> norch.tensor([0.0, 1.0, 0.0]).multinomial(1)
        tensor([1])
        """
        count = whole(num_samples, "multinomial")
        return wrap(lib.multinomial_tensor(self._ptr, count, replacement, state_of(generator)))
