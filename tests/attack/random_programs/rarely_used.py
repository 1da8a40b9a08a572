"""Statements about what the other tables leave out: loaders, windows, custom operations; see statements.py."""

from __future__ import annotations

import re

from .modules_and_transforms import SET

WORDS = {
    "MODULE": "{new} = lib.nn",
    "SET": f"{SET}; {{new2}} = {{new}}; {{new}} = {{new}}",
    "F": "lib.nn.functional",
    "WIDE": "dtype=lib.float64",
    "SWA": "lib.optim.swa_utils",
    "DATA": "lib.utils.data",
    "SDPA": "lib.nn.attention",
    "WINDOW": "{new} = lib.signal.windows",
    "FIRST": "lambda c, g, h: g",
    "NEEDS": "c.needs_input_grad",
    "DOUBLE": "lambda t: t * 2 if t.is_floating_point() else t",
    "SAVED": "lambda c, g: g * c.saved_tensors[0]",
    "D": "lib.distributions",
    "SHOWN": "lib.set_printoptions",
    "OP": "{new} = (lambda **d: type('F', (lib.autograd.Function,), {{n: staticmethod(f) for n, f in d.items()}}))",
}


def _made(line: str) -> str:
    for word, text in WORDS.items():
        line = re.sub(rf"\b{word}\b", lambda _, text=text: text, line)
    return line


