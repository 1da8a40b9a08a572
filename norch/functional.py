"""A function for each method of Tensor: `norch.exp(x)` is `x.exp()`, `norch.add(x, y)` is `x.add(y)`."""

from __future__ import annotations

import functools
from typing import Any, Callable

from .operation import check_tensor
from .tensor import Tensor

_NAMES = """
neg abs sign relu floor ceil round exp log sqrt sin cos tanh sigmoid square isnan isinf isfinite logical_not bitwise_not
add sub subtract mul multiply div divide true_divide pow floor_divide remainder minimum maximum eq ne lt le gt ge
logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor clamp
gather take_along_dim scatter scatter_add index_select index_fill index_add index_put take
masked_fill masked_select nonzero tril triu diag sort argsort topk cumsum cumprod
sum mean prod max min amax amin argmax argmin var std any all softmax log_softmax
matmul mm reshape flatten transpose t permute squeeze unsqueeze select narrow as_strided clone
""".split()

__all__ = list(_NAMES)


def _function(name: str) -> Callable[..., Any]:
    method = getattr(Tensor, name)

    @functools.wraps(method)
    def call(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        return method(check_tensor(input, name), *args, **kwargs)

    call.__qualname__ = name
    return call


globals().update({name: _function(name) for name in _NAMES})
