"""optim.swa_utils: averages of models."""

import pytest

import norch
from norch import nn, optim
from norch.optim import swa_utils


def model_of(value):
    model = nn.Sequential(nn.Linear(1, 2), nn.BatchNorm1d(2))
    with norch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(value)
        model[1].running_mean.fill_(value)
    return model


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, 3.0),
        ({"multi_avg_fn": swa_utils.get_swa_multi_avg_fn()}, 3.0),
        ({"avg_fn": swa_utils.get_swa_avg_fn()}, 3.0),
        ({"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.5)}, 0.25 * 1 + 0.25 * 2 + 0.5 * 6),
        ({"avg_fn": swa_utils.get_ema_avg_fn(0.75)}, 0.5625 * 1 + 0.1875 * 2 + 0.25 * 6),
        ({"avg_fn": lambda mean, value, count: mean * 0 + count}, 2.0),
    ],
)
@pytest.mark.parametrize("use_buffers", [False, True])
def test_averages(options, expected, use_buffers):
    averaged = swa_utils.AveragedModel(model_of(100.0), use_buffers=use_buffers, **options)
    for value in (1.0, 2.0, 6.0):
        averaged.update_parameters(model_of(value))
    assert averaged.n_averaged.item() == 3
    for parameter in averaged.module.parameters():
        assert parameter.flatten().tolist() == pytest.approx([expected] * parameter.numel()) and parameter.requires_grad
    assert averaged.module[1].running_mean.tolist() == pytest.approx([expected if use_buffers else 6.0] * 2)
    assert averaged.module[1].num_batches_tracked.dtype is norch.int64


def test_the_average_is_a_model_with_a_state():
    source = model_of(1.0)
    averaged = swa_utils.AveragedModel(source)
    averaged.update_parameters(source)
    x = norch.ones(3, 1)
    assert averaged.eval()(x).tolist() == source.eval()(x).tolist()
    names = list(averaged.state_dict())
    assert names[0] == "n_averaged" and "module.0.weight" in names
    other = swa_utils.AveragedModel(model_of(0.0))
    other.load_state_dict(averaged.state_dict())
    assert other.n_averaged.item() == 1 and other.module[0].weight.tolist() == [[1.0], [1.0]]
    with norch.no_grad():
        source[0].weight.fill_(9.0)
    assert averaged.module[0].weight.tolist() == [[1.0], [1.0]]


def test_batch_statistics_anew():
    model = nn.Sequential(nn.BatchNorm1d(1, momentum=0.3)).eval()
    model[0].running_mean.fill_(50.0)
    batches = [norch.tensor([[1.0], [3.0]]), norch.tensor([[4.0], [8.0]])]
    swa_utils.update_bn([(x, "label") for x in batches], model)
    assert model[0].running_mean.tolist() == [4.0] and model[0].running_var.tolist() == [5.0]
    assert model[0].momentum == 0.3 and not model.training
    swa_utils.update_bn(batches, nn.Linear(1, 1))  # without batch normalization there is nothing to do


def test_refused():
    with pytest.raises(ValueError, match="decay is 2"):
        swa_utils.get_ema_avg_fn(2)
    with pytest.raises(AssertionError, match="at most one"):
        swa_utils.AveragedModel(nn.Linear(1, 1), avg_fn=min, multi_avg_fn=max)


def test_a_whole_training():
    """As a program writes it: schedule, then averages at a constant rate."""
    norch.manual_seed(0)
    x = norch.randn(64, 1)
    y = 3 * x - 1
    model = nn.Sequential(nn.Linear(1, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    averaged = swa_utils.AveragedModel(model)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=60)
    swa_scheduler = swa_utils.SWALR(optimizer, swa_lr=0.02, anneal_epochs=5)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        if epoch >= 40:
            averaged.update_parameters(model)
            swa_scheduler.step()
        else:
            scheduler.step()
    swa_utils.update_bn([x], averaged)
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.02)
    assert nn.functional.mse_loss(averaged.eval()(x), y).item() < 0.1
