"""Questions about a difference: what its program has in it, and how the elements differ."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch

import norch
from norch.autograd.derivatives.views import VariableBackward

from .execution import TOLERANCE, Pair, has_no_memory, parts_of_module, run, same_numbers, variables

OVERFLOWED = 0.01  # how exact norch's number is where torch has none
NARROW = re.compile(r"\blib\.(float32|b?float16)\b|\.(half|bfloat16|float)\(\)")
DIFFERENT = r"(?:at the end )?(v\d+): ((?:\[\d+\] )*)(\.grad )?elements"


def with_tail(call: re.Match[str]) -> str:
    """The same function of a normal distribution, with all digits."""
    return f"0.5 * lib.erfc({call[2]} * -(0.5 ** 0.5))" + (f" * {call[2]}" if "gelu" in call[1] else "")


def meets_infinity(lines: Sequence[str]) -> bool:
    """Whether a floating variable before the last statement is not finite."""
    pair = Pair()
    for line in lines[:-1]:
        pair.step(line)
    for x in pair.theirs.values():
        with contextlib.suppress(RuntimeError):  # a view that torch gives up
            if isinstance(x, torch.Tensor) and x.is_floating_point() and not x.isfinite().all():
                return True
    return False


def has_no_elements(lines: Sequence[str]) -> bool:
    """Whether a tensor of the last statement has no elements."""
    pair = Pair()
    for line in lines:
        pair.step(line)
    with contextlib.suppress(RuntimeError):  # a view that torch gives up
        values = [pair.theirs.get(name) for name in variables(lines[-1])]
        parts = [part for x in values for part in (x if isinstance(x, (tuple, list)) else [x])]
        return any(isinstance(x, torch.Tensor) and not x.numel() for x in parts)
    return False


def torch_expands(lines: Sequence[str]) -> bool:
    """Whether elements of a gradient share memory in torch, and not in norch."""
    pair = Pair()
    for line in lines:
        pair.step(line)
        if told := re.search(r"(v\d+) = lib\..*autograd\.grad\(", line):
            ours, theirs = pair.ours.get(told[1]), pair.theirs.get(told[1])
            if is_expanded(theirs) and not is_expanded(ours):
                return True
    return False


def gradients_meet(lines: Sequence[str]) -> bool:
    """Whether gradients of two leaves share memory in torch after some statement, and not in norch."""
    pair = Pair()

    def meet(world: dict[str, Any]) -> bool:
        leaves = {id(x): x for x in world.values() if hasattr(x, "untyped_storage") and is_trained(x)}
        found = [x.grad.untyped_storage().data_ptr() for x in leaves.values() if x.grad is not None and x.numel()]
        return len(set(found)) < len(found)

    for line in lines:
        pair.step(line)
        if meet(pair.theirs) and not meet(pair.ours):
            return True
    return False


def is_trained(x: Any) -> bool:
    """Whether a tensor is a leaf that requires gradients."""
    with contextlib.suppress(RuntimeError):  # a view that torch gives up
        return x.requires_grad and x.is_leaf
    return False


def torch_shares(lines: Sequence[str]) -> bool:
    """Whether the result of a transform lies in the memory of another variable in torch, and of none in norch."""
    made = {told[1] for line in lines if (told := re.match(r"(v\d+) = lib\.func\.", line))}
    parts = [re.match(r"(v\d+) = (v\d+)(?:\[\d+\])?$", line) for line in lines]
    aliases = {told[1] for told in parts if told and told[2] in made}
    pair = Pair()
    for line in lines:
        pair.step(line)

    def shares(world: dict[str, Any]) -> bool:
        values = [world.get(key) for key in made]
        results = [x for part in values for x in (part if isinstance(part, (tuple, list)) else [part])]
        others = [x for key, x in world.items() if key[0] == "v" and key not in made | aliases]
        return bool(_memory_of(results) & _memory_of(others))

    return shares(pair.theirs) and not shares(pair.ours)


def meets_a_leaf(lines: Sequence[str]) -> bool:
    """Whether a variable of the last statement is a view of a leaf that requires gradients, or of one of a transform's.

    torch says what is a view; of what its transforms derive by it does not tell.
    """
    pair = Pair()
    for line in lines[:-1]:
        pair.step(line)
    named = variables(lines[-1])
    held = [pair.ours.get(name) for name in named]
    ours = [part for x in held for part in (x if isinstance(x, (tuple, list)) else [x])]
    bases = [*ours, *(getattr(x, "_base", None) for x in ours)]
    if any(isinstance(getattr(base, "_edge", None), VariableBackward) for base in bases):
        return True
    values = [(name, part) for name, x in pair.theirs.items() if name[0] == "v" for part in _parts_of(x)]
    leaves = _memory_of([x for _, x in values if is_trained(x)])
    operands = [x for name, x in values if name in named]
    return bool(leaves & _memory_of(operands)) or any(x.requires_grad and not x.numel() for x in operands)


def _parts_of(x: Any) -> list[Any]:
    """The tensors that a variable is, or holds: a sequence, or a module."""
    parts = x.parameters() if isinstance(x, torch.nn.Module) else x if isinstance(x, (tuple, list)) else [x]
    return [part for part in parts if isinstance(part, torch.Tensor)]


def _memory_of(values: list[Any]) -> set[int]:
    tensors = [x for x in values if hasattr(x, "untyped_storage") and x.numel() and not has_no_memory(x)]
    return {x.untyped_storage().data_ptr() for x in tensors}


def copies_what_lies_otherwise(lines: Sequence[str], found: str) -> bool:
    """Whether a variable was made by a function that copies if it must, of one that torch lays out in another way."""
    names = re.findall(r"\bv\d+", found)
    pair = Pair()
    for line in lines:
        if re.search(r"\b(reshape|contiguous|flatten|ravel|resize|to)(_as)?\(", line):
            if any(f"{name} = " in line for name in names) and pair.otherwise.intersection(variables(line)):
                return True
        pair.step(line)
    return False


def overlaps(lines: Sequence[str], out: str) -> bool:
    """Whether another operand of the last statement lies in the memory of `out`, and has other places there."""
    pair = Pair()
    for line in lines[:-1]:
        pair.step(line)
    written = pair.theirs[out]
    others = [pair.theirs.get(name) for name in variables(lines[-1]) if name != out]
    memory = written.untyped_storage().data_ptr()
    tensors = [x for x in others if isinstance(x, torch.Tensor) and places(x) != places(written)]
    return any(x.untyped_storage().data_ptr() == memory for x in tensors)


def places(x: torch.Tensor) -> tuple[Sequence[int], Sequence[int], int]:
    """Which elements of its memory a tensor has."""
    return x.shape, x.stride(), x.storage_offset()


def is_expanded(x: Any) -> bool:
    """Whether elements of a tensor, or of one in a tuple, share memory."""
    if isinstance(x, tuple):
        return any(map(is_expanded, x))
    return x is not None and any(step == 0 and size > 1 for step, size in zip(x.stride(), x.shape))


def rounded_otherwise(lines: Sequence[str]) -> bool:
    """Whether an operand of the last statement has other bits in torch."""
    pair = Pair()
    for line in lines[:-1]:
        pair.step(line)
    named = (
        [pair.theirs.get(name) for name in variables(lines[-1])],
        [pair.ours.get(name) for name in variables(lines[-1])],
    )
    return any(isinstance(x, torch.Tensor) and str(x.tolist()) != str(y.tolist()) for x, y in zip(*named))


def rank_is_rounding(lines: Sequence[str]) -> bool:
    """Whether the tolerance that the last statement gives `matrix_rank` is not above 0, or is a singular value."""
    told = re.match(r"(.*matrix_rank\(v\d+, )(v\d+|[-\d.]+|True|False)(.*)", lines[-1])
    pair = Pair()
    for line in lines[:-1] if told else ():
        pair.step(line)
    if not told:
        return False
    bound = torch.as_tensor(eval(told[2], pair.theirs))
    less, more = (f"{told[1]}{told[2]} * {factor}{told[3]}" for factor in (1 - 1e-9, 1 + 1e-9))
    return not (bound > 0).all() or Pair(torch, torch).after(pair.theirs).step(less, more) is not None


def rounding_beside_0(lines: Sequence[str]) -> bool:
    """Whether operands of the last statement differ in their last digits, and nothing does once these are rounded."""
    return _agree_once(lines, ".round(decimals=12) + 0.0")


def _agree_once(lines: Sequence[str], changed: str) -> bool:
    """Whether operands of the last statement are written otherwise, and nothing differs with them `changed`."""
    pair = Pair()
    for line in lines[:-1]:
        pair.step(line)
    others = []
    for name in variables(lines[-1]):
        ours, theirs = pair.ours.get(name), pair.theirs.get(name)
        if isinstance(theirs, torch.Tensor) and theirs.is_floating_point():
            if str(ours.tolist()) != str(theirs.tolist()):  # 0.0 is not -0.0 here, and NaN is NaN
                others.append(f"{name} = {name}.detach(){changed}")
    return bool(others) and run([*lines[:-1], *others, lines[-1]]) is None


def ties_decide(lines: Sequence[str]) -> bool:
    """Whether torch's own values or gradients are others if a median or quantile of all sees its elements reversed."""
    of_all = r"(lib\.(?:nan)?(?:quantile|median))\((v\d+)(, [\d.]+)?\)"
    pair = Pair(torch, torch)
    return any(pair.step(line, re.sub(of_all, r"\1(\2.flatten().flip(0)\3)", line)) for line in lines) or (
        pair.finish() is not None
    )


