"""Derivatives of functions of trees of tensors, each built of `autograd.grad`.

What comes out is part of a graph if it depends on more than the arguments it was differentiated by: on parameters that
the function uses, or on arguments that require gradients. So these functions nest, and `backward` passes through them.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, Sequence

from .._C import lib
from ..autograd.derivatives.views import VariableBackward
from ..autograd.engine import grad as gradients
from ..autograd.in_place import view
from ..autograd.mode import enable_grad, is_grad_enabled
from ..functions.generator import default_generator
from ..functions.joining import stack
from ..operation import edge
from ..tensor import Tensor
from ..types import shown
from ..utils._pytree import tree_flatten, tree_map, tree_unflatten
from .vectorize import check_chunks

Function = Callable[..., Any]
Tensors = list[Any]

# ---- Variables, and what depends on them ----------------------------------------------------------------------------


def _variables(tree: Any, name: str) -> tuple[Any, Tensors]:
    """The tree with each tensor as a variable of a derivative, and these; they are in the tensor's graph, if any."""
    leaves, spec = tree_flatten(tree)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise TypeError(f"{name}: expected tensors to differentiate by, got {type(leaf).__name__}")
    made = [_variable(x) if x.requires_grad else x.detach().requires_grad_() for x in leaves]
    return tree_unflatten(made, spec), made


def _variable(x: Tensor) -> Tensor:
    return view(x, lib.alias_tensor(x._ptr), VariableBackward)


def _released(results: Any, variables: Tensors, outer: bool) -> Any:
    """The results; each apart from the graph, if nothing requires gradients behind it but the variables made here."""
    nodes = [edge(x) for x in variables]
    own = {id(node) for node in nodes if node is not None and node.is_leaf}  # others lead to a graph around

    def released(x: Any) -> Any:
        if not isinstance(x, Tensor) or (outer and x.requires_grad and _reaches_others(edge(x), own)):
            return x
        return x.detach()

    return tree_map(released, results)


def _reaches_others(start: Any, own: set[int]) -> bool:
    """Whether a node leads to a leaf, or to where a walk ends, not among `own`; if not, these get its nodes."""
    seen, nodes = set(), [start]
    while nodes:
        node = nodes.pop()
        if node is None or id(node) in seen or id(node) in own:
            continue
        if node.is_leaf or node.freed or not node.edges:  # none: a checkpoint begins there
            return True
        seen.add(id(node))
        nodes += node.edges
    own |= seen
    return False


def _pulled_back(outputs: Tensors, variables: Tensors, vectors: Tensors | None) -> Tensors:
    """The gradients of outputs, weighted by vectors, kept differentiable; zeros where nothing depends."""
    tracked = [i for i, y in enumerate(outputs) if y.requires_grad]
    found: Sequence[Any] = [None] * len(variables)
    if tracked:
        weights = None if vectors is None else [vectors[i] for i in tracked]
        found = gradients([outputs[i] for i in tracked], variables, weights, True, True, allow_unused=True)
    return [x.zeros_like() if part is None else part for x, part in zip(variables, found)]


def _outputs(returned: Any, name: str) -> tuple[Tensors, Any]:
    leaves, spec = tree_flatten(returned)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{name}: expected the function to return only tensors, got {type(leaf).__name__}")
    return leaves, spec


