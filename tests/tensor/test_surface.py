"""What scripts touch beside operations: tensor types, devices, modes, settings, namespaces, pickled modules."""

from __future__ import annotations

import copy
import importlib
import io
import pickle
import re
import subprocess
import sys

import pytest

import norch
from norch import nn


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)
        self.b.weight = self.a.weight
        self.register_buffer("count", norch.arange(2))

    def forward(self, x):
        return self.b(self.a(x))


# ---- Types ----------------------------------------------------------------------------------------------------------


def test_tensor_types_make_convert_and_recognize():
    assert norch.LongTensor([1.7, 2]).tolist() == [1, 2] and norch.FloatTensor(2, 3).shape == (2, 3)
    assert norch.FloatTensor().shape == (0,) and norch.FloatTensor(norch.Size([2])).shape == (2,)
    assert norch.Tensor(2, 3).shape == (2, 3) and norch.Tensor().shape == (0,)
    assert norch.Tensor([1], "cpu", True).requires_grad and norch.Tensor([1], requires_grad=True).requires_grad
    x = norch.ones(2)
    assert isinstance(x, norch.FloatTensor) and not isinstance(x, (norch.LongTensor, norch.cuda.FloatTensor))
    assert x.type() == "torch.FloatTensor" and x.type("torch.LongTensor").type() == "torch.LongTensor"
    assert x.type(norch.DoubleTensor).dtype is norch.float64 and x.type(norch.int32).dtype is norch.int32
    assert x.new(3).shape == (3,) and x.long().new([1, 2]).type() == "torch.LongTensor"
    for wrong in ("float", "torch.NoTensor", 3):
        with pytest.raises((TypeError, ValueError), match="type"):
            x.type(wrong)
    with pytest.raises(TypeError, match="FloatTensor"):
        norch.FloatTensor(3.0)


def test_questions_about_tensors():
    x = norch.ones(2, 3)
    assert norch.is_tensor(x) and not norch.is_tensor(3) and norch.is_storage(x.storage())
    assert norch.numel(x) == x.nelement() == 6 and x.ndimension() == 2 and norch.is_floating_point(x)
    assert not norch.is_complex(x) and norch.is_nonzero(norch.tensor([2])) and x.get_device() == -1
    assert x.is_set_to(x.detach()) and not x.is_set_to(x.clone()) and x.pin_memory() is x and not x.is_pinned()
    assert x.names == (None, None) and not x.is_sparse and x.is_cpu and not x.is_meta
    with pytest.raises(RuntimeError):
        x.is_nonzero()


# ---- Writes through data --------------------------------------------------------------------------------------------


def test_writes_through_data_are_not_noticed_and_others_are():
    x = norch.ones(2, requires_grad=True)
    y = x * x
    x.data.add_(1)
    x.data[0] = 5.0
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 4.0]  # of the new values, as in PyTorch
    x = norch.ones(2, requires_grad=True)
    y = x * x
    x.detach().add_(1)
    with pytest.raises(RuntimeError, match="modified"):
        y.sum().backward()
    held = norch.ones(2).data
    y = norch.ones(2, requires_grad=True) * held
    held.add_(1)  # a count of its own, which the graph that saved it follows
    with pytest.raises(RuntimeError, match="modified"):
        y.sum().backward()


def test_data_can_be_replaced_between_forward_and_backward():
    x = norch.ones(2, requires_grad=True)
    y = x * x
    x.data = norch.full((2,), 5.0)
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]


# ---- Pickles --------------------------------------------------------------------------------------------------------


def test_a_whole_module_is_saved_and_loaded_only_if_it_is_trusted(tmp_path):
    model, x = Pair(), norch.ones(1, 2)
    norch.save({"model": model, "set": {1}}, tmp_path / "model")
    with pytest.raises(pickle.UnpicklingError, match="weights_only=False"):
        norch.load(tmp_path / "model")
    loaded = norch.load(tmp_path / "model", weights_only=False, map_location="cpu")["model"]
    assert loaded(x).equal(model(x)) and loaded.a.weight is loaded.b.weight
    assert isinstance(loaded.a.weight, nn.Parameter) and loaded.count.tolist() == [0, 1]
    assert (loaded.a.weight is loaded._modules["a"]._parameters["weight"]) and loaded.a.weight.requires_grad
    file = io.BytesIO()
    norch.save(model, file, pickle_protocol=5)
    file.seek(0)
    with open(tmp_path / "model", "rb") as other:
        assert isinstance(norch.load(other, weights_only=False)["model"], Pair)
    assert isinstance(norch.load(file, weights_only=False, map_location=lambda storage, place: storage), Pair)


