"""What random programs and programs written by hand beside torch found after test_later_findings.py."""

from __future__ import annotations

import copy
import math
import pickle
import warnings

import pytest

import norch
from norch import nn, tensor
from norch.nn.attention.flex_attention import flex_attention
from norch.utils.data._utils.collate import collate


def test_a_tangent_of_logcumsumexp_is_no_zero():
    x, v = tensor([1.0, 2.0, 0.5, 3.0], dtype=norch.float64), tensor([1.0, -1.0, 0.0, 2.0], dtype=norch.float64)
    _, tangent = norch.func.jvp(lambda x: x.logcumsumexp(0), (x,), (v,))
    jacobian = norch.func.jacrev(lambda x: x.logcumsumexp(0))(x)
    assert tangent.tolist() == pytest.approx((jacobian @ v).tolist())
    assert norch.autograd.gradgradcheck(lambda x: x.logcumsumexp(0), x.requires_grad_())


def test_gradients_of_logcumsumexp_have_all_digits_far_from_0():
    x = tensor([-300.0, 800.0, -math.inf, 801.0], dtype=norch.float64, requires_grad=True)
    x.logcumsumexp(0).backward(tensor([1.0, 2.0, 3.0, 4.0], dtype=norch.float64))
    e = math.e
    assert x.grad.tolist() == pytest.approx([1.0, 5 + 4 / (1 + e), 0.0, 4 * e / (1 + e)])


@pytest.mark.parametrize("dtype", [norch.float32, norch.float64])
def test_columns_that_depend_on_each_other_have_reflections(dtype):
    row = tensor([2.207, -2.27, 1.0, 1.481, 0.536, -0.677, 0.094] * 10, dtype=dtype)
    matrix = row.expand(70, 70)
    q, r = norch.linalg.qr(matrix)
    close = 1e-4 if dtype is norch.float32 else 1e-12
    assert norch.allclose(q @ r, matrix, atol=close)
    assert norch.allclose(q.mT @ q, norch.eye(70, dtype=dtype), atol=close)
    tiny = norch.full((3, 3), 1e-42 if dtype is norch.float32 else 1e-315, dtype=dtype)
    q, r = norch.linalg.qr(tiny)
    assert norch.allclose(q.mT @ q, norch.eye(3, dtype=dtype), atol=close) and (q @ r).equal(tiny)


@pytest.mark.parametrize("kind", ["module", "optimizer"])
def test_gradients_become_zeros_where_they_are(kind):
    layer = nn.Linear(2, 1)
    whole = norch.ones(3)
    layer.weight.grad, layer.bias.grad = whole[:2].view(1, 2), whole[2:]
    held = layer.weight.grad
    (layer if kind == "module" else norch.optim.SGD(layer.parameters(), lr=1.0)).zero_grad(set_to_none=False)
    assert whole.tolist() == [0.0, 0.0, 0.0] and layer.weight.grad is held
    layer.weight.square().sum().backward(create_graph=True)
    layer.zero_grad(set_to_none=False)
    assert not layer.weight.grad.requires_grad and not layer.weight.grad.any()


def test_generators_are_pickled_with_their_states():
    generator = norch.Generator().manual_seed(3)
    norch.rand(2, generator=generator)
    others = [pickle.loads(pickle.dumps(generator)), copy.deepcopy(generator)]
    drawn = norch.rand(2, generator=generator)
    assert all(norch.rand(2, generator=other).equal(drawn) and other.initial_seed() == 3 for other in others)


def test_a_parametrized_module_says_how_to_save_it():
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
    with pytest.raises(RuntimeError, match="state_dict"):
        pickle.dumps(layer)
    assert copy.deepcopy(layer).weight.equal(layer.weight)


