"""The dicts of a module, its values by dotted names, copies and pickles, states with hooks and overridden parts."""

import copy
import gc
import pickle
import weakref

import pytest

import norch
from norch import nn


def model():
    return nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 1)))


# ---- The registries are what the module uses ------------------------------------------------------------------------


def test_what_is_written_into_the_dicts_of_a_module_takes_effect():
    net = model()
    net._modules["0"] = nn.Linear(2, 3, bias=False)
    assert net[0].bias is None and net(norch.ones(4, 2)).shape == [4, 1]
    net[0]._parameters["weight"] = nn.Parameter(norch.zeros(3, 2))
    assert net[0](norch.ones(1, 2)).tolist() == [[0.0, 0.0, 0.0]]
    net[1][0]._buffers["running_mean"] = norch.ones(3)
    assert net[1][0].running_mean.tolist() == [1.0, 1.0, 1.0]
    net._modules.update(extra=nn.ReLU())
    assert isinstance(net.extra, nn.ReLU) and net._modules.pop("extra", None) is not None
    assert not hasattr(net, "extra") and net._modules.pop("extra", 5) == 5
    with pytest.raises(KeyError):
        net._modules.pop("extra")
    del net[0]._parameters["weight"]
    assert not hasattr(net[0], "weight")
    assert net._modules.popitem()[0] == "1" and list(net._modules) == ["0"]
    net._modules = {"a": nn.ReLU()}
    assert isinstance(net.a, nn.ReLU)
    net._modules.clear()
    assert not hasattr(net, "a") and net._modules.setdefault("b", nn.Tanh()) is net.b


def test_a_module_is_freed_without_the_garbage_collector():
    gc.disable()
    try:
        net = model()
        watched = weakref.ref(net)
        del net
        assert watched() is None
    finally:
        gc.enable()


def test_copies_have_registries_of_their_own():
    net = model()
    for other in (copy.deepcopy(net), copy.copy(net)):
        other._modules["0"] = nn.Identity()
        assert isinstance(other[0], nn.Identity) and isinstance(net[0], nn.Linear)
    shared = nn.Linear(2, 2)
    twins = copy.deepcopy(nn.ModuleList([shared, shared]))
    assert twins[0] is twins[1] and twins[0].weight is twins[0]._parameters["weight"]


def test_registries_may_be_replaced_behind_the_module():
    """As meta-learning does: a module of copied attributes gets registries of its own, with tensors of a graph."""
    net = nn.Linear(2, 2)
    clone = net.__new__(type(net))
    clone.__dict__ = net.__dict__.copy()
    clone._parameters = clone._parameters.copy()
    for name, parameter in net._parameters.items():
        clone._parameters[name] = 2 * parameter
    x = norch.ones(1, 2)
    assert clone(x).tolist() == (2 * net(x)).tolist() and list(net.state_dict()) == ["weight", "bias"]
    clone(x).sum().backward()
    assert net.weight.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]
    object.__setattr__(clone, "_parameters", {"weight": norch.zeros(2, 2), "bias": None})
    assert clone.bias is None and clone(x).tolist() == [[0.0, 0.0]]
    clone._parameters["bias"] = norch.ones(2)
    assert clone(x).tolist() == [[1.0, 1.0]] and net._parameters["bias"] is net.bias


def test_modules_without_tensors_are_pickled():
    net = pickle.loads(pickle.dumps(nn.Sequential(nn.ReLU(), nn.Flatten(2))))
    assert [type(m).__name__ for m in net] == ["ReLU", "Flatten"] and net[1].start_dim == 2
    net._modules["0"] = nn.Tanh()
    assert isinstance(net[0], nn.Tanh)


