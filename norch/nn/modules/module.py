"""The Module, under the path that PyTorch gives them."""

from ..module import Module as Module
