"""`digest`: one number for what a checkpoint holds, however it is written down."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

from vkml_io.archive import Archive
from vkml_io.errors import naming, quoted
from vkml_io.format import Limits
from vkml_io.logical_dtypes import itemsize_of
from vkml_io.progress import Progress
from vkml_io.source import path_of
from vkml_io.value_stream import stream_key, stream_value
from vkml_io.values import StorageCache, as_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vkml_io.aliases import Array, OnProgress, PathLike

_BEGINNING = b"vkml-content-1\n"  # so that no other hash of the same bytes can be taken for this
_NUMBER = struct.Struct("<Q")


def digest(
    source: PathLike | BinaryIO | Mapping[str, Any],  # Any: whatever np.asarray takes
    *,
    max_expansion_ratio: float = 100.0,
    progress: OnProgress | None = None,
) -> str:
    """Return the SHA-256 of the arrays of a checkpoint, in hexadecimal.

    It is taken over key, dtype, shape and values of each array, and it is equal for equal content:
    the order of the keys, compression, alignment, byte order and memory order do not
    matter, nor do the metadata. ``docs/format.md`` says which bytes are hashed.

    Parameters
    ----------
    source : path-like, binary file, or dict of str to array-like
        A checkpoint, or arrays as `save` takes them. Of a file every check is made, as by `load`,
        and one piece is in memory at a time (one array, if it is in Fortran order; one storage, if
        arrays share memory).
    max_expansion_ratio : float
        As in `load`.
    progress : callable, optional
        Called with a `Progress` after each piece.

    Raises
    ------
    CheckpointError
        The file is damaged or not a checkpoint.
    TypeError
        An array is of a type that the format cannot hold.

    Examples
    --------
    >>> import numpy as np, vkml_io
    >>> arrays = {"w": np.eye(2), "b": np.zeros(3, "<f4")}
    >>> vkml_io.save("model.vkml", arrays, compress=True)
    >>> vkml_io.digest("model.vkml") == vkml_io.digest({"b": np.zeros(3, ">f4"), "w": np.eye(2)})
    True
    """
    if isinstance(source, Mapping):
        return _digest_arrays(source, progress)
    with naming(path_of(source)):
        return _digest_file(source, Limits(max_expansion_ratio=max_expansion_ratio), progress)


class ContentDigest:
    """The digest of arrays that are given one after the other, in the order of `key_order`."""

    def __init__(self, total: int, progress: OnProgress | None) -> None:
        self._hash = hashlib.sha256(_BEGINNING)
        self._total = total
        self._done = 0
        self._progress = progress

    def add(self, key: str, dtype: str, shape: tuple[int, ...], pieces: Iterable[Array]) -> None:
        """Take one array: its logical dtype, its shape and its values (see `value_stream`)."""
        for text in (key, dtype):
            encoded = text.encode("utf-8")
            self._hash.update(_NUMBER.pack(len(encoded)) + encoded)
        self._hash.update(b"".join(map(_NUMBER.pack, (len(shape), *shape))))
        for piece in pieces:
            self._hash.update(piece.data)
            self._done += piece.nbytes
            if self._progress is not None:
                self._progress(Progress(self._done, self._total, key))

    @property
    def hex(self) -> str:
        """The digest of what was added, in hexadecimal."""
        return self._hash.hexdigest()


def key_order(keys: Iterable[str]) -> list[str]:
    """Return the keys in the order of their UTF-8 bytes, which is that of their code points."""
    return sorted(keys)


def _digest_file(source: PathLike | BinaryIO, limits: Limits, progress: OnProgress | None) -> str:
    with Archive(source, limits) as archive:
        archive.check_layout()
        views = {key: archive.find(key) for key in key_order(archive.positions)}
        content = ContentDigest(sum(view.value_bytes for view in views.values()), progress)
        for key, view in views.items():
            content.add(key, view.dtype, view.shape, stream_key(archive, view))
        archive.source.check_unchanged()
        return content.hex


def _digest_arrays(
    arrays: Mapping[str, Any],  # Any: whatever np.asarray takes
    progress: OnProgress | None,
) -> str:
    for key in arrays:
        if not isinstance(key, str):
            raise TypeError(f"keys must be str, not {type(key).__name__} ({quoted(repr(key))})")
    values = {key: as_value(key, arrays[key]) for key in key_order(arrays)}
    total = sum(math.prod(value.shape) * itemsize_of(value.dtype) for value in values.values())
    content = ContentDigest(total, progress)
    storages = StorageCache()
    for key, value in values.items():
        content.add(key, value.dtype, value.shape, stream_value(value, storages))
    return content.hex
