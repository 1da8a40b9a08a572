"""train.py: a network of two layers learns sin(x)^2, one point at a time."""

import math
import random

import nn
import optim
from tensor import Tensor


class MyModel(nn.Module):
    def __init__(self):
        self.fc1 = nn.Linear(1, 10)
        self.sigmoid = nn.Sigmoid()
        self.fc2 = nn.Linear(10, 1)

    def forward(self, x):
        out = self.fc1(x)
        out = self.sigmoid(out)
        out = self.fc2(out)
        return out


def main():
    random.seed(1)
    epochs = 10
    model = MyModel()
    criterion = nn.MSELoss()
    optimizer = optim.SGD(model.parameters(), lr=0.001)
    x_values = [0.4 * i for i in range(51)]
    y_true = [math.pow(math.sin(x), 2) for x in x_values]

    for epoch in range(epochs):
        for x, target in zip(x_values, y_true):
            x, target = Tensor([[x]]).T, Tensor([[target]]).T
            #: gap 10 train
            #: ? five lines: the model's outputs for x; the loss, which the criterion finds from the outputs and the
            #: ? target; the optimizer forgets the old gradients; backward from the loss; a step of the optimizer
            outputs = model(x)
            loss = criterion(outputs, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            #: end
        print(f"Epoch [{epoch + 1}/{epochs}], Loss: {loss[0]:.4f}")


if __name__ == "__main__":
    main()
