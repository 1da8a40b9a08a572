"""scaled_dot_product_attention and MultiheadAttention: the formula in plain Python, masks, derivatives, refusals."""

import math

import pytest
from compare import close

import norch
from norch import nn
from norch.autograd import gradcheck, gradgradcheck
from norch.nn import functional as F


def attention_in_python(query, key, value, allowed, scale):
    """Lists of vectors; `allowed[i][j]` says whether query i may see key j."""
    results = []
    for i, q in enumerate(query):
        scores = [sum(a * b for a, b in zip(q, k)) * scale for k in key]
        weights = [math.exp(s) if allowed[i][j] else 0.0 for j, s in enumerate(scores)]
        total = sum(weights) or 1.0
        results.append([sum(w * v[c] for w, v in zip(weights, value)) / total for c in range(len(value[0]))])
    return results


ALLOWED = {
    "all": [[True] * 3] * 4,
    "some": [[True, False, True], [False, True, False], [True, True, True], [False, False, True]],
    "none for one": [[True, False, True], [False, False, False], [True, True, True], [False, True, True]],
    "causal": [[j <= i for j in range(3)] for i in range(4)],
}


@pytest.mark.parametrize("scale", [None, 0.7])
@pytest.mark.parametrize("name", ALLOWED)
def test_attention_is_its_formula(name, scale, device):
    allowed = ALLOWED[name]
    query, key, value = (norch.randn(n, m, dtype=norch.float64, device=device) for n, m in ((4, 5), (3, 5), (3, 2)))
    expected = attention_in_python(
        query.tolist(), key.tolist(), value.tolist(), allowed, 1 / math.sqrt(5) if scale is None else scale
    )
    mask = norch.tensor(allowed, device=device)
    added = norch.where(mask, norch.zeros(4, 3, device=device), -math.inf)
    for options in [{"attn_mask": mask}, {"attn_mask": added}] + [{"is_causal": True}] * (name == "causal"):
        close(F.scaled_dot_product_attention(query, key, value, scale=scale, **options), expected, 1e-12)
    batch = F.scaled_dot_product_attention(query.expand(2, 3, 4, 5), key, value, mask, scale=scale)
    assert batch.shape == [2, 3, 4, 2]
    close(batch[1, 2], expected, 1e-12)


@pytest.mark.parametrize("name", ALLOWED)
def test_gradients_of_both_orders(name):
    inputs = [norch.randn(n, 2, dtype=norch.float64, requires_grad=True) for n in (4, 3, 3)]
    mask = norch.tensor(ALLOWED[name])
    assert gradcheck(lambda *x: F.scaled_dot_product_attention(*x, attn_mask=mask), inputs)
    assert gradgradcheck(lambda *x: F.scaled_dot_product_attention(*x, attn_mask=mask), inputs)


@pytest.mark.parametrize("dtype", [norch.float32, norch.float64, norch.bfloat16])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3), (1, 2, 0, 3), (0, 1, 3, 2)])
def test_the_result_is_stored_in_the_order_of_the_query(order, dtype, device):
    """By a kernel that also takes operands and a gradient of any order."""
    lengths, heads = (70, 300) if device == "cpu" else (37, 41), (2, 3)  # several blocks
    rows = [norch.randn(*heads, n, 4).to(device, dtype) for n in (lengths[0], lengths[1], lengths[1])]
    gradient = norch.randn(*heads, lengths[0], 4).to(device, dtype)
    back = [order.index(d) for d in range(4)]
    laid, like = ([x.permute(*order).contiguous().permute(*back) for x in (*rows, gradient)] for _ in range(2))
    results = []
    for *operands, arriving in ((*rows, gradient), laid, (*like[:3], gradient)):
        operands = [x.detach().requires_grad_() for x in operands]
        y = F.scaled_dot_product_attention(*operands)
        results.append([y, *norch.autograd.grad(y, operands, arriving)])
    for others in results[1:]:
        for got, wanted in zip(others, results[0]):
            assert norch.allclose(got, wanted, rtol=0.02 if dtype is norch.bfloat16 else 1e-4, atol=1e-4)
        assert others[0].stride() == (laid[0] if order[-1] == 3 else rows[0]).stride()


