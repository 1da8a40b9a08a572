"""Data for training: datasets, samplers, the DataLoader that makes batches of them, toy sets, and readers of files."""

from typing import TYPE_CHECKING

from .collate import default_collate, default_convert
from .dataloader import DataLoader
from .dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .distributed import DistributedSampler
from .readers import mnist, read_csv, read_idx
from .sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from .toy import moons, sin_squared, spirals
from .worker import get_worker_info

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "mnist",
    "moons",
    "random_split",
    "read_csv",
    "read_idx",
    "sin_squared",
    "spirals",
]

if not TYPE_CHECKING:  # (a checker knows what is missing)
    from ...missing import missing as _missing

    __getattr__ = _missing("utils.data")
