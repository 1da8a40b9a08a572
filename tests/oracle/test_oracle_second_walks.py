"""A second backward through a graph that the first has freed: it runs where torch's does, with the same gradient."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402

# Each computes from x [3, 3]; the sum of the result goes back twice
STATEMENTS = """
x + 1; 2 - x; -x; x - x; x + lib.ones(3); x[0] + x; x[0][:, None] + x[0]; x[0] - x.double(); x + x.half(); x * 2; x / 2
x.sum(0); x.mean(1); x.cumsum(0); x.trace(); x.max(); x.abs(); x.relu(); x.exp(); x.round(); x @ lib.ones(3, 3)
x[0]; x[[0]]; x[1:]; x.T; x.view(9)[2:5]; x.permute(1, 0); x.unsqueeze(0); x.expand(2, 3, 3); x[:1].expand(3, 3)
x.diagonal(); x.unfold(0, 2, 1); x.clone(); x.double(); x.flip(0); x.roll(1); x.tril(); x.repeat(2, 1); x.diff()
x.split(1)[0]; x.chunk(3)[1]; x.unbind(0)[2]; lib.cat([x, x]); lib.stack([x, x]); lib.block_diag(x, x)
x.masked_fill(x > 0, 0); x.gather(0, lib.zeros(1, 1, dtype=lib.int64)); x.sort()[0]; x.index_select(0, lib.tensor([0]))
lib.where(x > 0, x, x); x.clamp(0, 1); lib.nn.functional.pad(x, (1, 1)); lib.nn.functional.l1_loss(x, lib.zeros(3, 3))
(x + 1).add_(1); x.clone().mul_(2); lib.ones(2, 3, 3).add_(x); (x + 0).sub_(x[0]); lib.ones(3, 3).add_(x[0, 0])
lib.einsum('ij->j', x); lib.nn.functional.unfold(x[None, None], 2); x.frexp()[0]
lib.dropout(x, 0.0, True); lib.nn.functional.interpolate(x[None], scale_factor=2); lib.nn.functional.linear(x, x)
"""


@pytest.mark.parametrize("statement", [s.strip() for line in STATEMENTS.splitlines() for s in line.split(";") if s])
def test_a_second_backward(statement):
    def outcome(lib):
        x = (lib.arange(9.0).reshape(3, 3) / 4 - 1).requires_grad_()
        result = eval(statement, {"lib": lib, "x": x}).sum()
        result.backward()
        try:
            result.backward()
        except RuntimeError as error:
            assert "second time" in str(error) or "freed" in str(error)
            return None
        return x.grad.tolist()

    assert outcome(norch) == outcome(torch)


def test_a_view_that_was_made_before_the_loop():
    def losses(lib):
        w = lib.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        turned, joined = w.T, lib.cat([w, w])
        seen = []
        for _ in range(3):
            loss = (turned @ lib.ones(2)).pow(2).sum()
            loss.backward()
            (joined.sum() + w.sum()).backward()
            with lib.no_grad():
                w -= 0.01 * w.grad
            w.grad = None
            seen.append(loss.item())
        return seen, w.tolist()

    ours, theirs = losses(norch), losses(torch)
    assert ours[0] == pytest.approx(theirs[0]) and sum(ours[1], []) == pytest.approx(sum(theirs[1], []))


def test_an_operation_of_a_user():
    def outcome(lib, saves):
        class Reversed(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                if saves:
                    ctx.save_for_backward(x)
                return x.clone()

            @staticmethod
            def backward(ctx, gradient):
                return -gradient if not ctx.saved_tensors else -gradient * 2

        x = lib.ones(2, requires_grad=True)
        y = Reversed.apply(x).sum()
        y.backward()
        with pytest.raises(RuntimeError, match="second time|freed"):
            y.backward()
        return x.grad.tolist()

    for saves in (False, True):
        assert outcome(norch, saves) == outcome(torch, saves)
