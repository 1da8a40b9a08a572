"""tensor.py: Tensor, which looks like PyTorch's and lets libtensor.so compute."""

import contextlib  #: step 8
import ctypes
import os

from functions import RULES  #: step 7

MAX_DIMS = 8  # as in tensor.cpp


class CTensor(ctypes.Structure):
    """The mirror of the struct Tensor: the same fields, in the same order, of the same widths."""

    _fields_ = [
        ("data", ctypes.POINTER(ctypes.c_float)),
        #: gap 2 mirror
        #: ? the other four fields of the struct in tensor.cpp, in its order: an array of MAX_DIMS 64-bit numbers is
        #: ? ctypes.c_int64 * MAX_DIMS, and a single one is ctypes.c_int64
        #: |
        ("strides", ctypes.c_int64 * MAX_DIMS),
        ("shape", ctypes.c_int64 * MAX_DIMS),
        ("ndim", ctypes.c_int64),
        ("size", ctypes.c_int64),
        #: end
        #: gap 4 mirror
        #: ? the field that the struct in tensor.cpp now has in addition: an address, which is a ctypes.c_void_p
        #: |
        ("storage", ctypes.c_void_p),
        #: end
    ]


TENSOR, SIZES = ctypes.POINTER(CTensor), ctypes.POINTER(ctypes.c_int64)
PROTOTYPES = {  # name: (what the function returns, what it takes)
    "create_tensor": (TENSOR, [ctypes.POINTER(ctypes.c_float), SIZES, ctypes.c_int64]),
    #: gap 2 prototypes
    #: ? the rows of free_tensor (which returns nothing: None), get_item (which returns a ctypes.c_float) and add_tensor
    #: |
    "free_tensor": (None, [TENSOR]),
    "get_item": (ctypes.c_float, [TENSOR, SIZES]),
    "add_tensor": (TENSOR, [TENSOR, TENSOR]),
    #: end
    #: step 3
    "sub_tensor": (TENSOR, [TENSOR, TENSOR]),
    "elementwise_mul_tensor": (TENSOR, [TENSOR, TENSOR]),
    "div_tensor": (TENSOR, [TENSOR, TENSOR]),
    "pow_tensor": (TENSOR, [TENSOR, TENSOR]),
    #: end
    #: step 4
    "assign_tensor": (None, [TENSOR, TENSOR]),
    "transpose_tensor": (TENSOR, [TENSOR, ctypes.c_int64, ctypes.c_int64]),
    "reshape_tensor": (TENSOR, [TENSOR, SIZES, ctypes.c_int64]),
    "expand_tensor": (TENSOR, [TENSOR, SIZES, ctypes.c_int64]),
    #: end
    "last_error": (ctypes.c_char_p, []),  #: step 5
    #: step 6
    "log_tensor": (TENSOR, [TENSOR]),
    "sum_tensor": (TENSOR, [TENSOR, SIZES, ctypes.c_int64]),
    "matmul_tensor": (TENSOR, [TENSOR, TENSOR]),
    #: end
}

lib = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libtensor.so"))
for name, (result, arguments) in PROTOTYPES.items():
    getattr(lib, name).restype, getattr(lib, name).argtypes = result, arguments


def flatten(data):
    """The numbers of nested lists in row order, and their shape: [[1, 2], [3, 4]] gives ([1, 2, 3, 4], [2, 2])."""
    if not isinstance(data, (list, tuple)):
        return [data], []
    parts = [flatten(part) for part in data]
    shapes = [shape for _, shape in parts]
    #: step 5
    #: gap 5 ragged
    #: ? if one of the shapes differs from the first: raise ValueError, with both shapes in the message
    #: |
    for shape in shapes:
        if shape != shapes[0]:
            raise ValueError(f"lists of different shapes beside each other: {shapes[0]} and {shape}")
    #: end
    #: end
    #: gap 2 flatten
    #: ? `parts` has (numbers, shape) of each inner list: return all their numbers in one list, and the shape:
    #: ? the number of parts, followed by the shape of the first part (if there is any)
    return [number for numbers, _ in parts for number in numbers], [len(data), *(shapes[0] if shapes else [])]
    #: end


