"""Classes of norch.distributions in their corners; tests/oracle compares them with torch."""

import math

import pytest

import norch
import norch.distributions as d


def test_cumulative_probabilities_of_a_falling_transform():
    power = d.TransformedDistribution(d.Uniform(1.0, 2.0), d.PowerTransform(-1.0))
    assert power.cdf(norch.tensor(0.8)).item() == pytest.approx(0.75)  # 1 / x <= 0.8 where x >= 1.25
    assert d.InverseGamma(1.0, 1.0).cdf(norch.tensor(1.0)).item() == pytest.approx(math.exp(-1))
    assert d.Gamma(1.0, 2.0).cdf(norch.tensor(0.5)).item() == pytest.approx(1 - math.exp(-1))


def test_a_matrix_with_a_positive_diagonal_may_not_be_positive_definite():
    matrices = norch.tensor([[[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]])
    assert d.constraints.positive_definite.check(matrices).tolist() == [True, False]
    assert d.constraints.positive_semidefinite.check(matrices).tolist() == [True, False]
    assert d.constraints.symmetric.check(matrices).tolist() == [True, True]
    assert d.constraints.square.check(norch.ones(3, 2, 1)).tolist() == [False] * 3
    with pytest.raises(ValueError, match="covariance_matrix"):
        d.MultivariateNormal(norch.zeros(2), matrices[1])


def test_transforms_of_bounds_that_are_tensors_and_of_integers():
    support = d.Pareto(norch.ones(2), norch.ones(2)).support
    assert d.biject_to(support)(norch.zeros(2)).tolist() == [2.0, 2.0]
    with pytest.raises(NotImplementedError):
        d.biject_to(d.constraints.nonnegative_integer)
    with pytest.raises(ValueError, match="Too few dimensions"):
        d.biject_to(d.constraints.real_vector)(norch.tensor(1.0))


def test_the_softmax_of_integers():
    expected = norch.tensor([1.0, 3.0]).softmax(-1).tolist()
    assert d.SoftmaxTransform()(norch.tensor([1, 3])).tolist() == pytest.approx(expected)
    with pytest.raises(IndexError):
        d.SoftmaxTransform()(norch.ones(2, 0))


def test_a_bernoulli_of_two_dtypes_keeps_the_digits_of_both():
    for dtypes in ((norch.float32, norch.float64), (norch.float64, norch.float32)):
        logits, value = norch.tensor(0.1, dtype=dtypes[0]), norch.tensor(1.0, dtype=dtypes[1])
        found = d.Bernoulli(logits=logits).log_prob(value)
        assert found.dtype is norch.float64
        assert found.item() == pytest.approx(-math.log1p(math.exp(-logits.item())), rel=1e-14)
    assert d.Bernoulli(norch.tensor(0.5)).log_prob(norch.tensor(1)).dtype is norch.float32


def test_independent_enumerates_what_it_does_not_join():
    base = d.OneHotCategorical(norch.ones(2, 3))
    assert d.Independent(base, 0).has_enumerate_support and not d.Independent(base, 1).has_enumerate_support
    assert d.Independent(base, 0).enumerate_support(False).shape == (3, 1, 3)
    with pytest.raises(NotImplementedError, match="Independent"):
        d.Independent(base, 1).enumerate_support()


@pytest.mark.parametrize("read", ["mean", "variance", "entropy()", "log_prob(v)", "cdf(v)", "icdf(v)"])
@pytest.mark.parametrize("logit", [-12.0, -0.51, -0.49, -0.035, 0.0041, 0.0, 1e-4, 0.01, 12.0])
def test_continuous_bernoulli_keeps_its_digits_in_float32(logit, read):
    found = []
    for dtype in (norch.float64, norch.float32):
        x, v = norch.tensor([logit, 0.3], dtype=dtype).unbind()
        x = x.clone().requires_grad_()
        value = eval(f"p.{read}", {"p": d.ContinuousBernoulli(logits=x), "v": v})
        value.backward()
        found.append([value.item(), x.grad.item()])
    assert found[1] == pytest.approx(found[0], abs=1e-5, rel=1e-5)


def test_moments_of_continuous_bernoulli_meet_where_the_formulas_change():
    """Beside sums over the density exp(r x)."""
    x = (norch.arange(100_000, dtype=norch.float64) + 0.5) / 100_000
    for rate in (-0.4999, 0.4999, 0.5001, 0.1):
        p = d.ContinuousBernoulli(logits=norch.tensor(rate, dtype=norch.float64))
        weights = (rate * x).softmax(0)
        mean = (weights * x).sum()
        moments = [mean.item(), (weights * (x - mean) ** 2).sum().item(), 1.0]
        assert [p.mean.item(), p.variance.item(), p.log_prob(x).exp().mean().item()] == pytest.approx(moments, abs=1e-9)


@pytest.mark.parametrize("made", ["d.Gumbel(x, 0.5)", "d.Normal(x, 0.5)", "d.Uniform(x, x + 1)"])
def test_a_divergence_from_gumbel_is_the_same_anywhere(made):
    """At 64, exp(location / scale) is infinite in float32; the mean has a step of 4e-6."""
    found = []
    for x in (norch.tensor(0.0), norch.tensor(64.0)):
        found.append(d.kl_divergence(eval(made, {"d": d, "x": x}), d.Gumbel(x, 0.25)).item())
    assert math.isfinite(found[0]) and found[1] == pytest.approx(found[0], abs=2e-5)


def test_a_divergence_of_halves():
    assert d.kl_divergence(d.HalfCauchy(1.0), d.HalfCauchy(3.0)).item() == pytest.approx(math.log(16 / 12))
    assert d.Gamma(1.0, 1.0).log_prob(2).item() == pytest.approx(-2)


def test_a_transform_that_neither_grows_nor_falls_has_no_cdf():
    folded = d.TransformedDistribution(d.Normal(0.0, 1.0), d.AbsTransform())
    with pytest.raises(NotImplementedError, match="AbsTransform has no sign"):
        folded.cdf(norch.tensor(1.0))


def test_densities_at_the_ends():
    assert d.Pareto(1.0, 1.0).log_prob(norch.tensor(math.inf)).item() == -math.inf
    one = norch.ones(1)
    assert math.isfinite(d.SigmoidTransform().inv(one).item())
    assert d.StickBreakingTransform().inv(norch.ones(1)).shape == (0,)
    with pytest.raises(ValueError, match="dim"):
        d.constraints.real_vector.check(norch.tensor(1.0))


def test_transforms_are_equal_if_their_parameters_are():
    assert d.ExpTransform() == d.ExpTransform() and d.AffineTransform(1.0, 2.0) == d.AffineTransform(1.0, 2.0)
    assert d.AffineTransform(1.0, norch.ones(2)) != d.AffineTransform(1.0, 2 * norch.ones(2))
    assert d.ComposeTransform([d.ExpTransform()]) != d.ComposeTransform([d.TanhTransform()])
    folded = [d.TransformedDistribution(d.Normal(x, 1.0), d.SigmoidTransform()) for x in (0.0, 1.0)]
    assert d.kl_divergence(*folded).item() == pytest.approx(0.5)


def test_values_outside_of_a_transform_and_dtypes_beside_it():
    with pytest.raises(ValueError, match="support"):
        d.Kumaraswamy(1.0, 1.0).cdf(norch.tensor(2.0))
    relaxed = d.RelaxedBernoulli(norch.tensor(1.0, dtype=norch.float64), logits=norch.ones(1))
    assert relaxed.log_prob(norch.tensor(0.5, dtype=norch.float64)).dtype is norch.float64


ENDLESS = {
    "d.Gamma(x, 1.0)": [math.inf, math.nan],
    "d.StudentT(x)": [math.nan, math.nan],
    "d.Beta(x, x)": [math.nan, math.nan],
    "d.VonMises(1.0, x)": [1.0, math.nan],
    "d.VonMises(x * 0, 1e30)": [math.nan, math.nan],
}


@pytest.mark.parametrize("call", ENDLESS)
def test_draws_end_where_nothing_can_be_drawn(call):
    """Rejection would go on for ever: the concentrations are infinite and NaN."""
    d.Distribution.set_default_validate_args(False)
    try:
        drawn = eval(call, {"d": d, "x": norch.tensor([math.inf, math.nan])}).sample()
    finally:
        d.Distribution.set_default_validate_args(True)
    assert drawn.tolist() == pytest.approx(ENDLESS[call], nan_ok=True)


def test_draws_of_no_concentration_are_anywhere_on_the_circle():
    drawn = d.VonMises(norch.tensor(0.0), norch.tensor(0.0), validate_args=False).sample((1000,))
    assert (drawn.abs() <= math.pi).all() and drawn.min() < -2 and drawn.max() > 2


@pytest.mark.parametrize("call", ["norch.poisson(x)", "norch.binomial(x, x * 0)"])
def test_counts_of_infinite_means_are_refused(call):
    with pytest.raises(RuntimeError, match="finite"):
        eval(call, {"norch": norch, "x": norch.tensor([math.inf])})


def test_derivatives_of_gammas_of_a_large_concentration():
    """The series below 1e5, and the normal above it, meet; each ends soon."""
    slopes = []
    for a in (99_999.0, 100_001.0, 1e30):
        concentration = norch.tensor(a, dtype=norch.float64, requires_grad=True)
        norch.manual_seed(0)
        draw = d.Gamma(concentration, 1.0).rsample()
        draw.backward()
        slopes.append((concentration.grad.item() - 1) / ((draw.item() - a) / a + 1e-12))
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-3)
    assert concentration.grad.item() == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["covariance_matrix", "precision_matrix", "scale_tril"])
