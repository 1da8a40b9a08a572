"""Samplers, collation, splits and the lengths of loaders against torch's, and the toy set that scikit-learn has too."""

from __future__ import annotations

import importlib
import itertools
from collections import OrderedDict, namedtuple

import numpy
import pytest
import torch
import torch.utils.data
from test_oracle_torch import assert_same

import norch
import norch.utils.data

LIBRARIES = (norch, torch)
Point = namedtuple("Point", ["x", "y"])


def assert_alike(mine, theirs):
    """The same structure of the same tensors; norch's floats from numbers are float32."""
    if isinstance(theirs, torch.Tensor):
        assert_same(mine, theirs.float() if theirs.dtype is torch.float64 and mine.dtype is norch.float32 else theirs)
    elif isinstance(theirs, dict):
        assert type(mine) is type(theirs) and list(mine) == list(theirs)
        for key in theirs:
            assert_alike(mine[key], theirs[key])
    elif isinstance(theirs, (list, tuple)):
        assert type(mine) is type(theirs) and len(mine) == len(theirs)
        for a, b in zip(mine, theirs):
            assert_alike(a, b)
    else:
        assert mine == theirs


SAMPLES = {
    "numbers": lambda lib: [1, 2, 3],
    "floats": lambda lib: [1.0, 2.5],
    "bools": lambda lib: [True, False],
    "strings": lambda lib: ["a", "b"],
    "bytes": lambda lib: [b"a", b"b"],
    "tensors": lambda lib: [lib.ones(2, 3), lib.zeros(2, 3)],
    "long tensors": lambda lib: [lib.tensor([1, 2]), lib.tensor([3, 4])],
    "pairs": lambda lib: [(lib.ones(2), 1), (lib.zeros(2), 0)],
    "lists": lambda lib: [[1, ["a", 2]], [3, ["b", 4]]],
    "dicts": lambda lib: [{"x": lib.ones(1), "n": 1, "s": "a"}, {"x": lib.ones(1), "n": 2, "s": "b"}],
    "ordered": lambda lib: [OrderedDict(a=1, b=2), OrderedDict(a=3, b=4)],
    "named": lambda lib: [Point(1, lib.ones(2)), Point(2, lib.zeros(2))],
    "arrays": lambda lib: [numpy.ones((2, 2), numpy.float32), numpy.zeros((2, 2), numpy.float32)],
    "array numbers": lambda lib: [numpy.int64(3), numpy.int64(4)],
    "array floats": lambda lib: [numpy.float32(0.5), numpy.float32(4)],
}


@pytest.mark.parametrize("name", SAMPLES)
def test_collate(name):
    mine, theirs = (lib.utils.data.default_collate(SAMPLES[name](lib)) for lib in LIBRARIES)
    assert_alike(mine, theirs)


def test_collate_functions_of_one_s_own():
    """By a type's own, its base's, and by what is put among the default ones."""
    found = []
    for lib in LIBRARIES:
        inner = importlib.import_module(f"{lib.__name__}.utils.data._utils.collate")
        known, pad = inner.default_collate_fn_map, lib.nn.utils.rnn.pad_sequence
        own = {lib.Tensor: lambda batch, pad=pad, **_: pad(batch, True), (Point, set): lambda batch, **_: len(batch)}
        one = inner.collate([(lib.ones(2), Point(1, 2)), (lib.ones(3), Point(3, 4))], collate_fn_map=own)
        with pytest.raises(TypeError):
            inner.collate([1, 2], collate_fn_map=own)
        known[complex] = lambda batch, **_: [abs(x) for x in batch]
        try:
            found.append([one, inner.default_collate([{"z": 3 + 4j, "n": True}, {"z": 1j, "n": False}])])
        finally:
            del known[complex]
    assert_alike(*found)


@pytest.mark.parametrize("name", [name for name in SAMPLES if "numbers" not in name and "floats" not in name])
def test_convert(name):
    mine, theirs = (lib.utils.data.default_convert(tuple(SAMPLES[name](lib))) for lib in LIBRARIES)
    assert_alike(mine, theirs)


class Plain:
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return index


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("drop_last", [False, True])
def test_batches_and_lengths(drop_last, workers):
    for count, size in itertools.product((0, 1, 5, 8), (1, 4, None)):
        if size is None and drop_last or (workers and count != 5):
            continue
        loaders = [
            lib.utils.data.DataLoader(Plain(count), batch_size=size, drop_last=drop_last, num_workers=workers)
            for lib in LIBRARIES
        ]
        assert len(loaders[0]) == len(loaders[1])
        assert_alike(*(list(loader) for loader in loaders))


@pytest.mark.parametrize("fractions", [[0.5, 0.5], [0.7, 0.2, 0.1], [0.34, 0.33, 0.33], [3, 4, 4], [1.0]])
def test_random_split_lengths(fractions):
    mine, theirs = (lib.utils.data.random_split(Plain(11), fractions) for lib in LIBRARIES)
    assert [len(part) for part in mine] == [len(part) for part in theirs]


@pytest.mark.parametrize(
    "make",
    [
        lambda data: data.RandomSampler(Plain(7)),
        lambda data: data.RandomSampler(Plain(7), num_samples=17),
        lambda data: data.RandomSampler(Plain(7), replacement=True, num_samples=40),
        lambda data: data.RandomSampler(Plain(7), num_samples=3),
        lambda data: data.SequentialSampler(Plain(7)),
        lambda data: data.SubsetRandomSampler([4, 2, 9]),
        lambda data: data.WeightedRandomSampler([0.5, 0.0, 2.0], 9),
        lambda data: data.BatchSampler(data.SequentialSampler(Plain(7)), 3, False),
        lambda data: data.BatchSampler(data.SequentialSampler(Plain(7)), 3, True),
    ],
)
def test_samplers_yield_as_many_of_the_same_kind(make):
    mine, theirs = (make(lib.utils.data) for lib in LIBRARIES)
    a, b = list(mine), list(theirs)
    assert len(mine) == len(theirs) == len(a) == len(b) and {type(i) for i in a} == {type(i) for i in b}
    if not isinstance(a[0], list) and len(set(b)) == 7:
        assert set(a) == set(b)


def test_numpy_s_generator_is_seeded_in_workers():
    class Drawing(Plain):
        def __getitem__(self, index):
            return numpy.random.rand()

    loader = norch.utils.data.DataLoader(Drawing(8), batch_size=1, num_workers=4)
    drawn = [batch.item() for _ in range(2) for batch in loader]
    assert len(set(drawn)) == 16


def test_moons_are_scikit_learn_s():
    datasets = pytest.importorskip("sklearn.datasets")
    points, label = norch.utils.data.moons(60, noise=0.0).tensors
    theirs, their_label = datasets.make_moons(60, shuffle=False)
    for kind in (0, 1):
        mine = points[label == kind].tolist()
        torch.testing.assert_close(
            torch.tensor(mine).double(), torch.tensor(theirs[their_label == kind]), rtol=0, atol=1e-6
        )