#: step 3
def apply(name, *arguments):
    """The result of a C function, called with tensors, numbers, and lists of sizes."""
    given = []
    for argument in arguments:
        #: gap 3 apply
        #: ? append to `given` what C takes: for a Tensor its pointer (argument.tensor); for a list of sizes two things,
        #: ? (ctypes.c_int64 * len(argument))(*argument) and its length; for anything else the argument itself
        if isinstance(argument, Tensor):
            given.append(argument.tensor)
        elif isinstance(argument, list):
            given += [(ctypes.c_int64 * len(argument))(*argument), len(argument)]
        else:
            given.append(argument)
        #: end
    pointer = getattr(lib, name)(*given)
    #: step 5
    #: gap 5 raise
    #: ? if the pointer is null (`not pointer`): raise ValueError, with lib.last_error().decode() in the message, and
    #: ? what the function was given: describe(arguments)
    #: |
    if not pointer:
        raise ValueError(f"{name} of {describe(arguments)}: {lib.last_error().decode()}")
    #: end
    #: end
    result = Tensor.owning(pointer)
    #: step 7
    #: gap 7 record
    #: ? if one of the arguments is a Tensor that requires a gradient, then so does the result, and its grad_fn is
    #: ? RULES[name](*arguments): the derivative of this function, which remembers what the function was given
    #: 7 | if any(isinstance(argument, Tensor) and argument.requires_grad for argument in arguments):
    #: 7 |     result.requires_grad, result.grad_fn = True, RULES[name](*arguments)
    #: step 8
    if recording and any(isinstance(argument, Tensor) and argument.requires_grad for argument in arguments):
        result.requires_grad, result.grad_fn = True, RULES[name](*arguments)
    #: end
    #: end
    #: end
    return result


#: step 5
def describe(arguments):
    """The arguments of a C function for a message: of tensors only the shape."""
    return " and ".join(str(value.shape if isinstance(value, Tensor) else value) for value in arguments)


#: end
#: 3 | def filled(number, like):
#: 3 |     """A tensor of the shape of another, full of one number."""
#: 3 |     values = (ctypes.c_float * like.numel)(*[number] * like.numel)
#: 3 |     return Tensor.owning(lib.create_tensor(values, (ctypes.c_int64 * like.ndim)(*like.shape), like.ndim))
#: 3 |
#: 3 |
#: step 4
def broadcast(a, b):
    """The shape of an operation on shapes a and b: from the right, equal sizes, or one of them is 1 or missing."""
    ones, others = [1] * (len(b) - len(a)) + a, [1] * (len(a) - len(b)) + b
    #: step 5
    if any(one != other and 1 not in (one, other) for one, other in zip(ones, others)):
        raise ValueError(f"shapes {a} and {b} do not fit: from the right, sizes must be equal, or one of them 1")
    #: end
    #: gap 4 broadcast
    #: ? both lists now have the same length: return the list of the sizes; where one of them is 1, the other counts
    return [other if one == 1 else one for one, other in zip(ones, others)]
    #: end


#: end
def elementwise(name, x, y):
    """The result of a C function of two tensors of one shape; numbers and smaller tensors are repeated."""
    #: 3 | x = x if isinstance(x, Tensor) else filled(x, y)
    #: 3 | y = y if isinstance(y, Tensor) else filled(y, x)
    #: 3 | return apply(name, x, y)
    #: step 4
    x, y = (value if isinstance(value, Tensor) else Tensor(value) for value in (x, y))
    shape = broadcast(x.shape, y.shape)
    return apply(name, x.expand(shape), y.expand(shape))
    #: end


def operator(name):
    """The two methods of an operator: the one for tensor - other, and the one for other - tensor."""
    #: gap 3 operator
    #: ? return two functions of (self, other), separated by a comma; each calls elementwise with this name, the first
    #: ? with self before other, the second with other before self (lambda self, other: ... makes a function)
    #: | return None, None
    return lambda self, other: elementwise(name, self, other), lambda self, other: elementwise(name, other, self)
    #: end


