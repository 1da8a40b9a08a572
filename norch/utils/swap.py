"""Two tensors that change places: whoever holds one then has what the other was."""

from __future__ import annotations

from weakref import ref

from ..operation import check_tensor, structure
from ..tensor import Tensor


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Swap what two tensors are: class, elements, gradient and attributes.

    A module, an optimizer or a list that holds t1 finds there what t2 was. Raises RuntimeError for views, and for
    tensors that have views.

    >>> a, b = norch.zeros(2), norch.ones(3)
    >>> norch.utils.swap_tensors(a, b)
    >>> a
    tensor([1., 1., 1.])
    """
    for name, x in (("t1", t1), ("t2", t2)):
        check_tensor(x, f"swap_tensors: {name}")
        if x._base is not None or (x._views is not None and any(view() is not None for view in x._views)):
            raise RuntimeError(f"swap_tensors: {name} is a view, or has views, which would not follow")
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    t1._edge, t1._ptr, t2._edge, t2._ptr = t2._edge, t2._ptr, t1._edge, t1._ptr
    for x in (t1, t2):
        for node in (x._edge, x._leaf):
            if node is not None:
                node.result = ref(x)
    structure.version += 1
