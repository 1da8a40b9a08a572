"""What programs of modules, transforms and steps found wrong, and newer hostile arguments (tests/attack)."""

import math
from functools import partial

import pytest

import norch
from norch import nn
from norch.nn import functional as F
from norch.nn.utils import parametrize

tensor = partial(norch.tensor, dtype=norch.float64)
SAME = {"__eq__": lambda self, other: True, "__hash__": lambda self: 0}  # methods of what claims to equal anything


def test_a_walk_for_some_inputs_asks_no_rule_for_the_gradients_of_others():
    a, x = tensor(1.0, requires_grad=True), tensor(2.0, requires_grad=True)
    assert norch.autograd.grad(norch.igamma(a, x), x)[0].item() == pytest.approx(math.exp(-2.0))
    with pytest.raises(NotImplementedError, match="igamma"):
        norch.igamma(a, x).backward()


def test_what_is_behind_the_inputs_of_a_walk_may_be_freed():
    x = tensor(3.0, requires_grad=True)
    y = x * 1
    y.backward()
    assert norch.autograd.grad(y * y, y)[0].item() == 6.0
    assert norch.func.jvp(lambda t: t * t, (y,), (y.detach(),))[1].item() == 18.0
    for inputs in (x, [y, x]):
        with pytest.raises(RuntimeError, match="freed"):
            norch.autograd.grad(y * y, inputs)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("place", [math.nan, math.inf, -math.inf])
def test_a_grid_point_that_is_nowhere_reads_nan_and_passes_the_image_no_gradient(mode, place):
    image = tensor([[[[1.0, 2.0], [3.0, 4.0]]]], requires_grad=True)
    grid = tensor([[[[place, 0.0], [0.0, 0.0]]]], requires_grad=True)
    read = F.grid_sample(image, grid, mode=mode, align_corners=False)
    assert read.isnan().flatten().tolist() == [True, False]
    read.sum().backward()
    assert not image.grad.isnan().any() and grid.grad.isnan().flatten().tolist()[1:] == [True, False, False]


def test_an_integer_divisor_of_0_divides_nothing_where_there_are_no_elements():
    none = norch.tensor([], dtype=norch.int64)
    assert [x.shape for x in (none % 0, none // 0, none.fmod(0), none.remainder(norch.tensor(0)))] == [(0,)] * 4


def test_an_axis_of_size_0_has_no_index_in_any_form():
    x = norch.zeros(0, 0)
    for places in ([0, 0], norch.tensor([0, 0])):
        with pytest.raises(IndexError, match="its size is 0"):
            x[-1:, places]
        with pytest.raises(IndexError, match="its size is 0"):
            x[-1:, places] = 2


def test_shuffles_and_resizes_that_change_nothing_have_memory_of_their_own():
    x = norch.ones(1, 4, 1, 1)
    results = [F.channel_shuffle(x, 1), F.channel_shuffle(x, 4), F.pixel_shuffle(x, 2), F.pixel_shuffle(x, 1)]
    results += [F.interpolate(x, scale_factor=1), F.interpolate(x, size=1, mode="bilinear")]
    for result in results:
        result.zero_()
    assert x.tolist() == norch.ones(1, 4, 1, 1).tolist()
    assert F.dropout(x, 0.0) is x  # as PyTorch


def test_a_linearized_function_stays_where_it_was_made():
    x = tensor(0.0, requires_grad=True)
    _, product = norch.func.linearize(norch.sin, x)
    x.data.fill_(math.pi)
    assert product(tensor(2.0)).item() == 2.0 and not product(tensor(2.0)).requires_grad


def test_second_derivatives_of_nothing_have_the_shape_of_nothing():
    assert norch.func.hessian(lambda x: (x**3).sum())(tensor([])).shape == (0, 0)


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (ValueError, lambda: norch.autograd.gradcheck(norch.exp, tensor(1.0, requires_grad=True), eps=0)),
        (ValueError, lambda: norch.utils.checkpoint.checkpoint_sequential([norch.exp], 2, tensor(1.0))),
        (ValueError, lambda: norch.set_printoptions(precision=2**40)),
        (ValueError, lambda: nn.utils.prune.RandomStructured(math.nan)),
        (IndexError, lambda: norch.distributions.utils.sum_rightmost(norch.ones(2), 2**128)),
        (TypeError, lambda: norch.testing.make_tensor(2, dtype=(1, 2), device="cpu")),
        (TypeError, lambda: norch.optim.swa_utils.get_swa_multi_avg_fn()([3], [tensor(4.0)], tensor(2.0))),
        (TypeError, lambda: F.pad(norch.ones(3), {1, 2})),
        (TypeError, lambda: norch.ones(2).nan_to_num((1,))),
        (TypeError, lambda: norch.device(norch.ones(2), index=0)),
        (TypeError, lambda: norch.frombuffer(b"123", dtype=norch.uint8, count=-0.5)),
        (TypeError, lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 10, [2, 5])((1, 2), None)),
        (ValueError, lambda: norch.testing.make_tensor(2, dtype=norch.int64, device="cpu", low=math.inf)),
        (TypeError, lambda: nn.PReLU(init=bytearray(8))),
        (TypeError, lambda: nn.utils.clip_grad_value_(nn.Parameter([1.0]), "")),
        (TypeError, lambda: norch.save(nn.Linear(1, 1), "unwritten", pickle_module=math)),
        (RuntimeError, lambda: norch.linalg.lu_solve(norch.eye(2), norch.tensor(2.5), norch.ones(2, 1))),
        (RuntimeError, lambda: norch.lu_unpack(norch.eye(2), norch.tensor([9, 9], dtype=norch.int32))),
        (ValueError, lambda: norch.optim.Muon([nn.Parameter([[1.0]])], ns_coefficients=((1, 2), (3, 4)))),
        (ValueError, lambda: norch.utils.benchmark.Measurement(0, [1.0], None)),
        (ValueError, lambda: norch.ones(2).round(decimals=2**128)),
    ],
)
def test_hostile_arguments_are_told(error, call):
    with pytest.raises(error):
        call()