def test_a_class_may_say_what_is_copied():
    class Cached(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.cache = nn.Linear(1, 1), object()

        def __getstate__(self):
            state = self.__dict__.copy()
            del state["cache"]
            return state

    other = copy.deepcopy(Cached())
    assert not hasattr(other, "cache") and other.fc.weight is next(other.parameters())


# ---- Values by their dotted names -----------------------------------------------------------------------------------


def test_values_are_found_by_dotted_names():
    net = model()
    assert net.get_submodule("") is net and net.get_submodule("1.0") is net[1][0]
    assert net.get_parameter("1.1.bias") is net[1][1].bias
    assert net.get_buffer("1.0.running_var") is net[1][0].running_var
    net.set_submodule("1.1", nn.Identity())
    assert isinstance(net[1][1], nn.Identity)
    for use in (
        lambda: net.get_submodule("1.7"),
        lambda: net.get_submodule("0.weight"),
        lambda: net.get_parameter("0.banana"),
        lambda: net.get_parameter("1.0.running_var"),
        lambda: net.get_buffer("0.weight"),
        lambda: net.set_submodule("5.x", nn.ReLU()),
        lambda: net.set_submodule("7", nn.ReLU(), strict=True),
    ):
        with pytest.raises(AttributeError):
            use()
    with pytest.raises(ValueError, match="name"):
        net.set_submodule("", nn.ReLU())


def test_train_and_eval_call_those_of_the_children():
    class Frozen(nn.BatchNorm1d):
        def train(self, mode=True):
            return super().train(False)

    net = nn.Sequential(Frozen(3), nn.ReLU())
    assert net.train() is net and net.training and not net[0].training and net[1].training
    assert net.eval() is net and not net[1].training


def test_to_empty_and_type():
    net = model().type(norch.float64)
    assert net[0].weight.dtype is norch.float64 and net.to_empty(device="cpu") is net
    assert net[0].weight.shape == [3, 2] and net[0].weight.requires_grad


# ---- State dicts ----------------------------------------------------------------------------------------------------


def test_a_state_dict_is_gathered_into_another():
    state = {"before": 1}
    assert nn.Linear(1, 1).state_dict(destination=state, prefix="fc.") is state
    assert list(state) == ["before", "fc.weight", "fc.bias"]
    assert list(nn.Linear(1, 1).state_dict({}, "a.")) == ["a.weight", "a.bias"]


def test_assign_takes_the_very_tensors():
    net, state = nn.Linear(2, 1), {"weight": norch.ones(1, 2), "bias": norch.zeros(1)}
    net.weight.requires_grad_(False)
    net.load_state_dict(state, assign=True)
    assert net.weight.data_ptr() == state["weight"].data_ptr() and isinstance(net.weight, nn.Parameter)
    assert not net.weight.requires_grad and net.bias.requires_grad


def test_a_scalar_is_loaded_from_a_vector_of_one():
    net = nn.Module()
    net.scale = nn.Parameter(norch.tensor([2.0]).reshape(()))
    net.load_state_dict({"scale": norch.tensor([5.0])})
    assert net.scale.item() == 5.0


def test_state_hooks():
    net, seen = model(), []
    net.register_state_dict_pre_hook(lambda module, prefix, keep_vars: seen.append(prefix))
    handle = net[0].register_state_dict_post_hook(lambda module, state, prefix, meta: state.pop(prefix + "bias"))
    handle.remove()
    net[0].register_state_dict_post_hook(lambda module, state, prefix, meta: state.update({prefix + "more": 1}))
    assert net.state_dict()["0.more"] == 1 and seen == [""]

    def rename(module, state, prefix, *rest):
        state[prefix + "weight"] = state.pop(prefix + "old")

    fc = nn.Linear(2, 1)
    fc.register_load_state_dict_pre_hook(rename)
    given = {"old": norch.ones(1, 2), "bias": norch.zeros(1)}
    fc.load_state_dict(given)
    assert fc.weight.tolist() == [[1.0, 1.0]] and list(given) == ["old", "bias"]

    fc = nn.Linear(2, 1)
    fc.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    assert fc.load_state_dict({"weight": norch.ones(1, 2)}).missing_keys == []
    assert fc.weight.tolist() == [[1.0, 1.0]]


def test_classes_save_and_load_in_their_own_way():
    class Counted(nn.Linear):
        count = 0

        def get_extra_state(self):
            return self.count

        def set_extra_state(self, state):
            self.count = state

    first, second = nn.Sequential(Counted(1, 1)), nn.Sequential(Counted(1, 1))
    first[0].count = 7
    state = first.state_dict()
    assert list(state) == ["0.weight", "0.bias", "0._extra_state"]
    second.load_state_dict(state)
    assert second[0].count == 7 and second[0].weight.tolist() == first[0].weight.tolist()

    class Renamed(nn.Linear):
        def _load_from_state_dict(self, state_dict, prefix, *rest):
            state_dict[prefix + "weight"] = state_dict.pop(prefix + "kernel")
            super()._load_from_state_dict(state_dict, prefix, *rest)

        def _save_to_state_dict(self, destination, prefix, keep_vars):
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "kernel"] = destination.pop(prefix + "weight")

    first, second = nn.Sequential(Renamed(1, 1)), nn.Sequential(Renamed(1, 1))
    assert list(first.state_dict()) == ["0.bias", "0.kernel"]
    second.load_state_dict(first.state_dict())
    assert second[0].weight.tolist() == first[0].weight.tolist()


