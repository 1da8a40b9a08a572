"""Inner names of PyTorch that public packages import, and what they do with them."""

from __future__ import annotations

import importlib
import io
import warnings
from functools import partial

import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402


def module(torch, path):
    return importlib.import_module(torch.__name__ + path)


def loaders(torch):
    """Lightning asks for the classes of iterators, PyTorch Geometric wraps what `_get_iterator` gives."""
    data = module(torch, ".utils.data.dataloader")

    class Doubled(data.DataLoader):
        def _get_iterator(self):
            return (batch * 2 for batch in super()._get_iterator())

    loader = data.DataLoader(torch.arange(5), batch_size=2)
    iterator = iter(loader)
    other = data.DataLoader(torch.arange(5), batch_size=2, num_workers=1)
    with_workers = iter(other)
    found = [isinstance(iterator, data._BaseDataLoaderIter), isinstance(iterator, data._SingleProcessDataLoaderIter)]
    found += [isinstance(with_workers, data._MultiProcessingDataLoaderIter), len(with_workers)]
    with_workers._shutdown_workers()
    found += [loader._iterator, loader._dataset_kind == data._DatasetKind.Map, data._DatasetKind.Iterable]
    kept = data.DataLoader(torch.arange(4), batch_size=2, num_workers=1, persistent_workers=True)
    found += [[batch.tolist() for batch in kept] for _ in range(2)]
    found += [isinstance(kept._iterator, data._MultiProcessingDataLoaderIter), kept._iterator is iter(kept)]
    kept._iterator._shutdown_workers()
    return [*found, [batch.tolist() for batch in Doubled(torch.arange(5), batch_size=2)]]


def exceptions(torch):
    """Torchdata hands exceptions from one thread to another."""

    class Pair(Exception):
        def __init__(self, x, y):
            super().__init__(x, y)

    def caught(error):
        try:
            raise error
        except Exception:
            return module(torch, "._utils").ExceptionWrapper(where="in a thread")

    found = []
    for error in (ValueError("not so"), KeyError("key"), Pair(1, 2)):
        try:
            caught(error).reraise()
        except Exception as again:
            lines = str(again).splitlines()
            found.append([type(again).__name__, lines[0], lines[1], lines[-1]])
    return found


def printed(torch):
    """PyTorch Geometric prints classes derived from Tensor by parts."""
    inner = module(torch, "._tensor_str")
    x = torch.arange(60.0).view(3, 20) / 7
    texts = [inner._tensor_str(x, 5), inner._tensor_str(torch.tensor(3), 0), inner._tensor_str(torch.ones(0), 0)]
    for newline in (False, True):
        texts.append(inner._add_suffixes("[1, 2]", ["size=(2,)", "a" * 70], 4, newline))
    return [*texts, inner.PRINT_OPTS.linewidth, inner.PRINT_OPTS.precision, inner.PRINT_OPTS.edgeitems]


def destinations(torch):
    """Modules with a `to` of their own (Lightning, mmengine, Accelerate) read its arguments so."""
    to = torch._C._nn._parse_to
    double = torch.ones(1, dtype=torch.float64)
    calls = [to("cpu"), to(torch.float16, True), to(double), to(device="cpu", dtype=None), to("cpu", torch.float64)]
    calls += [to("cpu", non_blocking=True, memory_format=torch.channels_last)]
    named = lambda value: value if isinstance(value, bool) else str(value).replace("norch", "torch")  # noqa: E731
    return [[None if value is None else named(value) for value in call] for call in calls]


def hooks_of_first_modules(torch):
    """A module whose inputs need no gradients: its hooks see the gradient before backward enters it."""
    nn, log = torch.nn, []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for inputs in (torch.ones(2, 3), torch.ones(2, 3, requires_grad=True)):
            model = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 2), nn.ReLU()))
            for name, part in model.named_modules():

                def hook(part, grad_input, grad_output, name=name):
                    log.append((name, [x is None or tuple(x.shape) for x in grad_input], len(grad_output)))

                part.register_full_backward_hook(hook)
            model(inputs).sum().backward()
    return log, [str(warning.message).partition(" since no inputs require gradients")[0] for warning in warned]


def hooks_that_replace(torch):
    """Such a hook may return nothing but None."""
    layer = torch.nn.Linear(3, 2)
    layer.register_full_backward_hook(lambda part, grad_input, grad_output: (torch.ones(2, 3),))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loss = layer(torch.ones(2, 3)).sum()
        with pytest.raises(RuntimeError):
            loss.backward()
    return True


