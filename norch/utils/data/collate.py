"""From a list of samples to a batch."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

from ..._C import ShapeError
from ...functions.creation import tensor
from ...functions.joining import cat, stack
from ...given import given
from ...methods.interop import as_tensor
from ...operation import check_kind, own
from ...tensor import Tensor

if TYPE_CHECKING:
    FunctionMap = dict[type | tuple[type, ...], Callable[..., Any]]


def default_collate(batch: Iterable[Any]) -> Any:
    """A batch of samples that are built alike, with a new first dimension for the samples.

    Tensors and arrays are stacked; numbers become a tensor (int64, float32, bool); strings stay; dicts and sequences
    are collated place by place. A dict stays in its class, a named tuple too; other sequences become lists, as in
    PyTorch. Floats become float32, norch's dtype of floats (PyTorch: float64). Raises TypeError for samples of another
    type, RuntimeError if samples differ in shape or length.

    >>> norch.utils.data.default_collate([(norch.tensor([1, 2]), 0), (norch.tensor([3, 4]), 1)])
    [tensor([[1, 2],
            [3, 4]]), tensor([0, 1])]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Iterable[Any], *, collate_fn_map: FunctionMap | None = None) -> Any:
    """`default_collate` with functions of one's own: `collate_fn_map` has one for a type, or for a tuple of types.

    Each is called as `function(samples, collate_fn_map=collate_fn_map)`. What is put into `default_collate_fn_map`
    changes `default_collate`.

    >>> from norch.utils.data._utils.collate import collate, default_collate_fn_map
    >>> collate([("a", 1), ("b", 2)], collate_fn_map={**default_collate_fn_map, str: lambda x, **_: "".join(x)})
    ['ab', tensor([1, 2])]
    """
    samples = batch if isinstance(batch, (list, tuple)) else list(batch)
    if not samples:
        raise ValueError("default_collate was given an empty batch, expected at least one sample")
    first = samples[0]
    functions = check_kind(collate_fn_map or {}, dict, "collate")
    function = functions.get(type(first)) or next((f for kind, f in functions.items() if isinstance(first, kind)), None)
    if function is not None:
        return function(samples, collate_fn_map=collate_fn_map)
    if _is_array(first):
        return _stacked([as_tensor(sample) for sample in samples])
    if isinstance(first, Mapping):
        for sample in samples:
            if not first.keys() <= sample.keys():
                raise KeyError(f"default_collate: samples with the keys {[*first]} and {[*sample]}, expected the same")
        found = {key: collate([sample[key] for sample in samples], collate_fn_map=collate_fn_map) for key in first}
        return _like(first, found)
    if isinstance(first, Sequence):
        lengths = sorted({len(sample) for sample in samples})
        if len(lengths) > 1:
            raise RuntimeError(f"default_collate: samples of {lengths} parts, expected equally many in each")
        places = [collate(place, collate_fn_map=collate_fn_map) for place in zip(*samples)]
        return type(first)(*places) if hasattr(first, "_fields") else places
    raise TypeError(
        f"default_collate: a sample holds {given(first)}, expected tensors, arrays, numbers, strings, or "
        "lists, tuples and dicts of them; give the DataLoader your own collate_fn"
    )


def default_convert(data: object) -> Any:
    """A single sample (batch_size=None): arrays become tensors and tuples become lists; everything else stays.

    >>> norch.utils.data.default_convert((norch.tensor([1, 2]), "name"))
    [tensor([1, 2]), 'name']
    """
    if isinstance(data, (Tensor, str, bytes)):
        return data
    if _is_array(data):
        return as_tensor(data)
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, Sequence):
        places = [default_convert(value) for value in data]
        return type(data)(*places) if hasattr(data, "_fields") else places
    return data


def _is_array(value: object) -> bool:
    """Whether a value is a NumPy array or scalar, or shows its memory like one."""
    return hasattr(value, "__array_interface__")


def _like(mapping: Mapping[Any, Any], found: dict[Any, Any]) -> Mapping[Any, Any]:
    """The dict in the sample's own class, with what else a copy of the sample keeps: a defaultdict's factory."""
    if type(mapping) is dict:
        return found
    try:
        if isinstance(mapping, MutableMapping):
            made = copy.copy(mapping)
            MutableMapping.update(made, found)  # a Counter's own would add
            return made
        return type(mapping)(found)  # type: ignore[call-arg]
    except TypeError:
        return found


def _stacked(tensors: Sequence[Tensor]) -> Tensor:
    shape = tensors[0].shape
    for x in tensors:
        if not isinstance(x, Tensor) or x.shape != shape:
            found = list(x.shape) if isinstance(x, Tensor) else given(x)
            raise ShapeError(f"default_collate: samples of shape {list(shape)} and {found}, expected one shape")
    if not shape:
        return stack(tensors)
    return own(cat(tensors).reshape(len(tensors), *shape))  # faster than a view for each


# ---- A function for each type, under PyTorch's names -----------------------------------------------------------------


def collate_tensor_fn(batch: Sequence[Tensor], *, collate_fn_map: FunctionMap | None = None) -> Tensor:
    """Tensors, stacked."""
    return _stacked(batch)


def collate_float_fn(batch: Sequence[float], *, collate_fn_map: FunctionMap | None = None) -> Tensor:
    """Numbers, as a tensor."""
    return tensor(list(batch))


def collate_str_fn(batch: Sequence[Any], *, collate_fn_map: FunctionMap | None = None) -> Sequence[Any]:
    """Strings, as they are."""
    return batch


collate_int_fn = collate_float_fn
default_collate_fn_map: FunctionMap = {
    Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
