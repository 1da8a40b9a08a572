"""norch.nn.utils: gradients clipped by norm and by value."""

import math

import pytest

import norch
from norch import nn
from norch.nn.utils import clip_grad_norm_, clip_grad_value_


def with_gradients(*gradients, device="cpu"):
    """A parameter for each gradient, None for none."""
    parameters = []
    for gradient in gradients:
        parameters.append(nn.Parameter(norch.Tensor([0.0] * len(gradient or [0.0]), device)))
        parameters[-1].grad = None if gradient is None else norch.Tensor(gradient, device)
    return parameters


def gradients_of(parameters):
    return [parameter.grad.tolist() for parameter in parameters if parameter.grad is not None]


@pytest.mark.parametrize("norm_type, norm", [(2, 13.0), (1, 19.0), (math.inf, 12.0), (3, 1819 ** (1 / 3))])
def test_clip_by_norm(norm_type, norm, device):
    parameters = with_gradients([3.0, -4.0], None, [12.0], device=device)
    total = clip_grad_norm_(parameters, norm / 2, norm_type)
    assert total.shape == () and total.device == parameters[0].device and total.item() == pytest.approx(norm, rel=1e-6)
    first, second = gradients_of(parameters)
    assert first == pytest.approx([1.5, -2.0], rel=1e-5) and second == pytest.approx([6.0], rel=1e-5)


def test_a_smaller_norm_is_left_alone():
    parameters = with_gradients([3.0, 4.0])
    gradient = parameters[0].grad
    assert clip_grad_norm_(iter(parameters), 6.0)[0] == 5.0
    assert gradients_of(parameters) == [[3.0, 4.0]] and parameters[0].grad is gradient


def test_one_tensor_and_no_gradients():
    (parameter,) = with_gradients([3.0, 4.0])
    assert clip_grad_norm_(parameter, 1.0)[0] == 5.0
    assert parameter.grad.tolist() == pytest.approx([0.6, 0.8])
    assert clip_grad_norm_(with_gradients(None), 1.0).item() == 0.0
    assert clip_grad_norm_([], 1.0).item() == 0.0
    clip_grad_value_(with_gradients(None), 1.0)


def test_gradients_that_backward_left_are_clipped_in_place():
    model = nn.Linear(3, 2)
    model(norch.ones(4, 3)).sum().backward()
    assert clip_grad_norm_(model.parameters(), 1.0).item() == pytest.approx(math.sqrt(6 * 16 + 2 * 16))
    assert sum(x * x for g in gradients_of(model.parameters()) for x in norch.Tensor(g).flatten().tolist()) == (
        pytest.approx(1.0, rel=1e-5)
    )
    weight = nn.Parameter([1.0, 2.0])
    weight.sum().backward()
    clip_grad_norm_(weight, 1.0)
    assert weight.grad.tolist() == pytest.approx([0.5**0.5] * 2) and weight.grad.grad_fn is None


def test_gradients_of_two_dtypes():
    parameters = with_gradients([3.0])
    parameters.append(nn.Parameter(norch.zeros(1, dtype=norch.float64)))
    parameters[1].grad = norch.tensor([4.0], dtype=norch.float64)
    assert clip_grad_norm_(parameters, 2.5)[0] == 5.0
    assert [p.grad.dtype for p in parameters] == [norch.float32, norch.float64]
    assert [p.grad.item() for p in parameters] == pytest.approx([1.5, 2.0])


@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_a_norm_that_is_not_finite(bad):
    parameters = with_gradients([1.0, bad], [2.0])
    with pytest.raises(RuntimeError, match=f"order 2.0 is {bad}, expected a finite one"):
        clip_grad_norm_(parameters, 1.0, error_if_nonfinite=True)
    assert parameters[1].grad.tolist() == [2.0]
    assert str(clip_grad_norm_(parameters, 1.0)[0]) == str(bad)
    assert str(parameters[1].grad[0]) == ("0.0" if bad == math.inf else "nan")


def test_clip_by_value(device):
    parameters = with_gradients([3.0, -4.0, 0.25], None, [math.inf, -0.5], device=device)
    clip_grad_value_(parameters, 0.5)
    assert gradients_of(parameters) == [[0.5, -0.5, 0.25], [0.5, -0.5]]


def test_clip_refuses_what_is_no_tensor():
    for clip in (clip_grad_norm_, clip_grad_value_):
        with pytest.raises(TypeError, match="float"):
            clip([1.0], 1.0)
