"""Operations that users define: classes derived from Function."""

import gc

import pytest

import norch
from norch.autograd import Function, gradcheck, gradgradcheck


def leaf(*values):
    return norch.tensor(list(values), dtype=norch.float64, requires_grad=True)


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 3.0 * x * x * gradient


class Rows(Function):
    """Rows of a memory that needs no gradient, the last of which was computed."""

    @staticmethod
    def forward(ctx, memory, last):
        return memory[:2]

    @staticmethod
    def backward(ctx, gradient):
        return None, gradient[1]


@pytest.mark.parametrize(
    "view", [lambda x: x.T, lambda x: x.reshape(6), lambda x: x[1:], lambda x: x.permute(1, 0) * 1]
)
def test_views_of_a_custom_operation_s_view_pass_gradients_on(view):
    memory, last = norch.zeros(4, 3), norch.ones(3, requires_grad=True)
    view(Rows.apply(memory, last * 2)).sum().backward()
    assert last.grad.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    "write",
    [
        lambda memory, rows: rows.mul_(5),
        lambda memory, rows: rows[1:].mul_(5),
        lambda memory, rows: memory.mul_(5),
        lambda memory, rows: memory[0].fill_(5),
    ],
)
@pytest.mark.parametrize("in_graph", [False, True])
def test_a_write_past_a_custom_operation_s_view_is_refused(write, in_graph):
    memory, last = norch.zeros(4, 3, requires_grad=in_graph) * 1, norch.ones(3, requires_grad=True)
    rows = Rows.apply(memory, last)
    with pytest.raises(RuntimeError, match="custom operation"):
        write(memory, rows)
        rows.sum().backward()


class Remembered(Function):
    """Writes into the memory itself, and returns what it holds so far."""

    @staticmethod
    def forward(ctx, memory, row, number):
        memory[number] = row
        return memory[: number + 1]

    @staticmethod
    def backward(ctx, gradient):
        return None, gradient[-1], None


def test_a_custom_operation_may_write_to_the_base_of_an_earlier_view():
    memory, row = norch.zeros(3, 2), norch.ones(2, requires_grad=True)
    sum((Remembered.apply(memory, row * (i + 1), i) * (i + 2)).sum() for i in range(3)).backward()
    assert row.grad.tolist() == [20.0, 20.0]  # 1 * 2 + 2 * 3 + 3 * 4


class Exponential(Function):
    @staticmethod
    def forward(ctx, x, scale):
        y = (x * scale).exp()
        ctx.save_for_backward(y)
        ctx.scale = scale
        assert ctx.needs_input_grad == (x.requires_grad, False)
        return y

    @staticmethod
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensors
        return gradient * y * ctx.scale, None


@pytest.mark.parametrize("function", [Cube.apply, lambda x: Exponential.apply(x, 0.5)])
def test_custom_operations(function):
    x = leaf(0.5, -1.2, 2.0)
    assert gradcheck(function, x) and gradgradcheck(function, x)
    assert not function(x.detach()).requires_grad


def test_a_custom_operation_that_saves_its_result_leaves_no_cycle():
    before = norch._C.live_tensors()
    gc.disable()
    try:
        Exponential.apply(leaf(1.0), 2.0)
        assert norch._C.live_tensors() == before
    finally:
        gc.enable()


def test_the_wrong_number_of_gradients_is_named():
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    with pytest.raises(RuntimeError, match="1 gradients for 2 operands"):
        Wrong.apply(leaf(1.0), leaf(2.0)).backward()


def test_a_gradient_is_summed_to_the_shape_that_its_operand_was_expanded_from():
    class Times(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, gradient):
            x, y = ctx.saved_tensors
            return gradient * y, gradient * x

    x = norch.arange(6.0, dtype=norch.float64).reshape(2, 3).requires_grad_()
    for y in (leaf(2.0).sum().detach().requires_grad_(), leaf(2.0), leaf(1.0, 2.0, 3.0), leaf([1.0], [2.0])):
        assert gradcheck(Times.apply, (x, y)) and gradgradcheck(Times.apply, (x, y))
        Times.apply(x, 1 * y).sum().backward()
        assert y.grad.shape == y.shape
    y = norch.ones(2, 1, 1, 1, dtype=norch.float64, requires_grad=True)  # wider than the gradient that it gets
    with pytest.raises(RuntimeError, match="gradient of shape"):
        Cube.apply(y).backward(norch.ones(2, 3))


def test_a_node_has_the_name_of_its_operation():
    class Twice(norch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, gradient):
            return 2 * gradient

    assert Twice.apply(norch.ones(1, requires_grad=True)).grad_fn.name() == "TwiceBackward"  # PyTorch's name


