"""The boundary between Python and C: the mirror, the prototypes, and bad input, which never reaches C unchecked."""

from __future__ import annotations

import ctypes
import operator
import os
import re
import resource
import subprocess
from pathlib import Path

import pytest

import norch
from norch import _C, prototypes

CSRC = Path(__file__).parents[2] / "norch" / "csrc"

# ---- the mirror ------------------------------------------------------------------------------------------------------


def test_mirror_has_the_offsets_of_the_c_struct(tmp_path):
    """The C compiler itself says where the fields of Tensor lie."""
    fields = [name for name, _ in _C.CTensor._fields_]
    lines = "".join(f'printf("{name} %zu\\n", offsetof(Tensor, {name}));' for name in fields)
    source = tmp_path / "offsets.cpp"
    source.write_text(
        '#include <cstddef>\n#include <cstdio>\n#include "tensor.h"\n'
        f'int main() {{ {lines} printf("sizeof %zu %d\\n", sizeof(Tensor), int(MAX_DIMS)); }}\n'
    )
    compiler = os.environ.get("CXX", "g++").split()
    subprocess.run([*compiler, "-std=c++17", f"-I{CSRC}", str(source), "-o", str(tmp_path / "offsets")], check=True)
    printed = subprocess.run([str(tmp_path / "offsets")], check=True, capture_output=True, text=True).stdout.split("\n")
    expected = [f"{name} {getattr(_C.CTensor, name).offset}" for name in fields]
    assert printed[:-1] == [*expected, f"sizeof {ctypes.sizeof(_C.CTensor)} {_C.MAX_DIMS}"]
    body = re.search(r"struct Tensor \{.*?\n(.*?)\n\};", (CSRC / "tensor.h").read_text(), re.S).group(1)
    assert re.findall(r"(\w+)(?:\[\w+\])?;", re.sub(r"union \{.*?\}", "union", body, flags=re.S)) == fields


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32", "uint8", "bool"])
def test_mirror_shows_the_tensor(dtype):
    dtype = getattr(norch, dtype)
    x = norch.ones(4, 6, dtype=dtype)
    mirror = x.tensor.contents
    assert isinstance(mirror, _C.CTensor)
    assert (mirror.ndim, mirror.size, mirror.offset, mirror.device) == (2, 24, 0, 0)
    assert list(mirror.shape[:2]) == [4, 6] and list(mirror.strides[:2]) == [6, 1]
    address = ctypes.cast(mirror.data, ctypes.c_void_p).value
    view = x[1:, ::2].T
    shown = view.tensor.contents
    assert list(shown.shape[:2]) == [3, 3] and list(shown.strides[:2]) == [2, 6]
    assert (shown.offset, shown.size, shown.dtype, shown.storage) == (6, 9, mirror.dtype, mirror.storage)
    assert ctypes.cast(shown.data, ctypes.c_void_p).value == address + 6 * dtype.itemsize
    expanded = x.expand(2, 4, 6)
    assert list(expanded.tensor.contents.strides[:3]) == [0, 6, 1]


def test_elements_are_read_through_the_mirror():
    x = norch.Tensor([[1.0, 2.0], [3.0, 4.0]])
    assert [x.tensor.contents.data[i] for i in range(4)] == [1.0, 2.0, 3.0, 4.0]
    transposed, element = x.T, x[1, 1:].reshape(())
    mirror = transposed.tensor.contents
    assert [mirror.data[j * mirror.strides[1]] for j in range(2)] == [1.0, 3.0]
    zero_d = element.tensor.contents
    assert (zero_d.ndim, zero_d.size, zero_d.data[0]) == (0, 1, 4.0)


def test_the_mirror_keeps_its_tensor_alive():
    """Reading through the mirror of a result that has no name must not read freed memory."""
    before = _C.live_tensors()
    contents = norch.ones(3).tensor.contents
    assert _C.live_tensors() == before + 1
    assert [contents.data[i] for i in range(3)] == [1.0, 1.0, 1.0]
    del contents
    assert _C.live_tensors() == before


# ---- the prototypes --------------------------------------------------------------------------------------------------

