"""Statements about objects that live on in variables: schedules of optimizers, modules whose parameters are made of
others, distributions. What of an object is compared says execution.py; statements.py says what statements are made of.
"""

from __future__ import annotations

# Weights that have no two elements of one magnitude, so that pruning leaves no choice
DISTINCT = "[p.data.copy_(lib.linspace(-1, 1.7, p.numel(), dtype=p.dtype).view(p.shape)) for p in {new}.parameters()]"
# The vectors of spectral_norm, which begin at random
EVEN = "[b.copy_(lib.ones_like(b) / b.numel() ** 0.5) for b in {module}.buffers()]"

S = "lib.optim.lr_scheduler"
SCHEDULES = f"""
{{new}} = lib.optim.SGD([{{leaf}}], lr={{rate}})
{{new}} = lib.optim.SGD([{{leaf}}], lr={{rate}}, momentum=0.9)
{{new}} = lib.optim.Adam([dict(params=[{{leaf}}]), dict(params=[{{leaf}}.detach().clone()], lr=0.5)], lr={{rate}})
{{new}} = {S}.StepLR({{optimizer}}, {{integer}}, {{factor}})
{{new}} = {S}.MultiStepLR({{optimizer}}, {{milestones}}, {{factor}})
{{new}} = {S}.ConstantLR({{optimizer}}, {{factor}}, {{integer}})
{{new}} = {S}.LinearLR({{optimizer}}, {{factor}}, {{factor2}}, {{integer}})
{{new}} = {S}.ExponentialLR({{optimizer}}, {{factor}})
{{new}} = {S}.PolynomialLR({{optimizer}}, {{integer}}, {{number}})
{{new}} = {S}.CosineAnnealingLR({{optimizer}}, {{integer}}, {{rate}})
{{new}} = {S}.CosineAnnealingWarmRestarts({{optimizer}}, {{integer}}, {{integer2}}, {{rate}})
{{new}} = {S}.LambdaLR({{optimizer}}, lambda epoch: {{factor}} ** epoch)
{{new}} = {S}.LambdaLR({{optimizer}}, [lambda epoch: {{factor}}, lambda epoch: 1 / (1 + epoch)])
{{new}} = {S}.MultiplicativeLR({{optimizer}}, lambda epoch: {{factor}})
{{new}} = {S}.CyclicLR({{optimizer}}, {{rate}}, {{rate2}}, {{integer}}, {{integer2}}, {{cycle}})
{{new}} = {S}.CyclicLR({{optimizer}}, {{rate}}, {{rate2}}, {{integer}}, mode={{cycle}}, cycle_momentum=False)
{{new}} = {S}.OneCycleLR({{optimizer}}, {{rate}}, {{cycle_length}}, anneal_strategy={{anneal}}, three_phase={{flag}})
{{new}} = {S}.OneCycleLR({{optimizer}}, [{{rate}}, {{rate2}}], None, {{integer}}, 4, cycle_momentum=False)
{{new}} = {S}.ReduceLROnPlateau({{optimizer}}, factor={{factor}}, patience={{bit}}, cooldown={{bit2}}, min_lr={{rate}})
{{new}} = {S}.ReduceLROnPlateau({{optimizer}}, {{plateau}}, {{factor}}, 0, {{number}}, {{threshold}})
{{new}} = {S}.ChainedScheduler([{{schedule}}, {{schedule2}}], {{optimizer}})
{{new}} = (lambda o: {S}.SequentialLR(o, [{S}.{{simple}}, {S}.{{simple2}}], [{{integer}}]))({{optimizer}})
{{new}} = (lambda o: {S}.SequentialLR(o, [{S}.{{simple}}, {S}.{{simple2}}, {S}.{{simple3}}], [1, 3]))({{optimizer}})
{{new}} = (lambda o: {S}.ChainedScheduler([{S}.{{simple}}, {S}.{{simple2}}]))({{optimizer}})
{{optimizer}}.step()
{{optimizer}}.step(); {{schedule}}.step()
{{schedule}}.step()
{{schedule}}.step()
{{schedule}}.step(); {{schedule}}.step()
{{schedule}}.step({{number}})
{{schedule}}.step({{integer}})
{{new}} = {{schedule}}.get_last_lr()
{{schedule}}.load_state_dict((lambda s: ({{schedule}}.step(), s)[1])({{schedule}}.state_dict()))
{{schedule}}.load_state_dict({{twin}}.state_dict())
{{optimizer}}.load_state_dict((lambda s: ({{optimizer}}.step(), s)[1])({{optimizer}}.state_dict()))
{{optimizer}}.load_state_dict({{twin}}.state_dict())
{{optimizer}}.add_param_group(dict(params=[{{leaf}}.detach().clone().requires_grad_()], lr={{rate}}))
{{optimizer}}.zero_grad({{flag}})
{{optimizer}}.param_groups[0]['lr'] = {{rate}}
{{new}} = {{optimizer}}.step(lambda: {{number}})
""".strip().splitlines()

