"""What random programs may do otherwise than in torch: with options, Python's protocols, modules' methods."""

from __future__ import annotations

GAVE_UP = "torch refuses, norch computes: "
REFUSED = "norch refuses, torch computes: "
BOTH = "both refuse: "

# The last statement, what differs, and the reason
OF_OPTIONS: list[tuple[str, str, str]] = [
    (r"round\(v", "doesn't define __round__", GAVE_UP + "the number that a scalar is, rounded"),
    (r"special\.", "requires_grad True, torch has False", "norch has a derivative, torch has none"),
    (r"bessel|airy|gelu", "elements .*torch has .*nan", "at infinity they have limits"),
    (r"chebyshev_polynomial_[uw]", "elements .*nan.*torch has ", "of NaN torch gives what its memory held"),
    (r"poisson|bernoulli", "requires_grad False, torch has True", "what is drawn needs no gradient"),
    (r"asarray", "can require gradients", GAVE_UP + "integers of what requires gradients"),
    (
        r"",
        "torch raises RuntimeError: .*[Ii]nference",
        GAVE_UP + "tensors made in inference mode, which are like others",
    ),
    (
        r"",
        "torch raises RuntimeError: .*(INTERNAL ASSERT|returned an invalid gradient)",
        GAVE_UP + "what is a bug of torch's, as it says",
    ),
    (
        r"",
        "^norch raises ShapeError.*torch IndexError: (tuple index|Dimension)",
        BOTH + "norch looks at shapes before it reads them",
    ),
    (r"scatter_\(", "^norch raises ShapeError: .*torch IndexError: Dim", BOTH + "norch looks at shapes first"),
    ("tensordot", r"IndexError: tensordot: axis .*torch TypeError", BOTH + "dims that are not there, in a tensor"),
    ("lp_pool", "ZeroDivisionError.*, torch NotImpl", BOTH + "an order of 0 in 16 bits"),
    (r"out=", "torch RuntimeError: .*don't support automatic", BOTH + "an `out` that requires gradients, and more"),
    (r"unpad_sequence", "elements|shape", "torch transposes the argument of unpad_sequence in place"),
    (r"bincount", "dtype", "of no elements torch's counts are integers, whatever their weights are"),
    (r"numpy\(", "unsupported ScalarType BFloat16", GAVE_UP + "bfloat16, which becomes float32 in NumPy"),
    (
        r"Muon\(.*False\)",
        r"^v\d+: \[0\] \[\d\] \[0\] elements",
        "torch's Muon without nesterov scales its momentum, of bfloat16, in place",
    ),
    (r"convolution\(", r"torch raises .*dimensional input for \d-dim", GAVE_UP + "one image without a batch"),
    (r"Muon|add_param_group", "expected matrices, torch computes", REFUSED + "a group of what is no matrix"),
    (
        r"",
        r"BatchNorm\dd: input has shape .* channels, torch computes",
        REFUSED + "another number of channels, of what has no parameters",
    ),
    (r"solve_ex|\blu\(", "elements .*(nan|inf)", "nothing is promised of a singular matrix"),
    (r"LBFGS|add_param_group", "a second group of parameters.*torch computes", REFUSED + "a second group of LBFGS"),
    (
        r"",
        "^norch raises RuntimeError.*expected int64, int32 or uint8, torch (?!comp)",
        BOTH + "norch looks at dtypes first",
    ),
    (r"", "^norch raises .*torch AssertionError", BOTH + "what torch asserts"),
    (r"(l1|mse|huber)_loss", "the weight has shape.*torch computes", REFUSED + "a weight that is no loss's"),
    (r"(l1|mse|huber)_loss", "Weights and input must have the same size", GAVE_UP + "a weight of each loss"),
    (r"norm\(", "Low precision dtypes", GAVE_UP + "norms of no elements in 16 bits"),
    (r"view\(lib", "must be 1 to view", GAVE_UP + "other dtypes of no elements"),
    (r"Adafactor", "ZeroDivisionError", GAVE_UP + "a step of no elements"),
    (r"Adafactor", r"elements .*nan.*, torch has .*nan", "torch clips nothing if the gradient holds NaN"),
    (r"pad\(", "expected at most .*torch computes", REFUSED + "to pad more circularly than negative pads leave"),
    (r"functional_call", r"AttributeError: \w+ has no attribute", GAVE_UP + "names of modules that are not there"),
    (r"func\.", "must override the setup_context", GAVE_UP + "backward hooks inside a transform"),
    (r"native_group_norm", "is_contiguous", GAVE_UP + "other strides"),
    (r"func\.", "expected at least one input, got none.*torch computes", REFUSED + "derivatives by nothing"),
    (r"triangular_solve", r"\[1\] requires_grad", "the copy of A requires what A does"),
    (r"", "proper Tensor but got None", GAVE_UP + "the derivative of a distance of order 0"),
    (r"out=", "don't support automatic diff.*torch computes", REFUSED + "an `out` for what requires gradients"),
    (r"\b(max|min)\(.*axis=", r"torch has (torch.return_types|\(tensor)", "`axis` gives values, as in NumPy"),
    (r"native_(layer|group|batch)_norm", "elements .*inf.*torch has .*nan", "the mean of infinities of one sign"),
    (r"ctc_loss|CTCLoss", "elements .*nan", "the loss of logarithms that are NaN"),
    (r"dropout[123]d", "is_leaf True, torch has False", "a dropout that drops nothing returns its input"),
    (
        r"func\.",
        "would mutate a captured Tensor|Batch norm got a batched",
        GAVE_UP + "running statistics inside a transform",
    ),
    (r"kl_divergence", "shape of the mask|expand\\(torch", GAVE_UP + "divergences of batches that broadcast"),
    ("vmap", "doesn't match the broadcast shape", GAVE_UP + "what torch's transforms cannot pass"),
    (r"", "have escaped from inside a function being vmapped", GAVE_UP + "what torch's transforms cannot pass"),
    (r"checkpoint\(.*out=", "don't support automatic diff", GAVE_UP + "an `out` without gradients"),
    (r"autocast\(", "Unexpected floating ScalarType", GAVE_UP + "both dtypes of 16 bits in one autocast"),
    (r"norm\(", "without narrowing to the specified", GAVE_UP + "a norm in a narrower dtype"),
    (r"vecdot", "IndexError: .*out of range.*torch computes", REFUSED + "a dim that vectors do not have"),
    (r"matrix_exp", "elements .*torch has .*(nan|inf)", "torch's powers of a matrix overflow in 16 bits"),
    (r"_foreach", "requires_grad False, torch has True", "of a list each result needs gradients if its operands do"),
    (
        r"post_accumulate_grad_hook|backward\(",
        "hooks should return None",
        GAVE_UP + "what such a hook returns, which is lost",
    ),
    (r"unravel_index|\[.*:.*\] [-+*/]?= ", "out of range.*torch computes", REFUSED + "indices out of range"),
    (r"IndependentTransform", "sum_rightmost: .*torch computes", REFUSED + "a dimension that is not there"),
    (
        r"addcmul|index_add",
        "alpha(, beta and value must not| must) be .*torch computes",
        REFUSED + "a value that torch cuts to an integer",
    ),
    (r"vmap", "no elements along .*torch IndexError", BOTH + "an extreme of no elements, with or without a dimension"),
    (r"linspace", "does not fit into .*torch computes", REFUSED + "an end that torch does not look at, of one step"),
    (
        r"add_param_group",
        r"^v\d+: \[1\] \[\d\] \{(?!.*differentiable.*torch has).*torch has .*'differentiable': False",
        "torch's optimizers that have loaded a state give later groups a setting that they do not know",
    ),
    (
        r"parametrizations\.orthogonal\(",
        "norch raises RuntimeError: geqrf: expected float32 or float64.*torch computes",
        REFUSED + "dtypes of which torch takes the NotImplementedError for a parametrization without inverse",
    ),
    (
        r"use_reentrant=True\)$|no_grad\(|inference_mode\(",
        "^norch computes, torch raises (GradcheckError|TypeError: .*<lambda>\\(\\) missing)",
        GAVE_UP + "a gradcheck where gradients are off, as in a reentrant checkpoint: torch has no graph there",
    ),
    (
        r"support\.check\(.*sample\(",
        "elements True, torch has False",
        "torch's draws of Poisson beyond 2 ** 63 wrap around",
    ),
    (
        "eq|lt|[<>=] 2|[+*/%-]",
        r"raises RuntimeError: (eq|lt|gt|le|ge|ne|add|sub|mul|div|remainder|floor_divide): "
        r"the number -?\d+ does not fit into u?int\d+, torch computes",
        REFUSED + "numbers that wrap around in torch's integers",
    ),
    (
        r"2 \*\* 6[34]",
        r"raises RangeError: the number \d+ does not fit into int64, torch computes",
        REFUSED + "numbers from 2 ** 63 on, which wrap around in torch's integers",
    ),
    (
        r"[-+] 2 \*\* \d",
        "elements .*inf.*torch has .*nan",
        "a number that torch rounds to 16 bits, where it becomes infinite",
    ),
    (
        "one_hot|bincount",
        r"raises MemoryError: .*torch RuntimeError: .*(Storage size|alloc|overflowed)",
        BOTH + "more classes than memory has room for",
    ),
    ("swap_tensors", "gradient edge for a Tensor", GAVE_UP + "to swap what a graph saved"),
    (
        "functional_call",
        "stateless API can't be used with nn.DataParallel",
        GAVE_UP + "a DataParallel with other weights",
    ),
    (
        r"autograd\.grad\(",
        "_will_engine_execute_node",
        GAVE_UP + "a hook of several tensors in autograd.grad",
    ),
    ("get_gradient_edge", r"v\d+: 0, torch has \d", "each part of a split has a node of its own"),
    ("pool3d", "Unsupported memory format", GAVE_UP + "rooms in the order of images"),
    ("fuse_linear_bn_weights", "shape", "a weight of one dimension, which is none of a Linear"),
    ("allow_mutation_on_saved", "Cannot access data pointer", GAVE_UP + "derivatives of a sparse norm"),
    (
        "log_abs_det_jacobian|cdf|log_prob",
        "(Double|Half|BFloat16) did not match Float",
        GAVE_UP + "dtypes that torch does not mix",
    ),
    ("swap_tensors", "is a view, or has views.*torch computes", REFUSED + "to swap tensors that have views"),
    ("log_normal_", "expected a floating dtype.*torch computes", REFUSED + "to fill no integers"),
    (
        "ractional_?[mM]ax_?[pP]ool3d",
        "pool (time|height|width) . too large",
        GAVE_UP + "a window as long as the room, which torch takes in two dimensions",
    ),
    (r"kl_divergence", "shape", "an infinite divergence has the shape of both batches"),
]

