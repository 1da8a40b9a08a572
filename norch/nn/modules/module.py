"""The Module, and the hooks of all modules, under the path that PyTorch gives them."""

from ..hooks import register_module_backward_hook as register_module_backward_hook
from ..hooks import register_module_buffer_registration_hook as register_module_buffer_registration_hook
from ..hooks import register_module_forward_hook as register_module_forward_hook
from ..hooks import register_module_forward_pre_hook as register_module_forward_pre_hook
from ..hooks import register_module_full_backward_hook as register_module_full_backward_hook
from ..hooks import register_module_full_backward_pre_hook as register_module_full_backward_pre_hook
from ..hooks import register_module_module_registration_hook as register_module_module_registration_hook
from ..hooks import register_module_parameter_registration_hook as register_module_parameter_registration_hook
from ..module import Module as Module
from ..state import _IncompatibleKeys as _IncompatibleKeys


def _addindent(s_: str, numSpaces: int) -> str:
    """Text whose lines after the first begin with so many spaces, for a `__repr__` of one's own.

    >>> norch.nn.modules.module._addindent("a\\nb", 2)
    'a\\n  b'
    """
    return s_.replace("\n", "\n" + " " * numSpaces)