def as_float64(lines: Sequence[str]) -> list[str]:
    """The program with tensors of float64 in the place of those of other dtypes."""
    return [re.sub(r"\blib\.(float32|b?float16|u?int\d+|bool)\b", "lib.float64", line) for line in lines]


def in_float64(line: str) -> str:
    """The statement with float64 in the place of the floating dtypes of few digits."""
    return NARROW.sub(lambda name: "lib.float64" if name[1] else ".double()", line)


def in_int64(line: str) -> str:
    """The statement with int64 in the place of narrower integers."""
    return re.sub(r"\blib\.(uint8|int(8|16|32))\b", "lib.int64", line)


def agrees_in_wide(lines: Sequence[str], found: str) -> bool:
    """Whether torch itself has norch's numbers once its statements have wide dtypes: the narrow ones lost something."""
    told = re.match(DIFFERENT, found)
    wide = [in_int64(in_float64(line)) for line in lines]
    if not told or wide == list(lines) or re.search("True|False", found):  # which are alike too easily
        return False
    pair, other = Pair(), Pair(torch, torch)
    for line, wider in zip(lines, wide):
        pair.step(line)
        other.step(wider)
    ours, theirs = _part(pair.ours, told), _part(other.theirs, told, pair.theirs)
    tolerance = max(pair.least, TOLERANCE["float32"])
    return len(ours) == len(theirs) and same_numbers(ours, theirs, tolerance)


