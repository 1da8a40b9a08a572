"""The rules as functions of lists of tensors, under the path that PyTorch gives them."""

from .adam import adam as adam
from .adam import adamw as adamw
from .sgd import sgd as sgd
