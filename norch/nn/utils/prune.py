"""Pruning: weights of a module that are held at zero by a mask.

`prune` moves the parameter `weight` to `weight_orig`, which is trained, adds the buffer `weight_mask`, and computes
`weight`, their product, before each forward. Pruning again narrows the mask; `remove` makes the result permanent.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Sequence

from ...functions.joining import cat
from ...functions.random import randperm
from ...operation import check_kind, check_tensor
from ...tensor import Tensor
from ...types import shown
from ..module import Module
from ..parameter import Parameter
from .undoing import all_or_nothing

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]  # fmt: skip


class BasePruningMethod:
    """A way of choosing what is pruned. A subclass defines `compute_mask(t, default_mask)`, and `PRUNING_TYPE`.

    That is "unstructured" (single weights), "structured" (whole slices) or "global"; it says what a method that prunes
    a module again is shown: the weights that are left, the slices that are left, or the whole tensor.

    >>> nn.utils.prune.Identity.apply(nn.Linear(2, 1), "weight").PRUNING_TYPE
    'unstructured'
    """

    PRUNING_TYPE = "unstructured"
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for the weights t: 1 where they stay; never 1 where the mask so far is 0."""
        raise NotImplementedError(f"{type(self).__name__} does not define compute_mask")

    def apply_mask(self, module: Module) -> Tensor:
        """The product of the weights and their mask."""
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(original.dtype) * original

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune the parameter `name` of a module by a method made with these arguments; returns the method.

        The scores take the place of the weights in choosing; they have their shape.
        """
        check_kind(module, Module, "prune")
        method = cls(*args, **kwargs)
        method._tensor_name = name
        previous = _method_of(module, name)
        weights = getattr(module, name)
        if previous is None and not isinstance(weights, Parameter):
            raise TypeError(f"prune: {shown(name)} of {module.get_name()} is no Parameter")
        scores = weights if importance_scores is None else check_tensor(importance_scores, "prune: importance_scores")
        if scores.shape != weights.shape:
            raise ValueError(f"prune: scores have the shape {list(scores.shape)}, expected {list(weights.shape)}")
        if previous is None:
            mask = weights.detach().ones_like()
        else:
            mask = getattr(module, name + "_mask").detach().clone()
            container = previous if isinstance(previous, PruningContainer) else PruningContainer(previous)
            container.add_pruning_method(method)
            method = container
        mask = method.compute_mask(scores.detach(), mask)
        with all_or_nothing(module):
            if previous is None:
                del module._parameters[name]
                module.register_parameter(name + "_orig", weights)
            else:
                _detach(module, previous)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """The tensor pruned, outside of any module."""
        scores = t if importance_scores is None else importance_scores
        mask = t.detach().ones_like() if default_mask is None else default_mask
        return t * self.compute_mask(scores, mask)

    def remove(self, module: Module) -> None:
        """Make the pruning permanent: the parameter has its name again, and zeros where it was masked."""
        name = self._tensor_name
        weights = self.apply_mask(module).detach()
        parameter = module._parameters[name + "_orig"]
        with all_or_nothing(module, data=[parameter]):
            delattr(module, name)
            del module._parameters[name + "_orig"], module._buffers[name + "_mask"]
            module.register_parameter(name, parameter)
            _detach(module, self)
            parameter.data = weights


class PruningContainer(BasePruningMethod):
    """Several methods that prune one parameter, one after another; each sees what the ones before it left.

    >>> layer = nn.Linear(2, 1)
    >>> for amount in (1, 1):
    ...     method = nn.utils.prune.L1Unstructured.apply(layer, "weight", amount)
    >>> type(method).__name__, layer.weight_mask
    ('PruningContainer', tensor([[0., 0.]]))
    """

    def __init__(self, *methods: BasePruningMethod) -> None:
        self._methods: list[BasePruningMethod] = []
        for method in methods:
            self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Prune by a further method. Raises TypeError for what is none, ValueError for one of another parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"prune: expected a BasePruningMethod, got {type(method).__name__}")
        if method._tensor_name != self._tensor_name:
            raise ValueError(
                f"prune: the method prunes {shown(method._tensor_name)}, expected {shown(self._tensor_name)}"
            )
        self._methods.append(method)

    def __len__(self) -> int:
        return len(self._methods)

    def __iter__(self) -> Any:
        return iter(self._methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        method = self._methods[-1]
        if method.PRUNING_TYPE == "unstructured":
            left: Any = default_mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = _axis(t, getattr(method, "dim", 0))
            left = (slice(None),) * dim + (default_mask.nonzero()[:, dim].unique(),)
        elif method.PRUNING_TYPE == "global":
            left = (slice(None),) * t.ndim
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask = default_mask.to(t.dtype, copy=True)
        mask[left] = method.compute_mask(t[left], default_mask[left]).to(mask.dtype)
        return mask


def _axis(t: Tensor, dim: int) -> int:
    """A dimension of a tensor, counted from 0."""
    if not -t.ndim <= dim < t.ndim:
        raise IndexError(f"Invalid index {dim} for tensor of size {tuple(t.shape)}")
    return dim % t.ndim


class Identity(BasePruningMethod):
    """Prunes nothing, but gives the module a mask.

    >>> layer = nn.Linear(2, 1)
    >>> method = nn.utils.prune.Identity.apply(layer, "weight")
    >>> layer.weight_mask
    tensor([[1., 1.]])
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _Amount(BasePruningMethod):
    """Methods that prune a number of weights or slices, or a part of them from 0.0 to 1.0."""

    def __init__(self, amount: float, dim: int = -1) -> None:
        if isinstance(amount, bool) or not isinstance(amount, (int, float)):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        if not amount >= 0 or (isinstance(amount, float) and amount > 1):
            raise ValueError(f"amount={amount} should be a float in [0, 1] or a non-negative int")
        self.amount, self.dim = amount, dim

    def _count(self, size: int) -> int:
        """How many of so many are pruned."""
        if isinstance(self.amount, float):
            return round(self.amount * size)
        if self.amount > size:
            raise ValueError(f"amount={self.amount} should be smaller than the number of parameters to prune={size}")
        return self.amount

    def _slices_pruned(self, t: Tensor, default_mask: Tensor, chosen: Callable[[int, int], Tensor]) -> Tensor:
        """The mask without the slices along `dim` that `chosen(of how many, how many)` names."""
        if t.ndim <= 1:
            raise ValueError(f"Structured pruning can only be applied to a multidimensional tensor, got {t.ndim}")
        size = t.shape[_axis(t, self.dim)]
        return default_mask.clone().index_fill_(self.dim, chosen(size, self._count(size)), 0)