# The same of statements that surroundings.py calls in another way
TRANSFORMED = r"lib\.func\.|functional\.(jac|hess|vjp|jvp|hvp|vhp)"
# What torch says of what its transforms cannot do
LIMITS = (
    r"[Bb]atching|vmap|forward (mode )?AD|forward gradient|functorch|torch\.func|jvp function|arg_spec|tracing tensor"
    r"|All outputs of f must|requires_grad_\(\)|does not require grad|[Ee]xpected primal|non-empty output"
    r"|Expected f to|data pointer|storage|user-provided function|non-leaf Tensor|incompatible with|special handling"
    r"|deepcopy protocol|Sparse|shifts. required|cannot reshape tensor of 0|expand\(torch|expanded size|lstsq: input"
)
OF_SURROUNDINGS: list[tuple[str, str, str]] = [
    (
        TRANSFORMED + r".*lambda v\d+:",
        f"^norch computes, torch raises .*({LIMITS})",
        GAVE_UP + "what torch's transforms cannot pass",
    ),
    (
        TRANSFORMED,
        r"torch (raises )?RuntimeError: (element 0 of tensors|One of the differentiated Tensors) does not require grad",
        "inside of torch's transforms autograd.grad sees no graph",
    ),
    (
        TRANSFORMED + r".*(bessel|airy|polynomial|ndtr|zeta)",
        r"torch has [-\[\]0., ]*$",
        "norch has a derivative, torch has none",
    ),
    (
        TRANSFORMED,
        "^norch raises .*, torch (?!computes)",
        BOTH + "norch's functions refuse before torch's transforms do",
    ),
    (
        r"vmap\(",
        r"^norch raises .*(at least 2 dimensions|of no dimensions|sorted sequence|bias has shape|2 amounts for shape"
        "|lengths, got).*, torch computes",
        REFUSED + "what torch refuses outside of vmap, too",
    ),
    (r"vmap\(.*lu_unpack", r"shape \(\d+, 0\), torch has \(\d,\)", "what is left out has the size of the map, too"),
    (r"jvp\(.*broadcast_tensors", r"\[\d\] is_leaf True, torch has False", "what is returned as it is stays a leaf"),
    (r"vmap\(.*flip\(", "torch raises IndexError: Dimension out", GAVE_UP + "a number that is flipped, inside a vmap"),
    (
        r"(jvp|jacfwd|linearize)\(.*([gG]aussian_?(NLL|nll))",
        "elements",
        "the variance is clamped without gradients, which torch's tangents follow",
    ),
    (r"linearize\(.*\w_\(", "elements", "torch's linearize calls the function twice, with what it writes"),
    (TRANSFORMED, "is_leaf False, torch has True", "a transform gives new tensors, also of what is its argument"),
    (r"vmap\(", r"shape .*torch has \(.*\d{9}", "a size that torch's vmap reads from memory that is not its own"),
    (
        r"(jvp|jacfwd)\(.*(MaxUnpool|embedding|Embedding|index_copy|scatter\(|put)",
        "elements",
        "norch's tangents are of its gradient, which leaves padding out and counts a place that is named twice",
    ),
    (TRANSFORMED + ".*requires_grad=True", "requires_grad True", "a leaf that the function makes stays one"),
    (
        r"no_grad|inference",
        "(register a hook|retain_grad: this tensor) .*torch computes",
        REFUSED + "a hook of a view made without gradients",
    ),
    (
        r"use_reentrant=True\)$",
        r"\[\d\] is_leaf False, torch has True",
        "a reentrant checkpoint of what needs no gradient is called as always; torch's results have no graph",
    ),
    (r"Normal\(.*log_prob", "elements .*torch has .*nan", "torch squares a small scale, which becomes 0"),
    (r"jvp\(", r"^v\d+: \[1\] (\[\d\] )?dtype", "a tangent has the dtype of the result"),
    (r"jac(fwd|rev)\(", "dtype", "a derivative has the dtype of the argument, also if it is 0"),
]

