"""norch's distributions beside torch's: densities, moments, divergences and their gradients; draws by moments."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402

MIDDLE = [[-0.2, 1.5, 3.0], [0.5, -0.5, 2.0]]
POSITIVE = [[0.3, 1.0, 2.5], [4.0, 0.7, 1.5]]
OTHER = [[0.9, 0.4, 3.5], [1.0, 2.7, 0.5]]
REAL = [[-0.3, 1.0, 2.5], [0.0, -0.7, 1.5]]
UNIT = [[0.1, 0.5, 0.9], [0.7, 0.3, 0.25]]
COUNTS = [[0.0, 2.0, 1.0], [3.0, 0.0, 4.0]]
BITS = [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
ONE_HOT = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
SIMPLEX = [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]
TRIL = [[1.2, 0.0, 0.0], [0.3, 0.8, 0.0], [-0.5, 0.2, 1.5]]
CORRELATION = [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, -0.6, 0.8]]
COVARIANCE = [[2.0, 0.5, 0.1], [0.5, 1.5, 0.3], [0.1, 0.3, 1.0]]

# name: (a function of the module of distributions and the parameters, the parameters, others of that kind, a value)
CASES = {
    "Normal": (lambda d, a, b: d.Normal(a, b), (REAL, POSITIVE), (POSITIVE, OTHER), REAL),
    "LogNormal": (lambda d, a, b: d.LogNormal(a, b), (REAL, POSITIVE), (POSITIVE, OTHER), POSITIVE),
    "HalfNormal": (lambda d, a: d.HalfNormal(a), (POSITIVE,), (OTHER,), POSITIVE),
    "Laplace": (lambda d, a, b: d.Laplace(a, b), (REAL, POSITIVE), (POSITIVE, OTHER), REAL),
    "Cauchy": (lambda d, a, b: d.Cauchy(a, b), (REAL, POSITIVE), (POSITIVE, OTHER), REAL),
    "Gumbel": (lambda d, a, b: d.Gumbel(a, b), (REAL, POSITIVE), None, REAL),
    "Uniform": (lambda d, a, b: d.Uniform(a, a + b), (REAL, POSITIVE), ([[-1.0] * 3] * 2, [[9.0] * 3] * 2), MIDDLE),
    "Exponential": (lambda d, a: d.Exponential(a), (POSITIVE,), (OTHER,), POSITIVE),
    "Gamma": (lambda d, a, b: d.Gamma(a, b), (POSITIVE, OTHER), (OTHER, POSITIVE), POSITIVE),
    "Chi2": (lambda d, a: d.Chi2(a), (POSITIVE,), None, POSITIVE),
    "Beta": (lambda d, a, b: d.Beta(a, b), (POSITIVE, OTHER), (OTHER, POSITIVE), UNIT),
    "Dirichlet": (lambda d, a: d.Dirichlet(a), (POSITIVE,), (OTHER,), SIMPLEX),
    "StudentT": (lambda d, a, b, c: d.StudentT(a, b, c), (POSITIVE, REAL, OTHER), None, REAL),
    "Bernoulli": (lambda d, a: d.Bernoulli(a), (UNIT,), (SIMPLEX,), BITS),
    "Bernoulli logits": (lambda d, a: d.Bernoulli(logits=a), (REAL,), (POSITIVE,), BITS),
    "Geometric": (lambda d, a: d.Geometric(a), (UNIT,), (SIMPLEX,), COUNTS),
    "Binomial": (lambda d, a: d.Binomial(5, a), (UNIT,), None, COUNTS),
    "Poisson": (lambda d, a: d.Poisson(a), (POSITIVE,), (OTHER,), COUNTS),
    "Categorical": (lambda d, a: d.Categorical(a), (POSITIVE,), (OTHER,), [2, 0]),
    "Categorical logits": (lambda d, a: d.Categorical(logits=a), (REAL,), (POSITIVE,), [[2, 0], [1, 1], [0, 2]]),
    "OneHotCategorical": (lambda d, a: d.OneHotCategorical(a), (POSITIVE,), (OTHER,), ONE_HOT),
    "Multinomial": (lambda d, a: d.Multinomial(7, a), (POSITIVE,), None, [[3.0, 2.0, 2.0], [7.0, 0.0, 0.0]]),
    "MultivariateNormal": (
        lambda d, a, b: d.MultivariateNormal(a, scale_tril=b.tril()), (REAL, TRIL), (POSITIVE, TRIL), OTHER,
    ),
    "MultivariateNormal covariance": (
        lambda d, a, b: d.MultivariateNormal(a, covariance_matrix=b), (REAL, COVARIANCE), None, OTHER,
    ),
    "MultivariateNormal precision": (
        lambda d, a, b: d.MultivariateNormal(a, precision_matrix=b), (REAL, COVARIANCE), None, OTHER,
    ),
    "Independent": (
        lambda d, a, b: d.Independent(d.Normal(a, b), 1), (REAL, POSITIVE), (POSITIVE, OTHER), REAL,
    ),
    "squashed": (
        lambda d, a, b: d.TransformedDistribution(d.Normal(a, b), [d.transforms.TanhTransform(cache_size=1)]),
        (REAL, POSITIVE), None, UNIT,
    ),
    "affine sigmoid": (
        lambda d, a, b: d.TransformedDistribution(
            d.Laplace(a, b), [d.AffineTransform(0.5, -2.0), d.SigmoidTransform()]
        ),
        (REAL, POSITIVE), None, UNIT,
    ),
    "mixture": (
        lambda d, a, b, c: d.MixtureSameFamily(d.Categorical(a), d.Normal(b, c)), (POSITIVE, REAL, OTHER), None,
        [0.3, -0.2],
    ),
    "mixture of vectors": (
        lambda d, a, b: d.MixtureSameFamily(d.Categorical(a[:, 0]), d.Independent(d.Normal(a, b), 1)),
        (POSITIVE, OTHER), None, [0.3, -0.2, 1.0],
    ),
    "relaxed": (lambda d, a, b: d.RelaxedBernoulli(a[0, 0], probs=b), (POSITIVE, UNIT), None, UNIT),
    "relaxed classes": (
        lambda d, a, b: d.RelaxedOneHotCategorical(a[0, 0], logits=b), (POSITIVE, REAL), None, SIMPLEX,
    ),
    "HalfCauchy": (lambda d, a: d.HalfCauchy(a), (POSITIVE,), None, POSITIVE),
    "Pareto": (lambda d, a, b: d.Pareto(0.1 * a, b + 3), (UNIT, POSITIVE), None, OTHER),
    "Weibull": (lambda d, a, b: d.Weibull(a, b), (POSITIVE, OTHER), None, POSITIVE),
    "Kumaraswamy": (lambda d, a, b: d.Kumaraswamy(a, b), (OTHER, POSITIVE), None, UNIT),
    "InverseGamma": (lambda d, a, b: d.InverseGamma(a + 3, b), (POSITIVE, OTHER), None, POSITIVE),
    "FisherSnedecor": (lambda d, a, b: d.FisherSnedecor(a + 3, b + 5), (POSITIVE, OTHER), None, POSITIVE),
    "ContinuousBernoulli": (lambda d, a: d.ContinuousBernoulli(0.9 * a + 0.02), (UNIT,), None, SIMPLEX),
    "ContinuousBernoulli logits": (lambda d, a: d.ContinuousBernoulli(logits=-a), (POSITIVE,), None, SIMPLEX),
    "NegativeBinomial": (lambda d, a, b: d.NegativeBinomial(a, b), (POSITIVE, UNIT), None, COUNTS),
    "NegativeBinomial logits": (lambda d, a: d.NegativeBinomial(3.0, logits=a), (REAL,), None, COUNTS),
    "VonMises": (lambda d, a, b: d.VonMises(a, b), (REAL, POSITIVE), None, REAL),
    "LogisticNormal": (lambda d, a, b: d.LogisticNormal(a[:, :2], b[:, :2]), (REAL, POSITIVE), None, SIMPLEX),
    "GeneralizedPareto": (
        lambda d, a, b, c: d.GeneralizedPareto(a, b, 0.1 * c), (REAL, POSITIVE, [[-0.5, 0.0, 2.0], [4.5, 20.0, 1.0]]),
        None, [[0.1, 3.0, 3.0], [0.2, 1.0, 4.0]],
    ),
    "LKJCholesky": (
        lambda d, a: d.LKJCholesky(3, a[:, :1]), (POSITIVE,), None, CORRELATION,
    ),
    "Wishart": (
        lambda d, a, b: d.Wishart(a[0] + 4.0, covariance_matrix=b), (POSITIVE, COVARIANCE), None, COVARIANCE,
    ),
    "Wishart tril": (lambda d, a: d.Wishart(5.5, scale_tril=a.tril()), (TRIL,), None, COVARIANCE),
    "Wishart precision": (lambda d, a: d.Wishart(3.5, precision_matrix=a), (COVARIANCE,), None, COVARIANCE),
    "copula": (
        lambda d, a: d.TransformedDistribution(
            d.MultivariateNormal(a, scale_tril=a.new_tensor(TRIL)),
            d.CumulativeDistributionTransform(d.Normal(0.0, 2.0)),
        ), (REAL,), None, UNIT,
    ),
    "reshaped": (
        lambda d, a, b: d.TransformedDistribution(d.Normal(a, b), [d.ReshapeTransform((3,), (3, 1)), d.ExpTransform()]),
        (REAL, POSITIVE), None, [[[p] for p in row] for row in POSITIVE],
    ),
    "correlations": (
        lambda d, a, b: d.TransformedDistribution(d.Normal(a, b), d.CorrCholeskyTransform()), (REAL, POSITIVE), None,
        CORRELATION,
    ),
    "wider": (
        lambda d, a, b: d.TransformedDistribution(d.Normal(a[0], 1.0), d.AffineTransform(a, b, event_dim=1)),
        (REAL, POSITIVE), None, OTHER,
    ),
    "low rank": (
        lambda d, a, b, c: d.LowRankMultivariateNormal(a, b.T, c), (REAL, OTHER, POSITIVE), None, REAL,
    ),
}  # fmt: skip

ONE_DTYPE = ("GeneralizedPareto", "Wishart", "Wishart tril", "Wishart precision")  # torch's take no other than default
ATTRIBUTES = "mean variance stddev mode".split()


def made(library, name, parameters):
    make = CASES[name][0]
    tensors = [library.tensor(p, dtype=library.float64, requires_grad=True) for p in parameters]
    return make(library.distributions, *tensors), tensors


def as_numpy(x):
    return np.array(x.tolist())


def gradients(library, result, tensors):
    finite = library.where(library.isfinite(result), result, library.zeros_like(result))
    if not finite.requires_grad:
        return []
    found = library.autograd.grad(finite.sum(), tensors, allow_unused=True)
    return [0.0 if part is None else as_numpy(part) for part in found]


def agree(name, what, parameters):
    """Values and gradients of what(library, distribution)."""
    results = []
    for library in (torch, norch):
        distribution, tensors = made(library, name, parameters)
        try:
            result = what(library, distribution)
            results.append((as_numpy(result.detach()), gradients(library, result, tensors)))
        except NotImplementedError:
            results.append(None)
    theirs, ours = results
    if theirs is None:
        return
    assert ours is not None, "torch has it"
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-6, atol=1e-9)
    for mine, wanted in zip(ours[1], theirs[1]):
        np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-8)


@pytest.fixture
def default_dtype(name):
    """float64 for those that need it."""
    before = torch.get_default_dtype()
    for library in (torch, norch) if name in ONE_DTYPE else ():
        library.set_default_dtype(library.float64)
    yield
    for library in (torch, norch):
        library.set_default_dtype(getattr(library, str(before).split(".")[1]))


@pytest.mark.filterwarnings("ignore:Singular sample")  # torch's, of samples that are not singular
@pytest.mark.parametrize("name", CASES)
def test_densities_and_moments(name, default_dtype):
    parameters, value = CASES[name][1], CASES[name][3]
    agree(name, lambda library, p: p.log_prob(library.tensor(value)), parameters)
    agree(name, lambda library, p: p.entropy(), parameters)
    if not name.startswith("affine"):  # torch's sign of a list of transforms is an int there
        agree(name, lambda library, p: p.cdf(library.tensor(value)), parameters)
    agree(name, lambda library, p: p.icdf(library.tensor(UNIT, dtype=library.float64)), parameters)
    for attribute in ATTRIBUTES:
        if attribute == "mode" and name in ("Beta", "Weibull", "Kumaraswamy"):
            continue  # torch's has NaN, or a wrong number, for concentrations below 1
        agree(name, lambda library, p, attribute=attribute: getattr(p, attribute), parameters)
    for library in (torch, norch):
        p, _ = made(library, name, parameters)
        shapes = [tuple(p.batch_shape), tuple(p.event_shape), tuple(p.sample((4, 2)).shape), p.has_rsample]
        shapes += [tuple(p.sample().shape), p.sample().requires_grad, str(p.sample().dtype).split(".")[-1]]
        if library is torch:
            expected = shapes
    assert shapes == expected


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][2]])
def test_divergences(name):
    others = CASES[name][2]
    agree(
        name, lambda library, p: library.distributions.kl_divergence(p, made(library, name, others)[0]), CASES[name][1]
    )
    agree(name, lambda library, p: library.distributions.kl_divergence(p, p), CASES[name][1])


NO_MOMENTS = (
    "Cauchy StudentT LogNormal HalfCauchy VonMises LogisticNormal relaxed GeneralizedPareto LKJCholesky copula "
    "reshaped correlations wider"
).split() + ["relaxed classes"]


@pytest.mark.parametrize("name", [n for n in CASES if n not in NO_MOMENTS])
def test_draws_have_the_moments(name):
    norch.manual_seed(1)
    p, tensors = made(norch, name, CASES[name][1])
    if name.startswith("Categorical"):
        drawn = norch.nn.functional.one_hot(p.sample((20000,)), 3).double()
        mean, deviation = p.probs, (p.probs * (1 - p.probs)).sqrt()
    else:
        drawn = p.sample((20000,)).double()
        moments = p if name not in ("squashed", "affine sigmoid") else made(torch, name, CASES[name][1])[0]
        if moments is not p:
            torch.manual_seed(0)
            theirs = moments.sample((20000,))
            mean, deviation = norch.tensor(theirs.mean(0).numpy()), norch.tensor(theirs.std(0).numpy()) * 1.5
        else:
            mean, deviation = p.mean, p.stddev
    error = (drawn.mean(0) - mean.detach()).abs() / (deviation.detach() / 20000**0.5)
    assert bool((error < 5).all()), error
    if p.has_rsample:
        p.rsample((3,)).sum().backward()
        assert all(t.grad is not None and bool(t.grad.isfinite().all()) for t in tensors)


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0, 3.0, 40.0, 900.0])
def test_the_gradient_of_a_gamma_draw(alpha):
    """torch's own derivative, at the same draws."""
    drawn = torch.distributions.Gamma(torch.tensor(alpha, dtype=torch.float64), 1.0).sample((200,))
    expected = torch._standard_gamma_grad(torch.full_like(drawn, alpha), drawn).numpy()
    from norch.distributions.gamma import _StandardGamma

    class Context:
        saved_tensors = norch.full((200,), alpha, dtype=norch.float64), norch.tensor(drawn.numpy())

    found = _StandardGamma.backward(Context, norch.ones(200, dtype=norch.float64)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-12)  # torch approximates