def names(torch):
    """What packages read when they are imported, or ask."""
    x = torch.ones(2)
    kinds = [torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc, torch.jagged]
    found = [x.layout == kind for kind in kinds] + [str(kind).partition(".")[2] for kind in kinds]
    functional = module(torch, ".nn.functional")
    found += [
        functional._Reduction.get_enum("mean"),
        functional._Reduction.legacy_get_string(None, False, emit_warning=False),
    ]
    states = module(torch, ".cuda.amp.grad_scaler").OptState
    found += [states is module(torch, ".amp.grad_scaler").OptState, [(state.name, state.value) for state in states]]
    found += [torch.get_device_module("cpu") is torch.cpu, torch.get_device_module(torch.device("cuda")) is torch.cuda]
    found += [isinstance(x, torch.ScriptModule), isinstance(torch.device("cpu"), torch.DeviceObjType)]
    sigmoid = module(torch, ".distributions.transforms")._clipped_sigmoid
    found += [sigmoid(torch.tensor([-1000.0, 0.0, 1000.0])).tolist(), torch._C._is_tracing()]
    found += [isinstance(x, torch._C.Value), isinstance(x, torch._C.Graph), isinstance(x, torch._C.Node)]
    pinned = module(torch, ".utils.data._utils.pin_memory").pin_memory({"x": (1, "text")})
    found += [pinned]
    counter = module(torch, ".utils.flop_counter").FlopCounterMode(display=False)
    return [*found, counter.get_total_flops()]


def saved_results(torch):
    """Xitorch asks in backward whether a result that it saved requires gradients, and differentiates by it."""
    found = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x * 2, result := y * 2, x, y)
            return result

        @staticmethod
        def backward(ctx, gradient):
            found.append([(t.requires_grad, t.is_leaf, t.grad_fn is None) for t in ctx.saved_tensors])
            with torch.enable_grad():
                result = ctx.saved_tensors[1]
                found.append(torch.autograd.grad((result * result).sum(), result)[0].tolist())
            return None, gradient * 2

    leaf = torch.ones(2, requires_grad=True)
    for y in (leaf, leaf * 3):
        Double.apply(torch.ones(2), y).sum().backward()
    return [*found, leaf.grad.tolist()]


@pytest.mark.parametrize(
    "program",
    [loaders, exceptions, printed, destinations, hooks_of_first_modules, hooks_that_replace, names, saved_results],
    ids=lambda program: program.__name__,
)
def test_programs_that_use_inner_names(program):
    assert program(norch) == program(torch)


def test_what_is_left_out_says_so():
    with pytest.raises(NotImplementedError, match="graph capture"):
        norch.jit._get_trace_graph(norch.nn.Linear(1, 1), ())
    with pytest.raises(NotImplementedError, match="asks nobody"), norch.utils.flop_counter.FlopCounterMode():
        pass
    with pytest.raises(NotImplementedError, match="NVIDIA|processors"):
        norch.autograd.profiler.emit_nvtx()
    with pytest.raises(TypeError, match=r"norch\.strided"):
        norch.zeros(2, layout=norch.sparse_csr)
    assert not norch.distributed.rpc.is_available() and not norch.profiler.kineto_available()


class Height:
    """A function of a cycle that has a state."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, cycle):
        return self.factor / cycle


@pytest.mark.parametrize("there, here", [(torch, norch), (norch, torch), (norch, norch)], ids=lambda x: x.__name__)
@pytest.mark.parametrize("function", [None, partial(Height, 0.5)], ids=["by mode", "by an object"])
def test_cyclic_rates_go_on_from_the_state_of_another_library(there, here, function):
    def schedule(torch, factor):
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.1, momentum=0.9)
        shape = {} if function is None else {"scale_fn": Height(factor)}
        return torch.optim.lr_scheduler.CyclicLR(optimizer, 0.1, 0.5, step_size_up=3, mode="triangular2", **shape)

    def rates(scheduler, steps):
        found = []
        for _ in range(steps):
            scheduler.optimizer.step()
            scheduler.step()
            found.append((scheduler.get_last_lr()[0], scheduler.optimizer.param_groups[0]["momentum"]))
        return found

    first, second = schedule(there, 0.5), schedule(here, 1.0)
    rates(first, 8)
    state = first.state_dict()
    torch.save(state, io.BytesIO())
    second.load_state_dict(state)
    assert sum(rates(second, 8), ()) == pytest.approx(sum(rates(first, 8), ()))
