"""Programs in which norch once differed from torch, as the random programs of tests/attack found and shortened them."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[1] / "attack"))

from random_programs.execution import run  # noqa: E402

# Statements of both libraries, an empty line between programs
PROGRAMS = """
v1 = lib.ones(2, requires_grad=True)
v2 = __import__('copy').copy(v1)
v3 = (v1 * v1).sum().backward()
v4 = (v2 * 3).sum().backward()

v1 = lib.ones(2, requires_grad=True) * 2
v2 = __import__('copy').copy(v1)

v1 = lib.tensor([1.0, 2.0])
v2 = round(v1)

v1 = lib.ones(1, 2).half()
v2 = lib.nn.functional.cross_entropy(v1, lib.tensor([0]), v1[0], label_smoothing=0.25)
v3 = lib.nn.functional.cross_entropy(v1, lib.tensor([0]), v1[0], label_smoothing=0.25, ignore_index=0)

v1 = lib.nn.functional.poisson_nll_loss(lib.ones((), dtype=lib.float16), lib.tensor(3), full=True)

with lib.autocast('cpu', lib.bfloat16): v1 = lib.distributions.MultivariateNormal(lib.ones(3).half(), lib.eye(3).half())

with lib.autocast('cpu'): v1 = lib.distributions.MultivariateNormal(lib.ones(2), lib.eye(2) @ lib.eye(2)).scale_tril

with lib.autocast('cpu'): v1 = lib.distributions.Wishart(3.0, precision_matrix=lib.eye(2) @ lib.eye(2)).scale_tril

v1 = lib.distributions.MultivariateNormal(lib.zeros(2, dtype=lib.float64), lib.eye(2))
v2 = v1.log_prob(lib.ones(3, 2))

v1 = lib.tensor([1.0, 1.0, 1.0, 301.0], dtype=lib.float16, requires_grad=True)
v2 = lib.var_mean(v1), lib.std_mean(v1, unbiased=False)
v2[1][0].backward()

v1 = lib.nn.BatchNorm1d(3)
v2 = lib.utils.checkpoint.checkpoint(v1, lib.eye(3, requires_grad=True), use_reentrant=False)
v1.train(False)
v2.sum().backward()

v1 = lib.distributions.utils.vec_to_tril_matrix(lib.tensor([1.0], requires_grad=True), -1)
v1.detach_()

v1 = lib.nn.BatchNorm1d(3)
v2 = lib.utils.checkpoint.checkpoint(v1, lib.arange(6.0).reshape(2, 3), use_reentrant=False)
v3 = v2.sum().backward()
v4 = v1.num_batches_tracked

v1 = lib.nn.InstanceNorm1d(3, affine=True, track_running_stats=True)
v2 = lib.utils.checkpoint.checkpoint(v1, lib.arange(6.0).reshape(1, 3, 2), use_reentrant=False)
v3 = v2.sum().backward()

v1 = lib.nn.Linear(1, 1); v1.weight.data.fill_(2.0); v1.bias.data.zero_()
v2 = v1.register_full_backward_pre_hook(lambda m, g: (g[0] * 2,))
v3 = v1.register_full_backward_hook(lambda m, i, o: (i[0] * 3,))
v4 = lib.ones(1, 1, requires_grad=True)
v5 = v1(v4); v2.remove(); v3.remove(); v5.backward()
v1.register_full_backward_pre_hook(lambda m, g: (g[0] * 5,))
v6 = v1(v4)
v1.register_full_backward_pre_hook(lambda m, g: (g[0] * 7,))
v1.register_full_backward_hook(lambda m, i, o: (i[0] * 11,))
v6.backward()

v1 = lib.ones(2, dtype=lib.float64).cumsum_(0, dtype=lib.int64)

v1 = lib.ones(2).cumprod_(0, dtype=lib.float64)

v1 = lib.kaiser_window(5, True, -2.0)

v1 = lib.eye(3, dtype=lib.float64, requires_grad=True)
v2 = lib.linalg.cholesky(v1 * 2, upper=True).detach_()

