"""One family of layers a file."""

from .attention import MultiheadAttention
from .container import ModuleDict, ModuleList, Sequential
from .linear import Flatten, Identity, Linear
from .parameters import ParameterDict, ParameterList
from .recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell

__all__ = [
    "Flatten",
    "GRU",
    "GRUCell",
    "Identity",
    "LSTM",
    "LSTMCell",
    "Linear",
    "ModuleDict",
    "ModuleList",
    "MultiheadAttention",
    "ParameterDict",
    "ParameterList",
    "RNN",
    "RNNCell",
    "Sequential",
]
