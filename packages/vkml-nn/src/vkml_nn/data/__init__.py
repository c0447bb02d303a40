"""Data sets, samplers and loaders."""

from vkml_nn.data.collation import default_collate
from vkml_nn.data.dataset import (
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from vkml_nn.data.loader import DataLoader
from vkml_nn.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler
from vkml_nn.data.worker import WorkerInfo, get_worker_info

__all__ = [
    "BatchSampler", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset", "RandomSampler",
    "Sampler", "SequentialSampler", "Subset", "TensorDataset", "WorkerInfo", "default_collate",
    "get_worker_info", "random_split",
]  # fmt: skip
