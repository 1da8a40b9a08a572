"""Loss functions as modules; the formulas are in `functional`.

`reduction` says how the losses of the elements become one: "mean" or "sum"; "none" returns them all.
"""

from __future__ import annotations

from ..given import settings
from ..tensor import Tensor
from . import functional as F
from .functional.cross_entropy import check_smoothing
from .functional.losses import Flag, reduction_of
from .module import Module

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "NLLLoss",
    "NLLLoss2d",
    "SmoothL1Loss",
]


class _Loss(Module):
    """A loss with a `reduction`, of which `size_average` and `reduce` are old names."""

    def __init__(self, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean") -> None:
        super().__init__()
        if isinstance(size_average, Tensor):
            name = self.get_name()
            raise TypeError(f"{name} takes settings, and gives a function of tensors: {name}()(input, target)")
        self.reduction = reduction_of(size_average, reduce, reduction)

    def extra_repr(self) -> str:
        own = {name: value for name, value in vars(self).items() if name != "training" and not name.startswith("_")}
        return settings(**own)

    def __repr__(self) -> str:
        return super()._nested_repr()


class _WeightedLoss(_Loss):
    """A loss with a weight for each class or element."""

    weight: Tensor | None

    def __init__(
        self, weight: Tensor | None = None, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(_Loss):
    """Mean of (prediction - label)^2 over all elements, or with `reduction` "sum" their sum, with "none" each.

    Shapes, dtypes and errors as for `functional.mse_loss`.

    >>> nn.MSELoss()(norch.tensor([1.0, 2.0]), norch.tensor([1.0, 4.0]))
    tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """|input - target|, reduced; shapes, dtypes and errors as for `functional.l1_loss`.

    >>> nn.L1Loss()(norch.tensor([1.0, 2.0]), norch.tensor([1.0, 4.0]))
    tensor(1.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """d^2 / (2 beta) where |d| < beta, else |d| - beta / 2, for d = input - target; see `functional.smooth_l1_loss`.

    >>> nn.SmoothL1Loss(reduction="none")(norch.tensor([0.5, 10.0]), norch.zeros(2))
    tensor([0.1250, 9.5000])
    """

    def __init__(
        self, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean", beta: float = 1.0
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), for d = input - target; see `functional.huber_loss`.

    >>> nn.HuberLoss(reduction="none")(norch.tensor([0.5, 10.0]), norch.zeros(2))
    tensor([0.1250, 9.5000])
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, self.reduction, self.delta)


class BCELoss(_WeightedLoss):
    """-(target log(input) + (1 - target) log(1 - input)) for probabilities; see `functional.binary_cross_entropy`.

    >>> nn.BCELoss()(norch.tensor([0.5, 0.9]), norch.tensor([1.0, 1.0]))
    tensor(0.3993)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """BCELoss of sigmoid(input), safe for large logits; see `functional.binary_cross_entropy_with_logits`.

    >>> nn.BCEWithLogitsLoss()(norch.tensor([0.0, 100.0]), norch.tensor([1.0, 1.0]))
    tensor(0.3466)
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Flag = None,
        reduce: Flag = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class KLDivLoss(_Loss):
    """target (log(target) - input), for an input of log-probabilities; see `functional.kl_div` for "batchmean".

    >>> nn.KLDivLoss(reduction="sum")(norch.tensor([[0.5, 0.5]]).log(), norch.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """

    def __init__(
        self, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean", log_target: bool = False
    ) -> None:
        batchmean = reduction == "batchmean" and size_average is None and reduce is None
        super().__init__(size_average, reduce, "mean" if batchmean else reduction)
        self.reduction = "batchmean" if batchmean else self.reduction
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class NLLLoss(_WeightedLoss):
    """-input[class] of each sample, for log-probabilities; see `functional.nll_loss`.

    >>> nn.NLLLoss()(norch.tensor([[-0.1, -2.0]]), norch.tensor([0]))
    tensor(0.1000)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Flag = None,
        ignore_index: int = -100,
        reduce: Flag = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """An old name of NLLLoss, which takes images too; see `functional.nll_loss`.

    >>> nn.NLLLoss2d()(norch.zeros(1, 2, 3, 3), norch.zeros(1, 3, 3, dtype=norch.int64))
    tensor(0.)
    """


class CrossEntropyLoss(_WeightedLoss):
    """-log softmax(logits)[class], averaged; see `functional.cross_entropy` for shapes and options.

    >>> nn.CrossEntropyLoss()(norch.tensor([[2.0, 1.0], [0.0, 3.0]]), norch.tensor([0, 1]))
    tensor(0.1809)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Flag = None,
        ignore_index: int = -100,
        reduce: Flag = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = check_smoothing(label_smoothing)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
