"""Every operation of the table, in every dtype and layout: values, shapes, dtypes, in-place forms, gradients."""

from __future__ import annotations

import itertools

import pytest
from arrays import DTYPES, REAL, Array, elementwise, promote, wrap
from cases import CASES, TERNARY_NAMES
from compare import assert_close
from derivatives import derivative_classes
from draws import drawn
from operations import (
    ACCEPTED,
    BINARY,
    ELEMENTWISE,
    REDUCTIONS,
    UNARY,
    by_name,
    result_dtype,
)
from tensors import LAYOUTS, dtype_named, operand

import norch
from norch import prototypes

# ---- the table is complete -----------------------------------------------------------------------------------------


def test_every_operation_of_the_library_has_a_row():
    operations = prototypes.operations()
    assert set(operations["unary"]) == {row.c_row for row in UNARY}
    assert set(operations["binary"]) == {row.c_row for row in BINARY}
    with_backward = {row.c_row for row in UNARY if row.backward} | set(operations["activation"])
    assert set(operations["derivative"]) <= {f"{name}_backward" for name in with_backward}
    parametric = {row for row in operations["shaped"] if not row.endswith("_slope")}
    assert set(operations["activation"]) | parametric == set(TESTED_IN_TEST_ACTIVATIONS) - {"hardtanh", "threshold"}
    corners = {"leaky_relu_backward", "shrink_backward", "floor_backward", "gate_backward"}
    assert set(operations["shaped_derivative"]) == corners  # of TESTED_IN_TEST_ACTIVATIONS
    assert set(operations["bounded"]) == {
        "nan_to_num",
        "clamp_backward",
        "hardtanh_backward",
        "add_scaled_product",
        "add_scaled_quotient",
        "add_product_to_scaled",
    }  # tests/autograd/test_fused.py, tests/tensor
    assert {row for row in operations["loss"] if not row.endswith("_slope")} == set(TESTED_IN_TEST_PAIR_LOSSES)
    assert set(operations["summed_loss"]) == set(SUMMED_LOSSES)
    assert set(operations["ternary"]) == set(TERNARY_NAMES) <= {row.name for row in CASES}


TESTED_BY_THEMSELVES = {
    "CollectBackward",  # the derivative of PadBackward: test_gradients.py differentiates twice
    "ToBackward",  # test_gradients.py
    "CustomBackward",  # tests/autograd
    "_Start",  # tests/autograd/test_attack_findings.py
    "_TwiceBackward",
    "_Checkpoint",  # tests/tensor/test_surface.py
    "_Total",  # tests/distributed/test_state.py
    "_AllGather",  # tests/distributed
    "_AllReduce",
    "_Broadcast",
    "_ReduceScatter",
    "AttentionBackward",  # tests/nn/test_attention.py
    "ReplayedBackward",  # tests/recording
    "PassOn",
    "VariableBackward",  # tests/autograd/test_newer_findings.py
    "StandIn",
    "NLLBackward",  # test_fused.py
    "PReluBackward",  # tests/nn/test_activations.py
    "GluBackward",
    "CrossBackward",  # tests/tensor/test_matrix_products.py
    "_StandardGamma",  # tests/oracle/test_oracle_distributions.py
    "EntrBackward",
    "IgammaBackward",  # tests/tensor/test_special.py, as all of SPECIAL_OPS
    "IgammacBackward",
    "ZetaBackward",
    "TrigammaBackward",
    "Xlog1pyBackward",
    "ErfcxBackward",
    "NdtrBackward",
    "LogNdtrBackward",
    "NdtriBackward",
    "I1Backward",
    "I0eBackward",
    "I1eBackward",
    "InverseBackward",  # tests/tensor/test_linalg.py
    "SolveBackward",
    "SubstitutionBackward",
    "CholeskyBackward",
    "LogAbsDetBackward",
    "DetSignBackward",
    "DetBackward",
    "PinvBackward",
    "EighBackward",
    "EigBackward",
    "SvdBackward",
    "QrBackward",
    "LuBackward",
    "NotUniqueBackward",
    "FrexpBackward",  # tests/tensor/test_elementary.py
    "LogitBackward",
    "SincBackward",
    "NanToNumBackward",
    "RoundedDivBackward",
    "RecurrentBackward",  # tests/nn/test_recurrent.py
    "EmbeddingBackward",  # tests/nn/test_embedding_bags.py
    "EmbeddingBagBackward",
    "SelectBackward",  # tests/tensor/test_views.py
    "ModuleBackward",  # tests/nn/test_hooks.py
    "ModuleOutputBackward",
    "ModuleOutputs",
    "UntrackedViewBackward",  # tests/autograd
    "ConstantBackward",  # tests/autograd
}
SUMMED_LOSSES = {
    "mse": "MSEBackward",
    "l1_loss": "L1LossBackward",
    "smooth_l1_loss": "SmoothL1LossBackward",
    "huber_loss": "HuberLossBackward",
    "bce_loss": "BCELossBackward",
    "bce_with_logits_loss": "BCEWithLogitsLossBackward",
    "soft_margin_loss": "SoftMarginLossBackward",
    "margin_loss": "MarginLossBackward",
    "hinge_embedding_loss": "HingeEmbeddingLossBackward",
    "poisson_nll_loss": "PoissonNLLLossBackward",
    "kl_div_loss": "KLDivLossBackward",
}
TESTED_IN_TEST_FUSED = {"LinearBackward", "CrossEntropyBackward", *SUMMED_LOSSES.values()}
TESTED_IN_TEST_FUSED |= {"ClassMarginBackward", "RowPairsBackward", "GridSampleBackward", "CTCBackward"}
TESTED_IN_TEST_ACTIVATIONS = {
    "gelu": "GeluBackward",
    "gelu_tanh": "GeluTanhBackward",
    "mish": "MishBackward",
    "silu": "SiluBackward",
    "leaky_relu": "LeakyReluBackward",
    "elu": "EluBackward",
    "softplus": "SoftplusBackward",
    "hardtanh": "HardtanhBackward",
    "selu": "SeluBackward",
    "logsigmoid": "LogsigmoidBackward",
    "hardsigmoid": "HardsigmoidBackward",
    "hardswish": "HardswishBackward",
    "hardshrink": "ShrinkBackward",
    "softshrink": "ShrinkBackward",
    "threshold": "ThresholdBackward",
    "gate": "GluBackward",
}
TESTED_IN_TEST_PAIR_LOSSES = {
    "share": "ShareBackward",
    "huber": "HuberBackward",
    "bce": "BCEBackward",
    "bce_with_logits": "BCEWithLogitsBackward",
}


