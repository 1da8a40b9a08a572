"""What programs.py times: training steps of programs as people write them, the same lines for norch and for torch.

Each function takes a framework, the module norch or torch, and gives the modules that learn and a step, which returns
its loss. `PROGRAMS` has them by name; those in `DRAWN` draw random numbers, so their losses cannot be compared.
"""

from __future__ import annotations

from typing import Any, Callable

import norch

Made = tuple[list[Any], Callable[[], Any]]


def numbers(framework: Any, *shape: int, seed: int = 0) -> Any:
    """Numbers of the normal distribution, the same for both."""
    drawn = norch.randn(*shape, generator=norch.Generator().manual_seed(seed))
    return framework.tensor(drawn.tolist())


def labels(framework: Any, classes: int, *shape: int) -> Any:
    drawn = norch.randint(0, classes, shape, generator=norch.Generator().manual_seed(1))
    return framework.tensor(drawn.tolist())


def learner(optimizer: Any, loss_of: Callable[[], Any], modules: list[Any], clip: Any = None) -> Made:
    """The usual step."""

    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        if clip is not None:
            clip()
        optimizer.step()
        return loss

    return modules, step


# ---- Images ----------------------------------------------------------------------------------------------------------


def digits(framework: Any) -> Made:
    """The convolutional network of PyTorch's MNIST example, a batch of 64."""
    nn, F = framework.nn, framework.nn.functional
    model = nn.Sequential(
        *(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25)),
        *(nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10)),
    )
    x, y = numbers(framework, 64, 1, 28, 28), labels(framework, 10, 64)
    optimizer = framework.optim.Adadelta(model.parameters(), lr=1.0)
    return learner(optimizer, lambda: F.nll_loss(F.log_softmax(model(x), dim=1), y), [model])


def residual(framework: Any) -> Made:
    """A small residual network on 16 images of 32 x 32."""
    nn, F = framework.nn, framework.nn.functional

    class Block(nn.Module):
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outputs)
            self.shortcut = nn.Sequential()
            if stride > 1:
                narrow = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
                self.shortcut = nn.Sequential(narrow, nn.BatchNorm2d(outputs))

        def forward(self, x: Any) -> Any:
            y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
            return F.relu(y + self.shortcut(x))

    model = nn.Sequential(
        *(nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()),
        *(Block(16, 16, 1), Block(16, 32, 2), Block(32, 64, 2)),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)),
    )
    x, y = numbers(framework, 16, 3, 32, 32), labels(framework, 10, 16)
    optimizer = framework.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
    criterion = nn.CrossEntropyLoss()
    return learner(optimizer, lambda: criterion(model(x), y), [model])


def separable(framework: Any) -> Made:
    """Depthwise and pointwise convolutions, as in MobileNet, on 16 images of 64 x 64."""
    nn, F = framework.nn, framework.nn.functional

    def separated(inputs: int, outputs: int, stride: int) -> Any:
        depthwise = nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs, bias=False)
        pointwise = nn.Conv2d(inputs, outputs, 1, bias=False)
        parts = [depthwise, nn.BatchNorm2d(inputs), nn.ReLU6(True), pointwise, nn.BatchNorm2d(outputs), nn.ReLU6(True)]
        return nn.Sequential(*parts)

    model = nn.Sequential(
        *(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU6(inplace=True)),
        *(separated(16, 32, 1), separated(32, 64, 2), separated(64, 64, 1)),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)),
    )
    x, y = numbers(framework, 16, 3, 64, 64), labels(framework, 10, 16)
    optimizer = framework.optim.RMSprop(model.parameters(), lr=1e-3)
    return learner(optimizer, lambda: F.cross_entropy(model(x), y), [model])


def segmentation(framework: Any) -> Made:
    """A U-Net of one stage on 4 images of 64 x 64."""
    nn, F = framework.nn, framework.nn.functional

    class UNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU())
            inner = nn.Conv2d(16, 32, 3, padding=1), nn.GroupNorm(4, 32), nn.SiLU()
            self.down = nn.Sequential(nn.MaxPool2d(2), *inner)
            self.up = nn.ConvTranspose2d(32, 16, 2, 2)
            self.last = nn.Conv2d(32, 1, 1)

        def forward(self, x: Any) -> Any:
            first = self.first(x)
            return self.last(framework.cat([first, self.up(self.down(first))], dim=1))

    model = UNet()
    x, y = numbers(framework, 4, 1, 64, 64), labels(framework, 2, 4, 1, 64, 64).float()
    optimizer = framework.optim.Adam(model.parameters())
    return learner(optimizer, lambda: F.binary_cross_entropy_with_logits(model(x), y), [model])


