"""Derivatives of functions: Jacobians, Hessians, and their products with vectors, each built of `autograd.grad`.

A function takes the tensors of `inputs` (a tensor, or a tuple of them) and returns a tensor or a tuple of them; what is
returned here has the same form. With `create_graph` the derivatives are part of the graph of the inputs. With `strict`,
a RuntimeError is raised if an output does not depend on an input; without, its derivative is zero.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence, Union

from ..arguments import flags
from ..functions.joining import stack
from ..tensor import Tensor
from .engine import grad
from .mode import enable_grad

Tensors = Union[Tensor, Sequence[Tensor]]
Made = tuple[Any, ...]  # tensors

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

# ---- Tuples of tensors --------------------------------------------------------------------------------------------


def _tuple_of(value: Any, what: str) -> Made:
    """A tensor, or a sequence of them, as a tuple."""
    found = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    for x in found:
        if not isinstance(x, Tensor):
            raise TypeError(f"{what}: expected a Tensor or a tuple of Tensors, got {type(x).__name__}")
    return found


def _leaves(tensors: Made, create_graph: bool) -> Made:
    """The inputs as a derivative's variables: apart from any graph, or, with create_graph, in the one they are in."""
    return tuple(x.view(x.shape) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in tensors)


def _result(tensors: Sequence[Any], single: bool, create_graph: bool) -> Any:
    made = tuple(x if create_graph else x.detach() for x in tensors)
    return made[0] if single else made


def _call(name: str, func: Callable[..., Any], inputs: Made) -> tuple[Made, bool]:
    """The function's outputs, and whether it was one tensor."""
    returned = func(*inputs)
    return _tuple_of(returned, f"{name}: outputs of the function"), isinstance(returned, Tensor)


def _gradients(
    outputs: Made, inputs: Made, vectors: Made | None, create_graph: bool, strict: bool, name: str, retain: bool = True
) -> Made:
    """The gradients of outputs, weighted by vectors; zeros for an input that no output depends on."""
    tracked = [i for i, y in enumerate(outputs) if y.requires_grad]
    if strict and len(tracked) < len(outputs):
        raise RuntimeError(f"{name}: an output of the function does not depend on the inputs; strict=True refuses that")
    found: Made = (None,) * len(inputs)
    if tracked:
        weights = None if vectors is None else [vectors[i] for i in tracked]
        found = grad([outputs[i] for i in tracked], inputs, weights, retain, create_graph, allow_unused=True)
    if strict and any(part is None for part in found):
        number = [part is None for part in found].index(True)
        raise RuntimeError(f"{name}: the outputs do not depend on input {number}; strict=True refuses that")
    return tuple(x.zeros_like() if part is None else part for x, part in zip(inputs, found))


def _vectors(v: Any, like: Made, name: str) -> Made:
    """The vectors of a product, of the shapes of the tensors they belong to; for a single number 1 may be left out."""
    if v is None:
        if len(like) != 1 or like[0].numel != 1:
            raise RuntimeError(f"{name}: the vector v can only be None if there is one value of one element")
        return (like[0].detach().ones_like(),)
    found = _tuple_of(v, f"{name}: v")
    if len(found) != len(like) or any(x.shape != y.shape for x, y in zip(found, like)):
        given, expected = ([list(x.shape) for x in tensors] for tensors in (found, like))
        raise RuntimeError(f"{name}: v has tensors of shapes {given}, expected {expected}")
    return found


def _scalar(outputs: Made, name: str) -> None:
    if len(outputs) != 1 or outputs[0].numel != 1:
        shapes = [list(x.shape) for x in outputs]
        raise RuntimeError(f"{name}: the function must return one Tensor of one element, got shapes {shapes}")


# ---- First derivatives --------------------------------------------------------------------------------------------


