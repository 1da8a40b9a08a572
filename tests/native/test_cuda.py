"""norch.cuda, tensors on devices and between them, the device's memory, and when the host waits for it.

The operations themselves are tested by the tables of the other files, whose `device` fixture includes "cuda" where
there is one, and in shapes that need several blocks by test_cuda_kernels.py.
"""

from __future__ import annotations

import array
import ctypes
import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from arrays import DTYPES
from cases import CASES
from compare import assert_close
from draws import any_numbers, drawn
from operations import ELEMENTWISE, REDUCTIONS, UNARY, by_name
from tensors import dtype_named, operand

import norch
from norch import _C, nn, optim
from norch.nn import functional as F

ROOT = Path(__file__).resolve().parents[2]
needs_cuda = pytest.mark.skipif(not norch.cuda.is_available(), reason="no CUDA device, and no emulator in this build")
needs_two = pytest.mark.skipif(norch.cuda.device_count() < 2, reason="fewer than two CUDA devices")
EMULATED = norch.cuda.is_available() and norch.cuda.get_device_name() == "CUDA emulator"
needs_emulator = pytest.mark.skipif(not EMULATED, reason="not built with CUDA=emu")
CACHED = os.environ.get("NORCH_CUDA_CACHE", "1")[:1] != "0"


# ---- norch.cuda ------------------------------------------------------------------------------------------------------


def test_what_is_built_and_available_fit_together():
    assert norch.cuda.is_available() == (norch.cuda.device_count() > 0)
    assert norch.cuda.is_built() or not norch.cuda.is_available()


@pytest.mark.skipif(norch.cuda.is_available(), reason="there is a CUDA device")
@pytest.mark.parametrize(
    "call",
    [
        norch.cuda.current_device,
        norch.cuda.get_device_name,
        norch.cuda.get_device_properties,
        norch.cuda.mem_get_info,
        norch.cuda.get_device_capability,
        norch.cuda.synchronize,
        lambda: norch.ones(1).cuda(),
        lambda: norch.ones(1).to(0),
        lambda: norch.zeros(2, device=0),
        lambda: norch.zeros(1).new_zeros(2, device=0),
        lambda: norch.device(0),
    ],  # fmt: skip
)
def test_without_a_device_every_call_says_why(call):
    with pytest.raises(RuntimeError, match="CUDA"):
        call()
    norch.cuda.empty_cache()
    assert norch.cuda.memory_allocated() == 0


@needs_cuda
def test_device_names_and_numbers():
    assert norch.cuda.current_device() == 0
    assert norch.cuda.get_device_name() == norch.cuda.get_device_name(0) == norch.cuda.get_device_name("cuda:0")
    norch.cuda.synchronize()
    beyond = norch.cuda.device_count()
    for call in (norch.cuda.get_device_name, norch.cuda.synchronize, lambda d: norch.ones(1).cuda(d)):
        with pytest.raises(RuntimeError, match=f"cuda:{beyond}.*{beyond} CUDA devices"):
            call(beyond)
    with pytest.raises(ValueError, match="cpu"):
        norch.cuda.synchronize("cpu")


@needs_cuda
def test_an_index_names_a_device_wherever_a_name_does():
    x, model = norch.ones(2), norch.nn.Linear(2, 2)
    made = [
        x.to(0), x.to(0, norch.float64), x.to(device=0), x.to("cuda").new_zeros(2, device=0), x.new_ones(2, device=0),
        norch.zeros(2, device=0), norch.tensor([1.0], device=0), norch.ones_like(x, device=0),
        norch.as_tensor([1], device=0), norch.nn.Linear(2, 2, device=0).weight, model.to(0).weight,
        norch.FloatTensor(2, device=0), norch.eye(2, device=0),
    ]  # fmt: skip
    with norch.device(0):
        made.append(norch.ones(2))
    norch.set_default_device(0)
    made.append(norch.ones(2))
    norch.set_default_device(None)
    assert norch.device(0) == "cuda:0" and [value.device.index for value in made] == [0] * len(made)