def test_heads_of_a_projection_merge_without_a_copy(device):
    x = norch.randn(2, 6, 3 * 32, device=device)
    query, key, value = (part.view(2, 6, 4, 8).transpose(1, 2) for part in x.chunk(3, -1))
    for options in ({}, {"is_causal": True}, {"attn_mask": norch.ones(6, 6, dtype=norch.bool, device=device)}):
        y = F.scaled_dot_product_attention(query, key, value, **options)
        assert y.transpose(1, 2).is_contiguous() and y.transpose(1, 2).view(2, 6, 32).shape == [2, 6, 32]
    flat = [norch.randn(6, 3, 8, device=device).transpose(0, 1) for _ in range(3)]
    assert F.scaled_dot_product_attention(*flat).is_contiguous()  # three dimensions: as PyTorch's


@pytest.mark.parametrize("lengths", [(70, 300), (130, 20)])  # of queries and keys: several blocks, and parts of one
@pytest.mark.parametrize("masked", ["no", "bool", "added", "causal"])
def test_blocks_are_the_formula(lengths, masked):
    """Values and gradients, by running maxima and sums, against a matrix of all scores; the maxima grow on the way."""
    queries, keys = lengths
    query = norch.randn(2, queries, 4, dtype=norch.float64, requires_grad=True)
    key, value = (norch.randn(2, keys, n, dtype=norch.float64) for n in (4, 3))
    key = (key * norch.linspace(0.1, 5, keys, dtype=norch.float64).unsqueeze(1)).detach().requires_grad_()
    value.requires_grad_()
    allowed = norch.rand(queries, keys) > 0.3
    allowed[5] = False
    added = norch.randn(2, queries, keys, dtype=norch.float64)
    options = {"bool": {"attn_mask": allowed}, "added": {"attn_mask": added}, "causal": {"is_causal": True}}
    result = F.scaled_dot_product_attention(query, key, value, **options.get(masked, {}))
    scores = query @ key.mT / 2
    if masked == "added":
        scores = scores + added
    seen = {"bool": allowed, "causal": norch.ones(queries, keys).tril() > 0}.get(masked, norch.tensor(True))
    weights = norch.where(seen, (scores - scores.detach().amax(-1, keepdim=True)).exp(), 0.0)
    expected = weights @ value / weights.sum(-1, keepdim=True).clamp(min=1e-300)
    close(result, expected.tolist(), 1e-11)
    direction = norch.randn(*result.shape, dtype=norch.float64)
    found = norch.autograd.grad(result, [query, key, value], direction)
    for gradient, other in zip(found, norch.autograd.grad(expected, [query, key, value], direction)):
        close(gradient, other.tolist(), 1e-10)


def test_gradients_of_dropout_drop_the_same_weights():
    def dropped(*tensors):
        norch.manual_seed(3)
        return F.scaled_dot_product_attention(*tensors, dropout_p=0.4)

    inputs = [norch.randn(2, 5, 3, dtype=norch.float64, requires_grad=True) for _ in range(3)]
    assert gradcheck(dropped, inputs) and gradgradcheck(dropped, inputs)


def test_a_learnt_mask_has_gradients():
    mask = norch.randn(2, 3, dtype=norch.float64, requires_grad=True)
    query, key = norch.randn(2, 4, dtype=norch.float64), norch.randn(3, 4, dtype=norch.float64)
    assert gradcheck(lambda m: F.scaled_dot_product_attention(query, key, key, m), mask)


def test_huge_scores_stay_finite():
    x = norch.Tensor([[1000.0, 0.0], [0.0, 1000.0]]).requires_grad_()
    y = F.scaled_dot_product_attention(x, x, x)
    y.sum().backward()
    close(y, x.tolist())
    assert x.grad.isfinite().all()


def test_dropout_drops_weights():
    norch.manual_seed(0)
    query, key = norch.zeros(1, 2), norch.zeros(1000, 2)
    value = norch.ones(1000, 1)
    means = [F.scaled_dot_product_attention(query, key, value, dropout_p=p).item() for p in (0.0, 0.25, 1.0)]
    assert means[0] == pytest.approx(1.0, rel=1e-5) and means[2] == 0.0 and 0 < abs(means[1] - 1.0) < 0.1


@pytest.mark.parametrize("need_weights", [True, False])
def test_the_output_of_multihead_attention_lies_in_row_order(need_weights):
    output, _ = nn.MultiheadAttention(4, 2)(*[norch.rand(3, 2, 4)] * 3, need_weights=need_weights)
    assert output.view(-1, 4).shape == [6, 4]