def adversarial(framework: Any) -> Made:
    """A generator and a discriminator of 16 x 16 images, as in PyTorch's DCGAN example."""
    nn, optim = framework.nn, framework.optim
    options: dict[str, Any] = {"bias": False}
    generator = nn.Sequential(
        *(nn.ConvTranspose2d(32, 64, 4, 1, 0, **options), nn.BatchNorm2d(64), nn.ReLU(True)),
        *(nn.ConvTranspose2d(64, 32, 4, 2, 1, **options), nn.BatchNorm2d(32), nn.ReLU(True)),
        *(nn.ConvTranspose2d(32, 3, 4, 2, 1, **options), nn.Tanh()),
    )
    discriminator = nn.Sequential(
        *(nn.Conv2d(3, 32, 4, 2, 1, **options), nn.LeakyReLU(0.2, inplace=True)),
        *(nn.Conv2d(32, 64, 4, 2, 1, **options), nn.BatchNorm2d(64), nn.LeakyReLU(0.2, inplace=True)),
        *(nn.Conv2d(64, 1, 4, 1, 0, **options), nn.Sigmoid()),
    )
    criterion, real = nn.BCELoss(), numbers(framework, 32, 3, 16, 16)
    makes, judges = (optim.Adam(net.parameters(), lr=2e-4, betas=(0.5, 0.999)) for net in (generator, discriminator))

    def step() -> Any:
        discriminator.zero_grad()
        label = framework.full((32,), 1.0)
        criterion(discriminator(real).view(-1), label).backward()
        made = generator(framework.randn(32, 32, 1, 1))
        label.fill_(0.0)
        criterion(discriminator(made.detach()).view(-1), label).backward()
        judges.step()
        generator.zero_grad()
        label.fill_(1.0)
        loss = criterion(discriminator(made).view(-1), label)
        loss.backward()
        makes.step()
        return loss

    return [generator, discriminator], step


def variational(framework: Any) -> Made:
    """PyTorch's example of a variational autoencoder, a batch of 128."""
    nn, F = framework.nn, framework.nn.functional
    encode, decode = nn.Linear(784, 400), nn.Linear(400, 784)
    mean_of, logarithm_of, back = nn.Linear(400, 20), nn.Linear(400, 20), nn.Linear(20, 400)
    x = numbers(framework, 128, 784).sigmoid()

    def loss_of() -> Any:
        hidden = F.relu(encode(x))
        mean, logvar = mean_of(hidden), logarithm_of(hidden)
        std = framework.exp(0.5 * logvar)
        z = mean + framework.randn_like(std) * std
        again = framework.sigmoid(decode(F.relu(back(z))))
        divergence = -0.5 * framework.sum(1 + logvar - mean.pow(2) - logvar.exp())
        return F.binary_cross_entropy(again, x, reduction="sum") + divergence

    modules = [encode, decode, mean_of, logarithm_of, back]
    optimizer = framework.optim.Adam([p for module in modules for p in module.parameters()], lr=1e-3)
    return learner(optimizer, loss_of, modules)


# ---- Sequences -------------------------------------------------------------------------------------------------------


def characters(framework: Any) -> Made:
    """Two LSTMs that predict characters, 32 lines of 50, gradients clipped."""
    nn, F = framework.nn, framework.nn.functional
    embed, recur, out = nn.Embedding(65, 64), nn.LSTM(64, 128, 2, batch_first=True), nn.Linear(128, 65)
    x, y = labels(framework, 65, 32, 50), labels(framework, 65, 32 * 50)
    parameters = [p for module in (embed, recur, out) for p in module.parameters()]
    optimizer = framework.optim.Adam(parameters, lr=1e-3)

    def loss_of() -> Any:
        hidden, _ = recur(embed(x))
        return F.cross_entropy(out(hidden).reshape(-1, 65), y)

    return learner(optimizer, loss_of, [embed, recur, out], lambda: nn.utils.clip_grad_norm_(parameters, max_norm=1.0))


def translation(framework: Any) -> Made:
    """The decoder of PyTorch's sequence-to-sequence tutorial: a GRU, one word after the other."""
    nn, F = framework.nn, framework.nn.functional
    embed, recur, out = nn.Embedding(100, 64), nn.GRU(64, 64), nn.Linear(64, 100)
    words = labels(framework, 100, 10, 1)
    parameters = [p for module in (embed, recur, out) for p in module.parameters()]

    def loss_of() -> Any:
        hidden, loss = framework.zeros(1, 1, 64), 0
        for word in words:
            output, hidden = recur(embed(word).view(1, 1, -1), hidden)
            loss = loss + F.nll_loss(F.log_softmax(out(output[0]), dim=1), word)
        return loss

    return learner(framework.optim.SGD(parameters, lr=0.01), loss_of, [embed, recur, out])


