"""Convolution and pooling: values worked out by hand, modules, errors, memory."""

import copy
import math
import random

import pytest
from compare import close

import norch
from norch import nn
from norch.nn import functional as F

IMAGE = [[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]


def image(device="cpu"):
    return norch.tensor(IMAGE, device=device)


# ---- Convolution ----------------------------------------------------------------------------------------------------


def test_a_convolution_by_hand(device):
    kernel = norch.tensor([[[[1.0, 0.0], [0.0, 2.0]]]], device=device)
    close(F.conv2d(image(device), kernel), [[[[11.0, 14.0], [20.0, 23.0]]]])
    bias = norch.tensor([0.5], device=device)
    close(F.conv2d(image(device), kernel, bias, stride=2, padding=1), [[[[2.5, 6.5], [14.5, 23.5]]]])
    close(F.conv2d(image(device), kernel, dilation=2), [[[[19.0]]]])
    close(F.conv2d(image(device), kernel, padding="same"), [[[[11.0, 14.0, 3.0], [20.0, 23.0, 6.0], [7.0, 8.0, 9.0]]]])
    sequence = norch.tensor([[[1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 0.0, 1.0]]], device=device)
    filters = norch.tensor([[[1.0, -1.0]], [[2.0, 3.0]]], device=device)
    close(F.conv1d(sequence, filters, groups=2), [[[-1.0, -1.0, -1.0], [2.0, 0.0, 3.0]]])


def test_its_gradients_by_hand(device):
    x = image(device).requires_grad_()
    kernel = norch.tensor([[[[1.0, 0.0], [0.0, 2.0]]]], device=device).requires_grad_()
    bias = norch.zeros(1, device=device).requires_grad_()
    (F.conv2d(x, kernel, bias) * norch.tensor([[1.0, 2.0], [3.0, 4.0]], device=device)).sum().backward()
    close(x.grad, [[[[1.0, 2.0, 0.0], [3.0, 6.0, 4.0], [0.0, 6.0, 8.0]]]])
    close(kernel.grad, [[[[37.0, 47.0], [67.0, 77.0]]]])
    close(bias.grad, [10.0])


def test_only_wanted_gradients_are_computed(device):
    x, kernel = image(device), norch.ones(1, 1, 2, 2, device=device).requires_grad_()
    bias = norch.zeros(1, device=device)
    F.conv2d(x, kernel, bias).sum().backward()
    assert kernel.grad is not None and x.grad is None and bias.grad is None


def test_columns_by_hand(device):
    columns = F.unfold(image(device), 2)
    close(columns, [[[1.0, 2.0, 4.0, 5.0], [2.0, 3.0, 5.0, 6.0], [4.0, 5.0, 7.0, 8.0], [5.0, 6.0, 8.0, 9.0]]])
    close(F.fold(columns, 3, 2), [[[[1.0, 4.0, 3.0], [8.0, 20.0, 12.0], [7.0, 16.0, 9.0]]]])
    assert nn.Fold(3, 2)(nn.Unfold(2)(image(device))).shape == [1, 1, 3, 3]


@pytest.mark.parametrize("shape", [(3, 5, 4), (2, 3, 5, 4)])
def test_an_image_without_a_batch(shape, device):
    x = norch.rand(*shape, device=device)
    conv, pool = nn.Conv2d(3, 6, 2).to(device), nn.MaxPool2d(2)
    assert conv(x).shape == [*shape[:-3], 6, 4, 3] and pool(x).shape == [*shape[:-3], 3, 2, 2]
    if len(shape) == 3:
        close(conv(x), conv(x.unsqueeze(0))[0].tolist())


def test_a_batch_of_none(device):
    x = norch.zeros(0, 2, 5, 5, device=device).requires_grad_()
    conv = nn.Conv2d(2, 3, 3).to(device)
    y = conv(x)
    assert y.shape == [0, 3, 3, 3]
    y.sum().backward()
    assert x.grad.shape == x.shape
    assert conv.weight.grad.tolist() == norch.zeros(3, 2, 3, 3).tolist() and conv.bias.grad.tolist() == [0.0] * 3


def test_operands_of_any_layout(device):
    """Against the same values side by side."""
    x, weight = norch.rand(4, 5, 3, 2, device=device).permute(3, 2, 1, 0), norch.rand(2, 2, 3, 6, device=device).T
    assert not x.is_contiguous() and not weight.is_contiguous()
    close(F.conv2d(x, weight), F.conv2d(x.contiguous(), weight.contiguous()).tolist())
    close(F.max_pool2d(x, 2), F.max_pool2d(x.contiguous(), 2).tolist())


@pytest.mark.parametrize("samples, channels, outputs, size", [(1, 70, 20, 40), (40, 20, 3, 5), (3, 300, 5, 3)])
def test_blocks_and_threads_do_not_change_a_result(samples, channels, outputs, size):
    """Large enough for blocks of rows, blocks of samples, and several threads."""
    x, weight = norch.rand(samples, channels, size, size), norch.rand(outputs, channels, 3, 3)
    results = []
    threads = norch.get_num_threads()
    try:
        for count in (1, 3):
            norch.set_num_threads(count)
            a, b = x.clone().requires_grad_(), weight.clone().requires_grad_()
            y = F.conv2d(a, b, padding=1)
            y.sum().backward()
            results.append([t.flatten().tolist() for t in (y.detach(), a.grad, b.grad)])
    finally:
        norch.set_num_threads(threads)
    assert results[0] == results[1]
    columns = F.unfold(x.double(), 3, padding=1)
    close(y, (weight.double().reshape(outputs, -1) @ columns).reshape(y.shape).tolist())
    close(b.grad, columns.sum((0, 2)).reshape(1, channels, 3, 3).expand(weight.shape).tolist(), 1e-4)


# ---- Pooling --------------------------------------------------------------------------------------------------------


def test_pools_by_hand(device):
    x = image(device)
    close(F.max_pool2d(x, 2), [[[[5.0]]]])
    close(F.max_pool2d(x, 2, ceil_mode=True), [[[[5.0, 6.0], [8.0, 9.0]]]])
    close(F.max_pool2d(-x, 2, padding=1), [[[[-1.0, -2.0], [-4.0, -5.0]]]])
    close(F.max_pool2d(x, 2, stride=1, dilation=2), [[[[9.0]]]])
    close(F.avg_pool2d(x, 2, stride=1), [[[[3.0, 4.0], [6.0, 7.0]]]])
    close(F.avg_pool2d(x, 2, padding=1), [[[[0.25, 1.25], [2.75, 7.0]]]])
    close(F.avg_pool2d(x, 2, padding=1, count_include_pad=False), [[[[1.0, 2.5], [5.5, 7.0]]]])
    close(F.avg_pool2d(x, 2, divisor_override=2), [[[[6.0]]]])
    close(F.adaptive_avg_pool2d(x, 2), [[[[3.0, 4.0], [6.0, 7.0]]]])
    close(F.adaptive_avg_pool2d(x, (None, 1)), [[[[2.0], [5.0], [8.0]]]])
    close(F.max_pool1d(x[0], 2, stride=1), [[[2.0, 3.0], [5.0, 6.0], [8.0, 9.0]]])
    close(F.avg_pool1d(x[0], 3), [[[2.0], [5.0], [8.0]]])
    close(F.adaptive_avg_pool1d(x[0], 1), [[[2.0], [5.0], [8.0]]])


def test_a_window_s_gradient_goes_to_its_largest_element(device):
    x = norch.tensor([[[[1.0, 3.0, 3.0], [2.0, 1.0, 0.0]]]], device=device).requires_grad_()
    values, indices = F.max_pool2d(x, 2, stride=1, return_indices=True)
    assert indices.tolist() == [[[[1, 1]]]]
    values.sum().backward()
    close(x.grad, [[[[0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]]])
    x.grad = None
    F.avg_pool2d(x, 2, stride=1).sum().backward()
    close(x.grad, [[[[0.25, 0.5, 0.25], [0.25, 0.5, 0.25]]]])


def test_max_pool_without_a_finite_element(device):
    nan, inf = float("nan"), float("inf")
    x = norch.tensor([[[-inf, -inf, nan, 1.0, inf, nan]]], device=device)
    values, indices = F.max_pool1d(x, 2, return_indices=True)
    assert str(values.tolist()) == "[[[-inf, nan, nan]]]"
    assert indices.tolist() == [[[0, 2, 5]]]


@pytest.mark.parametrize("shape", [(41, 2, 3, 4), (1, 2, 3, 70)])  # small images, wide rows
@pytest.mark.parametrize("padding", [0, 1])
def test_the_largest_elements_lie_at_their_indices(device, shape, padding):
    x = norch.randint(0, 3, shape, device=device).float()
    x[norch.rand(shape, device=device) < 0.1] = float("nan")
    values, indices = F.max_pool2d(x, 2, 1, padding, return_indices=True)
    assert norch.equal(values.nan_to_num(9), x.flatten(2).gather(2, indices.flatten(2)).view_as(values).nan_to_num(9))
    assert norch.equal(values.nan_to_num(9), F.max_pool2d(x, 2, 1, padding).nan_to_num(9))  # without indices
    if padding == 0:
        seen = norch.stack([x[..., i : shape[2] - 1 + i, j : shape[3] - 1 + j] for i in (0, 1) for j in (0, 1)])
        assert norch.equal(values.isnan(), seen.isnan().any(0))
        assert norch.equal(values.nan_to_num(9), seen.nan_to_num(9).amax(0))


def test_indices_that_were_changed_are_noticed(device):
    x = image(device).requires_grad_()
    values, indices = F.max_pool2d(x, 2, return_indices=True)
    indices.add_(100)
    with pytest.raises(RuntimeError, match="in-place"):
        values.sum().backward()


# ---- Modules --------------------------------------------------------------------------------------------------------


def test_modules_hold_what_torch_s_hold():
    conv = nn.Conv2d(4, 6, (3, 5), stride=2, padding="valid", groups=2, bias=False)
    assert {name: list(tensor.shape) for name, tensor in conv.state_dict().items()} == {"weight": [6, 2, 3, 5]}
    assert (conv.kernel_size, conv.stride, conv.padding, conv.dilation) == ((3, 5), (2, 2), "valid", (1, 1))
    assert {name: list(tensor.shape) for name, tensor in nn.Conv1d(4, 6, 3).state_dict().items()} == {
        "weight": [6, 4, 3],
        "bias": [6],
    }
    assert not list(nn.MaxPool2d(2).parameters())


def test_weights_are_drawn_by_kaiming():
    bound = 1 / (2 * 9) ** 0.5
    norch.manual_seed(3)
    conv = nn.Conv2d(2, 4, 3)
    values = conv.weight.flatten().tolist() + conv.bias.tolist()
    assert all(-bound <= value <= bound for value in values) and max(map(abs, values)) > 0.8 * bound
    norch.manual_seed(3)
    assert nn.Conv2d(2, 4, 3).weight.tolist() == conv.weight.tolist()


def test_repr():
    model = nn.Sequential(nn.Conv2d(1, 6, 5, padding=2, bias=False), nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1))
    assert repr(model) == (
        "Sequential(\n"
        "   (0): Conv2d(1, 6, kernel_size=(5, 5), stride=(1, 1), padding=(2, 2), bias=False)\n"
        "   (1): MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)\n"
        "   (2): AdaptiveAvgPool2d(output_size=1)\n"
        ")"
    )


def test_a_small_network_learns_to_tell_rows_from_columns(device):
    random.seed(1)
    norch.manual_seed(1)
    lines = norch.zeros(10, 1, 5, 5)
    for k in range(5):
        lines[k, 0, k] = 1
        lines[5 + k, 0, :, k] = 1
    x, y = lines.to(device), norch.tensor([0] * 5 + [1] * 5, device=device)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2, ceil_mode=True), nn.Flatten(), nn.Linear(36, 2)
    ).to(device)
    optimizer = norch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(30):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    assert model(x).argmax(1).tolist() == y.tolist()