@pytest.mark.parametrize(
    "call",
    [
        lambda: norch.futures.collect_all([1.5]),
        lambda: norch.futures.wait_all((2,)),
        lambda: norch.set_grad_enabled(None),
        lambda: norch.distributions.Wishart("a", norch.eye(2)),
        lambda: flex_attention(*[norch.ones(1, 1, 2, 2)] * 3, block_mask=3),
        lambda: norch.utils.data.TensorDataset(norch.ones(5), norch.ones(3), [1]),
        lambda: norch.histogramdd(norch.ones(3, 2), bins=norch.ones(2)),
        lambda: nn.functional.pairwise_distance(norch.ones(2), norch.ones(2), p=None),
        lambda: nn.functional.adaptive_avg_pool1d(norch.ones(1, 1, 4), None),
        lambda: norch.onnx.export(nn.Linear(2, 1), norch.ones(1, 2), "model.onnx", dynamic_axes=3),
        lambda: collate([1], collate_fn_map="a"),
    ],
)
def test_values_of_other_types_are_type_errors(call):
    with pytest.raises(TypeError, match="expected"):
        call()
    assert norch.is_grad_enabled()


def test_dimensions_and_parts_that_are_not_there_are_named():
    transforms = norch.distributions.transforms
    cat = transforms.CatTransform([transforms.ExpTransform(), transforms.identity_transform], lengths=[1, 2], dim=1)
    with pytest.raises(ValueError, match="dimension 1"):
        cat(norch.zeros(3))
    with pytest.raises(ValueError, match="at least one"):
        transforms.StackTransform([])(norch.zeros(2, 0))
    with pytest.raises(RuntimeError, match="vector or matrices"):
        norch.linalg.solve(norch.eye(2), tensor(1.0))


def test_triangles_of_long_matrices_are_counted_at_once():
    for rows in range(5):
        for columns in range(5):
            for diagonal in range(-6, 7):
                places = norch.arange(rows).unsqueeze(1) + diagonal - norch.arange(columns)
                assert norch.tril_indices(rows, columns, diagonal).equal((places >= 0).nonzero().T)
                assert norch.triu_indices(rows, columns, diagonal).equal((places <= 0).nonzero().T)
    assert norch.triu_indices(2**63 - 1, 2).tolist() == [[0, 0, 1], [0, 1, 1]]
    assert norch.tril_indices(2, 2**63 - 1).tolist() == [[0, 1, 1], [0, 0, 1]]
    assert norch.tril_indices(2**62, 2**62, 1 - 2**62).tolist() == [[2**62 - 1], [0]]
    for rows, columns in ((2**62, 2), (2**62, 2**62), (2**31, 2**31)):
        with pytest.raises(MemoryError):
            norch.tril_indices(rows, columns)
        with pytest.raises(MemoryError):
            norch.triu_indices(columns, rows)


def test_a_scale_of_0_leaves_the_step_out():
    w = nn.Parameter([1.0])
    optimizer, scaler = norch.optim.SGD([w], lr=0.5), norch.amp.GradScaler("cpu", init_scale=0.0)
    scaler.scale((w * w).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [1.0] and scaler.get_scale() == 0.0


def test_range_writes_into_out():
    out = norch.empty(0, dtype=norch.float64)
    assert norch.range(0, 2, 0.5, out=out) is out and out.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]


def checkpointed(function, *args):
    return norch.utils.checkpoint.checkpoint(function, *args, use_reentrant=False)


@pytest.mark.parametrize("write", [lambda y, w: y.mul_(w), lambda y, w: y.exp_(), lambda y, w: y.index_copy_(0, w, y)])
def test_a_second_run_of_a_checkpoint_may_stop_at_a_write(write):
    w = norch.tensor([1, 0]) if write.__code__.co_names == ("index_copy_",) else tensor([2.0, 3.0], requires_grad=True)
    found = []
    for call in (lambda function, *args: function(*args), checkpointed):
        x = tensor([0.5, 1.0], requires_grad=True)
        call(lambda h: write(h * 2, w), x).square().sum().backward()
        found.append(x.grad.tolist())
    assert found[0] == found[1]


def test_a_checkpoint_remembers_what_required_gradients():
    x = tensor([1.0, 2.0], requires_grad=True)
    y = checkpointed(lambda t: (t * 2).mul_(-1).exp(), x)
    x.requires_grad_(False)
    y.sum().backward()
    assert x.grad is None


