"""Layers, functions of layers, losses and optimizers of wide_rows.py, as (name, code, what makes the names in it)."""

from __future__ import annotations

from typing import Any, Callable

import norch

Build = Callable[[Any], dict[str, Any]]
CLASSES = 10  # of small targets


def random(kind: str, shape: tuple[int, ...]) -> Any:
    """A tensor of a kind: normal, channels last, unit (between 0 and 1), sign (-1 or 1), "bags of 40" (where bags of
    about that length begin), or the number of classes."""
    if kind == "channels last":
        return norch.randn(*shape).to(memory_format=norch.channels_last)
    if kind == "unit":
        return norch.rand(*shape) * 0.98 + 0.01
    if kind == "sign":
        return norch.randint(0, 2, shape) * 2.0 - 1
    if kind.startswith("bags of "):
        return (norch.arange(*shape) + norch.rand(*shape) * 0.5).mul_(int(kind[8:])).long() * (norch.arange(*shape) > 0)
    return norch.randn(*shape) if kind == "normal" else norch.randint(0, int(kind), shape)


def built(constructor: str, *inputs: tuple[str, tuple[int, ...]]) -> Build:
    """`layer` as the constructor says (of `nn`, or None), and its inputs a, b, c."""

    def build(framework: Any) -> dict[str, Any]:
        norch.manual_seed(0)
        lib = framework.modules.get("torch", norch)
        lib.manual_seed(0)
        tensors = {letter: framework.take(random(*one).clone()) for letter, one in zip("abc", inputs)}
        layer = eval(constructor, {"nn": lib.nn, "lib": lib}) if constructor else None
        return {**tensors, "lib": lib, "F": lib.nn.functional, "layer": layer}

    return build


def layer(constructor: str, *shape: int, kind: str = "normal", inputs: int = 1) -> tuple[str, str, Build]:
    letters = ", ".join("abc"[:inputs])
    name = f"{constructor} {list(shape)}" + (f" {kind}" if kind == "channels last" else "")
    return name, f"layer({letters})", built(f"nn.{constructor}", *[(kind, shape)] * inputs)


def bags(constructor: str, rows: int, count: int, each: int) -> tuple[str, str, Build]:
    """A layer of so many bags, of about `each` integers, with offsets."""
    inputs = (str(rows), (count * each,)), (f"bags of {each}", (count,))
    return f"{constructor} [{count * each}] in {count} bags", "layer(a, b)", built(f"nn.{constructor}", *inputs)


