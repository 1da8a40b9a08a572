"""`norch._foreach_add_(tensors, 1)` and the like: a method of each tensor of a list, as optimizers of others call it.

PyTorch does such a list in one launch on a GPU; here it is a loop, `for x, y in zip(tensors, others): x.add_(y)`. An
argument that is a list has a value for each tensor, any other one serves them all.
"""

from __future__ import annotations

from typing import Any, Callable

from ..tensor import Tensor

_BOTH = """
abs acos add addcdiv addcmul asin atan ceil clamp_max clamp_min cos cosh div erf erfc exp expm1 floor frac lerp lgamma
log log10 log1p log2 maximum minimum mul neg pow reciprocal round rsqrt sigmoid sign sin sinh sqrt sub tan tanh trunc
""".split()
_METHODS = {"maximum": "clamp_min", "minimum": "clamp_max"}  # these take numbers too
_SCALED = {"addcmul", "addcdiv"}  # (their fourth argument is the keyword `value` of the method)
_KEYWORDS = {"alpha", "value", "dtype", "non_blocking"}

__all__ = [f"_foreach_{name}" for name in [*_BOTH, *(f"{name}_" for name in _BOTH)]]
__all__ += [f"_foreach_{name}" for name in "clone copy_ max mm norm zero_".split()]


def _function(name: str) -> Callable[..., Any]:
    bare = name.rstrip("_")
    method = getattr(Tensor, _METHODS.get(bare, bare) + name[len(bare) :])

    def call(*given: Any, **keywords: Any) -> Any:
        arguments = [*given, *(keywords.pop(key) for key in [*keywords] if key not in _KEYWORDS)]
        if bare in _SCALED and len(arguments) == 4:
            keywords["value"] = _numbers(arguments.pop())
        columns, named = _columns(call.__name__, arguments, keywords)
        results = tuple([method(*row, **dict(zip(keywords, values))) for row, values in zip(columns, named)])
        return arguments[0] if name.endswith("_") else results

    call.__name__ = call.__qualname__ = f"_foreach_{name}"
    call.__doc__ = (
        f"Call {method.__name__}() of each tensor of a list; arguments are lists of as many, or serve them all."
    )
    return call


def _numbers(scalars: Any) -> Any:
    return scalars.tolist() if isinstance(scalars, Tensor) and scalars.ndim == 1 else scalars


def _columns(name: str, arguments: list[Any], keywords: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """The arguments and the keywords' values of each call."""
    lists = [a for a in (*arguments, *keywords.values()) if isinstance(a, (list, tuple))]
    if not arguments or not isinstance(arguments[0], (list, tuple)) and not (name == "_foreach_pow" and lists):
        given = type(arguments[0]).__name__ if arguments else "nothing"
        raise TypeError(f"{name}(): the first argument must be a list of tensors, not {given}")
    count = len(lists[0])
    if not count:
        raise RuntimeError(f"{name}(): the list must have at least one tensor")
    for other in lists:
        if len(other) != count:
            raise RuntimeError(f"{name}(): the lists have different lengths, {count} and {len(other)}")
    for place, x in enumerate(lists[0]):
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}(): element {place} of the list is no tensor but of type {type(x).__name__}")
    for a in arguments:
        if isinstance(a, Tensor) and a.ndim:
            raise RuntimeError(
                f"{name}(): a tensor that serves the whole list must be 0-dimensional, not {list(a.shape)}"
            )

    def spread(values: Any) -> list[Any]:
        return list(zip(*[v if isinstance(v, (list, tuple)) else [v] * count for v in values])) or [()] * count

    return spread(arguments), spread(keywords.values())


globals().update({name: _function(name[len("_foreach_") :]) for name in __all__})
