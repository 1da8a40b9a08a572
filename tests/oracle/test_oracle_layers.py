"""norch's layers against torch's: the weights of one loaded into the other, then values, gradients and buffers."""

from __future__ import annotations

import itertools

import pytest
import safetensors.torch
import torch

import norch

TOLERANCE = {"float32": 1e-5, "float64": 1e-12}  # of the largest element: sums of many terms lose as much

torch.set_num_threads(1)  # small work, which more threads would only wait for


def row(name, *arguments, x, **options):
    """A layer's constructor and the shape of its input."""
    words = [*map(str, arguments), *(f"{key}={value}" for key, value in options.items())]
    return pytest.param(name, arguments, options, x, id=f"{name}({', '.join(words)}) {list(x)}".replace(" ", ""))


CONVOLUTIONS = [
    row("Conv1d", 3, 4, 3, x=(2, 3, 9)),
    row("Conv1d", 3, 4, 3, x=(3, 9)),
    row("Conv1d", 4, 6, 5, x=(2, 4, 20), stride=3, padding=2, dilation=2, groups=2),
    row("Conv1d", 4, 4, 4, x=(2, 4, 11), padding="same", dilation=3, bias=False),
    row("Conv1d", 1, 1, 1, x=(1, 1, 1)),
    row("Conv2d", 1, 6, 5, x=(3, 1, 28, 28), padding=2),
    row("Conv2d", 6, 16, 5, x=(5, 6, 14, 14)),
    row("Conv2d", 3, 4, 3, x=(3, 8, 7)),
    row("Conv2d", 3, 8, (3, 5), x=(2, 3, 11, 13), stride=(2, 3), padding=(1, 2), dilation=(2, 1)),
    row("Conv2d", 4, 8, 3, x=(2, 4, 9, 9), groups=4, padding=1),
    row("Conv2d", 4, 4, 3, x=(2, 4, 9, 9), groups=4, padding=1, stride=2, bias=False),
    row("Conv2d", 6, 4, 2, x=(2, 6, 7, 6), groups=2, padding="same"),
    row("Conv2d", 3, 4, (3, 4), x=(2, 3, 7, 6), padding="same", dilation=(3, 2)),
    row("Conv2d", 3, 4, 2, x=(2, 3, 7, 6), padding="valid", stride=3),
    row("Conv2d", 16, 32, 1, x=(2, 16, 5, 5)),
    row("Conv2d", 2, 3, 3, x=(2, 2, 4, 4), padding=5),
    row("Conv2d", 2, 3, 1, x=(2, 2, 5, 5), padding=3, stride=4),
    row("Conv2d", 2, 3, 4, x=(2, 2, 4, 4)),
    row("Conv2d", 40, 30, 3, x=(1, 40, 33, 31), padding=1),
    row("Conv2d", 128, 9, 3, x=(9, 128, 3, 3), padding=1),
    row("Conv2d", 2, 3, 3, x=(0, 2, 5, 5)),
]

COLUMNS = [
    row("Unfold", 3, x=(2, 3, 7, 6)),
    row("Unfold", (2, 3), x=(2, 3, 7, 6), stride=(2, 1), padding=(1, 2), dilation=(1, 2)),
    row("Unfold", 2, x=(3, 7, 6)),
    row("Fold", (7, 6), 3, x=(2, 27, 20)),
    row("Fold", (7, 6), (2, 3), x=(2, 18, 24), stride=(2, 1), padding=(1, 2), dilation=(1, 2)),
    row("Fold", 5, 2, x=(8, 16)),
]

