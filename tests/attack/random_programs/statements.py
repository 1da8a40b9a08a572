"""The statements that programs are made of, a family to a table.

A hole such as {x} is filled by the method of generator.py that has its name: {x} with a live tensor, {new} with a fresh
name, {like} with something that broadcasts with {x}. {dim2} is a second {dim}; the same hole twice is filled alike.
"""

from __future__ import annotations

from .compositions import COMPOSITIONS
from .layers_with_options import FACTORS, LAYERS_WITH_OPTIONS, LOSSES
from .left_over import LEFT_OVER
from .modules_and_transforms import LINALG, MODULES, MORE, STEPS, TRANSFORMS
from .objects import INITIAL, PARAMETRIZED, PROBABILITY, SCHEDULES
from .of_python import OF_MODULES, OPTIMIZERS, PYTHON
from .rarely_used import RARELY_USED

CREATION = """
{new} = lib.zeros({shape}, dtype={dtype})
{new} = lib.ones({shape}, dtype={dtype})
{new} = lib.full({shape}, {number}, dtype={dtype})
{new} = lib.arange({integer}, dtype={dtype})
{new} = lib.linspace({number}, {number2}, {size}, dtype=lib.float64)
{new} = lib.eye({size}, {size2}, dtype=lib.float64)
{new} = lib.tensor({number})
{new} = lib.tensor({number}, dtype={dtype})
{new} = lib.zeros_like({x})
{new} = lib.ones_like({x}, requires_grad=True)
{new} = lib.full_like({f}, {number})
{new} = {x}.new_zeros({shape})
{new} = {x}.new_tensor([{number}, {number2}])
{new} = {x}.new_full({shape}, 2)
{new} = {x}.clone()
{new} = {x}.detach().clone().requires_grad_()
{new} = {x}.to({dtype})
{new} = {x}.double()
{new} = {x}.type_as({y})
""".strip().splitlines()

ARITHMETIC = """
{new} = {x} + {like}
{new} = {x} - {like}
{new} = {x} * {like}
{new} = {x} / {like}
{new} = {x} ** {exponent}
{new} = {x} // {like}
{new} = {x} % {like}
{new} = {number} - {x}
{new} = {number} / {x}
{new} = {number} ** {x}
{new} = -{x}
{new} = {x} > {like}
{new} = {x} == {like}
{new} = {x} <= {like}
{new} = lib.where({x} > {number}, {x}, {like})
{new} = lib.where({m}, {like}, {number})
{new} = lib.clamp({x}, {number}, {number2})
{new} = {x}.clamp(min={number})
{new} = {x}.clamp(max={number})
{new} = {x}.lerp({same}, {number})
{new} = {x}.lerp({same}, {same2})
{new} = lib.addcmul({x}, {like}, {like2}, value={integer})
{new} = lib.addcdiv({x}, {like}, {like2}, value={integer})
{new} = lib.add({x}, {like}, alpha={number})
{new} = lib.sub({x}, {like}, alpha={number})
{new} = lib.div({x}, {like}, rounding_mode='floor')
{new} = lib.div({x}, {like}, rounding_mode='trunc')
{new} = {i} & {i2}
{new} = {m} | {m2}
{new} = ~{m}
""".strip().splitlines()

