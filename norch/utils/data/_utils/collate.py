"""The collate functions under PyTorch's inner path."""

from __future__ import annotations

import re

from ..collate import (
    collate,
    collate_float_fn,
    collate_int_fn,
    collate_str_fn,
    collate_tensor_fn,
    default_collate,
    default_collate_fn_map,
    default_convert,
)

__all__ = [
    "collate",
    "collate_float_fn",
    "collate_int_fn",
    "collate_str_fn",
    "collate_tensor_fn",
    "default_collate",
    "default_collate_fn_map",
    "default_convert",
]

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)
np_str_obj_array_pattern = re.compile(r"[SaUO]")