def test_multihead_attention_is_attention_in_subspaces():
    """Two heads of two features with written-out projections are two attentions side by side."""
    layer = nn.MultiheadAttention(4, 2, batch_first=True)
    x = norch.randn(3, 5, 4)
    output, weights = layer(x, x, x, average_attn_weights=False)
    q, k, v = (F.linear(x, w, b) for w, b in zip(layer.in_proj_weight.chunk(3), layer.in_proj_bias.chunk(3)))
    heads = [F.scaled_dot_product_attention(*(t[..., s : s + 2] for t in (q, k, v))) for s in (0, 2)]
    close(output, layer.out_proj(norch.cat(heads, -1)).tolist())
    assert weights.shape == [3, 2, 5, 5]
    close(weights.sum(-1), [[[1.0] * 5] * 2] * 3)
    averaged = layer(x, x, x)[1]
    close(averaged, weights.mean(1).tolist())
    assert layer(x, x, x, need_weights=False)[1] is None


def test_padding_does_not_matter():
    layer = nn.MultiheadAttention(4, 2, batch_first=True)
    x = norch.randn(2, 5, 4)
    mask = norch.tensor([[False] * 3 + [True] * 2, [False] * 5])
    output = layer(x, x, x, key_padding_mask=mask)[0]
    close(output[0, :3], layer(x[0, :3], x[0, :3], x[0, :3])[0].tolist())
    close(output[1], layer(x[1], x[1], x[1])[0].tolist())


def test_a_query_that_sees_nothing_gets_the_output_s_bias():
    layer = nn.MultiheadAttention(4, 2)
    norch.nn.init.constant_(layer.out_proj.bias, 0.5)
    x = norch.randn(3, 1, 4, requires_grad=True)
    output, weights = layer(x, x, x, attn_mask=norch.tensor([[True] * 3, [False] * 3, [True] * 3]))
    assert output[0, 0].tolist() == [0.5] * 4 and weights[0, 0].tolist() == [0.0] * 3
    output.sum().backward()
    assert x.grad.isfinite().all() and all(p.grad.isfinite().all() for p in layer.parameters())


def test_dropout_is_for_training():
    layer = nn.MultiheadAttention(4, 2, dropout=0.5)
    x = norch.randn(6, 2, 4)
    assert layer(x, x, x)[0].tolist() != layer(x, x, x)[0].tolist()
    layer.eval()
    assert layer(x, x, x)[0].tolist() == layer(x, x, x)[0].tolist()


def test_names_and_printing():
    names = [name for name, _ in nn.MultiheadAttention(4, 2).named_parameters()]
    assert names == ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    layer = nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True, dtype=norch.float64)
    assert list(layer.state_dict())[:3] == ["q_proj_weight", "k_proj_weight", "v_proj_weight"]
    assert layer.k_proj_weight.shape == [4, 3] and layer.bias_k.dtype is norch.float64
    assert "MultiheadAttention(\n   (parameters): embed_dim=4, num_heads=2" in str(layer)


def test_nothing_leaks(no_leak):
    layer = nn.MultiheadAttention(4, 2, add_bias_kv=True)
    x = norch.randn(3, 2, 4)
    layer(x, x, x, attn_mask=norch.ones(3, 3, dtype=norch.bool).triu(1))[0].sum().backward()


LAYER = nn.MultiheadAttention(4, 2)
X = norch.ones(3, 2, 4)