def _called(func: Function, args: Any, kwargs: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    """(value, aux), of which aux is None without has_aux."""
    returned = func(*args, **kwargs)
    if not has_aux:
        return returned, None
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise RuntimeError(f"{name}: with has_aux the function returns (output, aux), got {type(returned).__name__}")
    return returned


def _chosen(args: tuple[Any, ...], argnums: Any, name: str) -> Any:
    """The arguments to differentiate by: one of them, or a tuple. Raises ValueError for a number out of range."""
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError(f"{name}: argnums is {shown(argnums)}, expected an int or a tuple of them")
        if not -len(args) <= number < len(args):
            raise RuntimeError(f"{name}: argnums is {shown(argnums)}, but there are {len(args)} positional arguments")
    if len({number % len(args) for number in numbers}) != max(len(numbers), 1):
        raise RuntimeError(f"{name}: argnums is {shown(argnums)}, expected at least one, and none twice")
    return tuple(args[i] for i in argnums) if isinstance(argnums, tuple) else args[argnums]


def _replaced(args: tuple[Any, ...], argnums: Any, values: Any) -> list[Any]:
    made = list(args)
    for number, value in zip(argnums, values) if isinstance(argnums, tuple) else [(argnums, values)]:
        made[number] = value
    return made


# ---- Gradients of numbers -------------------------------------------------------------------------------------------


def grad_and_value(func: Function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Function:
    """A function that returns (gradient, value) of `func`, whose result is a tensor of one number.

    The gradient is of the argument `argnums`, a tree of tensors, and has its form. With `has_aux`, func returns
    (number, aux), and the new function (gradient, (number, aux)). Raises RuntimeError for a result of other shapes.

    >>> norch.func.grad_and_value(lambda x: (x * x).sum())(norch.tensor([1.0, 3.0]))
    (tensor([2., 6.]), tensor(10.))
    """

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        outer = is_grad_enabled()
        with enable_grad():
            chosen, variables = _variables(_chosen(args, argnums, "grad"), "grad")
            value, aux = _called(func, _replaced(args, argnums, chosen), kwargs, has_aux, "grad")
            if not isinstance(value, Tensor) or value.numel() != 1 or value.ndim:
                shape = list(value.shape) if isinstance(value, Tensor) else type(value).__name__
                raise RuntimeError(f"grad: expected the function to return a scalar tensor, got {shape}")
            found = tree_unflatten(_pulled_back([value], variables, None), tree_flatten(chosen)[1])
        made = found, ((value, aux) if has_aux else value)
        return _released(made, variables, outer)

    return wrapper


def grad(func: Function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Function:
    """The gradient of `func`, as a function of the same arguments; with `has_aux` it returns (gradient, aux).

    Otherwise as `grad_and_value`.

    >>> norch.func.grad(norch.sin)(norch.tensor(0.0))
    tensor(1.)
    """
    both = grad_and_value(func, argnums, has_aux)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapper


# ---- Products with the Jacobian -------------------------------------------------------------------------------------


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """(func(*primals), f): f takes a vector of the output's form, and returns its products with the Jacobians.

    It returns a tuple, with an element for each primal. With `has_aux`, (output, f, aux). f raises RuntimeError for a
    vector of another form.

    >>> output, f = norch.func.vjp(norch.exp, norch.zeros(2))
    >>> f(norch.tensor([1.0, 10.0]))
    (tensor([ 1., 10.]),)
    """
    outer = is_grad_enabled()
    with enable_grad():
        values, variables = _variables(primals, "vjp")
        returned, aux = _called(func, values, {}, has_aux, "vjp")
        outputs, spec = _outputs(returned, "vjp")

    def product(*cotangents: Any) -> Any:
        vector = cotangents[0] if len(cotangents) == 1 else cotangents
        vectors, form = tree_flatten(vector)
        if form != spec:
            raise RuntimeError(f"vjp: the vector has the form {form}, expected that of the output, {spec}")
        outside = is_grad_enabled()
        with enable_grad():
            found = tree_unflatten(_pulled_back(outputs, variables, vectors), tree_flatten(values)[1])
        return _released(found, variables, outside)

    made = _released(returned, variables, outer)
    return (made, product, _released(aux, variables, outer)) if has_aux else (made, product)


def jvp(func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """(func(*primals), J t): the output, and the product of the Jacobian with tangents of the primals' form.

    v^T J is linear in v, and its derivative with respect to v is J: two passes backward make one forward. With
    `has_aux`, (output, product, aux). Raises RuntimeError for what is no tuple, for no primals and for tangents of
    another form; if `strict`, for an output that does not depend on them.

    >>> norch.func.jvp(norch.sin, (norch.tensor(0.0),), (norch.tensor(2.0),))
    (tensor(0.), tensor(2.))
    """
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError("jvp: expected primals and tangents as tuples, one element for each argument")
    vectors, form = tree_flatten(tangents)
    if not tree_flatten(primals)[0]:
        raise RuntimeError("jvp: expected at least one tensor among the primals")
    if form != tree_flatten(primals)[1]:
        raise RuntimeError(f"jvp: tangents have the form {form}, expected that of the primals")
    outer = is_grad_enabled()
    with enable_grad():
        values, variables = _variables(primals, "jvp")
        returned, aux = _called(func, values, {}, has_aux, "jvp")
        outputs, spec = _outputs(returned, "jvp")
        tracked = [y for y in outputs if y.requires_grad]
        if strict and len(tracked) < len(outputs):
            raise RuntimeError("jvp: an output does not depend on the primals, which `strict` asks for")
        weights = [y.detach().zeros_like().requires_grad_() for y in tracked]
        found = iter(_pulled_back(_pulled_back(tracked, variables, weights), weights, vectors))
        products = [next(found) if y.requires_grad else y.zeros_like() for y in outputs]
        product = tree_unflatten(products, spec)
    made = _released((returned, product, aux), [*variables, *weights], outer)
    return made if has_aux else made[:2]


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """(func(*primals), f): f(*tangents) is the product of the Jacobian there with tangents, as of `jvp`.

    >>> output, f = norch.func.linearize(norch.sin, norch.tensor(0.0))
    >>> f(norch.tensor(2.0))
    tensor(2.)
    """
    point = tree_map(lambda x: x.detach().clone() if isinstance(x, Tensor) else x, primals)  # wherever they move later
    return func(*primals), lambda *tangents: jvp(func, point, tangents)[1]


# ---- Jacobians ------------------------------------------------------------------------------------------------------


def jacrev(
    func: Function,
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Function:
    """The Jacobian of `func` as a function: for an output and an argument it has the shape [*output, *argument].

    Trees of outputs give trees of Jacobians, each of which has the form of the argument `argnums`. With `has_aux` the
    new function returns (jacobian, aux). One pass backward for each number of the output. (`chunk_size` changes
    nothing.) Raises RuntimeError for outputs that are not of floats.

    >>> norch.func.jacrev(lambda x: x * x)(norch.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])
    """

    check_chunks(chunk_size, "jacrev")
    return _jacobian(func, argnums, has_aux, "jacrev")


def _jacobian(func: Function, argnums: Any, has_aux: bool, name: str) -> Function:
    """What `jacrev` and `jacfwd` return."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        outer = is_grad_enabled()
        with enable_grad():
            chosen, variables = _variables(_chosen(args, argnums, name), name)
            returned, aux = _called(func, _replaced(args, argnums, chosen), kwargs, has_aux, name)
            outputs, spec = _outputs(returned, name)
            kinds = [y.dtype for y in outputs if not y.is_floating_point()]
            if kinds and name == "jacrev":
                raise RuntimeError(f"jacrev: expected outputs of floats, got {kinds[0]}")
            form = tree_flatten(chosen)[1]
            made, size = [*variables], sum(x.numel() for x in variables)
            parts = []
            for y in outputs:
                by_columns = name == "jacfwd" and y.requires_grad and size < y.numel()
                found = _by_columns(y, variables, made) if by_columns else _by_rows(y, variables)
                parts.append(tree_unflatten(found, form))
            if name == "jacfwd":
                parts = [tree_map(lambda part, kind=y.dtype: part.to(kind), each) for each, y in zip(parts, outputs)]
        found = _released(tree_unflatten(parts, spec), made, outer)
        return (found, tree_map(lambda x: x.detach() if isinstance(x, Tensor) else x, aux)) if has_aux else found

    return wrapper


def _by_rows(output: Tensor, variables: Tensors) -> Tensors:
    """The derivatives of each number of the output with respect to each variable: a walk for each number."""
    if not (output.numel() and output.is_floating_point()):
        return [x.new_zeros(*output.shape, *x.shape) for x in variables]
    rows = [_pulled_back([output], variables, [unit]) for unit in _units(output)]
    return [stack(list(column)).view(*output.shape, *x.shape) for column, x in zip(zip(*rows), variables)]


def _by_columns(output: Tensor, variables: Tensors, made: Tensors) -> Tensors:
    """The same by a walk for each number of the variables, as in `jvp`; the variable of its own joins `made`."""
    weight = output.detach().zeros_like().requires_grad_()
    made.append(weight)
    found = []
    for x, part in zip(variables, _pulled_back([output], variables, [weight])):
        columns = [_pulled_back([part], [weight], [unit])[0] for unit in _units(x)]
        whole = stack(columns, -1) if columns else output.new_zeros(0)
        found.append(whole.view(*output.shape, *x.shape))
    return found


def _units(x: Tensor) -> Iterator[Tensor]:
    """A tensor like x for each of its numbers, with 1 there and 0 elsewhere."""
    for i in range(x.numel()):
        unit = x.detach().new_zeros(x.numel())
        unit[i] = 1
        yield unit.view(x.shape)


def jacfwd(
    func: Function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Function:
    """As `jacrev`, whose result it gives, in the dtype of the output: norch has no forward mode.

    Where the argument has fewer numbers than an output, two passes backward for each of them make a forward one.
    Raises RuntimeError if `func` draws random numbers, unless `randomness` is "same" or "different".

    >>> norch.func.jacfwd(norch.sin)(norch.zeros(1))
    tensor([[1.]])
    """

    def watched(*args: Any, **kwargs: Any) -> Any:
        state = bytes(default_generator._state)
        returned = func(*args, **kwargs)
        if randomness == "error" and bytes(default_generator._state) != state:
            raise RuntimeError("jacfwd: the function draws random numbers; pass randomness='different' or 'same'")
        return returned

    return _jacobian(watched, argnums, has_aux, "jacfwd")


def hessian(func: Function, argnums: int | tuple[int, ...] = 0) -> Function:
    """The second derivatives of `func`, as a function: the Jacobian of its Jacobian.

    >>> norch.func.hessian(lambda x: (x ** 3).sum())(norch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacrev(jacrev(func, argnums), argnums)
