"""Results that norch computes as views of memory that nobody else knows are no views; found by random programs."""

import pytest

import norch
from norch.nn import functional as F


def leaf(*shape):
    return norch.ones(*shape, dtype=norch.float64, requires_grad=True)


RESULTS = {
    "conv1d": lambda: F.conv1d(leaf(2, 2, 4), leaf(2, 2, 3)),
    "conv_transpose1d": lambda: F.conv_transpose1d(leaf(2, 2, 4), leaf(2, 2, 3)),
    "max_pool1d": lambda: F.max_pool1d(leaf(2, 2, 4), 2),
    "avg_pool1d": lambda: F.avg_pool1d(leaf(2, 2, 4), 2),
    "embedding": lambda: F.embedding(norch.tensor([[0, 1]]), leaf(2, 3)),
    "kron": lambda: norch.kron(leaf(2, 2), leaf(2)),
    "mode": lambda: leaf(2, 2).mode(0).values,
    "median": lambda: leaf(2, 2).median(0).values,
    "quantile": lambda: leaf(2, 2).quantile(0.5, 0),
    "rot90": lambda: leaf(2, 3).rot90(),
    "roll": lambda: leaf(2, 3).roll(1),
    "to_dense": lambda: leaf(2, 2).to_sparse().to_dense(),
    "combinations": lambda: norch.combinations(leaf(3)),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_detached_in_place(name):
    result = RESULTS[name]()
    assert result.requires_grad and not result.detach_().requires_grad


@pytest.mark.parametrize("name", RESULTS)
def test_a_hook_of_a_result_sees_what_comes_through_its_views(name):
    result, seen = RESULTS[name](), []
    view = result[...]
    result.mul_(2)
    result.register_hook(seen.append)
    view.sum().backward()
    assert seen[0].tolist() == norch.ones_like(result).tolist()


def test_a_gradient_that_was_computed_as_a_view_may_be_written_to():
    weight, x = leaf(1, 2, 3), leaf(2, 4)
    (gradient,) = norch.autograd.grad(F.conv1d(x, weight).sum(), weight)
    gradient.mul_(leaf(1))
    assert gradient.requires_grad
    F.conv1d(x, weight).sum().backward()
    x.grad.mul_(leaf(1))
    assert x.grad.requires_grad


@pytest.mark.parametrize("write", [lambda y, view: y.mul_(2), lambda y, view: view.mul_(2)])
def test_a_gradient_stays_when_its_tensor_is_written_to(write):
    y = leaf(2) * 3
    view = y.view(1, 2)
    (y * y).sum().backward()
    write(y, view)
    assert y.grad.tolist() == [6.0, 6.0]


def test_a_bias_gets_its_gradient_whatever_becomes_of_the_weight():
    weight, bias = norch.ones(2, 1), norch.ones(2, requires_grad=True)
    result = F.linear(norch.ones(2, 1), weight, bias)
    weight.unsqueeze_(1)
    result.sum().backward()
    assert bias.grad.tolist() == [2.0, 2.0]


def test_arguments_that_random_programs_found():
    scalar, nan = norch.tensor(1.0), norch.tensor([[1.0, float("nan")], [2.0, 3.0]])
    for call in (scalar.argmax, scalar.argmin):
        with pytest.raises(IndexError, match="axis 1 is out of range"):
            call(1)
    for call, *arguments in [
        (scalar.unflatten, 0, (1, -1)),
        (scalar.index_select, 0, norch.tensor([0, 0])),
        (norch.tensordot, nan, nan.double(), 1),
    ]:
        with pytest.raises(RuntimeError):
            call(*arguments)
    with pytest.raises(ValueError, match="an integer or two lists"):
        norch.tensordot(nan, nan, [0, 1, 1])
    assert nan.matrix_power(0).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    wide, narrow, flags = norch.tensor(1.0, dtype=norch.float64), norch.ones(1), norch.tensor([True])
    assert norch.addcmul(narrow, wide, flags, value=2).dtype is norch.float32
    assert narrow.lerp(narrow * 3, norch.tensor(1)).tolist() == [3.0]
    empty = norch.ones(2, 0)
    assert F.cross_entropy(empty, empty, label_smoothing=0.1).isnan()


def test_hostile_arguments_that_were_found():
    assert norch.kaiser_window(3, beta=1e300, periodic=False).tolist() == [0.0, 1.0, 0.0]
    with pytest.raises(TypeError, match="to_sparse"):
        norch.eye(2).to_sparse(())
    with pytest.raises(TypeError, match="is_autocast_available"):
        norch.amp.is_autocast_available(1)


def test_zeros_in_the_gradients_of_views_have_the_sign_of_a_full_sum():
    """Replays make views in another way, and give the same bits."""
    x = norch.ones(4, 2, requires_grad=True)
    sum((view * -0.0).sum() for view in (x[0], x[1:], x[..., 0])).backward()
    assert not x.grad.signbit().any()
    for parts in (x.unbind(), x.chunk(2)):  # whose gradients are joined
        (gradient,) = norch.autograd.grad(sum((part * -0.0).sum() for part in parts), x)
        assert gradient.signbit().all()
