"""The code generator behind PyTorch's `torch.compile`, which norch has not: its settings change nothing.

>>> norch._inductor.config.coordinate_descent_tuning = True
"""

from . import config
