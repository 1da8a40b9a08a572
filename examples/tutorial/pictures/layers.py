"""Draws layers.svg: the way of `x + y` from Python to a kernel and back, with the file that does each step."""

from __future__ import annotations

from norch.display.graph.svg import AMBER, BLUE, GREEN, GREY, INK, LINE, MUTED, VIOLET, Color, Sheet

WIDTH, HEIGHT, GAP = 540, 58, 26

PYTHON = [
    ("your script", "z = x + y", "Python finds Tensor.__add__", GREY),
    ("norch/tensor.py", '__add__, ... = binary("add", AddBackward, "x + y")', "a line for each operation", BLUE),
    (
        "norch/operation.py",
        "wrap(lib.add_tensor(x._ptr, y._ptr))",
        "calls, wraps the result, records its grad_fn",
        BLUE,
    ),
    (
        "norch/_C.py",
        '"add_tensor": (TENSOR, [TENSOR, TENSOR])',
        "ctypes: the prototypes, the library, its errors",
        BLUE,
    ),
]
LIBRARY = [
    ("norch/csrc/api.h", "Tensor* add_tensor(Tensor*, Tensor*)", "the C API: all that Python may call", GREEN),
    (
        "norch/csrc/api/elementwise.cpp",
        "kernels::add.launch(device, x, y, out)",
        "checks, broadcasts; dispatch.h: device first",
        GREEN,
    ),
]
KERNELS = [
    ("norch/csrc/cpu.cpp", "add_tensor_cpu", "loops, threads", AMBER),
    ("norch/csrc/cuda.cu", "add_tensor_cuda", "CUDA threads", AMBER),
]
FORMULA = ("norch/csrc/ops/operations.h", "OP(add, SAME, T(x + y))", "the formula, written once for both", VIOLET)


def draw() -> str:
    sheet = Sheet(724, 744, "the layers from Python to a kernel")
    sheet.text(28, 32, "x + y, from Python to a kernel and back", 15, INK, anchor="start", bold=True)
    left, y = 28.0, 56.0
    steps: list[float] = []
    for step in PYTHON:
        box(sheet, left, y, WIDTH, step)
        steps.append(y)
        y += HEIGHT + GAP
    border = y - GAP / 2 + 8
    y += 16
    for step in LIBRARY:
        box(sheet, left, y, WIDTH, step)
        steps.append(y)
        y += HEIGHT + GAP
    for above, below in zip(steps, steps[1:]):
        sheet.arrow([(left + 44, above + HEIGHT), (left + 44, below)])
    sheet.line([(left, border), (left + WIDTH, border)], LINE, 1.2, dashed=True)
    sheet.rect(left + WIDTH / 2 - 90, border - 10, 180, 20, Color("#ffffff", "#ffffff"), radius=0)
    sheet.text(left + WIDTH / 2, border, "Python above, C++ below", 12, MUTED)

    half = (WIDTH - 20) / 2
    middle = y
    for number, step in enumerate(KERNELS):
        x = left + number * (half + 20)
        box(sheet, x, middle, half, step)
        sheet.arrow([(x + 44, steps[-1] + HEIGHT), (x + 44, middle)])
    y = middle + HEIGHT + GAP
    box(sheet, left, y, WIDTH, FORMULA)
    for number in range(2):
        x = left + number * (half + 20) + 44
        sheet.arrow([(x, y), (x, middle + HEIGHT)], VIOLET.line, dashed=True)

    # the way back: the address of a C tensor, or NULL and an error that Python raises
    right = left + WIDTH
    start, end = steps[-1] + HEIGHT / 2, steps[2] + HEIGHT / 2
    sheet.arrow([(right, start), (right + 34, start), (right + 34, end), (right, end)])
    for number, line in enumerate(("the address", "of the result,", "or an error")):
        sheet.text(right + 44, (start + end) / 2 + 17 * (number - 1), line, 12, MUTED, anchor="start")
    return str(sheet)


def box(sheet: Sheet, x: float, y: float, width: float, step: tuple[str, str, str, Color]) -> None:
    """What does a step: its file, its code, and in words."""
    name, code, words, color = step
    sheet.rect(x, y, width, HEIGHT, color)
    sheet.text(x + 14, y + 17, name, 11.5, color.line, anchor="start", mono=True, bold=True)
    sheet.text(x + 14, y + 39, code, 13, INK, anchor="start", mono=True)
    below = 22 if width < WIDTH else 0  # where there is no room beside the name of the file
    sheet.text(x + width - 12, y + 17 + below, words, 11.5, MUTED, anchor="end")
