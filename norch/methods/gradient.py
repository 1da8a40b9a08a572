"""The gradient of a tensor: `requires_grad`, `grad`, `backward`, `detach`, hooks."""
# mypy: disable-error-code="misc"
# `self` is the whole Tensor, of which the class here is a part.

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Sequence

from .. import operation
from .._C import lib, raise_error
from ..arguments import flag
from ..autograd.derivatives.views import PlaceBackward, SumToBackward
from ..autograd.engine import backward as _backward
from ..autograd.hooks import HookHandle
from ..autograd.mode import no_grad
from ..autograd.node import AccumulateGrad
from ..operation import check_tensor, recorded, wrap
from ..packing import filled
from ..types import shown

if TYPE_CHECKING:
    from ..autograd.node import Node
    from ..forward_declarations import Tensor
    from ..types import Size


class GradientMethods:
    """The attributes and methods of Tensor that concern its gradient."""

    _edge: Node | None  # where a gradient of this tensor goes: its grad_fn, or of a leaf, its AccumulateGrad
    _leaf: AccumulateGrad | None = None  # that this tensor has, or had before requires_grad was turned off
    _shape: Size | None

    @property
    def requires_grad(self: Tensor) -> bool:
        """Whether operations on this tensor record a graph. Can be set on leaves of a floating dtype.

        >>> norch.ones(2, requires_grad=True).requires_grad
        True
        """
        return self._edge is not None

    @requires_grad.setter
    def requires_grad(self: Tensor, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError(f"requires_grad must be a bool, got {shown(value)}")
        node = self._edge and operation.asked(self)._edge
        if node is not None and value:
            return
        if node is not None and not node.is_leaf:
            raise RuntimeError(
                "requires_grad can be turned off on leaf tensors only; detach() gives a tensor without graph"
            )
        if value and not self.dtype.is_floating_point:
            raise RuntimeError(f"only tensors of a floating dtype can require gradients, got {self.dtype}")
        if value:
            behind = operation.asked(self)
            self._leaf = self._leaf or AccumulateGrad(self)
            self._edge = behind._edge = self._leaf
        else:
            self._leave_graph()
        if type(self) is not operation.Tensor:  # a Parameter
            operation.structure.version += 1

    def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
        """Set `requires_grad` and return this tensor, of any shape and a floating dtype.

        Raises RuntimeError for other dtypes, and if it is turned off for a tensor that is not a leaf.

        >>> norch.ones(2).requires_grad_()
        tensor([1., 1.], requires_grad=True)
        """
        self.requires_grad = requires_grad is True or flag(requires_grad, "requires_grad_")
        return self

    @property
    def grad_fn(self: Tensor) -> Node | None:
        """The node of the graph that computed this tensor; None for a leaf.

        >>> x = norch.ones(2, requires_grad=True)
        >>> (2 * x).exp().grad_fn
        <ExpBackward>
        """
        node = self._edge and operation.asked(self)._edge
        return None if node is None or node.is_leaf else node

    def _is_view(self: Tensor) -> bool:
        return self._base is not None

    @property
    def is_leaf(self: Tensor) -> bool:
        """Whether no recorded operation made this tensor.

        >>> x = norch.ones(2, requires_grad=True)
        >>> x.is_leaf, (2 * x).is_leaf
        (True, False)
        """
        node = self._edge and operation.asked(self)._edge
        return node is None or node.is_leaf

    @property
    def grad(self: Tensor) -> Tensor | None:
        """The gradient that has arrived at this tensor, of its shape and dtype; None before `backward`.

        Gradients of a leaf add up in place until it is set to None. It can be set to a tensor of this shape, dtype and
        device; raises TypeError or RuntimeError for anything else.

        >>> x = norch.ones(2, requires_grad=True)
        >>> (3 * x).sum().backward()
        >>> x.grad
        tensor([3., 3.])
        """
        recorder = operation.mode.recorder
        x = self if recorder is None else recorder.behind(self)
        node = x._edge or x._leaf
        return None if node is None else node.grad

    @grad.setter
    def grad(self: Tensor, gradient: Tensor | None) -> None:
        x = operation.asked(self)
        node = x._edge or x._leaf
        if gradient is not None:
            check_tensor(gradient, "grad")
            if gradient is self:
                raise RuntimeError("grad: a tensor cannot be its own gradient")
            if not lib.same_kind(gradient._ptr, self._ptr):
                raise RuntimeError(
                    f"grad: expected a tensor of shape {list(self.shape)}, {self.dtype} on {self.device}, got "
                    f"{list(gradient.shape)}, {gradient.dtype} on {gradient.device}"
                )
            if node is None:
                node = x._leaf = AccumulateGrad(x)
        if node is not None:
            node.grad = gradient

    @grad.deleter
    def grad(self: Tensor) -> None:
        self.grad = None

    _grad = grad  # programs of several processes share gradients by writing `shared._grad = own.grad`

    def retain_grad(self: Tensor) -> None:
        """Do nothing: in norch every tensor of a graph that is still held gets its `.grad`. (PyTorch needs this call.)

        Raises RuntimeError for a tensor that requires no gradient.

        >>> x = norch.ones(2, requires_grad=True)
        >>> y = 2 * x
        >>> y.sum().backward()
        >>> y.grad
        tensor([1., 1.])
        """
        if self._edge is None:
            raise RuntimeError("retain_grad: this tensor does not require gradients")

    def backward(
        self: Tensor,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Add the gradient of this tensor to the `.grad` of everything that it depends on.

        The chain rule starts from `gradient`, which has this tensor's shape; a tensor of one element needs none (1).
        The graph is freed unless `retain_graph`. Raises RuntimeError without a graph or for a gradient of other shape.

        >>> x = norch.Tensor([1, 2], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        """
        if gradient is not None:
            check_tensor(gradient, "backward: gradient")
        if create_graph is not False:
            flag(create_graph, "backward: create_graph")
        _backward(self, gradient, retain_graph, create_graph, inputs)

    def zero_grad(self: Tensor) -> None:
        """Forget the gradient: `.grad` is None again.

        >>> x = norch.ones(2, requires_grad=True)
        >>> x.sum().backward()
        >>> x.zero_grad()
        >>> x.grad is None
        True
        """
        self.grad = None

    def detach(self: Tensor) -> Tensor:
        """A tensor of the same shape and dtype over the same storage, outside of any graph.

        >>> x = norch.ones(2, requires_grad=True)
        >>> (2 * x).detach().requires_grad
        False
        """
        return wrap(lib.alias_tensor(self._ptr))

    def detach_(self: Tensor) -> Tensor:
        """Leave the graph: this tensor becomes a leaf that requires no gradient (the article's `detach`).

        Raises RuntimeError for a view, which its base would not follow.

        >>> x = norch.ones(2, requires_grad=True)
        >>> (2 * x).detach_().grad_fn is None
        True
        """
        if self._base is not None and self._edge is not None:
            raise RuntimeError("a view cannot be detached in place; use detach()")
        self._leave_graph()
        return self

    def _leave_graph(self: Tensor) -> None:
        for x in (self, operation.asked(self)) if self._edge is not None else ():
            x._edge = None
        if self._views is not None:
            self._views.outlived = True

    @property
    def data(self: Tensor) -> Tensor:
        """The same elements outside of any graph, and of its checks: a graph does not notice a write through `data`.

        (`detach()` shares the count of writes: a backward that needs the old values raises an error.) Assigning gives
        this tensor the elements, dtype and device of another; its count of writes goes on.

        >>> x = norch.ones(2, requires_grad=True)
        >>> x.data.mul_(3)
        tensor([3., 3.])
        >>> x
        tensor([3., 3.], requires_grad=True)
        """
        return wrap(lib.data_tensor(self._ptr, None))

    @data.setter
    def data(self: Tensor, other: Tensor) -> None:
        if not check_tensor(other, "data").is_floating_point() and self.requires_grad:
            raise RuntimeError(f"data: a tensor that requires gradients has a floating dtype, got {other.dtype}")
        handle = lib.data_tensor(other._ptr, self._ptr) or raise_error()
        old, views = self._ptr, self._views
        operation.set_at_once(self, _ptr=handle, _shape=None, _base=None, _views=None)
        operation.structure.version += 1
        if views is not None:  # they keep the old memory, of which another tensor is the base now
            base = wrap(old)
            base._edge, base._views = self._edge, views
            for each in views:
                if (view := each()) is not None:
                    view._base = base

    def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> HookHandle:
        """Call `hook(gradient)` in backward when this tensor's gradient is known; a tensor it returns replaces it.

        Raises RuntimeError for a tensor that requires no gradient.

        >>> x = norch.Tensor([1, 2], requires_grad=True)
        >>> handle = x.register_hook(lambda gradient: 10 * gradient)
        >>> x.sum().backward()
        >>> x.grad
        tensor([10., 10.])
        """
        if self._edge is None:
            raise RuntimeError("cannot register a hook on a tensor that does not require gradients")
        return self._edge.register_gradient_hook(hook)

    def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> HookHandle:
        """Call `hook(tensor)` in backward as soon as `tensor.grad` holds all that this backward adds to it.

        That is right after its last use, while backward goes on to older operations. The gradient has the tensor's
        shape and dtype. Raises RuntimeError for a tensor that requires no gradient, and for one that is not a leaf.

        >>> x = norch.Tensor([1, 2], requires_grad=True)
        >>> handle = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
        >>> (3 * x + x).sum().backward()
        tensor([4., 4.])
        """
        if self._edge is None:
            raise RuntimeError("cannot register a hook on a tensor that does not require gradients")
        if not isinstance(self._edge, AccumulateGrad):
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        return self._edge.register_after(hook)

    @property
    def _version(self: Tensor) -> int:
        return lib.version_of(operation.asked(self)._ptr)

    def _sum_to(self: Tensor, like: Tensor) -> Tensor:
        """This gradient summed to the shape, and in the dtype, of the operand it is for: broadcasting undone."""
        if lib.same_kind(self._ptr, like._ptr):
            return self
        result = wrap(lib.sum_to_shape(self._ptr, like._ptr))
        return recorded(result, SumToBackward, (self,)).to(like.dtype)

    def _placed(self: Tensor, shape: Sequence[int], part: Callable[[Tensor], Tensor]) -> Tensor:
        """Zeros of a shape, with this gradient in a part of them."""
        whole = filled(shape, 0, self.dtype, self.device)
        with no_grad():
            part(whole).copy_(self)
        return recorded(whole, PlaceBackward, (self,), part)
