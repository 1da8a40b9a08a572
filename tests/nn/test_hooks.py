"""Hooks of modules: before and after forward, in backward, removed again; ModuleDict, ParameterList, ParameterDict."""

import copy
import gc

import pytest
from compare import close
from linear import layer

import norch
from norch import nn
from norch.autograd import gradcheck, gradgradcheck


def test_forward_hooks_see_and_replace():
    seen = []
    linear = layer([[2.0]], [1.0])
    before = linear.register_forward_pre_hook(lambda module, args: seen.append(("before", module is linear, args)))
    after = linear.register_forward_hook(lambda module, args, y: seen.append(("after", args[0].item(), y.item())))
    x = norch.Tensor([[3.0]])
    assert linear(x).item() == 7.0
    assert seen[0][:2] == ("before", True) and seen[0][2][0] is x and seen[1] == ("after", 3.0, 7.0)
    before.remove()
    after.remove()
    after.remove()  # once more changes nothing
    assert linear(x).item() == 7.0 and len(seen) == 2
    with linear.register_forward_pre_hook(lambda module, args: args[0] * 10):
        with linear.register_forward_hook(lambda module, args, y: y + args[0]):
            assert linear(x).item() == 61.0 + 30.0
    assert linear(x).item() == 7.0


def test_hooks_run_in_order_and_prepend():
    order = []
    module = nn.Identity()
    for name, first in (("a", False), ("b", False), ("c", True)):
        module.register_forward_hook(lambda m, args, y, name=name: order.append(name), prepend=first)
        module.register_forward_pre_hook(lambda m, args, name=name: order.append(name.upper()), prepend=first)
    module(norch.ones(1))
    assert order == ["C", "A", "B", "c", "a", "b"]


def test_hooks_with_kwargs():
    class Scaled(nn.Module):
        def forward(self, x, scale=1.0):
            return x * scale

    module = Scaled()
    seen = []
    module.register_forward_pre_hook(lambda m, args, kwargs: (args, {"scale": kwargs["scale"] + 1}), with_kwargs=True)
    module.register_forward_hook(lambda m, args, kwargs, y: seen.append(kwargs), with_kwargs=True)
    assert module(norch.ones(1), scale=2.0).item() == 3.0 and seen == [{"scale": 3.0}]
    module.register_forward_pre_hook(lambda m, args, kwargs: args, with_kwargs=True)
    with pytest.raises(RuntimeError, match="args, kwargs"):
        module(norch.ones(1), scale=2.0)


class Pair(nn.Module):
    """Two results of two inputs, the second of which does not go through the weight."""

    def __init__(self):
        super().__init__()
        self.a = layer([[1.0, 2.0], [3.0, 4.0]])

    def forward(self, x, y, scale):
        return self.a(x) * y * scale, x + y


def test_backward_hook_sees_all_gradients_at_once():
    seen = []
    pair = Pair()
    pair.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append((grad_input, grad_output)))
    x, y = (norch.Tensor([values]).requires_grad_() for values in ([1.0, 2.0], [3.0, 4.0]))
    expected = norch.autograd.grad(sum(t.sum() for t in Pair()(x, y, 2.0)), [x, y])
    first, second = pair(x, y, 2.0)
    (first.sum() + second.sum()).backward()
    ((grad_input, grad_output),) = seen
    assert [g.tolist() for g in grad_input[:2]] == [g.tolist() for g in expected] and grad_input[2] is None
    assert [g.tolist() for g in grad_output] == [[[1.0, 1.0]]] * 2
    assert x.grad.tolist() == expected[0].tolist() and y.grad.tolist() == expected[1].tolist()


def test_backward_hook_replaces_and_leaves_the_weights_alone():
    pair = Pair()
    pair.register_full_backward_hook(lambda module, grad_input, _: (grad_input[0] * 2, grad_input[1], None))
    plain, x = Pair(), norch.Tensor([[1.0, 2.0]]).requires_grad_()
    y = norch.Tensor([[3.0, 4.0]])
    gradients = []
    for module in (plain, pair):
        module(x, y, 2.0)[0].sum().backward()
        gradients.append((x.grad.tolist(), module.a.weight.grad.tolist()))
        x.zero_grad()
    assert gradients[1][1] == gradients[0][1]
    assert gradients[1][0] == [[2 * g for g in gradients[0][0][0]]]


