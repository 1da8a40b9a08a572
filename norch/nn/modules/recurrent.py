"""Recurrent layers: RNN, LSTM and GRU over whole sequences, and their cells for a single step.

Sizes in comments: T steps, N sequences, I input_size, H hidden_size, L layers, D directions. A layer multiplies the
inputs of all steps by its weight at once; the loop over the steps, and the formulas, are in
autograd/derivatives/recurrent.py.
"""

from __future__ import annotations

import math
from typing import Any

from ..._C import ShapeError
from ...autograd.derivatives import recurrent
from ...functions.creation import empty, zeros
from ...functions.joining import cat, stack
from ...tensor import Tensor
from .. import functional as F
from .. import init
from ..functional.checks import check_probability
from ..functional.dropout import dropout
from ..module import Module
from ..parameter import Parameter

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNCell"]


def _check_size(name: str, size: Any) -> int:
    if not isinstance(size, int) or isinstance(size, bool):
        raise TypeError(f"{name} is {size!r}, expected an int")
    if size <= 0:
        raise ValueError(f"{name} is {size}, expected at least 1")
    return size


def _add_weights(module: Module, inputs: int, hidden: int, gates: int, bias: bool, suffix: str) -> None:
    """weight_ih, weight_hh, bias_ih, bias_hh, drawn from `random.uniform(-1 / sqrt(H), 1 / sqrt(H))`."""
    bound = 1 / math.sqrt(hidden)
    shapes = {
        "weight_ih": [gates * hidden, inputs],
        "weight_hh": [gates * hidden, hidden],
        "bias_ih": [gates * hidden],
        "bias_hh": [gates * hidden],
    }
    for name, shape in shapes.items():
        if bias or name.startswith("weight"):
            weight = Parameter(empty(shape))
            init.uniform_(weight, -bound, bound)
            module.register_parameter(name + suffix, weight)
        else:
            module.register_parameter(name + suffix, None)


# ---- Over sequences --------------------------------------------------------------------------------------------------


