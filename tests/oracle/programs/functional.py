"""Function transforms and rarer corners of training: vmap, functional_call, pruning, sizes of NumPy."""

import copy
from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.utils.prune as prune
from torch.distributions import constraints, transform_to
from torch.func import functional_call, grad, grad_and_value, hessian, jacrev, jvp, stack_module_state, vjp, vmap
from torch.utils._pytree import tree_map


def waves(rows, columns):
    return torch.sin(torch.arange(float(rows * columns)) * 1.7).view(rows, columns)


def small_net(inputs=12, outputs=3):
    return nn.Sequential(nn.Linear(inputs, 16), nn.Tanh(), nn.Linear(16, outputs))


def gradients_of_each_sample(start):
    """Differentially private SGD: each sample's gradient is clipped before they are averaged."""
    model = start(small_net())
    x, y = waves(8, 12), torch.arange(8) % 3
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

    def loss_of(params, sample, label):
        return F.cross_entropy(functional_call(model, params, (sample.unsqueeze(0),)), label.unsqueeze(0))

    losses = []
    for _ in range(3):
        params = {name: p.detach() for name, p in model.named_parameters()}
        found = vmap(grad(loss_of), in_dims=(None, 0, 0))(params, x, y)
        norms = torch.stack([g.flatten(1).norm(dim=1) for g in found.values()]).norm(dim=0)
        factor = (1.0 / (norms + 1e-6)).clamp(max=1.0)
        for name, p in model.named_parameters():
            p.grad = torch.einsum("n,n...->...", factor, found[name]) / len(x)
        optimizer.step()
        losses.append(F.cross_entropy(model(x), y).item())
    return losses


def ensemble(start):
    """Models of one kind, evaluated at once, and trained on the sum of their losses."""
    models = [start(small_net()) for _ in range(3)]
    params, buffers = stack_module_state(models)
    base = copy.deepcopy(models[0]).to("meta")
    optimizer = torch.optim.Adam(params.values(), lr=0.05)
    x, y = waves(8, 12), torch.arange(8) % 3
    losses = []
    for _ in range(3):
        outputs = vmap(lambda p, b: functional_call(base, (p, b), (x,)))(params, buffers)
        loss = F.cross_entropy(outputs.flatten(0, 1), y.repeat(3))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses += [loss.item(), outputs.std(0).mean().item()]
    return losses


def tangent_kernel(start):
    model = start(small_net())
    params = {name: p.detach() for name, p in model.named_parameters()}
    one, other = waves(4, 12), waves(3, 12) * 2

    def single(params, x):
        return functional_call(model, params, (x.unsqueeze(0),)).squeeze(0)

    jacobians = [vmap(jacrev(single), (None, 0))(params, x).values() for x in (one, other)]
    kernel = sum(torch.einsum("Naf,Mbf->NMab", a.flatten(2), b.flatten(2)) for a, b in zip(*jacobians))

    def entry(x, z):
        output, pull = vjp(lambda p: single(p, x), params)
        return vmap(lambda v: jvp(lambda p: single(p, z), (params,), pull(v))[1])(torch.eye(output.numel()))

    again = vmap(vmap(entry, (None, 0)), (0, None))(one, other)
    return [kernel.sum().item(), kernel[1, 2, 0, 0].item(), again.abs().sum().item()]


def meta_learning(start):
    """MAML: the loss after an inner step, differentiated through the step."""
    model = start(small_net(12, 1))
    meta = torch.optim.SGD(model.parameters(), lr=0.1)
    x = waves(6, 12)
    losses = []
    for task in range(3):
        y = (x.sum(1, keepdim=True) * (task + 1)).sin()
        fast = OrderedDict(model.named_parameters())
        for _ in range(2):
            inner = F.mse_loss(functional_call(model, fast, x), y)
            found = torch.autograd.grad(inner, fast.values(), create_graph=True)
            fast = OrderedDict((name, p - 0.1 * g) for (name, p), g in zip(fast.items(), found))
        loss = F.mse_loss(functional_call(model, fast, x), y)
        meta.zero_grad()
        loss.backward()
        meta.step()
        losses.append(loss.item())
    return losses