VIEWS = """
{new} = {x}.T
{new} = {x}.t()
{new} = {square}.mT
{new} = {batch}.mT
{new} = {x}.transpose({dim}, {dim2})
{new} = {x}.permute({order})
{new} = {x}.movedim({dim}, {dim2})
{new} = {plain}.reshape({fitting})
{new} = {plain}.reshape(-1)
{new} = {plain}.view({fitting})
{new} = {plain}.view(-1)
{new} = {plain}.flatten()
{new} = {plain}.flatten({dim})
{new} = {plain}.ravel()
{new} = {plain}.contiguous()
{new} = {plain}.unflatten({dim}, (1, -1))
{new} = {plain}.as_strided({strided})
{new} = {x}.expand({larger})
{new} = {x}.expand_as({y})
{new} = {x}.broadcast_to({larger})
{new} = {x}.unsqueeze({dim})
{new} = {x}.squeeze()
{new} = {x}.squeeze({dim})
{new} = {x}.select({dim}, {place})
{new} = {x}.narrow({dim}, {place}, 1)
{new} = {x}.narrow({dim}, 0, {length})
{new} = {x}.diagonal()
{new} = {x}.diagonal({offset}, {dim}, {dim2})
{new} = {x}.unfold({dim}, {length}, {length})
{new} = {x}.split({length}, {dim})
{new} = {x}.chunk({size}, {dim})
{new} = {x}.tensor_split({size}, {dim})
{new} = {x}.unbind({dim})
{new} = {x}.unbind()
{new} = {x}.detach()
{new} = {x}[{index}]
{new} = {x}[{index}]
{new} = {x}[{index}]
{new} = {x}[{index}]
{new} = {x}.view_as({same})
{new} = {x}.swapaxes({dim}, {dim2})
{new} = {x}.positive()
{new} = {x}.real
{new} = {x}[...]
{new} = {x}.view({x}.shape)
{new} = lib.atleast_2d({x})
{new} = lib.broadcast_tensors({x}, {y})
{new} = lib.meshgrid({vector}, {vector2}, indexing='ij')
""".strip().splitlines()

COPIES = """
{new} = {x}.repeat({counts})
{new} = {x}.tile({counts})
{new} = {x}.repeat_interleave(2)
{new} = {x}.repeat_interleave({length}, {dim})
{new} = {x}.flip({dim})
{new} = {x}.roll({integer}, {dim})
{new} = {x}.rot90()
{new} = lib.cat([{x}, {same}], {dim})
{new} = lib.cat([{x}, {x}, {same}])
{new} = lib.stack([{x}, {same}], {dim})
{new} = lib.hstack([{x}, {same}])
{new} = lib.vstack([{x}, {same}])
{new} = lib.stack({list})
{new} = lib.cat({list})
{new} = {x}.index_select({dim}, {indices})
{new} = {x}.gather({dim}, {everywhere})
{new} = {x}.scatter({dim}, {everywhere}, {same})
{new} = {x}.scatter({dim}, {everywhere}, {number})
{new} = {x}.scatter_add({dim}, {everywhere}, {same})
{new} = {x}.scatter_reduce({dim}, {everywhere}, {same}, {reduce})
{new} = {x}.index_add({dim}, {indices2}, {x}.index_select({dim}, {indices2}))
{new} = {x}.index_copy({dim}, {indices2}, {x}.index_select({dim}, {indices2}))
{new} = {x}.index_fill({dim}, {indices}, {number})
{new} = {x}.index_put(({indices},), {number_tensor})
{new} = {x}.index_put(({indices},), {number_tensor}, accumulate=True)
{new} = {x}.masked_fill({mask}, {number})
{new} = {x}.masked_select({mask})
{new} = {x}.masked_scatter({mask}, {same}.clone())
{new} = {x}.take({indices0})
{new} = lib.take_along_dim({x}, dim={dim}, indices={everywhere})
{new} = {x}.select_scatter({x}.select({dim}, {place}) * 2, {dim}, {place})
{new} = {x}.slice_scatter({x}.narrow({dim}, 0, {length}) * 2, {dim}, 0, {length})
{new} = {x}.diagonal_scatter({x}.diagonal() * 2)
{new} = {x}.diff(dim={dim})
{new} = {x}.tril()
{new} = {x}.triu({offset})
{new} = {x}.diag()
{new} = {x}.diag_embed()
{new} = lib.nn.functional.pad({x}, ({length}, 1))
{new} = lib.nn.functional.pad({x}, (1, 0), value={integer})
{new} = lib.nn.functional.one_hot({i}.abs())
{new} = lib.nn.functional.embedding({i}.abs() % 2, {matrix})
""".strip().splitlines()