class RNNBase(Module):
    """What RNN, LSTM and GRU share: parameters named as in PyTorch, layers, directions, and the shapes of sequences."""

    kind = ""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        name = self.get_name()
        self.input_size = _check_size(f"{name}: input_size", input_size)
        self.hidden_size = _check_size(f"{name}: hidden_size", hidden_size)
        self.num_layers = _check_size(f"{name}: num_layers", num_layers)
        self.bias, self.batch_first, self.bidirectional = bias, batch_first, bidirectional
        self.dropout = check_probability(dropout)
        for layer in range(num_layers):
            inputs = input_size if layer == 0 else hidden_size * len(self._directions)
            for suffix in self._directions:
                _add_weights(self, inputs, hidden_size, recurrent.GATES[self.kind], bias, f"_l{layer}{suffix}")
        if device is not None or dtype is not None:
            self.to(device, dtype)

    @property
    def _directions(self) -> tuple[str, ...]:
        return ("", "_reverse") if self.bidirectional else ("",)

    def forward(self, input: Tensor, hx: Any = None):
        batched = self._check_input(input)
        x = input.transpose(0, 1) if batched and self.batch_first else input
        states = self._initial(x, hx)  # a state for each layer and direction
        last: list[Any] = []
        for layer in range(self.num_layers):
            directions = []
            for suffix in self._directions:
                outputs, state = self._run(x, states[len(last)], f"_l{layer}{suffix}", suffix == "_reverse")
                directions.append(outputs)
                last.append(state)
            x = directions[0] if len(directions) == 1 else cat(directions, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                x = dropout(x, self.dropout)
        return (x.transpose(0, 1) if batched and self.batch_first else x), self._final(last)

    def _run(self, x: Tensor, state: Any, suffix: str, reverse: bool) -> tuple[Tensor, Any]:
        """One layer in one direction over [T, ..., I]: the outputs [T, ..., H] in order of time, and the last state."""
        w_ih, w_hh, b_ih, b_hh = (getattr(self, name + suffix) for name in _WEIGHTS)
        if b_ih is not None and self.kind != "GRU":
            b_ih, b_hh = b_ih + b_hh, None  # one sum for all steps; GRU multiplies a part of its b_hh by r
        return recurrent.run(self.kind, F.linear(x, w_ih, b_ih), state, w_hh, b_hh, reverse)

    # ---- Shapes

    def _check_input(self, x: Any) -> bool:
        """Whether the input is a batch of sequences."""
        name = self.get_name()
        if not isinstance(x, Tensor):
            raise TypeError(f"{name} was given a {type(x).__name__}, expected a Tensor")
        expected = f"[N, T, {self.input_size}]" if self.batch_first else f"[T, N, {self.input_size}]"
        if x.ndim not in (2, 3) or x.shape[-1] != self.input_size:
            raise ShapeError(f"{name}: input has shape {list(x.shape)}, expected {expected} or [T, {self.input_size}]")
        if x.shape[1 if x.ndim == 3 and self.batch_first else 0] == 0:
            raise ShapeError(f"{name}: input has shape {list(x.shape)}, expected at least one step")
        return x.ndim == 3

    def _state_shape(self, x: Tensor) -> list[int]:
        return [self.num_layers * len(self._directions), *x.shape[1:-1], self.hidden_size]

    def _checked_state(self, label: str, state: Any, x: Tensor) -> Tensor:
        if not isinstance(state, Tensor):
            raise TypeError(f"{self.get_name()}: {label} is a {type(state).__name__}, expected a Tensor")
        if state.shape != self._state_shape(x):
            raise ShapeError(
                f"{self.get_name()}: {label} has shape {list(state.shape)}, expected {self._state_shape(x)}"
            )
        return state

    def _zeros(self, x: Tensor) -> Tensor:
        return zeros(self._state_shape(x), dtype=x.dtype, device=x.device)

    def _initial(self, x: Tensor, hx: Any) -> list[Any]:
        return list(zip(self._zeros(x) if hx is None else self._checked_state("h_0", hx, x)))

    def _final(self, last: list[Any]) -> Any:
        return stack([h for (h,) in last])

    def inner_repr(self) -> str:
        """The sizes, then every setting that is not the default."""
        settings = {
            "num_layers": (self.num_layers, 1),
            "bias": (self.bias, True),
            "batch_first": (self.batch_first, False),
            "dropout": (self.dropout, 0.0),
            "bidirectional": (self.bidirectional, False),
        }
        changed = [f"{name}={value}" for name, (value, default) in settings.items() if value != default]
        return ", ".join([str(self.input_size), str(self.hidden_size), *changed])


_WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class RNN(RNNBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it (Elman 1990). Returns output and h_n.

    Input is [T, N, I], with `batch_first` [N, T, I], or one sequence [T, I]. The output holds the last layer's h of
    every step, [T, N, D * H] (or as the input has it), for D directions; the states h_0 and h_n are [L * D, N, H]
    ([L * D, H] for one sequence) and start as zeros where they are not given. `dropout` acts on the output of every
    layer but the last, in training. All have the dtype of the weights. Raises ShapeError for other shapes.

    >>> output, hidden = nn.RNN(4, 8)(norch.zeros(5, 2, 4))
    >>> output.shape, hidden.shape
    (norch.Size([5, 2, 8]), norch.Size([1, 2, 8]))
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", *args, **kwargs
    ):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNN: nonlinearity is {nonlinearity!r}, expected 'tanh' or 'relu'")
        object.__setattr__(self, "kind", nonlinearity)
        super().__init__(input_size, hidden_size, num_layers, *args, **kwargs)

    @property
    def nonlinearity(self) -> str:
        """'tanh' or 'relu'."""
        return self.kind


class GRU(RNNBase):
    """Two gates and a candidate: r, z, n; h' = (1 - z) n + z h. Returns output and h_n.

    Shapes, dtypes and errors as for `RNN`.

    >>> output, hidden = nn.GRU(4, 8)(norch.zeros(5, 2, 4))
    >>> output.shape, hidden.shape
    (norch.Size([5, 2, 8]), norch.Size([1, 2, 8]))
    """

    kind = "GRU"


class LSTM(RNNBase):
    """Gates i, f, g, o and a cell c beside h. Returns output and (h_n, c_n), takes (h_0, c_0).

    Shapes, dtypes and errors as for `RNN`; c_0 and c_n are shaped as h_0 and h_n.

    >>> output, (hidden, cell) = nn.LSTM(4, 8)(norch.zeros(5, 2, 4))
    >>> output.shape, hidden.shape, cell.shape
    (norch.Size([5, 2, 8]), norch.Size([1, 2, 8]), norch.Size([1, 2, 8]))
    """

    kind = "LSTM"

    def _initial(self, x, hx):
        if hx is None:
            zeros = self._zeros(x)
            return list(zip(zeros, zeros))
        if not isinstance(hx, (tuple, list)) or len(hx) != 2:
            raise TypeError(f"LSTM: the initial state is a {type(hx).__name__}, expected (h_0, c_0)")
        return list(zip(*(self._checked_state(label, state, x) for label, state in zip(("h_0", "c_0"), hx))))

    def _final(self, last):
        return tuple(stack(states) for states in zip(*last))


# ---- Cells -----------------------------------------------------------------------------------------------------------


class RNNCellBase(Module):
    """One step for inputs [N, I] or [I] and a state [N, H] or [H], zeros if not given; returns the new state."""

    kind = ""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device=None, dtype=None):
        super().__init__()
        self.input_size = _check_size(f"{self.get_name()}: input_size", input_size)
        self.hidden_size = _check_size(f"{self.get_name()}: hidden_size", hidden_size)
        self.bias = bias
        _add_weights(self, input_size, hidden_size, recurrent.GATES[self.kind], bias, "")
        if device is not None or dtype is not None:
            self.to(device, dtype)

    def forward(self, input: Tensor, hx: Any = None):
        if not isinstance(input, Tensor):
            raise TypeError(f"{self.get_name()} was given a {type(input).__name__}, expected a Tensor")
        if input.ndim not in (1, 2) or input.shape[-1] != self.input_size:
            size = self.input_size
            raise ShapeError(
                f"{self.get_name()}: input has shape {list(input.shape)}, expected [N, {size}] or [{size}]"
            )
        state = self._state(input, hx)
        projected = F.linear(input, self.weight_ih, self.bias_ih)
        new, _ = recurrent.STEPS[self.kind].forward(projected, state, self.weight_hh, self.bias_hh)
        return new if len(new) > 1 else new[0]

    def _state(self, x: Tensor, hx: Any) -> tuple[Tensor, ...]:
        return (self._checked("h", hx, x),)

    def _checked(self, label: str, state: Any, x: Tensor) -> Tensor:
        expected = [*x.shape[:-1], self.hidden_size]
        if state is None:
            return zeros(expected, dtype=x.dtype, device=x.device)
        if not isinstance(state, Tensor):
            raise TypeError(f"{self.get_name()}: {label} is a {type(state).__name__}, expected a Tensor")
        if state.shape != expected:
            raise ShapeError(f"{self.get_name()}: {label} has shape {list(state.shape)}, expected {expected}")
        return state

    def inner_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(RNNCellBase):
    """A step of RNN: h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it.

    From inputs [N, I] or [I] and a state [N, H] or [H], zeros if not given; returns the new state. All have the dtype
    of the weights. Raises ShapeError for other shapes.

    >>> nn.RNNCell(4, 8)(norch.zeros(2, 4)).shape
    norch.Size([2, 8])
    """

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNNCell: nonlinearity is {nonlinearity!r}, expected 'tanh' or 'relu'")
        object.__setattr__(self, "kind", nonlinearity)
        super().__init__(input_size, hidden_size, bias, device, dtype)

    @property
    def nonlinearity(self) -> str:
        """'tanh' or 'relu'."""
        return self.kind


class GRUCell(RNNCellBase):
    """A step of GRU; shapes, dtypes and errors as for `RNNCell`.

    >>> nn.GRUCell(4, 8)(norch.zeros(2, 4)).shape
    norch.Size([2, 8])
    """

    kind = "GRU"


class LSTMCell(RNNCellBase):
    """A step of LSTM: takes and returns (h, c); shapes, dtypes and errors as for `RNNCell`.

    >>> hidden, cell = nn.LSTMCell(4, 8)(norch.zeros(2, 4))
    >>> hidden.shape, cell.shape
    (norch.Size([2, 8]), norch.Size([2, 8]))
    """

    kind = "LSTM"

    def _state(self, x, hx):
        if hx is None:
            hx = (None, None)
        if not isinstance(hx, (tuple, list)) or len(hx) != 2:
            raise TypeError(f"LSTMCell: the state is a {type(hx).__name__}, expected (h, c)")
        return tuple(self._checked(label, state, x) for label, state in zip("hc", hx))
