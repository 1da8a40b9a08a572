"""How tensors print, at the path from which programs import it: classes derived from Tensor print their parts so."""

from __future__ import annotations

from .display.formatting import PrintOptions as _PrinterOptions
from .display.formatting import join_suffixes as _add_suffixes
from .display.formatting import numbers_text as _tensor_str
from .display.formatting import options as PRINT_OPTS
from .display.formatting import set_printoptions

__all__ = ["PRINT_OPTS", "_PrinterOptions", "_add_suffixes", "_tensor_str", "set_printoptions"]