def test_every_backward_class_has_a_row():
    tested = {row.backward for row in ELEMENTWISE + REDUCTIONS} | {name for row in CASES for name in row.backward}
    tested |= TESTED_BY_THEMSELVES | TESTED_IN_TEST_FUSED | set(TESTED_IN_TEST_ACTIVATIONS.values())
    tested |= set(TESTED_IN_TEST_PAIR_LOSSES.values())
    assert set(derivative_classes()) == tested - {""}


# ---- values ----------------------------------------------------------------------------------------------------------

SHAPES = [(2, 3, 4), (5,), (1,), (), (0, 3), (2, 1, 3, 1)]
UNARY_OPERANDS = [((2, 3, 4), layout) for layout in LAYOUTS] + [(shape, "contiguous") for shape in SHAPES[1:]]
UNARY_OPERANDS += [((7,), "stepped"), ((4,), "expanded"), ((0, 3), "transposed")]

# Each side broadcast, rank gaps of one and two, both sides at once, and every layout against every other.
PAIRS = [((3, 2), first, (3, 2), second) for first, second in itertools.product(LAYOUTS, LAYOUTS)]
PAIRS += [
    (first, "contiguous", second, "contiguous")
    for first, second in [
        ((3,), (2, 3)),
        ((2, 3), (3,)),
        ((3,), (4, 2, 3)),
        ((4, 2, 3), (3,)),
        ((2, 1), (1, 3)),
        ((2, 1, 3), (4, 1)),
        ((1,), (2, 3)),
        ((2, 3), ()),
        ((), (2, 3)),
        ((1,), (1,)),
        ((), ()),
        ((0, 3), (3,)),
        ((1,), (0,)),
        ((0, 1), (1, 4)),
    ]
]
PAIRS += [((2, 3), "transposed", (4, 2, 3), "stepped"), ((4, 2, 3), "stepped", (3,), "stepped")]


@pytest.mark.parametrize("dtype", DTYPES)
@by_name(UNARY)
def test_unary(row, dtype, device, rng):
    for shape, layout in UNARY_OPERANDS:
        tensor, array = operand(drawn(rng, row.draws[0], dtype), shape, dtype, layout, device)
        if dtype not in ACCEPTED[row.rule]:
            with pytest.raises(RuntimeError, match=f"{row.c_row}.*({dtype}|integer)"):
                getattr(norch, row.name)(tensor)
            continue
        expected_dtype = result_dtype(row.rule, dtype)
        if row.rule == "real":
            array = Array([wrap(x, expected_dtype) for x in array.flat], shape)
        expected = elementwise(lambda x: wrap(row.reference(x), expected_dtype), array)  # noqa: B023
        results = [getattr(norch, row.name)(tensor), getattr(tensor, row.name)()]
        if row.symbol:
            results.append(row.symbol(tensor))
        for result in results:
            assert_close(result, expected, expected_dtype)
        assert_close(tensor, array, atol=0, rtol=0)


