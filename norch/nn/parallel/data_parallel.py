"""DataParallel: the model of a script for several GPUs. norch computes on one device, through the module itself."""

from __future__ import annotations

from typing import Any

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