def test_a_step_of_a_schedule_that_fails_leaves_it_where_it_was():
    optimizer = norch.optim.SGD([nn.Parameter([1.0])], lr=1.0)
    schedule = norch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (epoch - 1))
    optimizer.step()
    with pytest.raises(ZeroDivisionError):
        schedule.step()
    assert schedule.last_epoch == 0 and optimizer.param_groups[0]["lr"] == schedule.get_last_lr()[0] == -1.0


def test_a_call_with_other_parameters_and_a_change_that_fails_leave_the_module_as_it_was():
    layer = nn.Linear(2, 1)
    before = (layer.weight, dict(layer._parameters))
    with pytest.raises(RuntimeError):
        norch.func.functional_call(layer, {"weight": norch.ones(1, 2)}, norch.ones(3))
    assert layer.weight is before[0] and dict(layer._parameters) == before[1]

    class Broken(nn.utils.prune.Identity):
        def compute_mask(self, t, default_mask):
            return norch.ones(5)

    with pytest.raises(RuntimeError):
        Broken.apply(layer, "weight")
    assert layer.weight is before[0] and list(layer._buffers) == [] and not layer._forward_pre_hooks


def test_a_module_is_initialized_a_second_time():
    layer = nn.Linear(2, 1)
    layer.__init__(3, 2, bias=False)
    assert layer(norch.ones(3)).shape == (2,) and [name for name, _ in layer.named_parameters()] == ["weight"]


def test_results_of_compositions_are_no_views():
    image, kernel = norch.ones(1, 1, 2, 2, 2, requires_grad=True), norch.ones(1, 1, 1, 1, 1)
    theta = norch.ones(1, 2, 3, requires_grad=True)
    for result in (F.conv3d(image, kernel), F.affine_grid(theta, [1, 1, 2, 2], align_corners=True)):
        assert not result.detach_().requires_grad


def test_numbers_are_as_precise_as_what_they_meet():
    x = tensor([1.0, 3.7, 5.0])
    assert norch.isin(x, 3.7).tolist() == [False, True, False] and norch.isin(3.7, x).item()
    assert norch.searchsorted(x, 3.7).item() == norch.bucketize(3.7, x).item() == 1
    assert x.index_add(0, norch.tensor([0]), x[:1], alpha=0.1).tolist() == [1.1, 3.7, 5.0]


def test_a_gradient_with_a_graph_of_a_grid_point_that_is_nowhere_is_the_plain_one():
    found = []
    for create_graph in (False, True):
        image = tensor([[[[1.0, 2.0], [3.0, 4.0]]]], requires_grad=True)
        grid = tensor([[[[0.1, math.nan], [0.0, 0.5]]]])
        read = F.grid_sample(image, grid, mode="bicubic", align_corners=False)
        found += norch.autograd.grad((read**3).sum(), image, create_graph=create_graph)
    assert norch.allclose(*found) and not found[0].isnan().any()


