"""Buffers of many tensors and exceptions of other threads, at the path from which programs import them."""

from __future__ import annotations

import sys
import traceback
from typing import Any, Iterable, Iterator, NoReturn, Sequence

from .functions.joining import cat
from .tensor import Tensor


def _flatten_dense_tensors(tensors: Iterable[Tensor]) -> Tensor:
    """The elements of all tensors, one after another.

    >>> norch._utils._flatten_dense_tensors([norch.ones(1), norch.zeros(2, 1)])
    tensor([1., 0., 0.])
    """
    return cat([x.reshape(-1) for x in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of such a buffer, shaped as the tensors. Raises RuntimeError if they have other sizes in all.

    >>> norch._utils._unflatten_dense_tensors(norch.ones(3), [norch.ones(1), norch.zeros(2, 1)])[1].shape
    norch.Size([2, 1])
    """
    parts = flat.split([x.numel() for x in tensors])
    return tuple(part.view(x.shape) for part, x in zip(parts, tensors))


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Lists of tensors of one type, each of at most `size_limit` bytes, or of one tensor.

    >>> [len(part) for part in norch._utils._take_tensors([norch.ones(2)] * 3, 16)]
    [2, 1]
    """
    waiting: dict[str, list[Tensor]] = {}
    for tensor in tensors:
        part = waiting.setdefault(tensor.type(), [])
        if part and sum(x.nbytes for x in part) + tensor.nbytes > size_limit:
            yield part
            part = waiting[tensor.type()] = []
        part.append(tensor)
    yield from waiting.values()


class KeyErrorMessage(str):
    """A message that a KeyError prints as it is, in lines.

    >>> KeyError(norch._utils.KeyErrorMessage("not here"))
    KeyError(not here)
    """

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """The exception that is handled now, to be raised in another thread or process, which `reraise` does.

    It is of the same class there, with the traceback as its text; a RuntimeError if the class takes no such text.

    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError:
    ...     caught = norch._utils.ExceptionWrapper(where="in a thread")
    >>> caught.exc_type.__name__, caught.where
    ('ZeroDivisionError', 'in a thread')
    """

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, error, trace = exc_info or sys.exc_info()
        self.exc_type: Any = kind
        self.exc_msg = "".join(traceback.format_exception(kind, error, trace))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise it again."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        try:
            error = self.exc_type(KeyErrorMessage(text))
        except Exception:
            raise RuntimeError(text) from None
        raise error
