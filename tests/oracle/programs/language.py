"""Language models without recurrence, word vectors, translation by a transformer, and a tagger with a CRF."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim


def crf_tagger(start):
    def argmax(vec):
        _, idx = torch.max(vec, 1)
        return idx.item()

    def log_sum_exp(vec):
        max_score = vec[0, argmax(vec)]
        max_score_broadcast = max_score.view(1, -1).expand(1, vec.size()[1])
        return max_score + torch.log(torch.sum(torch.exp(vec - max_score_broadcast)))

    START_TAG, STOP_TAG = "<START>", "<STOP>"

    class BiLSTM_CRF(nn.Module):
        def __init__(self, vocab_size, tag_to_ix, embedding_dim, hidden_dim):
            super().__init__()
            self.hidden_dim, self.tag_to_ix, self.tagset_size = hidden_dim, tag_to_ix, len(tag_to_ix)
            self.word_embeds = nn.Embedding(vocab_size, embedding_dim)
            self.lstm = nn.LSTM(embedding_dim, hidden_dim // 2, num_layers=1, bidirectional=True)
            self.hidden2tag = nn.Linear(hidden_dim, self.tagset_size)
            self.transitions = nn.Parameter(torch.randn(self.tagset_size, self.tagset_size))
            self.transitions.data[tag_to_ix[START_TAG], :] = -10000
            self.transitions.data[:, tag_to_ix[STOP_TAG]] = -10000
            self.hidden = self.init_hidden()

        def init_hidden(self):
            return (torch.ones(2, 1, self.hidden_dim // 2) / 2, torch.ones(2, 1, self.hidden_dim // 2) / 3)

        def _forward_alg(self, feats):
            init_alphas = torch.full((1, self.tagset_size), -10000.0)
            init_alphas[0][self.tag_to_ix[START_TAG]] = 0.0
            forward_var = init_alphas
            for feat in feats:
                alphas_t = []
                for next_tag in range(self.tagset_size):
                    emit_score = feat[next_tag].view(1, -1).expand(1, self.tagset_size)
                    trans_score = self.transitions[next_tag].view(1, -1)
                    next_tag_var = forward_var + trans_score + emit_score
                    alphas_t.append(log_sum_exp(next_tag_var).view(1))
                forward_var = torch.cat(alphas_t).view(1, -1)
            return log_sum_exp(forward_var + self.transitions[self.tag_to_ix[STOP_TAG]])

        def _get_lstm_features(self, sentence):
            self.hidden = self.init_hidden()
            embeds = self.word_embeds(sentence).view(len(sentence), 1, -1)
            lstm_out, self.hidden = self.lstm(embeds, self.hidden)
            return self.hidden2tag(lstm_out.view(len(sentence), self.hidden_dim))

        def _score_sentence(self, feats, tags):
            score = torch.zeros(1)
            tags = torch.cat([torch.tensor([self.tag_to_ix[START_TAG]], dtype=torch.long), tags])
            for i, feat in enumerate(feats):
                score = score + self.transitions[tags[i + 1], tags[i]] + feat[tags[i + 1]]
            return score + self.transitions[self.tag_to_ix[STOP_TAG], tags[-1]]

        def neg_log_likelihood(self, sentence, tags):
            feats = self._get_lstm_features(sentence)
            return self._forward_alg(feats) - self._score_sentence(feats, tags)

    tag_to_ix = {"B": 0, "I": 1, "O": 2, START_TAG: 3, STOP_TAG: 4}
    model = start(BiLSTM_CRF(6, tag_to_ix, 5, 4))
    optimizer = optim.SGD(model.parameters(), lr=0.01, weight_decay=1e-4)
    losses = []
    for epoch in range(4):
        for sentence, tags in [([0, 1, 2, 3], [0, 1, 2, 2]), ([4, 5, 1], [0, 2, 1])]:
            model.zero_grad()
            loss = model.neg_log_likelihood(torch.tensor(sentence), torch.LongTensor(tags))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def minigpt(start):
    class CausalSelfAttention(nn.Module):
        def __init__(self, n_embd, n_head, block_size):
            super().__init__()
            assert n_embd % n_head == 0
            self.c_attn = nn.Linear(n_embd, 3 * n_embd)
            self.c_proj = nn.Linear(n_embd, n_embd)
            self.n_head, self.n_embd = n_head, n_embd
            self.flash = hasattr(torch.nn.functional, "scaled_dot_product_attention")
            self.register_buffer(
                "bias", torch.tril(torch.ones(block_size, block_size)).view(1, 1, block_size, block_size)
            )

        def forward(self, x, flash):
            B, T, C = x.size()
            q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
            k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
            q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
            v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
            if flash and self.flash:
                y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0, is_causal=True)
            else:
                att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
                att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
                y = F.softmax(att, dim=-1) @ v
            return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))

    class Block(nn.Module):
        def __init__(self, n_embd, n_head, block_size):
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
            self.attn = CausalSelfAttention(n_embd, n_head, block_size)
            self.mlp = nn.ModuleDict(dict(c_fc=nn.Linear(n_embd, 4 * n_embd), c_proj=nn.Linear(4 * n_embd, n_embd)))

        def forward(self, x, flash):
            x = x + self.attn(self.ln_1(x), flash)
            return x + self.mlp.c_proj(F.gelu(self.mlp.c_fc(self.ln_2(x)), approximate="tanh"))

    class GPT(nn.Module):
        def __init__(self, vocab_size=13, block_size=8, n_embd=16, n_head=2, n_layer=2):
            super().__init__()
            self.transformer = nn.ModuleDict(
                dict(
                    wte=nn.Embedding(vocab_size, n_embd),
                    wpe=nn.Embedding(block_size, n_embd),
                    h=nn.ModuleList([Block(n_embd, n_head, block_size) for _ in range(n_layer)]),
                    ln_f=nn.LayerNorm(n_embd),
                )
            )
            self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)
            self.transformer.wte.weight = self.lm_head.weight
            self.apply(self._init_weights)
            for pn, p in self.named_parameters():
                if pn.endswith("c_proj.weight"):
                    torch.nn.init.normal_(p, mean=0.0, std=0.02 / math.sqrt(2 * n_layer))

        def _init_weights(self, module):
            if isinstance(module, (nn.Linear, nn.Embedding)):
                torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)
                if isinstance(module, nn.Linear) and module.bias is not None:
                    torch.nn.init.zeros_(module.bias)

        def forward(self, idx, targets=None, flash=True):
            b, t = idx.size()
            pos = torch.arange(0, t, dtype=torch.long, device=idx.device)
            x = self.transformer.wte(idx) + self.transformer.wpe(pos)
            for block in self.transformer.h:
                x = block(x, flash)
            x = self.transformer.ln_f(x)
            if targets is None:
                return self.lm_head(x[:, [-1], :]), None
            logits = self.lm_head(x)
            return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)

        @torch.no_grad()
        def generate(self, idx, max_new_tokens, top_k=None):
            for _ in range(max_new_tokens):
                logits, _ = self(idx if idx.size(1) <= 8 else idx[:, -8:])
                logits = logits[:, -1, :] / 0.8
                v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
                logits[logits < v[:, [-1]]] = -float("Inf")
                probs = F.softmax(logits, dim=-1)
                idx_next = torch.multinomial(probs, num_samples=1)
                idx = torch.cat((idx, idx_next), dim=1)
            return idx

    torch.backends.cuda.matmul.allow_tf32 = True
    model = start(GPT())
    model = torch.compile(model) if False else model
    param_dict = {pn: p for pn, p in model.named_parameters() if p.requires_grad}
    decay = [p for n, p in param_dict.items() if p.dim() >= 2]
    nodecay = [p for n, p in param_dict.items() if p.dim() < 2]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": nodecay, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-2, betas=(0.9, 0.95), fused=False)
    data = np.random.RandomState(0).randint(0, 13, 200).astype(np.int64)
    losses = []
    for step in range(5):
        ix = [(step * 17 + 5 * k) % 150 for k in range(4)]
        x = torch.stack([torch.from_numpy(data[i : i + 8].astype(np.int64)) for i in ix])
        y = torch.stack([torch.from_numpy(data[i + 1 : i + 9]) for i in ix])
        logits, loss = model(x, y, flash=step % 2 == 0)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.item())
    model.eval()
    out = model.generate(torch.zeros((1, 1), dtype=torch.long), 10, top_k=1)[0].tolist()
    return losses + [float(sum(out))]


def makemore_mlp(start):
    words = ["emma", "olivia", "ava", "isabella", "sophia", "mia"]
    chars = sorted(list(set("".join(words))))
    stoi = {s: i + 1 for i, s in enumerate(chars)}
    stoi["."] = 0
    N = torch.zeros((len(stoi), len(stoi)), dtype=torch.int32)
    X, Y = [], []
    for w in words:
        context = [0] * 3
        for ch1, ch2 in zip("." + w, w + "."):
            N[stoi[ch1], stoi[ch2]] += 1
        for ch in w + ".":
            X.append(context)
            Y.append(stoi[ch])
            context = context[1:] + [stoi[ch]]
    X, Y = torch.tensor(X), torch.tensor(Y)
    P = (N + 1).float()
    P /= P.sum(1, keepdims=True)
    losses = [-torch.log(P[0, stoi["e"]]).item(), P.sum().item()]
    g = torch.Generator().manual_seed(2147483647)
    C = start(torch.randn((len(stoi), 4), generator=g))
    W1 = start(torch.randn((12, 20), generator=g) * (5 / 3) / (12**0.5))
    b1 = start(torch.randn(20, generator=g))
    W2 = start(torch.randn((20, len(stoi)), generator=g) * 0.1)
    b2 = start(torch.randn(len(stoi), generator=g))
    bngain, bnbias = torch.ones((1, 20)), torch.zeros((1, 20))
    parameters = [C, W1, b1, W2, b2, bngain, bnbias]
    assert sum(p.nelement() for p in parameters) > 100
    for p in parameters:
        p.requires_grad = True
    xenc = F.one_hot(X[:, 0], num_classes=len(stoi)).float()
    losses.append(xenc.sum().item())
    for i in range(6):
        emb = C[X]
        hpreact = emb.view(emb.shape[0], -1) @ W1 + b1
        bnmean, bnstd = hpreact.mean(0, keepdim=True), hpreact.std(0, keepdim=True)
        hpreact = bngain * (hpreact - bnmean) / bnstd + bnbias
        logits = torch.tanh(hpreact) @ W2 + b2
        counts = logits.exp()
        prob = counts / counts.sum(1, keepdims=True)
        loss = -prob[torch.arange(len(Y)), Y].log().mean() + 0.01 * (W1**2).mean()
        loss.backward()
        for p in parameters:
            p.data += -0.1 * p.grad
            p.grad = None
        losses.append(loss.item())
    return losses


def word2vec_skipgram(start):
    class SkipGram(nn.Module):
        def __init__(self, vocab_size, dim):
            super().__init__()
            self.u_embeddings = nn.Embedding(vocab_size, dim, sparse=False)
            self.v_embeddings = nn.Embedding(vocab_size, dim)
            initrange = 1.0 / dim
            nn.init.uniform_(self.u_embeddings.weight.data, -initrange, initrange)
            nn.init.constant_(self.v_embeddings.weight.data, 0.1)

        def forward(self, pos_u, pos_v, neg_v):
            emb_u, emb_v, emb_neg_v = self.u_embeddings(pos_u), self.v_embeddings(pos_v), self.v_embeddings(neg_v)
            score = torch.sum(torch.mul(emb_u, emb_v), dim=1)
            score = -F.logsigmoid(torch.clamp(score, max=10, min=-10))
            neg_score = torch.bmm(emb_neg_v, emb_u.unsqueeze(2)).squeeze()
            neg_score = -torch.sum(F.logsigmoid(-torch.clamp(neg_score, max=10, min=-10)), dim=1)
            return torch.mean(score + neg_score)

    model = start(SkipGram(20, 6))
    optimizer = optim.Adam(model.parameters(), lr=0.05)
    r = np.random.RandomState(0)
    losses = []
    for _ in range(6):
        u, v, neg = r.randint(0, 20, 8), r.randint(0, 20, 8), r.randint(0, 20, (8, 3))
        optimizer.zero_grad()
        loss = model.forward(torch.LongTensor(u), torch.LongTensor(v), torch.LongTensor(neg))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    embeddings = model.u_embeddings.weight.cpu().data.numpy()
    similarity = F.cosine_similarity(torch.tensor(embeddings[0]), torch.tensor(embeddings[1]), dim=0)
    return losses + [similarity.item()]


def transformer_translation(start):
    class PositionalEncoding(nn.Module):
        def __init__(self, emb_size, maxlen=50):
            super().__init__()
            den = torch.exp(-torch.arange(0, emb_size, 2) * math.log(10000) / emb_size)
            pos = torch.arange(0, maxlen).reshape(maxlen, 1)
            pos_embedding = torch.zeros((maxlen, emb_size))
            pos_embedding[:, 0::2] = torch.sin(pos * den)
            pos_embedding[:, 1::2] = torch.cos(pos * den)
            self.register_buffer("pos_embedding", pos_embedding.unsqueeze(-2))

        def forward(self, x):
            return x + self.pos_embedding[: x.size(0), :]

    class Seq2Seq(nn.Module):
        def __init__(self):
            super().__init__()
            self.transformer = nn.Transformer(16, 2, 1, 1, 32, dropout=0.0)
            self.generator = nn.Linear(16, 12)
            self.src, self.tgt = nn.Embedding(12, 16), nn.Embedding(12, 16)
            self.positional_encoding = PositionalEncoding(16)

        def forward(self, src, trg, tgt_mask, src_padding_mask):
            src_emb = self.positional_encoding(self.src(src.long()) * math.sqrt(16))
            tgt_emb = self.positional_encoding(self.tgt(trg))
            outs = self.transformer(src_emb, tgt_emb, None, tgt_mask, None, src_padding_mask, None, src_padding_mask)
            return self.generator(outs)

    def generate_square_subsequent_mask(sz):
        mask = (torch.triu(torch.ones((sz, sz))) == 1).transpose(0, 1)
        return mask.float().masked_fill(mask == 0, float("-inf")).masked_fill(mask == 1, float(0.0))

    model = Seq2Seq()
    for p in model.parameters():
        if p.dim() > 1:
            nn.init.xavier_uniform_(p)
    start(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.002, betas=(0.9, 0.98), eps=1e-9)
    loss_fn = torch.nn.CrossEntropyLoss(ignore_index=0)
    r = np.random.RandomState(0)
    src, tgt = torch.tensor(r.randint(1, 12, (6, 3))), torch.tensor(r.randint(1, 12, (5, 3)))
    src[4:, 1] = 0
    losses = []
    for _ in range(4):
        tgt_input, tgt_out = tgt[:-1, :], tgt[1:, :]
        logits = model(src, tgt_input, generate_square_subsequent_mask(4), (src == 0).transpose(0, 1))
        optimizer.zero_grad()
        loss = loss_fn(logits.reshape(-1, logits.shape[-1]), tgt_out.reshape(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
