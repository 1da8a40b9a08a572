"""The prototypes of the C library, name -> (result, arguments), as csrc/api.h declares them, and which are short."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_double, c_int32, c_int64, c_uint64, c_void_p
from typing import Any

from .handles import PROGRAM, RECORDING, RESULT, RESULTS, STORAGE_RESULT
from .handles import library as _library


class TENSORS:
    """An array of tensors, from a list or tuple of their Handles, which must live as long as the call."""

    @staticmethod
    def from_param(handles: Any) -> Any:  # for ctypes; csrc/api/builtins.cpp reads them itself
        return (c_void_p * len(handles))(*[handle if handle is None else int(handle) for handle in handles])


TENSOR, STORAGE, STATUS, ARRAY, OBJECT = c_void_p, c_void_p, c_int32, c_void_p, ctypes.py_object

OPTIMIZERS = "sgd adam rmsprop adadelta adafactor adagrad adamax asgd nadam radam rprop".split()  # with rules in csrc

PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "error_kind": (c_int32, []),
    "error_message": (c_char_p, []),
    "memory_allocated": (c_int64, [c_int32]),
    "memory_reserved": (c_int64, [c_int32]),
    "empty_cache": (None, []),
    "set_cache_limit": (None, [c_int64]),
    "live_tensors": (c_int64, []),
    "fail_allocation": (None, [c_int64]),
    "instruction_set": (c_char_p, []),
    "instruction_set_error": (c_char_p, []),
    "get_num_threads": (c_int32, []),
    "set_num_threads": (None, [c_int32]),
    "device_count": (c_int32, []),
    "why_no_cuda": (c_char_p, []),
    "has_cuda": (c_int32, []),
    "cuda_name": (c_char_p, [c_int32]),
    "synchronize": (STATUS, [c_int32]),
    "stream_of": (c_uint64, [c_int32]),
    "let_stream_wait": (STATUS, [c_int32, c_uint64]),
    "empty_device_cache": (None, []),
    "list_operations": (c_char_p, [c_int32]),
    "list_rules": (c_char_p, [c_int32]),
    "create_tensor": (RESULT, [ARRAY, ARRAY, c_int32, c_int32, c_int32]),
    "empty_tensor": (RESULT, [ARRAY, c_int32, c_int32, c_int32]),
    "number_tensor": (RESULT, [c_double, c_int64, c_int32]),
    "free_tensor": (None, [TENSOR]),
    "free_results": (None, [ARRAY]),
    "alias_tensor": (RESULT, [TENSOR]),
    "data_tensor": (RESULT, [TENSOR, TENSOR]),
    "clone_tensor": (RESULT, [TENSOR]),
    "contiguous_tensor": (RESULT, [TENSOR]),
    "cast_tensor": (RESULT, [TENSOR, c_int32]),
    "to_device": (RESULT, [TENSOR, c_int32]),
    "arange_tensor": (RESULT, [c_double, c_double, c_int64, c_int32, c_int32]),
    "integer_arange_tensor": (RESULT, [c_int64, c_int64, c_int64, c_int32, c_int32]),
    "linspace_tensor": (RESULT, [c_double, c_double, c_int64, c_int32, c_int32]),
    "uniform_into": (STATUS, [TENSOR, ARRAY, c_double, c_double]),
    "uniform_again": (STATUS, [TENSOR, c_uint64, c_uint64]),
    "normal_into": (STATUS, [TENSOR, ARRAY, c_double, c_double]),
    "integers_into": (STATUS, [TENSOR, ARRAY, c_int64, c_uint64]),
    "bernoulli_into": (STATUS, [TENSOR, TENSOR, ARRAY]),
    "bernoulli_tensor": (RESULT, [TENSOR, ARRAY]),
    "exponential_into": (STATUS, [TENSOR, ARRAY, c_double]),
    "multinomial_tensor": (RESULT, [TENSOR, c_int64, c_int32, ARRAY]),
    "uniform_tensor": (RESULT, [ARRAY, c_int32, c_int32, c_int32, ARRAY]),
    "normal_tensor": (RESULT, [ARRAY, c_int32, c_int32, c_int32, ARRAY, c_double, c_double]),
    "integers_tensor": (RESULT, [ARRAY, c_int32, c_int32, c_int32, ARRAY, c_int64, c_uint64]),
    "permutation_tensor": (RESULT, [c_int64, ARRAY, c_int32, c_int32]),
    "next_draw": (c_uint64, [ARRAY]),
    "philox_block": (None, [c_uint64, c_uint64, c_uint64, ARRAY]),
    "set_default_dtype": (STATUS, [c_int32]),
    "full_tensor": (RESULT, [ARRAY, c_int32, c_int32, c_int32, TENSOR]),
    "empty_like_tensor": (RESULT, [TENSOR, c_int32, c_int32]),
    "full_like_tensor": (RESULT, [TENSOR, TENSOR]),
    "assign_tensor": (STATUS, [TENSOR, TENSOR]),
    "assign_all": (STATUS, [c_int32, TENSORS, TENSORS]),
    "get_item": (c_double, [TENSOR, ARRAY]),
    "reshape_tensor": (RESULT, [TENSOR, ARRAY, c_int32]),
    "view_tensor": (RESULT, [TENSOR, ARRAY, c_int32]),
    "flatten_tensor": (RESULT, [TENSOR, c_int64, c_int64]),
    "diagonal_tensor": (RESULT, [TENSOR, ARRAY]),
    "reverse_tensor": (RESULT, [TENSOR]),
    "transpose_tensor": (RESULT, [TENSOR, c_int64, c_int64]),
    "permute_tensor": (RESULT, [TENSOR, ARRAY, c_int32]),
    "expand_tensor": (RESULT, [TENSOR, ARRAY, c_int32]),
    "squeeze_tensor": (RESULT, [TENSOR, ARRAY, c_int32]),
    "unsqueeze_tensor": (RESULT, [TENSOR, c_int64]),
    "select_tensor": (RESULT, [TENSOR, c_int64, c_int64]),
    "part_tensor": (RESULT, [TENSOR, ARRAY, c_int32]),
    "split_tensor": (RESULTS, [TENSOR, c_int64, ARRAY, c_int32]),
    "slice_tensor": (RESULT, [TENSOR, c_int64, c_int64, c_int64, c_int64]),
    "roll_tensor": (RESULT, [TENSOR, ARRAY, ARRAY, c_int32]),
    "pad_tensor": (RESULT, [TENSOR, ARRAY, c_int32, TENSOR, c_int32]),
    "pad_backward": (RESULT, [TENSOR, ARRAY, ARRAY, c_int32, c_int32]),
    "diag_embed_tensor": (RESULT, [TENSOR, ARRAY]),
    "repeat_tensor": (RESULT, [TENSOR, ARRAY, c_int32]),
    "interleave_tensor": (RESULT, [TENSOR, c_int64, c_int64]),
    "one_hot_tensor": (RESULT, [TENSOR, c_int64]),
    "eye_tensor": (RESULT, [c_int64, c_int64, c_int32, c_int32]),
    "flipped_tensor": (RESULT, [TENSOR, ARRAY, c_int32]),
    "view_as_dtype": (RESULT, [TENSOR, c_int32]),
    "as_strided_tensor": (RESULT, [TENSOR, ARRAY, ARRAY, c_int32, c_int64]),
    "variance_tensor": (RESULT, [TENSOR, ARRAY, c_int32, c_int32, c_double]),
    "deviation_tensor": (RESULT, [TENSOR, ARRAY, c_int32, c_int32, c_double]),
    "norm_tensor": (RESULT, [TENSOR, ARRAY, c_int32, c_int32, c_double]),
    "aminmax_tensor": (RESULTS, [TENSOR, ARRAY, c_int32, c_int32]),
    "extreme_tensor": (RESULTS, [TENSOR, c_int64, c_int32, c_int32]),
    "nll_tensor": (RESULTS, [TENSOR, TENSOR, TENSOR, c_int64, c_int32]),
    "nll_backward": (RESULT, [TENSOR, TENSOR, TENSOR, TENSOR, ARRAY, c_int32]),
    "argmax_tensor": (RESULT, [TENSOR, c_int64, c_int32, c_int32]),
    "argmin_tensor": (RESULT, [TENSOR, c_int64, c_int32, c_int32]),
    "sum_to_shape": (RESULT, [TENSOR, TENSOR]),
    "index_tensor": (RESULT, [TENSOR, TENSORS, ARRAY, c_int32, c_int32]),
    "index_put": (STATUS, [TENSOR, TENSORS, ARRAY, c_int32, c_int32, TENSOR, c_int32]),
    "gather_tensor": (RESULT, [TENSOR, TENSOR, c_int64, c_int32]),
    "scatter_into": (STATUS, [TENSOR, TENSOR, c_int64, c_int32, TENSOR, c_int32]),
    "scatter_tensor": (RESULT, [TENSOR, TENSOR, c_int64, c_int32, TENSOR, c_int32]),
    "masked_scatter_into": (STATUS, [TENSOR, TENSOR, TENSOR]),
    "masked_scatter_tensor": (RESULT, [TENSOR, TENSOR, TENSOR]),
    "expect_range": (STATUS, [TENSOR, c_double, c_double, c_int32, c_int32, c_void_p]),
    "nonzero_tensor": (RESULT, [TENSOR]),
    "sort_tensor": (RESULTS, [TENSOR, c_int64, c_int64, c_int32]),
    "running_extreme_tensor": (RESULTS, [TENSOR, c_int64, c_int32]),
    "bins_tensor": (RESULT, [TENSOR, TENSOR, c_int32]),
    "cumsum_tensor": (RESULT, [TENSOR, c_int64, c_int32]),
    "cumprod_tensor": (RESULT, [TENSOR, c_int64]),
    "logcumsumexp_tensor": (RESULT, [TENSOR, c_int64]),
    "order_statistic_tensor": (RESULTS, [TENSOR, c_int64, c_int32, c_int32, c_int64]),
    "mode_tensor": (RESULTS, [TENSOR, c_int64, c_int32]),
    "diff_tensor": (RESULT, [TENSOR, c_int64, c_int64]),
    "trapezoid_tensor": (RESULT, [TENSOR, c_int64, c_double, c_int32]),
    "slopes_tensor": (RESULT, [TENSOR, c_int64, c_double]),
    "renorm_tensor": (RESULT, [TENSOR, c_int64, c_double, c_double]),
    "distances_tensor": (RESULT, [TENSOR, TENSOR, c_double]),
    "matmul_tensor": (RESULT, [TENSOR, TENSOR]),
    "product_tensor": (RESULT, [TENSOR, TENSOR, c_int32]),
    "added_product_tensor": (RESULT, [TENSOR, TENSOR, TENSOR, TENSOR, TENSOR, c_int32]),
    "cat_tensors": (RESULT, [TENSORS, c_int32, c_int64]),
    "stack_tensors": (RESULT, [TENSORS, c_int32, c_int64]),
    "triangle_tensor": (RESULT, [TENSOR, c_int64, c_int32]),
    "triangle_into": (STATUS, [TENSOR, TENSOR, c_int64, c_int32]),
    "linear_tensor": (RESULT, [TENSOR, TENSOR, TENSOR]),
    "linear_backward": (RESULTS, [TENSOR, TENSOR, TENSOR, c_int32]),
    "cross_entropy_tensor": (RESULT, [TENSOR, TENSOR, c_int64, c_int32, c_double]),
    "cross_entropy_backward": (RESULT, [TENSOR, TENSOR, TENSOR, c_int64, c_int32, c_double]),
    "glu_tensor": (RESULT, [TENSOR, c_int64]),
    "glu_backward": (RESULT, [TENSOR, TENSOR, c_int64]),
    "class_margin_tensor": (RESULT, [TENSOR, TENSOR, TENSOR, c_double, c_int32, c_int32]),
    "class_margin_backward": (RESULT, [TENSOR, TENSOR, TENSOR, TENSOR, c_double, c_int32, c_int32]),
    "row_pairs_tensor": (RESULT, [TENSOR, TENSOR, c_int32, c_double]),
    "row_pairs_backward": (RESULTS, [TENSOR, TENSOR, TENSOR, c_int32, c_double, c_int32]),
    "ctc_tensor": (RESULTS, [TENSOR, TENSOR, TENSOR, c_int64]),
    "ctc_backward": (RESULT, [TENSOR] * 6 + [c_int64]),
    "lstm_tensor": (RESULTS, [TENSOR] * 5 + [c_int32, c_int32]),
    "lstm_backward": (RESULTS, [TENSOR] * 8 + [c_int32, c_int32]),
    "grid_sample_tensor": (RESULT, [TENSOR, TENSOR, c_int32, c_int32, c_int32]),
    "grid_sample_backward": (RESULTS, [TENSOR, TENSOR, TENSOR, c_int32, c_int32, c_int32, c_int32]),
    "resample_tensor": (RESULT, [TENSOR, c_int64, TENSOR, TENSOR, TENSOR]),
    "unfold_tensor": (RESULT, [TENSOR, ARRAY]),
    "fold_tensor": (RESULT, [TENSOR, ARRAY, c_int64, c_int64]),
    "conv_tensor": (RESULT, [TENSOR, TENSOR, TENSOR, ARRAY, c_int64]),
    "conv_backward": (RESULTS, [TENSOR, TENSOR, TENSOR, ARRAY, c_int64, c_int32]),
    "max_pool_tensor": (RESULTS, [TENSOR, ARRAY, c_int32]),
    "max_pool_backward": (RESULT, [TENSOR, TENSOR, ARRAY, c_int32, ARRAY]),
    "adaptive_max_pool_tensor": (RESULTS, [TENSOR, ARRAY]),
    "avg_pool_tensor": (RESULT, [TENSOR, ARRAY, c_int32, c_int32, c_double]),
    "avg_pool_backward": (RESULT, [TENSOR, ARRAY, c_int32, c_int32, c_double, ARRAY]),
    "adaptive_avg_pool_tensor": (RESULT, [TENSOR, ARRAY]),
    "adaptive_avg_pool_backward": (RESULT, [TENSOR, ARRAY]),
    "attention_tensor": (
        RESULTS,
        [TENSOR, TENSOR, TENSOR, TENSOR, c_double, c_int32, c_double, c_uint64, c_uint64],
    ),
    "attention_backward": (RESULTS, [TENSOR] * 7 + [c_double, c_int32, c_double, c_uint64, c_uint64, c_int32]),
    "normalize_tensor": (RESULTS, [TENSOR, TENSOR, TENSOR, c_int64, c_int64, c_int32, c_double]),
    "normalize_backward": (
        RESULTS,
        [TENSOR, TENSOR, TENSOR, TENSOR, TENSOR, c_int64, c_int64, c_int32, c_double, c_int32],
    ),
    **{f"{name}_step": (STATUS, [c_int32, ARRAY, ARRAY]) for name in OPTIMIZERS},
    "moved_tensor": (RESULT, [TENSOR, TENSOR, c_double, c_double]),
    "normalize_by_tensor": (RESULT, [TENSOR] * 5 + [c_double]),
    "newton_schulz_tensor": (RESULT, [TENSOR, c_double, c_double, c_double, c_int32]),
    "use_python": (None, [ARRAY, ARRAY]),
    "know_objects": (None, [ARRAY]),
    "tensor_of_values": (RESULT, [OBJECT, c_int32]),
    "values_of": (OBJECT, [TENSOR, c_int32]),
    "parts_of_index": (OBJECT, [OBJECT]),
    "shape_of": (OBJECT, [TENSOR]),
    "strides_of": (OBJECT, [TENSOR]),
    "form_of_tensor": (OBJECT, [TENSOR]),
    **{f"{what}_of": (c_int32, [TENSOR]) for what in ("ndim", "dtype", "device")},
    **{f"{what}_of": (c_int64, [TENSOR]) for what in ("count", "offset")},
    "is_in_row_order": (c_int32, [TENSOR]),
    "new_builtin": (OBJECT, [c_void_p, c_void_p, c_void_p, OBJECT, c_int32]),
    "handle_type": (OBJECT, [c_int32, OBJECT, c_int64]),
    "enter_guard": (OBJECT, [OBJECT]),
    "leave_guard": (STATUS, [OBJECT] * 4),
    "drop_guard": (None, [OBJECT]),
    "know_tensors": (None, [OBJECT] * 3),
    "know_parameters": (None, [OBJECT]),
    "wrap_handle": (OBJECT, [OBJECT]),
    "wrap_view": (OBJECT, [OBJECT] * 3),
    "new_recording": (RECORDING, [c_int32, TENSORS, c_void_p, c_void_p, c_int32]),
    "call_recorded": (OBJECT, [c_void_p, *[OBJECT] * 5]),
    "free_recording": (None, [c_void_p]),
    "add_recording_inputs": (STATUS, [c_void_p, c_int32, TENSORS]),
    "refuse_this_recording": (None, [c_void_p]),
    "recording_refusal": (OBJECT, [c_void_p]),
    "recording_difference": (OBJECT, [c_void_p]),
    "recording_uses": (c_int32, [c_void_p, c_int32]),
    "new_program": (PROGRAM, [c_void_p, ARRAY, TENSORS]),
    "free_program": (None, [c_void_p]),
    "set_program_arguments": (STATUS, [c_void_p, OBJECT, c_int32, TENSORS]),
    "replay_program": (STATUS, [c_void_p, OBJECT, OBJECT, OBJECT]),
    "first_change": (c_int64, [OBJECT]),
    "replay_backward": (STATUS, [c_void_p, c_void_p, c_int32, TENSORS, OBJECT]),
    "free_saved": (None, [c_void_p]),
    "program_gradient": (RESULT, [c_void_p, c_int32]),
    "gradient_is_free": (c_int32, [c_void_p, c_int32]),
    "set_program_options": (None, [c_void_p, c_int32, ARRAY]),
    "set_program_generator": (None, [c_void_p, ARRAY, ARRAY]),
    "program_failed_late": (c_int32, [c_void_p]),
    "release_program": (None, [c_void_p]),
    "program_steps": (c_int32, [c_void_p, c_int32]),
    "program_bytes": (c_int64, [c_void_p, c_int32]),
    "step_of_program": (STATUS, [c_void_p, c_int32, c_int32, ARRAY]),
    "call_within": (OBJECT, [OBJECT] * 4),
    "hold_storage": (STORAGE_RESULT, [TENSOR]),
    "free_storage": (None, [STORAGE]),
    "storage_tensor": (RESULT, [STORAGE, c_int32]),
    "is_read_only": (c_int32, [TENSOR]),
    "external_tensor": (RESULT, [ARRAY, ARRAY, ARRAY, c_int32, c_int32, c_int32, c_void_p]),
    "dlpack_tensor": (c_void_p, [TENSOR, c_int32, c_int32]),
    "tensor_of_dlpack": (RESULT, [c_void_p, c_int32]),
    "dlpack_name": (c_void_p, [c_int32, c_int32]),
    "dlpack_destructor": (c_void_p, []),
    "unit_gradient": (RESULT, [TENSOR]),
    "fits_as_gradient": (c_int32, [TENSOR, TENSOR]),
    "shares_memory": (c_int32, [TENSOR, TENSOR]),
    "same_kind": (c_int32, [TENSOR, TENSOR]),
    "written_at": (c_int64, [TENSOR]),
    "mark_as_written": (None, [TENSOR]),
    "version_of": (c_int64, [TENSOR]),
    "run_collective": (c_int32, [ARRAY, c_int64, c_int32, c_void_p, TENSOR]),
}


def operations() -> dict[str, list[str]]:
    """The rows of csrc/ops/operations.h, REDUCTIONS and ROW_OPS of csrc/kernels.h, as the library itself lists them."""
    names = _library.list_operations
    names.restype = c_char_p
    elementwise = (
        "unary",
        "binary",
        "ternary",
        "derivative",
        "loss",
        "activation",
        "shaped",
        "special",
        "special_pair",
        "shaped_derivative",
    )
    kinds = (*elementwise, "reduction", "row", "summed_loss")
    return {kind: names(n).decode().split() for n, kind in enumerate(kinds, 1)}


def rules() -> dict[str, str]:
    """How each operation with one or two operands treats dtypes: the Rule of its row in csrc/ops/operations.h."""
    listed = _library.list_rules
    listed.restype = c_char_p
    named = zip((1, 2), operations().values())
    return {name: rule for n, names in named for name, rule in zip(names, listed(n).decode().split())}


for _arity, _names in zip((1, 2, 3, 2, 2, 1, 2, 1, 2, 3), operations().values()):
    for _name in _names:
        PROTOTYPES[f"{_name}_tensor"] = (RESULT, [TENSOR] * _arity)
        PROTOTYPES[f"{_name}_into"] = (STATUS, [TENSOR] * (_arity + 1))
for _name in (*operations()["reduction"], "mean", "logsumexp"):
    PROTOTYPES[f"{_name}_tensor"] = (RESULT, [TENSOR, ARRAY, c_int32, c_int32])
for _name in operations()["row"]:
    PROTOTYPES[f"{_name}_tensor"] = (RESULT, [TENSOR, c_int64])
    PROTOTYPES[f"{_name}_backward"] = (RESULT, [TENSOR, TENSOR, c_int64])
for _name in operations()["summed_loss"]:
    PROTOTYPES[f"{_name}_tensor"] = (RESULT, [TENSOR, TENSOR, c_double, c_int32])
    PROTOTYPES[f"{_name}_backward"] = (RESULT, [TENSOR, TENSOR, TENSOR, c_double, c_int32])

# To give the interpreter's lock back and take it again takes long beside a short call. These functions are short, or
# give the lock back themselves if the work is long (parallel_for in csrc/host/parallel.h).
QUICK = {f"{name}_{form}" for names in operations().values() for name in names for form in ("tensor", "into")} | {
    "free_tensor alias_tensor empty_tensor create_tensor full_tensor part_tensor split_tensor",
    "full_like_tensor reshape_tensor view_tensor reverse_tensor flatten_tensor diagonal_tensor",
    "transpose_tensor expand_tensor select_tensor slice_tensor sum_tensor matmul_tensor linear_tensor",
    "linear_backward assign_all unit_gradient same_kind hold_storage",
    "next_draw free_results free_storage handle_type know_objects new_builtin enter_guard leave_guard drop_guard",
    "tensor_of_values values_of parts_of_index shape_of strides_of form_of_tensor",
    "ndim_of dtype_of device_of count_of offset_of is_in_row_order",
    "call_within know_tensors know_parameters wrap_handle wrap_view",
    "new_recording call_recorded free_recording refuse_this_recording new_program",
    "recording_refusal recording_difference recording_uses",
    "free_program set_program_arguments replay_program replay_backward free_saved program_gradient gradient_is_free",
    "first_change",
    *[f"{name}_step" for name in OPTIMIZERS],
    *[f"{name}_backward" for name in operations()["summed_loss"]],
    "fits_as_gradient shares_memory written_at data_tensor mark_as_written version_of",
    "clone_tensor contiguous_tensor cast_tensor assign_tensor number_tensor permute_tensor squeeze_tensor",
    "unsqueeze_tensor as_strided_tensor flipped_tensor argmax_tensor argmin_tensor sum_to_shape triangle_tensor",
    "cat_tensors stack_tensors index_tensor index_put gather_tensor scatter_into nonzero_tensor sort_tensor",
    "order_statistic_tensor mode_tensor running_extreme_tensor cumsum_tensor cumprod_tensor logcumsumexp_tensor",
    "deviation_tensor norm_tensor aminmax_tensor extreme_tensor renorm_tensor diff_tensor trapezoid_tensor",
    "slopes_tensor distances_tensor",
    "scatter_tensor masked_scatter_into masked_scatter_tensor triangle_into",
    "mean_tensor variance_tensor logsumexp_tensor nll_tensor nll_backward integers_into uniform_into",
    "normal_into",
    "expect_range bernoulli_into exponential_into uniform_tensor normal_tensor integers_tensor roll_tensor pad_tensor",
    "moved_tensor glu_tensor glu_backward pad_backward class_margin_tensor class_margin_backward row_pairs_tensor",
    "row_pairs_backward newton_schulz_tensor normalize_tensor normalize_backward normalize_by_tensor",
    "repeat_tensor interleave_tensor one_hot_tensor diag_embed_tensor eye_tensor",
    "arange_tensor integer_arange_tensor linspace_tensor product_tensor added_product_tensor bernoulli_tensor",
}
QUICK = {name for names in QUICK for name in names.split()}