class RandomUnstructured(_Amount):
    """Prunes weights at random.

    >>> layer = nn.Linear(2, 1)
    >>> method = nn.utils.prune.RandomUnstructured.apply(layer, "weight", 1)
    >>> layer.weight_mask.sum()
    tensor(1.)
    """

    def __init__(self, amount: float) -> None:
        super().__init__(amount)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        mask = default_mask.clone()
        mask.view(-1)[randperm(t.numel(), device=t.device)[: self._count(t.numel())]] = 0
        return mask


class L1Unstructured(_Amount):
    """Prunes the weights of the smallest magnitude.

    >>> method = nn.utils.prune.L1Unstructured(1)
    >>> method.compute_mask(norch.tensor([3.0, -1.0, 2.0]), norch.ones(3))
    tensor([1., 0., 1.])
    """

    def __init__(self, amount: float) -> None:
        super().__init__(amount)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        mask = default_mask.clone()
        count = self._count(t.numel())
        if count:
            mask.view(-1)[t.abs().reshape(-1).topk(count, largest=False).indices] = 0
        return mask


class RandomStructured(_Amount):
    """Prunes whole slices along a dimension, at random.

    >>> method = nn.utils.prune.RandomStructured(1, dim=0)
    >>> method.compute_mask(norch.ones(2, 3), norch.ones(2, 3)).sum()
    tensor(3.)
    """

    PRUNING_TYPE = "structured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return self._slices_pruned(t, default_mask, lambda size, count: randperm(size, device=t.device)[:count])


