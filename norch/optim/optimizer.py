"""Optimizer: parameters in groups, each with its settings; the base of all rules."""

from __future__ import annotations

import copy
import functools
import struct
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, ClassVar, TypeVar, Union, cast

from .._C import lib
from ..arguments import flags
from ..autograd.hooks import HookHandle, Hooks
from ..autograd.mode import enable_grad, set_grad_enabled
from ..functions.creation import tensor
from ..given import given, no_parameters
from ..operation import assigning, at_once, check, check_kind, check_tensor, mode, structure
from ..tensor import Tensor
from ..types import float32, shown
from ..utils.utils import clear_gradient
from . import copied as _copied
from .groups import Group, check_implementation, names_of, required, tensors_and_names

State = dict[str, Any]  # what an optimizer remembers of one parameter: tensors by name
Work = tuple[list[Tensor], list[Tensor], list[State], Group]  # parameters, their gradients and states, their group
StateDict = dict[str, Any]  # what `state_dict` returns, for checkpoints
Entry = Union[Tensor, tuple[str, Tensor], tuple[object, str, Tensor], Group]
Parameters = Union[Iterable[Entry], dict[str, Tensor], Group]
Loss = TypeVar("Loss")
Step = TypeVar("Step", bound=Callable[..., Any])
StepHook = Callable[["Optimizer", tuple[Any, ...], dict[str, Any]], Any]
ParamsT = Parameters  # PyTorch's name
globals().update({name: value for name, value in vars(_copied).items() if name.startswith("_") and name[1] != "_"})


_before_all, _after_all = Hooks(), Hooks()


def register_optimizer_step_pre_hook(hook: StepHook) -> HookHandle:
    """Call hook(optimizer, args, kwargs) before each step of any optimizer; it may return other (args, kwargs).

    >>> from norch.optim.optimizer import register_optimizer_step_pre_hook
    >>> with register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: print(type(optimizer).__name__)):
    ...     optim.SGD([nn.Parameter([1.0])]).step()
    SGD
    """
    return HookHandle(_before_all, hook)


def register_optimizer_step_post_hook(hook: StepHook) -> HookHandle:
    """Call hook(optimizer, args, kwargs) after each step of any optimizer.

    >>> from norch.optim.optimizer import register_optimizer_step_post_hook
    >>> with register_optimizer_step_post_hook(lambda optimizer, args, kwargs: print("a step")):
    ...     optim.SGD([nn.Parameter([1.0])]).step()
    a step
    """
    return HookHandle(_after_all, hook)


