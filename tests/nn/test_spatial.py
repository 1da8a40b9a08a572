"""Padding, transposed and 3-d convolution, resampling: values worked out by hand, modules, errors."""

import math

import pytest
from compare import close

import norch
from norch import nn
from norch._C import lib
from norch.nn import functional as F
from norch.operation import wrap

X = [[[1.0, 2.0, 3.0]]]


def test_paddings_by_hand(device):
    x = norch.tensor(X, device=device)
    close(F.pad(x, (1, 2), value=9.0), [[[9.0, 1.0, 2.0, 3.0, 9.0, 9.0]]])
    close(F.pad(x, (-1, 1, 1, 0)), [[[0.0, 0.0, 0.0], [2.0, 3.0, 0.0]]])
    close(F.pad(x, (2, 1), "reflect"), [[[3.0, 2.0, 1.0, 2.0, 3.0, 2.0]]])
    close(F.pad(x, (2, 1), "replicate"), [[[1.0, 1.0, 1.0, 2.0, 3.0, 3.0]]])
    close(F.pad(x, (2, 1), "circular"), [[[2.0, 3.0, 1.0, 2.0, 3.0, 1.0]]])
    close(F.pad(x, (-1, 2), "circular"), [[[2.0, 3.0, 2.0, 3.0]]])  # what is cut off does not come back
    close(F.pad(x, (-1, 2), "reflect"), [[[2.0, 3.0, 2.0, 1.0]]])
    assert F.pad(x, (0, 0)).data_ptr() != x.data_ptr()
    assert F.pad(norch.zeros(0, 2), (1, 1)).shape == [0, 4] and F.pad(norch.ones(2, 2), (-1, -1)).shape == [2, 0]


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_a_convolution_pads_its_input(axes, mode):
    conv = getattr(nn, f"Conv{axes}d")(2, 3, 3, padding=[1, 2, 1][:axes], padding_mode=mode)
    x = norch.rand(2, 2, *[4, 5, 3][:axes])
    pads = [n for size in reversed([1, 2, 1][:axes]) for n in (size, size)]
    plain = getattr(F, f"conv{axes}d")(F.pad(x, pads, mode), conv.weight, conv.bias)
    close(conv(x), plain.tolist())


def test_transposed_convolutions_by_hand(device):
    x, weight = norch.tensor(X, device=device), norch.tensor([[[1.0, 10.0]]], device=device)
    close(F.conv_transpose1d(x, weight), [[[1.0, 12.0, 23.0, 30.0]]])
    close(F.conv_transpose1d(x, weight, norch.ones(1, device=device), stride=2), [[[2.0, 11.0, 3.0, 21.0, 4.0, 31.0]]])
    close(F.conv_transpose1d(x, weight, stride=2, padding=1), [[[10.0, 2.0, 20.0, 3.0]]])
    close(F.conv_transpose1d(x, weight, stride=2, padding=1, output_padding=1), [[[10.0, 2.0, 20.0, 3.0, 30.0]]])
    close(F.conv_transpose1d(x, weight, stride=2, output_padding=1), [[[1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 0.0]]])


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_a_transpose_is_the_adjoint(axes, device):
    """<conv(x), y> = <x, conv_transpose(y)>"""
    x = norch.rand(2, 4, *[7, 6, 5][:axes], dtype=norch.float64, device=device)
    weight = norch.rand(6, 2, *[3, 2, 2][:axes], dtype=norch.float64, device=device)
    options = {"stride": 2, "padding": 1, "groups": 2}
    y = getattr(F, f"conv{axes}d")(x, weight, **options)
    other = norch.rand(*y.shape, dtype=norch.float64, device=device)
    extra = [(size + 2 - k) % 2 for size, k in zip(x.shape[2:], weight.shape[2:])]
    back = getattr(F, f"conv_transpose{axes}d")(other, weight, output_padding=extra, **options)
    assert back.shape == x.shape
    assert ((y * other).sum() - (x * back).sum()).abs().item() < 1e-10


