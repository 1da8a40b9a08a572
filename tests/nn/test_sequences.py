"""nn.utils.rnn: padded and packed batches; recurrent layers over packed ones, and with a projection."""

import copy
import itertools

import pytest
from compare import close

import norch
from norch import nn
from norch.autograd import gradcheck
from norch.nn.utils.rnn import (
    PackedSequence,
    invert_permutation,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
    unpad_sequence,
)

LENGTHS = [2, 5, 1, 5]


def sequences(lengths=LENGTHS, size=3):
    norch.manual_seed(2)
    return [norch.randn(length, size, dtype=norch.float64) for length in lengths]


# ---- Padding and packing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_first", [False, True])
def test_padding_and_back(batch_first):
    given = sequences()
    padded = pad_sequence(given, batch_first, padding_value=7.0)
    assert padded.shape == ([4, 5, 3] if batch_first else [5, 4, 3])
    first = padded[0] if batch_first else padded[:, 0]
    assert first[:2].tolist() == given[0].tolist() and (first[2:] == 7.0).all()
    again = unpad_sequence(padded, norch.tensor(LENGTHS), batch_first)
    assert [x.tolist() for x in again] == [x.tolist() for x in given]
    left = pad_sequence(given, batch_first=True, padding_side="left")
    assert left[0, 3:].tolist() == given[0].tolist() and (left[0, :3] == 0).all()


def test_a_packed_batch_holds_the_elements_step_by_step():
    packed = pack_sequence([norch.tensor([1, 2, 3]), norch.tensor([4, 5]), norch.tensor([6])])
    assert packed.data.tolist() == [1, 4, 6, 2, 5, 3] and packed.batch_sizes.tolist() == [3, 2, 1]
    assert packed.sorted_indices is None and packed.unsorted_indices is None and isinstance(packed, tuple)
    data, batch_sizes, *_ = packed
    assert data is packed.data and batch_sizes is packed.batch_sizes


@pytest.mark.parametrize("batch_first", [False, True])
def test_packing_and_back(batch_first):
    given = sequences()
    padded = pad_sequence(given, batch_first)
    packed = pack_padded_sequence(padded, LENGTHS, batch_first, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [4, 3, 2, 2, 2] and packed.data.shape == [13, 3]
    assert [LENGTHS[i] for i in packed.sorted_indices.tolist()] == [5, 5, 2, 1]
    assert packed.unsorted_indices.tolist() == invert_permutation(packed.sorted_indices).tolist()
    again, lengths = pad_packed_sequence(packed, batch_first)
    assert again.tolist() == padded.tolist() and lengths.tolist() == LENGTHS
    longer, _ = pad_packed_sequence(packed, batch_first, padding_value=9.0, total_length=7)
    assert longer.shape == ([4, 7, 3] if batch_first else [7, 4, 3]) and (longer[-1, -1] == 9.0).all()
    assert [x.tolist() for x in unpack_sequence(packed)] == [x.tolist() for x in given]


def test_packed_sequences_convert():
    packed = pack_sequence(sequences(), enforce_sorted=False)
    assert packed.float().data.dtype is norch.float32 and packed.float().to(norch.float64).dtype is norch.float64
    assert packed.cpu().sorted_indices.tolist() == packed.sorted_indices.tolist() and not packed.is_cuda
    assert packed.long().data.dtype is norch.int64 and packed.double().data.tolist() == packed.data.tolist()


def test_gradients_go_through_packing():
    def there_and_back(padded):
        return pad_packed_sequence(pack_padded_sequence(padded, [2, 3, 1], enforce_sorted=False), total_length=4)[0]

    assert gradcheck(there_and_back, (norch.ones(3, 3, 2, dtype=norch.float64, requires_grad=True),))


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: pack_padded_sequence(norch.ones(3, 2), [1, 3]), RuntimeError, r"\[1, 3\].*enforce_sorted"),
        (lambda: pack_padded_sequence(norch.ones(3, 2), [3, 0]), RuntimeError, "above 0"),
        (lambda: pack_padded_sequence(norch.ones(3, 2), [3]), RuntimeError, "2 lengths"),
        (lambda: pack_padded_sequence(norch.ones(3, 2), [4, 1]), RuntimeError, "length 4"),
        (lambda: pad_packed_sequence(pack_sequence([norch.ones(3)]), total_length=2), ValueError, "total_length is 2"),
        (lambda: pad_sequence([norch.ones(3), norch.ones(3, 2)]), ValueError, r"\[3, 2\].*\[3\]"),
        (lambda: pad_sequence([norch.ones(3)], padding_side="top"), RuntimeError, "'top'"),
        (lambda: pad_sequence([]), RuntimeError, "at least one"),
    ],
)
def test_packing_refuses(call, error, words):
    with pytest.raises(error, match=words):
        call()


# ---- Recurrent layers over packed batches ----------------------------------------------------------------------------


def layers():
    for kind, layers, bidirectional in itertools.product(("RNN", "GRU", "LSTM"), (1, 2), (False, True)):
        yield kind, {"num_layers": layers, "bidirectional": bidirectional}
    yield "LSTM", {"num_layers": 2, "bidirectional": True, "proj_size": 2}
    yield "LSTM", {"bias": False, "proj_size": 1}
    yield "RNN", {"nonlinearity": "relu", "bias": False}