U = "lib.nn.utils"
PRUNING = f"{U}.prune.L1Unstructured"
PARAMETRIZED = f"""
{{new}} = lib.nn.Linear(3, 3, dtype=lib.float64); {DISTINCT}
{{new}} = lib.nn.Linear(3, {{size}}, bias={{flag}}, dtype=lib.float64); {DISTINCT}
{{new}} = lib.nn.Conv1d(3, 3, {{size}}, dtype=lib.float64); {DISTINCT}
{{new}} = lib.nn.ConvTranspose1d(3, 2, {{size}}, dtype=lib.float64); {DISTINCT}
{{new}} = lib.nn.LayerNorm(3, dtype=lib.float64); {DISTINCT}
{{new}} = lib.nn.GRUCell(3, 3, dtype=lib.float64); {DISTINCT}
{{new}} = lib.nn.Sequential(lib.nn.Linear(3, 3), lib.nn.ReLU(), lib.nn.Linear(3, 2)).double(); {DISTINCT}
{{new}} = {{module}}({{square}})
{{new}} = {{module}}({{square}})
({{module}}({{square}}) ** 2).sum().backward()
({{module}}({{square}}).sin() * {{number}}).sum().backward()
lib.optim.SGD({{module}}.parameters(), 0.1).step()
{{module}}.zero_grad({{flag}})
{{module}}.train({{flag}})
{{module}}.requires_grad_({{flag}})
{{module}}.load_state_dict({{module2}}.state_dict())
{{module}}.load_state_dict({{module2}}.state_dict(), strict=False)
{{new}} = __import__('copy').deepcopy({{module}})
{{new}} = {{module}}.{{parameter}}
{{new}} = list({{module}}.parameters())
{{new}} = {{module}}.float()(lib.ones(3, 3)); {{module}}.double()
{{module}}.{{parameter}} = {{module2}}.{{parameter}}
{{module}}.{{parameter}}.data.mul_({{number}})
with lib.no_grad(): {{module}}.{{parameter}}.add_({{number}})
with lib.no_grad(): {{module}}.{{parameter}} = {{module}}.{{parameter}} * {{number}}
{{new}} = {U}.weight_norm({{module}}, {{parameter}}, {{dim_or_none}})
{U}.weight_norm({{module}})
{U}.remove_weight_norm({{module}}, {{parameter}})
{U}.parametrizations.weight_norm({{module}}, {{parameter}}, {{dim_or_none}})
{U}.spectral_norm({{module}}, {{parameter}}, {{size}}); {EVEN}
{U}.remove_spectral_norm({{module}}, {{parameter}})
{U}.parametrizations.spectral_norm({{module}}, {{parameter}}, {{size}}); {EVEN}
{U}.parametrizations.orthogonal({{module}}, {{parameter}}, {{orthogonal_map}}, use_trivialization={{flag}})
{U}.parametrize.register_parametrization({{module}}, {{parameter}}, lib.nn.{{activation}}())
{U}.parametrize.register_parametrization({{module}}, {{parameter}}, lib.nn.{{activation}}(), unsafe=True)
{U}.parametrize.remove_parametrizations({{module}}, {{parameter}}, leave_parametrized={{flag}})
{{new}} = {U}.parametrize.is_parametrized({{module}}, {{parameter}})
{{new}} = {U}.parametrize.is_parametrized({{module}})
{{new}} = {{module}}.parametrizations.{{parameter}}.original
with {U}.parametrize.cached(): {{new}} = {{module}}({{square}}).sum() + {{module}}.weight.sum()
{U}.parametrize.transfer_parametrizations_and_params({{module}}, {{module2}}, {{parameter}})
{U}.prune.identity({{module}}, {{parameter}})
{U}.prune.l1_unstructured({{module}}, {{parameter}}, {{amount}})
{U}.prune.l1_unstructured({{module}}, {{parameter}}, {{amount}}, {{cube}}[0].detach())
{U}.prune.ln_structured({{module}}, {{parameter}}, {{amount}}, {{norm}}, {{bit}})
{U}.prune.random_unstructured({{module}}, {{parameter}}, {{all_or_none}})
{U}.prune.random_structured({{module}}, {{parameter}}, {{all_or_none}}, {{bit}})
{U}.prune.custom_from_mask({{module}}, {{parameter}}, lib.eye(3, dtype=lib.float64))
{U}.prune.custom_from_mask({{module}}, {{parameter}}, {{mask_of_square}})
{U}.prune.global_unstructured([({{module}}, {{parameter}}), ({{module2}}, 'weight')], {PRUNING}, amount={{amount}})
{U}.prune.remove({{module}}, {{parameter}})
{{new}} = {U}.prune.is_pruned({{module}})
{{new}} = {U}.parameters_to_vector({{module}}.parameters())
{U}.vector_to_parameters({{vector}}, {{module}}.parameters())
{U}.clip_grad_norm_({{module}}.parameters(), 0.5)
""".strip().splitlines()
# Of a name, and as a word of text
PARAMETRIZED = [line.replace(", {parameter}", ", '{parameter}'") for line in PARAMETRIZED]

