"""Pruning: masks that narrow, what stays trainable, permanent results, and what is refused."""

import pytest

import norch
from norch import nn
from norch.nn.utils import prune


def layer():
    made = nn.Linear(4, 3)
    made.weight.data = norch.arange(1.0, 13.0).view(3, 4)
    return made


def test_a_pruned_weight_is_computed_from_what_is_trained():
    x = prune.l1_unstructured(layer(), "weight", amount=0.25)
    assert sorted(x.state_dict()) == ["bias", "weight_mask", "weight_orig"]
    assert [name for name, _ in x.named_parameters()] == ["bias", "weight_orig"]
    assert (x.weight == 0).sum() == 3 and x.weight[0].tolist() == [0.0, 0.0, 0.0, 4.0]
    x(norch.ones(1, 4)).sum().backward()
    assert x.weight_orig.grad[0].tolist() == [0.0, 0.0, 0.0, 1.0]
    x.weight_orig.data.fill_(1.0)
    assert x(norch.ones(1, 4)).shape == (1, 3) and x.weight.sum() == 9


def test_methods_follow_each_other():
    x = layer()
    prune.l1_unstructured(x, "weight", amount=2)
    prune.l1_unstructured(x, "weight", amount=2)  # of those that are left
    assert x.weight[0].tolist() == [0.0] * 4
    prune.ln_structured(x, "weight", amount=1, n=1, dim=0)  # the row of zeros does not count
    assert x.weight_mask.sum(1).tolist() == [0.0, 0.0, 4.0]
    (container,) = x._forward_pre_hooks.values()
    assert [type(method).__name__ for method in container] == ["L1Unstructured", "L1Unstructured", "LnStructured"]
    parameter = x.weight_orig
    prune.remove(x, "weight")
    assert x.weight is parameter and x.weight[:2].abs().sum() == 0 and not x._forward_pre_hooks
    assert list(x.state_dict()) == ["bias", "weight"]


def test_every_method():
    norch.manual_seed(0)
    assert prune.random_unstructured(layer(), "weight", 5).weight_mask.sum() == 7
    assert sorted(prune.random_structured(layer(), "weight", 0.5, dim=1).weight_mask.sum(0).tolist()) == [0, 0, 3, 3]
    assert prune.ln_structured(layer(), "weight", 1, float("inf"), -1).weight_mask.sum(0).tolist() == [0, 3, 3, 3]
    assert prune.identity(layer(), "bias").bias_mask.sum() == 3
    mask = norch.zeros(3, 4)
    assert prune.custom_from_mask(layer(), "weight", mask).weight.abs().sum() == 0
    scores = norch.arange(12.0, 0.0, -1).view(3, 4)
    assert prune.l1_unstructured(layer(), "weight", 4, importance_scores=scores).weight[2].abs().sum() == 0
    model = nn.Sequential(layer(), layer())
    model[1].weight.data *= 100
    pairs = [(model[0], "weight"), (model[1], "weight")]
    prune.global_unstructured(pairs, pruning_method=prune.L1Unstructured, amount=0.5)
    assert (model[0].weight == 0).all() and not (model[1].weight == 0).any()
    pruned = prune.L1Unstructured(amount=2).prune(norch.tensor([3.0, -1.0, 2.0]))
    assert pruned.tolist() == [3.0, 0.0, 0.0]


def test_a_method_of_ones_own():
    class EverySecond(prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    x = layer()
    EverySecond.apply(x, "bias")
    assert x.bias_mask.tolist() == [0.0, 1.0, 0.0] and prune.is_pruned(nn.Sequential(x))


REFUSED = {
    "too many": (lambda: prune.l1_unstructured(layer(), "weight", 13), ValueError),
    "no part": (lambda: prune.l1_unstructured(layer(), "weight", 1.5), ValueError),
    "negative": (lambda: prune.random_unstructured(layer(), "weight", -1), ValueError),
    "no number": (lambda: prune.random_unstructured(layer(), "weight", "all"), TypeError),
    "no slices": (lambda: prune.ln_structured(layer(), "bias", 1, 2, 0), ValueError),
    "no such dim": (lambda: prune.ln_structured(layer(), "weight", 1, 2, 2), IndexError),
    "mask": (lambda: prune.custom_from_mask(layer(), "weight", norch.ones(2)), ValueError),
    "scores": (lambda: prune.l1_unstructured(layer(), "weight", 1, norch.ones(2)), ValueError),
    "not pruned": (lambda: prune.remove(layer(), "weight"), ValueError),
    "global slices": (
        lambda: prune.global_unstructured([(layer(), "weight")], prune.LnStructured, amount=1, n=2), TypeError,
    ),
    "slices of a pruned vector": (
        lambda: prune.random_structured(prune.identity(nn.LayerNorm(3), "weight"), "weight", 1, 0), ValueError,
    ),
    "a dim of a pruned vector": (
        lambda: prune.ln_structured(prune.identity(nn.LayerNorm(3), "weight"), "weight", 0, 2, 1), IndexError,
    ),
    "no module": (lambda: prune.identity(3, "weight"), TypeError),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, kind = REFUSED[name]
    with pytest.raises(kind):
        call()


def test_a_refused_method_changes_nothing():
    x = layer()
    with pytest.raises(ValueError):
        prune.l1_unstructured(x, "weight", 13)
    assert list(x.state_dict()) == ["weight", "bias"] and not x._forward_pre_hooks


def test_a_container_makes_masks_of_the_dtype_of_the_weights():
    first, container = prune.L1Unstructured(amount=1), prune.PruningContainer()
    first._tensor_name = container._tensor_name = "weight"
    container.add_pruning_method(first)
    mask = container.compute_mask(norch.tensor([1.0, 2.0, 3.0]), norch.tensor([0, 1, 1]))
    assert mask.dtype is norch.float32 and mask.tolist() == [0.0, 0.0, 1.0]


def test_a_mask_is_a_tensor():
    with pytest.raises(TypeError, match="mask: expected a Tensor, got list"):
        prune.CustomFromMask([1.0, 0.0])