C_TYPES = {
    "void": None,
    "int": ctypes.c_int32,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "double": ctypes.c_double,
    "LineFunction": ctypes.c_void_p,
}


def c_type(declaration, is_result=False):
    """`const int64_t* shape` -> c_void_p, `int32_t count` -> c_int32, a returned `const char*` -> c_char_p."""
    if "PythonObject" in declaration:
        return ctypes.py_object
    owned = {"Tensor*": prototypes.RESULT, "Storage*": prototypes.STORAGE_RESULT, "Results*": prototypes.RESULTS}
    owned |= {"Recording*": prototypes.RECORDING, "Program*": prototypes.PROGRAM}
    if is_result and declaration.replace(" ", "") in owned:
        return owned[declaration.replace(" ", "")]
    if "Tensor* const*" in declaration or "Entry*" in declaration:  # which begin with tensors
        return prototypes.TENSORS
    if "*" in declaration:
        return ctypes.c_char_p if is_result and "char" in declaration else ctypes.c_void_p
    return C_TYPES[declaration.split()[0]]


def declared_functions():
    """name -> (result, arguments) of api.h, whose macros the C preprocessor expands."""
    compiler = os.environ.get("CXX", "g++").split()
    call = [*compiler, "-E", "-P", "-std=c++17", f"-I{CSRC}", str(CSRC / "api.h")]
    header = subprocess.run(call, check=True, capture_output=True, text=True).stdout
    functions = {}
    exported = r'extern "C" __attribute__\(\(visibility\("default"\)\)\) ([\w\s]+?[\s*]+)(\w+)\(([^)]*)\);'
    for result, name, arguments in re.findall(exported, header):
        arguments = [c_type(part) for part in arguments.split(",") if part.strip()]
        functions[name] = c_type(result, is_result=True), arguments
    return functions


def test_every_c_function_has_its_prototype():
    declared = declared_functions()
    assert len(declared) > 100
    assert set(prototypes.PROTOTYPES) == set(declared)
    for name, (result, arguments) in declared.items():
        assert prototypes.PROTOTYPES[name] == (result, arguments), name


# ---- bad input: what is given, the exception, and what its message must name -----------------------------------------


def vector():
    return norch.Tensor([1.0, 2.0, 3.0])


def matrix():
    return norch.Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


class Nothing:
    def __repr__(self):
        return "Nothing()"


BAD_DATA = {
    "ragged": (lambda: norch.Tensor([[1, 2], [3]]), ValueError, r"2.*1|1.*2"),
    "ragged depth": (lambda: norch.Tensor([[1, 2], 3]), (ValueError, TypeError), r"3|int|number"),
    "ragged depth, reversed": (lambda: norch.Tensor([1, [2, 3]]), (ValueError, TypeError), r"\[2, 3\]|list"),
    "ragged inside": (lambda: norch.tensor([[[1], [2]], [[3], [4, 5]]]), ValueError, r"1.*2|2.*1"),
    "ragged with empty": (lambda: norch.Tensor([[], [1.0]]), ValueError, r"0.*1|1.*0"),
    "string": (lambda: norch.Tensor("abc"), TypeError, r"str|abc"),
    "string in a list": (lambda: norch.Tensor([1.0, "a"]), TypeError, r"str|'a'"),
    "None": (lambda: norch.Tensor(None), TypeError, r"None"),
    "None in a list": (lambda: norch.Tensor([None]), TypeError, r"None"),
    "object": (lambda: norch.Tensor(Nothing()), TypeError, r"Nothing"),
    "complex": (lambda: norch.Tensor([1j]), TypeError, r"complex|1j"),
    "dict": (lambda: norch.Tensor({"a": 1}), TypeError, r"dict"),
    "9 dimensions": (lambda: norch.Tensor([[[[[[[[[1.0]]]]]]]]]), ValueError, r"8 dimensions.*9"),
    "int64 overflow": (lambda: norch.tensor([2**63]), (OverflowError, ValueError, RuntimeError), r"int64|large|range"),
    "uint8 overflow": (
        lambda: norch.tensor([300], dtype=norch.uint8),
        (OverflowError, ValueError, RuntimeError),
        r"uint8|range",
    ),
    "int from nan": (
        lambda: norch.tensor([float("nan")], dtype=norch.int64),
        (ValueError, OverflowError),
        r"NaN|nan|int",
    ),
}