def test_integers_are_convolved_exactly():
    x, weight = norch.tensor([[[2**40, 1, 3]]]), norch.tensor([[[1, 2**10]]])
    assert F.conv1d(x, weight, norch.tensor([1])).tolist() == [[[2**40 + 2**10 + 1, 1 + 3 * 2**10 + 1]]]
    assert F.conv_transpose1d(x, weight).tolist() == [[[2**40, 2**50 + 1, 2**10 + 3, 3 * 2**10]]]
    assert F.max_pool1d(norch.tensor([[[2**60, 2**60 + 1]]]), 2).item() == 2**60 + 1
    assert F.avg_pool1d(norch.tensor([[[-3, -4, 5, 6]]]), 2).tolist() == [[[-3, 5]]]
    assert F.avg_pool3d(norch.full((1, 3, 3, 3), 7), 3).item() == 7


def test_volumes_of_nothing(device):
    x = norch.zeros(0, 2, 5, 5, 5, device=device).requires_grad_()
    for layer, shape in [
        (nn.Conv3d(2, 3, 2), [0, 3, 4, 4, 4]),
        (nn.ConvTranspose3d(2, 3, 2), [0, 3, 6, 6, 6]),
        (nn.MaxPool3d(2), [0, 2, 2, 2, 2]),
        (nn.AvgPool3d(2), [0, 2, 2, 2, 2]),
        (nn.AdaptiveMaxPool3d(3), [0, 2, 3, 3, 3]),
    ]:
        y = layer.to(device)(x)
        assert y.shape == shape
        y.sum().backward()
        assert x.grad.shape == x.shape


