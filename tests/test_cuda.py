"""norch.cuda, tensors on devices and between them, and the device's memory. The operations themselves are tested by the
tables of the other files, whose `device` fixture includes "cuda" where there is one."""

from __future__ import annotations

import os

import pytest
from helpers import DTYPES, assert_close, dtype_named

import norch
from norch import _C

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
    [norch.cuda.current_device, norch.cuda.get_device_name, norch.cuda.synchronize, lambda: norch.ones(1).cuda()],
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


# ---- Layouts that the tables are too small for -----------------------------------------------------------------------


@needs_cuda
@pytest.mark.parametrize("shape", [(130, 70, 65), (64, 64, 17), (1, 200, 65), (200, 1, 90)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_matmul_beyond_one_tile(shape, dtype):
    m, n, k = shape
    kind = dtype_named(dtype)
    a = (norch.arange(m * k) % 7 - 3).to(kind).reshape(m, k)
    b = (norch.arange(k * n) % 5 - 2).to(kind).reshape(k, n)
    expected = (a @ b).tolist()
    assert_close(a.cuda() @ b.cuda(), expected, dtype)
    assert_close(a.T.contiguous().cuda().T @ b.T.contiguous().cuda().T, expected, dtype)


@needs_cuda
def test_large_tiles_and_batches():
    a = (norch.arange(2 * 1030 * 20) % 11 - 5).float().reshape(2, 1030, 20)
    b = (norch.arange(20 * 1030) % 3 - 1).float().reshape(20, 1030)
    difference = (a.cuda() @ b.cuda()).cpu() - a @ b  # 8 x 8 x 2 whole tiles of 128
    assert difference.abs().max()[0] == 0


@needs_cuda
@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 2)])
@pytest.mark.parametrize("permuted", [(0, 1, 2), (2, 0, 1)])
def test_reductions_in_two_stages(axis, permuted):
    x = ((norch.arange(40 * 33 * 41) * 7919) % 1009 - 500).float().reshape(40, 33, 41).permute(*permuted)
    there = x.cuda()
    strided = norch.zeros(40, 33, 82, device="cuda")[:, :, ::2].permute(*permuted)
    strided.copy_(there)
    for name in ("sum", "amax", "amin"):
        expected = getattr(x, name)(axis) if axis is not None else getattr(x, name)()
        for y in (there, strided):
            result = getattr(y, name)(axis) if axis is not None else getattr(y, name)()
            assert (result.cpu() - expected).abs().max()[0] == 0
    if not isinstance(axis, tuple):
        assert (strided.argmax(axis).cpu() == x.argmax(axis)).all()[0]


@needs_cuda
def test_a_sum_is_the_same_in_every_run_and_precise():
    x = norch.full([1 << 17], 0.1, device="cuda")
    first = x.sum()[0]
    assert first == x.sum()[0]
    assert abs(first - (1 << 17) * 0.10000000149011612) < 1e-3


@needs_cuda
def test_nan_wins_from_any_block():
    x = norch.zeros(1 << 16)
    x[12345] = float("nan")
    x[54321] = float("nan")
    there = x.cuda()
    assert there.max()[0] != there.max()[0] and there.min()[0] != there.min()[0]
    assert there.argmax()[0] == there.argmin()[0] == 12345


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
    before = _C.lib.emulator_allocations()
    for _ in range(20):
        (x + 1).sum()
    assert _C.lib.emulator_allocations() <= before + 3
    norch.cuda.empty_cache()
    assert _C.lib.emulator_allocations() < before + 3