v1 = lib.tensor(301.0, dtype=lib.float16, requires_grad=True)
v2 = v1.cumprod(0)
v3 = (v2 * v2).sum().backward()

v1 = lib.eye(3, dtype=lib.float64, requires_grad=True)
v2 = lib.linalg.lu_solve(*lib.linalg.lu_factor(v1), v1 * 1, left=False)
v3 = v2.detach_()

v1 = lib.tensor([1.0, 3.0])
v2 = lib.nn.functional.huber_loss(v1, lib.zeros(2), weight=v1)
v3 = lib.nn.functional.mse_loss(v1, lib.zeros(2), weight=v1)

v1 = lib.arange(3.7, 3, dtype=lib.int64)

v1 = lib.cumulative_trapezoid(lib.tensor([3]), dx=2.0)

v1 = lib.ones(1, 1, 2, requires_grad=True)
v2 = lib.nn.functional.pad(v1, (0, 0), 'circular')
v3 = lib.nn.functional.pad(v1, (-1, 0), 'reflect')

v1 = lib.distributions.HalfCauchy(lib.tensor(1.0)).log_prob(2)

v1 = lib.conv_tbc(lib.ones(3, 1, 1), lib.ones(2, 1, 1), lib.zeros(1, requires_grad=True)).detach_()

v1 = lib.ones(2, 3)
v2 = lib.nn.utils.rnn.unpad_sequence(v1, lib.tensor([1, 3]), True)[1]
v3 = v2.mul_(2)

v1 = lib.nn.MaxPool1d(3, 3, 0, 2, True, True)(lib.tensor([[1.0, 3.0, 2.0]]))

v1 = lib.nn.functional.avg_pool2d(lib.arange(6.0).reshape(1, 2, 3), 3, 2, ceil_mode=True)

v1 = lib.nn.MaxPool1d(5, 2, ceil_mode=True)(lib.ones(1, 3))

v1 = lib.tensor([[1.0, -3.0, 2.0, -4.0]], requires_grad=True)
v2 = lib.nn.functional.lp_pool1d(v1, float('inf'), 2)
v3 = v2.sum().backward()

v1 = lib.nn.functional.lp_pool2d(lib.tensor([[[1.0, -3.0], [2.0, -4.0]]]), -float('inf'), 2)

v1 = lib.nn.functional.lp_pool3d(lib.tensor([[[[1.0, -3.0], [2.0, -4.0]]]]), float('inf'), (1, 2, 2), 3, True)

v1 = lib.tensor([[1.0, -inf], [2.0, nan]], requires_grad=True)
v2 = lib.nn.functional.embedding(lib.tensor([0, 0, 1]), v1, scale_grad_by_freq=True)
v3 = v2.sum().backward()

v1 = lib.nn.BatchNorm1d(2)
v2 = v1.state_dict()
v3 = v2.pop('num_batches_tracked')
v4 = v1.load_state_dict(v2)

v1 = lib.nn.BatchNorm1d(2)
v2 = dict(v1.state_dict())
v3 = v2.pop('num_batches_tracked')
v4 = str(v1.load_state_dict(v2))

v1 = lib.distributions.HalfNormal(lib.tensor(1.0)).log_prob(lib.tensor(2.0, dtype=lib.float64))

v1 = lib.distributions.HalfCauchy(lib.tensor(1.0)).log_prob(lib.tensor(2.0, dtype=lib.float64))

v1 = lib.tensor(inf)
v2 = lib.distributions.InverseGamma(v1, v1).log_prob(v1)

v1 = [repr(lib.distributions.constraints.nonnegative), repr(lib.distributions.constraints.positive)]

v1 = lib.ones(2, dtype=lib.float64, requires_grad=True)
v2 = lib.optim.LBFGS([v1], 0.5, 2)
v3 = v2.step(lambda: (lambda l: (l.backward(), l)[1])((v1 ** 2).sum()))

v1 = lib.ones(2, 3, dtype=lib.float64)
v2 = lib.linalg.vector_norm(v1, 1, dtype=lib.float32)

