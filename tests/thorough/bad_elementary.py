"""Bad calls of elementary functions, matrices and the types of older scripts: a part of bad_calls.py."""

from __future__ import annotations

BAD_ELEMENTARY = """
Tensor.apply_: leaf.apply_(abs)
Tensor.cholesky: x.cholesky()
Tensor.cholesky_inverse: x.cholesky_inverse()
Tensor.cholesky_solve: x.cholesky_solve(norch.eye(3)) | x.cholesky_solve(norch.eye(2).double())
Tensor.clamp_max: x.clamp_max(norch.ones(4))
Tensor.clamp_max_: x.clamp_max_(norch.ones(4)) | leaf.clamp_max_(0)
Tensor.clamp_min: x.clamp_min(norch.ones(4))
Tensor.clamp_min_: x.clamp_min_(norch.ones(4)) | leaf.clamp_min_(0)
Tensor.deg2rad_: leaf.deg2rad_() | n.deg2rad_()
Tensor.det: x.det() | n.det()
Tensor.float_power: x.float_power(norch.ones(4)) | x.float_power("a")
Tensor.float_power_: x.float_power_(2) | leaf.float_power_(2)
Tensor.frexp: n.frexp()
Tensor.geqrf: norch.eye(2).long().geqrf()
Tensor.imag: x.imag
Tensor.inverse: x.inverse() | n.inverse()
Tensor.ldexp: x.ldexp(norch.ones(4)) | x.ldexp(1)
Tensor.ldexp_: x.ldexp_(norch.ones(4)) | n.ldexp_(n)
Tensor.logdet: x.logdet() | n.logdet()
Tensor.logit: x.logit("a")
Tensor.logit_: leaf.logit_() | n.logit_()
Tensor.lu: norch.eye(2).long().lu()
Tensor.lu_solve: x.lu_solve(x, n)
Tensor.matrix_exp: x.matrix_exp()
Tensor.matrix_power: x.matrix_power(2) | norch.eye(2).matrix_power(1.5)
Tensor.mvlgamma: x.mvlgamma(0)
Tensor.mvlgamma_: x.mvlgamma_(0) | n.mvlgamma_(1)
Tensor.nan_to_num: x.nan_to_num("a")
Tensor.nan_to_num_: leaf.nan_to_num_()
Tensor.new: x.new(1.5)
Tensor.orgqr: x.orgqr(norch.ones(2))
Tensor.ormqr: x.ormqr(norch.ones(2), norch.ones(5, 5))
Tensor.pinverse: n.pinverse() | norch.eye(2).long().pinverse()
Tensor.polygamma: x.polygamma(-1) | x.polygamma(1.5)
Tensor.polygamma_: x.polygamma_(-1) | n.polygamma_(1)
Tensor.positive: norch.tensor([True]).positive()
Tensor.qr: n.qr() | norch.eye(2).long().qr()
Tensor.rad2deg_: leaf.rad2deg_() | n.rad2deg_()
Tensor.sinc_: leaf.sinc_() | n.sinc_()
Tensor.slogdet: x.slogdet() | n.slogdet()
Tensor.svd: n.svd() | norch.eye(2).long().svd()
Tensor.triangular_solve: x.triangular_solve(x)
norch.fill: norch.fill(x, norch.ones(4))
norch.imag: norch.imag(x)
norch.lu_unpack: norch.lu_unpack(norch.eye(2).long(), n)
norch.svd_lowrank: norch.svd_lowrank(norch.eye(2).long())
norch.svd_lowrank: norch.svd_lowrank(norch.ones(2))
norch.svd_lowrank: norch.svd_lowrank(norch.eye(2), q=3)
norch.pca_lowrank: norch.pca_lowrank(norch.eye(2).long())
norch.pca_lowrank: norch.pca_lowrank(norch.eye(2), q=3)
norch.polygamma: norch.polygamma(-1, x) | norch.polygamma(1.5, x)
norch.real: norch.real(1)
norch.rsub: norch.rsub(norch.tensor([True]), norch.tensor([True])) | norch.rsub(x, norch.ones(4))
"""

for _kind in "BFloat16 Bool Byte Char Double Float Half Int Long Short".split():
    BAD_ELEMENTARY += f"norch.{_kind}Tensor: norch.{_kind}Tensor(1.5)\n"

SAFE_ELEMENTARY = """
Tensor.angle Tensor.bfloat16 Tensor.byte Tensor.char Tensor.conj Tensor.conj_physical Tensor.conj_physical_
Tensor.deg2rad Tensor.half Tensor.isneginf Tensor.isposinf Tensor.isreal Tensor.pin_memory Tensor.rad2deg Tensor.real
Tensor.resolve_conj Tensor.resolve_neg Tensor.share_memory_ Tensor.short Tensor.sinc
""".split()
