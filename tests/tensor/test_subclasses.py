"""Classes that programs derive from Tensor and Parameter."""

from __future__ import annotations

import copy
import pickle

import pytest

import norch
from norch import nn


class Image(norch.Tensor):
    """Made from any tensor, whose dtype and memory it keeps."""

    def __new__(cls, data, path=None):
        made = norch.as_tensor(data).as_subclass(cls)
        made.path = path
        return made

    def total(self):
        return self.sum().item()


class Photo(Image):
    def __new__(cls, data, path, camera):
        made = super().__new__(cls, data, path)
        made.camera = camera
        return made


class Named(norch.Tensor):
    """The usual pair of methods: `__new__` passes on what Tensor takes, `__init__` keeps the rest."""

    @staticmethod
    def __new__(cls, data, name, *args, **kwargs):
        return super().__new__(cls, data, *args, **kwargs)

    def __init__(self, data, name, *args, **kwargs):
        super().__init__()
        self.name = name


class Decaying(nn.Parameter):
    def __new__(cls, data, decay=0.9):
        made = super().__new__(cls, data, requires_grad=True)
        made.decay = decay
        return made


class Slow(Decaying):
    pass


def test_a_class_makes_its_tensors_in_new():
    x = norch.arange(3)
    image = Image(x, path="a.png")
    assert type(image) is Image and image.path == "a.png" and image.dtype is norch.int64 and image.total() == 3
    assert image.data_ptr() == x.data_ptr() and type(image + 1) is norch.Tensor
    photo = Photo([1, 2], "b.png", camera=7)
    assert type(photo) is Photo and photo.camera == 7 and photo.path == "b.png" and photo.tolist() == [1, 2]
    named = Named([[1, 2]], "n", requires_grad=True)
    assert named.tolist() == [[1.0, 2.0]] and named.name == "n" and named.requires_grad
    assert norch.Tensor([1]).tolist() == [1.0] and norch.Tensor(2).shape == (2,)


def test_parameters_of_a_class_are_found_trained_and_copied():
    layer = nn.Linear(12, 2)
    layer.scale = Slow(norch.ones(2), decay=0.5)
    assert [name for name, _ in layer.named_parameters()] == ["weight", "bias", "scale"]
    optimizer = norch.optim.SGD([layer.scale], lr=0.5)
    (layer(norch.ones(12)) * 0 + layer.scale).sum().backward()
    optimizer.step()
    assert layer.scale.tolist() == [0.5, 0.5] and layer.scale.decay == 0.5
    kept = pickle.loads(pickle.dumps(layer.scale))
    assert type(kept) is Slow and kept.decay == 0.5 and kept.tolist() == [0.5, 0.5]
    assert type(copy.deepcopy(layer).scale) is Slow and nn.Parameter([1.0]).requires_grad


def test_as_subclass_keeps_memory_and_graph():
    class Doubled(norch.Tensor):
        pass

    x = norch.ones(3, requires_grad=True)
    y = (2 * x).as_subclass(Doubled)
    assert type(y) is Doubled and y.requires_grad and type(y.as_subclass(norch.Tensor)) is norch.Tensor
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    base = norch.zeros(2, 3).T
    view = base.as_subclass(Doubled)
    view += 1
    assert base.sum() == 6 and view.stride() == base.stride() and view.is_leaf
    for wrong in (int, "Tensor", None):
        with pytest.raises(TypeError, match="derived from Tensor"):
            x.as_subclass(wrong)


def test_make_subclass_gives_a_leaf():
    x = norch.ones(2, requires_grad=True)
    for require_grad in (False, True):
        made = norch.Tensor._make_subclass(Image, 2 * x, require_grad)
        assert type(made) is Image and made.is_leaf and made.requires_grad is require_grad
    with pytest.raises(TypeError, match="expected a Tensor"):
        norch.Tensor._make_subclass(Image, [1.0])
    with pytest.raises(RuntimeError):
        norch.Tensor._make_subclass(Image, norch.arange(2), True)
