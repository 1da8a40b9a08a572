"""The functions of layers that PyTorch's main namespace has, with the arguments that they have there."""

from __future__ import annotations

from typing import Sequence

from .._C import ShapeError
from ..arguments import flags
from ..functions.out import Out, into
from ..operation import check_tensor, own
from ..tensor import Tensor
from ..types import Sizes
from . import functional as F
from .functional import (
    avg_pool1d,
    bilinear,
    celu,
    celu_,
    channel_shuffle,
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    cosine_similarity,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    pairwise_distance,
    pixel_shuffle,
    pixel_unshuffle,
    relu_,
    rms_norm,
    rrelu,
    rrelu_,
    selu,
    selu_,
    threshold_,
)
from .functional.dropout import channels_dropped

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_max_pool1d",
    "affine_grid_generator",
    "alpha_dropout",
    "alpha_dropout_",
    "avg_pool1d",
    "batch_norm",
    "bilinear",
    "celu",
    "celu_",
    "channel_shuffle",
    "constant_pad_nd",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
    "cosine_similarity",
    "dropout",
    "dropout_",
    "feature_alpha_dropout",
    "feature_alpha_dropout_",
    "feature_dropout",
    "feature_dropout_",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool3d",
    "native_batch_norm",
    "native_channel_shuffle",
    "native_group_norm",
    "native_layer_norm",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "threshold_",
]

# ---- Convolution and padding ------------------------------------------------------------------------------------


@flags
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """As `functional.conv1d`, 2d or 3d, or their transposes if `transposed`: by the rank of x [N, C, ...].

    Raises ShapeError for other ranks.

    >>> x, weight = norch.ones(1, 1, 3), norch.ones(1, 1, 2)
    >>> norch.convolution(x, weight, None, [1], [0], [1], False, [0], 1)
    tensor([[[2., 2.]]])
    """
    axes = check_tensor(weight, "convolution").ndim - 2
    if axes not in (1, 2, 3):
        raise ShapeError(f"convolution: weight has shape {list(weight.shape)}, expected 3 to 5 dimensions")
    if transposed:
        transpose = (conv_transpose1d, conv_transpose2d, conv_transpose3d)[axes - 1]
        return transpose(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return (conv1d, conv2d, conv3d)[axes - 1](input, weight, bias, stride, padding, dilation, groups)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """conv1d of sequences [time, N, C] by a weight [kernel, C, out]; dtypes and errors as for `functional.conv1d`.

    >>> norch.conv_tbc(norch.ones(3, 1, 1), norch.ones(2, 1, 1), norch.zeros(1)).flatten()
    tensor([2., 2.])
    """
    check_tensor(input, "conv_tbc"), check_tensor(weight, "conv_tbc")
    return own(conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1))


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: float = 0) -> Tensor:
    """As `functional.pad`, with one value.

    >>> norch.constant_pad_nd(norch.tensor([1, 2]), (1, 0), 9)
    tensor([9, 1, 2])
    """
    return F.pad(input, pad, "constant", value)


# ---- Pooling ----------------------------------------------------------------------------------------------------


def adaptive_avg_pool1d(input: Tensor, output_size: Sizes) -> Tensor:
    """The same as `functional.adaptive_avg_pool1d`.

    >>> norch.adaptive_avg_pool1d(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2)
    tensor([[[2., 6.]]])
    """
    return F.adaptive_avg_pool1d(input, output_size)


def adaptive_max_pool1d(input: Tensor, output_size: Sizes) -> tuple[Tensor, Tensor]:
    """As `functional.adaptive_max_pool1d`, with its indices.

    >>> norch.adaptive_max_pool1d(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2)
    (tensor([[[3., 7.]]]), tensor([[[1, 3]]]))
    """
    return F.adaptive_max_pool1d(input, output_size, return_indices=True)  # type: ignore[return-value]


