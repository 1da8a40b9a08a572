"""The decoder and the whole transformer by their parts; options of attention; the function behind the module."""

import math

import pytest
from compare import close

import norch
from norch import nn
from norch.autograd import gradcheck
from norch.nn import functional as F


def random(*shape):
    return norch.randn(*shape, dtype=norch.float64)


@pytest.fixture(autouse=True)
def seeded():
    norch.manual_seed(6)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
def test_a_decoder_layer_by_its_parts(norm_first, batch_first):
    layer = nn.TransformerDecoderLayer(
        4, 2, 6, activation=F.silu, batch_first=batch_first, norm_first=norm_first, dtype=norch.float64
    ).eval()
    tgt, memory = random(2, 2, 4), random(2, 2, 4)
    mask = nn.Transformer.generate_square_subsequent_mask(2, dtype=norch.float64)
    padding = norch.tensor([[False, True], [False, False]])

    def own(x):
        return layer.self_attn(x, x, x, attn_mask=mask)[0]

    def other(x):
        return layer.multihead_attn(x, memory, memory, key_padding_mask=padding)[0]

    def feed(x):
        return layer.linear2(F.silu(layer.linear1(x)))

    x = tgt
    for part, norm in ((own, layer.norm1), (other, layer.norm2), (feed, layer.norm3)):
        x = x + part(norm(x)) if norm_first else norm(x + part(x))
    result = layer(tgt, memory, tgt_mask=mask, memory_key_padding_mask=padding, tgt_is_causal=True)
    close(result, x.tolist(), 1e-12)


def test_a_stack_of_decoder_layers_and_a_norm():
    layer = nn.TransformerDecoderLayer(4, 2, 6, dropout=0.0, dtype=norch.float64)
    stack = nn.TransformerDecoder(layer, 2, nn.LayerNorm(4, dtype=norch.float64))
    tgt, memory = random(3, 2, 4), random(5, 2, 4)
    close(stack(tgt, memory), stack.norm(layer(layer(tgt, memory), memory)).tolist(), 1e-12)
    assert stack.layers[0].linear1.weight is not layer.linear1.weight
    with pytest.raises(ValueError, match="num_layers is 0"):
        nn.TransformerDecoder(layer, 0)


@pytest.mark.parametrize("batch_first", [False, True])
def test_a_transformer_is_an_encoder_and_a_decoder(batch_first):
    model = nn.Transformer(4, 2, 1, 2, 6, batch_first=batch_first, dtype=norch.float64).eval()
    src, tgt = random(3, 3, 4), random(3, 3, 4)
    mask = model.generate_square_subsequent_mask(3, dtype=norch.float64)
    expected = model.decoder(tgt, model.encoder(src), tgt_mask=mask)
    close(model(src, tgt, tgt_mask=mask), expected.tolist(), 1e-12)
    assert all(p.grad is None for p in model.parameters())
    model(src, tgt, tgt_mask=mask).sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    bound = math.sqrt(6 / (12 + 4))
    assert 0.8 * bound < model.encoder.layers[0].self_attn.in_proj_weight.abs().max() <= bound
    assert mask.tolist() == [[0.0, -math.inf, -math.inf], [0.0, 0.0, -math.inf], [0.0, 0.0, 0.0]]
    with pytest.raises(RuntimeError, match="4 features"):
        model(random(3, 3, 5), tgt)


def test_own_encoders_and_one_sequence():
    class Twice(nn.Module):
        def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
            return src * 2

    model = nn.Transformer(4, 2, 1, 1, 6, custom_encoder=Twice(), dropout=0.0)
    src, tgt = norch.ones(5, 4), norch.ones(3, 4)
    close(model(src, tgt), model.decoder(tgt, src * 2).tolist())
    with pytest.raises(RuntimeError, match="batches differ"):
        model(norch.ones(5, 2, 4), norch.ones(3, 1, 4))
    with pytest.raises(RuntimeError, match="'swish'"):
        nn.Transformer(4, 2, activation="swish")


def test_groups_of_heads_share_keys():
    query, key, value = random(2, 4, 3, 5), random(2, 2, 6, 5), random(2, 2, 6, 5)
    expected = F.scaled_dot_product_attention(query, *(norch.stack([x, x], 2).flatten(1, 2) for x in (key, value)))
    close(F.scaled_dot_product_attention(query, key, value, enable_gqa=True), expected.tolist(), 1e-12)
    with pytest.raises(ValueError, match="enable_gqa"):
        F.scaled_dot_product_attention(query, key[:, :1].expand(2, 3, 6, 5), value, enable_gqa=True)


def test_the_function_behind_the_module():
    """One head, by hand; static keys; and its derivatives."""
    x, y = random(3, 2, 4), random(5, 2, 4)
    weight, bias, out = random(12, 4), random(12), random(4, 4)
    output, weights = F.multi_head_attention_forward(
        x, y, y, 4, 1, weight, bias, None, None, False, 0.0, out, None, need_weights=True
    )
    q, k, v = (F.linear(t, w, b).transpose(0, 1) for t, w, b in zip((x, y, y), weight.chunk(3), bias.chunk(3)))
    scores = ((q @ k.mT) / 2.0).softmax(-1)
    close(weights, scores.tolist(), 1e-12)
    close(output, ((scores @ v) @ out.T).transpose(0, 1).tolist(), 1e-12)
    static, _ = F.multi_head_attention_forward(
        x, y, y, 4, 1, weight, bias, None, None, False, 0.0, out, None, static_k=k, static_v=v
    )
    close(static, output.tolist(), 1e-12)

    def of(weight, out):
        return F.multi_head_attention_forward(x, y, y, 4, 2, weight, bias, None, None, True, 0.0, out, None)[0]

    assert gradcheck(of, (weight.requires_grad_(), out.requires_grad_()))
    with pytest.raises(ValueError, match="features"):
        F.multi_head_attention_forward(x, y, y, 6, 2, weight, bias, None, None, True, 0.0, out, None)
    with pytest.raises(RuntimeError, match="None"):
        F.multi_head_attention_forward(x, y, y, 4, 2, None, bias, None, None, True, 0.0, out, None)
