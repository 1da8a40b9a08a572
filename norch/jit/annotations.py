"""The types of annotations, which programs for old versions of PyTorch import from here."""

from typing import Any, Dict, List, Optional, Tuple, Union

__all__ = ["Any", "Dict", "List", "Optional", "Tuple", "Union"]
