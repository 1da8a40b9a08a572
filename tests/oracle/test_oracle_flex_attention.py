"""flex_attention beside torch's, which has no gradients on the CPU: those are compared with its formula."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch.nn.attention.flex_attention as theirs  # noqa: E402

import norch  # noqa: E402
import norch.nn.attention.flex_attention as ours  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # (torch would rather compile it)
B, H, Q, K, E = 2, 4, 9, 11, 8
LIBRARIES = {torch: theirs, norch: ours}


def causal(b, h, q, k):
    return q >= k


def window(b, h, q, k):
    return q - k < 3


def of_lengths(lib):
    lengths = lib.tensor([5, 0])  # the second sequence is all padding
    return lambda b, h, q, k: (k < lengths[b]) & (q < 7)


def of_documents(lib):
    document = lib.arange(K) // 4
    return lambda b, h, q, k: document[q] == document[k]


MASKS = {
    "none": lambda lib, flex: None,
    "noop": lambda lib, flex: flex.noop_mask,
    "causal": lambda lib, flex: causal,
    "window": lambda lib, flex: flex.and_masks(causal, window),
    "either": lambda lib, flex: flex.or_masks(causal, window),
    "lengths": lambda lib, flex: of_lengths(lib),
    "documents": lambda lib, flex: flex.and_masks(causal, of_documents(lib)),
}
SCORES = {
    "none": lambda lib, bias: None,
    "alibi": lambda lib, bias: lambda score, b, h, q, k: score + bias[h] * (k - q),
    "soft cap": lambda lib, bias: lambda score, b, h, q, k: 5 * lib.tanh(score / 5),
    "hidden": lambda lib, bias: lambda score, b, h, q, k: lib.where(k < 4 * b, score, -float("inf")),
}


def tensors(lib, heads=H):
    rng = np.random.RandomState(0)
    shapes = (B, H, Q, E), (B, heads, K, E), (B, heads, K, E), (H,)
    return [lib.from_numpy(rng.randn(*shape).astype("float32")) for shape in shapes]


def block_mask(lib, mask):
    found = MASKS[mask](lib, LIBRARIES[lib])
    return found and LIBRARIES[lib].create_block_mask(found, B, None, Q, K, device="cpu")


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("mask", MASKS)
def test_values_are_torchs(mask, score):
    found = []
    for lib, flex in LIBRARIES.items():
        query, key, value, bias = tensors(lib)
        options = {"block_mask": block_mask(lib, mask), "scale": 0.3, "score_mod": SCORES[score](lib, bias)}
        found.append([flex.flex_attention(query, key, value, **options)])
        found[-1] += flex.flex_attention(query, key, value, return_lse=True, **options)
    for wanted, got in zip(*found):
        np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mask", [name for name in MASKS if name != "none"])
def test_masks_are_torchs(mask):
    wanted, got = (
        flex.create_mask(MASKS[mask](lib, flex), B, H, Q, K, device="cpu") for lib, flex in LIBRARIES.items()
    )
    assert got.tolist() == wanted.tolist()
    assert block_mask(norch, mask).shape == block_mask(torch, mask).shape


def test_heads_may_share_keys():
    found = []
    for lib, flex in LIBRARIES.items():
        query, key, value, bias = tensors(lib, heads=2)
        found.append([flex.flex_attention(query, key, value, enable_gqa=True)])
        score = SCORES["alibi"](lib, bias)
        found[-1].append(flex.flex_attention(query, key, value, score, enable_gqa=True))
    for wanted, got in zip(*found):
        np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mask", ["none", "window", "lengths"])
def test_gradients_are_those_of_the_formula(mask):
    query, key, value, bias = (x.requires_grad_() for x in tensors(norch))
    made = ours.flex_attention(query, key, value, SCORES["alibi"](norch, bias), block_mask(norch, mask))
    (made * made).sum().backward()
    expected = [x.requires_grad_() for x in tensors(torch)]
    q, k, v, b = expected
    scores = q @ k.transpose(2, 3) / E**0.5 + b[:, None, None] * (torch.arange(K) - torch.arange(Q)[:, None])
    if mask != "none":
        seen = theirs.create_mask(MASKS[mask](torch, theirs), B, H, Q, K, device="cpu")
        scores = scores.masked_fill(~seen, -1e30)
        v = v * seen.any(-1).any(-1)[..., None, None]
    result = scores.softmax(-1) @ v
    if mask != "none":
        result = result * seen.any(-1, keepdim=True)
    (result * result).sum().backward()
    for wanted, got in zip(expected, (query, key, value, bias)):
        np.testing.assert_allclose(got.grad.numpy(), wanted.grad.numpy(), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(made.detach().numpy(), result.detach().numpy(), rtol=1e-4, atol=1e-5)


def test_other_shapes_are_refused():
    x = norch.ones(2, 3, 4)
    with pytest.raises(ValueError, match="query is .*expected a tensor of 4 dimensions"):
        ours.flex_attention(x, x, x)


@pytest.mark.parametrize("mask", ["none", "causal", "lengths"])
@pytest.mark.parametrize("lse", [True, False])
def test_what_is_asked_for_besides(mask, lse):
    found = []
    for lib, flex in LIBRARIES.items():
        query, key, value, _ = tensors(lib)
        mod = MASKS[mask](lib, flex)
        blocks = None if mod is None else flex.create_block_mask(mod, B, None, Q, K, device="cpu")
        result, aux = flex.flex_attention(query, key, value, None, blocks, return_aux=flex.AuxRequest(lse=lse))
        assert aux.max_scores is None and (aux.lse is None) == (not lse)
        found.append([result, aux.lse] if lse else [result])
        with pytest.raises(ValueError, match="return_aux"):
            flex.flex_attention(query, key, value, return_lse=True, return_aux=flex.AuxRequest())
    for theirs_, ours_ in zip(*found):
        np.testing.assert_allclose(ours_.numpy(), theirs_.numpy(), rtol=1e-5, atol=1e-6)


def test_largest_scores():
    """PyTorch has none on the CPU."""
    query, key, value, _ = tensors(norch)
    _, aux = ours.flex_attention(query, key, value, return_aux=ours.AuxRequest(max_scores=True))
    scores = query.numpy() @ key.numpy().swapaxes(-1, -2) / E**0.5
    np.testing.assert_allclose(aux.max_scores.numpy(), scores.max(-1), rtol=1e-5)
