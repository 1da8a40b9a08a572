"""The graph and the walk over it: shared nodes, depth, second derivatives, modes."""

import gc
import math
import threading
import time

import pytest

import norch
from norch.autograd import Function, grad, gradcheck


def leaf(*values, dtype=norch.float64):
    return norch.tensor(list(values), dtype=dtype, requires_grad=True)


# ---- The article's own example, and shared nodes ----------------------------------------------------------------


def test_the_article_s_example():
    x = norch.Tensor([[1, 2, 3], [3, 2, 1]], requires_grad=True)
    y = norch.Tensor([[3, 2, 1], [1, 2, 3]], requires_grad=True)
    ((x - y) ** 3).sum().backward()
    assert x.grad.tolist() == [[12, 0, 12], [12, 0, 12]]
    assert y.grad.tolist() == [[-12, 0, -12], [-12, 0, -12]]


@pytest.mark.parametrize(
    "function, expected",
    [
        (lambda x: x * x, 6.0),
        (lambda x: x + x, 2.0),
        (lambda x: x / x, 0.0),
        (lambda x: x - x, 0.0),
        (lambda x: x * x * x, 27.0),
        (lambda x: x.exp() * x.exp(), 2 * math.exp(6.0)),
    ],
)
def test_a_shared_operand_gets_the_sum(function, expected):
    x = leaf(3.0)
    function(x).backward()
    assert x.grad.item() == pytest.approx(expected, rel=1e-12)


def test_sixty_doublings_take_no_time():
    x = leaf(1.0)
    y = x
    for _ in range(60):
        y = y + y
    start = time.perf_counter()
    y.backward()
    assert x.grad.item() == 2.0**60
    assert time.perf_counter() - start < 1.0  # the recursion would take 2^60 steps


def test_a_chain_of_100000_operations():
    x = leaf(1.0)
    y = x
    for _ in range(100_000):
        y = y * 1.0
    y.backward()
    assert x.grad.item() == 1.0


@pytest.mark.parametrize(
    "step", [lambda y, x: y.sin(), lambda y, x: y + x, lambda y, x: y * x, lambda y, x: y.reshape(1)]
)
def test_a_deep_graph_is_dropped_without_backward(step):
    x = leaf(1.0)
    before = norch._C.live_tensors()
    y = x
    for _ in range(100_000):
        y = step(y, x)
    del y
    gc.collect()
    assert norch._C.live_tensors() == before


def test_a_layer_used_twice_counts_twice():
    w, x = leaf(2.0), leaf(3.0)
    ((x * w) * w).backward()
    assert w.grad.item() == 12.0 and x.grad.item() == 4.0


# ---- What gets a gradient ---------------------------------------------------------------------------------------


def test_tensors_still_held_get_their_gradient():
    x = leaf(2.0)
    y = x * 3.0
    z = y * y
    z.backward()
    assert y.grad.item() == 12.0 and x.grad.item() == 36.0 and z.grad.item() == 1.0


def test_inputs_that_need_no_gradient_get_none():
    x, y = leaf(2.0), norch.tensor([3.0], dtype=norch.float64)
    (x * y).backward()
    assert y.grad is None and x.grad.requires_grad is False and x.grad.grad_fn is None


def test_gradients_share_no_memory():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    start = norch.ones(2, dtype=norch.float64)
    z = x + y
    z.backward(start)
    x.grad.zero_()
    assert y.grad.tolist() == [1, 1] and z.grad.tolist() == [1, 1] and start.tolist() == [1, 1]


def test_an_expanded_gradient_is_stored_as_memory_of_its_own():
    x = leaf(1.0, 2.0, 3.0)
    x.sum().backward()
    x.grad[0] = 5.0
    assert x.grad.tolist() == [5, 1, 1]


def test_gradients_accumulate_until_zeroed():
    x = leaf(1.0, 2.0)
    held = None
    for _ in range(3):
        (x * x).sum().backward()
        held = x.grad if held is None else held
    assert x.grad is held and held.tolist() == [6, 12]
    x.zero_grad()
    assert x.grad is None and held.tolist() == [6, 12]


