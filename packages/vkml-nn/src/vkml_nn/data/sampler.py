"""Samplers: in which order the samples of a data set come."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sized
from typing import Any, Generic, TypeVar

import vkml
from vkml import ArgumentError

_Item = TypeVar("_Item", covariant=True)


class Sampler(Generic[_Item]):
    """Yields numbers of samples, or lists of them: write ``__iter__`` and ``__len__``."""

    def __iter__(self) -> Iterator[_Item]:
        raise NotImplementedError(f"{type(self).__name__} defines no __iter__(); write one.")


class SequentialSampler(Sampler[int]):
    """The samples in their own order."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """The samples in random order, another one each time.

    Parameters
    ----------
    data_source : sized
        The data set.
    replacement : bool
        Whether a sample may come again.
    num_samples : int, optional
        How many are drawn; all by default.
    generator : vkml.Generator, optional
        Where the random numbers come from; vkML's own, which `vkml.manual_seed` sets, by default.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Any = None,
    ) -> None:
        if num_samples is not None and num_samples < 1:
            raise ArgumentError(f"RandomSampler: num_samples is {num_samples}; give 1 or more.")
        self.data_source = data_source
        self.replacement = replacement
        self.generator = generator
        self._num_samples = num_samples

    @property
    def num_samples(self) -> int:
        """How many samples are drawn."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count, wanted = len(self.data_source), self.num_samples
        if self.replacement:
            drawn = vkml.randint(0, count, (wanted,), generator=self.generator)
            yield from drawn.tolist()
            return
        while wanted > 0:
            order = vkml.randperm(count, generator=self.generator).tolist()
            yield from order[:wanted]
            wanted -= count

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of `batch_size` numbers from another sampler.

    Parameters
    ----------
    sampler : iterable of int
        Where the numbers come from.
    batch_size : int
        How many belong to one batch.
    drop_last : bool
        Whether a last batch that is not full is left out.

    Examples
    --------
    >>> import vkml
    >>> list(vkml.data.BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if batch_size < 1:
            raise ArgumentError(f"BatchSampler: batch_size is {batch_size}; give 1 or more.")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        numbers = iter(self.sampler)
        while batch := list(itertools.islice(numbers, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]  # raises where it has no length
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