REDUCTIONS = """
{new} = {x}.sum()
{new} = {x}.sum({dim})
{new} = {x}.sum({dim}, {flag})
{new} = {x}.sum(dim={dims}, keepdim={flag})
{new} = {x}.sum(dtype={dtype})
{new} = {x}.mean()
{new} = {x}.mean({dim}, keepdim={flag})
{new} = {x}.prod()
{new} = {x}.prod({dim}, {flag})
{new} = {x}.prod(dtype={dtype})
{new} = {x}.var()
{new} = {x}.var({dim}, {flag})
{new} = {x}.var({flag})
{new} = {x}.std({dim}, {flag}, {flag2})
{new} = {x}.std({dims}, correction=0)
{new} = {x}.amax({dims}, keepdim={flag})
{new} = {x}.amin({dim})
{new} = {x}.max()
{new} = {x}.min()
{new} = {x}.max({dim})
{new} = {x}.min({dim}, {flag})
{new} = {x}.max({like_tensor})
{new} = {x}.argmax({dim})
{new} = {x}.argmin()
{new} = {x}.any({dim})
{new} = {x}.all()
{new} = {x}.norm()
{new} = {x}.norm({norm}, {dim})
{new} = lib.linalg.vector_norm({x}, {norm}, {dim})
{new} = {x}.logsumexp({dim}, {flag})
{new} = {x}.softmax({dim})
{new} = {x}.log_softmax({dim})
{new} = {x}.cumsum({dim})
{new} = {x}.cumsum({dim}, dtype={dtype})
{new} = {x}.cumprod({dim})
{new} = {x}.cummax({dim})
{new} = {x}.logcumsumexp({dim})
{new} = {x}.sort({dim}, descending={flag})
{new} = {x}.argsort({dim})
{new} = {x}.topk(1, {dim})
{new} = {x}.kthvalue(1, {dim})
{new} = {x}.median()
{new} = {x}.median({dim})
{new} = {x}.nansum({dim})
{new} = {x}.count_nonzero()
{new} = {x}.nonzero()
{new} = {x}.unique()
{new} = {x}.aminmax()
{new} = {x}.quantile({fraction}, {dim})
{new} = lib.std_mean({x}, {dim})
{new} = {x}.dist({same})
{new} = {x}.renorm(2, {dim}, 1.0)
{new} = {x}.trace()
{new} = lib.trapezoid({x}, dim={dim})
""".strip().splitlines()

PRODUCTS = """
{new} = {matrix} @ {chained}
{new} = {matrix} @ {matrix}.mT
{new} = lib.mm({matrix}, {chained})
{new} = {matrix}.mv({matrix}[0])
{new} = {vector}.dot({vector})
{new} = lib.outer({vector}, {vector2})
{new} = lib.bmm({batch}, {batch}.mT)
{new} = lib.addmm({number_tensor}, {matrix}, {chained}, beta={number}, alpha={number2})
{new} = lib.einsum('ij,kj->ik', {matrix}, {matrix})
{new} = lib.einsum('ij,ij->j', {matrix}, {matrix})
{new} = lib.einsum('ii->i', {square})
{new} = lib.tensordot({x}, {same}, {size})
{new} = lib.kron({matrix}, {vector})
{new} = lib.nn.functional.linear({matrix}, {matrix})
{new} = lib.nn.functional.linear({matrix}, {matrix}, {vector})
{new} = lib.nn.functional.bilinear({square}, {square}, {batch})
{new} = {square}.det()
{new} = lib.linalg.inv({square} + 3 * lib.eye(3, dtype=lib.float64))
{new} = lib.linalg.solve({square} + 3 * lib.eye(3, dtype=lib.float64), {square})
{new} = {square}.matrix_power(2)
{new} = lib.linalg.cross({square}, {square}.T, dim={bit})
{new} = lib.cdist({matrix}, {matrix2})
{new} = lib.nn.functional.cosine_similarity({x}, {same}, dim={dim})
{new} = lib.nn.functional.scaled_dot_product_attention({batch}, {batch}, {batch})
""".strip().splitlines()

