"""Who owns C tensors: nothing is freed while something can reach it, nothing lost if a call fails or is interrupted."""

import copy
import ctypes
import gc
import itertools
import pickle
import random
import sys
import threading
from pathlib import Path

import pytest

import norch
from norch import _C, nn, optim
from norch.guards import Guard, within

PACKAGE = str(Path(norch.__file__).parent)

# ---- Lifetimes -------------------------------------------------------------------------------------------------------


class Finalized:
    """Brings a tensor back when it goes."""

    saved: list = []

    def __init__(self, tensor):
        self.tensor, tensor.owner = tensor, self

    def __del__(self):
        Finalized.saved.append(self.tensor)


def test_a_tensor_that_a_finalizer_brings_back_is_alive():
    gc.collect()  # of tests before this one
    before = _C.live_tensors()
    Finalized(norch.tensor([1.0, 2.0, 3.0]))
    gc.collect()
    (x,) = Finalized.saved
    others = [norch.full((3,), 7.0) for _ in range(100)]  # these would take its memory
    assert (x + 1).tolist() == [2.0, 3.0, 4.0] and len(others) == 100
    Finalized.saved.clear()
    del x, others
    gc.collect()
    assert _C.live_tensors() == before


def test_a_tensor_that_is_replaced_lives_as_long_as_a_call_holds_it():
    x, y = norch.zeros(3), norch.ones(4)
    held, before = x._ptr, _C.live_tensors()
    x.data = y
    assert x.shape == [4] and _C.live_tensors() == before + 1
    assert norch.operation.wrap(_C.lib.clone_tensor(held)).tolist() == [0.0, 0.0, 0.0]
    del held
    assert _C.live_tensors() == before


def test_a_kernel_of_another_thread_keeps_what_it_reads():
    size = 300_000
    x, wrong, done = norch.ones(size), [], threading.Event()

    def read():
        while not done.is_set():
            total = x.sum().item()
            if total not in (size, 2 * size):
                wrong.append(total)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(300):
        x.data = norch.full((size,), float(1 + i % 2))
        norch.full((size,), -5.0)  # takes the memory if it is free
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("make", [lambda: norch.Tensor([1.0, 2.0]), lambda: nn.Parameter([2, 3])])
def test_a_second_init_leaves_nothing_behind(make):
    x = make()
    assert x.shape
    before = _C.live_tensors()
    for _ in range(5):
        x.__init__([3, 4, 5]) if type(x) is norch.Tensor else x.__init__([3])
        assert x.shape == [3]
    assert _C.live_tensors() == before


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_an_address_that_owns_cannot_be_copied(copied):
    with pytest.raises(TypeError, match="cannot be copied"):
        copied(norch.ones(1)._ptr)


LSTM = nn.LSTM(4, 3)
CALLS = {
    "sort": lambda x: x.sort(),
    "max_pool": lambda x: nn.functional.max_pool2d(x.reshape(1, 1, 4, 4), 2),
    "normalize": lambda x: nn.functional.layer_norm(x, [4]),
    "linear": lambda x: nn.functional.linear(x.clone().requires_grad_(), x, x[0]).sum().backward(),
    "data": lambda x: setattr(x.clone(), "data", x),
    "stack": lambda x: norch.stack([x, x]),
    "lstm": lambda x: LSTM(x.reshape(2, 2, 4))[0].sum().backward(),
    "attention": lambda x: (
        nn.functional.scaled_dot_product_attention(x, x, x.clone().requires_grad_()).sum().backward()
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_failing_allocation_leaves_nothing_behind(name):
    x = norch.arange(16.0).reshape(4, 4)
    CALLS[name](x)
    LSTM.zero_grad()
    before = _C.live_tensors()
    for countdown in itertools.count(1):
        _C.fail_allocation(countdown)
        try:
            CALLS[name](x)
            break
        except MemoryError:
            pass
        finally:
            _C.fail_allocation(0)
        LSTM.zero_grad()
        assert _C.live_tensors() == before, f"allocation {countdown}"
    assert countdown > 2
    LSTM.zero_grad()
    assert _C.live_tensors() == before


# ---- What Python hands over ------------------------------------------------------------------------------------------


class Lying(list):
    """A list that has more elements by its own account than it has, or fewer."""

    length = 1000

    def __len__(self):
        return self.length


@pytest.mark.parametrize("length", [0, 1, 1000, 10**9])
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x], lambda x: [x, x], lambda x: [[1.0, 2.0], x]])
def test_a_list_that_lies_about_its_length_is_refused(length, wrap):
    lying = type("Lying", (Lying,), {"length": length})([1.0, 2.0])
    with pytest.raises(ValueError, match="length|ragged"):
        norch.tensor(wrap(lying))