def physics_by_function_transforms(start):
    """u'' = -u by second derivatives of a network, whose parameters get gradients through them."""
    net = start(small_net(12, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    points = torch.linspace(0.0, 1.0, 5)
    powers = torch.arange(12.0)

    def u(t):
        return net((t * powers).cos()).squeeze(-1)

    losses = []
    for _ in range(3):
        residual = vmap(lambda t: grad(grad(u))(t) + u(t))(points)
        loss = residual.square().mean() + (grad(u)(torch.tensor(0.0)) - 1).square()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    matrix = hessian(lambda v: (v**3).sum() * v[0])(torch.tensor([1.0, 2.0]))
    (found, value), aux = grad_and_value(lambda v: (v @ v, v), has_aux=True)(torch.ones(2)), None
    return [*losses, matrix.sum().item(), found.sum().item(), value[0].item()]


def pruned_training(start):
    model = start(nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(64, 3)))
    prune.l1_unstructured(model[0], "weight", amount=0.25)
    prune.ln_structured(model[0], "weight", amount=1, n=2, dim=0)
    prune.global_unstructured([(model[2], "weight")], pruning_method=prune.L1Unstructured, amount=0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = waves(6, 36).view(6, 1, 6, 6), torch.arange(6) % 3
    losses = []
    for _ in range(3):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    sparsity = [float((m.weight == 0).float().mean()) for m in (model[0], model[2])]
    hooks = [type(h).__name__ for h in model[0]._forward_pre_hooks.values()]
    assert hooks == ["PruningContainer"] and prune.is_pruned(model)
    for module in (model[0], model[2]):
        prune.remove(module, "weight")
    assert not prune.is_pruned(model) and "weight" in dict(model[0].named_parameters())
    return losses + sparsity + [F.cross_entropy(model(x), y).item()]


def unconstrained_parameters(start):
    """Maximum likelihood: parameters without bounds, and the distributions of what they stand for."""
    import torch.distributions as D

    raw = start(nn.Parameter(torch.tensor([0.1, 0.2, -0.3])))
    optimizer = torch.optim.Adam([raw], lr=0.1)
    data = torch.linspace(0.2, 3.0, 9)
    losses = []
    for _ in range(3):
        scale, shape = transform_to(constraints.positive)(raw[:2])
        weights = transform_to(constraints.simplex)(raw)
        log_prob = D.Weibull(scale, shape).log_prob(data) + D.Pareto(scale * 0.1, shape).log_prob(data)
        log_prob = log_prob + D.VonMises(raw[2], shape).log_prob(data) + D.HalfCauchy(scale).log_prob(data)
        loss = -log_prob.mean() - weights.log().sum() + D.NegativeBinomial(shape, logits=raw[2]).mean
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def sizes_of_numpy(start):
    """Sizes that come out of NumPy, as in environments' spaces, and a schedule whose step is a float."""
    observations, actions = np.array((3, 4)), np.int64(2)
    width = observations.prod()
    critic = start(nn.Sequential(nn.Linear(width, np.int32(8)), nn.LayerNorm(np.int64(8)), nn.Linear(8, actions)))
    dropout = nn.Dropout(np.float32(0.0))
    convolution = start(nn.Conv1d(np.int64(3), np.int64(3), np.int64(3), padding=np.int64(1), groups=np.int64(3)))
    optimizer = torch.optim.SGD(critic.parameters(), lr=0.5)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1.0, gamma=0.95)
    x = waves(4, 12).view(4, 3, 4)
    losses = []
    for _ in range(3):
        loss = critic(dropout(convolution(x).flatten(1))).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses += [loss.item(), scheduler.get_last_lr()[0]]
    return losses + [np.exp(x.detach()).sum().item(), torch.full((2,), np.float64(1.5)).sum().item()]


def layers_with_gaps(start):
    """Blocks whose norms may be missing, in lists with None; hooks looked up; states mapped as trees."""

    class Block(nn.Module):
        def __init__(self, norm):
            super().__init__()
            self.parts = nn.ModuleList([nn.LayerNorm(12) if norm else None, nn.Linear(12, 12), None])

        def forward(self, x):
            norm, layer, after = self.parts
            y = layer(x if norm is None else norm(x))
            return x + (y if after is None else after(y))

    model = start(nn.Sequential(Block(True), Block(False)))
    seen = []
    handle = model[0].register_forward_hook(lambda module, args, output: seen.append(output.detach().mean().item()))
    assert len(model[0]._forward_hooks) == 1 and not model[1]._forward_hooks
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        loss = model(waves(4, 12)).square().mean()
        assert loss.grad_fn.next_functions[0][0] is not None
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    handle.remove()
    halved = tree_map(lambda tensor: tensor / 2, dict(model.state_dict()))
    assert str(model.load_state_dict(halved)) == "<All keys matched successfully>"
    return losses + seen + [model(waves(4, 12)).square().mean().item()]
