"""What tests and measurements of users call: assert_close, make_tensor, trees, timers, the profiler."""

import gzip
import json
import math
from collections import OrderedDict, defaultdict, namedtuple

import pytest

import norch
from norch.testing import assert_close, make_tensor
from norch.utils import _pytree, benchmark

# ---- assert_close ----------------------------------------------------------------------------------------------------

one = norch.ones(2, 2)
EQUAL = [
    (one, one + 1e-6),
    (one.double(), one.double() + 1e-8),
    ([one, 1.0], [one, 1.0]),
    ({"a": one}, {"a": one.clone()}),
    (1, 1),
    (1.0, 1.0 + 1e-9),
    (None, None),
    ({"a": True}, {"a": True}),
    (math.inf, math.inf),
    (norch.tensor([2**53 + 1]), norch.tensor([2**53 + 1])),
]
DIFFERENT = [
    (one, one + 1e-3, "Tensor-likes are not close.*Mismatched elements: 4 / 4 .100.0%"),
    (norch.tensor([1, 2]), norch.tensor([1, 3]), r"not equal(.|\n)*at index \(1,\)"),
    (one, norch.ones(3), "shape"),
    (one, one.double(), "dtype"),
    ([one, one], [one, one + 1], r"item \[1\]"),
    ({"a": one}, {"b": one}, "keys"),
    ([one], [one, one], "length"),
    (1.0, 2.0, "Expected 2.0 but got 1.0"),
    (1.0, 1.0 + 1e-6, r"Absolute difference: 9.99\d+e-07 \(up to 1e-07 allowed\)"),
    ([1], [1.0], r"The \(d\)types do not match(.|\n)*item \[0\]"),
    (2**53, 2**53 + 1, "not equal(.|\n)*Absolute difference: 1\n"),
    (1, 0, "Relative difference: inf$"),
    (None, 1, "None mismatch: None is not 1"),
    (True, False, "Booleans mismatch: True is not False"),
    (norch.tensor([2**53]), norch.tensor([2**53 + 1]), "not equal(.|\n)*Greatest absolute difference: 1 at"),
    (norch.tensor(1.0), norch.tensor(2.0), r"Absolute difference: 1.0 \(up to 1e-05 allowed\)"),
    (norch.tensor(math.nan), norch.tensor(math.nan), "not close"),
]


@pytest.mark.parametrize("pair", EQUAL, ids=repr)
def test_close(pair):
    assert_close(*pair)


@pytest.mark.parametrize("row", DIFFERENT, ids=lambda row: row[2])
def test_not_close(row):
    with pytest.raises(AssertionError) as caught:
        assert_close(row[0], row[1])
    import re

    assert re.search(row[2], str(caught.value), re.S)


def test_options():
    assert_close(one, one + 0.1, rtol=0, atol=0.2)
    assert_close(one, one.double(), check_dtype=False)
    assert_close(1, 1.0, check_dtype=False)
    assert_close(math.nan, math.nan, equal_nan=True)
    assert_close(norch.tensor(math.nan), norch.tensor(math.nan), equal_nan=True)
    norch.testing.assert_allclose(one, [[1.0, 1.0], [1.0, 1.0]])
    with pytest.raises(AssertionError, match="^mine$"):
        assert_close(one, one + 1, msg="mine")
    with pytest.raises(AssertionError, match="stride"):
        assert_close(norch.ones(2, 3), norch.ones(3, 2).T, check_stride=True)
    with pytest.raises(ValueError, match="both"):
        assert_close(one, one, rtol=1e-3)
    with pytest.raises(TypeError, match="Tensor"):
        assert_close(one, 1.0)


@pytest.mark.parametrize("dtype", [norch.float64, norch.float16, norch.int64, norch.uint8, norch.bool])
def test_make_tensor(dtype):
    x = make_tensor(20, 3, dtype=dtype, device="cpu")
    low = -9 if dtype not in (norch.uint8, norch.bool) else 0
    assert x.shape == (20, 3) and x.dtype is dtype and x.double().min() >= low and x.double().max() <= 9
    assert not make_tensor((4, 4), dtype=dtype, noncontiguous=True).is_contiguous()
    assert (make_tensor(50, dtype=dtype, exclude_zero=True) != 0).all()


# ---- Trees -----------------------------------------------------------------------------------------------------------

Point = namedtuple("Point", "x y")
TREES = [
    3, None, [1, [2, 3]], (1, (2,)), {"a": 1, "b": [2]}, OrderedDict(a=1, b=2), Point(1, [2]), [], {},
    defaultdict(list, {"a": 1}),
]  # fmt: skip


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_trees_come_back(tree):
    leaves, spec = _pytree.tree_flatten(tree)
    made = _pytree.tree_unflatten(leaves, spec)
    assert made == tree and type(made) is type(tree) and spec.num_leaves == len(leaves)


def test_maps_over_trees():
    tree = {"a": [1, 2], "b": (3,)}
    assert _pytree.tree_map(lambda x: 2 * x, tree) == {"a": [2, 4], "b": (6,)}
    assert _pytree.tree_map(lambda x, y: x + y, tree, tree) == {"a": [2, 4], "b": (6,)}
    assert _pytree.tree_map_only(int, str, [1, "a"]) == ["1", "a"]
    assert _pytree.tree_leaves([1, (2, 3)], is_leaf=lambda x: isinstance(x, tuple)) == [1, (2, 3)]
    assert _pytree.tree_map(lambda x, y: (x, y), [1], [(2, 3)]) == [(1, (2, 3))]
    for kind in (dict, OrderedDict, lambda **items: defaultdict(None, items)):
        assert _pytree.tree_map(lambda x, y: x + y, kind(a=1, b=2), kind(b=3, a=4)) == {"a": 5, "b": 5}
    for tree, other in (([1], [1, 2]), ([1], (1,)), ({"a": 1}, {"b": 1}), ([[1]], [2]), (Point(1, 2), (1, 2))):
        with pytest.raises(ValueError, match="form"):
            _pytree.tree_map(lambda x, y: x, tree, other)
    assert _pytree.tree_structure([1, (2, 3)]).num_nodes == 5
    with pytest.raises(ValueError, match="leaves"):
        _pytree.tree_unflatten([1], _pytree.tree_structure([1, 2]))