def operand_is_rounding(lines: Sequence[str]) -> bool:
    """Whether an operand of the last statement is quite another one in float64."""
    pair = Pair(torch, torch)
    for line in lines[:-1]:
        pair.step(line, in_float64(line))
    for name in variables(lines[-1]):
        x, wide = pair.theirs.get(name), pair.ours.get(name)
        if isinstance(x, torch.Tensor) and isinstance(wide, torch.Tensor) and x.shape == wide.shape and x.numel():
            if not torch.allclose(x.detach().double(), wide.detach().double(), 0.1, 1e-9, equal_nan=True):
                return True
    return False


def torch_is_no_closer(lines: Sequence[str], found: str) -> bool:
    """Whether what differs is computed in few digits, and norch's are no farther from float64's result than torch's.

    Where torch has infinity or NaN, as it rounds to 16 bits on the way, norch's number is nearly that of float64.
    """
    told = re.match(DIFFERENT, found)
    if not told or not any(NARROW.search(line) for line in lines):
        return False
    pair, wide = Pair(), Pair(torch, torch)
    for line in lines:
        pair.step(line)
        wide.step(in_float64(line))
    ours, theirs, true = (_part(world, told) for world in (pair.ours, pair.theirs, wide.theirs))
    if not len(ours) == len(theirs) == len(true):
        return False
    far = 2 * max((abs(b - c) for b, c in zip(theirs, true) if math.isfinite(b + c)), default=0.0)
    bounds = [far if math.isfinite(b) else OVERFLOWED * abs(c) for b, c in zip(theirs, true)]
    return all(
        abs(a - c) <= bound if math.isfinite(a + c) else a == b or (a != a and b != b)
        for a, b, c, bound in zip(ours, theirs, true, bounds)
    )