def test_a_list_that_grows_while_it_is_read():
    values: list = []

    class Growing:
        def __float__(self):
            values.extend([1.0] * 100)
            return 1.0

    values += [Growing(), 2.0]
    assert norch.Tensor(values).tolist() == [1.0, 2.0]


class Shown:
    def __init__(self, **interface):
        self.__array_interface__ = {"version": 3, "typestr": "<f4", "shape": (4,), "data": (0, False), **interface}


MEMORY = ctypes.create_string_buffer(64)
ADDRESS = ctypes.addressof(MEMORY)
NO_MEMORY = {
    "null": {},
    "null with strides": {"strides": (4,)},
    "no address": {"data": None},
    "a float": {"data": (1.5, False)},
    "too large an address": {"data": (2**64 + ADDRESS, False)},
    "negative size": {"shape": (-4,), "data": (ADDRESS, False)},
    "shape that is no sequence": {"shape": 4, "data": (ADDRESS, False)},
    "more strides than sizes": {"strides": (4, 4), "data": (ADDRESS, False)},
    "fewer strides than sizes": {"strides": (), "data": (ADDRESS, False)},
    "negative strides": {"strides": (-4,), "data": (ADDRESS, False)},
    "unknown dtype": {"typestr": "<f3", "data": (ADDRESS, False)},
}


@pytest.mark.parametrize("name", NO_MEMORY)
@pytest.mark.parametrize("use", [norch.as_tensor, norch.tensor, lambda shown: norch.ones(4) + shown])
def test_an_array_interface_without_memory_is_refused(name, use):
    with pytest.raises((TypeError, ValueError)):
        use(Shown(**NO_MEMORY[name]))


@pytest.mark.parametrize("split", ["split(1)", "unbind()", "chunk(2**40)", "tensor_split(2**40)"])
def test_more_views_than_memory_holds_are_refused_at_once(split):
    x = norch.ones(1).expand(2**40)  # noqa: F841
    with pytest.raises(MemoryError):
        eval(f"x.{split}")


# ---- Guards ----------------------------------------------------------------------------------------------------------


def test_a_guard_restores_in_any_order_of_nesting_and_for_each_thread():
    guard, seen = norch.no_grad(), []
    inside, leave = threading.Event(), threading.Event()

    def other():
        with guard:
            inside.set()
            leave.wait()
            seen.append(norch.is_grad_enabled())
        seen.append(norch.is_grad_enabled())

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    with guard:
        with guard, norch.enable_grad():
            assert norch.is_grad_enabled()
        assert not norch.is_grad_enabled()
    assert norch.is_grad_enabled()
    leave.set()
    thread.join()
    assert seen == [False, True]


def test_a_guard_that_was_never_left_restores_when_it_goes():
    guard = norch.no_grad()
    guard.__enter__()
    assert not norch.is_grad_enabled()
    del guard
    assert norch.is_grad_enabled()


def test_a_guard_of_an_unknown_attribute_changes_nothing():
    class Target:
        value = 1

    with pytest.raises(AttributeError), Guard((Target(), {"value": 2, "missing": 3})):
        pass


def test_within_changes_attributes_while_a_function_runs():
    class Target:
        value = 1

    target = Target()
    changes = ((target, {"value": 2}),)
    assert within(changes, lambda *args, **named: (target.value, args, named), (3,), {"x": 4}) == (2, (3,), {"x": 4})
    assert target.value == 1

    def fail():
        assert target.value == 2
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        within(changes, fail, (), {})
    assert target.value == 1
    assert within(changes, lambda: within(((target, {"value": 3}),), lambda: target.value, (), {}), (), {}) == 3
    assert target.value == 1
    with pytest.raises(AttributeError):
        within(((target, {"value": 2, "missing": 3}),), fail, (), {})
    assert target.value == 1


# ---- Several results -------------------------------------------------------------------------------------------------


def test_several_results_are_freed_one_by_one():
    before = _C.live_tensors()
    x = norch.tensor([3.0, 1.0, 2.0])
    handles = _C.lib.sort_tensor(x._ptr, 0, -1, 0)
    assert [type(handle) for handle in handles] == [_C.Handle] * 2 and _C.live_tensors() == before + 3
    values = norch.operation.wrap(handles[0])
    del handles
    assert values.tolist() == [1.0, 2.0, 3.0] and _C.live_tensors() == before + 2
    with pytest.raises(IndexError, match="axis 5"):
        norch.operation.several(_C.lib.sort_tensor(x._ptr, 5, -1, 0))
    gradients = norch.operation.several(_C.lib.linear_backward(*[norch.ones(2, 2)._ptr for _ in range(3)], 2))
    assert gradients[0] is None and gradients[1].shape == (2, 2) and gradients[2] is None
    del values, x, gradients
    assert _C.live_tensors() == before


