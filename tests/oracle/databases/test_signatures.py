"""The parameters of what norch and torch both have: their names, order and defaults."""

from __future__ import annotations

import signatures

SPLITS = "hsplit vsplit dsplit tensor_split Tensor.hsplit Tensor.vsplit Tensor.dsplit Tensor.tensor_split"
# What differs, with the reason; each name differs in what its row says.
DIFFERENCES = {
    SPLITS: "the parameter is documented as indices_or_sections, which torch takes by position alone",
    "cholesky_solve orgqr ormqr Tensor.cholesky_solve Tensor.orgqr Tensor.ormqr Tensor.copy_": (
        "the names are those of torch's documentation (L, tau, other, src), which torch itself refuses"
    ),
    "linalg.cholesky linalg.cholesky_ex linalg.cond linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh "
    "linalg.householder_product linalg.matrix_exp linalg.matrix_norm linalg.matrix_power linalg.matrix_rank "
    "linalg.norm linalg.pinv linalg.solve_triangular linalg.tensorinv linalg.tensorsolve linalg.vector_norm": (
        "the tensors are A, B or x as in torch's documentation; torch itself takes input, and refuses those"
    ),
    "special.airy_ai special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1 special.spherical_bessel_j0": (
        "input as in every other function of one tensor; torch says x"
    ),
    "result_type split Tensor.resize_ Tensor.sum_to_size": "overloads: the tensors or sizes are given by position",
    "norm": "out= is given by name, as torch's documentation has them",
    "rrelu rrelu_ nn.functional.rrelu_": "draws from norch's one generator",
    "nn.functional.elu_": "scale and input_scale are those of selu, which has a function of its own",
    "Generator": "seed is a parameter in TorchScript alone",
    "save": "Python's protocol 4, which Python 3.4 and later read",
    "Tensor.expand Tensor.to_dense Tensor.to_sparse": "what torch keeps for its tracer and compressed layouts",
    "cuda.Event": "events of other processes",
    "nn.RMSNorm.forward": "input as in every other layer; torch says x",
    "optim.SGD": "the article's default rate",
}


def test_signatures_agree_but_for_the_table():
    found = signatures.differences()
    explained = {name for names in DIFFERENCES for name in names.split()}
    assert found.keys() - explained == set(), {name: found[name] for name in found.keys() - explained}
    assert explained - found.keys() == set()  # a row goes when its names agree
