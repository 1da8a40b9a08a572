"""norch.nn: Parameter and Module."""

import copy
import importlib
import random
from pathlib import Path

import pytest
from linear import layer

import norch
from norch import nn
from norch.utils import utils


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(1, 10)
        self.sigmoid = nn.Sigmoid()
        self.fc2 = nn.Linear(10, 1)

    def forward(self, x):
        return self.fc2(self.sigmoid(self.fc1(x)))


# ---- Parameter ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [[1], [5], [3, 2], [2, 3, 4], [0], [2, 0], [1000]])
def test_a_parameter_draws_the_article_s_numbers_in_row_order(shape):
    random.seed(7)
    expected = utils.generate_random_list(shape)
    state = random.getstate()
    random.seed(7)
    parameter = nn.Parameter(shape=shape)
    assert random.getstate() == state
    assert parameter.shape == shape
    assert parameter.tolist() == norch.Tensor(expected).reshape(shape).tolist()
    assert parameter.requires_grad and parameter.is_leaf and parameter.dtype is norch.float32


@pytest.mark.parametrize("low, high", [(-1.0, 1.0), (0.0, 1.0), (-0.3, 2.5)])
def test_uniform_numbers_are_those_of_random_uniform_and_leave_the_same_state(low, high):
    random.seed(3)
    expected = [random.uniform(low, high) for _ in range(257)]
    state = random.getstate()
    random.seed(3)
    assert utils.uniform_numbers(257, low, high) == expected
    assert random.getstate() == state


def test_a_list_of_ints_is_a_shape_and_anything_else_is_values():
    assert nn.Parameter([2, 3]).shape == [2, 3]
    assert nn.Parameter((2, 3)).shape == [2, 3]
    assert nn.Parameter(norch.zeros(4, 5).shape).shape == [4, 5]
    assert nn.Parameter([2.0, 3.0]).tolist() == [2.0, 3.0]
    assert nn.Parameter([[1, 2], [3, 4]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert nn.Parameter(0.5).tolist() == 0.5


def test_a_parameter_of_a_tensor_shares_its_storage_dtype_and_flag():
    values = norch.tensor([1.0, 2.0], dtype=norch.float64)
    parameter = nn.Parameter(values)
    assert parameter.dtype is norch.float64 and parameter.requires_grad and not values.requires_grad
    values[0] = 5.0
    assert parameter.tolist() == [5.0, 2.0]
    assert not nn.Parameter(values, requires_grad=False).requires_grad
    assert not nn.Parameter(values, False).requires_grad


def test_a_parameter_of_a_result_is_a_leaf():
    source = norch.tensor([1.0, 2.0], requires_grad=True)
    parameter = nn.Parameter(source * 2)
    assert parameter.is_leaf and parameter.grad_fn is None
    parameter.sum().backward()
    assert source.grad is None and parameter.grad.tolist() == [1.0, 1.0]


def test_results_of_parameters_are_plain_tensors():
    parameter = nn.Parameter([1.0, 2.0])
    assert isinstance(parameter, norch.Tensor)
    for result in (parameter + 1, parameter.T, parameter[:1], parameter.detach(), parameter.sum(), parameter.clone()):
        assert type(result) is norch.Tensor


def test_a_parameter_prints_as_pytorch_s():
    expected = "Parameter containing:\ntensor([1., 2.], requires_grad=True)"
    assert repr(nn.Parameter(norch.tensor([1.0, 2.0], device="cpu"))) == expected


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: nn.Parameter([1.0], shape=[1]), TypeError, "not both"),
        (lambda: nn.Parameter(3), TypeError, r"\[3\] or 3\.0"),
        (lambda: nn.Parameter(shape=[2, -1]), ValueError, r"\[2, -1\]"),
        (lambda: nn.Parameter(shape=[2.0]), TypeError, r"\[2\.0\]"),
        (lambda: nn.Parameter(shape=3), TypeError, "3"),
        (lambda: nn.Parameter(norch.tensor([1, 2])), RuntimeError, "int64|float"),
        (lambda: nn.Parameter([[1.0], [1.0, 2.0]]), ValueError, r"\[1\]|length|ragged"),
    ],
)
def test_a_parameter_refuses(make, error, words):
    with pytest.raises(error, match=words):
        make()