def test_a_number_beyond_float32_is_not_written_as_infinite():
    x, mask = norch.zeros(2), norch.tensor([True, False])
    calls = [
        lambda: norch.full((2,), 1e300),
        lambda: x.fill_(-1e300),
        lambda: x.masked_fill(mask, 1e39),
        lambda: x.index_fill(0, norch.tensor([0]), 1e39),
        lambda: x.clamp(max=1e39),
        lambda: norch.where(mask, 1e39, x),
        lambda: x.lerp(x, 1e39),
        lambda: x.add(x, alpha=1e39),
        lambda: norch.addcmul(x, x, x, value=1e39),
        lambda: F.threshold(x, 0, 1e39),
        lambda: F.hardtanh(x, -1, 1e39),
        lambda: norch.linspace(0, 1e39, 2),
        lambda: x.half().masked_fill(mask, 1e5),
        lambda: x.half().fill_(1e5),
        lambda: x.half().scatter(0, norch.tensor([0]), 1e5),
        lambda: x.half().index_fill(0, norch.tensor([0]), 1e5),
        lambda: x.half().clamp(max=1e5),
        lambda: x.bfloat16().add(x.bfloat16(), alpha=1e39),
        lambda: x.half().index_add(0, norch.tensor([0]), x[:1].half(), alpha=1e5),
        lambda: F.pad(x.half(), (1, 1), value=1e5),
        lambda: norch.full((2,), 1e5, dtype=norch.half),
        lambda: norch.addmm(x, x.view(1, 2), norch.eye(2), beta=1e39),
        lambda: norch.tensor([-0.5], dtype=norch.uint8),
        lambda: norch.full((2,), -0.5, dtype=norch.uint8),
        lambda: F.hardtanh(x.long(), 0, math.inf),
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match="does not fit into"):
            call()
    x[mask] = math.inf
    assert x.tolist() == [math.inf, 0] and (x + 1e39).isinf().all()
    half = norch.zeros(2, dtype=norch.half)
    half[mask] = 1e5  # as in PyTorch
    assert half.tolist() == [math.inf, 0] and norch.where(mask, 1e5, half).isinf().any()
    assert x.nan_to_num(posinf=1e39).tolist() == [math.inf, 0]


def test_a_failed_reduction_into_places_leaves_a_tensor_as_it_was():
    x, flags = tensor([1.0, 2.0]), norch.tensor([True, False])
    with pytest.raises(RuntimeError):
        x.scatter_reduce_(0, norch.tensor([0]), tensor([[1.0]], requires_grad=True), "amax", include_self=False)
    with pytest.raises(RuntimeError):
        flags.scatter_reduce_(0, norch.tensor([0]), flags, "mean", include_self=False)
    assert x.tolist() == [1, 2] and flags.tolist() == [True, False]


def test_a_scatter_takes_an_index_or_a_source_of_no_dimensions():
    x, index = tensor([1.0, 2.0]), norch.tensor(0)
    source = tensor([5.0, 6.0], requires_grad=True)
    result = x.scatter_add(0, index, source)
    result.sum().backward()
    assert result.tolist() == [6, 2] and source.grad.tolist() == [1, 0]
    assert x.scatter(0, index.unsqueeze(0), tensor(9.0)).tolist() == [9, 2]


def test_triangles_are_solved_by_substitution():
    pytest.importorskip("numpy")
    a, b = tensor([[0.0, math.nan], [1.0, 2.0]], requires_grad=True), tensor([[1.0], [4.0]])
    x = norch.linalg.solve_triangular(a, b, upper=False)
    assert x.tolist() == [[math.inf], [-math.inf]]  # the NaN is not in the triangle, and the 0 divides
    assert b.cholesky_solve(norch.zeros(2, 2, dtype=norch.float64)).isnan().all()
    with pytest.raises(norch.linalg.LinAlgError):
        norch.zeros(2, 2).cholesky_inverse()


def test_a_decomposition_of_infinities_ends():
    pytest.importorskip("numpy")
    x = norch.eye(3)
    x[0, 1] = math.inf
    assert norch.linalg.svdvals(x).isnan().all()
    with pytest.raises(norch.linalg.LinAlgError):
        norch.linalg.cholesky(norch.full((2, 2), math.inf))
    assert norch.linalg.slogdet(norch.ones(2, 2) + norch.eye(2)).sign == 1


def test_vmap_of_no_samples():
    x = norch.zeros(0, 2, requires_grad=True)
    result = norch.func.vmap(lambda t: (t.sum(), t.outer(t)), out_dims=(0, 1))(x)
    assert result[0].shape == (0,) and result[1].shape == (2, 0, 2) and result[0].requires_grad


