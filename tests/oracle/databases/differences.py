"""What differs from PyTorch in torch's databases, each with its reason. docs/differences.md shows the same table.

A row names operations, modules or optimizers. Without `what` norch has none of them. With it norch has them all, and
every check whose report contains a match of `what` (form, call and reason: see report.py) differs for the reason given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from reports import BY_DESIGN, Failure, Report


@dataclass(frozen=True)
class Difference:
    names: str
    reason: str
    what: str = ""

    def __contains__(self, name: str) -> bool:
        return name in self.names.split()


DIFFERENCES = [
    # ---- what norch has not at all ----
    Difference(
        "cdouble cfloat chalf complex polar view_as_complex view_as_real stft istft imag nn.functional.silu.complex",
        "norch has no complex numbers",
    ),
    Difference(
        "fft.fft fft.fft2 fft.fftn fft.hfft fft.hfft2 fft.hfftn fft.rfft fft.rfft2 fft.rfftn fft.ifft fft.ifft2 "
        "fft.ifftn fft.ihfft fft.ihfft2 fft.ihfftn fft.irfft fft.irfft2 fft.irfftn",
        "Fourier transforms give complex numbers, which norch does not have",
    ),
    Difference(
        "masked.sum masked.prod masked.cumsum masked.cumprod masked.amax masked.amin masked.argmax masked.argmin "
        "masked.mean masked.median masked.norm masked.var masked.std masked.softmax masked.log_softmax masked.softmin "
        "masked.normalize masked.logaddexp masked.logsumexp",
        "masked tensors are a prototype in PyTorch; `where` and `masked_fill` do the same",
    ),
    Difference(
        "_softmax_backward_data _native_batch_norm_legit _batch_norm_with_update _upsample_bilinear2d_aa "
        "max_pool2d_with_indices_backward torch._scaled_mm torch._scaled_mm_v2 torch.ops.aten._safe_softmax.default "
        "torch.ops.aten._flash_attention_forward torch.ops.aten._efficient_attention_forward slice "
        "_unsafe_masked_index _unsafe_masked_index_put_accumulate _chunk_cat native_dropout_backward hash_tensor "
        "_segment_reduce.lengths _segment_reduce.offsets",
        "internal functions of PyTorch, which programs do not call",
    ),
    Difference(
        "jiterator_unary jiterator_binary jiterator_4inputs_with_extra_args jiterator_binary_return_by_ref "
        "jiterator_2inputs_2outputs",
        "kernels that are compiled from CUDA code at run time",
    ),
    Difference(
        "nn.functional.batch_norm.without_cudnn",
        "a case of CUDA alone, which has no samples on a CPU",
    ),
    Difference("sparse.mm.reduce", "the products of compressed layouts (CSR), which norch does not have"),
    Difference(
        "linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve",
        "NumPy, whose LAPACK norch calls, has no LDL decomposition; `linalg.solve` and `linalg.cholesky` do the same",
    ),
    Difference("sparse.sampled_addmm", "norch has sparse tensors of coordinates (COO) alone"),
    # ---- what gives another result ----
    Difference(
        "linalg.eig linalg.eigvals",
        "real eigenvalues keep the real dtype; complex ones raise RuntimeError, since norch has no complex numbers",
    ),
    Difference(
        "linalg.norm.subgradients_at_zero",
        "the second derivative of a norm at zero is 0, PyTorch's is nan",
        r"\[second derivative\].*\n.*is 0.0, torch has nan",
    ),
    Difference(
        "special.bessel_j0 special.bessel_j1 special.bessel_y0 special.bessel_y1 special.airy_ai",
        "PyTorch's results in float64 have nine digits, norch's all sixteen",
        r"\[(function|strides)\].*float64",
    ),
    Difference(
        "polygamma.polygamma_n_0 polygamma.polygamma_n_1 polygamma.polygamma_n_2 polygamma.polygamma_n_3 "
        "polygamma.polygamma_n_4 special.polygamma.special_polygamma_n_0",
        "at the poles norch gives infinity, PyTorch a large number that depends on rounding",
        r"is -?inf, torch has -?\d",
    ),
    Difference(
        "nn.functional.margin_ranking_loss",
        "of uint8 PyTorch's differences overflow; of bfloat16 its sums are rounded at every step",
        r"uint8|bfloat16",
    ),
    Difference(
        "as_strided_scatter",
        "PyTorch's gradients are not those of finite differences, norch's are",
        r"\[(gradient|second derivative)\]",
    ),
    # ---- what is refused otherwise ----
    Difference(
        "__radd__ __rmul__ __rand__ __ror__ __rxor__",
        "a method called with a number in the place of the tensor raises AttributeError, not TypeError",
        r"\[error\].*\n.*AttributeError",
    ),
    Difference(
        "nn.RNNCell nn.GRUCell",
        "`bias='relu'` is refused: a flag is True or False",
        r"\[error\].*\n.*bias: expected True or False",
    ),
    Difference("nn.NLLLoss", "a weight of another floating dtype is converted, not refused", r"\[error\].*float16"),
    Difference(
        "SparseAdam",
        "`step` in its state is a tensor, and a sparse parameter a TypeError, as with the other optimizers",
        "state step: a Tensor|dense params required",
    ),
]


def known(report: Report, failure: Failure | None = None) -> Difference | None:
    """The row that explains a missing name, or one failure of a report."""
    for row in DIFFERENCES:
        if report.name in row:
            if failure is None and not row.what:
                return row
            if failure is not None and (not row.what or re.search(row.what, str(failure))):
                return row
    return None


def unexplained(reports: Iterable[Report]) -> list[str]:
    """What differs and has no row."""
    found = []
    for report in reports:
        if (report.missing or (report.lacking and not report.passed)) and known(report) is None:
            found.append(f"{report.name}: norch has no {report.missing or ', '.join(report.lacking)}")
        failures = [f for f in report.failures if f.form not in BY_DESIGN and known(report, f) is None]
        found += [f"{report.name}: {failure}" for failure in failures[:1]]
    return found


def outdated(reports: Iterable[Report]) -> list[str]:
    """Names of rows that no longer differ."""
    by_name = {report.name: report for report in reports}
    found = []
    for row in DIFFERENCES:
        for name in row.names.split():
            report = by_name.get(name)
            if report is None:
                found.append(f"{name} is in no database")
            elif report.status in ("passing", "failing") and not any(
                known(report, failure) is row for failure in report.failures
            ):
                found.append(f"{name} passes: {row.reason}")
    forms = {failure.form for report in by_name.values() for failure in report.failures}
    return found + [f"no {form} differs any more" for form in BY_DESIGN if form not in forms]


def table() -> str:
    """The rows as docs/differences.md shows them."""
    lines = ["| operations | what differs |", "|---|---|"]
    lines += [f"| `{row.names}` | {row.reason} |" for row in DIFFERENCES]
    lines += [f"| `{form}` of modules | {reason} |" for form, reason in BY_DESIGN.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
