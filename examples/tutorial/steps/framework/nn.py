"""nn.py: parameters, modules that find them, and the layers of the article."""

import math
import random

from tensor import Tensor


def generate_random_list(shape):
    """Nested lists of this shape, with numbers drawn from -1 to 1 in row order."""
    if not shape:
        return random.uniform(-1, 1)
    return [generate_random_list(shape[1:]) for _ in range(shape[0])]


class Parameter(Tensor):
    """A tensor that training changes: it starts at random and requires a gradient."""

    def __init__(self, shape):
        super().__init__(generate_random_list(shape), requires_grad=True)


class Module:
    """A part of a model: it computes in `forward`, and finds the parameters of the modules inside it."""

    def __call__(self, *inputs):
        return self.forward(*inputs)

    def parameters(self):
        #: gap 9 parameters
        #: ? go through vars(self).values(), which are all the attributes of the module, in the order they were set:
        #: ? yield each Parameter; of each Module inside, yield from its own parameters()
        for value in vars(self).values():
            if isinstance(value, Parameter):
                yield value
            elif isinstance(value, Module):
                yield from value.parameters()
        #: end

    def inner_repr(self):
        return ""

    def __repr__(self):
        inside = [(key, value) for key, value in vars(self).items() if isinstance(value, Module)]
        lines = [f"({key}): {type(module).__name__}({module.inner_repr()})" for key, module in inside]
        return "\n   ".join([f"{type(self).__name__}(", *(lines or [f"(parameters): {self.inner_repr()}"])]) + "\n)"


class Linear(Module):
    """weight @ x + bias, where each column of x is a sample."""

    def __init__(self, input_dim, output_dim):
        self.input_dim, self.output_dim = input_dim, output_dim
        #: gap 9 linear
        #: ? self.weight, a Parameter of shape [output_dim, input_dim], and then self.bias, of shape [output_dim, 1]
        self.weight = Parameter([output_dim, input_dim])
        self.bias = Parameter([output_dim, 1])
        #: end

    def forward(self, x):
        #: gap 9 forward
        #: ? the formula of the class, in tensor operations
        return self.weight @ x + self.bias
        #: end

    def inner_repr(self):
        return f"input_dim={self.input_dim}, output_dim={self.output_dim}, bias=True"


class Sigmoid(Module):
    def forward(self, x):
        #: gap 9 sigmoid
        #: ? 1 / (1 + e to the power of -x), with math.e
        return 1.0 / (1.0 + math.e ** (-x))
        #: end


class MSELoss(Module):
    def forward(self, predictions, labels):
        if predictions.shape != labels.shape:
            raise ValueError(f"MSELoss: predictions of shape {predictions.shape}, but labels of {labels.shape}")
        #: gap 9 loss
        #: ? the mean of the squares of the differences: their sum, divided by how many there are
        return ((predictions - labels) ** 2).sum() / predictions.numel
        #: end
