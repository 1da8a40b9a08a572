"""The handle that registers of hooks return, by the name that PyTorch gives it here."""

from ..autograd.hooks import HookHandle as RemovableHandle

__all__ = ["RemovableHandle"]
