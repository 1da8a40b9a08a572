"""Packed and padded batches, and recurrent layers over them, against torch's."""

from __future__ import annotations

import itertools

import pytest
import torch
from test_oracle_sequence import flat, pair, same

import norch

LENGTHS = [[5, 3, 3, 1], [2, 4, 1], [3]]


def batches(lengths, batch_first):
    torch.manual_seed(1)
    theirs = torch.randn(len(lengths), max(lengths), 3, dtype=torch.float64)
    theirs = theirs if batch_first else theirs.transpose(0, 1).contiguous()
    return norch.from_numpy(theirs.numpy()), theirs


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_packing(lengths, batch_first):
    results = []
    for lib, x in zip((norch, torch), batches(lengths, batch_first)):
        rnn = lib.nn.utils.rnn
        packed = rnn.pack_padded_sequence(x, lib.tensor(lengths), batch_first, enforce_sorted=False)
        padded = rnn.pad_packed_sequence(packed, batch_first, padding_value=-1.0, total_length=6)
        rows = rnn.unpad_sequence(x, lib.tensor(lengths), batch_first)
        sides = [rnn.pad_sequence(rows, batch_first, 2.0, side) for side in ("left", "right")]
        results.append(flat([tuple(packed), padded, rows, sides, rnn.unpack_sequence(packed)]))
    assert len(results[0]) == len(results[1])
    for mine, theirs in zip(*results):
        same(mine, theirs)


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize(
    "name, options",
    [
        *(
            (name, {"num_layers": 2, "bidirectional": both})
            for name in ("RNN", "GRU", "LSTM")
            for both in (False, True)
        ),
        *(("LSTM", {"proj_size": 2, "bidirectional": both, "num_layers": 2}) for both in (False, True)),
    ],
)
def test_recurrent(name, options, lengths):
    mine, theirs = pair(name, 3, 4, **options)
    results = []
    for lib, layer, x in zip((norch, torch), (mine, theirs), batches(lengths, False)):
        x = x.clone().requires_grad_()
        packed = lib.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
        output, hidden = layer(packed)
        tensors = flat([output.data, hidden])
        sum((t * (0.1 + i) + t**2).sum() for i, t in enumerate(tensors)).backward()
        results.append([*tensors, x.grad, *(p.grad for p in layer.parameters())])
    for mine, theirs in itertools.zip_longest(*results):
        same(mine, theirs)
