"""Bilinear, the losses that hold a weight of their own, and Unflatten."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...functions.creation import empty
from ...functions.joining import cat
from ...operation import check_range, check_tensor
from ...tensor import Tensor
from ...types import DType, int64, shown
from .. import functional as F
from .. import init
from ..functional.losses import check_reduction
from ..module import Module
from ..parameter import Parameter, ParameterOrNone
from .container import ModuleList, Sequential
from .linear import Linear

__all__ = ["AdaptiveLogSoftmaxWithLoss", "Bilinear", "LinearCrossEntropyLoss", "Unflatten"]


class Unflatten(Module):
    """Splits a dimension into several sizes, one of which may be -1; otherwise as `unflatten`.

    Raises TypeError for a dim that is no int, or sizes that are none.

    >>> nn.Unflatten(1, (2, -1))(norch.zeros(8, 6)).shape
    norch.Size([8, 2, 3])
    """

    _shown = ("dim", "unflattened_size")

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        if not isinstance(dim, int) or isinstance(dim, bool):
            raise TypeError(f"Unflatten: dim is {shown(dim)}, expected an int")
        if not isinstance(unflattened_size, (tuple, list)) or not all(isinstance(n, int) for n in unflattened_size):
            raise TypeError(f"Unflatten: unflattened_size is {shown(unflattened_size)}, expected a tuple of ints")
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)


class Bilinear(Module):
    """x1^T W_k x2 + b_k for each output k; see `functional.bilinear` for shapes, dtypes and errors.

    The weight [out, in1, in2] and the bias [out] are drawn from [-1 / sqrt(in1), 1 / sqrt(in1)]. Raises ValueError
    unless in1_features is above 0.

    >>> nn.Bilinear(3, 4, 2)(norch.ones(5, 3), norch.ones(5, 4)).shape
    norch.Size([5, 2])
    """

    bias: ParameterOrNone

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"Bilinear: in1_features is {in1_features}, expected above 0")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        place: dict[str, Any] = {"dtype": dtype, "device": device}
        self.weight = Parameter(empty(out_features, in1_features, in2_features, **place))
        self.register_parameter("bias", Parameter(empty(out_features, **place)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias again."""
        bound = 1 / math.sqrt(self.in1_features)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


class LinearCrossEntropyLoss(Module):
    """The cross-entropy of a Linear's outputs, whose weight is the loss's own; see `functional.linear_cross_entropy`.

    Raises RuntimeError for a weight or a label_smoothing that does not fit.

    >>> nn.LinearCrossEntropyLoss(2, 3)(norch.ones(1, 2), norch.tensor([0])).shape
    norch.Size([])
    """

    weight: Tensor | None

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: Sequence[int] = (),
        bias: bool = False,
        device: str | int | None = None,
        dtype: DType | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: object = None,
    ) -> None:
        super().__init__()
        self.in_features, self.num_classes, self.out_features = in_features, num_classes, tuple(out_features)
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"LinearCrossEntropyLoss: label_smoothing is {label_smoothing}, expected 0 to 1")
        if weight is not None and weight.shape != (num_classes,):
            found = list(weight.shape)
            raise RuntimeError(f"LinearCrossEntropyLoss: weight has shape {found}, expected [{num_classes}]")
        self.reduction, self.label_smoothing = check_reduction(reduction), label_smoothing
        self.ignore_index, self.options = ignore_index, options
        outputs = num_classes * math.prod(self.out_features)
        self.linear = Linear(in_features, outputs, bias, device, dtype)
        self.register_buffer("weight", weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
        )


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """log_softmax for very many classes, in clusters by frequency (Grave et al., "Efficient softmax ...", 2017).

    The first `cutoffs[0]` classes, the most frequent ones, and the clusters share one Linear, the head; each cluster
    has a tail of two smaller ones, of in_features / div_value^(i + 1) features between. For inputs [N, in_features] and
    classes [N] it returns (output [N], the log-probability of each class, and loss, minus their mean), or without N.
    All have the dtype of the weights. Raises ValueError for cutoffs that do not increase below n_classes, RuntimeError
    for other shapes or classes.

    >>> model = nn.AdaptiveLogSoftmaxWithLoss(8, 10, [2, 5])
    >>> output, loss = model(norch.ones(3, 8), norch.tensor([0, 4, 9]))
    >>> output.shape, model.log_prob(norch.ones(3, 8)).shape
    (norch.Size([3]), norch.Size([3, 10]))
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if (
            not cutoffs
            or cutoffs != sorted(set(cutoffs))
            or cutoffs[0] <= 0
            or cutoffs[-1] > n_classes - 1
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError(
                f"AdaptiveLogSoftmaxWithLoss: cutoffs are {cutoffs}, expected increasing ints from 1 to {n_classes - 1}"
            )
        self.in_features, self.n_classes, self.div_value, self.head_bias = in_features, n_classes, div_value, head_bias
        self.cutoffs = [*cutoffs, n_classes]
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            hidden = int(in_features // div_value ** (i + 1))
            first = Linear(in_features, hidden, False, device, dtype)
            self.tail.append(Sequential(first, Linear(hidden, high - low, False, device, dtype)))

    def reset_parameters(self) -> None:
        """Draw the weights of head and tail again."""
        for module in (self.head, *(linear for pair in self.tail for linear in pair)):
            module.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        check_tensor(input_, "AdaptiveLogSoftmaxWithLoss"), check_tensor(target_, "AdaptiveLogSoftmaxWithLoss")
        single = target_.ndim == 0
        input, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if single else (input_, target_)
        if target.ndim != 1 or input.ndim != 2 or len(input) != len(target):
            shapes = f"{list(input_.shape)} and {list(target_.shape)}"
            raise RuntimeError(f"AdaptiveLogSoftmaxWithLoss: expected [N, in_features] and [N], got shapes {shapes}")
        message = f"AdaptiveLogSoftmaxWithLoss: target {{}} is out of range, expected 0 to {self.n_classes - 1}"
        check_range(target, 0, self.n_classes - 1, message)
        head = self.head(input).log_softmax(1)
        place, output = target.long(), head.new_zeros(len(target))  # in the head: a class, or its cluster
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            rows = (target >= low).logical_and(target < high).nonzero().reshape(-1).to(int64)
            if len(rows):
                scores = self.tail[i](input.index_select(0, rows)).log_softmax(1)
                inner = (target.long().index_select(0, rows) - low).unsqueeze(1)
                output = output.index_add(0, rows, scores.gather(1, inner).squeeze(1))
                place = place.index_fill(0, rows, self.shortlist_size + i)
        output = output + head.gather(1, place.unsqueeze(1)).squeeze(1)
        return _ASMoutput(output[0] if single else output, (-output).mean())

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities [N, n_classes] of all classes, for inputs [N, in_features]."""
        head = self.head(input).log_softmax(1)
        parts = [head[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            parts.append(tail(input).log_softmax(1) + head[:, self.shortlist_size + i].unsqueeze(1))
        return cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The most likely class of each input, [N]."""
        return self.log_prob(input).argmax(1)
