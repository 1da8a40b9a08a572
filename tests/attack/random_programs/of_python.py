"""Statements of Python's protocols, types, modules' own methods and optimizers; see statements.py."""

from __future__ import annotations

from .modules_and_transforms import SET

PYTHON = """
{new} = len({x})
{new} = list({x})
{new} = [t * 2 for t in {x}]
{new} = bool({x})
{new} = int({x})
{new} = float({x})
{new} = float({x}[{index}])
{new} = {x}.item()
{new} = {x}.tolist()
{new} = {number} in {x}
{new} = {x} in {same}
{new} = abs({x})
{new} = round({x}, {integer})
{new} = round({x})
{new} = divmod({x}, {like})
{new} = {number} // {x}
{new} = {number} % {x}
{new} = {i} << {bit}
{new} = {i} >> {bit}
{new} = {bit} << {i}
{new} = {i} ^ {i2}
{new} = {m} ^ {m2}
{new} = {i} | {integer}
{new} = {m} & {x}
{new} = ~{i}
{new} = -{i} ** 2
{new} = +{x}
{new} = {number} < {x}
{new} = {x} != {like}
{new} = {number} - {i}
{new} = {m} + {m2}
{new} = {m} * {like}
{new} = {m} - {number}
{new} = {i} / {like}
{new} = {i} ** {like}
{new} = {i} @ {i}.T
{i} += {like}
{i} *= {number}
{i} //= {like}
{x} //= {like}
{x} %= {like}
{i} &= {i2}
{i} ^= {integer}
{i} <<= {bit}
{m} |= {m2}
{m} ^= {m2}
{x} @= {same}
{x}[{index}] = {x}[{index}].detach() + {i}.sum()
{x}[{index}] = {like_tensor}
{x}[{index}] -= {scalar}
{x}[{index}] /= {number}
{x}[{mask}] = {same}[{mask}]
{x}[{mask}] += {x}[{mask}].detach()
{x}[{i} > 1] = {number}
{i}[{index}] = {number}
{m}[{index}] = {flag}
{i}[{index}] += {integer}
{new} = {x}[{mask}, ...]
{new} = {x}[..., None]
{new} = {x}[None, {index}]
{new} = {x}[{flag}]
{new} = {x}[lib.tensor({flag})]
{new} = {x}[[{bit}, -1], ...]
{new} = {x}[{x}.argmax()]
{new} = {x}[{bit}:, [0, {bit2}]]
{new} = {x}[lib.tensor([[{bit}, 0]]), {index}]
{new} = {x}[{indices}.to(lib.uint8)]
{new} = {x}[{indices}.int()]
{new} = {x}[range({bit}, 2)]
{new} = repr({x}.detach())
{new} = repr({i})
{new} = repr({m})
{new} = repr({x}.detach().float() * 1000)
{new} = [repr({x}.dtype), str({x}.shape), repr({x}.size())]
{new} = [{x}.ndim, {x}.nelement(), {x}.element_size(), {x}.nbytes, {x}.itemsize]
{new} = [{x}.is_floating_point(), {x}.is_signed(), {x}.is_complex(), {x}.is_same_size({y})]
{new} = [lib.numel({x}), lib.is_tensor({x}), {x}.dim(), {x}.size({dim}), {x}.shape.numel()]
{new} = [{plain}.storage_offset(), {plain}.is_contiguous()]
{new} = {x}.is_nonzero()
{new} = lib.is_nonzero({x}[{index}])
{new} = {x}.allclose({same}, {rate}, {factor}, {flag})
{new} = lib.isclose({x}, {like_tensor}, {rate}, {factor}, {flag})
{new} = lib.isclose({x}, {x} + 1e-3, {rate}, {rate2})
{new} = repr(lib.result_type({x}, {like}))
{new} = repr(lib.result_type({x}, {number}))
{new} = repr(lib.promote_types({any_dtype}, {any_dtype2}))
{new} = lib.can_cast({any_dtype}, {any_dtype2})
{new} = [lib.iinfo({i}.dtype).max, lib.finfo({f}.dtype).eps, lib.finfo({f}.dtype).smallest_normal]
{new} = __import__('copy').copy({x})
{new} = __import__('copy').deepcopy({x}.detach())
{new} = __import__('copy').deepcopy({leaf})
{new} = __import__('pickle').loads(__import__('pickle').dumps({leaf}.detach()))
{new} = lib.from_numpy({x}.detach().numpy())
{new} = lib.as_tensor({x}.detach().numpy())
{new} = lib.from_dlpack({x}.detach())
{new} = {x}.detach().numpy().sum().item()
{new} = lib.tensor({x}.tolist(), dtype={any_dtype})
{new} = lib.tensor([{number_tensor}, {number_tensor2}])
{new} = lib.as_tensor([{number}, {number2}], dtype={any_dtype})
{new} = lib.asarray({x}.detach(), copy={flag})
{new} = {x}.to({any_dtype})
{new} = {x}.to({any_dtype}, copy={flag})
{new} = {x}.type({any_dtype})
{new} = {x}.half().float()
{new} = {x}.bfloat16()
{new} = {x}.int()
{new} = {x}.byte()
{new} = {x}.bool()
{new} = {f}.half() + {i}
{new} = {f}.bfloat16() * {f2}.half()
{new} = {f}.float() + {f2}.double()
{new} = {f}.float() * {number_tensor}
{new} = {f}.to({any_dtype}) / {like_tensor}
{new} = {x}.clone(memory_format=lib.contiguous_format)
{new} = lib.zeros_like({x}, dtype={any_dtype})
{new} = lib.full_like({x}, {number}, dtype={any_dtype}, requires_grad=False)
{new} = lib.full({shape}, {number})
{new} = lib.arange({number}, {integer}, {factor})
{new} = lib.arange({number}, {integer2}, dtype={any_dtype})
{new} = lib.range({number}, 3)
{new} = lib.linspace({number}, {number2}, {integer}, dtype={any_dtype})
{new} = lib.linspace({number_tensor}, {number2}, {integer})
{new} = lib.logspace({number}, {number2}, {integer}, base=2)
{new} = lib.eye({integer}, dtype={any_dtype})
{new} = lib.triu_indices({integer}, {integer2}, {offset})
{new} = lib.hann_window({integer}, {flag}, dtype=lib.float64)
{new} = lib.hamming_window({integer}, {flag}, {factor}, dtype=lib.float64)
{new} = lib.kaiser_window({integer}, {flag}, {number}, dtype=lib.float64)
{new} = [lib.blackman_window({integer}, {flag}) + 1, lib.bartlett_window({integer}, {flag})]
{new} = lib.fft.fftshift({x}, {dim})
{new} = [lib.fft.fftfreq({integer}, {factor}), lib.fft.ifftshift({vector}), lib.fft.rfftfreq({integer})]
{new} = lib.unravel_index({i}.abs(), (2, {integer}))
{new} = lib.broadcast_shapes({x}.shape, {y}.shape)
{new} = [lib.empty({shape}, dtype={any_dtype}).shape, lib.rand({shape}).shape, repr(lib.randint(3, {shape}).dtype)]
{new} = lib.randperm({integer}).sort()
{new} = lib.histogramdd({matrix}[:, :1], [{integer}])
{new} = {x}.as_strided_scatter({x}.new_ones([1]), [1], [1])
{new} = {x}.as_strided_scatter({x}.new_ones([2]), [2], [1], {bit})
{new} = {x}.unsafe_split({length}, {dim})
{new} = {x}.unsafe_chunk({integer}, {dim})
{new} = lib.concat([{x}, {same}], axis={dim})
{new} = lib.cat([{x}, {y}])
{new} = lib.cat([{x}, {i}.to(lib.int32)], {dim})
{new} = lib.row_stack([{x}, {same}])
{new} = lib.stack([{x}, {same}, {x}], {dim}).sum({dim})
{new} = {i}.lcm({i2})
{i}.gcd_({i2})
{i}.lcm_({i2})
{f}.mvlgamma_({integer})
{x}.celu_()
lib.selu_({x})
lib.nn.functional.elu_({x}, {number})
lib.nn.functional.leaky_relu_({x}, {number})
{new} = {x}.squeeze({dims})
{new} = lib.permute_copy({x}, {order})
{new} = lib.unfold_copy({x}, {dim}, {length}, 1)
{new} = lib.expand_copy({x}, {larger})
{new} = lib.split_copy({x}, {length}, {dim})
{new} = lib.view_copy({plain}, {fitting})
{new} = lib.alias_copy({x})
{new} = {plain}.view({any_dtype})
{constant}.resize_({shape}).fill_({number})
{constant}.resize_as_({same})
{constant}.set_({same}.detach())
{constant}.as_strided_([1], [1])
{new} = {x}.T.reshape(-1).contiguous().view({x}.shape)
with lib.inference_mode(): {new} = {x} * {like}
with lib.autograd.detect_anomaly(): {new} = {x}.exp() * {like}
with lib.autocast('cpu', lib.bfloat16): {new} = {matrix}.float() @ {matrix}.float().mT
with lib.autocast('cpu', lib.bfloat16): {new} = lib.nn.functional.linear({square}.float(), {square2}.float()) + {square}
with lib.autocast('cpu', lib.float16): {new} = lib.nn.functional.layer_norm({batch}.float(), [4]) + {batch}.half()
with lib.autocast('cpu', lib.bfloat16, enabled={flag}): {new} = {square}.float().softmax(-1).mm({square2}.float()).exp()
with lib.autocast('cpu', lib.bfloat16): {new} = lib.nn.functional.mse_loss({square}.bfloat16(), {square2}.float())
lib.set_default_dtype(lib.float64); {new} = lib.full({shape}, {number}); lib.set_default_dtype(lib.float32)
lib.set_default_dtype(lib.float64); {new} = [lib.tensor({number}), {i} / 2]; lib.set_default_dtype(lib.float32)
{new} = [lib.special.bessel_j0({x}), lib.special.bessel_y1({x}), lib.special.modified_bessel_i1({x})]
{new} = [lib.special.bessel_j1({x}), lib.special.bessel_y0({x}), lib.special.modified_bessel_k0({x})]
{new} = [lib.special.airy_ai({x}), lib.special.spherical_bessel_j0({x}), lib.special.scaled_modified_bessel_k1({x})]
{new} = [lib.special.chebyshev_polynomial_t({x}, {integer}), lib.special.chebyshev_polynomial_u({x}, {integer2})]
{new} = [lib.special.hermite_polynomial_h({x}, {integer}), lib.special.hermite_polynomial_he({x}, {like})]
{new} = [lib.special.laguerre_polynomial_l({x}, {integer}), lib.special.legendre_polynomial_p({x}, {integer2})]
{new} = lib.special.multigammaln({x}.abs() + 3, {integer})
{new} = lib.special.softmax({x}, {dim}, dtype={floating})
{new} = lib.poisson({x} * 0)
{new} = lib.bernoulli({x} * 0 + {bit})
{new} = lib.normal({x}, 0.0)
{new} = lib.multinomial(lib.tensor([0.0, 1, 0]), 1)
{new} = {x}.quantile(lib.tensor([0.5, {fraction}], dtype={x}.dtype), {dim}, interpolation={interpolation})
{new} = {x}.nanquantile({fraction}, {dim}, {flag}, interpolation={interpolation})
{new} = {x}.unique(sorted=True, return_inverse={flag}, return_counts={flag2})
{new} = {x}.unique(dim={dim}, return_counts={flag})
{new} = {x}.unique_consecutive(return_inverse={flag}, return_counts={flag2}, dim={dim})
{new} = {x}.diff({bit}, {dim}, prepend={same})
{new} = lib.gradient({x}, spacing={number}, dim={dim}, edge_order={bit})
{new} = lib.trapezoid({x}, {same}, dim={dim})
{new} = lib.cumulative_trapezoid({x}, dx={number}, dim={dim})
{new} = lib.searchsorted({vector}.sort().values, {like_tensor}, side={side}, out_int32={flag})
{new} = {x}.to({dtype}).sum({dim}, dtype={any_dtype})
{new} = {x}.prod({dim}, dtype={any_dtype})
{new} = {x}.mean({dims}, dtype={floating})
{new} = {x}.cumsum({dim}, dtype={any_dtype})
{new} = {x}.topk({length}, {dim}, {flag}, {flag2}).values
{new} = {x}.sort(stable=True, dim={dim}, descending={flag})
{new} = {x}.argsort(dim={dim}, descending={flag}, stable=True)
{new} = {x}.nansum({dims}, {flag}, dtype={floating})
{new} = {x}.logsumexp({dims}, {flag})
{new} = {x}.isin({like_tensor})
{new} = lib.isin({x}, lib.tensor([{number}, {number2}]), assume_unique={flag}, invert={flag2})
{new} = lib.meshgrid({vector}, {vector2}, indexing='xy')
{new} = lib.combinations({vector}, {integer}, {flag})
{new} = {x}.roll(({integer}, -1), ({dim}, {dim2}))
{new} = {x}.rot90({integer}, [{dim}, {dim2}])
{new} = {x}.flip({dims})
{new} = {x}.repeat_interleave(lib.tensor([{bit}, {integer}]), {dim})
{new} = {x}.bucketize(lib.tensor([-1.0, {number}, 4]), right={flag})
{new} = {x}.histc({integer}, {number}, {number2})
{new} = lib.histogram({vector}, {integer}, range=(-2.0, 2.0), density={flag})
{new} = {i}.flatten().abs().bincount({f}.flatten()[:1].expand({i}.numel()))
{new} = {x}.where({mask}, {like})
{new} = lib.where({m}, {number}, {number2})
{new} = {x}.clamp({like_tensor}, {like_tensor2})
{new} = {x}.clip(min={like_tensor})
{new} = {x}.fmod({like})
{new} = {x}.float_power({like})
{new} = {x}.copysign({like})
{new} = {x}.ldexp({i}.sum())
{new} = {x}.frexp()
{new} = {x}.round(decimals={integer})
""".strip().splitlines()