class LnStructured(_Amount):
    """Prunes the slices along a dimension whose n-norm is smallest.

    >>> method = nn.utils.prune.LnStructured(1, n=2, dim=0)
    >>> method.compute_mask(norch.tensor([[3.0, 0.0], [1.0, 1.0]]), norch.ones(2, 2))
    tensor([[1., 1.],
            [0., 0.]])
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        others = [i for i in range(t.ndim) if i != self.dim % max(t.ndim, 1)]

        def weakest(size: int, count: int) -> Tensor:
            return t.norm(p=self.n, dim=others).topk(count, largest=False).indices

        return self._slices_pruned(t, default_mask, weakest)


class CustomFromMask(BasePruningMethod):
    """Prunes what a given mask has as 0.

    >>> method = nn.utils.prune.CustomFromMask(norch.tensor([1.0, 0.0]))
    >>> method.compute_mask(norch.ones(2), norch.ones(2))
    tensor([1., 0.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = check_tensor(mask, "prune: mask")

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if self.mask.shape != default_mask.shape:
            given, expected = list(self.mask.shape), list(default_mask.shape)
            raise ValueError(f"prune: the mask has the shape {given}, expected {expected}")
        return default_mask * self.mask.to(default_mask.dtype)


# ---- Functions: each prunes one parameter, and returns the module ---------------------------------------------------


def identity(module: Module, name: str) -> Module:
    """Give a parameter a mask of ones.

    >>> list(nn.utils.prune.identity(nn.Linear(1, 1), "bias").state_dict())
    ['weight', 'bias_orig', 'bias_mask']
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune a number of weights, or a part of them, at random.

    >>> layer = nn.utils.prune.random_unstructured(nn.Linear(2, 2), "weight", amount=3)
    >>> layer.weight_mask.sum()
    tensor(1.)
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float, importance_scores: Tensor | None = None) -> Module:
    """Prune the weights of the smallest magnitude, or of the smallest scores: a number or a part of them.

    >>> layer = nn.utils.prune.l1_unstructured(nn.Linear(2, 2), "weight", amount=0.5)
    >>> (layer.weight == 0).sum()
    tensor(2)
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune slices along a dimension at random: a number or a part of them.

    >>> nn.utils.prune.random_structured(nn.Linear(2, 3), "weight", amount=1, dim=0).weight_mask.sum()
    tensor(4.)
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prune the slices along a dimension whose n-norm is smallest: a number or a part of them.

    >>> nn.utils.prune.ln_structured(nn.Linear(2, 3), "weight", amount=1, n=2, dim=0).weight_mask.sum()
    tensor(4.)
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune what the mask has as 0.

    >>> nn.utils.prune.custom_from_mask(nn.Linear(1, 2), "bias", norch.tensor([1, 0])).bias_mask
    tensor([1., 0.])
    """
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune parameters of several modules as if they were one tensor: (module, name) for each.

    Raises TypeError for a method that prunes slices.

    >>> model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    >>> pairs = [(model[0], "weight"), (model[1], "weight")]
    >>> nn.utils.prune.global_unstructured(pairs, nn.utils.prune.L1Unstructured, amount=5)
    >>> sum(int((layer.weight == 0).sum()) for layer in model)
    5
    """
    pairs: Sequence[tuple[Module, str]] = list(parameters)
    scores = importance_scores or {}
    values = [scores.get(pair, getattr(*pair)).detach() for pair in pairs]
    masks = [getattr(module, name + "_mask", value.ones_like()) for (module, name), value in zip(pairs, values)]
    method = PruningContainer()
    method._tensor_name = "temp"
    made = pruning_method(**kwargs)
    made._tensor_name = "temp"
    if made.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`, got {shown(made.PRUNING_TYPE)}'
        )
    method.add_pruning_method(made)
    joined = method.compute_mask(cat([x.reshape(-1) for x in values]), cat([x.reshape(-1) for x in masks]))
    for (module, name), mask, part in zip(pairs, masks, joined.split([x.numel() for x in masks])):
        custom_from_mask(module, name, part.view(mask.shape))


def remove(module: Module, name: str) -> Module:
    """Make the pruning of a parameter permanent; returns the module. Raises ValueError if it is not pruned.

    >>> layer = nn.utils.prune.l1_unstructured(nn.Linear(1, 1), "bias", amount=1)
    >>> nn.utils.prune.remove(layer, "bias").bias
    Parameter containing:
    tensor([0.], requires_grad=True)
    """
    check_kind(module, Module, "prune.remove")
    method = _method_of(module, name)
    if method is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    method.remove(module)
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module, or of one inside it, is pruned.

    >>> nn.utils.prune.is_pruned(nn.Linear(1, 1))
    False
    """
    check_kind(module, Module, "prune.is_pruned")
    found = (hook for inner in module.modules() for hook in inner._forward_pre_hooks.values())
    return any(isinstance(hook, BasePruningMethod) for hook in found)


# ---- The hook of a module -------------------------------------------------------------------------------------------


def _method_of(module: Module, name: str) -> BasePruningMethod | None:
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return hook
    return None


def _detach(module: Module, method: BasePruningMethod) -> None:
    """Take the hook away."""
    for key, hook in list(module._forward_pre_hooks.items()):
        if hook is method or (isinstance(method, PruningContainer) and hook in method._methods):
            del module._hooks.before[key]  # type: ignore[union-attr]