def test_gradients_accumulate_in_the_memory_that_grad_was_given():
    flat = norch.zeros(4, dtype=norch.float64)
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    x.grad, y.grad = flat[:2], flat[2:]
    for _ in range(2):
        (x * y).sum().backward()
    assert flat.tolist() == [6, 8, 2, 4]


def test_a_gradient_with_a_graph_stays_as_it_was():
    x = leaf(1.0, 2.0)
    (x**3).sum().backward(create_graph=True)
    held = x.grad
    (x * x).sum().backward()
    assert x.grad.tolist() == [5, 16] and not x.grad.requires_grad
    assert held.tolist() == [3, 12] and held.requires_grad


def test_a_tensor_within_the_graph_has_a_new_gradient_from_each_backward():
    x = leaf(1.0, 2.0)
    y = x * x
    y.sum().backward(retain_graph=True)
    held = y.grad
    y.sum().backward()
    assert y.grad.tolist() == [2, 2] and held.tolist() == [1, 1]


@pytest.mark.parametrize(
    "shapes", [([3], [2, 3]), ([1], [2, 3]), ([2, 1], [2, 3]), ([1, 1, 3], [4, 2, 3]), ([], [2, 3]), ([3], [4, 2, 3])]
)
@pytest.mark.parametrize(
    "operation",
    [lambda x, y: x + y, lambda x, y: x * y, lambda x, y: x - y, lambda x, y: y / x, lambda x, y: x.maximum(y)],
)
def test_broadcasting_is_undone(shapes, operation):
    def values(shape, first):
        count = math.prod(shape)
        return (norch.arange(count, dtype=norch.float64) * 0.37 + first).reshape(shape).requires_grad_()

    x, y = values(shapes[0], 1.2), values(shapes[1], 0.5)
    operation(x, y).sum().backward()
    assert x.grad.shape == x.shape and y.grad.shape == y.shape
    assert gradcheck(operation, (x, y))


def test_mixed_dtypes_give_each_its_own():
    x, y = leaf(1.0, 2.0, dtype=norch.float32), leaf(3.0, 4.0)
    (x * y).sum().backward()
    assert x.grad.dtype is norch.float32 and y.grad.dtype is norch.float64


# ---- Running backward -------------------------------------------------------------------------------------------


def test_a_freed_graph_says_what_to_do():
    x = leaf(2.0)
    y = x * x
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        y.backward()


