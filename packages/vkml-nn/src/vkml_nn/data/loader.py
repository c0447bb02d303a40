"""The data loader: batches of a data set, made here or in worker processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import vkml
from vkml import ArgumentError
from vkml_nn.data.collation import default_collate
from vkml_nn.data.dataset import IterableDataset
from vkml_nn.data.sampler import BatchSampler, RandomSampler, SequentialSampler
from vkml_nn.data.worker import (
    EndOfData,
    Fetcher,
    GatheringFetcher,
    IteratingFetcher,
    SampleFetcher,
)
from vkml_nn.data.worker_pool import WorkerPool

# Any in this module: samples and batches are what the user's data set makes.

_SEED_RANGE: Final = 2**31
"""Seeds of workers are drawn below this."""


class DataLoader:
    """Iterates over the batches of a data set.

    Parameters
    ----------
    dataset : Dataset or IterableDataset
        Where the samples come from; anything with ``__getitem__`` and ``__len__`` will do.
    batch_size : int, optional
        How many samples make a batch; None yields single samples.
    shuffle : bool
        Whether the order is random, and another one each time.
    sampler : iterable of int, optional
        The order, in place of `shuffle`.
    batch_sampler : iterable of sequences of int, optional
        The batches, in place of `batch_size`, `shuffle`, `sampler` and `drop_last`.
    num_workers : int
        How many processes make batches ahead; 0 makes them here, when they are asked for. Batches
        come in the same order either way. Workers are started afresh: the data set is pickled,
        and a script needs ``if __name__ == "__main__":`` around what it runs.
    collate_fn : callable, optional
        Makes a batch of a list of samples; `default_collate` by default.
    drop_last : bool
        Whether a last batch that is not full is left out.
    timeout : float
        After how many seconds without a batch from the workers to raise; 0 waits on.
    worker_init_fn : callable, optional
        Called in each worker with its number.
    generator : vkml.Generator, optional
        Where random orders and the seeds of workers come from; vkML's own by default.
    prefetch_factor : int
        How many batches each worker is ahead.

    Raises
    ------
    ArgumentError
        Arguments exclude each other, or have values that make no sense.

    Examples
    --------
    >>> import vkml
    >>> dataset = vkml.data.TensorDataset(vkml.arange(5))
    >>> [batch.tolist() for (batch,) in vkml.data.DataLoader(dataset, batch_size=2)]
    [[0, 1], [2, 3], [4]]

    Workers import the script that starts them, so that it has to guard what it runs::

        if __name__ == "__main__":
            for batch in vkml.data.DataLoader(dataset, batch_size=8, num_workers=4):
                ...
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool = False,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], object] | None = None,
        *,
        generator: Any = None,
        prefetch_factor: int = 2,
    ) -> None:
        self._check_exclusive(
            dataset, batch_size, shuffle, sampler, batch_sampler, drop_last=drop_last
        )
        for name, value, least in (
            ("num_workers", num_workers, 0), ("timeout", timeout, 0),
            ("prefetch_factor", prefetch_factor, 1),
        ):  # fmt: skip
            if value < least:
                raise ArgumentError(f"DataLoader: {name} is {value}; give {least} or more.")
        self.dataset = dataset
        self.batch_size = None if batch_sampler is not None else batch_size
        self.num_workers = num_workers
        self.drop_last = drop_last
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.generator = generator
        self.prefetch_factor = prefetch_factor
        self._is_iterable = isinstance(dataset, IterableDataset)
        self._gathers = collate_fn is None and hasattr(dataset, "gather")
        single = batch_size is None and batch_sampler is None
        self.collate_fn = collate_fn or (_unchanged if single else default_collate)
        self.sampler: Iterable[int] | None = None
        self.batch_sampler: Iterable[Any] | None = batch_sampler
        if self._is_iterable or batch_sampler is not None:
            return
        if sampler is None:
            sampler = (
                RandomSampler(dataset, generator=generator) if shuffle
                else SequentialSampler(dataset)
            )  # fmt: skip
        self.sampler = sampler
        if batch_size is not None:
            self.batch_sampler = BatchSampler(sampler, batch_size, drop_last)

    @staticmethod
    def _check_exclusive(
        dataset: Any, batch_size: Any, shuffle: bool, sampler: Any, batch_sampler: Any, *,
        drop_last: bool,
    ) -> None:  # fmt: skip
        sampled = sampler is not None
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampled or drop_last):
            message = (
                "DataLoader: batch_sampler decides on the batches alone; leave out batch_size, "
                "shuffle, sampler and drop_last."
            )
        elif sampled and shuffle:
            message = "DataLoader: give shuffle or a sampler, not both."
        elif isinstance(dataset, IterableDataset) and (
            shuffle or sampled or batch_sampler is not None
        ):
            message = "DataLoader: an IterableDataset decides on the order; leave out samplers."
        elif batch_size is None and drop_last:
            message = "DataLoader: without batch_size there is nothing to drop."
        elif batch_size is not None and batch_size < 1:
            message = f"DataLoader: batch_size is {batch_size}; give 1 or more, or None."
        else:
            return
        raise ArgumentError(message)

    def __iter__(self) -> Iterator[Any]:
        fetch, requests = self._fetcher(), self._requests()
        # Drawn without workers too, so that their number changes no order.
        seed = int(vkml.randint(0, _SEED_RANGE, (), generator=self.generator).item())
        if self.num_workers == 0:
            return _here(fetch, requests)
        pool = WorkerPool(
            fetch,
            self.dataset,
            count=self.num_workers,
            seed=seed,
            worker_init_fn=self.worker_init_fn,
            timeout_s=self.timeout or None,
        )
        return pool.results(requests, self.num_workers * self.prefetch_factor)

    def __len__(self) -> int:
        """Return the number of batches."""
        if self._is_iterable:
            count = len(self.dataset)
            if self.batch_size is None:
                return count
            return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]  # raises where it has no length

    def _fetcher(self) -> Callable[[Any], Any]:
        if self._is_iterable:
            return IteratingFetcher(self.dataset, self.collate_fn, self.drop_last)
        if self._gathers and self.batch_sampler is not None:
            return GatheringFetcher(self.dataset)
        if self.batch_sampler is None:
            return SampleFetcher(self.dataset, self.collate_fn)
        return Fetcher(self.dataset, self.collate_fn)

    def _requests(self) -> Iterator[Any]:
        """Yield what the fetcher is asked for: numbers of samples, or how many."""
        if self._is_iterable:
            while True:
                yield self.batch_size
        chosen = self.sampler if self.batch_sampler is None else self.batch_sampler
        yield from () if chosen is None else chosen


def _here(fetch: Callable[[Any], Any], requests: Iterator[Any]) -> Iterator[Any]:
    """Yield the batches, each made when it is asked for."""
    for request in requests:
        try:
            batch = fetch(request)
        except EndOfData:
            return
        yield batch


def _unchanged(sample: Any) -> Any:
    return sample
