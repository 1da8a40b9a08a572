"""The parts that a tensor is split into share one node, and are views like others."""

import pytest

import norch

PARTS = {
    "unbind": lambda x: x.unbind(),
    "unbind(-1)": lambda x: x.unbind(-1),
    "iteration": list,
    "split": lambda x: x.split(2),
    "split of sizes": lambda x: x.split([1, 0, 3], 1),
    "chunk": lambda x: x.chunk(3, -1),
    "tensor_split": lambda x: x.tensor_split(3),
    "vsplit": lambda x: x.vsplit(2),
}


def all_of(parts):
    return sum(((i + 1) * part**3).sum() for i, part in enumerate(parts))


def one_of(parts):
    return (parts[0] ** 3).sum()


def rows_of(parts):  # views of the parts
    return sum((part[..., i] ** 3).sum() for part in parts for i in range(part.shape[-1]))


def written(parts):
    parts[-1].mul_(parts[0].sum())
    parts[-1][0] = parts[0].exp().sum()
    return all_of(parts)


def left_out(parts):
    return (all_of(parts) * parts[0].sum().detach() + parts[-1].sum()) * 2


def as_views(x, parts):
    return [x.as_strided(part.shape, part.stride(), part.storage_offset()) for part in parts]


@pytest.mark.parametrize("use", [all_of, one_of, rows_of, written, left_out])
@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_the_gradients_are_those_of_views(parts, use):
    def gradients(split):
        x = norch.arange(16.0, dtype=norch.float64).div(16).reshape(4, 4).requires_grad_()
        base = x * 1
        loss = use(split(base)) + (base**2).sum()  # what the base is after writes
        (first,) = norch.autograd.grad(loss, x, create_graph=True)
        (second,) = norch.autograd.grad((first**2).sum(), x)
        return first, second

    for found, expected in zip(gradients(parts), gradients(lambda x: as_views(x, parts(x)))):
        assert norch.allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_parts_that_somebody_holds_get_gradients_of_their_own(parts):
    x, given = norch.ones(4, 4, requires_grad=True), norch.ones(4, 4)
    held = parts(x)
    loss = norch.cat([part.reshape(-1) for part in held]) * 1
    loss.backward(given.reshape(-1))
    for part in held:
        assert part.grad.equal(norch.ones(part.shape))
        part.grad.zero_()
    assert given.all() and x.grad.all()


def test_hooks_see_the_whole_gradient_of_a_part():
    x = norch.ones(3, 2, requires_grad=True)
    first, second, _ = x.unbind()
    seen = []
    first.register_hook(lambda gradient: seen.append(gradient.tolist()) or gradient * 2)
    second.grad_fn.register_hook(lambda inputs, outputs: seen.append((len(inputs), [g is None for g in outputs])))
    (first + second + first[1] * first[0]).sum().backward()
    assert first.grad_fn.name() == "SplitBackward" and "grad_fn=<SplitBackward>" in str(first)
    assert seen == [[3.0, 3.0], (1, [False, False, True])]
    assert x.grad.tolist() == [[6.0, 6.0], [1.0, 1.0], [0.0, 0.0]]


def test_a_leaf_refuses_writes_through_its_parts():
    x = norch.ones(3, 2, requires_grad=True)
    for part in (*x.unbind(), *x.split(2)):
        with pytest.raises(RuntimeError, match="view of a leaf"):
            part.mul_(2)
    with norch.no_grad():
        untracked = (x * 1).unbind()
    with pytest.raises(RuntimeError, match="no_grad"):
        untracked[0].mul_(norch.ones(2, requires_grad=True))