POOLS = [
    *(
        row("MaxPool2d", kernel, x=(2, 3, 9, 8), stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil)
        for kernel, stride, padding, dilation, ceil in [
            (2, None, 0, 1, False),
            (3, 2, 1, 1, False),
            (3, 2, 1, 1, True),
            ((2, 3), (3, 1), (1, 0), (1, 2), True),
            (4, 3, 2, 2, True),
            (1, 1, 0, 1, False),
            (3, 5, 0, 1, True),
        ]
    ),
    row("MaxPool2d", 2, x=(3, 6, 6)),
    row("MaxPool1d", 3, x=(2, 3, 10), stride=2, padding=1, ceil_mode=True),
    row("MaxPool1d", 2, x=(3, 10), dilation=3),
    *(
        row("AvgPool2d", kernel, x=(2, 3, 9, 8), **options)
        for kernel, options in [
            (2, {}),
            (3, {"stride": 2, "padding": 1}),
            (3, {"stride": 2, "padding": 1, "count_include_pad": False}),
            (3, {"stride": 2, "padding": 1, "ceil_mode": True}),
            (4, {"stride": 3, "padding": 2, "ceil_mode": True, "count_include_pad": False}),
            ((2, 3), {"stride": (1, 2), "padding": (1, 0), "divisor_override": 5}),
            (3, {"ceil_mode": True, "divisor_override": -2}),
        ]
    ),
    row("AvgPool2d", 2, x=(3, 6, 6)),
    row("AvgPool1d", 3, x=(2, 3, 10), stride=2, padding=1, ceil_mode=True, count_include_pad=False),
    row("AvgPool1d", 3, x=(3, 10)),
    *(row("AdaptiveAvgPool2d", size, x=(2, 3, 9, 8)) for size in (1, 3, (4, 5), (None, 2), (12, 11), (9, 8))),
    row("AdaptiveAvgPool2d", 2, x=(3, 5, 7)),
    row("AdaptiveAvgPool1d", 4, x=(2, 3, 10)),
]

NORMALIZATIONS = [
    row("BatchNorm1d", 4, x=(6, 4)),
    row("BatchNorm1d", 4, x=(3, 4, 5), momentum=0.3, eps=1e-2),
    row("BatchNorm1d", 4, x=(6, 4), affine=False, momentum=None),
    row("BatchNorm2d", 3, x=(4, 3, 5, 6)),
    row("BatchNorm2d", 3, x=(4, 3, 5, 6), momentum=None),
    row("BatchNorm2d", 3, x=(4, 3, 5, 6), track_running_stats=False),
    row("BatchNorm2d", 3, x=(1, 3, 2, 1), affine=False, track_running_stats=False),
    row("BatchNorm2d", 33, x=(3, 33, 17, 19)),
    row("LayerNorm", 5, x=(3, 4, 5)),
    row("LayerNorm", 7, x=(7,)),
    row("LayerNorm", (4, 5), x=(3, 4, 5), eps=1e-3),
    row("LayerNorm", 5, x=(3, 5), bias=False),
    row("LayerNorm", (5,), x=(2, 2, 5), elementwise_affine=False),
    row("LayerNorm", 300, x=(3, 300)),
    row("GroupNorm", 2, 6, x=(3, 6, 4, 5)),
    row("GroupNorm", 6, 6, x=(3, 6, 7), eps=1e-2),
    row("GroupNorm", 1, 4, x=(3, 4), affine=False),
]


TRANSPOSES = [
    row("ConvTranspose1d", 3, 4, 3, x=(2, 3, 9), stride=2, padding=1, output_padding=1),
    row("ConvTranspose1d", 4, 6, 2, x=(4, 9), groups=2, dilation=3, bias=False),
    row("ConvTranspose2d", 3, 4, 4, x=(2, 3, 7, 6), stride=2, padding=1),
    row("ConvTranspose2d", 4, 8, (3, 2), x=(2, 4, 5, 6), stride=(1, 3), groups=4, output_padding=(0, 2)),
    row("ConvTranspose2d", 16, 30, 3, x=(1, 16, 13, 11), padding=1),
    row("ConvTranspose2d", 2, 3, 2, x=(2, 2, 3, 3), dilation=3, output_padding=2),
    row("ConvTranspose3d", 2, 4, 3, x=(2, 2, 3, 4, 3), stride=2, padding=(1, 0, 1), output_padding=1),
    row("ConvTranspose3d", 4, 4, (1, 2, 3), x=(4, 3, 2, 2), groups=2),
]

