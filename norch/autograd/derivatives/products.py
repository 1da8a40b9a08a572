"""Products, and what is added to them: `outer kron addmm addmv addr baddbmm addbmm`. (`@` is in functions.py.)"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..node import Gradients, Node

if TYPE_CHECKING:
    from ...forward_declarations import Tensor


class OuterBackward(Node):
    """d(x y^T)/dx = G y, d(x y^T)/dy = G^T x"""

    broadcasts = True

    def backward(self, gradient: Tensor) -> Gradients:
        return [
            (gradient * self.y).sum(1) if self.needs(0) else None,
            (gradient * self.x.unsqueeze(1)).sum(0) if self.needs(1) else None,
        ]


class KronBackward(Node):
    """y[i m + k] = a[i] b[k] along each dimension: da[i] = the sum over k of G b[k], db[k] = that over i of G a[i]"""

    def backward(self, gradient: Tensor) -> Gradients:
        x, y, rank = self.x, self.y, gradient.ndim
        sizes, others = ([1] * (rank - t.ndim) + list(t.shape) for t in (x, y))
        wide = x.reshape([size for each in sizes for size in (each, 1)])
        fine = y.reshape([size for each in others for size in (1, each)])
        whole = gradient.reshape([size for pair in zip(sizes, others) for size in pair])
        return [
            (whole * fine).sum_to_size(wide.shape).reshape(x.shape) if self.needs(0) else None,
            (whole * wide).sum_to_size(fine.shape).reshape(y.shape) if self.needs(1) else None,
        ]


class AddedProductBackward(Node):
    """d(b x + a P)/dx = b, and the product's own derivatives, of a times the gradient."""

    broadcasts = True

    def __init__(self, x: Tensor, y: Tensor, z: Tensor, beta: float, alpha: float, product: type[Node]) -> None:
        super().__init__(x, y, z)
        self.beta, self.alpha, self.product = beta, alpha, product

    def backward(self, gradient: Tensor) -> Gradients:
        for_product = gradient if self.alpha == 1 else gradient * self.alpha
        product = self.product(*self.input[1:])
        product.edges, product.stamp = self.edges[1:], self.stamp
        return [gradient * self.beta if self.needs(0) else None, *product.backward(for_product)]


class CrossBackward(Node):
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
