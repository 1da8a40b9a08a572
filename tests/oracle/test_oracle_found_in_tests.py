"""What PyTorch's own tests found when they were run on norch: each does in both libraries what it does in torch."""

from __future__ import annotations

import tempfile

import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402


def outcome(compute, lib):
    try:
        return compute(lib)
    except Exception as error:
        return type(error)


def alike(compute):
    """Whether a function of the library returns the same numbers, or raises the same kind of error, in both."""
    ours, theirs = outcome(compute, norch), outcome(compute, torch)
    assert ours == theirs or (isinstance(ours, type) and isinstance(theirs, type) and issubclass(ours, theirs))
    return theirs


# ---- functional_call


def module(lib):
    class Layer(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = lib.nn.Linear(1, 1, bias=False)
            self.tied = self.inner.weight
            self.plain, self.number = lib.ones(1), 2.0
            self.register_buffer("steps", lib.zeros(1))

        def forward(self, x):
            self.steps = self.steps + 1
            return x * self.plain + self.inner(x) + self.tied[0] + self.steps + getattr(self, "more", 0)

    return Layer()


@pytest.mark.parametrize("names", ["plain", "more", "inner.more", "innr.weight", "number", "inner", "tied steps plain"])
@pytest.mark.parametrize("strict", [False, True])
def test_the_names_that_functional_call_takes(names, strict):
    def compute(lib):
        layer = module(lib)
        with lib.no_grad():
            layer.inner.weight.fill_(3.0)
        given = {name: lib.full((1, 1) if name == "tied" else (1,), 5.0) for name in names.split()}
        result = lib.func.functional_call(layer, given, lib.ones(1), strict=strict).tolist()
        return result, {name: x.tolist() for name, x in given.items()}, hasattr(layer, "more"), layer.steps.tolist()

    alike(compute)


@pytest.mark.parametrize("value", [None, 1.0, "weight"])
@pytest.mark.parametrize("name", ["inner.weight", "plain", "more"])
def test_functional_call_takes_tensors(name, value):
    assert isinstance(alike(lambda lib: lib.func.functional_call(module(lib), {name: value}, lib.ones(1))), type)


def test_functional_call_refuses_what_a_parametrization_computes():
    layer = norch.nn.utils.parametrizations.weight_norm(norch.nn.Linear(1, 1))
    with pytest.raises(TypeError, match="weight is computed by ParametrizedLinear"):
        norch.func.functional_call(layer, {"weight": norch.ones(1, 1)}, norch.ones(1))


def test_a_module_within_itself_is_called_with_other_parameters():
    def compute(lib):
        layer = lib.nn.Linear(1, 1)
        layer.around = lib.nn.Module()
        layer.around.layer = layer
        given = {"around.layer.weight": lib.ones(1, 1), "bias": lib.zeros(1)}
        return lib.func.functional_call(layer, given, lib.ones(1), tie_weights=False).tolist()

    assert alike(compute) == [1.0]


# ---- Hooks, distributions, loaders, files


def test_a_backward_hook_is_called_for_gradients_of_outputs():
    def compute(lib):
        calls = []
        loss = lib.nn.MSELoss()
        loss.register_full_backward_hook(lambda *_: calls.append(len(calls)))
        x = lib.ones(2, requires_grad=True)
        first = lib.autograd.grad(loss(x, lib.zeros(2)), x, create_graph=True)[0]
        second = lib.autograd.grad(first.sum(), x)[0]  # which comes to the inputs from inside
        return calls, first.tolist(), second.tolist()

    assert alike(compute)[0] == [0]


@pytest.mark.parametrize("df", [0.0, -2.0])
def test_chi2_checks_its_degrees(df):
    assert alike(lambda lib: lib.distributions.Chi2(lib.tensor([df]), validate_args=True)) is ValueError


@pytest.mark.parametrize("name", ["Pareto", "Weibull", "Kumaraswamy", "Gamma", "Beta", "Normal"])
def test_a_subclass_expands_to_itself(name):
    def compute(lib):
        class Sub(getattr(lib.distributions, name)):
            pass

        return type(Sub(lib.ones(1), lib.ones(1)).expand((3,))) is Sub

    assert alike(compute)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_beta_of_small_concentrations_is_near_0_or_1(dtype):
    norch.manual_seed(0)
    a = norch.tensor(0.01, dtype=getattr(norch, dtype))
    drawn = norch.distributions.Beta(a, a).sample((20000,))
    assert ((drawn > 0) & (drawn < 1)).all()
    for part in (drawn < 0.1, drawn > 0.9):
        assert abs(part.double().mean().item() - 0.5) < 0.03


def batches(lib):
    yield [(0, 1), (4, 5)]
    yield [lib.tensor([0, 1]), lib.tensor([2, 3])]
    yield [[lib.tensor(0), lib.tensor(1)]]
    yield [range(2), range(4, 6)]


@pytest.mark.parametrize("number", range(4))
def test_a_batch_sampler_gives_any_sequence(number):
    def compute(lib):
        data = lib.utils.data.TensorDataset(lib.arange(12.0).view(6, 2), lib.arange(6))
        sets = [data, lib.utils.data.Subset(data, [5, 4, 3, 2, 1, 0])]
        loaders = [lib.utils.data.DataLoader(x, batch_sampler=list(batches(lib))[number]) for x in sets]
        return [[part.tolist() for part in batch] for loader in loaders for batch in loader]

    assert isinstance(alike(compute), list)


def test_a_file_that_is_still_open_can_be_loaded_by_its_name():
    def compute(lib):
        with tempfile.NamedTemporaryFile() as file:
            lib.save({"a": lib.ones(2)}, file)
            return lib.load(file.name)["a"].tolist()

    assert alike(compute) == [1.0, 1.0]


# ---- Functions

BESSEL = ["i0", "i1", "i0e", "i1e", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1"]


@pytest.mark.parametrize(
    "statement",
    [
        "lib.zeros(99, dtype=lib.int64).random_(5, None).min().item() > 1000",
        "lib.zeros(999, dtype=lib.int8).random_(-100, None).min().item() < -50",
        "lib.zeros(9, dtype=lib.int64).random_(1).tolist()",
        "[x := lib.zeros(2, 3), lib.range(0, 3, out=x.narrow(1, 1, 2))][0].tolist()",
        "[f'{getattr(lib.special, name)(lib.tensor(1.7e308, dtype=lib.float64)).item():.12g}' for name in BESSEL]",
        "lib.linalg.norm(lib.ones(2, 3, 4), 2, (0, 1, 2))",
        "lib.linalg.norm(lib.ones(2, 3, 4), dim=(0, 1, 2))",
        "lib.linalg.tensorinv(lib.ones(0, 0, 1, 2, 3, 0), 4).shape == (3, 0, 0, 0, 1, 2)",
        "list(lib.nn.ParameterDict({'b': lib.ones(1), 'a': lib.ones(2)}) | {'d': lib.ones(1), 'c': lib.ones(1)})",
        "list(lib.nn.ParameterDict([('b', lib.ones(1)), ('a', lib.ones(2))]).copy())",
        "list(lib.nn.ParameterDict({}).fromkeys('ba', lib.ones(1)))",
        "list(lib.nn.ModuleDict({'b': lib.nn.Tanh(), 'a': lib.nn.Tanh()}))",
        "lib.nn.functional.conv2d(*[lib.ones(n, 2, 5, 6, dtype=lib.int64) for n in (0, 3)]).shape == (0, 3, 1, 1)",
        "lib.linalg.tensorsolve(lib.ones(0, 2, 3, 0), lib.ones(0, 2)).shape == (3, 0)",
    ],
)
@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
def test_a_function(statement):
    alike(lambda lib: eval(statement, {"lib": lib, "BESSEL": BESSEL}))
