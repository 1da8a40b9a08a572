"""Recurrent and attention layers against torch's, with torch's own state_dict loaded: outputs and all gradients."""

from __future__ import annotations

import itertools
import math
from importlib import import_module

import pytest
import torch
from test_oracle_torch import assert_same

import norch

SCALE = {"float32": 30, "float64": 100}  # of the tolerance: sums over steps in another order


def same(mine, theirs, dtype="float64"):
    assert_same(mine, theirs, scale=SCALE[dtype])


def pair(name, *sizes, dtype="float64", **options):
    """The module in both libraries, norch's with the values of torch's, through its state_dict as lists."""
    torch.manual_seed(0)
    theirs = getattr(torch.nn, name)(*sizes, **options).to(getattr(torch, dtype))
    mine = getattr(norch.nn, name)(*sizes, **options).to(getattr(norch, dtype))
    with torch.no_grad():
        for parameter in theirs.parameters():  # biases of 0 would hide errors
            parameter.uniform_(-0.7, 0.7)
    mine.load_state_dict({key: norch.tensor(value.tolist(), dtype=mine_dtype(value)) for key, value in state(theirs)})
    return mine, theirs


def state(module):
    return module.state_dict().items()


def mine_dtype(value):
    return getattr(norch, str(value.dtype).split(".")[1])


def tensors(*shapes, dtype="float64"):
    """The same random leaves for both."""
    torch.manual_seed(1)
    theirs = [torch.randn(shape, dtype=getattr(torch, dtype)).requires_grad_() for shape in shapes]
    mine = [norch.tensor(t.tolist(), dtype=getattr(norch, dtype)).reshape(t.shape).requires_grad_() for t in theirs]
    return [t.detach().requires_grad_() for t in mine], theirs


def flat(results):
    """All tensors in nested tuples."""
    if isinstance(results, (tuple, list)):
        return [t for r in results for t in flat(r)]
    return [] if results is None else [results]


def compare(mine, theirs, my_inputs, their_inputs, dtype="float64", **arguments):
    """Outputs, then the gradients of inputs and parameters under weights that differ by element."""
    my_results, their_results = flat(mine(*my_inputs, **arguments)), flat(theirs(*their_inputs, **arguments))
    assert len(my_results) == len(their_results)
    my_loss, their_loss = 0.0, 0.0
    for a, b in zip(my_results, their_results):
        same(a, b, dtype)
        weights = [math.sin(3 * i + 1) for i in range(b.numel())]
        my_loss = my_loss + (a * norch.tensor(weights, dtype=a.dtype).reshape(a.shape)).sum()
        their_loss = their_loss + (b * torch.tensor(weights, dtype=b.dtype).reshape(b.shape)).sum()
    my_loss.backward()
    their_loss.backward()
    for a, b in zip(flat(my_inputs), flat(their_inputs)):
        if b.grad is not None:
            same(a.grad, b.grad, dtype)
    if isinstance(theirs, torch.nn.Module):
        for (name, a), (their_name, b) in zip(mine.named_parameters(), theirs.named_parameters()):
            assert name == their_name
            if b.grad is None:
                assert a.grad is None
            else:
                same(a.grad, b.grad, dtype)


# ---- Recurrent -------------------------------------------------------------------------------------------------------