LAYERS = """
{new} = lib.nn.functional.conv1d({batch}, {kernel})
{new} = lib.nn.functional.conv1d({batch}, {kernel}, stride=2, padding=1)
{new} = lib.nn.functional.conv1d({batch}, {kernel}, {bias}, padding='same')
{new} = lib.nn.functional.conv2d({image}, {kernel2d})
{new} = lib.nn.functional.conv2d({image}, {kernel2d}, {bias}, padding=1, dilation=2)
{new} = lib.nn.functional.conv_transpose1d({batch}, {kernel}, stride=2)
{new} = lib.nn.functional.conv_transpose2d({image}, {kernel2d}, {bias}, padding=1)
{new} = lib.nn.functional.max_pool1d({batch}, 2)
{new} = lib.nn.functional.max_pool2d({image}, 2, stride=1, padding={bit})
{new} = lib.nn.functional.max_pool2d({image}, 2, return_indices=True)
{new} = lib.nn.functional.avg_pool1d({batch}, 2)
{new} = lib.nn.functional.avg_pool2d({image}, 2, stride=1, padding={bit}, count_include_pad={flag})
{new} = lib.nn.functional.adaptive_avg_pool2d({image}, {size})
{new} = lib.nn.functional.adaptive_max_pool1d({batch}, {size})
{new} = lib.nn.functional.interpolate({image}, scale_factor=2)
{new} = lib.nn.functional.interpolate({image}, size=3, mode='bilinear', align_corners={flag})
{new} = lib.nn.functional.pad({image}, (1, 1, 0, 1), mode='reflect')
{new} = lib.nn.functional.pad({image}, (1, 0), mode='replicate')
{new} = lib.nn.functional.pad({batch}, (1, 1), mode='circular')
{new} = lib.nn.functional.unfold({image}, 2)
{new} = lib.nn.functional.grid_sample({image}, lib.stack([{image}[:, 0]] * 2, -1).tanh(), align_corners={flag})
{new} = lib.nn.functional.layer_norm({x}, {x}.shape[-1:])
{new} = lib.nn.functional.layer_norm({matrix}, {matrix}.shape[1:], {matrix}[0], {matrix}[-1])
{new} = lib.nn.functional.batch_norm({matrix}, None, None, training=True)
{new} = lib.nn.functional.batch_norm({image}, None, None, {bias}, {bias2}, True)
{new} = lib.nn.functional.group_norm({batch}, 2, {bias})
{new} = lib.nn.functional.instance_norm({image})
{new} = lib.nn.functional.rms_norm({x}, {x}.shape[-1:])
{new} = lib.nn.functional.normalize({x}, dim={dim})
{new} = lib.nn.functional.local_response_norm({image}, 2)
{new} = lib.nn.functional.glu({batch}, {dim})
{new} = lib.nn.functional.mse_loss({x}, {same}, reduction={reduction})
{new} = lib.nn.functional.l1_loss({x}, {same}, reduction={reduction})
{new} = lib.nn.functional.smooth_l1_loss({x}, {same}, reduction={reduction})
{new} = lib.nn.functional.huber_loss({x}, {same}, reduction={reduction}, delta=0.5)
{new} = lib.nn.functional.kl_div({x}, {same}, reduction={reduction})
{new} = lib.nn.functional.binary_cross_entropy({x}.sigmoid(), {same}.sigmoid(), reduction={reduction})
{new} = lib.nn.functional.binary_cross_entropy_with_logits({x}, {same}, reduction={reduction})
{new} = lib.nn.functional.cross_entropy({matrix}, {matrix}.argmax(1), reduction={reduction})
{new} = lib.nn.functional.cross_entropy({matrix}, {matrix}.detach().softmax(1), label_smoothing=0.1)
{new} = lib.nn.functional.nll_loss({matrix}, {matrix}.argmax(1), reduction={reduction})
{new} = lib.nn.functional.soft_margin_loss({x}, {same}, reduction={reduction})
{new} = lib.nn.functional.poisson_nll_loss({x}, {same}, reduction={reduction})
{new} = lib.nn.functional.gaussian_nll_loss({x}, {same}, {same}.exp(), reduction={reduction})
{new} = lib.nn.functional.margin_ranking_loss({x}, {same}, {same}.sign(), reduction={reduction})
{new} = lib.nn.functional.triplet_margin_loss({matrix}, {matrix} * 2, {matrix} + 1, reduction={reduction})
{new} = lib.nn.functional.cosine_embedding_loss({matrix}, {matrix} * 2, {matrix}[:, 0].sign(), reduction={reduction})
{new} = lib.nn.functional.hinge_embedding_loss({x}, {x}.sign(), reduction={reduction})
{new} = lib.nn.functional.multi_margin_loss({matrix}, {matrix}.argmax(1), reduction={reduction})
""".strip().splitlines()

