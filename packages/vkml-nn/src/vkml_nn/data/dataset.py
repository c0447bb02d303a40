"""Data sets: samples by number, or one after the other."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import vkml
from vkml import ArgumentError, DTypeError, IndexOutOfRangeError, ShapeError, Tensor

_Sample = TypeVar("_Sample", covariant=True)


class Dataset(Generic[_Sample]):
    """Samples by number: a subclass writes ``__getitem__`` and ``__len__``.

    A subclass may also write ``gather(indices)``, which returns the samples with these numbers as
    one batch already, as `default_collate` would; a `DataLoader` without a `collate_fn` uses it.

    Examples
    --------
    >>> import vkml
    >>> class Squares(vkml.data.Dataset):
    ...     def __len__(self):
    ...         return 4
    ...
    ...     def __getitem__(self, index):
    ...         return index**2
    >>> [batch.tolist() for batch in vkml.data.DataLoader(Squares(), batch_size=2)]
    [[0, 1], [4, 9]]
    """

    def __getitem__(self, index: int) -> _Sample:
        raise NotImplementedError(f"{type(self).__name__} defines no __getitem__(); write one.")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Generic[_Sample]):
    """Samples one after the other: a subclass writes ``__iter__``.

    With several workers each iterates over its own copy; `get_worker_info` tells it which part is
    its own.
    """

    def __iter__(self) -> Iterator[_Sample]:
        raise NotImplementedError(f"{type(self).__name__} defines no __iter__(); write one.")


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """The rows of tensors with equally many.

    Raises
    ------
    DTypeError
        An argument is no tensor.
    ShapeError
        The first sizes differ.

    Examples
    --------
    >>> import vkml
    >>> vkml.data.TensorDataset(vkml.arange(4), vkml.arange(4) * 10)[1]
    (tensor(1), tensor(10))
    """

    def __init__(self, *tensors: Tensor) -> None:
        for position, tensor in enumerate(tensors):
            if not isinstance(tensor, Tensor):
                raise DTypeError(_no_tensor(position, tensor))
        shapes = [tensor.shape for tensor in tensors]
        if len({shape[:1] for shape in shapes}) != 1 or not shapes[0]:
            message = f"TensorDataset: the tensors need one first size, got shapes {shapes}."
            raise ShapeError(message)
        self.tensors = tensors

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])

    def gather(self, indices: Sequence[int]) -> list[Tensor]:
        """Return the rows with these numbers, one tensor for each of the data set."""
        first = self.tensors[0]
        count = len(first)
        index = vkml.tensor(
            [index + count if index < 0 else index for index in indices],
            dtype=vkml.int64, device=first.device,
        )  # fmt: skip
        return [vkml.index_select(each, 0, index.to(device=each.device)) for each in self.tensors]


def _no_tensor(position: int, value: object) -> str:
    return (
        f"TensorDataset: argument {position} is a {type(value).__name__}; expected a tensor. Make "
        "one with vkml.from_numpy or vkml.tensor."
    )


class Subset(Dataset[_Sample]):
    """Some samples of another data set.

    Parameters
    ----------
    dataset : Dataset
        The whole.
    indices : sequence of int
        Which samples of it.
    """

    def __init__(self, dataset: Dataset[_Sample], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices
        inner = getattr(dataset, "gather", None)
        if inner is not None:
            self.gather = lambda chosen: inner([self.indices[index] for index in chosen])

    def __getstate__(self) -> dict[str, Any]:
        return {"dataset": self.dataset, "indices": self.indices}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Subset.__init__(self, state["dataset"], state["indices"])

    def __getitem__(self, index: int) -> _Sample:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset[Any]):
    """Several data sets, one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ArgumentError("ConcatDataset: there are no data sets.")
        self.cumulative_sizes = list(itertools.accumulate(len(each) for each in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            message = f"ConcatDataset: there is no sample {index}, only {len(self)}."
            raise IndexOutOfRangeError(message)
        number = bisect.bisect_right(self.cumulative_sizes, position)
        start = self.cumulative_sizes[number - 1] if number else 0
        return self.datasets[number][position - start]


def random_split(
    dataset: Any, lengths: Sequence[int] | Sequence[float], generator: Any = None
) -> list[Subset[Any]]:
    """Return parts of a data set, drawn at random, that have no sample in common.

    Parameters
    ----------
    dataset : Dataset
        The whole.
    lengths : sequence of int or of float
        The sizes of the parts; or fractions that sum up to 1, whose remainders go to the first
        parts.
    generator : vkml.Generator, optional
        Where the random numbers come from; vkML's own by default.

    Raises
    ------
    ArgumentError
        The lengths do not sum up to the whole.

    Examples
    --------
    >>> import vkml
    >>> whole = vkml.data.TensorDataset(vkml.arange(10))
    >>> [len(part) for part in vkml.data.random_split(whole, [0.75, 0.25])]
    [8, 2]
    """
    count = len(dataset)
    sizes = [int(length) for length in lengths]
    if math.isclose(sum(lengths), 1):
        sizes = [math.floor(count * length) for length in lengths]
        for index in range(count - sum(sizes)):
            sizes[index % len(sizes)] += 1
    if sum(sizes) != count or min(sizes, default=0) < 0:
        message = f"random_split: the lengths {list(lengths)} do not sum up to {count}, or to 1."
        raise ArgumentError(message)
    order = vkml.randperm(count, generator=generator).tolist()
    ends = list(itertools.accumulate(sizes))
    return [Subset(dataset, order[end - size : end]) for end, size in zip(ends, sizes, strict=True)]
