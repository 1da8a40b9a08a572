"""Recurrent layers: RNN, LSTM and GRU over whole sequences, and their cells for a single step.

Sizes in comments: T steps, N sequences, I input_size, H hidden_size, L layers, D directions. A layer multiplies the
inputs of all steps by its weight at once; the loop over the steps, and the formulas, are in
autograd/derivatives/recurrent.py.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Sequence, Union

from ..._C import ShapeError
from ...autograd.derivatives import recurrent
from ...functions.creation import empty, zeros
from ...functions.joining import cat, stack
from ...tensor import Tensor
from ...types import DType
from .. import functional as F
from .. import init
from ..functional.checks import check_probability, check_tensors
from ..functional.dropout import dropout
from ..module import Module
from ..parameter import Parameter, ParameterOrNone

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNCell"]

State = Union[Tensor, tuple[Tensor, Tensor], None]  # h, or (h, c) of an LSTM; None: zeros
_WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class _Recurrent(Module):
    """What layers and cells share: weights named as in PyTorch, and the checks of sizes and states."""

    kind = ""  # of the steps in derivatives/recurrent.py
    bias: bool
    hidden_size: int
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> ParameterOrNone: ...  # weight_ih_l0 and so on

    def _checked_size(self, name: str, size: int) -> int:
        if not isinstance(size, int) or isinstance(size, bool):
            raise TypeError(f"{self.get_name()}: {name} is {size!r}, expected an int")
        if size <= 0:
            raise ValueError(f"{self.get_name()}: {name} is {size}, expected at least 1")
        return size

    def _choose_kind(self, nonlinearity: str) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"{self.get_name()}: nonlinearity is {nonlinearity!r}, expected 'tanh' or 'relu'")
        self.kind = nonlinearity

    def _add_weights(self, inputs: int, suffix: str = "") -> None:
        """weight_ih, weight_hh, bias_ih, bias_hh, drawn from `random.uniform(-1 / sqrt(H), 1 / sqrt(H))`."""
        bound, rows = 1 / math.sqrt(self.hidden_size), recurrent.GATES[self.kind] * self.hidden_size
        for name, shape in zip(_WEIGHTS, ([rows, inputs], [rows, self.hidden_size], [rows], [rows])):
            weight = None
            if self.bias or name.startswith("weight"):
                weight = Parameter(empty(shape))
                init.uniform_(weight, -bound, bound)
            self.register_parameter(name + suffix, weight)

    def _weights(self, suffix: str = "") -> list[Tensor]:
        return [getattr(self, name + suffix) for name in _WEIGHTS]

    def _states(self, hx: State, names: Sequence[str], x: Tensor, shape: list[int]) -> tuple[Tensor, ...]:
        """The initial states of these names: those given, of this shape, or zeros."""
        if hx is None:
            return (zeros(shape, dtype=x.dtype, device=x.device),) * len(names)
        states = (hx,) if len(names) == 1 else hx
        if not isinstance(states, (tuple, list)) or len(states) != len(names):
            raise TypeError(
                f"{self.get_name()}: the initial state is a {type(hx).__name__}, expected ({', '.join(names)})"
            )
        checked = []
        for name, state in zip(names, states):
            if not isinstance(state, Tensor):
                raise TypeError(f"{self.get_name()}: {name} is a {type(state).__name__}, expected a Tensor")
            if state.shape != shape:
                raise ShapeError(f"{self.get_name()}: {name} has shape {list(state.shape)}, expected {shape}")
            checked.append(state)
        return tuple(checked)


# ---- Over sequences --------------------------------------------------------------------------------------------------


class RNNBase(_Recurrent):
    """What RNN, LSTM and GRU share: layers, directions, and the shapes of sequences."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.input_size = self._checked_size("input_size", input_size)
        self.hidden_size = self._checked_size("hidden_size", hidden_size)
        self.num_layers = self._checked_size("num_layers", num_layers)
        self.bias, self.batch_first, self.bidirectional = bias, batch_first, bidirectional
        self.dropout = check_probability(dropout)
        for layer in range(num_layers):
            inputs = input_size if layer == 0 else hidden_size * len(self._directions)
            for suffix in self._directions:
                self._add_weights(inputs, f"_l{layer}{suffix}")
        self.to(device, dtype)

    @property
    def _directions(self) -> tuple[str, ...]:
        return ("", "_reverse") if self.bidirectional else ("",)

    def _over_layers(self, input: Tensor, hx: State, names: Sequence[str]) -> tuple[Tensor, list[Tensor]]:
        """The output of the last layer, and the last states of all layers and directions, stacked: [L * D, N, H]."""
        transposed = self._is_batch(input) and self.batch_first
        x = input.transpose(0, 1) if transposed else input
        shape = [self.num_layers * len(self._directions), *x.shape[1:-1], self.hidden_size]
        states = list(zip(*self._states(hx, names, x, shape)))  # of each layer and direction
        last: list[Sequence[Tensor]] = []
        for layer in range(self.num_layers):
            directions = []
            for suffix in self._directions:
                outputs, state = self._run(x, states[len(last)], f"_l{layer}{suffix}", suffix == "_reverse")
                directions.append(outputs)
                last.append(state)
            x = directions[0] if len(directions) == 1 else cat(directions, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                x = dropout(x, self.dropout)
        return (x.transpose(0, 1) if transposed else x), [stack(list(states)) for states in zip(*last)]

    def _run(self, x: Tensor, state: Sequence[Tensor], suffix: str, reverse: bool) -> tuple[Tensor, Sequence[Tensor]]:
        """One layer in one direction over [T, ..., I]: the outputs [T, ..., H] in order of time, and the last state."""
        w_ih, w_hh, b_ih, b_hh = self._weights(suffix)
        if self.bias and self.kind != "GRU":  # one sum for all steps; GRU multiplies a part of its b_hh by r
            return recurrent.run(self.kind, F.linear(x, w_ih, b_ih + b_hh), state, w_hh, None, reverse)
        return recurrent.run(self.kind, F.linear(x, w_ih, b_ih), state, w_hh, b_hh, reverse)

    def _is_batch(self, x: Tensor) -> bool:
        """Whether the input is a batch of sequences, and not a single one."""
        name = self.get_name()
        check_tensors(name, x)
        expected = f"[N, T, {self.input_size}]" if self.batch_first else f"[T, N, {self.input_size}]"
        if x.ndim not in (2, 3) or x.shape[-1] != self.input_size:
            raise ShapeError(f"{name}: input has shape {list(x.shape)}, expected {expected} or [T, {self.input_size}]")
        if x.shape[1 if x.ndim == 3 and self.batch_first else 0] == 0:
            raise ShapeError(f"{name}: input has shape {list(x.shape)}, expected at least one step")
        return x.ndim == 3

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


class RNN(RNNBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it (Elman 1990). Returns output and h_n.

    Input is [T, N, I], with `batch_first` [N, T, I], or one sequence [T, I]. The output holds the last layer's h of
    every step, [T, N, D * H] (or in the order of the input), for D directions; the states h_0 and h_n are [L * D, N, H]
    ([L * D, H] for one sequence) and start as zeros if they are not given. `dropout` acts on the output of every
    layer but the last, in training. All have the dtype of the weights. Raises ShapeError for other shapes.

    >>> output, hidden = nn.RNN(4, 8)(norch.zeros(5, 2, 4))
    >>> output.shape, hidden.shape
    (norch.Size([5, 2, 8]), norch.Size([1, 2, 8]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        self._choose_kind(nonlinearity)
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype)

    @property
    def nonlinearity(self) -> str:
        """'tanh' or 'relu'."""
        return self.kind

    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        output, (hidden,) = self._over_layers(input, hx, ["h_0"])
        return output, hidden


class GRU(RNNBase):
    """Two gates and a candidate: r, z, n; h' = (1 - z) n + z h. Returns output and h_n.

    Shapes, dtypes and errors as for `RNN`.

    >>> output, hidden = nn.GRU(4, 8)(norch.zeros(5, 2, 4))
    >>> output.shape, hidden.shape
    (norch.Size([5, 2, 8]), norch.Size([1, 2, 8]))
    """

    kind = "GRU"

    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        output, (hidden,) = self._over_layers(input, hx, ["h_0"])
        return output, hidden


class LSTM(RNNBase):
    """Gates i, f, g, o and a cell c beside h. Returns output and (h_n, c_n), takes (h_0, c_0).

    Shapes, dtypes and errors as for `RNN`; c_0 and c_n are shaped as h_0 and h_n.

    >>> output, (hidden, cell) = nn.LSTM(4, 8)(norch.zeros(5, 2, 4))
    >>> output.shape, hidden.shape, cell.shape
    (norch.Size([5, 2, 8]), norch.Size([1, 2, 8]), norch.Size([1, 2, 8]))
    """

    kind = "LSTM"

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        output, (hidden, cell) = self._over_layers(input, hx, ["h_0", "c_0"])
        return output, (hidden, cell)


# ---- Cells -----------------------------------------------------------------------------------------------------------


class RNNCellBase(_Recurrent):
    """One step for inputs [N, I] or [I] and a state [N, H] or [H], zeros if not given; returns the new state."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.input_size = self._checked_size("input_size", input_size)
        self.hidden_size = self._checked_size("hidden_size", hidden_size)
        self.bias = bias
        self._add_weights(input_size)
        self.to(device, dtype)

    def _step(self, input: Tensor, hx: State, names: Sequence[str]) -> Sequence[Tensor]:
        name, size = self.get_name(), self.input_size
        check_tensors(name, input)
        if input.ndim not in (1, 2) or input.shape[-1] != size:
            raise ShapeError(f"{name}: input has shape {list(input.shape)}, expected [N, {size}] or [{size}]")
        state = self._states(hx, names, input, [*input.shape[:-1], self.hidden_size])
        w_ih, w_hh, b_ih, b_hh = self._weights()
        new, _ = recurrent.STEPS[self.kind].forward(F.linear(input, w_ih, b_ih), state, w_hh, b_hh)
        return tuple(new)

    def inner_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(RNNCellBase):
    """A step of RNN: h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it.

    From inputs [N, I] or [I] and a state [N, H] or [H], zeros if not given; returns the new state. All have the dtype
    of the weights. Raises ShapeError for other shapes.

    >>> nn.RNNCell(4, 8)(norch.zeros(2, 4)).shape
    norch.Size([2, 8])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        self._choose_kind(nonlinearity)
        super().__init__(input_size, hidden_size, bias, device, dtype)

    @property
    def nonlinearity(self) -> str:
        """'tanh' or 'relu'."""
        return self.kind

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(input, hx, ["h"])[0]


class GRUCell(RNNCellBase):
    """A step of GRU; shapes, dtypes and errors as for `RNNCell`.

    >>> nn.GRUCell(4, 8)(norch.zeros(2, 4)).shape
    norch.Size([2, 8])
    """

    kind = "GRU"

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(input, hx, ["h"])[0]


class LSTMCell(RNNCellBase):
    """A step of LSTM: takes and returns (h, c); shapes, dtypes and errors as for `RNNCell`.

    >>> hidden, cell = nn.LSTMCell(4, 8)(norch.zeros(2, 4))
    >>> hidden.shape, cell.shape
    (norch.Size([2, 8]), norch.Size([2, 8]))
    """

    kind = "LSTM"

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        hidden, cell = self._step(input, hx, ["h", "c"])
        return hidden, cell
