"""From a list of samples to a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import norch
from norch._C import ShapeError
from norch.tensor import Tensor


def default_collate(batch: Any) -> Any:
    """A batch with a new first dimension for the samples, each of which is built alike.

    Tensors and arrays are stacked; numbers become a tensor (int64, float32, bool); strings stay; of dicts, lists
    and tuples each place is collated for itself (tuples become lists, as in PyTorch; named ones stay). Floats become
    float32, for in norch an element of a float32 vector is a Python float (PyTorch: float64). Raises TypeError for
    other things, RuntimeError where samples differ in shape or length.

    >>> norch.utils.data.default_collate([(norch.tensor([1, 2]), 0), (norch.tensor([3, 4]), 1)])
    [tensor([[1, 2],
            [3, 4]]), tensor([0, 1])]
    """
    batch = batch if isinstance(batch, (list, tuple)) else list(batch)
    if not batch:
        raise ValueError("default_collate was given an empty batch, expected at least one sample")
    first = batch[0]
    if isinstance(first, Tensor):
        return _stacked(batch)
    if isinstance(first, (bool, int, float)):
        return norch.tensor(list(batch))
    if isinstance(first, (str, bytes)):
        return batch
    if _is_array(first):
        return _stacked([norch.as_tensor(sample) for sample in batch])
    if isinstance(first, Mapping):
        found = {key: default_collate([sample[key] for sample in batch]) for key in first}
        return found if type(first) is dict else _like(first, found)
    if isinstance(first, (list, tuple)):
        if any(len(sample) != len(first) for sample in batch):
            lengths = sorted({len(sample) for sample in batch})
            raise RuntimeError(f"default_collate: samples of {lengths} parts, expected equally many in each")
        places = [default_collate(place) for place in zip(*batch)]
        return type(first)(*places) if hasattr(first, "_fields") else places
    raise TypeError(
        f"default_collate: a sample holds a {type(first).__name__}, expected tensors, arrays, numbers, strings, or "
        "lists, tuples and dicts of them; give the DataLoader a collate_fn of your own"
    )


def default_convert(sample: Any) -> Any:
    """A sample on its own (batch_size=None): arrays become tensors and tuples lists, everything else stays.

    >>> norch.utils.data.default_convert((norch.tensor([1, 2]), "name"))
    [tensor([1, 2]), 'name']
    """
    if isinstance(sample, (Tensor, str, bytes)):
        return sample
    if _is_array(sample):
        return norch.as_tensor(sample)
    if isinstance(sample, Mapping):
        return _like(sample, {key: default_convert(value) for key, value in sample.items()})
    if isinstance(sample, (list, tuple)):
        places = [default_convert(value) for value in sample]
        return type(sample)(*places) if hasattr(sample, "_fields") else places
    return sample


def _is_array(value: Any) -> bool:
    """Whether it is a NumPy array or scalar (or looks like one)."""
    return hasattr(value, "__array_interface__")


def _like(mapping: Any, found: dict) -> Any:
    """The dict in the sample's own class, where that can be made from one."""
    try:
        return type(mapping)(found)
    except TypeError:
        return found


def _stacked(tensors: Any) -> Tensor:
    shape = tensors[0].shape
    for tensor in tensors:
        if not isinstance(tensor, Tensor) or tensor.shape != shape:
            found = list(tensor.shape) if isinstance(tensor, Tensor) else f"a {type(tensor).__name__}"
            raise ShapeError(f"default_collate: samples of shape {list(shape)} and {found}, expected one shape")
    # end to end, and then in rows: faster than a view for each
    return norch.cat(tensors).reshape(len(tensors), *shape) if shape else norch.stack(tensors)
