"""A function for each method of Tensor: `norch.exp(x)` is `x.exp()`, `norch.add(x, y)` is `x.add(y)`.

Type checkers read of_methods.pyi, which tools/stubs.py writes: there each function is spelled out.
"""

from __future__ import annotations

import functools
from typing import Callable

from .._C import operations
from ..operation import check_tensor
from ..tensor import Tensor

# The rows of csrc/ops/operations.h with one or two operands, and the other methods that are functions too.
_ROWS = [name for kind in ("unary", "binary") for name in operations()[kind] if name != "elementwise_mul"]
_NAMES = """
absolute negative square frac subtract mul multiply divide true_divide clamp clip
addcmul addcdiv lerp isclose allclose equal
gather take_along_dim scatter scatter_add index_select index_fill index_add index_put take
masked_fill masked_select nonzero tril triu diag sort argsort topk cumsum cumprod
sum mean prod max min amax amin argmax argmin var std any all softmax log_softmax
logsumexp norm count_nonzero nansum nanmean
matmul mm dot mv bmm outer addmm
reshape ravel flatten unflatten transpose swapaxes swapdims t permute movedim moveaxis squeeze unsqueeze
select narrow split chunk unbind diagonal as_strided broadcast_to
flip fliplr flipud roll tile repeat_interleave clone
""".split()

__all__ = _ROWS + _NAMES


def _function(name: str) -> Callable[..., Tensor]:
    method = getattr(Tensor, name)

    @functools.wraps(method)
    def call(input: Tensor, *args: object, **kwargs: object) -> Tensor:
        return method(check_tensor(input, name), *args, **kwargs)

    call.__qualname__ = name
    return call


globals().update({name: _function(name) for name in __all__})