def test_backward_hook_without_gradients_of_inputs():
    seen = []
    linear = layer([[2.0]], [1.0])
    linear.register_full_backward_hook(lambda module, *gradients: seen.append(gradients))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        (linear(norch.Tensor([[3.0]])) * 5).sum().backward()
    ((grad_input, grad_output),) = seen
    assert grad_input == (None,) and grad_output[0].item() == 5.0 and linear.weight.grad.item() == 15.0


def test_backward_hook_in_both_orders_and_with_a_retained_graph():
    linear = layer([[2.0, -1.0], [0.5, 3.0]], [1.0, 2.0]).double()
    count = []
    linear.register_full_backward_hook(lambda module, grad_input, grad_output: count.append(1))
    x = norch.tensor([[0.3, -0.7]], dtype=norch.float64, requires_grad=True)
    assert gradcheck(lambda t: linear(t).tanh(), x) and gradgradcheck(lambda t: linear(t).tanh(), x)
    count.clear()
    y = linear(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert len(count) == 2
    with pytest.raises(RuntimeError, match="freed"):
        y.backward()
    with norch.no_grad():
        linear(x)
    assert len(count) == 2


@pytest.mark.parametrize(
    "returned, words",
    [
        (lambda g: (g[0],) * 2, "returned 2 gradients, expected 1"),
        (lambda g: (g[0].sum(),), r"shape \[1, 2\]"),
        (lambda g: (1.0,), "1.0"),
    ],
)
def test_backward_hook_refuses(returned, words):
    linear = layer([[2.0, -1.0]])
    linear.register_full_backward_hook(lambda module, grad_input, grad_output: returned(grad_input))
    with pytest.raises(RuntimeError, match=words):
        linear(norch.ones(1, 2).requires_grad_()).sum().backward()


def test_refusals():
    for register in ("register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook"):
        with pytest.raises(TypeError, match="callable, got int"):
            getattr(nn.Identity(), register)(1)


def test_hooked_modules_are_copied_and_freed(no_leak):
    linear = layer([[2.0]])
    calls = []
    linear.register_full_backward_hook(lambda *_: calls.append("backward"))
    linear.register_forward_hook(lambda *_: calls.append("forward"))
    copied = copy.deepcopy(linear)
    copied(norch.ones(1, 1, requires_grad=True)).sum().backward()
    assert calls == ["forward", "backward"] and linear.weight.grad is None
    del linear, copied
    gc.collect()


# ---- ModuleDict, ParameterList, ParameterDict -----------------------------------------------------------------------


def test_module_dict():
    class Choice(nn.Module):
        def __init__(self):
            super().__init__()
            self.acts = nn.ModuleDict({"relu": nn.ReLU(), "up": layer([[2.0]])})

        def forward(self, x, name):
            return self.acts[name](x)

    model = Choice()
    assert model(norch.Tensor([[-3.0]]), "relu").item() == 0.0 and model(norch.Tensor([[3.0]]), "up").item() == 6.0
    assert list(model.state_dict()) == ["acts.up.weight"]
    acts = model.acts
    assert list(acts) == list(acts.keys()) == ["relu", "up"] and len(acts) == 2 and "up" in acts and "down" not in acts
    assert list(acts.values()) == [acts["relu"], acts["up"]] and dict(acts.items())["up"] is acts["up"]
    acts["tanh"] = nn.Tanh()
    acts.update([("elu", nn.ELU())])
    acts.update(nn.ModuleDict({"relu": nn.SiLU()}))
    assert list(acts) == ["relu", "up", "tanh", "elu"] and isinstance(acts["relu"], nn.SiLU)
    assert isinstance(acts.pop("tanh"), nn.Tanh) and "tanh" not in acts
    del acts["elu"]
    assert "(up): Linear" in repr(acts)
    acts.clear()
    assert len(acts) == 0 and list(model.parameters()) == []


def test_parameter_list_and_dict():
    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.rows = nn.ParameterList([norch.ones(2), nn.Parameter([3.0])])
            self.named = nn.ParameterDict({"scale": norch.ones(1)})

    model = Mixed()
    assert [name for name, _ in model.named_parameters()] == ["rows.0", "rows.1", "named.scale"]
    model.rows.append(norch.zeros(3))
    model.rows += [norch.zeros(4)]
    model.rows[-1] = norch.zeros(5)
    assert [p.shape[0] for p in model.rows] == [2, 1, 3, 5] and len(model.rows) == 4
    assert isinstance(model.rows[1:], nn.ParameterList) and model.rows[1:][0] is model.rows[1]
    assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in model.rows)
    model.named["shift"] = norch.zeros(2)
    assert list(model.named) == ["scale", "shift"] and model.named["shift"].shape == [2] and "shift" in model.named
    assert model.named.pop("scale").item() == 1.0 and len(model.named) == 1
    (model.rows[0] * model.named["shift"]).sum().backward()
    close(model.named["shift"].grad, [1.0, 1.0])
    assert "1: [1]" in repr(model.rows) and "shift: [2]" in repr(model.named)


