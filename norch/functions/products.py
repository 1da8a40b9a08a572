"""Sums of products over several tensors: `einsum` and its special cases."""

from __future__ import annotations

import functools
import math
import operator
from itertools import combinations as pairs_of
from itertools import count
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence, Union

from .._C import ShapeError
from ..arguments import axis_of, sizes_of
from ..autocasting import lowered
from ..guards import Guard
from ..operation import check_tensor, mode, own
from ..types import shown
from .out import into

if TYPE_CHECKING:
    from ..forward_declarations import Tensor

__all__ = ["chain_matmul", "einsum", "tensordot"]

Label = Union[str, int]  # of a dimension: a letter, or a number for each dimension that `...` stands for
Labels = tuple[Label, ...]
Step = tuple[Callable[..., Any], tuple[int, ...]]  # what computes a tensor, and the places of what it takes


def einsum(*args: Any) -> Tensor:
    """The sum of the products of tensors, as Einstein wrote it: "ij,jk->ik" is the matrix product.

    `einsum(equation, *tensors)`. The equation has the letters of each tensor's dimensions, `...` for those without a
    letter, which broadcast, and after `->` the letters of the result; the products are summed over all other letters. A
    letter twice in one tensor takes its diagonal. Without `->` the result has the letters that occur once, in order of
    the alphabet. `einsum(x, [0, 1], y, [1, 2], [0, 2])` writes numbers for letters. More than two tensors are
    multiplied pair by pair, those first that shrink most.

    The tensors have one dtype, which is the result's; where nothing is summed, dtypes are promoted. Raises RuntimeError
    if the equation or the dtypes do not fit the tensors, ShapeError if sizes differ.

    >>> x = norch.tensor([[1, 2], [3, 4]])
    >>> norch.einsum("ij,jk->ik", x, x)
    tensor([[ 7, 10],
            [15, 22]])
    >>> norch.einsum("ii", x)
    tensor(5)
    """
    if not args:
        raise ValueError("einsum: expected an equation and tensors, got nothing")
    equation, tensors = (args[0], args[1:]) if isinstance(args[0], str) else _equation_of(args)
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    operands = [check_tensor(x, "einsum") for x in tensors]
    if not operands:
        raise RuntimeError("einsum: expected at least one tensor, got none")
    terms, wanted = _parsed(equation, tuple([x.ndim for x in operands]))
    result = _computed(_plan(terms, wanted, tuple([x.shape for x in operands]), equation), operands)
    return own(result) if len(operands) > 1 else result


# ---- The equation ------------------------------------------------------------------------------------------------


