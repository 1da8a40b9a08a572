"""What is different between a result of norch and torch's, in words."""

from __future__ import annotations

from typing import Any

import torch
from translation import to_norch, to_torch

import norch

# Of each element, and of the largest one: a sum of many terms loses what is small beside them.
TOLERANCE = {
    torch.float64: (1e-9, 1e-11),
    torch.float32: (2e-5, 1e-5),
    torch.float16: (2e-3, 1e-3),
    torch.bfloat16: (2e-2, 1e-2),
}


def difference(ours: Any, theirs: Any, values: bool = True, scale: float = 1.0) -> str | None:
    """Why `ours` is not `theirs`, None if it is. Without `values` the shapes and dtypes alone count."""
    if isinstance(theirs, torch.Tensor):
        return tensor_difference(ours, theirs, values, scale)
    if isinstance(theirs, torch.Size):
        return None if tuple(ours) == tuple(theirs) else f"{ours}, torch has {theirs}"
    if isinstance(theirs, (list, tuple)):
        if not isinstance(ours, (list, tuple)):
            return f"a {type(ours).__name__}, torch has a {type(theirs).__name__}"
        if len(ours) != len(theirs):
            return f"{len(ours)} results, torch has {len(theirs)}"
        fields = [name for name in dir(theirs) if not name.startswith(("_", "n_")) and name not in ("count", "index")]
        if type(theirs) not in (list, tuple) and (lacking := [name for name in fields if not hasattr(ours, name)]):
            return f"a tuple without {', '.join(lacking)}"
        for index, (our, their) in enumerate(zip(ours, theirs)):
            if found := difference(our, their, values, scale):
                return f"result {index}: {found}"
        return None
    if isinstance(theirs, (bool, int, float)):
        if isinstance(ours, norch.Tensor) or not isinstance(ours, (bool, int, float)):
            return f"a {type(ours).__name__}, torch has the number {theirs}"
        return tensor_difference(norch.tensor(ours), torch.tensor(theirs), values, scale)
    if isinstance(theirs, (torch.dtype, torch.layout, torch.device, torch.memory_format)):
        same = str(ours).removeprefix("norch.") == str(theirs).removeprefix("torch.")
        return None if same else f"{ours}, torch has {theirs}"
    return None if theirs == ours else f"{ours!r}, torch has {theirs!r}"


def tensor_difference(ours: Any, theirs: torch.Tensor, values: bool, scale: float) -> str | None:
    if not isinstance(ours, norch.Tensor) and not (theirs.layout != torch.strided and hasattr(ours, "to_dense")):
        return f"a {type(ours).__name__}, torch has a tensor"
    if tuple(ours.shape) != tuple(theirs.shape):
        return f"shape {tuple(ours.shape)}, torch has {tuple(theirs.shape)}"
    if ours.dtype.name != str(theirs.dtype).removeprefix("torch."):
        return f"dtype {ours.dtype.name}, torch has {theirs.dtype}"
    if theirs.layout != torch.strided:
        if getattr(ours, "layout", None) is None or str(ours.layout)[6:] != str(theirs.layout)[6:]:
            return f"layout {ours.layout}, torch has {theirs.layout}"
        ours, theirs = ours.to_dense(), theirs.to_dense()
    if not values or not theirs.numel():
        return None
    ours, theirs = to_torch(ours), theirs.detach().resolve_conj().resolve_neg()
    if theirs.dtype not in TOLERANCE:
        wrong = ours != theirs
    else:
        relative, absolute = (scale * bound for bound in TOLERANCE[theirs.dtype])
        a, b = ours.double(), theirs.double()
        finite = b[b.isfinite()]
        largest = max(1.0, finite.abs().max().item()) if finite.numel() else 1.0
        wrong = ~torch.isclose(a, b, rtol=relative, atol=absolute * largest, equal_nan=True)
    if not wrong.any():
        return None
    where = tuple(wrong.nonzero()[0].tolist())
    index = f"[{', '.join(map(str, where))}]" if where else ""
    count = f"{int(wrong.sum())} of {wrong.numel()} elements differ; " if wrong.numel() > 1 else ""
    return f"{count}result{index} is {ours[where].item()}, torch has {theirs[where].item()}"


def gradient_difference(ours: Any, theirs: Any, leaves: list[torch.Tensor]) -> str | None:
    """The same of gradients, of which one that is not there is zero."""
    for number, (our, their, leaf) in enumerate(zip(ours, theirs, leaves)):
        if our is None and their is None:
            continue
        their = torch.zeros_like(leaf) if their is None else their
        our = to_norch(torch.zeros_like(leaf)) if our is None else our
        if reason := difference(our, their, scale=100):
            return f"gradient {number}: {reason}"
    return None