def test_retain_graph():
    x = leaf(2.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 8.0


def test_a_part_of_a_freed_graph_cannot_be_reused():
    x = leaf(2.0)
    shared = x * x
    (shared * 2.0).backward()
    with pytest.raises(RuntimeError, match="freed"):
        (shared * 3.0).backward()


def test_what_saves_nothing_may_go_back_again():
    x = leaf(1.0, 2.0)
    shared = norch.cat([x[1:], -x]).reshape(3, 1) + leaf(1.0, 1.0)
    for _ in range(3):
        (shared * 2.0).sum().backward()
    assert x.grad.tolist() == [-12.0, 0.0]


def test_a_freed_sum_keeps_no_operand_of_its_own_shape():
    x, before = leaf(1.0, 2.0), norch.memory_allocated()
    y = x.exp().expand(50_000, 2) * 1.0 + x  # the product has the shape of the sum
    y.sum().backward()
    y.grad = None
    assert norch.memory_allocated() - before < 1.5 * y.nbytes


def test_backward_needs_a_gradient_of_the_right_kind():
    y = leaf(1.0, 2.0) * 2.0
    with pytest.raises(RuntimeError, match=r"\[2\]"):
        y.backward()
    with pytest.raises(RuntimeError, match=r"\[3\].*\[2\]"):
        y.backward(norch.ones(3, dtype=norch.float64))
    with pytest.raises(TypeError, match="list"):
        y.backward([1.0, 1.0])
    with pytest.raises(RuntimeError, match="does not require"):
        norch.ones(1).backward()


def test_second_and_third_derivatives():
    x = leaf(2.0)
    (first,) = grad(x**3, x, create_graph=True)
    (second,) = grad(first, x, create_graph=True)
    (third,) = grad(second, x)
    assert (first.item(), second.item(), third.item()) == (12.0, 12.0, 6.0)
    assert x.grad is None  # grad() accumulates nothing


def test_grad_of_an_intermediate_and_of_what_is_unused():
    x, other = leaf(2.0), leaf(1.0)
    y = x * 3.0
    assert grad((y * y).sum(), [y, x])[0].item() == 12.0
    with pytest.raises(RuntimeError, match="not used"):
        grad(x * 1.0, other)
    assert grad(x * 1.0, [x, other], allow_unused=True)[1] is None


def test_grad_of_batches_of_gradients():
    x, other = norch.tensor([1.0, 2.0], requires_grad=True), leaf(1.0)
    y, z, rows = x**2, x * 3.0, norch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    found, none = grad([y, z], [x, other], [rows, 0.0 * rows], allow_unused=True, is_grads_batched=True)
    assert found.tolist() == [[2.0, 0.0], [0.0, 4.0], [2.0, 4.0]] and none is None
    with pytest.raises(RuntimeError, match="freed"):
        y.sum().backward()  # the last row was passed on without retain_graph
    (first,) = grad(x**3, x, rows, create_graph=True, is_grads_batched=True)
    assert grad(first.sum(), x)[0].tolist() == [12.0, 24.0]
    z = x * 3.0
    for wrong in (None, [None], norch.ones(()), norch.ones(0, 2), norch.ones(3)):
        with pytest.raises(RuntimeError, match="batches of one size|shape"):
            grad(z, x, wrong, is_grads_batched=True)
    with pytest.raises(RuntimeError, match="one size as grad_outputs, got the shapes"):
        grad([z, z], x, [rows, rows[:2]], is_grads_batched=True)


def test_backward_with_inputs_accumulates_there_only():
    x, y = leaf(2.0), leaf(3.0)
    (x * y).backward(inputs=[x])
    assert x.grad.item() == 3.0 and y.grad is None


def test_backward_of_several_tensors():
    x = leaf(2.0)
    y = x * x
    norch.autograd.backward([y, x * 3.0], [None, norch.tensor([2.0], dtype=norch.float64)])
    assert x.grad.item() == 10.0


# ---- Modes ------------------------------------------------------------------------------------------------------


def test_no_grad_and_enable_grad_nest():
    x = leaf(1.0)
    with norch.no_grad():
        assert not (x * 2.0).requires_grad and not norch.is_grad_enabled()
        with norch.enable_grad():
            assert (x * 2.0).requires_grad
        assert not norch.is_grad_enabled()
    assert norch.is_grad_enabled()


@pytest.mark.parametrize(
    "decorator", [lambda f: norch.no_grad()(f), norch.no_grad, lambda f: norch.set_grad_enabled(False)(f)]
)
def test_modes_as_decorators(decorator):
    @decorator
    def double(x):
        return x * 2.0

    assert not double(leaf(1.0)).requires_grad
    assert norch.is_grad_enabled()


def test_set_grad_enabled_as_a_call_and_a_context():
    norch.set_grad_enabled(False)
    assert not norch.is_grad_enabled()
    norch.set_grad_enabled(True)
    with norch.set_grad_enabled(False):
        assert not norch.is_grad_enabled()
    assert norch.is_grad_enabled()


def test_the_mode_is_restored_after_an_exception():
    with pytest.raises(KeyError), norch.no_grad():
        raise KeyError
    assert norch.is_grad_enabled()


def test_each_thread_has_its_own_mode():
    found = []
    with norch.no_grad():
        thread = threading.Thread(target=lambda: found.append(norch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert found == [True]


def test_a_generator_under_no_grad_leaves_its_caller_alone():
    @norch.no_grad()
    def values():
        yield norch.is_grad_enabled()
        yield norch.is_grad_enabled()

    seen = [(inside, norch.is_grad_enabled()) for inside in values()]
    assert seen == [(False, True), (False, True)]


# ---- Writing in place -------------------------------------------------------------------------------------------


def test_a_saved_value_changed_in_place_is_noticed():
    x = leaf(1.0, 2.0)
    y = x * 1.0
    z = y * y
    y.add_(1.0)
    with pytest.raises(RuntimeError, match="in-place"):
        z.sum().backward()


def test_a_saved_output_changed_in_place_is_noticed():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.mul_(2.0)
    with pytest.raises(RuntimeError, match="in-place"):
        y.sum().backward()


def test_a_change_through_a_view_or_detached_tensor_is_noticed():
    for change in (lambda y: y[0:1].add_(1.0), lambda y: y.detach().zero_(), lambda y: y.reshape(2, 1).fill_(0.0)):
        x = leaf(1.0, 2.0)
        y = x * 1.0
        z = y * y
        with norch.no_grad():
            change(y)
        with pytest.raises(RuntimeError, match="in-place"):
            z.sum().backward()


def test_a_change_of_what_was_not_saved_is_fine():
    x = leaf(1.0, 2.0)
    y = x * 2.0
    z = y + 1.0
    y.mul_(5.0)  # the gradient of + needs no value, and z depends on y as it was
    (z.sum() + y.sum()).backward()
    assert x.grad.tolist() == [12, 12]


def test_in_place_operations_are_differentiated():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2.0
    y += 1.0
    y *= 3.0
    y.sin_()
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([6 * math.cos(3 * (2 * v + 1)) for v in (1, 2, 3)])


def test_in_place_on_a_leaf_raises():
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match="leaf"):
        x.add_(1.0)
    with pytest.raises(RuntimeError, match="leaf"):
        x[0] = 1.0
    with norch.no_grad():
        x.add_(1.0)
    assert x.item() == 2.0 and x.is_leaf


def test_writes_through_views_reach_the_base_s_graph():
    x, w = leaf(1.0, 2.0, 3.0), leaf(7.0)
    y = x * 2.0
    y[0:2].mul_(10.0)
    y[2] = w
    y[0:1] += w
    (y * y).sum().backward()
    # y = [20 x0 + w, 20 x1, w]
    assert x.grad.tolist() == [2 * 20 * 27.0, 2 * 20 * 40.0, 0.0]
    assert w.grad.item() == 2 * 27.0 + 2 * 7.0


def test_a_view_follows_a_write_to_its_base():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2.0
    view = y[0:2]
    y.mul_(4.0)
    view.sum().backward()
    assert x.grad.tolist() == [8, 8, 0]


def test_writing_a_gradient_into_a_buffer():
    x = leaf(1.0, 2.0)
    buffer = norch.zeros(2, 2, dtype=norch.float64)
    for row in range(2):
        buffer[row] = x * float(row + 1)
    assert buffer.requires_grad
    buffer.sum().backward()
    assert x.grad.tolist() == [3, 3]


# ---- The checks themselves --------------------------------------------------------------------------------------


class WrongSquare(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        return ctx.saved_tensors[0] * gradient * 2.1


def test_gradcheck_finds_a_wrong_gradient():
    with pytest.raises(RuntimeError, match="finite differences"):
        gradcheck(WrongSquare.apply, leaf(1.0, 2.0))
    assert gradcheck(WrongSquare.apply, leaf(1.0, 2.0), raise_exception=False) is False
    with pytest.warns(UserWarning, match="float64"):
        assert gradcheck(lambda x: 2 * x, norch.ones(2).requires_grad_(), eps=1e-2, atol=1e-3)


def test_no_operation_leaves_a_cycle():
    """Memory goes with the last reference, without the garbage collector."""
    before = norch._C.live_tensors()
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        y = ((x.exp() * x).tanh() + x.sqrt()).sum().sigmoid()
        y.backward()
        del x, y
        x = leaf(1.0, 2.0)
        y = x * 2.0
        y[0:1].exp_()
        del x, y
        assert norch._C.live_tensors() == before
    finally:
        gc.enable()
