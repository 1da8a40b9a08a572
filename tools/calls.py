"""Counts what each public operation costs before its kernel runs: calls into C, and functions of norch's Python.

    PYTHONPATH=. python tools/calls.py            # writes tests/tables/calls.txt again
    PYTHONPATH=. python tools/calls.py --show stack

Each line of ROWS is an operation on small tensors. tests/tables/test_calls.py fails if one takes more than was written.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# C functions that read an argument, a value, or what a tensor is, or make its Python object: no operations
READING = """parts_of_index values_of shape_of strides_of ndim_of dtype_of device_of count_of offset_of
    is_in_row_order wrap_handle wrap_handles wrap_view wrap_views""".split()
RECORD = ROOT / "tests" / "tables" / "calls.txt"

# What a row finds: x and y [8, 8] of floats, n [8] of integers, rows [4] of places, mask [8, 8] of bools, and so on.
SETUP = """
x, y, v = norch.rand(8, 8), norch.rand(8, 8), norch.rand(8)
number, parts = norch.rand(()), [norch.rand(8, 8) for _ in range(4)]
n, rows, mask = norch.arange(8), norch.tensor([0, 3, 5, 1]), norch.rand(8, 8) > 0.5
places, w = norch.zeros(8, 8).long(), norch.rand(8, 8, requires_grad=True)
image = norch.rand(2, 3, 8, 8)
F = norch.nn.functional
"""

# family -> rows. A row is an expression, or a statement.
ROWS = {
    "out": """
        norch.exp(x, out=y)
        norch.add(x, y, out=x)
        norch.mm(x, y, out=x)
        norch.cumsum(x, 1, out=y)
    """,
    "in place": """
        y.t_()
        y.unsqueeze_(0).squeeze_(0)
        y.round_(decimals=2)
        y.addmm_(x, x, beta=0.5, alpha=0.1)
        y.addr_(v, v)
    """,
    "making": """
        norch.zeros(8, 8)
        norch.ones(8, 8)
        norch.full((8, 8), 2.0)
        norch.empty(8, 8)
        norch.eye(8)
        norch.arange(8)
        norch.linspace(0, 1, 8)
        norch.tril_indices(8, 8)
        norch.tensor([1.0, 2.0])
        norch.zeros_like(x)
        norch.ones_like(x)
        norch.full_like(x, 2.0)
        norch.empty_like(x)
        x.new_zeros(8, 8)
        x.clone()
        norch.rand(8, 8)
        norch.randn(8, 8)
        norch.randint(0, 9, (8, 8))
        norch.randperm(8)
        norch.bernoulli(x)
        norch.multinomial(v, 4)
        norch.normal(0.0, 1.0, (8, 8))
        """,
    "arithmetic": """
        x + y
        x + 1.0
        1.0 - x
        x * y
        x / y
        x ** 2
        norch.add(x, y)
        x.add(y)
        x.add(y, alpha=2)
        x += y
        x.add_(y)
        x.mul_(y)
        x.exp()
        norch.exp(x)
        -x
        x < y
        norch.maximum(x, y)
        norch.where(mask, x, y)
        x.clamp(0.2, 0.8)
        x.clamp(min=0.2)
        x.clamp_(0.2, 0.8)
        norch.addcmul(x, x, y)
        norch.lerp(x, y, 0.5)
        norch.atan2(x, y)
        x.round()
        x.isnan()
        x.nan_to_num()
        x.sinc()
        x.logit()
        x.nan_to_num_()
        x.round_()
        norch.polygamma(1, x)
        x.float()
        x.double()
        x.to("cpu")
        """,
    "views": """
        x[2]
        x[2, 3]
        x[-1]
        x[1:3]
        x[::2]
        x[:, 1:3]
        x[:, 2]
        x[None]
        x[..., 0]
        x.T
        x.t()
        x.mT
        x.transpose(0, 1)
        x.permute(1, 0)
        x.reshape(64)
        x.view(4, 16)
        x.view(-1)
        x.flatten()
        x.unsqueeze(0)
        x.squeeze()
        x.expand(8, 8)
        x.narrow(0, 1, 3)
        x.select(0, 1)
        x.detach()
        x.contiguous()
        x.diagonal()
        x.unbind()
        x.split(2)
        x.chunk(4)
        x.tensor_split(3)
        x.tensor_split((2, 5))
        list(v)
        list(n)
        x.unfold(0, 2, 2)
        """,
    "indexing": """
        x[rows]
        x[mask]
        x[rows, rows]
        x[:, rows]
        x[1:3] = 0.0
        x[2] = v
        x[mask] = 0.0
        x[rows] = 0.0
        x.index_select(0, rows)
        x.gather(1, places)
        x.scatter(1, places, y)
        x.scatter_add(1, places, y)
        x.index_add(0, rows, x[:4])
        x.take(rows)
        x.masked_fill(mask, 0.0)
        x.masked_fill_(mask, 0.0)
        x.masked_select(mask)
        x.masked_scatter(mask, y)
        x.index_put((rows,), x[:4])
        x.put(rows, v[:4])
        x.index_fill(0, rows, 1.0)
        x.scatter_reduce(0, places, y, "mean")
        x[rows, rows] = v[:4]
        x.nonzero()
        norch.take_along_dim(x, places, 1)
        x.tril()
        x.triu()
        x.roll(1, 0)
        x.flip(0)
        x.repeat(2, 2)
        norch.cat(parts)
        norch.stack(parts)
        norch.hstack(parts)
        norch.vstack(parts)
        norch.meshgrid(v, v, indexing="ij")
        """,
    "reductions": """
        x.sum()
        x.sum(0)
        x.sum(dim=1, keepdim=True)
        x.mean()
        x.mean(1)
        x.prod()
        x.max()
        x.max(1)
        x.min(0)
        x.amax(1)
        x.argmax()
        x.argmax(1)
        x.std()
        x.var(1)
        x.norm()
        x.norm(dim=1)
        x.logsumexp(1)
        x.softmax(1)
        x.log_softmax(1)
        x.any()
        x.all()
        mask.any(1)
        x.cumsum(0)
        x.cumprod(0)
        x.sort()
        x.argsort()
        x.topk(3)
        x.kthvalue(2)
        x.median()
        x.median(1)
        x.mode()
        x.quantile(0.5, 1)
        x.aminmax()
        x.cummax(1)
        x.logcumsumexp(1)
        x.diff(n=2)
        x.renorm(2, 0, 1.0)
        norch.trapezoid(x)
        norch.cumulative_trapezoid(x)
        norch.gradient(x, dim=1)
        norch.cdist(x, y)
        norch.pdist(x)
        x.unique()
        n.unique_consecutive()
        n.bincount()
        x.histc(10, 0, 1)
        norch.isin(n, rows)
        x.count_nonzero()
        norch.allclose(x, y)
        norch.equal(x, y)
        number.item()
        x.tolist()
        float(number)
        bool(number > 0)
        """,
    "products": """
        x @ y
        norch.mm(x, y)
        norch.matmul(x, v)
        norch.bmm(x[None], y[None])
        norch.dot(v, v)
        norch.outer(v, v)
        norch.einsum("ij,jk->ik", x, y)
        norch.addmm(x, x, y)
        norch.baddbmm(x[None], x[None], y[None])
        norch.trace(x)
        norch.inner(x, y)
        norch.cross(x[:3], y[:3], dim=0)
        norch.block_diag(x, y)
        norch.kron(x, y)
        norch.linalg.lu_factor(x)
        x.triangular_solve(y)
        norch.linalg.norm(x)
        norch.linalg.matrix_norm(x)
        """,
    "functions": """
        F.relu(x)
        F.gelu(x)
        F.silu(x, inplace=True)
        F.leaky_relu_(x)
        F.hardtanh_(x)
        F.threshold_(x, 0.1, 0.2)
        F.softmax(x, dim=1)
        F.linear(x, y, v)
        F.mse_loss(x, y)
        F.cross_entropy(x, n)
        F.nll_loss(x, n)
        F.cross_entropy(x, n, v)
        F.l1_loss(x, y)
        F.one_hot(n, 8)
        F.pad(x, (1, 1))
        F.interpolate(image, None, 2, "bilinear")
        F.embedding(n, x)
        F.embedding_bag(places, x)
        F.embedding_bag(n, x, n)
        F.layer_norm(x, (8,))
        F.pixel_unshuffle(image, 2)
        F.dropout(x, 0.5)
        """,
    "gradients": """
        (w * 2).sum().backward()
        w * w
        w.sum()
        w.detach()
        w.requires_grad
        """,
}


# reason -> the rows that it makes several calls of C
REASONS = {
    "the kernel, then a copy into out": """
        norch.mm(x, y, out=x)
        norch.cumsum(x, 1, out=y)
        """,
    "the view, then the count of writes": """
        y.t_()
        y.unsqueeze_(0).squeeze_(0)
        """,
    "a view or a copy: asks whether memory is shared": """
        x.reshape(64)
        x.flatten()
        """,
    "a kernel for each axis": """
        F.interpolate(image, None, 2, "bilinear")
        """,
    "the view, then the write": """
        x[1:3] = 0.0
        x[2] = v
        """,
    "views, then the kernel": """
        x.index_add(0, rows, x[:4])
        x.index_put((rows,), x[:4])
        x.put(rows, v[:4])
        x[rows, rows] = v[:4]
        norch.meshgrid(v, v, indexing="ij")
        norch.bmm(x[None], y[None])
        norch.baddbmm(x[None], x[None], y[None])
        norch.inner(x, y)
        norch.cross(x[:3], y[:3], dim=0)
        """,
    "the places, then the elements there": """
        x.argsort()
        x.median()
        """,
    "the formula, with the derivatives of its parts": """
        F.cross_entropy(x, n, v)
        x.quantile(0.5, 1)
        norch.allclose(x, y)
        F.dropout(x, 0.5)
        """,
    "the triangle, then what it solves": """
        x.triangular_solve(y)
        """,
    "the factors, then whether a pivot is 0": """
        norch.linalg.lu_factor(x)
        """,
    "a comparison, then its reduction": """
        x.count_nonzero()
        """,
    "checks the indices, then the kernel": """
        F.one_hot(n, 8)
        """,
    "the walk over a graph of two nodes": """
        (w * 2).sum().backward()
        """,
}


def rows() -> list[str]:
    """All operations."""
    return [line.strip() for lines in ROWS.values() for line in lines.strip().splitlines()]


def composed() -> dict[str, str]:
    """Those of several calls -> why."""
    return {line.strip(): why for why, lines in REASONS.items() for line in lines.strip().splitlines()}


class Counter:
    """Counts calls of the C library's functions and of functions in norch's files."""

    def __init__(self) -> None:
        sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]
        from ccalls import import_watched

        self.c: list[str] = []
        self.python: list[str] = []
        self.norch = import_watched(lambda name, nanoseconds: self.c.append(name))
        self.folder = str(Path(self.norch.__file__).parent)

    def profile(self, frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        # comprehensions are functions only until Python 3.12
        if event == "call" and code.co_filename.startswith(self.folder) and not code.co_name.endswith("comp>"):
            self.python.append(code.co_name)

    def count(self, row: str) -> tuple[list[str], list[str]]:
        """The calls of C and of Python, in order, when the row runs once more after it has filled the caches."""
        names: dict[str, Any] = {"norch": self.norch}
        random.seed(0)
        self.norch.manual_seed(0)
        exec(SETUP, names)
        code = compile(row, row, "exec")
        for _ in range(3):
            exec(code, names)
        self.c.clear()
        self.python.clear()
        sys.setprofile(self.profile)
        try:
            exec(code, names)
        finally:
            sys.setprofile(None)
        kernels = [name for name in self.c if not name.startswith("free_") and name not in READING]
        return kernels, list(self.python)


def counts() -> dict[str, tuple[int, int]]:
    """Each row -> how many calls of C, and of Python."""
    counter = Counter()
    return {row: (len(c), len(python)) for row in rows() for c, python in [counter.count(row)]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--show", help="print the calls of one operation")
    parser.add_argument("--json", action="store_true", help="print the counts, and write nothing")
    arguments = parser.parse_args()
    if arguments.json:
        print(json.dumps(counts()))
    elif arguments.show is None:
        lines, why = [], composed()
        for row, (c, python) in counts().items():
            lines.append(f"{c:2} {python:7}  {row:42}{why.get(row, '')}".rstrip())
        RECORD.write_text("\n".join([" C  Python  operation", *lines]) + "\n")
    else:
        c, python = Counter().count(arguments.show)
        print("C:", *c)
        print("Python:", *python)


if __name__ == "__main__":
    main()