@needs_cuda
def test_properties_of_a_device():
    found = norch.cuda.get_device_properties("cuda:0")
    assert found.name == norch.cuda.get_device_name()
    assert (found.major, found.minor) == norch.cuda.get_device_capability()
    assert found.warp_size == 32 and found.multi_processor_count >= 1 and found.major >= 3
    before, total = norch.cuda.mem_get_info(0)
    kept = norch.zeros(2**22, device="cuda")
    after, same = norch.cuda.mem_get_info()
    assert same == total == found.total_memory and after <= before <= total
    assert not EMULATED or before - after == 2**24
    del kept
    with pytest.raises(RuntimeError, match="CUDA devices"):
        norch.cuda.get_device_properties(norch.cuda.device_count())


CALLS = [
    "cudaMalloc",
    "cudaFree",
    "cudaStreamSynchronize",
    "cudaMemcpyDeviceToHost",
    "cudaMemcpyHostToDevice",
    "launch",
]
WAITS = {"cudaStreamSynchronize", "cudaMemcpyDeviceToHost"}


def calls_of(work):
    """How often a piece of work called each function of CUDA's runtime, as the emulator counted; none is left out."""

    def counted():
        return {name: _C._library.emulator_calls(name.encode()) for name in CALLS}

    before = counted()
    work()
    return {name: count - before[name] for name, count in counted().items() if count > before[name]}


# ---- Copies ----------------------------------------------------------------------------------------------------------


@needs_cuda
@pytest.mark.parametrize("dtype", DTYPES)
def test_there_and_back(dtype):
    x = norch.tensor([[1, 0, 2], [3, 4, 5]], dtype=dtype_named(dtype))
    there = x.T.to("cuda")
    assert (there.device, there.shape, there.dtype) == ("cuda:0", (3, 2), x.dtype)
    assert_close(there.cpu(), x.T.tolist(), dtype)
    assert there.to("cuda:0") is there
    assert norch.zeros(0, 3).cuda().cpu().shape == (0, 3)


@needs_cuda
def test_gradients_pass_between_devices():
    x = norch.tensor([1.0, 2.0], requires_grad=True)
    (x.to("cuda") * norch.tensor([3.0, 4.0], device="cuda")).sum().cpu().backward()
    assert x.grad.device == "cpu"
    assert_close(x.grad, [3.0, 4.0])


@needs_cuda
@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_copy_takes_another_device(target):
    x = norch.tensor([1.0, 2.0], requires_grad=True, device="cuda" if target == "cpu" else "cpu")
    copied = norch.zeros(2, 2, device=target).copy_(x)
    assert copied.device == norch.zeros(1, device=target).device
    copied.sum().backward()
    assert_close(copied.cpu(), [[1.0, 2.0], [1.0, 2.0]])
    assert_close(x.grad.cpu(), [2.0, 2.0])


@needs_cuda
@pytest.mark.parametrize(
    "mix",
    [
        lambda x, y: x + y,
        lambda x, y: x @ y,
        lambda x, y: x.add_(y),
        lambda x, y: norch.where(x > 0, x, y),
        lambda x, y: norch.cat([x, y]),
    ],
)
def test_mixed_devices_are_an_error_that_names_both(mix):
    with pytest.raises(RuntimeError, match="cpu and cuda:0"):
        mix(norch.ones(2, 2), norch.ones(2, 2, device="cuda"))


@needs_two
def test_two_devices():
    x = norch.tensor([[1.0, 2.0]], device="cuda:1")
    y = x.to("cuda:0")
    assert (x.device, y.device, (x + 1).device) == ("cuda:1", "cuda:0", "cuda:1")
    assert_close(y.T @ y, [[1.0, 2.0], [2.0, 4.0]])
    assert_close(x.T @ x, [[1.0, 2.0], [2.0, 4.0]])
    with pytest.raises(RuntimeError, match="cuda:1 and cuda:0"):
        x + y
    with pytest.raises(RuntimeError, match="cuda:1 and cuda:0"):
        x.T @ y
    before = norch.cuda.memory_allocated(1)
    del x
    assert norch.cuda.memory_allocated(1) == before - 8


# ---- Memory ----------------------------------------------------------------------------------------------------------


@needs_cuda
def test_memory_is_counted_and_released():
    before = norch.cuda.memory_allocated()
    x = norch.ones(1000, device="cuda")
    assert norch.cuda.memory_allocated() == before + 4000
    (x + 1).sum()
    assert norch.cuda.memory_allocated() == before + 4000
    del x
    assert norch.cuda.memory_allocated() == before


