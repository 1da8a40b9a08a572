"""What beginners mistake gets a message that says what was meant; what they print says what it is."""

from __future__ import annotations

import sys

import pytest

import norch
from norch import distributions, nn, optim
from norch.utils.data import DataLoader, Dataset, RandomSampler, TensorDataset, default_collate

LINEAR = nn.Linear(3, 2)
X = norch.ones(4, 3)
PLAIN = type("Tensor", (), {"__module__": "torch"})  # what PyTorch's tensors are called
PAIRS = TensorDataset(X, norch.zeros(4))


class InAList(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(3, 2)]


class Plain(nn.Module):
    def forward(self, x):
        return x


class Small(nn.Conv2d):
    def __init__(self):
        super().__init__(3, 4)


# call, type of the exception, what the message says
MISTAKES = [
    (lambda: LINEAR(norch.tensor([[1, 2, 3]])), RuntimeError, r"linear: input is norch.int64.*float32; \.float\(\)"),
    (lambda: LINEAR.double()(X), RuntimeError, r"float32, the weight norch.float64; \.double\(\)"),
    (lambda: nn.Conv2d(1, 1, 1)(norch.tensor([[[[1]]]])), RuntimeError, r"got int64; \.float\(\) converts it"),
    (lambda: nn.LayerNorm(3)(norch.tensor([[1, 2, 3]])), RuntimeError, r"\.float\(\) converts it"),
    (lambda: nn.MSELoss()(norch.tensor([1]), norch.tensor([1])), RuntimeError, r"\.float\(\)"),
    (lambda: nn.MSELoss()(X, PLAIN()), TypeError, r"given a torch\.Tensor, expected a Tensor: norch\.from_dlpack"),
    (lambda: nn.MSELoss()(X, [1.0]), TypeError, r"given a list, expected a Tensor: norch\.tensor\(x\)"),
    (lambda: nn.MSELoss(X, X), TypeError, r"MSELoss\(\)\(input, target\)"),
    (lambda: nn.CrossEntropyLoss()(norch.tensor([1, 2]), X), RuntimeError, "scores come before the labels"),
    (lambda: LINEAR([[1.0, 2.0, 3.0]]), TypeError, r"a list, expected a Tensor: norch\.tensor\(x\) makes one"),
    (lambda: norch.cat([PLAIN()]), TypeError, r"torch\.Tensor"),
    (lambda: optim.SGD(LINEAR, lr=0.1), TypeError, r"a Linear, expected its parameters: model\.parameters\(\)"),
    (lambda: optim.SGD([LINEAR], lr=0.1), TypeError, r"model\.parameters\(\)"),
    (lambda: optim.Adam(LINEAR.parameters), TypeError, r"the method parameters, expected its result"),
    (lambda: optim.SGD(InAList().parameters(), lr=0.1), ValueError, "empty list.*ModuleList, not in a plain list"),
    (lambda: optim.lr_scheduler.StepLR(LINEAR, 1), TypeError, "given a Linear, expected an Optimizer"),
    (lambda: nn.Sequential([LINEAR]), TypeError, r"given a list, expected a Module: Sequential\(\*layers\)"),
    (lambda: nn.Sequential(LINEAR, nn.ReLU), TypeError, r"the class ReLU.*ReLU\(\)"),
    (lambda: nn.Sequential(LINEAR, nn.functional.relu), TypeError, r"given a function.*nn\.ReLU\(\)"),
    (lambda: nn.ModuleList([LINEAR])(X), NotImplementedError, "one by one, or make them a Sequential"),
    (lambda: X.to("float64"), RuntimeError, r"the dtype is norch\.float64"),
    (lambda: nn.Linear(1, 1).to("float64"), RuntimeError, r"the dtype is norch\.float64"),
    (lambda: X.to("gpu"), RuntimeError, 'a GPU is "cuda"'),
    (lambda: norch.ones(2, dtype="float32"), TypeError, r"write norch\.float32"),
    (lambda: DataLoader(3), TypeError, r"DataLoader: an? int has no len\(\), expected a Dataset"),
    (lambda: DataLoader(Dataset()), TypeError, r"a Dataset has no len\(\)"),
    (lambda: TensorDataset([1, 2]), TypeError, r"TensorDataset was given a list.*norch\.tensor"),
    (lambda: nn.MSELoss()(norch.tensor([1]), norch.tensor([1])), RuntimeError, "mse_loss: input has dtype norch.int64"),
    (lambda: nn.MSELoss()(None, X), TypeError, r"given None.*does forward\(\) return"),
    (lambda: LINEAR(nn.LSTM(3, 3)(X)), TypeError, r"a tuple, expected a Tensor.*output, state = lstm\(x\)"),
    (lambda: LINEAR([X, X]), TypeError, r"a list of Tensors.*x\[0\], or norch\.stack\(x\)"),
    (lambda: nn.ReLU(X), TypeError, r": ReLU\(\) first, then call it"),
    (lambda: X.sum().backward(), RuntimeError, r"compute it from parameters, not under no_grad\(\)"),
    (lambda: norch.tensor(1, 2, 3), TypeError, r"several numbers go into one list"),
    (lambda: X.unsqueeze(), TypeError, r"^(Tensor\.)?unsqueeze\(\) missing"),
    (lambda: X.transpose(0), TypeError, r"^(Tensor\.)?transpose\(\) missing"),
    (lambda: optim.SGD(LINEAR.weight, lr=0.1), TypeError, r"given a Parameter: \[x\] is one"),
    (lambda: optim.SGD([X], lr="0.1"), TypeError, r"lr is '0.1' \(str\), expected a number"),
    (lambda: optim.Adam([X], betas=0.9), TypeError, "betas: 0.9, expected two"),
    (lambda: nn.utils.clip_grad_norm_(LINEAR, 1.0), TypeError, r"expected its parameters: model\.parameters\(\)"),
    (lambda: nn.Conv2d(3, 4), TypeError, r"^Conv2d\.__init__\(\) missing 1 required"),
    (lambda: nn.MaxPool2d(2, size=3), TypeError, r"^MaxPool2d.*'size'; it takes kernel_size, stride"),
    (lambda: nn.MaxPool2d(2, ceil_mode="no"), TypeError, "^MaxPool2d: ceil_mode: expected True or False"),
    (lambda: Plain(X), TypeError, r"^Plain\.__init__\(\) takes 1 positional"),
    (lambda: Small(), TypeError, r"^Conv2d\.__init__\(\) missing 1"),
    (lambda: norch.distributions.Normal(1.0), TypeError, r"^Normal\.__init__\(\) missing 1"),
    (lambda: nn.Linear(3), TypeError, "expected output_dim or out_features, two names of one size; got neither"),
    (lambda: nn.ReLU(X), TypeError, "expected True or False, got a Tensor"),
    (lambda: nn.Embedding(10, 3)(norch.tensor([10])), IndexError, r"embedding: .*the table has the rows 0 to 9"),
    (lambda: nn.CrossEntropyLoss()(X, X.long()), RuntimeError, r"probabilities \(target\.float\(\)\) or.*\[4\]"),
    (lambda: LINEAR.load_state_dict(3), TypeError, "given an int, expected a dict of tensors"),
    (lambda: LINEAR.load_state_dict({"w": X}), RuntimeError, '(?s)Missing.*"weight", "bias".*Unexpected.*"w"'),
    (lambda: norch.utils.save_checkpoint("x", x=X.sum), TypeError, "got at x a method"),
    (lambda: nn.ModuleDict([LINEAR]), TypeError, "given a list, expected a dict, or pairs"),
    (lambda: optim.SGD(LINEAR.state_dict(), lr=0.1), TypeError, r"as state_dict\(\) returns; expected model\.param"),
    (lambda: rates().step(X), TypeError, r"expected nothing: loss\.backward\(\) first"),
    (lambda: optim.lr_scheduler.LambdaLR(rates(), 0.5), TypeError, "lr_lambda is 0.5, expected a function"),
    (lambda: f"{X:.2f}", TypeError, r"'\.2f' is for one number, got a tensor of shape \[4, 3\]"),
    (lambda: norch.tensor([X, X]), ValueError, r"stack\(\) joins tensors"),
    (lambda: norch.manual_seed("a"), TypeError, "manual_seed: expected an integer, got 'a'"),
    (lambda: norch.ones(2, dtype=type("float32", (), {})), TypeError, r"write norch\.float32"),
    (lambda: LINEAR.load_state_dict({1: X}), TypeError, "the key 1 is an int, expected names of tensors"),
    (lambda: rates().load_state_dict(LINEAR.state_dict()), KeyError, r"state: .*given \['weight', 'bias'\]"),
    (lambda: default_collate([{"a": 1}, {"b": 2}]), KeyError, r"keys \['a'\] and \['b'\], expected the same"),
    (lambda: optim.lr_scheduler.MultiStepLR(rates(), 5), TypeError, "milestones is 5, expected a list of epochs"),
    (lambda: distributions.Categorical([0.5, 0.5]), TypeError, "Categorical: expected a Tensor, got list"),
    (lambda: distributions.Multinomial(3, [0.5, 0.5]), TypeError, "expected a Tensor, got list"),
    (lambda: distributions.Normal(0.0, 1.0).sample(3), TypeError, "sample: expected a sequence of integers, got 3"),
    (lambda: distributions.Categorical(X).sample(3), TypeError, "sample: expected a sequence of integers, got 3"),
    (lambda: distributions.TransformedDistribution(None, None), ValueError, "list of Transforms, got None"),
    (lambda: nn.functional.pad(X, 1), TypeError, "pad: expected a sequence of integers, got 1"),
    (lambda: nn.functional.one_hot(X.long(), "3"), TypeError, "one_hot: num_classes: expected integers, got"),
    (lambda: nn.functional.pad(X, ""), TypeError, "pad: expected a sequence of integers, got ''"),
    (lambda: nn.ConvTranspose1d(4, 1, 3)(X, output_size=5), TypeError, "output_size: expected a sequence of integers"),
    (lambda: X.max(axis=0, other=X), TypeError, "max: expected a dimension or another tensor, got both"),
    (lambda: X.min(X, axis=0), TypeError, "min: expected a dimension or another tensor, got both"),
]


