"""norch beside torch on rows that nobody chose: an operation, a shape, a dtype and layouts, drawn by chance.

    PYTHONPATH=. python benchmarks/drawn.py --rows 3000 --seed 1
    PYTHONPATH=. python benchmarks/drawn.py --only "sort|topk"

wide.py measures square matrices and named layers; here tensors have one to five dimensions, which are permuted, sliced,
repeated or contiguous, and a quarter of the rows has a backward. It prints torch's time over norch's for the rows
under 0.75, the worst last, then the rows whose results are not as torch's, and the geometric mean. Times are the least
of some rounds on one thread; a row that seems slow is measured again. (torch's medians of repeated elements are wrong.)
"""

from __future__ import annotations

import argparse
import math
import random
import re
import time
import warnings
from typing import Any, Callable, NamedTuple

import numpy
import torch

import norch

SLOW = 0.75
SHAPES = [
    (64,), (5000,), (300000,), (16, 64), (512, 300), (1000, 3), (3, 100000), (100000, 3), (1, 1), (3, 7, 11),
    (32, 10, 64), (8, 64, 256), (128, 5, 31), (20, 1, 300), (4, 16, 32, 32), (2, 3, 64, 64), (16, 8, 50, 64),
    (64, 128, 7, 7), (2, 4, 6, 8, 10),
]  # fmt: skip
DTYPES = ["float32"] * 4 + ["float64", "float16", "int64", "int32", "uint8", "bool"]
LAYOUTS: dict[str, Callable[[Any, Any], Any]] = {
    "contiguous": lambda lib, x: x,
    "transposed": lambda lib, x: x.transpose(0, -1).contiguous().transpose(0, -1),
    "permuted": lambda lib, x: x.movedim(0, -1).contiguous().movedim(-1, 0),
    "repeated": lambda lib, x: x[:1].expand(x.shape),
    "sliced": lambda lib, x: lib.cat((x, x), -1)[..., 1 : x.shape[-1] + 1],
    "stepped": lambda lib, x: lib.cat((x, x), -1)[..., ::2],
}
# Lines of Python: x and y are of one shape and dtype, d is a dimension, n its size, F is nn.functional.
DIFFERENTIABLE = """
x.abs() x.neg() x.exp() x.sqrt() x.log() x.sin() x.tanh() x.sigmoid() x.relu() x.square() x.reciprocal() x.erf()
x.clone() x.float() x.double() x.half() x.contiguous() x+y x-y x*y x/y x+2 x*2 x/2 x**2 2-x x.pow(y) lib.atan2(x,y)
lib.maximum(x,y) lib.minimum(x,y) x+y.narrow(d,0,1) x*y.narrow(d,0,1) x/y[...,:1] lib.where(x>y,x,y)
x.masked_fill(x>y,0) x.clamp(0.2,0.7) lib.lerp(x,y,0.3) lib.addcmul(x,x,y) x.sum() x.mean() x.std() x.norm() x.amax()
x.sum(d) x.mean(d) x.amax(d) x.prod(d) x.std(d) x.var(d) x.norm(dim=d) x.max(d)[0] x.logsumexp(d) x.softmax(d)
x.log_softmax(d) x.cumsum(d) x.cumprod(d) x.sort(d)[0] x.topk(min(3,n),d)[0] x.sum((0,-1)) x.mean((-2,-1)) x.flip(d)
x.roll(1,d) x.diff(dim=d) lib.cat((x,y,x),d) lib.stack((x,y),d) x.repeat_interleave(2,d)
x.index_select(d,lib.tensor([0,n-1,0])) x.gather(d,x.argsort(d,stable=True)) x.transpose(0,-1).reshape(-1) x.tril()
x@y.transpose(-1,-2) lib.einsum('...i,...i->...',x,y) F.layer_norm(x,x.shape[-1:]) F.normalize(x,dim=d) F.gelu(x)
F.silu(x) F.elu(x-0.5) F.softplus(x) F.leaky_relu(x) F.pad(x,(1,2)) F.mse_loss(x,y) F.l1_loss(x,y)
F.cosine_similarity(x,y,dim=d)
""".split()
OTHERS = """
x.isnan() x.logical_not() x.floor() x.sign() x.bool() x.long() x==y x<y x>=2 lib.logical_and(x,y) x.argmax(d)
x.argmin(d) x.any(d) x.all(d) x.any() x.argmax() x.argsort(d,stable=True) x.count_nonzero(d) x.nonzero() x[x>y]
x.remainder(y) x.fmod(y) x//y x.median(d)[0] x.kthvalue(1,d)[0] x.cummax(d)[0] x.unique() x.flatten().long().bincount()
x.clone().add_(y) x.clone().mul_(1) x.clone().narrow(d,0,n//2+1).fill_(1)
x.clone().narrow(d,0,n//2+1).copy_(y.narrow(d,0,n//2+1))
""".split()


