"""Hooks of tensors and of nodes, and what is called when a backward has ended."""

import pytest

import norch
from norch.autograd import Function
from norch.autograd.callbacks import queue_callback


def leaf(*values, dtype=norch.float64):
    return norch.tensor(list(values), dtype=dtype, requires_grad=True)


def test_hooks_see_and_replace_gradients():
    x = leaf(1.0)
    seen = []
    x.register_hook(lambda g: seen.append(g.item()))
    y = x * 2.0
    handle = y.register_hook(lambda g: g * 10.0)
    (y * 1.0 + y * 2.0).backward()
    assert seen == [60.0] and x.grad.item() == 60.0  # once, with the sum
    handle.remove()
    x.grad = None
    y = x * 2.0
    y.backward()
    assert x.grad.item() == 2.0


def test_a_hook_must_keep_the_shape():
    x = leaf(1.0, 2.0)
    x.register_hook(lambda g: g.sum())
    with pytest.raises(RuntimeError, match=r"\[2\]"):
        (x * 2.0).sum().backward()


@pytest.mark.parametrize("dtype", [norch.float64, norch.float16, norch.int64])
def test_a_gradient_of_another_dtype_takes_that_of_its_tensor(dtype):
    class Other(Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, gradient: (gradient * 3).to(dtype))

    x = leaf(1.0, 2.0, dtype=norch.float32)
    Other.apply(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and x.grad.dtype is norch.float32
    x.grad = None
    (x * 2.0).backward(norch.ones(2, dtype=dtype))
    assert x.grad.tolist() == [2.0, 2.0] and x.grad.dtype is norch.float32
    with pytest.raises(RuntimeError, match=r"\[3\].*\[2\]"):
        (x * 2.0).backward(norch.ones(3, dtype=dtype))


def logged(events, name):
    """An operation x -> x whose derivative notes its name."""

    class Logged(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, gradient):
            events.append(name)
            return gradient

    return Logged.apply


def test_a_leaf_is_finished_right_after_its_last_use():
    events = []
    first, second, twice = leaf(1.0), leaf(2.0), leaf(3.0)
    for name, x in (("first", first), ("second", second), ("twice", twice)):
        x.register_post_accumulate_grad_hook(lambda x, name=name: events.append((name, x.grad.item())))
    y = logged(events, "a")(first * twice)
    y = logged(events, "b")(y * second)
    logged(events, "c")(y * twice).backward()
    assert events == ["c", "b", ("second", 9.0), "a", ("first", 18.0), ("twice", 12.0)]
    events.clear()
    logged(events, "only")(second).backward()  # .grad accumulates, and the hook sees the sum
    assert events == ["only", ("second", 10.0)]


def test_a_hook_after_accumulation_is_removed_and_is_only_for_leaves():
    x = leaf(1.0)
    seen = []
    handle = x.register_post_accumulate_grad_hook(seen.append)
    x.register_hook(lambda gradient: gradient * 5.0)
    (2.0 * x).backward(inputs=[x])
    assert len(seen) == 1 and x.grad.item() == 10.0
    norch.autograd.grad(2.0 * x, x)
    handle.remove()
    (2.0 * x).backward()
    assert len(seen) == 1 and x.grad.item() == 20.0
    with pytest.raises(RuntimeError, match="non-leaf"):
        (2.0 * x).register_post_accumulate_grad_hook(seen.append)
    with pytest.raises(RuntimeError, match="does not require"):
        norch.ones(1).register_post_accumulate_grad_hook(seen.append)


def test_leaves_of_several_outputs_and_branches_without_a_gradient():
    """Uses whose nodes never run, or pass None, must not keep a leaf waiting."""

    class Nothing(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, gradient):
            return gradient, None

    x, y = leaf(1.0, 2.0), leaf(1.0, 2.0)
    seen = []
    y.register_post_accumulate_grad_hook(lambda y: seen.append(y.grad.tolist()))
    a, b = norch.stack([x * y, y * y]).unbind(0)
    (Nothing.apply(a, y.exp() * x) + 0.0 * b).sum().backward()
    assert seen == [[1.0, 2.0]]


def test_callbacks_run_when_the_outermost_backward_has_ended():
    events = []
    outer, inner = leaf(1.0), leaf(2.0)

    class Nested(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, gradient):
            with norch.enable_grad():
                y = 3.0 * inner
            y.backward()
            events.append("nested is over")
            return gradient

    inner.register_post_accumulate_grad_hook(lambda x: queue_callback(lambda: events.append(inner.grad.item())))
    outer.register_post_accumulate_grad_hook(lambda x: queue_callback(lambda: events.append(outer.grad.item())))
    Nested.apply(outer * 2.0).backward()
    assert events == ["nested is over", 3.0, 2.0]
    with pytest.raises(RuntimeError, match="no backward runs"):
        queue_callback(events.clear)

    outer.register_hook(lambda gradient: 1 / 0)
    handle = inner.register_post_accumulate_grad_hook(lambda x: queue_callback(lambda: events.append("never")))
    with pytest.raises(ZeroDivisionError):
        (outer * inner.exp() * 2.0 + inner).backward()
    handle.remove()
    inner.backward()  # the callbacks of the backward that failed are forgotten
    assert "never" not in events