# Statements without which a difference goes, what it is about, and the reason
CAUSED_BY_OPTIONS: list[tuple[str, str, str]] = [
    (r"lu_unpack\(.*False", "^norch computes, torch raises", GAVE_UP + "the gradient of a part that is left out"),
    (r"lstsq\(", "requires_grad True, torch has False", "residuals of no elements have no graph in torch"),
    (r"polynomial_\w\(", "requires_grad|is_leaf", "polynomials of which torch has no derivative"),
    (
        r"sparse",
        "requires_grad True, torch has False",
        "norch has a second derivative of sparse tensors, torch has none",
    ),
    (r"unravel_index", "shares memory", "torch's indices are columns of one tensor"),
    (
        r"unsafe_(split|chunk)",
        "requires_grad|is_leaf|grad|a view cannot be detached",
        "torch's parts of unsafe_split and unsafe_chunk are no views",
    ),
    (r"resize_", "elements|shares memory", "what grows gets memory of its own, which a view of it does not"),
    (r"memory_format=", "shares memory|a (view of a )?leaf", "an order of memory that is asked for is a copy's"),
    (r"inference_mode", "", "tensors made in inference mode are like others"),
    (r"as_strided_scatter", "elements", "torch's gradient of as_strided_scatter is a mistake"),
    (r"\bnormal\(", "elements|requires_grad|is_leaf", "the gradients of mean + std * z"),
    (
        r"asarray\(.*requires_grad",
        "requires_grad|is_leaf|grad ",
        "torch's asarray takes the gradients of its argument away",
    ),
    (r"native_(layer|group|batch)_norm", "", "torch leaves the derivatives of mean and deviation out"),
]