VOLUMES = [
    row("Conv3d", 2, 4, 3, x=(2, 2, 5, 6, 4), stride=(2, 1, 1), padding=1),
    row("Conv3d", 4, 4, (2, 1, 3), x=(4, 5, 6, 4), groups=2, dilation=(1, 1, 2), padding=(0, 0, 2)),
    row("Conv3d", 2, 3, 2, x=(1, 2, 4, 3, 5), padding="same"),
    row("Conv1d", 2, 3, 3, x=(2, 2, 7), padding=2, padding_mode="circular"),
    row("Conv2d", 2, 3, (3, 2), x=(2, 2, 7, 6), padding=(1, 2), padding_mode="reflect", stride=2),
    row("Conv2d", 2, 3, 4, x=(2, 2, 7, 6), padding="same", padding_mode="replicate"),
    row("Conv3d", 2, 3, 3, x=(2, 2, 4, 5, 3), padding=1, padding_mode="circular"),
    row("MaxPool3d", 2, x=(2, 3, 4, 5, 6)),
    row("MaxPool3d", (3, 2, 2), x=(2, 5, 6, 7), stride=(2, 1, 2), padding=1, dilation=(1, 2, 1), ceil_mode=True),
    row("AvgPool3d", 2, x=(2, 3, 4, 5, 6)),
    row("AvgPool3d", (3, 2, 2), x=(2, 3, 5, 6, 7), stride=2, padding=1, ceil_mode=True, count_include_pad=False),
    row("AvgPool3d", 3, x=(2, 5, 6, 7), stride=2, padding=1, ceil_mode=True, divisor_override=5),
    row("AdaptiveAvgPool3d", (2, None, 3), x=(2, 3, 5, 4, 7)),
    row("AdaptiveMaxPool1d", 4, x=(2, 3, 10)),
    row("AdaptiveMaxPool2d", (3, None), x=(2, 3, 7, 5)),
    row("AdaptiveMaxPool3d", (2, 3, 1), x=(3, 5, 4, 7)),
    row("LPPool1d", 2, 3, x=(2, 3, 10), stride=2),
    row("LPPool2d", 2, (2, 3), x=(2, 3, 6, 7), ceil_mode=True),
    row("LPPool3d", 4, 2, x=(2, 3, 4, 5, 4)),
]

RESHAPES = [
    row("ReflectionPad2d", (1, 2, 0, 3), x=(2, 3, 5, 4)),
    row("ReplicationPad3d", 2, x=(2, 3, 2, 3)),
    row("CircularPad1d", (3, 1), x=(2, 3, 4)),
    row("ZeroPad2d", (1, -1, 2, 0), x=(3, 4, 5)),
    row("ConstantPad3d", 1, 2.5, x=(2, 3, 2, 3, 2)),
    row("Upsample", x=(2, 3, 5), scale_factor=2.3),
    row("Upsample", x=(2, 3, 5, 4), size=(7, 3), mode="bilinear"),
    row("Upsample", x=(2, 3, 5, 4), scale_factor=(1.7, 0.6), mode="bicubic", align_corners=True),
    row("Upsample", x=(2, 3, 5, 4), scale_factor=(1.7, 0.6), mode="bicubic", recompute_scale_factor=True),
    row("Upsample", x=(2, 2, 3, 4, 5), scale_factor=1.5, mode="trilinear"),
    row("UpsamplingNearest2d", x=(2, 3, 5, 4), size=(11, 3)),
    row("UpsamplingBilinear2d", x=(2, 3, 5, 4), scale_factor=2),
    row("PixelShuffle", 3, x=(2, 18, 3, 4)),
    row("PixelUnshuffle", 2, x=(3, 4, 6)),
    row("ChannelShuffle", 3, x=(2, 12, 5)),
]