def test_pools_of_ties_and_nans_in_volumes():
    nan = float("nan")
    x = norch.tensor([[[[[1.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]]]])
    assert F.max_pool3d(x, 2, return_indices=True)[1].item() == 0
    x[0, 0, 1, 0, 1] = nan
    value, place = F.max_pool3d(x, 2, return_indices=True)
    assert value.isnan().all() and place.item() == 5


@pytest.mark.parametrize("dtype", [norch.float32, norch.float64, norch.int64])
def test_the_largest_of_a_long_row_is_the_first_or_the_last_nan(device, dtype):
    x = norch.zeros(1, 1, 10, 7, dtype=dtype, device=device)
    x[0, 0, 5, 5] = x[0, 0, 7, 1] = 1
    places = [F.adaptive_max_pool2d(x, 1, True)[1].item(), F.adaptive_max_pool1d(x.flatten(2), 1, True)[1].item()]
    assert places == [40, 40]
    if dtype.is_floating_point:
        x[0, 0, 2, 6] = x[0, 0, 8, 4] = float("nan")
        value, place = F.adaptive_max_pool2d(x, 1, True)
        assert value.isnan().all() and place.item() == 60
        x[:] = -float("inf")
        value, place = F.adaptive_max_pool2d(x, 1, True)
        assert value.item() == -float("inf") and place.item() == 0


def test_resampling_by_hand(device):
    x = norch.tensor(X, device=device)
    close(F.interpolate(x, scale_factor=2), [[[1.0, 1.0, 2.0, 2.0, 3.0, 3.0]]])
    close(F.interpolate(x, size=2, mode="nearest"), [[[1.0, 2.0]]])
    close(F.interpolate(x, size=2, mode="nearest-exact"), [[[1.0, 3.0]]])
    close(F.interpolate(x, size=5, mode="linear", align_corners=True), [[[1.0, 1.5, 2.0, 2.5, 3.0]]])
    close(F.interpolate(x, size=6, mode="linear"), [[[1.0, 1.25, 1.75, 2.25, 2.75, 3.0]]])
    close(F.interpolate(x, size=1, mode="area"), [[[2.0]]])
    close(
        F.interpolate(norch.tensor([[[[0, 255]]]], dtype=norch.uint8), size=(1, 3), mode="bilinear"),
        [[[[0, 128, 255]]]],
    )


def test_tables_that_do_not_fit_are_refused(device):
    """As Python makes the tables, C looks at them."""

    def resampled(counts, places, weights, kind=norch.float32):
        integers = [norch.tensor(part, dtype=norch.int32, device=device) for part in (counts, places)]
        parts = *integers, norch.tensor(weights, dtype=norch.float32, device=device)
        x = norch.tensor(X, dtype=kind, device=device)
        return wrap(lib.resample_tensor(x._ptr, 2, *[part._ptr for part in parts])).tolist()

    assert resampled([1, 2], [[2, 0], [0, 1]], [[1.0, 2.0], [9.0, 3.0]]) == [[[3.0, 8.0]]]
    assert resampled([1, 2], [[2, 0], [0, 1]], [[1.0, 2.0], [9.0, 3.0]], norch.float16) == [[[3.0, 8.0]]]
    assert resampled([0], [[0]], [[1.0]]) == [[[0.0]]]
    for place in (3, -1):
        with pytest.raises(IndexError, match="size 3"):
            resampled([1, 1], [[0, place]], [[1.0, 1.0]])
    with pytest.raises(norch.ShapeError, match="do not belong together"):
        resampled([1], [[0]], [[1.0]], norch.float64)  # whose weights are float64
    for counts, places, weights in [
        ([1], [[0, 1]], [[1.0, 1.0]]),
        ([1, 1], [[0, 1]], [[1.0, 1.0], [1.0, 1.0]]),
        ([1, 1], [0, 1], [1.0, 1.0]),
        ([[1, 1]], [[0, 1]], [[1.0, 1.0]]),
    ]:
        with pytest.raises(norch.ShapeError, match="do not belong together"):
            resampled(counts, places, weights)


def test_alpha_dropout_keeps_mean_and_variance(device):
    norch.manual_seed(3)
    x = norch.randn(200000, device=device)
    y = F.alpha_dropout(x, 0.3, training=True)
    assert abs(y.mean().item()) < 0.02 and abs(y.std().item() - 1) < 0.02
    rows = F.feature_alpha_dropout(norch.ones(50, 40, 7, device=device), 0.5, training=True)
    assert ((rows == rows[:, :, :1]).all()).item() and len(set(rows.flatten().tolist())) == 2
    assert F.alpha_dropout(x, 0.3) is x and F.alpha_dropout(norch.ones(5), 1.0, training=True).tolist() == [0.0] * 5


def test_gradients_where_lengths_are_zero():
    x = norch.zeros(2, 3, requires_grad=True)
    for result in (F.normalize(x), F.pairwise_distance(x, norch.zeros(2, 3), eps=0.0), F.cosine_similarity(x, x)):
        (gradient,) = norch.autograd.grad(result.sum(), x)
        assert gradient.isfinite().all()


@pytest.mark.parametrize(
    "attempt, kind, message",
    [
        (lambda: F.pad(norch.ones(2, 2), (1,)), RuntimeError, "1 amounts"),
        (lambda: F.pad(norch.ones(2), (1, 1, 1, 1)), ValueError, "4 amounts for shape"),
        (lambda: F.pad(norch.ones(2), (-2, -1)), RuntimeError, "less than nothing"),
        (lambda: F.pad(norch.ones(2), (1, 1), "mirror"), (ValueError, NotImplementedError), "'mirror'"),
        (lambda: F.pad(norch.ones(1, 2), (2, 0), "reflect"), RuntimeError, "at most 1"),
        (lambda: F.pad(norch.ones(1, 2), (3, 0), "circular"), RuntimeError, "at most 2"),
        (lambda: F.pad(norch.ones(1, 2), (1, 0), "reflect", 1.0), (ValueError, RuntimeError), "takes no value"),
        (lambda: F.pad(norch.ones(2, 2), (1, 1, 1, 1), "replicate"), (ValueError, RuntimeError), "with 2 more"),
        (lambda: nn.ZeroPad2d((1, 2)), ValueError, "expected an int or 4"),
        (lambda: F.conv_transpose1d(norch.ones(1, 2, 3), norch.ones(3, 1, 2)), RuntimeError, "channels of the input"),
        (lambda: nn.ConvTranspose1d(1, 1, 2, output_padding=1)(norch.ones(1, 3)), RuntimeError, "output_padding is"),
        (lambda: nn.ConvTranspose2d(1, 1, 2, padding_mode="circular"), ValueError, "expected 'zeros'"),
        (lambda: nn.ConvTranspose1d(1, 1, 1)(norch.ones(1, 3), output_size=[9]), ValueError, r"\[3\] to \[3\]"),
        (lambda: F.max_unpool1d(norch.ones(1, 2), norch.ones(1, 2), 2), RuntimeError, "float32, expected int64"),
        (lambda: F.max_unpool1d(norch.ones(1, 2), norch.zeros(1, 1).long(), 2), RuntimeError, r"expected \[1, 2\]"),
        (lambda: F.max_unpool1d(norch.ones(1, 2), norch.zeros(1, 2).long(), 2, output_size=[9]), ValueError, "stride"),
        (lambda: F.fractional_max_pool2d(norch.ones(1, 4, 4), 2), ValueError, "expected one of them"),
        (lambda: F.fractional_max_pool2d(norch.ones(1, 4, 4), 2, 4), RuntimeError, "expected room"),
        (lambda: nn.FractionalMaxPool3d(2, output_ratio=2.0), ValueError, "between 0 and 1"),
        (lambda: F.interpolate(norch.ones(1, 2, 3)), ValueError, "expected one of them"),
        (lambda: F.interpolate(norch.ones(2, 3), size=4), (ValueError, NotImplementedError), r"\[2, 3\]"),
        (lambda: F.interpolate(norch.ones(1, 2, 3), size=4, mode="bilinear"), NotImplementedError, "'bilinear'"),
        (lambda: F.interpolate(norch.ones(1, 2, 3), size=4, align_corners=True), ValueError, "align_corners"),
        (lambda: F.interpolate(norch.ones(1, 2, 3), size=(4, 5)), ValueError, "expected a number or 1"),
        (lambda: F.grid_sample(norch.ones(1, 1, 2, 2), norch.ones(1, 2, 2, 3)), RuntimeError, r"\[1, 2, 2, 3\]"),
        (lambda: F.grid_sample(norch.ones(1, 1, 2, 2), norch.ones(1, 2, 2, 2), "cubic"), ValueError, "'cubic'"),
        (lambda: F.affine_grid(norch.ones(1, 2, 2), (1, 1, 2, 2)), (ValueError, RuntimeError), r"\[1, 2, 2\]"),
        (lambda: F.pixel_shuffle(norch.ones(3, 2, 2), 2), RuntimeError, "multiple of 4"),
        (lambda: F.pixel_unshuffle(norch.ones(3, 3, 2), 2), RuntimeError, "multiples of 2"),
        (lambda: F.channel_shuffle(norch.ones(1, 3, 2), 2), RuntimeError, "in 2 groups"),
        (lambda: F.local_response_norm(norch.ones(2, 3), 2), ValueError, r"\[2, 3\]"),
        (lambda: F.rms_norm(norch.ones(2, 3), [2]), RuntimeError, r"ends in \[2\]"),
        (lambda: F.instance_norm(norch.ones(2, 3, 1)), ValueError, "more than one element"),
        (lambda: nn.BatchNorm3d(3)(norch.ones(2, 3, 2, 2)), ValueError, "depth, height, width"),
        (lambda: F.dropout3d(norch.ones(2)), RuntimeError, "at least 2"),
        (lambda: F.cosine_similarity(norch.ones(2, 3).long(), norch.ones(2, 3).long()), RuntimeError, "floating"),
    ],
)
def test_what_does_not_fit_is_refused(attempt, kind, message, no_leak):
    with pytest.raises(kind, match=message):
        attempt()


def test_nothing_is_left_behind(device, no_leak):
    layers = nn.Sequential(
        nn.ConvTranspose2d(2, 3, 3, stride=2, output_padding=1), nn.ReflectionPad2d(1), nn.Upsample(scale_factor=1.5)
    ).to(device)
    x = norch.rand(2, 2, 4, 4, device=device).requires_grad_()
    for _ in range(3):
        F.adaptive_max_pool2d(layers(x), 3).sum().backward()
        (gradient,) = norch.autograd.grad((layers(x) ** 2).sum(), x, create_graph=True)
        (gradient * gradient).sum().backward()


@pytest.mark.parametrize("mode, dtype", [("constant", "int16"), ("constant", "float32"), ("reflect", "float64")])
@pytest.mark.parametrize("width", [31, 64, 130])
def test_rows_wider_than_a_vector_are_padded(mode, dtype, width):
    x = norch.arange(2 * 3 * width).reshape(2, 3, width).to(getattr(norch, dtype))
    places = [[abs(i) if i < n else 2 * n - 2 - i for i in range(-2, n + 1)] for n in (3, width)]
    expected = x[:, places[0]][:, :, places[1]]
    if mode == "constant":
        expected[:, [0, 1, 5]] = 7
        expected[:, :, [0, 1, width + 2]] = 7
    y = F.pad(x, (2, 1, 2, 1), mode, *([7] if mode == "constant" else []))
    assert y.tolist() == expected.tolist()
    assert F.pad(y, (-2, -1, -2, -1)).tolist() == x.tolist()


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_second_derivatives_of_a_convolution_of_no_samples(axes):
    for name, like in (("Conv", (3, 4)), ("ConvTranspose", (4, 3))):
        layer, x = getattr(nn, f"{name}{axes}d")(*like, 2), norch.rand(0, like[0], *[5] * axes, requires_grad=True)
        slopes = norch.autograd.grad((layer(x) ** 2).sum(), [x, layer.weight], create_graph=True)
        sum(slope.sum() for slope in slopes).backward()
        assert x.grad.shape == x.shape and not layer.weight.grad.any()


def test_fractional_pooling_refuses_what_does_not_fit_the_input():
    x = norch.rand(2, 3, 8, 8)
    for samples in (norch.rand(1, 3, 2), norch.rand(2, 1, 2), norch.rand(2, 3, 3), norch.rand(2, 3)):
        with pytest.raises(RuntimeError, match="_random_samples have shape"):
            F.fractional_max_pool2d(x, 2, output_size=3, _random_samples=samples)
    with pytest.raises(ValueError, match="between 0 and 1, or 2"):
        F.fractional_max_pool2d(x, 2, output_ratio=(0.5, 0.5, 0.5))
    assert F.fractional_max_pool2d(x, 2, output_size=3, _random_samples=norch.rand(4, 3, 2)).shape == [2, 3, 3, 3]


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_many_channels_are_sampled_as_each_alone(mode, device):
    """The CPU reads many channels of a point side by side."""
    x, grid = norch.randn(2, 21, 5, 6, device=device), norch.randn(2, 9, 8, 2, device=device)
    x[0, 3, 2, 2] = math.nan
    whole = F.grid_sample(x, grid, mode, align_corners=False)
    alone = [F.grid_sample(x[:, [c]], grid, mode, align_corners=False) for c in range(21)]
    assert whole.allclose(norch.cat(alone, 1), 1e-6, 1e-6, equal_nan=True)
    volumes, points = norch.randn(1, 9, 3, 4, 5, device=device), norch.randn(1, 4, 4, 4, 3, device=device)
    whole = F.grid_sample(volumes, points, align_corners=True)
    alone = [F.grid_sample(volumes[:, [c]], points, align_corners=True) for c in range(9)]
    assert whole.allclose(norch.cat(alone, 1), 1e-6, 1e-6)