def operation(forward, backward):
    return type("Op", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


@pytest.mark.parametrize("made", [lambda x: x, lambda x: x * 1, lambda x: x.exp() / x.exp().detach()])
def test_a_gradient_of_a_custom_operation_gets_shape_and_dtype_of_its_operand(made):
    def forward(ctx, x):
        return x * 2

    x = leaf(1, 2)
    operation(forward, lambda ctx, gradient: gradient.expand(3, 2).float()).apply(made(x)).sum().backward()
    assert x.grad.tolist() == [3, 3] and x.grad.dtype is norch.float64
    for wrong in (lambda ctx, gradient: norch.ones(10), lambda ctx, gradient: gradient.sum()):
        result = operation(forward, wrong).apply(made(leaf(1, 2)))
        with pytest.raises(RuntimeError, match="does not fit an input of shape"):
            result.sum().backward()


def doubled(x):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    return operation(forward, lambda ctx, gradient: gradient * 2).apply(x)


def test_a_custom_operation_that_writes_to_a_view_writes_to_its_base():
    x = norch.ones(2, 3, requires_grad=True)
    base = x * 1
    other = base[:, 1]
    written = doubled(base[0])
    assert written._edge is not None and base.tolist() == [[2, 2, 2], [1, 1, 1]]
    (base * 10).sum().backward(retain_graph=True)
    other.sum().backward()
    assert x.grad.tolist() == [[20, 22, 20], [10, 11, 10]]
    with pytest.raises(RuntimeError, match="view of a leaf"):
        doubled(x[0])


def test_what_a_custom_operation_writes_to_enters_the_graph_with_its_base():
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        return x.add_(y), y * 1

    base, y = norch.zeros(2, 2), norch.ones(2, requires_grad=True)
    operation(forward, lambda ctx, x, y: (x, x + y)).apply(base[1], y)
    (base * 3).sum().backward()
    assert y.grad.tolist() == [3, 3]


@pytest.mark.parametrize("requires_grad", [True, False])
def test_an_argument_that_is_returned_becomes_another_tensor(requires_grad):
    """Over its memory, so that a new shape or requires_grad_() of the result leaves the argument as it is."""

    class Both(Function):
        forward = staticmethod(lambda ctx, x, number: (x, number))
        backward = staticmethod(lambda ctx, g, _: (g, None))

    x, number = norch.ones(1, requires_grad=requires_grad), norch.tensor([3])
    for grad in (True, False):
        with norch.set_grad_enabled(grad):
            result, same = Both.apply(x, number)
        assert result is not x and same is not number
        assert result.data_ptr() == x.data_ptr() and same.data_ptr() == number.data_ptr()
        assert result.requires_grad is (grad and requires_grad)
        same.squeeze_()
        assert number.shape == (1,)


def test_what_a_custom_operation_says_of_tensors_is_checked():
    def dirty(ctx, x, y):
        ctx.mark_dirty(x)
        return y * 1

    def saving(ctx, x):
        ctx.save_for_backward(x, 3)
        return x * 1

    with pytest.raises(RuntimeError, match="must return the arguments that it changed"):
        operation(dirty, None).apply(norch.ones(1), norch.ones(1, requires_grad=True))
    with pytest.raises(TypeError, match="save_for_backward takes Tensors, got int"):
        operation(saving, None).apply(norch.ones(1, requires_grad=True))


def test_the_node_shows_what_forward_left():
    x = leaf(2)
    node = Cube.apply(x).grad_fn
    assert node.saved_tensors[0] is x and node.needs_input_grad == (True,)
    with pytest.raises(AttributeError):
        node.nothing  # noqa: B018
    assert Function.generate_vmap_rule is False

    def forward(ctx, x):
        ctx.factor = 5
        return x * 5

    assert operation(forward, None).apply(x).grad_fn.factor == 5


class Named(Function):
    """Its ctx has attributes that norch's own nodes have, too."""

    @staticmethod
    def forward(ctx, x):
        ctx.x, ctx.output, ctx.input = 3.0, "result", [x.detach()]
        return ctx.x * x

    @staticmethod
    def backward(ctx, gradient):
        return ctx.x * gradient


def test_the_node_shows_what_forward_left_on_its_ctx():
    x = leaf(1.0)
    y = Named.apply(x)
    assert (y.grad_fn.x, y.grad_fn.output) == (3.0, "result")
    y.sum().backward()
    assert x.grad.tolist() == [3.0] and y.grad_fn.x == 3.0
    with pytest.raises(AttributeError):
        y.grad_fn.y  # noqa: B018


def test_inputs_that_were_left_out_have_their_defaults_in_setup_context():
    class Scaled(Function):
        @classmethod
        def forward(cls, x, factor=3):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            _, ctx.factor = inputs

        @staticmethod
        def backward(ctx, gradient):
            return gradient * ctx.factor, None

    x = norch.ones(1, requires_grad=True)
    (Scaled.apply(x) + Scaled.apply(x, 4)).backward()
    assert x.grad.tolist() == [7.0]


class Scaled(Function):
    @staticmethod
    def forward(ctx, x, factor=3, *, flag=True):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, gradient, *_):
        return (gradient * ctx.factor, *[None] * (len(ctx.needs_input_grad) - 1))


class ScaledLater(Function):
    @staticmethod
    def forward(x, factor=3):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.factor = inputs

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.factor, None


@pytest.mark.parametrize("kind", [Scaled, ScaledLater])
def test_arguments_by_name_are_put_in_the_order_of_forward(kind):
    for args, kwargs in (((), {"factor": 2}), ((), {}), ((2,), {})):
        x = norch.ones(2, requires_grad=True)
        result = kind.apply(x=x, **kwargs) if not args else kind.apply(x, *args, **kwargs)
        result.sum().backward()
        assert result.tolist() == x.grad.tolist() == [2.0 if args or kwargs else 3.0] * 2
    with pytest.raises(TypeError, match="unexpected keyword argument 'unknown'"):
        kind.apply(norch.ones(2), unknown=1)


def test_what_forward_takes_by_name_alone_cannot_be_given():
    with pytest.raises(TypeError, match="flag cannot be given by position"):
        Scaled.apply(norch.ones(2), flag=False)