MORE_NORMALIZATIONS = [
    row("BatchNorm3d", 3, x=(4, 3, 2, 5, 3)),
    row("BatchNorm2d", 3, x=(4, 3, 2, 5), bias=False),
    row("InstanceNorm1d", 3, x=(4, 3, 5), affine=True),
    row("InstanceNorm1d", 3, x=(3, 5), affine=True, track_running_stats=True),
    row("InstanceNorm2d", 3, x=(4, 3, 5, 2), track_running_stats=True, momentum=0.3),
    row("InstanceNorm3d", 3, x=(2, 3, 2, 3, 2), affine=True, track_running_stats=True, eps=1e-2),
    row("GroupNorm", 2, 6, x=(3, 6, 4), bias=False),
    row("RMSNorm", 5, x=(3, 4, 5)),
    row("RMSNorm", (4, 5), x=(3, 4, 5), eps=1e-3, elementwise_affine=False),
    row("LocalResponseNorm", 3, x=(2, 6, 4), alpha=0.5, beta=0.6, k=2.0),
    row("LocalResponseNorm", 4, x=(2, 6, 4, 3), alpha=0.5),
]


def same(mine: norch.Tensor, theirs: torch.Tensor, dtype: str) -> None:
    assert tuple(mine.shape) == tuple(theirs.shape)
    assert str(mine.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
    values = torch.tensor(mine.detach().tolist(), dtype=theirs.dtype).reshape(theirs.shape)
    largest = float(theirs.detach().abs().max()) if theirs.numel() else 0.0
    torch.testing.assert_close(values, theirs.detach(), rtol=0, atol=TOLERANCE[dtype] * max(1.0, largest))


def pair_of_layers(name, arguments, options, dtype, path):
    """The same layer twice; torch's is made first and its state, as safetensors, loaded into norch's."""
    torch.manual_seed(1)
    theirs = getattr(torch.nn, name)(*arguments, **options).to(getattr(torch, dtype))
    with torch.no_grad():
        for parameter in theirs.parameters():  # weights of 1 and biases of 0 would hide mistakes
            parameter.add_(torch.rand_like(parameter))
    mine = getattr(norch.nn, name)(*arguments, **options).to(getattr(norch, dtype))
    safetensors.torch.save_file(theirs.state_dict(), path)
    state = norch.load(path)
    assert list(mine.state_dict()) == list(theirs.state_dict())
    mine.load_state_dict(state)
    return mine, theirs


def pair_of_tensors(shape, dtype, requires_grad=True):
    theirs = torch.randn(*shape, dtype=getattr(torch, dtype))
    mine = norch.from_numpy(theirs.numpy()).clone()
    return mine.requires_grad_(requires_grad), theirs.requires_grad_(requires_grad)


def compare(mine, theirs, x, dtype):
    """Values, the gradients of the input and of every parameter, then every buffer."""
    my_x, their_x = pair_of_tensors(x, dtype)
    my_y, their_y = mine(my_x), theirs(their_x)
    same(my_y, their_y, dtype)
    my_weights, their_weights = pair_of_tensors(their_y.shape, dtype, requires_grad=False)
    (my_y * my_weights).sum().backward()
    (their_y * their_weights).sum().backward()
    same(my_x.grad, their_x.grad, dtype)
    for (name, parameter), (their_name, their_parameter) in zip(mine.named_parameters(), theirs.named_parameters()):
        assert name == their_name
        same(parameter.grad, their_parameter.grad, dtype)
    for (name, buffer), (their_name, their_buffer) in zip(mine.named_buffers(), theirs.named_buffers()):
        assert name == their_name
        same(buffer, their_buffer, dtype)
    mine.zero_grad()
    theirs.zero_grad()


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "name, arguments, options, x",
    CONVOLUTIONS + TRANSPOSES + VOLUMES + COLUMNS + POOLS + RESHAPES + NORMALIZATIONS + MORE_NORMALIZATIONS,
)
def test_layer(name, arguments, options, x, dtype, tmp_path):
    mine, theirs = pair_of_layers(name, arguments, options, dtype, tmp_path / "state.safetensors")
    for _ in range(3):  # running statistics move
        compare(mine, theirs, x, dtype)
    compare(mine.eval(), theirs.eval(), x, dtype)


