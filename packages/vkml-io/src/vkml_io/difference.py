"""`diff`: what differs between two checkpoints, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml_io.archive import Archive
from vkml_io.contents import CHUNK
from vkml_io.digest import key_order
from vkml_io.errors import naming
from vkml_io.format import Limits
from vkml_io.logical_dtypes import as_logical
from vkml_io.metadata import encode_metadata
from vkml_io.progress import Progress
from vkml_io.source import path_of
from vkml_io.value_stream import cut_evenly, stream_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vkml_io.aliases import Array, OnProgress, PathLike
    from vkml_io.key_view import KeyView

_PIECE = CHUNK // 16  # values of each file that are compared at a time


@dataclass(frozen=True, slots=True)
class ArrayChange:
    """An array that both checkpoints have, and not alike.

    Attributes
    ----------
    key : str
        Its name.
    dtypes : tuple of str
        The logical dtype in the first and in the second file.
    shapes : tuple of tuple of int
        The shape in the first and in the second file.
    differing : int or None
        How many values differ, bit for bit if the dtypes are the same; None if the shapes differ.
    max_abs_difference : float or None
        The largest distance between two values of one place: NaN where a NaN faces a number, and
        None if the shapes differ.
    """

    key: str
    dtypes: tuple[str, str]
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    differing: int | None
    max_abs_difference: float | None


@dataclass(frozen=True, slots=True)
class MetadataChange:
    """A value of the metadata that is not the same in both checkpoints.

    Attributes
    ----------
    place : str
        Where it stands, for example "['optimizer']['lr']".
    before, after
        The value in the first and in the second file; `Ellipsis` where there is none.
    """

    place: str
    before: Any  # Any: whatever JSON can say
    after: Any  # Any: whatever JSON can say


@dataclass(frozen=True, slots=True)
class Difference:
    """What `diff` found.

    Attributes
    ----------
    only_in_first, only_in_second : tuple of str
        The keys that the other file does not have, sorted.
    changed : tuple of ArrayChange
        The arrays that are not alike, in the order of their keys.
    metadata : tuple of MetadataChange
        The metadata that are not alike.
    """

    only_in_first: tuple[str, ...]
    only_in_second: tuple[str, ...]
    changed: tuple[ArrayChange, ...]
    metadata: tuple[MetadataChange, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs. The order of the keys does not count."""
        return not (self.only_in_first or self.only_in_second or self.changed or self.metadata)

    def to_json(self) -> dict[str, Any]:  # Any: plain JSON values
        """Return the differences as values that JSON can say; numbers as in the metadata."""
        return {
            "equal": self.is_empty,
            "only_in_first": list(self.only_in_first),
            "only_in_second": list(self.only_in_second),
            "changed": [
                {
                    "key": change.key,
                    "dtypes": list(change.dtypes),
                    "shapes": [list(shape) for shape in change.shapes],
                    "differing": change.differing,
                    **encode_metadata({"max_abs_difference": change.max_abs_difference}),
                }
                for change in self.changed
            ],
            "metadata": [
                {"place": change.place}
                | {
                    side: encode_metadata({side: value})[side]
                    for side, value in (("before", change.before), ("after", change.after))
                    if value is not ...
                }
                for change in self.metadata
            ],
        }


def diff(
    first: PathLike,
    second: PathLike,
    *,
    max_expansion_ratio: float = 100.0,
    progress: OnProgress | None = None,
) -> Difference:
    """Return what differs between two checkpoints.

    Both are checked as by `load`, and read side by side, a piece at a time. Order of keys,
    compression, alignment, byte order and memory order are no differences: if no array differs,
    the digests of both files are the same.

    Parameters
    ----------
    first, second : path-like
        The files.
    max_expansion_ratio : float
        As in `load`.
    progress : callable, optional
        Called with a `Progress` after each array of the first file.

    Raises
    ------
    CheckpointError
        One of the files is damaged or not a checkpoint.

    Examples
    --------
    >>> import numpy as np, vkml_io
    >>> vkml_io.save("a.vkml", {"w": np.zeros(3), "b": np.ones(2)}, {"epoch": 1})
    >>> vkml_io.save("b.vkml", {"w": np.array([0, 0.5, 0])}, {"epoch": 2})
    >>> found = vkml_io.diff("a.vkml", "b.vkml")
    >>> found.only_in_first, found.changed[0].differing, found.changed[0].max_abs_difference
    (('b',), 1, 0.5)
    >>> found.metadata
    (MetadataChange(place="['epoch']", before=1, after=2),)
    """
    limits = Limits(max_expansion_ratio=max_expansion_ratio)
    with _opened(first, limits) as a, _opened(second, limits) as b:
        changed = tuple(_changes(a, b, progress))
        for archive in (a, b):
            with naming(archive.source.path):
                archive.source.check_unchanged()
        return Difference(
            tuple(key for key in key_order(a.positions) if key not in b.positions),
            tuple(key for key in key_order(b.positions) if key not in a.positions),
            changed,
            tuple(metadata_changes(a.header.metadata, b.header.metadata)),
        )


