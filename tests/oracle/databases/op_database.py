"""torch's database of operations (OpInfo): its samples are computed by norch and by torch, and compared.

Each sample is a call with arguments, options and dtypes that torch's developers found worth testing. A check is one
such call in one form: the function, the method, the method in place, the operator, `out=`, an alias, the gradients,
the gradients of the gradients, or an error that the call has to raise.
"""

from __future__ import annotations

import functools
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch
from comparison import difference, gradient_difference
from reports import Report, outcome, raises
from translation import (
    Lacking,
    Missing,
    counterpart,
    fresh,
    fresh_like,
    graph_results,
    in_norch,
    leaves_of,
    resolve,
    tensors_in,
    to_norch,
    unseeded,
    written,
)

import norch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch warns of packages that its own tests use
    from torch.testing._internal import common_utils
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.opinfo import core


def seed_cpu(seed: int) -> None:
    torch.default_generator.manual_seed(seed)
    random.seed(seed)
    numpy.random.seed(seed)


# For each sample torch formats the stack, to find the test that asked for it and to seed devices that are not there:
# that took nine tenths of the time.
core.extract_test_fn = common_utils.extract_test_fn = lambda: None
common_utils.set_rng_seed = seed_cpu

DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool)
NARROW = (torch.float16, torch.bfloat16, torch.int32, torch.int16, torch.int8, torch.uint8)
FORMS = 6  # samples that each form besides the function, and each narrow dtype, is tried on
SECOND = 3  # samples that are differentiated twice

LARGE = {"grid_sampler_3d"}  # whose samples have a million elements each: a few of them are enough

# Their elements are whatever the memory held.
UNDEFINED = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "resize_"}
UNDEFINED |= {"nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d"}  # draws that seldom matter


def full_name(op: Any) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


@functools.lru_cache(None)
def operations() -> dict[str, Any]:
    return {full_name(op): op for op in op_db}


# Of equal elements they may find any: (values, indices), or indices alone
TIES = {"argsort", "kthvalue", "mode", "sort", "topk"}
# Of singular vectors and eigenvectors they may find either sign
SIGNS = {"svd", "eigh"}


def report(op: Any, dtypes: tuple[torch.dtype, ...] = (*DTYPES, *NARROW), reference: bool = False) -> Report:
    """All checks of an operation; with `reference`, of torch's larger set of samples too."""
    result = Report(full_name(op))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ours = function_of(op)
        except Missing as missing:
            result.missing = str(missing)
            return result
        for dtype in dtypes:
            if dtype in op.supported_dtypes("cpu"):
                check_samples(result, op, ours, dtype, reference)
        check_errors(result, op, ours)
    return result


def function_of(op: Any) -> Callable[..., Any]:
    """norch's counterpart of an operation."""
    theirs: Any = torch
    for name in op.name.split("."):
        theirs = getattr(theirs, name, None)
    if theirs is not None and theirs is op.op:
        return resolve(op.name)
    return counterpart(op.op)


