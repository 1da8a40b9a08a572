"""The copies of the CPU kernels: which one runs, that NORCH_ISA chooses, and that all of them agree."""

import json
import os
import re
import subprocess
import sys

import pytest

import norch
from norch import __config__

ISAS = ("baseline", "avx2", "avx512")

RESULTS = """
import json, math, norch
x = norch.tensor([math.sin(i * i) * 3 for i in range(1003)])
m = norch.tensor([math.cos(i * i) for i in range(70 * 90)]).reshape(70, 90)
named = {"sum": m.sum(), "rows": m.sum(axis=1), "columns": m.sum(axis=0), "max": m.max(axis=1),
         "argmax": m.argmax(axis=1), "product": m @ m.T, "transposed": m.T @ m, "added": m.T + m.T,
         "halves": m[:, ::2] * 2.0, "softmax": m.softmax(1), "pow": x.abs() ** x,
         "double": (x.double() @ x.double()), "integers": (x * 10).int() // 3}
for name in "exp log sin cos tanh sigmoid sqrt abs floor".split():
    named[name] = getattr(x, name)()
print(json.dumps({name: t.reshape(-1).tolist() for name, t in named.items()}))
"""


def run(code, isa):
    environment = {**os.environ, "NORCH_ISA": isa}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)


def supported():
    """The instruction sets of this processor, as norch's own error message lists them."""
    message = run("import norch", "none-such").stderr
    return re.search(r"support ([a-z0-9 ]+)", message).group(1).split()


def test_the_fastest_supported_copy_is_chosen_unless_another_is_named():
    assert run("import norch; print(norch.__config__.instruction_set())", "").stdout.split() == [supported()[-1]]
    for isa in supported():
        assert run("import norch; print(norch.__config__.instruction_set())", isa).stdout.split() == [isa]


def test_an_unknown_instruction_set_is_an_import_error_that_lists_the_known():
    result = run("import norch", "avx9000")
    assert result.returncode != 0
    assert "ImportError: NORCH_ISA=avx9000: this processor and this build of norch support baseline" in result.stderr


def test_the_configuration_as_text():
    text = __config__.show()
    assert __config__.instruction_set() in ISAS
    assert f"CPU kernels: {__config__.instruction_set()}" in text
    assert f"threads: {norch.get_num_threads()}" in text


def test_every_copy_gives_the_same_results_within_rounding():
    results = {isa: json.loads(run(RESULTS, isa).stdout) for isa in supported()}
    for name, expected in results["baseline"].items():
        for isa in supported():
            actual = results[isa][name]
            assert len(actual) == len(expected)
            assert actual == pytest.approx(expected, rel=3e-6, abs=3e-6, nan_ok=True), (isa, name)