def _part(world: dict[str, Any], told: re.Match[str], narrow: dict[str, Any] | None = None) -> list[float]:
    """The elements of the variable that a difference names, rounded to the dtype that it has in `narrow`."""
    x = _named(world, told)
    if isinstance(x, torch.Tensor) and isinstance(other := _named(narrow or {}, told), torch.Tensor):
        x = x.to(other.dtype)
    return x.double().reshape(-1).tolist() if isinstance(x, (torch.Tensor, norch.Tensor)) else []


def _named(world: dict[str, Any], told: re.Match[str]) -> Any:
    """The variable that a difference names, a part of it, or its gradient."""
    x = world.get(told[1])
    for place in map(int, re.findall(r"\d+", told[2])):
        x = parts_of_module(x) if hasattr(x, "named_parameters") else x
        x = [*x.values()] if isinstance(x, dict) else x
        x = x[place] if isinstance(x, (tuple, list)) else x
    return getattr(x, "grad", None) if told[3] else x


def on_an_edge(found: str) -> bool:
    """Whether counts differ by what lies in the next bin: of the sums up to each bin no two neighbours do."""
    pairs = pairs_of(found)
    digits = 1e-5 * max((abs(x) for pair in pairs for x in pair), default=0.0)  # which densities lose
    steps = [abs(left) > digits for left in accumulate(ours - theirs for ours, theirs in pairs)]
    return bool(steps) and not steps[-1] and not any(x and y for x, y in zip(steps, steps[1:]))


def variance_is_rounding(lines: Sequence[str]) -> bool:
    """Whether some variance is 0 in one of the libraries, and not in the other."""
    hidden = r"^(v\d+) = (?:lib\.nn\.functional\.layer_norm\()?(v\d+)(?:\.corrcoef\(\)|, .*)"
    lines = [re.sub(hidden, r"\1 = \2.var(-1)", line) if "norm(" in line or "corr" in line else line for line in lines]
    names = [told[1] for line in lines if (told := re.match(r".*?(v\d+) = .*\b(?:var|std)(?:_mean)?\(", line))]
    pair = Pair()
    for line in lines if names else ():
        pair.step(line)
        for name in names:
            if f"{name} = " in line and name in pair.ours and name in pair.theirs:
                ours, theirs = (x if isinstance(x, tuple) else (x,) for x in (pair.ours[name], pair.theirs[name]))
                if any(zeros(x) != zeros(y) for x, y in zip(ours, theirs)):
                    return True
    return False


def eigenvalues_meet(lines: Sequence[str]) -> bool:
    """Whether two eigenvalues, or singular values, that a program takes differ in their last digits alone.

    A singular value of 0 and its negative are such, too.
    """
    pair = Pair()
    for line in lines:
        for call in re.findall(
            r"lib\.(?:linalg\.(?:eigh|svd|svdvals)|(?:svd|pca)_lowrank)\(.*?(?:, \w+=\w+|, '\w')?\)", line
        ):
            with contextlib.suppress(Exception):  # torch's refusal, of whatever kind
                parts = eval(call, pair.theirs)
                values = parts if "vals" in call else parts[0] if "eigh" in call else parts[1]
                values = values if "eigh" in call else torch.cat([values, -values.flip(-1)], -1)
                if (values.diff(dim=-1).abs() <= 1e-9 * values.abs().max().clamp(min=1)).any():
                    return True
        pair.step(line)
    return False