#: end
#: step 8
recording = True  # whether `apply` keeps the rules for backward


@contextlib.contextmanager
def no_grad():
    """`with no_grad():` computes without recording."""
    global recording
    before, recording = recording, False
    try:
        yield
    finally:
        recording = before


def in_order(result):
    """All tensors from which `result` was computed, and itself; each one behind those it was computed from."""
    order, seen, waiting = [], set(), [(result, False)]
    while waiting:
        tensor, inputs_done = waiting.pop()
        if inputs_done:
            order.append(tensor)
        elif id(tensor) not in seen:
            seen.add(id(tensor))
            #: gap 8 order
            #: ? the last one in is the first one out: put (tensor, True) into `waiting`, to come back to it later, and
            #: ? on top of it (input, False) for each Tensor in tensor.grad_fn.input (a leaf has no grad_fn: None)
            waiting.append((tensor, True))
            if tensor.grad_fn is not None:
                waiting += [(source, False) for source in tensor.grad_fn.input if isinstance(source, Tensor)]
            #: end
    return order


#: end
class Tensor:
    """Numbers of 32 bits in row-major order; Tensor([[1, 2], [3, 4]]) copies them from nested lists."""

    requires_grad, grad, grad_fn = False, None, None  #: step 7
    _lib = lib  # the class still has it when Python ends and empties its modules

    #: 2-6 | def __init__(self, data):
    def __init__(self, data, requires_grad=False):  #: step 7
        numbers, shape = flatten(data)
        values, sizes = (ctypes.c_float * len(numbers))(*numbers), (ctypes.c_int64 * len(shape))(*shape)
        self.tensor = self._lib.create_tensor(values, sizes, len(shape))
        #: step 5
        if not self.tensor:
            raise ValueError(f"Tensor of shape {shape}: {lib.last_error().decode()}")
        #: end
        self.requires_grad = requires_grad  #: step 7

    @classmethod
    def owning(cls, pointer):
        """A Tensor around a pointer that C returned; it frees the C tensor when it dies."""
        tensor = Tensor.__new__(Tensor)  # without __init__: the numbers are in C already
        tensor.tensor = pointer
        return tensor

    def __del__(self):
        #: gap 2 free
        #: ? if self has a tensor (an error in __init__ comes before that): call self._lib.free_tensor with it
        #: | pass
        if getattr(self, "tensor", None):
            self._lib.free_tensor(self.tensor)
        #: end

    @property
    def ndim(self):
        return self.tensor.contents.ndim

    @property
    def shape(self):
        return self.tensor.contents.shape[: self.ndim]

    @property
    def numel(self):
        return self.tensor.contents.size

    def __getitem__(self, indices):
        """An element as a Python number: tensor[i, j]; of a tensor of one dimension, tensor[i]."""
        indices = indices if isinstance(indices, tuple) else (indices,)
        if len(indices) != self.ndim:
            raise IndexError(f"{len(indices)} indices for a tensor of {self.ndim} dimensions")
        #: step 5
        #: gap 5 range
        #: ? for each index and size: if not -size <= index < size, raise IndexError with both in the message;
        #: ? then let `indices` be a list in which negative ones count from the end: index % size
        #: |
        for index, size in zip(indices, self.shape):
            if not -size <= index < size:
                raise IndexError(f"index {index} is out of range for a dimension of size {size}")
        indices = [index % size for index, size in zip(indices, self.shape)]
        #: end
        #: end
        #: gap 2 item
        #: ? make an array of 64-bit numbers from the indices, as __init__ does with the shape, and return what the
        #: ? C function get_item gives for self.tensor and that array
        return self._lib.get_item(self.tensor, (ctypes.c_int64 * self.ndim)(*indices))
        #: end

    def tolist(self, *index):
        """The elements as nested lists; with an index, those behind it."""
        if len(index) == self.ndim:
            return self[index]
        return [self.tolist(*index, i) for i in range(self.shape[len(index)])]

    def __repr__(self):
        return f"Tensor({self.tolist()})"

    #: 2 | def __add__(self, other):
    #: 2 |     return Tensor.owning(self._lib.add_tensor(self.tensor, other.tensor))
    #: step 3
    __add__, __radd__ = operator("add_tensor")
    __sub__, __rsub__ = operator("sub_tensor")
    __mul__, __rmul__ = operator("elementwise_mul_tensor")
    __truediv__, __rtruediv__ = operator("div_tensor")
    __pow__, __rpow__ = operator("pow_tensor")

    def __neg__(self):
        #: gap 3 neg
        #: ? -tensor is 0 - tensor, or -1 * tensor
        return -1 * self
        #: end

    #: end
    #: step 4
    def transpose(self, axis1, axis2):
        return apply("transpose_tensor", self, axis1, axis2)

    @property
    def T(self):
        #: gap 4 T
        #: ? a matrix with rows and columns exchanged: dimensions 0 and 1
        return self.transpose(0, 1)
        #: end

    def reshape(self, new_shape):
        return apply("reshape_tensor", self, list(new_shape))

    def expand(self, new_shape):
        """Dimensions of size 1 repeated, without a copy; itself where there is nothing to repeat."""
        return self if self.shape == list(new_shape) else apply("expand_tensor", self, list(new_shape))

    def ones_like(self):
        return Tensor(1).expand(self.shape)

    def zeros_like(self):
        return Tensor(0).expand(self.shape)

    def assign(self, values):
        """Writes the elements of another tensor of the same shape (not a view of this one) into this one."""
        #: step 5
        if values.shape != self.shape:
            raise ValueError(f"assign: a tensor of shape {values.shape} does not fit into shape {self.shape}")
        #: end
        self._lib.assign_tensor(self.tensor, values.tensor)

    #: end
    #: step 6
    def __matmul__(self, other):
        return apply("matmul_tensor", self, other)

    def log(self):
        return apply("log_tensor", self)

    def sum_to(self, shape):
        """The elements added up until this shape is left, which must be one that expands to the tensor's own."""
        return apply("sum_tensor", self, list(shape))

    def sum(self):
        #: gap 6 total
        #: ? the sum of all elements, in a tensor of shape [1]
        return self.sum_to([1])
        #: end

    #: end
    #: step 8
    def backward(self, gradient=None):
        """Gives .grad to every tensor that requires one and from which this one was computed."""
        if not self.requires_grad:
            raise RuntimeError("backward: no tensor behind this one requires a gradient")
        if gradient is None and self.numel != 1:
            raise RuntimeError(f"backward: shape {self.shape} is no scalar, so it needs the gradient to start from")
        arrived = {id(self): self.ones_like() if gradient is None else gradient}
        with no_grad():
            for tensor in reversed(in_order(self)):
                gradient = arrived.pop(id(tensor), None)
                if gradient is None:  # it requires none
                    continue
                #: gap 8 walk
                #: ? 1. add `gradient` to tensor.grad, which may still be None
                #: ? 2. if the tensor has a grad_fn: grad_fn.backward(gradient) is a list of one gradient for each of
                #: ? grad_fn.input; for each input that is a Tensor and requires a gradient, add it to
                #: ? arrived[id(input)]
                tensor.grad = gradient if tensor.grad is None else tensor.grad + gradient
                if tensor.grad_fn is None:
                    continue
                for source, part in zip(tensor.grad_fn.input, tensor.grad_fn.backward(gradient)):
                    if isinstance(source, Tensor) and source.requires_grad:
                        arrived[id(source)] = arrived[id(source)] + part if id(source) in arrived else part
                #: end

    def zero_grad(self):
        self.grad = None

    def detach(self):
        """The same numbers in the same memory, without the graph behind them."""
        with no_grad():
            return self.reshape(self.shape)

    #: end