# ---- Errors and memory ----------------------------------------------------------------------------------------------


def refused(x=None, weight=None, bias=None, **options):
    x = norch.zeros(1, 2, 5, 5) if x is None else x
    return F.conv2d(x, norch.zeros(4, 2, 3, 3) if weight is None else weight, bias, **options)


@pytest.mark.parametrize(
    "attempt, kind, message",
    [
        (lambda: refused(weight=norch.zeros(4, 3, 3, 3)), RuntimeError, "2 channels.*expected 3"),
        (lambda: refused(weight=norch.zeros(3, 1, 3, 3), groups=2), RuntimeError, "3 outputs.*2 groups"),
        (lambda: refused(groups=0), RuntimeError, "groups is 0"),
        (lambda: refused(groups=1.0), TypeError, "groups is 1.0"),
        (lambda: refused(x=norch.zeros(2, 2)), ValueError, r"\[2, 2\].*\[N, C, height, width\]"),
        (lambda: refused(x=norch.zeros(1, 2, 2, 5)), ValueError, "window of 3 elements.*has 2"),
        (lambda: refused(weight=norch.zeros(4, 2, 3)), ValueError, r"\[4, 2, 3\].*\[out, in / groups, height, width\]"),
        (lambda: refused(weight=norch.zeros(4, 2, 0, 3)), RuntimeError, "kernel size is 0"),
        (lambda: refused(bias=norch.zeros(3)), ValueError, r"bias has shape \[3\], expected \[4\]"),
        (lambda: refused(bias=1.0), TypeError, "Tensors as weight and bias, got Tensor and float"),
        (lambda: refused(x=[[1.0]]), TypeError, "conv2d was given a list"),
        (lambda: refused(x=norch.zeros(1, 2, 5, 5).double()), RuntimeError, "float64 and float32"),
        (lambda: refused(x=norch.zeros(1, 2, 5, 5, dtype=norch.int64)), RuntimeError, "floating dtype, got int64"),
        (lambda: refused(stride=0), RuntimeError, "stride is 0, expected 1 to"),
        (lambda: refused(stride=(1, 2, 3)), ValueError, "stride is .1, 2, 3., expected an int or 2"),
        (lambda: refused(stride=1.5), TypeError, "stride is 1.5"),
        (lambda: refused(padding=-1), RuntimeError, "padding is -1"),
        (lambda: refused(padding=2**40), RuntimeError, "padding is 1099511627776"),
        (lambda: refused(padding=2**70), OverflowError, "64 bits"),
        (lambda: refused(padding=2**30), (RuntimeError, MemoryError), "too large"),
        (lambda: refused(padding="full"), ValueError, "'full', expected numbers, 'valid' or 'same'"),
        (lambda: refused(padding="same", stride=2), ValueError, "stride of 1"),
        (lambda: refused(dilation=3), ValueError, "window of 7 elements"),
        (lambda: nn.Conv2d(3, 4, 3, groups=2), ValueError, "3 in_channels and 4 out_channels in 2 groups"),
        (lambda: nn.Conv2d(0, 4, 3), ValueError, "in_channels is 0"),
        (lambda: nn.Conv2d(3, 4, (3, 0)), ValueError, "kernel_size"),
        (lambda: nn.Conv1d(3, 4, (3, 3)), ValueError, "kernel_size is .3, 3."),
        (lambda: nn.Conv2d(3, 4, 3, padding_mode="mirror"), ValueError, "'mirror', expected 'zeros'"),
        (
            lambda: F.max_pool2d(norch.zeros(1, 1, 4, 4), 2, padding=2),
            RuntimeError,
            "padding is 2, expected at most half",
        ),
        (lambda: F.max_pool2d(norch.zeros(1, 1, 0, 4), 1), ValueError, "no size of 0"),
        (lambda: F.max_pool1d(norch.zeros(1, 1, 1), 2, 1, 1, 2), RuntimeError, "no tap"),
        (lambda: F.max_pool2d(norch.zeros(1, 1, 4, 4), 5), RuntimeError, "window of 5"),
        (lambda: F.max_pool2d(norch.zeros(4, 4), 2), ValueError, r"\[4, 4\]"),
        (lambda: F.avg_pool2d(norch.zeros(1, 1, 4, 4), 2, divisor_override=0), RuntimeError, "divisor_override is 0"),
        (lambda: F.avg_pool2d("image", 2), TypeError, "avg_pool2d was given a str"),
        (lambda: F.adaptive_avg_pool2d(norch.zeros(1, 1, 0, 4), 2), ValueError, "no size of 0"),
        (lambda: F.adaptive_avg_pool2d(norch.zeros(1, 1, 4, 4), "2"), TypeError, "'2'"),
        (lambda: F.unfold(norch.zeros(4, 4), 2), ValueError, r"\[4, 4\]"),
        (lambda: F.fold(norch.zeros(1, 5, 4), 3, 2), ValueError, r"\[1, 5, 4\], expected \[N, C \* 4, 4\]"),
    ],
)
def test_what_does_not_fit_is_refused(attempt, kind, message, no_leak):
    with pytest.raises(kind, match=message):
        attempt()


