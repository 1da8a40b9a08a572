"""norch's transforms of distributions and what they map onto, beside torch's."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402

VALUES = [[-0.2, 1.5, 3.0], [0.5, -0.5, 2.0]]
MATRIX = [[2.0, 0.5, 0.1], [0.5, 1.5, 0.3], [0.1, 0.3, 1.0]]


def as_numpy(x):
    return np.array(x.tolist())


SIDE_BY_SIDE = {
    "cat": lambda t: t.CatTransform([t.ExpTransform(), t.AffineTransform(1.0, 2.0)], dim=-1, lengths=[1, 2]),
    "cat rows": lambda t: t.CatTransform([t.ExpTransform(), t.identity_transform], dim=0),
    "cat events": lambda t: t.CatTransform([t.AffineTransform(0.0, 3.0, event_dim=1), t.ExpTransform()], dim=0),
    "cat in an event": lambda t: t.CatTransform(
        [t.AffineTransform(0.0, 3.0, event_dim=1), t.ExpTransform()], dim=1, lengths=[2, 1]
    ),
    "stack": lambda t: t.StackTransform([t.ExpTransform(), t.TanhTransform(), t.SigmoidTransform()], dim=1),
    "stack rows": lambda t: t.StackTransform([t.ExpTransform(), t.AffineTransform(0.0, 1.5)]),
    "reshape": lambda t: t.ReshapeTransform((3,), (3, 1)),
    "reshape all": lambda t: t.ReshapeTransform((2, 3), (6,)),
    "correlations": lambda t: t.CorrCholeskyTransform(),
    "chain": lambda t: t.ComposeTransform(
        [t.ExpTransform(), t.ReshapeTransform((3,), (1, 3)), t.AffineTransform(0, 2.0)]
    ),
    "cached chain": lambda t: t.ComposeTransform([t.ExpTransform(), t.TanhTransform()]).with_cache(),
    "independent": lambda t: t.IndependentTransform(t.CorrCholeskyTransform(), 1),
    "softmax": lambda t: t.SoftmaxTransform(),
    "sticks": lambda t: t.StickBreakingTransform(cache_size=1),
    "inverse": lambda t: t.ExpTransform().inv.with_cache().inv,
}


@pytest.mark.parametrize("name", SIDE_BY_SIDE)
def test_transforms_and_their_shapes(name):
    results = []
    for t in (torch, norch):
        transform = SIDE_BY_SIDE[name](t.distributions.transforms)
        x = t.tensor(VALUES, dtype=t.float64, requires_grad=True)
        y = transform(x)
        results.append([as_numpy(y.detach()), as_numpy(transform.inv(y).detach())])
        if name != "softmax":
            jacobian = transform.log_abs_det_jacobian(x, y)
            results[-1] += [as_numpy(jacobian.detach()), as_numpy(t.autograd.grad(jacobian.sum() + y.sum(), x)[0])]
        shape = transform.forward_shape(t.Size((2, 3)))
        events = [transform.domain.event_dim, transform.codomain.event_dim]
        results[-1] += [list(shape), list(transform.inverse_shape(shape)), events, transform.bijective]
        if "event" not in name:  # torch fails to join what the parts say
            results[-1] += [as_numpy(transform.codomain.check(y)), as_numpy(transform.domain.check(x))]
        results[-1] += [transform.inv.inv is transform, transform.with_cache().with_cache(0)._cache_size]
    for mine, wanted in zip(results[1], results[0]):
        np.testing.assert_allclose(mine, wanted, rtol=1e-6, atol=1e-9)


def test_a_users_transform_says_its_event_by_its_domain():
    shapes = []
    for t in (torch, norch):
        constraints = t.distributions.constraints

        class Rotation(t.distributions.Transform):
            domain = codomain = constraints.independent(constraints.real, 1)
            bijective = True

            def __init__(self, matrix):
                super().__init__(cache_size=1)
                self.matrix = matrix

            def _call(self, x):
                return x @ self.matrix.T

            def _inverse(self, y):
                return y @ self.matrix

            def log_abs_det_jacobian(self, x, y):
                return x.new_zeros(x.shape[:-1])

        base = t.distributions.Normal(t.zeros(2), t.ones(2))
        rotated = t.distributions.TransformedDistribution(base, [Rotation(t.tensor([[0.0, 1.0], [-1.0, 0.0]]))])
        value = rotated.log_prob(t.tensor([[1.0, 2.0], [0.5, 0.0]]))
        shapes.append([tuple(rotated.batch_shape), tuple(rotated.event_shape), Rotation(t.eye(2)).event_dim])
        shapes[-1] += [round(v, 5) for v in value.tolist()]
    assert shapes[0] == shapes[1]


TRANSFORMED = ["SoftmaxTransform", "StickBreakingTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform"]


@pytest.mark.parametrize("name", TRANSFORMED)
def test_transforms_of_several_numbers(name):
    results = []
    for t in (torch, norch):
        x = t.tensor(MATRIX)
        transform = getattr(t.distributions.transforms, name)()
        y = transform(x)
        results.append([y, transform.inv(y)])
        if name.startswith("Stick"):
            results[-1] += [transform.log_abs_det_jacobian(x, y)]
            results[-1] += [t.distributions.transforms.IndependentTransform(transform, 1).log_abs_det_jacobian(x, y)]
    for mine, wanted in zip(results[1], results[0]):
        np.testing.assert_allclose(as_numpy(mine), as_numpy(wanted), rtol=1e-5, atol=1e-6)


CONSTRAINTS = {
    "real": "real", "positive": "positive", "nonnegative": "nonnegative", "unit_interval": "unit_interval",
    "simplex": "simplex", "lower_cholesky": "lower_cholesky", "positive_definite": "positive_definite",
    "greater_than": "greater_than(2.0)", "less_than": "less_than(-1.0)", "interval": "interval(-1.0, 3.0)",
    "independent": "independent(constraints.positive, 1)", "corr_cholesky": "corr_cholesky",
    "cat": "cat([constraints.positive, constraints.real], -1, [1, 2])",
    "stack": "stack([constraints.positive, constraints.unit_interval, constraints.real], 0)",
}  # fmt: skip


@pytest.mark.parametrize(
    "registry, name",
    [("transform_to", name) for name in CONSTRAINTS] + [("biject_to", name) for name in [*CONSTRAINTS][:5]],
)
def test_transforms_to_constraints(name, registry):
    results = []
    for t in (torch, norch):
        constraint = eval("constraints." + CONSTRAINTS[name], {"constraints": t.distributions.constraints})
        y = getattr(t.distributions, registry)(constraint)(t.tensor(MATRIX))
        assert bool(constraint.check(y).all())
        results.append(as_numpy(y))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5, atol=1e-6)


def test_a_constraint_without_a_transform_is_refused():
    for t in (torch, norch):
        with pytest.raises(NotImplementedError, match="Cannot transform"):
            t.distributions.transform_to(t.distributions.constraints.boolean)


def transform_module(t):
    """As pyro's: a module whose parameters a transform uses."""

    class Scaled(t.distributions.Transform, t.nn.Module):
        domain = codomain = t.distributions.constraints.real
        bijective = True
        __hash__ = t.nn.Module.__hash__

        def __init__(self, cache_size=0):
            super().__init__(cache_size=cache_size)
            self.log_scale = t.nn.Parameter(t.tensor(0.5))

        def _call(self, x):
            return x * self.log_scale.exp()

        def _inverse(self, y):
            return y * (-self.log_scale).exp()

        def log_abs_det_jacobian(self, x, y):
            return self.log_scale.expand(x.shape)

    return Scaled


def test_a_module_that_is_a_transform():
    found = []
    for t in (torch, norch):
        transform = transform_module(t)(cache_size=1)
        d = t.distributions.TransformedDistribution(t.distributions.Normal(0.0, 1.0), transform)
        loss = d.log_prob(t.tensor(VALUES)).sum()
        loss.backward()
        x = t.ones(2)
        y = transform(x)
        found.append([loss.item(), transform.log_scale.grad.item(), transform.inv(y) is x])
        assert len([*transform.parameters()]) == 1
        assert all(hasattr(transform_module(t), name) for name in dir(transform_module(t)))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)
    copy = transform_module(norch)().with_cache()
    assert len([*copy.parameters()]) == 1 and copy._cache_size == 1