@pytest.mark.parametrize("name, arguments, options, x", [case for case in POOLS + VOLUMES if "Max" in case.values[0]])
def test_indices_of_max_pools(name, arguments, options, x):
    mine, theirs = (getattr(lib.nn, name)(*arguments, return_indices=True, **options) for lib in (norch, torch))
    my_x, their_x = pair_of_tensors(x, "float32")
    for result, expected in zip(mine(my_x), theirs(their_x)):
        same(result, expected, "float32")


def test_output_sizes_of_transposed_convolutions():
    """Every size that a convolution with this stride maps to the size of x."""
    mine, theirs = (lib.nn.ConvTranspose2d(2, 3, 4, stride=3, padding=1, bias=False) for lib in (norch, torch))
    mine.load_state_dict({name: norch.from_numpy(value.numpy()) for name, value in theirs.state_dict().items()})
    my_x, their_x = pair_of_tensors((2, 2, 4, 3), "float32")
    for size in ((11, 8), (12, 9), (13, 10), (2, 3, 13, 8), (14, 8), (11, 7), (11,)):
        try:
            expected = theirs(their_x, output_size=size)
        except ValueError:
            with pytest.raises(ValueError):
                mine(my_x, output_size=size)
            continue
        same(mine(my_x, output_size=size), expected, "float32")


@pytest.mark.parametrize("axes", [2, 3])
def test_fractional_max_pools(axes):
    """Values, indices and gradients for the same random numbers."""
    for seed in range(20):
        torch.manual_seed(seed)
        my_x, their_x = pair_of_tensors((2, 3, *[9, 8, 7][:axes]), "float64")
        samples = torch.rand(2, 3, axes, dtype=torch.float64)
        size = [int(torch.randint(1, 6, ())) for _ in range(axes)]
        options = {"output_size": size, "return_indices": True}
        name = f"fractional_max_pool{axes}d"
        mine = getattr(norch.nn.functional, name)(
            my_x, 2, _random_samples=norch.tensor(samples.tolist(), dtype=norch.float64), **options
        )
        theirs = getattr(torch.nn.functional, name)(their_x, 2, _random_samples=samples, **options)
        for result, expected in zip(mine, theirs):
            same(result, expected, "float64")
        mine[0].sum().backward()
        theirs[0].sum().backward()
        same(my_x.grad, their_x.grad, "float64")


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("axes", [2, 3])
def test_grid_sample(axes, mode, padding, align):
    """Points within, upon and beyond the borders, and both gradients."""
    if axes == 3 and mode == "bicubic":
        return
    torch.manual_seed(1)
    my_x, their_x = pair_of_tensors((2, 3, *[4, 5, 3][:axes]), "float64")
    points = 2 * torch.randn(2, *[6, 3, 2][:axes], axes, dtype=torch.float64)
    points.view(-1)[:8] = torch.tensor([-1, 1, 0, 0.5, -0.5, 3, -3, 1.5])
    my_grid, their_grid = norch.from_numpy(points.numpy()).clone().requires_grad_(), points.requires_grad_()
    mine = norch.nn.functional.grid_sample(my_x, my_grid, mode, padding, align)
    theirs = torch.nn.functional.grid_sample(their_x, their_grid, mode, padding, align)
    same(mine, theirs, "float64")
    my_weights, their_weights = pair_of_tensors(theirs.shape, "float64", requires_grad=False)
    (mine * my_weights).sum().backward()
    (theirs * their_weights).sum().backward()
    same(my_x.grad, their_x.grad, "float64")
    same(my_grid.grad, their_grid.grad, "float64")


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_images_of_bytes_are_resized_to_the_bit(mode):
    torch.manual_seed(1)
    for options in ({}, {"align_corners": True}, {"antialias": True}):
        theirs = torch.randint(0, 256, (2, 3, 41, 37), dtype=torch.uint8)
        mine = norch.from_numpy(theirs.numpy())
        for size in ((17, 60), (41, 9), (80, 37)):
            result = norch.nn.functional.interpolate(mine, size, mode=mode, **options)
            assert result.tolist() == torch.nn.functional.interpolate(theirs, size, mode=mode, **options).tolist()


