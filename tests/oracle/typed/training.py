"""What users write: a regression, a classifier with batches, a custom operation. No checker may complain."""

from __future__ import annotations

import math

import norch
import norch.nn as nn
import norch.nn.functional as F
from norch import optim
from norch.utils.data import DataLoader, Dataset, TensorDataset


class Regression(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(1, 10)
        self.sigmoid = nn.Sigmoid()
        self.fc2 = nn.Linear(10, 1)

    def forward(self, x: norch.Tensor) -> norch.Tensor:
        return self.fc2(self.sigmoid(self.fc1(x)))


def fit(epochs: int) -> float:
    model, criterion = Regression(), nn.MSELoss()
    optimizer = optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss = norch.zeros(1)
    for _ in range(epochs):
        for value in (0.1, 0.2, 0.3):
            output = model(norch.Tensor([[value]]))
            loss = criterion(output, norch.Tensor([[math.sin(value) ** 2]]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"loss: {loss[0]:.4f}")
    return loss.item()


class Squares(Dataset):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> tuple[norch.Tensor, norch.Tensor]:
        x = norch.rand(4)
        return x, x.square().sum()


def classify(epochs: int) -> float:
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))
    optimizer = optim.Adam(model.parameters(), lr=1e-2, weight_decay=0.01)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.9)
    batches = DataLoader(TensorDataset(norch.randn(32, 4), norch.randint(0, 3, (32,))), batch_size=8, shuffle=True)
    correct, total = 0, 0.0
    model.train()
    for _ in range(epochs):
        for inputs, targets in batches:
            logits = model(inputs)
            loss = F.cross_entropy(logits, targets)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
            correct += (logits.argmax(1) == targets).sum().item()
        scheduler.step()
    model.eval()
    with norch.no_grad():
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter -= 0.1 * parameter.grad
        model[0].weight.clamp_(-1, 1)
        probabilities = F.softmax(model(norch.randn(2, 4)), dim=1)
    values, indices = probabilities.topk(2, dim=1)
    print(correct / len(batches), total, values.tolist(), int(indices[0, 0]))
    return total / epochs


class Square(norch.autograd.Function):
    @staticmethod
    def forward(ctx: norch.autograd.Function, x: norch.Tensor) -> norch.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: norch.autograd.Function, gradient: norch.Tensor) -> norch.Tensor:
        (x,) = ctx.saved_tensors
        return 2 * x * gradient


@norch.no_grad()
def tensors(x: norch.Tensor) -> norch.Tensor:
    rows = x[0], x[..., -1], x[1:, ::2], x[None, :, 0], x[x > 0], x[norch.tensor([0, 1])], x[[0, 1], [1, 0]]
    x[0, 1] = 5
    x[x < 0] = 0.0
    x[1] = norch.zeros(3)
    x.add_(1).mul_(2.0).clamp_(0, 10)
    x += 1
    x /= 2.0
    y = norch.cat([x, -x.abs()], dim=0).reshape(-1, 3).permute(1, 0).contiguous()
    best = y.max(1).values + y.max(axis=1) + y.amax((0, 1))
    flags = (y > 1) & (y <= 3) | ~(y == 2)
    shape: tuple[int, ...] = y.shape
    parts = [part.sum(dim=0, keepdim=True) for part in y.split([1, 2])]
    for row in y:
        print(float(row.sum()), row.mean().item() + 0.5, row.numel, y.size(0) * 2)
    print(
        rows, best, flags, shape, parts, 1 - y, 2**y, y @ y.T, norch.exp(y) / 3, 7 // y.int(), norch.where(flags, y, 0)
    )
    return norch.stack(parts[:1] * 2).to(norch.float64).float().to("cpu").detach()


def main() -> None:
    print(fit(1), classify(1), tensors(norch.randn(2, 3)))
    x = norch.tensor([3.0], requires_grad=True)
    Square.apply(x).backward()
    if x.grad is not None:
        print(x.grad.tolist())
    for name, parameter in Regression().named_parameters():
        print(name, parameter.shape, parameter.requires_grad, parameter.data.std())
    norch.manual_seed(0)
    print([x.sum() for x, _ in DataLoader(Squares(), batch_size=4)])


if __name__ == "__main__":
    main()
