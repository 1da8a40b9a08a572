"""Reads and writes at places that are large enough for threads, or whose memory overlaps: beside a plain loop."""

import pytest

import norch

N = 300  # squared more than the elements that one thread works on alone


def matrix(seed):
    norch.manual_seed(seed)
    return norch.randn(N, N)


def indices(seed, *shape, least=0):
    norch.manual_seed(seed)
    return norch.randint(least, N, shape)


WRITES = {
    "scatter 0": lambda x, y: x.scatter(0, indices(2, N, N), y),
    "scatter 1": lambda x, y: x.scatter(1, indices(2, N, N), y),
    "scatter_add 0": lambda x, y: x.scatter_add(0, indices(2, N, N), y),
    "scatter_add 1": lambda x, y: x.scatter_add(1, indices(2, N, N), y),
    "amax of itself": lambda x, y: x.scatter_reduce(0, indices(2, N, N), y, "amax"),
    "mean without": lambda x, y: x.scatter_reduce(1, indices(2, N, N), y, "mean", include_self=False),
    "into a transposed": lambda x, y: x.clone().T.scatter_(0, indices(2, N, N), y),
    "index_add": lambda x, y: x.index_add(0, indices(3, N), y),
    "index_add 1": lambda x, y: x.index_add(1, indices(3, N), y),
    "index_reduce": lambda x, y: x.index_reduce(1, indices(3, N), y, "prod"),
    "index_put": lambda x, y: x.index_put((indices(3, N), indices(4, N, least=-N)), y[0], accumulate=True),
    "put": lambda x, y: x.put(indices(5, N, N, least=-N) * N, y),
    "masked_scatter": lambda x, y: x.T.masked_scatter(y > 0, y),
    "masks": lambda x, y: x[y > 0],
    "masks of a transposed": lambda x, y: x.T[(y > 0).T],
    "a mask of rows": lambda x, y: x[y[0] > 0],
    "nonzero": lambda x, y: (y > 0).T.nonzero(),
    "gather 0": lambda x, y: x.gather(0, indices(2, N, N)),
    "gather 1": lambda x, y: x.T.gather(1, indices(2, N, N)),
    "take": lambda x, y: x.T.take(indices(5, N, N, least=-N)),
    "index_select": lambda x, y: x.index_select(1, indices(3, 2 * N)),
    "rows": lambda x, y: x[indices(3, N, 2, least=-N)],
}


@pytest.mark.parametrize("name", WRITES)
def test_threads_change_nothing(name):
    """One thread reads and writes in row order; several must give the same bits."""
    x, y, threads = matrix(0), matrix(1), norch.get_num_threads()
    try:
        norch.set_num_threads(1)
        expected = WRITES[name](x, y)
        norch.set_num_threads(3)
        assert norch.equal(WRITES[name](x, y), expected)
    finally:
        norch.set_num_threads(threads)


def test_large_results_are_those_of_a_loop():
    x, index, y = matrix(0), indices(2, N, N), matrix(1)
    expected, sums, rows = x.tolist(), x.tolist(), index.tolist()
    for i in range(N):
        for j in range(N):
            expected[i][rows[i][j]] = y[i, j].item()
            sums[rows[i][j]][j] = 1.0
    assert x.scatter(1, index, y).tolist() == expected
    assert x.scatter(0, index, 1.0).tolist() == sums
    picked = [[row[k] for k in at] for row, at in zip(x.tolist(), rows)]
    assert x.gather(1, index).tolist() == picked
    mask = y > 0
    chosen = [value for row, keep in zip(x.tolist(), mask.tolist()) for value, kept in zip(row, keep) if kept]
    assert x[mask].tolist() == x.masked_select(mask).tolist() == chosen
    assert x.masked_scatter(mask, y)[mask].tolist() == y.reshape(-1)[: len(chosen)].tolist()


