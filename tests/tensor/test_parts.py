"""Parts of tensors, their copies and what replaces them; tensors joined, repeated and turned."""

from __future__ import annotations

import pytest

import norch
from norch.autograd import gradcheck, gradgradcheck

X = norch.arange(12.0, dtype=norch.float64).reshape(3, 4)
ROWS = X.tolist()
COLUMNS = X.t().tolist()


def lists(result):
    return [part.tolist() for part in result] if isinstance(result, tuple) else result.tolist()


# ---- Values: a call on X [3, 4], and what it gives --------------------------------------------------------------

CALLS = {
    "tensor_split": (lambda x: x.tensor_split(2), [ROWS[:2], ROWS[2:]]),
    "tensor_split into more than there are": (lambda x: x.tensor_split(4)[3], []),
    "tensor_split between indices": (lambda x: x.tensor_split((1, -1)), [ROWS[:1], ROWS[1:2], ROWS[2:]]),
    "tensor_split by a tensor": (lambda x: x.tensor_split(norch.tensor([2])), [ROWS[:2], ROWS[2:]]),
    "tensor_split backwards": (lambda x: x.tensor_split([2, 1])[1], []),
    "tensor_split(sections)": (lambda x: x.tensor_split(sections=3, dim=0), [[row] for row in ROWS]),
    "hsplit": (lambda x: x.hsplit(2)[1].t(), COLUMNS[2:]),
    "hsplit of a vector": (lambda x: x[0].hsplit([1]), [ROWS[0][:1], ROWS[0][1:]]),
    "vsplit": (lambda x: x.vsplit([1]), [ROWS[:1], ROWS[1:]]),
    "dsplit": (lambda x: x.reshape(1, 3, 4).dsplit(4)[1].reshape(3), COLUMNS[1]),
    "split(split_size=)": (lambda x: x.split(split_size=2), [ROWS[:2], ROWS[2:]]),
    "split_with_sizes": (lambda x: norch.split_with_sizes(x, [1, 2]), [ROWS[:1], ROWS[1:]]),
    "unsafe_split": (lambda x: norch.unsafe_split(x, 2), [ROWS[:2], ROWS[2:]]),
    "unsafe_chunk": (lambda x: norch.unsafe_chunk(x, 2), [ROWS[:2], ROWS[2:]]),
    "unfold": (lambda x: x[0].unfold(0, 2, 1), [[0, 1], [1, 2], [2, 3]]),
    "unfold by steps": (lambda x: x.unfold(1, 3, 2), [[row[:3]] for row in ROWS]),
    "unfold of rows": (lambda x: x.unfold(0, 2, 1).shape, [2, 4, 2]),
    "unfold of a scalar": (lambda x: x[0, 1].unfold(0, 1, 1), [1]),
    "H": (lambda x: x.H, COLUMNS),
    "mH": (lambda x: x.mH, COLUMNS),
    "adjoint": (lambda x: x.adjoint(), COLUMNS),
    "rot90": (lambda x: x.rot90(), COLUMNS[::-1]),
    "rot90 twice": (lambda x: x.rot90(2), [row[::-1] for row in ROWS[::-1]]),
    "rot90 back": (lambda x: x.rot90(-1, (0, 1)), [column[::-1] for column in COLUMNS]),
    "rot90 not at all": (lambda x: x.rot90(4), ROWS),
    "flip(dims=)": (lambda x: norch.flip(x, dims=(0,)), ROWS[::-1]),
    "roll(shifts=)": (lambda x: norch.roll(x, shifts=1, dims=0), [ROWS[2], *ROWS[:2]]),
    "permute(dims=)": (lambda x: norch.permute(x, dims=(1, 0)), COLUMNS),
    "reshape(shape=)": (lambda x: norch.reshape(x, shape=(1, 12)), [sum(ROWS, [])]),
    "expand(size=)": (lambda x: x[0].expand(size=(2, 4)), [ROWS[0]] * 2),
    "repeat(repeats=)": (lambda x: x[0, :2].repeat(repeats=(2,)), [0, 1, 0, 1]),
    "tile(dims=)": (lambda x: norch.tile(x[0, :2], dims=(2,)), [0, 1, 0, 1]),
    "repeat_interleave by a tensor": (
        lambda x: x.repeat_interleave(norch.tensor([2, 0, 1]), 0),
        ROWS[:1] * 2 + ROWS[2:],
    ),
    "repeat_interleave of numbers": (lambda x: norch.tensor([2, 0, 1]).repeat_interleave(), [0, 0, 2]),
    "sum_to_size": (lambda x: x.sum_to_size(1, 4), [[12, 15, 18, 21]]),
    "sum_to_size of a vector": (lambda x: x.sum_to_size(4), [12, 15, 18, 21]),
    "sum_to_size of a scalar": (lambda x: x.sum_to_size(()), 66),
    "diag_embed": (lambda x: x[0, 1:3].diag_embed(-1), [[0, 0, 0], [1, 0, 0], [0, 2, 0]]),
    "diag_embed in front": (lambda x: x[:2, :1].diag_embed(0, 0, 1), [[[0, 4]]]),
    "diagflat": (lambda x: x[:2, 1:2].diagflat(), [[1, 0], [0, 5]]),
    "diagonal_scatter": (lambda x: (x[:, :3] * 0).diagonal_scatter(x[0, 1:]), [[1, 0, 0], [0, 2, 0], [0, 0, 3]]),
    "select_scatter": (lambda x: x.select_scatter(x[0], 0, -1), [*ROWS[:2], ROWS[0]]),
    "slice_scatter": (lambda x: x.slice_scatter(x[:2], 0, 1), [ROWS[0], *ROWS[:2]]),
    "slice_scatter by steps": (lambda x: x.slice_scatter(x[:2], step=2), [ROWS[0], ROWS[1], ROWS[1]]),
    "as_strided_scatter": (lambda x: x[0].as_strided_scatter(x[1, :2], (2,), (2,)), [4, 1, 5, 3]),
    "as_strided_scatter with gaps": (lambda x: x[:, 1].as_strided_scatter(x[0, :1], (1,), (4,), 5), [1, 0, 9]),
    "narrow_copy": (lambda x: x.narrow_copy(0, 1, 1), ROWS[1:2]),
    "block_diag": (lambda x: norch.block_diag(x[:1, :2], x[0, 0], x[1, :1]), [[0, 1, 0, 0], [0] * 4, [0, 0, 0, 4]]),
    "cartesian_prod": (lambda x: norch.cartesian_prod(x[0, :2], x[1, :2]), [[0, 4], [0, 5], [1, 4], [1, 5]]),
    "combinations": (lambda x: norch.combinations(x[0, :3]), [[0, 1], [0, 2], [1, 2]]),
    "combinations again": (lambda x: norch.combinations(x[0, :2], 2, True), [[0, 0], [0, 1], [1, 1]]),
    "combinations of none": (lambda x: norch.combinations(x[0], 0).shape, [0]),
    "vander": (lambda x: norch.vander(x[0, 2:]), [[2, 1], [3, 1]]),
    "vander of rising powers": (lambda x: norch.vander(x[0, 2:], 3, increasing=True), [[1, 2, 4], [1, 3, 9]]),
    "cat with nothing": (lambda x: norch.cat([norch.tensor([]), x[:1]]), ROWS[:1]),
    "moveaxis": (lambda x: norch.moveaxis(x, 0, 1), COLUMNS),
}


