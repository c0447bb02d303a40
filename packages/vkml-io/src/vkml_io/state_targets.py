"""The tensors of a module, seen structurally: what they are, and how values get into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from vkml_io.entry import entry_of
from vkml_io.format import DTYPE_NAMES
from vkml_io.torch_arrays import as_torch, is_of_torch

if TYPE_CHECKING:
    from collections.abc import Hashable

    from vkml_io.aliases import Array

# Any in this module: a state dict holds the tensors of any library.

Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]

# Of a floating dtype that NumPy lacks, the kinds of NumPy dtypes that "same_kind" lets in.
_INTO_FLOATING = "biuf"
_WIDE = ("float32", "float64")


def is_writable(target: Any) -> bool:
    """Return whether this is a tensor that values can be copied into."""
    if isinstance(target, np.ndarray):
        return target.flags.writeable
    return all(hasattr(target, name) for name in ("shape", "dtype", "copy_"))


def dtype_name(target: Any) -> str:
    """Return the logical dtype of a tensor by name, for example "float32" or "bfloat16"."""
    dtype = target.dtype
    name = getattr(dtype, "name", None)
    return name if isinstance(name, str) else str(dtype).rpartition(".")[2]  # "torch.float32"


def cast_allowed(source_name: str, descr: str, target_name: str, cast: Casting) -> bool:
    """Return whether values of dtype `source_name` may go into a tensor of `target_name`.

    `descr` is the dtype of the values in the file, or of their carrier.
    """
    native = DTYPE_NAMES.values()
    if source_name in native and target_name in native:
        return np.can_cast(np.dtype(descr), np.dtype(target_name), casting=cast)
    if source_name == target_name or cast == "unsafe":
        return True
    # bfloat16 and its like: casts into them lose digits. int4 and objects are no such.
    if source_name in native:
        fits = "float" in target_name and np.dtype(descr).kind in _INTO_FLOATING
    else:
        # float32 has all values of every narrower dtype.
        fits = "float" in target_name
        if target_name in _WIDE and cast == "safe":
            return True
    return cast == "same_kind" and fits


def memory_identity(target: Any) -> Hashable:
    """Return a token that is equal for tensors that are the same memory seen in the same way."""
    if isinstance(target, np.ndarray):
        return (target.__array_interface__["data"][0], target.shape, target.strides)
    entry = entry_of(target)
    if entry is not None:
        return (entry.storage, entry.offset, entry.shape, entry.strides)
    if is_of_torch(target):
        return (str(target.device), target.data_ptr(), tuple(target.shape), target.stride())
    return id(target)


def copy_into(target: Any, array: Array) -> None:
    """Write `array` into a tensor in place; it keeps its device and dtype."""
    if isinstance(target, np.ndarray):
        np.copyto(target, array, casting="unsafe")  # the caller asked `cast_allowed`
        return
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    if is_of_torch(target):
        target.copy_(as_torch(native))
    else:
        target.copy_(native)