def states_of(kind, hidden):
    return list(hidden) if kind == "LSTM" else [hidden]


@pytest.mark.parametrize("given_state", [False, True])
@pytest.mark.parametrize("kind, options", list(layers()))
def test_a_packed_batch_gives_what_each_sequence_gives_alone(kind, options, given_state):
    """Outputs, last states and the gradients of parameters and states."""
    norch.manual_seed(3)
    packed_layer = getattr(nn, kind)(3, 4, **options).double()
    single_layer = copy.deepcopy(packed_layer)
    rows = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    sizes = [options.get("proj_size") or 4, 4][: 2 if kind == "LSTM" else 1]
    starts = [norch.randn(rows, 4, size, dtype=norch.float64) for size in sizes]
    mine, theirs = ([s.clone().requires_grad_() for s in starts] for _ in range(2))

    def given(states):
        return None if not given_state else tuple(states) if kind == "LSTM" else states[0]

    output, hidden = packed_layer(pack_sequence(sequences(), enforce_sorted=False), given(mine))
    assert isinstance(output, PackedSequence)
    outputs, loss, expected = unpack_sequence(output), 0.0, 0.0
    for i, x in enumerate(sequences()):
        single, last = single_layer(x, given([s[:, i] for s in theirs]))
        close(outputs[i], single.tolist(), 1e-12)
        for state, one in zip(states_of(kind, hidden), states_of(kind, last)):
            close(state[:, i], one.tolist(), 1e-12)
            loss, expected = loss + (state[:, i] ** 2).sum(), expected + (one**2).sum()
        loss, expected = loss + (outputs[i] ** 3).sum(), expected + (single**3).sum()
    loss.backward()
    expected.backward()
    for a, b in zip([*packed_layer.parameters(), *mine], [*single_layer.parameters(), *theirs]):
        assert (a.grad is None) == (b.grad is None)
        if a.grad is not None:
            close(a.grad, b.grad.tolist(), 1e-9)


def test_a_projection_has_its_own_size():
    lstm = nn.LSTM(3, 6, 2, batch_first=True, bidirectional=True, proj_size=2)
    output, (h, c) = lstm(norch.ones(4, 5, 3))
    assert output.shape == [4, 5, 4] and h.shape == [4, 4, 2] and c.shape == [4, 4, 6]
    assert (
        lstm.weight_hr_l0.shape == [2, 6] and lstm.weight_ih_l1.shape == [24, 4] and lstm.weight_hh_l0.shape == [24, 2]
    )
    assert list(nn.LSTM(3, 6, proj_size=2).state_dict())[-1] == "weight_hr_l0"
    assert "proj_size=2" in repr(lstm)
    with pytest.raises(ValueError, match="proj_size"):
        nn.GRU(3, 6, proj_size=2)
    with pytest.raises(ValueError, match="proj_size is 6"):
        nn.LSTM(3, 6, proj_size=6)
    with pytest.raises(ValueError, match=r"h_0.*\[4, 4, 2\]"):
        lstm(norch.ones(4, 5, 3), (norch.zeros(4, 4, 6), norch.zeros(4, 4, 6)))


def test_what_programs_ask_of_recurrent_layers():
    gru = nn.GRU(3, 4, 2)
    assert gru.flatten_parameters() is None and gru.mode == "GRU" and nn.RNN(1, 1).mode == "RNN_TANH"
    assert [len(weights) for weights in gru.all_weights] == [4, 4] and gru.all_weights[1][0] is gru.weight_ih_l1
    assert gru._all_weights[1] == ["weight_ih_l1", "weight_hh_l1", "bias_ih_l1", "bias_hh_l1"]
    lstm = nn.LSTM(3, 4, bias=False, proj_size=2)
    assert lstm._flat_weights_names == ["weight_ih_l0", "weight_hh_l0", "weight_hr_l0"] == list(lstm.state_dict())
    assert all(x is y for x, y in zip(lstm._flat_weights, lstm.parameters()))
    lstm._flat_weights = [norch.zeros_like(weight) for weight in lstm.parameters()]
    assert lstm(norch.ones(1, 1, 3))[0].abs().sum() == 0 and lstm._parameters["weight_ih_l0"].any()
    with pytest.warns(UserWarning, match="dropout"):
        nn.GRU(3, 4, dropout=0.5)
    for wrong in ({"bias": 1}, {"batch_first": "yes"}):
        with pytest.raises(TypeError, match="expected True or False"):
            nn.LSTM(3, 4, **wrong)
    with pytest.raises(ValueError, match="float64.*float32"):
        gru(norch.ones(2, 1, 3).double())
    gru.reset_parameters()
    assert all(p.abs().max() <= 0.5 for p in gru.parameters())


def test_as_many_lengths_as_sequences():
    with pytest.raises(ValueError, match="1 lengths for a batch of 2"):
        nn.utils.rnn.unpad_sequence(norch.ones(2, 3), norch.tensor([2]), batch_first=True)


def test_packed_sequences_that_need_not_change_are_themselves():
    packed = nn.utils.rnn.pack_sequence([norch.rand(3), norch.rand(2)])
    assert packed.to("cpu") is packed.float() is packed.cpu() is packed.to(packed.data) is packed
    assert packed.to(norch.float64) is not packed and packed.to("cpu", copy=True) is not packed