# ---- Module: attributes ---------------------------------------------------------------------------------------------


def test_attributes_register_parameters_modules_and_buffers():
    model = nn.Module()
    model.weight = nn.Parameter([1.0])
    model.inner = nn.Linear(1, 2)
    model.register_buffer("mean", norch.zeros(2))
    model.plain = norch.zeros(3)
    assert [name for name, _ in model.named_parameters()] == ["weight", "inner.weight", "inner.bias"]
    assert [name for name, _ in model.named_buffers()] == ["mean"]
    assert [name for name, _ in model.named_children()] == ["inner"]
    assert dict(model.named_parameters())["inner.weight"] is model.inner.weight


def test_reassigning_replaces_and_none_and_del_remove():
    model = nn.Module()
    model.weight = first = nn.Parameter([1.0])
    model.weight = second = nn.Parameter([2.0])
    assert first is not second and list(model.parameters()) == [second] and model.weight is second
    model.weight = None
    assert model.weight is None and list(model.parameters()) == [] and model.state_dict() == {}
    model.weight = nn.Parameter([3.0])
    del model.weight
    assert not hasattr(model, "weight") and list(model.parameters()) == []
    with pytest.raises(AttributeError, match="weight"):
        del model.weight


def test_an_attribute_that_changes_its_kind_is_listed_once():
    model = nn.Module()
    model.x = nn.Parameter([1.0])
    with pytest.raises(TypeError, match="x was given an Identity, expected a Parameter"):
        model.x = nn.Identity()
    del model.x
    model.x = nn.Identity()
    assert list(model.parameters()) == [] and [name for name, _ in model.named_children()] == ["x"]
    model.x = nn.Parameter([1.0])
    assert list(model.children()) == [] and len(list(model.parameters())) == 1


def test_a_registered_name_refuses_another_kind_of_value():
    model = Model()
    with pytest.raises(TypeError, match="fc1.*Tensor.*Module"):
        model.fc1 = norch.zeros(1)
    with pytest.raises(TypeError, match="weight.*Tensor.*Parameter"):
        model.fc1.weight = norch.zeros(10, 1)
    model.register_buffer("mean", norch.zeros(2))
    with pytest.raises(TypeError, match="mean.*float.*Tensor"):
        model.mean = 1.0
    assert len(list(model.parameters())) == 4


def test_a_buffer_takes_a_new_tensor():
    model = nn.Module()
    model.register_buffer("mean", norch.zeros(2))
    model.mean = norch.ones(2)
    assert model.state_dict()["mean"].tolist() == [1.0, 1.0]
    model.mean = None
    assert model.state_dict() == {}


def test_buffers_that_do_not_persist_are_left_out_of_the_state():
    model = nn.Module()
    model.register_buffer("kept", norch.zeros(1))
    model.register_buffer("scratch", norch.zeros(1), persistent=False)
    model.register_buffer("empty", None)
    assert [name for name, _ in model.named_buffers()] == ["kept", "scratch"]
    assert list(model.state_dict()) == ["kept"]
    model.register_buffer("scratch", norch.zeros(1))
    assert list(model.state_dict()) == ["kept", "scratch"]


def test_registering_by_name():
    model = nn.Module()
    model.register_parameter("weight", nn.Parameter([1.0]))
    model.register_parameter("bias", None)
    model.add_module("a", nn.Identity())
    model.register_module("b", nn.Identity())
    assert model.bias is None and len(list(model.parameters())) == 1
    assert [name for name, _ in model.named_children()] == ["a", "b"]


@pytest.mark.parametrize(
    "register, value",
    [("register_parameter", nn.Parameter([1.0])), ("register_buffer", norch.zeros(1)), ("add_module", nn.Identity())],
)
def test_registering_refuses_bad_names_and_values(register, value):
    model = nn.Module()
    for name in ("", "a.b", "forward"):
        with pytest.raises(KeyError):
            getattr(model, register)(name, value)
    with pytest.raises(TypeError, match="string"):
        getattr(model, register)(3, value)
    with pytest.raises(TypeError, match="str"):
        getattr(model, register)("name", "a string")


def test_a_missing_attribute_is_named():
    with pytest.raises(AttributeError, match="'Model' object has no attribute 'fc3'"):
        _ = Model().fc3


