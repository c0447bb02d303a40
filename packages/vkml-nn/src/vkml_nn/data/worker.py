"""What runs in the worker processes of a data loader."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import vkml

# Any in this module: samples and batches are what the user's data set makes.


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker this process is.

    Attributes
    ----------
    id : int
        Its number, from 0.
    num_workers : int
        How many there are.
    seed : int
        What `vkml.manual_seed` was called with.
    dataset : object
        This worker's copy of the data set.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


class _Worker:
    """The state of this process, if it is a worker."""

    info: WorkerInfo | None = None
    fetch: Callable[[Any], Any] | None = None


class Fetcher:
    """Makes batches of the samples of a data set with numbers."""

    def __init__(self, dataset: Any, collate_fn: Callable[[Any], Any]) -> None:
        self._dataset = dataset
        self._collate = collate_fn

    def __call__(self, indices: Sequence[int] | int) -> Any:
        """Return the samples as one batch; for one number, its sample."""
        if isinstance(indices, int):
            return self._collate(self._dataset[indices])
        return self._collate([self._dataset[index] for index in indices])


class GatheringFetcher:
    """Makes batches through the data set's own ``gather``."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def __call__(self, indices: Sequence[int]) -> Any:
        """Return the samples as one batch."""
        return self._dataset.gather(indices)


class IteratingFetcher:
    """Makes batches of the samples of an iterable data set, of which it holds the iterator."""

    def __init__(self, dataset: Any, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        self._dataset = dataset
        self._collate = collate_fn
        self._drop_last = drop_last
        self._samples: Iterator[Any] | None = None

    def __call__(self, count: int | None) -> Any:
        """Return the next `count` samples as one batch, or one sample for None.

        Raises
        ------
        EndOfData
            There are none left, or too few and they are to be dropped.
        """
        if self._samples is None:
            self._samples = iter(self._dataset)
        samples = list(islice(self._samples, 1 if count is None else count))
        if not samples or (count is not None and len(samples) < count and self._drop_last):
            raise EndOfData
        return self._collate(samples[0] if count is None else samples)


class EndOfData(Exception):  # noqa: N818 - as StopIteration, which a process cannot pass on
    """An iterable data set has no more samples."""


def get_worker_info() -> WorkerInfo | None:
    """Return which worker of a data loader this process is; None in the main process.

    Examples
    --------
    >>> import vkml
    >>> vkml.data.get_worker_info() is None
    True
    """
    return _Worker.info


def start(
    fetch: Callable[[Any], Any],
    info: WorkerInfo,
    worker_init_fn: Callable[[int], object] | None,
) -> None:
    """Prepare this process for `work`."""
    _Worker.info = info
    _Worker.fetch = fetch
    vkml.manual_seed(info.seed)
    if worker_init_fn is not None:
        worker_init_fn(info.id)


def work(request: Any) -> Any:
    """Return the batch that `request` asks for."""
    assert _Worker.fetch is not None  # noqa: S101 - `start` ran first in this process
    try:
        return _Worker.fetch(request)
    except Exception as error:
        if _is_portable(error):
            raise
        raise RuntimeError(f"{type(error).__name__}: {error}") from error


def _is_portable(error: Exception) -> bool:
    """Return whether an exception survives the way to the main process."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    except Exception:  # noqa: BLE001 - it may fail in any way
        return False
    return True
