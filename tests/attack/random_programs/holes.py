"""What the holes of a statement are filled with: {x} by the method `x`, {dim} by `dim`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from .generator import Program

FEW = 40  # rows of what is mapped over


class Nothing(Exception):
    """No live tensor fits a hole."""


class Holes:
    """The holes of one statement. Most depend on those before: {dim} is a dimension of {x}."""

    def __init__(self, program: Program) -> None:
        self.program, self.rng = program, program.rng
        self.filled: dict[str, str] = {}
        self.last = torch.empty(())  # the tensor that {x} was filled with, in torch
        self.axis = 0  # and {dim}

    def fill(self, name: str) -> str:
        if name not in self.filled:
            self.filled[name] = getattr(self, name.rstrip("0123456789"))()
        return self.filled[name]

    def operand(self, name: str) -> str:
        """Let the holes that follow depend on this tensor."""
        self.last = self.program.pair.theirs[name]
        return name

    def new(self) -> str:
        return self.program.name()

    # ---- Tensors

    def x(self) -> str:
        if self.rng.random() < 0.85:
            return self.f()
        return self.operand(self.program.one(lambda x: True))

    def f(self) -> str:
        return self.operand(self.program.one_or_leaf(lambda x: x.is_floating_point(), (2, 3)))

    def y(self) -> str:
        return self.program.one(lambda x: True)

    def g(self) -> str:
        return self.operand(self.program.one(lambda x: x.requires_grad))

    def owner(self) -> str:
        """A tensor that is no view: hooks on a view whose base was written to make torch read freed memory."""
        return self.operand(self.program.one(lambda x: x.requires_grad and not x._is_view()))

    def leaf(self) -> str:
        return self.operand(self.program.one(lambda x: x.requires_grad and x.is_leaf))

    def constant(self) -> str:
        return self.operand(self.program.one(lambda x: not x.requires_grad and x.is_floating_point()))

    def plain(self) -> str:
        """A tensor whose memory both libraries lay out alike: whether `reshape` copies depends on that."""
        otherwise = self.program.pair.otherwise
        names = [name for name in self.program.tensors if name not in otherwise]
        if not names:
            raise Nothing
        return self.operand(self.rng.choice(names))

    def i(self) -> str:
        return self.operand(self.program.one_or_leaf(lambda x: x.dtype is torch.int64, (2, 3), "int64"))

    def m(self) -> str:
        return self.operand(self.program.one_or_leaf(lambda x: x.dtype is torch.bool, (2, 3), "bool"))

    def same(self) -> str:
        shape, dtype, memory = self.last.shape, self.last.dtype, self.last.untyped_storage().data_ptr()

        def fits(x: torch.Tensor) -> bool:
            apart = "new" in self.filled or x.untyped_storage().data_ptr() != memory
            return apart and x.shape == shape and x.dtype is dtype

        return self.program.one_or_leaf(fits, shape, self._dtype())

    def like(self) -> str:
        """A number, or a tensor that broadcasts with {x}."""
        return self.number() if self.rng.random() < 0.3 else self.like_tensor()

    def like_tensor(self) -> str:
        shape, memory = self.last.shape, self.last.untyped_storage().data_ptr()
        if self.rng.random() < 0.03 and "new" in self.filled:
            return self.y()

        def broadcasts(x: torch.Tensor) -> bool:
            if "new" not in self.filled and x.untyped_storage().data_ptr() == memory:
                return False  # torch reads what it has already written
            own = x.shape
            return len(own) <= len(shape) and all(a in (1, b) for a, b in zip(reversed(own), reversed(shape)))

        return self.program.one_or_leaf(broadcasts, shape, self._dtype())

    def mask(self) -> str:
        shape = self.last.shape
        return self.program.one_or_leaf(lambda x: x.dtype is torch.bool and x.shape == shape, shape, "bool")

    def number_tensor(self) -> str:
        return self.program.one_or_leaf(lambda x: x.ndim == 0 and x.is_floating_point(), ())

    scalar = number_tensor

    def shaped(self, *shape: int) -> str:
        """A tensor of the program's dtype of a shape, in which 0 stands for any size but 0."""

        dtype = getattr(torch, self.program.wide)

        def fits(x: torch.Tensor) -> bool:
            same_rank = x.dtype is dtype and x.ndim == len(shape)
            return same_rank and all(a == b or (b == 0 and 0 < a <= FEW) for a, b in zip(x.shape, shape))

        return self.operand(self.program.one_or_leaf(fits, [size or 2 for size in shape]))

    def vector(self) -> str:
        return self.shaped(0)

    def matrix(self) -> str:
        return self.shaped(0, 0)

    def chained(self) -> str:
        return self.shaped(self.last.shape[-1], 0)

    def square(self) -> str:
        return self.shaped(3, 3)

    def batch(self) -> str:
        return self.shaped(2, 2, 4)

    def image(self) -> str:
        return self.shaped(1, 2, 4, 4)

    def kernel(self) -> str:
        return self.shaped(2, 2, 3)

    def kernel2d(self) -> str:
        return self.shaped(2, 2, 2, 2)

    def bias(self) -> str:
        return self.shaped(2)

    def vector_of_three(self) -> str:
        return self.shaped(3)

    def cube(self) -> str:
        return self.shaped(2, 3, 3)

    def list(self) -> str:
        if not self.program.lists:
            raise Nothing
        return self.rng.choice(self.program.lists)

    def _dtype(self) -> str:
        return str(self.last.dtype)[6:]

    # ---- Objects

    def object(self, kind: type) -> str:
        """A live object of a kind, more often one of the last."""
        names = [name for name, value in self.program.pair.theirs.items() if isinstance(value, kind) and name[0] == "v"]
        if not names:
            raise Nothing
        return self.rng.choice(names if self.rng.random() < 0.3 else names[-2:])

    def twin(self) -> str:
        """An object of the class of the last one."""
        return self.object(type(self.program.pair.theirs[list(self.filled.values())[-1]]))

    def optimizer(self) -> str:
        return self.object(torch.optim.Optimizer)

    def schedule(self) -> str:
        return self.object(torch.optim.lr_scheduler.LRScheduler)

    def module(self) -> str:
        return self.object(torch.nn.Module)

    def distribution(self) -> str:
        return self.object(torch.distributions.Distribution)

    # ---- Indices

    def dim(self) -> str:
        """A dimension of {x}, sometimes one that it does not have."""
        rank = self.last.ndim
        self.axis = self.rng.randrange(-rank, rank) if rank else self.rng.choice([0, -1])
        if self.rng.random() < 0.01:
            return str(rank + 1)
        return str(self.axis)

    def _size(self) -> int:
        return self.last.shape[self.axis] if self.last.ndim else 1

    def dims(self) -> str:
        rank = self.last.ndim
        return repr(self.rng.sample(range(rank), self.rng.randint(1, rank)) if rank else [])

    def order(self) -> str:
        rank = self.last.ndim
        return repr(self.rng.sample(range(rank), rank))

    def place(self) -> str:
        size = self._size()
        return str(self.rng.randrange(-size, size) if size else 0)

    def length(self) -> str:
        return str(self.rng.randint(1, max(1, self._size())))

    def offset(self) -> str:
        return self.rng.choice(["0", "1", "-1"])

    def indices(self) -> str:
        """A vector of places along {dim}, which may repeat."""
        size = max(1, self._size() if self.filled.get("dim") else (self.last.shape or (1,))[0])
        return f"lib.tensor({[self.rng.randrange(size) for _ in range(self.rng.choice([1, 2, 2, 3]))]})"

    def everywhere(self) -> str:
        """Places along {dim}, for each element."""
        size, shape = max(1, self._size()), self.last.shape
        if not shape:
            return "lib.tensor(0)"
        if self.rng.random() < 0.5:
            return f"lib.full({list(shape)}, {self.rng.randrange(size)})"
        count = self.last.numel()
        return f"lib.tensor({[self.rng.randrange(size) for _ in range(count)]}, dtype=lib.int64).reshape({list(shape)})"

    def index(self) -> str:
        """What stands in brackets after {x}."""
        rng, parts = self.rng, []
        for size in self.last.shape[: rng.randint(0, self.last.ndim)]:
            parts.append(self._part(size))
        if rng.random() < 0.15:
            parts.insert(rng.randint(0, len(parts)), "None")
        if rng.random() < 0.15:
            parts.insert(rng.randint(0, len(parts)), "...")
        if self.last.ndim and rng.random() < 0.05:
            return f"{self.x_name()} > 0"
        return ", ".join(parts) or "..."

    def x_name(self) -> str:
        return next(name for name in self.filled.values() if self.program.pair.theirs.get(name) is self.last)

    def _part(self, size: int) -> str:
        rng = self.rng
        choice = rng.random()
        if choice < 0.3 and size:
            return str(rng.randrange(-size, size))
        if choice < 0.75:
            start, stop = rng.choice(["", "0", "1", "-1"]), rng.choice(["", "", "1", "2", "-1"])
            return f"{start}:{stop}" + rng.choice(["", "", "", ":2"])
        places = [rng.randrange(-size, size) if size else 0 for _ in range(rng.choice([1, 2, 2, 3]))]
        if choice < 0.85:
            return repr(places)
        if choice < 0.93:
            return f"lib.tensor({places})"
        return f"lib.tensor({[rng.random() < 0.6 for _ in range(size)]}, dtype=lib.bool)"

    # ---- Shapes

    def fitting(self) -> str:
        """A shape with as many elements as {x}."""
        count = self.last.numel()
        if not count:
            return repr(list(self.last.shape))
        first = self.rng.choice([size for size in range(1, count + 1) if count % size == 0])
        shapes = [[count], [first, count // first], [first, -1], [-1, first], [1, first, count // first], [count, 1]]
        return repr(self.rng.choice(shapes))

    def larger(self) -> str:
        """A shape that {x} broadcasts to."""
        shape = [self.rng.choice([2, 3]) if size == 1 else size for size in self.last.shape]
        return repr(([self.rng.choice([1, 2])] if self.rng.random() < 0.4 else []) + shape)

    def counts(self) -> str:
        return repr([self.rng.choice([1, 1, 2]) for _ in range(max(1, self.last.ndim + self.rng.choice([0, 0, 1])))])

    def shape(self) -> str:
        return repr([self.rng.choice([1, 2, 3]) for _ in range(self.rng.randint(0, 3))])

    def strided(self) -> str:
        """A shape and strides inside the elements of {x}."""
        count = self.last.numel()
        if not self.last.is_contiguous() or not count:
            raise Nothing
        size = self.rng.randint(1, min(3, count))
        steps = max(1, (count - 1) // max(1, size - 1))
        return f"[{size}], [{self.rng.randint(1, steps) if size > 1 else 1}]"

    # ---- Numbers and words

    def number(self) -> str:
        return self.rng.choice(["2", "-1", "0.5", "3.7", "0", "1", "-0.3", "True"])

    def exponent(self) -> str:
        return self.rng.choice(["2", "3", "0.5", "-1", "1", "0"]) if self.rng.random() < 0.7 else self.like_tensor()

    def integer(self) -> str:
        return self.rng.choice("123")

    size = integer

    def fraction(self) -> str:
        return self.rng.choice(["0.5", "0.25", "0.9"])

    def bit(self) -> str:
        return self.rng.choice("01")

    def norm(self) -> str:
        return self.rng.choice(["1", "2", "3", "float('inf')", "0", "0.5"])

    def flag(self) -> str:
        return self.rng.choice(["True", "False"])

    def dtype(self) -> str:
        return self.rng.choice(["lib.float64", "lib.float64", "lib.float32", "lib.int64", "lib.int32", "lib.bool"])

    def reduction(self) -> str:
        return self.rng.choice(["'mean'", "'sum'", "'none'"])

    def reduce(self) -> str:
        return self.rng.choice(["'sum'", "'prod'", "'mean'", "'amax'", "'amin'"])

    def index_reduce(self) -> str:
        return self.rng.choice(["'prod'", "'mean'", "'amax'", "'amin'"])

    def bag(self) -> str:
        return self.rng.choice(["'sum'", "'mean'", "'max'"])

    def rate(self) -> str:
        return self.rng.choice(["0.1", "0.01", "1.0", "0.5", "0.001"])

    def factor(self) -> str:
        return self.rng.choice(["0.5", "0.9", "0.1", "1.0", "0.25"])

    def simple(self) -> str:
        """A new schedule of the optimizer `o`."""
        kinds = ["StepLR(o, 2)", "LinearLR(o, 0.5, 1.0, 3)", "ExponentialLR(o, 0.9)", "ConstantLR(o, 0.5, 2)"]
        more = ["CosineAnnealingLR(o, 2)", "PolynomialLR(o, 3)", "LambdaLR(o, lambda epoch: 0.5 ** epoch)"]
        others = [
            "MultiplicativeLR(o, lambda epoch: 0.7)",
            "CosineAnnealingWarmRestarts(o, 2)",
            "MultiStepLR(o, [1, 2])",
        ]
        return self.rng.choice([*kinds, *more, *others])

    def threshold(self) -> str:
        return self.rng.choice(["'rel'", "'abs'"])

    def plateau(self) -> str:
        return self.rng.choice(["'min'", "'max'"])

    def milestones(self) -> str:
        return self.rng.choice(["[1, 2]", "[2, 2]", "[3, 1]", "[]", "[2]"])

    def cycle(self) -> str:
        return self.rng.choice(["'triangular'", "'triangular2'", "'exp_range'"])

    def anneal(self) -> str:
        return self.rng.choice(["'cos'", "'linear'"])

    def cycle_length(self) -> str:
        return self.rng.choice(["4", "7", "10"])

    def parameter(self) -> str:
        return self.rng.choice(["weight", "weight", "weight", "bias", "weight_ih"])

    def dim_or_none(self) -> str:
        return self.rng.choice(["0", "1", "-1", "None", "2"])

    def amount(self) -> str:
        return self.rng.choice(["1", "2", "0.3", "0.5", "0", "1.0", "5", "20", "1.5"])

    def all_or_none(self) -> str:
        return self.rng.choice(["0", "1.0", "0.0"])

    def orthogonal_map(self) -> str:
        return self.rng.choice(["None", "'matrix_exp'", "'cayley'", "'householder'"])

    def activation(self) -> str:
        return self.rng.choice(["Tanh", "ReLU", "Softplus", "Identity", "Flatten"])

    def mask_of_square(self) -> str:
        return self.program.one_or_leaf(lambda x: x.dtype is torch.bool and x.shape == (3, 3), (3, 3), "bool")

    def nonlinearity(self) -> str:
        return self.rng.choice(["'relu'", "'leaky_relu'", "'tanh'", "'selu'", "'linear'", "'sigmoid'", "'conv1d'"])

    def fan(self) -> str:
        return self.rng.choice(["'fan_in'", "'fan_out'"])

    def large_layer(self) -> str:
        kinds = ["Linear(200, 300)", "Conv2d(20, 30, 5)", "LSTM(30, 100)", "Conv1d(40, 40, 9, groups=2)"]
        return self.rng.choice([*kinds, "GRUCell(100, 40)", "Bilinear(10, 20, 50)", "ConvTranspose1d(30, 20, 30)"])

    def transform(self) -> str:
        kinds = ["ExpTransform()", "TanhTransform()", "SigmoidTransform()", "SoftplusTransform()", "PowerTransform(2)"]
        more = ["SoftmaxTransform()", "StickBreakingTransform()", "AbsTransform()", "LowerCholeskyTransform()"]
        return self.rng.choice([*kinds, *more, "AffineTransform(0.5, -2.0)", "PowerTransform(-0.5)"])

    def constraint(self) -> str:
        kinds = ["positive", "real", "unit_interval", "simplex", "lower_cholesky", "positive_definite", "boolean"]
        more = ["interval(-1.0, 2.0)", "greater_than(0.5)", "less_than(1.0)", "nonnegative_integer", "one_hot"]
        return self.rng.choice([*kinds, *more, "real_vector", "half_open_interval(0.0, 1.0)", "square", "symmetric"])

    def norm_of_matrix(self) -> str:
        return self.rng.choice(["'fro'", "'nuc'", "1", "2", "-1", "float('inf')"])