def test_forgetting_super_init_is_said_when_something_needs_it():
    class Forgetful(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match=r"Forgetful.*super\(\).__init__\(\)"):
        Forgetful()

    class ArticleLoss(nn.Module):
        def __init__(self):
            pass

        def forward(self, predictions, labels):
            return ((predictions - labels) ** 2).sum() / predictions.numel

    loss = ArticleLoss()
    loss.note = "plain attributes need no registry"
    assert loss(norch.Tensor([1.0, 3.0]), norch.Tensor([1.0, 1.0]))[0] == 2.0
    for use in (lambda: list(loss.parameters()), loss.eval, loss.state_dict, lambda: loss.training, lambda: repr(loss)):
        with pytest.raises(AttributeError, match=r"ArticleLoss.*super\(\).__init__\(\)"):
            use()


def test_a_module_without_forward_says_so():
    with pytest.raises(NotImplementedError, match="Module"):
        nn.Module()(1)


def test_calling_passes_all_arguments():
    class Sum(nn.Module):
        def forward(self, a, *rest, scale=1):
            return (a + sum(rest)) * scale

    assert Sum()(1, 2, 3, scale=10) == 60


# ---- Module: walking ------------------------------------------------------------------------------------------------


def test_names_are_dotted_and_in_order():
    model = nn.Sequential(Model(), nn.Sequential(nn.Linear(1, 2, bias=False)))
    assert [name for name, _ in model.named_parameters()] == [
        "0.fc1.weight", "0.fc1.bias", "0.fc2.weight", "0.fc2.bias", "1.0.weight",
    ]  # fmt: skip
    assert [name for name, _ in model.named_modules()] == ["", "0", "0.fc1", "0.sigmoid", "0.fc2", "1", "1.0"]
    assert [name for name, _ in model.named_parameters(prefix="net")][0] == "net.0.fc1.weight"
    assert list(model.parameters(recurse=False)) == []
    assert len(list(model[0].fc1.parameters(recurse=False))) == 2
    assert list(model.modules())[0] is model and list(model.children()) == [model[0], model[1]]


def test_shared_parameters_and_modules_come_once():
    shared = nn.Linear(2, 2)
    model = nn.Sequential(shared, shared)
    model.tied = shared.weight
    assert [name for name, _ in model.named_parameters()] == ["tied", "0.bias"]
    assert len(list(model.named_parameters(remove_duplicate=False))) == 5
    assert [name for name, _ in model.named_modules()] == ["", "0"]
    assert [name for name, _ in model.named_children()] == ["0"]
    assert list(model.state_dict()) == ["tied", "0.weight", "0.bias", "1.weight", "1.bias"]


def test_apply_visits_children_first_and_returns_self():
    model, seen = nn.Sequential(Model()), []
    assert model.apply(lambda module: seen.append(module.get_name())) is model
    assert seen == ["Linear", "Sigmoid", "Linear", "Model", "Sequential"]


def test_train_and_eval_only_flip_training():
    model = Model()
    assert model.training and model.fc1.training
    assert model.eval() is model
    assert not any(module.training for module in model.modules())
    assert all(parameter.requires_grad for parameter in model.parameters())
    assert model.train() is model and all(module.training for module in model.modules())
    assert not model.train(False).training
    with pytest.raises(ValueError, match="cpu"):
        model.train("cpu")


def test_requires_grad_freezes_every_parameter():
    model = Model()
    assert model.requires_grad_(False) is model
    assert not any(parameter.requires_grad for parameter in model.parameters())
    for parameter in model.requires_grad_().parameters():
        assert parameter.requires_grad


def test_zero_grad_forgets_or_fills():
    model = layer([[2.0]], [1.0])
    model(norch.Tensor([[3.0]])).sum().backward()
    assert [gradient.tolist() for gradient in model.gradients()] == [[[3.0]], [1.0]]
    model.zero_grad(set_to_none=False)
    assert [gradient.tolist() for gradient in model.gradients()] == [[[0.0]], [0.0]]
    model.zero_grad()
    assert list(model.gradients()) == [None, None]


# ---- Module: to, state, printing ------------------------------------------------------------------------------------