def _with_hooks(step: Step) -> Step:
    """A method `step` between the optimizer's hooks."""

    @functools.wraps(step)
    def call(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        self._opt_called = True
        if not (self._before or self._after or _before_all or _after_all):
            return step(self, *args, **kwargs)
        for hook in [*_before_all.values(), *(self._before or {}).values()]:
            replaced = hook(self, args, kwargs)
            if replaced is not None:
                if not isinstance(replaced, tuple) or len(replaced) != 2:
                    raise RuntimeError(
                        f"a hook before a step returned {given(replaced)}, expected (args, kwargs) or None"
                    )
                args, kwargs = replaced
        result = step(self, *args, **kwargs)
        for hook in [*(self._after or {}).values(), *_after_all.values()]:
            hook(self, args, kwargs)
        return result

    return cast(Step, call)


class Optimizer:
    """Base class of optimizers: a subclass defines `update`, its rule for one parameter, in tensor operations.

    `params` lists tensors, (name, tensor) pairs, the article's (module, name, tensor) triples, or dicts of the
    form {"params": [...], "lr": 0.1} that give a group its own settings. `defaults` holds the settings of groups that
    name none; "maximize" and "weight_decay" (with "decoupled_weight_decay", AdamW's kind) are applied here, before
    the rule. With "differentiable" the steps are recorded, for parameters that are results themselves. A tensor listed
    twice in a group is kept once, with a warning; in two groups it is a ValueError. "foreach", "fused" and "capturable"
    choose among PyTorch's implementations of one rule: norch accepts them, and has one implementation.

    As in PyTorch, a subclass may define `step` itself, with its settings in `self.param_groups` and what it remembers
    in `self.state[parameter]`.

    >>> class SignDescent(optim.Optimizer):
    ...     def update(self, parameter, gradient, state, group):
    ...         parameter -= group["lr"] * gradient.sign()
    >>> w = nn.Parameter([1.0])
    >>> optimizer = SignDescent([w], {"lr": 0.25})
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.7500])
    """

    # A subclass may have its rule in C as well: a function for all groups, whose arguments `entries` gives.
    fused: ClassVar[Callable[..., int] | None] = None
    fused_state: ClassVar[tuple[str, ...]] = ()  # the names in its state, in the order of OPTIMIZERS in csrc/kernels.h
    numbers: ClassVar[tuple[str, ...]] = ("step",)  # what is one float32 on the CPU in a state, whatever a parameter is
    live: ClassVar[tuple[str, ...] | None] = None  # the settings that go to C with each step; None: all of them
    _before: Hooks | None = None  # the hooks of `step`, made with the first
    _opt_called = False  # whether a step was taken, which schedulers ask
    _renewed = 0  # how often a step made new state, which programs must know (recording/watching.py)
    _after: Hooks | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__init__" in vars(cls) and cls.__module__.startswith("norch."):
            cls.__init__ = flags(cls.__init__)  # type: ignore[method-assign]
        if "update" in vars(cls) and "fused" not in vars(cls):
            cls.fused = None  # an inherited C call follows the inherited rule
        if "step" in vars(cls):
            cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]

    def _patch_step_function(self) -> None:
        """Nothing: each `step` runs its hooks anyway. Wrappers call it in place of this class's `__init__`."""

    def __init__(self, params: Parameters, defaults: Group | None = None):
        if isinstance(params, Tensor):
            name = type(params).__name__
            raise TypeError(f"params should be an iterable of tensors or dicts, given a {name}: [x] is one")
        if isinstance(params, dict) and "params" not in params:
            if params and not any(getattr(tensor, "requires_grad", False) for tensor in params.values()):
                raise TypeError(
                    "the optimizer was given a dict of tensors that need no gradient, as state_dict() returns; "
                    "expected model.parameters()"
                )
        if isinstance(params, dict):
            params = [params] if "params" in params else params.items()
        self.defaults = dict(defaults or {})
        check_implementation(self.defaults)
        self.state: dict[Tensor, State] = defaultdict(dict)
        self.param_groups: list[Group] = []
        entries: list[Any] = list(params) if isinstance(params, Iterable) else [params]
        is_module = hasattr(params, "parameters")  # of these only a ParameterList lists tensors
        if not isinstance(params, Iterable) or is_module and not all(isinstance(x, Tensor) for x in entries):
            raise TypeError(f"the optimizer was given {no_parameters(params)}")
        if not entries:
            raise ValueError(
                "the optimizer was given an empty list, expected at least one parameter "
                "(a model finds its layers in attributes and in an nn.ModuleList, not in a plain list)"
            )
        groups = entries if all(isinstance(entry, dict) for entry in entries) else [{"params": entries}]
        for group in groups:
            self.add_param_group(group)

    @property
    def parameters(self) -> list[Tensor]:
        """All tensors that `step` changes, each once."""
        return [parameter for group in self.param_groups for parameter in group["params"]]

    def add_param_group(self, param_group: Group) -> None:
        """Add {"params": tensors, setting: value ...}; settings it leaves out are the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"a parameter group is a dict with the key 'params', given {shown(param_group)}")
        if "params" not in param_group:
            raise KeyError(f"params: a parameter group is a dict with this key, given {sorted(param_group)}")
        tensors, names = tensors_and_names(param_group["params"])
        group = {**self.defaults, **param_group, "params": tensors}
        if names:
            group["param_names"] = names
        if self.param_groups and ("param_names" in self.param_groups[0]) != bool(names):
            raise ValueError("all groups of parameters must have names, or none of them")
        for name, value in group.items():
            if value is required:
                raise ValueError(f"the parameter group has no value of {shown(name)}, which has no default")
        if not group.get("differentiable") and not all(p.is_leaf for p in tensors):
            raise ValueError("the optimizer was given the result of an operation, expected leaf tensors only")
        known = {id(parameter) for parameter in self.parameters}
        if any(id(parameter) in known for parameter in tensors):
            raise ValueError("a parameter appears in more than one parameter group, expected it in one")
        if isinstance(group.get("lr"), Tensor) and group["lr"].numel() != 1:
            raise ValueError(f"lr is a tensor of {group['lr'].numel()} elements, expected one")
        self.check_settings(group)
        self.param_groups.append(group)
        structure.version += 1

    def check_settings(self, settings: Group) -> None:
        """Raise ValueError for settings outside their range; a subclass defines the ranges."""

    @_with_hooks
    def step(self, closure: Callable[[], Loss] | None = None) -> Loss | None:
        """Change every parameter by its gradient; returns what `closure`, run first with gradients on, returned."""
        loss = None
        if isinstance(closure, Tensor):
            raise TypeError("step was given a Tensor, expected nothing: loss.backward() first, then step()")
        if closure is not None:
            with enable_grad():
                loss = closure()
        step_in_c = self.fused
        rows: list[int] = []  # for it: an entry for each parameter, options for each group
        options, count, number = b"", 0, 0
        by_rule: list[Work] = []
        new: dict[Tensor, State] = {}  # states that are kept only when all is done: a failure leaves no trace
        for group in self.param_groups:
            parameters, gradients = [], []
            for parameter in group["params"]:
                gradient = parameter.grad
                if gradient is not None:
                    parameters.append(parameter)
                    gradients.append(gradient)
            states = self._states(parameters, group, new)
            if step_in_c is None or group.get("differentiable"):
                by_rule.append((parameters, gradients, states, group))
                continue
            try:
                if mode.recorder is not None:
                    group = mode.recorder.current_settings_of(group)
                entries, settings = self.entries((parameters, gradients, states, group), number, new)
            except struct.error:
                given = {name: value for name, value in group.items() if name != "params"}
                raise TypeError(f"{type(self).__name__}: expected numbers as settings, got {given}") from None
            rows += entries
            options += settings
            count += len(parameters)
            number += 1
        if new:
            self._renewed += 1
        if by_rule:
            self._step_by_rule(by_rule, new)
        if step_in_c and count and mode.recorder is not None:
            mode.recorder.steps.append(self)
        if step_in_c and new:
            at_once(partial(step_in_c, count, rows, options), partial(self.state.update, new))
        elif step_in_c and count:
            check(step_in_c(count, rows, options))
        return loss

    def _step_by_rule(self, works: list[Work], new: dict[Tensor, State]) -> None:
        """One parameter after another by `update`; if that fails, all become what they were."""
        changed = [p for parameters, _, _, group in works if not group.get("differentiable") for p in parameters]
        with undone(changed, self.state):
            for parameters, gradients, states, group in works:
                for parameter, gradient, state in zip(parameters, gradients, states):
                    state = dict(state)
                    self._update(parameter, gradient, state, group)
                    if state:
                        new[parameter] = state
            at_once(self._kept(new), partial(self.state.update, new))

    def _kept(self, new: dict[Tensor, State]) -> partial[int]:
        """A call that writes what a rule made into the tensors of the last state, which then stay the same ones.

        The first of each name is a copy, so that nobody else's tensor is written.
        """
        owned: dict[Tensor, State] = vars(self).setdefault("_owned", {})
        olds, news = [], []
        for parameter, values in new.items():
            last, ours = self.state.get(parameter, {}), owned.setdefault(parameter, {})
            before = {lib.storage_of(x._ptr) for x in last.values() if isinstance(x, Tensor)}
            for name, value in values.items():
                if not isinstance(value, Tensor) or value is last.get(name) or value._edge is not None:
                    continue
                old = last.get(name)
                if old is None or ours.get(name) is not old or not _alike(old, value):
                    values[name] = ours[name] = value.clone()
                    continue
                olds.append(old)
                news.append(value.clone() if lib.storage_of(value._ptr) in before else value)
                values[name] = old
        return assigning(olds, news)

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> None:
        """The rule: change `parameter` in place, and `state` to what the next step needs."""
        raise NotImplementedError(f"{type(self).__name__} does not define update()")

    def entries(self, work: Work, number: int, new: dict[Tensor, State]) -> tuple[list[int], bytes]:
        """For `fused`: of each parameter StepEntry of csrc, null for what its state lacks; and the group's options.

        `number` is the group's, and `new` holds the states that were made for this step.
        """
        entries: list[int] = []
        parameters, gradients, states, group = work
        names = (*self.fused_state, *("",) * (3 - len(self.fused_state)), "step")
        for parameter, gradient, state in zip(parameters, gradients, states):
            entries += parameter._ptr, gradient._ptr
            entries += [state[name]._ptr if name in state else 0 for name in names]
            entries.append(number)
        return entries, self.options(group)

    def options(self, group: Group) -> bytes:
        """For `fused`: the settings of a group as a struct of C."""
        raise NotImplementedError(f"{type(self).__name__} has a fused rule and does not define options()")

    def remembered(self, group: Group) -> tuple[str, ...]:
        """What `update` finds in `state`: "step", which counts from 1, and names of tensors, see `initial`."""
        return ("step", *self.fused_state) if self.fused_state else ()

    def initial(self, name: str, parameter: Tensor, group: Group) -> Tensor:
        """The first value of something remembered: zeros, if a subclass does not say otherwise."""
        return parameter.detach().zeros_like()

    def _states(self, parameters: list[Tensor], group: Group, new: dict[Tensor, State]) -> list[State]:
        """The state of each parameter; one that lacks a name in `remembered` is made anew, and put into `new`."""
        names = self.remembered(group)
        if not names and not self.state:
            return [{}] * len(parameters)
        states = [self.state.get(parameter) or {} for parameter in parameters]
        for name in names:
            for i, parameter in enumerate(parameters):
                if name not in states[i]:
                    value = number_of_state(0) if name == "step" else self.initial(name, parameter, group)
                    states[i] = new[parameter] = {**states[i], name: value}
        return states

    def _update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> None:
        """What all rules share, then the rule."""
        with set_grad_enabled(bool(group.get("differentiable"))):
            if group.get("maximize"):
                gradient = -gradient
            gradient = self.decayed(parameter, gradient, group)
            if "step" in state:
                state["step"] = state["step"] + 1
            self.update(parameter, gradient, state, group)

    def decayed(self, parameter: Tensor, gradient: Tensor, group: Group) -> Tensor:
        """Weight decay: return the gradient with it, or shrink the parameter if it is decoupled from the gradient."""
        if group.get("decoupled_weight_decay"):
            parameter *= 1 - group["lr"] * group["weight_decay"]
        elif group.get("weight_decay"):
            return gradient + group["weight_decay"] * parameter
        return gradient

    def register_step_pre_hook(self, hook: StepHook) -> HookHandle:
        """Call hook(optimizer, args, kwargs) before each step; it may return other (args, kwargs)."""
        self._before = Hooks() if self._before is None else self._before
        return HookHandle(self._before, hook)

    def register_step_post_hook(self, hook: StepHook) -> HookHandle:
        """Call hook(optimizer, args, kwargs) after each step."""
        self._after = Hooks() if self._after is None else self._after
        return HookHandle(self._after, hook)

    def register_state_dict_pre_hook(self, hook: Callable[[Any], object], prepend: bool = False) -> HookHandle:
        """Call hook(optimizer) before each `state_dict`; with `prepend` before the hooks that are there."""
        return self._on_state("saving", hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[[Any, StateDict], Any], prepend: bool = False) -> HookHandle:
        """Call hook(optimizer, state_dict) after each `state_dict`, which returns what the hook does, if not None."""
        return self._on_state("saved", hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[[Any, StateDict], Any], prepend: bool = False
    ) -> HookHandle:
        """Call hook(optimizer, state_dict) before each `load_state_dict`, which loads what it returns, if not None."""
        return self._on_state("loading", hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[[Any], object], prepend: bool = False) -> HookHandle:
        """Call hook(optimizer) after each `load_state_dict`."""
        return self._on_state("loaded", hook, prepend)

    def _on_state(self, moment: str, hook: Callable[..., Any], prepend: bool) -> HookHandle:
        hooks: Hooks = vars(self).setdefault("_state_hooks", {}).setdefault(moment, Hooks())
        others = list(hooks)
        handle = HookHandle(hooks, hook)
        for key in others if prepend else ():
            hooks[key] = hooks.pop(key)  # behind the new one
        return handle

    def _told(self, moment: str, *state_dict: StateDict) -> Any:
        """Call the hooks of a moment; the state_dict, as they leave it."""
        for hook in list(vars(self).get("_state_hooks", {}).get(moment, {}).values()):
            replaced = hook(self, *state_dict)
            if state_dict and replaced is not None:
                state_dict = (replaced,)
        return state_dict[0] if state_dict else None

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget every parameter's gradient, or fill it with zeros if `set_to_none` is False."""
        for group in self.param_groups:
            for parameter in group["params"]:
                clear_gradient(parameter, set_to_none)

    def state_dict(self) -> StateDict:
        """{"state": {number: ...}, "param_groups": [...]}, with numbers in place of parameters, in their order.

        What lies in the state under another key than a tensor is kept as it is.
        """
        self._told("saving")
        numbers = {id(parameter): number for number, parameter in reversed([*enumerate(self.parameters)])}
        groups = [{**group, "params": [numbers[id(p)] for p in group["params"]]} for group in self.param_groups]
        state: dict[Any, Any] = {numbers[id(p)]: dict(x) for p, x in self.state.items() if id(p) in numbers}
        state.update({key: value for key, value in self.state.items() if not isinstance(key, Tensor)})
        return cast(StateDict, self._told("saved", {"state": state, "param_groups": groups}))

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over a copy of the state and settings that `state_dict` of an optimizer like this one returned."""
        state_dict = self._told("loading", dict(check_kind(state_dict, dict, "load_state_dict")))
        missing = [key for key in ("state", "param_groups") if key not in state_dict]
        if missing:
            raise KeyError(f"{missing[0]}: the state of an optimizer is a dict with this key, given {[*state_dict]}")
        given = [len(group["params"]) for group in state_dict["param_groups"]]
        expected = [len(group["params"]) for group in self.param_groups]
        if given != expected:
            raise ValueError(f"load_state_dict: groups of {given} parameters were given, expected {expected}")
        groups = [
            {**self.defaults, **names_of(ours), **copy.deepcopy(theirs), "params": ours["params"]}
            for theirs, ours in zip(state_dict["param_groups"], self.param_groups)
        ]
        for group in groups:
            self.check_settings(group)
        numbers = [number for group in state_dict["param_groups"] for number in group["params"]]
        by_number = dict(zip(numbers, self.parameters))
        state: dict[Tensor, State] = defaultdict(dict)
        for number, values in state_dict["state"].items():
            if number in by_number:
                parameter = by_number[number]
                state[parameter] = {key: self._restored(key, value, parameter) for key, value in values.items()}
            elif isinstance(number, int):
                raise ValueError(f"load_state_dict: state of parameter {number}, expected one of {numbers}")
            else:
                state[number] = copy.deepcopy(values)
        self.param_groups, self.state = groups, state
        structure.version += 1
        self._told("loaded")

    def _restored(self, name: str, value: Any, parameter: Tensor) -> Any:
        """A copy of a saved value; a floating tensor takes the parameter's dtype and device."""
        if name in self.numbers:
            return number_of_state(float(value))
        if not isinstance(value, Tensor):
            return copy.deepcopy(value)
        value = value.detach().clone().to(parameter.device)
        return value.to(parameter.dtype) if value.dtype.is_floating_point else value

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        groups = ""
        for number, group in enumerate(self.param_groups):
            settings = [f"    {key}: {value}\n" for key, value in sorted(group.items()) if key != "params"]
            groups += f"\nParameter Group {number}\n" + "".join(settings)
        return f"{type(self).__name__} ({groups})"


