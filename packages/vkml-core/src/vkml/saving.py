"""Checkpoints as tensors: what `vkml_io` does with arrays, with the tensors of any device."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeAlias

import vkml_io
from vkml.device import DeviceLike, device
from vkml.ops.creation import empty
from vkml.ops.from_data import tensor
from vkml.ops.functions import FUNCTIONS
from vkml.tensor import Tensor
from vkml_io import Checkpoint, load, load_module, save, save_module

__all__ = ["Checkpoint", "load", "load_module", "load_tensors", "save", "save_module"]

PathLike: TypeAlias = str | os.PathLike[str]


def load_tensors(
    path: PathLike, *, device: DeviceLike = "cpu", keys: Sequence[str] | None = None
) -> dict[str, Tensor]:
    """Return the tensors of a checkpoint, on `device`.

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
    arrays = load(path, keys=keys).tensors
    if destination.type == "cpu":  # the arrays are fresh: their memory can be taken over
        return {key: FUNCTIONS["as_tensor"](array) for key, array in arrays.items()}
    return {key: tensor(array, device=destination) for key, array in arrays.items()}


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