def test_pickled_tensors_share_what_they_shared():
    x = norch.arange(6).reshape(2, 3)
    a, b, empty, scalar = pickle.loads(pickle.dumps((x, x.T[1:], norch.ones(0, 2), norch.tensor(2.5))))
    a[0, 1] = 77
    assert b.tolist() == [[77, 4], [2, 5]] and empty.shape == (0, 2) and scalar.item() == 2.5
    parameter = pickle.loads(pickle.dumps(nn.Parameter([1.0])))
    assert isinstance(parameter, nn.Parameter) and parameter.requires_grad
    assert copy.copy(norch.device("cuda:1")) == "cuda:1" and pickle.loads(pickle.dumps(norch.float32)) is norch.float32


# ---- Custom operations ----------------------------------------------------------------------------------------------


def test_a_custom_operation_with_several_results():
    class Both(norch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.x, ctx.result = 3, "free names"
            product, exponential = x * y, x.exp()
            ctx.save_for_backward(x, y, exponential)
            return product, exponential

        @staticmethod
        def backward(ctx, first, second):
            x, y, exponential = ctx.saved_tensors
            return first * y + second * exponential, first * x

    x = norch.tensor([0.5, 1.5], dtype=norch.float64, requires_grad=True)
    y = norch.tensor([2.0, 3.0], dtype=norch.float64, requires_grad=True)

    def use(x, y):
        product, exponential = Both.apply(x, y)
        return product.sin() + exponential

    assert norch.autograd.gradcheck(use, (x, y)) and norch.autograd.gradgradcheck(use, (x, y))
    assert norch.autograd.gradcheck(lambda x: Both.apply(x, y.detach())[1], x)  # the other result has no gradient


def test_results_without_gradients_and_contexts_apart():
    class Split(norch.autograd.Function):
        @staticmethod
        def forward(x, factor):
            return x * factor, (x > 0).float()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = inputs[1]
            ctx.mark_non_differentiable(output[1])
            ctx.set_materialize_grads(False)

        @staticmethod
        @norch.autograd.function.once_differentiable
        def backward(ctx, gradient, nothing):
            assert nothing is None
            return gradient * ctx.factor, None

    x = norch.ones(2, requires_grad=True)
    scaled, sign = Split.apply(x, 3.0)
    assert scaled.requires_grad and not sign.requires_grad
    w = norch.ones(2, requires_grad=True)
    (first,) = norch.autograd.grad((scaled * w).sum(), x, create_graph=True)
    assert first.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


# ---- Modes and settings ---------------------------------------------------------------------------------------------


def test_modes():
    @norch.inference_mode
    def bare():
        return norch.is_inference_mode_enabled(), norch.is_grad_enabled()

    @norch.inference_mode()
    def called():
        return norch.is_inference_mode_enabled(), norch.is_grad_enabled()

    assert bare() == called() == (True, False)
    assert not norch.is_inference_mode_enabled()
    with norch.inference_mode(), norch.inference_mode(False):
        assert norch.is_grad_enabled()
    with norch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="NaN"):
        (norch.zeros(1, requires_grad=True) * 0).sqrt().sum().backward()
    assert not norch.is_anomaly_enabled()


