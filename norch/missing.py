"""The names that PyTorch has and norch has not: using one says so, and what to use instead.

`__getattr__ = missing("nn")` in a module makes its absent names raise the AttributeError of this table, and those that
programs import without asking be there by name. (Dtypes that are there by name are in types.py.)
"""

from __future__ import annotations

import functools
import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Callable, NamedTuple, NoReturn

from .paths import PATHS
from .types import ABSENT_DTYPES, ABSENT_LAYOUTS

COMPLEX = "norch has no complex dtypes"

# ---- The table: for each module, names and the reason, or what to use instead ---------------------------------------

_TABLE: dict[str, list[tuple[str, str]]] = {
    "": [
        (
            "saddmm sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor sparse_csc_tensor sparse_csr_tensor",
            "norch has sparse tensors in COO layout only",
        ),
        (
            "Code CompilationUnit ExecutionPlan FunctionSchema GraphExecutorState StaticModule TracingState cond "
            "export while_loop",
            "norch runs the Python: it has no graph capture",
        ),
        ("fork is_distributed monitor wait", "use threads, norch.multiprocessing or norch.distributed"),
        (
            "binary_cross_entropy_with_logits cosine_embedding_loss ctc_loss embedding embedding_bag "
            "hinge_embedding_loss kl_div margin_ranking_loss poisson_nll_loss triplet_margin_loss",
            "the function is in nn.functional",
        ),
        (
            "gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell",
            "the layer is nn.RNN, nn.LSTM or nn.GRU",
        ),
        ("nested", "pad the sequences and use a mask, or pack them with nn.utils.rnn.pack_sequence"),
        ("to_dlpack", "use norch.from_dlpack and tensor.__dlpack__"),
        ("frobenius_norm nuclear_norm", "use norch.linalg"),
        ("eig lobpcg symeig", "use norch.linalg.eigh for symmetric matrices"),
        ("lstsq", "use norch.linalg.lstsq"),
        ("matrix_rank", "use norch.linalg.matrix_rank"),
        ("solve", "use norch.linalg.solve"),
        (
            "AVG ArgumentSpec BenchmarkConfig BenchmarkExecutionStats BufferDict CallStack CompleteArgumentSpec "
            "ConcreteModuleTypeBuilder DeepCopyMemoTable DeserializationStorageContext DisableTorchFunction "
            "DisableTorchFunctionSubclass DispatchKey DispatchKeySet ErrorReport ExcludeDispatchKeyGuard "
            "FatalError FileCheck Gradient IODescriptor JITException LiteScriptModule LoggerBase ModuleDict "
            "OperatorInfo ParameterDict SUM SerializationStorageContext "
            "StorageBase ThroughputBenchmark _mkldnn compiled_with_cxx11_abi "
            "dsmm embedding_renorm_ from_file hash_tensor hsmm is_vulkan_available "
            "mtia norm_except_dim package segment_reduce slice_inverse",
            "",
        ),
    ],
    "Tensor": [
        ("cdouble cfloat chalf", COMPLEX),
        (
            "dequantize int_repr q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale "
            "q_zero_point qscheme",
            "norch has no quantized dtypes",
        ),
        ("istft stft", COMPLEX),
        (
            "ccol_indices col_indices crow_indices row_indices to_sparse_bsc to_sparse_bsr to_sparse_csc to_sparse_csr",
            "norch has sparse tensors in COO layout only",
        ),
        ("reinforce", "record with autograd as always"),
        ("name", "tensors have no names"),
        ("to_padded_tensor", "use a mask"),
        ("eig symeig", "use norch.linalg.eigh for symmetric matrices"),
        ("lstsq", "use norch.linalg.lstsq"),
        ("solve", "use norch.linalg.solve"),
        ("resize resize_as resize_as_sparse_", "use reshape, or new_empty and copy_"),
        (
            "const_data_ptr dim_order hash_tensor index ipu map2_ map_ module_load mtia "
            "slice_inverse smm sparse_resize_ sparse_resize_and_clear_ sspaddmm storage_type to_mkldnn xpu",
            "",
        ),
    ],
    "nn": [
        ("CrossMapLRN2d", "use nn.LocalResponseNorm: PyTorch's adds the first channel to every window"),
        ("Container", "use nn.Sequential or nn.ModuleList"),
        ("LinearCrossEntropyOptions", ""),
    ],
    "nn.functional": [
        (
            "adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices "
            "conv_tbc fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices grouped_mm "
            "max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices scaled_grouped_mm scaled_mm",
            "",
        ),
        ("grad", "use nn.grad"),
    ],
    "func": [
        ("debug_unwrap", "norch runs the Python: it has no graph capture"),
        ("make_functional make_functional_with_buffers combine_state_for_ensemble", "use functional_call"),
    ],
    "nn.init": [],
    "nn.utils": [],
    "optim": [
        ("swap_in_optimizer_params_and_state", ""),
    ],
    "optim.lr_scheduler": [],
    "autograd": [
        (
            "NestedIOFunction enforce_grad_layout_policy is_multithreading_enabled is_view_replay_enabled "
            "kineto_available profiler_legacy profiler_util set_multithreading_enabled",
            "",
        ),
    ],
    "utils": [
        (
            "ThroughputBenchmark backcompat backend_registration collect_env cpp_backtrace deterministic "
            "generate_methods_for_privateuse1_backend get_cpp_backtrace rename_privateuse1_backend "
            "set_module throughput_benchmark weak",
            "",
        ),
    ],
    "utils.data": [
        (
            "DFIterDataPipe DataChunk IterDataPipe MapDataPipe argument_validation datapipes functional_datapipe "
            "guaranteed_datapipes_determinism non_deterministic runtime_validation runtime_validation_disabled",
            "use Dataset and IterableDataset",
        ),
        ("graph graph_settings", ""),
    ],
    "cuda": [
        ("get_arch_list get_gencode_flags", "norch does not ask the driver for it"),
        (
            "clock_rate device_memory_used list_gpu_processes memory_usage power_draw temperature utilization",
            "norch does not watch the hardware: nvidia-smi does",
        ),
        ("nccl", "norch.distributed communicates over MPI"),
        (
            "CUDAPluggableAllocator DeferredCudaCallError ExternalStream GreenContext MemPool "
            "caching_allocator_alloc caching_allocator_delete caching_allocator_disabled caching_allocator_enable "
            "can_device_access_peer change_current_allocator current_blas_handle current_solver_handle device_of "
            "gds get_allocator_backend get_per_process_memory_fraction get_stream_from_external "
            "get_sync_debug_mode graph_pool_handle graphs green_contexts host_memory_stats "
            "host_memory_stats_as_nested_dict is_tf32_supported jiterator "
            "memory_snapshot memory_stats memory_stats_as_nested_dict profiler "
            "reset_accumulated_host_memory_stats reset_peak_host_memory_stats set_per_process_memory_fraction "
            "set_sync_debug_mode tunable use_mem_pool",
            "",
        ),
    ],
}