REFUSED = {
    "scale": lambda t: t.distributions.Normal(0.0, -1.0),
    "nan": lambda t: t.distributions.Normal(t.tensor([float("nan")]), 1.0),
    "both": lambda t: t.distributions.Bernoulli(t.tensor([0.5]), t.tensor([0.5])),
    "neither": lambda t: t.distributions.Categorical(),
    "probability": lambda t: t.distributions.Bernoulli(t.tensor([1.5])),
    "support": lambda t: t.distributions.Exponential(1.0).log_prob(t.tensor(-1.0)),
    "class": lambda t: t.distributions.Categorical(t.ones(3)).log_prob(t.tensor(3)),
    "shape": lambda t: t.distributions.Dirichlet(t.ones(3)).log_prob(t.ones(2) / 2),
    "bounds": lambda t: t.distributions.Uniform(1.0, 0.0),
    "rsample": lambda t: t.distributions.Bernoulli(t.tensor([0.5])).rsample(),
    "kl": lambda t: t.distributions.kl_divergence(t.distributions.Poisson(1.0), t.distributions.Normal(0.0, 1.0)),
    "ndims": lambda t: t.distributions.Independent(t.distributions.Normal(0.0, 1.0), 1),
    "matrix": lambda t: t.distributions.MultivariateNormal(t.zeros(2)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    errors = []
    for library in (torch, norch):
        with pytest.raises((ValueError, NotImplementedError, TypeError)) as caught:
            REFUSED[name](library)
        errors.append(caught.type)
    assert errors[0] is errors[1]


def test_without_checks():
    assert norch.distributions.Normal(0.0, -1.0, validate_args=False).scale.item() == -1.0


# torch's GeneralizedPareto refuses its own float64 draws, and its Wishart warns of singular ones
@pytest.mark.parametrize("name", [name for name in CASES if not re.match("Wishart|GeneralizedPareto", name)])
def test_expand(name):
    shapes = []
    for library in (torch, norch):
        p = made(library, name, CASES[name][1])[0]
        q = p.expand((4, *p.batch_shape))
        shapes.append([tuple(q.batch_shape), tuple(q.event_shape), tuple(q.sample().shape)])
        draw = q.sample()
        np.testing.assert_allclose(q.log_prob(draw).tolist(), p.log_prob(draw).tolist(), rtol=1e-5)
        shapes[-1].append(tuple(q.log_prob(draw).shape))
    assert shapes[0] == shapes[1]


def test_reprs():
    for library in (torch, norch):
        d, t = library.distributions, library.tensor
        found = [repr(p) for p in (d.Normal(0.0, 1.0), d.Normal(t([0.0, 1.0]), 1.0), d.Bernoulli(t([0.5, 0.5])))]
        if library is torch:
            expected = [text.replace("torch", "norch") for text in found]
    assert found == expected


@pytest.mark.parametrize("name", [name for name in CASES if name != "Uniform"])  # (its ends are checked together)
def test_constraints_are_printed_and_named(name):
    build, given, _, _ = CASES[name]
    found = []
    for lib in (norch, torch):
        made = build(lib.distributions, *(lib.tensor(values) for values in given))
        constraints = made.arg_constraints
        found.append([repr(made.support), {key: repr(constraints[key]) for key in sorted(constraints)}])
    assert found[0] == found[1]


def test_constraints_of_parts_are_printed():
    found = []
    for c in (norch.distributions.constraints, torch.distributions.constraints):
        made = [c.less_than(2), c.integer_interval(0, 3), c.independent(c.positive, 1), c.cat([c.real]), c.one_hot]
        found.append(list(map(repr, [*made, c.half_open_interval(0, 1), c.lower_cholesky, c.dependent, c.square])))
    assert found[0] == found[1]


def test_a_users_exponential_family_has_its_entropy():
    entropies = []
    for t in (torch, norch):

        class Waiting(t.distributions.ExponentialFamily):
            arg_constraints = {"rate": t.distributions.constraints.positive}
            _mean_carrier_measure = 0

            def __init__(self, rate):
                self.rate = rate
                super().__init__(rate.shape)

            def expand(self, shape, _instance=None):
                new = self._get_checked_instance(Waiting, _instance)
                new.rate = self.rate.expand(shape)
                super(Waiting, new).__init__(shape, validate_args=False)
                return new

            @property
            def _natural_params(self):
                return (-self.rate,)

            def _log_normalizer(self, x):
                return -(-x).log()

        p = Waiting(t.tensor([0.5, 2.0]))
        entropies.append(p.expand((3, 2)).entropy().tolist())
    np.testing.assert_allclose(*entropies, rtol=1e-6)
    assert len(entropies[1]) == 3


@pytest.mark.parametrize(
    ("factor", "diagonal"),
    [
        ([[1.0], [1.0]], [1e-10, 1e-10]),
        ([[1.0, 2.0], [3.0, 4.0]], [1e-10, 1e-9]),
        ([[100.0, 100.0], [100.0, 100.0], [100.0, 100.0]], [1e-3, 1e-3, 1e-3]),
        ([[1.0, 2.0, 0.5]], [0.1]),
    ],
)
def test_a_normal_of_low_rank_keeps_its_digits(factor, diagonal):
    found = []
    for t, dtype in ((torch, torch.float64), (norch, norch.float32)):
        w, d = (t.tensor(x, dtype=dtype) for x in (factor, diagonal))
        normal = t.distributions.LowRankMultivariateNormal(t.zeros(len(diagonal), dtype=dtype), w, d)
        at = t.ones(len(diagonal), dtype=dtype)
        found.append(
            [normal.log_prob(at), normal.expand([2]).entropy(), normal.expand([2]).scale_tril, normal.variance]
        )
    for ours, theirs in zip(found[1], found[0]):
        np.testing.assert_allclose(ours.tolist(), theirs.tolist(), rtol=5e-3, atol=1e-6)


def test_triangles_as_vectors():
    for diagonal in (-1, 0, 1):
        results = []
        for t in (torch, norch):
            u = t.distributions.utils
            vector = u.tril_matrix_to_vec(t.tensor(COVARIANCE), diagonal)
            results.append([vector.tolist(), u.vec_to_tril_matrix(vector, diagonal).tolist() if diagonal < 1 else None])
        assert results[0] == results[1]
    with pytest.raises(ValueError, match="is 4 "):
        norch.distributions.utils.vec_to_tril_matrix(norch.ones(4))
    with pytest.raises(ValueError, match=r"diag \(3\)"):
        norch.distributions.utils.tril_matrix_to_vec(norch.ones(3, 3), 3)


def test_draws_of_correlations_have_their_moments():
    """A uniform density of matrices [3, 3]: each correlation is Beta(3/2, 3/2) from -1 to 1, of variance 1/4."""
    norch.manual_seed(2)
    p = norch.distributions.LKJCholesky(3, norch.tensor([1.0, 1.0]))
    factors = p.sample((20000,))
    assert bool(p.support.check(factors).all()) and factors.shape == (20000, 2, 3, 3)
    correlations = (factors @ factors.mT)[..., [1, 2, 2], [0, 0, 1]]
    assert bool((correlations.mean(0).abs() < 0.02).all())
    assert bool(((correlations.var(0) - 0.25).abs() < 0.01).all())


def test_angles_are_drawn_around_their_mean():
    norch.manual_seed(0)
    found = norch.distributions.VonMises(norch.tensor([0.5, -1.0]), norch.tensor([4.0, 0.5])).sample((4000,))
    expected = [torch.distributions.VonMises(0.0, k).variance.item() for k in (4.0, 0.5)]
    direction = norch.stack([found.cos().mean(0), found.sin().mean(0)])
    np.testing.assert_allclose(1 - direction.norm(dim=0).numpy(), expected, atol=0.03)
    np.testing.assert_allclose(norch.atan2(direction[1], direction[0]).numpy(), [0.5, -1.0], atol=0.12)
    assert bool((found.abs() <= math.pi + 1e-5).all())


def test_what_packages_ask_of_the_classes():
    for t in (torch, norch):
        d = t.distributions
        assert d.HalfCauchy(2.0).base_dist.scale.item() == d.HalfNormal(2.0).base_dist.scale.item() == 2.0
        assert {"real", "cat", "corr_cholesky", "Constraint"} <= set(d.constraints.__all__)

        class Other:
            pass

        d.register_kl(Other, d.Normal)(lambda p, q: "found")
        assert d.kl_divergence(Other(), d.Normal(0.0, 1.0)) == "found"
        with pytest.raises((TypeError, AttributeError)):
            d.register_kl("Normal", d.Normal)


def test_an_inverse_gamma_expands_to_what_its_parameters_do():
    for d, lib in ((torch.distributions, torch), (norch.distributions, norch)):
        wide = d.InverseGamma(lib.ones(2), lib.ones(2)).expand([3, 2])
        assert tuple(wide.sample().shape) == tuple(wide.batch_shape) == (3, 2)
        with pytest.raises(RuntimeError if lib is torch else norch.ShapeError):
            d.InverseGamma(lib.ones(2), lib.ones(2)).expand([3, 1])


def test_divergences_of_wisharts():
    """Beside torch's numbers; its own have no gradients, and of batches are other sums."""

    def divergence(lib, df, factor):
        d = lib.distributions
        other = d.Wishart(lib.tensor(4.5, dtype=lib.float64), factor.new_tensor(COVARIANCE))
        return d.kl_divergence(d.Wishart(df, scale_tril=factor.tril()), other)

    theirs, ours = ([lib.tensor(x, dtype=lib.float64) for x in (5.5, TRIL)] for lib in (torch, norch))
    assert divergence(norch, *ours).item() == pytest.approx(divergence(torch, *theirs).item(), rel=1e-9)
    inputs = [x.requires_grad_() for x in ours]
    assert norch.autograd.gradcheck(lambda df, factor: divergence(norch, df, factor), inputs)
    batch = norch.tensor([5.5, 3.5], dtype=norch.float64)
    alone = [divergence(norch, df, ours[1]).item() for df in batch]
    assert divergence(norch, batch, ours[1]).tolist() == pytest.approx(alone)
