"""Making one batch of many samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import vkml
from vkml import ArgumentError, DTypeError, ShapeError, Tensor


def default_collate(batch: Sequence[Any]) -> Any:
    """Return samples as one batch: numbers and arrays become tensors with a new first axis.

    Parameters
    ----------
    batch : sequence
        Samples of one kind: tensors, arrays, numbers, texts; or tuples, lists and mappings of
        them, which are collated part by part. Texts stay in a list.

    Raises
    ------
    ArgumentError
        There are no samples, or they are mappings with different names.
    ShapeError
        The samples have different shapes, or different numbers of parts.
    DTypeError
        A sample is of another kind.

    Examples
    --------
    >>> import vkml
    >>> vkml.data.default_collate([(1, 0.5), (2, 1.5)])
    [tensor([1, 2]), tensor([0.5000, 1.5000])]
    """
    if len(batch) == 0:
        raise ArgumentError("default_collate: there are no samples; leave out empty batches.")
    first = batch[0]
    if isinstance(first, (Tensor, np.ndarray, np.generic)):
        return _stacked(batch)
    if isinstance(first, (int, float)):
        return vkml.tensor(batch)
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, Mapping):
        if any(sample.keys() != first.keys() for sample in batch):
            message = (
                "default_collate: the samples have different names, "
                f"{sorted({str(list(sample)) for sample in batch})}; give all the same, or pass a "
                "collate_fn."
            )
            raise ArgumentError(message)
        return {name: default_collate([sample[name] for sample in batch]) for name in first}
    if isinstance(first, Sequence):
        if len({len(sample) for sample in batch}) > 1:
            message = "default_collate: the samples have different numbers of parts."
            raise ShapeError(message)
        parts = [default_collate(part) for part in zip(*batch, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else parts
    message = (
        f"default_collate: a sample (or part of one) is a {type(first).__name__}; expected "
        "tensors, arrays, numbers, texts, or tuples, lists and mappings of them. "
        "Pass a collate_fn."
    )
    raise DTypeError(message)


def _stacked(batch: Sequence[Any]) -> Tensor:
    """Return tensors, or arrays, of one shape as one tensor."""
    shapes = {np.shape(sample) for sample in batch}
    if len(shapes) > 1:
        message = (
            f"default_collate: the samples have different shapes, {sorted(shapes)}; bring "
            "them to one shape, or pass a collate_fn."
        )
        raise ShapeError(message)
    if not any(isinstance(sample, Tensor) for sample in batch):
        return vkml.tensor(np.stack(batch))
    return vkml.stack([vkml.as_tensor(sample) for sample in batch])
