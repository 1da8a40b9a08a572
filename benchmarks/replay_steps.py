"""What replays.py times: each function makes, in a framework, `step`, and `state()`, by which results are compared."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Callable

from steps import MLP_RATE, POINTS, SIN2_RATE, mlp_batch, mlp_by_hand, names, parameters_of, sin2_by_hand, trainer

import norch

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
MILLION = 1_000_000


def learning(framework: Any, model: Any, criterion: Any, optimizer: Any) -> Callable[..., Any]:
    """A step of training, compiled."""

    def learn(x: Any, y: Any) -> Any:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return framework.compile(learn)


# ---- Small models ----------------------------------------------------------------------------------------------------


def sin2(framework: Any, ready: bool = False) -> dict[str, Any]:
    """A step of examples/sin2.py; the point comes as two numbers, or is a pair of tensors that are there already."""
    if framework.name == "numpy":
        return sin2_by_hand(framework, 10)
    if framework.name == "tinyjit":
        rows = {"row": "sin2", "parameters": parameters_of([1, 10, 1]), "samples": list(zip(*POINTS))}
        return framework.trained({**rows, "rate": SIN2_RATE})
    model, criterion, optimizer = trainer(framework, [1, 10, 1], "Sigmoid", "MSELoss", SIN2_RATE)
    learn = learning(framework, model, criterion, optimizer)
    Tensor, points = framework.Tensor, itertools.cycle(POINTS)
    tensors = itertools.cycle([(Tensor([[x]]), Tensor([[y]])) for x, y in POINTS])

    def step() -> Any:
        x, y = next(points)
        return learn(Tensor([[x]]), Tensor([[y]]))

    def step_of_tensors() -> Any:
        return learn(*next(tensors))

    return names(framework, step_of_tensors if ready else step, list(model.parameters()))


def mlp(framework: Any) -> dict[str, Any]:
    """784-128-10 with ReLU, cross-entropy and SGD, on 64 samples."""
    x, target = mlp_batch(64)
    if framework.name == "numpy":
        return mlp_by_hand(framework, framework.take(x), framework.take(target))
    if framework.name == "tinyjit":
        row = {"row": "MLP", "parameters": parameters_of([784, 128, 10]), "samples": [x.tolist(), target.tolist()]}
        return framework.trained({**row, "rate": MLP_RATE})
    model, criterion, optimizer = trainer(framework, [784, 128, 10], "ReLU", "CrossEntropyLoss", MLP_RATE)
    learn = learning(framework, model, criterion, optimizer)
    inputs, classes = framework.take(x), framework.classes(target, 10)
    return names(framework, lambda: learn(inputs, classes), list(model.parameters()))


# ---- Real models -----------------------------------------------------------------------------------------------------


def losses(framework: Any, step: Callable[[], Any]) -> dict[str, Any]:
    """`step`, and the losses of its first ones."""
    return {"step": step, "state": lambda: [framework.copy(step()) for _ in range(6)]}


def loaded(framework: Any, model: Any) -> Any:
    """A model of any framework with parameters that depend on their shapes only."""
    norch.manual_seed(1)
    shapes = [tuple(p.shape) for p in model.parameters()]
    framework.load(model, [norch.randn(*shape) / shape[-1] ** 0.5 for shape in shapes])
    return model


def lstm(framework: Any) -> dict[str, Any]:
    """An LSTM on [32, 20, 64] with 128 hidden numbers: forward, backward, Adam."""
    model = loaded(framework, framework.nn.LSTM(64, 128, batch_first=True))
    optimizer = framework.optim.Adam(model.parameters(), lr=1e-3)
    learn = learning(framework, lambda x: model(x)[0], framework.nn.MSELoss(), optimizer)
    x, y = framework.take(norch.rand(32, 20, 64)), framework.take(norch.rand(32, 20, 128))
    return losses(framework, lambda: learn(x, y))


def example(name: str, framework: Any) -> ModuleType:
    """A script of examples/, written for this framework."""
    sys.path.append(str(EXAMPLES))
    package = framework.nn.__name__.partition(".")[0]
    module = ModuleType(f"{name}_in_{package}")
    module.__file__ = str(EXAMPLES / f"{name}.py")
    sys.modules[module.__name__] = module
    text = re.sub(r"\bnorch\b", package, Path(module.__file__).read_text())
    exec(compile(text, module.__file__, "exec"), module.__dict__)
    return module


def char_transformer(framework: Any) -> dict[str, Any]:
    """The step of examples/char_transformer.py: 32 windows of 64 letters."""
    script = example("char_transformer", framework)
    model = loaded(framework, script.Transformer(100))
    step = framework.compile(script.training_step(model, framework.optim.AdamW(model.parameters(), lr=1e-3)))
    letters = [framework.take(norch.randint(0, 100, (32, 64))) for _ in range(2)]
    return losses(framework, lambda: step(*letters))


def digits_cnn(framework: Any) -> dict[str, Any]:
    """The step of examples/digits_cnn.py: 32 images of 8x8. Results are compared without dropout."""
    script = example("digits_cnn", framework)
    model = loaded(framework, script.Network())
    step = framework.compile(script.training_step(model, framework.optim.AdamW(model.parameters(), lr=1e-3)))
    images, labels = framework.take(norch.rand(32, 64)), framework.take(norch.randint(0, 10, (32,)))
    made = losses(framework, lambda: step(images, labels))
    dropped = [module for module in model.modules() if "Dropout" in type(module).__name__]
    shares = [module.p for module in dropped]

    def state() -> list:
        for module in dropped:
            module.p = 0.0
        found = made["state"]()
        for module, share in zip(dropped, shares):
            module.p = share
        return found

    return {"step": made["step"], "state": state}


# ---- Chains of operations --------------------------------------------------------------------------------------------


def called(framework: Any, function: Callable[..., Any], *inputs: Any) -> dict[str, Any]:
    """`step` calls a compiled function with tensors; `state()` is what it gives after some calls."""
    function = framework.compile(function)
    inputs = tuple(framework.take(x) for x in inputs)

    def state() -> list:
        found = [function(*inputs) for _ in range(5)][-1]
        return list(found) if isinstance(found, tuple) else [found]

    return {"step": lambda: function(*inputs), "state": state}


def small(framework: Any) -> dict[str, Any]:
    """20 operations on 8x8."""
    tanh = framework.tanh

    def function(x: Any, y: Any) -> Any:
        for _ in range(5):
            x = tanh(x * y + x) - y
        return x

    norch.manual_seed(4)
    return called(framework, function, norch.rand(8, 8), norch.rand(8, 8))


def gelu(framework: Any) -> dict[str, Any]:
    """Nine operations on 10M floats."""
    tanh = framework.tanh

    def function(x: Any) -> Any:
        return 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * (x * x * x))))

    norch.manual_seed(4)
    return called(framework, function, norch.randn(10 * MILLION))


def adam(framework: Any) -> dict[str, Any]:
    """Eleven operations on 10M floats; the square of 1 - beta1 is in `second`, too, and so in the rate."""
    sqrt = framework.sqrt

    def function(x: Any, gradient: Any, first: Any, second: Any) -> Any:
        part = 0.1 * gradient
        first = 0.9 * first + part
        second = 0.999 * second + part * part
        return x - 0.001 * (first / (sqrt(second) + 1e-8)), first, second

    norch.manual_seed(4)
    return called(framework, function, *[norch.rand(10 * MILLION) + 0.5 for _ in range(4)])


def empty(framework: Any) -> dict[str, Any]:
    """Nothing, with two inputs."""
    norch.manual_seed(4)
    return called(framework, lambda x, y: x, norch.rand(1, 1), norch.rand(1, 1))
