"""AdamW, under the path that PyTorch gives it."""

from .adam import AdamW as AdamW
from .adam import adamw as adamw
