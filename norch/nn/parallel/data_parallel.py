"""DataParallel: the model of a script for several GPUs. norch computes on one device, through the module itself."""

from __future__ import annotations

from typing import Any, Sequence

from ...functions.joining import cat
from ...tensor import Tensor
from ..module import Module


class DataParallel(Module):
    """Calls `module`, which keeps its device: norch does not divide batches among devices.

    Names of parameters begin with "module.", as in PyTorch.

    >>> model = nn.DataParallel(nn.Linear(2, 1))
    >>> model(norch.ones(3, 2)).shape, list(model.state_dict())
    (norch.Size([3, 1]), ['module.weight', 'module.bias'])
    """

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module: Any = module
        self.device_ids, self.output_device, self.dim = device_ids or [], output_device, dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(module: Module, inputs: Any, *_: Any, module_kwargs: dict[str, Any] | None = None, **__: Any) -> Any:
    """`module(inputs)`: norch computes on one device.

    >>> norch.nn.parallel.data_parallel(nn.Linear(2, 1), norch.ones(3, 2)).shape
    norch.Size([3, 1])
    """
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*inputs, **(module_kwargs or {}))


# ---- The parts of PyTorch's, which scripts call to divide the loss as well -------------------------------------------


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> tuple[Any, ...]:
    """The inputs for each device: tensors in chunks along `dim`, in tuples, lists and dicts too; all else repeated.

    >>> norch.nn.parallel.scatter({"x": norch.arange(4)}, ["cpu", "cpu"])
    ({'x': tensor([0, 1])}, {'x': tensor([2, 3])})
    """
    if isinstance(inputs, Tensor):
        chunks = inputs.chunk(len(target_gpus), dim)
        return tuple(chunk.to(device) for chunk, device in zip(chunks, target_gpus))
    if isinstance(inputs, (tuple, list)) and inputs:
        parts = zip(*(scatter(x, target_gpus, dim) for x in inputs))
        return tuple(type(inputs)(*part) if hasattr(inputs, "_fields") else type(inputs)(part) for part in parts)
    if isinstance(inputs, dict) and inputs:
        return tuple(type(inputs)(zip(inputs, part)) for part in scatter(list(inputs.values()), target_gpus, dim))
    return tuple(inputs for _ in target_gpus)


def scatter_kwargs(inputs: Any, kwargs: Any, target_gpus: Sequence[Any], dim: int = 0) -> tuple[Any, Any]:
    """The same for the arguments of a call: as many tuples as dicts, with empty ones where there are fewer.

    >>> norch.nn.parallel.scatter_kwargs((norch.arange(2),), None, ["cpu"])
    (((tensor([0, 1]),),), ({},))
    """
    positions = scatter(inputs, target_gpus, dim) if inputs else ()
    named = scatter(kwargs, target_gpus, dim) if kwargs else ()
    count = max(len(positions), len(named))
    return positions + ((),) * (count - len(positions)), named + ({},) * (count - len(named))


def gather(outputs: Sequence[Any], target_device: Any, dim: int = 0) -> Any:
    """What the devices computed, joined on one of them: tensors along `dim` (scalars as a vector), trees by part.

    >>> norch.nn.parallel.gather([norch.zeros(1, 2), norch.ones(1, 2)], "cpu")
    tensor([[0., 0.],
            [1., 1.]])
    """
    first = outputs[0]
    if isinstance(first, Tensor):
        return cat([(x if x.ndim else x.reshape(1)).to(target_device) for x in outputs], dim)
    if first is None:
        return None
    if isinstance(first, dict):
        return type(first)((key, gather([x[key] for x in outputs], target_device, dim)) for key in first)
    parts = [gather(part, target_device, dim) for part in zip(*outputs)]
    return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)


def replicate(network: Any, devices: Sequence[Any], detach: bool = False) -> list[Any]:
    """The module once for each device, which must be the one that it is on: norch makes no copies for others.

    Raises RuntimeError for another device.

    >>> layer = nn.Linear(2, 1)
    >>> norch.nn.parallel.replicate(layer, ["cpu"])[0] is layer
    True
    """
    places = {p.device for p in network.parameters()}
    if places and any(str(device) not in places for device in devices if not isinstance(device, int)):
        raise RuntimeError(f"replicate: the module is on {', '.join(sorted(places))}, and norch computes on one device")
    return [network for _ in devices]


def parallel_apply(modules: Sequence[Any], inputs: Sequence[Any], kwargs_tup: Any = None, devices: Any = None) -> Any:
    """What each module makes of its inputs, one after another. Raises ValueError unless each has an input.

    >>> norch.nn.parallel.parallel_apply([nn.Identity(), nn.Tanh()], [norch.ones(1), (norch.zeros(1),)])
    [tensor([1.]), tensor([0.])]
    """
    named = kwargs_tup or [{}] * len(modules)
    if not len(modules) == len(inputs) == len(named):
        raise ValueError(f"parallel_apply: {len(modules)} modules, but {len(inputs)} inputs and {len(named)} kwargs")
    return [
        module(*(x if isinstance(x, (tuple, list)) else (x,)), **(options or {}))
        for module, x, options in zip(modules, inputs, named)
    ]
