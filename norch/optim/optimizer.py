"""Optimizer: parameters in groups, each with its settings. SGD: the article's, with PyTorch's options."""

from __future__ import annotations

import copy
import struct
from collections import defaultdict
from collections.abc import Callable, Iterable

from norch import _C
from norch._C import addresses
from norch.autograd import enable_grad
from norch.tensor import Tensor
from norch.utils.utils import clear_gradient


class Optimizer:
    """Base class for optimizers: a subclass defines `step`, or `_step_group`, which `step` calls for each group.

    `parameters` lists tensors, (name, tensor) pairs, the article's (module, name, tensor) triples, or dicts of the
    form {"params": [...], "lr": 0.1} that give a group settings of its own. `defaults` holds the settings of groups
    that name none. A tensor listed twice in a group is kept once; in two groups it is a ValueError.

    >>> w = nn.Parameter([1.0])
    >>> optimizer = optim.SGD([w], lr=0.1)
    >>> isinstance(optimizer, optim.Optimizer), optimizer.param_groups[0]["lr"]
    (True, 0.1)
    """

    def __init__(self, parameters, defaults: dict | None = None):
        if isinstance(parameters, Tensor):
            raise TypeError(f"parameters should be an iterable but got {type(parameters)}")
        if isinstance(parameters, dict):
            parameters = [parameters] if "params" in parameters else parameters.values()
        self.defaults = dict(defaults or {})
        self.state: dict[Tensor, dict] = defaultdict(dict)
        self.param_groups: list[dict] = []
        entries = list(parameters)
        if not entries:
            raise ValueError("the optimizer was given an empty list, expected at least one parameter")
        groups = entries if all(isinstance(entry, dict) for entry in entries) else [{"params": entries}]
        for group in groups:
            self.add_param_group(group)

    @property
    def parameters(self) -> list[Tensor]:
        """All tensors that `step` changes, each once."""
        return [parameter for group in self.param_groups for parameter in group["params"]]

    def add_param_group(self, group: dict) -> None:
        """Add {"params": tensors, setting: value ...}; settings it leaves out are the defaults."""
        if not isinstance(group, dict) or "params" not in group:
            raise TypeError(f"a parameter group is a dict with the key 'params', given {group!r}")
        group = {**self.defaults, **group, "params": _unique_parameters(group["params"])}
        known = {id(parameter) for parameter in self.parameters}
        if any(id(parameter) in known for parameter in group["params"]):
            raise ValueError("a parameter appears in more than one parameter group, expected it in one")
        self.check_settings(group)
        self.param_groups.append(group)

    def check_settings(self, settings: dict) -> None:
        """Raise ValueError for settings that make no sense; a subclass defines which."""

    def step(self, closure: Callable | None = None):
        """Change every parameter by its gradient; returns what `closure`, run first with gradients on, returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            self._step_group(group)
        return loss

    def _step_group(self, group: dict) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not define step()")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget every parameter's gradient, or fill it with zeros if `set_to_none` is False."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if not set_to_none:
                    clear_gradient(parameter, set_to_none)
                elif parameter._leaf is not None:
                    parameter._leaf.grad = None  # parameter.grad = None, without the call

    def state_dict(self) -> dict:
        """{"state": {number: ...}, "param_groups": [...]}, where numbers stand for the parameters, in their order."""
        numbers = {id(parameter): number for number, parameter in enumerate(self.parameters)}
        groups = [{**group, "params": [numbers[id(p)] for p in group["params"]]} for group in self.param_groups]
        state = {numbers[id(p)]: dict(values) for p, values in self.state.items() if id(p) in numbers}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over a copy of the state and settings that `state_dict` of an optimizer like this one returned."""
        given = [len(group["params"]) for group in state_dict["param_groups"]]
        expected = [len(group["params"]) for group in self.param_groups]
        if given != expected:
            raise ValueError(f"load_state_dict: groups of {given} parameters were given, expected {expected}")
        groups = [
            {**self.defaults, **copy.deepcopy(theirs), "params": ours["params"]}
            for theirs, ours in zip(state_dict["param_groups"], self.param_groups)
        ]
        for group in groups:
            self.check_settings(group)
        numbers = [number for group in state_dict["param_groups"] for number in group["params"]]
        by_number = dict(zip(numbers, self.parameters))
        state: dict[Tensor, dict] = defaultdict(dict)
        for number, values in state_dict["state"].items():
            if number not in by_number:
                raise ValueError(f"load_state_dict: state of parameter {number}, expected one of {numbers}")
            parameter = by_number[number]
            state[parameter] = {key: _restored(key, value, parameter) for key, value in values.items()}
        self.param_groups, self.state = groups, state

    def __repr__(self) -> str:
        lines = []
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {key}: {value}" for key, value in sorted(group.items()) if key != "params"]
        return f"{type(self).__name__} (\n" + "".join(line + "\n" for line in lines) + ")"