def test_views_of_a_tensor_that_is_given_other_memory_keep_theirs():
    x, weight = tensor([1.0, 2.0]), tensor([3.0, 4.0], requires_grad=True)
    view, all_of_it = x.view(2, 1), x[...]
    x.data = tensor([5.0, 6.0])
    x *= weight
    view.mul_(2)
    x.sum().backward()
    assert weight.grad.tolist() == [5, 6] and all_of_it.tolist() == [2, 4]
    view[0] = weight[0]
    assert all_of_it.requires_grad and all_of_it.tolist() == [3, 4]


def test_what_has_no_gradient_gets_none():
    x = norch.ones(2, requires_grad=True)
    x.norm(0).backward()
    assert x.grad is None
    row = norch.tensor([[math.nan, 1.0]], requires_grad=True)
    row.renorm(2, 0, 1.0).sum().backward()
    assert row.grad.tolist() == [[1, 1]]  # a norm that is NaN is not too large
    parameter = nn.Parameter(norch.ones(1))
    parameter.grad = norch.tensor([math.nan])
    norch.optim.Rprop([parameter]).step()
    assert parameter.tolist() == [1]


def test_small_forms_are_those_of_torch():
    scalar = norch.tensor(3.0, requires_grad=True)
    assert scalar.adjoint() is scalar and not scalar.index_select(0, norch.tensor([0])).detach_().requires_grad
    assert not norch.autograd.grad(scalar.cumprod(0), scalar, create_graph=True)[0].requires_grad
    assert norch.trapezoid(norch.zeros(2, 0, dtype=norch.int64)).dtype is norch.int64
    assert math.isnan(norch.trapezoid(norch.tensor([math.nan])))
    assert math.copysign(1, norch.tensor([-0.0]).cumsum(0).item()) == 1
    x = tensor([1.0, 2.331, 2.0], requires_grad=True)
    norch.linalg.cross(x, x).sum().backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_a_dtype_is_a_dtype_and_no_option_of_to():
    x = norch.zeros(1, 2)
    for call in (x.softmax, x.log_softmax, norch.linalg.vector_norm, x.sum, x.mean):
        with pytest.raises(TypeError, match="expected a dtype"):
            call(*([x] if call is norch.linalg.vector_norm else []), dim=1, dtype="cpu")
    with pytest.raises(TypeError, match="operands"):
        x.addcdiv(x, x, x, x)


def test_factors_of_zero_and_forms_without_elements():
    x, y = norch.ones(2, 2, requires_grad=True), norch.full((1, 2, 2), 3.0)
    x.addbmm(y, y, beta=0).sum().backward()
    assert x.grad.tolist() == [[0, 0], [0, 0]]
    scalar = norch.tensor(1.0, requires_grad=True)
    added = scalar.index_add(0, norch.tensor([0]), scalar)
    assert added.item() == 2 and not added.detach_().requires_grad and scalar.item() == 1
    assert norch.tensor(2.0, dtype=norch.float64).ldexp(norch.tensor([3])).dtype is norch.float64
    huge = norch.full((2, 2), 1e30)
    assert norch.linalg.multi_dot([huge, huge, norch.zeros(2, 2)]).isnan().all()  # from the left if costs are equal


def test_data_that_is_replaced_does_not_hide_an_earlier_write():
    matrix, vector = norch.ones(3, 3), norch.ones(3, requires_grad=True)
    result = matrix @ vector
    matrix.add_(1)
    matrix.data = norch.ones(3, 3)
    assert matrix._version == 1
    with pytest.raises(RuntimeError, match="modified by an in-place operation"):
        result.sum().backward()
    matrix.data = norch.zeros(3)
    matrix.add_(1)
    assert (matrix._version, matrix.data._version) == (2, 0)


def test_nonsense_is_refused():
    optimizer = norch.optim.SGD([nn.Parameter([1.0])], lr=1.0)
    with pytest.raises(TypeError, match="divisor_override"):
        nn.functional.avg_pool2d(norch.ones(1, 1, 4, 4), 2, divisor_override=2.0)
    with pytest.raises(RuntimeError, match="offsets has dtype"):
        nn.functional.embedding_bag(norch.tensor([0, 1]), norch.ones(2, 1), norch.tensor([0.0, 1e30]))
    with pytest.raises(TypeError, match="enabled"):
        norch.autocast("cpu", enabled=None)
    with pytest.raises(TypeError, match="expected a dict"):
        norch.optim.lr_scheduler.StepLR(optimizer, 1).load_state_dict("False")


def test_rsub_of_bytes_and_a_float_does_not_wrap_around():
    assert norch.rsub(norch.tensor([0, 1], dtype=norch.uint8), 0.5).tolist() == [0.5, -0.5]


