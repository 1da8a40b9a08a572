"""Generative models, meta-learning, energy models; noise comes from NumPy, so that both runs see the same."""

import math
from itertools import chain

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch import autograd
from torch.autograd import Variable


def noise(*shape, seed=0):
    return torch.from_numpy(np.random.RandomState(seed).randn(*shape).astype("float32"))


def dcgan(start):
    class Generator(nn.Module):
        def __init__(self, ngpu):
            super().__init__()
            self.ngpu = ngpu
            self.main = nn.Sequential(
                nn.ConvTranspose2d(8, 8, 4, 1, 0, bias=False),
                nn.BatchNorm2d(8),
                nn.ReLU(True),
                nn.ConvTranspose2d(8, 1, 4, 2, 1, bias=False),
                nn.Tanh(),
            )

        def forward(self, input):
            if input.is_cuda and self.ngpu > 1:
                return nn.parallel.data_parallel(self.main, input, range(self.ngpu))
            return self.main(input)

    class Discriminator(nn.Module):
        def __init__(self):
            super().__init__()
            self.main = nn.Sequential(
                nn.Conv2d(1, 8, 4, 2, 1, bias=False),
                nn.LeakyReLU(0.2, inplace=True),
                nn.BatchNorm2d(8),
                nn.Conv2d(8, 1, 4, 1, 0, bias=False),
                nn.Sigmoid(),
            )

        def forward(self, input):
            return self.main(input).view(-1, 1).squeeze(1)

    def weights_init(m):
        classname = m.__class__.__name__
        if classname.find("Conv") != -1:
            torch.nn.init.normal_(m.weight, 0.0, 0.02)
        elif classname.find("BatchNorm") != -1:
            m.weight.data.normal_(1.0, 0.02)
            m.bias.data.fill_(0)

    netG, netD = Generator(1), Discriminator()
    netG.apply(weights_init)
    netD.apply(weights_init)
    start(netG, netD)
    criterion = nn.BCELoss()
    optimizerD = optim.Adam(netD.parameters(), lr=0.0002, betas=(0.5, 0.999))
    optimizerG = optim.Adam(netG.parameters(), lr=0.0002, betas=(0.5, 0.999))
    losses = []
    for i in range(4):
        real_cpu = torch.tanh(noise(6, 1, 8, 8, seed=i))
        netD.zero_grad()
        batch_size = real_cpu.size(0)
        label = torch.full((batch_size,), 1, dtype=real_cpu.dtype, device="cpu")
        output = netD(real_cpu)
        errD_real = criterion(output, label)
        errD_real.backward()
        fake = netG(noise(batch_size, 8, 1, 1, seed=i + 10))
        label.fill_(0)
        errD_fake = criterion(netD(fake.detach()), label)
        errD_fake.backward()
        optimizerD.step()
        netG.zero_grad()
        label.fill_(1)
        errG = criterion(netD(fake), label)
        errG.backward()
        optimizerG.step()
        losses += [(errD_real + errD_fake).item(), errG.item()]
    return losses


def wgan_gp(start):
    G = start(nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2)))
    D = start(nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)))
    opt_g, opt_d = optim.Adam(G.parameters(), 1e-3, (0.5, 0.9)), optim.Adam(D.parameters(), 1e-3, (0.5, 0.9))
    Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor

    def compute_gradient_penalty(D, real_samples, fake_samples, seed):
        alpha = Tensor(np.random.RandomState(seed).random((real_samples.size(0), 1)))
        interpolates = (alpha * real_samples + ((1 - alpha) * fake_samples)).requires_grad_(True)
        d_interpolates = D(interpolates)
        fake = Variable(Tensor(real_samples.shape[0], 1).fill_(1.0), requires_grad=False)
        gradients = autograd.grad(
            outputs=d_interpolates,
            inputs=interpolates,
            grad_outputs=fake,
            create_graph=True,
            retain_graph=True,
            only_inputs=True,
        )[0]
        gradients = gradients.view(gradients.size(0), -1)
        return ((gradients.norm(2, dim=1) - 1) ** 2).mean()

    losses = []
    for i in range(5):
        real = Variable(noise(8, 2, seed=i).type(Tensor))
        fake = G(Variable(Tensor(np.random.RandomState(i + 5).normal(0, 1, (8, 4)))))
        opt_d.zero_grad()
        gp = compute_gradient_penalty(D, real.data, fake.data, i)
        d_loss = -torch.mean(D(real)) + torch.mean(D(fake.detach())) + 10 * gp
        d_loss.backward()
        opt_d.step()
        for p in D.parameters():
            p.data.clamp_(-1.0, 1.0)
        opt_g.zero_grad()
        g_loss = -torch.mean(D(fake))
        g_loss.backward()
        opt_g.step()
        losses += [d_loss.item(), g_loss.item(), gp.item()]
    return losses