def binary_reference(row, dtype, x, y):
    """Both operands in their common dtype, then the formula; an Array in the dtype of the result."""
    target = result_dtype(row.rule, dtype)
    computing = dtype if row.rule == "test" else target
    return elementwise(lambda a, b: wrap(row.reference(wrap(a, computing), wrap(b, computing)), target), x, y), target


@pytest.mark.parametrize("dtype", DTYPES)
@by_name(BINARY)
def test_binary(row, dtype, device, rng):
    for shape1, layout1, shape2, layout2 in PAIRS:
        tensor1, array1 = operand(drawn(rng, row.draws[0], dtype), shape1, dtype, layout1, device)
        tensor2, array2 = operand(drawn(rng, row.draws[1], dtype), shape2, dtype, layout2, device)
        if dtype not in ACCEPTED[row.rule]:
            with pytest.raises(RuntimeError, match=f"{row.c_row}.*({dtype}|integer)"):
                getattr(norch, row.name)(tensor1, tensor2)
            continue
        expected, expected_dtype = binary_reference(row, dtype, array1, array2)
        results = [getattr(norch, row.name)(tensor1, tensor2), getattr(tensor1, row.name)(tensor2)]
        if row.symbol:
            results.append(row.symbol(tensor1, tensor2))
        for result in results:
            assert_close(result, expected, expected_dtype)
        assert_close(tensor1, array1, atol=0, rtol=0)
        assert_close(tensor2, array2, atol=0, rtol=0)


@pytest.mark.parametrize("dtype2", DTYPES)
@pytest.mark.parametrize("dtype1", DTYPES)
@by_name(BINARY)
def test_promotion(row, dtype1, dtype2, device, rng):
    """Operands of two dtypes are computed in the larger one."""
    dtypes = (dtype1, dtype2)
    tensor1, array1 = operand(
        drawn(rng, row.draws[0], "uint8" if "uint8" in dtypes else dtypes[0]), (2, 3), dtypes[0], "contiguous", device
    )
    tensor2, array2 = operand(
        drawn(rng, row.draws[1], "uint8" if "uint8" in dtypes else dtypes[1]), (3,), dtypes[1], "contiguous", device
    )
    if promote(*dtypes) not in ACCEPTED[row.rule]:
        with pytest.raises(RuntimeError, match=row.c_row):
            getattr(norch, row.name)(tensor1, tensor2)
        return
    if row.name in ("floor_divide", "remainder") and 0 in array2.flat and promote(*dtypes) not in REAL:
        pytest.fail("the table drew a zero divisor")
    expected, expected_dtype = binary_reference(row, promote(*dtypes), array1, array2)
    assert_close(getattr(norch, row.name)(tensor1, tensor2), expected, expected_dtype)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "float16", "bfloat16", "float32", "float64"])