@pytest.mark.parametrize("call, expected", list(CALLS.values()), ids=list(CALLS))
def test_values(call, expected):
    result = call(X.clone())
    assert (list(result) if isinstance(result, norch.Size) else lists(result)) == expected


DIFFERENTIABLE = [name for name, (call, _) in CALLS.items() if isinstance(call(X), norch.Tensor) and call(X).numel]


@pytest.mark.parametrize("name", [name for name in DIFFERENTIABLE if name != "repeat_interleave of numbers"])
def test_gradients(name):
    x = X.clone().requires_grad_()
    assert gradcheck(CALLS[name][0], (x,)) and gradgradcheck(CALLS[name][0], (x,))


# ---- Copies of views --------------------------------------------------------------------------------------------

COPIES = {
    "alias_copy": (),
    "as_strided_copy": ((2,), (5,)),
    "detach_copy": (),
    "diagonal_copy": (1,),
    "expand_copy": ((2, 3, 4),),
    "narrow_copy": (1, 1, 2),
    "permute_copy": ((1, 0),),
    "select_copy": (0, 1),
    "slice_copy": (1, 1, 3),
    "squeeze_copy": (),
    "t_copy": (),
    "transpose_copy": (0, 1),
    "unfold_copy": (1, 2, 1),
    "unsqueeze_copy": (0,),
    "view_copy": ((4, 3),),
}
SEVERAL = {"split_copy": (2,), "split_with_sizes_copy": ([1, 2],), "unbind_copy": ()}


@pytest.mark.parametrize("name", [*COPIES, *SEVERAL])
def test_a_copy_of_a_view_has_memory_of_its_own(name):
    x, arguments = X.clone(), {**COPIES, **SEVERAL}[name]
    results = getattr(norch, name)(x, *arguments)
    for result in results if name in SEVERAL else [results]:
        result.fill_(-1)
    assert x.equal(X)
    if name not in ("alias_copy", "detach_copy", "slice_copy"):
        shown = getattr(x, name[:-5])(*arguments)
        assert lists(getattr(norch, name)(x, *arguments)) == lists(shown)
    if name in COPIES and name != "detach_copy":
        assert gradcheck(lambda x: getattr(norch, name)(x, *arguments), (X.clone().requires_grad_(),))
        out = norch.empty(0, dtype=norch.float64)
        assert getattr(norch, name)(x, *arguments, out=out) is out
        assert out.tolist() == getattr(norch, name)(x, *arguments).tolist()