v1 = lib.ones(2, 3, dtype=lib.float64)
v2 = lib.linalg.matrix_norm(v1, dtype=lib.float32)

v1 = lib.ones(2, 3)
v2 = lib.linalg.norm(v1, dtype=lib.float64)

v1 = lib.nn.RMSNorm(4, elementwise_affine=False)
v2 = v1.get_parameter('weight')

v1 = lib.arange(6.0).reshape(2, 3).T
v2 = lib.view_copy(v1, [1, 6])

v1 = lib.tensor([[1.0], [2.0], [1.0]], dtype=lib.float64, requires_grad=True)
v2 = lib.optim.Muon([v1], 0.1, 0.01, 0.1, True)
v3 = (v1 * v1).sum().backward()
v4 = v2.step()

v1 = lib.nn.functional.adaptive_avg_pool2d(lib.ones(1, 1, 2, 4), (-1, 1))

v1 = lib.nn.functional.interpolate(lib.ones(1, 1, 2, 4), scale_factor=(-1, 0.25), mode='area')

v1 = lib.special.hermite_polynomial_h(lib.tensor([-inf, inf, -inf, nan]), lib.tensor([2, 1, 3, 0]))
v2 = lib.special.legendre_polynomial_p(lib.tensor([-inf, -1e200, 1e200], dtype=lib.float64), 3)

v1 = lib.tensor([301.0, -65000.0], dtype=lib.float16).round(decimals=3)

v1 = lib.zeros(3, 2, requires_grad=True)
v2 = lib.linalg.lu(v1)
v3 = (v2[1].sum() + v2[2].sum()).backward()

v1 = lib.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], dtype=lib.float64, requires_grad=True)
v2 = lib.linalg.lu(v1)
v3 = (v2[1].sin().sum() + v2[2].cos().sum()).backward()
v4 = lib.linalg.lu(v1.T)
v5 = (v4[1].sin().sum() + v4[2].cos().sum()).backward()

v1 = lib.tensor(-2.086, dtype=lib.float16, requires_grad=True)
v2 = lib.optim.LBFGS([v1], 1, 3, line_search_fn='strong_wolfe')
v3 = v2.step(lambda: (lambda l: (l.backward(), l)[1])((v1 - 1) ** 4))

v1 = lib.tensor([1.0, 2.0, 3.0])
v2 = lib.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
v3 = lib.nn.functional.cosine_similarity(v1, v2, dim=0)
v4 = lib.nn.functional.cosine_similarity(v1, v2, dim=1)

v1 = lib.tensor(2.0, requires_grad=True)
v2 = lib.tensor(3.0)
v3 = lib.func.vjp(lambda s, t: s * t, v1, v2)[1](lib.tensor(1.0))

v1 = lib.tensor([1.0, 2.0], requires_grad=True)
v2 = lib.distributions.ComposeTransform([lib.distributions.ExpTransform()]).log_abs_det_jacobian(v1, v1)
v3 = lib.distributions.ComposeTransform([]).log_abs_det_jacobian(v1, v1)

v1 = lib.ones(2, 2)
v2 = v1[1]
v3 = lib.add(lib.ones(()), 1, out=v2)
v4 = v2.mul_(3)

v1 = lib.distributions.PowerTransform(2).inv(lib.tensor([-inf, 4.0, -0.0], dtype=lib.float64))
v2 = lib.distributions.PowerTransform(2)(lib.tensor(3.0, dtype=lib.float16))

v1 = lib.zeros(2)
v2 = lib.ones(2, requires_grad=True)
v3 = v1 * v2
v4 = v1.set_(lib.full((2,), 5.0))
v5 = v3.sum().backward()

v1 = lib.ones(2, 3, requires_grad=True)
v2 = (v1.trace() * nan).backward()

v1 = lib.tensor([[1.0, 2.0], [3.0, 5.0], [1.0, 1.0]], dtype=lib.float64, requires_grad=True)
v2 = lib.linalg.lstsq(v1, v1[:, 0])
v3 = [v2[0].detach_(), v2[1].detach_()]