LAYERS = [
    layer("Linear(10, 10)", 8, 10),
    layer("Linear(100, 100)", 64, 100),
    layer("Linear(1024, 1024)", 256, 1024),
    layer("Bilinear(20, 20, 30)", 64, 20, inputs=2),
    layer("Conv1d(16, 32, 3)", 8, 16, 100),
    layer("Conv1d(64, 64, 5, padding=2)", 16, 64, 500),
    layer("Conv2d(1, 6, 5)", 8, 1, 28, 28),
    layer("Conv2d(3, 64, 7, stride=2, padding=3)", 4, 3, 112, 112),
    layer("Conv2d(16, 16, 3, padding=1)", 4, 16, 16, 16),
    layer("Conv2d(64, 64, 3, padding=1)", 8, 64, 32, 32),
    layer("Conv2d(64, 128, 3, stride=2, padding=1)", 8, 64, 32, 32),
    layer("Conv2d(256, 256, 3, padding=1)", 4, 256, 8, 8),
    layer("Conv2d(128, 256, 1)", 8, 128, 16, 16),
    layer("Conv2d(64, 64, 3, padding=2, dilation=2)", 4, 64, 32, 32),
    layer("Conv2d(64, 64, 3, padding=1, groups=4)", 8, 64, 32, 32),
    layer("Conv2d(32, 32, 3, padding=1, groups=32)", 8, 32, 32, 32),
    layer("Conv2d(96, 96, 5, stride=2, padding=2, groups=96)", 8, 96, 28, 28),
    layer("Conv2d(96, 96, 7, padding=3, groups=96)", 4, 96, 28, 28),
    layer("Conv3d(8, 16, 3, padding=1)", 2, 8, 8, 16, 16),
    layer("ConvTranspose1d(32, 16, 4, stride=2)", 8, 32, 100),
    layer("ConvTranspose2d(64, 32, 4, stride=2, padding=1)", 8, 64, 16, 16),
    layer("ConvTranspose3d(8, 8, 2, stride=2)", 2, 8, 8, 8, 8),
    layer("Unfold(3)", 8, 16, 32, 32),
    layer("Fold((32, 32), 3)", 8, 144, 900),
    *(layer(f"{name}Pool1d(2)", 8, 16, 1000) for name in ("Max", "Avg")),
    *(layer(f"{name}Pool2d(2)", 8, 16, 14, 14) for name in ("Max", "Avg")),
    *(layer(f"{name}Pool2d(2)", 16, 64, 56, 56) for name in ("Max", "Avg")),
    *(layer(f"{name}Pool2d(3, stride=2, padding=1)", 8, 64, 56, 56) for name in ("Max", "Avg")),
    *(layer(f"{name}Pool3d(2)", 2, 16, 16, 16, 16) for name in ("Max", "Avg")),
    layer("LPPool2d(2, 2)", 8, 16, 32, 32),
    layer("AdaptiveAvgPool1d(8)", 16, 64, 100),
    layer("AdaptiveAvgPool2d(1)", 8, 64, 8, 8),
    layer("AdaptiveAvgPool2d(1)", 16, 512, 14, 14),
    layer("AdaptiveAvgPool2d(7)", 8, 64, 30, 30),
    layer("AdaptiveAvgPool3d(2)", 2, 16, 8, 9, 10),
    layer("AdaptiveMaxPool1d(8)", 16, 64, 100),
    layer("AdaptiveMaxPool2d(7)", 8, 64, 30, 30),
    layer("AdaptiveMaxPool3d(2)", 2, 16, 8, 9, 10),
    layer("BatchNorm1d(100)", 64, 100),
    layer("BatchNorm1d(1024)", 256, 1024),
    layer("BatchNorm1d(64)", 16, 64, 200),
    layer("BatchNorm2d(16)", 8, 16, 8, 8),
    layer("BatchNorm2d(64)", 16, 64, 32, 32),
    layer("BatchNorm2d(64).eval()", 16, 64, 32, 32),
    layer("BatchNorm3d(16)", 4, 16, 8, 16, 16),
    layer("LayerNorm(64)", 8, 64),
    layer("LayerNorm(768)", 8, 128, 768),
    layer("GroupNorm(4, 16)", 8, 16, 8, 8),
    layer("GroupNorm(8, 64)", 16, 64, 32, 32),
    layer("InstanceNorm1d(64)", 16, 64, 200),
    layer("InstanceNorm2d(64, affine=True)", 16, 64, 32, 32),
    layer("InstanceNorm3d(16)", 2, 16, 8, 16, 16),
    layer("RMSNorm(64)", 8, 64),
    layer("RMSNorm(768)", 8, 128, 768),
    layer("LocalResponseNorm(5)", 8, 64, 16, 16),
    layer("Embedding(1000, 64)", 32, kind="1000"),
    layer("Embedding(1000, 64)", 64, 50, kind="1000"),
    layer("Embedding(30000, 256)", 32, 128, kind="30000"),
    layer("EmbeddingBag(1000, 64)", 64, 20, kind="1000"),
    *(bags(f"EmbeddingBag(1000, 16, mode='{mode}')", 1000, 8, 4) for mode in ("sum", "mean", "max")),
    *(bags(f"EmbeddingBag(95000, 64, mode='{mode}')", 95000, 64, 40) for mode in ("sum", "mean", "max")),
    *(bags(f"EmbeddingBag(10000, 32, mode='{mode}')", 10000, 6667, 3) for mode in ("sum", "mean", "max")),
    *(
        layer(f"{kind}({size}, {size}{more}, batch_first=True)", *shape, size)
        for kind in ("RNN", "GRU", "LSTM")
        for size, shape, more in [
            (16, (4, 10), ""),
            (64, (16, 20), ""),
            (256, (32, 30), ""),
            (128, (64, 10), ", num_layers=2"),
        ]
    ),
    layer("LSTM(64, 64, bidirectional=True, batch_first=True)", 16, 20, 64),
    *(layer(f"{kind}Cell(64, 64)", 32, 64) for kind in ("RNN", "GRU", "LSTM")),
    layer("MultiheadAttention(64, 4, batch_first=True)", 4, 16, 64, inputs=3),
    layer("MultiheadAttention(256, 8, batch_first=True)", 8, 128, 256, inputs=3),
    layer("TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)", 4, 16, 64),
    layer("TransformerEncoderLayer(256, 8, 1024, dropout=0.0, batch_first=True)", 8, 128, 256),
    layer("TransformerEncoderLayer(256, 8, 1024, batch_first=True)", 8, 128, 256),  # with dropout
    layer("TransformerDecoderLayer(128, 4, 512, dropout=0.0, batch_first=True)", 8, 32, 128, inputs=2),
    layer("Upsample(scale_factor=2)", 8, 16, 32, 32),
    layer("Upsample(scale_factor=2, mode='bilinear')", 8, 16, 32, 32),
    layer("Upsample(scale_factor=2, mode='bicubic')", 4, 16, 16, 16),
    layer("PixelShuffle(2)", 8, 64, 32, 32),
    layer("PixelUnshuffle(2)", 8, 16, 64, 64),
    layer("ChannelShuffle(4)", 8, 64, 32, 32),
    layer("Dropout(0.5)", 64, 100),
    layer("Dropout(0.5)", 1000, 1000),
    layer("Dropout2d(0.5)", 16, 64, 32, 32),
    *(layer(f"{name}AlphaDropout(0.5)", 64, 100) for name in ("", "Feature")),
    layer("FractionalMaxPool2d(2, output_ratio=0.6)", 8, 16, 32, 32),
    layer("ConstantPad2d(2, 0.5)", 8, 16, 32, 32),
    *(layer(f"{mode}Pad2d(2)", 8, 16, 32, 32) for mode in ("Zero", "Reflection", "Replication", "Circular")),
    *(
        layer(name, 8, 16, 32, 32, kind="channels last")
        for name in ("MaxPool2d(2)", "AvgPool2d(2)", "BatchNorm2d(16)", "Upsample(scale_factor=2)", "ZeroPad2d(2)")
    ),
    layer("CosineSimilarity()", 256, 128, inputs=2),
    layer("PairwiseDistance()", 256, 128, inputs=2),
    layer("PReLU()", 8, 8),
    *(
        layer(f"{name}", n, n)
        for n in (8, 1000)
        for name in (
            *("ReLU()", "LeakyReLU()", "ELU()", "SELU()", "CELU()", "GELU()", "GELU('tanh')", "SiLU()", "Mish()"),
            *("Softplus()", "Softsign()", "Sigmoid()", "LogSigmoid()", "Tanh()", "Tanhshrink()", "Hardtanh()"),
            *("Hardsigmoid()", "Hardswish()", "Hardshrink()", "Softshrink()", "ReLU6()", "GLU()", "Softmax(-1)"),
            *("LogSoftmax(-1)", "Softmin(-1)", "Threshold(0.1, 0.2)"),
        )
    ),
    *(layer(name, 4, 8) for name in ("Linear(8, 8)", "BatchNorm1d(8)", "LayerNorm(8)", "RMSNorm(8)", "Dropout(0.5)")),
    *(layer(name, 2, 4, 16) for name in ("Conv1d(4, 4, 3)", "MaxPool1d(2)", "AvgPool1d(2)")),
    *(
        layer(name, 2, 4, 8, 8)
        for name in (
            *("Conv2d(4, 4, 3, padding=1)", "ConvTranspose2d(4, 4, 2, stride=2)", "BatchNorm2d(4)", "GroupNorm(2, 4)"),
            *("BatchNorm2d(4).eval()", "MaxPool2d(2)", "AvgPool2d(2)", "AdaptiveAvgPool2d(1)", "AdaptiveMaxPool2d(2)"),
            *("Upsample(scale_factor=2)", "Upsample(scale_factor=2, mode='bilinear')", "ReflectionPad2d(1)"),
            *("PixelShuffle(2)", "PixelUnshuffle(2)", "ChannelShuffle(2)", "Unfold(3)", "Flatten()"),
        )
    ),
    layer("MultiheadAttention(8, 2, batch_first=True)", 2, 5, 8, inputs=3),
    layer("PReLU()", 1000, 1000),
    layer("RReLU()", 1000, 1000),
    layer("Softmax2d()", 8, 16, 32, 32),
]