INIT = "lib.nn.init"
WIDE = "lib.zeros(200, 300)"
INITIAL = f"""
{INIT}.constant_({{x}}, {{number}})
{INIT}.ones_({{x}})
{INIT}.zeros_({{x}})
{INIT}.eye_({{x}})
{INIT}.dirac_({{x}})
{INIT}.dirac_({{kernel}}, {{size}})
{INIT}.dirac_({{kernel2d}})
{{new}} = {INIT}.calculate_gain({{nonlinearity}}, {{number}})
{{new}} = {INIT}.calculate_gain({{nonlinearity}})
{{new}} = {INIT}.uniform_({{x}}.detach().clone(), {{number}}, {{number2}}).shape
{{new}} = {INIT}.normal_({{x}}.detach().clone(), {{number}}, {{number2}}).shape
{{new}} = {INIT}.trunc_normal_({{f}}.detach().clone(), 0.5, {{rate}}, -1, 2.5).abs() < 2.6
{{new}} = {INIT}.xavier_uniform_({{x}}.detach().clone(), {{number}}).shape
{{new}} = {INIT}.xavier_normal_({{x}}.detach().clone(), {{number}}).shape
{{new}} = {INIT}.kaiming_uniform_({{x}}.detach().clone(), {{number}}, {{fan}}, {{nonlinearity}}).shape
{{new}} = {INIT}.kaiming_normal_({{x}}.detach().clone(), {{number}}, {{fan}}, {{nonlinearity}}).shape
{{new}} = {INIT}.orthogonal_({{x}}.detach().clone(), {{number}}).shape
{{new}} = (lambda q: q @ q.mT)({INIT}.orthogonal_({{square}}.detach().clone(), {{number}}))
{{new}} = {INIT}.sparse_({{x}}.detach().clone(), {{fraction}}, {{number}}).shape
{{new}} = ({INIT}.sparse_({{matrix}}.detach() * 1, {{fraction}}) == 0).sum(0)
{{new}} = float({INIT}.uniform_({WIDE}, {{number}}, {{number2}}).mean())
{{new}} = float({INIT}.normal_({WIDE}, {{number}}, {{number2}}).std())
{{new}} = float({INIT}.trunc_normal_({WIDE}, 0.5, 1.5, -1, 2.5).std())
{{new}} = float({INIT}.xavier_uniform_({WIDE}, {{number}}).std())
{{new}} = float({INIT}.xavier_normal_({WIDE}, {{number}}).std())
{{new}} = float({INIT}.kaiming_uniform_({WIDE}, {{number}}, {{fan}}, {{nonlinearity}}).std())
{{new}} = float({INIT}.kaiming_normal_({WIDE}, {{number}}, {{fan}}, {{nonlinearity}}).std())
{{new}} = float({INIT}.orthogonal_(lib.zeros(20, 30), {{number}}).pow(2).sum())
{{new}} = [float(p.detach().abs().max()) for p in lib.nn.{{large_layer}}.parameters() if p.numel() > 500]
""".strip().splitlines()