@pytest.mark.parametrize("place", range(len(MISTAKES)))
def test_a_mistake_is_named(place):
    call, kind, message = MISTAKES[place]
    with pytest.raises(kind, match=message):
        call()
    LINEAR.float()


WARNINGS = [
    lambda: nn.MSELoss()(X, norch.zeros(3)),
    lambda: nn.L1Loss()(X, norch.zeros(3)),
    lambda: nn.CrossEntropyLoss(size_average=True),
    lambda: nn.functional.softmax(X),
    lambda: nn.Softmax()(X),
    lambda: nn.LSTM(2, 2, dropout=0.5),
    lambda: norch.add(X, 1, out=norch.ones(3)),
    lambda: norch.ones(2)[norch.ones(2).byte()],
    lambda: optim.SGD([X, X], lr=0.1),
    lambda: nn.Sequential(nn.Softmax())(X),
]


@pytest.mark.parametrize("place", range(len(WARNINGS)))
def test_a_warning_names_the_line_that_caused_it(place):
    with pytest.warns(UserWarning) as caught:
        WARNINGS[place]()
    assert [warning.filename for warning in caught] == [__file__]


def test_a_file_of_text_is_named(tmp_path):
    (tmp_path / "notes.pt").write_text("These are my notes.")
    with pytest.raises(ValueError, match="it begins with 'These ar', as no file of weights does"):
        norch.load(tmp_path / "notes.pt")
    (tmp_path / "empty.pt").touch()
    with pytest.raises(ValueError, match="it is empty"):
        norch.load(tmp_path / "empty.pt")
    with pytest.raises(FileNotFoundError, match=r"no such folder to write to; os\.makedirs makes one: .*missing'"):
        norch.save({"x": X}, tmp_path / "missing" / "x.pt")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="notes on exceptions came with Python 3.11")