def vae(start):
    class VAE(nn.Module):
        def __init__(self):
            super(VAE, self).__init__()
            self.fc1 = nn.Linear(20, 12)
            self.fc21 = nn.Linear(12, 3)
            self.fc22 = nn.Linear(12, 3)
            self.fc3 = nn.Linear(3, 12)
            self.fc4 = nn.Linear(12, 20)

        def encode(self, x):
            h1 = F.relu(self.fc1(x))
            return self.fc21(h1), self.fc22(h1)

        def reparameterize(self, mu, logvar, seed):
            std = torch.exp(0.5 * logvar)
            eps = torch.randn_like(std)
            eps.copy_(noise(*std.shape, seed=seed))
            return mu + eps * std

        def forward(self, x, seed):
            mu, logvar = self.encode(x.view(-1, 20))
            z = self.reparameterize(mu, logvar, seed)
            return torch.sigmoid(self.fc4(F.relu(self.fc3(z)))), mu, logvar

    model = start(VAE())
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    x = torch.sigmoid(noise(8, 1, 4, 5))
    losses = []
    for i in range(5):
        recon_batch, mu, logvar = model(x, i)
        BCE = F.binary_cross_entropy(recon_batch, x.view(-1, 20), reduction="sum")
        KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        loss = BCE + KLD
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item() / len(x))
    return losses


def vae_of_distributions(start):
    from torch import distributions as D

    encoder, decoder = start(nn.Linear(6, 4), nn.Linear(2, 6))
    optimizer = optim.Adam(chain(encoder.parameters(), decoder.parameters()), lr=0.02)
    x = torch.tensor((np.random.RandomState(0).rand(10, 6) > 0.5).astype("float32"))
    losses = []
    for i in range(5):
        loc, scale = encoder(x).chunk(2, dim=-1)
        q = D.Independent(D.Normal(loc, F.softplus(scale) + 1e-3), 1)
        z = q.base_dist.loc + q.base_dist.scale * noise(10, 2, seed=i)
        p = D.Independent(D.Normal(torch.zeros_like(z), torch.ones_like(z)), 1)
        likelihood = D.Independent(D.Bernoulli(logits=decoder(z)), 1).log_prob(x)
        elbo = likelihood - D.kl_divergence(q, p)
        loss = -elbo.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses += [loss.item(), (q.log_prob(z) - p.log_prob(z)).mean().item()]
    return losses


def normalizing_flow(start):
    class RealNVP(nn.Module):
        def __init__(self):
            super().__init__()
            self.mask = nn.Parameter(torch.tensor([[0.0, 1.0], [1.0, 0.0]] * 2), requires_grad=False)
            net = lambda last: nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 2), *last)  # noqa: E731
            self.t = torch.nn.ModuleList([net([]) for _ in range(4)])
            self.s = torch.nn.ModuleList([net([nn.Tanh()]) for _ in range(4)])

        def f(self, x):
            log_det_J, z = x.new_zeros(x.shape[0]), x
            for i in reversed(range(len(self.t))):
                z_ = self.mask[i] * z
                s = self.s[i](z_) * (1 - self.mask[i])
                t = self.t[i](z_) * (1 - self.mask[i])
                z = (1 - self.mask[i]) * (z - t) * torch.exp(-s) + z_
                log_det_J -= s.sum(dim=1)
            return z, log_det_J

    prior = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
    flow = start(RealNVP())
    optimizer = torch.optim.Adam([p for p in flow.parameters() if p.requires_grad], lr=1e-2)
    x = noise(20, 2) * torch.tensor([1.0, 0.3]) + 1
    losses = []
    for _ in range(5):
        z, logp = flow.f(x)
        loss = -(prior.log_prob(z) + logp).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        losses.append(loss.item())
    return losses


