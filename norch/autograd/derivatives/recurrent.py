"""A recurrent layer as one node of the graph: a loop over the steps forward, and one back ("through time").

Sizes: T steps, N sequences (or none), H features of a state, G = H times the number of gates. Each kind of layer is a
class with its step and the derivative of that, both in tensor operations; an LSTM has the loops in C besides. To
differentiate backward itself (`create_graph=True`), the steps are taken again and recorded; then the same derivative
has a derivative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from ..._C import ShapeError, lib, write_clock
from ...operation import address, edge, mode, several, wrap
from ..mode import no_grad
from ..multi_output import MultiOutput, OutputGradients
from ..node import Edge, Gradients
from .joining import cat, split, unbind
from .linear import linear

if TYPE_CHECKING:
    from ...tensor import Tensor

Tensors = Sequence["Tensor"]

# ---- One step -------------------------------------------------------------------------------------------------------


class Step:
    """One step of a kind of layer, of which a state is (h,) or (h, c)."""

    @staticmethod
    def forward(x: Tensor, state: Tensors, weight: Tensor, bias: Tensor | None) -> tuple[Tensors, Tensors]:
        """The next state, and what backward needs, h first; x is the input's part of the gates, [N, G]."""
        raise NotImplementedError

    @staticmethod
    def backward(saved: Tensors, gradients: Tensors, weight: Tensor) -> tuple[Tensor, Tensor, Tensors]:
        """The gradients of x, of weight h + bias, and of the state before, from those of the next state."""
        raise NotImplementedError


class TanhStep(Step):
    """h' = tanh(x + W h + b): d = dL/dh' (1 - h'^2)"""

    @staticmethod
    def forward(x: Tensor, state: Tensors, weight: Tensor, bias: Tensor | None) -> tuple[Tensors, Tensors]:
        new = (x + linear(state[0], weight, bias)).tanh()
        return (new,), (state[0], new)

    @staticmethod
    def backward(saved: Tensors, gradients: Tensors, weight: Tensor) -> tuple[Tensor, Tensor, Tensors]:
        d = _through_tanh(gradients[0], saved[1])
        return d, d, [d @ weight]


class ReluStep(Step):
    """h' = relu(x + W h + b): d = dL/dh' where h' > 0, else 0"""

    @staticmethod
    def forward(x: Tensor, state: Tensors, weight: Tensor, bias: Tensor | None) -> tuple[Tensors, Tensors]:
        new = (x + linear(state[0], weight, bias)).relu()
        return (new,), (state[0], new)

    @staticmethod
    def backward(saved: Tensors, gradients: Tensors, weight: Tensor) -> tuple[Tensor, Tensor, Tensors]:
        d = (saved[1].detach() <= 0)._choose(0.0, gradients[0])
        return d, d, [d @ weight]


class LSTMStep(Step):
    """i, f, o = sigmoid, g = tanh of the quarters of x + W h + b; c' = f c + i g, h' = o tanh(c')

    With C = dL/dc' + dL/dh' o (1 - tanh(c')^2), the gradients of i, f, g, o are C g, C c, C i and dL/dh' tanh(c'), and
    that of c is C f. (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000.)
    """

    @staticmethod
    def forward(x: Tensor, state: Tensors, weight: Tensor, bias: Tensor | None) -> tuple[Tensors, Tensors]:
        h, c = state
        i, f, g, o = split(x + linear(h, weight, bias), [c.shape[-1]] * 4)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        new = f * c + i * g
        shown = new.tanh()
        return (o * shown, new), (h, c, i, f, g, o, shown)

    @staticmethod
    def backward(saved: Tensors, gradients: Tensors, weight: Tensor) -> tuple[Tensor, Tensor, Tensors]:
        _, c, i, f, g, o, shown = saved
        to_h, to_c = gradients
        to_c = to_c + _through_tanh(to_h * o, shown)
        gates = [
            _through_sigmoid(to_c * g, i),
            _through_sigmoid(to_c * c, f),
            _through_tanh(to_c * i, g),
            _through_sigmoid(to_h * shown, o),
        ]
        d = cat(gates, -1)
        return d, d, [d @ weight, to_c * f]