def test_max_pool_of_ties_and_nans():
    nan, inf = float("nan"), float("inf")
    values = [[[[1.0, 1.0, nan, 2.0], [1.0, 1.0, 5.0, nan], [-inf, -inf, 3.0, nan], [-inf, -inf, nan, 1.0]]]]
    mine, theirs = norch.tensor(values).requires_grad_(), torch.tensor(values, requires_grad=True)
    my_y, my_indices = norch.nn.functional.max_pool2d(mine, 2, return_indices=True)
    their_y, their_indices = torch.nn.functional.max_pool2d(theirs, 2, return_indices=True)
    assert str(my_y.tolist()) == str(their_y.tolist())
    assert my_indices.tolist() == their_indices.tolist()
    my_y.sum().backward()
    their_y.sum().backward()
    assert mine.grad.tolist() == theirs.grad.tolist()


@pytest.mark.parametrize("padding_idx", [None, 2, -1])
@pytest.mark.parametrize("shape", [(4,), (2, 3), (0,), (2, 0)])
def test_embedding(padding_idx, shape, tmp_path):
    mine, theirs = pair_of_layers("Embedding", (5, 3), {"padding_idx": padding_idx}, "float64", tmp_path / "state")
    their_x = torch.randint(0, 5, shape)
    my_x = norch.tensor(their_x.reshape(-1).tolist(), dtype=norch.int64).reshape(shape)
    my_y, their_y = mine(my_x), theirs(their_x)
    same(my_y, their_y, "float64")
    my_weights, their_weights = pair_of_tensors(their_y.shape, "float64", requires_grad=False)
    (my_y * my_weights).sum().backward()
    (their_y * their_weights).sum().backward()
    same(mine.weight.grad, theirs.weight.grad, "float64")