def gpt(framework: Any) -> Made:
    """nanoGPT with four blocks of width 128, a batch of 12 lines of 64."""
    nn, F = framework.nn, framework.nn.functional

    class Block(nn.Module):
        def __init__(self, width: int, heads: int) -> None:
            super().__init__()
            self.heads = heads
            self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.c_fc, self.out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            B, T, C = x.size()
            parts = self.c_attn(self.ln_1(x)).split(C, dim=2)
            q, k, v = (part.view(B, T, self.heads, C // self.heads).transpose(1, 2) for part in parts)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))
            return x + self.out(F.gelu(self.c_fc(self.ln_2(x))))

    tokens, places, out = nn.Embedding(65, 128), nn.Embedding(64, 128), nn.Linear(128, 65, bias=False)
    blocks = nn.Sequential(*[Block(128, 4) for _ in range(4)], nn.LayerNorm(128))
    x, y = labels(framework, 65, 12, 64), labels(framework, 65, 12 * 64)
    modules = [tokens, places, out, blocks]
    parameters = [p for module in modules for p in module.parameters()]
    optimizer = framework.optim.AdamW(parameters, lr=1e-3)

    def loss_of() -> Any:
        logits = out(blocks(tokens(x) + places(framework.arange(64))))
        return F.cross_entropy(logits.view(-1, 65), y)

    return learner(optimizer, loss_of, modules, lambda: nn.utils.clip_grad_norm_(parameters, 1.0))


def heads_by_hand(framework: Any) -> Made:
    """A transformer whose heads are written out with masked_fill and softmax, as in many lessons."""
    nn, F = framework.nn, framework.nn.functional

    class Head(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.key, self.query, self.value = (nn.Linear(64, 16, bias=False) for _ in range(3))
            self.register_buffer("tril", framework.tril(framework.ones(32, 32)))
            self.dropout = nn.Dropout(0.1)

        def forward(self, x: Any) -> Any:
            B, T, C = x.shape
            weights = self.query(x) @ self.key(x).transpose(-2, -1) * C**-0.5
            weights = weights.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
            return self.dropout(F.softmax(weights, dim=-1)) @ self.value(x)

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.heads, self.proj = nn.ModuleList([Head() for _ in range(4)]), nn.Linear(64, 64)
            self.net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64), nn.Dropout(0.1))
            self.ln1, self.ln2 = nn.LayerNorm(64), nn.LayerNorm(64)

        def forward(self, x: Any) -> Any:
            y = self.ln1(x)
            x = x + self.proj(framework.cat([head(y) for head in self.heads], dim=-1))
            return x + self.net(self.ln2(x))

    model = nn.Sequential(nn.Embedding(65, 64), Block(), Block(), Block(), nn.LayerNorm(64), nn.Linear(64, 65))
    x, y = labels(framework, 65, 16, 32), labels(framework, 65, 16 * 32)
    optimizer = framework.optim.AdamW(model.parameters(), lr=1e-3)
    return learner(optimizer, lambda: F.cross_entropy(model(x).view(-1, 65), y), [model])


# ---- Others ----------------------------------------------------------------------------------------------------------


def regression(framework: Any) -> Made:
    """A small network that learns a sine, a batch of 32; the loss is read in each step."""
    nn, F = framework.nn, framework.nn.functional
    model = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    x = numbers(framework, 32, 1)
    optimizer = framework.optim.Adam(model.parameters())
    modules, learn = learner(optimizer, lambda: F.mse_loss(model(x), framework.sin(x)), [model])

    def step() -> Any:
        loss = learn()
        loss.item()
        return loss

    return modules, step


def q_learning(framework: Any) -> Made:
    """PyTorch's tutorial of deep Q learning: 128 transitions, and a target network that follows."""
    nn = framework.nn
    policy, target = (nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 2)) for _ in range(2))
    states, rewards = [numbers(framework, 1, 4, seed=k) for k in range(128)], numbers(framework, 128)
    actions, following = labels(framework, 2, 128, 1), numbers(framework, 128, 4, seed=200)
    optimizer = framework.optim.AdamW(policy.parameters(), lr=1e-4, amsgrad=True)

    def loss_of() -> Any:
        values = policy(framework.cat(states)).gather(1, actions)
        with framework.no_grad():
            expected = target(following).max(1).values * 0.99 + rewards
        return nn.SmoothL1Loss()(values, expected.unsqueeze(1))

    def clip() -> None:
        nn.utils.clip_grad_value_(policy.parameters(), 100)

    _, learn = learner(optimizer, loss_of, [policy], clip)

    def step() -> Any:
        loss, old, new = learn(), target.state_dict(), policy.state_dict()
        target.load_state_dict({name: new[name] * 0.005 + old[name] * 0.995 for name in new})
        return loss

    return [policy, target], step


