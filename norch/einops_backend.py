"""norch's tensors in einops: `einops.rearrange(x, "b c h w -> b (c h w)")`.

einops asks each class derived from its AbstractBackend whether a tensor is its own. Ours is made when einops loads,
whether that is before or after norch; norch itself does not import einops.
`einops.layers.norch` is einops_layers.py.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any, Sequence

from .functions import joining, products, ranges
from .methods.interop import from_numpy
from .tensor import Tensor

_MODULE = "einops._backends"
_LAYERS = "einops.layers.norch"
_registered: list[type] = []  # einops itself refers to our class weakly


class _Operations:
    """What einops asks of tensors, done by norch."""

    framework_name = "norch"

    def is_appropriate_type(self, tensor: object) -> bool:
        return isinstance(tensor, Tensor)

    def from_numpy(self, x: Any) -> Tensor:
        return from_numpy(x)

    def to_numpy(self, x: Tensor) -> Any:
        return x.detach().cpu().numpy()

    def arange(self, start: int, stop: int) -> Tensor:
        return ranges.arange(start, stop)

    def reduce(self, x: Tensor, operation: str, reduced_axes: Sequence[int]) -> Tensor:
        axes = tuple(reduced_axes)
        if operation not in ("any", "all", "prod"):
            return getattr(x, {"min": "amin", "max": "amax"}.get(operation, operation))(axes)
        for axis in sorted(axes, reverse=True):
            x = getattr(x, operation)(dim=axis)
        return x

    def transpose(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        return x.permute(axes)

    def stack_on_zeroth_dimension(self, tensors: list[Tensor]) -> Tensor:
        return joining.stack(tensors)

    def add_axes(self, x: Tensor, n_axes: int, pos2len: dict[int, int]) -> Tensor:
        for axis in sorted(pos2len):
            x = x.unsqueeze(axis)
        return x.expand([pos2len.get(axis, -1) for axis in range(n_axes)])

    def add_axis(self, x: Tensor, new_position: int) -> Tensor:
        return x.unsqueeze(new_position)

    def tile(self, x: Tensor, repeats: Sequence[int]) -> Tensor:
        return x.repeat(repeats)

    def concat(self, tensors: list[Tensor], axis: int) -> Tensor:
        return joining.cat(tensors, dim=axis)

    def is_float_type(self, x: Tensor) -> bool:
        return x.is_floating_point()

    def einsum(self, pattern: str, *x: Tensor) -> Tensor:
        return products.einsum(pattern, *x)


def register(backends: Any) -> None:
    """Derive norch's backend in the module of einops's backends."""
    _registered.append(type("NorchBackend", (_Operations, backends.AbstractBackend), {}))


class _Watcher:
    """Registers norch when einops loads its backends. (A MetaPathFinder, without the slow import of that class.)"""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                load(module)
                register(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


class _Layers:
    """Asked last: says where the layers are."""

    @staticmethod
    def find_spec(fullname: str, path: Any, target: Any = None) -> Any:
        if fullname == _LAYERS:
            return importlib.util.spec_from_file_location(fullname, Path(__file__).with_name("einops_layers.py"))
        return None


sys.meta_path.append(_Layers)
if _MODULE in sys.modules:
    register(sys.modules[_MODULE])
else:
    sys.meta_path.insert(0, _Watcher())
