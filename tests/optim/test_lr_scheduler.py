"""norch.optim.lr_scheduler: whole schedules against formulas written by hand, resuming, and bad input."""

import math

import pytest

import norch
from norch import nn, optim
from norch.optim import lr_scheduler as schedulers

pytestmark = pytest.mark.filterwarnings("ignore:Detected call")  # schedules are followed without training


def make_optimizer(lr=1.0, kind=optim.SGD, **options):
    return kind([nn.Parameter([1.0])], lr=lr, **options)


def follow(scheduler, steps):
    """The rate of the first group at the start and after each step."""
    rates = [scheduler.optimizer.param_groups[0]["lr"]]
    for _ in range(steps):
        scheduler.step()
        rates.append(scheduler.optimizer.param_groups[0]["lr"])
        assert scheduler.get_last_lr() == [group["lr"] for group in scheduler.optimizer.param_groups]
    return rates


class Halving:
    """A callable with an attribute, which a state_dict keeps."""

    def __init__(self, base=2.0):
        self.base = base

    def __call__(self, epoch):
        return self.base**-epoch


def linear(epoch, start=1 / 3, end=1.0, total=5):
    return start + (end - start) * min(epoch, total) / total


def restarted(epoch, length, times):
    """The part of the period that has passed."""
    while epoch >= length:
        epoch, length = epoch - length, length * times
    return epoch / length


def cyclic(batch, up, down):
    """The height in a cycle of so many batches up and down."""
    batch %= up + down
    return batch / up if batch <= up else 1 - (batch - up) / down


class Falling(schedulers._LRScheduler):
    """A scheduler as programs for PyTorch write them."""

    def __init__(self, optimizer, last_epoch=-1):
        self.length = 32
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if not self._get_lr_called_within_step:
            raise AssertionError
        assert self._step_count == self.last_epoch + 1
        return [base_lr * (1 - self.last_epoch / self.length) for base_lr in self.base_lrs]


def one_cycle(step, total=20, top=1.0, div=25.0, final=1e4, part=0.3):
    up, last = part * total - 1, total - 1
    start, end, share = (
        (top / div, top, step / up) if step <= up else (top, top / div / final, (step - up) / (last - up))
    )
    return end + (start - end) * (1 + math.cos(math.pi * share)) / 2


