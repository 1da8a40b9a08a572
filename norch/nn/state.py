"""The state of a module: its parameters and persistent buffers as a dict of tensors, taken out and loaded again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..autograd import no_grad
from ..autograd.hooks import HookHandle, Hooks
from ..given import given
from ..operation import assigning, at_once
from ..sparse.coo import SparseTensor
from ..tensor import Tensor
from ..types import shown
from .parameter import Parameter, is_lazy


class _Keys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]


class _IncompatibleKeys(_Keys):
    """What `load_state_dict` returns."""

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if any(self) else "<All keys matched successfully>"


class _Problems(list[str]):
    """What keeps a state from being loaded, a line each, and the copies to make if nothing does."""

    def __init__(self) -> None:
        super().__init__()
        self.copies: list[tuple[Tensor, Tensor]] = []

    def make_copies(self) -> None:
        """Make the copies: all of them or, if memory runs out or an interrupt comes, none."""
        with no_grad():
            sparse = [isinstance(own, SparseTensor) for own, _ in self.copies]
            dense = [pair for pair, is_sparse in zip(self.copies, sparse) if not is_sparse]
            values = [tensor.to(own.device, own.dtype) for own, tensor in dense]
            for (own, tensor), is_sparse in zip(self.copies, sparse):
                if is_sparse:
                    own.copy_(tensor.to(own.device))
            at_once(assigning([own for own, _ in dense], values))


def _of_kind(module: ModuleState, kind: str) -> Hooks:
    """The hooks of a kind, which programs look at and clear."""
    if module._state_hooks is None:
        module._state_hooks = {}
    return module._state_hooks.setdefault(kind, Hooks())


def _registered(kind: str) -> property:
    return property(lambda module: _of_kind(module, kind))


class ModuleState:
    """The part of Module that saves and loads. A class with a state of its own overrides `_save_to_state_dict` and
    `_load_from_state_dict`, as in PyTorch, or `get_extra_state` and `set_extra_state`."""

    if TYPE_CHECKING:
        _parameters: dict[str, Any]
        _modules: dict[str, Any]
        _buffers: dict[str, Tensor | None]
        _non_persistent_buffers_set: set[str]

        def get_name(self) -> str: ...

    _version = 1  # of the layout of a class's state
    _state_hooks: dict[str, Hooks] | None = None  # made with the first hook

    # ---- Saving -------------------------------------------------------------------------------------------------

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Return {dotted name: tensor} of all parameters and persistent buffers.

        The tensors share storage with the model and carry no gradient; with `keep_vars` they are the very parameters.
        They are added to the dict `destination`, if there is one.
        """
        if args:  # the order of old versions
            named: tuple[Any, ...] = (destination, prefix, keep_vars)
            destination, prefix, keep_vars = args + named[len(args) :]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._hooks_of("before_state"):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._hooks_of("after_state"):
            replaced = hook(self, destination, prefix, metadata)
            destination = destination if replaced is None else replaced
        return destination

    def _own_state(self) -> dict[str, Tensor]:
        """What is saved of this module alone: its parameters, then its persistent buffers."""
        kept = {name: buffer for name, buffer in self._buffers.items() if name not in self._non_persistent_buffers_set}
        return {name: tensor for name, tensor in {**self._parameters, **kept}.items() if tensor is not None}

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put the state of this module alone into `destination`."""
        for name, tensor in self._own_state().items():
            destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()
        if type(self).get_extra_state is not ModuleState.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def get_extra_state(self) -> Any:
        """What a class saves beside its tensors, for which it defines this method and `set_extra_state`."""
        raise RuntimeError(f"{self.get_name()} does not define get_extra_state()")

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` returned."""
        raise RuntimeError(f"{self.get_name()} does not define set_extra_state()")

    # ---- Loading ------------------------------------------------------------------------------------------------

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy the values of `state_dict` into this module's own parameters and buffers.

        With `assign` the given tensors become the parameters and buffers themselves. Raises one RuntimeError that names
        every missing, unexpected (these two only if `strict`) and misshapen entry; then nothing was copied. Returns
        (missing_keys, unexpected_keys).
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"load_state_dict was given {given(state_dict)}, expected a dict of tensors")
        for key in state_dict:
            if not isinstance(key, str):
                raise TypeError(f"load_state_dict: the key {shown(key)} is {given(key)}, expected names of tensors")
        keys, problems = _IncompatibleKeys([], []), _Problems()
        metadata = getattr(state_dict, "_metadata", {})
        hooks = self._load_tree("", OrderedDict(state_dict), metadata, assign, keys, problems)
        if hooks or not (problems or (strict and any(keys))):  # a hook may change what counts as missing
            problems.make_copies()
            for module, hook in hooks:
                hook(module, keys)
        if strict and keys.unexpected_keys:
            problems.insert(0, f"Unexpected key(s) in state_dict: {_quoted(keys.unexpected_keys)}. ")
        if strict and keys.missing_keys:
            problems.insert(0, f"Missing key(s) in state_dict: {_quoted(keys.missing_keys)}. ")
        if problems:
            raise RuntimeError(f"Error(s) in loading state_dict for {self.get_name()}:\n\t" + "\n\t".join(problems))
        return keys

    def _load_tree(
        self,
        prefix: str,
        entries: dict[str, Any],
        metadata: Mapping[str, Any],
        assign: bool,
        keys: _IncompatibleKeys,
        problems: _Problems,
    ) -> list[tuple[ModuleState, Callable[..., Any]]]:
        """Load this module and those inside it, each from its own entries; the hooks to call after it, with modules."""
        local = dict(metadata.get(prefix[:-1], {}), assign_to_params_buffers=assign)
        self._load_from_state_dict(entries, prefix, local, True, *keys, problems)
        hooks = []
        for name, child in self._modules.items():
            if child is not None:
                inner = f"{prefix}{name}."
                own = {key: value for key, value in entries.items() if key.startswith(inner)}
                hooks += child._load_tree(inner, own, metadata, assign, keys, problems)
        return hooks + [(self, hook) for hook in self._hooks_of("after_load")]

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load the state of this module alone, whose names begin with `prefix`; add what is wrong to the three lists.

        The copies are made once all modules have found theirs.
        """
        for hook in self._hooks_of("before_load"):
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = self._own_state()
        for name, tensor in own.items():
            if prefix + name in state_dict:
                self._load(name, tensor, state_dict[prefix + name], prefix, local_metadata, error_msgs)
            elif strict:
                missing_keys.append(prefix + name)
        extra = type(self).set_extra_state is not ModuleState.set_extra_state
        if extra and prefix + _EXTRA in state_dict:
            self.set_extra_state(state_dict[prefix + _EXTRA])
        elif extra and strict:
            missing_keys.append(prefix + _EXTRA)
        known = {*own, *([_EXTRA] if extra else [])}
        for key in state_dict if strict else ():
            name, dot, _ = key[len(prefix) :].partition(".")
            if key.startswith(prefix) and name not in (self._modules if dot else known):
                unexpected_keys.append(key)

    def _load(
        self, name: str, own: Tensor, entry: Any, prefix: str, local_metadata: dict[str, Any], error_msgs: list[str]
    ) -> None:
        """Note the copy of one tensor, or what keeps it from being copied."""
        if not isinstance(entry, SparseTensor if isinstance(own, SparseTensor) else Tensor):
            error_msgs.append(f"{prefix + name}: given {given(entry)}, expected a Tensor")
            return
        if is_lazy(entry):
            if not is_lazy(own):
                error_msgs.append(f"{prefix + name}: given an {type(entry).__name__}, expected one with a shape")
            return
        if own.ndim == 0 and entry.shape == [1]:  # a scalar, as older versions saved it
            entry = entry.reshape(())
        if entry.shape != own.shape:
            error_msgs.append(
                f"size mismatch for {prefix + name}: copying a param with shape {entry.shape} from checkpoint, "
                f"the shape in current model is {own.shape}."
            )
        elif local_metadata.get("assign_to_params_buffers"):
            if isinstance(own, Parameter):
                entry = entry if isinstance(entry, Parameter) else Parameter(entry)
                entry.requires_grad_(own.requires_grad)
            setattr(self, name, entry)
        elif isinstance(error_msgs, _Problems):
            error_msgs.copies.append((own, entry))
        else:  # called by itself
            with no_grad():
                own.copy_(entry)

    # ---- Hooks --------------------------------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable[..., object]) -> HookHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict` looks at this module."""
        return self._add_state_hook("before_state", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., object]) -> HookHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after `state_dict`; it may change the dict."""
        return self._add_state_hook("after_state", hook)

    _register_state_dict_hook = register_state_dict_post_hook

    def register_load_state_dict_pre_hook(self, hook: Callable[..., object]) -> HookHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`
        before this module's part of `load_state_dict`; it may change the dict."""
        return self._add_state_hook("before_load", hook)

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., object], with_module: bool = False) -> HookHandle:
        return self._add_state_hook("before_load", hook if with_module else lambda module, *rest: hook(*rest))

    def register_load_state_dict_post_hook(self, hook: Callable[..., object]) -> HookHandle:
        """Call `hook(module, incompatible_keys)` after `load_state_dict`; it may change the lists of keys."""
        return self._add_state_hook("after_load", hook)

    def _add_state_hook(self, kind: str, hook: Callable[..., object]) -> HookHandle:
        return HookHandle(_of_kind(self, kind), hook)

    _state_dict_pre_hooks, _state_dict_hooks = _registered("before_state"), _registered("after_state")
    _load_state_dict_pre_hooks, _load_state_dict_post_hooks = _registered("before_load"), _registered("after_load")

    def _hooks_of(self, kind: str) -> list[Callable[..., Any]]:
        return list((self._state_hooks or {}).get(kind, {}).values())


_EXTRA = "_extra_state"


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
