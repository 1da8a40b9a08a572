"""What norch has by name alone: it is imported, compared and derived from; its use raises the reason."""

from __future__ import annotations

import copy
import pickle

import pytest

import norch
from norch import nn
from norch.types import ABSENT_DTYPES


def test_dtypes_are_known_in_tables():
    table = {norch.float32: "F32", norch.complex64: "C64", norch.uint16: "U16", norch.float8_e4m3fn: "F8"}
    assert table[norch.ones(1).dtype] == "F32" and norch.cfloat is norch.complex64
    assert norch.ones(1).dtype not in (norch.complex64, norch.complex128) and repr(norch.uint16) == "norch.uint16"
    for kind in ABSENT_DTYPES.values():
        assert (
            isinstance(kind, norch.dtype) and copy.deepcopy(kind) is kind and pickle.loads(pickle.dumps(kind)) is kind
        )


@pytest.mark.parametrize("name", ["complex64", "uint16", "float8_e5m2", "qint8", "int4"])
@pytest.mark.parametrize(
    "use",
    [
        lambda kind: norch.zeros(2, dtype=kind),
        lambda kind: norch.tensor([1.0], dtype=kind),
        lambda kind: norch.empty(2, dtype=kind),
        lambda kind: norch.ones(2).to(kind),
        lambda kind: norch.ones(2).type(kind),
        lambda kind: norch.ones(2).view(kind),
        lambda kind: norch.ones(2).sum(dtype=kind),
        lambda kind: norch.promote_types(norch.float32, kind),
        lambda kind: norch.can_cast(norch.float32, kind),
        lambda kind: norch.set_default_dtype(kind),
        lambda kind: nn.Linear(2, 2, dtype=kind),
        lambda kind: nn.Linear(2, 2).to(kind),
        lambda kind: norch.asarray([1.0, 1.0], dtype=kind),
        lambda kind: norch.rand(2, dtype=kind),
        lambda kind: norch.arange(2, dtype=kind),
    ],
)
def test_no_tensor_has_such_a_dtype(name, use):
    with pytest.raises(TypeError, match=f"norch does not have torch.{name}: norch has no "):
        use(getattr(norch, name))


@pytest.mark.parametrize(
    "line, reason",
    [
        (
            "from norch.fft import fft as used",
            "norch does not have torch.fft.fft: norch has no complex dtypes; numpy.fft",
        ),
        ("from norch import stft as used", "norch does not have torch.stft: norch has no complex dtypes"),
        ("from norch.fx import symbolic_trace as used", "torch.fx.symbolic_trace: .* no graph capture"),
        ("from norch.fx.node import Node as used", "torch.fx.node.Node: .* no graph capture"),
        ("from norch.nn.quantized import Linear as used", "torch.nn.quantized.Linear: norch has no quantized dtypes"),
        ("from norch.ao.quantization.observer import Observer as used", "torch.ao.quantization.observer.Observer"),
        ("from norch.utils.cpp_extension import load as used", "torch.utils.cpp_extension.load: .* in C"),
        ("from norch._higher_order_ops.associative_scan import associative_scan as used", "no graph capture"),
        ("used = norch.cuda.nvtx.range_push", "torch.cuda.nvtx.range_push"),
        ("used = norch.ops.aten.mm.default", "torch.ops.aten.mm.default: norch's operations are its functions"),
    ],
)
def test_functions_say_the_reason_when_they_are_called(line, reason):
    space = {"norch": norch}
    exec(line, space)
    with pytest.raises(NotImplementedError, match=reason):
        space["used"](norch.ones(2))


def test_classes_can_be_derived_from_and_asked_for():
    class Tracer(norch.fx.Tracer):
        pass

    assert not isinstance(norch.ones(1), (norch.fx.Node, Tracer)) and norch.ops.aten.mm is norch.ops.aten.mm
    with pytest.raises(NotImplementedError, match="torch.fx.Tracer"):
        Tracer()


def test_questions_whether_something_is_there_are_answered():
    x = norch.ones(2)
    primal, tangent = norch.autograd.forward_ad.unpack_dual(x)
    assert primal is x and tangent is None
    assert norch.fx.experimental.proxy_tensor.get_proxy_mode() is None
    assert norch._subclasses.fake_tensor.is_fake(x) is False


def test_newer_names_stay_absent():
    """Packages ask for them, and have another way."""
    for module, name in [(norch, "export"), (norch, "nested"), (nn.functional, "grouped_mm"), (norch.ops.mine, "none")]:
        assert not hasattr(module, name)
    with pytest.raises(OSError, match="load_library"):
        norch.ops.load_library("lib.so")
    with pytest.raises(ValueError, match="mylib::double"):
        norch.library.custom_op("double", mutates_args=())
