"""norch.func beside torch.func: each row is computed in both; and what both refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402
from norch.utils import _pytree  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # torch warns of its own scripts


def vector(t):
    return t.tensor([0.5, -1.0, 2.0])


def grid(t):
    return t.arange(6.0).reshape(2, 3)


def filled(t, module):
    with t.no_grad():
        for p in module.parameters():
            p.fill_(0.5)
    return module


def halves(t):
    return {"weight": t.full((2, 3), 0.5), "bias": t.full((2,), 0.5)}


def without_running(t):
    model = t.nn.Sequential(t.nn.BatchNorm1d(3), t.nn.Sequential(t.nn.BatchNorm1d(3, affine=False), t.nn.ReLU()))
    return t.func.replace_all_batch_norm_modules_(model)


ROWS = {
    "batch norms without a memory": lambda t, f: [
        without_running(t).eval()(grid(t)),
        t.tensor(len(without_running(t).state_dict())),
    ],
    "grad": lambda t, f: f.grad(lambda x: (x**3).sum())(vector(t)),
    "grad of two": lambda t, f: f.grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(vector(t), 2 * vector(t)),
    "grad of a tree": lambda t, f: f.grad(lambda d: (d["a"] * d["b"][0]).sum())({"a": vector(t), "b": [vector(t) + 1]}),
    "grad, aux": lambda t, f: f.grad(lambda x: (x.sum(), x * 2), has_aux=True)(vector(t)),
    "grad and value": lambda t, f: f.grad_and_value(lambda x: (x.sin().sum(), x), has_aux=True)(vector(t)),
    "grad of grad": lambda t, f: f.grad(lambda x: f.grad(lambda y: y**4)(x))(t.tensor(2.0)),
    "grad of what does not depend": lambda t, f: f.grad(lambda x: t.tensor(1.0))(vector(t)),
    "vjp": lambda t, f: f.vjp(t.exp, vector(t))[1](vector(t)),
    "vjp of a tree": lambda t, f: f.vjp(lambda d: (d["x"] ** 2, d["x"].sum()), {"x": vector(t)})[1](
        (vector(t), t.tensor(1.0))
    ),
    "vjp, aux": lambda t, f: [f.vjp(lambda x: (x * x, x), vector(t), has_aux=True)[i] for i in (0, 2)],
    "jvp": lambda t, f: f.jvp(lambda x, y: x * y, (vector(t), vector(t) + 1), (vector(t), vector(t))),
    "jvp of a dict": lambda t, f: f.jvp(lambda d: d["x"].sin(), ({"x": vector(t)},), ({"x": vector(t)},))[1],
    "linearize": lambda t, f: f.linearize(t.sin, vector(t))[1](vector(t)),
    "jacrev": lambda t, f: f.jacrev(lambda x: x.outer(x))(vector(t)),
    "jacrev of several": lambda t, f: f.jacrev(lambda x, y: (x * y, x.sum()), argnums=(0, 1))(vector(t), vector(t)),
    "jacrev, aux": lambda t, f: f.jacrev(lambda x: (x * x, x), has_aux=True)(vector(t)),
    "jacfwd": lambda t, f: f.jacfwd(t.sin)(vector(t)),
    "jacfwd of few inputs": lambda t, f: f.jacfwd(lambda x: {"a": x.outer(x).exp(), "b": x.sum()})(vector(t)),
    "jacfwd of two inputs": lambda t, f: f.jacfwd(lambda x, y: x.outer(y), (0, 1))(vector(t)[:2], vector(t)),
    "jacfwd of jacfwd": lambda t, f: f.jacfwd(f.jacfwd(lambda x: x.outer(x).sin()))(vector(t)),
    "jacfwd of jacrev": lambda t, f: f.jacfwd(f.jacrev(lambda x: (grid(t) @ x).sin()))(vector(t)),
    "jacfwd in a graph": lambda t, f: (
        lambda w: t.autograd.grad(f.jacfwd(lambda x: (w @ x).outer(x))(vector(t)).square().sum(), w)
    )(grid(t).requires_grad_()),
    "jacfwd of few inputs, narrower": lambda t, f: f.jacfwd(lambda x: x.outer(x).bfloat16())(vector(t)).float(),
    "hessian": lambda t, f: f.hessian(lambda x: (x**3).sum() * x[0])(vector(t)),
    "hessian of a dict": lambda t, f: f.hessian(lambda d: (d["x"] ** 2).sum() * d["y"])(
        {"x": vector(t), "y": t.tensor(3.0)}
    ),
    "vmap": lambda t, f: f.vmap(t.dot)(t.ones(2, 3), t.arange(6.0).view(2, 3)),
    "vmap of dims": lambda t, f: f.vmap(lambda a, b: a * b, in_dims=(0, 1), out_dims=1)(
        t.ones(3, 2), t.arange(6.0).view(2, 3)
    ),
    "vmap with a constant": lambda t, f: f.vmap(lambda a, b: a + b, in_dims=(None, -1))(vector(t), t.ones(3, 4)),
    "vmap of trees": lambda t, f: f.vmap(
        lambda d: (d["a"] + d["b"], {"c": d["a"].sum()}), in_dims=({"a": 0, "b": None},)
    )({"a": t.ones(2, 3), "b": vector(t)}),
    "vmap of vmap": lambda t, f: f.vmap(f.vmap(lambda a, b: a - b, (0, None)), (None, 0))(vector(t), t.arange(2.0)),
    "vmap of jacrev": lambda t, f: f.vmap(f.jacrev(lambda x: x**2))(t.arange(6.0).view(2, 3)),
    "vmap in chunks": lambda t, f: f.vmap(t.sum, chunk_size=2)(t.ones(5, 2)),
    "vmap of norch's own name": lambda t, f: t.vmap(lambda x: x.cumsum(0))(t.ones(2, 2)),
    "vmap over a write": lambda t, f: [f.vmap(lambda r: r.mul_(2))(x := grid(t)), x],
    "vmap over an index": lambda t, f: f.vmap(lambda r, i: r[i])(grid(t), t.tensor([0, 2])),
    "vmap over indices": lambda t, f: f.vmap(lambda r, i: r.gather(0, i))(grid(t), t.tensor([[0, 1], [2, 2]])),
    "vmap over a mask": lambda t, f: f.vmap(lambda r: t.where(r > 2, r, 0.0))(grid(t)),
    "vmap, one of a tuple of dims": lambda t, f: f.vmap(lambda r: r * 2, out_dims=(1,))(grid(t)),
    "vmap, the same for all": lambda t, f: f.vmap(lambda r: (r, vector(t)), out_dims=(1, None))(grid(t)),
    "vmap, NaN for all": lambda t, f: f.vmap(lambda r: vector(t) * math.nan, out_dims=None)(grid(t)).isnan().float(),
    "vmap, dims of a dict": lambda t, f: f.vmap(lambda r: {"a": r, "b": r.sum()}, out_dims={"a": 1, "b": 0})(grid(t)),
    "vmap of lists": lambda t, f: f.vmap(lambda both: both[0] + both[1], in_dims=([0, None],))([grid(t), vector(t)]),
    "vmap, keyword": lambda t, f: f.vmap(lambda r, k: r * k)(grid(t), k=vector(t)),
    "vmap of a number": lambda t, f: f.vmap(lambda r, k: r * k, in_dims=(0, None))(grid(t), 3),
    "vmap of nothing": lambda t, f: f.vmap(lambda r: r * 2)(t.ones(0, 3)),
    "vmap of the vectors of vjp": lambda t, f: f.vmap(f.vjp(lambda x: x**2, vector(t))[1])(t.eye(3)),
    "vmap of hessian": lambda t, f: f.vmap(f.hessian(lambda x: x.sin().sum()))(grid(t)),
    "grad of vmap of grad": lambda t, f: f.grad(lambda x: f.vmap(f.grad(lambda y: (y**3).sum()))(x).sum())(grid(t)),
    "jacrev of vmap": lambda t, f: f.jacrev(f.vmap(lambda x: x.sin()))(grid(t)),
    "jvp of vjp": lambda t, f: f.jvp(lambda x: f.vjp(t.sin, x)[1](t.ones(3))[0], (vector(t),), (t.ones(3),)),
    "jvp, aux": lambda t, f: f.jvp(lambda x: (x * 2, x + 1), (vector(t),), (t.ones(3),), has_aux=True),
    "jacfwd of narrower floats": lambda t, f: f.jacfwd(lambda x: x.bfloat16())(vector(t)).float(),
    "jacfwd of integers": lambda t, f: f.jacfwd(lambda x: tuple(x.max(0)))(vector(t)),
    "jacfwd, drawn": lambda t, f: f.jacfwd(lambda x: x * 2 + t.rand(3), randomness="same")(vector(t)),
    "jacrev in chunks": lambda t, f: f.jacrev(lambda x: x**2, chunk_size=2)(vector(t)),
    "functionalize": lambda t, f: f.functionalize(lambda x: x.clone().add_(1))(vector(t)),
    "samples' gradients": lambda t, f: (
        lambda m: f.vmap(f.grad(lambda p, x: f.functional_call(m, p, (x,)).sum()), (None, 0))(halves(t), grid(t))
    )(t.nn.Linear(3, 2)),
    "an ensemble": lambda t, f: (
        lambda m, p: f.vmap(lambda p, x: f.functional_call(m, p, (x,)), (0, None))(p, grid(t))
    )(t.nn.Linear(3, 2), {name: t.stack([p, p * 2]) for name, p in halves(t).items()}),
    "batch norm, evaluating": lambda t, f: f.vmap(filled(t, t.nn.BatchNorm1d(3)).eval())(t.ones(2, 4, 3)).detach(),
    "under no_grad": lambda t, f: t.no_grad()(f.grad(lambda x: (x * x).sum()))(vector(t)),
}  # fmt: skip


def numbers(value):
    leaves, spec = _pytree.tree_flatten(value)
    return [np.array(x.tolist()) for x in leaves], [x.requires_grad for x in leaves], [tuple(x.shape) for x in leaves]


@pytest.mark.parametrize("name", ROWS)
def test_function_transforms(name):
    theirs, ours = numbers(ROWS[name](torch, torch.func)), numbers(ROWS[name](norch, norch.func))
    assert ours[1:] == theirs[1:]
    for mine, wanted in zip(ours[0], theirs[0]):
        np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("t", [torch, norch])
def test_results_stay_in_the_graph_around_them(t):
    a = t.tensor(3.0, requires_grad=True)
    t.func.grad(lambda x: a * x**2)(t.tensor(2.0)).backward()
    assert float(a.grad) == 4.0
    b = t.tensor(2.0, requires_grad=True)
    t.func.grad(lambda x: x**3)(b).backward()
    assert float(b.grad) == 12.0
    with t.no_grad():
        assert not t.func.grad(lambda x: a * x)(t.tensor(1.0)).requires_grad


ERRORS = {
    "no scalar": lambda t, f: f.grad(lambda x: x * 2)(t.ones(2)),
    "no such argument": lambda t, f: f.grad(lambda x: x.sum(), argnums=1)(t.ones(2)),
    "sizes": lambda t, f: f.vmap(lambda a, b: a + b)(t.ones(2), t.ones(3)),
    "nothing mapped": lambda t, f: f.vmap(lambda a: a, in_dims=None)(t.ones(2)),
    "no tensor returned": lambda t, f: f.vmap(lambda a: 3)(t.ones(2)),
    "random numbers": lambda t, f: f.vmap(lambda a: a + t.rand(1))(t.ones(2)),
    "unknown randomness": lambda t, f: f.vmap(lambda a: a, randomness="some")(t.ones(2)),
    "wrong form of in_dims": lambda t, f: f.vmap(lambda a, b: a, in_dims=(0,))(t.ones(2), t.ones(2)),
    "tangents": lambda t, f: f.jvp(t.sin, (t.ones(2),), (t.ones(2), t.ones(2))),
    "models of two kinds": lambda t, f: f.stack_module_state([t.nn.ReLU(), t.nn.Tanh()]),
    "a result that differs": lambda t, f: f.vmap(lambda r: r * 2, out_dims=None)(grid(t)),
    "one of two results that differs": lambda t, f: f.vmap(lambda r: (r, r.sum()), out_dims=(0, None))(grid(t)),
    "a write to what all share": lambda t, f: f.vmap(lambda r, c: c.add_(r), in_dims=(0, None))(grid(t), vector(t)),
    "no sample in a chunk": lambda t, f: f.vmap(lambda r: r, chunk_size=0)(grid(t)),
    "no row in a chunk": lambda t, f: f.jacrev(lambda x: x, chunk_size=0)(vector(t)),
    "an argument twice": lambda t, f: f.grad(lambda x, y: (x * y).sum(), argnums=(0, 0))(vector(t), vector(t)),
    "no argument": lambda t, f: f.grad(lambda x: x.sum(), argnums=())(vector(t)),
    "an output that does not depend": lambda t, f: f.jvp(lambda x: t.ones(3), (vector(t),), (vector(t),), strict=True),
    "no primals": lambda t, f: f.jvp(lambda: vector(t), (), ()),
    "integers": lambda t, f: f.jacrev(lambda x: t.arange(3))(vector(t)),
    "random numbers of jacfwd": lambda t, f: f.jacfwd(lambda x: x + t.rand(3))(vector(t)),
    "dropout": lambda t, f: f.vmap(lambda r: t.nn.functional.dropout(r))(grid(t)),
    "a permutation": lambda t, f: f.vmap(lambda r: t.randperm(3) + r)(grid(t)),
    "numbers in place": lambda t, f: f.vmap(lambda r: r.normal_())(grid(t)),
    "nothing to call": lambda t, f: f.vmap(lambda: vector(t))(),
    "an aux that is missing": lambda t, f: f.grad(lambda x: x.sum(), has_aux=True)(vector(t)),
    "another form of vectors": lambda t, f: f.vjp(lambda x: (x, x), vector(t))[1](vector(t)),
    "dims out of range": lambda t, f: f.vmap(lambda r: r, in_dims=2)(grid(t)),
    "dims of a dict that miss one": lambda t, f: f.vmap(lambda d: d["a"], in_dims=({"a": 0},))(
        {"a": grid(t), "b": grid(t)}
    ),
    "an unknown parameter": lambda t, f: f.functional_call(t.nn.Linear(3, 2), [{"a": t.ones(1)}] * 2, grid(t)),
    "no models": lambda t, f: f.stack_module_state([]),
    "missing keys": lambda t, f: f.functional_call(t.nn.Linear(11, 1), {}, t.ones(1, 11), strict=True),
}


@pytest.mark.parametrize("name", ERRORS)
def test_refused(name):
    for t in (torch, norch):
        with pytest.raises((RuntimeError, ValueError)):
            ERRORS[name](t, t.func)


@pytest.mark.parametrize("t", [torch, norch])
def test_functional_call_replaces_and_restores(t):
    model = t.nn.Sequential(t.nn.Linear(11, 2), t.nn.BatchNorm1d(2))
    tied = t.nn.ModuleDict({"a": model[0], "b": model[0]})
    before = model[0].weight
    zeros = {"0.weight": t.zeros(2, 11), "0.bias": t.ones(2), "1.running_mean": t.ones(2)}
    model.eval()
    assert t.func.functional_call(model, zeros, t.ones(1, 11)).abs().sum() < 1e-5
    assert model[0].weight is before and dict(model.named_parameters())["0.weight"] is before
    with pytest.raises(Exception, match="shape|size"):
        t.func.functional_call(model, zeros, t.ones(1, 3))
    assert model[0].weight is before
    seen = []
    tied.forward = lambda: seen.append([float(m.weight.sum()) for m in tied.values()])
    t.func.functional_call(tied, {"a.weight": t.zeros(2, 11)}, ())
    assert seen == [[0.0, 0.0]]
    lstm = t.nn.LSTM(3, 2)
    zero = {name: t.zeros_like(p) for name, p in lstm.named_parameters()}
    assert float(t.func.functional_call(lstm, zero, t.ones(4, 1, 3))[0].abs().sum()) == 0


@pytest.mark.parametrize("t", [torch, norch])
def test_functional_call_gives_a_layer_what_it_was_made_without(t):
    layer, norm = t.nn.Linear(2, 2, bias=False), t.nn.BatchNorm1d(2, affine=False)
    bias = t.ones(2, requires_grad=True)
    assert t.func.functional_call(layer, {"bias": bias}, t.zeros(1, 2)).tolist() == [[1.0, 1.0]]
    given = {"0.weight": t.zeros(2, 2), "1.bias": bias * 3}
    assert t.func.functional_call(t.nn.Sequential(layer, norm), given, t.ones(2, 2)).tolist() == [[3.0, 3.0]] * 2
    assert layer.bias is None and norm.bias is None


@pytest.mark.parametrize("shape", [(3, 2), (0, 2)])
def test_the_batch_that_vmap_makes_is_no_view(shape):
    """It may be written to where views may not: in the graph, after it was made outside of it."""
    x = norch.ones(shape).requires_grad_()
    doubled = norch.func.vmap(lambda row: row * 2, out_dims=1)
    y = norch.utils.checkpoint.checkpoint(doubled, x, use_reentrant=True)
    y.mul_(3).sum().backward()
    assert y.shape == (2, shape[0]) and x.grad.tolist() == norch.full(shape, 6.0).tolist()


@pytest.mark.parametrize("t", [torch, norch])
def test_randomness(t):
    def draw(x):
        return x + t.rand(3)

    same = t.func.vmap(draw, randomness="same")(t.zeros(4, 3))
    assert bool((same == same[0]).all())
    assert len(set(t.func.vmap(draw, randomness="different")(t.zeros(4, 3))[:, 0].tolist())) == 4
