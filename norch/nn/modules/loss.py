"""The losses, under the path that PyTorch gives them."""

from ..loss import *  # noqa: F403
from ..loss import _Loss as _Loss
from ..loss import _WeightedLoss as _WeightedLoss
from .losses import *  # noqa: F403