@pytest.mark.parametrize("write", ["scatter_", "scatter_add_", "index_add_", "index_copy_", "put_"])
def test_an_index_out_of_range_in_a_large_write_leaves_everything(write):
    x, before, bad = matrix(0), matrix(0), indices(2, N, N)
    bad[N - 1, N - 1] = N * N
    with pytest.raises((IndexError, RuntimeError), match=f"index {N * N} is out of range"):
        if write == "put_":
            x.put_(bad, before)
        else:
            getattr(x, write)(0, bad if "scatter" in write else bad[N - 1], before + 1)
    assert norch.equal(x, before)


def test_places_that_share_memory_are_written_one_after_another():
    """Rows that overlap: the last write wins, on any number of threads."""
    base = norch.zeros(2 * N)
    windows = base.as_strided((N, N), (1, 1))
    windows.scatter_(1, norch.arange(N).expand(N, N), norch.arange(N).unsqueeze(1).expand(N, N).float())
    assert base[: 2 * N - 1].tolist() == [float(min(i, N - 1)) for i in range(2 * N - 1)]


def test_index_and_target_may_be_the_same_tensor():
    x = norch.tensor([2, 0, 1])
    x.scatter_(0, x, norch.tensor([5, 6, 7]))
    assert x.tolist() == [6, 7, 5]
    x = norch.tensor([2, 0, 1])
    x[x] = norch.tensor([5, 6, 7])
    assert x.tolist() == [6, 7, 5]
    x = norch.tensor([2, 0, 1])
    x.put_(x, x)
    assert x.tolist() == [0, 1, 2]


def test_a_mask_may_change_after_it_was_used(device):
    x = norch.ones(2, 2, device=device, requires_grad=True)
    mask = norch.tensor([[True, False], [False, True]], device=device)
    y, z = x[mask], x * 1
    z[mask] = norch.zeros(2, device=device)
    mask.fill_(True)
    (y.sum() + 3 * z.sum()).backward()
    assert x.grad.tolist() == [[1, 3], [3, 1]]


@pytest.mark.parametrize("kind", ["amax", "mean", "prod"])
def test_many_places_combine_on_every_device(device, kind):
    x, y, index = matrix(0)[:3, :80], matrix(1)[:3, :200], indices(2, 3, 200) % 80
    expected = x.scatter_reduce(1, index, y, kind, include_self=False)
    found = x.to(device).scatter_reduce(1, index.to(device), y.to(device), kind, include_self=False)
    assert norch.allclose(found.cpu(), expected, rtol=1e-5)
    rows = x.index_reduce(1, index[0] % 7, y, kind)
    assert norch.allclose(
        x.to(device).index_reduce(1, index[0].to(device) % 7, y.to(device), kind).cpu(), rows, rtol=1e-5
    )


@pytest.mark.parametrize("diagonal", [-(2**63), -5, -1, 0, 1, 2, 5, 2**63 - 1])
@pytest.mark.parametrize("name", ["tril", "triu"])
def test_triangles(device, name, diagonal):
    x = norch.arange(24, device=device).reshape(2, 3, 4) + 1
    keeps = (lambda i, j: j - i <= diagonal) if name == "tril" else (lambda i, j: j - i >= diagonal)
    for source in (x, x.transpose(1, 2), x.transpose(0, 2), x[:, :, ::2], x.double(), x.to(norch.uint8)):
        wanted = [
            [[v if keeps(i, j) else 0 for j, v in enumerate(row)] for i, row in enumerate(rows)]
            for rows in source.tolist()
        ]
        assert getattr(source, name)(diagonal).tolist() == wanted
        changed = source.clone().transpose(0, 1).clone().transpose(0, 1)  # in other strides
        assert getattr(changed, name + "_")(diagonal).tolist() == wanted == changed.tolist()


def test_a_mask_larger_than_the_tensor_gives_gradients_to_both():
    x, y = norch.tensor([1.0, 2.0, 3.0], requires_grad=True), norch.tensor([5.0, 6.0, 7.0, 8.0], requires_grad=True)
    mask = norch.tensor([[True, False, True], [False, False, True]])
    result = x.masked_scatter(mask, y)
    assert result.tolist() == [[5, 2, 6], [1, 2, 7]]
    (result * norch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).sum().backward()
    assert x.grad.tolist() == [4, 7, 0] and y.grad.tolist() == [1, 3, 6, 0]
