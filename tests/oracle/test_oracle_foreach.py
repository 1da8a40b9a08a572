"""`_foreach_` functions, which optimizers of other people call, beside torch: values, what they return, errors."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402
from norch.functions import foreach  # noqa: E402

# What follows the list of tensors, for each function that takes more; `lists` makes a list of tensors as long.
MORE = {
    **dict.fromkeys(["add", "sub"], [(2,), ([2.0, 3.0],), ("lists",), ("lists", {"alpha": 3})]),
    **dict.fromkeys(["mul", "div"], [(2,), ([2.0, 3.0],), ("lists",), ("scalar",), ({"scalar": 4.0},)]),
    **dict.fromkeys(["clamp_min", "clamp_max", "maximum", "minimum"], [(0.5,), ([0.1, 0.9],), ("lists",)]),
    **dict.fromkeys(
        ["addcmul", "addcdiv"],
        [("lists", "lists"), ("lists", "lists", 0.5), ("lists", "lists", [2.0, 3.0]), ("lists", "lists", {"value": 3})]
        + [("lists", "lists", "scalars")],
    ),
    "lerp": [("lists", 0.3), ("lists", [0.2, 0.3]), ("lists", "lists"), ("lists", {"weight": 0.5})],
    "pow": [(2,), ([2, 3],), ("lists",)],
    "norm": [(), (1,), (float("inf"),), ({"ord": 2},)],
    "copy": [("lists",)],
    "mm": [("lists",)],
}
CASES = [
    pytest.param(name, more, id=f"{name}-{i}")
    for name in [name[len("_foreach_") :] for name in foreach.__all__]
    for i, more in enumerate(MORE.get(name.rstrip("_"), [()]))
]


def tensors(lib, random) -> list:
    return [lib.from_numpy(random.uniform(0.2, 0.9, (n, n)).astype("float32")) for n in (2, 3)]


def run(lib, name, more):
    random = np.random.RandomState(0)
    x = tensors(lib, random)
    makers = {
        "lists": lambda: tensors(lib, random),
        "scalar": lambda: lib.tensor(2.0),
        "scalars": lambda: lib.tensor([2.0, 3.0]),
    }
    keywords = more[-1] if more and isinstance(more[-1], dict) else {}
    given = [makers[a]() if isinstance(a, str) else a for a in more if not isinstance(a, dict)]
    result = getattr(lib, f"_foreach_{name}")(x, *given, **keywords)
    if name.endswith("_"):
        assert all(a is b for a, b in zip(result or x, x))
    return [*x, *(result or [])]


@pytest.mark.parametrize("name, more", CASES)
def test_as_in_torch(name, more):
    for got, wanted in zip(run(norch, name, more), run(torch, name, more)):
        assert got.shape == tuple(wanted.shape)
        np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=2e-6, atol=1e-6)


def test_a_number_to_powers():
    assert [x.tolist() for x in norch._foreach_pow(2.0, [norch.ones(1), norch.zeros(1)])] == [[2.0], [1.0]]


@pytest.mark.parametrize(
    "arguments",
    [(), ([], 1), ([1, 2], 1), ("tensor", 1)]
    + [(["tensor"], other) for other in (["tensor", "tensor"], [1.0, 2.0], "tensor")],
    ids=str,
)
def test_errors(arguments):
    def of(lib, value):
        return lib.ones(3) if value == "tensor" else [of(lib, v) for v in value] if isinstance(value, list) else value

    kinds = []
    for lib in (norch, torch):
        with pytest.raises((TypeError, RuntimeError)) as caught:
            lib._foreach_add(*[of(lib, value) for value in arguments])
        kinds.append(caught.type)
    assert kinds[0] is kinds[1]


def test_groups_of_devices_and_dtypes():
    from norch.utils._foreach_utils import _group_tensors_by_device_and_dtype, _has_foreach_support

    a, b, c = norch.ones(1), norch.ones(2, dtype=norch.float64), norch.ones(3)
    groups = _group_tensors_by_device_and_dtype([[a, b, c], [None] * 3, []], with_indices=True)
    assert [places for _, places in groups.values()] == [[0, 2], [1]]
    lists = groups[a.device, norch.float32][0]
    assert lists[0][0] is a and lists[0][1] is c and lists[1:] == [[None, None], []]
    assert _has_foreach_support([a, None], a.device) and not _has_foreach_support([norch.nn.Parameter([1.0])], "cpu")


@pytest.mark.parametrize("name", ["ParameterList", "ParameterDict", "ModuleList"])
def test_an_optimizer_takes_a_list_of_parameters(name):
    def steps(lib):
        entry = lib.nn.Linear(1, 1) if name == "ModuleList" else lib.nn.Parameter(lib.ones(1))
        module = getattr(lib.nn, name)({"a": entry} if name == "ParameterDict" else [entry])
        optimizer = lib.optim.SGD(module, lr=0.5)
        (3 * module[0]).sum().backward()
        optimizer.step()
        return module[0].tolist()

    if name == "ParameterList":
        assert steps(norch) == steps(torch)
    else:
        for lib in (norch, torch):
            pytest.raises(TypeError, steps, lib)


def test_what_is_changed_in_place_is_the_list_that_was_given():
    for lib in (norch, torch):
        for given in ([lib.ones(1)], (lib.ones(1),)):
            assert lib._foreach_add_(given, 1) is given and given[0].tolist() == [2.0]