class GRUStep(Step):
    """r, z = sigmoid(x + W h + b), n = tanh(x_n + r (W h + b)_n); h' = n + z (h - n)

    The gradients of z, n and r are dL/dh' (h - n), dL/dh' (1 - z), and n's times (W h + b)_n; h gets dL/dh' z too.
    (Cho et al. 2014; r is applied after the product, as in cuDNN and PyTorch.)
    """

    @staticmethod
    def forward(x: Tensor, state: Tensors, weight: Tensor, bias: Tensor | None) -> tuple[Tensors, Tensors]:
        (h,) = state
        size = h.shape[-1]
        x_rz, x_n = split(x, [2 * size, size])
        h_rz, h_n = split(linear(h, weight, bias), [2 * size, size])
        r, z = split((x_rz + h_rz).sigmoid(), [size, size])
        n = (x_n + r * h_n).tanh()
        return (n + z * (h - n),), (h, r, z, n, h_n)

    @staticmethod
    def backward(saved: Tensors, gradients: Tensors, weight: Tensor) -> tuple[Tensor, Tensor, Tensors]:
        h, r, z, n, h_n = saved
        (to_h,) = gradients
        d_n = _through_tanh(to_h - to_h * z, n)
        d_r, d_z = _through_sigmoid(d_n * h_n, r), _through_sigmoid(to_h * (h - n), z)
        inner = cat([d_r, d_z, d_n * r], -1)
        return cat([d_r, d_z, d_n], -1), inner, [to_h * z + inner @ weight]


def _through_tanh(gradient: Tensor, y: Tensor) -> Tensor:
    if mode.enabled:  # these are steps of one node's backward, between which the engine cannot choose
        return gradient * (1.0 - y * y)
    return wrap(lib.tanh_backward_tensor(gradient._ptr, y._ptr))


def _through_sigmoid(gradient: Tensor, y: Tensor) -> Tensor:
    if mode.enabled:
        return gradient * (y * (1.0 - y))
    return wrap(lib.sigmoid_backward_tensor(gradient._ptr, y._ptr))


STEPS = {"tanh": TanhStep, "relu": ReluStep, "LSTM": LSTMStep, "GRU": GRUStep}
GATES = {"tanh": 1, "relu": 1, "LSTM": 4, "GRU": 3}


# ---- All steps -------------------------------------------------------------------------------------------------------


def run(
    kind: str, x: Tensor, state: Tensors, weight: Tensor, bias: Tensor | None, reverse: bool
) -> tuple[Tensor, Tensors]:
    """The outputs h [T, N, H] of all steps, in order of time, and the last state.

    x is [T, N, G], the state (h,) or (h, c) of [N, H], weight [G, H], bias [G] or None; `reverse` starts at the end.
    """
    if kind == "LSTM" and x.ndim == 2:  # one sequence
        outputs, last = run(kind, x.unsqueeze(1), [t.unsqueeze(0) for t in state], weight, bias, reverse)
        return outputs.squeeze(1), tuple(t.squeeze(0) for t in last)
    inputs = (x, *state, weight, bias)
    edges = [edge(t) for t in inputs]
    recording = mode.enabled and any(edges)
    with no_grad():
        outputs, last, saved = (_lstm_steps if kind == "LSTM" else _steps)(STEPS[kind], inputs, reverse, recording)
    if recording:
        if kind != "LSTM":
            last = [t.clone() for t in last]  # the caller may write to them, and backward needs the saved values
        RecurrentBackward(kind, inputs, edges, saved, reverse).record_outputs([outputs, *last])
    return outputs, tuple(last)