# a scheduler of an optimizer, and the rate at each epoch for a rate of 1 at first
ROWS = {
    "StepLR": (lambda o: schedulers.StepLR(o, 3), lambda e: 0.1 ** (e // 3)),
    "StepLR gamma": (lambda o: schedulers.StepLR(o, 2, gamma=0.5), lambda e: 0.5 ** (e // 2)),
    "MultiStepLR": (
        lambda o: schedulers.MultiStepLR(o, [8, 3, 3], 0.5),
        lambda e: 0.5 ** (2 * (e >= 3) + (e >= 8)),
    ),
    "ExponentialLR": (lambda o: schedulers.ExponentialLR(o, 0.9), lambda e: 0.9**e),
    "LambdaLR": (lambda o: schedulers.LambdaLR(o, lambda e: 1 / (1 + e)), lambda e: 1 / (1 + e)),
    "LambdaLR of an object": (lambda o: schedulers.LambdaLR(o, [Halving()]), lambda e: 2.0**-e),
    "LinearLR": (lambda o: schedulers.LinearLR(o), linear),
    "LinearLR down": (lambda o: schedulers.LinearLR(o, 1.0, 0.25, 10), lambda e: linear(e, 1.0, 0.25, 10)),
    "CosineAnnealingLR": (
        lambda o: schedulers.CosineAnnealingLR(o, 6, eta_min=0.1),
        lambda e: 0.1 + 0.9 * (1 + math.cos(math.pi * e / 6)) / 2,
    ),
    "CosineAnnealingWarmRestarts": (
        lambda o: schedulers.CosineAnnealingWarmRestarts(o, 3, 2, eta_min=0.1),
        lambda e: 0.1 + 0.9 * (1 + math.cos(math.pi * restarted(e, 3, 2))) / 2,
    ),
    "MultiplicativeLR": (lambda o: schedulers.MultiplicativeLR(o, lambda e: e / (e + 1)), lambda e: 1 / (e + 1)),
    "ConstantLR": (lambda o: schedulers.ConstantLR(o, 0.25, 4), lambda e: 0.25 if e < 4 else 1.0),
    "PolynomialLR": (lambda o: schedulers.PolynomialLR(o, 8, 2.0), lambda e: (1 - min(e, 8) / 8) ** 2),
    "CyclicLR": (lambda o: schedulers.CyclicLR(o, 0.25, 1.0, 3, 5), lambda e: 0.25 + 0.75 * cyclic(e, 3, 5)),
    "CyclicLR triangular2": (
        lambda o: schedulers.CyclicLR(o, 0.25, 1.0, 4, mode="triangular2", cycle_momentum=False),
        lambda e: 0.25 + 0.75 * cyclic(e, 4, 4) / 2 ** (e // 8),
    ),
    "CyclicLR exp_range": (
        lambda o: schedulers.CyclicLR(o, 0.25, 1.0, 4, mode="exp_range", gamma=0.9),
        lambda e: 0.25 + 0.75 * cyclic(e, 4, 4) * 0.9**e,
    ),
    "CyclicLR of a function": (
        lambda o: schedulers.CyclicLR(o, 0.25, 1.0, 4, scale_fn=lambda cycle: 1 / cycle),
        lambda e: 0.25 + 0.75 * cyclic(e, 4, 4) / (1 + e // 8),
    ),
    "ChainedScheduler": (
        lambda o: schedulers.ChainedScheduler([schedulers.ConstantLR(o, 0.1, 3), schedulers.ExponentialLR(o, 0.9)]),
        lambda e: (0.1 if e < 3 else 1.0) * 0.9**e,
    ),
    "SWALR": (
        lambda o: optim.swa_utils.SWALR(o, 0.25, 6),
        lambda e: 0.25 + 0.75 * (1 + math.cos(math.pi * min(e, 6) / 6)) / 2,
    ),
    "SWALR on a line": (
        lambda o: optim.swa_utils.SWALR(o, 2.0, 4, "linear"),
        lambda e: 1.0 + min(e, 4) / 4,
    ),
    "a subclass": (Falling, lambda e: 1.0 - e / 32),
    "OneCycleLR": (lambda o: schedulers.OneCycleLR(o, 1.0, total_steps=20), one_cycle),
    "SequentialLR": (
        lambda o: schedulers.SequentialLR(o, [schedulers.LinearLR(o, 0.1), schedulers.ExponentialLR(o, 0.5)], [4]),
        lambda e: linear(e, 0.1) if e < 4 else 0.5 ** (e - 4),
    ),
}
rows = pytest.mark.parametrize("make, rate", ROWS.values(), ids=ROWS)


@rows
def test_whole_schedules(make, rate):
    found = follow(make(make_optimizer(momentum=0.9)), 19)
    assert found == pytest.approx([rate(epoch) for epoch in range(20)], rel=1e-12, abs=1e-15)


def test_each_group_has_a_schedule_of_its_own():
    optimizer = make_optimizer()
    optimizer.add_param_group({"params": [nn.Parameter([1.0])], "lr": 10.0})
    scheduler = schedulers.LambdaLR(optimizer, [lambda e: 0.5**e, lambda e: 1.0 + e])
    scheduler.step()
    assert scheduler.get_last_lr() == [0.5, 20.0]
    schedulers.OneCycleLR(optimizer, [1.0, 2.0], 9, cycle_momentum=False)
    assert [group["lr"] for group in optimizer.param_groups] == pytest.approx([0.04, 0.08])


@rows
def test_a_schedule_resumes(make, rate):
    first = make(make_optimizer(momentum=0.9))
    follow(first, 7)
    second = make(make_optimizer(momentum=0.9))
    second.optimizer.load_state_dict(first.optimizer.state_dict())
    second.load_state_dict(first.state_dict())
    assert second.last_epoch == first.last_epoch == 7 and second.get_last_lr() == first.get_last_lr()
    assert follow(second, 12) == follow(first, 12)
    assert second.optimizer.param_groups[0]["momentum"] == first.optimizer.param_groups[0]["momentum"]


def test_a_schedule_goes_on_from_an_epoch():
    optimizer = make_optimizer()
    optimizer.param_groups[0].update(initial_lr=2.0, lr=0.5)
    assert follow(schedulers.LambdaLR(optimizer, lambda e: 1 / (1 + e), last_epoch=3), 1) == [2 / 5, 2 / 6]
    with pytest.raises(KeyError, match=r"param_groups\[0\] has no 'initial_lr'"):
        schedulers.StepLR(make_optimizer(), 2, last_epoch=3)


@pytest.mark.filterwarnings("ignore:lr_scheduler.step.epoch")
@pytest.mark.parametrize(
    "make",
    [
        lambda o: schedulers.ConstantLR(o, 0.5, 3),
        lambda o: schedulers.LinearLR(o, 0.25, 1.0, 4),
        lambda o: schedulers.PolynomialLR(o, 7, 2.0),
        lambda o: schedulers.StepLR(o, 2, 0.5),
        lambda o: schedulers.MultiStepLR(o, [1, 3, 3], 0.5),
        lambda o: schedulers.ExponentialLR(o, 0.9),
        lambda o: schedulers.CosineAnnealingLR(o, 5, 0.1),
        lambda o: schedulers.LambdaLR(o, lambda epoch: 1 / (1 + epoch)),
    ],
)
def test_a_step_to_an_epoch_has_the_rate_of_that_epoch(make):
    optimizer, jumping = make_optimizer(lr=1.0), make_optimizer(lr=1.0)
    scheduler, jumper = make(optimizer), make(jumping)
    for _ in range(5):
        optimizer.step()
        scheduler.step()
    jumper.step(5)
    assert jumper.get_last_lr() == pytest.approx(scheduler.get_last_lr(), rel=1e-12)
    jumper.step(0)
    assert jumper.get_last_lr() == pytest.approx(make(make_optimizer(lr=1.0)).get_last_lr(), rel=1e-12)


def test_a_group_that_comes_later_has_no_rate_of_a_schedule():
    optimizer = make_optimizer(lr=1.0)
    scheduler = schedulers.LambdaLR(optimizer, lambda epoch: 0.5)
    optimizer.add_param_group({"params": [nn.Parameter([1.0])], "lr": 1.0})
    with pytest.raises(ValueError, match="1 rates, expected 2"):
        scheduler.step()
    assert scheduler.last_epoch == 0 and optimizer.param_groups[0]["lr"] == 0.5


def test_schedules_of_one_optimizer_multiply_and_a_rate_changed_by_hand_stays():
    optimizer = make_optimizer()
    both = [schedulers.ExponentialLR(optimizer, 0.5), schedulers.StepLR(optimizer, 2, gamma=0.1)]
    for _ in range(2):
        for scheduler in both:
            scheduler.step()
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.025)
    optimizer.param_groups[0]["lr"] = 8.0
    both[0].step()
    assert optimizer.param_groups[0]["lr"] == 4.0


def test_a_step_uses_the_rate_of_its_epoch():
    parameter = nn.Parameter([1.0])
    optimizer = optim.SGD([parameter], lr=1.0)
    scheduler = schedulers.ExponentialLR(optimizer, 0.5)
    values = []
    for _ in range(3):
        parameter.grad = norch.Tensor([1.0])
        optimizer.step()
        scheduler.step()
        values.append(parameter.item())
    assert values == [0.0, -0.5, -0.75]


@pytest.mark.parametrize("kind, key", [(optim.SGD, "momentum"), (optim.RMSprop, "momentum"), (optim.AdamW, "betas")])
def test_one_cycle_moves_the_momentum_the_other_way(kind, key):
    scheduler = schedulers.OneCycleLR(make_optimizer(kind=kind), 1.0, total_steps=10, pct_start=0.5)
    group = scheduler.optimizer.param_groups[0]
    found = []
    for _ in range(10):
        value = group[key]
        found.append(value[0] if key == "betas" else value)
        assert key != "betas" or value[1] == 0.999
        scheduler.step()
    assert found[0] == pytest.approx(0.95) and found[4] == pytest.approx(0.85) and found[9] == pytest.approx(0.95)
    assert found[:5] == sorted(found[:5], reverse=True) and found[4:] == sorted(found[4:])


def test_one_cycle_of_three_phases():
    scheduler = schedulers.OneCycleLR(
        make_optimizer(momentum=0.9), 1.0, epochs=5, steps_per_epoch=4, three_phase=True, anneal_strategy="linear"
    )
    found = follow(scheduler, 19)
    assert found[0] == pytest.approx(0.04) and found[5] == 1.0 and found[10] == pytest.approx(0.04)
    assert found[19] == pytest.approx(4e-6)
    assert found[1] - found[0] == pytest.approx(found[5] - found[4])  # straight lines
    scheduler.step()
    with pytest.raises(ValueError, match="step 21 is past the last, expected at most 20"):
        scheduler.step()


def test_a_state_keeps_the_attributes_of_callables_and_not_their_code():
    state = schedulers.LambdaLR(make_optimizer(), Halving(4.0)).state_dict()
    assert state["lr_lambdas"] == [{"base": 4.0}] and "optimizer" not in state
    other = schedulers.LambdaLR(make_optimizer(), Halving())
    other.load_state_dict(state)
    assert follow(other, 1)[1] == 0.25
    assert schedulers.LambdaLR(make_optimizer(), lambda e: 1.0).state_dict()["lr_lambdas"] == [None]
    assert schedulers.LambdaLR(make_optimizer(), math.exp).state_dict()["lr_lambdas"] == [None]


def test_a_scheduler_of_one_s_own():
    class Down(schedulers.LRScheduler):
        def get_lr(self):
            return [base - 0.25 * self.last_epoch for base in self.base_lrs]

    assert follow(Down(make_optimizer()), 2) == [1.0, 0.75, 0.5]
    with pytest.raises(NotImplementedError, match="LRScheduler"):
        schedulers.LRScheduler(make_optimizer())


def sequence(optimizer, *turns, milestones=(2,)):
    return schedulers.SequentialLR(optimizer, list(turns), list(milestones))


def test_a_sequence_inside_a_sequence():
    optimizer = make_optimizer()
    inner = sequence(optimizer, schedulers.LinearLR(optimizer, 0.5, 1.0, 2), schedulers.ExponentialLR(optimizer, 0.1))
    outer = sequence(optimizer, schedulers.StepLR(optimizer, 1, 0.5), inner)
    assert follow(outer, 5) == pytest.approx([1.0, 0.5, 0.5, 0.75, 1.0, 0.1])


def test_multiplying_goes_on_from_the_rates_of_the_turn_before():
    optimizer = make_optimizer()
    turns = schedulers.StepLR(optimizer, 1, 0.5), schedulers.MultiplicativeLR(optimizer, lambda epoch: 0.1)
    assert follow(sequence(optimizer, *turns), 4) == pytest.approx([1.0, 0.5, 0.05, 0.005, 0.0005])


def one_cycle_with(**options):
    return schedulers.OneCycleLR(make_optimizer(), **{"max_lr": 1.0, "total_steps": 9, **options})


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: schedulers.StepLR(1.0, 2), TypeError, "float, expected an Optimizer"),
        (lambda: schedulers.StepLR(make_optimizer(), 0), ValueError, "step_size is 0"),
        (lambda: schedulers.LambdaLR(make_optimizer(), [abs, abs]), ValueError, "lr_lambda has 2 values, expected 1"),
        (lambda: schedulers.LinearLR(make_optimizer(), 0.0), ValueError, "start_factor is 0.0"),
        (lambda: schedulers.LinearLR(make_optimizer(), 1.0, 2.0), ValueError, "end_factor is 2.0"),
        (lambda: schedulers.CosineAnnealingLR(make_optimizer(), 0), ValueError, "T_max is 0"),
        (lambda: one_cycle_with(total_steps=None), ValueError, "no length"),
        (lambda: one_cycle_with(total_steps=None, epochs=3), ValueError, "no length"),
        (lambda: one_cycle_with(total_steps=0), ValueError, "total_steps is 0"),
        (lambda: one_cycle_with(total_steps=2.5), ValueError, "total_steps is 2.5"),
        (lambda: one_cycle_with(pct_start=2), ValueError, "pct_start is 2"),
        (lambda: one_cycle_with(anneal_strategy="steep"), ValueError, "steep"),
        (lambda: one_cycle_with(max_lr=[1.0, 2.0]), ValueError, "max_lr has 2 values, expected 1"),
        (
            lambda: schedulers.OneCycleLR(optim.Optimizer([nn.Parameter([1.0])], {"lr": 1.0}), 1.0, 9),
            ValueError,
            "Optimizer has neither momentum nor betas",
        ),
        (lambda: schedulers.ReduceLROnPlateau(make_optimizer(), factor=1.0), ValueError, "factor is 1.0"),
        (lambda: schedulers.ReduceLROnPlateau(make_optimizer(), "down"), ValueError, "down"),
        (lambda: schedulers.ReduceLROnPlateau(make_optimizer(), threshold_mode="x"), ValueError, "'x'"),
        (lambda: schedulers.ReduceLROnPlateau(make_optimizer(), min_lr=[0, 0]), ValueError, "min_lr has 2"),
        (lambda: schedulers.ReduceLROnPlateau(make_optimizer()).step("low"), ValueError, "low"),
        (lambda: sequence(make_optimizer()), ValueError, "0 schedulers and 1 milestones"),
        (
            lambda: sequence(make_optimizer(), *[schedulers.StepLR(make_optimizer(), 1) for _ in range(2)]),
            ValueError,
            "scheduler 0 belongs to another optimizer",
        ),
        (
            lambda: sequence(make_optimizer(), *[schedulers.ReduceLROnPlateau(make_optimizer()) for _ in range(2)]),
            ValueError,
            "scheduler 0 is a ReduceLROnPlateau",
        ),
    ],
)
def test_schedulers_refuse(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_cycles_move_the_momentum_the_other_way():
    optimizer = make_optimizer(momentum=0.9)
    scheduler = schedulers.CyclicLR(optimizer, 0.0, 1.0, 2, base_momentum=0.5, max_momentum=0.75)
    seen = []
    for _ in range(5):
        seen.append(optimizer.param_groups[0]["momentum"])
        scheduler.step()
    assert seen == [0.75, 0.625, 0.5, 0.625, 0.75]
    adam = make_optimizer(kind=optim.Adam)
    schedulers.CyclicLR(adam, 0.0, 1.0, 2, base_momentum=0.5, max_momentum=0.75)
    assert adam.param_groups[0]["betas"] == (0.75, 0.999)
    with pytest.raises(ValueError, match="cycle_momentum"):
        schedulers.CyclicLR(make_optimizer(kind=optim.Adagrad), 0.0, 1.0)


def test_restarts_at_fractions_of_epochs():
    optimizer = make_optimizer()
    scheduler = schedulers.CosineAnnealingWarmRestarts(optimizer, 2, 2)
    for epoch in (0.5, 1.75, 2.0, 3.5, 6.25, 1):
        scheduler.step(epoch)
        expected = (1 + math.cos(math.pi * restarted(epoch, 2, 2))) / 2
        assert scheduler.get_last_lr()[0] == pytest.approx(expected) and scheduler.last_epoch == math.floor(epoch)
    scheduler.step()
    assert scheduler.last_epoch == 2 and scheduler.get_last_lr() == [1.0]
    with pytest.raises(ValueError, match="-1"):
        scheduler.step(-1)


def test_a_rate_in_a_tensor_stays_the_tensor():
    for make in (
        lambda o: schedulers.StepLR(o, 1, 0.5),
        lambda o: schedulers.LambdaLR(o, lambda e: 0.5**e),
        lambda o: schedulers.CyclicLR(o, 0.5, 1.0, 1, cycle_momentum=False),
        lambda o: schedulers.ReduceLROnPlateau(o, factor=0.5, patience=0),
    ):
        rate = norch.tensor(1.0)
        optimizer = make_optimizer(lr=rate)
        scheduler = make(optimizer)
        first = scheduler.get_last_lr()[0]
        for _ in range(2):
            scheduler.step(1.0) if isinstance(scheduler, schedulers.ReduceLROnPlateau) else scheduler.step()
        assert optimizer.param_groups[0]["lr"] is rate and first is not rate
        assert rate.item() in (0.25, 0.5)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda o: schedulers.ConstantLR(o, 2.0), "factor is 2.0"),
        (lambda o: schedulers.CyclicLR(o, 0.1, 1.0, mode="square"), "square"),
        (lambda o: schedulers.CyclicLR(o, [0.1, 0.2], 1.0), "base_lr has 2"),
        (lambda o: schedulers.CosineAnnealingWarmRestarts(o, 0), "T_0"),
        (lambda o: schedulers.CosineAnnealingWarmRestarts(o, 2, 0), "T_mult"),
        (lambda o: schedulers.ChainedScheduler([]), "no scheduler"),
        (lambda o: schedulers.ChainedScheduler([schedulers.ReduceLROnPlateau(o)]), "metric"),
        (
            lambda o: schedulers.ChainedScheduler([schedulers.StepLR(o, 1), schedulers.StepLR(make_optimizer(), 1)]),
            "other",
        ),
        (lambda o: optim.swa_utils.SWALR(o, 0.1, -1), "anneal_epochs"),
        (lambda o: optim.swa_utils.SWALR(o, 0.1, 5, "square"), "square"),
    ],
)
def test_more_schedulers_refuse(make, words):
    with pytest.raises(ValueError, match=words):
        make(make_optimizer(momentum=0.9))