def test_to_changes_the_same_parameters():
    model = layer([[2.0, 1.0]], [1.0])
    model.register_buffer("count", norch.tensor([3]))
    model.register_buffer("mean", norch.zeros(1))
    model(norch.Tensor([[3.0, 4.0]])).sum().backward()
    before = list(model.parameters())
    assert model.double() is model
    assert all(a is b for a, b in zip(before, model.parameters())) and model.weight is before[0]
    assert type(model.weight) is nn.Parameter and model.weight.requires_grad and model.weight.is_leaf
    assert model.weight.dtype is norch.float64 and model.weight.tolist() == [[2.0, 1.0]]
    assert model.weight.grad.dtype is norch.float64 and model.weight.grad.tolist() == [[3.0, 4.0]]
    assert model.count.dtype is norch.int64 and model.mean.dtype is norch.float64
    model.zero_grad()
    model(norch.tensor([[3.0, 4.0]], dtype=norch.float64)).sum().backward()
    assert model.weight.grad.dtype is norch.float64
    assert model.float().weight.dtype is norch.float32


@pytest.mark.parametrize(
    "arguments, keywords, dtype",
    [
        (("cpu",), {}, "float32"),
        ((norch.float64,), {}, "float64"),
        (("cpu", norch.float64), {}, "float64"),
        ((), {"device": "cpu", "dtype": norch.float64}, "float64"),
        ((norch.zeros(1, dtype=norch.float64),), {}, "float64"),
        ((None,), {}, "float32"),
    ],
)
def test_the_forms_of_to(arguments, keywords, dtype):
    model = nn.Linear(1, 1, device="cpu")
    assert model.to(*arguments, **keywords) is model
    assert model.weight.dtype is getattr(norch, dtype) and model.weight.device == "cpu"


def test_to_refuses():
    with pytest.raises(TypeError, match="int64"):
        Model().to(norch.int64)
    with pytest.raises(TypeError, match="3.5"):
        Model().to(3.5)
    for model in (Model(), nn.ReLU()):
        with pytest.raises((ValueError, RuntimeError), match="banana"):
            model.to("banana")


def test_state_dict_shares_storage_and_load_copies_into_the_same_parameters():
    first, second = Model(), Model()
    state = first.state_dict()
    assert list(state) == ["fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"]
    assert not any(tensor.requires_grad for tensor in state.values())
    before = list(second.parameters())
    result = second.load_state_dict(state)
    assert result.missing_keys == [] and result.unexpected_keys == []
    assert all(a is b for a, b in zip(before, second.parameters()))
    assert second.fc1.weight.tolist() == first.fc1.weight.tolist() and second.fc1.weight.requires_grad
    state["fc2.bias"].fill_(9.0)
    assert first.fc2.bias.tolist() == [9.0] and second.fc2.bias.tolist() != [9.0]
    assert list(first.state_dict(prefix="net.")) == ["net." + name for name in state]
    assert first.state_dict(keep_vars=True)["fc1.weight"] is first.fc1.weight


def test_load_state_dict_names_every_problem_at_once_and_copies_nothing():
    model = Model()
    before = model.fc1.weight.tolist()
    state = Model().state_dict()
    del state["fc1.bias"]
    state["extra"] = norch.zeros(1)
    state["fc2.weight"] = norch.zeros(2, 10)
    state["fc2.bias"] = [1.0]
    with pytest.raises(RuntimeError) as caught:
        model.load_state_dict(state)
    message = str(caught.value)
    for words in ("Model", '"fc1.bias"', '"extra"', "fc2.weight", "[2, 10]", "[1, 10]", "fc2.bias", "list"):
        assert words in message
    assert model.fc1.weight.tolist() == before
    with pytest.raises(TypeError, match="list"):
        model.load_state_dict([1])


def test_load_state_dict_not_strict_takes_what_is_there():
    model = Model()
    result = model.load_state_dict({"fc2.bias": norch.Tensor([4.0]), "extra": norch.zeros(1)}, strict=False)
    assert model.fc2.bias.tolist() == [4.0]
    assert result.missing_keys == ["fc1.weight", "fc1.bias", "fc2.weight"] and result.unexpected_keys == ["extra"]
    with pytest.raises(RuntimeError, match="size mismatch"):
        model.load_state_dict({"fc2.bias": norch.zeros(2)}, strict=False)


