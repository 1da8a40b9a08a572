"""SparseAdam."""

from __future__ import annotations

from ..tensor import Tensor
from .groups import Group, check_betas, check_not_negative, settings_of
from .optimizer import Optimizer, Parameters, State


class SparseAdam(Optimizer):
    """Adam for embeddings: of the running means and the weights, only the rows with a gradient change in a step.

        m[rows] = beta1 * m[rows] + (1 - beta1) * g[rows]
        v[rows] = beta2 * v[rows] + (1 - beta2) * g[rows]^2
        p[rows] = p[rows] - lr * sqrt(1 - beta2^step) / (1 - beta1^step) * m[rows] / (sqrt(v[rows]) + eps)

    PyTorch takes the rows from a sparse gradient. norch's gradients are dense (also those of `Embedding(sparse=True)`):
    the rows are those in which an element is not zero. `state[p]` holds "step", "exp_avg" (m) and "exp_avg_sq" (v).

    >>> table = nn.Embedding(3, 1, sparse=True)
    >>> optimizer = optim.SparseAdam(table.parameters(), lr=0.1)
    >>> before = table.weight.detach().clone()
    >>> table(norch.tensor([1])).sum().backward()
    >>> optimizer.step()
    >>> (before - table.weight.detach()).flatten()
    tensor([0.0000, 0.1000, 0.0000])
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ):
        super().__init__(params, settings_of(locals()))

    def check_settings(self, settings: Group) -> None:
        """Raise ValueError for a negative rate, or a beta outside [0, 1)."""
        check_not_negative(settings, "lr", "eps")
        check_betas(settings)

    def remembered(self, group: Group) -> tuple[str, ...]:
        """The steps, m and v."""
        return ("step", "exp_avg", "exp_avg_sq")

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> None:
        rows = gradient.reshape(len(gradient), -1).any(1).nonzero().flatten()
        step, (beta1, beta2) = state["step"].item(), group["betas"]
        g, m, v = gradient[rows], state["exp_avg"], state["exp_avg_sq"]
        new_m, new_v = beta1 * m[rows] + (1 - beta1) * g, beta2 * v[rows] + (1 - beta2) * g * g
        state["exp_avg"], state["exp_avg_sq"] = m.index_copy(0, rows, new_m), v.index_copy(0, rows, new_v)
        size = group["lr"] * (1 - beta2**step) ** 0.5 / (1 - beta1**step)
        parameter.index_add_(0, rows, -size * new_m / (new_v.sqrt() + group["eps"]))