def test_a_chain_of_what_is_no_scheduler():
    with pytest.raises(TypeError, match="scheduler 0 is a str"):
        schedulers.ChainedScheduler({"a": 1})


def test_chained_schedulers_take_their_turn_from_the_initial_rate():
    def chained(optimizer):
        rising = schedulers.LinearLR(optimizer, start_factor=0.1, total_iters=5)
        return schedulers.ChainedScheduler([rising, schedulers.ConstantLR(optimizer, factor=0.1, total_iters=5)])

    rates = []
    for turns in (
        lambda o: [chained(o), schedulers.ConstantLR(o, 0.5, 5)],
        lambda o: [schedulers.ConstantLR(o, 0.5, 5), chained(o)],
    ):
        optimizer = norch.optim.SGD([norch.nn.Parameter([1.0])], lr=0.05)
        scheduler = schedulers.SequentialLR(optimizer, turns(optimizer), milestones=[3])
        for _ in range(5):
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()
    assert rates == pytest.approx([0.0005, 0.0014, 0.0023, 0.025, 0.025, 0.025, 0.025, 0.025, 0.0005, 0.0014])


@pytest.mark.filterwarnings("error")
def test_a_first_step_before_that_of_the_optimizer_warns():
    early, late = make_optimizer(), make_optimizer()
    for scheduler in (schedulers.StepLR(early, 1), schedulers.SequentialLR(early, [schedulers.StepLR(early, 1)], [])):
        with pytest.warns(UserWarning, match=r"Detected call of `lr_scheduler.step\(\)` before"):
            scheduler.step()
        scheduler.step()
    after = schedulers.StepLR(late, 1)
    late.step()
    after.step()


