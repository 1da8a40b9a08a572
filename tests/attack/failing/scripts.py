"""Short programs: a name; what has to be as before or as after each line. `+` is what comes before, then the lines."""

from __future__ import annotations

from typing import Iterator, NamedTuple

SCRIPTS = """
no_grad
+ x = norch.ones(2, requires_grad=True)
with norch.no_grad(): y = x * 2

enable_grad
+ x = norch.ones(2, requires_grad=True)
with norch.no_grad(), norch.enable_grad(): y = x * 2

set_grad_enabled
+ x = norch.ones(2, requires_grad=True)
with norch.set_grad_enabled(False): y = x * 2

inference_mode
+ x = norch.ones(2, requires_grad=True)
with norch.inference_mode(): y = x * 2

a decorated function
+ x = norch.ones(2, requires_grad=True)
y = norch.no_grad()(lambda: x * 2)()

autocast
+ x = norch.ones(2, 2, requires_grad=True)
with norch.autocast("cpu"): y = x @ x

a default device
with norch.device("cpu"): y = norch.ones(2)

fork_rng
with norch.random.fork_rng(): y = norch.rand(2)

detect_anomaly
+ x = norch.ones(2, requires_grad=True)
with norch.autograd.detect_anomaly(): y = (x * 2).sum().backward()

load_state_dict of an optimizer; o
+ import copy
+ model, x = nn.Linear(3, 2), norch.randn(4, 3)
+ o = optim.Adam(model.parameters())
+ model(x).sum().backward(); o.step()
+ other = copy.deepcopy(o.state_dict())
+ o.step()
o.load_state_dict(other)

conversions
+ model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
+ other = {name: value + 1 for name, value in model.state_dict().items()}
model.load_state_dict(other)
model.double()
model.half()
model.eval()
model.train()

deepcopy; model
+ import copy
+ model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
other = copy.deepcopy(model)

x.data = y; x
+ x, y = norch.ones(2), norch.zeros(3)
x.data = y

writes in place; x
+ x, y = norch.randn(3, 2), norch.randn(3, 2)
x += y
x.mul_(2.5)
x[0] = 7
x[norch.tensor([1, 1])] = y[0]
x.clamp_(0, 9)
x.copy_(y)
x.zero_()

a write in place in a graph; w
+ w = norch.randn(3, 2).requires_grad_()
x = w * 1; v = x[0]; v.mul_(3); w.grad = None; x.sum().backward()

clip_grad_norm_; w
+ w = norch.randn(3).requires_grad_()
+ w.grad = norch.ones(3)
nn.utils.clip_grad_norm_([w], 0.1)

create_graph; x
+ x = norch.randn(3).requires_grad_()
x.grad = None; (g,) = norch.autograd.grad((x * x * x).sum(), x, create_graph=True); g.sum().backward()

checkpoint; x
+ from norch.utils.checkpoint import checkpoint
+ x = norch.randn(3).requires_grad_()
x.grad = None; checkpoint(lambda t: t.tanh(), x, use_reentrant=False).sum().backward()

compile; w
+ w = norch.randn(3).requires_grad_()
+ f = norch.compile(lambda t: (t * w).exp().sum())
+ x = norch.ones(3); f(x)
y = f(x)
y = f(x)
y = f(x)
y = norch.compile(lambda t: t * 2)(x)

transforms of functions
+ x = norch.randn(3).requires_grad_()
a = norch.func.hessian(lambda t: (t ** 3).sum())(x)
b = norch.func.vmap(norch.func.grad(lambda t: (t * t).sum()))(x.expand(2, 3).detach())
c = norch.func.jvp(norch.sin, (x,), (norch.ones(3),))
d = norch.func.vjp(norch.exp, x)[1](norch.ones(3))
e = norch.autograd.functional.jacobian(norch.tanh, x)

functional_call; model
+ model, x = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).eval(), norch.randn(4, 3)
+ given = {name: value.detach() * 2 for name, value in model.named_parameters()}
y = norch.func.functional_call(model, given, x)
z = norch.func.vmap(lambda w: norch.func.functional_call(model, {"0.weight": w}, x))(norch.ones(2, 2, 3))

pruning; model
+ from norch.nn.utils import prune
+ model = nn.Linear(3, 2)
prune.l1_unstructured(model, "weight", amount=2)
prune.random_unstructured(model, "weight", amount=1)
prune.remove(model, "weight")

parametrizations; model
+ model, x = nn.Linear(3, 2), norch.randn(4, 3)
nn.utils.parametrizations.weight_norm(model)
model(x).sum().backward()
nn.utils.parametrize.remove_parametrizations(model, "weight")

a convolution with its activation; model
+ model = nn.Sequential(nn.Conv2d(2, 3, 2, padding=1), nn.ReLU(), nn.Conv2d(3, 3, 2, groups=3), nn.BatchNorm2d(3))
+ x = norch.randn(2, 2, 5, 5)
for p in model.parameters(): p.grad = None
model.eval()(x).sum().backward()

distributions
+ m = norch.zeros(3, requires_grad=True)
a = norch.distributions.Normal(m, 1.0).rsample()
b = norch.distributions.Categorical(logits=m).sample((4,))
c = norch.distributions.kl_divergence(norch.distributions.Normal(m, 1.0), norch.distributions.Normal(0.0, 2.0))
d = norch.distributions.Dirichlet(norch.ones(3)).sample()

hooks of graphs and modules; model
+ model, seen, x = nn.Linear(3, 2), [], norch.randn(4, 3)
+ model.register_full_backward_hook(lambda m, i, o: seen.append(len(o)))
+ model.weight.register_post_accumulate_grad_hook(lambda p: seen.append(1))
for p in model.parameters(): p.grad = None
seen.clear(); y = model(x); y.grad_fn.next_functions; y.register_hook(lambda g: g * 2); y.sum().backward()

a schedule and a scaler; o r
+ w = nn.Parameter(norch.ones(2)); w.grad = norch.ones(2)
+ o = optim.AdamW([w], lr=0.1)
+ r = optim.lr_scheduler.CosineAnnealingLR(o, 5)
o.step()
r.step()
n = nn.utils.clip_grad_norm_([w], 0.5)

several results
+ x = norch.randn(3, 3).requires_grad_()
a = x.sort(1)
b = x.topk(2)
c = x.max(1)
d = norch.linalg.qr(x)
e = x.split(1)
f = norch.unique(x, return_inverse=True, return_counts=True)
g = norch.var_mean(x)
h = x.unbind()
i = norch.linalg.svd(x)
"""