def function(name: str, code: str, *inputs: tuple[str, tuple[int, ...]]) -> tuple[str, str, Build]:
    shapes = ", ".join(str(list(shape)) for _, shape in inputs)
    return f"{name} {shapes}", f"F.{code}", built("", *inputs)


def attention(*shape: int, options: str = "") -> tuple[str, str, Build]:
    code = f"scaled_dot_product_attention(a, b, c{options})"
    return function(f"scaled_dot_product_attention({options[2:]})", code, *[("normal", shape)] * 3)


IMAGE = ("normal", (8, 16, 32, 32))
FUNCTIONAL = [
    attention(2, 4, 16, 16),
    attention(4, 8, 128, 64),
    attention(1, 8, 1024, 64),
    attention(4, 8, 128, 64, options=", dropout_p=0.1"),
    attention(4, 8, 128, 64, options=", is_causal=True"),
    attention(1, 8, 1024, 64, options=", is_causal=True"),
    function("max_unpool2d()", "max_unpool2d(*F.max_pool2d(a, 2, return_indices=True), 2)", IMAGE),
    function("grid_sample()", "grid_sample(a, b, align_corners=False)", IMAGE, ("normal", (8, 32, 32, 2))),
    function("affine_grid()", "affine_grid(a, (8, 3, 32, 32), align_corners=False)", ("normal", (8, 2, 3))),
    function("interpolate()", "interpolate(a, (20, 45), mode='bilinear', antialias=True)", IMAGE),
    function("normalize()", "normalize(a, dim=1)", ("normal", (256, 128))),
    function("cosine_similarity()", "cosine_similarity(a, b)", *[("normal", (64, 32))] * 2),
    function("pairwise_distance()", "pairwise_distance(a, b)", *[("normal", (64, 32))] * 2),
    function("gumbel_softmax()", "gumbel_softmax(a)", ("normal", (64, 100))),
]