@pytest.mark.parametrize(
    "make",
    [
        lambda o, x: schedulers.CyclicLR(o, x, 2 * x, base_momentum=x, max_momentum=x),
        lambda o, x: schedulers.OneCycleLR(o, x, 10, base_momentum=x, max_momentum=x),
        lambda o, x: optim.swa_utils.SWALR(o, x),
    ],
)
def test_settings_in_tensors_are_copied(make):
    optimizer, setting = make_optimizer(momentum=0.9), norch.tensor(0.25)
    scheduler = make(optimizer, setting)
    before = [str(value) for group in optimizer.param_groups for value in group.values()]
    setting.fill_(8.0)
    assert before == [str(value) for group in optimizer.param_groups for value in group.values()]
    scheduler.step()
    assert all(group["lr"] < 2 for group in optimizer.param_groups)


def test_a_low_rate_in_a_tensor_is_not_the_rate():
    optimizer = make_optimizer(momentum=0.9)
    scheduler = schedulers.CyclicLR(optimizer, norch.tensor(0.0), norch.tensor(1.0), step_size_up=2)
    assert [(float(optimizer.param_groups[0]["lr"]), scheduler.step())[0] for _ in range(4)] == [0.0, 0.5, 1.0, 0.5]


def test_averaging_rates_in_a_sequence_begin_at_their_first_step():
    optimizer = make_optimizer()
    swa = optim.swa_utils.SWALR(optimizer, 0.5, anneal_epochs=2, anneal_strategy="linear")
    sequence = schedulers.SequentialLR(optimizer, [swa, schedulers.ConstantLR(optimizer)], [3])
    assert follow(sequence, 2) == pytest.approx([1.0, 0.75, 0.5])