def test_to_a_memory_format_reorders_the_weights_of_images_alone():
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.Flatten(), nn.Linear(3, 2))
    x, weight = norch.randn(1, 2, 3, 3), model[0].weight
    before = model(x)
    assert model.to(memory_format=norch.channels_last) is model and model[0].weight is weight
    assert weight.stride() == (18, 1, 6, 2) and model[2].weight.stride() == (3, 1)
    assert norch.allclose(model(x), before, atol=1e-6)


def test_a_property_may_wait_for_the_parameter_of_its_name():
    class Ball(nn.Module):
        """As geoopt's: the parameter is registered under one name and kept under another."""

        scale = property(lambda self: -self.raw)

        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(norch.ones(()))
            self._parameters["raw"] = self._parameters.pop("scale")

    ball = Ball()
    assert ball.scale.item() == -1.0 and [name for name, _ in ball.named_parameters()] == ["raw"]
    with pytest.raises(KeyError, match="already computes its attribute 'scale'"):
        ball.scale = nn.Parameter(norch.ones(()))


def test_a_hook_before_loading_sees_the_entries_of_its_own_module():
    net, seen = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.Linear(1, 1), nn.ReLU())), []

    def hook(module, state_dict, prefix, *rest):
        seen.extend(state_dict)
        state_dict[prefix + "0.bias"] = norch.tensor([3.0])  # the modules below see what it changed

    net[1].register_load_state_dict_pre_hook(hook)
    net.load_state_dict(net.state_dict())
    assert seen == ["1.0.weight", "1.0.bias"] and net[1][0].bias.item() == 3.0


def test_loading_leaves_no_cycle():
    net = nn.Linear(1, 1)
    gc.collect()
    net.load_state_dict(net.state_dict())
    assert gc.collect() == 0


def test_names_of_parallel_models_lose_their_prefix():
    net = model()
    state = net.state_dict()
    wrapped = nn.Module()
    wrapped.module = net
    given = wrapped.state_dict()
    given._metadata.pop("")
    nn.modules.utils.consume_prefix_in_state_dict_if_present(given, "module.")
    assert list(given) == list(state) and list(given._metadata) == list(state._metadata)


def test_a_buffer_does_not_hide_an_attribute():
    net = nn.Module()
    net.scale = 5
    with pytest.raises(KeyError, match="already has an attribute 'scale'"):
        net.scale = nn.Buffer(norch.ones(1))
    assert net.scale == 5 and not net._buffers