def run_projected(
    x: Tensor, state: Tensors, weight: Tensor, bias: Tensor | None, projection: Tensor, reverse: bool
) -> tuple[Tensor, Tensors]:
    """An LSTM whose h is projected after each step, [N, P] for a projection [P, H]; each step has nodes of its own."""
    outputs = []
    for part in unbind(x)[:: -1 if reverse else 1]:
        (h, c), _ = LSTMStep.forward(part, state, weight, bias)
        state = (linear(h, projection, None), c)
        outputs.append(state[0].unsqueeze(0))
    return cat(outputs[:: -1 if reverse else 1]), state


def _steps(
    step: type[Step], inputs: Sequence[Any], reverse: bool, keep: bool = True
) -> tuple[Tensor, Tensors, Sequence[Any]]:
    """Outputs in order of time, the last state, and what backward needs of each step, in the order of the steps."""
    x, weight, bias = inputs[0], inputs[-2], inputs[-1]
    state: Tensors = inputs[1:-2]
    outputs, saved = [], []
    for part in unbind(x)[:: -1 if reverse else 1]:
        state, values = step.forward(part, state, weight, bias)
        outputs.append(state[0].unsqueeze(0))
        saved.append(values)
    return cat(outputs[:: -1 if reverse else 1]), state, saved


def _lstm_steps(
    step: type[Step], inputs: Sequence[Any], reverse: bool, keep: bool
) -> tuple[Tensor, Tensors, Sequence[Any]]:
    """The same for an LSTM in one call; backward needs the gates and c of all steps, a tuple."""
    try:
        outputs, *last, gates, cells = several(lib.lstm_tensor(*map(address, inputs), reverse, keep))
    except ShapeError:  # there is no sample
        return _steps(step, inputs, reverse)
    return outputs, last, (gates, cells)


class RecurrentBackward(MultiOutput):
    """The steps' derivatives from the last to the first. With d and s the gradients of x and of W h + b of a step:
    dL/dx = d, dL/dW = the sum of s^T h, dL/db = the sum of s, over all steps, in one product."""

    def __init__(
        self, kind: str, inputs: Sequence[Any], edges: Sequence[Edge], saved: Sequence[Any], reverse: bool
    ) -> None:
        super().__init__(edges)
        self.step, self.input, self.saved, self.reverse = STEPS[kind], tuple(inputs), saved, reverse
        self.stamp = write_clock.value

    def release(self) -> None:
        super().release()
        self.saved = ()

    def backward(self, gradients: OutputGradients) -> Gradients:
        return self._through_time(gradients, _steps(self.step, self.operands(), self.reverse)[2])

    def fused(self, gradients: OutputGradients) -> Gradients:
        if not isinstance(self.saved, tuple):
            return self._through_time(gradients, self.saved)
        _, h, c, weight, _ = self.operands()
        tensors = *(gradients.get(k) for k in range(3)), *self.saved, h, c, weight
        return several(lib.lstm_backward(*map(address, tensors), self.reverse, self.needed()))

    def _through_time(self, gradients: OutputGradients, saved: Sequence[Tensors]) -> Gradients:
        x, *state, weight, bias = self.operands()
        order = -1 if self.reverse else 1  # of time, for steps
        to_outputs = unbind(gradients[0])[::order] if 0 in gradients else None
        to_state: Tensors = [gradients.get(i, t.detach().zeros_like()) for i, t in enumerate(state, 1)]
        to_x, to_inner = [], []  # of the last step first
        for t in reversed(range(len(saved))):
            if to_outputs is not None:
                to_state = [to_state[0] + to_outputs[t], *to_state[1:]]
            d, inner, to_state = self.step.backward(saved[t], to_state, weight)
            to_x.append(d)
            to_inner.append(inner)
        sums = cat(to_inner).reshape(-1, x.shape[-1])
        hidden = cat([values[0] for values in reversed(saved)]).reshape(-1, weight.shape[1])
        return [
            cat(to_x[::-order]).reshape(x.shape) if self.needs(0) else None,
            *to_state,
            sums.T @ hidden if self.edges[-2] is not None else None,
            sums.sum(0) if self.edges[-1] is not None else None,
        ]
