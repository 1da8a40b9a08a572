"""First steps: regression, classifiers, own operations, as in introductory tutorials."""

import math
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.autograd import Variable
from torch.utils.data import DataLoader, Dataset, TensorDataset

rng = np.random.RandomState(0)


def numpy_like_network(start):
    N, D_in, H, D_out = 16, 20, 10, 3
    dtype = torch.float
    device = torch.device("cpu")
    x = torch.from_numpy(np.random.RandomState(1).randn(N, D_in)).type(dtype)
    y = torch.from_numpy(np.random.RandomState(2).randn(N, D_out)).type(torch.FloatTensor)
    w1 = start(torch.randn(D_in, H, device=device, dtype=dtype))
    w2 = start(torch.randn(H, D_out, device=device, dtype=dtype))
    losses = []
    for t in range(20):
        h = x.mm(w1)
        h_relu = h.clamp(min=0)
        y_pred = h_relu.mm(w2)
        loss = (y_pred - y).pow(2).sum().item()
        losses.append(loss)
        grad_y_pred = 2.0 * (y_pred - y)
        grad_w2 = h_relu.t().mm(grad_y_pred)
        grad_h = grad_y_pred.mm(w2.t()).clone()
        grad_h[h < 0] = 0
        grad_w1 = x.t().mm(grad_h)
        w1 -= 1e-4 * grad_w1
        w2 -= 1e-4 * grad_w2
    return losses


def sine_by_autograd(start):
    x = torch.linspace(-math.pi, math.pi, 200)
    y = torch.sin(x)
    a, b, c, d = (start(torch.randn((), requires_grad=True)) for _ in range(4))
    losses = []
    for t in range(30):
        y_pred = a + b * x + c * x**2 + d * x**3
        loss = (y_pred - y).pow(2).sum()
        losses.append(float(loss))
        loss.backward()
        with torch.no_grad():
            for p in (a, b, c, d):
                p -= 1e-6 * p.grad
                p.grad = None
    assert f"y = {a.item():.3f} + {b.item():.3f} x"
    return losses


def sine_by_own_function(start):
    class LegendrePolynomial3(torch.autograd.Function):
        @staticmethod
        def forward(ctx, input):
            ctx.save_for_backward(input)
            return 0.5 * (5 * input**3 - 3 * input)

        @staticmethod
        def backward(ctx, grad_output):
            (input,) = ctx.saved_tensors
            return grad_output * 1.5 * (5 * input**2 - 1)

    device = torch.device("cpu")
    x = torch.linspace(-math.pi, math.pi, 200, device=device, dtype=torch.float)
    y = torch.sin(x)
    a = torch.full((), 0.0, device=device, requires_grad=True)
    b = torch.full((), -1.0, device=device, requires_grad=True)
    c = torch.full((), 0.0, device=device, requires_grad=True)
    d = torch.full((), 0.3, device=device, requires_grad=True)
    P3 = LegendrePolynomial3.apply
    losses = []
    for t in range(20):
        loss = (a + b * P3(c + d * x) - y).pow(2).sum()
        losses.append(loss.item())
        loss.backward()
        with torch.no_grad():
            for p in [a, b, c, d]:
                p -= 5e-6 * p.grad
                p.grad.zero_()
    return losses


def dynamic_polynomial(start):
    class DynamicNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Parameter(torch.randn(()))
            self.b = nn.Parameter(torch.randn(()))
            self.e = torch.nn.Parameter(torch.randn(()))

        def forward(self, x):
            y = self.a + self.b * x
            for exp in range(4, random.randint(4, 6)):
                y = y + self.e * x**exp
            return y

        def string(self):
            return f"y = {self.a.item()} + {self.b.item()} x"

    random.seed(3)
    x = torch.linspace(-1, 1, 100).unsqueeze(-1)
    y = torch.sin(x)
    model = start(DynamicNet())
    criterion = nn.MSELoss(reduction="sum")
    optimizer = optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    losses = []
    random.seed(3)
    for t in range(20):
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert model.string().startswith("y = ")
    return losses


