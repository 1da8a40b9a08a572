"""The C calls that do a layer or a loss at once, against the same formula composed of single operations."""

import ctypes
import math

import pytest

import norch
import norch.nn.functional as F
from norch import _C
from norch.operation import wrap

NONE, MEAN, SUM = 0, 1, 2


def flat(tensor):
    return tensor.reshape(-1).tolist() if tensor.numel else []


def call(name, *arguments):
    """A function of the C library that returns a tensor."""
    addresses = [a._ptr if isinstance(a, norch.Tensor) else a for a in arguments]
    return wrap(getattr(_C.lib, name)(*addresses) or _C.raise_error())


def make(*shape, dtype=norch.float32, step=0.37):
    """Numbers in [-4, 4] without a pattern that a wrong index would keep."""
    return norch.tensor([math.sin(1 + step * i * i) * 4 for i in range(math.prod(shape))]).reshape(shape).to(dtype)


def same(result, expected, tolerance=2e-6):
    assert result.shape == expected.shape and result.dtype == expected.dtype
    scale = max([1.0, *(abs(x) for x in flat(expected) if math.isfinite(x))])
    assert flat(result) == pytest.approx(flat(expected), rel=tolerance, abs=tolerance * scale, nan_ok=True)


def softmax(x, dim):
    e = (x - x.max(axis=dim, keepdim=True)).exp()
    return e / e.sum(axis=dim, keepdim=True)


def log_softmax(x, dim):
    shifted = x - x.max(axis=dim, keepdim=True)
    return shifted - shifted.exp().sum(axis=dim, keepdim=True).log()


SHAPES = [((3, 5), 1), ((3, 5), 0), ((2, 3, 70), -1), ((2, 70, 3), 1), ((1, 1), 0), ((7,), 0), ((2, 5000), 1), ((130, 33), 1)]


@pytest.mark.parametrize("dtype", [norch.float32, norch.float64])
@pytest.mark.parametrize("shape, dim", SHAPES)
def test_softmax_and_its_gradient(shape, dim, dtype):
    x, gradient = make(*shape, dtype=dtype), make(*shape, dtype=dtype, step=0.71)
    y = softmax(x, dim)
    same(call("softmax_tensor", x, dim), y)
    same(call("softmax_backward", gradient, y, dim), (gradient - (gradient * y).sum(axis=dim, keepdim=True)) * y)
    y = log_softmax(x, dim)
    same(call("log_softmax_tensor", x, dim), y)
    same(call("log_softmax_backward", gradient, y, dim), gradient - y.exp() * gradient.sum(axis=dim, keepdim=True), 1e-5)


def test_softmax_of_a_transposed_tensor():
    x = make(5, 40)
    same(call("softmax_tensor", x.T, 1), softmax(x.T, 1))
    same(call("softmax_tensor", x.T, 0), softmax(x.T, 0))


def test_softmax_of_extreme_rows():
    rows = norch.tensor([[1000.0, 0.0, -1000.0], [math.nan, 0.0, 1.0], [-math.inf, 0.0, 0.0], [-math.inf] * 3])
    result = call("softmax_tensor", rows, 1).tolist()
    assert result[0] == [1, 0, 0] and result[2] == [0, 0.5, 0.5]
    assert all(math.isnan(x) for x in result[1] + result[3])
    assert call("log_softmax_tensor", rows, 1).tolist()[0] == [0, -1000, -2000]


def test_softmax_of_nothing():
    assert call("softmax_tensor", norch.zeros((0, 3)), 1).shape == (0, 3)
    assert call("softmax_tensor", norch.zeros((3, 0)), 1).shape == (3, 0)


def test_softmax_refuses_integers_and_unknown_axes():
    with pytest.raises(RuntimeError, match="expected a floating dtype, got int64"):
        call("softmax_tensor", norch.tensor([1, 2]), 0)
    with pytest.raises(IndexError, match="axis 2 is out of range"):
        call("softmax_tensor", make(2, 3), 2)


@pytest.mark.parametrize("dtype", [norch.float32, norch.float64])
@pytest.mark.parametrize("shape, outputs", [((4, 3), 5), ((1, 1), 1), ((2, 3, 4), 6), ((7,), 2), ((64, 100), 33), ((0, 3), 2), ((3, 0), 2)])
def test_linear_and_its_gradients(shape, outputs, dtype):
    x, weight, bias = make(*shape, dtype=dtype), make(outputs, shape[-1], dtype=dtype), make(outputs, dtype=dtype)
    expected = x @ weight.T + bias
    same(call("linear_tensor", x, weight, bias), expected, 1e-5)
    same(call("linear_tensor", x, weight, None), x @ weight.T, 1e-5)

    gradient = make(*expected.shape, dtype=dtype, step=0.71)
    results = (ctypes.c_void_p * 3)()
    assert _C.lib.linear_backward(gradient._ptr, x._ptr, weight._ptr, 7, ctypes.addressof(results)) == 0
    for_x, for_weight, for_bias = (wrap(address) for address in results)
    if x.numel == 0:
        assert for_x.shape == x.shape and not any(flat(for_weight)) and for_weight.shape == weight.shape
        return
    same(for_x, gradient @ weight, 1e-5)
    same(for_weight, gradient.reshape(-1, outputs).T @ x.reshape(-1, shape[-1]), 1e-5)
    same(for_bias, gradient.reshape(-1, outputs).sum(axis=0), 1e-5)


def test_linear_of_strided_operands_and_needed_gradients_only():
    x, weight = make(5, 8).T, make(5, 6).T
    same(call("linear_tensor", x, weight, None), x @ weight.T, 1e-5)
    results = (ctypes.c_void_p * 3)()
    assert _C.lib.linear_backward(make(8, 6)._ptr, x._ptr, weight._ptr, 2, ctypes.addressof(results)) == 0
    assert results[0] is None and results[2] is None and wrap(results[1]).shape == (6, 5)


