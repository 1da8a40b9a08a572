"""Every public name has a docstring that says what it does and what it raises, and an example that runs.

Public are the names of the reference's modules (docs/site/reference.py), the methods and attributes of Tensor, and
those of the other classes there.
Of a method or attribute of another class than Tensor a docstring is asked for, and the example of its class serves.
Operations, layers and losses also say shapes and dtypes, and name what they raise when called as in bad_calls.py.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import random
import re
import runpy
import types
from pathlib import Path

import pytest
from bad_calls import BAD, SAFE, of_rows

import norch
from norch import prototypes
from norch.functions import of_methods as functional

ROOT = Path(__file__).resolve().parents[2]
MODULES = runpy.run_path(str(ROOT / "docs" / "site" / "reference.py"))["MODULES"]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules():
    """Those of MODULES that there are."""
    for name in MODULES:
        try:
            yield importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name not in MODULES:
                raise


def public(module):
    """The (name, value) pairs that a module offers: what is callable and norch's own."""
    for name in getattr(module, "__all__", None) or vars(module):
        value = getattr(module, name)
        home = getattr(value, "__module__", None) or "norch"
        ours = home.startswith("norch") and (module is norch or home not in ("norch._C", "norch.prototypes"))
        if (
            not name.startswith(("_", "check_"))
            and callable(value)
            and ours
            and not isinstance(value, types.ModuleType)
        ):
            yield f"{module.__name__}.{name}", value


def members(cls):
    """The (name, value) pairs of the public methods and attributes that norch defines for a class."""
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("norch"):
            for name, value in vars(base).items():
                value = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
                if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                    yield f"{cls.__module__}.{cls.__qualname__}.{name}", value


NAMES = dict(pair for module in modules() for pair in public(module))
CLASSES = {value for value in NAMES.values() if inspect.isclass(value) and not issubclass(value, Exception)}
TENSOR = {name.replace("norch.tensor.", "norch."): value for name, value in members(norch.Tensor)}
MEMBERS = dict(pair for cls in CLASSES if cls is not norch.Tensor for pair in members(cls))
ILLUSTRATED = {**NAMES, **TENSOR}


def text_of(value):
    """The docstring, of a method or attribute that has none that of the one it overrides."""
    return (inspect.getdoc(value) or "").strip()


def inherited(name, value):
    """Whether a method without docstring overrides one with: forward(), inner_repr() and the like."""
    cls = next(cls for cls in CLASSES if f"{cls.__module__}.{cls.__qualname__}" == name.rpartition(".")[0])
    return any(
        text_of(vars(base).get(name.rpartition(".")[2])) for base in cls.__mro__[1:] if base.__module__ != "builtins"
    )


def test_every_name_says_what_it_does():
    silent = [name for name, value in ILLUSTRATED.items() if len(text_of(value).split(">>>")[0].split()) < 3]
    silent += [name for name, value in MEMBERS.items() if not text_of(value) and not inherited(name, value)]
    assert sorted(silent) == []


def test_every_name_has_an_example():
    """Exceptions and dtypes aside."""
    missing = [
        name
        for name, value in ILLUSTRATED.items()
        if ">>>" not in text_of(value) and not (inspect.isclass(value) and issubclass(value, Exception))
    ]
    assert sorted(missing) == []


def raised(value):
    """The errors that a function's own body raises."""
    function = value.fget if isinstance(value, property) else inspect.unwrap(value)
    if not inspect.isfunction(function):
        return set()
    return set(re.findall(r"raise (?:\w+\.)*(\w+Error)\b", inspect.getsource(function)))


def test_every_function_tells_its_errors():
    """By name, where it raises them itself; NotImplementedError is what an abstract method is."""
    untold = [
        f"{name}: {', '.join(sorted(raised(value)))}"
        for name, value in ILLUSTRATED.items()
        if raised(value) - {"NotImplementedError"} and not re.search(r"\bRaises\b|\w+Error", text_of(value))
    ]
    assert sorted(untold) == []


# ---- Shapes, dtypes and errors of operations, layers and losses ------------------------------------------------------

