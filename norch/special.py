"""Special functions, as torch.special: of the gamma, error and Bessel families, orthogonal polynomials.

All work element by element on tensors of any shape; integers and bool become float32. The formulas: csrc/ops/special.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable

from .autograd.derivatives import special as derivatives
from .autograd.node import Node
from .functions import elementary, of_methods
from .functions.out import into
from .operation import check_operand, check_tensor, computed
from .tensor import Tensor
from .types import Operand

# ---- Of one tensor ----------------------------------------------------------------------------------------------


# name: (class of its derivative, what it is, an example)
_ONE: dict[str, tuple[type[Node] | None, str, str]] = {
    "erfcx": (
        derivatives.ErfcxBackward,
        "exp(x^2) erfc(x), which exists where erfc(x) is 0",
        "[1.0, 30.0] -> [0.4276, 0.0188]",
    ),
    "ndtr": (
        derivatives.NdtrBackward,
        "The area under the normal distribution left of x",
        "[0.0, 1.0] -> [0.5000, 0.8413]",
    ),
    "log_ndtr": (
        derivatives.LogNdtrBackward,
        "log(ndtr(x)), also where ndtr(x) is 0",
        "[0.0, -20.0] -> [  -0.6931, -203.9172]",
    ),
    "ndtri": (derivatives.NdtriBackward, "The number whose ndtr is x", "[0.5, 0.975] -> [0.0000, 1.9600]"),
    "i0e": (
        derivatives.I0eBackward,
        "exp(-|x|) I0(x): the modified Bessel function of order 0, scaled",
        "[0.0, 1.0] -> [1.0000, 0.4658]",
    ),
    "i1": (
        derivatives.I1Backward,
        "I1(x), the modified Bessel function of the first kind and order 1",
        "[0.0, 1.0] -> [0.0000, 0.5652]",
    ),
    "i1e": (
        derivatives.I1eBackward,
        "exp(-|x|) I1(x): the modified Bessel function of order 1, scaled",
        "[0.0, 1.0] -> [0.0000, 0.2079]",
    ),
    "bessel_j0": (None, "J0(x), the Bessel function of the first kind and order 0", "[0.0, 1.0] -> [1.0000, 0.7652]"),
    "bessel_j1": (None, "J1(x), the Bessel function of the first kind and order 1", "[0.0, 1.0] -> [0.0000, 0.4401]"),
    "bessel_y0": (None, "Y0(x), the Bessel function of the second kind and order 0", "[1.0, 2.0] -> [0.0883, 0.5104]"),
    "bessel_y1": (
        None,
        "Y1(x), the Bessel function of the second kind and order 1",
        "[1.0, 2.0] -> [-0.7812, -0.1070]",
    ),
    "modified_bessel_k0": (
        None,
        "K0(x), the modified Bessel function of the second kind and order 0",
        "[1.0, 2.0] -> [0.4210, 0.1139]",
    ),
    "modified_bessel_k1": (
        None,
        "K1(x), the modified Bessel function of the second kind and order 1",
        "[1.0, 2.0] -> [0.6019, 0.1399]",
    ),
    "scaled_modified_bessel_k0": (
        None,
        "exp(x) K0(x), which exists where K0(x) is 0",
        "[1.0, 2.0] -> [1.1445, 0.8416]",
    ),
    "scaled_modified_bessel_k1": (
        None,
        "exp(x) K1(x), which exists where K1(x) is 0",
        "[1.0, 2.0] -> [1.6362, 1.0335]",
    ),
    "spherical_bessel_j0": (
        None,
        "sin(x) / x, 1 at 0: the spherical Bessel function of order 0",
        "[0.0, 1.0] -> [1.0000, 0.8415]",
    ),
    "airy_ai": (None, "Airy's function Ai(x)", "[0.0, 1.0] -> [0.3550, 0.1353]"),
}


def _of_one(name: str) -> Callable[..., Tensor]:
    """A function of a row of SPECIAL_OPS in csrc/ops/operations.h."""
    backward, doc, example = _ONE[name]

    def function(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        return into(out, computed(name, backward, check_tensor(input, name)), name)

    operand, result = example.split(" -> ")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{doc}.

    Element by element, in the shape of x; integers and bool become float32.{"" if backward else " No gradient."}

    >>> norch.special.{name}(norch.tensor({operand}))
    tensor({result})
    """
    return function


