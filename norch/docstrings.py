"""The docstrings of the methods of csrc/ops/operations.h: shapes, dtypes and errors by the rule of a row, an example.

EXAMPLES are `operands -> result`, as lists of numbers; doctest runs them all (tests/thorough/test_docstrings.py). Other
rows get an example without numbers.
"""

from __future__ import annotations

from .prototypes import rules

RULES = rules()

EXAMPLES = {
    "neg": "[1.0, -2.0] -> [-1.,  2.]",
    "abs": "[-1.5, 2.0] -> [1.5000, 2.0000]",
    "sign": "[-1.5, 0.0, 2.0] -> [-1.,  0.,  1.]",
    "relu": "[-1.0, 2.0] -> [0., 2.]",
    "floor": "[-1.5, 1.5] -> [-2.,  1.]",
    "ceil": "[-1.5, 1.5] -> [-1.,  2.]",
    "round": "[0.5, 1.5, 2.4] -> [0., 2., 2.]",
    "trunc": "[-1.5, 1.5] -> [-1.,  1.]",
    "frac": "[-1.25, 1.5] -> [-0.2500,  0.5000]",
    "exp": "[0.0, 1.0] -> [1.0000, 2.7183]",
    "log": "[1.0, 10.0] -> [0.0000, 2.3026]",
    "sqrt": "[4.0, 9.0] -> [2., 3.]",
    "sin": "[0.5, 1.0] -> [0.4794, 0.8415]",
    "cos": "[0.5, 1.0] -> [0.8776, 0.5403]",
    "tanh": "[0.0, 1.0] -> [0.0000, 0.7616]",
    "sigmoid": "[0.0, 2.0] -> [0.5000, 0.8808]",
    "tan": "[0.5, 1.0] -> [0.5463, 1.5574]",
    "asin": "[0.5, 1.0] -> [0.5236, 1.5708]",
    "acos": "[0.5, 1.0] -> [1.0472, 0.0000]",
    "atan": "[0.5, 1.0] -> [0.4636, 0.7854]",
    "asinh": "[0.5, 1.0] -> [0.4812, 0.8814]",
    "acosh": "[1.0, 2.0] -> [0.0000, 1.3170]",
    "atanh": "[0.0, 0.5] -> [0.0000, 0.5493]",
    "sinh": "[0.5, 1.0] -> [0.5211, 1.1752]",
    "cosh": "[0.5, 1.0] -> [1.1276, 1.5431]",
    "exp2": "[3.0, -1.0] -> [8.0000, 0.5000]",
    "expm1": "[0.0, 1.0] -> [0.0000, 1.7183]",
    "log1p": "[0.0, 1.0] -> [0.0000, 0.6931]",
    "log2": "[8.0, 0.5] -> [ 3., -1.]",
    "log10": "[1000.0, 0.1] -> [ 3., -1.]",
    "rsqrt": "[4.0, 16.0] -> [0.5000, 0.2500]",
    "reciprocal": "[2.0, 4.0] -> [0.5000, 0.2500]",
    "erf": "[0.0, 1.0] -> [0.0000, 0.8427]",
    "erfc": "[0.0, 1.0] -> [1.0000, 0.1573]",
    "erfinv": "[0.0, 0.5] -> [0.0000, 0.4769]",
    "lgamma": "[1.0, 4.0] -> [0.0000, 1.7918]",
    "digamma": "[1.0, 4.0] -> [-0.5772,  1.2561]",
    "sinc": "[0.0, 0.5] -> [1.0000, 0.6366]",
    "i0": "[0.0, 1.0] -> [1.0000, 1.2661]",
    "signbit": "[1.0, -0.0] -> [False,  True]",
    "isnan": "[1.0, float('nan')] -> [False,  True]",
    "isinf": "[1.0, float('inf')] -> [False,  True]",
    "isfinite": "[1.0, float('inf')] -> [ True, False]",
    "logical_not": "[True, False] -> [False,  True]",
    "bitwise_not": "[0, 5] -> [-1, -6]",
    "add": "[1, 2], [10, 20] -> [11, 22]",
    "sub": "[1, 2], [10, 20] -> [ -9, -18]",
    "mul": "[1, 2], [10, 20] -> [10, 40]",
    "div": "[1.0, 3.0], [2.0, 2.0] -> [0.5000, 1.5000]",
    "pow": "[2, 3], [3, 2] -> [8, 9]",
    "floor_divide": "[7, -7], [2, 2] -> [ 3, -4]",
    "remainder": "[7, -7], [3, 3] -> [1, 2]",
    "fmod": "[7, -7], [3, 3] -> [ 1, -1]",
    "bitwise_and": "[6, 5], [3, 4] -> [2, 4]",
    "bitwise_or": "[6, 5], [3, 4] -> [7, 5]",
    "bitwise_xor": "[6, 5], [3, 4] -> [5, 1]",
    "eq": "[1, 2], [1, 3] -> [ True, False]",
    "ne": "[1, 2], [1, 3] -> [False,  True]",
    "lt": "[1, 2], [1, 3] -> [False,  True]",
    "le": "[1, 4], [1, 3] -> [ True, False]",
    "gt": "[1, 4], [1, 3] -> [False,  True]",
    "ge": "[1, 2], [1, 3] -> [ True, False]",
    "atan2": "[1.0, 1.0], [1.0, -1.0] -> [0.7854, 2.3562]",
    "hypot": "[3.0, 5.0], [4.0, 12.0] -> [ 5., 13.]",
    "minimum": "[1, 4], [2, 3] -> [1, 3]",
    "maximum": "[1, 4], [2, 3] -> [2, 4]",
    "fmin": "[1.0, 4.0], [2.0, float('nan')] -> [1., 4.]",
    "fmax": "[1.0, 4.0], [2.0, float('nan')] -> [2., 4.]",
    "copysign": "[1.0, -2.0], [-1.0, 1.0] -> [-1.,  2.]",
    "nextafter": "[1.0, 4.0], [1.0, 4.0] -> [1., 4.]",
    "heaviside": "[-1.0, 0.0, 3.0], [0.5, 0.5, 0.5] -> [0.0000, 0.5000, 1.0000]",
    "logaddexp": "[0.0, 1000.0], [0.0, 1000.0] -> [6.9315e-01, 1.0007e+03]",
    "logaddexp2": "[0.0, 3.0], [0.0, 3.0] -> [1., 4.]",
    "xlogy": "[0.0, 2.0], [0.0, 1.0] -> [0., 0.]",
    "igamma": "[1.0, 2.0], [1.0, 2.0] -> [0.6321, 0.5940]",
    "igammac": "[1.0, 2.0], [1.0, 2.0] -> [0.3679, 0.4060]",
    "gcd": "[4, -6], [6, 9] -> [2, 3]",
    "lcm": "[4, -6], [6, 9] -> [12, 18]",
    "bitwise_left_shift": "[1, 3], [4, 1] -> [16,  6]",
    "bitwise_right_shift": "[16, -3], [4, 1] -> [ 1, -2]",
    "logical_and": "[True, True], [True, False] -> [ True, False]",
    "logical_or": "[True, False], [True, False] -> [ True, False]",
    "logical_xor": "[True, True], [True, False] -> [False,  True]",
}


