"""Draws modules.svg: a model as a tree of modules, with its parameters as leaves."""

from __future__ import annotations

from common import heading

import norch
from norch import nn
from norch.display.graph.svg import AMBER, BLUE, GREEN, INK, LINE, MUTED, Sheet

ROW, INDENT = 30, 44


class MyModel(nn.Module):
    """The article's network with another one as a part."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 10), nn.Sigmoid())
        self.head = nn.Linear(10, 1)


def rows(module: nn.Module, name: str, path: str, depth: int) -> list[tuple[int, str, str, str, bool]]:
    """(depth, name, what it is, name in state_dict, whether it is a parameter) for each line of the tree."""
    found = [(depth, name, type(module).__name__, "", False)]
    for key, parameter in module.named_parameters(recurse=False):
        found.append((depth + 1, key, f"Parameter {list(parameter.shape)}", f"{path}{key}", True))
    for key, child in module.named_children():
        found += rows(child, key, f"{path}{key}.", depth + 1)
    return found


def draw() -> str:
    model = MyModel()
    tree = rows(model, "model", "", 0)
    names = [path for *_, path, is_parameter in tree if is_parameter]
    assert names == [name for name, _ in model.named_parameters()]
    count = sum(norch.numel(parameter) for parameter in model.parameters())
    sheet = Sheet(640, 112 + ROW * len(tree), "a tree of modules")
    heading(
        sheet,
        28,
        32,
        "model = MyModel()",
        f"{count} numbers to train, in {len(names)} parameters: the walk goes down the tree, from above",
    )
    sheet.text(430, 78, "its name in state_dict()", 12.5, MUTED, anchor="start")
    top, last = 92, {}
    for place, (depth, name, kind, path, is_parameter) in enumerate(tree):
        y, x = top + ROW * place, 28 + INDENT * depth
        if depth:
            sheet.line([(x - INDENT / 2, last[depth - 1] + 24), (x - INDENT / 2, y + 12), (x, y + 12)], LINE)
        last[depth] = y
        sheet.rect(x, y, 330 - INDENT * depth, 24, GREEN if is_parameter else BLUE, radius=12 if is_parameter else 5)
        sheet.text(x + 14, y + 12, name, 12.5, INK, anchor="start", mono=True, bold=True)
        sheet.text(x + 84, y + 12, kind, 11, MUTED, anchor="start", mono=True)
        if is_parameter:
            sheet.arrow([(358, y + 12), (420, y + 12)], AMBER.line, 1.2, dashed=True)
            sheet.text(430, y + 12, path, 12.5, AMBER.line, anchor="start", mono=True, bold=True)
    return str(sheet)