def test_settings_and_namespaces(monkeypatch):
    from norch.autograd import Variable
    from norch.backends import cudnn
    from norch.distributions.categorical import Categorical
    from norch.distributions.normal import Normal
    from norch.nn.modules.rnn import LSTM
    from norch.nn.modules.upsampling import Upsample
    from norch.nn.modules.utils import _pair
    from norch.optim.adamw import AdamW
    from norch.optim.sgd import SGD
    from norch.utils.data.distributed import DistributedSampler

    with cudnn.flags(benchmark=True):
        assert cudnn.benchmark
    assert cudnn.flags(benchmark=True)(lambda: cudnn.benchmark)()  # which decorates functions too
    assert not cudnn.benchmark and LSTM is nn.LSTM and _pair(3) == (3, 3)
    assert (Categorical, Normal) == (norch.distributions.Categorical, norch.distributions.Normal)
    assert (AdamW, SGD, Upsample) == (norch.optim.AdamW, norch.optim.SGD, nn.Upsample)
    assert list(DistributedSampler(range(4), 2, 0, shuffle=False)) == [0, 2]
    assert isinstance(norch.ones(1), Variable) and Variable(norch.ones(1), requires_grad=True).is_leaf
    layer = nn.Linear(2, 1)
    assert norch.compile(layer)._orig_mod is layer and norch.compile(mode="default")(layer)._orig_mod is layer
    assert norch.jit.script(layer) is layer and nn.DataParallel(layer)(norch.ones(3, 2)).shape == (3, 1)
    assert norch.accelerator.is_available() == norch.cuda.is_available()
    with norch.random.fork_rng():
        first = norch.rand(2)
    repeated = norch.random.fork_rng()(lambda: norch.rand(2))
    assert repeated().equal(first) and repeated().equal(first) and norch.rand(2).equal(first)
    monkeypatch.delitem(sys.modules, "norch.utils.tensorboard", raising=False)
    monkeypatch.setitem(sys.modules, "tensorboardX", None)  # as if it were not installed
    with pytest.raises(ImportError, match="pip install tensorboardX"):
        importlib.import_module("norch.utils.tensorboard")


def test_names_that_only_pytorch_has_say_what_to_use():
    for find, message in [
        (lambda: norch.while_loop, "torch.while_loop: norch runs the Python"),
        (lambda: norch.ones(1).to_sparse_csr, "COO"),
        (lambda: norch.no_such_name, "no attribute 'no_such_name'"),
        (lambda: norch.ones(1).no_such_name, "no attribute 'no_such_name'"),
    ]:
        with pytest.raises(AttributeError, match=message):
            find()
    assert not hasattr(norch, "nested") and not hasattr(norch.ones(1), "foo") and hasattr(nn.functional, "relu")


def test_checkpointed_parts_compute_the_same():
    from norch.utils.checkpoint import checkpoint, checkpoint_sequential

    norch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Dropout(0.5), nn.Linear(4, 2))
    gradients = []
    runs = [model, lambda x: checkpoint(model, x), lambda x: checkpoint_sequential(model, 2, x)]
    for run in runs:
        model.zero_grad()
        x = norch.arange(6).float().reshape(2, 3).requires_grad_()
        norch.manual_seed(1)
        run(x).sum().backward()
        gradients.append([x.grad.tolist(), *[p.grad.tolist() for p in model.parameters()]])
    assert gradients[0] == gradients[1] == gradients[2]