v1 = lib.tensor([-0.0, 0.0, -inf, inf, nan, 4.0, -1.0], requires_grad=True)
v2 = [1 / (v1 ** p) for p in (0.5, 2, 3, -0.5, -1, -2)]
v3 = [1 / (v1.double() ** p) for p in (0.5, 2, 3, -0.5, -1, -2)]
v4 = [1 / (v1.bfloat16() ** p) for p in (0.5, 2, 3, -0.5, -1, -2)]
v5 = (v1 ** 0.5).sum().backward()

v1 = lib.cov(lib.tensor([1.0, 2.0]), aweights=lib.tensor([nan, 1.0]))

v1 = lib.ones(2, requires_grad=True)
v2 = v1.as_strided_scatter(v1.new_ones([2]), [2], [1], 0)
v3 = v2.detach_()

v1 = lib.func.jvp(lambda t: lib.searchsorted(t, t), (lib.ones(1),), (lib.ones(1),))
v2 = lib.func.jvp(lambda t: t.max(0), (lib.tensor([1.0, 3.0]),), (lib.ones(2),))

v1 = lib.func.jacfwd(lambda t: t.argsort())(lib.tensor([1.0, 3.0]))

v1 = lib.lu_unpack(*lib.linalg.lu_factor(lib.eye(2)), unpack_data=False)
v2 = v1[1].unsqueeze_(-1)

v1 = repr(lib.nn.functional.softshrink(lib.tensor([-0.1, -0.0, 0.1, nan, inf, -3.0])))

v1 = lib.hamming_window(3, dtype=lib.float16, requires_grad=True)
v2 = lib.kaiser_window(3, dtype=lib.bfloat16)
v3 = lib.hann_window(3, dtype=lib.int64)

v1 = lib.tensor(1.0, requires_grad=True)
v2 = lambda t: lib.func.grad_and_value(lambda s: s.exp().sum())(t)
v3 = lib.utils.checkpoint.checkpoint(v2, v1, use_reentrant=True)
v4 = (v3[0] * v3[1]).backward()

v1 = lib.distributions.OneHotCategorical(logits=lib.tensor([1.0, -inf], dtype=lib.float16)).entropy()

v1 = lib.tensor([1.5, 2.5, -3.3], dtype=lib.float64).view(lib.bool)
v2 = [v1.nonzero(), lib.ones(24)[v1], lib.arange(24).masked_select(v1), lib.nonzero_static(v1, size=3)]
v3 = lib.zeros(24).masked_scatter_(v1, lib.arange(24.0))
v4 = lib.zeros(24).index_put_((v1,), lib.tensor(2.0))

v1 = lib.tensor([0.5, -1.0])
v2 = lib.distributions.RelaxedBernoulli(lib.tensor(0.7), logits=v1)
v1.mul_(2)
v3 = [v2.probs, v2.logits, v2.log_prob(lib.tensor([0.3, 0.6]))]

v1 = lib.full([2], 2 ** 53, dtype=lib.float16)

v1 = lib.ones(2, dtype=lib.float16).clamp(max=70000)

v1 = lib.zeros(2, dtype=lib.int64).copy_(lib.ones(2, requires_grad=True))
v2 = lib.zeros(2, dtype=lib.bool).logical_and_(lib.ones(2, requires_grad=True))

v1 = lib.linalg.lu(lib.zeros(2, 2, 0)).P

v1 = lib.tensor([[2.0, 0.0], [0.0, 0.5]], requires_grad=True)
v2 = lib.linalg.pinv(v1, atol=lib.tensor([0.1, 1.0]))
v3 = v2.sum().backward()
v4 = v1.grad

v1 = lib.ones(1, 0).expand(3, 0).add_(1)

v1 = lib.tensor(__import__('numpy').datetime64(1, 's'))

v1 = lib.tensor([1.0, 2.0], requires_grad=True)
v2 = v1.exp().t_()
v3 = v2.sum().backward()
v4 = v1.grad