def policy_gradient(framework: Any) -> Made:
    """REINFORCE over an episode of 50 steps: an action is drawn at each."""
    nn = framework.nn
    policy = nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 2), nn.Softmax(dim=1))
    seen = [numbers(framework, 1, 4, seed=k) for k in range(50)]

    def loss_of() -> Any:
        logarithms, returns, following = [], [], 0.0
        for state in seen:
            chances = framework.distributions.Categorical(policy(state))
            action = chances.sample()
            logarithms.append(chances.log_prob(action))
            action.item()  # which the environment takes
            following = 1.0 + 0.99 * following
            returns.insert(0, following)
        gains = framework.tensor(returns)
        gains = (gains - gains.mean()) / (gains.std() + 1e-8)
        return framework.cat([-logarithm * gain for logarithm, gain in zip(logarithms, gains)]).sum()

    return learner(framework.optim.Adam(policy.parameters(), lr=1e-2), loss_of, [policy])


def graph(framework: Any) -> Made:
    """Two convolutions over a graph of 500 nodes, by its matrix."""
    nn, F = framework.nn, framework.nn.functional
    near = (numbers(framework, 500, 500) > 2).float() + framework.eye(500)
    near = near / near.sum(1, keepdim=True)
    first, second = nn.Linear(100, 16), nn.Linear(16, 7)
    x, y = numbers(framework, 500, 100, seed=2), labels(framework, 7, 500)
    optimizer = framework.optim.Adam([*first.parameters(), *second.parameters()], lr=0.01)

    def loss_of() -> Any:
        hidden = F.dropout(F.relu(near @ first(x)), 0.5)
        return F.nll_loss(F.log_softmax(near @ second(hidden), dim=1), y)

    return learner(optimizer, loss_of, [first, second])


def differential_equation(framework: Any) -> Made:
    """A network that obeys Burgers' equation: derivatives of its output are part of the loss."""
    nn, grad = framework.nn, framework.autograd.grad
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    x, t = numbers(framework, 256, 1).requires_grad_(), numbers(framework, 256, 1, seed=1).requires_grad_()

    def loss_of() -> Any:
        u = model(framework.cat([x, t], dim=1))
        one = framework.ones_like(u)
        in_x, in_t = grad(u, [x, t], one, create_graph=True)
        (twice,) = grad(in_x, x, one, create_graph=True)
        return ((in_t + u * in_x - 0.01 * twice) ** 2).mean()

    return learner(framework.optim.Adam(model.parameters()), loss_of, [model])


def batches(framework: Any) -> Made:
    """Logistic regression over an epoch: a DataLoader shuffles 2,000 samples into batches of 32."""
    nn, F, data = framework.nn, framework.nn.functional, framework.utils.data
    samples = data.TensorDataset(numbers(framework, 2000, 20), labels(framework, 2, 2000))
    loader = data.DataLoader(samples, batch_size=32, shuffle=True)
    model = nn.Linear(20, 2)
    optimizer = framework.optim.SGD(model.parameters(), lr=0.1)

    def step() -> Any:
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        return loss

    return [model], step


PROGRAMS: dict[str, Callable[[Any], Made]] = {
    "digits, convolutional": digits,
    "residual network": residual,
    "separable convolutions": separable,
    "U-Net": segmentation,
    "DCGAN": adversarial,
    "variational autoencoder": variational,
    "characters, LSTM": characters,
    "decoder, GRU by word": translation,
    "GPT": gpt,
    "GPT, heads by hand": heads_by_hand,
    "sine, small network": regression,
    "deep Q learning": q_learning,
    "REINFORCE, an episode": policy_gradient,
    "graph convolutions": graph,
    "differential equation": differential_equation,
    "loader, an epoch": batches,
}
DRAWN = {digits, adversarial, variational, heads_by_hand, policy_gradient, graph, batches}
