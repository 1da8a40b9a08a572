"""torch's database of modules (ModuleInfo): made by norch and by torch with the same arguments and parameters.

The checks of a sample: the names of parameters and buffers, what the module is printed as, the results, the gradients
of inputs and parameters, the buffers after the call, and the errors that a constructor or a call has to raise.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any
from unittest import mock

import torch
from comparison import difference, gradient_difference
from reports import Report, outcome, raises
from translation import (
    Lacking,
    Missing,
    fresh,
    fresh_like,
    graph_results,
    in_norch,
    resolve,
    tensors_in,
    to_norch,
    written,
)

import norch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch warns of packages that its own tests use
    from torch.testing._internal.common_modules import ModuleErrorEnum, module_db

DTYPES = (torch.float32, torch.float64)
MADE: dict[int, tuple[Any, Any]] = {}  # the arguments of modules that are arguments themselves


class RecordedLayer(torch.nn.TransformerEncoderLayer):
    """A layer that remembers its arguments, for norch's layer."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.made_of = args, kwargs


RecordedLayer.__name__ = "TransformerEncoderLayer"  # as which it is printed


@functools.lru_cache(None)
def modules() -> dict[str, Any]:
    return {info.name: info for info in module_db}


def report(info: Any, dtypes: tuple[torch.dtype, ...] = DTYPES) -> Report:
    """All checks of a module."""
    result = Report(info.name)
    with warnings.catch_warnings(), mock.patch.object(torch.nn, "TransformerEncoderLayer", RecordedLayer):
        warnings.simplefilter("ignore")
        try:
            kind = resolve(info.name)
        except Missing as missing:
            result.missing = str(missing)
            return result
        for dtype in dtypes:
            for training in (True, False) if info.train_and_eval_differ else (True,):
                torch.manual_seed(0)
                grad = dtype == torch.float64
                for sample in info.module_inputs_func(info, "cpu", dtype, grad, training):
                    Sample(result, info, kind, sample, dtype, training).check()
        if info.module_error_inputs_func:
            for error in info.module_error_inputs_func(info, "cpu", torch.float32, False, True):
                check_error(result, info, kind, error)
    return result


