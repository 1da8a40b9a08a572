"""A compiled module: the module itself, whose calls replay."""

from __future__ import annotations

from typing import Any

from ..nn.module import Module
from .function import CompiledFunction
from .program import Program


class CompiledModule(Module):
    """A module whose calls replay what an earlier call did; all else is that module, with the names it has there."""

    def __init__(self, module: Module, fullgraph: bool = False) -> None:
        object.__setattr__(self, "_orig_mod", module)
        object.__setattr__(self, "_compiled", CompiledFunction(module, fullgraph))

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        return self._compiled(*inputs, **kwargs)

    forward = __call__

    @property
    def programs(self) -> list[Program]:
        """The programs, each for arguments of one form."""
        return self._compiled.programs

    def __getattribute__(self, name: str) -> Any:
        if name in _OWN:
            return object.__getattribute__(self, name)
        return getattr(object.__getattribute__(self, "_orig_mod"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """For copies and pickles: the module, compiled anew."""
        return CompiledModule, (self._orig_mod, self._compiled.fullgraph)

    def __len__(self) -> int:
        return len(self._orig_mod)

    def __bool__(self) -> bool:
        return bool(self._orig_mod)

    def __iter__(self) -> Any:
        return iter(self._orig_mod)

    def __contains__(self, key: Any) -> bool:
        return key in self._orig_mod

    def __getitem__(self, key: Any) -> Any:
        return self._orig_mod[key]

    def __repr__(self) -> str:
        return f"Compiled({self._orig_mod!r})"

    def train(self, mode: bool = True) -> CompiledModule:
        """Set `training` of the module; returns self."""
        self._orig_mod.train(mode)
        return self

    def eval(self) -> CompiledModule:
        """Set `training` of the module to False; returns self."""
        return self.train(False)


_OWN = {
    "_orig_mod",
    "_compiled",
    "programs",
    "forward",
    "train",
    "eval",
    "__class__",
    "__repr__",
    "__call__",
    "__reduce_ex__",
}