def test_a_checkpoint_may_differentiate_by_what_lies_before_it():
    found = []
    for call in (lambda function, *args: function(*args), checkpointed):
        x = tensor([1.0, 2.0], requires_grad=True)
        y = call(lambda h, x=x: norch.autograd.grad((h**3).sum(), x, create_graph=True)[0] * h, x * 3)
        y.square().sum().backward()
        found.append(x.grad.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("transform", [norch.func.jacfwd, norch.func.jacrev, lambda f: lambda x: norch.func.vjp(f, x)])
def test_a_function_may_not_write_to_what_it_is_differentiated_by(transform):
    for x in (norch.ones(2), norch.ones(2, requires_grad=True) * 2):
        with pytest.raises(RuntimeError, match="in-place|writes to"):
            transform(norch.negative_)(x)


def test_a_batch_of_one_is_no_view():
    x = norch.ones(3, 2, requires_grad=True)
    (batch,) = norch.utils.data.DataLoader(x, batch_size=3)
    assert batch._base is None and batch.grad_fn is not None
    assert batch.detach_() is batch and not batch.requires_grad


def test_no_elements_are_repeated_and_drawn():
    none = norch.empty(0, dtype=norch.int64)
    assert norch.empty(0, 3).repeat_interleave(none).shape == (0,)
    assert norch.empty(0, 3).repeat_interleave(none, 0).shape == (0, 3)
    with pytest.raises(RuntimeError):
        norch.ones(2).repeat_interleave(none)
    assert norch.empty(0, 3).multinomial(2).shape == (0, 2) and norch.empty(0, 3).multinomial(4, True).shape == (0, 4)
    for weights in (norch.empty(0, 3), norch.empty(0, 0), norch.empty(0), norch.empty(3, 0)):
        with pytest.raises(RuntimeError):
            weights.multinomial(4)


def test_solutions_from_the_right_are_no_views():
    pytest.importorskip("numpy")
    a = norch.tensor([[2.0, 1.0], [0.0, 4.0]], dtype=norch.float64, requires_grad=True)
    vector = norch.ones(2, dtype=norch.float64)
    solve, triangular = norch.linalg.solve, norch.linalg.solve_triangular
    for x in (solve(a, a, left=False), solve(a, vector), triangular(a, a.mT, upper=True, left=False)):
        assert x._base is None and x.detach_() is x and not x.requires_grad


MADE_BY_VIEWS = {
    "lu": lambda x: norch.linalg.lu(x)[1:],
    "native_group_norm": lambda x: norch.native_group_norm(x.view(1, 2, 2), None, None, 1, 2, 2, 1, 0.1),
    "native_batch_norm": lambda x: norch.native_batch_norm(x, None, None, None, None, True, 0.1, 0.1),
    "fractional_max_pool2d": lambda x: nn.functional.fractional_max_pool2d(
        x.view(1, 1, 2, 2), 1, 1, return_indices=True
    ),
    "histogram": lambda x: norch.histogram(x, 2),
    "einsum": lambda x: [norch.einsum("ij,kj->ki", x, x), norch.einsum("i,j->ji", x[0], x[1])],
}


@pytest.mark.parametrize("name", MADE_BY_VIEWS)
def test_results_that_were_computed_by_views_are_none(name):
    x = norch.tensor([[2.0, 1.0], [0.0, 4.0]], requires_grad=True)
    for grad in (True, False):
        with norch.set_grad_enabled(grad):
            assert all(y._base is None for y in MADE_BY_VIEWS[name](x))
    assert norch.einsum("ij->ji", x)._base is x


def test_what_is_thrown_into_a_decorated_generator_reaches_it():
    seen = []

    @norch.no_grad()
    def numbers():
        try:
            while True:
                try:
                    seen.append((yield norch.is_grad_enabled()))
                except KeyError:
                    seen.append("KeyError")
        finally:
            seen.append(norch.is_grad_enabled())

    generator = numbers()
    assert next(generator) is False and generator.send(1) is False and norch.is_grad_enabled()
    assert generator.throw(KeyError("a")) is False and norch.is_grad_enabled()
    generator.close()
    assert seen == [1, "KeyError", False] and norch.is_grad_enabled()
    with pytest.raises(ValueError):
        other = numbers()
        next(other)
        other.throw(ValueError())
    assert norch.is_grad_enabled()


def test_a_write_within_a_walk_keeps_what_other_walks_need():
    w = tensor(3.0, requires_grad=True)
    x = tensor(2.0, requires_grad=True)
    y = checkpointed(lambda t: (t * 2).mul_(w).sin_(), x)
    (gradient,) = norch.autograd.grad(y, x, create_graph=True)  # which asks for nothing of w
    assert gradient.item() == pytest.approx(6 * math.cos(12.0))
    (second,) = norch.autograd.grad(gradient, w)
    assert second.item() == pytest.approx(2 * math.cos(12.0) - 24 * math.sin(12.0), rel=1e-5)


def test_a_gradient_in_a_graph_leaves_it_as_it_becomes_zeros():
    w = nn.Parameter([1.0, 2.0])
    (w * w).sum().backward()
    held = w.grad
    held.mul_(w)
    norch.optim.SGD([w], lr=1.0).zero_grad(set_to_none=False)
    assert w.grad is held and not held.requires_grad and held.tolist() == [0.0, 0.0]


def test_adafactor_steps_a_scalar():
    results = []
    for value in (2.0, [2.0]):
        w = nn.Parameter(tensor(value))
        optimizer = norch.optim.Adafactor([w], lr=0.5)
        for _ in range(3):
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()
        results.append(float(w.sum()))
        assert w.dtype is norch.float32 and optimizer.state[w]["variance"].dtype is norch.float32
    assert results[0] == pytest.approx(results[1])


def test_a_transform_refuses_a_write_to_its_argument_before_it_is_made():
    for x in (norch.ones(2, 3, requires_grad=True) * 1, norch.ones(2, 3)):
        for function in (norch.arcsin_, lambda x: x[0].zero_(), lambda x: x.t_()):
            for transform in (norch.func.jacrev, norch.func.vmap, norch.func.grad):
                derivative = norch.func.jacrev(function)
                with pytest.raises(RuntimeError, match="leaf"):
                    (derivative if transform is norch.func.jacrev else transform(derivative))(x)
            assert (x == 1).all() and x.shape == (2, 3)


def test_elements_that_are_one_place_of_memory_share_the_gradient_of_as_strided():
    x = norch.tensor([1.0, 2.0, 3.0], dtype=norch.float64, requires_grad=True)
    for function in (
        lambda x: x[0].expand(2, 3).as_strided([1], [1]),
        lambda x: x.expand(2, 3).as_strided([2, 2], [1, 1]),
        lambda x: x.as_strided([2, 2], [1, 1]).as_strided([3], [1]),
    ):
        assert norch.autograd.gradcheck(function, (x,)) and norch.autograd.gradgradcheck(function, (x,))


def test_a_custom_operation_that_returns_its_argument_makes_another_tensor():
    class Same(norch.autograd.Function):
        @staticmethod
        def forward(ctx, x, constant=False):
            if constant:
                ctx.mark_non_differentiable(x)
            return x

        @staticmethod
        def backward(ctx, gradient):
            return gradient, None

    x = norch.ones(2, requires_grad=True)
    with norch.no_grad():
        outside = Same.apply(x)
    for y in (outside, Same.apply(x, True)):
        assert y is not x and not y.requires_grad and y.data_ptr() == x.data_ptr() and x.requires_grad


def test_a_size_that_a_function_returns_is_a_tuple_of_numbers():
    x = norch.ones(())
    value, tangent = norch.func.jvp(lambda x: [2 * x, x.shape], (x,), (x,))
    assert [value, tangent] == [[2, ()], [2, ()]]
    with pytest.raises(RuntimeError, match="int"):
        norch.func.jvp(lambda x: [x, x.shape], (norch.ones(2),), (norch.ones(2),))


@pytest.mark.parametrize("compiled", [False, True])
def test_a_leaf_that_leaves_the_graph_in_a_function_gets_no_gradient(compiled):
    def function(x):
        y = x * 1
        x.requires_grad_(False)
        (y * y).sum().backward()

    def refused(x):
        x.requires_grad_(False)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call, other = (norch.compile(f) if compiled else f for f in (function, refused))
        for _ in range(3):
            x = norch.ones(1, requires_grad=True)
            call(x)
            assert x.grad is None and not x.requires_grad
            with pytest.raises(RuntimeError, match="leaf"):
                other(norch.ones(1, requires_grad=True) * 2)
