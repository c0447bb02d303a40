"""Arrays that may share memory as tensors on a device: each storage is uploaded once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vkml.device import Device
from vkml.ops.creation import empty
from vkml.ops.from_data import as_tensor, tensor
from vkml.tensor import Tensor, wrap


def tensors_from(arrays: Mapping[str, NDArray[Any]], device: Device) -> dict[str, Tensor]:
    """Return the arrays as tensors on `device`; those that share memory share it there.

    On the CPU their memory is taken over. Arrays that a tensor cannot be a view of (of the other
    byte order, or not aligned to their item size) are copied.
    """
    if device.type == "meta":
        return {
            key: empty(each.shape, dtype=each.dtype, device=device) for key, each in arrays.items()
        }
    if device.type == "cpu":
        return {
            key: as_tensor(each) if _is_view(each, _root(each)) else tensor(each)
            for key, each in arrays.items()
        }
    users = Counter(id(_root(each)) for each in arrays.values())
    storages: dict[int, Any] = {}  # the uploaded storages, by the array that owns their memory
    result = {}
    for key, each in arrays.items():
        root = _root(each)
        alone = users[id(root)] == 1 and each.nbytes == root.nbytes
        if alone or not _is_view(each, root) or min(each.strides, default=0) < 0:
            result[key] = tensor(each, device=device)
            continue
        if id(root) not in storages:
            storages[id(root)] = device.handle.upload(_bytes_of(root))
        result[key] = _view(each, root, storages[id(root)], device)
    return result


def _is_view(array: NDArray[Any], root: NDArray[Any]) -> bool:
    """Return whether a tensor can be a view of the memory of `root` as this array is."""
    item = array.itemsize
    steps = (_offset(array, root), *array.strides)
    return array.dtype.isnative and root.flags.forc and not any(step % item for step in steps)


def _view(array: NDArray[Any], root: NDArray[Any], storage: Any, device: Device) -> Tensor:
    """Return a tensor that lies in an uploaded storage as `array` lies in `root`."""
    item = array.itemsize
    strides = tuple([stride // item for stride in array.strides])
    offset = _offset(array, root) // item
    return wrap(device.handle.view(storage, array.shape, strides, offset, array.dtype), device)


def _offset(array: NDArray[Any], root: NDArray[Any]) -> int:
    start: int = array.__array_interface__["data"][0]
    base: int = root.__array_interface__["data"][0]
    return start - base


def _bytes_of(root: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the memory of a contiguous array as bytes, in the order in which they lie."""
    flat = root.reshape(-1, order="C" if root.flags.c_contiguous else "F")
    return flat.view(np.uint8)


def _root(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