def check_samples(result: Report, op: Any, ours: Callable[..., Any], dtype: torch.dtype, reference: bool) -> None:
    torch.manual_seed(0)
    differentiable = dtype == torch.float64 and op.supports_autograd
    make = op.reference_inputs if reference else op.sample_inputs
    samples = list(make("cpu", dtype, requires_grad=differentiable))
    if op.name in LARGE:
        samples = samples[:: len(samples) // FORMS]
    theirs = unseeded(op.op)
    random = is_random(op, theirs, samples)
    chosen = {round(i * (len(samples) - 1) / max(1, FORMS - 1)) for i in range(FORMS)}  # evenly spread
    twice = 0
    for number, sample in enumerate(samples):
        args, kwargs = (sample.input, *sample.args), sample.kwargs
        if dtype in NARROW and number not in chosen:
            continue
        expected = outcome(theirs, *fresh(args, kwargs, False))
        if dtype in NARROW:
            compare_narrow(result, op, ours, theirs, expected, args, kwargs, not random)
            continue
        compare(result, "function", op.name, ours, expected, args, kwargs, not random)
        strided = all(x.layout == torch.strided for x in tensors_in([args, kwargs]))
        if number in chosen and strided and not random and not isinstance(expected, Exception):
            apart = sample.noncontiguous()
            apart_args, apart_kwargs = (apart.input, *apart.args), apart.kwargs
            apart_expected = outcome(theirs, *fresh(apart_args, apart_kwargs, False))
            if not isinstance(apart_expected, Exception):
                compare(result, "strides", op.name, ours, apart_expected, apart_args, apart_kwargs, True)
            check_memory(result, op, ours, theirs, args, kwargs)
        if dtype != torch.float64 and number in chosen:
            for form, name, our_form, their_form in forms(op, sample):
                their_outcome = outcome(their_form, *fresh(args, kwargs, False))
                if not isinstance(their_outcome, Exception):
                    compare(result, form, name, our_form, their_outcome, args, kwargs, not random)
        if op.supports_out and dtype == torch.float32 and number in chosen and not isinstance(expected, Exception):
            compare_out(result, op, ours, expected, args, kwargs, not random)
        if differentiable and not random:
            second = op.supports_gradgrad and twice < SECOND
            twice += compare_gradients(result, op, ours, theirs, args, kwargs, sample.output_process_fn_grad, second)


def is_random(op: Any, theirs: Callable[..., Any], samples: list[Any]) -> bool:
    """Whether torch itself does not repeat a result."""
    if op.name in UNDEFINED:
        return True
    for sample in samples[:4]:
        results = []
        for seed in 1, 2:
            torch.manual_seed(seed)
            results.append(outcome(theirs, *fresh((sample.input, *sample.args), sample.kwargs, False)))
        pairs = [(a, b) for a, b in zip(*map(tensors_in, results)) if a.layout == torch.strided and not a.is_complex()]
        if any(a.shape != b.shape or not torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in pairs):
            return True
    return False


def compare(
    result: Report, form: str, name: str, ours: Any, expected: Any, args: Any, kwargs: Any, values: bool
) -> None:
    """A check of a call's result."""

    def check() -> str | None:
        if isinstance(ours, Missing):
            raise ours
        our_args, our_kwargs = in_norch(*fresh(args, kwargs, False))
        if isinstance(expected, Exception):
            return raises(expected, lambda: ours(*our_args, **our_kwargs))
        got = ours(*our_args, **our_kwargs)
        bare = name.split(".")[-1].rstrip("_")
        if values and bare in SIGNS:
            return difference(got, expected, values=False) or difference(
                without_signs(name, got), without_signs(name, expected)
            )
        if values and bare in TIES and not kwargs.get("stable"):
            return difference(got, expected, values=False) or difference(
                found_elements(bare, got, our_args, our_kwargs), found_elements(bare, expected, args, kwargs)
            )
        return difference(got, expected, values)

    result.note(form, lambda: written(name, args, kwargs), check)


def compare_narrow(
    result: Report, op: Any, ours: Any, theirs: Any, expected: Any, args: Any, kwargs: Any, values: bool
) -> None:
    """A check in a narrow dtype. A result closer to the exact one than torch's is right too."""
    trial = Report(op.name)
    compare(trial, "function", op.name, ours, expected, args, kwargs, values)
    if trial.failures and not isinstance(expected, Exception):
        floats = (torch.float16, torch.bfloat16)
        wide = [leaves_of(x, lambda x: x.float() if x.dtype in floats else x) for x in (args, kwargs)]
        exact = outcome(theirs, *wide)
        if not isinstance(exact, Exception):
            dtypes = iter([x.dtype for x in tensors_in(expected)])
            exact = leaves_of(exact, lambda x: x.to(next(dtypes)))
            if type(expected) not in (list, tuple) and isinstance(expected, tuple):
                exact = type(expected)(exact)
            again = Report(op.name)
            compare(again, "function", op.name, ours, exact, args, kwargs, values)
            trial = again if again.passed else trial
    result.passed += trial.passed
    result.failures += trial.failures
    result.lacking += trial.lacking


def found_elements(name: str, result: Any, args: Any, kwargs: Any) -> Any:
    """The elements that indices of sort, topk and the like point to, and those that are returned beside them."""
    position = 2 if name in ("topk", "kthvalue") else 1  # those have k before dim
    x, dim = args[0], args[position] if len(args) > position else kwargs.get("dim", -1)
    values, indices = result if isinstance(result, tuple) else (None, result)
    if not x.ndim:
        return values, indices
    if indices.ndim < x.ndim:
        indices = indices.unsqueeze(dim)
    return values, x.gather(dim, indices)


def without_signs(name: str, result: Any) -> list[Any]:
    """What is determined of a decomposition: no signs, no vectors beyond the smaller side."""
    if name.endswith("eigh"):
        return [result[0], result[1].abs()]
    left, values, right = result
    k = values.shape[-1]
    right = right[..., :k, :] if name == "linalg.svd" else right[..., :k]
    return [left[..., :k].abs(), values, right.abs()]


def check_memory(result: Report, op: Any, ours: Any, theirs: Any, args: Any, kwargs: Any) -> None:
    """A check that norch's result is a view of the same argument as torch's, or of none."""
    their_args, their_kwargs = fresh(args, kwargs, False)
    expected = outcome(theirs, their_args, their_kwargs)
    if isinstance(expected, Exception):
        return

    def shared(result: Any, arguments: Any, kind: type) -> list[list[bool]]:
        given = [x.untyped_storage().data_ptr() for x in tensors_in(arguments, kind)]
        return [[x.untyped_storage().data_ptr() == address != 0 for address in given] for x in tensors_in(result, kind)]

    def check() -> str | None:
        our_args, our_kwargs = in_norch(their_args, their_kwargs)
        got = ours(*our_args, **our_kwargs)
        our = shared(got, [our_args, our_kwargs], norch.Tensor)
        their = shared(expected, [their_args, their_kwargs], torch.Tensor)
        return None if our == their else f"results that share memory with arguments: {our}, torch has {their}"

    if all(x.layout == torch.strided and not x.is_complex() for x in tensors_in([expected, their_args])):
        result.note("memory", lambda: written(op.name, args, kwargs), check)


def forms(op: Any, sample: Any) -> Iterator[tuple[str, str, Any, Any]]:
    """The other ways to call an operation: what it is, its name, norch's and torch's."""
    in_place = not sample.broadcasts_input
    if op.method_variant is not None:
        yield "method", f"Tensor.{op.name}", found(op.method_variant), op.method_variant
    if op.inplace_variant is not None and in_place:
        yield "in place", f"Tensor.{op.name}_", found(op.inplace_variant), op.inplace_variant
    if op.operator_variant is not None:
        yield "operator", op.operator_variant.__name__, op.operator_variant, op.operator_variant
    if op.inplace_operator_variant is not None and in_place:
        theirs = op.inplace_operator_variant
        yield "operator", theirs.__name__, theirs, theirs
    for alias in op.aliases:
        yield "alias", alias.name, found(alias.op), alias.op
        if alias.method_variant is not None:
            yield "alias", f"Tensor.{alias.name}", found(alias.method_variant), alias.method_variant
        if alias.inplace_variant is not None and in_place:
            yield "alias", f"Tensor.{alias.name}_", found(alias.inplace_variant), alias.inplace_variant


def found(theirs: Any) -> Any:
    """norch's counterpart, or the exception that says there is none."""
    try:
        return counterpart(theirs)
    except Missing as missing:
        return missing


def compare_out(result: Report, op: Any, ours: Any, expected: Any, args: Any, kwargs: Any, values: bool) -> None:
    """A check of `out=`: the result is written there, and is what was given."""
    many = isinstance(expected, (tuple, list))
    if not all(isinstance(x, torch.Tensor) for x in (expected if many else [expected])):
        return

    def check() -> str | None:
        our_args, our_kwargs = in_norch(*fresh(args, kwargs, False))
        blank = to_norch(leaves_of(expected, lambda x: torch.zeros_like(x.detach())))
        got = ours(*our_args, **our_kwargs, out=blank)
        same = all(a is b for a, b in zip(got, blank)) if many else got is blank
        compared = (without_signs(op.name, x) if op.name.split(".")[-1] in SIGNS else x for x in (blank, expected))
        return difference(*compared, values) or (None if same else "the result is not the tensor given as out=")

    result.note("out=", lambda: written(op.name, args, {**kwargs, "out": ...}), check)


def compare_gradients(
    result: Report, op: Any, ours: Any, theirs: Any, args: Any, kwargs: Any, process: Any, second: bool
) -> bool:
    """Checks of the gradients of all arguments for a random gradient of the results; whether there were any."""
    try:
        their_args, their_kwargs = fresh(args, kwargs, True)
        leaves = [x for x in tensors_in([their_args, their_kwargs]) if x.requires_grad]
        outputs = graph_results(process(theirs(*their_args, **their_kwargs)), torch.Tensor)
        if not leaves or not outputs:
            return False
        cotangents = [torch.randn_like(x) for x in outputs]
        expected = torch.autograd.grad(outputs, leaves, cotangents, allow_unused=True, create_graph=second)
    except Exception:  # what torch cannot differentiate is no oracle
        return False
    state: dict[str, Any] = {}

    def check() -> str | None:
        memo: dict[int, Any] = {}
        our_args, our_kwargs = to_norch(fresh_like(their_args), memo), to_norch(fresh_like(their_kwargs), memo)
        our_leaves = [x for x in tensors_in([our_args, our_kwargs], norch.Tensor) if x.requires_grad]
        results = ours(*our_args, **our_kwargs)
        results = counterpart(process)(results)
        our_outputs = graph_results(results, norch.Tensor)
        if len(our_outputs) != len(outputs):
            return f"{len(our_outputs)} results require gradients, torch has {len(outputs)}"
        gradients = norch.autograd.grad(
            our_outputs, our_leaves, to_norch(cotangents), allow_unused=True, create_graph=second, retain_graph=True
        )
        state.update(outputs=our_outputs, leaves=our_leaves, gradients=gradients)
        return gradient_difference(gradients, expected, leaves)

    def check_tangent() -> str | None:
        """func.jvp differentiates by a gradient of zeros: u (J v) has to be v (J^T u), which was just compared."""
        zeros = [x.detach().zeros_like().requires_grad_() for x in state["outputs"]]
        found = norch.autograd.grad(state["outputs"], state["leaves"], zeros, allow_unused=True, create_graph=True)
        directions = [norch.randn_like(x) for x in state["leaves"]]
        pairs = [(x, v) for x, v in zip(found, directions) if x is not None and x.requires_grad]
        results, along = [x for x, _ in pairs], [v for _, v in pairs]
        tangents = norch.autograd.grad(results, zeros, along, allow_unused=True) if pairs else []
        return difference(total(tangents, to_norch(cotangents)), total(state["gradients"], directions), scale=1000)

    result.note("gradient", lambda: written(op.name, args, kwargs), check)
    if state:
        result.note("tangent", lambda: written(op.name, args, kwargs), check_tangent)
    their_second = [x for x in expected if x is not None and x.requires_grad] if second else []
    if not their_second or not state:
        return bool(outputs)
    try:
        again = [torch.randn_like(x) for x in their_second]
        expected_again = torch.autograd.grad(their_second, leaves, again, allow_unused=True)
    except Exception:
        return True

    def check_again() -> str | None:
        pairs = [(x, y) for x, y in zip(state["gradients"], expected) if y is not None and y.requires_grad]
        pairs = [(x, to_norch(c)) for (x, y), c in zip(pairs, again) if x is not None and x.requires_grad]
        if not pairs:
            constant = all(x is None or not x.any() for x in expected_again)
            return None if constant else "the gradients have no gradients"
        gradients = norch.autograd.grad(
            [x for x, _ in pairs], state["leaves"], [c for _, c in pairs], allow_unused=True
        )
        return gradient_difference(gradients, expected_again, leaves)

    result.note("second derivative", lambda: written(op.name, args, kwargs), check_again)
    return True


def total(tensors: Any, factors: Any) -> float:
    """The sum of all products of elements."""
    return float(sum((x * y).sum().item() for x, y in zip(tensors, factors) if x is not None))


def check_errors(result: Report, op: Any, ours: Callable[..., Any]) -> None:
    """A check of each call that has to raise."""
    for error_input in op.error_inputs("cpu") if op.error_inputs_func else ():
        check_error(result, op, ours, error_input)


def check_error(result: Report, op: Any, ours: Callable[..., Any], error_input: Any) -> None:
    sample = error_input.sample_input
    args, kwargs = (sample.input, *sample.args), sample.kwargs

    def check() -> str | None:
        try:
            our_args, our_kwargs = in_norch(*fresh(args, kwargs, False))
        except (RuntimeError, ValueError) as error:
            raise Lacking(f"a sample that norch cannot hold: {error}") from error
        expected = outcome(unseeded(op.op), *fresh(args, kwargs, False))
        if not isinstance(expected, Exception):
            return None
        return raises(expected, lambda: ours(*our_args, **our_kwargs), error_input.error_type)

    result.note("error", lambda: written(op.name, args, kwargs), check)
