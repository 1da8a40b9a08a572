"""How programs print and are drawn."""

from __future__ import annotations

from typing import Any

import pytest

import norch
import norch.nn as nn


def program_of(function: Any, *arguments: Any) -> Any:
    compiled = norch.compile(function, fullgraph=True)
    for _ in range(4):
        compiled(*arguments)
    (program,) = compiled.programs
    return program


def rows(program: Any) -> dict[str, tuple[str, ...]]:
    """The operation and the notes of each line, by the name of the line."""
    return {node.name: (node.call(), node.shape, *node.notes) for node in program.graph_nodes()}


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + norch.tanh(x))


def test_a_program_prints_operations_shapes_bytes_and_places() -> None:
    program = program_of(gelu, norch.ones(2, 3))
    assert str(program).splitlines() == [
        "program of gelu: 4 operations, 96 bytes to work in",
        "input 0 = input               [2, 3]   24 bytes",
        "%1      = mul(0.5, input 0)   [2, 3]   24 bytes   arena +0",
        "%2      = tanh(input 0)       [2, 3]   24 bytes   arena +32",
        "%3      = add(1, %2)          [2, 3]   24 bytes   arena +64",
        "%4      = mul(%1, %3)         [2, 3]   24 bytes   result 0",
    ]


def test_a_training_step_names_parameters_gradients_and_states() -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
    optimizer = norch.optim.Adam(model.parameters(), lr=0.1)

    def step(x: Any) -> Any:
        loss = model(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    found = rows(program_of(step, norch.ones(4, 3)))
    assert found["0.weight"] == ("parameter", "[2, 3]", "24 bytes", "", "")
    assert found["0.weight.exp_avg"][0] == "state"
    assert found["%1"][0] == "linear(input 0, 0.weight, 0.bias)"
    places = {row[3] for row in found.values() if len(row) > 3}
    assert {"0.weight.grad", "0.bias.grad", "result 0"} <= places
    adam = next(row for row in found.values() if row[0].startswith("adam") and "0.weight.exp_avg" in row[0])
    assert adam[4] == "in place" and adam[3].startswith("0.weight, 0.weight.exp_avg")


def test_what_is_changed_in_place_reads_what_it_was() -> None:
    def added(x: Any) -> Any:
        y = x * 2
        y += 1
        y.exp_()
        return y

    found = rows(program_of(added, norch.ones(5)))
    assert [row[-1] for name, row in found.items() if name.startswith("%")] == ["", "in place", "in place"]
    assert "%1" in found["%2"][0] and "%2" in found["%3"][0]


def test_an_input_that_is_written_is_in_place() -> None:
    found = rows(program_of(lambda x: x.mul_(2), norch.ones(5)))
    assert found["%1"][2:] == ("20 bytes", "input 0", "in place")


def test_a_backward_follows_its_forward() -> None:
    weight = norch.ones(3, requires_grad=True)
    x = norch.ones(3, requires_grad=True)
    program = program_of(lambda x: (x * weight).exp(), x)
    found = rows(program)
    assert "of its backward" in repr(program)
    assert found["gradient of result 0"][0] == "input"
    assert {"weight.grad", "gradient of input 0"} <= {row[3] for row in found.values() if len(row) > 3}


def test_dtypes_and_random_numbers_show() -> None:
    found = rows(program_of(lambda x: nn.functional.dropout(x.double(), 0.5), norch.ones(5)))
    assert any(row[1] == "[5] float64" and row[2] == "40 bytes" for row in found.values())
    assert any(row[0] == "draw" for row in found.values())


def test_an_empty_program_prints() -> None:
    program = program_of(lambda x, y: x, norch.ones(2), norch.ones(2))
    assert str(program).endswith(": 0 operations, 0 bytes to work in")


def test_a_program_is_drawn_in_all_formats(tmp_path: Any) -> None:
    drawing = norch.draw_graph(program_of(gelu, norch.ones(2, 3)))
    assert drawing.text.splitlines()[0] == "4 operations, 1 leaf"
    assert "n0 -> n1;" in drawing.dot and "result 0" in drawing.dot
    drawing.save(tmp_path / "program.svg")
    assert (tmp_path / "program.svg").read_text(encoding="utf-8").startswith("<svg")


def test_a_drawing_keeps_no_program_alive_and_folds_long_ones() -> None:
    def many(x: Any) -> Any:
        for _ in range(300):
            x = x * 2
        return x

    drawing = norch.draw_graph(program_of(many, norch.ones(2)), max_nodes=10)
    assert len(drawing.text.splitlines()) <= 11
    assert drawing.text.startswith("300 operations")


def test_draw_graph_says_what_does_not_go_with_a_program() -> None:
    program = program_of(gelu, norch.ones(2))
    with pytest.raises(ValueError, match="neither params nor values"):
        norch.draw_graph(program, values=True)
    with pytest.raises(TypeError, match="draw_graph"):
        norch.draw_graph(3)  # type: ignore[arg-type]