def metadata_changes(before: Any, after: Any, place: str = "") -> Iterator[MetadataChange]:
    """Yield where two values that JSON can say differ; NaN is equal to NaN."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            yield from metadata_changes(
                before.get(key, ...), after.get(key, ...), f"{place}[{key!r}]"
            )
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            first, second = (
                values[index] if index < len(values) else ... for values in (before, after)
            )
            yield from metadata_changes(first, second, f"{place}[{index}]")
    elif type(before) is not type(after) or repr(before) != repr(after):
        yield MetadataChange(place, before, after)


def _opened(path: PathLike, limits: Limits) -> Archive:
    with naming(path_of(path)):
        archive = Archive(path, limits)
        try:
            archive.check_layout()
            for key in archive.positions:
                archive.find(key)
        except BaseException:
            archive.close()
            raise
        return archive


def _changes(a: Archive, b: Archive, progress: OnProgress | None) -> Iterator[ArrayChange]:
    total = sum(a.find(key).value_bytes for key in a.positions)
    done = 0
    for key in key_order(a.positions):
        if key in b.positions:
            change = _compare(key, a, b)
            if change is not None:
                yield change
        done += a.find(key).value_bytes
        if progress is not None:
            progress(Progress(done, total, key))


def _compare(key: str, a: Archive, b: Archive) -> ArrayChange | None:
    """Return how the two arrays of `key` differ, if they do."""
    first, second = a.find(key), b.find(key)
    dtypes = (first.dtype, second.dtype)
    shapes = (first.shape, second.shape)
    if first.shape != second.shape:
        return ArrayChange(key, dtypes, shapes, None, None)
    differing, largest = 0, 0.0
    for bits in zip(_pieces(a, key), _pieces(b, key), strict=True):
        x, y = _numbers(first, bits[0]), _numbers(second, bits[1])
        unequal = _unequal(*bits) if dtypes[0] == dtypes[1] else _unequal(x, y)
        count = int(np.count_nonzero(unequal))
        if count:
            differing += count
            largest = float(np.maximum(largest, _distance(x[unequal], y[unequal])))
    if differing == 0 and dtypes[0] == dtypes[1]:
        return None
    return ArrayChange(key, dtypes, shapes, differing, largest)


def _pieces(archive: Archive, key: str) -> Iterator[Array]:
    with naming(archive.source.path):
        yield from cut_evenly(stream_key(archive, archive.find(key)), _PIECE)


def _numbers(view: KeyView, bits: Array) -> Array:
    """Return the values whose bits these are, of a dtype that NumPy lacks as float32."""
    if view.logical is None:
        return bits
    return as_logical(bits, view.dtype, view.key).astype(np.float32)


def _unequal(x: Array, y: Array) -> Array:
    """Return where two pieces differ: in a bit if they are of one dtype, else in value."""
    if x.dtype != y.dtype:
        different: Array = (x != y) & ~((x != x) & (y != y))  # NaN alone is not itself
        return different
    # As integers: of floats some bits do not count. complex128 has two integers.
    width = min(x.dtype.itemsize, 8)
    first, second = (each.view(f"u{width}").reshape(x.size, -1) for each in (x, y))
    in_a_bit: Array = np.not_equal(first, second).any(axis=1)
    return in_a_bit


def _distance(x: Array, y: Array) -> float:
    """Return the largest distance between values of one place."""
    if x.dtype == y.dtype and x.dtype.kind in "iu":
        # The distance of two int64 may need 64 bits without a sign.
        unsigned = np.dtype(f"u{x.dtype.itemsize}")
        apart = np.maximum(x, y).astype(unsigned) - np.minimum(x, y).astype(unsigned)
        return float(apart.max())
    wide = np.complex128 if "c" in (x.dtype.kind, y.dtype.kind) else np.float64
    with np.errstate(all="ignore"):
        return float(np.abs(x.astype(wide) - y.astype(wide)).max())