@pytest.mark.parametrize(
    "use, error, words",
    [
        (lambda: nn.ModuleDict({"a": 1}), TypeError, "int.*Module"),
        (lambda: nn.ModuleDict(nn.ReLU()), TypeError, "ReLU"),
        (lambda: nn.ModuleDict({"a.b": nn.ReLU()}), KeyError, "a.b"),
        (lambda: nn.ModuleDict({"items": nn.ReLU()}), KeyError, "items"),
        (lambda: nn.ModuleDict({1: nn.ReLU()}), TypeError, "int"),
        (lambda: nn.ModuleDict()["a"], KeyError, "a"),
        (lambda: nn.ModuleDict().pop("a"), KeyError, "a"),
        (lambda: nn.ParameterList(norch.ones(2)), TypeError, "Tensor"),
        (lambda: nn.ParameterList()[0], IndexError, "0 .*0 parameters"),
        (lambda: nn.ParameterDict({"keys": norch.ones(1)}), KeyError, "keys"),
        (lambda: nn.ParameterDict({1: norch.ones(1)}), TypeError, "int"),
        (lambda: nn.ParameterDict()["a"], KeyError, "a"),
    ],
)
def test_containers_refuse(use, error, words):
    with pytest.raises(error, match=words):
        use()


def test_apply_visits_every_module():
    seen = []
    model = nn.Sequential(nn.Linear(1, 1), nn.ModuleDict({"a": nn.ReLU()}))
    assert model.apply(lambda module: seen.append(module.get_name())) is model
    assert seen == ["Linear", "ReLU", "ModuleDict", "Sequential"]


def test_full_backward_pre_hooks_see_and_replace_all_gradients_of_the_outputs():
    seen = []
    pair = Pair()
    pair.register_full_backward_pre_hook(lambda module, grads: seen.append(grads))
    pair.register_full_backward_pre_hook(lambda module, grads: (grads[0] * 3.0, grads[1]))
    pair.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_output))
    x, y = (norch.Tensor([values]).requires_grad_() for values in ([1.0, 2.0], [3.0, 4.0]))
    first, second = Pair()(x, y, 2.0)
    expected = norch.autograd.grad(3.0 * first.sum() + second.sum(), [x, y])
    first, second = pair(x, y, 2.0)
    (first.sum() + second.sum()).backward()
    close(x.grad, expected[0].tolist())
    close(y.grad, expected[1].tolist())
    assert [g.tolist() for g in seen[0]] == [[[1.0, 1.0]]] * 2
    assert [g.tolist() for g in seen[1]] == [[[3.0, 3.0]], [[1.0, 1.0]]]


def test_a_forward_hook_may_be_called_after_an_error():
    class Failing(nn.Module):
        def forward(self, x):
            raise ValueError("no")

    module, seen = Failing(), []
    module.register_forward_hook(lambda m, args, y: seen.append("never"))
    module.register_forward_hook(lambda m, args, y: seen.append(y), always_call=True)
    with pytest.raises(ValueError, match="no"):
        module(1)
    assert seen == [None]


def test_lists_of_modules_as_in_python():
    a, b, c = nn.Tanh(), nn.ReLU(), nn.Sigmoid()
    assert list(nn.ModuleList([a]) + [b, c]) == [a, b, c] and list(nn.Sequential(a) + nn.Sequential(b)) == [a, b]
    assert list(nn.Sequential(a, b) * 2) == [a, b, a, b]
    both = nn.Sequential(a)
    both *= 2
    assert list(both) == [a, a]
    with pytest.raises(ValueError, match="-1"):
        nn.Sequential(a) * -1
    merged = nn.ParameterDict({"x": norch.ones(1)}) | nn.ParameterDict({"y": norch.ones(2)})
    assert list(merged) == ["x", "y"] and list(reversed(merged)) == ["y", "x"]


