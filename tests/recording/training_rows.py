"""Rows of test_what_is_watched.py: what is changed of modules and optimizers between two epochs."""

from __future__ import annotations

import functools
import types

from watched_rows import changes, training

import norch
from norch import nn, optim


class Net(nn.Module):
    factor = 2.0

    def __init__(self):
        super().__init__()
        self.layer, self.drop, self.act, self.blocks = nn.Linear(2, 2), nn.Dropout(0.5), nn.Tanh(), [nn.ReLU()]

    def scaled(self, x):
        return x * self.factor

    def forward(self, x):
        x = self.act(self.layer(x))
        for block in self.blocks:
            x = block(x)
        return self.scaled(self.drop(x))


class Child(Net):
    def scaled(self, x):
        return super().scaled(x) + 1


@changes
def method_of_a_base_class(patch):
    net = Child().eval()
    return lambda x: net(x), lambda: patch.setattr(Net, "scaled", lambda self, x: x * 7)


@changes
def method_of_an_object():
    net = Child().eval()
    return lambda x: net(x), lambda: setattr(net, "scaled", lambda x: x * 7)


@changes
def class_attribute_hidden_by_an_attribute():
    net = Net().eval()
    return lambda x: net(x), lambda: setattr(net, "factor", 7.0)


@changes
def training_of_a_part():
    net = Net().eval()
    return lambda x: net(x), lambda: (norch.manual_seed(3), net.drop.train())


@changes
def rate_of_a_dropout():
    net = Net()
    net.drop.p = 0.0
    return lambda x: net(x), lambda: (norch.manual_seed(3), setattr(net.drop, "p", 1.0))


@changes
def activation_swapped():
    net = Net().eval()
    return lambda x: net(x), lambda: setattr(net, "act", nn.Sigmoid())


@changes
def block_in_a_plain_list_swapped():
    net = Net().eval()
    return lambda x: net(x), lambda: net.blocks.__setitem__(0, nn.Sigmoid())


@changes
def hook_added():
    net = Net().eval()
    return lambda x: net(x), lambda: net.layer.register_forward_hook(lambda module, given, result: result * 3)


@changes
def hook_of_a_parameter():
    net = nn.Linear(2, 2)
    step, _ = training(net)
    return step, lambda: net.weight.register_hook(lambda gradient: gradient * 5)


@changes
def layer_frozen():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    step, _ = training(net)
    return step, lambda: net[0].requires_grad_(False)


@changes
def rate_changed_by_hand():
    step, optimizer = training(nn.Linear(2, 2))
    return step, lambda: optimizer.param_groups[0].update(lr=0.5)


@changes
def momentum_changed_by_hand():
    step, optimizer = training(nn.Linear(2, 2), functools.partial(optim.SGD, momentum=0.9))
    return step, lambda: optimizer.param_groups[0].update(momentum=0.1)


@changes
def state_of_an_optimizer_cleared():
    step, optimizer = training(nn.Linear(2, 2), functools.partial(optim.SGD, momentum=0.9))
    return step, optimizer.state.clear


@changes
def state_of_one_parameter_changed():
    net = nn.Linear(2, 2)
    step, optimizer = training(net, optim.Adam)
    return step, lambda: optimizer.state[net.weight]["exp_avg"].zero_()


@changes
def averages_in_a_dict():
    net = nn.Linear(2, 2)
    averages = {name: p.detach().clone() for name, p in net.named_parameters()}

    def step(x):
        for name, p in net.named_parameters():
            averages[name].mul_(0.9).add_(p.detach(), alpha=0.1)
        return [x.clone() for x in averages.values()]

    return step, lambda: averages.update(weight=norch.ones(2, 2) * 7)


@changes
def data_of_a_parameter_replaced():
    net = nn.Linear(2, 2)
    return lambda x: net(x), lambda: setattr(net.weight, "data", norch.ones(2, 2) * 7)


@changes
def parameters_clipped_to_another_norm():
    net, config = nn.Linear(2, 2), types.SimpleNamespace(most=1e-3)

    def step(x):
        net.zero_grad()
        net(x).square().sum().backward()
        nn.utils.clip_grad_norm_(net.parameters(), config.most)
        return [p.grad.clone() for p in net.parameters()]

    return step, lambda: setattr(config, "most", 1e-2)


@changes
def buffer_registered():
    class Masked(nn.Module):
        def forward(self, x):
            return x * self.mask if hasattr(self, "mask") else x

    net = Masked()
    return lambda x: net(x), lambda: net.register_buffer("mask", norch.tensor([0.0, 1.0]))


@changes
def layer_appended():
    net = nn.Sequential(nn.Linear(2, 2))
    return lambda x: net(x), lambda: net.append(nn.Tanh())


@changes
def layer_deleted():
    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    return lambda x: net(x), lambda: net.__delitem__(1)


@changes
def parameter_appended():
    parts = nn.ParameterList([nn.Parameter(norch.ones(2))])
    return lambda x: sum(x * part for part in parts), lambda: parts.append(nn.Parameter(norch.ones(2)))


@changes
def weights_tied():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    return lambda x: net(x), lambda: setattr(net[1], "weight", net[0].weight)


@changes
def gradient_set_by_hand():
    net = nn.Linear(2, 2)

    def step(x):
        net(x).sum().backward()
        return [p.grad.clone() for p in net.parameters()]

    return step, lambda: setattr(net.weight, "grad", norch.ones(2, 2) * 7)


@changes
def group_added():
    net, other = nn.Linear(2, 2), nn.Linear(2, 2)
    optimizer = optim.SGD(net.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        other(net(x)).square().sum().backward()
        optimizer.step()
        return [p.detach().clone() for p in (*net.parameters(), *other.parameters())]

    return step, lambda: optimizer.add_param_group({"params": list(other.parameters()), "lr": 0.5})


@changes
def method_bound_to_an_object():
    net = Net().eval()
    return lambda x: net(x), lambda: setattr(net, "scaled", types.MethodType(lambda self, x: x * 7, net))


@changes
def label_smoothing():
    criterion = nn.CrossEntropyLoss()
    function = lambda x: criterion(x.reshape(1, 2) * norch.tensor([1.0, 3.0]), norch.tensor([1]))  # noqa: E731
    return function, lambda: setattr(criterion, "label_smoothing", 0.5)
