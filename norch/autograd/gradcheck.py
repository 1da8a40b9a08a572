"""Gradients checked against finite differences: (f(x + h) - f(x - h)) / 2h, in float64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Sequence, Union

from .. import operation
from ..arguments import flags
from ..given import warn
from ..packing import counting
from ..types import index_in
from .engine import grad
from .mode import enable_grad, no_grad

if TYPE_CHECKING:
    from ..tensor import Tensor

Checked = Callable[..., Union["Tensor", Sequence["Tensor"]]]


@flags
def gradcheck(
    func: Checked,
    inputs: Tensor | Sequence[object],
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of `func(*inputs)` with central differences, for each input that requires them.

    `func` returns a tensor or several. Raises RuntimeError (or returns False) if an element differs by more than
    atol + rtol * |expected|; warns of other dtypes than float64, in which such small differences are too coarse. The
    options from `nondet_tol` on are PyTorch's, and change nothing: every element is compared.

    >>> x = norch.tensor([0.5, 2.0], dtype=norch.float64, requires_grad=True)
    >>> norch.autograd.gradcheck(lambda x: x.log(), x)
    True
    """
    inputs = (inputs,) if isinstance(inputs, operation.Tensor) else tuple(inputs)
    checked = [x for x in inputs if isinstance(x, operation.Tensor) and x.requires_grad]
    if not eps > 0:
        raise ValueError(f"gradcheck: eps is {eps}, expected a positive step")
    if not checked:
        raise ValueError("gradcheck: expected at least one input that requires gradients")
    for x in checked:
        if x.dtype.name != "float64":
            warn(f"gradcheck: an input is {x.dtype}, expected float64: others are too coarse for small differences")
    try:
        count = len(_outputs(func, inputs))
        for place in range(count):
            _check_output(func, inputs, checked, place, eps, atol, rtol)
    except GradientMismatch:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Checked,
    inputs: Tensor | Sequence[object],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    *,
    gen_non_contig_grad_outputs: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    **options: Any,
) -> bool:
    """Check second derivatives: `gradcheck` of the function that maps the inputs to their gradients.

    The outputs are weighted by `grad_outputs`, whose gradients are checked as well, or by numbers of this function.
    The options are those of `gradcheck`; the three before them are PyTorch's, and change nothing.

    >>> x = norch.tensor([0.5, 2.0], dtype=norch.float64, requires_grad=True)
    >>> norch.autograd.gradgradcheck(lambda x: x**3, x)
    True
    """
    inputs = (inputs,) if isinstance(inputs, operation.Tensor) else tuple(inputs)
    given = (grad_outputs,) if isinstance(grad_outputs, operation.Tensor) else tuple(grad_outputs or ())

    def gradients(*values: Any) -> list[Tensor]:
        values, weights = values[: len(inputs)], values[len(inputs) :]
        wanted = [x for x in values if isinstance(x, operation.Tensor) and x.requires_grad]
        outputs = _outputs(func, values)
        # weights that differ by element, so that no symmetry hides an error
        weights = weights or tuple(map(_ramp, outputs))
        pairs = [(y, weight) for y, weight in zip(outputs, weights) if y.requires_grad]
        tracked, weights = zip(*pairs) if pairs else ((), ())
        found = grad(tracked, wanted, weights, create_graph=True, allow_unused=True)
        return [g for g in found if g is not None]

    return gradcheck(gradients, (*inputs, *given), **options)


class GradientMismatch(RuntimeError):
    """An analytic gradient that finite differences contradict."""


GradcheckError = GradientMismatch  # PyTorch's name


def _outputs(function: Checked, inputs: Sequence[object]) -> list[Tensor]:
    result = function(*inputs)
    return [result] if isinstance(result, operation.Tensor) else list(result)


def _ramp(y: Tensor) -> Tensor:
    return (counting(int(y.numel), y.device).to(y.dtype) / 7.0 + 0.5).reshape(y.shape)


def _check_output(
    function: Checked,
    inputs: Sequence[object],
    checked: list[Tensor],
    place: int,
    eps: float,
    atol: float,
    rtol: float,
) -> None:
    with enable_grad():
        output = _outputs(function, inputs)[place]
        weights = _ramp(output)
        analytic: Sequence[Tensor | None] = [None] * len(checked)
        if output.requires_grad:
            analytic = grad(output, checked, weights, allow_unused=True)

    def values() -> Tensor:
        with enable_grad():  # a function that differentiates inside needs its graph
            return _outputs(function, inputs)[place].detach().clone()

    for number, (x, gradient) in enumerate(zip(checked, analytic)):
        analytic_values = gradient.reshape(-1).tolist() if gradient is not None else [0.0] * int(x.numel)
        for i, found in enumerate(analytic_values):
            expected = float((_difference(values, x, i, eps) * weights).sum())
            if not abs(found - expected) <= atol + rtol * abs(expected):
                raise GradientMismatch(
                    f"output {place}, input {number}, element {i}: backward gives {found}, "
                    f"finite differences give {expected}"
                )


def _difference(values: Callable[[], Tensor], x: Tensor, i: int, eps: float) -> Tensor:
    """The central difference of each of the values by element i of x, in row order."""
    index = index_in(x.shape, i) or (...,)
    with no_grad():
        before = x[index].item()
        x.detach()[index] = before + eps
        above = values()
        x.detach()[index] = before - eps
        below = values()
        x.detach()[index] = before
    return (above - below) / (2 * eps)
