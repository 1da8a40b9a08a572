"""Cells of recurrent layers, for a single step: RNNCell, LSTMCell and GRUCell. Sizes as in recurrent.py."""

from __future__ import annotations

from typing import Sequence

from ..._C import ShapeError
from ...autocasting import lowered, widened
from ...autograd.derivatives import recurrent
from ...tensor import Tensor
from ...types import DType
from .. import functional as F
from ..functional.checks import check_tensors
from .recurrent import Recurrent, State

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]


class RNNCellBase(Recurrent):
    """The weights of one step, with `num_chunks` gates. Programs derive cells of their own from it."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.input_size = self._checked_size("input_size", input_size)
        self.hidden_size = self._checked_size("hidden_size", hidden_size)
        self.bias = bias
        self._add_weights(num_chunks, input_size)
        self.reset_parameters()
        self.to(device=device, dtype=dtype)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class _Cell(RNNCellBase):
    """One step for inputs [N, I] or [I] and a state [N, H] or [H], zeros if not given; returns the new state."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: str | int | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, recurrent.GATES[self.kind], device, dtype)

    def _step(self, input: Tensor, hx: State, names: Sequence[str]) -> Sequence[Tensor]:
        name, size = self.get_name(), self.input_size
        check_tensors(name, input)
        if input.ndim not in (1, 2) or input.shape[-1] != size:
            raise ShapeError(f"{name}: input has shape {list(input.shape)}, expected [N, {size}] or [{size}]")
        state = self._states(hx, names, input, [*input.shape[:-1], self.hidden_size])
        start, (input, state, (w_ih, w_hh, b_ih, b_hh)) = state, lowered(input, state, self._weights())
        gates = F.linear(input, w_ih, b_ih)
        if self.kind in ("GRU", "LSTM"):
            gates, state, w_hh, b_hh = widened(gates, start, w_hh, b_hh)
        new, _ = recurrent.STEPS[self.kind].forward(gates, state, w_hh, b_hh)
        return tuple(new)


class RNNCell(_Cell):
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
        device: str | int | None = None,
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


class GRUCell(_Cell):
    """A step of GRU; shapes, dtypes and errors as for `RNNCell`.

    >>> nn.GRUCell(4, 8)(norch.zeros(2, 4)).shape
    norch.Size([2, 8])
    """

    kind = "GRU"

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(input, hx, ["h"])[0]


class LSTMCell(_Cell):
    """A step of LSTM: takes and returns (h, c); shapes, dtypes and errors as for `RNNCell`.

    >>> hidden, cell = nn.LSTMCell(4, 8)(norch.zeros(2, 4))
    >>> hidden.shape, cell.shape
    (norch.Size([2, 8]), norch.Size([2, 8]))
    """

    kind = "LSTM"

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        hidden, cell = self._step(input, hx, ["h", "c"])
        return hidden, cell
