"""What is no fault although it looks like one, each with its reason."""

from __future__ import annotations

import re

# Of what norch accepts and torch refuses, this is nonsense: what torch says of it tells the type that it expected, or
# that the integer does not fit. Other refusals are limits of torch's kernels (dtypes, layouts, combinations) that norch
# does not have; that norch refuses what is wrong in itself is what the error inputs of tests/oracle/databases check.
NONSENSE = re.compile(r"must be [\w. ]+, not |Overflow when unpacking|expects a bool|must be a bool")

# kind, callable, what was found, why
KNOWN = [
    ("accepted", "", r"argument '(pin_memory|requires_grad)' must be bool, not NoneType", "None leaves an option out"),
    ("accepted", r"\.(max|min)$", "argument 'dim' must be int, not NoneType", "None leaves an option out"),
    ("accepted", r"fft\.|\.to$|\.cuda$", r"argument '(layout|device)'", "an option that has one value in norch"),
    (
        "accepted",
        "",
        r"argument '(momentum|eps|driver|cudnn_enabled|output_padding)'",
        "an option that the call does not use",
    ),
    ("accepted", "lp_pool1d", r"must be Tensor, not (torch.Size|tuple|list)", "a window of one size"),
    ("accepted", r"\.__\w+__$", "", "called by its name, an operator gives NotImplemented"),
    ("accepted", "", r"must be Tensor, not (float|int|bool|Lyingint)", "a number stands for a tensor of it"),
    ("accepted", "", r"must be torch.(device|dtype), not Tensor", "a module's `to` takes a tensor for its dtype"),
    ("accepted", "is_pinned|to_sparse|pin_memory", "", "an option without effect"),
    ("accepted", "", r"must be int, not (Tensor|LyingNumber)", "what has __index__ is an integer to Python"),
    (
        "NotImplementedError",
        "",
        "mode is|does not define",
        "torch's own type for another mode; methods for subclasses",
    ),
    ("", "", "cannot fit 'int' into an index-sized", "Python's own words about a length that lies, or an index"),
    ("accepted", "slice_(copy|scatter)", "Overflow when unpacking", "Python cuts the ends of slices, too"),
    ("MemoryError without a word", "LBFGS", "", "a history as long as was asked for"),
    ("RecursionError", "", "maximum recursion depth", "Python's own words about a list that holds itself, or is deep"),
    ("AssertionError", "testing", "do not match|are not close", "what it is for"),
    ("KeyError", "ParameterDict", "", "the example's own key"),
    ("NotImplementedError", "kl_divergence", "is implemented for p type", "torch's own type there"),
    ("AttributeError", "prune", "has no attribute", "torch's own type for a parameter that a module does not have"),
    ("OverflowError", "empty|init", "Numerical result out of range", "Python's own error of a formula of floats"),
    ("IndexError by accident", "prune", "list index out of range", "Python's own words about the index of a list"),
    ("accepted", "set_autocast_enabled", "must be bool, not NoneType", "None leaves an option out"),
    ("ValueError by accident", "benchmark", "neither a string nor callable", "Python's own words: Timer is timeit's"),
    ("hang", "benchmark|spectral_norm", "", "as many runs, or iterations, as were asked for"),
    ("OverflowError", "", "int too large to convert to float", "Python's own error, as torch's"),
    ("OverflowError", "lr_scheduler", "too large to convert|out of range", "Python's own error of a formula of floats"),
    ("KeyError", r"^norch\.optim", r"KeyError: '\w+' \(optim/", "a setting that the example itself defines"),
    (
        "ValueError by accident",
        "ctx|lr_scheduler|GradScaler",
        "unpack|convert",
        "of the example's own lines, or float('')",
    ),
    (
        "accepted",
        "",
        r"median\(\)|must be torch.device|set_benchmark_cudnn|non_blocking|__mul__",
        "an option without a meaning here",
    ),
    (
        "hang",
        r"\.(RNN|LSTM|GRU|Transformer)\w*$",
        r"in (__init__|_clones|deepcopy|reset_parameters|_reconstruct)\b",
        "as many layers as were asked for; torch makes them too",
    ),
    ("ValueError by accident", "", r"__len__\(\) should return", "Python's own words about the object that lies"),
    (
        "AttributeError",
        "",
        r"has no attribute .*\(distributions/",
        "distributions are formulas of the methods of tensors",
    ),
    ("AttributeError", "", r"module 'norch[.\w]*' has no attribute", "Python's own words about a module"),
    ("accepted", "", r"must be tuple of ints, not Lying", "what can be read one by one is a sequence"),
    ("accepted", "", r"'(check_nan|memory_format)'.* not NoneType", "None leaves an option out"),
    ("AssertionError", "sdpa_kernel", "expected an SDPBackend", "torch's own type there"),
    ("NotImplementedError", "EmbeddingBag", "per_sample_weights are for", "torch's own type there"),
    ("KeyError", "CyclicLR", "KeyError: nan", "the example's own number, which says that it is text"),
    ("AttributeError", r"sgd\.sgd", "has no attribute 'clone'", "a gradient that is not there"),
    ("memory", r"scheduler\.LRScheduler\.step", "", "the example's own formula takes that power of 2"),
    ("RecursionError", "", "while getting the repr", "Python's own words about a list that is nested 2,000 deep"),
    ("AttributeError", "", "a sparse tensor has no", "it says what to do"),
    ("AttributeError", r"get_(parameter|buffer|submodule)", "has no attribute|expected a", "torch's own type there"),
    ("ZeroDivisionError", "", r"integer division or modulo by zero", "Python's own error, as docs/departures.md tells"),
    ("ZeroDivisionError", "LRScheduler|optim", "float division by zero", "the example's own formula divides by it"),
    ("", r"norch\.hooks|<locals>", "", "a function of the example itself"),
    ("accepted", "", r"must be (Number|float), not Tensor", "a tensor of one element stands for a number of it"),
    ("memory", "max_unpool[123]d$", "", "an image as large as its kernel asks for"),
    ("hang", "(svd|pca)_lowrank", r"in (svd|pca)_lowrank\b", "as many rounds as were asked for"),
    ("NameError", r"benchmark\.Timer", "", "of the statement to time, which is the example's own"),
    ("ValueError by accident", "CosineAnnealingLR", "math domain error", "Python's own words of a formula of floats"),
    ("MemoryError without a word", "", r"(values|statistics|clip_grad)\.py", "Python's own error: a list of so many"),
    ("accepted", "save_on_cpu", "attribute name must be string", "an option without effect"),
    ("AssertionError", "GradScaler", "No inf checks were recorded", "torch's own type there"),
    ("AttributeError", "super", r"Module.__init__\(\) has not run", "torch's own type there"),
    ("state", r"^z\.sum", "^y was", "the example itself writes to y, in the statement"),
    (
        "MemoryError without a word",
        "",
        r"(arguments|optimizer|sparse/__init__)\.py",
        "Python's own error: a list of so many",
    ),
    ("accepted", "distributions", "Overflow when unpacking", "a number of a distribution is a float"),
    ("KeyError", "checkpoint", "param_groups", "torch's own type for the state of something else"),
    ("accepted", "Future", "Overflow when unpacking", "an option without effect"),
    (
        "IndexError by accident",
        "",
        r"tuple index out of range \(types\.py",
        "Python's own words about the axis of a shape",
    ),
    ("accepted", "randint", "Overflow when unpacking", "an end of 2^63, which is not drawn: all below it fit"),
    ("IndexError by accident", "_shape$", "list index out of range", "Python's own words: the sequence lies"),
    ("hang", r"builtins\.iter", "", "an iterator without an end, which the example itself makes"),
    ("death by SIGSEGV", r"_C\.CTensor|Tensor\.tensor$", "", "a raw address, read behind its end by ctypes"),
]


def reason(kind: str, named: str, what: str) -> str | None:
    """Why a finding is none, None if it is one."""
    if kind == "accepted" and not NONSENSE.search(what):
        return "torch's own limits"
    for its_kind, its_name, pattern, why in KNOWN:
        if its_kind in ("", kind) and re.search(its_name, named) and re.search(pattern, what):
            return why
    return None