v1 = lib.tensor([-1.0, 0.0, 1.0], requires_grad=True)
v2 = lib.nn.functional.elu(v1) + lib.nn.functional.celu(v1) + lib.nn.functional.selu(v1)
v3 = lib.autograd.grad(v2.sum(), v1, create_graph=True)[0]
v4 = lib.autograd.grad(v3.sum(), v1)[0]

v1 = lib.zeros(1, 3, dtype=lib.float64, requires_grad=True)
v2 = lib.cdist(v1, lib.tensor([[1.0, -1.0, 1.0], [0.0, 2.0, 2.0]], dtype=lib.float64), inf).sum().backward()
v3 = v1.grad

v1 = lib.tensor([[0.0, 0.0], [1.0, 1.0]], requires_grad=True)
v2 = lib.pdist(v1, inf).sum().backward()
v3 = v1.grad

v1 = lib.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1)
v2 = [lib.rand_like(v1, memory_format=x).stride() for x in (lib.contiguous_format, lib.preserve_format)]
v3 = [lib.randn_like(v1, memory_format=lib.contiguous_format, pin_memory=False).stride()]
v4 = lib.randint_like(v1, 5, memory_format=lib.contiguous_format).stride()
v5 = lib.rand_like(v1, memory_format=lib.channels_last)

v1 = lib.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1)
v2 = v1.to(lib.float64, copy=True, memory_format=lib.preserve_format).stride()

v1 = lib.full((2,), lib.tensor(2.0, dtype=lib.float64))
v2 = lib.full((2,), lib.tensor(2, dtype=lib.int32))
v3 = lib.full((2,), __import__('numpy').float16(2))
v4 = lib.full((2,), lib.tensor(True))

v1 = lib.arange(6.0).reshape(2, 3)
v2 = v1.max(lib.tensor(1), keepdim=True)
v3 = v1.min(lib.tensor(0), True)

v1 = lib.arange(6.0).reshape(2, 3)
v2 = lib.nn.functional.pad(v1, (1, 1), value=v1.max())
v3 = lib.nn.functional.pad(v1, (1, 1), value=__import__('numpy').bool_(True))

v1 = lib.nn.functional.pad(lib.ones(2), (1, 1), value='a')

v1 = __import__('numpy')
v2 = lib.addmm(lib.ones(2, 2), lib.eye(2), lib.eye(2), beta=v1.float32(0.5), alpha=v1.int64(2))
v3 = lib.addmm(lib.ones(2, 2), lib.eye(2), lib.eye(2), beta=lib.tensor(0.5), alpha=lib.tensor(2, dtype=lib.int8))
v4 = lib.ones(2, 2, requires_grad=True)
v5 = lib.baddbmm(v4[None], v4[None], v4[None], beta=v1.float32(0.25), alpha=v1.float16(0.5)).sum().backward()

v1 = __import__('numpy').float32(0.5)
v2 = [bool(lib.zeros(999).bernoulli_(v1).any()), bool(lib.bernoulli(lib.zeros(999), v1).any())]

v1 = __import__('numpy').float32(0.5)
v2 = lib.ones(2).add(v1, alpha=2)
v3 = lib.ones(2).sub(lib.ones(2), alpha=lib.tensor(2, dtype=lib.int8))
v4 = lib.ones(2).addcmul_(lib.ones(2), lib.ones(2), value=lib.tensor(2.0))
v5 = lib.tensor([nan, inf]).nan_to_num(v1, lib.tensor(2.0))

v1 = __import__('numpy').array([2, 2])
v2 = lib.arange(16.0).reshape(1, 1, 4, 4)
v3 = [lib.nn.functional.adaptive_avg_pool2d(v2, v1), lib.nn.AdaptiveMaxPool2d(lib.tensor([2, 1]))(v2)]
v4 = [lib.nn.functional.unfold(v2, v1), lib.nn.functional.unfold(v2, lib.tensor([2, 3]))]
v5 = lib.nn.ZeroPad2d(v1.repeat(2))(v2)

