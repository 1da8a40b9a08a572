"""Loss functions as modules."""

from __future__ import annotations

from norch.tensor import Tensor

from . import functional as F
from .module import Module


class MSELoss(Module):
    """Mean of (prediction - label)^2 over all elements, or with `reduction` "sum" their sum, with "none" each.

    >>> nn.MSELoss()(norch.tensor([1.0, 2.0]), norch.tensor([1.0, 4.0]))
    tensor([2.])
    """

    def __init__(self, reduction: str = "mean"):
        super().__init__()
        self.reduction = F.check_reduction(reduction)

    def forward(self, predictions, labels):
        return F.mse_loss(predictions, labels, self.reduction)


class CrossEntropyLoss(Module):
    """-log softmax(logits)[class], averaged; see `functional.cross_entropy` for shapes and options.

    >>> nn.CrossEntropyLoss()(norch.tensor([[2.0, 1.0], [0.0, 3.0]]), norch.tensor([0, 1]))
    tensor([0.1809])
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ):
        super().__init__()
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index
        self.reduction = F.check_reduction(reduction)
        self.label_smoothing = F.check_smoothing(label_smoothing)

    def forward(self, logits, target):
        return F.cross_entropy(
            logits,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