BAD_ATTRIBUTES = {
    "dtype name": (lambda: norch.tensor([1.0], dtype="float16"), TypeError, r"float16"),
    "dtype junk": (lambda: norch.zeros(2, dtype=3), TypeError, r"dtype.*3"),
    "to dtype junk": (lambda: vector().to("float16"), (TypeError, RuntimeError), r"float16"),
    "to nothing": (lambda: vector().to(Nothing()), TypeError, r"Nothing"),
    "norch.device": (lambda: norch.device("banana"), RuntimeError, r"banana"),
    "device banana": (lambda: norch.Tensor([1.0], device="banana"), RuntimeError, r"banana.*cpu.*cuda"),
    "to banana": (lambda: vector().to("banana"), RuntimeError, r"banana.*cpu.*cuda"),
    "device number": (lambda: norch.zeros(2, device=99), RuntimeError, r"cuda:99|99.*CUDA"),
    "device index": (lambda: vector().to("cuda:x"), RuntimeError, r"cuda:x"),
    "cpu index": (lambda: vector().to("cpu:1"), RuntimeError, r"cpu:1"),
    "integers with gradient": (lambda: norch.tensor([1, 2], requires_grad=True), RuntimeError, r"int64|float"),
    "requires_grad_ of integers": (lambda: norch.tensor([1]).requires_grad_(), RuntimeError, r"int64|float"),
    "memory of junk": (lambda: norch.memory_allocated("banana"), RuntimeError, r"banana"),
}

