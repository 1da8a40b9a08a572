"""A recurrent layer as one node of the graph: a loop over the steps forward, and one back ("through time").

Sizes: T steps, N sequences (or none), H features of a state, G = H times the number of gates. Each kind of layer is a
class with its step and the derivative of that, both in tensor operations: where the walk of backward is itself recorded
(`create_graph=True`) the steps are taken again, recorded, and the same derivative has a derivative.
"""

from __future__ import annotations

from typing import Any, Sequence

from ..._C import lib, write_clock
from ...operation import edge, mode, record, wrap
from ..joint import Joint, Part
from ..mode import no_grad
from . import linear as fused
from .joining import cat, split, unbind

# ---- One step: x is the input's part of the gates, [N, G]; a state is (h,) or (h, c); backward returns the gradients
# ---- of x, of weight h + bias, and of the state before ---------------------------------------------------------------


class TanhStep:
    """h' = tanh(x + W h + b): d = dL/dh' (1 - h'^2)"""

    @staticmethod
    def forward(x: Any, state: Any, weight: Any, bias: Any) -> Any:
        new = (x + fused.linear(state[0], weight, bias)).tanh()
        return (new,), (state[0], new)

    @staticmethod
    def backward(saved: Any, gradients: Any, weight: Any) -> Any:
        d = _through_tanh(gradients[0], saved[1])
        return d, d, [d @ weight]


class ReluStep:
    """h' = relu(x + W h + b): d = dL/dh' where h' > 0, else 0"""

    @staticmethod
    def forward(x: Any, state: Any, weight: Any, bias: Any) -> Any:
        new = (x + fused.linear(state[0], weight, bias)).relu()
        return (new,), (state[0], new)

    @staticmethod
    def backward(saved: Any, gradients: Any, weight: Any) -> Any:
        d = (saved[1].detach() <= 0)._choose(0.0, gradients[0])
        return d, d, [d @ weight]


class LSTMStep:
    """i, f, o = sigmoid, g = tanh of the quarters of x + W h + b; c' = f c + i g, h' = o tanh(c')

    With C = dL/dc' + dL/dh' o (1 - tanh(c')^2), the gradients of i, f, g, o are C g, C c, C i and dL/dh' tanh(c'), and
    that of c is C f. (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000.)
    """

    @staticmethod
    def forward(x: Any, state: Any, weight: Any, bias: Any) -> Any:
        h, c = state
        i, f, g, o = split(x + fused.linear(h, weight, bias), [h.shape[-1]] * 4)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        new = f * c + i * g
        shown = new.tanh()
        return (o * shown, new), (h, c, i, f, g, o, shown)

    @staticmethod
    def backward(saved: Any, gradients: Any, weight: Any) -> Any:
        _, c, i, f, g, o, shown = saved
        to_h, to_c = gradients
        to_c = to_c + _through_tanh(to_h * o, shown)
        d = _side_by_side(
            _through_sigmoid(to_c * g, i),
            _through_sigmoid(to_c * c, f),
            _through_tanh(to_c * i, g),
            _through_sigmoid(to_h * shown, o),
        )
        return d, d, [d @ weight, to_c * f]


class GRUStep:
    """r, z = sigmoid(x + W h + b), n = tanh(x_n + r (W h + b)_n); h' = n + z (h - n)

    The gradients of z, n and r are dL/dh' (h - n), dL/dh' (1 - z), and n's times (W h + b)_n; h gets dL/dh' z too.
    (Cho et al. 2014; r is applied after the product, as in cuDNN and PyTorch.)
    """

    @staticmethod
    def forward(x: Any, state: Any, weight: Any, bias: Any) -> Any:
        (h,) = state
        size = h.shape[-1]
        x_rz, x_n = split(x, [2 * size, size])
        h_rz, h_n = split(fused.linear(h, weight, bias), [2 * size, size])
        r, z = split((x_rz + h_rz).sigmoid(), [size, size])
        n = (x_n + r * h_n).tanh()
        return (n + z * (h - n),), (h, r, z, n, h_n)

    @staticmethod
    def backward(saved: Any, gradients: Any, weight: Any) -> Any:
        h, r, z, n, h_n = saved
        (to_h,) = gradients
        d_n = _through_tanh(to_h - to_h * z, n)
        d_r, d_z = _through_sigmoid(d_n * h_n, r), _through_sigmoid(to_h * (h - n), z)
        inner = _side_by_side(d_r, d_z, d_n * r)
        return _side_by_side(d_r, d_z, d_n), inner, [to_h * z + inner @ weight]