def maml(start):
    model = start(nn.Sequential(nn.Linear(1, 12), nn.ReLU(), nn.Linear(12, 1)))
    meta = optim.Adam(model.parameters(), lr=0.01)

    def forward(x, params):
        return F.linear(F.relu(F.linear(x, params[0], params[1])), params[2], params[3])

    losses = []
    for it in range(4):
        meta_loss = 0
        for task in range(3):
            x = noise(10, 1, seed=it * 3 + task)
            y = torch.sin(x + task)
            params = list(model.parameters())
            for _ in range(2):
                inner = F.mse_loss(forward(x[:5], params), y[:5])
                grads = torch.autograd.grad(inner, params, create_graph=True)
                params = [p - 0.1 * g for p, g in zip(params, grads)]
            meta_loss = meta_loss + F.mse_loss(forward(x[5:], params), y[5:])
        meta.zero_grad()
        meta_loss.backward()
        meta.step()
        losses.append(meta_loss.item())
    return losses


def neural_ode(start):
    class ODEFunc(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(2, 10), nn.Tanh(), nn.Linear(10, 2))
            for m in self.net.modules():
                if isinstance(m, nn.Linear):
                    nn.init.normal_(m.weight, mean=0, std=0.1)
                    nn.init.constant_(m.bias, val=0)

        def forward(self, t, y):
            return self.net(y**3)

    def odeint(f, y0, t):
        ys = [y0]
        for t0, t1 in zip(t[:-1], t[1:]):
            h, y = t1 - t0, ys[-1]
            k1 = f(t0, y)
            k2 = f(t0 + h / 2, y + h * k1 / 2)
            k3 = f(t0 + h / 2, y + h * k2 / 2)
            ys.append(y + h * (k1 + 2 * k2 + 2 * k3 + f(t1, y + h * k3)) / 6)
        return torch.stack(ys)

    true_A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
    t = torch.linspace(0.0, 1.0, 8)
    with torch.no_grad():
        true_y = odeint(lambda t, y: torch.mm(y**3, true_A), torch.tensor([[1.0, 0.0]]), t)
    func = start(ODEFunc())
    optimizer = optim.RMSprop(func.parameters(), lr=1e-2)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = torch.mean(torch.abs(odeint(func, torch.tensor([[1.0, 0.0]]), t) - true_y))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def mixture_density(start):
    class MDN(nn.Module):
        def __init__(self, n_hidden, n_gaussians):
            super().__init__()
            self.z_h = nn.Sequential(nn.Linear(1, n_hidden), nn.Tanh())
            self.z_pi, self.z_mu = nn.Linear(n_hidden, n_gaussians), nn.Linear(n_hidden, n_gaussians)
            self.z_sigma = nn.Linear(n_hidden, n_gaussians)

        def forward(self, x):
            z_h = self.z_h(x)
            return F.softmax(self.z_pi(z_h), -1), self.z_mu(z_h), torch.exp(self.z_sigma(z_h))

    x = noise(30, 1)
    y = x + 0.3 * torch.sin(2 * x * math.pi)
    model = start(MDN(8, 3))
    optimizer = optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(5):
        pi, mu, sigma = model(x)
        m = torch.distributions.Normal(loc=mu, scale=sigma)
        loss = -torch.log(torch.sum(torch.exp(m.log_prob(y.expand_as(mu))) * pi, dim=1)).mean()
        mix = torch.distributions.MixtureSameFamily(torch.distributions.Categorical(pi), m)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        losses += [loss.item(), -mix.log_prob(y.squeeze(1)).mean().item()]
    return losses


