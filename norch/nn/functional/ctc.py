"""Connectionist temporal classification: the loss of a sequence of labels whose places in time are unknown.

Graves et al., "Connectionist Temporal Classification: Labelling Unsegmented Sequence Data with Recurrent Neural
Networks" (2006). Sizes: T steps, N sequences, C classes, S labels of the longest target, L = 2 S + 1 states.
"""

from __future__ import annotations

from functools import partial
from math import inf
from typing import Sequence, Union

from ..._C import ShapeError
from ...arguments import flags, sizes_of
from ...autograd.derivatives import by_formula
from ...functions.creation import full, tensor, where
from ...functions.joining import cat, stack
from ...functions.ranges import arange
from ...operation import check_range
from ...tensor import Tensor
from ...types import int64
from .checks import check_floats, check_integers, check_tensors
from .fused import fused_or
from .losses import check_reduction, reduced

__all__ = ["ctc_loss"]

Lengths = Union[Tensor, Sequence[int], int]
_NEVER = -1e30  # the logarithm of no probability: sums and derivatives of infinities would be NaN


@flags
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """-log of the probability of the targets, summed over all ways to place them in time, with `blank` between.

    `log_probs` [T, N, C] are logarithms of softmax; the targets are [N, S], or all one after the other in one
    dimension; the lengths are [N]. For one sequence: [T, C], [S] and a number each. The loss is [N] (no dimensions for
    one sequence) if reduction is "none"; "mean" divides each by the length of its target first. Its dtype is that of
    log_probs, which is floating. It is infinite if the target does not fit the length; `zero_infinity` makes that 0.
    Raises RuntimeError for lengths that are no integers, and for lengths or a blank out of range.

    >>> log_probs = norch.zeros(3, 1, 2).log_softmax(2)
    >>> F.ctc_loss(log_probs, norch.tensor([[1]]), [3], [1])  # 6 of 8 ways
    tensor(0.2877)
    """
    check_reduction(reduction)
    check_tensors("ctc_loss", targets)
    check_floats("ctc_loss", log_probs)
    single = log_probs.ndim == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
    if log_probs.ndim != 3:
        raise ShapeError(f"ctc_loss: log_probs has shape {list(log_probs.shape)}, expected [T, N, C] or [T, C]")
    steps, samples, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"ctc_loss: blank is {blank}, expected 0 to {classes - 1}")
    used = _lengths("input_lengths", input_lengths, samples, steps)
    sizes = _lengths("target_lengths", target_lengths, samples, None)
    labels = _padded(targets, sizes, single, blank)

    device = log_probs.device
    ends, lengths = _on(device, sizes), _on(device, used)
    labels = labels.to(device)
    check_range(labels, 0, classes - 1, f"ctc_loss: a target is {{}}, expected 0 to {classes - 1}")
    loss = fused_or(partial(by_formula.ctc, _losses), _losses, log_probs, labels, stack([lengths, ends]), blank)
    if zero_infinity:
        loss = where(loss == inf, 0.0, loss)
    if reduction == "mean":
        loss = loss / ends.clamp(min=1).to(loss.dtype)
    return reduced(loss.reshape(()) if single else loss, reduction)


def _losses(log_probs: Tensor, labels: Tensor, both: Tensor, blank: int) -> Tensor:
    """The loss of each sequence; an infinite one has the gradient 0. `both`: its length, and that of its labels."""
    lengths, ends = both.unbind()
    loss = -_log_probability(log_probs, labels, lengths, ends, blank)
    impossible = loss > -_NEVER / 2
    # PyTorch's derivative is that along log_softmax's input: it adds the probabilities, which log_softmax takes away
    steps = arange(log_probs.shape[0], device=log_probs.device).unsqueeze(1)
    counted = (steps < lengths).logical_and(impossible.logical_not())
    total = where(counted.unsqueeze(2), log_probs, _NEVER).exp().sum((0, 2))
    return where(impossible, inf, loss + (total - total.detach()))