def pivot_is_rounding(lines: Sequence[str]) -> bool:
    """Whether a matrix that the last statement names is symmetric, with an eigenvalue that is 0 but for rounding."""
    pair = Pair()
    for line in lines[:-1]:
        pair.step(line)
    for text in re.findall(r"v\d+(?: @ v\d+\.mT)?", lines[-1]):
        with contextlib.suppress(NameError, RuntimeError):  # what is to be made, and what is not finite
            x = eval(text, pair.theirs)
            if isinstance(x, torch.Tensor) and x.ndim > 1 and x.shape[-1] == x.shape[-2] > 0:
                values = torch.linalg.eigvalsh(x.detach().double()).abs()
                if (values.amin(-1) <= 1e-6 * values.amax(-1)).any():
                    return True
    return False


def meets_low_rank(lines: Sequence[str], pattern: str) -> bool:
    """Whether a matrix, or a parameter, that a statement with the pattern names has a singular value of 0."""
    pair = Pair(torch, torch)
    for line in lines:
        for x in map(pair.theirs.get, variables(line) if re.search(pattern, line) else ()):
            for matrix in x.parameters() if isinstance(x, torch.nn.Module) else [x]:
                if isinstance(matrix, torch.Tensor) and matrix.ndim > 1 and matrix.isfinite().all():
                    values = torch.linalg.svdvals(matrix.detach().double())
                    if (values.amin(-1) <= 1e-6 * values.amax(-1)).any():
                        return True
        pair.step(line)
    return False


def zeros(x: Any) -> Any:
    """Which elements of a tensor are 0, or whether a number is."""
    return (x == 0).tolist() if hasattr(x, "tolist") else x == 0


def zeros_have_signs(lines: Sequence[str]) -> bool:
    """Whether operands of the last statement have zeros of other signs in torch, and nothing differs without these."""
    return _agree_once(lines, " + 0.0")


def differs_in_zeros(found: str) -> bool:
    """Whether elements differ only where one library has NaN and the other 0."""
    pairs = [pair for pair in pairs_of(found) if math.isnan(pair[0]) != math.isnan(pair[1])]
    return bool(pairs) and all(x == 0 for pair in pairs for x in pair if not math.isnan(x))


def torch_spreads_nan(found: str, close: float) -> bool:
    """Whether elements differ only where torch has NaN."""
    pairs = pairs_of(found)
    return bool(pairs) and all(math.isnan(y) or math.isclose(x, y, rel_tol=close, abs_tol=1e-9) for x, y in pairs)


def norch_spreads_nan(found: str, close: float) -> bool:
    """Whether elements differ only where norch has NaN."""
    pairs = pairs_of(found)
    return bool(pairs) and all(math.isnan(x) or math.isclose(x, y, rel_tol=close, abs_tol=1e-9) for x, y in pairs)


def differs_in_signs_of_infinities(found: str, close: float) -> bool:
    """Whether elements differ only in the signs of infinities."""
    pairs = [(x, y) for x, y in pairs_of(found) if not (math.isclose(x, y, rel_tol=close) or x != x and y != y)]
    return bool(pairs) and all(math.isinf(x) and x == -y for x, y in pairs)


def overflows(found: str, close: float) -> bool:
    """Whether elements differ only where one library has infinity and the other nearly the largest float16."""
    pairs = [(x, y) for x, y in pairs_of(found) if not (math.isclose(x, y, rel_tol=close) or x != x and y != y)]
    return bool(pairs) and all(
        math.isinf(x) != math.isinf(y) and min(abs(x), abs(y)) > 60_000 and x * y > 0 for x, y in pairs
    )


def differs_as_float32(found: str) -> bool:
    """Whether elements differ no more than one rounding of float32 makes them."""
    pairs = pairs_of(found)
    return bool(pairs) and all(math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-9) or x != x and y != y for x, y in pairs)