def _equation_of(args: Sequence[Any]) -> tuple[str, list[Any]]:
    """The equation and the tensors of einsum(x, [0, 1], y, [1, 2], [0, 2])."""
    terms = [_letters(numbers) for numbers in args[1::2]]
    tensors = list(args[: 2 * (len(args) // 2) : 2])
    result = f"->{_letters(args[-1])}" if len(args) % 2 and len(args) > 1 else ""
    return ",".join(terms) + result, tensors


def _letters(numbers: Iterable[Any]) -> str:
    """A list of numbers from 0 to 51, and perhaps `...`, as the letters A to Z and a to z."""
    if not isinstance(numbers, (list, tuple)):
        raise TypeError(f"einsum: expected a list of numbers after each tensor, got {shown(numbers)}")
    text = ""
    for number in numbers:
        if number is not Ellipsis and not 0 <= number < 52:
            raise ValueError(f"einsum: expected numbers from 0 to 51, got {number}")
        text += "..." if number is Ellipsis else chr(number + (ord("A") if number < 26 else ord("a") - 26))
    return text


@functools.lru_cache(256)
def _parsed(equation: str, ranks: tuple[int, ...]) -> tuple[tuple[Labels, ...], Labels]:
    """The labels of each operand's dimensions, of which there are so many, and of the result's."""
    given, arrow, result = equation.replace(" ", "").partition("->")
    texts = given.split(",")
    if len(texts) != len(ranks):
        raise RuntimeError(f"einsum: {shown(equation)} describes {len(texts)} tensors, got {len(ranks)}")
    terms = tuple(map(_labels, texts, ranks))
    broadcast = sorted({label for term in terms for label in term if isinstance(label, int)})
    if arrow:
        return terms, _labels(result, len(result) if "..." not in result else len(result) - 3 + len(broadcast))
    letters = "".join(texts)
    return terms, (*broadcast, *sorted(c for c in set(letters) if c.isalpha() and letters.count(c) == 1))


def _labels(text: str, rank: int) -> Labels:
    """The labels of a tensor's dimensions: the letters, and ..., -2, -1 for those that `...` stands for."""
    before, dots, after = text.partition("...")
    letters = before + after
    if not all(c.isascii() and c.isalpha() for c in letters):
        raise RuntimeError(f"einsum: expected letters and at most one `...`, got {shown(text)}")
    missing = rank - len(letters)
    if missing < 0 or (missing and not dots):
        raise RuntimeError(f"einsum: {shown(text)} does not describe a tensor of {rank} dimensions")
    return (*before, *range(-missing, 0), *after)


# ---- The plan ----------------------------------------------------------------------------------------------------
#
# What is to be done depends on the equation and the shapes alone. It is found once, with tensors that have a shape and
# nothing else, and kept.


@functools.lru_cache(256)
def _plan(terms: tuple[Labels, ...], wanted: Labels, shapes: tuple[Sequence[int], ...], equation: str) -> list[Step]:
    """The steps from tensors of these shapes to the sum of their products."""
    steps: list[Step] = []
    operands = [_Outline(tuple(shape), place, len(shapes), steps) for place, shape in enumerate(shapes)]
    factors = [_Factor(x, labels)._diagonal() for x, labels in zip(operands, terms)]
    sizes = _sizes(factors)
    for label in wanted:
        if label not in sizes:
            raise RuntimeError(f"einsum: {label!r} is in the result of {shown(equation)} but in no tensor")
    if len(set(wanted)) < len(wanted):
        raise RuntimeError(f"einsum: a letter occurs twice in the result of {shown(equation)}")
    factors = [factor._without_ones(sizes) for factor in factors]
    while len(factors) > 1:
        x, y = _best_pair(factors, wanted, sizes)
        factors.remove(x)
        factors.remove(y)
        factors.append(_product(*_in_turn(x, y, wanted), _needed(factors, wanted)))
    result = factors[0]._summed(wanted)._in_order(wanted)
    if not steps:  # a view, and not the operand itself
        result.then(result.shape, methodcaller("permute", list(range(len(wanted)))))
    return steps


def _computed(steps: list[Step], operands: Iterable[Tensor]) -> Tensor:
    """The result of the last step of a plan."""
    values = list(operands)
    for function, places in steps:
        values.append(function(*[values[place] for place in places]))
    return values[-1]


class _Outline:
    """The shape of a tensor, and its place among the operands and the results of the steps so far."""

    def __init__(self, shape: tuple[int, ...], place: int, operands: int, steps: list[Step]) -> None:
        self.shape, self.place, self.operands, self.steps = shape, place, operands, steps

    def then(self, shape: Iterable[int], function: Callable[..., Any], *others: _Outline) -> _Outline:
        """What a further step makes of it, and perhaps of others."""
        self.steps.append((function, (self.place, *(other.place for other in others))))
        return _Outline(tuple(shape), self.operands + len(self.steps) - 1, self.operands, self.steps)

    def without(self, method: str, axes: list[int]) -> _Outline:
        """Summed or squeezed along some axes."""
        if not axes:
            return self
        return self.then((n for axis, n in enumerate(self.shape) if axis not in axes), methodcaller(method, axes))

    def reshaped(self, shape: Sequence[int]) -> _Outline:
        return self if self.shape == tuple(shape) else self.then(shape, methodcaller("reshape", list(shape)))

    def permuted(self, axes: Sequence[int]) -> _Outline:
        if list(axes) == list(range(len(axes))):
            return self
        return self.then((self.shape[axis] for axis in axes), methodcaller("permute", list(axes)))


class _Factor:
    """A tensor with the labels of its dimensions."""

    def __init__(self, tensor: _Outline, labels: Sequence[Label]) -> None:
        self.tensor, self.labels = tensor, list(labels)

    def _diagonal(self) -> _Factor:
        """Each label once: those that repeat take the diagonal."""
        x, labels = self.tensor, self.labels
        for label in sorted({label for label in labels if labels.count(label) > 1}, key=labels.index):
            while labels.count(label) > 1:
                first = labels.index(label)
                second = labels.index(label, first + 1)
                if x.shape[first] != x.shape[second]:
                    raise ShapeError(
                        f"einsum: {label!r} stands for sizes {x.shape[first]} and {x.shape[second]} of one tensor"
                    )
                others = [place for place in range(len(labels)) if place not in (first, second)]
                shape = [*(x.shape[place] for place in others), x.shape[first]]
                x = x.then(shape, methodcaller("diagonal", 0, first, second))
                labels = [*(labels[place] for place in others), label]
        return _Factor(x, labels)

    def _without_ones(self, sizes: dict[Label, int]) -> _Factor:
        """Without the dimensions of size 1 that broadcast to other sizes."""
        ones = [place for place, label in enumerate(self.labels) if self.tensor.shape[place] != sizes[label]]
        kept = [label for place, label in enumerate(self.labels) if place not in ones]
        return _Factor(self.tensor.without("squeeze", ones), kept)

    def _summed(self, kept: Iterable[Label]) -> _Factor:
        """Summed over the labels that are not kept."""
        kept = set(kept)
        axes = [place for place, label in enumerate(self.labels) if label not in kept]
        return _Factor(self.tensor.without("sum", axes), [label for label in self.labels if label in kept])

    def _in_order(self, labels: Sequence[Label]) -> _Outline:
        return self.tensor.permuted([self.labels.index(label) for label in labels])

    def _as_matrices(self, *groups: Sequence[Label]) -> _Outline:
        """The dimensions of each group of labels as one."""
        x = self._in_order([label for group in groups for label in group])
        sizes = iter(x.shape)
        return x.reshaped([math.prod(next(sizes) for _ in group) for group in groups])


def _sizes(factors: Sequence[_Factor]) -> dict[Label, int]:
    """The size of each label. Sizes of 1 broadcast."""
    sizes: dict[Label, int] = {}
    for factor in factors:
        for label, size in zip(factor.labels, factor.tensor.shape):
            known = sizes.setdefault(label, size)
            if known != size and 1 not in (known, size):
                raise ShapeError(f"einsum: {label!r} stands for sizes {known} and {size}, which do not broadcast")
            sizes[label] = size if known == 1 else known
    return sizes


def _needed(factors: Iterable[_Factor], wanted: Iterable[Label]) -> set[Label]:
    """The labels that other factors or the result still need."""
    return {label for factor in factors for label in factor.labels}.union(wanted)


def _best_pair(factors: list[_Factor], wanted: Sequence[Label], sizes: dict[Label, int]) -> tuple[_Factor, _Factor]:
    """The pair whose product is smallest beside its factors; of equals the one that takes the fewest products."""

    def elements(labels: Iterable[Label]) -> int:
        return math.prod(sizes[label] for label in labels)

    def cost(pair: tuple[_Factor, _Factor]) -> tuple[int, int]:
        x, y = pair
        together = {*x.labels, *y.labels}
        kept = together & _needed((factor for factor in factors if factor not in pair), wanted)
        return elements(kept) - elements(x.labels) - elements(y.labels), elements(together)

    return min(pairs_of(factors, 2), key=cost)


def _in_turn(x: _Factor, y: _Factor, wanted: Sequence[Label]) -> tuple[_Factor, _Factor]:
    """Both, first the one whose own labels come first in the result, which then need not be transposed."""
    own_labels = [label for label in wanted if (label in x.labels) != (label in y.labels)]
    return (y, x) if own_labels and own_labels[0] in y.labels else (x, y)


def _product(x: _Factor, y: _Factor, kept: set[Label]) -> _Factor:
    """The product of two factors, summed over the labels that are not kept: a batch of matrix products."""
    x, y = x._summed(kept.union(y.labels)), y._summed(kept.union(x.labels))
    shared = [label for label in x.labels if label in y.labels]
    batch, summed = [c for c in shared if c in kept], [c for c in shared if c not in kept]
    rows, columns = ([c for c in factor.labels if c not in shared] for factor in (x, y))
    shape = dict(zip(x.labels + y.labels, [*x.tensor.shape, *y.tensor.shape]))
    labels, outer = batch + rows + columns, [batch] if batch else []
    first, second = x._as_matrices(*outer, rows, summed), y._as_matrices(*outer, summed, columns)
    product = first.then([*first.shape[:-1], second.shape[-1]], _matmul if summed else operator.mul, second)
    return _Factor(product.reshaped([shape[label] for label in labels]), labels)


def _matmul(x: Tensor, y: Tensor) -> Tensor:
    if x.dtype is not y.dtype and not (x.is_floating_point() or y.is_floating_point()):
        x, y = x.long(), y.long()  # a sum of integers is int64
    return x @ y


# ---- Special cases -----------------------------------------------------------------------------------------------


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """The products of two tensors, summed over the last `dims` dimensions of the one and the first of the other.

    Or over the dimensions in two lists `dims`. The result has the shape of the other dimensions of a, then those of b;
    all are of one dtype. Raises RuntimeError if the lists differ in length, ShapeError if sizes do, IndexError for a
    dim out of range.

    >>> norch.tensordot(norch.ones(2, 3, 4), norch.ones(4, 3, 5), dims=([1, 2], [1, 0])).shape
    norch.Size([2, 5])
    """
    check_tensor(a, "tensordot"), check_tensor(b, "tensordot")
    if a.dtype is not b.dtype:
        raise RuntimeError(f"tensordot: expected tensors of one dtype, got {a.dtype} and {b.dtype}")
    if isinstance(dims, (list, tuple)) or getattr(dims, "numel", 0) > 1:
        if len(dims) != 2:
            raise ValueError(f"tensordot: expected dims to be an integer or two lists, got {shown(dims)}")
        first, second = (_axes(x, given) for x, given in zip((a, b), dims))
    else:
        number = dims.item() if hasattr(dims, "item") else dims
        if isinstance(number, bool) or not isinstance(number, int):
            raise RuntimeError(f"tensordot: expected dims to be an integer or two lists, got {shown(dims)}")
        if number < 0:
            raise RuntimeError(f"tensordot: expected dims that is not negative, got {number}")
        if number > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot: {number} dims of tensors of {a.ndim} and {b.ndim} dimensions")
        first, second = list(range(a.ndim - number, a.ndim)), list(range(number))
    if len(first) != len(second):
        raise RuntimeError(f"tensordot: expected as many dims of both tensors, got {first} and {second}")
    names = count()
    a_labels, b_labels = ([next(names) for _ in range(x.ndim)] for x in (a, b))
    for i, j in zip(first, second):
        if a.shape[i] != b.shape[j] and 1 not in (a.shape[i], b.shape[j]):
            raise ShapeError(
                f"tensordot: dimension {i} of shape {list(a.shape)} and {j} of {list(b.shape)} do not have one size"
            )
        b_labels[j] = a_labels[i]
    wanted = [label for label in a_labels + b_labels if (label in a_labels) != (label in b_labels)]
    steps = _plan((tuple(a_labels), tuple(b_labels)), tuple(wanted), (a.shape, b.shape), "")
    if not mode.autocast:
        return into(out, _computed(steps, (a, b)).to(a.dtype), "tensordot")
    free = [size for x, axes in ((a, first), (b, second)) for i, size in enumerate(x.shape) if i not in axes]
    if any(size != 1 for size in free):  # otherwise PyTorch calls its dot product, which is in no list of autocast
        a, b = lowered(a, b)
    with Guard((mode, {"autocast": {}})):
        return into(out, _computed(steps, (a, b)).to(a.dtype), "tensordot")


def _axes(x: Tensor, given: Any) -> list[int]:
    """The dimensions in a list, or a tensor, of them."""
    numbers = given.tolist() if hasattr(given, "tolist") else given
    return [axis_of(x, axis, "tensordot") for axis in sizes_of((numbers,), "tensordot")]


def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of matrices [a, b], [b, c], [c, d], ...: [a, d], with the fewest multiplications; all of one dtype.

    Raises ShapeError if the shapes do not chain, RuntimeError without matrices.

    >>> norch.chain_matmul(norch.ones(2, 3), norch.ones(3, 4), norch.ones(4, 1)).shape
    norch.Size([2, 1])
    """
    if not matrices:
        raise RuntimeError("chain_matmul: expected at least one matrix, got none")
    for matrix in matrices:
        if check_tensor(matrix, "chain_matmul").ndim != 2:
            raise ShapeError(f"chain_matmul: expected matrices, got shape {list(matrix.shape)}")
    sizes = [matrices[0].shape[0], *(matrix.shape[1] for matrix in matrices)]

    if len(matrices) == 3 and sizes[0] * sizes[2] * (sizes[1] + sizes[3]) <= sizes[1] * sizes[3] * (
        sizes[0] + sizes[2]
    ):
        return matrices[0].mm(matrices[1]).mm(matrices[2])  # also of equal costs, as in PyTorch

    @functools.cache
    def cheapest(first: int, end: int) -> tuple[int, int]:
        """The fewest multiplications for the matrices from first to end, and where the last product parts them."""
        return (
            min(
                (cheapest(first, at)[0] + cheapest(at, end)[0] + sizes[first] * sizes[at] * sizes[end], at)
                for at in range(first + 1, end)
            )
            if end - first > 1
            else (0, end)
        )

    def product(first: int, end: int) -> Tensor:
        if end - first == 1:
            return matrices[first]
        at = cheapest(first, end)[1]
        return product(first, at).mm(product(at, end))

    return into(out, product(0, len(matrices)), "chain_matmul")