# Functions, classes and modules that PyTorch has had for so long that packages import or derive from them unasked. They
# are there by name, and what is done with them raises NotImplementedError. (Newer ones stay in the table above, as
# packages ask for them with `hasattr` or `try`, and have another way.)

_GRAPHS = "norch runs the Python: it has no graph capture; hooks of modules see what passes through them"
_NOBODY = "an operation asks nobody before it runs"
_QUANTIZED = "norch has no quantized dtypes"

_BY_NAME: dict[str, list[tuple[str, str]]] = {
    "": [
        ("complex istft polar stft view_as_complex view_as_real", COMPLEX),
        (
            "ao choose_qparams_optimized dequantize empty_quantized fake_quantize_per_channel_affine "
            "fake_quantize_per_tensor_affine fused_moving_avg_obs_fake_quant int_repr q_per_channel_axis "
            "q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point qscheme quantization "
            "quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic",
            _QUANTIZED,
        ),
        ("DeviceObjType TensorType _higher_order_ops _subclasses", _GRAPHS),
        (
            "BFloat16Storage BoolStorage ByteStorage CharStorage DoubleStorage FloatStorage HalfStorage IntStorage "
            "LongStorage ShortStorage",
            "x.storage() is the memory of a tensor",
        ),
        ("quasirandom", "scipy.stats.qmc.Sobol draws the same points"),
        ("PyTorchFileReader PyTorchFileWriter", "norch.load reads PyTorch's files"),
        ("classes", "norch loads no libraries of C++ classes"),
        ("masked", "use where and masked_fill"),
    ],
    "_C": [
        ("DispatchKey DispatchKeySet _disabled_torch_function_impl", _NOBODY),
        ("Graph Node Value", _GRAPHS),
        ("_TensorMeta _functorch _nn", "it belongs to PyTorch's C++"),
    ],
    "_dynamo": [("_trace_wrapped_higher_order_op exc utils", _GRAPHS)],
    "autograd": [
        ("forward_ad", "norch has no forward-mode derivatives: autograd.functional.jvp takes two passes backward"),
    ],
    "autograd.profiler": [("emit_itt emit_nvtx", "norch does not call the tools of processors' makers")],
    "cuda": [
        ("CUDAGraph graph make_graphed_callables", "use norch.compile, which makes CUDA graphs"),
        ("nvtx", "norch does not call NVIDIA's tools"),
    ],
    "distributed": [
        (
            "_composable _functional_collectives _tensor algorithms device_mesh distributed_c10d fsdp pipelining rpc "
            "tensor",
            "norch.distributed trains in parallel over data alone",
        )
    ],
    "fft": [
        (
            "fft fft2 fftn hfft hfft2 hfftn ifft ifft2 ifftn ihfft ihfft2 ihfftn irfft irfft2 irfftn rfft rfft2 rfftn",
            f"{COMPLEX}; numpy.fft computes it on x.numpy()",
        ),
    ],
    "fx": [
        (
            "Graph Interpreter Node Tracer Transformer experimental graph graph_module node passes proxy "
            "replace_pattern symbolic_trace",
            _GRAPHS,
        ),
    ],
    "jit": [("_get_trace_graph", _GRAPHS)],
    "nn": [("intrinsic qat quantizable quantized", _QUANTIZED)],
    "overrides": [("BaseTorchFunctionMode TorchFunctionMode", _NOBODY)],
    "utils": [
        ("_python_dispatch", _NOBODY),
        ("cpp_extension", "norch loads no extensions in C++: a subclass of autograd.Function is one in Python"),
    ],
}