NAMED_SIZES = r"(?<![\w)\]`])\[[\w.*+' ]+(?:, [\w.*+'() ]+)*\]"  # [N, C], but neither [0, 1) nor x[:, 1]
SHAPE = re.compile(rf"\bshape[ds]?\b|element by element|{NAMED_SIZES}", re.IGNORECASE)
DTYPE = re.compile(r"\bdtypes?\b|\b(?:float|int)(?:32|64)\b|\buint8\b|\bbool\b|\bfloating\b", re.IGNORECASE)
REFERENCE = re.compile(
    r"(?:\b[Ss]ee|\b[Aa]s(?:\s+for)?|same as)\s+`(functional\.|norch\.)?(\w+)`|^()`(\w+)` into a copy"
    r"|`(norch\.linalg\.)(\w+)`"
)
# Where settings and questions about tensors live: what does not return a Tensor there is no operation.
ASKING = """
norch.amp.mode norch.autograd.anomaly_mode norch.autograd.mode norch.compiler norch.devices norch.functions.questions
norch.methods.legacy norch.threads
""".split()
# What takes or returns no tensors, is no operation on them, or holds layers of any shape.
OTHER = """
norch.RangeError norch.ShapeError norch.enable_grad norch.is_grad_enabled norch.no_grad norch.set_grad_enabled
norch.Drawing norch.draw_graph norch.explain norch.set_printoptions norch.Generator norch.get_rng_state
norch.initial_seed norch.device norch.manual_seed norch.seed norch.set_rng_state norch.empty_cache
norch.memory_allocated norch.memory_reserved norch.can_cast norch.finfo norch.get_default_dtype norch.iinfo
norch.promote_types norch.result_type norch.set_default_dtype norch.load norch.save norch.Storage norch.CTensor
norch.get_num_threads norch.set_num_threads norch.Size norch.dtype norch.layout norch.memory_format nn.DataParallel
nn.RNNBase nn.Module nn.ModuleDict nn.ModuleList nn.Sequential nn.ParameterDict nn.ParameterList nn.summary
nn.init.calculate_gain Tensor.storage Tensor.untyped_storage Tensor.storage_offset Tensor.stride Tensor.data_ptr
Tensor.element_size Tensor.nbytes Tensor.layout Tensor.device Tensor.is_cuda Tensor.is_contiguous Tensor.tensor
Tensor.shape Tensor.size Tensor.ndim Tensor.dim Tensor.numel Tensor.dtype Tensor.is_floating_point
Tensor.requires_grad Tensor.grad Tensor.grad_fn Tensor.is_leaf Tensor.retain_grad Tensor.backward Tensor.zero_grad
Tensor.detach_ Tensor.data Tensor.register_hook
Tensor.register_post_accumulate_grad_hook Tensor.tolist
""".split()


def short(name):
    """The name as bad_calls.py has it: nn.Linear, F.relu, Tensor.exp; a function that is a method goes by its name."""
    name = name.replace("norch.nn.functional.", "F.").replace("norch.nn.", "nn.").replace("norch.Tensor.", "Tensor.")
    method = name.replace("norch.", "Tensor.")
    return method if name.startswith("norch.") and method[len("Tensor.") :] in functional.__all__ else name


def function_of(value):
    """What was written: the function of a property, and what a decorator was given."""
    return inspect.unwrap(value.fget if isinstance(value, property) else value)


def asks(value):
    """Whether it is a setting, or a question about a tensor: no operation that gives one."""
    written = function_of(value)
    return written.__module__ in ASKING and getattr(written, "__annotations__", {}).get("return") != "Tensor"


SUBJECTS = {
    short(name): value
    for name, value in ILLUSTRATED.items()
    if name.rpartition(".")[0] in ("norch", "norch.nn", "norch.nn.functional", "norch.nn.init", "norch.Tensor")
    and short(name) not in OTHER
    and not asks(value)
}
CALLS = {name: calls.split(" | ") for name, _, calls in (line.partition(": ") for line in BAD.strip().splitlines())}
for kind, operands in (("unary", 1), ("binary", 2)):
    for row in prototypes.operations()[kind]:
        method = "mul" if row == "elementwise_mul" else row
        CALLS[f"Tensor.{method}"] = of_rows(method, operands, prototypes.rules()[row])
        if hasattr(norch.Tensor, f"{method}_"):
            CALLS[f"Tensor.{method}_"] = [f"leaf.{method}_({'x' if operands == 2 else ''})"]


