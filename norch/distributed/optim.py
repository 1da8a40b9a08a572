"""PyTorch's path of the optimizer whose state is divided among the ranks."""

from ..optim.zero import ZeroRedundancyOptimizer

__all__ = ["ZeroRedundancyOptimizer"]
