"""Mistakes that a checker must report, each of its lines and no other."""

from __future__ import annotations

import norch
import norch.nn as nn
import norch.nn.functional as F
from norch import optim

x = norch.ones(2, 3)
model = nn.Linear(3, 4)

x.sumn()  # mistake
x.exp(3)  # mistake
x + "a"  # mistake
(x + 1).relo()  # mistake
x.reshape("a")  # mistake
x.sum("a")  # mistake
x.softmax()  # mistake
x.backward(retain_graph="no")  # mistake
x["a"]  # mistake
x.to([3])  # mistake
x.shape.nummel()  # mistake
norch.exp(3)  # mistake
norch.expp(x)  # mistake
norch.zeros("a")  # mistake
norch.ones(2, dtype="float32")  # mistake
norch.cat(x, x)  # mistake
norch.maximum(x)  # mistake
nn.Linear("a", 3)  # mistake
nn.Linear(3, 4, 5, 6)  # mistake
nn.Lineer(3, 4)  # mistake
nn.Dropout("a")  # mistake
model(x, 3)  # mistake
print(model.wieght)  # mistake
model("a")  # mistake
model(x).sumn()  # mistake
nn.Sequential(nn.ReLU(), 3)  # mistake
nn.LSTM(2, 3)(x, x)  # mistake
F.relu("a")  # mistake
F.cross_entropy(x)  # mistake
optim.SGD(model, lr="a")  # mistake
optim.Adam(model.parameters(), learning_rate=1)  # mistake
