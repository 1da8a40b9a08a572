"""torch's database of optimizers (OptimizerInfo): both train the same small model, and end with the same parameters.

Each configuration is checked in float32 and float64, with one group of parameters and with several that have rates of
their own, as far as the names in the state_dict go, and with torch's state_dict loaded by norch in the middle.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import torch
from comparison import difference
from reports import Report, outcome, raises
from translation import Missing, in_norch, leaves_of, resolve, to_norch

import norch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch warns of packages that its own tests use
    from torch.testing._internal.common_optimizers import OptimizerErrorEnum, optim_db

DTYPES = (torch.float32, torch.float64)
STEPS, FEW_STEPS = 8, 2
OWN_DEFAULTS = {"SGD": {"lr": 1e-3}}  # what torch has where norch's default is another, as docs/departures.md says


@functools.lru_cache(None)
def optimizers() -> dict[str, Any]:
    return {info.name: info for info in optim_db}


def report(info: Any, dtypes: tuple[torch.dtype, ...] = DTYPES) -> Report:
    """All checks of an optimizer."""
    result = Report(info.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kind = resolve(f"optim.{info.name}")
        except Missing as missing:
            result.missing = str(missing)
            return result
        for given in info.optim_inputs_func(device="cpu"):
            # LBFGS multiplies rounding errors by millions in twenty iterations, in torch too
            few = {"max_iter": 3} if info.name == "LBFGS" else {}
            for dtype in dtypes[-1:] if few else dtypes:
                flags = [{}, *({name: True} for name in info.supported_impls if name != "differentiable")]
                for flag in flags if dtype == torch.float32 else flags[:1]:
                    check(result, info, kind, {**OWN_DEFAULTS.get(info.name, {}), **given.kwargs, **flag, **few}, dtype)
        for error in info.optim_error_inputs_func("cpu", torch.float32):
            check_error(result, info, kind, error)
    return result


def check(result: Report, info: Any, kind: type, kwargs: dict[str, Any], dtype: torch.dtype) -> None:
    """The checks of one configuration."""
    if (
        outcome(lambda: info.optim_cls(Training(torch, dtype, False).parameters, **kwargs), (), {}).__class__
        is RuntimeError
    ):
        return  # such as foreach with fused
    name = str(dtype).removeprefix("torch.")

    def note(form: str, test: Callable[..., str | None], *arguments: Any) -> None:
        words = ", ".join(f"{key}={value}" for key, value in kwargs.items())
        result.note(
            form, lambda: f"{info.name}({words}) in {name}", lambda: test(info, kind, kwargs, dtype, *arguments)
        )

    note("steps", trained, 1)
    if info.supports_param_groups and info.name != "LBFGS":
        note("groups", trained, 2)
    note("state_dict", same_names)
    note("load_state_dict", resumed)


class Training:
    """A small regression, whose numbers are torch's in both libraries; torch's gradients may be `sparse` tensors."""

    def __init__(self, library: Any, dtype: torch.dtype, sparse: bool):
        self.dtype, self.sparse = dtype, sparse and library is torch
        generator = torch.Generator().manual_seed(3)
        drawn = [
            torch.randn(size, generator=generator, dtype=torch.float64) for size in [(4, 6), (4, 1), (6, 5), (4, 5)]
        ]
        translate = to_norch if library is norch else lambda x: x
        weight, bias, self.x, self.y = (translate(x.to(dtype)) for x in drawn)
        self.parameters = [library.nn.Parameter(weight), library.nn.Parameter(bias)]

    def groups(self, count: int) -> list[Any]:
        """The parameters in one group, or in two, of which one has a rate of its own."""
        weight, bias = self.parameters
        return [weight, bias] if count == 1 else [{"params": [weight], "lr": 0.02}, {"params": [bias]}]

    def loss(self) -> Any:
        for parameter in self.parameters:
            parameter.grad = None
        weight, bias = self.parameters
        loss = ((weight @ self.x + bias - self.y) ** 2).mean()
        loss.backward()
        if self.sparse:
            for parameter in self.parameters:
                parameter.grad = parameter.grad.to_sparse(1)
        return loss

    def step(self, optimizer: Any, count: int) -> None:
        for _ in range(count):
            optimizer.step(self.loss)


def started(
    library: Any, info: Any, cls: Any, kwargs: dict[str, Any], dtype: torch.dtype, groups: int = 1
) -> tuple[Training, Any]:
    training = Training(library, dtype, info.only_supports_sparse_grads)
    kwargs = leaves_of(kwargs, torch.clone)  # a rate may be a tensor
    return training, cls(training.groups(groups), **(in_norch([], kwargs)[1] if library is norch else kwargs))


def compared(info: Any, ours: Training, theirs: Training) -> str | None:
    # Muon computes in bfloat16, in which a last bit may flip
    scale = {torch.float32: 10.0, torch.float64: 1e7}[ours.dtype] if info.name == "Muon" else 1.0
    for name, our, their in zip(("weight", "bias"), ours.parameters, theirs.parameters):
        if reason := difference(our.detach(), their.detach(), scale=scale):
            return f"{name}: {reason}"
    return None


def trained(info: Any, kind: type, kwargs: dict[str, Any], dtype: torch.dtype, groups: int) -> str | None:
    """The parameters after some steps."""
    theirs, their_optimizer = started(torch, info, info.optim_cls, kwargs, dtype, groups)
    ours, our_optimizer = started(norch, info, kind, kwargs, dtype, groups)
    steps = FEW_STEPS if info.name == "LBFGS" else STEPS
    theirs.step(their_optimizer, steps)
    ours.step(our_optimizer, steps)
    return compared(info, ours, theirs)


def same_names(info: Any, kind: type, kwargs: dict[str, Any], dtype: torch.dtype) -> str | None:
    """The state_dict: its names, its settings, the shapes and dtypes of its tensors."""
    theirs, their_optimizer = started(torch, info, info.optim_cls, kwargs, dtype)
    ours, our_optimizer = started(norch, info, kind, kwargs, dtype)
    theirs.step(their_optimizer, 2)
    ours.step(our_optimizer, 2)
    our, their = our_optimizer.state_dict(), their_optimizer.state_dict()
    for ours_group, theirs_group in zip(our["param_groups"], their["param_groups"]):
        if set(ours_group) != set(theirs_group):
            return f"a group has {sorted(ours_group)}, torch has {sorted(theirs_group)}"
        for key, value in theirs_group.items():
            if reason := difference(ours_group[key], value):
                return f"setting {key}: {reason}"
    if set(our["state"]) != set(their["state"]):
        return f"state of parameters {sorted(our['state'])}, torch has {sorted(their['state'])}"
    for number, values in their["state"].items():
        if set(our["state"][number]) != set(values):
            return f"state of {sorted(our['state'][number])}, torch has {sorted(values)}"
        for key, value in values.items():
            values = info.name != "Muon"  # of the gradients after steps in bfloat16
            if reason := difference(our["state"][number][key], value, values):
                return f"state {key}: {reason}"
    return None


def resumed(info: Any, kind: type, kwargs: dict[str, Any], dtype: torch.dtype) -> str | None:
    """The parameters after norch continues a training that torch began."""
    theirs, their_optimizer = started(torch, info, info.optim_cls, kwargs, dtype)
    steps = FEW_STEPS if info.name == "LBFGS" else STEPS
    theirs.step(their_optimizer, steps // 2)
    ours, our_optimizer = started(norch, info, kind, kwargs, dtype)
    for our, their in zip(ours.parameters, theirs.parameters):
        our.data = to_norch(their.detach())
    our_optimizer.load_state_dict(to_norch(their_optimizer.state_dict()))
    theirs.step(their_optimizer, steps // 2)
    ours.step(our_optimizer, steps // 2)
    return compared(info, ours, theirs)


def check_error(result: Report, info: Any, kind: Any, error: Any) -> None:
    """A check of a constructor or a step that has to raise or to warn."""
    given = error.optimizer_error_input

    def run(cls: Any, params: Any, kwargs: dict[str, Any]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            optimizer = cls(params, **kwargs)
            if error.error_on != OptimizerErrorEnum.CONSTRUCTION_ERROR:
                optimizer.step()

    def test() -> str | None:
        params = [torch.nn.Parameter(torch.randn(2, 3))] if given.params is None else given.params
        copied = leaves_of(params, lambda x: x)  # torch changes the dicts of groups
        expected = outcome(run, (info.optim_cls, copied, given.kwargs), {})
        if not isinstance(expected, Exception):
            return None
        our_params, our_kwargs = in_norch([params], given.kwargs)
        return raises(expected, lambda: run(kind, our_params[0], our_kwargs), error.error_type)

    result.note("error", lambda: f"{info.name}: {given.desc}", test)
