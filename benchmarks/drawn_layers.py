"""norch beside torch on layers that nobody chose: a module or a function, its sizes and its options, drawn by chance.

    PYTHONPATH=. python benchmarks/drawn_layers.py --rows 500 --seed 1
    PYTHONPATH=. python benchmarks/drawn_layers.py --only "Conv2d|LSTM"

As drawn.py does it for operations: torch's time over norch's for the rows under 0.8, the worst last, then the rows
whose results or gradients are not as torch's, and the geometric mean of each layer. Both frameworks have the same
parameters; half of the rows have a backward. Times are the least of some rounds on one thread.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import warnings
from typing import Any, Callable, NamedTuple

import numpy
import torch
from drawn import differ, least_time

import norch

SLOW = 0.8
Shape = tuple[int, ...]


class Row(NamedTuple):
    name: str
    code: str  # of nn, F and lib, a function of a, b and c: a module, or a lambda
    inputs: list[tuple[str, Shape]]  # "normal", "unit", "sign", or a number of classes; and a shape
    has_backward: bool = False

    def __str__(self) -> str:
        given = ", ".join(f"{list(shape)}" + (f" {kind}" if kind != "normal" else "") for kind, shape in self.inputs)
        return f"{self.code} of {given}" + (", with backward" if self.has_backward else "")


class Draw:
    """Choices by a seed, and the layers that are made of them."""

    GRID = "lambda a: F.grid_sample(a, F.affine_grid(lib.eye(2, 3).expand(len(a), 2, 3), a.shape), align_corners=False)"

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.pick = lambda *choices: self.rng.choice(choices)

    def images(self, channels: int, dims: int) -> Shape:
        sizes = {1: (16, 50, 128, 1000), 2: (7, 14, 28, 32, 56), 3: (7, 8, 12)}[dims]
        sides = [self.pick(*sizes) for _ in range(dims)]
        if dims > 1 and self.pick(True, True, False):
            sides = sides[:1] * dims
        return (self.pick(1, 2, 8, 32), channels, *sides)

    def convolution(self) -> Row:
        dims, transposed = self.pick(1, 2, 2, 2, 3), self.pick("", "", "Transpose")
        a, b = self.pick(1, 3, 8, 16, 32, 64), self.pick(6, 8, 16, 32, 64)
        groups = self.pick(1, 1, 1, 2, a)
        b = b if b % groups == 0 and a % groups == 0 else a
        groups = groups if a % groups == 0 else 1
        kernel, stride = self.pick(1, 2, 3, 3, 4, 5, 7), self.pick(1, 1, 2)
        options = (
            f", stride={stride}, padding={self.pick(0, kernel // 2)}, groups={groups}, bias={self.pick(True, False)}"
        )
        if not transposed:
            options += self.pick("", "", f", dilation={self.pick(1, 2)}" if kernel < 4 else "")
        name = f"Conv{transposed}{dims}d"
        return Row(name, f"nn.{name}({a}, {b}, {kernel}{options})", [("normal", self.images(a, dims))])

    def pooling(self) -> Row:
        dims, kind = (
            self.pick(1, 2, 2, 3),
            self.pick("MaxPool", "AvgPool", "AdaptiveAvgPool", "AdaptiveMaxPool", "LPPool"),
        )
        kernel = self.pick(2, 3)
        options = f"{kernel}, stride={self.pick(1, 2, 3)}"
        if kind in ("MaxPool", "AvgPool"):
            options += f", padding={self.pick(0, 1)}, ceil_mode={self.pick(True, False)}"
        options = f"{self.pick(1, 3, 4)}" if "Adaptive" in kind else f"2.0, {options}" if kind == "LPPool" else options
        shape = self.images(self.pick(1, 3, 16, 64), dims)
        return Row(f"{kind}{dims}d", f"nn.{kind}{dims}d({options})", [("normal", shape)])

    def normalization(self) -> Row:
        dims, kind = (
            self.pick(1, 2, 2, 3),
            self.pick("BatchNorm", "BatchNorm", "InstanceNorm", "GroupNorm", "LocalResponseNorm"),
        )
        channels = self.pick(4, 16, 64, 128)
        name = f"{kind}{dims}d" if kind in ("BatchNorm", "InstanceNorm") else kind
        options = (
            f"{self.pick(1, 2, 4)}, {channels}" if kind == "GroupNorm" else "3" if "Local" in kind else f"{channels}"
        )
        options += f", affine={self.pick(True, False)}" if kind != "LocalResponseNorm" else ""
        shape = self.images(channels, dims)
        shape = shape[:2] if name == "BatchNorm1d" and shape[0] > 1 and self.pick(True, False) else shape
        return Row(name, f"nn.{name}({options}){self.pick('', '.eval()')}", [("normal", shape)])

    def of_rows(self) -> Row:
        n, rows = self.pick(5, 16, 64, 100, 512, 768), self.pick((1,), (16,), (128,), (8, 50), (2, 3, 40), (5000,))
        name = self.pick("LayerNorm", "RMSNorm", "Linear", "Linear", "Softmax", "LogSoftmax", "GLU", "PReLU", "Dropout")
        out, bias = self.pick(1, 10, 64, 300), self.pick(True, False)
        n += n % 2 if name == "GLU" else 0
        options = {"Linear": f"{n}, {out}, bias={bias}", "LayerNorm": f"{n}, bias={bias}", "RMSNorm": f"{n}",
                   "PReLU": f"{self.pick(1, (*rows, n)[1])}", "Dropout": "0.0"}.get(name, "dim=-1")  # fmt: skip
        return Row(name, f"nn.{name}({options})", [("normal", (*rows, n))])

    def recurrent(self) -> Row:
        name, n, hidden = self.pick("LSTM", "GRU", "RNN"), self.pick(1, 10, 32, 100), self.pick(8, 32, 64, 128)
        steps, batch = self.pick(1, 7, 30, 100), self.pick(1, 4, 32)
        if self.pick(True, False, False, False):
            return Row(f"{name}Cell", f"nn.{name}Cell({n}, {hidden})", [("normal", (batch, n))])
        options = f", num_layers={self.pick(1, 1, 2)}, bidirectional={self.pick(True, False, False)}, batch_first=True"
        return Row(name, f"nn.{name}({n}, {hidden}{options})", [("normal", (batch, steps, n))])

    def attention(self) -> Row:
        heads, width, steps = self.pick(1, 2, 4, 8), self.pick(8, 16, 64), self.pick(1, 10, 50, 128, 300)
        batch, n = self.pick(1, 4, 16), heads * width
        kind = self.pick("sdpa", "sdpa", "MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer")
        whole = ("normal", (batch, steps, n))
        if kind == "sdpa":
            code = f"lambda a, b, c: F.scaled_dot_product_attention(a, b, c, is_causal={self.pick(True, False)})"
            return Row(kind, code, [("normal", (batch, heads, steps, width))] * 3)
        if kind == "MultiheadAttention":
            code = f"nn.{kind}({n}, {heads}, batch_first=True)"
            return Row(
                kind, f"(lambda m: lambda a: m(a, a, a, need_weights={self.pick(True, False)}))({code})", [whole]
            )
        options = f"{n}, {heads}, {2 * n}, dropout=0.0, batch_first=True, norm_first={self.pick(True, False)}"
        options += f", activation='{self.pick('relu', 'gelu')}'"
        return Row(kind, f"nn.{kind}({options})", [whole] * (1 if "En" in kind else 2))

    def loss(self) -> Row:
        reduction = f"reduction='{self.pick('mean', 'mean', 'sum', 'none')}'"
        n, classes = self.pick(1, 16, 128, 5000), self.pick(2, 10, 100)
        kind = self.pick("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BCELoss", "BCEWithLogitsLoss", "KLDivLoss",
                         "CrossEntropyLoss", "CrossEntropyLoss", "NLLLoss", "PoissonNLLLoss", "SoftMarginLoss",
                         "HingeEmbeddingLoss", "MultiMarginLoss", "CosineEmbeddingLoss", "TripletMarginLoss",
                         "MarginRankingLoss", "GaussianNLLLoss", "MultiLabelSoftMarginLoss")  # fmt: skip
        first, target = ("unit" if kind == "BCELoss" else "normal", (n, classes)), ("unit", (n, classes))
        options, rest = reduction, [target]
        if kind in ("CrossEntropyLoss", "NLLLoss", "MultiMarginLoss"):
            sides = self.pick((), (), (8, 8)) if kind != "MultiMarginLoss" and n < 200 else ()
            first, rest = ("normal", (n, classes, *sides)), [(str(classes), (n, *sides))]
            options += f", label_smoothing={self.pick(0.0, 0.1)}" if kind == "CrossEntropyLoss" else ""
        elif kind in ("SoftMarginLoss", "HingeEmbeddingLoss"):
            rest = [("sign", (n, classes))]
        elif kind == "CosineEmbeddingLoss":
            rest = [("normal", (n, classes)), ("sign", (n,))]
        elif kind == "TripletMarginLoss":
            rest = [("normal", (n, classes))] * 2
        elif kind == "MarginRankingLoss":
            first, rest = ("normal", (n,)), [("normal", (n,)), ("sign", (n,))]
        elif kind == "GaussianNLLLoss":
            rest = [target] * 2
        return Row(kind, f"nn.{kind}({options})", [first, *rest])

    def table(self) -> Row:
        rows, n, count = (
            self.pick(10, 1000, 50000),
            self.pick(1, 16, 64, 300),
            self.pick((1,), (32,), (16, 20), (64, 128)),
        )
        if self.pick(True, False):
            return Row("Embedding", f"nn.Embedding({rows}, {n})", [(str(rows), count)])
        mode, bags = self.pick("sum", "mean", "max"), (count * 2)[:2]
        return Row("EmbeddingBag", f"nn.EmbeddingBag({rows}, {n}, mode='{mode}')", [(str(rows), bags)])

    def spatial(self) -> Row:
        channels, dims = self.pick(4, 16), self.pick(1, 2, 2, 3)
        shape, edge = self.images(channels, dims), self.pick(1, 2, 3)
        linear = {1: "linear", 2: "bilinear", 3: "trilinear"}[dims]
        mode = self.pick("nearest", linear, "bicubic" if dims == 2 else linear, "area")
        code = self.pick(
            f"lambda a: F.interpolate(a, scale_factor={self.pick(2, 0.5, 1.5)}, mode='{mode}')",
            f"lambda a: F.interpolate(a, scale_factor={self.pick(2, 0.5, 1.5)}, mode='{mode}')",
            f"nn.{self.pick('Zero', 'Reflection', 'Replication', 'Circular')}Pad{dims}d({edge})",
            "nn.PixelShuffle(2)" if dims == 2 else "nn.Flatten()",
            f"nn.Unfold({self.pick(2, 3)}, stride={self.pick(1, 2)})" if dims == 2 else "nn.Flatten()",
            self.GRID if dims == 2 else "nn.Softmax(1)",
            f"nn.{self.pick('Softmax2d()', 'ChannelShuffle(2)')}" if dims == 2 else "nn.Softmax(1)",
        )  # fmt: skip
        return Row(re.sub(r"lambda a: |\(.*", "", code), code, [("normal", shape)])

    def optimizer(self) -> Row:
        kind = self.pick("SGD", "SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam")
        options = self.pick("", "", ", weight_decay=0.01") + (
            f", momentum={self.pick(0, 0.9)}" if kind == "SGD" else ""
        )
        shape, layers = self.pick((4, 4), (30, 50), (300, 300), (1000, 1000)), self.pick(1, 3, 12)
        code = f"(lambda ps: step(ps, lib.optim.{kind}(ps, lr=1e-3{options})))(parameters({layers}, {shape}))"
        return Row(kind, code, [])

    def row(self) -> Row:
        families = [self.convolution] * 4 + [self.pooling] * 2 + [self.normalization] * 2 + [self.of_rows] * 2
        families += [self.recurrent, self.attention, self.loss, self.loss, self.table, self.spatial, self.spatial]
        row = self.pick(*families, self.optimizer)()
        return row._replace(has_backward=bool(row.inputs) and self.pick(True, False))


def parameters(lib: Any, count: int, shape: Shape) -> list[Any]:
    values = [numpy.cos(numpy.arange(math.prod(shape)) + k).reshape(shape).astype("f") for k in range(count)]
    made = [lib.nn.Parameter(lib.tensor(value)) for value in values]
    for parameter in made:
        parameter.grad = parameter.detach() * 0.1
    return made


def step(parameters: list[Any], optimizer: Any) -> Callable[[], Any]:
    def run() -> Any:
        optimizer.step()
        return parameters[0]

    return run


def built(row: Row, lib: Any, seed: int, state: Any) -> tuple[Callable[[], Any], Any, list[Any]]:
    """What is timed, the module if there is one, and the leaves."""
    draw = numpy.random.RandomState(seed)
    names = {"lib": lib, "nn": lib.nn, "F": lib.nn.functional, "step": step}
    names["parameters"] = lambda *given: parameters(lib, *given)
    lib.manual_seed(0)
    layer = eval(row.code, names)
    module = layer if isinstance(layer, lib.nn.Module) else next(
        (cell.cell_contents for cell in layer.__closure__ or () if isinstance(cell.cell_contents, lib.nn.Module)), None
    )  # fmt: skip
    if module is not None and state is not None:
        module.load_state_dict({name: lib.tensor(value.numpy()) for name, value in state.items()})
    if not row.inputs:
        return layer, None, []
    inputs, leaves = [], list(module.parameters()) if module is not None else []
    for kind, shape in row.inputs:
        x = draw.randn(*shape) if kind == "normal" else draw.rand(*shape) * 0.98 + 0.01
        if kind == "sign":
            x = numpy.where(x > 0.5, 1.0, -1.0)
        is_index = kind.isdigit()
        inputs.append(lib.tensor(draw.randint(0, int(kind), shape) if is_index else x.astype("f")))
        if row.has_backward and kind == "normal":
            leaves.append(inputs[-1].requires_grad_())

    def forward() -> Any:
        with lib.set_grad_enabled(row.has_backward):
            result = layer(*inputs)
        return result[0] if isinstance(result, tuple) else result

    shape = tuple(forward().shape) if row.has_backward else ()
    gradient = lib.tensor(numpy.cos(numpy.arange(math.prod(shape))).reshape(shape).astype("f"))

    def with_backward() -> Any:
        for leaf in leaves:
            leaf.grad = None
        result = forward()
        result.backward(gradient)
        return result

    return with_backward if row.has_backward else forward, module, leaves


def compared(row: Row, seed: int) -> tuple[float, float, bool]:
    """norch's and torch's seconds, and whether something differs."""
    theirs, module, their_leaves = built(row, torch, seed, None)
    state = {name: value.clone() for name, value in module.state_dict().items()} if module is not None else None
    ours, _, our_leaves = built(row, norch, seed, state)
    results = [(ours(), theirs())]
    if row.has_backward:
        results += [(a.grad, b.grad) for a, b in zip(our_leaves, their_leaves) if b.grad is not None]
    wrong = any(different(a, b) for a, b in results if b.numel() < 300000)
    a, b = least_time(ours), least_time(theirs)
    for _ in range(2 * (b / a < SLOW)):
        a, b = min(a, least_time(ours)), min(b, least_time(theirs))
    return a, b, wrong


def different(ours: Any, theirs: Any) -> bool:
    """Whether two results differ by more than float32 loses in sums that cancel."""
    if ours is None:
        return True
    scale = max(1.0, theirs.detach().abs().max().item()) if theirs.numel() else 1.0
    return differ(ours.detach() / scale, theirs.detach() / scale, "float32")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a regular expression of names of layers")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    norch.set_num_threads(1)
    draw, slow, wrong, ratios = Draw(options.seed), [], [], {}
    count = 0
    while count < options.rows:
        row, seed = draw.row(), draw.rng.randrange(10**6)
        if not re.search(options.only, row.name):
            continue
        try:
            built(row, torch, seed, None)[0]()
        except (RuntimeError, ValueError):  # sizes that do not fit
            continue
        try:
            a, b, is_wrong = compared(row, seed)
        except Exception as error:  # of norch alone
            wrong.append(f"{row}: {type(error).__name__}: {error}")
            continue
        count += 1
        ratios.setdefault(row.name, []).append(b / a)
        if b / a < SLOW:
            slow.append((b / a, f"{b / a:5.2f} {a * 1e6:9.1f} us  {row}"))
        if is_wrong:
            wrong.append(str(row))
    print(*(line for _, line in sorted(slow, reverse=True)), sep="\n")
    print(*(f"not as torch's: {row}" for row in wrong), sep="\n")
    means = {name: math.exp(sum(map(math.log, found)) / len(found)) for name, found in ratios.items()}
    print(", ".join(f"{name} {mean:.2f}" for name, mean in sorted(means.items(), key=lambda item: item[1])))
    every = [ratio for found in ratios.values() for ratio in found]
    print(
        f"geometric mean {math.exp(sum(map(math.log, every)) / count):.2f} over {count} rows, {len(slow)} under {SLOW}"
    )


if __name__ == "__main__":
    main()
