"""TensorBoard: norch has no writer for it. Importing this file says what to use instead."""

raise ImportError(
    "norch has no TensorBoard writer: pip install tensorboardX, and write `from tensorboardX import SummaryWriter`"
)
