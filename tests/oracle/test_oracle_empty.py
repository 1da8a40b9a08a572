"""Empty tensors against torch: every reduction and every view, with values, shapes and dtypes, or an error in both."""

from __future__ import annotations

import warnings

import pytest
import torch
from comparison import difference

import norch

SHAPES = [(0,), (0, 3), (3, 0), (2, 0, 3), (0, 0)]

REDUCTIONS = """
sum mean prod var std any all amax amin max min argmax argmin logsumexp norm median nanmedian mode nansum nanmean
count_nonzero cumsum cumprod cummax cummin logcumsumexp softmax log_softmax sort argsort unique aminmax
""".split()

VIEWS = """
x.reshape(-1)
x.reshape(0, 5)
x.reshape(0, -1)
x.view(-1)
x.view(0, 7)
x.view(5)
x.flatten()
x.flatten(-1)
x.ravel()
x.t()
x.T
x.mT
x.transpose(0, -1)
x.permute(*reversed(range(x.ndim)))
x.squeeze()
x.squeeze(0)
x.unsqueeze(0)
x.unsqueeze(-1)
x.expand(4, *x.shape)
x.expand(*x.shape)
x.select(0, 0)
x.select(-1, 0)
x.narrow(0, 0, 0)
x.narrow(0, 0, 1)
x.narrow(-1, 0, 0)
x[0:0]
x[1:]
x[:, 0:1]
x[..., None]
x[x > 0]
x.diagonal()
x.diagonal(1)
x.diagonal(-1)
x.diagonal(0, 0, -1)
x.diag()
x.tril()
x.triu()
x.trace()
x.split(1)
x.split(0)
x.split(2, -1)
x.split([0, 0])
x.chunk(2)
x.chunk(3, -1)
x.tensor_split(2)
x.unbind()
x.unbind(-1)
x.unfold(0, 0, 1)
x.unfold(-1, 1, 1)
x.as_strided((0,), (1,))
x.as_strided(tuple(x.shape), tuple(x.stride()))
x.movedim(0, -1)
x.flip(0)
x.flip(-1)
x.fliplr()
x.roll(1)
x.roll(1, 0)
x.rot90()
x.repeat(2, *[1] * (x.ndim - 1))
x.tile(2)
x.repeat_interleave(2)
x.repeat_interleave(2, 0)
x.clone()
x.contiguous()
x.unflatten(0, (0, 1))
x.unflatten(-1, (-1, 1))
x.gather(0, x.long())
x.index_select(0, lib.tensor([], dtype=lib.int64))
x.index_select(0, lib.tensor([0]))
x.take(lib.tensor([], dtype=lib.int64))
x.masked_fill(x > 0, 1.0)
x.masked_select(x > 0)
x.nonzero()
x.topk(0)
x.kthvalue(1)
x.diff()
x.diff(dim=0)
x.histc()
x.bincount() if x.dtype == lib.int64 else x.long().reshape(-1).bincount()
x.quantile(0.5)
x.cov()
x.T @ x
x @ x.T
x.matmul(lib.ones(3, 2))
lib.cat([x, x])
lib.cat([x, x], -1)
lib.stack([x, x])
lib.where(x > 0, x, x)
lib.einsum("...i->...", x)
lib.cdist(x, x)
lib.meshgrid(x.reshape(-1), x.reshape(-1), indexing="ij")
lib.broadcast_tensors(x, x)
lib.nn.functional.one_hot(x.long().reshape(-1), 3)
lib.nn.functional.pad(x, (1, 1))
lib.nn.functional.normalize(x)
x.tolist()
x.max() if x.ndim == 9 else x.equal(x)
""".strip().splitlines()

# Of no integers torch's median is the smallest one, and softmax is defined; norch has 0, and refuses.
OF_FLOATS = ("x.median()", "x.nanmedian()", "x.softmax", "x.log_softmax")

CALLS = [
    *(f"x.{name}()" for name in REDUCTIONS),
    *(f"x.{name}(0)" for name in REDUCTIONS if name not in ("norm", "unique")),
    *(f"x.{name}(-1)" for name in REDUCTIONS if name not in ("norm", "unique")),
    *(f"x.{name}(dim=0, keepdim=True)" for name in REDUCTIONS if name not in ("norm", "unique")),
    *(f"x.norm({p}, {dim})" for p in ("0", "1", "2", "3", "float('inf')") for dim in (None, 0, -1)),
    *(f"x.sum(({dims}))" for dims in ("0,", "0, -1", "")),
    *VIEWS,
]


def outcome(call: str, lib, shape: tuple[int, ...], dtype: str):
    x = lib.zeros(shape, dtype=getattr(lib, dtype))
    try:
        return eval(call, {"lib": lib, "x": x})
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        return error


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_empty_tensors(shape, dtype):
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in CALLS:
            ours, theirs = outcome(call, norch, shape, dtype), outcome(call, torch, shape, dtype)
            failed = [isinstance(result, Exception) for result in (ours, theirs)]
            reason = f"{ours!r}, torch has {theirs!r}" if any(failed) else difference(ours, theirs)
            if reason is not None and not all(failed) and not (dtype == "int64" and call.startswith(OF_FLOATS)):
                found.append(f"{call}: {reason}")
    assert not found, "\n".join(found)
