"""Buffers of many tensors, at the path from which programs that reduce gradients over processes import them."""

from __future__ import annotations

from typing import Iterable, Iterator, Sequence

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
