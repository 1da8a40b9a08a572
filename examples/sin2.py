"""The article's example: a network of two layers learns sin(x)^2 on [0, 20], one point at a time.

    python examples/sin2.py                                                  # the article's ten epochs
    python examples/sin2.py --spread --hidden 32 --lr 0.01 --epochs 300      # a fit to look at

Ten epochs end near a constant. The article draws weights and biases from [-1, 1], so that nearly
every sigmoid bends close to x = 0; `--spread` places the bends along the whole axis, and the curve is learnt.
"""

import argparse
import math
import random
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of norch, if it is not installed

import norch  # noqa: E402
import norch.nn as nn  # noqa: E402
import norch.optim as optim  # noqa: E402

X_VALUES = [0.4 * i for i in range(51)]
Y_VALUES = [math.pow(math.sin(x), 2) for x in X_VALUES]


class MyModel(nn.Module):
    def __init__(self, hidden=10):
        super().__init__()
        self.fc1 = nn.Linear(1, hidden)
        self.sigmoid = nn.Sigmoid()
        self.fc2 = nn.Linear(hidden, 1)

    def forward(self, x):
        out = self.fc1(x)
        out = self.sigmoid(out)
        out = self.fc2(out)
        return out

    def spread(self, steepness=4.0):
        """Gives sigmoid i a steep bend at centers[i]: sigmoid(steepness * (x - centers[i]))."""
        hidden = self.fc1.output_dim
        centers = norch.linspace(X_VALUES[0], X_VALUES[-1], hidden)
        with norch.no_grad():
            self.fc1.weight.fill_(steepness)
            self.fc1.bias.copy_(-steepness * centers)


def train(model, optimizer, epochs, device="cpu", compiled=False):
    """One step of SGD a point. Returns the loss at the last point of each epoch, as the article prints it."""
    criterion = nn.MSELoss()

    def step(x, target):
        outputs = model(x)
        loss = criterion(outputs, target)

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    if compiled:
        step = norch.compile(step)
    losses = []
    for epoch in range(epochs):
        for x, target in zip(X_VALUES, Y_VALUES):
            x = norch.Tensor([[x]]).T.to(device)
            target = norch.Tensor([[target]]).T.to(device)
            loss = step(x, target)

        losses.append(loss[0])
        if (epoch + 1) % max(1, epochs // 10) == 0:
            print(f"Epoch [{epoch + 1}/{epochs}], Loss: {loss[0]:.4f}")
    return losses


def predict(model, device="cpu"):
    """The curve that the model learnt, at all points at once: a batch of rows."""
    with norch.no_grad():
        points = norch.Tensor(X_VALUES).reshape(-1, 1).to(device)
        return model(points).to("cpu").flatten().tolist()


def save_picture(path, predictions, losses):
    """Draws the fit beside the losses, where matplotlib is installed."""
    try:
        import matplotlib
    except ImportError:
        print("No picture: matplotlib is not installed (pip install matplotlib).")
        return
    matplotlib.use("Agg")  # draws into the file, without a screen
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4))
    left.plot(X_VALUES, Y_VALUES, "o", markersize=4, label="sin(x)^2")
    left.plot(X_VALUES, predictions, label="the model")
    left.set(title="Fit", xlabel="x")
    left.legend()
    right.plot(range(1, len(losses) + 1), [float(loss) for loss in losses])
    right.set(title="Loss at the last point", xlabel="epoch", yscale="log")
    figure.tight_layout()
    figure.savefig(path)
    print(f"Picture: {path}")


def main():
    parser = argparse.ArgumentParser(description="Train a small network on sin(x)^2, as the article does.")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:1")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate (default: 0.001)")
    parser.add_argument("--momentum", type=float, default=0.0)
    parser.add_argument("--hidden", type=int, default=10, help="sigmoids in the hidden layer (default: 10)")
    parser.add_argument("--spread", action="store_true", help="place the sigmoids along the x axis before training")
    parser.add_argument("--compile", action="store_true", help="record a step once and replay it from C")
    parser.add_argument("--picture", default="sin2.png", metavar="PATH", help="where to draw (default: sin2.png)")
    parser.add_argument("--no-plot", action="store_true", help="draw nothing")
    arguments = parser.parse_args()
    if arguments.epochs < 1 or arguments.hidden < 1:
        parser.error("--epochs and --hidden must be at least 1")

    random.seed(1)
    if arguments.hidden > 10:  # a layer of so many inputs is drawn from norch's generator
        norch.manual_seed(1)
    model = MyModel(arguments.hidden).to(arguments.device)
    if arguments.spread:
        model.spread()
    optimizer = optim.SGD(model.parameters(), lr=arguments.lr, momentum=arguments.momentum)
    losses = train(model, optimizer, arguments.epochs, arguments.device, arguments.compile)

    predictions = predict(model, arguments.device)
    error = sum((p - y) ** 2 for p, y in zip(predictions, Y_VALUES)) / len(Y_VALUES)
    print(f"Mean loss over all {len(Y_VALUES)} points: {error:.4f}")
    if not arguments.no_plot:
        save_picture(arguments.picture, predictions, losses)


if __name__ == "__main__":
    main()