def _log_probability(log_probs: Tensor, labels: Tensor, lengths: Tensor, ends: Tensor, blank: int) -> Tensor:
    """The logarithm of the probability of each sequence of labels, [N], near _NEVER if it has none.

    State 2 s + 1 has read label s, state 2 s the blank before it. A step stays, or goes on by one state, or by two to
    a label that differs from the one before.
    """
    samples, count = labels.shape
    device = labels.device
    states = stack([full([samples, count], blank, dtype=int64, device=device), labels], 2).reshape(samples, -1)
    states = cat([states, full([samples, 1], blank, dtype=int64, device=device)], 1)  # [N, L]
    steps, size = log_probs.shape[0], states.shape[1]
    scores = log_probs.clamp(min=_NEVER).gather(2, states.expand(steps, samples, size))  # [T, N, L]
    never = full([samples, 2], _NEVER, dtype=log_probs.dtype, device=device)

    skips = cat([full([samples, 2], blank, dtype=int64, device=device), states], 1)[:, :-2]
    may_skip = (states != blank).logical_and(states != skips)
    first = arange(size, device=device) < 2
    alpha = where(first, scores[0], _NEVER) if steps else never[:, :1].expand(samples, size)
    for t in range(1, steps):
        earlier = cat([never, alpha], 1)
        ways = stack([alpha, earlier[:, 1:-1], where(may_skip, earlier[:, :-2], _NEVER)])
        alpha = where((lengths > t).unsqueeze(1), ways.logsumexp(0) + scores[t], alpha)

    last = 2 * ends.unsqueeze(1)
    at_blank = alpha.gather(1, last)
    at_label = where(last > 0, alpha.gather(1, (last - 1).clamp(min=0)), _NEVER)
    result = cat([at_blank, at_label], 1).logsumexp(1)
    # without a step only the empty target is read
    return where(lengths > 0, result, where(ends == 0, 0.0, _NEVER))


def _lengths(name: str, given: Lengths, samples: int, largest: int | None) -> list[int] | Tensor:
    """One length for each sequence, from 0 to `largest`. Those of a tensor stay there: the host does not wait."""
    if isinstance(given, Tensor):
        check_integers("ctc_loss", name, given)
    message = f"ctc_loss: {name} has {{}}, expected 0 to {largest}"
    lengths = (
        given.reshape(-1).long() if isinstance(given, Tensor) else given if not isinstance(given, int) else [given]
    )
    if len(lengths) != samples:
        raise RuntimeError(f"ctc_loss: {name} has {len(lengths)} lengths, expected {samples}, one for each sequence")
    if isinstance(lengths, Tensor):
        check_range(lengths, 0, inf if largest is None else largest, message)
        return lengths
    listed = sizes_of((list(lengths),), f"ctc_loss: {name}")
    for length in listed:
        if length < 0 or (largest is not None and length > largest):
            raise RuntimeError(message.format(length))
    return listed


def _padded(targets: Tensor, sizes: list[int] | Tensor, single: bool, blank: int) -> Tensor:
    """The targets as [N, S] labels, `blank` beyond the length of each."""
    if single and isinstance(sizes, Tensor) and targets.ndim == 1:
        targets, single = targets.unsqueeze(0), False
    if targets.ndim == 2 and not single:
        found = list(targets.shape)
        if targets.shape[0] != len(sizes):
            raise RuntimeError(
                f"ctc_loss: targets has shape {found}, expected one row for each of {len(sizes)} lengths"
            )
        message = f"ctc_loss: targets has shape {found}, expected at least {{}} labels a row"
        check_range(_on(targets.device, sizes), 0, targets.shape[1], message)
        places = arange(targets.shape[1], device=targets.device)
        return where(places < _on(targets.device, sizes).unsqueeze(1), targets.long(), blank)
    counts = sizes.tolist() if isinstance(sizes, Tensor) else sizes
    flat, longest = targets.reshape(-1).tolist(), max(counts, default=0)
    if targets.ndim > 2 or sum(counts) > len(flat):
        raise RuntimeError(f"ctc_loss: targets has shape {list(targets.shape)}, expected {sum(counts)} labels")
    rows, start = [], 0
    for size in counts:
        rows.append(flat[start : start + size] + [blank] * (longest - size))
        start += size
    return tensor(rows, dtype=int64, device=targets.device).reshape(len(counts), longest)


def _on(device: str, lengths: list[int] | Tensor) -> Tensor:
    return lengths.to(device) if isinstance(lengths, Tensor) else tensor(lengths, dtype=int64, device=device)