@needs_cuda
def test_too_large_for_the_device():
    with pytest.raises(MemoryError, match=r"cuda:0"):
        norch.empty(1 << 48, device="cuda")
    assert norch.ones(2, device="cuda").tolist() == [1.0, 1.0]


@needs_cuda
def test_a_failing_allocation_in_a_reduction_leaks_nothing():
    x = norch.ones(1 << 16, device="cuda")
    before = (norch.cuda.memory_allocated(), _C.live_tensors())
    failures = 0
    for countdown in range(1, 8):
        _C.fail_allocation(countdown)
        try:
            x.sum()
        except MemoryError:
            failures += 1
        finally:
            _C.fail_allocation(0)
    assert failures >= 3  # the result's two structs, its element and the partial sums
    assert (norch.cuda.memory_allocated(), _C.live_tensors()) == before


@needs_emulator
@pytest.mark.skipif(not CACHED, reason="without the cache there is nothing to free")
def test_out_of_memory_frees_the_cache_and_tries_again(monkeypatch):
    norch.cuda.empty_cache()
    monkeypatch.setenv("NORCH_EMULATOR_MEMORY", str(3 << 20))
    x = norch.empty(500_000, device="cuda")
    del x  # 2 MB are idle now
    y = norch.empty(600_000, device="cuda")
    with pytest.raises(MemoryError):
        norch.empty(500_000, device="cuda")
    assert y.fill_(1)[0] == 1.0


@needs_emulator
@pytest.mark.skipif(not CACHED, reason="every tensor has memory of its own")
def test_repeated_work_allocates_nothing_new():
    x = norch.ones(300, device="cuda")
    for _ in range(3):
        x + 1
    before = _C._library.emulator_allocations()
    for _ in range(20):
        (x + 1).sum()
    assert _C._library.emulator_allocations() <= before + 3
    norch.cuda.empty_cache()
    assert _C._library.emulator_allocations() < before + 3


# ---- Waiting ---------------------------------------------------------------------------------------------------------


@needs_emulator
@pytest.mark.skipif(not CACHED, reason="every tensor has memory of its own")
def test_x_plus_1_costs_one_launch():
    x = norch.ones(300, device="cuda")
    x + 1
    assert calls_of(lambda: x + 1) == {"launch": 1}
    assert calls_of(lambda: (x + 1)[0].item()) == {"launch": 1, "cudaMemcpyDeviceToHost": 1, "cudaStreamSynchronize": 1}