def _named(table: dict[str, list[tuple[str, str]]]) -> dict[str, dict[str, str]]:
    return {
        module: {name: reason for names, reason in rows for name in names.split()} for module, rows in table.items()
    }


_KINDS: dict[str, Any] = {**ABSENT_DTYPES, **ABSENT_LAYOUTS}
ABSENT, BY_NAME = _named(_TABLE), _named(_BY_NAME)


def message(module: str, name: str) -> str | None:
    """What to say of a name that PyTorch has and norch has not; None for a name that PyTorch does not have either."""
    reason = {**ABSENT.get(module, {}), **BY_NAME.get(module, {})}.get(name)
    return None if reason is None else _said(".".join(filter(None, ["torch", module, name])), reason)


def _said(path: str, reason: str) -> str:
    return f"norch does not have {path}" + (f": {reason}" if reason else "")


class _Dual(NamedTuple):
    primal: Any
    tangent: None = None


# Questions whether something is there that norch never has, and a function in a module of such names
_ANSWERS: dict[str, Callable[..., Any]] = {
    "torch._C._nn._parse_to": lambda *to, **options: importlib.import_module("norch.arguments").parse_to(
        *to, **options
    ),
    "torch._subclasses.fake_tensor.is_fake": lambda tensor: False,
    "torch.distributed.rpc.api._require_initialized": lambda func: func,  # (a decorator: what it calls says the reason)
    "torch.distributed.rpc.is_available": lambda: False,
    "torch.autograd.forward_ad.unpack_dual": lambda tensor, *, level=None: _Dual(tensor),
    "torch.fx.experimental.proxy_tensor.get_proxy_mode": lambda: None,
}


class _ByName(type):
    """The class of classes that are there by name: one can derive from them and ask for instances, and make none."""

    _path: str
    _reason: str

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        if cls._path in _ANSWERS:
            return _ANSWERS[cls._path](*arguments, **options)
        raise NotImplementedError(_said(cls._path, cls._reason))

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{cls._path} has no attribute {name!r}")
        return by_name(f"{cls._path}.{name}", cls._reason)


@functools.lru_cache(None)  # the same whenever it is asked for
def by_name(path: str, reason: str) -> Any:
    """What stands for a function, class or module of PyTorch, and for all in it: calling it raises the reason."""
    return _ByName(path.rpartition(".")[2], (), {"_path": path, "_reason": reason, "__doc__": _said(path, reason)})


class Absent:
    """An attribute of a class that PyTorch has and norch has not; reading it raises AttributeError.

    (A `__getattr__` that says the same would slow down every attribute of every instance.)
    """

    def __init__(self, module: str, name: str) -> None:
        self._arguments = module, name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError(message(*self._arguments))


def missing(module: str) -> Callable[[str], Any]:
    """A `__getattr__` for a module of norch: it imports the paths that PyTorch has there, or raises AttributeError."""
    # as a package, a file too is asked for its modules by `from norch.fft import rfft`, whose error says the reason
    vars(sys.modules[f"norch.{module}".rstrip(".")]).setdefault("__path__", [])

    def __getattr__(name: str) -> Any:
        path = f"norch.{module}".rstrip(".")
        if f"{path}.{name}" in PATHS:
            return importlib.import_module(f"{path}.{name}")
        if name in BY_NAME.get(module, {}):
            return by_name(f"{path}.{name}".replace("norch", "torch", 1), BY_NAME[module][name])
        if not module and name in _KINDS:
            return _KINDS[name]
        raise AttributeError(message(module, name) or f"module {path!r} has no attribute {name!r}")

    return __getattr__


class _AbsentModules:
    """Asked last by `import norch.nested` and `from norch import nested`: says what the table says of the name.

    A module that is there by name gives what is in it by name, and so do the modules below it.
    """

    @classmethod
    def find_spec(cls, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        if package != "norch" and not package.startswith("norch."):
            return None
        if name in BY_NAME.get(package[6:], {}) or isinstance(getattr(sys.modules[package], name, None), _ByName):
            return ModuleSpec(fullname, cls, is_package=True)  # type: ignore[arg-type]
        said = message(package[6:], name)
        if said is not None:
            raise ModuleNotFoundError(said)  # (one that names the module would be hidden by `from`)
        return None

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        return None

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        package, _, name = module.__name__.rpartition(".")
        found = getattr(sys.modules[package], name)
        module.__getattr__ = functools.partial(getattr, found)  # type: ignore[method-assign]


sys.meta_path.append(_AbsentModules)  # (a class does for an instance)
