"""Layers, losses and what they are made of."""

from . import functional, init
from .activation import ELU, GELU, Hardtanh, LeakyReLU, LogSoftmax, ReLU, Sigmoid, SiLU, Softmax, Softplus, Tanh
from .loss import CrossEntropyLoss, MSELoss
from .module import Module
from .modules import (
    GRU,
    LSTM,
    RNN,
    Flatten,
    GRUCell,
    Identity,
    Linear,
    LSTMCell,
    ModuleDict,
    ModuleList,
    MultiheadAttention,
    ParameterDict,
    ParameterList,
    RNNCell,
    Sequential,
)
from .parameter import Parameter

__all__ = [
    "CrossEntropyLoss",
    "ELU",
    "Flatten",
    "GELU",
    "GRU",
    "GRUCell",
    "Hardtanh",
    "Identity",
    "LSTM",
    "LSTMCell",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiheadAttention",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "RNN",
    "RNNCell",
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