@pytest.mark.parametrize(
    "samples, channels, size, kernel, options",
    [
        (2, 40, (15, 34), 3, {"padding": 1}),  # several blocks of rows, and of channels
        (9, 6, (5, 7), 3, {"padding": 2, "groups": 2}),  # blocks of several samples
        (2, 3, (20, 37), 7, {"padding": 3, "stride": (2, 3)}),
        (3, 5, (20, 19), (3, 2), {"padding": (7, 2), "dilation": (2, 1)}),  # more padding than the window is wide
        (2, 20, (9, 11), 1, {}),
        (1, 2, (1, 300), (1, 5), {"padding": (0, 2)}),
    ],
)
@pytest.mark.parametrize("outputs", [4, 26])
def test_convolution_is_the_product_with_columns(samples, channels, size, kernel, options, outputs):
    x = norch.randn(samples, channels, *size, dtype=norch.float64, requires_grad=True)
    conv = nn.Conv2d(channels, outputs, kernel, dtype=norch.float64, **options)
    groups = options.get("groups", 1)
    window = {name: value for name, value in options.items() if name != "groups"}
    columns = F.unfold(x, conv.kernel_size, **window).reshape(samples, groups, -1, conv(x)[0, 0].numel)
    product = (conv.weight.reshape(groups, outputs // groups, -1) @ columns).reshape(conv(x).shape)
    alone = product + conv.bias.reshape(-1, 1, 1)
    operands, direction = [x, conv.weight, conv.bias], norch.randn(*alone.shape, dtype=norch.float64)
    gradients = zip(*(norch.autograd.grad(y, operands, direction) for y in (conv(x), alone)))
    for one, other in [(conv(x), alone), *gradients]:
        assert one.shape == other.shape and (one - other).abs().max().item() < 1e-10


@pytest.mark.parametrize(
    "size, kernel, options",
    [
        ((9, 8), 3, {"padding": 1}),
        ((9, 40), (3, 5), {"padding": (1, 2), "stride": (1, 2)}),
        ((20, 21), 3, {"padding": 2, "dilation": 2, "stride": 3}),
        ((70, 70), 7, {"padding": 3}),
        ((3, 2), 5, {"padding": 4}),
        ((2, 1300), (2, 3), {"padding": (0, 1)}),
    ],
)
@pytest.mark.parametrize("channels, multiplier", [(3, 1), (3, 2), (3, 5), (11, 1), (11, 3)])  # 11: more than a vector
def test_depthwise_convolution_is_one_for_each_channel(size, kernel, options, channels, multiplier):
    x = norch.randn(2, channels, *size, dtype=norch.float64, requires_grad=True)
    conv = nn.Conv2d(channels, channels * multiplier, kernel, groups=channels, dtype=norch.float64, **options)
    operands = [x, conv.weight, conv.bias]
    each = zip(*(tensor.chunk(channels, axis) for tensor, axis in zip(operands, (1, 0, 0))))
    alone = norch.cat([F.conv2d(*parts, **options) for parts in each], 1)
    close(conv(x), alone.tolist(), 1e-12)
    direction = norch.randn(*alone.shape, dtype=norch.float64)
    for one, other in zip(*(norch.autograd.grad(y, operands, direction) for y in (conv(x), alone))):
        close(one, other.tolist(), 1e-10)


@pytest.mark.parametrize(
    "sizes, kernel, stride, padding", [((19, 33), 9, 1, 0), ((30, 37), 17, 13, 4), ((9, 40), (2, 20), (3, 7), (1, 9))]
)
def test_the_average_of_a_wide_window_is_that_of_its_column(sizes, kernel, stride, padding):
    x = norch.randn(2, 3, *sizes, dtype=norch.float64, requires_grad=True)
    columns = F.unfold(x.reshape(6, 1, *sizes), kernel, 1, padding, stride)
    alone = F.avg_pool2d(x, kernel, stride, padding)
    close(alone, columns.mean(1).reshape(alone.shape).tolist(), 1e-12)
    direction = norch.randn(*alone.shape, dtype=norch.float64)
    (one,), (other,) = (norch.autograd.grad(y.reshape(alone.shape), x, direction) for y in (alone, columns.mean(1)))
    close(one, other.tolist(), 1e-12)


@pytest.mark.parametrize("width", [8, 30, 40])
def test_what_no_output_sees_through_a_tap_changes_nothing_of_its_gradient(width):
    x, weight = norch.ones(1, 2, 4, width), norch.ones(2, 1, 3, 3, requires_grad=True)
    x[0, 0, 1, -1] = float("inf")  # which the last column of taps sees
    F.conv2d(x, weight, groups=2).sum().backward()
    seen = 2.0 * (width - 2)
    close(weight.grad[:, 0, :, :2], [[[seen, seen]] * 3] * 2)
    assert weight.grad[0, 0, :, 2].tolist() == [float("inf"), float("inf"), seen]


def test_nothing_is_left_behind(device, no_leak):
    conv, pool = nn.Conv2d(3, 4, 3, padding=1).to(device), nn.AvgPool2d(2)
    x = norch.rand(2, 3, 8, 8, device=device).requires_grad_()
    for _ in range(3):
        y, indices = F.max_pool2d(pool(conv(x)), 2, return_indices=True)
        y.sum().backward()
        (gradient,) = norch.autograd.grad(F.max_pool2d(conv(x), 2).sum(), x, create_graph=True)
        (gradient * gradient).sum().backward()


def test_running_out_of_memory_leaves_nothing_behind(no_leak):
    """Whichever allocation of a forward and a backward fails; in the end none does."""
    for countdown in range(1, 100):
        x, conv = norch.rand(3, 2, 9, 9).requires_grad_(), nn.Conv2d(2, 3, 3)
        norch._C.fail_allocation(countdown)
        try:
            F.max_pool2d(conv(x), 2).sum().backward()
            break
        except MemoryError:
            pass
        finally:
            norch._C.fail_allocation(0)
    assert 10 < countdown < 99 and x.grad is not None


# ---- Channels last in memory ---------------------------------------------------------------------------------------

KEEPING_CHANNELS_LAST = [
    nn.MaxPool2d(3, 2, 1),
    nn.AvgPool2d(2),
    nn.AvgPool2d(3, 2, 1, count_include_pad=False),
    nn.AvgPool2d((2, 3), 1, ceil_mode=True, divisor_override=5),
    nn.AdaptiveAvgPool2d((2, 3)),
    nn.AdaptiveMaxPool2d((3, 2)),
    nn.BatchNorm2d(9),
    nn.BatchNorm2d(9).eval(),
    nn.Upsample(scale_factor=2),
    nn.Upsample((7, 11), mode="bilinear"),
    nn.ZeroPad2d((1, 2, -1, 3)),
    nn.ReflectionPad2d(2),
]


@pytest.mark.parametrize("layer", KEEPING_CHANNELS_LAST, ids=str)
@pytest.mark.parametrize("dtype", [norch.float32, norch.float64, norch.bfloat16], ids=str)
def test_channels_stay_last(layer, dtype, device):
    layer = copy.deepcopy(layer).to(device, dtype)
    x, slopes = norch.randn(2, 9, 5, 8, device=device).to(dtype), None
    results = []
    for form in (x.clone(), x.contiguous(memory_format=norch.channels_last)):
        with norch.no_grad():
            result = layer(form)
        assert result.is_contiguous(memory_format=norch.channels_last) == (len(results) == 2)
        taught = layer(form.requires_grad_())
        slopes = norch.randn_like(taught) if slopes is None else slopes
        (taught * slopes).sum().backward()
        results += [result, form.grad]
    tolerance = 0.05 if dtype is norch.bfloat16 else 1e-5
    for k in (0, 1):
        close(results[2 + k].double(), results[k].double().tolist(), tolerance)


CHANNELS_LAST_POOLS = [
    (F.max_pool2d, {"kernel_size": 2}),
    (F.max_pool2d, {"kernel_size": (3, 2), "stride": 2, "padding": 1, "ceil_mode": True}),
    (F.max_pool2d, {"kernel_size": 3, "stride": 1, "padding": 1, "dilation": 2}),
    (F.max_pool2d, {"kernel_size": 2, "return_indices": True}),
    (F.adaptive_max_pool2d, {"output_size": (3, 4), "return_indices": True}),
    (F.avg_pool2d, {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}),
    (F.avg_pool2d, {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False}),
    (F.adaptive_avg_pool2d, {"output_size": (3, 4)}),
    (F.max_pool3d, {"kernel_size": 2, "padding": 1, "return_indices": True}),
]


@pytest.mark.parametrize("dtype", [norch.float32, norch.float64, norch.float16, norch.bfloat16], ids=str)
@pytest.mark.parametrize("channels", [1, 3, 8, 16, 23, 150])  # none that fill vectors, whole ones, some left over
def test_pools_give_the_same_with_the_channels_last(channels, dtype, device):
    for pool, settings in CHANNELS_LAST_POOLS:
        shape = (2, channels, 6, 5) if pool is not F.max_pool3d else (2, channels, 4, 3, 5)
        order = norch.channels_last if len(shape) == 4 else norch.channels_last_3d
        whole = norch.randint(-50, 50, (shape[0], channels + 1, *shape[2:]), device=device).to(dtype)
        whole[0, 0].fill_(math.nan)
        x = whole[:, :channels].contiguous()
        forms = [x, x.contiguous(memory_format=order), whole.contiguous(memory_format=order)[:, :channels]]
        found = []
        for form in forms:
            form = form.detach().requires_grad_()
            values = pool(form, **settings)
            values, places = values if isinstance(values, tuple) else (values, norch.zeros(1))
            values.backward(norch.ones_like(values))
            found.append([values.detach(), places, form.grad])
        assert channels == 1 or all(part.is_contiguous(memory_format=order) for part in found[1] if part.ndim > 1)
        close_enough = 0.02 if dtype in (norch.float16, norch.bfloat16) else 1e-5
        for other in found[1:]:
            for part, expected in zip(other, found[0]):
                assert part.shape == expected.shape and part.allclose(expected, close_enough, 1e-4, equal_nan=True)


@pytest.mark.parametrize("channels", [3, 16, 23, 70])
def test_resampling_gives_the_same_with_the_channels_last(channels, device):
    x = norch.randn(2, channels, 6, 5, device=device)
    for settings in ({"scale_factor": 2}, {"size": (4, 9), "mode": "bilinear"}, {"size": 3, "mode": "bicubic"}):
        found = []
        for form in (x.clone(), x.contiguous(memory_format=norch.channels_last)):
            result = F.interpolate(form.requires_grad_(), **settings)
            result.backward(norch.ones_like(result))
            found += [result.detach(), form.grad]
        assert all(part.is_contiguous(memory_format=norch.channels_last) for part in found[2:])
        for k in (0, 1):
            assert found[k].allclose(found[2 + k], 1e-5, 1e-5)


def test_pools_of_no_images_with_the_channels_last(device):
    x = norch.zeros(0, 9, 4, 4, device=device).contiguous(memory_format=norch.channels_last).requires_grad_()
    for pool in (nn.MaxPool2d(2), nn.AvgPool2d(2), nn.AdaptiveAvgPool2d(2)):
        result = pool(x)
        result.sum().backward()
        assert result.shape == (0, 9, 2, 2) and x.grad.shape == x.shape


def test_a_given_gradient_is_copied_in_the_order_of_its_tensor(device):
    x = norch.randn(2, 9, 5, 8, device=device).contiguous(memory_format=norch.channels_last).requires_grad_()
    result, slopes = x.relu(), norch.randn_like(x)
    result.backward(slopes)
    assert result.grad.stride() == x.stride() and result.grad.equal(slopes) and not result.grad.equal(slopes.zero_())


def test_a_gradient_lies_as_its_tensor(device):
    x = norch.randn(2, 9, 5, 8, device=device).contiguous(memory_format=norch.channels_last).requires_grad_()
    x.relu().sum().backward()
    assert x.grad.stride() == x.stride() and x.grad.equal((x > 0).float())
