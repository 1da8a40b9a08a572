"""One family of layers a file."""

from .attention import MultiheadAttention
from .container import ModuleDict, ModuleList, Sequential
from .conv import Conv1d, Conv2d, Fold, Unfold
from .dropout import Dropout, Dropout1d, Dropout2d
from .embedding import Embedding
from .linear import Flatten, Identity, Linear
from .normalization import BatchNorm1d, BatchNorm2d, GroupNorm, LayerNorm
from .parameters import ParameterDict, ParameterList
from .pooling import AdaptiveAvgPool1d, AdaptiveAvgPool2d, AvgPool1d, AvgPool2d, MaxPool1d, MaxPool2d
from .recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell
from .transformer import TransformerEncoder, TransformerEncoderLayer

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "BatchNorm1d",
    "BatchNorm2d",
    "Conv1d",
    "Conv2d",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Embedding",
    "Flatten",
    "Fold",
    "GRU",
    "GRUCell",
    "GroupNorm",
    "Identity",
    "LSTM",
    "LSTMCell",
    "LayerNorm",
    "Linear",
    "MaxPool1d",
    "MaxPool2d",
    "ModuleDict",
    "ModuleList",
    "MultiheadAttention",
    "ParameterDict",
    "ParameterList",
    "RNN",
    "RNNCell",
    "Sequential",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "Unfold",
]