v1 = __import__('numpy').int64(2)
v2 = lib.nn.functional.max_pool1d(lib.arange(6.0).reshape(1, 6), v1, v1)
v3 = lib.nn.AvgPool1d(v1)(v2)

v1 = lib.nn.LayerNorm(2)
v2 = v1.weight.requires_grad_(False)
v3 = {'weight': lib.nn.Parameter(lib.zeros(2)), 'bias': lib.ones(2)}
v4 = v1.load_state_dict(v3, assign=True)
v5 = [v1.weight, v1.bias, v1.weight is v3['weight']]

v1 = lib.optim.SGD([lib.ones(1, requires_grad=True)], 0.1)
v2 = v1.register_step_pre_hook(lambda optimizer, args, kwargs: 5)
v3 = v1.step()

v1 = lib.nn.ParameterDict()
v2 = v1.setdefault('a', lib.ones(2))
v3 = [type(v2).__name__, v2 is v1['a'], v1.setdefault('a'), v1.setdefault('b')]

v1 = lib.nn.LayerNorm(2)
v2 = lib.nn.Sequential(v1, v1)
v3 = lib.tensor([1.0, 3.0])
v4 = lib.func.functional_call(v2, {'0.weight': v3, '1.weight': v3 * 2}, v3)

v1 = lib.distributions.Binomial(2, 0.5)
v2 = [v1.has_enumerate_support, v1.enumerate_support()]

v1 = lib.utils.data.DataLoader(range(4))
v2 = [v1.prefetch_factor, v1.multiprocessing_context, v1.pin_memory_device, v1.in_order]
v3 = lib.utils.data.DataLoader(range(4), num_workers=1).prefetch_factor

v1 = lib.testing.assert_close(1.0, 1.0 + 1e-6)

v1 = lib.testing.assert_close([1], [1.0])

v1 = lib.testing.assert_close(1, 1.0, check_dtype=False)
v2 = lib.testing.assert_close({'a': None, 'b': True}, {'a': None, 'b': True})
v3 = lib.testing.assert_close(__import__('numpy').float32(1), 1.0)
v4 = lib.testing.assert_close(None, lib.ones(1))

v1 = lib.tensor([], requires_grad=True)
v2 = lib.tensor(1.0).scatter_reduce(-1, lib.full([0, 3, 1], 0), v1, 'prod', include_self=False)
v3 = lib.autograd.grad(v2, v1)[0]

v1 = lib.testing.assert_close(lib.tensor([2 ** 53]), lib.tensor([2 ** 53 + 1]))

v1 = lib.tensor([[[-1.388, -0.268, -2.216, -1.93], [-2.047, 0.084, 0.389, -0.876]]], dtype=lib.bfloat16)
v2 = lib.func.jacrev(lambda x: lib.nn.functional.scaled_dot_product_attention(x, x, x, scale=3.7))(v1)

v1 = lib.ones(2, 3, 4).permute(2, 0, 1)
v2 = [list(x.stride()) for x in (lib.alias_copy(v1), lib.narrow_copy(v1, 0, 1, 2), *lib.split_copy(v1, 2))]

v1 = lib.nn.LayerNorm(3)
v1.register_buffer('b', lib.ones(1))
lib.nn.utils.parametrize.register_parametrization(v1, 'weight', lib.nn.Tanh(), unsafe=True)
v2 = v1.get_parameter('weight')
v3 = v1.get_parameter('b')

v1 = lib.distributions.Gumbel(lib.tensor([-4.0, 3.0], dtype=lib.bfloat16), lib.tensor([0.02, 20.0], dtype=lib.bfloat16))
v2 = lib.distributions.kl_divergence(v1, v1)
"""


@pytest.mark.parametrize("program", PROGRAMS.strip().split("\n\n"))
def test_a_program_that_differed_once(program):
    torch.distributions.Distribution.set_default_validate_args(True)  # a signature's test may leave it off
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run(program.splitlines()) is None
