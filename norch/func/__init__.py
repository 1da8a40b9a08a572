"""Functions of functions, under the names of `torch.func`: derivatives, `vmap`, and modules as functions.

>>> norch.func.vmap(norch.func.grad(lambda x: x ** 3))(norch.tensor([1.0, 2.0]))
tensor([ 3., 12.])
"""

from typing import TYPE_CHECKING

from ..nn.utils.stateless import functional_call
from .derivatives import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from .modules import functionalize, replace_all_batch_norm_modules_, stack_module_state
from .vectorize import vmap

__all__ = [
    "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip

if not TYPE_CHECKING:  # (a checker knows what is missing)
    from ..missing import missing as _missing

    __getattr__ = _missing("func")
