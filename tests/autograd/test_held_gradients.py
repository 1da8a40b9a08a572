"""`.grad` of tensors in the middle of a graph: kept for those that somebody holds, and for no others."""

import copy

import pytest

import norch


def chain():
    x = norch.Tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    return x, y, y * 3


def test_a_tensor_that_is_held_gets_its_gradient():
    x, y, z = chain()
    z.sum().backward()
    assert y.grad.tolist() == [3, 3] and z.grad.tolist() == [1, 1]
    assert x.grad.tolist() == pytest.approx([3 * value for value in y.tolist()])


def test_a_tensor_that_nobody_holds_keeps_no_gradient():
    x, y, z = chain()
    node, loss = z.grad_fn, z.sum()
    del y, z
    loss.backward(retain_graph=True)
    assert node.grad is None and loss.grad is not None
    loss.backward()
    assert loss.grad.item() == 2  # it adds up, as in leaves


def test_a_tensor_that_left_the_graph_holds_nothing_of_it():
    _, y, z = chain()
    node, loss = z.grad_fn, z.sum()
    z.detach_()
    loss.backward(retain_graph=True)
    assert z.grad is None and node.grad is None and y.grad is not None


def test_a_second_derivative_does_not_take_the_gradient_from_who_holds_the_tensor():
    x, y, z = chain()
    (first,) = norch.autograd.grad(z.sum(), x, create_graph=True)  # reads y through another tensor, which dies
    first.sum().backward()
    assert y.grad is not None and x.grad.tolist() == first.tolist()


def test_a_shallow_copy_does_not_take_it_either():
    _, y, z = chain()
    copied = copy.copy(y)
    del copied
    z.sum().backward()
    assert y.grad.tolist() == [3, 3]


def test_gradients_of_two_results_are_memory_of_their_own():
    x, y, z = chain()
    sum_of_both = y + z
    sum_of_both.backward(norch.Tensor([1.0, 1.0]))
    z.grad.mul_(5)
    assert z.grad.tolist() == [5, 5] and y.grad.tolist() == [4, 4] and sum_of_both.grad.tolist() == [1, 1]


@pytest.mark.parametrize(
    "gradient, error", [(norch.ones(3), RuntimeError), (norch.ones(2).double(), RuntimeError), (1.0, TypeError)]
)
def test_a_gradient_that_does_not_fit_is_refused(gradient, error):
    x = norch.ones(2, requires_grad=True)
    with pytest.raises(error, match="grad: expected a"):
        x.grad = gradient
    assert x.grad is None


def test_a_gradient_can_be_given_and_forgotten():
    x = norch.ones(2)
    x.grad = norch.ones(2)
    assert x.grad.tolist() == [1, 1] and not x.requires_grad
    x.grad = None
    assert x.grad is None


def test_the_gradient_of_one_process_is_shared_under_the_inner_name():
    own, shared = norch.ones(2, requires_grad=True), norch.zeros(2, requires_grad=True)
    own.sum().backward()
    shared._grad = own.grad
    assert shared.grad is own.grad and shared._grad is own.grad
    norch.optim.SGD([shared], lr=1.0).step()
    assert shared.tolist() == [-1, -1]


def test_a_leaf_that_needs_no_gradient_any_more_gets_none():
    x = norch.ones(2, requires_grad=True)
    y = 2 * x
    x.requires_grad_(False)
    y.sum().backward()
    assert x.grad is None


def test_only_what_leads_to_the_inputs_is_walked():
    x, w = (norch.ones(2, requires_grad=True) for _ in range(2))
    seen = []
    y = x.exp()
    y.register_hook(seen.append)
    loss = (y + w).sum()
    y.mul_(2)  # what exp saved is gone, but w does not depend on it
    loss.backward(inputs=[w])
    assert w.grad.tolist() == [1, 1] and x.grad is None and not seen


def test_zeros_for_an_unused_input_can_be_differentiated():
    x, w = (norch.ones(2, requires_grad=True) for _ in range(2))
    (gradient,) = norch.autograd.grad(x.sum(), w, create_graph=True, materialize_grads=True)
    assert gradient.tolist() == [0, 0] and gradient.requires_grad


def test_a_gradient_can_be_deleted_and_is_another_tensor():
    x = norch.ones(2, requires_grad=True)
    (3 * x).sum().backward()
    del x.grad
    assert x.grad is None
    with pytest.raises(RuntimeError, match="cannot be its own gradient"):
        x.grad = x
