# For checkers alone: classes that annotations name in files which load before these are defined.

from .autograd.node import Node as Node
from .methods.places import AtIndices as AtIndices
from .methods.places import Places as Places
from .sparse.coo import SparseTensor as SparseTensor
from .tensor import Tensor as Tensor