BAD_SHAPES = {
    "negative size": (lambda: norch.zeros(2, -3), ValueError, r"-3"),
    "size of type float": (lambda: norch.zeros(2.5), TypeError, r"2\.5"),
    "size of type str": (lambda: norch.ones("3"), TypeError, r"3"),
    "size beyond int64": (
        lambda: norch.zeros(2**64 + 3),
        (MemoryError, OverflowError, ValueError),
        r"18446744073709551619",
    ),
    "reshape beyond int64": (lambda: vector().reshape(2**64 + 3), (OverflowError, ValueError), r"18446744073709551619"),
    "expand beyond int64": (
        lambda: norch.ones(1).expand(2**64 + 3),
        (OverflowError, ValueError),
        r"18446744073709551619",
    ),
    "axis beyond int64": (lambda: matrix().sum(axis=2**64), (IndexError, OverflowError), r"18446744073709551616"),
    "permute beyond int64": (lambda: matrix().permute(2**64, 1), (IndexError, OverflowError), r"18446744073709551616"),
    "transpose beyond int64": (
        lambda: matrix().transpose(2**64, 1),
        (IndexError, OverflowError),
        r"18446744073709551616",
    ),
    "squeeze beyond int64": (lambda: matrix().squeeze(2**64), (IndexError, OverflowError), r"18446744073709551616"),
    "unsqueeze beyond int64": (lambda: matrix().unsqueeze(2**64), (IndexError, OverflowError), r"18446744073709551616"),
    "cat beyond int64": (lambda: norch.cat([matrix()], 2**64), (IndexError, OverflowError), r"18446744073709551616"),
    "select beyond int64": (lambda: matrix().select(0, 2**64), (IndexError, OverflowError), r"18446744073709551616"),
    "as_strided beyond int64": (
        lambda: matrix().as_strided((2,), (2**64,)),
        (OverflowError, ValueError),
        r"18446744073709551616",
    ),
    "as_strided outside": (lambda: matrix().as_strided((2, 3), (3, 2)), ValueError, r"\[2, 3\].*\[3, 2\].*6"),
    "as_strided backwards": (lambda: matrix().as_strided((2,), (-1,), 1), ValueError, r"-1"),
    "as_strided offset": (lambda: matrix().as_strided((2,), (1,), -1), ValueError, r"-1"),
    "narrow": (lambda: matrix().narrow(1, 2, 2), RuntimeError, r"start 2 and length 2.*3"),
    "9 sizes": (lambda: norch.zeros(*[1] * 9), ValueError, r"8 dimensions.*9"),
    "reshape": (lambda: matrix().reshape(4, 2), ValueError, r"\[4, 2\].*(6|\[2, 3\])"),
    "reshape -1 twice": (lambda: matrix().reshape(-1, -1), ValueError, r"\[-1, -1\].*one"),
    "reshape -2": (lambda: matrix().reshape(-2, 3), ValueError, r"-2"),
    "reshape -1 of nothing": (lambda: norch.zeros(0, 3).reshape(-1, 0), ValueError, r"\[-1, 0\]"),
    "reshape into 9": (lambda: vector().reshape(*[1] * 8, 3), ValueError, r"8 dimensions.*9"),
    "reshape overflow": (lambda: vector().reshape(2**62, 2**62), (ValueError, MemoryError), r"4611686018427387904"),
    "view of strided": (lambda: matrix().T.view(6), RuntimeError, r"reshape"),
    "expand": (lambda: matrix().expand(4, 3), ValueError, r"\[2, 3\].*\[4, 3\]"),
    "expand to fewer": (lambda: matrix().expand(3), ValueError, r"1.*2"),
    "expand -1 for a new axis": (lambda: vector().expand(-1, 3), ValueError, r"-1"),
    "squeeze": (lambda: matrix().squeeze(5), IndexError, r"5.*\[-2, 1\]"),
    "unsqueeze": (lambda: matrix().unsqueeze(4), IndexError, r"4.*\[-3, 2\]"),
    "unsqueeze of 8": (lambda: norch.zeros(*[1] * 8).unsqueeze(0), ValueError, r"8 dimensions"),
    "transpose": (lambda: matrix().transpose(0, 2), IndexError, r"2.*\[-2, 1\]"),
    "permute count": (lambda: matrix().permute(0), ValueError, r"1.*2"),
    "permute repeated": (lambda: matrix().permute(0, 0), ValueError, r"repeated"),
    "permute axis": (lambda: matrix().permute(0, 2), IndexError, r"2.*\[-2, 1\]"),
    "flatten": (lambda: matrix().flatten(3), IndexError, r"3"),
    "matmul": (lambda: matrix() @ matrix(), ValueError, r"\[2, 3\].*\[2, 3\].*3 != 2"),
    "matmul vectors": (lambda: vector() @ norch.ones(2), ValueError, r"\[3\].*\[2\]"),
    "matmul batches": (lambda: norch.ones(2, 3, 4) @ norch.ones(3, 4, 2), ValueError, r"2 != 3"),
    "matmul 0-d": (lambda: vector() @ norch.ones(1).reshape(()), ValueError, r"dimension"),
    "matmul dtypes": (lambda: vector() @ vector().double(), RuntimeError, r"float32.*float64"),
    "broadcast": (lambda: vector() + norch.ones(2), ValueError, r"\[3\].*\[2\].*3 != 2"),
    "broadcast 2": (lambda: matrix() * norch.ones(2, 2), RuntimeError, r"\[2, 3\].*\[2, 2\]"),
    "where": (
        lambda: norch.where(vector() > 0, norch.ones(2), norch.ones(3)),
        ValueError,
        r"\[3\].*\[2\]|\[2\].*\[3\]",
    ),
    "where without bool": (lambda: norch.where(vector(), vector(), vector()), RuntimeError, r"bool.*float32"),
    "matmul of bool": (
        lambda: norch.ones(2, dtype=norch.bool) @ norch.ones(2, dtype=norch.bool),
        RuntimeError,
        r"bool",
    ),
    "cat nothing": (lambda: norch.cat([]), (ValueError, RuntimeError), r"at least one|none|empty"),
    "cat shapes": (lambda: norch.cat([matrix(), norch.ones(2, 2)]), ValueError, r"\[2, 3\].*\[2, 2\]"),
    "cat axis": (lambda: norch.cat([matrix()], dim=2), IndexError, r"2.*\[-2, 1\]"),
    "cat of 0-d": (lambda: norch.cat([vector().sum().reshape(())]), ValueError, r"0 dim"),
    "cat of numbers": (lambda: norch.cat([1.0, 2.0]), TypeError, r"float"),
    "cat of one tensor": (lambda: norch.cat(3), TypeError, r"int"),
    "stack shapes": (
        lambda: norch.stack([vector(), matrix()]),
        (ValueError, RuntimeError),
        r"\[3\].*\[2, 3\]|\[1, 3\].*\[1, 2, 3\]",
    ),
    "stack nothing": (lambda: norch.stack([]), (ValueError, RuntimeError), r"at least one|none|empty"),
    "copy_": (lambda: vector().copy_(matrix()), (ValueError, RuntimeError), r"\[2, 3\].*\[3\]"),
    "backward shape": (lambda: (vector().requires_grad_() * 2).backward(norch.ones(2)), RuntimeError, r"\[2\].*\[3\]"),
}

