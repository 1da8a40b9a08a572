"""The derivatives that norch.autograd defines, found by walking the package."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import norch
import norch.distributed.nn.functional
import norch.distributions
import norch.utils.checkpoint
from norch.autograd import Function
from norch.autograd.graph import Node


def derivative_classes() -> dict[str, type]:
    """The classes of nodes and of custom operations by name, without those from which others are derived."""
    for module in pkgutil.walk_packages(norch.autograd.__path__, "norch.autograd."):
        importlib.import_module(module.name)
    found, waiting = {}, [Node, Function]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if is_norchs(kind) and not any(map(is_norchs, kind.__subclasses__())):
            found[kind.__name__] = kind
    return found


def is_norchs(kind: type) -> bool:
    """Whether a module of norch defines a class, which others make as it runs."""
    return kind.__module__.startswith("norch.") and vars(sys.modules[kind.__module__]).get(kind.__name__) is kind