@flags
def vjp(
    func: Callable[..., Any], inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(inputs), v^T J): the outputs, and the product of a vector of their shape with the Jacobian.

    >>> norch.autograd.functional.vjp(lambda x: x * x, norch.tensor([1.0, 3.0]), norch.tensor([1.0, 10.0]))[1]
    tensor([ 2., 60.])
    """
    with enable_grad():
        given = _tuple_of(inputs, "vjp: inputs")
        x = _leaves(given, create_graph)
        y, single = _call("vjp", func, x)
        v = _vectors(v, y, "vjp")
        found = _gradients(y, x, v, create_graph, strict, "vjp", retain=create_graph)
    return _result(y, single, create_graph), _result(found, isinstance(inputs, Tensor), create_graph)


@flags
def jvp(
    func: Callable[..., Any], inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(inputs), J v): the outputs, and the product of the Jacobian with a vector of the inputs' shape.

    v^T J is linear in v, and its derivative with respect to v is J: two passes backward make one forward.

    >>> norch.autograd.functional.jvp(lambda x: x.sum() * x, norch.tensor([1.0, 3.0]), norch.tensor([1.0, 0.0]))[1]
    tensor([5., 3.])
    """
    with enable_grad():
        given = _tuple_of(inputs, "jvp: inputs")
        v = _vectors(v, given, "jvp")
        x = _leaves(given, create_graph)
        y, single = _call("jvp", func, x)
        weights = tuple(part.detach().zeros_like().requires_grad_() for part in y)
        back = _gradients(y, x, weights, True, strict, "jvp")
        found = _gradients(back, weights, v, create_graph, False, "jvp", retain=create_graph)
    return _result(y, single, create_graph), _result(found, single, create_graph)


@flags
def jacobian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivative of each element of the output with respect to each of the input: [*output, *input].

    A tuple for a tuple of inputs, and a tuple of these for a tuple of outputs. (`vectorize` and `strategy` change the
    way, not the result: norch differentiates one output after another.)

    >>> norch.autograd.functional.jacobian(lambda x: x * x, norch.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    with enable_grad():
        given = _tuple_of(inputs, "jacobian: inputs")
        x = _leaves(given, create_graph)
        y, single = _call("jacobian", func, x)
        rows = [_jacobian_of(output, x, create_graph, strict) for output in y]
    one_input = isinstance(inputs, Tensor)
    made = tuple(_result(row, one_input, create_graph) for row in rows)
    return made[0] if single else made


def _jacobian_of(output: Tensor, inputs: Made, create_graph: bool, strict: bool) -> list[Tensor]:
    """For each input, the derivatives of one output."""
    flat = output.reshape(-1)
    rows = [_gradients((flat[j],), inputs, None, create_graph, strict, "jacobian") for j in range(flat.shape[0])]
    if not rows:
        return [x.detach().zeros_like().expand(*output.shape, *x.shape).clone() for x in inputs]
    return [stack([row[i] for row in rows]).reshape(*output.shape, *x.shape) for i, x in enumerate(inputs)]


# ---- Second derivatives, of functions with one number as their value ------------------------------------------------


@flags
def hessian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a number with respect to each pair of elements of the input: [*input, *input].

    For a tuple of inputs a tuple of tuples. Raises RuntimeError if the function returns no tensor of one element.

    >>> norch.autograd.functional.hessian(lambda x: (x**3).sum(), norch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    single = isinstance(inputs, Tensor)

    def gradient(*x: Tensor) -> Any:
        outputs, _ = _call("hessian", func, x)
        _scalar(outputs, "hessian")
        found = _gradients((outputs[0].reshape(()),), x, None, True, strict, "hessian")
        return found[0] if single else found

    return jacobian(gradient, inputs, create_graph, strict)


@flags
def vhp(
    func: Callable[..., Any], inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(inputs), v^T H): the value, and the product of a vector of the inputs' shape with the Hessian.

    >>> norch.autograd.functional.vhp(lambda x: (x**3).sum(), norch.tensor([1.0, 2.0]), norch.ones(2))[1]
    tensor([ 6., 12.])
    """
    with enable_grad():
        given = _tuple_of(inputs, "vhp: inputs")
        v = _vectors(v, given, "vhp")
        x = _leaves(given, create_graph)
        y, single = _call("vhp", func, x)
        _scalar(y, "vhp")
        first = _gradients(y, x, None, True, strict, "vhp")
        found = _gradients(first, x, v, create_graph, strict, "vhp", retain=create_graph)
    return _result(y, single, create_graph), _result(found, isinstance(inputs, Tensor), create_graph)


@flags
def hvp(
    func: Callable[..., Any], inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(inputs), H v): the value, and the product of the Hessian with a vector; H is symmetric, so as `vhp`.

    >>> norch.autograd.functional.hvp(lambda x: (x**3).sum(), norch.tensor([1.0, 2.0]), norch.ones(2))[1]
    tensor([ 6., 12.])
    """
    return vhp(func, inputs, v, create_graph, strict)