def test_random_convolutions():
    """Values and gradients of the function over random settings; where torch refuses, norch does."""
    refused = 0
    for seed in range(300):
        rng = torch.Generator().manual_seed(seed)

        def draw(low, high, rng=rng):
            return int(torch.randint(low, high + 1, (1,), generator=rng))

        groups, axes = draw(1, 3), draw(1, 2)
        x = [draw(1, 3), groups * draw(1, 3), *(draw(1, 9) for _ in range(axes))]
        weight = [groups * draw(1, 3), x[1] // groups, *(draw(1, 4) for _ in range(axes))]
        settings = [tuple(draw(low, 3) for _ in range(axes)) for low in (1, 0, 1)]
        tensors = [pair_of_tensors(shape, "float64") for shape in (x, weight, weight[:1])]
        mine, theirs = ([pair[k] for pair in tensors] for k in range(2))
        function = f"conv{axes}d"
        try:
            expected = getattr(torch.nn.functional, function)(*theirs, *settings, groups)
        except RuntimeError:
            refused += 1
            with pytest.raises(RuntimeError):
                getattr(norch.nn.functional, function)(*mine, *settings, groups)
            continue
        result = getattr(norch.nn.functional, function)(*mine, *settings, groups)
        same(result, expected, "float64")
        my_weights, their_weights = pair_of_tensors(expected.shape, "float64", requires_grad=False)
        (result * my_weights).sum().backward()
        (expected * their_weights).sum().backward()
        for my_tensor, their_tensor in tensors:
            same(my_tensor.grad, their_tensor.grad, "float64")
    assert 10 < refused < 150


def test_random_pools():
    """Every setting of small pools: the sizes of results follow torch's rules for ceil_mode and padding."""
    for size, kernel, stride, padding, ceil in itertools.product((1, 2, 5, 6), (1, 2, 3), (1, 2, 4), (0, 1), (0, 1)):
        my_x, their_x = pair_of_tensors((2, size, 6), "float64")
        for name, options in [
            ("max_pool1d", {}),
            ("avg_pool1d", {}),
            ("avg_pool1d", {"count_include_pad": False}),
        ]:
            settings = {"stride": stride, "padding": padding, "ceil_mode": bool(ceil), **options}
            try:
                expected = getattr(torch.nn.functional, name)(their_x, kernel, **settings)
            except RuntimeError:
                with pytest.raises(RuntimeError):
                    getattr(norch.nn.functional, name)(my_x, kernel, **settings)
                continue
            same(getattr(norch.nn.functional, name)(my_x, kernel, **settings), expected, "float64")


def test_initial_values_follow_torch_s_formula():
    """U(-b, b) with b = 1 / sqrt(fan_in): the extremes of many draws, and the bound itself."""
    for name, arguments, options in [
        ("Conv1d", (8, 64, 5), {}),
        ("Conv2d", (8, 64, (3, 5)), {"groups": 2}),
    ]:
        mine, theirs = (getattr(lib.nn, name)(*arguments, **options) for lib in (norch, torch))
        for parameter, their_parameter in zip(mine.parameters(), theirs.parameters()):
            assert tuple(parameter.shape) == tuple(their_parameter.shape)
            fan_in = theirs.weight[0].numel()
            values = torch.tensor(parameter.tolist()).abs()
            assert 0.85 / fan_in**0.5 < values.max() <= 1 / fan_in**0.5
            assert abs(values.mean() / their_parameter.abs().mean() - 1) < 0.3
    assert abs(torch.tensor(norch.nn.Embedding(100, 50).weight.tolist()).std() - 1) < 0.05


@pytest.mark.parametrize("name, training", [("dropout", True), ("dropout", False), ("dropout2d", True)])
def test_dropout_keeps_what_torch_keeps(name, training):
    """Not the same elements, but the same share, and what is left is scaled alike."""
    x = norch.ones(50, 40, 10, 10)
    result = getattr(norch.nn.functional, name)(x, 0.3, training)
    expected = getattr(torch.nn.functional, name)(torch.ones(50, 40, 10, 10), 0.3, training)
    values = torch.tensor(result.tolist())
    assert set(values.unique().tolist()) == set(expected.unique().tolist())
    assert abs((values == 0).double().mean() - (expected == 0).double().mean()) < (0.005 if name == "dropout" else 0.05)
    if name == "dropout2d":
        assert ((values.sum((2, 3)) == 0) | ((values > 0).sum((2, 3)) == 100)).all()


def test_lenet_learns_as_in_torch():
    """The losses of ten steps of a small network, step by step."""

    def network(nn):
        layers = [nn.Conv2d(1, 6, 5, padding=2), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5)]
        layers += [nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(400, 84), nn.LayerNorm(84), nn.ReLU()]
        return nn.Sequential(*layers, nn.Linear(84, 10))

    torch.manual_seed(1)
    theirs = network(torch.nn).double()
    mine = network(norch.nn).double()
    mine.load_state_dict({name: norch.from_numpy(value.numpy()) for name, value in theirs.state_dict().items()})
    my_x, their_x = pair_of_tensors((16, 1, 28, 28), "float64", requires_grad=False)
    classes = [k % 10 for k in range(16)]
    models = [
        (norch, mine, my_x, norch.tensor(classes), norch.optim.SGD(mine.parameters(), lr=0.02, momentum=0.9)),
        (torch, theirs, their_x, torch.tensor(classes), torch.optim.SGD(theirs.parameters(), lr=0.02, momentum=0.9)),
    ]
    losses = []
    for lib, model, x, y, optimizer in models:
        losses.append([])
        for _ in range(10):
            optimizer.zero_grad()
            loss = lib.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses[-1].append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-8)
    assert losses[0][-1] < losses[0][0] - 1
    assert mine.state_dict()["1.num_batches_tracked"].item() == 10
