"""Statements about sparse tensors, and about what no other table has; see statements.py."""

from __future__ import annotations

import re

from .modules_and_transforms import SET

WORDS = {
    "MODULE": "{new} = lib.nn",
    "SET": f"{SET}; {{new2}} = {{new}}; {{new}} = {{new}}",
    "F": "lib.nn.functional",
    "WIDE": "dtype=lib.float64",
    "D": "lib.distributions",
    "U": "lib.nn.utils",
    "SPARSE": "{square}.to_sparse()",
    "SPARSE2": "{square2}.to_sparse()",
    "COO": "lib.sparse_coo_tensor(lib.tensor([[0, 1, {bit}], [{bit2}, 0, 2]]), {vector_of_three}, (3, 3))",
    "AGAIN": "lib.utils.checkpoint.checkpoint",
    "IMAGE3": "{image}.unsqueeze(2)",
    "ROOM": "{image}.unsqueeze(2).expand(1, 2, 3, 4, 4)",
    "DRAWN2": "lib.full((1, 2, 2), {fraction}, WIDE)",
    "DRAWN3": "lib.full((1, 2, 3), {fraction}, WIDE)",
    "V": "{vector_of_three}",
    "EMBEDDING": "lib.nn.Embedding(3, 2, sparse=True, WIDE); SET(lib.tensor([{bit}, 2])); {new}.sum().backward()",
    "GRAPH": "lib.autograd.graph",
    "CHECK": "lib.utils.checkpoint",
    "SELECTIVE": "CHECK.create_selective_checkpoint_contexts([])",
    "NEVER": "use_reentrant=False",
    "SCALER": "lib.amp.GradScaler('cpu'",
    "SCALED": "{new}.step(lib.optim.SGD([{leaf}], {rate})); {new}.update(); {new} = {new}.state_dict()",
    "NORMED": "lib.nn.BatchNorm1d(2, WIDE).eval()",
    "EMPTY": "lib.DoubleTensor(2, 0)",
    "FILE": "__import__('io').BytesIO()",
    "WRITTEN": "b.seek(0), b)[2]",
    "KINDS": "mutates_args=(), schema='(Tensor x) -> Tensor'",
    "HEADS": "{integer}, lib.ones(12, 4, WIDE) / 8, lib.ones(12, WIDE), None, None, False, 0.0, lib.eye(4, WIDE)",
    "DATA": "lib.utils.data",
}


def _made(line: str) -> str:
    """A statement without the words above, which may name each other."""
    whole = re.sub(r"\b[A-Z][A-Z\d]*\b", lambda word: WORDS.get(word[0], word[0]), line)
    return line if whole == line else _made(whole)


