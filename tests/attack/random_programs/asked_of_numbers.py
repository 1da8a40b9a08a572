"""What random programs may compute otherwise than torch: rounding, infinities, and the digits of narrow dtypes."""

from __future__ import annotations

import re

from . import questions as ask
from .asking import but_for, left_out, of_found, of_lines, replaced
from .case import Row

MATRIX = r"linalg\.|det\(|inv|cholesky|qrf?\(|svd|lu_|triangular_solve|definite|LowRank|Multivariate|Wishart"
CANCELLING = (
    r"grid_sample|conv|cdist|BCEWithLogits|prod\(|attention|kl_div|Transform|Adafactor|RMSprop|LBFGS|[Mm]argin|Upsample"
    r"|interpolate|[Cc]ross_?[Ee]ntropy|GRU|LSTM|RNN"
)
DIVIDING = r" //?=? |div|reciprocal|\*\*|pow|gamma|rsqrt|logit"
UNDECIDED = "elements (True|False)|computes, torch raises _LinAlg|_LinAlgError.*torch computes"
NOW = "^(?!at the end).*elements"  # as soon as they are computed

INFINITE = re.compile(r"-?\binf\b")

OF_ROUNDING = [
    Row(
        "a value on the edge between two bins, whose last digits differ",
        "elements",
        last=r"histogram\(",
        asks=of_found(ask.on_an_edge),
    ),
    Row(
        "of a tolerance of 0, or of a singular value, rounding decides the rank",
        "elements",
        last="matrix_rank",
        asks=of_lines(ask.rank_is_rounding),
    ),
    Row("of elements that should be 0 rounding decides", NOW, asks=of_lines(ask.rounding_beside_0)),
    Row("the sign of a zero", NOW, asks=of_lines(ask.zeros_have_signs)),
    Row(
        "integers, and the eps of a loss, become float32, whose last digits differ",
        whole=r"dtype=lib.(u?int|bool)|lu_factor|\.check\(|[cC]osine_?[eE]mbedding_?[lL]oss",
        asks=of_found(ask.differs_as_float32),
    ),
    Row(
        "rounding decides whether a pivot is 0",
        UNDECIDED,
        last="cholesky|definite",
        asks=lambda case: ask.pivot_is_rounding(case.lines) or ask.operand_is_rounding(case.lines),
    ),
    Row(
        "rounding decides whether a pivot is 0",
        ".grad elements.*nan",
        whole=r"linalg\.lu\(",
        asks=lambda case: ask.meets_low_rank(case.lines, r"linalg\.lu\("),
    ),
    Row(
        "of a matrix without full rank rounding decides the last pivots",
        "elements",
        last=r"lu(_factor)?\(",
        asks=lambda case: ask.meets_low_rank(case.lines, r"lu(_factor)?\("),
    ),
    Row(
        "of a matrix without full rank rounding decides the last reflection",
        "elements",
        last=r"parametrizations\.orthogonal",
        asks=lambda case: ask.meets_low_rank(case.lines, r"parametrizations\.orthogonal"),
    ),
]

OF_INFINITIES = [
    Row(
        "torch does not watch the writes to what unsafe_split and unsafe_chunk give",
        "elements",
        whole=r"unsafe_(split|chunk)",
        once=replaced(r"\.unsafe_(split|chunk)", r".\1"),
    ),
    Row(
        "0 times infinity is NaN where a derivative passes, which is by rows or by columns",
        r"\.grad elements .*nan",
        once=left_out(r"hessian\(|jacfwd\("),
    ),
    Row(
        "nothing is promised of a matrix that is not finite",
        near=MATRIX,
        asks=of_lines(ask.meets_infinity),
    ),
    Row(
        "0 times infinity, or a difference of infinities, that one of the formulas has on its way",
        "elements .*nan",
        near=CANCELLING,
        asks=of_lines(ask.meets_infinity),
    ),
    Row(
        "a coordinate that is not finite lies anywhere",
        "elements",
        near=r"grid_sample(r_[23]d|r)?\(",
        asks=of_lines(ask.meets_infinity),
    ),
    Row(
        "of weights whose sum is 0 torch divides the loss of the labels and that of all classes apart",
        "elements -?inf, torch has nan",
        last=r"[cC]ross_?[eE]ntropy",
    ),
    Row(
        "torch divides by the square of the divisor, which underflows",
        "elements .*torch has .*inf",
        whole="addcdiv",
        derived=True,
    ),
    Row("the sign of a zero", near=DIVIDING, asks=but_for(ask.differs_in_signs_of_infinities)),
    Row(
        "torch's gradient of a variance of no more elements than the correction has no sign",
        whole=r"\b(var|std)(_mean)?\(.*correction=",
        derived=True,
        asks=but_for(ask.differs_in_signs_of_infinities),
    ),
    Row("the sign of a NaN", last="copysign|signbit", asks=of_lines(ask.meets_infinity)),
    Row("with a beta of 0 norch divides by it", whole=r"softplus\(v\d+, (beta=)?(0|False)\b", derived=True),
]