def test_an_error_in_a_sequential_names_the_layer():
    model = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.ReLU(), nn.Linear(5, 1)))
    with pytest.raises(ValueError) as caught:
        model(X)
    assert caught.value.__notes__ == [
        "in Sequential, layer (1): Linear(input_dim=5, output_dim=1, bias=True)",
        f"in Sequential, layer (1): {model[1]}",
    ]


def rates():
    return optim.SGD(nn.Linear(1, 1).parameters(), lr=0.5)


REPRS = [
    (nn.MSELoss(), "MSELoss(reduction='mean')"),
    (nn.HuberLoss(delta=2.0), "HuberLoss(reduction='mean', delta=2.0)"),
    (nn.NLLLoss(), "NLLLoss(reduction='mean', ignore_index=-100)"),
    (nn.Sequential(nn.L1Loss()), "Sequential(\n   (0): L1Loss(reduction='mean')\n)"),
    (PAIRS, "TensorDataset(length=4)"),
    (Dataset(), "Dataset()"),
    (RandomSampler(PAIRS), "RandomSampler(length=4)"),
    (
        DataLoader(PAIRS, batch_size=3, shuffle=True),
        "DataLoader(TensorDataset(length=4), batch_size=3, shuffle=True, batches=2)",
    ),
    (DataLoader([1, 2]), "DataLoader(list, batch_size=1, shuffle=False, batches=2)"),
    (
        optim.lr_scheduler.StepLR(rates(), 3),
        "StepLR(step_size=3, gamma=0.1, base_lrs=[0.5], last_epoch=0, lr=[0.5])",
    ),
    (norch.Generator().manual_seed(3), "Generator(device='cpu', seed=3)"),
    (norch.amp.GradScaler("cpu"), "GradScaler(scale=65536.0, enabled=True)"),
]


@pytest.mark.parametrize("place", range(len(REPRS)))
def test_a_repr_says_what_it_is(place):
    value, text = REPRS[place]
    assert repr(value) == text