def test_memory_shared_with_a_forked_process():
    script = (
        "import norch, norch.multiprocessing as mp\n"
        "x = norch.zeros(2).share_memory_()\n"
        "def work(rank, x): x[rank] = rank + 1.0\n"
        "mp.spawn(work, args=(x,), nprocs=2)\n"
        "print(x.tolist(), x.is_shared(), norch.zeros(1).is_shared())\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert found.stdout == "[1.0, 2.0] True False\n", found.stderr


@pytest.mark.parametrize(
    "ending, error, words",
    [
        ("raise ValueError('of the child')", "ProcessRaisedException", "Process 1 .*ValueError: of the child"),
        ("os._exit(3)", "ProcessExitedException", "process 1 terminated with exit code 3"),
        ("os.kill(os.getpid(), 9)", "ProcessExitedException", "process 1 terminated with signal SIGKILL"),
    ],
)
def test_a_process_that_fails_ends_the_others(ending, error, words):
    script = (
        "import os, time, norch.multiprocessing as mp\n"
        "def work(rank):\n"
        "    if rank == 0: time.sleep(300)\n"
        f"    {ending}\n"
        "try: mp.spawn(work, nprocs=2)\n"
        "except mp.ProcessException as e: print(type(e).__name__, e.error_index, e, mp.active_children())\n"
        "context = mp.spawn(print, ('argument',), 2, join=False)\n"
        "while not context.join(): pass\n"
        "print(context.join(), len(context.pids()), mp.spawn(work, nprocs=0))\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert re.match(rf"{error} 1 .*{words}", found.stdout, flags=re.S), found.stderr
    assert "[]\n" in found.stdout and found.stdout.endswith("True 2 None\n"), found.stdout


def test_versions_compare_as_pytorchs():
    assert norch.__version__ >= "1.8" and norch.__version__ >= (2, 1) and not norch.__version__ < "2.0.0+cpu"
    assert norch.__version__ < "3" and tuple(map(int, norch.__version__.split(".")[:2])) >= (2, 1)


@pytest.mark.parametrize(
    "name, said",
    [
        ("nested", "pad the sequences"),
        ("nothing", "No module named 'norch.nothing'"),
    ],
)
def test_importing_an_absent_module_says_what_to_use(name, said):
    with pytest.raises(ModuleNotFoundError, match=said):
        importlib.import_module("norch." + name)


@pytest.mark.parametrize("size", [3, 0, norch.Size([2, 3]), (2, 3)])
def test_integers_given_to_tensor_are_a_shape_of_zeros(size):
    sizes = size if type(size) is tuple else (size,)
    shape = sizes if type(size) in (int, tuple) else size
    for kind in (norch.Tensor, norch.FloatTensor):
        x = kind(*sizes)
        assert x.shape == shape and x.dtype is norch.float32 and not x.any()
    assert norch.nn.Parameter(norch.Tensor(*sizes)).shape == shape


def test_a_float_or_a_bool_given_to_tensor_is_data():
    assert norch.Tensor(2.5).item() == 2.5 and norch.Tensor(True).shape == ()
    assert norch.Tensor([3]).tolist() == [3.0] and norch.Tensor((2, 3)).tolist() == [2.0, 3.0]
    assert norch.Tensor(3, requires_grad=True).requires_grad
    with pytest.raises(RuntimeError, match="negative"):
        norch.Tensor(-1)


def test_modules_are_not_scripted():
    assert not isinstance(nn.ReLU(), norch.jit.ScriptModule) and issubclass(norch.jit.ScriptModule, nn.Module)


@pytest.mark.parametrize(
    "line, reason",
    [
        ("from norch import nn, export", "norch does not have torch.export: .* no graph capture"),
        ("import norch.nested", "norch does not have torch.nested: pad the sequences"),
        ("from norch import nothing", "cannot import name 'nothing' from 'norch'"),
        ("import norch.fft.nothing", "No module named 'norch.fft.nothing'"),
    ],
)
def test_imports_of_what_is_missing_say_the_reason(line, reason):
    with pytest.raises(ImportError, match=reason):
        exec(line)
    assert not hasattr(norch, "nested")


def test_old_names():
    from norch._jit_internal import BroadcastingList2, Final, Optional, _overload
    from norch.jit.annotations import BroadcastingList2 as same

    assert same is BroadcastingList2 and _overload(len) is len
    assert BroadcastingList2[int] and Final and Optional


@pytest.mark.parametrize("space", [norch, nn.functional, norch.linalg, norch.special, nn.init])
def test_functions_are_pickled_by_their_names(space):
    functions = [f for name, f in vars(space).items() if not name.startswith("_") and hasattr(f, "__code__")]
    assert norch.tanh in functions or space is not norch
    assert [f for f in functions if pickle.loads(pickle.dumps(f)) is not f] == []


def test_functions_of_methods_take_the_names_of_their_operands():
    x, y = norch.tensor([[1.0, 2.0], [3.0, 4.0]]), norch.eye(2)
    assert norch.mm(x, mat2=y).tolist() == norch.mm(input=x, mat2=y).tolist() == x.tolist()
    assert norch.sum(x, dim=0).tolist() == norch.sum(x, axis=0).tolist() == [4, 6]
    assert norch.clamp(x, max=2).tolist() == [[1, 2], [2, 2]]
    assert norch.cumsum(x, 1, out=y) is y and y.tolist() == [[1, 3], [3, 7]]
    assert norch.addmm(x, x, x, beta=0).tolist() == (x @ x).tolist()
    with pytest.raises(TypeError, match=r"mm\(\) got an unexpected keyword argument 'other'"):
        norch.mm(x, other=y)
    with pytest.raises(TypeError, match=r"mm\(\) missing 1 required positional argument: 'mat2'"):
        norch.mm(x)