@needs_emulator
@pytest.mark.skipif(not CACHED, reason="every tensor has memory of its own")
def test_a_training_step_neither_waits_nor_allocates():
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 4)).to("cuda")
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, labels = norch.rand(5, 3, device="cuda"), norch.tensor([0, 1, 2, 3, 0], device="cuda")

    def step():
        loss = F.cross_entropy(model(x)[norch.argmax(x, 1)], labels) + F.mse_loss(model(x), model(x) * 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for _ in range(3):
        step()
    assert set(calls_of(step)) == {"launch"}


# Operations whose result has a shape that depends on values, or that compare a count of them with a size: the host must
# know them.
SHAPED_BY_VALUES = ["nonzero", "masked_select", "masked_scatter", "mask]"]


@needs_emulator
@by_name(ELEMENTWISE)
def test_no_elementwise_operation_waits(row, rng):
    dtype = "int32" if row.rule == "whole" else "float32"
    x, _ = operand(drawn(rng, row.draws[0], dtype), (3, 4), dtype, "stepped", "cuda")
    y, _ = operand(drawn(rng, row.draws[1], dtype), (4,), dtype, "contiguous", "cuda")
    operands = (x,) if row in UNARY else (x, y)
    assert WAITS.isdisjoint(calls_of(lambda: getattr(norch, row.name)(*operands)))
    if row in UNARY or row.rule == "real":
        return
    integers = [t.abs().int() + 1 for t in operands]  # whose division by zero is found on the device
    assert WAITS.isdisjoint(calls_of(lambda: getattr(norch, row.name)(*integers)))


@needs_emulator
@by_name(REDUCTIONS)
def test_no_reduction_waits(row):
    x = norch.rand(3, 4, device="cuda")
    assert WAITS.isdisjoint(calls_of(lambda: row.of(x, (1,), False)))


def operands_of(row, rng):
    draws = row.draws or (any_numbers,) * len(row.shapes)
    dtype = "float32" if "float32" in row.accepted else row.accepted[-1]
    kinds = ["bool" if draw.__name__ == "truths" else dtype for draw in draws]
    return [
        operand(drawn(rng, draw, kind), shape, kind, "contiguous", "cuda")[0]
        for draw, kind, shape in zip(draws, kinds, row.shapes)
    ]


@needs_emulator
@by_name([row for row in CASES if not any(word in row.name for word in SHAPED_BY_VALUES)])
def test_no_other_operation_waits(row, rng):
    operands = operands_of(row, rng)
    assert WAITS.isdisjoint(calls_of(lambda: row.call(norch, *operands)))


@needs_emulator
@by_name(CASES)
def test_every_launch_is_checked(row, rng):
    operands = operands_of(row, rng)
    expected = row.call(norch, *operands).tolist()
    launches = calls_of(lambda: row.call(norch, *operands)).get("launch", 0)
    gc.collect()  # the tracebacks of another test's exceptions
    before = (norch.cuda.memory_allocated(), _C.live_tensors())
    for nth in range(1, launches + 1):
        _C._library.emulator_fail_launch(ctypes.c_int64(nth))
        try:
            with pytest.raises(RuntimeError, match="cudaErrorLaunchOutOfResources"):
                row.call(norch, *operands)
        finally:
            _C._library.emulator_fail_launch(ctypes.c_int64(0))
    gc.collect()  # the tracebacks of the exceptions
    assert (norch.cuda.memory_allocated(), _C.live_tensors()) == before
    assert row.call(norch, *operands).tolist() == expected


# ---- What a kernel finds wrong is raised where the host waits next ---------------------------------------------------


def index(*values):
    return norch.tensor(values, device="cuda")


FAULTS = {
    "x[[0, 5]]": (IndexError, r"index 5 is out of range for axis 0 of size 2 \(index\)"),
    "x[0, [-4]]": (IndexError, "index -4 .* axis 1 of size 3"),
    "x[[0, 1], [7, 1]]": (IndexError, "index 7 .* axis 1 of size 3"),
    "x.gather(1, index([-1]))": (RuntimeError, r"index -1 .* axis 1 of size 3 \(gather\)"),
    "x.take(index(6))": (IndexError, "index 6 .* size 6"),
    "x.__setitem__([1, 2], 9)": (IndexError, r"index 2 .* axis 0 of size 2 \(index_put_\)"),
    "x.index_add_(0, index(2), norch.ones(1, 3, device='cuda'))": (IndexError, "index 2"),
    "x.scatter_(1, index([3]), norch.ones(1, 1, device='cuda'))": (RuntimeError, "index 3"),
    "x.int() // index(1, 0, 1)": (RuntimeError, "floor_divide: .*zero"),
    "F.cross_entropy(x, index(0, 3))": (IndexError, "cross_entropy: target 3 is out of range, expected 0 to 2 or"),
    "F.cross_entropy(x[:, :0], index(0, 0))": (IndexError, "target 0"),
    "F.binary_cross_entropy(x + 2, x)": (RuntimeError, "input is 2, expected probabilities from 0 to 1"),
    "F.nll_loss(x, index(-1, 0))": (IndexError, "nll_loss: target -1 is out of range"),
}


@needs_cuda
@pytest.mark.parametrize("line", FAULTS)
@pytest.mark.parametrize("wait", [lambda x: x.tolist(), lambda x: norch.cuda.synchronize()])
def test_faults(line, wait):
    kind, message = FAULTS[line]
    x = norch.zeros(2, 3, device="cuda")
    result = eval(line)
    with pytest.raises(kind, match=message):
        wait(x if result is None else result)
    norch.cuda.synchronize()  # it is told once
    changed = [[9.0] * 3 if line.startswith("x.__setitem__") and row == 1 else [0.0] * 3 for row in range(2)]
    assert_close(x, changed)  # nothing was written out of range


@needs_cuda
def test_a_fault_that_shapes_tell_is_raised_by_the_call():
    with pytest.raises(IndexError, match="index: axis 0 has no index, its size is 0"):
        norch.zeros(2, 3, device="cuda")[:0][[0]]


@needs_cuda
def test_of_several_faults_one_is_told_and_the_next_is_found_again():
    x = norch.zeros(3, device="cuda")
    x[[5, 6, 7]], x[index(8)]
    with pytest.raises(IndexError, match="index [5-8] "):
        x.tolist()
    x[[9]]
    with pytest.raises(IndexError, match="index 9 "):
        x[0].item()
    assert_close(x, [0.0, 0.0, 0.0])


@needs_two
def test_a_fault_belongs_to_its_device():
    x = norch.zeros(3, device="cuda:1")
    x[[4]]
    norch.cuda.synchronize(0)
    with pytest.raises(IndexError, match="index 4"):
        norch.cuda.synchronize(1)


# ---- Other libraries' streams ----------------------------------------------------------------------------------------


@needs_cuda
def test_dlpack_on_a_device():
    x = norch.tensor([1.0, 2.0], device="cuda")
    assert x.__dlpack_device__() == (2, 0)
    y = norch.from_dlpack(x)
    y.add_(1)
    assert_close(x, [2.0, 3.0])
    assert_close(norch.from_dlpack(x.__dlpack__(stream=1)), [2.0, 3.0])


@needs_emulator
def test_dlpack_orders_streams_without_waiting():
    x = norch.tensor([1.0], device="cuda")
    before = _C._library.emulator_calls(b"cudaStreamWaitEvent")
    assert WAITS.isdisjoint(calls_of(lambda: x.__dlpack__()))
    x.__dlpack__(stream=-1)  # asks for no order
    assert _C._library.emulator_calls(b"cudaStreamWaitEvent") == before + 1


# ---- The benchmark ---------------------------------------------------------------------------------------------------


@needs_cuda
def test_the_benchmark_runs():
    command = [sys.executable, str(ROOT / "benchmarks" / "gpu.py"), "--size", "tiny"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0].startswith(f"device: {norch.cuda.get_device_name()}; torch: ")
    groups = {line.split()[0] for line in lines[2:]}
    assert groups == {"elementwise", "reduction", "matmul", "index", "step"}


# ---- The default device ----------------------------------------------------------------------------------------------

OPTIMIZERS = [
    *(optim.SGD, optim.Adam, optim.AdamW, optim.NAdam, optim.RAdam, optim.Adamax, optim.Adagrad, optim.Adadelta),
    *(optim.RMSprop, optim.Rprop, optim.ASGD, optim.Adafactor, optim.Muon, optim.LBFGS),
]


@pytest.fixture
def on_cuda():
    """New tensors are made on a GPU."""
    norch.set_default_device("cuda")
    yield
    norch.set_default_device("cpu")


@needs_cuda
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_optimizers_on_the_default_device(optimizer, on_cuda):
    w = norch.ones(2, 2, requires_grad=True)
    stepping = optimizer([w], lr=0.1)
    for _ in range(2):
        stepping.step(lambda: (stepping.zero_grad(), (w * w).sum().backward(), (w * w).sum())[-1])
    assert w.device == "cuda:0" and bool((w < 1).all())
    other = optimizer([norch.ones(2, 2, requires_grad=True)], lr=0.1)
    other.load_state_dict(stepping.state_dict())


@needs_cuda
def test_packed_sequences_on_the_default_device(on_cuda):
    packed = nn.utils.rnn.pack_padded_sequence(norch.ones(2, 3, 4), [3, 2], batch_first=True)
    output, lengths = nn.utils.rnn.pad_packed_sequence(nn.GRU(4, 2)(packed)[0], batch_first=True)
    assert output.device == "cuda:0" and lengths.device == "cpu" and lengths.tolist() == [3, 2]


@needs_cuda
@pytest.mark.parametrize(
    "made",
    [
        lambda: norch.as_tensor([1.0, 2.0]),
        lambda: norch.as_tensor(array.array("d", [1.0])),
        lambda: norch.asarray([1.0]),
        lambda: norch.distributions.Normal(0.0, 1.0).sample((2,)),
        lambda: norch.distributions.Bernoulli(0.3).enumerate_support(),
        lambda: norch.distributions.OneHotCategorical(norch.ones(3)).enumerate_support(),
    ],
)
def test_what_is_made_on_the_default_device(made, on_cuda):
    assert made().device == "cuda:0"