@by_name([row for row in BINARY if row.symbol])
def test_python_number_as_operand(row, dtype, device, rng):
    """A number on either side of the operator; an int does not widen the tensor's dtype, a float makes floats."""
    numbers = [2] if row.rule == "whole" else [2, 1.5]
    if dtype not in ACCEPTED[row.rule]:
        return
    for number, (shape, layout) in itertools.product(
        numbers, [((2, 3), "transposed"), ((), "contiguous"), ((0,), "contiguous")]
    ):
        common = "float32" if isinstance(number, float) and dtype not in REAL else dtype
        right, right_array = operand(drawn(rng, row.draws[1], dtype), shape, dtype, layout, device)
        left, left_array = operand(drawn(rng, row.draws[0], dtype), shape, dtype, layout, device)
        operand_number = Array([number], ())
        expected, expected_dtype = binary_reference(row, common, left_array, operand_number)
        assert_close(row.symbol(left, number), expected, expected_dtype)
        if row.name == "pow" and common in REAL:  # a negative float to a power that is no integer
            right, right_array = abs(right), elementwise(abs, right_array)
        expected, expected_dtype = binary_reference(row, common, operand_number, right_array)
        assert_close(row.symbol(number, right), expected, expected_dtype)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integer_division_rounds_down(dtype, device):
    lowest = -(2 ** (31 if dtype == "int32" else 63))
    pairs = [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (-6, 3), (0, -5), (1, lowest), (lowest, 3), (lowest + 1, -1)]
    x, y = (norch.tensor(column, dtype=dtype_named(dtype), device=device) for column in map(list, zip(*pairs)))
    assert_close(x // y, [a // b for a, b in pairs], dtype)
    assert_close(x % y, [a % b for a, b in pairs], dtype)
    # the one quotient that does not fit wraps around instead of trapping
    edge = norch.tensor([lowest], dtype=dtype_named(dtype), device=device)
    assert_close(edge // -1, [lowest], dtype)
    assert_close(edge % -1, [0], dtype)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
@pytest.mark.parametrize("divide", [lambda x, y: x // y, lambda x, y: x % y, norch.floor_divide, norch.remainder])
def test_integer_division_by_zero_raises(divide, dtype, device):
    x = norch.tensor([1, 2, 3], dtype=dtype_named(dtype), device=device)
    for zero in (
        0,
        norch.tensor([1, 0, 1], dtype=dtype_named(dtype), device=device),
        norch.tensor([0], dtype=dtype_named(dtype), device=device),
    ):
        with pytest.raises(RuntimeError, match="zero"):
            divide(x, zero).tolist()  # on a GPU it is found when a value is read
    with pytest.raises(RuntimeError, match="zero"):
        divide(5 if divide not in (norch.floor_divide, norch.remainder) else x, x * 0).tolist()
    assert_close(x + 0, [1, 2, 3], dtype)


def test_integers_wrap_around(device):
    byte = norch.tensor([200, 100], dtype=norch.uint8, device=device)
    assert_close(byte + byte, [144, 200], "uint8")
    assert_close(-byte, [56, 156], "uint8")
    wide = norch.tensor([2**62, -(2**62)], device=device)
    assert_close(wide * 4 + 1, [1, 1], "int64")
    assert_close(abs(norch.tensor([-(2**63)], device=device)), [-(2**63)], "int64")
    assert_close(norch.tensor([2**53 + 1], device=device) + 0, [2**53 + 1], "int64")


# ---- in place --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["contiguous", "transposed", "stepped"])
@pytest.mark.parametrize("dtype", DTYPES)
@by_name([row for row in ELEMENTWISE if row.rule != "test"])
def test_in_place_equals_out_of_place(row, dtype, layout, device, rng):
    if dtype not in ACCEPTED[row.rule]:
        return
    tensor, array = operand(drawn(rng, row.draws[0], dtype), (3, 4), dtype, layout, device)
    base = tensor.data_ptr()
    others = [] if row in UNARY else [operand(drawn(rng, row.draws[1], dtype), (4,), dtype, "stepped", device)[0]]
    if result_dtype(row.rule, dtype) != dtype:  # exp_ of integers: floats do not fit
        with pytest.raises(RuntimeError, match="cast"):
            getattr(tensor, row.name + "_")(*others)
        assert_close(tensor, array, dtype)
        return
    expected = getattr(tensor, row.name)(*others)
    result = getattr(tensor, row.name + "_")(*others)
    assert result is tensor
    assert tensor.data_ptr() == base
    assert_close(tensor, Array([x for line in expected.tolist() for x in line], (3, 4)), dtype, rtol=0, atol=0)


def test_every_arithmetic_operation_has_an_in_place_form():
    arithmetic = [
        row.name
        for row in ELEMENTWISE
        if row.rule in ("same", "numeric", "real") and row.name not in ("minimum", "maximum")
    ]
    assert [name for name in arithmetic if not hasattr(norch.Tensor, name + "_")] == []


@pytest.mark.parametrize("symbol", ["+=", "-=", "*=", "/=", "**=", "//=", "%="])
def test_augmented_assignment(symbol, device):
    values = [[1.5, -2.5], [3.0, 4.5]]
    tensor = norch.tensor(values, device=device)
    view, same = tensor.T, tensor
    names = {"t": tensor, "y": norch.tensor([2.0, 3.0], device=device)}
    exec(f"t {symbol} y", names)
    expected = [[eval(f"x {symbol[:-1]} y", {"x": x, "y": y}) for x, y in zip(line, [2.0, 3.0])] for line in values]
    assert names["t"] is same
    assert_close(same, expected, "float32")
    assert_close(view, [list(column) for column in zip(*expected)], "float32")


def test_in_place_onto_an_overlapping_view(device):
    """Each result is computed from the values before the write."""
    x = norch.tensor([[1.0, 2.0], [3.0, 4.0]], device=device)
    x += x.T
    assert_close(x, [[2.0, 5.0], [5.0, 8.0]])
    y = norch.tensor([1.0, 2.0, 3.0, 4.0], device=device)
    y[1:] += y[:-1]
    assert_close(y, [1.0, 3.0, 5.0, 7.0])


def test_in_place_refuses_what_does_not_fit(device):
    small, large = norch.ones(3, device=device), norch.ones(2, 3, device=device)
    for attempt in (lambda: small.add_(large), lambda: norch.ones(1, device=device).mul_(small)):
        with pytest.raises((RuntimeError, ValueError), match=r"\[.*\].*\[.*\]"):
            attempt()
    with pytest.raises(RuntimeError, match="expanded|share"):
        norch.ones(1, device=device).expand(3).add_(1)
    with pytest.raises(RuntimeError, match="float32.*int64"):
        norch.tensor([1, 2], device=device).add_(1.5)
    assert_close(small, [1.0, 1.0, 1.0])