# With a folder, whose files have to be as before or as after each line
FILES = """
save over an old file
+ path, new = folder + "/m", {"a": norch.randn(40, 50), "b": [norch.ones(2), 3]}
+ norch.save(norch.ones(3), path)
norch.save(new, path)

save a new file
+ path, new = folder + "/m", {"a": norch.randn(40, 50), "b": [norch.ones(2), 3]}
norch.save(new, path)

save a module
+ path = folder + "/m"
+ model = nn.Linear(3, 2)
+ norch.save(norch.ones(3), path)
norch.save(model, path)

load
+ path = folder + "/m"
+ norch.save({"a": norch.randn(40, 50), "b": [norch.ones(2), 3]}, path)
y = norch.load(path)

load a pickle
+ path = folder + "/m"
+ norch.save(nn.Linear(3, 2), path)
y = norch.load(path, weights_only=False)

checkpoints
+ path, model = folder + "/m", nn.Linear(2, 1)
+ o = optim.Adam(model.parameters())
+ norch.utils.save_checkpoint(path, model=model, optimizer=o, epoch=2)
norch.utils.save_checkpoint(path, model=model, optimizer=o, epoch=3)
epoch = norch.utils.load_checkpoint(path, model=model, optimizer=o)["epoch"]

read_idx
+ path = folder + "/a.idx"
+ open(path, "wb").write(bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6]))
y = norch.utils.data.read_idx(path)

read_csv
+ path = folder + "/a.csv"
+ open(path, "w").write("1,2" + chr(10) + "3,4" + chr(10))
y = norch.utils.data.read_csv(path, header=False)

DataLoader
+ data = norch.utils.data.TensorDataset(norch.randn(5, 2), norch.arange(5))
y = [b for b in norch.utils.data.DataLoader(data, batch_size=2, shuffle=True)]

DataLoader with workers
+ data = norch.utils.data.TensorDataset(norch.randn(5, 2), norch.arange(5))
y = [b for b in norch.utils.data.DataLoader(data, batch_size=3, num_workers=2)]
"""


class Script(NamedTuple):
    name: str
    kept: tuple[str, ...]
    before: str
    lines: list[str]


def parsed(text: str) -> Iterator[Script]:
    for block in text.strip().split("\n\n"):
        title, *rest = block.splitlines()
        name, _, kept = title.partition("; ")
        before = "\n".join(line[2:] for line in rest if line.startswith("+ "))
        yield Script(name, tuple(kept.split()), before, [line for line in rest if not line.startswith("+ ")])