@pytest.mark.parametrize(
    "call",
    [
        lambda: norch.tensor([1.25]).round(decimals=0.0),
        lambda: norch.arange(6).as_strided([2, 2], norch.tensor([1, 1])),
        lambda: norch.empty_strided(norch.tensor([1, 1]), (1, 2)),
        lambda: norch.randperm(True),
        lambda: norch.ones(2, 3).size(True),
        lambda: F.interpolate(norch.ones(1, 1, 1, 2), size=(1, b"2"), mode="bilinear"),
        lambda: F.ctc_loss(norch.zeros(3, 1, 2).log_softmax(2), norch.tensor([[1]]), {"a": 1}, (1,)),
        lambda: nn.utils.rnn.pack_padded_sequence(norch.ones(3, 1), "a"),
        lambda: norch.tensor([1.0, 3.0]).var(unbiased=b"a"),
        lambda: nn.PairwiseDistance(eps=b"0")(norch.ones(1, 2), norch.ones(1, 2)),
        lambda: nn.Embedding(10, 3, True),
        lambda: norch.fft.rfftfreq(5, dtype=()),
        lambda: norch.autograd.set_detect_anomaly(None),
        lambda: nn.grad.conv1d_weight("x", [1, 1, 1], norch.ones(1, 1, 1)),
        lambda: F.lp_pool1d(1e300, 2, 2),
        lambda: norch.optim.Rprop([norch.ones(1, requires_grad=True)], etas="a"),
        lambda: F.pad(norch.ones(2), norch.tensor([True, False])),
        lambda: F.conv1d(norch.ones(1, 1, 3), norch.ones(1, 1, 2), padding=type("Alike", (float,), SAME)(0.5)),
        lambda: norch.utils.benchmark.Measurement(0.5, [1.0], None),
        lambda: norch.utils.benchmark.Timer("1", globals=[["a"]]),
        lambda: norch.amp.GradScaler("cpu").unscale_(norch.ones(2)),
        lambda: norch.amp.GradScaler("cpu").step(3),
        lambda: parametrize.transfer_parametrizations_and_params(
            nn.utils.parametrizations.weight_norm(nn.Linear(1, 1)), nn.Linear(1, 1), (2, -3)
        ),
    ],
)
def test_arguments_of_other_types_are_type_errors(call):
    with pytest.raises(TypeError):
        call()


def test_an_integer_that_lies_about_itself_is_what_it_holds():
    class Lying(int):
        def __index__(self):
            return 1

    assert norch.ones(Lying(3)).shape == (3,)


def test_rows_at_no_distance_get_no_gradient_of_it():
    x = norch.tensor([[1.0, 1.0], [1.0, 2.0]], dtype=norch.float64, requires_grad=True)
    distances = norch.cdist(x, x)
    distances.backward(norch.tensor([[math.nan, 1.0], [1.0, math.nan]], dtype=norch.float64))
    assert x.grad.tolist() == [[0.0, -2.0], [0.0, 2.0]]


def test_alpha_of_a_reversed_difference_may_be_as_the_result():
    assert norch.rsub(norch.tensor([1]), -0.25, alpha=3.5).tolist() == [-3.75]
    with pytest.raises(RuntimeError):
        norch.rsub(norch.tensor([1]), 1, alpha=2.5)


def test_gradients_of_one_walk_share_no_memory():
    x, y = (norch.tensor(v, requires_grad=True) for v in ([1.0, 1.0], 1.0))
    first, second = norch.autograd.grad(norch.block_diag(x, y).clone().sum(), [x, y])
    first.zero_()
    assert second.item() == 1
    second.zero_()
    assert first._struct.storage != second._struct.storage


def test_the_older_spectral_norm_of_a_vector_is_its_length():
    layer = nn.LayerNorm(2, dtype=norch.float64)
    layer.weight.data.copy_(tensor([3.0, 4.0]))
    nn.utils.spectral_norm(layer)(norch.ones(1, 2, dtype=norch.float64))
    assert layer.weight.tolist() == pytest.approx([0.6, 0.8])


def test_a_view_that_is_a_leaf_stays_one():
    x = norch.ones(1)
    views = [x.unsqueeze(0)]
    x.requires_grad_(False)
    leaf = x.view_as(x).requires_grad_()
    for factor in (2.0, norch.ones(1, requires_grad=True)):
        x.mul_(factor)
        assert leaf.is_leaf
    assert not views[0].is_leaf


def test_what_a_leaf_cannot_be_given():
    x = norch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="floating dtype, got norch.int64"):
        x.data = norch.arange(2)
    x.register_post_accumulate_grad_hook(lambda leaf: leaf.grad)
    with pytest.raises(RuntimeError, match="must return None, got Tensor"):
        x.sum().backward()