def permuted(found: str) -> bool:
    """Whether the libraries have the same elements in another order."""
    ours, theirs = (sorted((x != x, x if x == x else 0.0) for x in side) for side in zip(*pairs_of(found)))
    close = (math.isclose(x[1], y[1], rel_tol=1e-6, abs_tol=1e-9) and x[0] == y[0] for x, y in zip(ours, theirs))
    return all(close)


def neither_is_finite(found: str) -> bool:
    """Whether no element that differs is finite in one of the libraries."""
    differing = [pair for pair in pairs_of(found) if repr(pair[0]) != repr(pair[1])]
    return bool(differing) and not any(math.isfinite(x) for pair in differing for x in pair)


def pairs_of(found: str) -> list[tuple[float, float]]:
    """The elements of both libraries."""
    if not (told := re.search(r"elements (.*), torch has (.*)", found)):
        return []
    ours, theirs = (re.findall(r"-?[\d.]+(?:e[-+]\d+)?|-?inf|nan", text) for text in told.groups())
    return list(zip(map(float, ours), map(float, theirs)))


def digits_decide(lines: Sequence[str]) -> bool:
    """Whether the text that the last statement gave differs only in numbers that are close."""
    close = 1e-2 if any("float16" in line for line in lines) else 1e-4
    pair = Pair()
    for line in lines:
        pair.step(line)
    name = lines[-1].split(" ")[0]
    texts = [str(world.get(name)).replace("norch", "torch") for world in (pair.ours, pair.theirs)]
    number = r"-?\d+\.?\d*(?:e[-+]\d+)?"
    ours, theirs = (re.findall(number, text) for text in texts)
    words = [re.sub(rf"\s+|{number}", "", text) for text in texts]
    alike = words[0] == words[1] and len(ours) == len(theirs)
    return alike and all(math.isclose(float(x), float(y), rel_tol=close) for x, y in zip(ours, theirs))


def equal_weights_decide(lines: Sequence[str]) -> bool:
    """Whether nothing differs once the parameters of the modules that are pruned are no longer of equal size."""
    pair = Pair()
    for line in lines[:-1]:
        pair.step(line)
    names = [name for name in variables(lines[-1]) if isinstance(pair.theirs.get(name), torch.nn.Module)]
    step = "p.data.add_(lib.linspace({0}.2 + k / 64, {0}.4 + k / 32, p.numel(), dtype=p.dtype).square().view(p.shape))"
    shifted = [(name, step.format(number)) for number, name in enumerate(names)]  # no two alike
    of_name = "[{0} for k, p in enumerate({1}.parameters()) if p.is_floating_point()]"
    changed = [of_name.format(text, name) for name, text in shifted]
    return bool(names) and run([*lines[:-1], *changed, lines[-1]]) is None


def edges_are_in_no_order(lines: Sequence[str]) -> bool:
    """Whether the last statement looks for places among numbers that are not sorted."""
    call = re.search(r"bucketize\((?:[^()]*, )?(v\d+)|searchsorted\((v\d+)", lines[-1])
    if not call:
        return False
    pair = Pair()
    for line in lines[:-1]:
        pair.step(line)
    edges = pair.theirs.get(call[1] or call[2])
    return isinstance(edges, torch.Tensor) and not (edges[..., 1:] >= edges[..., :-1]).all()


def gives_none(lines: Sequence[str]) -> bool:
    """Whether the last statement gave None in torch, or a tuple with one."""
    pair = Pair()
    for line in lines:
        pair.step(line)
    result = pair.theirs.get(lines[-1].split(" ")[0])
    return result is None or (isinstance(result, tuple) and any(x is None for x in result))


def is_a_list(lines: Sequence[str]) -> bool:
    """Whether the last statement gave a list in torch."""
    pair = Pair()
    for line in lines:
        pair.step(line)
    return isinstance(pair.theirs.get(lines[-1].split(" ")[0]), list)
