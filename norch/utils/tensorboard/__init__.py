"""TensorBoard's files, written without TensorBoard, which shows them: `tensorboard --logdir runs`."""

from .writer import SummaryWriter

__all__ = ["SummaryWriter"]