KINDS = ["RNN", "LSTM", "GRU"]
OPTIONS = [
    dict(zip(("num_layers", "bias", "batch_first", "bidirectional"), values))
    for values in itertools.product((1, 3), (True, False), (True, False), (True, False))
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("options", OPTIONS, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_recurrent(kind, options, dtype):
    mine, theirs = pair(kind, 3, 4, dtype=dtype, **options)
    compare(mine, theirs, *tensors((5, 6, 3), dtype=dtype), dtype=dtype)


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("kind", [*KINDS, "relu"])
def test_recurrent_with_initial_states(kind, bidirectional, batched):
    options = {"nonlinearity": "relu"} if kind == "relu" else {}
    mine, theirs = pair("RNN" if kind == "relu" else kind, 3, 4, num_layers=2, bidirectional=bidirectional, **options)
    states = (4 if bidirectional else 2, *([2] if batched else []), 4)
    (x, h, c), (tx, th, tc) = tensors((7, *([2] if batched else []), 3), states, states)
    both = [((x, (h, c)), (tx, (th, tc)))] if kind == "LSTM" else [((x, h), (tx, th))]
    for my_inputs, their_inputs in both:
        compare(mine, theirs, my_inputs, their_inputs)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", ["RNNCell", "LSTMCell", "GRUCell"])
def test_cells(kind, bias):
    mine, theirs = pair(kind, 3, 4, bias=bias)
    (x, h, c), (tx, th, tc) = tensors((5, 3), (5, 4), (5, 4))
    compare(mine, theirs, (x,), (tx,))
    mine.zero_grad()
    theirs.zero_grad()
    x.grad = tx.grad = None
    compare(mine, theirs, (x, (h, c) if kind[0] == "L" else h), (tx, (th, tc) if kind[0] == "L" else th))


@pytest.mark.parametrize("kind", KINDS)
def test_state_dict_has_torch_s_names_shapes_and_order(kind):
    mine, theirs = pair(kind, 3, 4, num_layers=2, bidirectional=True)
    assert [(k, list(v.shape)) for k, v in state(mine)] == [(k, list(v.shape)) for k, v in state(theirs)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_safetensors_file_of_torch_loads(kind, tmp_path):
    from safetensors.torch import save_file

    _, theirs = pair(kind, 3, 4, dtype="float32", num_layers=2, bidirectional=True)
    save_file(theirs.state_dict(), tmp_path / "weights.safetensors")
    mine = getattr(norch.nn, kind)(3, 4, num_layers=2, bidirectional=True)
    mine.load_state_dict(norch.load(tmp_path / "weights.safetensors"))
    compare(mine, theirs, *tensors((5, 6, 3), dtype="float32"), dtype="float32")


# ---- Attention -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shapes", [((4, 3), (5, 3), (5, 2)), ((2, 3, 4, 6), (2, 3, 5, 6), (2, 3, 5, 7))])
@pytest.mark.parametrize("mask", [None, "bool", "float", "row", "causal", "upper_left", "lower_right"])
@pytest.mark.parametrize("scale", [None, 0.3])
def test_scaled_dot_product_attention(shapes, mask, scale, dtype):
    mine, theirs = tensors(*shapes, dtype=dtype)
    allowed = [[True, False, True, True, False]] * 3 + [[False, True, False, False, False]]
    given = [{}, {}]
    for lib, options in zip((norch, torch), given):
        if mask == "bool":
            options["attn_mask"] = lib.tensor(allowed)
        elif mask == "float":
            rows = [[0.5 * i - 0.2 * j for j in range(5)] for i in range(4)]
            options["attn_mask"] = lib.tensor(rows, dtype=getattr(lib, dtype))
        elif mask == "row":  # one query sees nothing
            options["attn_mask"] = lib.tensor([[False] * 5, *allowed[1:]])
        elif mask == "causal":
            options["is_causal"] = True
        elif mask:
            options["attn_mask"] = getattr(import_module(f"{lib.__name__}.nn.attention.bias"), f"causal_{mask}")(4, 5)
    compare(
        lambda *x: norch.nn.functional.scaled_dot_product_attention(*x, scale=scale, **given[0]),
        lambda *x: torch.nn.functional.scaled_dot_product_attention(*x, scale=scale, **given[1]),
        mine,
        theirs,
        dtype,
    )


ATTENTION = [
    {},
    {"bias": False},
    {"batch_first": True},
    {"kdim": 3, "vdim": 5},
    {"kdim": 3, "batch_first": True, "bias": False},
    {"add_bias_kv": True},
    {"add_zero_attn": True},
    {"add_bias_kv": True, "add_zero_attn": True, "batch_first": True},
]


def both_masks(rows):
    """The same lists as a mask in either library."""
    return tuple(
        lib.tensor(rows, dtype=None if isinstance(rows[0][0], bool) else lib.float64) for lib in (norch, torch)
    )


MASKS = {
    "none": {},
    "padding": {"key_padding_mask": [[False, False, True, False, True], [False] * 5]},
    "padding float": {"key_padding_mask": [[0.0, 0.3, -0.5, 0.0, -math.inf], [0.1] * 5]},
    "attn": {"attn_mask": [[False, True, False, True, False]] * 3 + [[False] * 5]},
    "attn float": {"attn_mask": [[0.2 * i - 0.1 * j for j in range(5)] for i in range(4)]},
    "both": {
        "key_padding_mask": [[False, False, True, False, True], [False] * 5],
        "attn_mask": [[False, True, False, False, False]] * 4,
    },
}


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("masks", MASKS)
@pytest.mark.parametrize("options", ATTENTION, ids=repr)
def test_multihead_attention(options, masks, average):
    mine, theirs = pair("MultiheadAttention", 6, 2, **options)
    lengths = ((2, 4), (2, 5), (2, 5)) if options.get("batch_first") else ((4, 2), (5, 2), (5, 2))
    sizes = (6, options.get("kdim", 6), options.get("vdim", 6))
    my_inputs, their_inputs = tensors(*[(*length, size) for length, size in zip(lengths, sizes)])
    arguments = [{"average_attn_weights": average}, {"average_attn_weights": average}]
    for name, rows in MASKS[masks].items():
        for given, mask in zip(arguments, both_masks(rows)):
            given[name] = mask
    compare(
        Bound(mine, arguments[0]),
        Bound(theirs, arguments[1]),
        my_inputs,
        their_inputs,
    )
    for (name, a), (_, b) in zip(mine.named_parameters(), theirs.named_parameters()):
        assert name and (b.grad is None) == (a.grad is None)
        if b.grad is not None:
            same(a.grad, b.grad)


class Bound:
    """A module with keyword arguments of its own library."""

    def __init__(self, module, arguments):
        self.module, self.arguments = module, arguments

    def __call__(self, *inputs):
        return self.module(*inputs, **self.arguments)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("batched", [True, False])
def test_self_attention_under_a_causal_mask(batched, need_weights):
    mine, theirs = pair("MultiheadAttention", 6, 3)
    (x,), (tx,) = tensors((5, 2, 6) if batched else (5, 6))
    causal = [[j > i for j in range(5)] for i in range(5)]
    compare(
        lambda x: mine(x, x, x, attn_mask=norch.tensor(causal), is_causal=True, need_weights=need_weights),
        lambda x: theirs(x, x, x, attn_mask=torch.tensor(causal), is_causal=True, need_weights=need_weights),
        (x,),
        (tx,),
    )
    for (_, a), (_, b) in zip(mine.named_parameters(), theirs.named_parameters()):
        same(a.grad, b.grad)


def test_a_mask_for_each_head():
    mine, theirs = pair("MultiheadAttention", 6, 2)
    (x,), (tx,) = tensors((3, 2, 6))
    rows = [[[(i + j + k) % 3 == 0 for j in range(3)] for i in range(3)] for k in range(4)]
    compare(
        lambda x: mine(x, x, x, attn_mask=norch.tensor(rows)),
        lambda x: theirs(x, x, x, attn_mask=torch.tensor(rows)),
        (x,),
        (tx,),
    )


def assert_as_spread(name, mine, theirs):
    """Two samples of one distribution: their deviations differ by a few in the square root of their number."""
    deviation = torch.tensor(mine.tolist()).std().item()
    assert deviation == pytest.approx(theirs.std().item(), rel=3 / math.sqrt(theirs.numel()), abs=1e-9), name


def test_attention_starts_in_torch_s_distribution():
    """xavier_uniform_ for the joint projection, U(-1/sqrt(E), 1/sqrt(E)) for the output, zeros for the biases."""
    norch.manual_seed(0)
    torch.manual_seed(0)
    mine = norch.nn.MultiheadAttention(64, 4, add_bias_kv=True)
    theirs = torch.nn.MultiheadAttention(64, 4, add_bias_kv=True)
    for (name, a), (their_name, b) in zip(mine.named_parameters(), theirs.named_parameters()):
        assert name == their_name and list(a.shape) == list(b.shape)
        assert_as_spread(name, a, b)


# ---- Transformer -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_transformer_encoder_layer(activation, norm_first, batch_first, bias):
    options = {"activation": activation, "norm_first": norm_first, "batch_first": batch_first, "bias": bias}
    mine, theirs = pair("TransformerEncoderLayer", 6, 2, 9, 0.0, **options)
    (x,), (tx,) = tensors((4, 3, 6))
    compare(mine, theirs, (x,), (tx,))


def test_transformer_encoder_under_a_causal_mask():
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(6, 2, 9, 0.0, dtype=torch.float64)
    theirs = torch.nn.TransformerEncoder(layer, 2, torch.nn.LayerNorm(6).double(), enable_nested_tensor=False)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.uniform_(-0.7, 0.7)
    layer = norch.nn.TransformerEncoderLayer(6, 2, 9, 0.0, dtype=norch.float64)
    mine = norch.nn.TransformerEncoder(layer, 2, norch.nn.LayerNorm(6).double())
    mine.load_state_dict({key: norch.tensor(value.tolist(), dtype=norch.float64) for key, value in state(theirs)})
    assert list(mine.state_dict()) == list(theirs.state_dict())
    causal = [[j > i for j in range(4)] for i in range(4)]
    (x,), (tx,) = tensors((4, 3, 6))
    compare(
        lambda x: mine(x, norch.tensor(causal), is_causal=True),
        lambda x: theirs(x, torch.tensor(causal), is_causal=True),
        (x,),
        (tx,),
    )
    for (name, a), (_, b) in zip(mine.named_parameters(), theirs.named_parameters()):
        assert name
        same(a.grad, b.grad)


def test_transformer_starts_in_torch_s_distribution():
    norch.manual_seed(0)
    torch.manual_seed(0)
    mine, theirs = (lib.nn.TransformerEncoderLayer(32, 4, 64) for lib in (norch, torch))
    for (name, a), (their_name, b) in zip(mine.named_parameters(), theirs.named_parameters()):
        assert name == their_name and list(a.shape) == list(b.shape)
        assert_as_spread(name, a, b)