def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-x log(x), 0 at 0 and minus infinity below: an element's part of an entropy.

    Element by element, in the shape of x; integers and bool become float32.

    >>> norch.special.entr(norch.tensor([0.0, 0.5, 1.0]))
    tensor([0.0000, 0.3466, 0.0000])
    """
    return into(out, computed("entr", derivatives.EntrBackward, check_tensor(input, "entr")), "entr")


# ---- Of two tensors, one of which may be a number ---------------------------------------------------------------


def zeta(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Hurwitz's zeta function: the sum of (other + k)^-x over k = 0, 1, 2 ...; infinite at x = 1, NaN below.

    Shapes broadcast; integers and bool become float32. Has a gradient for `other`.

    >>> norch.special.zeta(norch.tensor([2.0, 4.0]), 1)
    tensor([1.6449, 1.0823])
    """
    return into(out, computed("zeta", derivatives.ZetaBackward, *_with_tensor("zeta", input, other)), "zeta")


def xlog1py(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """x log(1 + other), 0 if x is 0. Shapes broadcast; integers and bool become float32.

    >>> norch.special.xlog1py(norch.tensor([0.0, 2.0]), norch.tensor([-1.0, 1.0]))
    tensor([0.0000, 1.3863])
    """
    result = computed("xlog1py", derivatives.Xlog1pyBackward, *_with_tensor("xlog1py", input, other))
    return into(out, result, "xlog1py")


_POLYNOMIALS = {
    "chebyshev_polynomial_t": "first Chebyshev",
    "chebyshev_polynomial_u": "second Chebyshev",
    "chebyshev_polynomial_v": "third Chebyshev",
    "chebyshev_polynomial_w": "fourth Chebyshev",
    "shifted_chebyshev_polynomial_t": "first Chebyshev",
    "shifted_chebyshev_polynomial_u": "second Chebyshev",
    "shifted_chebyshev_polynomial_v": "third Chebyshev",
    "shifted_chebyshev_polynomial_w": "fourth Chebyshev",
    "hermite_polynomial_h": "physicists' Hermite",
    "hermite_polynomial_he": "probabilists' Hermite",
    "laguerre_polynomial_l": "Laguerre",
    "legendre_polynomial_p": "Legendre",
}


def _polynomial(name: str) -> Callable[..., Tensor]:
    """A family of orthogonal polynomials; those that are shifted have the interval [0, 1] in place of [-1, 1]."""
    shift, row, whose = name.startswith("shifted_"), name.replace("shifted_", ""), _POLYNOMIALS[name]

    def function(x: Operand, n: Operand, *, out: Tensor | None = None) -> Tensor:
        x, degree = _with_tensor(name, x, n)
        return into(out, computed(row, None, x * 2.0 - 1.0 if shift else x, degree), name)  # type: ignore[operator]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""The {whose} polynomial of degree n at x{", in [0, 1]" if shift else ""}.

    0 for a negative n; NaN above 2**24, since the n steps of the recurrence would take too long.

    Shapes broadcast, and x or n may be a number; integers and bool become float32. No gradient.

    >>> norch.special.{name}(norch.tensor([0.5, 1.0]), 0)
    tensor([1., 1.])
    """
    return function


def _with_tensor(name: str, x: Operand, y: Operand) -> tuple[Operand, Operand]:
    """Two operands. Raises TypeError if both are numbers, or either is something else."""
    check_operand(x, name)
    check_operand(y, name)
    if not isinstance(x, Tensor) and not isinstance(y, Tensor):
        raise TypeError(f"{name}: expected a Tensor, got two numbers")
    return x, y


# ---- Other names for functions of norch -------------------------------------------------------------------------

_ELSEWHERE = {
    "gammaln": "lgamma",
    "psi": "digamma",
    "multigammaln": "mvlgamma",
    "gammainc": "igamma",
    "gammaincc": "igammac",
    "expit": "sigmoid",
    **{name: name for name in "digamma erf erfc erfinv exp2 expm1 i0 log1p logit round sinc xlogy".split()},
    **{name: name for name in "log_softmax logsumexp softmax".split()},
}

_MADE = {**{name: _of_one(name) for name in _ONE}, **{name: _polynomial(name) for name in _POLYNOMIALS}}
_MADE.update({name: getattr(of_methods, other) for name, other in _ELSEWHERE.items()})
_MADE.update(polygamma=elementary.polygamma, modified_bessel_i0=_MADE["i0"], modified_bessel_i1=_MADE["i1"])
globals().update(_MADE)

__all__ = sorted([*_MADE, "entr", "xlog1py", "zeta"])

if TYPE_CHECKING:

    def __getattr__(name: str) -> Callable[..., Tensor]: ...