def test_hooks_of_all_modules_come_before_a_modules_own():
    net, seen = nn.Sequential(layer([[2.0]], [1.0]), nn.ReLU()), []
    own = net[0].register_forward_hook(lambda module, args, y: seen.append("own"))
    every = nn.modules.module
    handles = [
        every.register_module_forward_pre_hook(lambda module, args: seen.append(("before", type(module)))),
        every.register_module_forward_hook(lambda module, args, y: seen.append(("after", type(module)))),
        every.register_module_full_backward_pre_hook(lambda module, grads: seen.append(("to", type(module)))),
        every.register_module_full_backward_hook(lambda module, grads, of: seen.append(("through", type(module)))),
    ]
    x = norch.ones(1, 1, requires_grad=True)
    net(x).backward()
    before, after = "before", "after"
    assert seen[:4] == [(before, nn.Sequential), (before, nn.Linear), (after, nn.Linear), "own"]
    assert seen[4:7] == [(before, nn.ReLU), (after, nn.ReLU), (after, nn.Sequential)]
    assert sorted(map(str, seen[7:])) == sorted(str((w, type(m))) for w in ("to", "through") for m in (net, *net))
    assert not net[1]._forward_hooks and len(net[0]._forward_hooks) == 1
    for handle in (own, *handles):
        handle.remove()
    seen.clear()
    assert net(x).item() == 3.0 and not seen
    with every.register_module_forward_hook(lambda module, args, y: y * 2):
        assert net(x).item() == 24.0 and copy.deepcopy(net)(x).item() == 24.0  # those that had hooks see it too
    assert net(x).item() == 3.0 and nn.Module._hooks is None


def test_hooks_of_all_registrations_see_and_replace():
    every, seen = nn.modules.module, []

    def note(module, name, value):
        seen.append((type(module).__name__, name, type(value).__name__))

    with every.register_module_parameter_registration_hook(note):
        with every.register_module_module_registration_hook(note):
            with every.register_module_buffer_registration_hook(note):
                net = nn.Sequential(nn.BatchNorm1d(1), nn.Linear(1, 1, bias=False))
                net.extra = nn.Parameter([1.0])
    names = ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    kinds = ["Parameter"] * 2 + ["Tensor"] * 3
    assert seen[:5] == [("BatchNorm1d", *pair) for pair in zip(names, kinds)]
    children = [("Sequential", "0", "BatchNorm1d"), ("Sequential", "1", "Linear")]
    assert seen[5:] == [("Linear", "weight", "Parameter"), *children, ("Sequential", "extra", "Parameter")]
    with every.register_module_parameter_registration_hook(lambda module, name, value: nn.Parameter([7.0])):
        net.extra = nn.Parameter([1.0])
    net.again = nn.Parameter([1.0])
    assert net.extra.item() == net._parameters["extra"].item() == 7.0 and net.again.item() == 1.0


def test_backward_hooks_of_a_module_that_returns_a_dict():
    class Named(nn.Module):
        def forward(self, x):
            return {"y": 2 * x}

    net, seen = Named(), []
    net.register_full_backward_hook(lambda *given: seen.append(given))
    net.register_full_backward_pre_hook(lambda *given: seen.append(given))
    x = norch.ones(1, requires_grad=True)
    with pytest.warns(UserWarning, match="should be a Tensor or a tuple of Tensors, given a dict"):
        y = net(x)["y"]
    y.backward()
    assert x.grad.item() == 2.0 and not seen


def test_a_backward_hook_returns_no_gradient_of_inputs_that_require_none():
    linear = layer([[2.0]], [1.0])
    linear.register_full_backward_hook(lambda module, grad_input, grad_output: grad_input)
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        linear(norch.ones(1, 1)).backward()
    linear.register_full_backward_hook(lambda module, grad_input, grad_output: grad_output)
    with pytest.raises(RuntimeError, match="inputs that require none"), pytest.warns(UserWarning, match="no inputs"):
        linear(norch.ones(1, 1)).backward()


def test_hooks_show_how_they_were_registered():
    linear = layer([[2.0]])
    plain = linear.register_forward_hook(lambda module, args, y: None)
    named = linear.register_forward_hook(lambda module, args, kwargs, y: None, with_kwargs=True)
    always = linear.register_forward_hook(lambda module, args, y: None, always_call=True)
    before = linear.register_forward_pre_hook(lambda module, args, kwargs: None, with_kwargs=True)
    assert list(linear._forward_hooks) == [plain.id, named.id, always.id]
    assert dict(linear._forward_hooks_with_kwargs) == {named.id: True}
    assert dict(linear._forward_hooks_always_called) == {always.id: True}
    assert dict(linear._forward_pre_hooks_with_kwargs) == {before.id: True}
    named.remove()
    assert not linear._forward_hooks_with_kwargs and not nn.ReLU()._forward_hooks_with_kwargs
