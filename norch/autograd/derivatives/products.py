"""Products of vectors, and what is added to products: `outer addmm addmv addr baddbmm`. (`@` is in functions.py.)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..function import Function, Gradients

if TYPE_CHECKING:
    from ...forward_declarations import Tensor


class OuterBackward(Function):
    """d(x y^T)/dx = G y, d(x y^T)/dy = G^T x"""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        return [
            (gradient * self.y).sum(1) if self.needs(0) else None,
            (gradient * self.x.unsqueeze(1)).sum(0) if self.needs(1) else None,
        ]


class AddedProductBackward(Function):
    """d(b x + a P)/dx = b, and the product's own derivatives, of a times the gradient."""

    broadcasts = True

    def __init__(self, x: Tensor, y: Tensor, z: Tensor, beta: float, alpha: float, product: type[Function]) -> None:
        super().__init__(x, y, z)
        self.beta, self.alpha, self.product = beta, alpha, product

    def backward(self, gradient: Tensor) -> Gradients:
        for_product = gradient if self.alpha == 1 else gradient * self.alpha
        product = self.product(*self.input[1:])
        product.edges, product.stamp = self.edges[1:], self.stamp
        return [gradient * self.beta if self.needs(0) else None, *product.backward(for_product)]


class CrossBackward(Function):
    """d(x × y) = dx × y + x × dy, and (a × b) · c = a · (b × c)"""

    broadcasts = True

    def __init__(self, x: Tensor, y: Tensor, axis: int) -> None:
        super().__init__(x, y)
        self.axis = axis

    def backward(self, gradient: Tensor) -> Gradients:
        return [
            self.y.cross(gradient, self.axis) if self.needs(0) else None,
            gradient.cross(self.x, self.axis) if self.needs(1) else None,
        ]
