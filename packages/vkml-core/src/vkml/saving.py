"""Checkpoints as tensors: what `vkml_io` does with arrays, with the tensors of any device."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import vkml_io
from vkml.device import DeviceLike, device
from vkml.loaded_tensors import tensors_from
from vkml.ops.creation import empty
from vkml.tensor import Tensor
from vkml_io import Checkpoint, load, load_module, save, save_module, save_tree

__all__ = [
    "Checkpoint",
    "load",
    "load_module",
    "load_tensors",
    "load_tree",
    "save",
    "save_module",
    "save_tree",
]

PathLike: TypeAlias = str | os.PathLike[str]


def load_tensors(
    path: PathLike, *, device: DeviceLike = "cpu", keys: Sequence[str] | None = None
) -> dict[str, Tensor]:
    """Return the tensors of a checkpoint, on `device`; views of one memory share it there.

    Parameters
    ----------
    path : path-like
        A `.vkml` file. It is checked before any tensor is made.
    device : str or Device
        Where the tensors go, for example ``"vulkan:0"``. On ``"meta"`` they have shape and dtype,
        and no data is read.
    keys : sequence of str, optional
        Only these, in this order. All by default.

    Raises
    ------
    vkml.io.CheckpointError
        The file is damaged or not a checkpoint. Nothing is loaded in part.
    vkml.io.StateMismatchError
        The checkpoint holds no tensor of that name. It is a KeyError too.

    Examples
    --------
    >>> import vkml
    >>> vkml.save("weights.vkml", {"w": vkml.ones(2)})
    >>> vkml.load_tensors("weights.vkml")
    {'w': tensor([1., 1.])}
    """
    destination = _device(device)
    if destination.type == "meta":
        return {
            entry.key: empty(entry.shape, dtype=entry.dtype, device=destination)
            for entry in _entries(path, keys)
        }
    return tensors_from(load(path, keys=keys, mmap=False).tensors, destination)


def load_tree(path: PathLike, *, device: DeviceLike = "cpu") -> Any:
    """Return the nested structure that `save_tree` wrote, with tensors on `device`.

    Parameters
    ----------
    path : path-like
        A `.vkml` file. It is checked before any tensor is made.
    device : str or Device
        Where the tensors go. On ``"meta"`` they have shape and dtype, and no data is read.

    Raises
    ------
    vkml.io.CheckpointError
        The file is damaged or not a checkpoint. Nothing is loaded in part.

    Examples
    --------
    >>> import vkml
    >>> vkml.save_tree("state.vkml", {"step": 7, "moments": [vkml.zeros(2), vkml.ones(2)]})
    >>> vkml.load_tree("state.vkml")
    {'step': 7, 'moments': [tensor([0., 0.]), tensor([1., 1.])]}
    """
    destination = _device(device)
    tree = vkml_io.load_tree(path, data=destination.type != "meta", mmap=False)
    arrays: dict[str, NDArray[Any]] = {}
    _collect(tree, arrays)
    return _replaced(tree, tensors_from(arrays, destination))


def _collect(tree: Any, arrays: dict[str, NDArray[Any]]) -> None:
    """Put each array of `tree` into `arrays`, under its number in the order of a walk."""
    if isinstance(tree, np.ndarray):
        arrays[str(len(arrays))] = tree
    elif isinstance(tree, dict | list | tuple):
        for each in tree.values() if isinstance(tree, dict) else tree:
            _collect(each, arrays)


def _replaced(tree: Any, tensors: dict[str, Tensor]) -> Any:
    """Return `tree` with the tensors, taken out one by one, in place of its arrays."""
    if isinstance(tree, np.ndarray):
        return tensors.pop(next(iter(tensors)))
    if isinstance(tree, dict):
        return {key: _replaced(each, tensors) for key, each in tree.items()}
    if isinstance(tree, list | tuple):
        return type(tree)([_replaced(each, tensors) for each in tree])
    return tree


def _entries(path: PathLike, keys: Sequence[str] | None) -> list[vkml_io.Entry]:
    """Return what the checkpoint holds under `keys`, without reading an array."""
    entries = {entry.key: entry for entry in vkml_io.inspect(path)}
    if keys is None:
        return list(entries.values())
    if isinstance(keys, str):
        raise TypeError("keys must be a sequence of str, not one str")
    wanted = tuple(keys)
    missing = [key for key in wanted if key not in entries]
    if missing:
        message = f"the checkpoint has no {', '.join(map(repr, missing[:3]))}"
        raise vkml_io.StateMismatchError(message, path=os.fspath(path))
    return [entries[key] for key in wanted]


_device = device