BAD_INDICES = {
    "[3]": (lambda: vector()[3], IndexError, r"3.*size 3"),
    "[100]": (lambda: vector()[100], IndexError, r"100.*size 3"),
    "[-4]": (lambda: vector()[-4], IndexError, r"-4.*size 3"),
    "[0, 3]": (lambda: matrix()[0, 3], IndexError, r"3.*size 3"),
    "[2]": (lambda: matrix()[2], IndexError, r"2.*size 2"),
    "[0, 0, 0]": (lambda: matrix()[0, 0, 0], IndexError, r"3.*2|2.*3"),
    "too many with slices": (lambda: matrix()[:, :, 0], IndexError, r"3.*2|2.*3"),
    "two ellipses": (lambda: matrix()[..., ...], IndexError, r"ellips|\.\.\."),
    "nan": (lambda: vector()[float("nan")], (TypeError, IndexError), r"nan|float"),
    "float": (lambda: vector()[1.0], (TypeError, IndexError), r"1\.0|float"),
    "str": (lambda: vector()["a"], (TypeError, IndexError), r"'a'|str"),
    "huge": (lambda: vector()[2**70], IndexError, r"1180591620717411303424|size 3"),
    "step 0": (lambda: vector()[::0], ValueError, r"step|zero|0"),
    "step -1": (lambda: vector()[::-1], ValueError, r"step|-1"),
    "slice of str": (lambda: vector()["a":], TypeError, r"'a'|str|slice"),
    "0-d": (lambda: vector().sum()[1], IndexError, r"0"),
    "write out of range": (lambda: vector().__setitem__(3, 1.0), IndexError, r"3.*size 3"),
    "write a wrong shape": (
        lambda: matrix().__setitem__(0, norch.ones(2)),
        (ValueError, RuntimeError),
        r"\[2\].*\[3\]",
    ),
    "write a str": (lambda: vector().__setitem__(0, "a"), TypeError, r"str|'a'"),
    "write None": (lambda: vector().__setitem__(0, None), TypeError, r"None"),
    "get_item": (lambda: vector().item(), (RuntimeError, ValueError), r"\[3\]|3"),
}

BAD_AXES = {
    f"{name} {label}": (lambda name=name, axis=axis: getattr(matrix(), name)(axis=axis), error, pattern)
    for name in ("sum", "mean", "prod", "max", "min", "argmax", "argmin", "var", "std", "any", "all")
    for label, axis, error, pattern in [
        ("axis 2", 2, IndexError, r"2.*\[-2, 1\]"),
        ("axis -3", -3, IndexError, r"-3.*\[-2, 1\]"),
        ("axis 1.5", 1.5, TypeError, r"1\.5|float"),
        ("axis 'a'", "a", TypeError, r"a|str"),
    ]
}
BAD_AXES["sum repeated"] = (lambda: matrix().sum(axis=(0, -2)), (RuntimeError, ValueError), r"twice|repeated")
BAD_AXES["softmax"] = (lambda: matrix().softmax(2), IndexError, r"2.*\[-2, 1\]")
BAD_AXES["log_softmax"] = (lambda: norch.log_softmax(matrix(), -3), IndexError, r"-3.*\[-2, 1\]")
BAD_AXES["dim and axis"] = (lambda: matrix().sum(dim=0, axis=1), TypeError, r"dim.*axis|axis.*dim")

