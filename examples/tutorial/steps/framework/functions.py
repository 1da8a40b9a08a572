"""functions.py: the derivative of each C function, as a rule for gradients (a vector-Jacobian product)."""


class Function:
    """What a C function was given; `backward` turns the gradient of its result into those of its inputs."""

    def __init__(self, *arguments):
        self.input = list(arguments)


class AddBackward(Function):
    def backward(self, gradient):
        return [gradient, gradient]


class SubBackward(Function):
    def backward(self, gradient):
        #: gap 7 sub
        #: ? d(x - y)/dx = 1, d(x - y)/dy = -1: a list of the gradient of x and the gradient of y
        return [gradient, -gradient]
        #: end


class ElementwiseMulBackward(Function):
    def backward(self, gradient):
        x, y = self.input
        #: gap 7 mul
        #: ? d(x * y)/dx = y, d(x * y)/dy = x
        return [y * gradient, x * gradient]
        #: end


class DivBackward(Function):
    def backward(self, gradient):
        x, y = self.input
        #: gap 7 div
        #: ? d(x / y)/dx = 1 / y, d(x / y)/dy = -x / y ** 2
        return [gradient / y, -gradient * x / (y * y)]
        #: end


class PowBackward(Function):
    def backward(self, gradient):
        x, y = self.input
        of_x = gradient * y * x ** (y - 1) if x.requires_grad else None
        of_y = gradient * x**y * x.log() if y.requires_grad else None  # a negative x has no logarithm
        return [of_x, of_y]


class LogBackward(Function):
    def backward(self, gradient):
        return [gradient / self.input[0]]


class MatmulBackward(Function):
    def backward(self, gradient):
        x, y = self.input
        #: gap 7 matmul
        #: ? for z = x @ y, the gradient of x is the gradient of z times y transposed; that of y is x transposed times
        #: ? the gradient of z. The shapes allow no other order
        return [gradient @ y.T, x.T @ gradient]
        #: end


class TransposeBackward(Function):
    def backward(self, gradient):
        x, axis1, axis2 = self.input
        return [gradient.transpose(axis1, axis2)]


class ReshapeBackward(Function):
    def backward(self, gradient):
        return [gradient.reshape(self.input[0].shape)]


class ExpandBackward(Function):
    def backward(self, gradient):
        #: gap 7 expand
        #: ? an element that was repeated gets the sum of the gradients of all its repetitions: sum_to, with the shape
        #: ? of the input
        return [gradient.sum_to(self.input[0].shape)]
        #: end


class SumBackward(Function):
    def backward(self, gradient):
        #: gap 7 sum
        #: ? each element that was added gets the gradient of the sum: repeat it to the shape of the input
        return [gradient.expand(self.input[0].shape)]
        #: end


RULES = {
    "add_tensor": AddBackward,
    "sub_tensor": SubBackward,
    "elementwise_mul_tensor": ElementwiseMulBackward,
    "div_tensor": DivBackward,
    "pow_tensor": PowBackward,
    "log_tensor": LogBackward,
    "matmul_tensor": MatmulBackward,
    "transpose_tensor": TransposeBackward,
    "reshape_tensor": ReshapeBackward,
    "expand_tensor": ExpandBackward,
    "sum_tensor": SumBackward,
}