class Sample:
    """A constructor's arguments and a call's, and the two modules made of them."""

    def __init__(self, result: Report, info: Any, kind: type, sample: Any, dtype: torch.dtype, training: bool):
        self.result, self.info, self.kind, self.training = result, info, kind, training
        self.dtype = dtype
        self.make = sample.constructor_input
        self.call = sample.forward_input

    def written(self) -> str:
        made = written(self.info.name, self.make.args, self.make.kwargs)
        called = written("", self.call.args, self.call.kwargs) if self.call else ""
        return f"{made}{called}" + ("" if self.training else " in eval()")

    def note(self, form: str, check: Any) -> bool:
        return self.result.note(form, self.written, check)

    def check(self) -> None:
        torch.manual_seed(0)
        theirs = self.info.module_cls(*self.make.args, **self.make.kwargs).to(self.dtype).train(self.training)
        if self.call:
            theirs(*fresh(self.call.args, {}, False)[0], **fresh(self.call.kwargs, {}, False)[0])  # a lazy one is made
        made: list[Any] = []
        if self.note("parameters", lambda: self.copy(theirs, made)) and self.call:
            random = self.random(theirs)
            self.note("repr", lambda: difference(repr(made[0]), repr(theirs)))
            self.note("forward", lambda: self.compare(theirs, made[0], not random))

    def copy(self, theirs: Any, made: list[Any]) -> str | None:
        """Make norch's module, and give it torch's parameters and buffers by name."""
        args, kwargs = arguments(self.make)
        ours = self.kind(*args, **kwargs).to(to_norch(self.dtype)).train(self.training)
        if self.call and has_lazy(self.info):
            ours(*arguments(self.call)[0], **arguments(self.call)[1])
        state, expected = ours.state_dict(), theirs.state_dict()
        if list(state) != list(expected):
            return f"has {list(state)}, torch has {list(expected)}"
        for name, value in expected.items():
            if reason := difference(state[name], value, values=False):
                return f"{name}: {reason}"
        ours.load_state_dict(to_norch(dict(expected)))
        made.append(ours)
        return None

    def random(self, theirs: Any) -> bool:
        """Whether torch itself does not repeat a result."""
        results = []
        state = {name: value.clone() for name, value in theirs.state_dict().items()}
        for seed in 1, 2:
            torch.manual_seed(seed)
            theirs.load_state_dict(state)
            results.append(tensors_in(theirs(*fresh(self.call.args, {}, False)[0], **self.call.kwargs)))
        theirs.load_state_dict(state)
        return any(not torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(*results))

    def compare(self, theirs: Any, ours: Any, values: bool) -> str | None:
        """The results, the gradients of inputs and parameters, the buffers."""
        args, kwargs = fresh(self.call.args, self.call.kwargs, self.dtype == torch.float64)
        our_args, our_kwargs = arguments(self.call, fresh_like([args, kwargs]))
        expected, got = theirs(*args, **kwargs), ours(*our_args, **our_kwargs)
        if reason := difference(got, expected, values):
            return reason
        our_buffers = dict(ours.named_buffers())
        for name, buffer in theirs.named_buffers():
            if reason := difference(our_buffers[name], buffer):
                return f"buffer {name}: {reason}"
        outputs = graph_results(expected, torch.Tensor)
        if self.dtype != torch.float64 or not outputs or not values:
            return None
        leaves = [x for x in tensors_in([args, kwargs]) if x.requires_grad] + list(theirs.parameters())
        our_leaves = [x for x in tensors_in([our_args, our_kwargs], norch.Tensor) if x.requires_grad]
        our_leaves += list(ours.parameters())
        cotangents = [torch.randn_like(x) for x in outputs]
        gradients = torch.autograd.grad(outputs, leaves, cotangents, allow_unused=True)
        our_outputs = graph_results(got, norch.Tensor)
        if len(our_outputs) != len(outputs):
            return f"{len(our_outputs)} results require gradients, torch has {len(outputs)}"
        our_gradients = norch.autograd.grad(our_outputs, our_leaves, to_norch(cotangents), allow_unused=True)
        return gradient_difference(our_gradients, gradients, leaves)


def has_lazy(info: Any) -> bool:
    return "Lazy" in info.name


def arguments(given: Any, values: Any = None) -> tuple[Any, Any]:
    """A FunctionInput's arguments for norch; a module among them is made again."""
    args, kwargs = values or fresh(given.args, given.kwargs, False)
    return in_norch([remade(x) for x in args], {key: remade(value) for key, value in kwargs.items()})


def remade(value: Any) -> Any:
    if not isinstance(value, torch.nn.Module):
        return value
    if not hasattr(value, "made_of"):
        raise Lacking(f"a {type(value).__name__} as an argument")
    args, kwargs = in_norch(*value.made_of)
    return norch.nn.TransformerEncoderLayer(*args, **kwargs)


def check_error(result: Report, info: Any, kind: Any, error: Any) -> None:
    """A check of a constructor or call that has to raise."""
    make, call = error.module_error_input.constructor_input, error.module_error_input.forward_input
    constructing = error.error_on == ModuleErrorEnum.CONSTRUCTION_ERROR

    def run(cls: Any, make_arguments: Any, call_arguments: Any) -> Any:
        module = cls(*make_arguments[0], **make_arguments[1])
        return None if constructing else module(*call_arguments[0], **call_arguments[1])

    def check() -> str | None:
        called = ((), {}) if constructing else (call.args, call.kwargs)
        expected = outcome(run, (info.module_cls, (make.args, make.kwargs), called), {})
        if not isinstance(expected, Exception):
            return None
        ours = ((), {}) if constructing else arguments(call)
        return raises(expected, lambda: run(kind, arguments(make), ours), error.error_type)

    def shown() -> str:
        called = "" if constructing else written("", call.args, call.kwargs)
        return written(info.name, make.args, make.kwargs) + called

    result.note("error", shown, check)