BAD_OPERANDS = {
    "t + str": (lambda: vector() + "a", TypeError, r"str"),
    "str + t": (lambda: "a" + vector(), TypeError, r"str"),
    "t * None": (lambda: vector() * None, TypeError, r"None"),
    "t - object": (lambda: vector() - Nothing(), TypeError, r"Nothing"),
    "t / complex": (lambda: vector() / 1j, TypeError, r"complex"),
    "t ** str": (lambda: vector() ** "2", TypeError, r"str"),
    "t < str": (lambda: vector() < "2", TypeError, r"str"),
    "t @ number": (lambda: vector() @ 2, TypeError, r"int|float"),
    "t += str": (lambda: operator.iadd(vector(), "a"), TypeError, r"str"),
    "add(str)": (lambda: vector().add("a"), TypeError, r"str|'a'"),
    "huge int": (lambda: norch.tensor([1]) + 2**70, (OverflowError, RuntimeError), r"1180591620717411303424"),
    "int that does not fit": (lambda: norch.tensor([1], dtype=norch.uint8) + 300, RuntimeError, r"300.*uint8"),
    "no arguments": (lambda: vector().add(), TypeError, r"argument"),
    "clamp without bounds": (lambda: vector().clamp(), (ValueError, TypeError, RuntimeError), r"min.*max|argument"),
    "clamp by str": (lambda: vector().clamp("a", "b"), TypeError, r"str|'a'"),
    "where of str": (lambda: norch.where("a", vector(), vector()), TypeError, r"str|'a'"),
    "fill_": (lambda: vector().fill_("a"), TypeError, r"str|'a'"),
    "full": (lambda: norch.full((2,), "a"), TypeError, r"str|'a'"),
    "arange of str": (lambda: norch.arange("a"), TypeError, r"str|'a'"),
    "arange step 0": (lambda: norch.arange(0, 3, 0), (ValueError, RuntimeError), r"step|0"),
    "arange backwards": (lambda: norch.arange(3, 0, 1), (ValueError, RuntimeError), r"3.*0"),
    "linspace steps": (lambda: norch.linspace(0, 1, 2.5), TypeError, r"2\.5|float"),
    "eye of float": (lambda: norch.eye(2.5), TypeError, r"2\.5|float"),
    "arange without bounds": (lambda: norch.arange(), TypeError, r"argument"),
    "arange of nan": (lambda: norch.arange(float("nan")), (ValueError, RuntimeError), r"nan"),
    "arange to infinity": (
        lambda: norch.arange(float("inf")),
        (ValueError, RuntimeError, MemoryError, OverflowError),
        r"inf",
    ),
    "linspace count": (lambda: norch.linspace(0, 1, -1), (ValueError, RuntimeError), r"-1"),
    "eye": (lambda: norch.eye(-1), (ValueError, RuntimeError), r"-1"),
    "bool of many": (lambda: bool(vector()), (RuntimeError, ValueError), r"\[3\]|one|3"),
    "float of many": (lambda: float(matrix()), (RuntimeError, ValueError, TypeError), r"\[2, 3\]|one|6"),
    "len of 0-d": (lambda: len(vector().sum().reshape(())), TypeError, r"0"),
    "iter of 0-d": (lambda: iter(vector().sum().reshape(())), TypeError, r"0"),
    "bitwise of floats": (lambda: vector() & vector(), RuntimeError, r"float32"),
    "neg of bool": (lambda: -norch.tensor([True]), RuntimeError, r"bool"),
    "hook": (lambda: vector().requires_grad_().register_hook(3), TypeError, r"callable.*int"),
    "backward without graph": (lambda: vector().sum().backward(), RuntimeError, r"require"),
    "backward of many": (lambda: vector().requires_grad_().mul(2).backward(), RuntimeError, r"\[3\].*one"),
    "backward with a number": (
        lambda: vector().requires_grad_().mul(2).sum().backward(1.0),
        TypeError,
        r"Tensor.*float",
    ),
}

