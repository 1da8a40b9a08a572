"""The types of sizes that annotations of layers name, as PyTorch has them."""

from __future__ import annotations

from typing import Any, Union

_size_1_t = Union[int, tuple[int]]
_size_2_t = Union[int, tuple[int, int]]
_size_3_t = Union[int, tuple[int, int, int]]
_size_4_t = Union[int, tuple[int, int, int, int]]
_size_6_t = Union[int, tuple[int, int, int, int, int, int]]
_ratio_2_t = Union[float, tuple[float, float]]
_ratio_3_t = Union[float, tuple[float, float, float]]
_size_any_t = _size_any_opt_t = _size_2_opt_t = _size_3_opt_t = _ratio_any_t = _tensor_list_t = _maybe_indices_t = Any
