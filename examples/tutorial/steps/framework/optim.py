"""optim.py: the rule that changes parameters."""

from tensor import no_grad


class SGD:
    """Stochastic gradient descent: parameter = parameter + velocity, against the gradient."""

    def __init__(self, parameters, lr=1e-1, momentum=0):
        self.parameters, self.lr, self.momentum = list(parameters), lr, momentum
        self.velocities = [parameter.zeros_like() for parameter in self.parameters]

    def zero_grad(self):
        #: gap 10 zero
        #: ? every parameter forgets its gradient
        for parameter in self.parameters:
            parameter.zero_grad()
        #: end

    def step(self):
        with no_grad():
            for i, parameter in enumerate(self.parameters):
                #: gap 10 step
                #: ? a parameter without a gradient (None) stays as it is. Otherwise velocities[i] becomes momentum
                #: ? times its old value, minus lr times the gradient; the
                #: ? parameter is assigned itself plus the velocity
                if parameter.grad is None:
                    continue
                self.velocities[i] = self.momentum * self.velocities[i] - self.lr * parameter.grad
                parameter.assign(parameter + self.velocities[i])
                #: end