FUNCTIONS = (
    "neg abs sign relu floor ceil round exp log sqrt sin cos tanh sigmoid isnan isinf isfinite logical_not bitwise_not "
    "sum mean prod max min argmax argmin var std any all softmax log_softmax zeros_like ones_like"
).split()
BAD_FUNCTIONS = {
    f"{name}({given!r})": (
        lambda name=name, given=given: getattr(norch, name)(given),
        TypeError,
        "Tensor.*" + type(given).__name__,
    )
    for name in FUNCTIONS
    for given in ([1.0, 2.0], "a", None)
}

BAD_SIZES = {
    "zeros": lambda: norch.zeros(2**60),
    "empty": lambda: norch.empty(2**40, 2**40),
    "full": lambda: norch.full((2**31, 2**31), 1.0),
    "ones": lambda: norch.ones(2**62, 2**62, 2**62),
    "arange": lambda: norch.arange(2**50),
    "linspace": lambda: norch.linspace(0, 1, 2**50),
    "eye": lambda: norch.eye(2**30),
    "clone": lambda: norch.ones(1).expand(2**50).clone(),
    "add": lambda: norch.ones(2**20, 1).expand(2**20, 2**20) + norch.ones(2**20),
    "outer product": lambda: norch.ones(2**22, 1) * norch.ones(1, 2**22),
    "matmul": lambda: norch.ones(2**22, 1) @ norch.ones(1, 2**22),
    "cast": lambda: norch.ones(1).expand(2**50).double(),
    "expand": lambda: norch.ones(1).expand(2**40, 2**40),
}


@pytest.mark.parametrize(
    "call, error, pattern",
    [
        pytest.param(*row, id=name)
        for table in (BAD_DATA, BAD_ATTRIBUTES, BAD_SHAPES, BAD_INDICES, BAD_AXES, BAD_OPERANDS, BAD_FUNCTIONS)
        for name, row in table.items()
    ],
)
def test_bad_input_raises_and_says_so(call, error, pattern, no_leak):
    with pytest.raises(error, match=f"(?s){pattern}"):
        call()


@pytest.fixture
def little_memory():
    """Python can take half a gigabyte more: what builds a list first fails here instead of taking the machine down."""
    limits, pages = resource.getrlimit(resource.RLIMIT_AS), Path("/proc/self/statm")
    if pages.exists():
        used = int(pages.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.mark.parametrize("call", BAD_SIZES.values(), ids=BAD_SIZES)
def test_too_large_for_memory(call, little_memory, no_leak):
    with pytest.raises(MemoryError, match=r"\d"):
        call()
    assert norch.ones(2).tolist() == [1.0, 1.0]


@pytest.mark.skipif(_C.lib.device_count() > 0, reason="there is a CUDA device")
@pytest.mark.parametrize(
    "ask",
    [lambda: vector().to("cuda"), lambda: norch.Tensor([1.0], device="cuda:0"), lambda: norch.zeros(2, device="cuda")],
)
def test_cuda_without_cuda_says_how_norch_was_built_and_what_to_do(ask, no_leak):
    with pytest.raises(RuntimeError, match=r"(?i)cuda.*(built|driver|device).*(make|install|driver)"):
        ask()


def test_a_failed_call_leaves_its_operands_alone():
    x = matrix()
    for _, (call, error, _pattern) in {**BAD_SHAPES, **BAD_INDICES}.items():
        with pytest.raises(error):
            call()
    with pytest.raises(ValueError):
        x += norch.ones(5)
    assert x.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_a_half_built_tensor_is_dropped_in_silence(capsys):
    norch.Tensor.__new__(norch.Tensor)
    for junk in ("abc", None, [[1], [2, 3]]):
        with pytest.raises((TypeError, ValueError)):
            norch.Tensor(junk)
    assert capsys.readouterr().err == ""


def test_comparing_with_anything_for_equality_is_allowed():
    assert (vector() == None) is False  # noqa: E711
    assert (vector() != "a") is True