def test_a_deep_copy_is_independent_and_complete():
    model = Model()
    other = copy.deepcopy(model)
    assert type(other.fc1.weight) is nn.Parameter and other.fc1.weight.requires_grad
    assert dict(other.named_parameters())["fc1.weight"] is other.fc1.weight
    assert other.fc1.weight.tolist() == model.fc1.weight.tolist()
    with norch.no_grad():
        other.fc1.weight.fill_(0.0)
    assert model.fc1.weight.tolist() != other.fc1.weight.tolist()


@pytest.mark.parametrize("kind", [nn.Linear, nn.GRUCell, nn.Embedding, nn.RNN])
@pytest.mark.parametrize("name", ["extra_repr", "inner_repr"])
def test_a_derived_layer_prints_what_it_says_itself(kind, name):
    derived = type("Derived", (kind,), {name: lambda self: "its own, rank 4"})
    assert "its own, rank 4" in repr(derived(2, 3)) and "2" not in repr(derived(2, 3))
    assert kind(2, 3).extra_repr() == kind(2, 3).inner_repr() != ""


def test_modules_print_in_the_article_s_form():
    class MyModel(Model):
        pass

    assert repr(MyModel()) == (
        "MyModel(\n"
        "   (fc1): Linear(input_dim=1, output_dim=10, bias=True)\n"
        "   (sigmoid): Sigmoid()\n"
        "   (fc2): Linear(input_dim=10, output_dim=1, bias=True)\n"
        ")"
    )
    assert repr(nn.Linear(1, 10)) == "Linear(\n   (parameters): input_dim=1, output_dim=10, bias=True\n)"
    assert repr(nn.Linear(1, 10, bias=False)) == "Linear(\n   (parameters): input_dim=1, output_dim=10, bias=False\n)"
    assert repr(nn.Sigmoid()) == "Sigmoid(\n   (parameters): \n)"
    assert repr(nn.Sequential(nn.Sequential(nn.Softmax(dim=1)), nn.ReLU())) == (
        "Sequential(\n   (0): Sequential(\n      (0): Softmax(dim=1)\n   )\n   (1): ReLU()\n)"
    )


# ---- What the package offers ----------------------------------------------------------------------------------------


def files_of(package):
    """The files of a package, imported."""
    stems = sorted(path.stem for path in Path(package.__file__).parent.glob("[a-z]*.py"))
    return [importlib.import_module(f"{package.__name__}.{stem}") for stem in stems]


def test_every_layer_is_listed_once_and_offered():
    files = [nn.activation, nn.loss, *files_of(nn.modules)]
    layers = [
        value for file in files for value in vars(file).values() if getattr(value, "__module__", "") == file.__name__
    ]
    layers = {v.__name__ for v in layers if isinstance(v, type) and issubclass(v, nn.Module) and v.__name__[0] != "_"}
    listed = [name for file in files for name in getattr(file, "__all__", ())]  # PyTorch's paths have none
    bases = {"Recurrent", "RNNCellBase", "LazyModuleMixin"}
    assert sorted(listed) == sorted(layers - bases - {"NonDynamicallyQuantizableLinear"})
    assert set(listed) < set(nn.__all__) and len(nn.__all__) == len(set(nn.__all__))


def test_every_function_is_listed_once_and_offered():
    listed = [name for file in files_of(nn.functional) for name in getattr(file, "__all__", ())]
    assert sorted(listed) == sorted(nn.functional.__all__) and all(callable(getattr(nn.functional, n)) for n in listed)


def test_the_class_after_module_gets_the_arguments_if_the_model_asks_for_it():
    class Mixin:
        def __init__(self, *args, **kwargs):
            self.given = args, kwargs
            super().__init__()

    class Model(nn.Module, Mixin):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)

    asks = type("Asks", (Model,), {"call_super_init": True})
    assert asks(1, a=2).given == ((1,), {"a": 2}) and asks(1).training
    assert not hasattr(Model(), "given")
    for args, kwargs in (((1,), {}), ((), {"a": 2})):
        with pytest.raises(TypeError, match=r"^Model\.__init__\(\) (takes 1 positional|got an unexpected keyword)"):
            Model(*args, **kwargs)