# ---- What is refused --------------------------------------------------------------------------------------------

REFUSED = {
    "x.tensor_split(0)": (RuntimeError, "at least one"),
    "x.tensor_split(norch.tensor([1.0]))": (RuntimeError, "int64"),
    "x.hsplit(3)": (RuntimeError, "3 equal parts"),
    "x[0].vsplit(2)": (RuntimeError, "2 dimensions"),
    "x.dsplit(2)": (RuntimeError, "3 dimensions"),
    "x.unfold(1, 5, 1)": (RuntimeError, "up to 4"),
    "x.unfold(1, 2, 0)": (RuntimeError, "step"),
    "x.unfold(2, 1, 1)": (IndexError, "2"),
    "x[0].H": (RuntimeError, "matrix"),
    "x.rot90(1, (0, 0))": (RuntimeError, "different"),
    "x.rot90(1, (0,))": (RuntimeError, "two dims"),
    "x.roll(())": (RuntimeError, "shift"),
    "x.repeat_interleave(norch.tensor([1, 2]), 0)": (RuntimeError, "3 elements"),
    "x.repeat_interleave(norch.tensor([1, 2, -1]), 0)": (RuntimeError, "negative"),
    "x.repeat_interleave(norch.tensor([1.0, 2.0, 1.0]), 0)": (RuntimeError, "int32 or int64"),
    "x.repeat_interleave(norch.tensor([1, 2, 1]), 0, output_size=5)": (RuntimeError, "output_size is 5"),
    "x.sum_to_size(2, 4)": (ValueError, "broadcast"),
    "x.diag_embed(0, 1, 1)": (RuntimeError, "same"),
    "x.diagonal_scatter(x)": (ValueError, r"\[3\].*\[3, 4\]"),
    "x.slice_scatter(x, 0, 1)": (ValueError, r"\[2, 4\]"),
    "norch.trace(x[0])": (RuntimeError, "matrix"),
    "norch.block_diag(x.reshape(1, 3, 4))": (ValueError, "2 dimensions"),
    "norch.cartesian_prod(x)": (ValueError, "vectors"),
    "norch.combinations(x)": (RuntimeError, "vector"),
    "norch.vander(x)": (RuntimeError, "vector"),
    "norch.broadcast_shapes((2,), (3,))": (ValueError, "broadcast"),
    "norch.stack([])": (RuntimeError, "at least one"),
    "x.reshape(2, 6, shape=(3, 4))": (TypeError, "twice"),
    "x.unsqueeze(True)": (TypeError, "True"),
    "norch.zeros(True)": (TypeError, "True"),
    "x.narrow(1, norch.tensor([1]), 2)": (RuntimeError, "scalar"),
}


@pytest.mark.parametrize("call", REFUSED)
def test_refused(call):
    error, message = REFUSED[call]
    with pytest.raises(error, match=message):
        eval(call, {"norch": norch, "x": X.clone()})


def test_fill_diagonal():
    assert norch.zeros(2, 3).fill_diagonal_(7).tolist() == [[7, 0, 0], [0, 7, 0]]
    assert norch.zeros(5, 2).fill_diagonal_(1, wrap=True).tolist() == [[1, 0], [0, 1], [0, 0], [1, 0], [0, 1]]
    assert norch.zeros(2, 2, 2).fill_diagonal_(1).sum() == 2


def test_shapes_joined_and_repeated_are_shapes():
    shape = norch.Size([2, 3])
    joined = [shape + (4,), (4,) + shape, shape * 2, 2 * shape]
    assert joined == [(2, 3, 4), (4, 2, 3), (2, 3, 2, 3), (2, 3, 2, 3)]
    assert all(type(x) is norch.Size for x in joined)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, **o: x.logcumsumexp(**o),
        lambda x, **o: norch.trapezoid(x, **o),
        lambda x, **o: norch.stack(x.chunk(2, **o)),
        lambda x, **o: norch.stack(x.tensor_split(2, **o)),
        lambda x, **o: x.take_along_dim(norch.tensor([[0], [0]]), **o),
    ],
)
def test_axis_is_another_name_of_dim(call):
    x = norch.tensor([[1.0, 2.0], [3.0, 5.0]])
    assert call(x, axis=1).equal(call(x, dim=1))


def test_repeat_interleave_of_many_short_slices():
    x = norch.arange(3600).reshape(2, 600, 3)
    for view in (x, x.movedim(0, 2).contiguous().movedim(2, 0), x[..., ::2], x[:1].expand(2, 600, 3)):
        for count in (2, 4, 5):
            expected = [[row for row in rows for _ in range(count)] for rows in view.tolist()]
            assert view.repeat_interleave(count, 1).tolist() == expected


def test_broadcast_shapes():
    assert norch.broadcast_shapes((2, 1), (3,), 1) == norch.Size([2, 3]) and norch.broadcast_shapes() == ()