OPTIMIZERS = (
    """
{new} = lib.optim.{optimizer_with_options}; {new}.step(); {new}.step()
{new} = lib.optim.{optimizer_with_options}; {new}.step()
{new} = lib.optim.{optimizer_with_options}; {new}.zero_grad({flag}); {new}.step()
{new} = lib.optim.{optimizer_with_options}; {new}.add_param_group(dict(params=[{leaf2}])); {new}.step()
{new} = lib.optim.{optimizer_with_options}; {new}.step(); {new}.load_state_dict({new}.state_dict()); {new}.step()
{new} = lib.optim.{optimizer_with_options}; {new}.param_groups[0]['lr'] = {rate}; {new}.step()
{new} = lib.optim.{optimizer_with_options}; {new}.step(lambda: ({leaf} ** 2).sum().backward())
{new} = lib.optim.LBFGS([{leaf}], {rate}, {integer}); {new}.step(LOSS(({leaf} ** 2).sum()))
{new} = lib.optim.LBFGS([{leaf}], 1, 3, line_search_fn='strong_wolfe'); {new}.step(LOSS((({leaf} - 1) ** 4).sum()))
{new} = lib.nn.utils.clip_grad_norm_([{leaf}], {rate}, {norm})
{new} = lib.nn.utils.clip_grads_with_norm_([{leaf}], {factor}, lib.tensor({rate}))
{new} = lib.nn.utils.get_total_norm([{x}, {same}], {norm})
{new} = lib.optim.swa_utils.AveragedModel({module}); {new}.update_parameters({module})
{new} = SWA.AveragedModel({module}, None, SWA.get_ema_avg_fn({factor})); {new}.update_parameters({module})
{new} = {S}.{simple_of}; {optimizer}.step(); {new}.step(); {new}.load_state_dict({new}.state_dict()); {new}.step()
""".replace("LOSS", "lambda: (lambda l: (l.backward(), l)[1])")
    .replace("SWA", "lib.optim.swa_utils")
    .replace("{S}", "(lambda o: lib.optim.lr_scheduler")
    .replace("{simple_of}", "{simple})({optimizer})")
    .strip()
    .splitlines()
)