@flags
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    """As `functional.max_pool1d`, with its indices.

    >>> norch.max_pool1d_with_indices(norch.tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2)
    (tensor([[[3., 7.]]]), tensor([[[1, 3]]]))
    """
    return max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)  # type: ignore[return-value]


# ---- Normalization ----------------------------------------------------------------------------------------------


@flags
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """As `functional.batch_norm`, but with the weight first; `cudnn_enabled` changes nothing.

    >>> x = norch.tensor([[1.0], [3.0]])
    >>> norch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False).flatten()
    tensor([-1.0000,  1.0000])
    """
    return F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


@flags
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """As `functional.instance_norm`, but with the weight first; `cudnn_enabled` changes nothing.

    >>> x = norch.tensor([[[1.0, 3.0]]])
    >>> norch.instance_norm(x, None, None, None, None, True, 0.1, 1e-5, False).flatten()
    tensor([-1.0000,  1.0000])
    """
    return F.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


@flags
def layer_norm(
    input: Tensor,
    normalized_shape: Sizes,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    """As `functional.layer_norm`; `cudnn_enable` changes nothing.

    >>> norch.layer_norm(norch.tensor([[1.0, 3.0]]), [2])
    tensor([[-1.0000,  1.0000]])
    """
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


@flags
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    """As `functional.group_norm`; `cudnn_enabled` changes nothing.

    >>> norch.group_norm(norch.tensor([[1.0, 3.0, 10.0, 30.0]]), num_groups=2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    return F.group_norm(input, num_groups, weight, bias, eps)


def native_layer_norm(
    input: Tensor, normalized_shape: Sizes, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`layer_norm`, the mean and 1 / sqrt(var + eps), both with sizes of 1; otherwise as `functional.layer_norm`.

    >>> [result.flatten() for result in norch.native_layer_norm(norch.tensor([1.0, 3.0]), [2], None, None, 0.0)]
    [tensor([-1.,  1.]), tensor([2.]), tensor([1.])]
    """
    result = F.layer_norm(input, normalized_shape, weight, bias, eps)
    count = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    return result, *_statistics(input.detach(), tuple(range(-count, 0)), eps)


def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """`group_norm` of x [N, C, ...] with HxW elements a channel, the means and 1 / sqrt(var + eps) [N, group].

    Otherwise as `functional.group_norm`.

    >>> x = norch.tensor([[[1.0, 3.0]]])
    >>> [result.flatten() for result in norch.native_group_norm(x, None, None, 1, 1, 2, 1, 0.0)]
    [tensor([-1.,  1.]), tensor([2.]), tensor([1.])]
    """
    result = F.group_norm(input, group, weight, bias, eps)
    mean, rate = _statistics(input.reshape(N, group, C // group * HxW), (2,), eps)
    return result, own(mean.squeeze(2)), own(rate.squeeze(2))


@flags
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    *,
    out: Out = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`batch_norm`, the means of the batch and 1 / sqrt(var + eps), both [C]: empty unless `training`.

    Otherwise as `functional.batch_norm`.

    >>> x = norch.tensor([[1.0], [3.0]])
    >>> [result.flatten() for result in norch.native_batch_norm(x, None, None, None, None, True, 0.1, 3.0)]
    [tensor([-0.5000,  0.5000]), tensor([2.]), tensor([0.5000])]
    """
    result = F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if training:
        mean, rate = _statistics(input.detach(), (0, *range(2, input.ndim)), eps)
    else:
        mean = rate = input.new_empty(0)
    return into(out, (result, own(mean.flatten()), own(rate.flatten())), "native_batch_norm")


def _statistics(x: Tensor, dims: tuple[int, ...], eps: float) -> tuple[Tensor, Tensor]:
    mean = x.mean(dims, keepdim=True)
    return mean, (((x - mean) ** 2).mean(dims, keepdim=True) + eps).rsqrt()


# ---- Shuffles and grids -----------------------------------------------------------------------------------------


def native_channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The same as `functional.channel_shuffle`.

    >>> norch.native_channel_shuffle(norch.tensor([[[1], [2], [3], [4]]]), 2).flatten()
    tensor([1, 3, 2, 4])
    """
    return channel_shuffle(input, groups)


@flags
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """As `functional.grid_sample`, with numbers for its modes, in the order in which it names them.

    Raises IndexError for another number.

    >>> norch.grid_sampler(norch.tensor([[[[1.0, 3.0]]]]), norch.tensor([[[[0.0, 0.0]]]]), 0, 0, True)
    tensor([[[[2.]]]])
    """
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    for name, number in ("interpolation_mode", interpolation_mode), ("padding_mode", padding_mode):
        if not 0 <= number <= 2:
            raise IndexError(f"grid_sampler: {name} is {number}, expected 0, 1 or 2")
    return F.grid_sample(input, grid, modes[interpolation_mode], paddings[padding_mode], align_corners)


@flags
def grid_sampler_2d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """The same as `grid_sampler`, of images.

    >>> norch.grid_sampler_2d(norch.tensor([[[[1.0, 3.0]]]]), norch.tensor([[[[0.0, 0.0]]]]), 0, 0, True)
    tensor([[[[2.]]]])
    """
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


@flags
def grid_sampler_3d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """The same as `grid_sampler`, of volumes.

    >>> norch.grid_sampler_3d(norch.ones(1, 1, 2, 2, 2), norch.zeros(1, 1, 1, 1, 3), 0, 0, True).flatten()
    tensor([1.])
    """
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


@flags
def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """The same as `functional.affine_grid`.

    >>> norch.affine_grid_generator(norch.eye(2, 3).unsqueeze(0), (1, 1, 1, 2), False).shape
    norch.Size([1, 1, 2, 2])
    """
    return F.affine_grid(theta, size, align_corners)


# ---- Dropout ----------------------------------------------------------------------------------------------------


@flags
def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """As `functional.dropout`, but no argument has a default.

    >>> norch.dropout(norch.ones(3), 0.5, train=False)
    tensor([1., 1., 1.])
    """
    return F.dropout(input, p, train)


@flags
def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`dropout` in place; otherwise as `functional.dropout`.

    >>> norch.dropout_(norch.ones(3), 0.5, train=False)
    tensor([1., 1., 1.])
    """
    return F.dropout(input, p, train, inplace=True)


@flags
def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """As `functional.alpha_dropout`, but no argument has a default.

    >>> norch.alpha_dropout(norch.ones(3), 0.5, train=False)
    tensor([1., 1., 1.])
    """
    return F.alpha_dropout(input, p, train)


@flags
def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`alpha_dropout` in place; otherwise as `functional.alpha_dropout`.

    >>> norch.alpha_dropout_(norch.ones(3), 0.5, train=False)
    tensor([1., 1., 1.])
    """
    return F.alpha_dropout(input, p, train, inplace=True)


@flags
def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """As `functional.dropout2d`, of any [N, C, ...] without a warning; no argument has a default.

    >>> norch.feature_dropout(norch.ones(1, 3), 0.5, train=False)
    tensor([[1., 1., 1.]])
    """
    return channels_dropped(input, p, train, False)


@flags
def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_dropout` in place; otherwise as `functional.dropout2d`.

    >>> norch.feature_dropout_(norch.ones(1, 3), 0.5, train=False)
    tensor([[1., 1., 1.]])
    """
    return channels_dropped(input, p, train, True)


@flags
def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """As `functional.feature_alpha_dropout`, but no argument has a default.

    >>> norch.feature_alpha_dropout(norch.ones(1, 3), 0.5, train=False)
    tensor([[1., 1., 1.]])
    """
    return F.feature_alpha_dropout(input, p, train)


@flags
def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_alpha_dropout` in place; otherwise as `functional.feature_alpha_dropout`.

    >>> norch.feature_alpha_dropout_(norch.ones(1, 3), 0.5, train=False)
    tensor([[1., 1., 1.]])
    """
    return F.feature_alpha_dropout(input, p, train, inplace=True)
