"""The records' samples, as tensors of every layout."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vkml import dtypes
from vkml.device import Device
from vkml.ops.definition import Operation, Sample
from vkml.shapes import contiguous_strides
from vkml.tensor import Tensor, wrap

SEED: Final = 20
"""Samples are the same on every machine and in every run."""

Array: TypeAlias = NDArray[Any]


def samples_of(operation: Operation) -> list[Sample]:
    """Return the samples of a record, with every NumPy scalar as an array of rank 0."""
    with np.errstate(all="ignore"):
        samples = operation.samples(np.random.default_rng(SEED))
    return [
        Sample(tuple(map(_as_array, sample.operands)), tuple(sample.options)) for sample in samples
    ]


def _as_array(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, np.generic) else value


def with_dtype(sample: Sample, dtype: np.dtype[Any]) -> Sample:
    """Return `sample` with its floating-point arrays as `dtype`; integers among them are not 0."""

    def convert(array: Array) -> Array:
        if dtypes.category(dtype) != 1:
            return array.astype(dtype)
        rounded = np.nan_to_num(np.rint(array * 3), posinf=9, neginf=9)
        return np.where(rounded == 0, 1, np.abs(rounded)).astype(dtype)

    operands = tuple(
        convert(each) if isinstance(each, np.ndarray) and each.dtype.kind == "f" else each
        for each in sample.operands
    )
    return Sample(operands, sample.options)


def tensors_of(sample: Sample, device: Device, layout: str = "contiguous") -> list[Any]:
    """Return the operands of `sample` on `device`; numbers and None stay what they are."""
    return [
        LAYOUTS[layout](each, device) if isinstance(each, np.ndarray) else each
        for each in sample.operands
    ]


# Layouts: the same values, elsewhere in memory ----------------------------------------------


def filler(dtype: np.dtype[Any]) -> Any:
    """Return what stands between elements: a value that shows when it is read."""
    return math.nan if dtypes.category(dtype) >= 2 else 1


def show(
    storage: Array, device: Device, shape: Sequence[int], strides: Sequence[int], offset: int
) -> Tensor:
    """Return a view of a one-dimensional `storage`, uploaded to `device`."""
    uploaded = device.handle.upload(storage)
    view = device.handle.view(uploaded, tuple(shape), tuple(strides), offset)
    return wrap(view, device)


def contiguous(array: Array, device: Device) -> Tensor:
    """Return `array` in C order."""
    return wrap(device.handle.upload(np.ascontiguousarray(array).reshape(array.shape)), device)


def transposed(array: Array, device: Device) -> Tensor:
    """Return `array` in Fortran order."""
    strides = contiguous_strides(array.shape[::-1])[::-1]
    return show(array.ravel(order="F"), device, array.shape, strides, 0)


def spread(array: Array, device: Device) -> Tensor:
    """Return `array` in every second place of a larger one, along every axis."""
    wide = np.full([2 * size for size in array.shape], filler(array.dtype), array.dtype)
    wide[(slice(None, None, 2),) * array.ndim] = array
    strides = [2 * stride for stride in contiguous_strides(wide.shape)]
    return show(wide.ravel(), device, array.shape, strides, 0)


def offset(array: Array, device: Device) -> Tensor:
    """Return `array` behind three elements of something else."""
    before = np.full(3, filler(array.dtype), array.dtype)
    storage = np.concatenate([before, array.ravel(), before])
    return show(storage, device, array.shape, contiguous_strides(array.shape), 3)


def reversed_(array: Array, device: Device) -> Tensor:
    """Return `array` with the elements in reverse order in memory: all strides negative."""
    strides = [-stride for stride in contiguous_strides(array.shape)]
    last = max(array.size - 1, 0)
    return show(array.ravel()[::-1], device, array.shape, strides, last)


LAYOUTS: Final[dict[str, Callable[[Array, Device], Tensor]]] = {
    "contiguous": contiguous,
    "transposed": transposed,
    "spread": spread,
    "offset": offset,
    "reversed": reversed_,
}
"""Each shows the values of an array; all but the first in an awkward way."""


def repeated(array: Array, device: Device) -> Tensor:
    """Return the first slice of `array` along its last axis, repeated by a stride of 0."""
    if array.ndim == 0 or array.shape[-1] == 0:
        return contiguous(array, device)
    first = array[..., 0]
    strides = (*contiguous_strides(first.shape), 0)
    return show(first.ravel(), device, array.shape, strides, 0)