class SGD(Optimizer):
    """Stochastic gradient descent, on every parameter that has a gradient g:

        g = g + weight_decay * p
        v = momentum * v + (1 - dampening) * g      (v = g at the first step)
        p = p - lr * v                              (with nesterov: p - lr * (g + momentum * v))

    Without momentum v is g; with `maximize`, g is negated first. The rule is PyTorch's, done in place by one call for
    each group; the velocity v is kept in `state[p]["momentum_buffer"]`.

    >>> w = nn.Parameter([1.0])
    >>> optimizer = optim.SGD([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.8000])
    """

    def __init__(
        self,
        parameters,
        lr: float = 1e-1,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        maximize: bool = False,
    ):
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
        }
        super().__init__(parameters, defaults)

    def check_settings(self, settings: dict) -> None:
        """Raise ValueError for a negative rate, or for nesterov without momentum or with dampening."""
        check_not_negative(settings, "lr", "momentum", "weight_decay")
        if settings["nesterov"] and (settings["momentum"] <= 0 or settings["dampening"] != 0):
            raise ValueError(
                "Nesterov momentum requires a momentum and zero dampening, "
                f"given momentum {settings['momentum']} and dampening {settings['dampening']}"
            )

    def _step_group(self, group: dict) -> None:
        momentum, fresh = group["momentum"], {}
        entries: list[int] = []  # of each parameter, those of SGDEntry in csrc/api.h
        for parameter in group["params"]:
            gradient = parameter._leaf and parameter._leaf.grad  # parameter.grad, without the call
            if gradient is None:
                continue
            velocity = None
            if momentum:
                velocity = self.state[parameter].get("momentum_buffer")
                if velocity is None:
                    velocity = fresh[parameter] = parameter.detach().zeros_like()
            first = parameter in fresh
            entries += parameter._ptr, gradient._ptr, velocity._ptr if velocity is not None else 0, first
        options = _OPTIONS.pack(
            group["lr"], momentum, group["dampening"], group["weight_decay"], group["nesterov"], group["maximize"]
        )
        if _C.lib.sgd_step(len(entries) // 4, addresses(entries), options):
            _C.raise_error()
        for parameter, velocity in fresh.items():
            self.state[parameter]["momentum_buffer"] = velocity


_OPTIONS = struct.Struct("4d2i")  # SGDOptions of csrc/kernels.h


def check_not_negative(settings: dict, *names: str) -> None:
    """Raise ValueError where one of the settings of these names is below 0, or NaN."""
    labels = {"lr": "learning rate", "eps": "epsilon value"}
    for name in names:
        if not settings[name] >= 0:
            raise ValueError(f"Invalid {labels.get(name, f'{name} value')}: {settings[name]}, expected at least 0")


def _unique_parameters(entries) -> list[Tensor]:
    """The tensors of a group, each once, out of tensors, (name, tensor) pairs and (module, name, tensor) triples."""
    if isinstance(entries, Tensor):
        entries = [entries]
    if isinstance(entries, (set, frozenset)) or not isinstance(entries, Iterable):
        raise TypeError(f"parameters are a {type(entries).__name__}, expected a list or another ordered iterable")
    unique: dict[int, Tensor] = {}
    for entry in entries:
        parameter = entry[-1] if isinstance(entry, tuple) and len(entry) in (2, 3) else entry
        if not isinstance(parameter, Tensor):
            raise TypeError(f"the optimizer was given a {type(parameter).__name__}, expected tensors")
        if not parameter.is_leaf:
            raise ValueError("the optimizer was given the result of an operation, expected leaf tensors only")
        unique[id(parameter)] = parameter
    return list(unique.values())


def _restored(key: str, value, parameter: Tensor):
    """A copy of a saved value; a floating tensor takes the parameter's dtype and device.

    The number of steps is a float32 on the CPU, whatever the parameter is.
    """
    if key == "step":
        return Tensor([float(value.item() if isinstance(value, Tensor) else value)])
    if not isinstance(value, Tensor):
        return copy.deepcopy(value)
    value = value.detach().clone().to(parameter.device)
    return value.to(parameter.dtype) if value.dtype.is_floating_point else value