WRITES = """
{x} += {like}
{x} -= {like}
{x} *= {like}
{x} /= {like}
{x} **= 2
{x}.add_({like})
{x}.mul_({like})
{x}.sub_({like}, alpha={number})
{x}.div_({like})
{x}.addcmul_({like}, {like2}, value={integer})
{x}.lerp_({same}, {number})
{x}.copy_({like_tensor})
{x}.fill_({number})
{x}.fill_({scalar})
{x}.zero_()
{x}.clamp_({number}, {number2})
{x}.masked_fill_({mask}, {number})
{x}.masked_fill_({mask}, {scalar})
{x}.masked_scatter_({mask}, {same}.clone())
{x}.index_fill_({dim}, {indices}, {number})
{x}.index_add_({dim}, {indices2}, {x}.index_select({dim}, {indices2}))
{x}.index_copy_({dim}, {indices2}, {x}.index_select({dim}, {indices2}))
{x}.index_put_(({indices},), {number_tensor})
{x}.scatter_({dim}, {everywhere}, {same})
{x}.scatter_({dim}, {everywhere}, {number})
{x}.scatter_add_({dim}, {everywhere}, {same})
{x}.put_({indices0}, {x}.take({indices0}))
{x}[{index}] = {number}
{x}[{index}] = {scalar}
{x}[{index}] = {number}
{x}[{index}] = {x}[{index}] * 2
{x}[{index}] += {number}
{x}[{index}] *= {number}
{x}[{mask}] = {number}
{x}[{mask}] *= 2
{x}.T.mul_({number})
{x}.select({dim}, {place}).add_({number})
{x}.diagonal().zero_()
{constant}.unsqueeze_({dim})
{constant}.squeeze_()
{constant}.transpose_({dim}, {dim2})
{constant}.t_()
{x}.fill_diagonal_({number})
{x}.cumsum_({dim})
{x}.tril_()
{x}.detach().add_({number})
{constant}.data.mul_({number})
{new} = {x}.data
{constant}.data = {same}
{constant}.data = {same}.detach().clone()
with lib.no_grad(): {x}.add_({number})
with lib.no_grad(): {x}.mul_({like})
with lib.no_grad(): {x}[{index}] = {number}
with lib.no_grad(): {x}.copy_({like_tensor})
{list}[0].add_({number})
{list}[-1].mul_({number})
lib.add({x}, {like}, out={same})
lib.mul({x}, {like}, out={same})
lib.exp({x}, out={same})
lib.cumsum({x}, {dim}, out={same})
lib.nn.functional.relu({x}, inplace=True)
lib.nn.functional.elu({x}, inplace=True)
lib.nn.functional.leaky_relu({x}, 0.1, inplace=True)
lib.nn.functional.hardtanh({x}, inplace=True)
lib.nn.functional.threshold({x}, 0.1, {number}, inplace=True)
""".strip().splitlines()