@pytest.mark.parametrize(
    "use, error, words",
    [
        (lambda: F.scaled_dot_product_attention(X, X, [1.0]), TypeError, "list"),
        (lambda: F.scaled_dot_product_attention(X.long(), X, X), RuntimeError, "int64"),
        (lambda: F.scaled_dot_product_attention(norch.ones(4), X, X), ValueError, r"query \[4\]"),
        (
            lambda: F.scaled_dot_product_attention(norch.ones(3, 2, 5), X, X),
            ValueError,
            r"\[3, 2, 5\].*\[\.\.\., L, E\]",
        ),
        (lambda: F.scaled_dot_product_attention(X, X, X, norch.ones(2, 2), is_causal=True), RuntimeError, "both"),
        (lambda: F.scaled_dot_product_attention(X, X, X, norch.ones(2, 2).long()), RuntimeError, "int64.*bool"),
        (lambda: F.scaled_dot_product_attention(X, X, X, [[True]]), TypeError, "attn_mask is a list"),
        (lambda: F.scaled_dot_product_attention(X, X, X, dropout_p=2.0), ValueError, "2.0"),
        (lambda: nn.MultiheadAttention(4, 3), ValueError, "4 is not a multiple of num_heads 3"),
        (lambda: nn.MultiheadAttention(0, 1), ValueError, "embed_dim is 0"),
        (lambda: LAYER(X, X, [1.0]), TypeError, "value is a list"),
        (lambda: LAYER(X[..., :3], X, X), ValueError, r"query has shape \[3, 2, 3\]"),
        (lambda: LAYER(X, X[0], X[0]), ValueError, r"key has shape \[2, 4\]"),
        (lambda: LAYER(X, X[:2], X), ValueError, r"key \[2, 2, 4\], value \[3, 2, 4\]"),
        (lambda: LAYER(X[:, :1], X, X), ValueError, r"query \[3, 1, 4\]"),
        (lambda: LAYER(X, X, X, is_causal=True), RuntimeError, "there is none"),
        (lambda: LAYER(X, X, X, attn_mask=norch.ones(2, 3)), ValueError, r"\[2, 3\].*\[3, 3\] or \[4, 3, 3\]"),
        (lambda: LAYER(X, X, X, key_padding_mask=norch.ones(3, 2)), ValueError, r"\[3, 2\].*\[2, 3\]"),
        (lambda: LAYER(X, X, X, key_padding_mask=norch.ones(2, 3).long()), RuntimeError, "key_padding_mask.*int64"),
    ],
)
def test_refusals(use, error, words):
    with pytest.raises(error, match=words):
        use()


# ---- Transformer -----------------------------------------------------------------------------------------------------


def test_a_causal_encoder_does_not_look_ahead():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, norm_first=True), 2, nn.LayerNorm(4)).eval()
    assert encoder.layers[0].linear1.weight is not encoder.layers[1].linear1.weight
    mask = norch.ones(5, 5, dtype=norch.bool).triu(1)
    x = norch.randn(5, 3, 4)
    output = encoder(x, mask, is_causal=True)
    changed = norch.cat([x[:3], norch.randn(2, 3, 4)])
    close(encoder(changed, mask)[:3], output[:3].tolist())
    assert (encoder(changed, mask)[3:] - output[3:]).abs().max().item() > 1e-3
    padded = encoder(x[:, 0], src_key_padding_mask=norch.tensor([False] * 3 + [True] * 2))[:3]
    close(padded, encoder(x[:3, 0]).tolist())


def test_a_transformer_learns_to_copy_what_stood_two_places_before():
    norch.manual_seed(0)
    embed, head = nn.Embedding(4, 16), nn.Linear(16, 4)
    place = nn.Parameter(norch.randn(8, 1, 16) * 0.5)
    encoder = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0)
    parameters = [*embed.parameters(), *head.parameters(), *encoder.parameters(), place]
    optimizer = norch.optim.Adam(parameters, lr=0.01)
    mask = norch.ones(8, 8, dtype=norch.bool).triu(1)
    for _ in range(150):
        x = norch.randint(0, 4, (8, 32))
        scores = head(encoder(embed(x) + place, mask))[2:]
        loss = F.cross_entropy(scores.reshape(-1, 4), x[:-2].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1


def test_transformer_refuses():
    with pytest.raises(RuntimeError, match="'tanh'.*'gelu'"):
        nn.TransformerEncoderLayer(4, 2, activation="tanh")
    with pytest.raises(ValueError, match="num_layers is 0"):
        nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 0)
    with pytest.raises(ValueError, match="num_layers"):  # and does not copy layers until memory ends
        nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2**63)


def test_keys_shared_by_all_heads_get_the_sum_of_their_gradients():
    query, key, value = (norch.randn(2, heads, 3, 4, requires_grad=True) for heads in (5, 1, 1))
    inputs = (query, key, value)
    got = norch.autograd.grad(F.scaled_dot_product_attention(*inputs).square().sum(), inputs)
    wanted = norch.autograd.grad(((query @ key.mT / 2).softmax(-1) @ value).square().sum(), inputs)
    assert all(norch.allclose(a, b, atol=1e-5) and a.shape == b.shape for a, b in zip(got, wanted))
