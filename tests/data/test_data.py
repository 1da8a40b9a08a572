"""Datasets, samplers, collation, and the DataLoader without workers (those are in test_workers.py)."""

import math
from collections import Counter, OrderedDict, defaultdict, namedtuple

import pytest

import norch
from norch.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    get_worker_info,
    random_split,
)


def numbers(count):
    """Sample i is the pair of [i, -i] and i."""
    column = norch.arange(count)
    return TensorDataset(norch.stack([column, -column], 1).float(), column)


class Squares(Dataset):
    """Sample i is i * i."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return index * index


class Stream(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return iter(range(self.count))

    def __len__(self):
        return self.count


def seeded(seed):
    return norch.Generator().manual_seed(seed)


def first_column(loader):
    return [batch[1].tolist() for batch in loader]


# ---- Datasets --------------------------------------------------------------------------------------------------------


def test_tensor_dataset():
    data = numbers(5)
    x, y = data[3]
    assert len(data) == 5 and x.tolist() == [3.0, -3.0] and y.item() == 3 and y.dtype is norch.int64 and y.shape == []
    assert data[-1][0].tolist() == [4.0, -4.0] and data[norch.tensor(2)][1].item() == 2
    assert data[1:3][1].tolist() == [1, 2] and data[[0, 4]][0].tolist() == [[0.0, 0.0], [4.0, -4.0]]
    assert [int(label) for _, label in (data[i] for i in range(5))] == [0, 1, 2, 3, 4]
    with pytest.raises(IndexError):
        data[5]


def test_concat_and_subset():
    both = Squares(3) + Squares(2)
    assert isinstance(both, ConcatDataset) and [both[i] for i in range(5)] == [0, 1, 4, 0, 1]
    assert both[-1] == 1 and both[-5] == 0 and len(both) == 5
    assert list(ConcatDataset([Squares(0), Squares(2), Squares(0)])) == [0, 1]
    part = Subset(both, [4, 1, 2])
    assert len(part) == 3 and [part[i] for i in range(3)] == [1, 1, 4] and part[-1] == 4
    for index in (5, -6):
        with pytest.raises(IndexError if index > 0 else ValueError, match=f"{index} is out of range for 5"):
            both[index]


def test_random_split():
    data = Squares(10)
    parts = random_split(data, [7, 3], generator=seeded(1))
    assert [len(part) for part in parts] == [7, 3] and all(isinstance(part, Subset) for part in parts)
    assert sorted(parts[0].indices + parts[1].indices) == list(range(10)) != parts[0].indices + parts[1].indices
    again = random_split(data, [7, 3], generator=seeded(1))
    assert [part.indices for part in again] == [part.indices for part in parts]
    assert [len(part) for part in random_split(data, [0.5, 0.25, 0.25])] == [6, 2, 2]
    assert [len(part) for part in random_split(Squares(7), [0.5, 0.5])] == [4, 3]
    with pytest.warns(UserWarning, match="empty"):
        assert len(random_split(data, [10, 0])[1]) == 0


@pytest.mark.parametrize(
    "use, error, words",
    [
        (lambda: TensorDataset(), TypeError, "at least one"),
        (lambda: TensorDataset([1, 2]), TypeError, "list"),
        (lambda: TensorDataset(norch.ones(2), norch.ones(3)), ValueError, r"\[2\], \[3\]"),
        (lambda: ConcatDataset([]), ValueError, "at least one"),
        (lambda: ConcatDataset([Stream(3)]), TypeError, "Stream"),
        (lambda: random_split(Squares(10), [7, 4]), ValueError, "add up to 11, expected 10"),
        (lambda: random_split(Squares(10), [0.5, 0.4]), ValueError, "fractions"),
        (lambda: random_split(Squares(10), [11, -1]), ValueError, "below 0"),
        (lambda: Dataset()[0], NotImplementedError, "Dataset"),
        (lambda: iter(IterableDataset()), NotImplementedError, "IterableDataset"),
        (lambda: iter(Sampler()), NotImplementedError, "Sampler"),
    ],
)
def test_datasets_refuse(use, error, words):
    with pytest.raises(error, match=words):
        use()


# ---- Samplers --------------------------------------------------------------------------------------------------------


def test_sequential_and_random_samplers():
    data = Squares(6)
    assert list(SequentialSampler(data)) == list(range(6))
    sampler = RandomSampler(data, generator=seeded(3))
    first, second = list(sampler), list(sampler)
    assert sorted(first) == sorted(second) == list(range(6)) and first != second and len(sampler) == 6
    assert list(RandomSampler(data, generator=seeded(3))) == first
    norch.manual_seed(5)
    mine = list(RandomSampler(data))
    norch.manual_seed(5)
    assert list(RandomSampler(data)) == mine
    more = list(RandomSampler(data, num_samples=15))
    assert len(more) == 15 and sorted(more[:6]) == sorted(more[6:12]) == list(range(6)) and len(set(more[12:])) == 3
    assert len(list(RandomSampler(data, num_samples=4))) == 4
    drawn = list(RandomSampler(data, replacement=True, num_samples=600, generator=seeded(1)))
    assert set(drawn) == set(range(6)) and all(60 < count < 140 for count in Counter(drawn).values())
    assert list(RandomSampler(Squares(0))) == [] and len(RandomSampler(Squares(0))) == 0


def test_subset_and_weighted_samplers():
    sampler = SubsetRandomSampler([3, 5, 9], generator=seeded(1))
    assert sorted(sampler) == [3, 5, 9] and len(sampler) == 3
    weighted = WeightedRandomSampler([0.0, 1.0, 3.0], 400, generator=seeded(1))
    drawn = Counter(weighted)
    assert len(weighted) == 400 and drawn[0] == 0 and 2 < drawn[2] / drawn[1] < 4.5
    assert sorted(WeightedRandomSampler([1.0, 2.0, 3.0], 3, replacement=False)) == [0, 1, 2]


def test_batch_sampler():
    assert (
        list(BatchSampler(range(5), 2, False)) == [[0, 1], [2, 3], [4]] and len(BatchSampler(range(5), 2, False)) == 3
    )
    assert list(BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]] and len(BatchSampler(range(5), 2, True)) == 2
    assert list(BatchSampler(range(4), 2, True)) == list(BatchSampler(range(4), 2, False)) == [[0, 1], [2, 3]]
    assert list(BatchSampler((), 2, False)) == []


@pytest.mark.parametrize(
    "use, error, words",
    [
        (lambda: RandomSampler(Squares(3), replacement=1), TypeError, "replacement is 1"),
        (lambda: RandomSampler(Squares(3), num_samples=0), ValueError, "num_samples is 0"),
        (lambda: WeightedRandomSampler([1.0], 0), ValueError, "num_samples is 0"),
        (lambda: WeightedRandomSampler([[1.0]], 2), ValueError, r"\[1, 1\]"),
        (lambda: BatchSampler(range(3), 0, False), ValueError, "batch_size is 0"),
        (lambda: BatchSampler(range(3), 2.0, False), ValueError, "batch_size is 2.0"),
        (lambda: BatchSampler(range(3), 2, None), ValueError, "drop_last is None"),
    ],
)
def test_samplers_refuse(use, error, words):
    with pytest.raises(error, match=words):
        use()


# ---- Collation -------------------------------------------------------------------------------------------------------

Point = namedtuple("Point", ["x", "y"])


def plain(batch):
    """Tensors as (dtype, list), the rest as it is."""
    if isinstance(batch, norch.Tensor):
        return str(batch.dtype).split(".")[1], batch.tolist()
    if isinstance(batch, dict):
        return type(batch)((key, plain(value)) for key, value in batch.items())
    if isinstance(batch, Point):
        return Point(*map(plain, batch))
    return [plain(value) for value in batch] if isinstance(batch, list) else batch


@pytest.mark.parametrize(
    "samples, expected",
    [
        ([1, 2], ("int64", [1, 2])),
        ([1.5, 2], ("float32", [1.5, 2.0])),
        ([True, False], ("bool", [True, False])),
        (["a", "b"], ["a", "b"]),
        ([b"a", b"b"], [b"a", b"b"]),
        ([norch.ones(2), norch.zeros(2)], ("float32", [[1.0, 1.0], [0.0, 0.0]])),
        ([norch.ones(1, 2), norch.zeros(1, 2)], ("float32", [[[1.0, 1.0]], [[0.0, 0.0]]])),
        ([numbers(2)[1][1], numbers(2)[0][1]], ("int64", [1, 0])),
        ([(1, "a"), (2, "b")], [("int64", [1, 2]), ("a", "b")]),
        ([[1, [2.0]], [3, [4.0]]], [("int64", [1, 3]), [("float32", [2.0, 4.0])]]),
        ([{"a": 1, "b": "x"}, {"b": "y", "a": 2}], {"a": ("int64", [1, 2]), "b": ["x", "y"]}),
        ([OrderedDict(a=1), OrderedDict(a=2)], OrderedDict(a=("int64", [1, 2]))),
        ([range(2), range(2)], [("int64", [0, 0]), ("int64", [1, 1])]),
        ([Point(1, 2.0), Point(3, 4.0)], Point(("int64", [1, 3]), ("float32", [2.0, 4.0]))),
        ([norch.zeros(0), norch.zeros(0)], ("float32", [[], []])),
    ],
)
def test_default_collate(samples, expected):
    batch = default_collate(samples)
    assert plain(batch) == expected and type(batch) is (norch.Tensor if type(expected) is tuple else type(expected))


def test_a_collated_dict_keeps_what_else_its_class_holds():
    batch = default_collate([defaultdict(list, a=1), defaultdict(list, a=2)])
    assert batch.default_factory is list and batch["a"].tolist() == [1, 2]


@pytest.mark.parametrize(
    "samples, error, words",
    [
        ([None, None], TypeError, "NoneType.*collate_fn"),
        ([norch.ones(2), norch.ones(3)], RuntimeError, r"\[2\] and \[3\]"),
        ([norch.ones(2), 1], RuntimeError, r"\[2\] and an int"),
        ([(1, 2), (1, 2, 3)], RuntimeError, r"\[2, 3\] parts"),
        ([], ValueError, "empty"),
    ],
)
def test_default_collate_refuses(samples, error, words):
    with pytest.raises(error, match=words):
        default_collate(samples)


def test_default_convert_leaves_things_alone():
    sample = (norch.ones(2), "a", {"b": 1.0}, [None], Point(1, 2))
    converted = default_convert(sample)
    assert converted[0] is sample[0] and converted[1:] == list(sample[1:]) and type(converted[4]) is Point


# ---- DataLoader ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count, size, drop_last, lengths", [(10, 4, False, [4, 4, 2]), (10, 4, True, [4, 4]),
                                                             (8, 4, True, [4, 4]), (3, 4, False, [3]),
                                                             (3, 4, True, []), (0, 4, False, [])])  # fmt: skip
@pytest.mark.parametrize("make", [numbers, Squares, Stream])
def test_batches_and_their_number(make, count, size, drop_last, lengths):
    loader = DataLoader(make(count), batch_size=size, drop_last=drop_last)
    batches = [batch[1] if make is numbers else batch for batch in loader]
    assert [len(batch) for batch in batches] == lengths and len(loader) == len(lengths)
    values = [value for batch in batches for value in batch.tolist()]
    assert values == [i * i if make is Squares else i for i in range(sum(lengths))]


def test_batches_of_tensors_are_fast_and_the_same():
    class Slow(TensorDataset):
        def __getitem__(self, index):
            return super().__getitem__(index)

    fast, slow = numbers(7), Slow(*numbers(7).tensors)
    for wrap in (lambda d: d, lambda d: Subset(d, [6, 0, 3, 3]), lambda d: Subset(Subset(d, [1, 2, 5]), [2, 0])):
        pairs = zip(*[DataLoader(wrap(data), batch_size=3) for data in (fast, slow)])
        for a, b in pairs:
            assert plain(a) == plain(b) and type(a) is type(b) is list


def test_shuffling_follows_the_seed():
    data = numbers(20)
    first = first_column(DataLoader(data, batch_size=6, shuffle=True, generator=seeded(2)))
    assert first == first_column(DataLoader(data, batch_size=6, shuffle=True, generator=seeded(2)))
    assert sorted(sum(first, [])) == list(range(20)) != sum(first, [])
    loader = DataLoader(data, batch_size=6, shuffle=True, generator=seeded(2))
    assert first_column(loader) == first != first_column(loader)
    norch.manual_seed(7)
    mine = first_column(DataLoader(data, batch_size=6, shuffle=True))
    norch.manual_seed(7)
    assert mine == first_column(DataLoader(data, batch_size=6, shuffle=True))


def test_samplers_and_collate_functions_of_one_s_own():
    data = Squares(6)
    assert [b.tolist() for b in DataLoader(data, batch_size=2, sampler=[5, 3, 1])] == [[25, 9], [1]]
    loader = DataLoader(data, batch_sampler=[[0], [1, 2, 3]])
    assert [b.tolist() for b in loader] == [[0], [1, 4, 9]] and len(loader) == 2
    assert list(DataLoader(data, batch_size=4, collate_fn=sum)) == [14, 41]
    assert list(DataLoader(data, batch_size=None)) == [0, 1, 4, 9, 16, 25] and len(DataLoader(data, None)) == 6
    assert list(DataLoader(Stream(3), batch_size=None)) == [0, 1, 2]
    assert list(DataLoader(data, batch_size=None, sampler=[2, 1], collate_fn=str)) == ["4", "1"]
    loader = DataLoader(data, 3)
    assert [a.tolist() for a, b in zip(loader, loader)] == [[0, 1, 4], [9, 16, 25]]


def test_a_dataset_may_fetch_a_batch_at_once():
    class Bulk(Squares):
        def __getitems__(self, indices):
            return [-index for index in indices]

    assert [b.tolist() for b in DataLoader(Bulk(3), batch_size=2)] == [[0, -1], [-2]]


def test_iteration_goes_on_after_an_exception():
    class Holed(Squares):
        def __getitem__(self, index):
            if index == 2:
                raise KeyError("a hole")
            if index == 5:
                raise StopIteration
            return index

    batches = iter(DataLoader(Holed(8), batch_size=2))
    assert next(batches).tolist() == [0, 1]
    with pytest.raises(KeyError, match="a hole"):
        next(batches)
    with pytest.raises(RuntimeError, match="StopIteration"):
        next(batches)
    assert next(batches).tolist() == [6, 7]
    with pytest.raises(StopIteration):
        next(batches)


def test_a_model_learns_from_batches():
    norch.manual_seed(0)
    x = norch.randn(128, 3)
    y = x @ norch.Tensor([[1.0], [-2.0], [0.5]])
    model = norch.nn.Linear(3, 1)
    optimizer = norch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(10):
        for inputs, labels in DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True):
            optimizer.zero_grad()
            loss = norch.nn.functional.mse_loss(model(inputs), labels)
            loss.backward()
            optimizer.step()
    assert loss.item() < 1e-3


def test_there_is_no_worker_here():
    assert get_worker_info() is None


def test_length_of_a_stream_that_does_not_know():
    class Endless(IterableDataset):
        def __iter__(self):
            return iter(range(10**9))

    loader = DataLoader(Endless(), batch_size=3)
    assert next(iter(loader)).tolist() == [0, 1, 2]
    with pytest.raises(TypeError):
        len(loader)


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"batch_size": 0}, ValueError, "batch_size is 0"),
        ({"batch_size": -1}, ValueError, "batch_size is -1"),
        ({"batch_size": 2.5}, ValueError, "batch_size is 2.5"),
        ({"num_workers": -1}, ValueError, "num_workers is -1"),
        ({"num_workers": 1.0}, TypeError, "num_workers is 1.0"),
        ({"prefetch_factor": 2}, ValueError, "num_workers > 0"),
        ({"persistent_workers": True}, ValueError, "num_workers > 0"),
        ({"num_workers": 1, "prefetch_factor": 0}, ValueError, "prefetch_factor is 0, expected 1 to 64"),
        ({"timeout": -1}, ValueError, "timeout is -1"),
        ({"shuffle": True, "sampler": [1]}, ValueError, "both"),
        ({"batch_sampler": [[1]], "batch_size": 2}, ValueError, "batch_sampler excludes"),
        ({"batch_sampler": [[1]], "shuffle": True}, ValueError, "batch_sampler excludes"),
        ({"batch_size": None, "drop_last": True}, ValueError, "drop"),
        ({"multiprocessing_context": "spawn"}, ValueError, "'spawn'.*'fork'"),
        ({"dataset": Stream(3), "shuffle": True}, ValueError, "IterableDataset"),
        ({"dataset": Stream(3), "sampler": [1]}, ValueError, "IterableDataset"),
        ({"dataset": Stream(3), "batch_size": 0}, ValueError, "batch_size is 0"),
    ],
)
def test_loader_refuses(options, error, words):
    with pytest.raises(error, match=words):
        DataLoader(**{"dataset": Squares(3), **options})


def test_nothing_leaks(no_leak):
    loader = DataLoader(numbers(50), batch_size=7, shuffle=True)
    for inputs, _ in loader:
        assert math.isfinite(inputs.sum().item())
    next(iter(loader))


class AtOnce(Dataset):
    """Gives whole batches, and counts them."""

    calls = 0

    def __len__(self):
        return 10

    def __getitem__(self, index):
        return index

    def __getitems__(self, indices):
        self.calls += 1
        return [10 * index for index in indices]


def test_parts_and_stacks_of_a_dataset_that_gives_batches_at_once():
    at_once = AtOnce()
    assert [batch.tolist() for batch in DataLoader(Subset(at_once, [5, 3, 1]), 3)] == [[50, 30, 10]]
    stacked = StackDataset(at_once, range(10))
    assert stacked.__getitems__([1, 2]) == [(10, 1), (20, 2)] and at_once.calls == 2
    assert StackDataset(a=at_once, b=range(10)).__getitems__([1]) == [{"a": 10, "b": 1}]
    at_once.__class__ = type("Broken", (AtOnce,), {"__getitems__": lambda self, indices: [0]})
    with pytest.raises(ValueError, match="1 samples for 2 indices"):
        stacked.__getitems__([1, 2])


def test_a_part_takes_a_list_of_indices():
    dataset = TensorDataset(norch.arange(10))
    assert Subset(dataset, [7, 1, 4])[[0, 2]][0].tolist() == [7, 4]


@pytest.mark.parametrize("name", ["dataset", "batch_size", "sampler", "batch_sampler", "drop_last"])
def test_what_a_loader_was_made_of_stays(name):
    loader = DataLoader(range(4), batch_size=2)
    with pytest.raises(ValueError, match=f"{name} is decided"):
        setattr(loader, name, None)
    loader.collate_fn = sum
    assert list(loader) == [1, 5]


@pytest.mark.parametrize(
    "sampler", [WeightedRandomSampler([1.0] * 50, 50), RandomSampler(range(50)), SubsetRandomSampler(range(50))]
)
def test_an_order_is_drawn_with_its_first_index(sampler):
    iterators, orders = [iter(sampler), iter(sampler)], []
    for iterator in iterators:
        norch.manual_seed(3)
        orders.append(list(iterator))
    assert orders[0] == orders[1]
