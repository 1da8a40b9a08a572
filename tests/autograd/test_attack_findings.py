"""What random programs, hostile arguments and interrupts found wrong (tests/attack), each with its own small case."""

import itertools
import math
from functools import partial

import pytest
from concurrently import in_threads

import norch
from norch import nn
from norch.autograd import in_place
from norch.nn import functional as F
from norch.utils.checkpoint import checkpoint

tensor = partial(norch.tensor, dtype=norch.float64)


def gradient_of(function, values, upstream):
    x = tensor(values, requires_grad=True)
    y = function(x)
    y.backward(tensor(upstream).expand(y.shape))
    return x.grad.tolist()


def test_a_checkpoint_is_differentiated_twice():
    x, weight = tensor([1.0, 2.0], requires_grad=True), tensor(2.0, requires_grad=True)
    y = checkpoint(lambda x, skip, n: (weight * x**n, skip), x * x, 7, 3, use_reentrant=False)[0]
    y.sum().backward(create_graph=True)  # of w x^6
    assert x.grad.tolist() == [12.0, 384.0] and weight.grad.tolist() == 65.0
    first, weight.grad = x.grad, None
    x.grad = None
    first.sum().backward()  # of 6 w x^5
    assert x.grad.tolist() == [60.0, 960.0] and weight.grad.tolist() == 6.0 + 192.0


def test_a_checkpoint_refuses_a_function_that_writes_to_its_argument():
    x = tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="writes to an argument"):
        checkpoint(lambda x: x.mul_(2) * x, x * 1, use_reentrant=False).sum().backward()


@pytest.mark.parametrize(("weight", "expected"), [(0.3, math.inf), (0.7, math.nan), (1.0, math.nan)])
def test_lerp_to_infinity_is_computed_from_the_nearer_end(weight, expected):
    for given in (weight, tensor(weight)):
        found = [tensor(1.0).lerp(tensor(math.inf), given), tensor(1.0).lerp_(tensor(math.inf), given)]
        assert [str(x.item()) for x in found] == [str(expected)] * 2
        assert tensor(0.1).lerp(tensor(0.7), 1.0).item() == 0.7


