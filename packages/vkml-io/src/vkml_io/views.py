"""`"views"` of `vkml.json`: arrays that share memory, as places in a common storage (G2, G3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from vkml_io.errors import CheckpointError, ExpansionError, quoted, violation
from vkml_io.format import DTYPE_NAMES, MAX_ARRAY_BYTES, MAX_VIEW_DIMENSIONS
from vkml_io.logical_dtypes import LOGICAL_DTYPES, descr_of, itemsize_of
from vkml_io.names import is_storage_name

# Any in this module: foreign JSON.

_FIELDS = {"storage", "dtype", "shape", "strides", "offset"}
_BIG_ENDIAN = ">"  # the value of the field "order", which is absent otherwise
_DTYPE_NAMES = frozenset(DTYPE_NAMES.values()) | LOGICAL_DTYPES.keys()


@dataclass(frozen=True, slots=True)
class View:
    """Where the values of a key lie in a storage, in bytes.

    Attributes
    ----------
    storage : str
        A key with a member of its own, or ``storages/N``.
    dtype : str
        The logical dtype. Of dtypes below eight bits each value takes a byte.
    big_endian : bool
        Whether the values are big-endian.
    shape, strides : tuple of int
        The lengths and the steps of the axes.
    offset : int
        Where in the storage the first value lies.
    """

    storage: str
    dtype: str
    big_endian: bool
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    @property
    def descr(self) -> str:
        """The `descr` of the values, or of their carrier."""
        return descr_of(self.dtype, big_endian=self.big_endian)

    @property
    def nbytes(self) -> int:
        """The size of the values, each counted wherever the view shows it."""
        return math.prod(self.shape) * itemsize_of(self.dtype)

    def extent(self) -> tuple[int, int]:
        """Return the first byte of the storage that the view touches, and the end of the last."""
        return extent_of(self.shape, self.strides, self.offset, itemsize_of(self.dtype))

    def to_json(self) -> dict[str, Any]:
        """Return the entry of `"views"`."""
        entry: dict[str, Any] = {"storage": self.storage, "dtype": self.dtype}
        if self.big_endian:
            entry["order"] = _BIG_ENDIAN
        shape, strides = list(self.shape), list(self.strides)
        return entry | {"shape": shape, "strides": strides, "offset": self.offset}


def extent_of(
    shape: tuple[int, ...], strides: tuple[int, ...], offset: int, itemsize: int
) -> tuple[int, int]:
    """Return the first byte that an array touches, and the end of the last; equal if empty."""
    if 0 in shape:
        return offset, offset
    low, high = offset, offset + itemsize
    for length, stride in zip(shape, strides, strict=True):
        reach = (length - 1) * stride
        if reach < 0:
            low += reach
        else:
            high += reach
    return low, high


def parse_views(value: Any, keys: frozenset[str]) -> dict[str, View]:
    """Return the views by key, after what G2 and G3 say of them alone."""
    if not isinstance(value, dict) or not value:
        raise violation("G2", "'views' is not an object with an entry for each view")
    unknown = [key for key in value if key not in keys]
    if unknown:
        raise violation("G3", f"'views' has {quoted(unknown[0])}, which 'keys' does not list")
    views = {key: _parse(key, entry) for key, entry in value.items()}
    for key, view in views.items():
        if is_storage_name(view.storage):
            continue
        if view.storage not in keys or view.storage in views:
            raise _g2(key, f"its storage {quoted(view.storage)} is no key with a member of its own")
    return views


def check_views_size(views: dict[str, View], file_size: int, ratio: float) -> None:
    """Refuse views that show far more bytes than the file has (G2)."""
    total = sum(view.nbytes for view in views.values())
    if total > ratio * file_size:
        raise ExpansionError(
            f"its views show {total} bytes, {total / file_size:.0f} times the size of the file; "
            f"if you trust it, raise max_expansion_ratio={ratio:g}",
            code="G2",
        )


def check_extent(key: str, view: View, storage_nbytes: int) -> None:
    """Refuse a view that reaches out of its storage (G2)."""
    low, high = view.extent()
    if low < 0 or high > storage_nbytes:
        raise _g2(key, f"it touches bytes {low} to {high} of a storage of {storage_nbytes} bytes")


def _parse(key: str, entry: Any) -> View:
    if not isinstance(entry, dict) or entry.keys() - {"order"} != _FIELDS:
        raise _g2(key, f"its fields are not {', '.join(sorted(_FIELDS))} (and 'order')")
    storage, dtype, offset = entry["storage"], entry["dtype"], entry["offset"]
    if not isinstance(storage, str):
        raise _g2(key, "its storage is not a string")
    if not isinstance(dtype, str) or dtype not in _DTYPE_NAMES:
        raise violation("G4", f"the view {quoted(key)} has the unknown dtype {quoted(str(dtype))}")
    order = entry.get("order")
    if order not in (None, _BIG_ENDIAN) or ("order" in entry and not _has_order(dtype)):
        raise _g2(key, f"its 'order' is not {_BIG_ENDIAN!r}, or its dtype has no order")
    shape, strides = _numbers(key, entry, "shape"), _numbers(key, entry, "strides")
    if len(shape) != len(strides) or len(shape) > MAX_VIEW_DIMENSIONS:
        raise _g2(
            key,
            f"{len(shape)} lengths and {len(strides)} strides; they must be equally many, at most "
            f"{MAX_VIEW_DIMENSIONS}",
        )
    if type(offset) is not int or min(offset, *shape, 0) < 0:
        raise _g2(key, "its offset or a length is negative or no integer")
    size = math.prod(max(length, 1) for length in shape) * itemsize_of(dtype)
    if size > MAX_ARRAY_BYTES:
        raise _g2(key, f"the shape {shape} is larger than any memory")
    return View(storage, dtype, order is not None, shape, strides, offset)


def _numbers(key: str, entry: dict[str, Any], field: str) -> tuple[int, ...]:
    numbers = entry[field]
    if not isinstance(numbers, list) or not all(
        type(number) is int and abs(number) <= MAX_ARRAY_BYTES for number in numbers
    ):
        raise _g2(key, f"its {field} is not a list of 64-bit integers")
    return tuple(numbers)


def _has_order(dtype: str) -> bool:
    return dtype not in LOGICAL_DTYPES and itemsize_of(dtype) > 1


def _g2(key: str, message: str) -> CheckpointError:
    return violation("G2", f"the view {quoted(key)}: {message}")
