"""norch.explain: the picture, to the letter, and its agreement with the tensor itself."""

from __future__ import annotations

import re

import pytest

import norch

TRANSPOSED = """\
tensor of shape [3, 2], float32, on cpu
strides (1, 3), offset 0: not contiguous

element [i, j] is storage[i * 1 + j * 3]
element [2, 1] is storage[2 * 1 + 1 * 3] = storage[5] = 6.0

storage of 6 elements, 24 bytes
    0       1       2       3       4       5
+-------+-------+-------+-------+-------+-------+
|  1.0  |  2.0  |  3.0  |  4.0  |  5.0  |  6.0  |
+-------+-------+-------+-------+-------+-------+
  [0,0]   [1,0]   [2,0]   [0,1]   [1,1]   [2,1]"""

COLUMN = """\
tensor of shape [2], int64, on cpu
strides (3,), offset 1: not contiguous

element [i] is storage[1 + i * 3]
element [1] is storage[1 + 1 * 3] = storage[4] = 5

storage of 6 elements, 48 bytes
   0     1     2     3     4     5
+-----+-----+-----+-----+-----+-----+
|  1  |  2  |  3  |  4  |  5  |  6  |
+-----+-----+-----+-----+-----+-----+
        [0]               [1]"""

REPEATED = """\
tensor of shape [2, 3], bool, on cpu
strides (0, 0), offset 0: not contiguous
a stride of 0 repeats: several elements are one and the same cell

element [i, j] is storage[i * 0 + j * 0]
element [1, 2] is storage[1 * 0 + 2 * 0] = storage[0] = True

storage of 1 element, 1 bytes
    0
+--------+
|  True  |
+--------+
  [0,0]+"""

NO_DIMENSIONS = """\
tensor of shape [], float64, on cpu
strides (), offset 0: contiguous

the element is storage[0] = 2.5

storage of 1 element, 8 bytes
   0
+-----+
| 2.5 |
+-----+
   []"""

EMPTY = """\
tensor of shape [0, 3], float32, on cpu
strides (3, 1), offset 0: contiguous

no elements

storage of 0 elements, 0 bytes"""

PICTURES = {
    "transposed": (lambda: norch.Tensor([[1, 2, 3], [4, 5, 6]]).T, TRANSPOSED),
    "column": (lambda: norch.tensor([[1, 2, 3], [4, 5, 6]])[:, 1], COLUMN),
    "repeated": (lambda: norch.tensor([True]).expand(2, 3), REPEATED),
    "no dimensions": (lambda: norch.tensor([2.5], dtype=norch.float64).reshape(()), NO_DIMENSIONS),
    "empty": (lambda: norch.empty(0, 3), EMPTY),
}


@pytest.mark.usefixtures("no_leak")
@pytest.mark.parametrize("name", PICTURES)
def test_the_picture(name):
    make, expected = PICTURES[name]
    explanation = norch.explain(make())
    assert str(explanation) == repr(explanation) == expected


def marked(explanation):
    """storage place -> index, as the picture shows them: the numbers over the cells, the labels below."""
    found = {}
    lines = str(explanation).splitlines()
    for above, border in zip(lines, lines[1:]):
        if not border.startswith("+"):
            continue
        edges = [match.start() for match in re.finditer(r"\+", border)]
        below = lines[lines.index(above) + 4] if lines.index(above) + 4 < len(lines) else ""
        for start, end in zip(edges, edges[1:]):
            number, label = above[start:end].strip(), below[start : end + 1].strip()
            if number.isdigit() and label.startswith("["):
                found[int(number)] = tuple(map(int, label.strip("[]+").split(",")))
    return found


def test_a_long_storage_shows_the_part_that_begins_with_the_tensor():
    x = norch.arange(300).reshape(10, 30)[2:, ::4]
    explanation = norch.explain(x)
    assert "storage of 300 elements, 2400 bytes, of which 60 to 123 are shown" in str(explanation)
    assert max(map(len, str(explanation).splitlines())) <= 100
    indices = marked(explanation)
    assert sorted(indices) == sorted(60 + 30 * i + 4 * j for i in range(3) for j in range(8) if 30 * i + 4 * j < 64)
    assert all(x[index] == place for place, index in indices.items())


def test_every_mark_is_the_element_that_lies_there():
    x = norch.arange(60).reshape(3, 4, 5).permute(2, 0, 1)[1::2, :, 1:3]
    indices = marked(norch.explain(x))
    assert len(indices) == 12 and all(x[index] == place for place, index in indices.items())


def test_large_tensors_are_quick_and_nothing_is_changed():
    x = norch.ones(1).expand(1000, 1000, 1000)
    before = x._version
    norch.explain(x)
    assert x._version == before


def test_only_tensors():
    with pytest.raises(TypeError, match="explain: expected a Tensor, got list"):
        norch.explain([1, 2])