D = "lib.distributions"
IN = f"{D}.biject_to({{distribution}}.support)"
PROBABILITY = f"""
{{new}} = {D}.Normal({{f}}, {{like}}.exp())
{{new}} = {D}.Normal({{f}}, {{same}}.exp())
{{new}} = {D}.LogNormal({{f}}, {{same}}.exp())
{{new}} = {D}.HalfNormal({{f}}.exp())
{{new}} = {D}.HalfCauchy({{f}}.exp())
{{new}} = {D}.Laplace({{f}}, {{same}}.exp())
{{new}} = {D}.Cauchy({{f}}, {{same}}.exp())
{{new}} = {D}.Gumbel({{f}}, {{same}}.exp())
{{new}} = {D}.Uniform({{f}}, {{f}} + {{same}}.exp())
{{new}} = {D}.Uniform({{f}}, {{same}})
{{new}} = {D}.Exponential({{f}}.exp())
{{new}} = {D}.Gamma({{f}}.exp(), {{same}}.exp())
{{new}} = {D}.InverseGamma({{f}}.exp(), {{same}}.exp())
{{new}} = {D}.Chi2({{f}}.exp())
{{new}} = {D}.Beta({{f}}.exp(), {{same}}.exp())
{{new}} = {D}.Kumaraswamy({{f}}.exp(), {{same}}.exp())
{{new}} = {D}.FisherSnedecor({{f}}.exp(), {{same}}.exp())
{{new}} = {D}.StudentT({{f}}.exp(), {{same}}, {{same2}}.exp())
{{new}} = {D}.Pareto({{f}}.exp(), {{same}}.exp())
{{new}} = {D}.Weibull({{f}}.exp(), {{same}}.exp())
{{new}} = {D}.VonMises({{f}}, {{same}}.exp())
{{new}} = {D}.Dirichlet({{matrix}}.exp())
{{new}} = {D}.Bernoulli({{f}}.sigmoid())
{{new}} = {D}.Bernoulli(logits={{f}})
{{new}} = {D}.ContinuousBernoulli({{f}}.sigmoid())
{{new}} = {D}.Geometric({{f}}.sigmoid())
{{new}} = {D}.Binomial({{integer}}, logits={{f}})
{{new}} = {D}.NegativeBinomial({{integer}}, {{f}}.sigmoid())
{{new}} = {D}.Poisson({{f}}.exp())
{{new}} = {D}.Categorical({{matrix}}.exp())
{{new}} = {D}.Categorical(logits={{matrix}})
{{new}} = {D}.OneHotCategorical(logits={{matrix}})
{{new}} = {D}.Multinomial({{integer}}, logits={{matrix}})
{{new}} = {D}.RelaxedBernoulli({{number_tensor}}.exp(), logits={{f}})
{{new}} = {D}.RelaxedOneHotCategorical({{number_tensor}}.exp(), logits={{matrix}})
{{new}} = {D}.LogisticNormal({{matrix}}, {{same}}.exp())
{{new}} = {D}.MultivariateNormal({{square}}, {{square}} @ {{square}}.mT + lib.eye(3, dtype=lib.float64))
{{new}} = {D}.MultivariateNormal({{square}}, scale_tril={D}.LowerCholeskyTransform()({{square2}}))
{{new}} = {D}.LowRankMultivariateNormal({{square}} * 1, {{square2}} * 1, {{square}}.exp())
{{new}} = {D}.Independent({{distribution}}, {{bit}})
{{new}} = {D}.MixtureSameFamily({D}.Categorical(logits={{matrix}}), {D}.Normal({{matrix}}, {{same}}.exp()))
{{new}} = {D}.TransformedDistribution({{distribution}}, [{D}.{{transform}}, {D}.{{transform2}}])
{{new}} = {D}.TransformedDistribution({{distribution}}, {D}.{{transform}})
{{new}} = {D}.Normal({{f}}, {{number}})
{{new}} = {D}.Gamma({{f}}.exp(), {{number}})
{{new}} = {{distribution}}.expand({{shape}})
{{new}} = {{distribution}}.log_prob({IN}({{x}}))
{{new}} = {{distribution}}.log_prob({IN}({{x}}))
{{new}} = {{distribution}}.log_prob({{f}})
{{new}} = {{distribution}}.log_prob({{i}}.abs().double())
{{new}} = {{distribution}}.log_prob({{number_tensor}})
{{new}} = {{distribution}}.log_prob({{distribution}}.mean.round())
{{new}} = {{distribution}}.log_prob({{number}})
{{new}} = {{distribution}}.cdf({IN}({{x}}))
{{new}} = {{distribution}}.cdf({{f}})
{{new}} = {{distribution}}.icdf({{f}}.sigmoid())
{{new}} = {{distribution}}.icdf({{number_tensor}})
{{new}} = {{distribution}}.entropy()
{{new}} = {{distribution}}.perplexity()
{{new}} = {{distribution}}.mean
{{new}} = {{distribution}}.mode
{{new}} = {{distribution}}.variance
{{new}} = {{distribution}}.stddev
{{new}} = {{distribution}}.enumerate_support()
{{new}} = {{distribution}}.enumerate_support(False)
{{new}} = {{distribution}}.sample().shape
{{new}} = {{distribution}}.sample([2, {{size}}]).shape
{{new}} = {{distribution}}.support.check({{distribution}}.sample()).all()
{{new}} = {{distribution}}.support.check({{f}})
{{new}} = {{distribution}}.support.check({IN}({{x}}))
{{new}} = (lambda d, z: d.icdf(d.cdf(z.detach()).detach()) - z)({{distribution}}, {{distribution}}.rsample())
{{new}} = {{distribution}}.rsample([2]).requires_grad
{{new}} = {D}.kl_divergence({{distribution}}, {{distribution2}})
{{new}} = {D}.kl_divergence({{distribution}}, {{distribution2}})
{{new}} = {D}.{{transform}}({{f}})
{{new}} = {D}.{{transform}}.inv({{f}})
{{new}} = {D}.{{transform}}.inv({D}.{{transform}}({{f}}))
{{new}} = (lambda t, x: t.log_abs_det_jacobian(x, t(x)))({D}.{{transform}}, {{f}})
{{new}} = {D}.ComposeTransform([{D}.{{transform}}, {D}.{{transform2}}])({{f}})
{{new}} = {D}.biject_to({D}.constraints.{{constraint}})({{f}})
{{new}} = {D}.transform_to({D}.constraints.{{constraint}})({{f}})
{{new}} = {D}.transform_to({D}.constraints.{{constraint}}).inv({{f}})
{{new}} = {D}.constraints.{{constraint}}.check({{f}})
""".strip().splitlines()
