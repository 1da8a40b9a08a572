"""More losses as modules; the formulas are in `functional`, and those of every day in norch/nn/loss.py."""

from __future__ import annotations

from typing import Callable

from ...tensor import Tensor
from .. import functional as F
from ..functional.ctc import Lengths
from ..functional.losses import Flag
from ..loss import _Loss, _WeightedLoss

__all__ = [
    "CTCLoss",
    "CosineEmbeddingLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "PoissonNLLLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class _MarginLoss(_Loss):
    """A loss with a margin and a reduction."""

    def __init__(
        self, margin: float = 0.0, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class MarginRankingLoss(_MarginLoss):
    """max(0, margin - target * (input1 - input2)); see `functional.margin_ranking_loss`.

    >>> nn.MarginRankingLoss()(norch.tensor([1.0]), norch.tensor([2.0]), norch.tensor([1.0]))
    tensor(1.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_MarginLoss):
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1; see `functional.cosine_embedding_loss`.

    >>> nn.CosineEmbeddingLoss()(norch.ones(1, 2), norch.ones(1, 2), norch.tensor([-1]))
    tensor(1.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, self.margin, reduction=self.reduction)


class HingeEmbeddingLoss(_MarginLoss):
    """input where the target is 1, max(0, margin - input) where it is -1; see `functional.hinge_embedding_loss`.

    >>> nn.HingeEmbeddingLoss()(norch.tensor([0.5, 0.25]), norch.tensor([1, -1]))
    tensor(0.6250)
    """

    def __init__(
        self, margin: float = 1.0, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean"
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """log(1 + e^(-target * input)) for targets of 1 and -1; see `functional.soft_margin_loss`.

    >>> nn.SoftMarginLoss()(norch.zeros(1), norch.ones(1))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class TripletMarginLoss(_MarginLoss):
    """max(0, margin + d(anchor, positive) - d(anchor, negative)); see `functional.triplet_margin_loss`.

    Raises ValueError for a margin that is not above 0.

    >>> nn.TripletMarginLoss()(norch.zeros(1, 1), norch.ones(1, 1), norch.full([1, 1], 1.5))
    tensor(0.5000)
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: Flag = None,
        reduce: Flag = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)
        if not margin > 0:
            raise ValueError(f"TripletMarginLoss: margin is {margin}, expected above 0")
        self.p, self.eps, self.swap = p, eps, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor, positive, negative, self.margin, self.p, self.eps, self.swap, reduction=self.reduction
        )


class TripletMarginWithDistanceLoss(_Loss):
    """TripletMarginLoss with a distance of one's own; see `functional.triplet_margin_with_distance_loss`.

    Raises ValueError for a margin that is not above 0.

    >>> loss = nn.TripletMarginWithDistanceLoss(distance_function=lambda x, y: (x - y).abs().amax(-1))
    >>> loss(norch.zeros(1, 2), norch.zeros(1, 2), norch.full([1, 2], 0.5))
    tensor(0.5000)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if not margin > 0:
            raise ValueError(f"TripletMarginWithDistanceLoss: margin is {margin}, expected above 0")
        self.distance_function, self.margin, self.swap = distance_function, margin, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class MultiMarginLoss(_WeightedLoss):
    """sum over the other classes i of max(0, margin - x[y] + x[i])^p / C; see `functional.multi_margin_loss`.

    Raises ValueError unless p is 1 or 2 and the weight, if there is one, has a number for each class.

    >>> nn.MultiMarginLoss()(norch.tensor([[0.1, 0.2, 0.4, 0.8]]), norch.tensor([3]))
    tensor(0.3250)
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: Flag = None,
        reduce: Flag = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError(f"MultiMarginLoss: p is {p}, expected 1 or 2")
        if weight is not None and weight.ndim != 1:
            raise ValueError(f"MultiMarginLoss: weight has shape {list(weight.shape)}, expected one dimension")
        self.p, self.margin = p, margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(input, target, self.p, self.margin, self.weight, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """A margin between the classes of the target and the others; see `functional.multilabel_margin_loss`.

    >>> nn.MultiLabelMarginLoss()(norch.tensor([0.1, 0.2, 0.4, 0.8]), norch.tensor([3, 0, -1, 1]))
    tensor(0.8500)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The binary cross-entropy of each class, of logits; see `functional.multilabel_soft_margin_loss`.

    >>> nn.MultiLabelSoftMarginLoss()(norch.zeros(1, 3), norch.tensor([[1.0, 0.0, 1.0]]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)


class PoissonNLLLoss(_Loss):
    """-log of the probability of a count, for its expectation; see `functional.poisson_nll_loss`.

    >>> nn.PoissonNLLLoss()(norch.tensor([0.0]), norch.tensor([1.0]))
    tensor(1.)
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: Flag = None,
        eps: float = 1e-8,
        reduce: Flag = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(log_input, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction)


class GaussianNLLLoss(_Loss):
    """-log of the density of a number, for its expectation and variance; see `functional.gaussian_nll_loss`.

    >>> nn.GaussianNLLLoss()(norch.tensor([1.0]), norch.tensor([3.0]), norch.tensor([4.0]))
    tensor(1.1931)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


class CTCLoss(_Loss):
    """-log of the probability of labels whose places in time are unknown; see `functional.ctc_loss`.

    >>> nn.CTCLoss()(norch.zeros(3, 1, 2).log_softmax(2), norch.tensor([[1]]), [3], [1])
    tensor(0.2877)
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Lengths, target_lengths: Lengths) -> Tensor:
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )
