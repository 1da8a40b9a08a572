"""Names at the paths from which public programs import them: norch has them where torch has them."""

from __future__ import annotations

import importlib

import pytest

torch = pytest.importorskip("torch")

import norch  # noqa: E402

IMPORTS = """
torch._dynamo: OptimizedModule allow_in_graph config disable is_compiling mark_dynamic optimize reset
torch._dynamo: mark_static_address
torch._dynamo.eval_frame: OptimizedModule
torch._inductor: config
torch._utils: _flatten_dense_tensors _take_tensors _unflatten_dense_tensors
torch._C: _get_tracing_state _jit_override_can_fuse_on_gpu _jit_set_profiling_mode _log_api_usage_once
torch.autograd.gradcheck: gradcheck
torch: _check torch
torch.cuda: _initialized
torch.cuda.memory: empty_cache max_memory_allocated memory_allocated memory_summary reset_peak_memory_stats
torch.cuda.random: manual_seed manual_seed_all
torch.cuda.streams: Event Stream
torch.distributions.utils: _standard_normal _sum_rightmost broadcast_all lazy_property
torch.functional: F Tensor einsum norm split tensordot
torch.hub: HASH_REGEX download_url_to_file load_state_dict_from_url urlparse
torch.jit: RecursiveScriptModule TracerWarning _overload_method
torch._jit_internal: Final Optional Tuple _overload _overload_method
torch.jit.annotations: Dict List Optional Tuple
torch.multiprocessing: BoundedSemaphore Process TimeoutError get_all_start_methods
torch.nn._reduction: get_enum legacy_get_enum legacy_get_string
torch.nn.attention: SDPBackend sdpa_kernel
torch.nn.attention.bias: causal_lower_right causal_upper_left
torch.nn.attention.flex_attention: BlockMask create_block_mask flex_attention
torch.nn.init: _calculate_correct_fan _calculate_fan_in_and_fan_out _no_grad_normal_ _no_grad_trunc_normal_
torch.nn.modules.batchnorm: _BatchNorm
torch.nn.modules.utils: _ntuple _pair
torch.nn.parallel.data_parallel: DataParallel
torch.nn.parameter: Parameter UninitializedParameter is_lazy
torch.nn.utils.clip_grad: clip_grad_norm_
torch.nn.utils.spectral_norm: SpectralNorm remove_spectral_norm spectral_norm
torch.nn.utils.weight_norm: WeightNorm remove_weight_norm weight_norm
torch.optim.adam: Adam
torch.optim.lr_scheduler: LRScheduler _LRScheduler
torch.optim.optimizer: Optimizer ParamsT _default_to_fused_or_foreach _get_value _use_grad_for_differentiable
torch.overrides: handle_torch_function has_torch_function has_torch_function_unary is_tensor_like
torch.serialization: DEFAULT_PROTOCOL MAP_LOCATION
torch.types: Device Number _size
torch.utils.checkpoint: checkpoint detach_variable get_device_states
torch.utils.data._utils.collate: collate collate_tensor_fn default_collate default_collate_fn_map
"""
OPTIMIZER = ".optim.optimizer"  # (torch.optim deletes the name)
PATHS = dict(line.split(": ") for line in IMPORTS.strip().splitlines())


@pytest.mark.parametrize("path", PATHS)
def test_names_are_at_their_paths(path):
    theirs = importlib.import_module(path)
    ours = importlib.import_module(path.replace("torch", "norch", 1))
    for name in PATHS[path].split():
        assert hasattr(theirs, name)
        assert isinstance(getattr(ours, name), type) == isinstance(getattr(theirs, name), type), name


def test_a_path_does_not_hide_the_function_of_its_name():
    for lib in (torch, norch):
        for name in ("spectral_norm", "weight_norm"):
            importlib.import_module(f"{lib.__name__}.nn.utils.{name}")
            assert callable(getattr(lib.nn.utils, name))


def test_settings_of_the_compiler_may_be_set():
    for lib in (norch, torch):
        before = lib._dynamo.config.suppress_errors
        lib._dynamo.config.suppress_errors = True
        assert lib._dynamo.config.suppress_errors is True
        lib._dynamo.config.suppress_errors = before if lib is torch else False
    norch._inductor.config.triton.unique_kernel_names = True


