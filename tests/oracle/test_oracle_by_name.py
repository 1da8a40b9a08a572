"""Names that packages import, beside torch: operations by name, limits of dtypes, hooks, parts of attention."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402
from norch.types import ABSENT_DTYPES  # noqa: E402


def part(lib, path):
    return importlib.import_module(f"{lib.__name__}.{path}")


def operations(lib):
    library = part(lib, "library")
    space = f"of_{lib.__name__}"

    def sine(x, scale=2.0):
        return lib.from_numpy(np.sin(x.detach().numpy()) * scale)

    sine.__annotations__ = {"x": lib.Tensor, "scale": float, "return": lib.Tensor}
    sine = library.custom_op(f"{space}::sine", sine, mutates_args=(), device_types="cpu")
    sine.register_fake(lambda x, scale=2.0: lib.empty_like(x))
    x = lib.arange(3.0, requires_grad=True)
    found = []
    with pytest.raises(RuntimeError):  # no derivative yet
        sine(x).sum().backward()

    def setup(ctx, inputs, output):
        x, ctx.scale = inputs
        ctx.save_for_backward(x)

    sine.register_autograd(
        lambda ctx, gradient: (gradient * ctx.saved_tensors[0].cos() * ctx.scale, None), setup_context=setup
    )
    y = getattr(lib.ops, space).sine(x, scale=3.0)
    y.sum().backward()
    found += [y.detach(), x.grad, getattr(lib.ops, space).sine.default(x).detach()]

    def powered(x, *, by):
        return x.detach() ** by

    def keep(ctx, inputs, keyword_only_inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.by = keyword_only_inputs["by"]

    powered.__annotations__ = {"x": lib.Tensor, "by": float, "return": lib.Tensor}
    powered = library.custom_op(f"{space}::powered", powered, mutates_args=())
    powered.register_autograd(
        lambda ctx, gradient: gradient * ctx.by * ctx.saved_tensors[0] ** (ctx.by - 1), setup_context=keep
    )
    z = lib.arange(3.0, requires_grad=True)
    powered(z, by=3.0).sum().backward()
    found.append(z.grad)

    def fill(x, out):
        out.copy_(x * 2)

    fill.__annotations__ = {"x": lib.Tensor, "out": lib.Tensor, "return": None}
    out = lib.zeros(2)
    library.custom_op(f"{space}::fill", fill, mutates_args=("out",))(lib.ones(2), out)
    defined = library.Library(f"{space}_defined", "DEF")
    defined.define("one_more(Tensor x) -> Tensor")
    library.impl(defined, "one_more", "CPU")(lambda x: x + 1)
    library.define(f"{space}::half", "(Tensor x) -> Tensor")
    library.impl(f"{space}::half", "default")(lambda x: x / 2)
    spaces = getattr(lib.ops, f"{space}_defined"), getattr(lib.ops, space)
    return [*found, out, spaces[0].one_more(lib.ones(2)), spaces[1].half(lib.ones(2))]


def hooks(lib):
    optimizer = part(lib, "optim.optimizer")
    weight, calls = lib.nn.Parameter(lib.ones(2)), []
    own = lib.optim.SGD([weight], lr=0.1)
    own.register_step_pre_hook(lambda *_: calls.append(2.0))
    own.register_step_post_hook(lambda *_: calls.append(3.0))
    with (
        optimizer.register_optimizer_step_pre_hook(lambda *_: calls.append(1.0)),
        optimizer.register_optimizer_step_post_hook(lambda *_: calls.append(4.0)),
    ):
        own.step()
        lib.optim.Adam([weight]).step()
    own.step()
    return [lib.tensor(calls)]


def attention(lib):
    F = lib.nn.functional
    x, w, b = (lib.arange(float(n)).reshape(*shape) / n for n, shape in [(12, (3, 4)), (48, (12, 4)), (12, (12,))])
    mask = lib.tensor([True, False])
    found = [*F._in_projection_packed(x, x + 1, x + 2, w, b), *F._in_projection(x, x, x, w[:4], w[4:8], w[8:])]
    return [*found, F._canonical_mask(mask, "mask", None, "other", lib.float32), F._in_projection_packed(x, x, x, w)[2]]


def mutated(lib):
    x = lib.ones(2, requires_grad=True)
    with part(lib, "autograd.graph").allow_mutation_on_saved_tensors():
        y = x * 3
        z = y.square()
        y.zero_()
        z.sum().backward()
    return [x.grad]


def mixture(lib):
    d = lib.distributions
    scales = lib.tensor([[1.0, 2.0], [0.5, 3.0]])
    of_vectors = d.MixtureSameFamily(d.Categorical(lib.ones(2)), d.Independent(d.HalfNormal(scales), 1))
    of_numbers = d.MixtureSameFamily(d.Categorical(lib.ones(2)), d.Exponential(lib.ones(2)))
    values = lib.tensor([[1.0, 2.0], [1.0, -2.0]])
    return [of_vectors.support.check(values), of_numbers.support.check(values)]


def selective(lib):
    checkpoint = part(lib, "utils.checkpoint")
    x = lib.ones(3, requires_grad=True)

    def contexts():
        return checkpoint.create_selective_checkpoint_contexts(
            lambda ctx, op, *args, **kwargs: checkpoint.CheckpointPolicy.PREFER_RECOMPUTE
        )

    checkpoint.checkpoint(lambda x: x.exp().sin().sum(), x, use_reentrant=False, context_fn=contexts).backward()
    return [x.grad]


@pytest.mark.parametrize("run", [operations, hooks, attention, mutated, mixture, selective])
def test_as_in_torch(run):
    for theirs, ours in zip(run(torch), run(norch)):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", ABSENT_DTYPES)
def test_dtypes_have_torchs_sizes(name):
    ours, theirs = getattr(norch, name), getattr(torch, name)
    for flag in ("itemsize", "is_complex", "is_floating_point"):
        assert getattr(ours, flag) == getattr(theirs, flag)
    if not name.startswith(("q", "b")):
        assert ours.is_signed == theirs.is_signed


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"])
def test_limits_of_float8(name):
    assert repr(norch.finfo(getattr(norch, name))) == repr(torch.finfo(getattr(torch, name)))


@pytest.mark.parametrize("name", ["uint16", "uint32", "uint64"])
def test_limits_of_unsigned_integers(name):
    ours, theirs = norch.iinfo(getattr(norch, name)), torch.iinfo(getattr(torch, name))
    assert (ours.bits, ours.min, ours.max) == (theirs.bits, theirs.min, theirs.max)


def test_contexts_that_decorate():
    for lib in (torch, norch):

        class Counting(part(lib, "utils._contextlib")._DecoratorContextManager):
            entered = 0

            def __enter__(self):
                Counting.entered += 1

            def __exit__(self, *_):
                pass

        function = Counting()(lambda x: x + 1)
        assert [function(1), function(2), Counting.entered] == [2, 3, 2]


@pytest.mark.filterwarnings("ignore:Sparse invariant")
def test_long_sparse_tensors_print_in_torchs_lines():
    texts = []
    for lib in (torch, norch):
        places = lib.arange(50).repeat(2).reshape(2, 50)
        texts.append(repr(lib.sparse_coo_tensor(places, lib.arange(50.0) / 7, (50, 50)).coalesce()))
    assert texts[1].replace("norch", "torch") == texts[0] and max(map(len, texts[0].splitlines())) <= 80


def test_parts_of_trees_by_their_type():
    for lib in (torch, norch):
        trees = part(lib, "utils._pytree")
        values, context = trees._dict_flatten({"a": 1, "b": 2})
        keyed, _ = trees._dict_flatten_with_keys({"a": 1, "b": 2})
        assert values == [1, 2] and trees._dict_unflatten([3, 4], context) == {"a": 3, "b": 4}
        assert [(key.key, value) for key, value in keyed] == [("a", 1), ("b", 2)]
        assert trees.SUPPORTED_NODES[list].flatten_fn([5])[0] == [5] and trees._list_unflatten([6], None) == [6]
