"""The rows of wide.py: every operation of the tests' tables, then layers, losses, optimizers and single calls.

A row is a line of Python that norch and torch both run, with `lib` for either of them. The names it may use: x, y, z
(matrices of n x n), d (one of doubles), v and w (vectors of n), picked (n places along an axis), places (n x n of
them), mask (n x n).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Callable, NamedTuple

import norch

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path += [str(TESTS / "shared"), str(TESTS / "tables")]

from operations import BINARY, REDUCTIONS, UNARY  # noqa: E402  (of the tests)
from wide_layers import FUNCTIONAL, LAYERS, LOSSES, OPTIMIZERS  # noqa: E402

SIZES = (8, 100, 1000)
LAYOUTS = {
    "contiguous": "x",
    "transposed": "x.T",
    "broadcast": "x[:1].expand(x.shape)",
    "strided": "lib.cat((x, x), 1)[:, ::2]",
}
MANY = 100_000  # elements from which on a row is measured with two threads too


class Row(NamedTuple):
    family: str
    name: str
    column: str  # what tells this row from the others of its name: size and layout, or the pass
    code: str
    setup: Callable[[Any], dict[str, Any]]  # norch or torch as a framework -> the names in the code
    large: bool = False  # of more than MANY elements

    @property
    def line(self) -> str:
        return f"{self.family} {self.name}"


# ---- Operands --------------------------------------------------------------------------------------------------------


def between(low: float, high: float) -> Callable[[int], Any]:
    return lambda n: norch.rand(n, n) * (high - low) + low


def of_both_signs(n: int) -> Any:
    x = norch.rand(n, n) * 9.4 - 4.7
    return x + x.sign() * 0.3


def whole_numbers(n: int) -> Any:
    return norch.randint(1, 10, (n, n))


DRAWS = {  # the tests' draws, of any number of elements at once
    "smooth": between(-3, 3),
    "smooth_unit": between(-0.9, 0.9),
    "smooth_positive": between(0.3, 5),
    "smooth_above_one": between(1.3, 5),
    "smooth_either": of_both_signs,
    "positive": between(0.3, 5),
}
OPERANDS = {  # what a code may name, as functions of n
    "x": between(-3, 3),
    "y": between(-3, 3),
    "z": between(0.3, 5),
    "v": lambda n: norch.rand(n),
    "w": lambda n: norch.rand(n),
    "picked": lambda n: norch.randint(0, n, (n,)),
    "places": lambda n: norch.randint(0, n, (n, n)),
    "mask": lambda n: norch.rand(n, n) > 0.5,
    "d": lambda n: (norch.rand(n, n) * 6 - 3).double(),
}
WORD = re.compile(r"[a-z_]+")


def operands(code: str, n: int, layout: str, draws: dict[str, Callable[[int], Any]]) -> Callable[[Any], dict[str, Any]]:
    """Makes what a code names, x in one of the LAYOUTS."""

    def setup(framework: Any) -> dict[str, Any]:
        norch.manual_seed(0)
        lib = framework.modules.get("torch", norch)
        used = set(WORD.findall(code))
        names = {name: framework.take(draw(n)) for name, draw in {**OPERANDS, **draws}.items() if name in used}
        if "x" in names:
            names["x"] = eval(LAYOUTS[layout], {"lib": lib, **names})
        return {"lib": lib, "n": n, **names}

    return setup


def of_sizes(family: str, name: str, code: str, layouts: Any = ("contiguous",), draws: Any = None) -> list[Row]:
    return [
        Row(family, name, f"{n}x{n} {layout}", code, operands(code, n, layout, draws or {}), n * n > MANY)
        for n in SIZES
        for layout in layouts
    ]


# ---- The tests' tables -----------------------------------------------------------------------------------------------


def elementwise(table: list, code: str) -> list[Row]:
    rows = []
    for row in table:
        drawn = [draw.__name__ for draw in (row.draws if row.name.startswith("igamma") else row.gradient_draws)]
        makers = [whole_numbers if row.rule == "whole" else DRAWS[name] for name in drawn]
        rows += of_sizes("elementwise", row.name, f"x.{row.name}{code}", LAYOUTS, dict(zip("xy", makers)))
    return rows


def reductions() -> list[Row]:
    rows = []
    for row in REDUCTIONS:
        for axis in ("", "0", "1"):
            rows += of_sizes("reductions", f"{row.name}({axis})", f"x.{row.name}({axis})", LAYOUTS)
    for name in ("sum", "amax"):  # of whole numbers
        rows += of_sizes("reductions", f"{name} of int64", f"x.{name}()", LAYOUTS, {"x": whole_numbers})
    return rows


PRODUCTS = {
    "matmul": "lib.matmul(x, y)",
    "@": "x @ v",
    "A @ B.T": "x @ y.T",
    "dot": "lib.dot(v, w)",
    "mv": "lib.mv(x, v)",
    "bmm": "lib.bmm(x[None], y[None])",
    "outer": "lib.outer(v, w)",
    "addmm": "lib.addmm(x, y, z)",
    "addbmm": "lib.addbmm(x, y[None], z[None])",
}
JOINS = {
    "cat dim=0": "lib.cat((x, y))",
    "cat dim=1": "lib.cat((x, y), dim=1)",
    "cat dim=-1": "lib.cat([x, y, z], -1)",
    "cat of one": "lib.cat((x,))",
    "cat with empty": "lib.cat((x[:0], y))",
    "stack dim=0": "lib.stack((x, y))",
    "stack dim=1": "lib.stack((x, y), dim=1)",
    "stack dim=-1": "lib.stack((x, y), dim=-1)",
}
CHOICES = {
    "where": "lib.where(mask, x, y)",
    "clamp": "lib.clamp(x, y, z)",
    "clamp min max": "lib.clamp(x, -1, 1)",
    "clamp min": "x.clamp(min=0)",
    "clamp max": "x.clamp(max=0)",
    "max(dim)": "x.max(dim=1)",
    "min(dim)": "x.min(1)",
    "softmax dim=0": "lib.softmax(x, 0)",
    "softmax dim=1": "lib.softmax(x, 1)",
    "softmax dim=-2": "lib.softmax(x, -2)",
    "log_softmax dim=0": "x.log_softmax(dim=0)",
    "log_softmax dim=1": "x.log_softmax(dim=1)",
    "log_softmax dim=-2": "x.log_softmax(dim=-2)",
    "square": "x.square()",
    "frac": "x.frac()",
    "addcmul": "lib.addcmul(x, y, z)",
    "addcdiv": "lib.addcdiv(x, y, z)",
    "lerp": "lib.lerp(x, y, 0.3)",
    "logsumexp": "x.logsumexp(1)",
    "norm 1": "x.norm(1, 1)",
    "norm 2": "x.norm()",
    "norm 3": "x.norm(3, 0)",
    "norm 2.5": "x.norm(2.5, 1)",
}
WRITES = {  # into x, or of views: contiguous alone
    "x[1] = y": "x[1] = v",
    "x[:, ::2] = y": "x[:, ::2] = y[:, ::2]",
    "copy_": "x.copy_(y)",
    "view after mul_": "column = y[:, 1]; y.mul_(1.0); column * 2",
    "add_": "y.add_(1e-9)",
    "add_ of a tensor": "y.add_(z, alpha=1e-9)",
    "zero_": "y.zero_()",
    "[i, j] = y": "x[picked, picked] = v",
    "[:, [1]] = y": "x[:, [1]] = y[:, :1]",
    "[mask] = y": "x[mask] = 1.0",
    "exp out=": "lib.exp(x, out=y)",
    "add out=": "lib.add(x, y, out=z)",
    "mm out=": "lib.mm(x, y, out=z)",
    "cumsum out=": "lib.cumsum(x, 1, out=y)",
    "t_": "y.t_()",
    "squeeze_": "y.squeeze_()",
    "clamp_": "y.clamp_(-1, 1)",
    "round_(decimals)": "y.round_(decimals=2)",
    "addmm_": "y.addmm_(x, z, beta=0.5, alpha=1e-3)",
    "addr_": "y.addr_(v, w, beta=0.5, alpha=1e-3)",
}
DTYPES = {  # other than float32
    **{f"{name} of float64": f"d.{name}()" for name in ("exp", "exp2", "expm1", "sinh", "sin", "cos", "sum", "sort")},
    "log1p of float64": "z.double().log1p()",
    "matmul of float64": "d @ d",
    "matmul of int64": "places @ places",
    "matmul of int32": "places.int() @ places.int()",
    "cumsum of int64": "places.cumsum(1)",
    "max(1) of int64": "places.max(1)",
    "// of int64": "places // (places + 1)",
    "sum of bool": "mask.sum(1)",
    "exp of bfloat16": "x.bfloat16().exp()",
    "result_type": "lib.result_type(x, picked)",
    "finfo": "lib.finfo(x.dtype).max",
}
LINALG = {  # of at most 100 rows
    "inv": "lib.linalg.inv(x[:100, :100])",
    "inv_ex": "lib.linalg.inv_ex(x[:100, :100])",
    "solve": "lib.linalg.solve(x[:100, :100], y[:100, :100])",
    "det": "lib.linalg.det(x[:100, :100])",
    "qr": "lib.linalg.qr(x[:100, :100])",
    "svd": "lib.linalg.svd(x[:100, :100])",
    "eigh": "lib.linalg.eigh(x[:100, :100])",
    "cholesky": "lib.linalg.cholesky(x[:100, :100] @ x[:100, :100].T + 9 * lib.eye(min(n, 100)))",
    "lstsq": "lib.linalg.lstsq(x[:100, :100], y[:100, :100])",
    "orthogonal_": "lib.nn.init.orthogonal_(y[:100, :100])",
}
VIEWS = {
    "reshape": "x.reshape(2, -1)",
    "reshape list": "x.reshape([2, -1])",
    "reshape to 0-d": "v[:1].reshape(())",
    "reshape empty": "x[:0].reshape(2, 0)",
    "view": "x.view(-1)",
    "flatten": "x.flatten()",
    "flatten 1": "x[None].flatten(1)",
    "transpose": "x.transpose(0, -1)",
    "T": "x.T",
    "permute": "x.permute(1, 0)",
    "squeeze": "x.squeeze()",
    "squeeze 0": "x.squeeze(0)",
    "unsqueeze": "x.unsqueeze(1)",
    "unsqueeze -1": "x.unsqueeze(-1)",
    "expand": "v.expand(2, -1)",
    "[1]": "x[1]",
    "[-1]": "x[-1]",
    "[1:, ::2]": "x[1:, ::2]",
    "[..., 0]": "x[..., 0]",
    "[:, None]": "x[:, None]",
    "[5:]": "x[5:]",
    "unflatten": "x.unflatten(1, (2, -1))",
    "ravel": "x.ravel()",
    "movedim": "x.movedim((0, 1), (-1, 0))",
    "mT": "x.mT",
    "split": "x.split([1, n - 1], 1)",
    "chunk": "lib.chunk(x, 2)",
    "unbind": "x.unbind(1)",
    "narrow": "x.narrow(1, 1, 2)",
    "diagonal": "x.diagonal()",
    "diagonal 1 of matrices": "x[None].diagonal(1, 1, 2)",
    "as_strided": "x.as_strided((2, 3), (1, 2), 1)",
    "windows": "x.as_strided((4, 3), (1, 1))",
}
COPIES = {
    "clone": "x.clone()",
    "T.contiguous": "x.T.contiguous()",
    "strided + 1": "x[:, ::2] + 1",
    "double": "x.double()",
    "float": "x.float()",
    "float of double": "x.double().float()",
    "long": "x.long()",
    "int": "x.int()",
    "bool": "x.bool()",
    "flip": "x.flip(0, 1)",
    "flip -1": "x.flip(-1)",
    "roll": "x.roll(1, 0)",
    "roll flat": "x.roll(3)",
    "repeat": "x.repeat(2, 1)",
    "tile": "x.tile((2,))",
    "repeat_interleave": "x.repeat_interleave(2, 0)",
    "pad": "lib.nn.functional.pad(x, (1, 2))",
}
INDEXING = {
    "[rows]": "x[picked]",
    "[[..]]": "x[:, [[1, 2], [0, 3]]]",
    "[rows, columns]": "x[picked, picked]",
    "[rows, :, columns]": "x[:, None][picked, :, picked]",
    "[mask]": "x[mask]",
    "[1, ::2][mask]": "x[1][mask[1]]",
    "index_put": "x.index_put((picked,), y, True)",
    "index_add": "lib.index_add(x, 0, picked, y)",
    "index_select": "lib.index_select(x, 1, picked)",
    "take": "lib.take(x, places)",
    "gather": "x.gather(0, places)",
    "gather 1": "x.gather(1, places)",
    "take_along_dim": "lib.take_along_dim(x, places, 1)",
    "scatter": "x.scatter(1, places, y)",
    "scatter_add": "x.scatter_add(0, places, y)",
    "masked_fill": "x.masked_fill(mask, 0.5)",
    "masked_select": "x.masked_select(mask)",
    "tril": "lib.tril(x)",
    "triu": "x.triu(1)",
    "diag of a matrix": "lib.diag(x, 1)",
    "diag of a vector": "lib.diag(v)",
    "index_fill": "x.index_fill(1, picked, 0.5)",
    "index_copy": "x.index_copy(1, picked, y)",
    "put": "x.put(picked, v)",
    "masked_scatter": "x.masked_scatter(mask, y)",
    **{
        f"scatter_reduce {reduce} {whole}": f"x.scatter_reduce(0, places, y, {reduce!r}, include_self={whole})"
        for reduce in ("sum", "prod", "mean", "amax", "amin")
        for whole in (True, False)
    },
    **{
        f"index_reduce {reduce} {whole}": f"lib.index_reduce(x, 0, picked, y, {reduce!r}, include_self={whole})"
        for reduce in ("prod", "mean", "amax", "amin")
        for whole in (True, False)
    },
}
ORDER = {  # and statistics, running values, distances
    "sort": "x.sort(0)",
    "sort 1": "x.sort(1)",
    "argsort": "x.argsort(1)",
    "topk": "x.topk(4)",
    "cumsum": "x.cumsum(0)",
    "cumsum 1": "x.cumsum(1)",
    "cumprod": "lib.cumprod(x, -1)",
    "median": "x.median(1)",
    "nanmedian": "lib.nanmedian(x, 1)",
    "kthvalue": "x.kthvalue(2, 1)",
    "mode": "x[:100].mode(1)",
    "quantile": "lib.quantile(x, 0.25, 1)",
    "msort": "x.msort()",
    "aminmax": "x.aminmax(dim=1)",
    "cummax": "x.cummax(1)",
    "cummin": "x.cummin(1)",
    "logcumsumexp": "x.logcumsumexp(1)",
    "diff": "x.diff(n=2, dim=1)",
    "cov": "lib.cov(x)",
    "corrcoef": "lib.corrcoef(x)",
    "renorm": "x.renorm(2, 0, 1.5)",
    "trapezoid": "lib.trapezoid(x, dx=0.5)",
    "cumulative_trapezoid": "lib.cumulative_trapezoid(x, dim=1)",
    "gradient": "lib.gradient(x, dim=1)",
    "cdist 0.5": "lib.cdist(x[:20], y[:20], p=0.5)",
    "cdist 1.0": "lib.cdist(x[:100], y[:100], p=1.0)",
    "cdist 2.0": "lib.cdist(x[:100], y[:100], p=2.0)",
    "cdist 3.0": "lib.cdist(x[:20], y[:20], p=3.0)",
    "cdist inf": "lib.cdist(x[:100], y[:100], p=float('inf'))",
    "cdist of batches": "lib.cdist(x[:40].view(4, -1, n), y[:40].view(4, -1, n), p=1.0)",
    "cdist by a product": "lib.cdist(x, y, compute_mode='use_mm_for_euclid_dist')",
    "pdist": "lib.pdist(x[:100])",
    "pdist 3": "lib.pdist(x[:20], p=3.0)",
}
COMPOSED = {  # of several operations, and what makes other shapes
    "einsum ij,jk->ik": "lib.einsum('ij,jk->ik', x, y)",
    "einsum bij,bjk->bik": "lib.einsum('bij,bjk->bik', x[None], y[None])",
    "einsum ij,ij->i": "lib.einsum('ij,ij->i', x, y)",
    "einsum ij->ji": "lib.einsum('ij->ji', x)",
    "einsum i,ij,j->": "lib.einsum('i,ij,j->', v, x, w)",
    "tensordot": "lib.tensordot(x, y, 1)",
    "kron": "lib.kron(x[:8], y[:8])",
    "cross": "lib.cross(x[:, :3], y[:, :3], dim=1)",
    "block_diag": "lib.block_diag(x[:100], y[:100])",
    "meshgrid": "lib.meshgrid(v, w, indexing='ij')",
    "cartesian_prod": "lib.cartesian_prod(v[:100], w[:100])",
    "trace": "x.trace()",
    "nan_to_num": "x.nan_to_num()",
    "std_mean": "lib.std_mean(x, 1)",
    "vector_norm": "lib.linalg.vector_norm(x, dim=1)",
    "matrix_norm": "lib.linalg.matrix_norm(x)",
    "matrix_power": "lib.linalg.matrix_power(x[:100, :100], 3)",
    "equal": "lib.equal(x, x)",
    "allclose": "lib.allclose(x, x)",
    "isin": "lib.isin(picked, picked[:4])",
    "unique": "picked.unique()",
    "unique_consecutive": "picked.unique_consecutive()",
    "bincount": "picked.bincount()",
    "histc": "lib.histc(x, 10, -3, 3)",
    "searchsorted": "lib.searchsorted(v, x)",
    "bucketize": "lib.bucketize(x, v)",
    "nonzero": "mask.nonzero()",
    "hstack": "lib.hstack((x, y))",
    "vsplit": "x.vsplit(2)",
    "polygamma": "lib.polygamma(1, x.abs() + 0.5)",
}
CREATION = {
    "zeros": "lib.zeros(n, n)",
    "ones": "lib.ones(n, n)",
    "full": "lib.full((n, n), 0.5)",
    "empty": "lib.empty(n, n)",
    "zeros_like": "lib.zeros_like(x)",
    "arange": "lib.arange(n * n)",
    "linspace": "lib.linspace(0, 1, n * n)",
    "eye": "lib.eye(n)",
    "one_hot": "lib.nn.functional.one_hot(picked, n)",
    "rand": "lib.rand(n, n)",
    "randn": "lib.randn(n, n)",
    "randint": "lib.randint(0, 10, (n, n))",
    "randperm": "lib.randperm(n * n)",
    "bernoulli": "lib.bernoulli(v)",
    "multinomial": "lib.multinomial(v, 4)",
    "normal_": "y.normal_()",
    "uniform_": "y.uniform_()",
    "exponential_": "y.exponential_()",
    "dropout": "lib.nn.functional.dropout(x, 0.5, True)",
}
CALLS = {  # of one small tensor each: what a call costs
    "x[i]": "v[3]",
    "x[1:3]": "v[1:3]",
    "item": "v[3].item()",
    "float()": "float(v[3])",
    "tolist": "v.tolist()",
    "tensor of a list": "lib.tensor([1.0, 2.0, 3.0])",
    "iterate": "[i for i in picked]",
    "stack of slices": "lib.stack([x[i] for i in range(8)])",
    "cat of slices": "lib.cat([x[i : i + 1] for i in range(8)])",
    "x + 1": "x + 1",
    "x == y": "x == y",
    "shape": "x.shape",
    "detach": "x.detach()",
}


def operations() -> list[Row]:
    rows = elementwise(UNARY, "()") + elementwise(BINARY, "(y)") + reductions()
    both = ("contiguous", "transposed")
    tables = [
        ("products", PRODUCTS, both),
        ("joins", JOINS, both),
        ("choices", CHOICES, both),
        ("writes", WRITES, both[:1]),
        ("dtypes", DTYPES, both[:1]),
        ("linalg", LINALG, both[:1]),
        ("views", VIEWS, both[:1]),
        ("copies", COPIES, both),
        ("indexing", INDEXING, both),
        ("order", ORDER, both),
        ("composed", COMPOSED, both[:1]),
        ("creation", CREATION, both[:1]),
    ]
    for family, codes, layouts in tables:
        for name, code in codes.items():
            sizes = of_sizes(family, name, code, layouts)
            rows += sizes[: len(layouts)] if family == "views" else sizes  # a view's size is no matter
    return rows + [of_sizes("calls", name, code)[0] for name, code in CALLS.items()]


# ---- Layers, losses, optimizers --------------------------------------------------------------------------------------


def passes(family: str, name: str, code: str, build: Callable[[Any], dict[str, Any]]) -> list[Row]:
    """The row of the forward pass, and that of forward and backward from gradients of one."""

    def with_backward(framework: Any) -> dict[str, Any]:
        names = build(framework)
        inputs = [names[letter] for letter in ("a" if family == "losses" else "abc") if letter in names]
        leaves = [x.requires_grad_() for x in inputs if x.is_floating_point()]
        leaves += names["layer"].parameters() if hasattr(names["layer"], "parameters") else []
        forward = compile(code, name, "eval")
        start: Any = None

        def step() -> None:
            nonlocal start
            for leaf in leaves:
                leaf.grad = None
            result = eval(forward, names)
            result = result[0] if isinstance(result, tuple) else result
            if start is None:
                start = names["lib"].ones_like(result)
            result.backward(start)

        return {"step": step}

    elements = large(name)
    return [
        Row(family, name, "forward", code, build, elements),
        Row(family, name, "with backward", "step()", with_backward, elements),
    ]


def large(name: str) -> bool:
    """Whether the largest of the shapes in a row's name has many elements."""
    sizes = [1]
    for shape in re.findall(r"\[([\d, ]+)\]", name):
        count = 1
        for size in shape.split(","):
            count *= int(size)
        sizes.append(count)
    return max(sizes) > MANY


def layer_rows() -> list[Row]:
    rows = []
    for family, table in (("layers", LAYERS), ("functional", FUNCTIONAL), ("losses", LOSSES)):
        for name, code, build in table:
            rows += passes(family, name, code, build)
    rows += [Row("optimizers", name, "step", "optimizer.step()", build, large(name)) for name, build in OPTIMIZERS]
    return rows


ROWS = operations() + layer_rows()


def covered() -> set[str]:
    """The names in the tests' tables that have a row; a layer stands for its function: MaxPool2d for max_pool2d."""
    names = {row.name for row in ROWS} | {row.name.partition("(")[0] for row in ROWS}
    snakes = {re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower() for name in names}
    return names | snakes | {re.sub(r"\dd$", "", name) for name in snakes}
