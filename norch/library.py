"""Operations by name: `custom_op` makes one of a function, and `norch.ops.mylib.double` finds it.

norch runs the Python, so an operation is its function, with a Function of autograd around it. What PyTorch is told for
its compiler and other transforms (shapes without values, rules of vmap) is taken, and not needed.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Iterable, Sequence, TypeVar, Union

from . import operation
from .autograd.function import Function
from .missing import by_name, missing
from .operation import check_kind
from .types import shown

__all__ = ["CustomOpDef", "Library", "custom_op", "define", "impl", "register_autograd", "register_fake"]
__all__ += ["register_kernel", "register_vmap"]

F = TypeVar("F", bound=Callable[..., Any])
Devices = Union[None, str, Sequence[str]]
_OPERATIONS: dict[str, CustomOpDef] = {}
_EVERYWHERE = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "BackendSelect", "")


class CustomOpDef:
    """An operation that `custom_op` made of a function: called as that function, it is one node of the graph.

    Its methods add what it does on other devices, and its derivative. Raises RuntimeError in a backward that comes to
    an operation without one.

    >>> half = norch.library.custom_op("mylib::half", lambda x, *, times=1: x / 2**times, mutates_args=())
    >>> half(norch.ones(2), times=2)
    tensor([0.2500, 0.2500])
    """

    def __init__(self, name: str, is_node: bool = True) -> None:
        self._qualname = name
        self._is_node = is_node  # or what its function does is recorded, piece by piece
        self._signature: inspect.Signature | None = None  # of the first function
        self._keywords: list[str] = []  # arguments that have no place; here they come last
        self._kernels: dict[str | None, Callable[..., Any]] = {}
        self._backward: Callable[..., Any] | None = None
        self._setup: Callable[..., Any] | None = None
        self.default = self  # PyTorch's overload
        self._node: Any = type(
            name.rpartition("::")[2],
            (Function,),
            {
                "forward": staticmethod(self._compute),
                "setup_context": staticmethod(self._remember),
                "backward": staticmethod(self._derive),
            },
        )
        _OPERATIONS[name] = self

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._signature is not None:
            bound = self._signature.bind(*args, **kwargs)
            bound.apply_defaults()
            args = *bound.args, *bound.kwargs.values()
        return self._node.apply(*args) if self._is_node else self._compute(*args)

    def _parted(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments that have places, and the others by name."""
        count = len(args) - len(self._keywords)
        return args[:count], dict(zip(self._keywords, args[count:]))

    def _compute(self, *args: Any) -> Any:
        kinds: list[str | None] = [x.device.type for x in args if isinstance(x, operation.Tensor)]
        for kind in [*kinds[:1], None]:
            if kind in self._kernels:
                placed, named = self._parted(args)
                return self._kernels[kind](*placed, **named)
        raise NotImplementedError(
            f"{self._qualname}: no function is registered for {kinds[0] if kinds else 'a device'}"
        )

    def _remember(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        placed, named = self._parted(inputs)
        if self._setup is not None and named:
            self._setup(ctx, placed, named, output)
        elif self._setup is not None:
            self._setup(ctx, placed, output)

    def _derive(self, ctx: Any, *gradients: Any) -> Any:
        if self._backward is None:
            raise RuntimeError(f"{self._qualname}: backward needs a derivative, which register_autograd adds")
        found = self._backward(ctx, *gradients)
        return *(found if isinstance(found, (tuple, list)) else (found,)), *(None for _ in self._keywords)

    def register_kernel(self, device_types: Devices, fn: F | None = None, /) -> Any:
        """Let the operation call `fn` (or the decorated function) for tensors on these devices; None: on all.

        Raises TypeError for what cannot be called, or has no signature.
        """

        def register(fn: F) -> F:
            if self._signature is None:
                self._signature = _signature_of(fn)
                parameters = self._signature.parameters.items()
                self._keywords = [name for name, each in parameters if each.kind is each.KEYWORD_ONLY]
            for kind in [None] if device_types is None else _names(device_types):
                self._kernels[kind] = fn
            return fn

        return register if fn is None else register(fn)

    def register_fake(self, fn: F, /) -> F:
        """Take a function of shapes without values, which norch does not need. Returns it."""
        return fn

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Set the derivative: backward(ctx, *gradients), and setup_context(ctx, inputs, output), as a Function's.

        If there are keyword-only arguments, it is setup_context(ctx, inputs, keyword_only_inputs, output), and backward
        returns nothing for them.
        """
        self._backward, self._setup = backward, setup_context

    def register_vmap(self, func: F | None = None) -> Any:
        """Take a rule for batches, which norch does not need: `vmap` goes from sample to sample."""
        return (lambda fn: fn) if func is None else func


def _signature_of(fn: Any) -> inspect.Signature:
    try:
        return inspect.signature(fn)
    except (TypeError, ValueError):
        raise TypeError(f"expected a function with a signature, got {shown(fn)}") from None


def _names(devices: str | Iterable[str]) -> list[str]:
    return [
        check_kind(kind, str, "a kind of device").lower()
        for kind in ([devices] if isinstance(devices, str) else devices)
    ]


def _found(op: object) -> CustomOpDef:
    """An operation by its name, or as such; one that is named before it is defined is made."""
    if isinstance(op, CustomOpDef):
        return op
    if not isinstance(op, str) or op.count("::") != 1:
        raise ValueError(f'expected an operation or its name, such as "mylib::double", got {shown(op)}')
    return _OPERATIONS.get(op) or CustomOpDef(op)


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Devices = None,
    schema: str | None = None,
    tags: object = None,
) -> Any:
    """An operation of this name, "namespace::name", that calls the decorated function (or `fn`).

    `mutates_args` names the arguments that it writes to; such an operation is no node: its writes are recorded one by
    one. Raises ValueError for a name without a namespace.

    >>> @norch.library.custom_op("mylib::double", mutates_args=())
    ... def double(x: norch.Tensor) -> norch.Tensor:
    ...     return norch.from_numpy(2 * x.numpy())
    >>> double.register_autograd(lambda ctx, gradient: 2 * gradient)
    >>> x = norch.ones(2, requires_grad=True)
    >>> norch.ops.mylib.double(x).sum().backward()
    >>> x.grad
    tensor([2., 2.])
    """
    if check_kind(name, str, "custom_op").count("::") != 1:
        raise ValueError(f'custom_op: expected a name such as "mylib::double", got {shown(name)}')

    def made(fn: Callable[..., Any]) -> CustomOpDef:
        found = CustomOpDef(name, is_node=not mutates_args)
        found.register_kernel(device_types, fn)
        return found

    return made if fn is None else made(fn)


def register_kernel(
    op: str | CustomOpDef, device_types: Devices, func: F | None = None, /, *, lib: object = None
) -> Any:
    """`op.register_kernel(device_types, func)`, for an operation that may be given by name.

    >>> norch.library.define("mylib::third", "(Tensor x) -> Tensor")
    >>> kernel = norch.library.register_kernel("mylib::third", "cpu", lambda x: x / 3)
    >>> norch.ops.mylib.third(norch.tensor([6.0]))
    tensor([2.])
    """
    return _found(op).register_kernel(device_types, func)


def register_fake(
    op: str | CustomOpDef, func: F | None = None, /, *, lib: object = None, _stacklevel: int = 1, **_: object
) -> Any:
    """`op.register_fake(func)`, for an operation that may be given by name.

    >>> shape = norch.library.register_fake("mylib::any", lambda x: x.new_empty(x.shape))
    """
    return (lambda fn: fn) if func is None else func


impl_abstract = register_fake  # its older name


def register_vmap(op: str | CustomOpDef, func: F | None = None, /, *, lib: object = None) -> Any:
    """`op.register_vmap(func)`, for an operation that may be given by name.

    >>> rule = norch.library.register_vmap("mylib::any", lambda info, in_dims, x: (x, 0))
    """
    return _found(op).register_vmap(func)


def register_autograd(
    op: str | CustomOpDef,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: object = None,
) -> None:
    """`op.register_autograd(backward, setup_context=...)`, for an operation that may be given by name.

    >>> tenfold = norch.library.custom_op("mylib::tenfold", lambda x: 10 * x, mutates_args=())
    >>> norch.library.register_autograd("mylib::tenfold", lambda ctx, gradient: 10 * gradient)
    >>> norch.autograd.grad(tenfold(x := norch.ones(1, requires_grad=True)), x)
    (tensor([10.]),)
    """
    _found(op).register_autograd(backward, setup_context=setup_context)


def define(qualname: str, schema: str | None = None, *, lib: object = None, tags: object = ()) -> None:
    """An operation of this name without functions yet, which `impl` adds. (norch does not read the schema.)

    >>> norch.library.define("mylib::fourth", "(Tensor x) -> Tensor")
    """
    _found(check_kind(qualname, str, "define").partition("(")[0])


def impl(qualname: Any, types: Any, func: Any = None, *, lib: object = None) -> Any:
    """Let an operation call a function on devices ("cpu", or "default" for all), as `register_kernel`.

    Also in the older form `impl(library, name, "CPU")`.

    >>> norch.library.define("mylib::fifth", "(Tensor x) -> Tensor")
    >>> kernel = norch.library.impl("mylib::fifth", "default", lambda x: x / 5)
    >>> norch.ops.mylib.fifth(norch.tensor([10.0]))
    tensor([2.])
    """
    if isinstance(qualname, Library):

        def register(fn: F) -> F:
            qualname.impl(types, fn, func or "")
            return fn

        return register
    return register_kernel(qualname, None if types in ("default", *_EVERYWHERE) else types, func)


class Library:
    """The operations of a namespace, defined and given functions one by one.

    >>> library = norch.library.Library("mine", "DEF")
    >>> library.define("triple(Tensor x) -> Tensor")
    'triple'
    >>> library.impl("triple", lambda x: 3 * x, "CompositeImplicitAutograd")
    >>> norch.ops.mine.triple(norch.ones(2))
    tensor([3., 3.])
    """

    def __init__(self, ns: str, kind: str = "DEF", dispatch_key: str = "") -> None:
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError(f"Library: kind is {shown(kind)}, expected 'DEF', 'IMPL' or 'FRAGMENT'")
        self.ns, self.kind, self.dispatch_key = check_kind(ns, str, "Library"), kind, dispatch_key

    def define(self, schema: str, alias_analysis: str = "", *, tags: object = ()) -> str:
        """An operation of the name before the parenthesis; returns the name."""
        name = check_kind(schema, str, "define").partition("(")[0]
        define(f"{self.ns}::{name}")
        return name

    def impl(self, op_name: str | CustomOpDef, fn: Callable[..., Any], dispatch_key: str = "", **_: object) -> None:
        """Let the operation call fn for "CPU" or "CUDA", or everywhere; rules for other keys are not needed."""
        if not isinstance(op_name, CustomOpDef):
            op_name = f"{self.ns}::{check_kind(op_name, str, 'impl').rpartition('::')[2]}"
        op = _found(op_name)
        key = dispatch_key or self.dispatch_key
        if key.startswith("Composite"):
            op._is_node = False  # as in PyTorch
        if key in _EVERYWHERE:
            op.register_kernel(None, fn)
        elif key in ("CPU", "CUDA"):
            op.register_kernel(key, fn)


class _Namespace:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = _OPERATIONS.get(f"{self._name}::{name}")
        if found is not None:
            return found
        if self._name in ("aten", "prim", "prims") and not name.startswith("__"):
            return by_name(f"torch.ops.{self._name}.{name}", "norch's operations are its functions and methods")
        raise AttributeError(f"no operation {self._name}::{name} is defined (norch.library.custom_op defines one)")


class _Operations:
    """`norch.ops`: the namespaces of operations that are called by name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.__dict__.setdefault(name, _Namespace(name))

    def load_library(self, path: str) -> None:
        """Refuse a library of operations for PyTorch, with the error of one that does not load."""
        raise OSError(f"load_library: {path} holds operations for PyTorch's C++ library, which norch is not")


ops = _Operations()

__getattr__ = missing("library")