def linear_regression_old(start):
    x_train = np.array([[3.3], [4.4], [5.5], [6.71], [6.93], [4.168], [9.779]], dtype=np.float32)
    y_train = np.array([[1.7], [2.76], [2.09], [3.19], [1.694], [1.573], [3.366]], dtype=np.float32)
    model = start(nn.Linear(1, 1))
    criterion = nn.MSELoss(size_average=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    losses = []
    for epoch in range(10):
        inputs = Variable(torch.from_numpy(x_train))
        targets = Variable(torch.from_numpy(y_train))
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.data.item())
        text = "Epoch [{}/{}], Loss: {:.4f}".format(epoch + 1, 10, loss.item())
        assert text.startswith("Epoch") and "%.4f" % loss == "{:.4f}".format(loss.item())
    predicted = model(torch.from_numpy(x_train)).detach().numpy()
    assert predicted.shape == (7, 1)
    torch.save(model.state_dict(), "model.ckpt")
    model.load_state_dict(torch.load("model.ckpt"))
    return losses


def logistic_regression(start):
    X = torch.Tensor(np.random.RandomState(0).randn(60, 28 * 28))
    Y = torch.LongTensor(np.random.RandomState(1).randint(0, 10, 60))
    train_loader = DataLoader(dataset=TensorDataset(X, Y), batch_size=20, shuffle=False)
    model = start(nn.Linear(28 * 28, 10))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for epoch in range(3):
        for i, (images, labels) in enumerate(train_loader):
            outputs = model(images.reshape(-1, 28 * 28))
            loss = criterion(outputs, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    with torch.no_grad():
        correct, total = 0, 0
        for images, labels in train_loader:
            _, predicted = torch.max(model(images).data, 1)
            total += labels.size(0)
            correct += (predicted == labels).sum()
    losses.append(float(100 * correct / total))
    return losses


def feedforward_dataset(start):
    class Points(Dataset):
        def __init__(self, n):
            r = np.random.RandomState(5)
            self.x, self.y = r.rand(n, 2).astype("float32"), r.randint(0, 2, n)

        def __len__(self):
            return len(self.x)

        def __getitem__(self, idx):
            if torch.is_tensor(idx):
                idx = idx.tolist()
            return {"point": torch.from_numpy(self.x[idx]), "label": int(self.y[idx])}

    class NeuralNet(nn.Module):
        def __init__(self, input_size, hidden_size, num_classes):
            super(NeuralNet, self).__init__()
            self.fc1 = nn.Linear(input_size, hidden_size)
            self.relu = nn.ReLU()
            self.fc2 = nn.Linear(hidden_size, num_classes)

        def forward(self, x):
            out = self.fc1(x)
            out = self.relu(out)
            out = self.fc2(out)
            return out

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = start(NeuralNet(2, 16, 2)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    loader = DataLoader(Points(32), batch_size=8, num_workers=0, pin_memory=device.type == "cuda", drop_last=True)
    losses = []
    for epoch in range(4):
        running_loss = 0.0
        for batch in loader:
            inputs, labels = batch["point"].to(device, non_blocking=True), batch["label"].to(device)
            optimizer.zero_grad(set_to_none=True)
            loss = nn.CrossEntropyLoss()(model(inputs), labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item() * inputs.size(0)
        losses.append(running_loss / len(loader.dataset))
    return losses


def xor_network(start):
    X = torch.FloatTensor([[0, 0], [0, 1], [1, 0], [1, 1]])
    Y = torch.FloatTensor([0, 1, 1, 0]).view(-1, 1)
    model = nn.Sequential()
    model.add_module("hidden", nn.Linear(2, 8))
    model.add_module("act", nn.Tanh())
    model.add_module("out", nn.Linear(8, 1))
    model.add_module("sigmoid", nn.Sigmoid())
    start(model)
    optimizer = optim.Adam(model.parameters(), lr=0.1)
    loss_func = nn.BCELoss()
    loss_history = []
    for step in range(30):
        idx = step % X.size(0)
        y_hat = model(Variable(X[idx : idx + 1]))
        loss = loss_func.forward(y_hat, Y[idx].unsqueeze(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_history.append(loss.item())
    return loss_history + [np.mean(loss_history)]


def spiral_classifier(start):
    N, K = 30, 3
    X, y = np.zeros((N * K, 2)), np.zeros(N * K, dtype="uint8")
    for j in range(K):
        r, t = np.linspace(0.0, 1, N), np.linspace(j * 4, (j + 1) * 4, N)
        X[N * j : N * (j + 1)] = np.c_[r * np.sin(t), r * np.cos(t)]
        y[N * j : N * (j + 1)] = j
    X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y).long()
    model = start(nn.Sequential(nn.Linear(2, 20), nn.ReLU(inplace=True), nn.Linear(20, K)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0, weight_decay=1e-3, nesterov=True, momentum=0.9)
    losses = []
    for i in range(20):
        scores = model(X)
        loss = F.cross_entropy(scores, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        acc = (scores.argmax(dim=-1) == y).float().mean()
        losses += [loss.item(), acc.item()]
    return losses[:20]


def micrograd_moons(start):
    r = np.random.RandomState(1337)
    X = r.rand(40, 2)
    y = np.sign(X[:, 0] - X[:, 1])
    sizes = [2, 16, 16, 1]
    params = []
    for nin, nout in zip(sizes, sizes[1:]):
        w = start(torch.empty(nin, nout).uniform_(-1, 1).double()).requires_grad_()
        params += [w, torch.zeros(nout, dtype=torch.double, requires_grad=True)]
    losses = []
    for k in range(10):
        h = torch.tensor(X)
        for w, b in zip(params[::2], params[1::2]):
            h = h @ w + b
            if w.shape[1] != 1:
                h = h.relu()
        data_loss = (1 - torch.tensor(y).unsqueeze(1) * h).relu().mean()
        reg_loss = 1e-4 * sum((p * p).sum() for p in params)
        total = data_loss + reg_loss
        for p in params:
            p.grad = None
        total.backward()
        lr = 1.0 - 0.9 * k / 100
        for p in params:
            p.data += -lr * p.grad
        losses.append(total.item())
    return losses


def checkpoints_and_whole_models(start):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 1)

        def forward(self, x):
            return self.fc(x)

    globals()["Net"] = Net
    Net.__qualname__, Net.__module__ = "Net", __name__
    import sys
    import types

    module = sys.modules.setdefault(__name__, types.ModuleType(__name__))
    module.Net = Net
    model = start(Net())
    optimizer = optim.Adam(model.parameters())
    x = torch.tensor(np.random.RandomState(3).randn(10, 4), dtype=torch.float)
    losses = []

    def train(model, optimizer, steps):
        for _ in range(steps):
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())

    train(model, optimizer, 3)
    torch.save(model, "model.pth")
    torch.save(
        {"epoch": 3, "state_dict": model.state_dict(), "optimizer": optimizer.state_dict(), "best": losses[-1]}, "ck.pt"
    )
    model = torch.load("model.pth", weights_only=False, map_location=torch.device("cpu"))
    model.eval()
    checkpoint = torch.load("ck.pt", map_location=lambda storage, loc: storage)
    optimizer = optim.Adam(model.parameters())
    optimizer.load_state_dict(checkpoint["optimizer"])
    missing, unexpected = model.load_state_dict(checkpoint["state_dict"], strict=False)
    assert not missing and not unexpected
    for p in model.parameters():
        p.requires_grad = True
    train(model, optimizer, 3)
    return losses