# ---- Interrupts ------------------------------------------------------------------------------------------------------


class Interrupter:
    """Raises KeyboardInterrupt at the n-th bytecode that norch's own files run; counts them."""

    def __init__(self, at=None):
        self.at, self.count = at, 0

    def __call__(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.count += 1
            if self.count == self.at:
                raise KeyboardInterrupt
        return self

    def run(self, step):
        """Whether the interrupt came."""
        sys.settrace(self)
        try:
            step()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        return False


def modes():
    mode = norch.operation.mode
    random_state = norch.get_rng_state().tolist()
    return (
        (mode.enabled, mode.inference, mode.autocast, mode.autocast_depth, mode.anomaly),
        (norch.get_default_dtype(), norch.get_default_device(), random_state, norch.backends.cudnn.enabled),
    )


def training_step():
    norch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = optim.Adam(model.parameters(), lr=0.1)
    x = norch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    loss = (model(x) ** 2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def guarded_step():
    x = norch.ones(2, 2, requires_grad=True)
    with norch.no_grad(), norch.autocast("cpu"), norch.random.fork_rng():
        x @ x + norch.rand(2, 2)
    with norch.enable_grad(), norch.inference_mode(), norch.autograd.detect_anomaly(), norch.device("cpu"):
        x.sum()
    with norch.backends.cudnn.flags(enabled=False):
        nn.functional.softmax(x, 0).sort()
    norch.autograd.grad((x * x).sum(), x, create_graph=True)


def is_free(lock):
    """Whether another thread could take it."""
    taken = []
    thread = threading.Thread(target=lambda: taken.append(lock.acquire(blocking=False) and not lock.release()))
    thread.start()
    thread.join()
    return taken == [True]


def locked_step():
    x = norch.ones(2, requires_grad=True)
    x.sum().backward()
    x.storage()


def test_an_interrupt_leaves_no_lock_held():
    counter = Interrupter()
    locked_step()
    assert not counter.run(locked_step)
    for place in range(1, counter.count):
        Interrupter(place).run(locked_step)
        for lock in (norch.autograd.engine._accumulating, norch.methods.storage._lock):
            assert is_free(lock), f"bytecode {place}"


def test_an_interrupt_leaves_no_lock_of_an_object_held():
    lock = threading.Lock()  # as that of a group of ranks

    def step():
        return norch.threads.held(lock, str, 1)

    counter = Interrupter()
    counter.run(step)
    for place in range(1, counter.count):
        Interrupter(place).run(step)
        assert is_free(lock), f"bytecode {place}"


@pytest.mark.parametrize(("step", "attempts"), [(training_step, 150), (guarded_step, 300)])
def test_an_interrupt_at_any_bytecode_leaves_modes_and_memory_as_they_were(step, attempts):
    norch.manual_seed(0)
    expected = step()
    norch.manual_seed(0)
    counter = Interrupter()
    assert not counter.run(step)
    norch.manual_seed(0)
    gc.collect()
    before, live = modes(), _C.live_tensors()
    places = random.Random(0).sample(range(1, counter.count + 1), attempts)
    for place in places:
        norch.manual_seed(0)
        came = Interrupter(place).run(step)
        norch.manual_seed(0)
        gc.collect()
        assert came and modes() == before, f"bytecode {place}"
        assert _C.live_tensors() == live, f"bytecode {place}"
    assert step() == expected


# ---- Allocations of Python that fail while C makes objects -----------------------------------------------------------


def backward():
    y = norch.ones(3, requires_grad=True)
    ((y * y[:2].sum() + y).exp() * y).sum().backward()


@pytest.mark.parametrize("call", [lambda: norch.ones(3)[0], lambda: norch.rand(3), backward])
def test_an_object_of_python_that_finds_no_memory_is_a_memory_error(call):
    _testcapi = pytest.importorskip("_testcapi")
    for _ in range(2):  # what is made once is there
        call()
    failed = 0
    for number in range(1, 300):
        try:
            _testcapi.set_nomemory(number, number + 1)
            try:
                call()
            finally:
                _testcapi.remove_mem_hooks()
        except MemoryError:
            failed += 1
    assert failed > 2