REFUSED = {"NUMERIC": "bool", "DIVISION": "bool", "REMAINDER": "bool", "WHOLE": "floating dtypes"}

ADD = """Element by element. x and `other`, a tensor, array or number, broadcast and are promoted to one dtype.
Raises ShapeError if the shapes do not fit, TypeError if `other` is none of these, RuntimeError for two devices."""

ADD_ = """`other`, a tensor, array or number, broadcasts to this tensor, which keeps shape and dtype and is returned.
Raises ShapeError if it does not fit, TypeError if it is none of these, RuntimeError for a leaf that requires gradients,
for two devices, and for a result of a higher kind than this dtype (bool, integer, float)."""


def documentation(name: str, doc: str, operands: int) -> str:
    """The docstring of the method `name`, which computes `doc` of one operand or two, in place if it ends in _."""
    in_place, doc = name[-1] == "_", doc.rstrip(".")
    operation = name.rstrip("_")
    rule = RULES["elementwise_mul" if operation == "mul" else operation]
    if operation == "add":
        text = ADD_ if in_place else ADD
    elif in_place:
        text = _in_place(rule, operands)
    else:
        text = _of_one(rule) if operands == 1 else _of_two(rule)
    first = f"In place: {doc[0].lower()}{doc[1:]}" if in_place else doc
    return f"{first}.\n\n{text}\n\n{_example(name, operands)}"


def _of_one(rule: str) -> str:
    if rule == "REAL":
        return "Element by element, in the shape of x; integers and bool become float32."
    if rule == "TEST":
        return "Element by element, in the shape of x, as bool."
    raises = f" Raises RuntimeError for {REFUSED[rule]}." if rule in REFUSED else ""
    return f"Element by element, in the shape and dtype of x.{raises}"


def _of_two(rule: str) -> str:
    if rule == "REAL":
        return "Shapes and errors as for `add`, dtypes too, but integers and bool become float32."
    if rule == "TEST":
        return "The result is bool; shapes and errors as for `add`."
    return f"Shapes, dtypes and errors as for `add`{_refused(rule, REFUSED.get(rule))}."


def _in_place(rule: str, operands: int) -> str:
    refused = "integers and bool" if rule == "REAL" else REFUSED.get(rule)
    if operands == 2:
        return f"Shapes, dtypes and errors as for `add_`{_refused(rule, refused)}."
    kinds = f" and for {refused}" if refused else ""
    return (
        "This tensor keeps its shape and dtype and is returned. Raises RuntimeError for a leaf that requires\n"
        f"gradients{kinds}."
    )


def _refused(rule: str, dtypes: str | None) -> str:
    zero = ", or if an integer is divided by 0" if rule in ("DIVISION", "REMAINDER") else ""
    return f"; raises RuntimeError for {dtypes}{zero}" if dtypes else ""


def _example(name: str, operands: int) -> str:
    """A doctest: from EXAMPLES, or that an operation and its form in place agree."""
    found = EXAMPLES.get(name.rstrip("_"))
    if found is None:
        plain, other = name.rstrip("_"), "x" if operands == 2 else ""
        return f">>> x = norch.tensor([0.25, 0.5])\n>>> x.{plain}({other}).equal(x.clone().{plain}_({other}))\nTrue"
    given, result = found.split(" -> ")
    first, _, second = given.partition("], ")
    argument = f"norch.tensor({second})" if second else ""
    first = f"{first}]" if second else first
    if name[-1] == "_" and "True" in result and "True" not in given:
        result = f"[{', '.join(str(int(part == 'True')) for part in result.strip('[]').replace(',', ' ').split())}]"
    return f">>> norch.tensor({first}).{name}({argument})\ntensor({result})"