def test_nodes_of_ones_own():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    _pytree.register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda parts, _: Pair(*parts))
    doubled = _pytree.tree_map(lambda x: 2 * x, [Pair(1, 2)])[0]
    assert (doubled.a, doubled.b) == (2, 4)


# ---- Times -----------------------------------------------------------------------------------------------------------


def test_timers():
    timer = benchmark.Timer("y = x + x", globals={"x": one}, label="sum", sub_label="2x2", description="eager")
    found = timer.timeit(3)
    assert found.mean > 0 and found.number_per_run == 3 and found.sub_label == "2x2" and found.iqr == 0
    several = timer.blocked_autorange(min_run_time=0.01)
    assert sum(several.raw_times) >= 0.01 and several.median > 0 and "sum: 2x2" in repr(several)
    assert timer.adaptive_autorange(min_run_time=0.001, max_run_time=0.01).times
    other = benchmark.Timer("x * x", globals={"x": one}, label="sum", sub_label="4x4", description="other").timeit(2)
    with pytest.raises(TypeError, match="Measurement"):
        benchmark.Compare([1])
    table = str(benchmark.Compare([found, other])).splitlines()
    assert "eager" in table[0] and "other" in table[0] and table[1].startswith("1 threads:") and "2x2" in table[2]
    assert "Times are in" in table[-1]
    with pytest.raises(ValueError, match="language"):
        benchmark.Timer("1", language="cpp")


def test_the_profiler_writes_what_it_timed(tmp_path):
    seen = []
    with norch.profiler.profile(on_trace_ready=seen.append) as profiler:
        for _ in range(2):
            with norch.profiler.record_function("block"):
                pass
            profiler.step()
    assert seen == [profiler] and profiler.step_num == 2
    (row,) = profiler.key_averages()
    assert (row.key, row.count) == ("block", 2) and row.cpu_time_total >= row.cpu_time > 0
    assert profiler.key_averages().total_average().count == 2 and len(profiler.events()) == 2
    profiler.export_chrome_trace(str(tmp_path / "trace.json"))
    assert len(json.loads((tmp_path / "trace.json").read_text())["traceEvents"]) == 2


@pytest.mark.parametrize(
    ("settings", "steps", "ready", "noted"),
    [
        ({"wait": 1, "warmup": 1, "active": 2}, 8, [4, 8], [2, 3]),
        ({"wait": 1, "warmup": 1, "active": 2, "repeat": 1}, 8, [4], [2, 3]),
        ({"wait": 0, "warmup": 0, "active": 1}, 3, [1, 2, 3, 3], [0]),
        ({"wait": 2, "warmup": 0, "active": 2, "skip_first": 1, "repeat": 1}, 6, [5], [3, 4]),
        ({"wait": 2, "warmup": 0, "active": 2, "skip_first": 1, "skip_first_wait": 1, "repeat": 1}, 6, [3], [1, 2]),
        ({"wait": 1, "warmup": 1, "active": 3}, 4, [4], [2, 3]),  # the end of the block ends the cycle
    ],
)
def test_the_profiler_notes_the_steps_of_its_schedule(settings, steps, ready, noted):
    """(PyTorch calls at the same steps: tests/oracle/programs/idioms.py)"""
    seen = []

    def trace_ready(profiler):
        seen.append((profiler.step_num, [row.key for row in profiler.events()]))

    plan = norch.profiler.schedule(**settings)
    with norch.profiler.profile(schedule=plan, on_trace_ready=trace_ready) as profiler:
        for step in range(steps):
            with norch.profiler.record_function(str(step)):
                pass
            profiler.step()
    assert [step for step, _ in seen] == ready and seen[0][1] == [str(step) for step in noted]


def test_errors_of_schedules():
    for settings in ({"wait": -1, "warmup": 0, "active": 1}, {"wait": 0, "warmup": 0, "active": 0}):
        with pytest.raises(ValueError, match="active > 0"):
            norch.profiler.schedule(**settings)


@pytest.mark.parametrize("use_gzip", [False, True])
def test_the_trace_handler_writes_a_file_for_each_cycle(tmp_path, use_gzip):
    handler = norch.profiler.tensorboard_trace_handler(str(tmp_path / "log"), "worker", use_gzip)
    plan = norch.profiler.schedule(wait=0, warmup=0, active=1, repeat=2)
    with norch.profiler.profile(schedule=plan, on_trace_ready=handler) as profiler:
        for _ in range(3):
            with norch.profiler.record_function("block"):
                pass
            profiler.step()
    assert profiler.self_cpu_time_total == 1e6 * profiler.events()[0].seconds
    files = sorted((tmp_path / "log").iterdir())
    assert len(files) == 2 and all(".pt.trace.json" in path.name for path in files)
    data = gzip.decompress(files[0].read_bytes()) if use_gzip else files[0].read_bytes()
    assert [event["name"] for event in json.loads(data)["traceEvents"]] == ["block"]