def said(text, seen=()):
    """The prose of a docstring, and of those that it refers to for more, as in "see `functional.relu`"."""
    prose = text.split(">>>")[0]
    for found in REFERENCE.finditer(prose):
        module = found.group(1) or found.group(5) or ""
        referred = found.group(2) or found.group(4) or found.group(6)
        homes = {"functional.": ["F."], "norch.": ["norch."]}.get(module, ["Tensor.", "norch.", "F.", "nn."])
        home = next((home for home in homes if home + referred in SUBJECTS and home + referred not in seen), None)
        if module == "norch.linalg.":
            prose += "\n" + said(text_of(NAMES[module + referred]), (*seen, module + referred))
        elif home:
            prose += "\n" + said(text_of(SUBJECTS[home + referred]), (*seen, home + referred))
    return prose


def unsaid(text):
    """Which of shapes and dtypes a docstring does not say."""
    return [what for what, pattern in (("shapes", SHAPE), ("dtypes", DTYPE)) if not pattern.search(said(text))]


def untold(text, calls):
    """The errors of some calls that a docstring does not name; a call that raises none is named itself."""
    missing = []
    for call in calls:
        names = {"norch": norch, "nn": norch.nn, "F": norch.nn.functional, "x": norch.ones(2, 3), "n": norch.arange(2)}
        names["leaf"] = norch.ones(2, 3, requires_grad=True)
        try:
            eval(call, names)
        except Exception as error:
            if type(error).__name__ not in said(text):
                missing.append(f"{type(error).__name__} of {call}")
        else:
            missing.append(f"{call} raises nothing")
    return missing


def test_operations_say_shapes_and_dtypes():
    found = {name: unsaid(text_of(value)) for name, value in SUBJECTS.items()}
    assert {name: missing for name, missing in found.items() if missing} == {}


@pytest.mark.filterwarnings("ignore:.*is deprecated")
def test_operations_name_their_errors():
    found = {name: untold(text_of(value), CALLS.get(name, ())) for name, value in SUBJECTS.items()}
    assert {name: missing for name, missing in found.items() if missing} == {}


def test_every_operation_is_called_badly():
    """So that a new one cannot be forgotten here."""
    called = {function_of(SUBJECTS[name]) for name in CALLS if name in SUBJECTS}
    aliases = {name for name, value in SUBJECTS.items() if function_of(value) in called}
    assert sorted(set(SUBJECTS) - aliases - set(SAFE)) == []
    assert sorted(name for name in (*CALLS, *SAFE, *OTHER) if name not in SUBJECTS and name not in OTHER) == []
    assert sorted(set(OTHER) - {short(name) for name in ILLUSTRATED}) == []


PLANTED = """The mean of each row [N, C], as a vector [N] of a floating dtype. Raises RuntimeError for integers.

>>> x.mean([1, 2])
"""


@pytest.mark.parametrize(
    "change, missing",
    [
        (("", ""), []),
        (("[N, C]", "of a matrix"), []),  # [N] is still there
        (("row [N, C], as a vector [N]", "row, as a vector"), ["shapes"]),
        (("a floating dtype", "numbers"), ["dtypes"]),
        (
            (PLANTED[: PLANTED.index(" Raises")], "The mean, in [0, 1), of `x[:, 1]`; see `nothing`."),
            ["shapes", "dtypes"],
        ),
        ((PLANTED[: PLANTED.index(" Raises")], "Otherwise as `sum`."), []),
    ],
)
def test_the_lint_misses_what_is_not_said(change, missing):
    assert unsaid(PLANTED.replace(*change)) == missing


def test_the_lint_misses_errors_that_are_not_named():
    assert untold(PLANTED, ["n.mean()"]) == []
    assert untold(PLANTED.replace("Runtime", "Value"), ["n.mean()"]) == ["RuntimeError of n.mean()"]
    assert untold(PLANTED, ["x.mean(5)", "x.mean()"]) == ["IndexError of x.mean(5)", "x.mean() raises nothing"]


# ---- Examples --------------------------------------------------------------------------------------------------------


def examples():
    """Each docstring with an example, once, by the first name that has it."""
    texts: dict[str, str] = {}
    for name, value in {**ILLUSTRATED, **MEMBERS}.items():
        if ">>>" in text_of(value):
            texts.setdefault(text_of(value), name)
    return {name: text for text, name in texts.items()}


@pytest.mark.parametrize("name", examples())
def test_the_example_shows_what_happens(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random.seed(0)
    norch.manual_seed(0)
    names = {"norch": norch, "nn": norch.nn, "F": norch.nn.functional, "optim": norch.optim}
    test = doctest.DocTestParser().get_doctest(examples()[name], names, name, None, None)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append, clear_globs=False)
    assert not report, "".join(report)
