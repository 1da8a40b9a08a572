"""The collate functions under PyTorch's inner path."""

from __future__ import annotations

import re

from ..collate import default_collate, default_convert

__all__ = ["default_collate", "default_convert"]

np_str_obj_array_pattern = re.compile(r"[SaUO]")
