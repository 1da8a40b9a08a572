"""Calls on tensors that PyTorch refuses, each a line that runs with either library (test_oracle_errors.py)."""

TENSOR_CALLS = """
x.dist(x, None)
x.slice_scatter(x[:1], 0, 0, 2, True)
lib.slice_copy(x, 0, 0, 2, True)
x.round_(decimals=2**63)
# ---- indexing
x[2]
x[-3]
x[0, 3]
x[0, 0, 0]
x[:, 5]
x["a"]
x[1.5]
x[0.0, 0]
x[lib.tensor([7])]
x[lib.tensor([-3])]
x[lib.tensor([0, 1]), lib.tensor([0, 1, 2])]
x[lib.tensor([True])]
x[lib.tensor([True, False, True])]
x[lib.tensor([[True, False], [True, False]])]
x[lib.tensor([0.5])]
x[[0, 5]]
x[[0, "a"]]
x[::-1]
x[::0]
x["a":]
x[0.5:]
x[None, 0, 0, 0]
x[object()]
x[{}]
x[2] = 1
x[0, 3] = 1
x[lib.tensor([7])] = 1
x[lib.tensor([0.5])] = 1
x[0] = lib.ones(4)
x[0] = "a"
x[0] = None
x[0] = [1, "a"]
x[lib.tensor([0, 1])] = lib.ones(3, 3)
x[lib.tensor([True, False])] = lib.ones(4)
x[lib.tensor([True, False, True])] = 1
x["a"] = 1
x[::-1] = 1
del x[0]
lib.tensor(1.5)[0, 0]
lib.tensor(1.5)[lib.tensor([0, 0]), 0]
lib.tensor(1.5)[1]
lib.ones(0)[0]
x.select(0, 2)
x.select(2, 0)
x.select(0, "a")
x.select("a", 0)
x.select(0)
lib.tensor(1.5).select(0, 0)
x.narrow(0, 1, 5)
x.narrow(0, 0, -1)
x.narrow(0, 3, 0)
x.narrow(2, 0, 1)
x.narrow(0, -3, 1)
x.narrow(0, "a", 1)
lib.tensor(1.5).narrow(0, 0, 1)
x.narrow_copy(0, 1, 5)
x.narrow_copy(3, 0, 1)
x.index_select(0, lib.tensor([7]))
x.index_select(0, lib.tensor([-1]))
x.index_select(2, n)
x.index_select(0, lib.tensor([[0]]))
x.index_select(0, lib.tensor([0.5]))
x.index_select(0, [0])
x.index_select(0, 0)
x.take(lib.tensor([7]))
x.take(lib.tensor([0.5]))
x.take([0])
x.take(0)
x.take_along_dim(lib.tensor([[0.5]]), 0)
x.take_along_dim(n, 0)
x.masked_select(x)
x.masked_select(lib.tensor([True, False]))
x.masked_select([True])
x.masked_fill(x, 0.0)
x.masked_fill(lib.tensor([True, False]), 0.0)
x.masked_fill(x > 0, "a")
x.masked_fill(x > 0, lib.ones(2))
x.masked_fill(True, 0.0)
x.masked_fill_(lib.tensor([[True, False]]), 0.0)
x.masked_scatter(x > 0, lib.ones(2))
x.masked_scatter(x, lib.ones(6))
x.masked_scatter(x > 0, d)
x.index_put_((lib.tensor([7]),), lib.tensor(1.0))
x.index_put_((n,), d)
x.index_put_(n, x)
x.index_put_((n, n, n), x)
x.index_put((n,), lib.ones(5))
x.nonzero(as_tuple=1, b=2)
x.where(x, x)
x.where(x > 0, "a")
lib.where(x, x, x)
lib.where(x > 0, lib.ones(4), x)
lib.where(x > 0, x)
lib.where(True, x, x)
lib.where([True], x, x)
x.bincount()
lib.tensor([-1]).bincount()
lib.tensor([[1]]).bincount()
n.bincount(lib.ones(3))
n.bincount(minlength=-1)

# ---- gather and scatter
x.gather(0, lib.tensor([[7]]))
x.gather(0, lib.tensor([[-1]]))
x.gather(0, lib.tensor([0]))
x.gather(2, lib.tensor([[0]]))
x.gather(0, x)
x.gather(0, [[0]])
x.gather("a", lib.tensor([[0]]))
x.gather(1, lib.zeros(5, 1, dtype=lib.int64))
lib.gather(x, 0)
x.scatter(0, lib.tensor([[7]]), 1.0)
x.scatter(0, lib.tensor([[-1]]), 1.0)
x.scatter(0, lib.tensor([[0]]), "a")
x.scatter(0, lib.tensor([0]), 1.0)
x.scatter(0, x, 1.0)
x.scatter(2, lib.tensor([[0]]), 1.0)
x.scatter(0, lib.tensor([[0]]), d)
x.scatter(0, lib.tensor([[0, 0]]), lib.ones(1, 1))
x.scatter(0, lib.tensor([[0]]), lib.ones(1))
x.scatter(1, lib.zeros(5, 1, dtype=lib.int64), lib.ones(5, 1))
x.scatter_(0, lib.tensor([[7]]), 1.0)
x.scatter_(0, lib.tensor([[7]]), lib.ones(1, 1))
x.scatter(0, lib.tensor([[0]]), lib.ones(1, 1), reduce="mean")
x.scatter(0, lib.tensor([[0]]), lib.ones(1, 1), reduce="a")
x.scatter_add(0, lib.tensor([[7]]), lib.ones(1, 1))
x.scatter_add(0, lib.tensor([[0]]), d)
x.scatter_add(0, lib.tensor([[0]]), 1.0)
x.scatter_add(0, x, x)
x.scatter_add(0, lib.tensor([[0, 0]]), lib.ones(1, 1))
x.scatter_reduce(0, lib.tensor([[7]]), lib.ones(1, 1), "sum")
x.scatter_reduce(0, lib.tensor([[0]]), lib.ones(1, 1), "a")
x.scatter_reduce(0, lib.tensor([[0]]), d, "sum")
x.scatter_reduce(0, lib.tensor([[0]]), lib.ones(1, 1))
x.index_add(0, lib.tensor([7]), lib.ones(1, 3))
x.index_add(0, lib.tensor([-1]), lib.ones(1, 3))
x.index_add(0, n, d)
x.index_add(0, n, lib.ones(3, 3))
x.index_add(0, lib.tensor([0.5]), lib.ones(1, 3))
x.index_add(3, n, x)
x.index_add(0, [0], lib.ones(1, 3))
x.index_copy(0, lib.tensor([7]), lib.ones(1, 3))
x.index_copy(0, n, d)
x.index_copy(0, n, lib.ones(3, 3))
x.index_copy(3, n, x)
x.index_fill(0, lib.tensor([7]), 1.0)
x.index_fill(0, lib.tensor([0.5]), 1.0)
x.index_fill(3, n, 1.0)
x.index_fill(0, n, "a")
x.index_fill(0, n, lib.ones(2))
x.index_reduce(0, lib.tensor([7]), lib.ones(1, 3), "mean")
x.index_reduce(0, n, x, "sum")
x.put_(lib.tensor([7]), lib.tensor([1.0]))
x.put_(n, lib.ones(3))
x.put_(n, d)
x.put_(lib.tensor([0.5]), lib.tensor([1.0]))
x.select_scatter(lib.ones(4), 0, 0)
x.select_scatter(lib.ones(3), 0, 5)
x.slice_scatter(lib.ones(1, 3), 0, 0, 2)
x.slice_scatter(x, 3)
x.diagonal_scatter(lib.ones(5))

# ---- binary operations
x + lib.ones(4)
x - lib.ones(2, 2)
x * lib.ones(3, 3)
x / lib.ones(4)
x ** lib.ones(4)
x == lib.ones(4)
x < lib.ones(4)
x + "a"
x + None
x + [1]
"a" + x
x - b
b - b
-b
~x
x & x
x | 1.5
x << 1
x % "a"
x // "a"
n / "a"
x @ "a"
x @ 1
x < "a"
x > None
x += lib.ones(4)
x += lib.ones(2, 2, 3)
n += 1.5
n += x
n *= 0.5
n /= 2
b += 1.5
b += 1
n //= lib.tensor([0, 1])
n // 0
n % 0
n.fmod(0)
n.add_(x)
n.copy_("a")
x.copy_(lib.ones(4))
x.add("a")
x.add(x, alpha="a")
n.add(n, alpha=1.5)
x.add()
x.add(1, 2, 3)
x.sub(b)
x.mul()
x.mul(None)
x.div(x, rounding_mode="a")
x.pow("a")
n.pow(-1)
n ** -1
lib.pow(2, "a")
x.atan2(1.0)
x.maximum(1.0)
x.maximum(lib.ones(4))
x.lerp(d, 0.5)
x.lerp(x, d)
x.lerp(lib.ones(4), 0.5)
n.lerp(n, 0.5)
x.addcmul(lib.ones(4), x)
x.addcmul(x)
x.addcdiv(x, lib.ones(4))
n.addcdiv(n, n)
x.clamp()
x.clamp("a")
x.clamp(lib.ones(4))
x.clamp(0, lib.ones(3))
x.allclose(lib.ones(4))
x.allclose(d)
x.allclose(1.0)
x.isclose(d)
x.isclose(x, rtol=-1)
x.isclose(x, atol=-1)
x.isclose(x, rtol=float("nan"))
x.allclose(x, atol=float("nan"))
x.allclose(x, rtol=-1.0)
lib.isclose(n, n, atol=-1)
x.equal(1)
x.logical_and(1)
x.bitwise_and(x)
x.bitwise_not()
x.gcd(x)
x.fmod("a")
x.remainder()
x.heaviside(d)
x.ldexp("a")
x.cross(lib.ones(2, 4))
lib.cross(lib.ones(2, 2), lib.ones(2, 2), dim=1)
x.float_power("a")

# ---- products
x @ x
x @ lib.ones(4)
lib.ones(2) @ lib.ones(3)
x @ lib.ones(3, 2).double()
x @ s
s @ x
b @ b
x.mm(x)
x.mm(lib.ones(3))
x.mm(lib.ones(3, 2).double())
x.mm(1)
x.matmul(1)
x.matmul("a")
x.bmm(x)
x.bmm("a")
x.bmm(1)
lib.ones(2, 2, 3).bmm(lib.ones(3, 3, 2))
lib.ones(2, 2, 3).bmm(lib.ones(2, 2, 3))
lib.ones(2, 2, 3).bmm(lib.ones(2, 3, 2).double())
x.dot(x)
lib.ones(2).dot(lib.ones(3))
lib.ones(2).dot(lib.ones(2).double())
lib.ones(2).dot(3)
lib.ones(2).dot("a")
x.mv(lib.ones(2))
x.mv(x)
x.mv(3)
x.mv(lib.ones(3).double())
x.outer(x)
x.outer(1)
lib.ones(2).outer(x)
lib.ones(2).ger(1)
x.addmm(x, x)
x.addmm(x, lib.ones(3, 4))
x.addmm(x, lib.ones(3, 3).double())
x.addmm(1, x)
x.addmv(x, lib.ones(4))
x.addbmm(x, x)
x.baddbmm(x, x)
x.addr(lib.ones(3), lib.ones(3))
x.inner(lib.ones(4))
x.vdot(x)
lib.kron(x, 1)
lib.einsum("ij,jk->ik", x, x)
lib.einsum("ij", x, x)
lib.einsum("ijk", x)
lib.einsum("i?", x)
lib.einsum("ij->ii", x)
lib.einsum("ij->k", x)
lib.einsum(1, x)
lib.tensordot(x, x, dims=1)
lib.tensordot(x, x, dims=([0], [1, 0]))
lib.tensordot(x, x, dims=-1)
lib.linalg.multi_dot([x])
lib.linalg.multi_dot([x, x])
lib.chain_matmul()
x.matrix_power(2)
lib.linalg.inv(x)
lib.linalg.inv(lib.zeros(2, 2))
lib.linalg.det(x)
lib.linalg.solve(lib.zeros(2, 2), lib.ones(2))
lib.linalg.solve(x, x)
lib.linalg.cholesky(x)
lib.linalg.cholesky(-lib.eye(2))
lib.linalg.qr(lib.ones(2))
lib.linalg.svd(lib.ones(2))
lib.linalg.eigh(x)
lib.linalg.inv(n)
lib.linalg.norm(n)
lib.linalg.norm(x, "a")
lib.linalg.norm(x, ord=2, dim=5)
lib.linalg.vector_norm(n)
lib.linalg.matrix_norm(lib.ones(2))
lib.linalg.matrix_norm(x, "a")
lib.cdist(lib.ones(2), lib.ones(2))
lib.cdist(x, lib.ones(2, 4))
"""