def test_linear_refuses_what_does_not_fit():
    with pytest.raises(norch.ShapeError, match=r"input has shape \[2, 3\], expected \[..., 4\]"):
        call("linear_tensor", make(2, 3), make(5, 4), None)
    with pytest.raises(norch.ShapeError, match=r"bias has shape \[4\], expected \[5\]"):
        call("linear_tensor", make(2, 4), make(5, 4), make(4))
    with pytest.raises(RuntimeError, match="one dtype"):
        call("linear_tensor", make(2, 4), make(5, 4, dtype=norch.float64), None)


def chosen(log_probabilities, labels, ignored):
    """The loss of each row, in Python."""
    rows = log_probabilities.tolist()
    return [0.0 if label == ignored else -row[label] for row, label in zip(rows, labels)]


@pytest.mark.parametrize("classes", [1, 3, 17, 64, 1000, 5000])
def test_cross_entropy_and_its_gradient(classes):
    logits, labels = make(6, classes, dtype=norch.float64), [0, classes - 1, -100, classes // 2, 0, -100]
    target = norch.tensor(labels)
    expected = chosen(log_softmax(logits, 1), labels, -100)
    for dtype, tolerance in ((norch.float32, 3e-6), (norch.float64, 1e-12)):
        x = logits.to(dtype)
        for reduction, value in ((NONE, expected), (MEAN, [sum(expected) / 4]), (SUM, [sum(expected)])):
            assert flat(call("cross_entropy_tensor", x, target, -100, reduction)) == pytest.approx(value, rel=tolerance, abs=1e-6)
        one_hot = norch.tensor([[float(j == label) for j in range(classes)] for label in labels]).to(dtype)
        counted = norch.tensor([[float(label != -100)] for label in labels]).to(dtype)
        slopes = (softmax(x, 1) - one_hot) * counted
        gradient = norch.tensor([3.0]).to(dtype)
        same(call("cross_entropy_backward", gradient, x, target, -100, SUM), slopes * 3.0)
        same(call("cross_entropy_backward", gradient, x, target, -100, MEAN), slopes * 0.75)
        each = make(6, dtype=dtype)
        same(call("cross_entropy_backward", each, x, target, -100, NONE), slopes * each.reshape(6, 1))


def test_cross_entropy_of_further_dimensions():
    logits, target = make(2, 3, 4, 5), norch.tensor([i % 3 for i in range(40)]).reshape(2, 4, 5)
    same(call("cross_entropy_tensor", logits, target, -100, NONE), F.nll_loss(log_softmax(logits, 1), target, reduction="none"))
    gradient = call("cross_entropy_backward", norch.tensor([1.0]), logits, target, -100, SUM)
    one_hot = (target.unsqueeze(1) == norch.arange(3).reshape(3, 1, 1)).float()
    same(gradient, softmax(logits, 1) - one_hot)


@pytest.mark.parametrize("dtype", [norch.int32, norch.uint8, norch.int64])
def test_cross_entropy_of_one_sample(dtype):
    loss = call("cross_entropy_tensor", norch.tensor([1000.0, 0.0]), norch.tensor([1], dtype=dtype), -100, MEAN)
    assert loss.tolist() == [1000]


def test_cross_entropy_of_nothing_counted():
    logits, target = make(2, 3), norch.tensor([-100, -100])
    assert math.isnan(call("cross_entropy_tensor", logits, target, -100, MEAN)[0])
    assert call("cross_entropy_tensor", logits, target, -100, SUM).tolist() == [0]
    assert not any(flat(call("cross_entropy_backward", norch.tensor([1.0]), logits, target, -100, MEAN)))


def test_cross_entropy_refuses_what_does_not_fit():
    with pytest.raises(IndexError, match="target 3 is out of range, expected 0 to 2"):
        call("cross_entropy_tensor", make(2, 3), norch.tensor([0, 3]), -100, MEAN)
    with pytest.raises(IndexError, match="target -1 is out of range"):
        call("cross_entropy_tensor", make(2, 3), norch.tensor([0, -1]), -100, MEAN)
    with pytest.raises(norch.ShapeError, match=r"target has shape \[3\], expected \[2\]"):
        call("cross_entropy_tensor", make(2, 3), norch.tensor([0, 1, 2]), -100, MEAN)
    with pytest.raises(TypeError, match="target has dtype float32"):
        call("cross_entropy_tensor", make(2, 3), make(2), -100, MEAN)


@pytest.mark.parametrize("shape", [(1,), (3, 5), (200, 700)])
def test_mean_squared_error_and_its_gradient(shape):
    for dtype in (norch.float32, norch.float64):
        x, y = make(*shape, dtype=dtype), make(*shape, dtype=dtype, step=0.71)
        same(call("mse_tensor", x, y, SUM), ((x - y) * (x - y)).sum())
        same(call("mse_tensor", x, y, MEAN), ((x - y) * (x - y)).mean())
        gradient = norch.tensor([3.0]).to(dtype)
        same(call("mse_backward", gradient, x, y, SUM), (x - y) * 6.0)
        same(call("mse_backward", gradient, x, y, MEAN), (x - y) * (6.0 / x.numel))
    with pytest.raises(norch.ShapeError, match="one shape"):
        call("mse_tensor", make(2, 3), make(3, 2), MEAN)


def test_the_mean_squared_error_of_transposed_operands():
    x, y = make(4, 6), make(6, 4, step=0.71).T
    same(call("mse_tensor", x, y, SUM), ((x - y) * (x - y)).sum())
    same(call("mse_backward", norch.tensor([1.0]), x, y, SUM), (x - y) * 2.0)