OF_DIGITS = [
    Row("torch's soft_margin_loss takes a power before its logarithm", "torch has .*inf", last="[sS]oft_?[mM]argin"),
    Row("torch's airy_ai has five digits beside its first root", "elements", once=left_out(r"airy_ai\(")),
    Row(
        "what infinities of 16 bits leave in a gradient: NaN, or one of them",
        r"\.grad elements",
        whole=r"lib\.float16",
        asks=of_found(ask.neither_is_finite),
    ),
    Row(
        "beside the largest number of 16 bits rounding decides what is infinite",
        "elements .*inf",
        whole=r"lib\.float16",
        asks=but_for(ask.overflows),
    ),
    Row("in wide dtypes torch has norch's numbers", asks=lambda case: ask.agrees_in_wide(case.lines, case.found)),
    Row(
        "of few digits norch's are as near to the result in float64 as torch's",
        asks=lambda case: ask.torch_is_no_closer(case.lines, case.found),
    ),
    Row(
        "torch rounds eps to 16 bits, where it becomes 0",
        last=r"optim\.",
        whole="16",
        asks=lambda case: ask.torch_spreads_nan(INFINITE.sub("nan", case.found), case.close),
    ),
    Row(
        "torch's products of bfloat16 are sums in another order, of which a step of Muon is made",
        "elements",
        whole=r"optim\.Muon\(",
        once=replaced(r"optim\.Muon\(\[(v\d+)\], [\d.]+", r"optim.Muon([\1], 1e-5"),
    ),
    Row(
        "of equal eigenvalues, and of a singular value of 0, rounding decides",
        derived=True,
        asks=lambda case: (
            ("svdvals" in case.whole or ask.norch_spreads_nan(case.found, case.close))
            and ask.eigenvalues_meet(case.lines)
        ),
    ),
    Row(
        "torch calls a custom operation with zeros for a gradient that is not there",
        "a NoneType, torch has a tensor",
        whole=r"autograd\.Function",
    ),
    Row(
        "of equal weights any is pruned",
        "elements",
        last=r"prune\.",
        asks=of_lines(ask.equal_weights_decide),
    ),
    Row(
        "a text shows the last digits of a number",
        r"^v\d+: ['\"]",
        asks=lambda case: ask.rounded_otherwise(case.lines) and ask.digits_decide(case.lines),
    ),
    Row(
        "with a first beta below 1/2 torch's lerp subtracts infinities",
        last="Adam",
        asks=lambda case: ask.meets_infinity(case.lines) and ask.torch_spreads_nan(case.found, case.close),
    ),
    Row(
        "a list that a custom operation returns holds its results; torch takes it for none",
        "is_leaf|requires_grad",
        last="use_reentrant=True",
        asks=of_lines(ask.is_a_list),
    ),
    Row(
        "of numbers that are not unique torch's isin promises nothing",
        last="assume_unique=True",
        once=replaced(", assume_unique=True", ""),
    ),
    Row("among numbers in no order nothing is promised", "elements", asks=of_lines(ask.edges_are_in_no_order)),
]
