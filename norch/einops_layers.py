"""einops's layers as modules of norch: `from einops.layers.norch import Rearrange, Reduce, EinMix`.

The file belongs to einops's package of layers (einops_backend.py says where it is), which imports it when asked.
"""

from __future__ import annotations

from typing import Any, Sequence

from einops.layers import RearrangeMixin, ReduceMixin
from einops.layers._einmix import _EinmixMixin

from norch import Tensor, empty
from norch.functions.products import einsum
from norch.nn import Module, Parameter

__all__ = ["EinMix", "Rearrange", "Reduce"]


class Rearrange(RearrangeMixin, Module):
    """`einops.rearrange` with a fixed pattern."""

    def forward(self, input: Tensor) -> Tensor:
        return self._apply_recipe(input)


class Reduce(ReduceMixin, Module):
    """`einops.reduce` with a fixed pattern."""

    def forward(self, input: Tensor) -> Tensor:
        return self._apply_recipe(input)


class EinMix(_EinmixMixin, Module):
    """A linear layer whose axes a pattern names."""

    def _create_parameters(
        self, weight_shape: Sequence[int], weight_bound: float, bias_shape: Sequence[int] | None, bias_bound: float
    ) -> None:
        self.weight = Parameter(empty(weight_shape).uniform_(-weight_bound, weight_bound))
        self.bias = None
        if bias_shape is not None:
            self.bias = Parameter(empty(bias_shape).uniform_(-bias_bound, bias_bound))

    def _create_rearrange_layers(
        self, pre_pattern: str | None, pre_lengths: Any, post_pattern: str | None, post_lengths: Any
    ) -> None:
        self.pre_rearrange = None if pre_pattern is None else Rearrange(pre_pattern, **pre_lengths)
        self.post_rearrange = None if post_pattern is None else Rearrange(post_pattern, **post_lengths)

    def forward(self, input: Tensor) -> Tensor:
        if self.pre_rearrange is not None:
            input = self.pre_rearrange(input)
        result = einsum(self.einsum_pattern, input, self.weight)
        if self.bias is not None:
            result = result + self.bias
        return result if self.post_rearrange is None else self.post_rearrange(result)
