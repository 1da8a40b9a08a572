"""Idioms of old and new repositories: sizes given to Tensor, sparse embeddings, rotary tables, hooks of all modules,
layers that are derived from the base classes of PyTorch's."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.profiler
from torch.nn.modules.conv import _ConvNd, _ConvTransposeNd
from torch.nn.modules.module import register_module_forward_hook
from torch.nn.modules.rnn import RNNBase, RNNCellBase
from torch.nn.modules.utils import _pair
from torch.optim import SparseAdam


def graph_layers_of_sized_parameters(start):
    class GraphConvolution(nn.Module):
        def __init__(self, in_features, out_features):
            super().__init__()
            self.weight = nn.Parameter(torch.Tensor(in_features, out_features))
            self.bias = nn.Parameter(torch.Tensor(out_features))
            self.gate = nn.Parameter(torch.FloatTensor(1))
            stdv = 1.0 / math.sqrt(self.weight.size(1))
            for parameter in self.parameters():
                parameter.data.uniform_(-stdv, stdv)

        def forward(self, x, adj):
            return torch.spmm(adj, x @ self.weight) * self.gate + self.bias

    r = np.random.RandomState(0)
    adj = torch.Tensor((r.rand(8, 8) < 0.4) + np.eye(8))
    adj = adj / adj.sum(axis=1, keepdims=True)
    x, y = torch.Tensor(r.randn(8, 5)), torch.LongTensor(r.randint(0, 3, 8))
    layers = start(nn.ModuleList([GraphConvolution(5, 6), GraphConvolution(6, 3)]))
    optimizer = torch.optim.Adam(layers.parameters(), lr=0.05, weight_decay=5e-4)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        output = layers[1](torch.relu(layers[0](x, adj)), adj).log_softmax(axis=1)
        loss = F.nll_loss(output, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def skip_gram_with_sparse_adam(start):
    class SkipGram(nn.Module):
        def __init__(self, size, dim):
            super().__init__()
            self.u = nn.Embedding(size, dim, sparse=True)
            self.v = nn.Embedding(size, dim, sparse=True)
            nn.init.uniform_(self.u.weight.data, -1.0 / dim, 1.0 / dim)

        def forward(self, center, context, noise):
            u, v = self.u(center), self.v(context)
            score = torch.clamp((u * v).sum(dim=1), max=10, min=-10)
            others = torch.bmm(self.v(noise), u.unsqueeze(axis=2)).squeeze(axis=2).clamp(-10, 10)
            return (-F.logsigmoid(score) - F.logsigmoid(-others).sum(dim=1)).mean()

    r = np.random.RandomState(1)
    model = start(SkipGram(20, 6))
    optimizer = SparseAdam(list(model.parameters()), lr=0.02)
    losses = []
    for _ in range(6):
        center, context = (torch.from_numpy(r.randint(0, 20, 8)) for _ in range(2))
        optimizer.zero_grad()
        loss = model(center, context, torch.from_numpy(r.randint(0, 20, (8, 3))))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def attention_with_a_rotary_table(start):
    def rotated(x):
        a, b = x.chunk(2, dim=-1)
        return torch.cat((-b, a), dim=-1)

    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads, self.qkv, self.out = heads, nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim)
            self.register_buffer("freq", 1.0 / 10000 ** (torch.arange(0, dim // heads, 2).float() / (dim // heads)))

        def forward(self, x):
            b, n, _ = x.shape
            q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
            angles = torch.einsum("i,j->ij", torch.arange(n, device=x.device), self.freq)
            angles = torch.cat((angles, angles), dim=-1)
            q, k = (t * angles.cos() + rotated(t) * angles.sin() for t in (q, k))
            scores = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(q.shape[-1])
            seen = torch.ones(n, n).tril().byte()
            scores = torch.where(seen, scores, torch.tensor(float("-inf")))
            return self.out((scores.softmax(axis=-1) @ v).transpose(1, 2).reshape(b, n, -1))

    model = start(Attention(16, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    x = torch.from_numpy(np.random.RandomState(2).randn(2, 7, 16).astype("float32"))
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = (model(x)[:, :-1] - x[:, 1:]).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def activations_by_a_hook_of_all_modules(start):
    model = start(nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2)))
    norms = []

    def hook(module, args, output):
        if not isinstance(module, nn.Sequential):
            norms.append(output.norm().item())

    handle = register_module_forward_hook(hook)
    x = torch.from_numpy(np.random.RandomState(3).randn(5, 4).astype("float32"))
    components = torch.pca_lowrank(model(x), q=1, niter=4)[1]
    handle.remove()
    model(x)
    return [*norms, components.item(), *torch.range(0, 2).tolist()]


def models_made_without_memory(start):
    """Made on "meta" and filled by assigned tensors, or emptied and loaded."""

    def net():
        return nn.Sequential(nn.Linear(12, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))

    state = start(net()).state_dict()
    with torch.device("meta"):
        assigned, loaded = net(), net()
    assigned.load_state_dict(state, assign=True)
    loaded = loaded.to_empty(device="cpu")
    loaded.load_state_dict(dict(state))  # (PyTorch's own dict remembers that it was assigned)
    x = torch.from_numpy(np.random.RandomState(5).randn(6, 12).astype("float32"))
    losses = []
    for model in (assigned, loaded):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), torch.arange(6) % 2)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def layers_derived_from_base_classes(start):
    class StandardizedConv(_ConvNd):
        def __init__(self, inputs, outputs, kernel, bias=True):
            zero, one = _pair(0), _pair(1)
            super().__init__(
                inputs, outputs, _pair(kernel), one, zero, one, False, zero, groups=1, bias=bias, padding_mode="zeros"
            )

        def forward(self, x):
            weight = self.weight - self.weight.mean(dim=(1, 2, 3), keepdim=True)
            return F.conv2d(x, weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

    class Unpooling(_ConvTransposeNd):
        def __init__(self, inputs, outputs, kernel):
            sizes = (kernel,), (kernel,), (0,), (1,)
            super().__init__(inputs, outputs, *sizes, True, (0,), 1, False, "zeros")

        def forward(self, x):
            return F.conv_transpose1d(x, self.weight, self.bias, self.stride)

    class MinimalGatedCell(RNNCellBase):
        def __init__(self, inputs, hidden):
            super().__init__(inputs, hidden, bias=True, num_chunks=2)

        def forward(self, x, h):
            forget, candidate = (F.linear(x, self.weight_ih, self.bias_ih) + F.linear(h, self.weight_hh)).chunk(2, 1)
            return h + torch.sigmoid(forget) * (torch.tanh(candidate) - h)

    class Plain(RNNBase):
        def __init__(self, inputs, hidden):
            super().__init__("RNN_TANH", inputs, hidden, batch_first=True)

        def forward(self, x):
            w_ih, w_hh, b_ih, b_hh = self.all_weights[0]
            h = x.new_zeros(x.size(0), self.hidden_size)
            for step in x.unbind(1):
                h = torch.tanh(F.linear(step, w_ih, b_ih) + F.linear(h, w_hh, b_hh))
            return h

    r = np.random.RandomState(6)
    layers = start(nn.ModuleList([StandardizedConv(2, 4, 3), Unpooling(4, 3, 2), MinimalGatedCell(3, 5), Plain(5, 3)]))
    conv, up, cell, plain = layers
    sizes = conv.kernel_size, conv.output_padding, up.weight.shape, up.transposed, cell.weight_ih.shape
    assert sizes == ((3, 3), (0, 0), (4, 3, 2), True, (10, 3)) and up.bias is None and plain.mode == "RNN_TANH"
    optimizer = torch.optim.Adam(layers.parameters(), lr=0.01)
    x, y = (torch.from_numpy(r.randn(*shape)).float() for shape in ((4, 2, 5, 5), (4, 3)))
    losses = []
    for _ in range(4):
        states, h = [], x.new_zeros(4, 5)
        for step in up(conv(x).flatten(2)).unbind(-1):
            h = cell(step, h)
            states.append(h)
        loss = F.mse_loss(plain(torch.stack(states, 1)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def profiled_steps(start):
    """A profiler's schedule, and saved tensors on a disk."""
    kept = {}

    def pack(x):
        kept[len(kept)] = x.detach().numpy().copy()
        return len(kept) - 1

    model = start(nn.Sequential(nn.Linear(12, 4), nn.Tanh(), nn.Linear(4, 1)))
    x = torch.linspace(-1, 1, 36).reshape(3, 12)
    numbers = []
    plan = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        schedule=plan,
        on_trace_ready=lambda profiler: numbers.append(profiler.step_num),
    ) as profiler:
        for _ in range(10):
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda key: torch.from_numpy(kept[key])):
                loss = model(x).square().mean()
            loss.backward()
            profiler.step()
    numbers += [plan(step).value for step in range(12)]
    return numbers + [p.grad.sum().item() for p in model.parameters()] + [float(len(kept) > 0)]
