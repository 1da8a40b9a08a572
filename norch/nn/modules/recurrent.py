"""Recurrent layers: RNN, LSTM and GRU over whole sequences. Cells, which take a single step: recurrent_cells.py.

Sizes in comments: T steps, N sequences, I input_size, H hidden_size, L layers, D directions. A layer multiplies the
inputs of all steps by its weight at once; the loop over the steps, and the formulas, are in
autograd/derivatives/recurrent.py. A packed batch goes through the steps in segments that the same sequences reach.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, Sequence, Union, overload

from ..._C import ShapeError
from ...arguments import index_of
from ...autocasting import lowered, widened
from ...autograd.derivatives import recurrent
from ...functions.creation import empty, zeros
from ...functions.joining import cat, stack
from ...given import given, warn
from ...operation import mode
from ...tensor import Tensor
from ...types import DType, float16, shown
from .. import functional as F
from .. import init
from ..functional.checks import check_probability, check_tensors
from ..functional.dropout import dropout
from ..module import Module
from ..parameter import Parameter, ParameterOrNone
from ..utils.rnn import PackedSequence

__all__ = ["GRU", "LSTM", "RNN", "RNNBase"]

State = Union[Tensor, tuple[Tensor, Tensor], None]  # h, or (h, c) of an LSTM; None: zeros
States = Sequence[Tensor]  # the same as a list
_KINDS = {"LSTM": "LSTM", "GRU": "GRU", "RNN_TANH": "tanh", "RNN_RELU": "relu"}  # PyTorch's name of a kind -> its own
_WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class Recurrent(Module):
    """What layers and cells share: weights named as in PyTorch, and the checks of sizes and states."""

    kind = ""  # of the steps in derivatives/recurrent.py
    bias: bool
    hidden_size: int
    proj_size = 0  # of what an LSTM makes of h; 0: h itself
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> ParameterOrNone: ...  # weight_ih_l0 and so on

    def _checked_size(self, name: str, value: int) -> int:
        size = index_of(value)
        if size is None:
            raise TypeError(f"{self.get_name()}: {name} is {shown(value)}, expected an int")
        if size <= 0:
            raise ValueError(f"{self.get_name()}: {name} is {size}, expected at least 1")
        return size

    def _choose_kind(self, nonlinearity: str) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"{self.get_name()}: nonlinearity is {shown(nonlinearity)}, expected 'tanh' or 'relu'")
        self.kind = nonlinearity

    def _add_weights(self, gates: int, inputs: int, suffix: str = "") -> None:
        """weight_ih, weight_hh, bias_ih, bias_hh (and weight_hr of a projection)."""
        rows, hidden = gates * self.hidden_size, self.proj_size or self.hidden_size
        shapes = {"weight_ih": [rows, inputs], "weight_hh": [rows, hidden], "bias_ih": [rows], "bias_hh": [rows]}
        if self.proj_size:
            shapes["weight_hr"] = [self.proj_size, self.hidden_size]
        for name, shape in shapes.items():
            used = self.bias or name.startswith("weight")
            self.register_parameter(name + suffix, Parameter(empty(shape)) if used else None)

    def reset_parameters(self) -> None:
        """Draw every parameter from -1 / sqrt(H) to 1 / sqrt(H) evenly."""
        bound = 1 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _weights(self, suffix: str = "") -> list[Any]:
        return [getattr(self, name + suffix) for name in _WEIGHTS]

    def _states(self, hx: State, names: Sequence[str], x: Tensor, shape: list[int]) -> tuple[Tensor, ...]:
        """The initial states of these names: those given, of this shape (h that of a projection), or zeros."""
        shapes = [[*shape[:-1], self.proj_size or shape[-1]], shape][: len(names)]
        if hx is None:
            return tuple(zeros(shape, dtype=x.dtype, device=x.device) for shape in shapes)
        states = (hx,) if len(names) == 1 else hx
        if not isinstance(states, (tuple, list)) or len(states) != len(names):
            raise TypeError(f"{self.get_name()}: the initial state is {given(hx)}, expected ({', '.join(names)})")
        checked = []
        for name, state, shape in zip(names, states, shapes):
            if not isinstance(state, Tensor):
                raise TypeError(f"{self.get_name()}: {name} is {given(state)}, expected a Tensor")
            if state.shape != shape:
                raise ShapeError(f"{self.get_name()}: {name} has shape {list(state.shape)}, expected {shape}")
            checked.append(state)
        return tuple(checked)


# ---- Over sequences --------------------------------------------------------------------------------------------------


class RNNBase(Recurrent):
    """What RNN, LSTM and GRU share: layers, directions, and the shapes of sequences.

    `mode` is "LSTM", "GRU", "RNN_TANH" or "RNN_RELU"; ValueError for others.

    >>> isinstance(nn.LSTM(4, 8), nn.RNNBase)
    True
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        if mode not in _KINDS:
            raise ValueError(f"{self.get_name()}: mode is {shown(mode)}, expected {', '.join(map(repr, _KINDS))}")
        self.kind = _KINDS[mode]
        self.input_size = self._checked_size("input_size", input_size)
        self.hidden_size = self._checked_size("hidden_size", hidden_size)
        self.num_layers = self._checked_size("num_layers", num_layers)
        for name, flag in (("bias", bias), ("batch_first", batch_first)):
            if not isinstance(flag, bool):
                raise TypeError(f"{self.get_name()}: {name} is {shown(flag)}, expected True or False")
        self.bias, self.batch_first, self.bidirectional = bias, batch_first, bidirectional
        self.dropout = check_probability(dropout)
        if dropout and num_layers == 1:
            warn(f"{self.get_name()}: dropout={dropout} acts between layers, and there is one layer")
        if proj_size and self.kind != "LSTM":
            raise ValueError(f"{self.get_name()}: proj_size is {proj_size}, but only an LSTM has a projection")
        if not 0 <= proj_size < hidden_size:
            raise ValueError(f"{self.get_name()}: proj_size is {proj_size}, expected 0 to {hidden_size - 1}")
        self.proj_size = proj_size
        empty([num_layers, 512])  # MemoryError for too many: parameters take 2 KB a layer beside their numbers
        for layer in range(num_layers):
            inputs = input_size if layer == 0 else (proj_size or hidden_size) * len(self._directions)
            for suffix in self._directions:
                self._add_weights(recurrent.GATES[self.kind], inputs, f"_l{layer}{suffix}")
        self.reset_parameters()
        self.to(device=device, dtype=dtype)

    @property
    def mode(self) -> str:
        """PyTorch's name of the kind: "LSTM", "GRU", "RNN_TANH" or "RNN_RELU"."""
        return self.kind if self.kind in ("LSTM", "GRU") else f"RNN_{self.kind.upper()}"

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _all_weights(self) -> list[list[str]]:  # their names, by which scripts find the biases of gates
        names = [*_WEIGHTS[: 4 if self.bias else 2], *(["weight_hr"] if self.proj_size else [])]
        suffixes = [f"_l{layer}{suffix}" for layer in range(self.num_layers) for suffix in self._directions]
        return [[name + suffix for name in names] for suffix in suffixes]

    @property
    def _flat_weights_names(self) -> list[str]:
        return sum(self._all_weights, [])

    @property
    def _flat_weights(self) -> list[Any]:
        return sum(self.all_weights, [])

    @_flat_weights.setter
    def _flat_weights(self, weights: Sequence[Any]) -> None:  # computes with these; what is registered stays
        vars(self).update(zip(self._flat_weights_names, weights))

    def flatten_parameters(self) -> None:
        """Nothing: in PyTorch it gathers the parameters for cuDNN."""

    @property
    def _directions(self) -> tuple[str, ...]:
        return ("", "_reverse") if self.bidirectional else ("",)

    def _over(self, input: Any, hx: Any, names: Sequence[str]) -> tuple[Any, list[Tensor]]:
        """The output of the last layer, and the last states of all layers and directions, stacked: [L * D, N, H]."""
        if isinstance(input, PackedSequence):
            return self._over_packed(input, hx, names)
        transposed = self._is_batch(input) and self.batch_first
        x = input.transpose(0, 1) if transposed else input
        x, last = self._over_layers(x, self._initial(hx, names, x, list(x.shape[1:-1])), None)
        return (x.transpose(0, 1) if transposed else x), last

    def _over_packed(
        self, packed: PackedSequence, hx: Any, names: Sequence[str]
    ) -> tuple[PackedSequence, list[Tensor]]:
        """The same for a packed batch; states are in the order of the sequences before packing."""
        data, batch_sizes, order, back = packed
        if data.ndim != 2 or data.shape[1] != self.input_size:
            raise ShapeError(
                f"{self.get_name()}: packed data are {list(data.shape)}, expected [steps, {self.input_size}]"
            )
        states = self._initial(hx, names, data, [int(batch_sizes[0])])
        if order is not None:
            states = tuple(state.index_select(1, order) for state in states)
        output, last = self._over_layers(data, states, packed)
        if back is not None:
            last = [state.index_select(1, back) for state in last]
        return PackedSequence(output, batch_sizes, order, back), last

    def _initial(self, hx: Any, names: Sequence[str], x: Tensor, samples: list[int]) -> tuple[Tensor, ...]:
        shape = [self.num_layers * len(self._directions), *samples, self.hidden_size]
        return self._states(hx, names, x, shape)

    def _over_layers(
        self, x: Tensor, initial: Sequence[Tensor], packed: PackedSequence | None
    ) -> tuple[Tensor, list[Tensor]]:
        states = list(zip(*initial))  # of each layer and direction
        last: list[States] = []
        for layer in range(self.num_layers):
            directions = []
            for suffix in self._directions:
                name = f"_l{layer}{suffix}"
                outputs, state = self._run(x, states[len(last)], name, suffix == "_reverse", packed)
                directions.append(outputs)
                last.append(state)
            x = directions[0] if len(directions) == 1 else cat(directions, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                x = dropout(x, self.dropout)
        return x, [stack(list(states)) for states in zip(*last)]

    def _run(
        self, x: Tensor, state: States, suffix: str, reverse: bool, packed: PackedSequence | None
    ) -> tuple[Tensor, States]:
        """One layer in one direction over [T, ..., I]: the outputs [T, ..., H] in order of time, and the last state."""
        weights = self._weights(suffix)  # the two biases None without them
        w_hr = getattr(self, "weight_hr" + suffix) if self.proj_size else None
        # PyTorch composes these of operations, which keep the dtype of a state where it is wider
        is_composed = self.kind == "GRU" or self.kind == "LSTM" and (packed is not None or w_hr is not None)
        is_composed |= self.kind == "LSTM" and float16 in (x.dtype, state[0].dtype)
        start, (x, state, (w_ih, w_hh, b_ih, b_hh), w_hr) = state, lowered(x, state, weights, w_hr)
        if self.bias and self.kind != "GRU":  # one sum for all steps; GRU multiplies a part of its b_hh by r
            b_ih, b_hh = b_ih + b_hh, None
        if x.dtype is not w_ih.dtype:
            error = RuntimeError if mode.autocast else ValueError
            raise error(f"{self.get_name()}: input has dtype {x.dtype}, the weights have {w_ih.dtype}")
        gates, narrow = F.linear(x, w_ih, b_ih), w_ih.dtype
        if is_composed:
            gates, state, w_hh, b_hh, w_hr = widened(gates, start, w_hh, b_hh, w_hr)

        def steps(part: Tensor, state: States) -> tuple[Tensor, States]:
            if w_hr is not None:
                return recurrent.run_projected(part, state, w_hh, b_hh, w_hr, reverse)
            return recurrent.run(self.kind, part, state, w_hh, b_hh, reverse)

        y, last = steps(gates, state) if packed is None else _over_segments(steps, gates, state, packed, reverse)
        return (y, last) if w_hr is None else (y.to(narrow), [last[0].to(narrow), last[1]])

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

    def extra_repr(self) -> str:
        """The sizes, then every setting that is not the default."""
        settings = {
            "num_layers": (self.num_layers, 1),
            "bias": (self.bias, True),
            "batch_first": (self.batch_first, False),
            "dropout": (self.dropout, 0.0),
            "bidirectional": (self.bidirectional, False),
            "proj_size": (self.proj_size, 0),
        }
        changed = [f"{name}={value}" for name, (value, default) in settings.items() if value != default]
        return ", ".join([str(self.input_size), str(self.hidden_size), *changed])


def _over_segments(
    steps: Callable[[Tensor, States], tuple[Tensor, States]],
    gates: Tensor,
    initial: States,
    packed: PackedSequence,
    reverse: bool,
) -> tuple[Tensor, States]:
    """The steps over packed data [rows, G], and the state of each sequence after its own last step.

    Forward in time sequences end, the last of the batch first; backwards they join it again.
    """
    segments, outputs, ended = list(packed.segments()), [], []
    state: States = [s[: segments[-1][1]] for s in initial] if reverse else initial
    for length, count, row in segments[:: -1 if reverse else 1]:
        running = state[0].shape[0]
        if count > running:
            state = [cat([s, start[running:count]]) for s, start in zip(state, initial)]
        elif count < running:
            ended.append([s[count:] for s in state])
            state = [s[:count] for s in state]
        output, state = steps(gates[row : row + length * count].unflatten(0, (length, count)), state)
        outputs.append(output.flatten(0, 1))
    last = [cat([s, *(end[i] for end in reversed(ended))]) for i, s in enumerate(state)]
    return cat(outputs[:: -1 if reverse else 1]), last


class _Gated(RNNBase):
    """A layer of one kind, with PyTorch's arguments of LSTM and GRU."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None:
        settings = num_layers, bias, batch_first, dropout, bidirectional, proj_size, device, dtype
        super().__init__(self.kind, input_size, hidden_size, *settings)


class _OfHidden(RNNBase):
    """A layer whose only state is h."""

    @overload
    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]: ...
    @overload
    def forward(self, input: PackedSequence, hx: Tensor | None = None) -> tuple[PackedSequence, Tensor]: ...
    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        output, (hidden,) = self._over(input, hx, ["h_0"])
        return output, hidden


class RNN(_OfHidden):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it (Elman 1990). Returns output and h_n.

    Input is [T, N, I], with `batch_first` [N, T, I], or one sequence [T, I]. The output holds the last layer's h of
    every step, [T, N, D * H] (or in the order of the input), for D directions; a PackedSequence gives another. The
    states h_0 and h_n are [L * D, N, H] ([L * D, H] for one sequence) and start as zeros if they are not given.
    `dropout` acts on the output of every layer but the last, in training. All have the dtype of the weights. Raises
    ShapeError for other shapes.

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
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None:
        self._choose_kind(nonlinearity)
        settings = num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype
        super().__init__(self.mode, input_size, hidden_size, *settings)

    @property
    def nonlinearity(self) -> str:
        """'tanh' or 'relu'."""
        return self.kind


class GRU(_Gated, _OfHidden):
    """Two gates and a candidate: r, z, n; h' = (1 - z) n + z h. Returns output and h_n.

    Shapes, dtypes and errors as for `RNN`.

    >>> output, hidden = nn.GRU(4, 8)(norch.zeros(5, 2, 4))
    >>> output.shape, hidden.shape
    (norch.Size([5, 2, 8]), norch.Size([1, 2, 8]))
    """

    kind = "GRU"


class LSTM(_Gated):
    """Gates i, f, g, o and a cell c beside h. Returns output and (h_n, c_n), takes (h_0, c_0).

    Shapes, dtypes and errors as for `RNN`; c_0 and c_n are shaped as h_0 and h_n. With a `proj_size` P, h is W_hr h of
    this size: the output is [T, N, D * P], h_0 and h_n are [L * D, N, P] (Sak et al. 2014).

    >>> output, (hidden, cell) = nn.LSTM(4, 8)(norch.zeros(5, 2, 4))
    >>> output.shape, hidden.shape, cell.shape
    (norch.Size([5, 2, 8]), norch.Size([1, 2, 8]), norch.Size([1, 2, 8]))
    """

    kind = "LSTM"

    @overload
    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]: ...
    @overload
    def forward(
        self, input: PackedSequence, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[PackedSequence, tuple[Tensor, Tensor]]: ...
    def forward(self, input: Any, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Any, tuple[Tensor, Tensor]]:
        output, (hidden, cell) = self._over(input, hx, ["h_0", "c_0"])
        return output, (hidden, cell)