AUTOGRAD = """
{g}.sum().backward()
({g} * {g}).sum().backward()
({g} * {g2}.sum()).sum().backward(retain_graph=True)
({g}.sin() * {g2}.sum()).sum().backward(retain_graph=True)
{g}.sum().backward(retain_graph=True)
({g} ** 2).sum().backward(retain_graph=True)
{g}.sum().backward(create_graph=True)
{g}.cos().sum().backward(create_graph=True)
{g}.backward(lib.ones_like({g}))
{g}.backward({g}.detach() * 2, retain_graph=True)
{g}.backward()
{g}.sum().backward(inputs=[{leaf}])
lib.autograd.backward([{g}.sum(), {g2}.mean()])
{new} = lib.autograd.grad({g}.sum(), {leaf}, allow_unused=True)[0]
{new} = lib.autograd.grad({g}.sum(), {leaf}, allow_unused=True, retain_graph=True)[0]
{new} = lib.autograd.grad(({g} ** 3).sum(), {leaf}, allow_unused=True, create_graph=True)[0]
{new} = lib.autograd.grad({g}.exp().sum(), {leaf}, create_graph=True)[0]
{new} = lib.autograd.grad({g}.sum(), {leaf}, allow_unused=True, create_graph=True, materialize_grads=True)[0]
{new} = lib.autograd.grad([{g}.sum()], [{leaf}, {g2}], allow_unused=True, retain_graph=True)
{new} = lib.autograd.grad({g}, {leaf}, lib.ones_like({g}), allow_unused=True, create_graph=True)[0]
{leaf}.grad = None
{leaf}.grad.zero_()
{leaf}.grad = {same}.detach().clone()
{new} = {leaf}.grad.clone()
{f}.requires_grad_()
{leaf}.requires_grad_(False)
{x}.requires_grad_(False)
{g}.detach_()
{owner}.register_hook(lambda g: g * 2)
{owner}.register_hook(lambda g: -g + 1)
{owner}.register_hook(lambda g: None)
{new} = []; {owner}.register_hook({new}.append)
{new} = {owner}[{index}]; {new}.register_hook(lambda g: g * 2); {new} = {new} * 1
{new} = {owner}.T; {new}.register_hook(lambda g: -g); {new} = {new} * 1
{g}.retain_grad()
{new} = lib.utils.checkpoint.checkpoint(lambda t: t.sin() * t, {g}, use_reentrant=False)
{new} = {owner}.register_hook(lambda g: g * 3); {new}.remove()
with lib.no_grad(): {new} = {constant}[{index}]
with lib.no_grad(): {new} = {x} * {like}
with lib.no_grad(): {new} = {constant}.unsqueeze(0)
with lib.no_grad(): {new} = {constant}.T
with lib.no_grad(): {new} = {x}.detach()
with lib.no_grad(): {leaf} -= 0.1 * {leaf}.grad
with lib.set_grad_enabled({flag}): {new} = {x} * {like}
del {x}
""".strip().splitlines()

# A family, and how often one of its statements comes.
FAMILIES = [
    (CREATION, 4),
    (ARITHMETIC, 16),
    (VIEWS, 20),
    (COPIES, 7),
    (REDUCTIONS, 8),
    (PRODUCTS, 4),
    (LAYERS, 4),
    (WRITES, 15),
    (AUTOGRAD, 11),
    (MODULES, 3),
    (LINALG, 2),
    (MORE, 6),
    (TRANSFORMS, 5),
    (STEPS, 2),
    (SCHEDULES, 2),
    (PARAMETRIZED, 2),
    (INITIAL, 1),
    (PROBABILITY, 3),
    (LAYERS_WITH_OPTIONS, 4),
    (LOSSES, 2),
    (FACTORS, 3),
    (PYTHON, 10),
    (OPTIMIZERS, 2),
    (OF_MODULES, 3),
    (COMPOSITIONS, 8),
    (RARELY_USED, 6),
    (LEFT_OVER, 6),
]
FOUND = 11  # the same for the statements that discovery.py finds