def _through_tanh(gradient: Any, y: Any) -> Any:
    if mode.enabled:
        return gradient * (1.0 - y * y)
    return wrap(lib.tanh_backward_tensor(gradient._ptr, y._ptr))


def _through_sigmoid(gradient: Any, y: Any) -> Any:
    if mode.enabled:
        return gradient * (y * (1.0 - y))
    return wrap(lib.sigmoid_backward_tensor(gradient._ptr, y._ptr))


def _side_by_side(*parts: Any) -> Any:
    return cat(parts, -1)


STEPS: dict[str, Any] = {"tanh": TanhStep, "relu": ReluStep, "LSTM": LSTMStep, "GRU": GRUStep}
GATES = {"tanh": 1, "relu": 1, "LSTM": 4, "GRU": 3}


# ---- All steps -------------------------------------------------------------------------------------------------------


def run(kind: str, x: Any, state: Sequence[Any], weight: Any, bias: Any, reverse: bool) -> tuple[Any, tuple[Any, ...]]:
    """The outputs h [T, N, H] of all steps, in order of time, and the last state.

    x is [T, N, G], the state (h,) or (h, c) of [N, H], weight [G, H], bias [G] or None; `reverse` starts at the end.
    """
    inputs = (x, *state, weight, bias)
    edges = [edge(t) for t in inputs]
    recording = mode.enabled and any(edges)
    with no_grad():
        outputs, last, saved = _steps(STEPS[kind], x, state, weight, bias, reverse)
    if recording:
        joint = RecurrentBackward(kind, inputs, edges, saved, reverse)
        record(outputs, Part("outputs"), (joint,))
        # apart from the saved values, for these may be written to
        last = tuple(record(t.clone(), Part(i), (joint,)) for i, t in enumerate(t.detach() for t in last))
    return outputs, last


def _steps(step: Any, x: Any, state: Any, weight: Any, bias: Any, reverse: bool) -> Any:
    """Outputs, last state, and what each step's derivative needs, in order of time."""
    parts = unbind(x)
    outputs, saved = [None] * len(parts), [None] * len(parts)
    for t in reversed(range(len(parts))) if reverse else range(len(parts)):
        state, saved[t] = step.forward(parts[t], state, weight, bias)
        outputs[t] = state[0]
    return cat([h.unsqueeze(0) for h in outputs]), tuple(state), saved  # type: ignore[arg-type]  # every step has its own


class RecurrentBackward(Joint):
    """The steps' derivatives from the last to the first. With d and s the gradients of x and of W h + b of a step:
    dL/dx = d, dL/dW = the sum of s^T h, dL/db = the sum of s, over all steps, in one product."""

    def __init__(self, kind: str, inputs: Any, edges: Any, saved: Any, reverse: bool) -> None:
        super().__init__(edges)
        self.step, self.input, self.saved, self.reverse = STEPS[kind], inputs, saved, reverse
        self.stamp = write_clock.value

    def release(self) -> None:
        super().release()
        self.saved = None

    def backward(self, pieces: Any) -> list[Any]:
        inputs: list[Any] = [t if t is None else self.unchanged(t) for t in self.input]
        x, *state, weight, bias = inputs
        saved = _steps(self.step, x, state, weight, bias, self.reverse)[2] if mode.enabled else self.saved
        count = len(saved)
        to_outputs = unbind(pieces["outputs"]) if "outputs" in pieces else None
        to_state = [pieces[i] if i in pieces else t.detach().zeros_like() for i, t in enumerate(state)]
        to_x, inner = [None] * count, [None] * count
        for t in range(count) if self.reverse else reversed(range(count)):
            if to_outputs is not None:
                to_state[0] = to_state[0] + to_outputs[t]
            to_x[t], inner[t], to_state = self.step.backward(saved[t], to_state, weight)
        size = x.shape[-1]
        sums = cat(inner).reshape(-1, size)  # type: ignore[arg-type]  # every step has its own
        before = cat([values[0] for values in saved]).reshape(-1, weight.shape[1])
        return [
            cat(to_x).reshape(x.shape) if self.needs(0) else None,  # type: ignore[arg-type]
            *to_state,
            sums.T @ before if self.edges[-2] is not None else None,
            sums.sum(0) if self.edges[-1] is not None else None,
        ]
