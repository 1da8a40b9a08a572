"""What public programs do that norch once did otherwise, as small pieces that run with both libraries."""

from __future__ import annotations

import importlib
from collections import OrderedDict

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402


def part(lib, path):
    return importlib.import_module(f"{lib.__name__}.{path}")


def unregistered_tensors_that_follow_their_module(lib):
    """Detectors and caches of attention hold tensors that only their own `_apply` moves."""

    class Holder(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = lib.nn.Parameter(lib.ones(2))
            self.held = lib.ones(2)

        def _apply(self, fn):
            super()._apply(fn)
            self.held = fn(self.held)
            return self

    model = lib.nn.Sequential(lib.nn.Linear(2, 2), lib.nn.Sequential(Holder()))
    model.double()
    found = [model[1][0].held, model[1][0].weight]
    return [tensor.dtype.itemsize for tensor in [*found, *model.share_memory().half().parameters()]]


def parameters_named_as_methods(lib):
    """N-BEATS keeps a list of parameters as `self.parameters`, of which the method still tells."""

    class Blocks(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.parameters = []
            self.parameters.extend(lib.nn.Linear(2, 1).parameters())
            self.parameters = lib.nn.ParameterList(self.parameters)
            self.to = lib.nn.Linear(1, 1)
            self.gradients = lib.nn.Linear(2, 2)

    model = Blocks().to(lib.float64)
    return [
        [list(p.shape) for p in model.parameters()],
        list(model.state_dict()),
        [p.dtype.itemsize for p in model.parameters()],
        list(model.gradients.weight.shape),
    ]


def scalars_for_numbers(lib):
    """Updates of quasi-Newton methods take their factors from dot products."""
    x, v, half = lib.eye(2), lib.tensor([1.0, 2.0]), lib.tensor(0.5)
    batch = lib.ones(2, 2, 2)
    found = [
        *(getattr(lib, name)(x, v, v, alpha=half, beta=-half) for name in ("addr",)),
        lib.addmm(x, x, x, alpha=half, beta=half),
        x.clone().addmm_(x, x, alpha=half),
        lib.addmv(v, x, v, beta=half),
        v.clone().addmv_(x, v, alpha=half),
        lib.baddbmm(batch, batch, batch, alpha=half),
        lib.addbmm(x, batch, batch, beta=np.float32(0.25)),
        lib.nn.functional.pad(v, (1, 1), value=half),
        lib.nan_to_num(lib.tensor([float("nan"), float("inf")]), half, posinf=np.float32(3)),
    ]
    return [tensor.tolist() for tensor in found]


def older_orders_of_products(lib):
    """Distances of triplet losses are written `dist.addmm_(1, -2, x, y.t())`."""
    x, v = lib.arange(4.0).reshape(2, 2), lib.tensor([1.0, 2.0])
    batch = lib.arange(8.0).reshape(2, 2, 2)
    rows = [("addmm", x, x, x), ("addmv", v, x, v), ("addr", x, v, v), ("baddbmm", batch, batch, batch)]
    found = []
    for name, of, y, z in [*rows, ("addbmm", x, batch, batch)]:
        function = getattr(lib, name)
        for method in (getattr(of, name), lambda *args, name=name, of=of: getattr(of.clone(), name + "_")(*args)):
            found += [method(2, -3, y, z), method(0.5, y, z)]
        found += [function(2, of, -3, y, z), function(0.5, of, y, z)]
    return [tensor.tolist() for tensor in found]


def numbers_of_numpy_first(lib):
    x, whole = lib.tensor([1.0, 2.0]), lib.tensor([1, 2])
    names = "add sub mul div true_divide remainder floor_divide pow float_power xlogy multiply".split()
    found = [getattr(lib, name)(number, x) for name in names for number in (np.float32(0.5), np.int64(3))]
    found += [getattr(lib, f"bitwise_{name}")(np.int32(3), whole) for name in ("and", "or", "xor", "left_shift")]
    found += [lib.mul(np.int64(3), whole)]
    return [(tensor.tolist(), str(tensor.dtype)[6:]) for tensor in found]


def windows_of_numpys_integers(lib):
    F, two = lib.nn.functional, np.int64(2)
    x = lib.arange(16.0).reshape(1, 4, 4)
    return [
        F.max_pool1d(x, two, stride=two).tolist(),
        F.max_pool2d(x, two, two, two - 1).tolist(),
        F.avg_pool2d(x, (two, two), stride=two).tolist(),
    ]


def the_rows_before_a_failure(lib):
    """Trust-region methods look into the factor of a matrix that is not positive-definite."""
    matrix = lib.tensor([[4.0, 1.0, 2.0], [1.0, 2.0, 0.0], [2.0, 0.0, -3.0]])
    factor, info = lib.linalg.cholesky_ex(lib.stack([matrix, lib.eye(3)]), upper=True)
    order = info[0].item()
    return [info.tolist(), factor[0, : order - 1, :order].tolist(), factor[1].tolist()]


def line_searches(lib):
    """Optimizers derived from LBFGS import its line search."""
    lbfgs = part(lib, "optim.lbfgs")
    x, direction = [lib.tensor([2.0, -3.0])], lib.tensor([-1.0, 2.0])

    def at(x, t, d):
        point = x[0] + t * d
        return float((point**4).sum()), 4 * point**3

    loss, gradient = at(x, 0, direction)
    slope = gradient.dot(direction)
    found = lbfgs._strong_wolfe(at, x, 0.1, direction, loss, gradient, slope)
    lowest = lbfgs._cubic_interpolate(0.0, 1.0, lib.tensor(-1.0), 2.0, 3.0, lib.tensor(4.0))
    return [found[0], found[1].tolist(), float(found[2]), found[3], float(lowest)]


def hooks_that_are_taken_away(lib):
    """Programs clear a module's dicts of hooks, replace them, and put them back."""
    calls: list[str] = []
    layer = lib.nn.Linear(2, 2)

    def register():
        layer.register_forward_pre_hook(lambda *_: calls.append("before"))
        layer.register_full_backward_pre_hook(lambda *_: calls.append("before backward"))
        layer.register_full_backward_hook(lambda *_: calls.append("backward"))
        return layer.register_forward_hook(lambda *_: calls.append("after"))

    def run():
        layer(lib.ones(1, 2, requires_grad=True)).sum().backward()
        found, calls[:] = list(calls), []
        return found

    handle = register()
    found = [run(), len(layer._forward_hooks), bool(layer._backward_hooks)]
    backward = layer._backward_hooks.copy()
    layer._backward_hooks.clear()
    found.append(run())
    layer._backward_hooks.update(backward)
    layer._forward_hooks = OrderedDict()
    found.append(run())
    handle.remove()
    del layer._forward_pre_hooks[next(iter(layer._forward_pre_hooks))]
    layer._backward_pre_hooks.popitem()
    layer._forward_hooks[1000] = lambda module, given, result: calls.append("put")
    found.append(run())
    fresh = lib.nn.Linear(2, 2)
    fresh._forward_pre_hooks[1000] = lambda module, given: (given[0] * 0,)
    found.append((fresh(lib.ones(2)) == fresh.bias).all().item())
    layer._register_state_dict_hook(lambda *_: calls.append("state"))
    layer.state_dict()
    layer._state_dict_hooks.clear()
    layer.state_dict()
    return [*found, calls, len(layer._load_state_dict_pre_hooks)]


def buffers_that_stop_persisting(lib):
    """Models of older versions get an empty set of them; others change it."""
    norm = lib.nn.BatchNorm1d(2)
    norm._non_persistent_buffers_set.add("running_mean")
    found = [list(norm.state_dict())]
    norm._non_persistent_buffers_set = set()
    return [*found, list(norm.state_dict())]


def loaders_without_an_end(lib):
    """timm's loader keeps its workers by a sampler that never ends."""

    class Repeated:
        def __init__(self, sampler):
            self.sampler = sampler

        def __iter__(self):
            while True:
                yield from iter(self.sampler)

    class Loader(lib.utils.data.DataLoader):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self._DataLoader__initialized = False
            self.batch_sampler = Repeated(self.batch_sampler)
            self._DataLoader__initialized = True
            self.iterator = super().__iter__()

        def __len__(self):
            return len(self.batch_sampler.sampler)

        def __iter__(self):
            for _ in range(len(self)):
                yield next(self.iterator)

    loader = Loader(list(range(5)), batch_size=2)
    with pytest.raises(ValueError):
        loader.batch_sampler = None
    return [[batch.tolist() for batch in loader] for _ in range(2)]


def names_that_are_imported(lib):
    vmap = part(lib, "_vmap_internals")._vmap
    x = lib.tensor([1.0])
    with pytest.raises(part(lib, "_C")._LinAlgError):
        lib.linalg.inv(lib.zeros(2, 2))
    return [isinstance(x, (lib.nn.Parameter, lib.masked.MaskedTensor)), vmap(lambda x: x * 2)(x).tolist()]


PROGRAMS = [unregistered_tensors_that_follow_their_module, parameters_named_as_methods, scalars_for_numbers]
PROGRAMS += [
    older_orders_of_products,
    numbers_of_numpy_first,
    windows_of_numpys_integers,
    the_rows_before_a_failure,
    line_searches,
]
PROGRAMS += [hooks_that_are_taken_away, buffers_that_stop_persisting, loaders_without_an_end, names_that_are_imported]


def same(found, expected):
    if isinstance(expected, (list, tuple)):
        assert type(found) is type(expected) and len(found) == len(expected)
        for ours, theirs in zip(found, expected):
            same(ours, theirs)
    else:
        assert found == (pytest.approx(expected, rel=1e-5, abs=1e-6) if isinstance(expected, float) else expected)


@pytest.mark.filterwarnings("ignore:(?s).*This overload of")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_finds_the_same(program):
    same(program(norch), program(torch))


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, x, n: lib.add(x, x, alpha=n),
        lambda lib, x, n: lib.addcmul(x, x, x, value=n),
        lambda lib, x, n: lib.arange(n),
        lambda lib, x, n: x.norm(n),
        lambda lib, x, n: x.nan_to_num(n),
        lambda lib, x, n: lib.nn.functional.leaky_relu(x, n),
        lambda lib, x, n: lib.nn.functional.pad(x, (1, 1), value=n),
        lambda lib, x, n: lib.nn.functional.layer_norm(x, (2,), eps=n),
        lambda lib, x, n: lib.nn.functional.dropout(x, p=n / 4),
        lambda lib, x, n: lib.cdist(x.unsqueeze(0), x.unsqueeze(0), p=n),
        lambda lib, x, n: lib.nn.functional.cross_entropy(x, lib.tensor(1), label_smoothing=n / 4),
        lambda lib, x, n: x.std(0, correction=n / 2),
        lambda lib, x, n: lib.nn.functional.huber_loss(x, x, delta=n),
        lambda lib, x, n: lib.nn.functional.smooth_l1_loss(x, x, beta=n),
        lambda lib, x, n: lib.nn.functional.margin_ranking_loss(x, x, x, margin=n),
    ],
)
def test_a_number_is_no_tensor_that_requires_gradients(call):
    """It would lose its gradient without a word."""
    for lib in (torch, norch):
        call(lib, lib.ones(2), lib.tensor(2.0))
        with pytest.raises(TypeError):
            call(lib, lib.ones(2), lib.tensor(2.0, requires_grad=True))


@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_scalars_are_bounds_that_get_no_gradients(name):
    expected, found = (getattr(lib, name)(lib.tensor(1.0, requires_grad=True), 2, 3) for lib in (torch, norch))
    assert found.requires_grad is expected.requires_grad is False
    same(found.tolist(), expected.tolist())
