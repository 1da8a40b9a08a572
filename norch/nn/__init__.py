"""Layers, losses and what they are made of."""

from . import functional, init
from .activation import ELU, GELU, Hardtanh, LeakyReLU, LogSoftmax, ReLU, Sigmoid, SiLU, Softmax, Softplus, Tanh
from .loss import CrossEntropyLoss, MSELoss
from .module import Module
from .modules import Flatten, Identity, Linear, ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .parameter import Parameter

__all__ = [
    "CrossEntropyLoss",
    "ELU",
    "Flatten",
    "GELU",
    "Hardtanh",
    "Identity",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
    "functional",
    "init",
]
