"""The Module, and the hooks of all modules, under the path that PyTorch gives them."""

from ..hooks import register_module_backward_hook as register_module_backward_hook
from ..hooks import register_module_forward_hook as register_module_forward_hook
from ..hooks import register_module_forward_pre_hook as register_module_forward_pre_hook
from ..hooks import register_module_full_backward_hook as register_module_full_backward_hook
from ..hooks import register_module_full_backward_pre_hook as register_module_full_backward_pre_hook
from ..module import Module as Module
