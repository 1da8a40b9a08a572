"""Small parts of PyTorch that programs touch: paths in trees, swapped tensors, modules with other parameters, ..."""

from __future__ import annotations

import copy
import dataclasses
import importlib
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402

Pair = namedtuple("Pair", "x y")
TREE = {"a": [1, (2.0, 3)], "b": Pair(4, None), "c": OrderedDict(d="five", e=[])}


def paths_of_trees(torch):
    trees = importlib.import_module(torch.__name__ + ".utils._pytree")

    @dataclasses.dataclass
    class Point:
        x: int
        y: int

    trees.register_dataclass(Point)
    paths = [path for path, _ in trees.tree_leaves_with_path([TREE, Point(1, 2)])]
    return [
        [trees.keystr(path) for path in paths],
        [trees.key_get(TREE, path) for path, _ in trees.tree_flatten_with_path(TREE)[0]],
        trees.tree_map_with_path(lambda path, leaf: (trees.keystr(path), leaf), TREE),
        list(trees.tree_iter(TREE)),
        trees.tree_all_only(int, lambda x: x > 0, TREE),
        trees.tree_any_only((int, float), lambda x: x > 4, TREE),
        trees.tree_map_only(lambda x: isinstance(x, float), lambda x: x + 1, TREE),
        trees.tree_map_only(int, lambda x: x + 1, TREE),
        trees.tree_map_only_(int, str, TREE) is TREE,
        trees.arg_tree_leaves(1, [2], z={"a": 3}),
        [trees.tree_is_leaf(1), trees.tree_is_leaf([]), trees.tree_is_leaf([], is_leaf=lambda x: True)],
        [trees.is_namedtuple(x) for x in (Pair(1, 2), Pair, (1, 2), tuple)],
        dataclasses.astuple(trees.tree_map(lambda x: x * 2, Point(1, 2))),
    ]


def swapped(torch):
    swap = importlib.import_module(torch.__name__ + ".utils").swap_tensors
    layer = torch.nn.Linear(3, 2)
    weight, other = layer.weight, torch.nn.Parameter(torch.ones(4, 3, dtype=torch.float64))
    other.mark = "other"
    swap(weight, other)
    (layer.weight * 2).sum().backward()
    found = [layer.weight is weight, weight.shape == (4, 3), weight.mark, weight.grad.tolist(), other.grad is None]
    plain, parameter = torch.zeros(2), torch.nn.Parameter(torch.ones(1))
    swap(plain, parameter)
    return [*found, type(plain).__name__, plain.tolist(), type(parameter).__name__, parameter.requires_grad]


def other_parameters(torch):
    stateless = importlib.import_module(torch.__name__ + ".nn.utils.stateless")
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    before = model[0].weight
    given = {"0.weight": torch.eye(2), "0.bias": torch.ones(2), "1.running_mean": torch.zeros(2)}
    with stateless._reparametrize_module(model, given):
        y = model(torch.tensor([[1.0, 2.0], [3.0, 5.0]]))
        inside = model[0].weight is given["0.weight"]
    found = [y.detach().tolist(), given["1.running_mean"].tolist(), inside, model[0].weight is before]
    with pytest.raises(RuntimeError):
        with stateless._reparametrize_module(model, given, strict=True):
            pass
    return found


def masks_of_causal_attention(torch):
    q = torch.tensor(np.random.default_rng(0).standard_normal((1, 2, 4, 8)), dtype=torch.float32)
    seen = torch.tensor([[True, False, True, True]] * 4)
    seen[0, 0] = True
    attention = torch.nn.functional.scaled_dot_product_attention
    return [attention(q, q, q, mask, is_causal=True).tolist() for mask in (seen, torch.ones(4, 4).tril(1))]


def asserted(torch):
    torch._assert_async(torch.tensor(2.5))
    torch._assert_async(torch.tensor([True]))
    errors = []
    for arguments in ((torch.tensor(0),), (torch.tensor(False), "not this"), (torch.ones(2),), (torch.ones(0),)):
        with pytest.raises(RuntimeError) as caught:
            torch._assert_async(*arguments)
        errors.append(str(caught.value))
    return errors


def names(torch):
    nn = torch.nn
    empty = nn.ParameterDict().fromkeys(["a", "b"])
    same = nn.ParameterDict({"z": torch.ones(1)}).fromkeys(["a", "b"], torch.ones(2))
    loss = nn.NLLLoss2d(reduction="sum")(torch.full((1, 2, 2, 2), -1.5), torch.zeros(1, 2, 2, dtype=torch.int64))
    symbols = [isinstance(3, (int, kind)) for kind in (torch.SymInt, torch.SymFloat, torch.SymBool)]
    return [list(empty.items()), list(same), same["b"].tolist(), loss.item(), symbols, isinstance(3, torch.SymInt)]