class Row(NamedTuple):
    code: str
    shape: tuple[int, ...]
    dtype: str
    layouts: tuple[str, str]
    dim: int
    has_backward: bool

    def __str__(self) -> str:
        end = ", with backward" if self.has_backward else ""
        return f"{self.code} of {list(self.shape)} {self.dtype}, {' and '.join(self.layouts)}, d={self.dim}{end}"

    def compiled(self, lib: Any, seed: int) -> Callable[[], Any]:
        """The row as a function, of the same numbers for either framework."""
        draw = numpy.random.RandomState(seed)
        names = {"lib": lib, "F": lib.nn.functional, "d": self.dim, "n": self.shape[self.dim]}
        for name, layout in zip("xy", self.layouts):
            x = draw.rand(*self.shape) * 0.9 + 0.05 if "float" in self.dtype else draw.randint(1, 20, self.shape)
            values = lib.tensor(x > 9 if self.dtype == "bool" else x).to(getattr(lib, self.dtype))
            names[name] = LAYOUTS[layout](lib, values)
        leaf = names["x"] = names["x"].detach().requires_grad_(self.has_backward)
        forward = eval(f"lambda: {self.code}", names)

        def with_backward() -> Any:
            leaf.grad = None
            forward().sum().backward()
            return leaf.grad

        return with_backward if self.has_backward else forward


def drawn(rng: random.Random, only: str) -> Row:
    codes = [code for code in DIFFERENTIABLE + OTHERS if re.search(only, code)]
    code, shape, dtype = rng.choice(codes), rng.choice(SHAPES), rng.choice(DTYPES)
    first = rng.choice(list(LAYOUTS))
    second = rng.choice([first, rng.choice(list(LAYOUTS))])
    has_backward = rng.random() < 0.25 and dtype in ("float32", "float64") and code in DIFFERENTIABLE
    return Row(code, shape, dtype, (first, second), rng.randrange(len(shape)), has_backward)


def least_time(function: Callable[[], Any]) -> float:
    """Seconds of a call, the least of seven rounds."""
    rounds, count = [], 1
    function()
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(count):
            function()
        rounds.append((time.perf_counter() - start) / count)
        count = max(1, min(1000, int(1e-4 / rounds[-1])))
    return min(rounds)


def differ(ours: Any, theirs: Any, dtype: str) -> bool:
    """Whether two results are not of one shape with nearly the same numbers."""
    a, b = (numpy.asarray(x.detach().double().tolist()) for x in (ours, theirs))
    tolerance = 1e-2 if dtype == "float16" else 1e-4
    return a.shape != b.shape or not numpy.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a regular expression of lines of Python")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    norch.set_num_threads(1)
    rng, slow, ratios, different = random.Random(options.seed), [], [], []
    while len(ratios) < options.rows:
        row, seed = drawn(rng, options.only), rng.randrange(10**6)
        if "@" in row.code and len(row.shape) > 1 and math.prod(row.shape) * row.shape[-2] > 10**8:
            continue
        try:
            theirs = row.compiled(torch, seed)
            expected = theirs()
        except (RuntimeError, TypeError, IndexError):  # not for this dtype or shape
            continue
        ours = row.compiled(norch, seed)
        try:
            found = ours()
        except (RuntimeError, TypeError, ValueError) as error:
            different.append(f"{row}: {error}")
            continue
        if math.prod(row.shape) < 20000 and differ(found, expected, row.dtype):
            different.append(str(row))
        a, b = least_time(ours), least_time(theirs)
        for _ in range(2 * (b / a < SLOW)):
            a, b = min(a, least_time(ours)), min(b, least_time(theirs))
        ratios.append(b / a)
        if b / a < SLOW:
            slow.append((b / a, f"{b / a:5.2f} {a * 1e6:9.1f} us  {row}"))
    print(*(line for _, line in sorted(slow, reverse=True)), sep="\n")
    print(*(f"not as torch's: {row}" for row in different), sep="\n")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean {mean:.2f} over {len(ratios)} rows, {len(slow)} of them under {SLOW}")


if __name__ == "__main__":
    main()