def number_of_state(value: float) -> Tensor:
    """One of `numbers`: float32 of the CPU, which C reads, whatever the defaults are."""
    return tensor(value, dtype=float32, device="cpu")


def step_by(
    rule: Optimizer, params: list[Tensor], grads: list[Tensor], states: dict[str, list[Any]], settings: Group
) -> None:
    """One step of a rule on tensors of any kind, whose states lie beside them: all are changed in place.

    A state may be None if the rule begins without one; it is then put into its list.
    """
    lists = [grads, *states.values()]
    if any(len(values) != len(params) for values in lists):
        raise ValueError(f"expected {len(params)} gradients and states, one for each tensor, got {[*map(len, lists)]}")
    group = {**rule.defaults, **settings}
    for i, (parameter, gradient) in enumerate(zip(params, grads)):
        state = {name: values[i] for name, values in states.items() if values[i] is not None}
        for value in (parameter, gradient, *state.values()):
            check_tensor(value, "a step of an optimizer")
        with set_grad_enabled(False):
            rule._update(parameter, gradient, state, group)
            for name, value in state.items():
                if states[name][i] is None:
                    states[name][i] = value
                else:
                    states[name][i].copy_(value)


def _alike(x: Any, y: Any) -> bool:
    return (x.shape, x.dtype, x.device) == (y.shape, y.dtype, y.device)


class undone:
    """A context whose body changes tensors and a state: if it fails, or is interrupted, both become what they were."""

    def __init__(self, tensors: list[Tensor], state: dict[Tensor, State]) -> None:
        self.values = [x.detach().clone() for x in tensors]
        self.calls = assigning(tensors, self.values), partial(state.clear), partial(state.update, dict(state))

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            at_once(*self.calls)