def bayesian_network(start):
    class BayesLinear(nn.Module):
        def __init__(self, i, o):
            super().__init__()
            self.mu = nn.Parameter(torch.Tensor(o, i).uniform_(-0.2, 0.2))
            self.rho = nn.Parameter(torch.Tensor(o, i).uniform_(-5, -4))

        def forward(self, x, seed):
            sigma = torch.log1p(torch.exp(self.rho))
            w = self.mu + sigma * noise(*self.mu.shape, seed=seed)
            posterior = torch.distributions.Normal(self.mu, sigma)
            prior = torch.distributions.Normal(torch.tensor(0.0), torch.tensor(1.0))
            self.kl = (posterior.log_prob(w) - prior.log_prob(w)).sum()
            return F.linear(x, w)

    l1, l2 = start(BayesLinear(3, 8), BayesLinear(8, 1))
    optimizer = optim.Adam([*l1.parameters(), *l2.parameters()], lr=0.01)
    x = noise(16, 3)
    y = x.sum(1, keepdim=True)
    losses = []
    for i in range(5):
        out = l2(F.softplus(l1(x, i)), i + 7)
        loss = F.mse_loss(out, y, reduction="sum") + (l1.kl + l2.kl) / 10
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def hopfield(start):
    class Hopfield(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.register_buffer("W", torch.zeros(n, n))

        def train_patterns(self, patterns):
            for p in patterns:
                self.W += torch.outer(p, p)
            self.W.fill_diagonal_(0)
            self.W /= len(patterns)

        def energy(self, s):
            return -0.5 * s @ self.W @ s

    net = Hopfield(16)
    patterns = torch.sign(noise(2, 16))
    net.train_patterns(patterns)
    s = patterns[0].clone()
    s[:3] *= -1
    energies = [net.energy(s).item()]
    for i in range(16):
        s[i] = 1.0 if torch.dot(net.W[i], s) >= 0 else -1.0
        energies.append(net.energy(s).item())
    return energies


def forward_forward(start):
    class Layer(nn.Linear):
        def __init__(self, i, o):
            super().__init__(i, o)
            self.relu = torch.nn.ReLU()
            self.opt = optim.Adam(self.parameters(), lr=0.03)

        def forward(self, x):
            x_direction = x / (x.norm(2, 1, keepdim=True) + 1e-4)
            return self.relu(torch.mm(x_direction, self.weight.T) + self.bias.unsqueeze(0))

    layers = [start(Layer(6, 10)), start(Layer(10, 10))]
    pos, neg = noise(8, 6, seed=1), noise(8, 6, seed=2)
    losses = []
    for layer in layers:
        for _ in range(3):
            g_pos = layer.forward(pos).pow(2).mean(1)
            g_neg = layer.forward(neg).pow(2).mean(1)
            loss = torch.log(1 + torch.exp(torch.cat([-g_pos + 2.0, g_neg - 2.0]))).mean()
            layer.opt.zero_grad()
            loss.backward()
            layer.opt.step()
            losses.append(loss.item())
        pos, neg = layer.forward(pos).detach(), layer.forward(neg).detach()
    return losses


def hogwild_in_one_process(start):
    import torch.multiprocessing as mp

    mp.set_start_method("spawn", force=True)
    model = start(nn.Linear(3, 1))
    model.share_memory()
    x, y = noise(10, 3), noise(10, 1, seed=4)
    with torch.no_grad():
        losses = [F.mse_loss(model(x), y).item()]
    for rank in range(2):
        torch.manual_seed(1 + rank)
        optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
        for _ in range(3):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def physics_informed(start):
    net = start(nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1)))
    optimizer = optim.Adam(net.parameters(), lr=0.01)
    t = torch.linspace(0, 1, 11).view(-1, 1).requires_grad_(True)
    losses = []
    for _ in range(5):
        u = net(t)
        du = torch.autograd.grad(u, t, grad_outputs=torch.ones_like(u), create_graph=True)[0]
        d2u = torch.autograd.grad(du, t, torch.ones_like(du), create_graph=True)[0]
        loss = torch.mean((d2u + 0.5 * du + 4 * u) ** 2) + (u[0] - 1).pow(2).squeeze() + du[0, 0] ** 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def knowledge_distillation(start):
    teacher, student = start(nn.Linear(6, 4), nn.Sequential(nn.Linear(6, 5), nn.Hardswish(), nn.Linear(5, 4)))
    optimizer = optim.SGD([{"params": student.parameters(), "lr": 0.1}], momentum=0.9)
    scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[2, 4], gamma=0.5)
    x, y = noise(12, 6), torch.arange(12) % 4
    T, losses = 2.0, []
    for _ in range(6):
        with torch.no_grad():
            soft = F.softmax(teacher(x) / T, dim=-1)
        logits = student(x)
        loss = T * T * nn.KLDivLoss(reduction="batchmean")(F.log_softmax(logits / T, dim=-1), soft)
        loss = 0.7 * loss + 0.3 * F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    return losses