@pytest.mark.parametrize("upstream", [math.inf, math.nan])
def test_beside_two_zeros_an_infinite_gradient_gives_0(upstream):
    assert gradient_of(norch.prod, [0.0, 0.0, 3.0], upstream) == [0.0, 0.0, 0.0]
    cumprod = partial(norch.cumprod, dim=0)
    assert gradient_of(cumprod, [0.0, 2.0, 0.0, 3.0], [1.0, 1.0, upstream, upstream]) == [3.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("values", [[2.0, 3.0, 4.0], [2.0, 0.0, 3.0], [0.0, 2.0, 0.0], [0.0], 0.0, 3.0, []])
def test_the_fused_gradient_of_cumprod_is_the_formula(values):
    gradients = []
    for create_graph in (False, True):
        x = tensor(values, requires_grad=True)
        y = x.cumprod(0) if x.ndim else x.reshape(()).cumprod(0)
        (y * tensor([1.0, 2.0, 5.0][: y.numel()]).reshape(y.shape)).sum().backward(create_graph=create_graph)
        gradients.append(x.grad.tolist())
    assert gradients[0] == gradients[1]


def test_mish_passes_infinite_gradients():
    assert gradient_of(F.mish, [0.0, 1000.0], math.inf) == [math.inf, math.inf]


def test_kl_div_of_a_negative_target_passes_no_nan_where_no_gradient_arrives():
    x = tensor([-0.5, 1.0, 0.0], requires_grad=True)
    F.kl_div(x, x, reduction="none")[1].backward()
    assert x.grad.tolist() == [0.0, -1.0, 0.0]  # of x log x - x^2: log x + 1 - 2 x
    with pytest.raises(RuntimeError, match="target has dtype"):
        F.kl_div(x.detach(), norch.tensor([1, 2, 3]))


def test_margin_losses_of_one_class():
    assert F.multi_margin_loss(tensor([[math.nan]]), norch.tensor([0])).item() == 0.0
    per_class = math.log(1 + math.exp(-1))
    found = F.multilabel_soft_margin_loss(tensor([1.0]), tensor([1.0, 1.0]))
    assert found.item() == pytest.approx(2 * per_class)


def test_a_negative_tolerance_counts_no_singular_value_of_0():
    pytest.importorskip("numpy")
    assert norch.linalg.matrix_rank(norch.zeros(2, 2), -1.0).item() == 0


def test_an_interrupt_after_a_kernel_leaves_no_old_graph(monkeypatch):
    base = tensor([1.0, 2.0], requires_grad=True) * 1
    view, rebase, calls = base[:1], in_place.rebase, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            raise KeyboardInterrupt
        rebase(*arguments)

    monkeypatch.setattr(in_place, "rebase", interrupted)
    with pytest.raises(KeyboardInterrupt):
        view.mul_(10)
    base.retain_grad()
    (leaf,) = norch.autograd.grad((base * view).sum(), view, retain_graph=True)
    assert view.tolist() == [10.0] and base.tolist() == [10.0, 2.0] and leaf.tolist() == [12.0]
    assert type(base.grad_fn).__name__ == "CopySlicesBackward"


def test_the_time_of_the_last_write_does_not_step_back():
    x = norch.zeros(1)
    in_threads(4, lambda _: [x.add_(1) for _ in range(2000)])
    assert norch._C.lib.written_at(x._ptr) == norch._C.write_clock.value


def test_a_hook_goes_with_its_block_although_an_interrupt_came_before_the_exit(monkeypatch):
    x, seen = tensor(1.0, requires_grad=True), []
    monkeypatch.setattr(type(x.register_hook(seen.append)), "__exit__", lambda *_: None)
    x = tensor(1.0, requires_grad=True)
    with x.register_hook(seen.append):
        pass
    (x * 2).backward()
    assert seen == []


def test_a_loader_that_was_interrupted_ends_with_an_error():
    iterator = iter(norch.utils.data.DataLoader(list(range(8)), num_workers=1))
    next(iterator)
    worker = iterator._workers[0]

    def interrupted(task):
        raise KeyboardInterrupt

    worker.send = interrupted
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    with pytest.raises(RuntimeError, match="interrupt"):
        next(iterator)
    assert not worker.process._popen if worker.process._closed else not worker.process.is_alive()


def test_a_state_is_loaded_completely_or_not_at_all(monkeypatch):
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    state = {name: (value * 2).double() for name, value in before.items()}
    convert, calls = norch.Tensor.to, []

    def failing(self, *args, **kwargs):
        calls.append(self)
        if len(calls) == 3:
            raise MemoryError
        return convert(self, *args, **kwargs)

    monkeypatch.setattr(norch.Tensor, "to", failing)
    with pytest.raises(MemoryError):
        model.load_state_dict(state)
    assert all(model.state_dict()[name].equal(value) for name, value in before.items())
    model.load_state_dict(state)
    assert all(model.state_dict()[name].equal(value * 2) for name, value in before.items())


@pytest.mark.parametrize("size", range(5))
@pytest.mark.parametrize("r", range(1, 5))
def test_combinations_are_those_of_itertools(size, r):
    for with_replacement, choose in ((False, itertools.combinations), (True, itertools.combinations_with_replacement)):
        expected = [list(row) for row in choose(range(size), r)]
        found = norch.combinations(norch.arange(size), r, with_replacement)
        assert found.tolist() == expected and found.shape == (len(expected), r)


@pytest.mark.parametrize(
    "make",
    [
        lambda: norch.combinations(norch.arange(10_000), 4),
        lambda: norch.combinations(norch.arange(2), 2**40, True),
        lambda: nn.Upsample(scale_factor=2**25, mode="bilinear")(norch.ones(1, 1, 3, 3)),
        lambda: nn.RNN(1, 1, num_layers=2**31),
    ],
)
def test_what_cannot_fit_into_memory_is_refused_first(make):
    with pytest.raises(MemoryError):
        make()


def test_a_dtype_of_a_layer_is_no_device():
    with pytest.raises(TypeError, match="expected a dtype"):
        nn.Linear(2, 3, dtype="cpu")


def test_views_of_a_detached_base_follow_it_once_it_is_written_to():
    mask, numbers = norch.tensor([True, False]), tensor([3.0, 4.0])
    for write in (
        norch.Tensor.cos_,
        lambda base: base.T.mul_(0.5),
        lambda base: base[0].zero_(),
        norch.Tensor.normal_,
        lambda base: base.__setitem__(0, 5.0),
        lambda base: base.__setitem__(mask, 5.0),
        lambda base: base.__setitem__(norch.tensor([1]), numbers[:1]),
        lambda base: base.masked_fill_(mask, 2.0),
        lambda base: base.masked_scatter_(mask, numbers),
        lambda base: base.scatter_reduce_(0, norch.tensor([0]), numbers, "amax"),
        lambda base: norch.exp(numbers, out=base),
    ):
        x = tensor([1.0, 2.0], requires_grad=True)
        base = x * 1
        view = base.expand(3, 2)
        base.detach_()
        view.sum().backward(retain_graph=True)
        assert x.grad.tolist() == [3.0, 3.0]  # still the old values
        write(base)
        x.grad = None
        view.sum().backward()
        assert x.grad is None  # the new ones, which x has no part in


def test_views_of_a_leaf_that_left_the_graph_follow_it():
    x, factor = tensor([1.0, 2.0, 3.0], requires_grad=True), tensor([5.0, 6.0, 7.0], requires_grad=True)
    views = x[:2], *x.unsqueeze(0).split(1)
    x.requires_grad_(False)
    views[0].sum().backward()
    assert x.grad is None  # still the old values, to which x gives no gradient any more
    x.mul_(factor)
    (views[0] * views[0]).sum().backward(retain_graph=True)
    assert factor.grad.tolist() == [10.0, 48.0, 0.0]
    views[1].sum().backward()
    assert factor.grad.tolist() == [11.0, 50.0, 3.0]


def test_gradients_of_no_elements():
    x = tensor([[1.0]], requires_grad=True)
    rows = x[:, 1:]
    gradient = norch.autograd.grad(F.linear(rows, rows).sum(), x, create_graph=True, materialize_grads=True)[0]
    assert gradient.tolist() == [[0.0]]
    x = norch.zeros(2, 0, dtype=norch.float64, requires_grad=True)
    y = x * 1
    y[...] *= 2
    part = x[:1].expand(5, 0)
    norch.autograd.backward([y.sum(), part.mean()])
    assert x.grad.shape == (2, 0)


def test_lerp_passes_infinite_gradients_by_a_weight_of_0():
    for weight in (0, tensor([0.0])):
        x = tensor([1.0], requires_grad=True)
        x.lerp(tensor([2.0]), weight).backward(tensor([math.inf]))
        assert x.grad.tolist() == [math.inf]


def test_dtypes_of_mixed_arguments():
    cosine = F.cosine_similarity(norch.tensor([[3, 4]]), tensor([[3.0, 4.0]]))
    assert cosine.dtype is norch.float64 and cosine.tolist() == [1.0]
    assert F.cosine_similarity(norch.ones(1, 1), tensor(1.0)).dtype is norch.float64  # a scalar that was broadcast
    assert norch.block_diag(norch.zeros(1), tensor(1.0)).dtype is norch.float32  # a scalar does not count
    assert norch.block_diag(norch.zeros(1, dtype=norch.int64), tensor(1.0)).dtype is norch.float64
    numbers = F.threshold(norch.tensor([0, 1, 2]), 0.9, 5)
    assert numbers.dtype is norch.int64 and numbers.tolist() == [5, 1, 2]
    for reduction, expected in (("none", [math.log1p(math.exp(-1)), math.log(2)]), ("sum", 1.0064088)):
        loss = F.soft_margin_loss(tensor([1.0, 2.0]), norch.tensor([True, False]), reduction=reduction)
        assert loss.tolist() == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore:.*broadcast")
def test_losses_promote_what_they_have_broadcast():
    for reduction in ("none", "mean"):
        for loss in (F.l1_loss, F.mse_loss, F.smooth_l1_loss):
            assert loss(norch.zeros(1), tensor(1.0), reduction=reduction).dtype is norch.float64
        assert F.huber_loss(norch.zeros(1), tensor(1.0), reduction=reduction).dtype is norch.float32
        assert F.huber_loss(tensor(1.0), norch.zeros(1), reduction=reduction).dtype is norch.float64


def test_no_elements_have_no_norm_of_an_infinite_or_negative_order():
    for order in (-1, math.inf, -math.inf):
        for x, dim in ((norch.zeros(0), None), (norch.zeros(0), 0), (norch.zeros(2, 0), 1)):
            with pytest.raises(RuntimeError, match="no elements have a norm"):
                x.norm(order, dim)
        assert norch.zeros(2, 0).norm(order, 0).shape == (0,)
    assert norch.zeros(0).norm(1) == 0


inf, nan = math.inf, math.nan
AT_THE_EDGES = {  # function, values, upstream gradient, the gradient
    "maximum of a NaN": (
        lambda x: norch.maximum(x, tensor([nan, 1.0, 1.0, 1.0])),
        [1.0, nan, 1.0, 0.0],
        4.0,
        [4, 4, 2, 0],
    ),
    "minimum by a NaN": (
        lambda x: norch.minimum(tensor([nan, 1.0, 1.0, 1.0]), x),
        [1.0, nan, 1.0, 0.0],
        4.0,
        [4, 4, 2, 4],
    ),
    "a bound of infinity": (lambda bound: tensor([1.0, 1.0]).clamp(min=bound), [inf, 0.0], 3.0, [3, 0]),
    "0 ** x": (lambda x: 0.0**x, [-1.0, 0.0, 2.0, nan], 1.0, [-inf, 0, 0, nan]),
    "logit": (norch.logit, [-1.0, 2.0, 1.0, 0.5], 1.0, [nan, nan, inf, 4]),
    "logit of an infinite gradient": (norch.logit, [0.5], -inf, [-inf]),
    "sinc of an infinite gradient": (norch.sinc, [0.5, 0.0], inf, [-inf, 0]),
    "angle of a NaN gradient": (norch.angle, [1.0, -1.0, nan], nan, [0, 0, 0]),
}


@pytest.mark.parametrize("name", AT_THE_EDGES)
def test_gradients_at_the_edges_of_what_a_function_takes(name):
    function, values, upstream, expected = AT_THE_EDGES[name]
    assert gradient_of(function, values, upstream) == pytest.approx(expected, nan_ok=True)


def test_places_are_checked_where_nothing_lies():
    empty = norch.zeros(1, 0)
    assert empty.index_select(0, norch.tensor([0, 0])).shape == (2, 0)
    for read in (lambda: empty.index_select(0, norch.tensor([1])), lambda: F.embedding(norch.tensor(-1), empty)):
        with pytest.raises(IndexError, match="out of range for axis 0 of size 1"):
            read()
    with pytest.raises(IndexError, match="axis 1"):
        norch.tensor(1.0).index_select(1, norch.tensor([0, 0]))


def test_the_distance_to_a_nan_is_nan():
    rows = norch.tensor([[1.0, 2.0], [1.0, math.nan], [3.0, 2.0]])
    assert norch.cdist(rows, rows, p=0).isnan().tolist() == [[False, True, False], [True] * 3, [False, True, False]]
    assert str(norch.pdist(rows, 0).tolist()) == "[nan, 1.0, nan]"


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_beyond_an_image_no_nan_is_read(mode):
    image, points = norch.ones(1, 1, 3, 3), norch.tensor([[[[1.2, 1.2], [-2.0, 2.0]]]])
    expected = F.grid_sample(image, points, mode, align_corners=False)
    image[0, 0, 0, 0] = math.nan
    image.requires_grad_(), points.requires_grad_()
    found = F.grid_sample(image, points, mode, align_corners=False)
    assert found.tolist() == expected.tolist()
    found.backward(norch.tensor([[[[1.0, math.nan]]]]))
    assert image.grad[0, 0, 0, 0] == 0 and points.grad[0, 0, 0].isfinite().all()


def test_an_exponent_that_was_changed_is_noticed():
    x = tensor([3.0], requires_grad=True)
    mantissa, exponent = x.frexp()
    exponent.add_(1)
    with pytest.raises(RuntimeError, match="in-place"):
        mantissa.backward()


def test_a_transposed_gradient_passes_by_what_was_overwritten():
    x = tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    y[0] = 5.0
    (y.T * tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()  # which comes to y column by column
    assert x.grad.tolist() == [[0.0, 0.0], [2.0, 4.0]]


def test_a_gradient_has_memory_for_each_of_its_elements():
    x = tensor([[1.0], [2.0]], requires_grad=True)
    for total, slope in ((x.mean(), 0.5), (x.sum(), 1.0), (x.sum(0), 1.0)):
        for create_graph in (False, True):
            gradient = norch.autograd.grad(total, x, create_graph=create_graph, retain_graph=True)[0]
            gradient.detach_().diagonal().zero_()
            assert gradient.tolist() == [[0.0], [slope]]


def test_hostile_arguments_are_named():
    for keyword in ("keepdim", "keepdims"):
        for name in ("max", "amin", "sum", "argmax", "any"):
            with pytest.raises(TypeError, match="keepdim"):
                getattr(norch.ones(2, 2), name)(axis=1, **{keyword: ""})
    for read in (norch.utils.data.read_csv, norch.utils.data.read_idx):
        with pytest.raises(TypeError, match="PathLike"):
            read(False)  # which is the number of a file that is open
    with pytest.raises(TypeError, match="two numbers"):
        norch.ones(3).histogram(3, range=b"a")
    with pytest.raises(TypeError, match="round"):
        norch.ones(1).round(decimals=1e-320)
    with pytest.raises(TypeError, match="sum: expected one integer, got"):
        norch.ones(2, 2).sum([[]])
    with pytest.raises(TypeError, match="cosine_similarity: dim: expected one integer, got"):
        F.cosine_similarity(norch.ones(2, 2), norch.ones(2, 2), dim=[0])
    with pytest.raises(TypeError, match="tensorsolve: expected integers, got"):
        norch.linalg.tensorsolve(norch.eye(4).reshape(2, 2, 4), norch.ones(2, 2), dims=range(3))
    with pytest.raises(TypeError, match="sum_rightmost"):
        norch.distributions.utils.sum_rightmost([1.0], 1)
    with pytest.raises(ValueError, match="Timer.timeit"):
        norch.utils.benchmark.Timer("1").timeit(10**400)
    for modes in ((3, 0), (0, 2**63 - 1), (-1, 0)):
        with pytest.raises(IndexError, match="expected 0, 1 or 2"):
            norch.grid_sampler_3d(norch.ones(1, 1, 2, 2, 2), norch.zeros(1, 1, 1, 1, 3), *modes, True)


def test_a_nan_is_in_the_determinant():
    pytest.importorskip("numpy")
    matrices = tensor([[[0.0, math.nan], [math.nan, 0.0]], [[0.0, 1.0], [0.0, 2.0]]])
    assert str(matrices.det().tolist()) == "[nan, 0.0]"
    assert str(matrices.slogdet().logabsdet.tolist()) == "[nan, -inf]"
    assert matrices.float().det().dtype is norch.float32
    assert norch.linalg.cond(norch.zeros(2, 1, 0)).tolist() == [0.0, 0.0]
    with pytest.raises(norch.linalg.LinAlgError):
        norch.linalg.cholesky(tensor([[1.0, 0.5], [0.5, math.nan]]))


def test_hostile_numbers_of_settings():
    with pytest.raises(TypeError, match="weight_norm: expected integers, got"):
        nn.utils.parametrizations.weight_norm(nn.Linear(3, 2), dim=1.5)
    with pytest.raises(TypeError, match="norm: expected a number, got bytearray"):
        norch.ones(2).norm(bytearray(8))
    for scale in (math.inf, math.nan):
        with pytest.raises(RuntimeError, match="finite"):
            F.interpolate(norch.ones(1, 1, 2), scale_factor=scale)
    assert norch.polygamma(200, tensor(0.5)).tolist() == math.inf * -1
    optimizer = norch.optim.SGD([norch.ones(1)])
    scheduler = norch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    optimizer.step()
    scheduler.step(2**31 + 1)
    assert scheduler.T_cur == 1


def test_polynomials_of_huge_degrees_end():
    for name in ("legendre_polynomial_p", "laguerre_polynomial_l", "shifted_chebyshev_polynomial_t"):
        polynomial = getattr(norch.special, name)
        for degree in (2**62, math.inf, norch.tensor([2**24 + 1, 2**40])):
            assert polynomial(tensor([0.3, 0.5]), degree).isnan().all()
        assert polynomial(tensor(0.3), 2**20).isfinite()