LEFT_OVER = """
{new} = COO.to_dense()
{new} = COO.coalesce().values()
{new} = COO._nnz()
{new} = (COO @ {square}).sin()
{new} = ({square} @ COO).sin()
{new} = COO @ V
{new} = COO.mv(V)
{new} = (COO @ SPARSE).to_dense()
{new} = (COO * {number}).to_dense()
{new} = (COO / {number}).to_dense()
{new} = (COO * {square}).to_dense()
{new} = (COO * SPARSE).to_dense()
{new} = (COO + SPARSE).to_dense()
{new} = (COO - SPARSE).to_dense()
{new} = {square} + COO
{new} = {square} - COO.coalesce()
{new} = COO.add(SPARSE, alpha={number}).to_dense()
{new} = (COO ** 2).to_dense()
{new} = (-COO).to_dense()
{new} = COO.t().to_dense()
{new} = COO.transpose({bit}, {bit2}).to_dense()
{new} = COO.sum()
{new} = lib.sparse.sum(COO)
{new} = lib.sparse.sum(COO, {bit}).to_dense()
{new} = lib.sparse.sum(COO, (0, 1))
{new} = lib.sparse.softmax(COO, {bit}).to_dense()
{new} = lib.sparse.log_softmax(SPARSE, {bit}).to_dense()
{new} = lib.sparse.addmm({square}, COO, {square2}, beta={number}, alpha={number2})
{new} = lib.addmm({square}, SPARSE, {square2}, alpha={number})
{new} = lib.sspaddmm(SPARSE.detach(), COO.detach(), {square2}.detach(), beta={number}).to_dense()
{new} = lib.smm(COO.detach(), {square}.detach()).to_dense()
{new} = lib.hspmm(COO.detach(), {square}.detach()).to_dense()
{new} = lib.spmm(COO, {square})
{new} = lib.bmm({cube}[:, :, :].to_sparse(), {cube2})
{new} = COO.index_select({bit}, lib.tensor([{bit2}, 2, 0])).to_dense()
{new} = COO.narrow_copy({bit}, {bit2}, {integer}).to_dense()
{new} = COO.select({bit}, {bit2}).to_dense()
{new} = COO[{bit}].to_dense()
{new} = COO.unsqueeze({bit}).to_dense()
{new} = COO.coalesce().sqrt().to_dense()
{new} = COO.coalesce().{sparse_function}().to_dense()
{new} = lib.cat([COO, SPARSE], {bit}).to_dense()
{new} = lib.stack([COO, SPARSE], {bit}).to_dense()
{new} = COO.norm()
{new} = COO.double().float().to_dense()
{new} = COO.to({any_dtype}).to_dense()
{new} = [COO.sparse_dim(), COO.dense_dim(), COO.is_coalesced(), SPARSE.is_coalesced(), COO.numel(), COO.dim()]
{new} = repr(COO.detach().coalesce())
{new} = {batch}.to_sparse({size}).coalesce().values()
{new} = {batch}.to_sparse(2).sum({bit}).to_dense()
{new} = {square}.sparse_mask(COO.detach().coalesce()).to_dense()
{new} = lib.sparse.spdiags({square}.detach(), lib.tensor([0, 1, -{bit} - 1]), (3, 3)).to_dense()
{new} = lib.zeros_like(COO).to_dense()
({square} + COO.to_dense()).sum().backward()
(COO @ {square}).sum().backward()
lib.sparse.mm(SPARSE, {square2}).sin().sum().backward()
{new} = lib.autograd.grad(lib.sparse.mm(COO, {square}).sum(), {square}, allow_unused=True)[0]
{new} = F.grid_sample(IMAGE3, {image}[:, None, :, :, :3] * {factor}, 'bilinear', {outside}, {flag})
{new} = lib.grid_sampler_3d(IMAGE3, {image}[:, None, :, :, :3] * {factor}, {bit}, {bit2}, {flag})
{new} = lib.grid_sampler_2d({image}, {image}[:, :, :, :2], {bit}, {bit2}, {flag})
{new} = lib.adaptive_avg_pool1d({batch}, {size})
{new} = F.adaptive_avg_pool1d({batch}, {size})
{new} = lib.ormqr(*lib.geqrf({square} + 3 * lib.eye(3, WIDE)), {square2}, {flag}, {flag2})
{new} = lib.linalg.householder_product(*lib.geqrf({square} + 3 * lib.eye(3, WIDE)))
{new} = lib.special.chebyshev_polynomial_w({x}, {integer})
{new} = lib.special.modified_bessel_k1({x}.abs() + {rate})
{new} = lib.special.shifted_chebyshev_polynomial_u({x}, {integer})
{new} = lib.special.shifted_chebyshev_polynomial_v({x}, {integer})
{new} = lib.special.shifted_chebyshev_polynomial_w({x}, {integer})
lib.dropout_({x}, 0.0, True)
lib.feature_dropout_({x}, {bit} * 1.0, {flag})
lib.alpha_dropout_({x}, 0.0, True)
{new} = lib.feature_dropout({batch}, {bit} * 1.0, True)
F.rrelu_({x}, {factor}, {factor}, True)
{new} = lib.rrelu({x}, {factor}, {factor}, {flag})
MODULE.Dropout3d({bit} * 1.0)({batch})
MODULE.NLLLoss2d()({image}.log_softmax(1), {image}[:, 0].long() * 0 + {bit})
MODULE.LazyConv3d({size}, (1, 2, 2), WIDE); {new}(IMAGE3); SET(IMAGE3)
MODULE.LazyConvTranspose3d({size}, (1, 2, 2), WIDE); {new}(IMAGE3); SET(IMAGE3)
MODULE.LazyBatchNorm3d(WIDE); {new}(IMAGE3); SET(IMAGE3)
MODULE.LazyInstanceNorm1d(affine={flag}, WIDE); {new}({batch}); SET({batch})
MODULE.LazyInstanceNorm3d(affine={flag}, WIDE); {new}(IMAGE3); SET(IMAGE3)
MODULE.LazyLinear({size}, {flag}, WIDE); {new}({square}); SET({square})
MODULE.SyncBatchNorm(2, WIDE).eval(); SET({image})
MODULE.DataParallel(lib.nn.Linear(3, 2, WIDE)); SET({square})
MODULE.FractionalMaxPool2d(2, ({size}, 2), _random_samples=DRAWN2)({image})
MODULE.FractionalMaxPool3d((1, 2, 2), (1, {size}, 2), _random_samples=DRAWN3)(ROOM)
{new} = F.fractional_max_pool3d(ROOM, (1, 2, 2), ({bit} + 1, 2, {size}), None, {flag}, DRAWN3)
{new} = F.multi_head_attention_forward({batch}, {batch}, {batch2}, 4, HEADS, {batch}[0, 0])
{new} = U.fuse_conv_bn_weights({kernel2d}, {bias}, {bias} * 0, {bias}.exp(), {rate}, {bias}, {bias}, transpose={flag})
{new} = U.fuse_linear_bn_weights({square}, V, V, V.exp(), {rate}, V, V)
MODULE.Linear(3, 2, WIDE).eval(); SET({square}); {new} = U.fuse_linear_bn_eval({new2}, NORMED)({square})
{new} = lib.optim.SparseAdam([{leaf}], {rate}, maximize={flag})
{new} = EMBEDDING; lib.optim.SparseAdam({new2}.parameters(), {rate}).step()
{new} = EMBEDDING; lib.optim.SGD({new2}.parameters(), {rate}).step()
{new} = EMBEDDING; lib.optim.Adagrad({new2}.parameters(), {rate}).step()
{new} = D.CorrCholeskyTransform()(V)
{new} = (lambda t, x: t.log_abs_det_jacobian(x, t(x)))(D.CorrCholeskyTransform(), V)
{new} = D.CorrCholeskyTransform().inv(D.CorrCholeskyTransform()({square}))
{new} = D.CumulativeDistributionTransform(D.Normal({number_tensor}, {rate}))({f})
{new} = D.CumulativeDistributionTransform({distribution}).log_abs_det_jacobian({f}, {f})
{new} = D.LKJCholesky(3, {rate}).log_prob(D.CorrCholeskyTransform()(V))
{new} = D.Wishart({integer} + 3.0, {square} @ {square}.mT + lib.eye(3, WIDE))
{new} = D.Wishart({integer} + 3.0, lib.eye(3, WIDE)).log_prob({square} @ {square}.mT + lib.eye(3, WIDE) * {rate})
{new} = D.GeneralizedPareto({f}, {same}.exp(), {number})
{new} = D.GeneralizedPareto({f}, {same}.exp(), {same2})
{new} = D.transforms.vec_to_tril_matrix(V, {offset})
{new} = D.transforms.tril_matrix_to_vec({square}, {offset})
{new} = D.constraints.is_dependent({distribution}.support)
{new} = D.identity_transform({f})
{new} = lib.autograd.gradgradcheck(lambda t: t.sin() * 2, [lib.tensor({f}.tolist(), dtype=lib.double).requires_grad_()])
{new} = []; GRAPH.register_multi_grad_hook([{g}, {g2}], lambda g: {new}.append([x is None for x in g]))
GRAPH.register_multi_grad_hook([{g}, {g2}], lambda g: g.mul_(1), mode='any')
GRAPH.increment_version({x})
{new} = GRAPH.get_gradient_edge({g}).output_nr
{new} = lib.autograd.grad(({g} ** 2).sum(), GRAPH.get_gradient_edge({leaf}), allow_unused=True)[0]
with GRAPH.allow_mutation_on_saved_tensors(): {new} = ({f} * 2).sin_().mul_({number}); {new}.sum().backward()
{new} = U.parametrize.type_before_parametrizations({module}).__name__
lib.nn.init.dirac({kernel}.detach())
lib.nn.init.kaiming_normal({square}.detach() * 1)
{new} = sorted(DATA.RandomSampler(range({integer})))
{new} = list(DATA.WeightedRandomSampler([0.0, {rate}], {integer}))
{new} = sorted(DATA.SubsetRandomSampler([{integer}, {bit}]))
{new} = list(DATA.DistributedSampler(range(5), {integer}, 0, {flag} and False, drop_last={flag2}))
{new} = AGAIN(lambda t: t.sin() * {number}, {g}, NEVER, determinism_check='none')
with CHECK.set_checkpoint_early_stop({flag}): {new} = AGAIN(lambda t: (t * 2).exp(), {g}, NEVER)
{new} = AGAIN(lambda t: (t * 2).exp().sin(), {g}, NEVER, context_fn=lambda: SELECTIVE)
{new} = CHECK.detach_variable(({f}, {number}))[0]
{new} = SCALER, 2.0 ** -{integer}, enabled={flag}); {new}.scale({g}.sum()).backward(); {new} = {new}.get_scale()
{new} = SCALER, 2.0, {integer} + 1.0, {factor} / 2, {integer2}); {new}.scale({leaf}.sum()).backward(); SCALED
{new} = lib.amp.is_autocast_available('cpu')
with lib.random.fork_rng(): lib.manual_seed({integer}); {new} = lib.randn(2).shape
{new} = (lib.manual_seed({integer}), lib.get_rng_state())[1].dtype.itemsize
lib.utils.swap_tensors({constant}, {constant2})
{new} = lib.signal.windows.hamming({integer}, sym={flag}, WIDE)
{new} = lib.signal.windows.hann({integer}, sym={flag}, WIDE)
lib.testing.assert_allclose({x}, {same})
{new} = [lib.is_grad_enabled(), lib.is_inference_mode_enabled(), lib.is_anomaly_enabled(), lib.is_autocast_enabled()]
with lib.no_grad(): {new} = [lib.is_grad_enabled(), {x}.is_inference()]
with lib.autocast('cpu', lib.bfloat16): {new} = [lib.is_autocast_cpu_enabled(), str(lib.get_autocast_dtype('cpu'))]
{new} = [lib.typename({x}), lib.typename({integer}), {x}.is_conj(), {x}.is_neg(), {x}.is_pinned()]
{new} = {x}.detach().clone().log_normal_({number}, {rate}) > 0
{new} = {plain}.detach().storage().tolist() if {plain}.is_contiguous() and {plain}.storage_offset() == 0 else 0
{new} = [lib.FloatTensor({square}.tolist()), lib.LongTensor([{integer}]), lib.BoolTensor([[{flag}]]), EMPTY]
{new} = lib.Size([{integer}, {size}]).numel() + len(lib.Size({x}.shape))
{new} = {x}.shape[1:] + {x}.shape[:1]
{new} = lib.load((lambda b: (lib.save({x}.detach(), b), WRITTEN)(FILE))
{new} = lib.load((lambda b: (lib.save(dict(a=[{x}.detach(), {number}]), b), WRITTEN)(FILE))
{new} = lib.library.custom_op('n{integer}::f{size}', lambda x: x.clone() * 2, KINDS)({f})
{new} = {x}.unfold({dim}, {length}, 1).mul({number}).sum(-1)
{new} = {image}.contiguous(memory_format=lib.channels_last).mul({number}).relu()
{new} = F.conv2d({image}.contiguous(memory_format=lib.channels_last), {kernel2d}.to(memory_format=lib.channels_last))
{new} = F.batch_norm({image}.to(memory_format=lib.channels_last), None, None, {bias}, {bias2}, True)
{new} = F.max_pool2d({image}.to(memory_format=lib.channels_last), 2, {size}).sin()
{new} = F.interpolate({image}.to(memory_format=lib.channels_last), scale_factor={factor} + 1, mode={scaled})
{new} = {image}.to(memory_format=lib.channels_last).sum(({bit}, -1)).exp()
{new} = {image}.expand(2, 2, 4, 4).flip(0).mul({number}).softmax({bit})
{new} = ({i} * 2 ** 62 + {integer}) * {integer2}
{new} = ({i} * 2 ** 62).sum({dim})
{new} = ({i} * 2 ** 31).int().abs()
{new} = ({i}.to(lib.int8) * 100).cumsum({dim}, dtype=lib.int8)
{new} = ({i} + 2 ** 53).double().diff()
{new} = ({i} * 2 ** 60).float().long()
{new} = ({i} + 2 ** 62) // {integer} - ({i} - 2 ** 62) % 7
{new} = ({i} + 2 ** 62).max({dim})
{new} = ({i} + 2 ** 62).sort({dim})[0]
{new} = ({i} + 2 ** 62) == ({i2} + 2 ** 62)
{new} = ({i} * 2 ** 62).to({any_dtype})
{new} = ({i} + 2 ** 53).unique()
{new} = lib.tensor([2 ** 63 - 1, -2 ** 63, 0]).{integer_function}
{new} = lib.tensor([127, -128, 1], dtype=lib.int8).{integer_function}
{new} = lib.tensor([255, 0, 1], dtype=lib.uint8).{integer_function}
{new} = {x}.to({any_dtype}).{integer_function}
{new} = {f} + 2 ** {power}
{new} = {i} * 2 ** {power}
{new} = {f} < 2 ** {power}
{new} = {i} == 2 ** {power}
{new} = lib.full([2], 2 ** {power}, dtype=lib.float64)
{new} = lib.tensor([2 ** {power}], dtype=lib.float32)
"""
LEFT_OVER = [_made(line) for line in LEFT_OVER.strip().splitlines()]