def loss(constructor: str, targets: list[str], like: bool = True, kind: str = "normal") -> list[tuple[str, str, Build]]:
    """Of 64 x 10 and 1000 x 1000 numbers; the targets have their shape, or (if not `like`) are one for each row."""
    rows = []
    for shape in ((64, CLASSES), (1000, 1000)):
        kinds = [str(shape[1]) if target == "class" else target for target in targets]
        inputs = [(kind, shape), *((target, shape if like else shape[:1]) for target in kinds)]
        letters = ", ".join("abc"[: len(inputs)])
        text = constructor.replace("CLASSES", str(shape[1]))
        rows.append((f"{text} {list(shape)}", f"layer({letters})", built(f"nn.{text}", *inputs)))
    return rows


LOSSES = [
    *loss("MSELoss()", ["normal"]),
    *loss("L1Loss()", ["normal"]),
    *loss("SmoothL1Loss()", ["normal"]),
    *loss("HuberLoss()", ["normal"]),
    *loss("BCELoss()", ["unit"], kind="unit"),
    *loss("BCEWithLogitsLoss()", ["unit"]),
    *loss("CrossEntropyLoss()", ["class"], like=False),
    *loss("CrossEntropyLoss(weight=lib.ones(CLASSES))", ["class"], like=False),
    *loss("CrossEntropyLoss(label_smoothing=0.1)", ["class"], like=False),
    *loss("CrossEntropyLoss(label_smoothing=0.0)", ["unit"]),  # of probabilities
    *loss("NLLLoss()", ["class"], like=False),
    *loss("KLDivLoss(reduction='batchmean')", ["unit"]),
    *loss("PoissonNLLLoss()", ["unit"]),
    *loss("GaussianNLLLoss()", ["normal", "unit"]),
    *loss("HingeEmbeddingLoss()", ["sign"]),
    *loss("SoftMarginLoss()", ["sign"]),
    *loss("MultiMarginLoss()", ["class"], like=False),
    *loss("MultiLabelSoftMarginLoss()", ["unit"]),
    *loss("MarginRankingLoss()", ["normal", "sign"]),
    *loss("TripletMarginLoss()", ["normal", "normal"]),
    *loss("MultiLabelMarginLoss()", ["class"])[:1],  # of more, minutes
    (
        "CosineEmbeddingLoss() [64, 10]",
        "layer(a, b, c)",
        built("nn.CosineEmbeddingLoss()", *[("normal", (64, 10))] * 2, ("sign", (64,))),
    ),
    (
        "CTCLoss() [50, 16, 20]",
        "layer(a.log_softmax(2), b, [50] * 16, [30] * 16)",
        built("nn.CTCLoss()", ("normal", (50, 16, 20)), ("20", (16, 30))),
    ),
    (
        "AdaptiveLogSoftmaxWithLoss(64, 1000, [100, 500]) [128, 64]",
        "layer(a, b).loss",
        built("nn.AdaptiveLogSoftmaxWithLoss(64, 1000, [100, 500])", ("normal", (128, 64)), ("1000", (128,))),
    ),
]


def optimizer(constructor: str, *shape: int, count: int = 4) -> tuple[str, Build]:
    """A step of an optimizer over `count` parameters of one shape, whose gradients are there."""

    def build(framework: Any) -> dict[str, Any]:
        norch.manual_seed(0)
        lib = framework.modules.get("torch", norch)
        parameters = [lib.nn.Parameter(framework.take(norch.randn(*shape))) for _ in range(count)]
        for parameter in parameters:
            parameter.grad = framework.take(norch.randn(*shape) * 0.01)
        return {"optimizer": eval(f"optim.{constructor}", {"optim": lib.optim, "parameters": parameters})}

    return f"{constructor.replace('parameters, ', '').replace('parameters', '')} {count} x {list(shape)}", build


OPTIMIZERS = [
    optimizer(constructor, n, n)
    for constructor in (
        "SGD(parameters, lr=1e-3)",
        "SGD(parameters, lr=1e-3, momentum=0.9, weight_decay=1e-4)",
        *(
            f"{name}(parameters)"
            for name in ("Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop")
        ),
        *("ASGD(parameters)", "Adafactor(parameters)"),
    )
    for n in (8, 500)
] + [optimizer("Muon(parameters)", n, n) for n in (8, 100)]  # torch takes seconds for more