CALL = "lib.func.functional_call"
OF_MODULES = f"""
{{new}} = lib.nn.Linear(3, 3, {{flag}}, dtype=lib.float64); {SET}
{{new}} = lib.nn.Sequential(lib.nn.Linear(3, 3), lib.nn.BatchNorm1d(3), lib.nn.Tanh()).double(); {SET}
{{new}} = lib.nn.ModuleDict(dict(a=lib.nn.Linear(3, 3), b=lib.nn.LayerNorm(3))).double(); {SET}
{{new}} = {{module}}({{square}})
{{new}} = {{module}}({{square}}); ({{new}} * {{new}}).sum().backward()
{{new}} = [n for n, _ in {{module}}.named_parameters()]
{{new}} = [n for n, _ in {{module}}.named_modules()]
{{new}} = [n for n, _ in {{module}}.named_children()]
{{new}} = list({{module}}.buffers())
{{new}} = dict({{module}}.state_dict(prefix='p.'))
{{new}} = repr({{module}}.load_state_dict({{module2}}.state_dict(), strict={{flag}}))
{{module}}.load_state_dict({{module2}}.state_dict(), assign={{flag}})
{{module}}.register_buffer('extra', {{square}}.detach() * 1, persistent={{flag}})
{{module}}.register_parameter('more', lib.nn.Parameter({{square}}.detach() * 1))
{{module}}.register_parameter('more', None)
{{module}}.add_module('sub', lib.nn.Tanh())
{{module}}.requires_grad_({{flag}})
{{module}}.zero_grad({{flag}})
{{module}}.train({{flag}})
{{module}}.eval()
{{module}}.to({{floating}})
{{module}}.double()
{{module}}.apply(lambda m: m.train({{flag}}))
{{new}} = __import__('copy').deepcopy({{module}})
{{new}} = [p.grad for p in {{module}}.parameters()]
{{new}} = {{module}}.get_parameter('weight')
{{new}} = {{module}}.get_submodule('')
{{module}}.register_forward_hook(lambda m, a, r: r * {{number}})
{{module}}.register_forward_pre_hook(lambda m, a: (a[0] + {{number}},))
{{module}}.register_full_backward_hook(lambda m, g, h: (g[0] * 2,) if g[0] is not None else None)
{{module}}.register_full_backward_pre_hook(lambda m, h: (h[0] * {{number}},))
{{new}} = {{module}}.register_forward_hook(lambda m, a, r: r * 3); {{new}}.remove(); {{new}} = {{module}}({{square}})
{{new}} = lib.func.functional_call({{module}}, {{{{n: p * 2 for n, p in {{module2}}.named_parameters()}}}}, {{square}})
{{new}} = lib.func.stack_module_state([{{module}}, {{module}}])
{{new}} = lib.func.grad(lambda p: {CALL}({{module}}, p, {{square}}).sum())(dict({{module}}.named_parameters()))
{{new}} = lib.func.vmap(lambda t: {{module}}(t))({{cube}})
{{new}} = lib.utils.checkpoint.checkpoint({{module}}, {{square}}, use_reentrant={{flag}})
{{new}} = lib.optim.SGD({{module}}.parameters(), lr={{rate}}); {{new}}.step()
{{new}} = {{module}} == {{module2}}
{{new}} = isinstance({{module}}, lib.nn.Linear)
del {{module}}.bias
{{module}}.weight = lib.nn.Parameter({{square}}.detach() * 1)
{{module}}.weight = {{square}}
{{module}}.bias = None
{{module}}.thing = {{square}}
{{module}}.weight.grad = None
""".strip().splitlines()
