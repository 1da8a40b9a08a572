"""The article's training run: with norch's own layers, and with the article's listings typed as user code."""

import math
import random

import pytest

import norch
from norch import nn, optim

LOSSES = ["1.7035", "0.7193", "0.3068", "0.1742", "0.1342", "0.1232", "0.1220", "0.1241", "0.1270", "0.1297"]
X_VALUES = [
    0. ,  0.4,  0.8,  1.2,  1.6,  2. ,  2.4,  2.8,  3.2,  3.6,  4. ,
    4.4,  4.8,  5.2,  5.6,  6. ,  6.4,  6.8,  7.2,  7.6,  8. ,  8.4,
    8.8,  9.2,  9.6, 10. , 10.4, 10.8, 11.2, 11.6, 12. , 12.4, 12.8,
    13.2, 13.6, 14. , 14.4, 14.8, 15.2, 15.6, 16. , 16.4, 16.8, 17.2,
    17.6, 18. , 18.4, 18.8, 19.2, 19.6, 20.,
]  # fmt: skip


class Linear(nn.Module):
    """The article's layer: weight times a column, plus a column."""

    def __init__(self, input_dim, output_dim):
        super().__init__()
        self.input_dim = input_dim
        self.output_dim = output_dim
        self.weight = nn.Parameter(shape=[self.output_dim, self.input_dim])
        self.bias = nn.Parameter(shape=[self.output_dim, 1])

    def forward(self, x):
        z = self.weight @ x + self.bias
        return z

    def inner_repr(self):
        return (
            f"input_dim={self.input_dim}, output_dim={self.output_dim}, bias={True if self.bias is not None else False}"
        )


class Sigmoid(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return 1.0 / (1.0 + (math.e) ** (-x))


class MSELoss(nn.Module):
    def __init__(self):
        pass

    def forward(self, predictions, labels):
        assert labels.shape == predictions.shape, (
            f"Labels and predictions shape does not match: {labels.shape} and {predictions.shape}"
        )

        return ((predictions - labels) ** 2).sum() / predictions.numel

    def __call__(self, *inputs):
        return self.forward(*inputs)


class SGD:
    """The article's rule by hand, in place."""

    def __init__(self, parameters, lr=1e-1, momentum=0):
        self.parameters = list(parameters)
        self.lr = lr
        self.momentum = momentum
        self._cache = {"velocity": [p.zeros_like() for p in self.parameters]}

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.zero_grad()

    def step(self):
        with norch.no_grad():
            for i, parameter in enumerate(self.parameters):
                velocity = self._cache["velocity"][i]
                velocity = self.momentum * velocity - self.lr * parameter.grad
                parameter += velocity
                self._cache["velocity"][i] = velocity


def train(Linear, Sigmoid, MSELoss, SGD):
    """The article's main script; returns the losses it prints."""
    random.seed(1)

    class MyModel(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = Linear(1, 10)
            self.sigmoid = Sigmoid()
            self.fc2 = Linear(10, 1)

        def forward(self, x):
            out = self.fc1(x)
            out = self.sigmoid(out)
            out = self.fc2(out)

            return out

    device = "cpu"
    epochs = 10

    model = MyModel().to(device)
    criterion = MSELoss()
    optimizer = SGD(model.parameters(), lr=0.001)
    loss_list = []

    y_true = []
    for x in X_VALUES:
        y_true.append(math.pow(math.sin(x), 2))

    for _ in range(epochs):
        for x, target in zip(X_VALUES, y_true):
            x = norch.Tensor([[x]]).T
            target = norch.Tensor([[target]]).T

            x = x.to(device)
            target = target.to(device)

            outputs = model(x)
            loss = criterion(outputs, target)

            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        loss_list.append(f"{loss[0]:.4f}")
    return loss_list


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param((nn.Linear, nn.Sigmoid, nn.MSELoss, optim.SGD), id="norch"),
        pytest.param((Linear, Sigmoid, MSELoss, SGD), id="typed"),
        pytest.param((Linear, nn.Sigmoid, MSELoss, optim.SGD), id="mixed"),
    ],
)
def test_the_ten_losses(parts):
    assert train(*parts) == LOSSES


def test_the_typed_model_prints_as_in_the_article():
    assert repr(Linear(1, 10)) == "Linear(\n   (parameters): input_dim=1, output_dim=10, bias=True\n)"
    assert nn.Sequential(Linear(1, 10)).state_dict()["0.bias"].shape == [10, 1]