def test_small_functions_give_torchs_results():
    found = []
    for lib in (torch, norch):
        weight = lib.nn.Conv2d(4, 6, 3).weight
        paths = (".utils.checkpoint", OPTIMIZER, "._utils")
        checkpoint, optimizer, buffers = (importlib.import_module(lib.__name__ + path) for path in paths)
        many = [lib.ones(2), lib.zeros(1, dtype=lib.int64), lib.zeros(2, 1), lib.ones(3), lib.ones(1)]
        flat = buffers._flatten_dense_tensors([many[0], many[2]])
        leaf, number = checkpoint.detach_variable((weight * 2, 3))
        found.append(
            [
                [lib.nn.init._calculate_correct_fan(weight, mode) for mode in ("fan_in", "fan_out")],
                [lib.nn.parameter.is_lazy(x) for x in (weight, lib.nn.LazyLinear(3).weight)],
                [leaf.is_leaf, leaf.requires_grad, number],
                optimizer._get_value(lib.tensor(2.0)) + optimizer._get_value(1),
                lib.overrides.has_torch_function((weight, 2)),
                [lib.overrides.is_tensor_like(x) for x in (weight, 2)],
                lib.hub.HASH_REGEX.search("resnet18-f37072fd.pth").group(1),
                flat.tolist(),
                [[x.tolist(), list(x.shape)] for x in buffers._unflatten_dense_tensors(flat, [many[2], many[0]])],
                [[x.tolist() for x in part] for part in buffers._take_tensors(many, 16)],
                list(lib.distributions.utils._standard_normal((2, 3), lib.float64, "cpu").shape),
            ]
        )
        with pytest.raises(ValueError, match="fan_both"):
            lib.nn.init._calculate_correct_fan(weight, "fan_both")
    assert found[0] == found[1]


def descent(lib):
    """An optimizer that began as a copy of PyTorch's own."""
    base = importlib.import_module(lib.__name__ + OPTIMIZER)

    class Descent(base.Optimizer):
        @base._use_grad_for_differentiable
        def step(self, closure=None):
            for group in self.param_groups:
                for parameter in group["params"]:
                    parameter.add_(parameter.grad, alpha=-group["lr"])
            return lib.is_grad_enabled()

    return Descent


@pytest.mark.parametrize("differentiable", [False, True])
def test_a_step_is_recorded_if_it_shall_be(differentiable):
    for lib in (torch, norch):
        leaf = lib.tensor([1.0, 2.0], requires_grad=True)
        w = leaf * 1 if differentiable else leaf
        w.grad = lib.tensor([3.0, 4.0])
        optimizer = descent(lib)([w], {"lr": 0.5, "differentiable": differentiable})
        assert optimizer.step() == differentiable and w.tolist() == [-0.5, 0.0] and w.requires_grad


def test_a_wrapper_calls_the_module_behind_its_own_call():
    for lib in (torch, norch):

        class Twice(lib.nn.Linear):
            def __call__(self, x):
                return 2 * self._call_impl(x)

        layer = Twice(2, 1, bias=False)
        layer.register_forward_hook(lambda module, inputs, output: output + 1)
        layer.weight.data.fill_(3)
        assert layer(lib.ones(2)).tolist() == [14]
        assert lib.torch.nn is lib.nn
        lib._check(True, lambda: 1 / 0)
        with pytest.raises(RuntimeError, match="expected more than 2"):
            lib._check(1 > 2, lambda: "expected more than 2")


@pytest.mark.filterwarnings("ignore")
def test_flags_of_old_losses_name_a_reduction():
    found = []
    for lib in (torch, norch):
        reduction = importlib.import_module(f"{lib.__name__}.nn._reduction")
        flags = [(x, y) for x in (None, True, False) for y in (None, True, False)]
        found.append([(reduction.legacy_get_string(*each), reduction.legacy_get_enum(*each)) for each in flags])
        with pytest.raises(ValueError, match="no_mean"):
            reduction.get_enum("no_mean")
    assert found[0] == found[1]


def test_switches_of_the_older_compiler_change_nothing():
    norch._C._log_api_usage_once("a program")
    assert norch._C._get_tracing_state() is torch._C._get_tracing_state() is None
    assert norch._C._jit_set_profiling_mode(False) is False