@pytest.mark.parametrize("used", [False, True])
def test_a_distribution_of_vectors_expands_with_the_matrix_it_was_given(name, used):
    matrix = 4 * norch.eye(2)
    for given in (
        d.MultivariateNormal(norch.zeros(2), **{name: matrix}),
        d.Wishart(norch.tensor([4]), **{name: matrix}),
    ):
        if used:
            given.covariance_matrix  # noqa: B018  (which is kept once it was computed)
        wide = given.expand([3, *given.batch_shape])
        assert wide.sample().shape == (3, *given.batch_shape, *given.event_shape)
        assert wide.covariance_matrix.shape[0] == 3
        assert norch.allclose(wide.covariance_matrix[0], given.covariance_matrix)


def test_a_subclass_expands_to_its_own_class():
    class Own(d.Independent):
        pass

    own = Own(d.Normal(norch.zeros(2, 3), 1.0, validate_args=False), 1, validate_args=False)
    wide = own.expand([4, 2])
    assert type(wide) is Own and wide.batch_shape == (4, 2) and wide.sample().shape == (4, 2, 3)
    assert wide._validate_args is False


def test_draws_of_parts_are_neither_0_nor_1():
    norch.manual_seed(0)
    drawn = d.Beta(norch.tensor(0.01), norch.tensor(0.01)).sample([5000])
    assert 0 < drawn.min() and drawn.max() < 1