def parameters_and_others(torch):
    nn = torch.nn
    inner = nn.ParameterList([torch.ones(2), nn.Parameter(torch.ones(1))])
    rows = nn.ParameterList([inner, "text", nn.Linear(2, 1), 3.5])
    rows.append(nn.Parameter(torch.zeros(2)))
    rows[1], rows[3] = torch.ones(3), nn.ParameterDict({"a": torch.ones(2), "layer": nn.Linear(1, 1), "name": None})
    named = rows[3]
    named["name"] = torch.ones(1)
    with pytest.raises(TypeError):
        named["a"] = "a parameter stays one"
    del named["layer"]
    copied = copy.deepcopy(rows)
    (copied[0][0] * copied[4]).sum().backward()
    found = [[name for name, _ in module.named_parameters()] for module in (rows, copied, named, rows[:2])]
    kinds = [type(value).__name__ for value in [*rows, *named.values()]]
    grads = [copied[4].grad.tolist(), rows[4].grad]
    return [found, kinds, list(named), len(rows), sorted(rows.state_dict()), grads]


def futures(torch):
    module = importlib.import_module(torch.__name__ + ".futures")
    seen, failed = [], module.Future()
    first = module.Future()
    first.add_done_callback(lambda future: seen.append(future.value()))
    second = first.then(lambda future: future.wait() + 1)
    everything = module.collect_all([second, first])
    before = [first.done(), second.done(), everything.done()]
    first.set_result(3)
    first.add_done_callback(lambda future: seen.append(-future.value()))
    failed.set_exception(KeyError("none"))
    for call, error in (
        (failed.wait, KeyError), (failed.value, KeyError), (lambda: module.wait_all([first, failed]), KeyError),
        (lambda: first.set_result(4), RuntimeError), (lambda: module.Future().value(), RuntimeError),
        (lambda: first.set_exception("text"), AssertionError), (failed.then(lambda f: f.wait()).wait, Exception),
    ):  # fmt: skip
        with pytest.raises(error):
            call()
    after = [first.done(), second.value(), len(everything.wait()), module.wait_all([first, second])]
    return [before, after, seen, isinstance(first, torch.Future)]


def generators(torch):
    generator = torch.Generator(device="cpu").manual_seed(5)
    torch.rand(3, generator=generator)
    other = generator.clone_state()
    same = torch.rand(4, generator=generator).equal(torch.rand(4, generator=other))
    return [generator.device.type, str(generator.device), other.initial_seed(), same]


def traits(torch):
    x = torch.ones(2)
    packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1.0, 2.0]), torch.tensor([3.0])])
    kinds = [str(getattr(packed, name)().data.dtype).split(".")[1] for name in "half int short char byte".split()]
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    names = [name for name, _ in model._named_members(lambda module: module._buffers.items(), prefix="m")]
    return [torch.is_conj(x), torch.is_neg(x), x.is_conj(), x.is_neg(), kinds, packed.is_pinned(), names]


def helpers_of_distributions(torch):
    module = importlib.import_module(torch.__name__ + ".distributions.multivariate_normal")
    matrix = torch.tensor([[2.0, 0.5], [0.5, 1.0]])
    lower = module._precision_to_scale_tril(matrix)
    vector = torch.tensor([[1.0, -2.0], [0.5, 3.0]])
    return [lower.tolist(), module._batch_mv(lower, vector).tolist(), module._batch_mahalanobis(lower, vector).tolist()]


PROGRAMS = [paths_of_trees, swapped, other_parameters, masks_of_causal_attention, asserted, names]
PROGRAMS += [futures, generators, traits, helpers_of_distributions, parameters_and_others]


def same(found, expected):
    if isinstance(expected, (list, tuple)):
        assert type(found) is type(expected) and len(found) == len(expected)
        for ours, theirs in zip(found, expected):
            same(ours, theirs)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        same(list(found.values()), list(expected.values()))
    elif isinstance(expected, float):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    else:
        assert found == expected


@pytest.mark.filterwarnings("ignore:.*NLLLoss2d")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_finds_the_same(program):
    same(program(norch), program(torch))


def test_tensors_with_views_are_not_swapped():
    x = norch.zeros(2, 2)
    view = x[0]
    for pair in ((x, norch.ones(1)), (norch.ones(1), view)):
        with pytest.raises(RuntimeError, match="view"):
            norch.utils.swap_tensors(*pair)
    with pytest.raises(TypeError, match="t2"):
        norch.utils.swap_tensors(norch.ones(1), [1.0])