RARELY_USED = """
{new} = lib.as_strided_copy({plain}, [1], [1])
{new} = lib.constant_pad_nd({x}, {pads}, {number})
{new} = lib.concatenate([{x}, {same}], {dim})
{new} = [lib.empty_like({x}, dtype={any_dtype}).dtype.itemsize, lib.rand_like({f}).shape, lib.randn_like({f}).ndim]
{new} = [lib.randint_like({x}, 1), lib.randint(2, 3, {shape}), lib.rand({shape}) < 1]
{new} = [lib.empty_strided((2, 3), (1, 2)).stride(), lib.empty_permuted((2, 3), (1, 0)).stride()]
{new} = [{x}.new_empty({shape}).shape, {x}.new_empty_strided((2, 3), (1, 2)).stride()]
{new} = lib.frombuffer(bytearray({f}.detach().contiguous().numpy().tobytes()), dtype={f}.dtype)
{new} = lib.grid_sampler({image}, {image}[:, :, :, :2], {bit}, {bit2}, {flag})
{new} = lib.affine_grid_generator({batch}[:1, :, :3], [1, 2, {size}, {size2}], {flag})
{new} = lib.max_pool1d_with_indices({batch}, 2)
{new} = lib.native_channel_shuffle({image}, 2)
{new} = lib.split_with_sizes_copy({x}, [{length}], {dim})
{new} = {x}.unsafe_split_with_sizes([{length}], {dim})
{new} = lib.resolve_conj({x})
{new} = {x}.resolve_neg()
{new} = {x}.imag
{new} = {matrix}.H
{new} = {batch}.mH
{new} = [{x}.is_set_to({y}), {x}.ndimension(), repr({x}.layout)[-7:], {x}.get_device(), {x}.is_shared()]
{new} = [{x}.grad_fn is None, {x}.is_sparse, {x}.is_quantized, {x}.is_meta]
{new} = {plain}.dim_order()
{new} = {x}.as_subclass(lib.Tensor)
{constant}.map_({same}.detach(), lambda a, b: a * 2 + b)
{constant}.apply_(lambda a: a * 2 + 1)
{constant}.map2_({same}.detach(), {same2}.detach(), lambda a, b, c: a + b * c)
{constant}.bernoulli_({bit})
{constant}.random_({bit}, {bit} + 1)
{constant}.geometric_(1.0)
{constant}.uniform_({bit}, {bit})
{constant}.normal_({number}, 0.0)
{new} = [{f}.detach().clone().exponential_() >= 0, {f}.detach().clone().cauchy_().shape]
{new} = lib.binomial(lib.full((2,), 3.0), lib.full((2,), {bit} * 1.0))
{new} = F.gumbel_softmax({matrix}, hard=True).sum(1)
{new} = F.alpha_dropout({x}, 0.0, True)
{new} = F.feature_alpha_dropout({batch}, 0.0, True)
{new} = F.dropout1d({batch}, {bit} * 1.0, True)
{new} = F.dropout2d({image}, {factor}, False)
{new} = F.rrelu({x}, {factor}, {factor})
{new} = lib.dropout({x}, {bit} * 1.0, True)
{new} = lib.svd_lowrank({square}, 3)[1]
{new} = lib.pca_lowrank({square}, 3)[1]
{new} = lib.special.chebyshev_polynomial_v({x}, {integer})
{new} = lib.special.shifted_chebyshev_polynomial_t({x}, {integer})
{new} = [lib.special.modified_bessel_i0({x}), lib.special.scaled_modified_bessel_k0({x}.abs() + 1)]
MODULE.Dropout1d(0.0)({batch})
MODULE.FeatureAlphaDropout().eval()({batch})
MODULE.RReLU().eval()({x})
MODULE.MaxUnpool1d(2)({batch}[..., :2], lib.tensor([0, 2]).expand(2, 2, 2))
MODULE.LinearCrossEntropyLoss(4, 3, WIDE); SET({batch}[0], lib.tensor([{bit}, 2]))
MODULE.ParameterDict(dict(a={square}.detach() * 1)); {new} = {new}['a'] @ {square}
MODULE.Buffer({square}.detach() * 1)
MODULE.LazyConv1d({size}, 2, WIDE); {new}({batch}); SET({batch})
MODULE.LazyBatchNorm2d(WIDE); {new}({image}); SET({image})
MODULE.LazyConvTranspose2d({size}, 2, WIDE); {new}({image}); SET({image})
{new} = F.fractional_max_pool2d({image}, 2, ({size}, 2), None, {flag}, lib.full((1, 2, 2), {fraction}, WIDE))
{new} = F.adaptive_max_pool3d({image}, (1, {size}, 2), {flag})
{new} = F.lp_pool1d({batch}, {norm}, {size}, {size2}, {flag})
{new} = F.max_unpool3d(*F.max_pool3d({image}, (1, 2, 2), return_indices=True), (1, 2, 2))
{new} = F.upsample_nearest({image}, scale_factor=2)
{new} = F.upsample_bilinear({image}, ({size}, 3))
{new} = SWA.SWALR(lib.optim.SGD([{leaf}], {rate}), {rate}, {integer}, {anneal}); {new}.step()
MODULE.BatchNorm1d(3, WIDE); SWA.update_bn([{square}, {square2}], {new})
{new} = SWA.AveragedModel({module}, multi_avg_fn=SWA.get_ema_multi_avg_fn({factor}))
{new} = lib.nn.utils.skip_init(lib.nn.Linear, 2, {size}).weight.shape
{new} = lib.nn.utils.rnn.invert_permutation(lib.tensor([2, 0, 1]))
{new} = lib.nn.utils.rnn.unpack_sequence(lib.nn.utils.rnn.pack_sequence([{batch}[0], {batch2}[1][:1]]))
{new} = D.OneHotCategoricalStraightThrough(logits={matrix})
{new} = D.PositiveDefiniteTransform()({square})
{new} = D.constraints.greater_than_eq({number}).check({f})
{new} = D.constraints.integer_interval({bit}, {integer}).check({f})
{new} = D.constraints.nonnegative.check({f})
{new} = D.constraints.positive_integer.check({x})
{new} = D.constraints.positive_semidefinite.check({square} @ {square}.mT)
{new} = D.constraints.independent(D.constraints.positive, 1).check({matrix})
{new} = lib.autograd.gradcheck(lambda t: t.sin() * 2, [lib.tensor({f}.tolist(), dtype=lib.double).requires_grad_()])
{new} = len(({g} * {g2}).grad_fn.next_functions)
{leaf}.register_post_accumulate_grad_hook(lambda t: t.grad.mul_({number}) and None)
with lib.autograd.graph.disable_saved_tensors_hooks('no'): {new} = {x} * {like}
with lib.autograd.set_grad_enabled({flag}): {new} = {x} * {like}
with lib.autograd.graph.save_on_cpu(): {new} = ({g} ** 3).exp()
with lib.autograd.graph.saved_tensors_hooks(DOUBLE, lambda t: t): {new} = {g} * {g2}
{new} = [b for b in DATA.DataLoader(DATA.TensorDataset({square}), {integer}, drop_last={flag})]
{new} = list(DATA.DataLoader({square}.detach(), batch_sampler=DATA.BatchSampler(range(3), {integer}, {flag})))
{new} = list(DATA.DataLoader(DATA.Subset(DATA.ConcatDataset([{square}, {square2}]), [{bit}, 4])))
{new} = DATA.default_collate([dict(a={x}.detach(), c=(1, 'x')), dict(a={same}.detach(), c=(2, 'y'))])
{new} = DATA.default_convert([{f}.detach().numpy(), {number}])
{new} = [len(p) for p in DATA.random_split(range(7), [{fraction}, 1 - {fraction}])]
{new} = list(DATA.SequentialSampler([{number}, 2]))
{new} = DATA.StackDataset(a={square}, b={square2})[{bit}]
WINDOW.bartlett({integer}, sym={flag}, WIDE)
WINDOW.blackman({integer}, sym={flag}, WIDE)
WINDOW.cosine({integer}, sym={flag}, WIDE)
WINDOW.exponential({integer}, tau={rate}, sym={flag}, WIDE)
WINDOW.gaussian({integer}, std={rate}, sym={flag}, WIDE)
WINDOW.general_cosine({integer}, a=[0.5, {number}], sym={flag}, WIDE)
WINDOW.general_hamming({integer}, alpha={factor}, sym={flag}, WIDE)
WINDOW.kaiser({integer}, beta={factor}, sym={flag}, WIDE)
WINDOW.nuttall({integer}, sym={flag}, WIDE)
{new} = [lib.overrides.has_torch_function(({x},)), lib.overrides.is_tensor_like({x}), lib.is_storage({x})]
lib.testing.assert_close({x}, {same})
lib.testing.assert_close({x}, {x} + {rate}, rtol={rate}, atol={factor})
{new} = lib.testing.make_tensor({shape}, dtype={any_dtype}, device='cpu', low=1, high={integer} + 1).shape
with SDPA.sdpa_kernel(SDPA.SDPBackend.MATH): {new} = F.scaled_dot_product_attention({batch}, {batch2}, {batch2})
SHOWN(precision={integer}, sci_mode={flag}); {new} = repr({x}.detach()); SHOWN(profile='default')
{new} = lib._foreach_add([{x}, {same}], {number})
{new} = lib._foreach_mul([{x}, {same}], [{same2}, {same}])
lib._foreach_addcmul_([{constant}, {constant}.clone()], [{same}.detach()] * 2, [{same2}.detach()] * 2, {number})
{new} = lib._foreach_norm([{x}, {same}], {integer})
{new} = lib._foreach_lerp([{x}], [{same}], {factor})
{new} = {matrix}.to_sparse().to_dense()
{new} = {matrix}.detach().to_sparse().coalesce().indices()
{new} = lib.sparse_coo_tensor(lib.tensor([[0, 1, 1], [{bit}, 0, 0]]), {vector_of_three}, (2, 2)).to_dense()
{new} = lib.sparse.mm({square}.to_sparse(), {square2})
OP(forward=lambda c, x, n: x * n, backward=lambda c, g: (g * 3, None)).apply({x}, {number})
OP(forward=lambda c, x: (x * 2, x + 1), backward=lambda c, g, h: g * 2 + h).apply({x})
OP(forward=lambda x: x * 2, setup_context=lambda c, i, o: c.save_for_backward(o), backward=SAVED).apply({f})
OP(forward=lambda c, x: (c.mark_dirty(x), x.mul_(2))[1], backward=lambda c, g: g * 2).apply({f} * 1)
OP(forward=lambda c, x: (lambda y: (c.mark_non_differentiable(y), (x, y))[1])(x > 0), backward=FIRST).apply({f})
OP(forward=lambda c, x: (c.set_materialize_grads(False), (x * 2, x * 3))[1], backward=FIRST).apply({f})[0]
OP(forward=lambda c, x, y: x * y, backward=lambda c, g: (*[g if n else None for n in NEEDS],)).apply({x}, {same})
OP(forward=lambda c, x: x.view_as(x), backward=lambda c, g: g.clone()).apply({f})
OP(forward=lambda c, x: x, backward=lambda c, g: g * 2).apply({f})
OP(forward=lambda c, x: x * 2, backward=lambda c, g: g.unsqueeze(0)).apply({f})
"""
RARELY_USED = [_made(line) for line in RARELY_USED.strip().splitlines()]
