"""`inspect`: what a checkpoint holds, without reading an array."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vkml_io.archive import Archive
from vkml_io.errors import naming
from vkml_io.format import Limits
from vkml_io.key_view import logical_strides
from vkml_io.logical_dtypes import itemsize_of
from vkml_io.npy import contiguous_strides
from vkml_io.source import path_of

if TYPE_CHECKING:
    from vkml_io.aliases import PathLike


@dataclass(frozen=True, slots=True)
class Entry:
    """One array of a checkpoint.

    Attributes
    ----------
    key : str
        Its name.
    dtype : str
        The logical dtype, for example "float32".
    shape : tuple of int
        The lengths of the axes.
    strides : tuple of int
        The strides in bytes.
    storage : str
        What holds its bytes; equal for arrays that share memory.
    member : str
        The member of the archive.
    data_offset : int
        The byte of the file where the values start (where the packed stream starts, if packed).
    nbytes : int
        The size of the values in bytes; of dtypes below eight bits, a byte each.
    stored_bytes : int
        What the member takes in the file.
    crc32 : int
        The checksum of the member.
    """

    key: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    storage: str
    member: str
    data_offset: int
    nbytes: int
    stored_bytes: int
    crc32: int


def inspect(path: PathLike) -> tuple[Entry, ...]:
    """Return an entry for each array, from the header and the index alone.

    Parameters
    ----------
    path : path-like
        The file.

    Raises
    ------
    CheckpointError
        The file is damaged or not a checkpoint.

    Examples
    --------
    >>> import numpy as np, vkml_io
    >>> vkml_io.save("model.vkml", {"w": np.ones((2, 3), "f4")})
    >>> [(e.key, e.dtype, e.shape, e.nbytes) for e in vkml_io.inspect("model.vkml")]
    [('w', 'float32', (2, 3), 24)]
    """
    with naming(path_of(path)), Archive(path, Limits()) as archive:
        return list_entries(archive)


def list_entries(archive: Archive) -> tuple[Entry, ...]:
    """Return the entries of an open archive; without an index, from each array's own header."""
    return tuple(_entry(archive, key) for key in archive.header.keys)


def _entry(archive: Archive, key: str) -> Entry:
    header = archive.header
    member = archive.members[header.member_of(key)]
    view = header.features.views.get(key)
    if header.index is None:
        found = archive.find(key)
        dtype, shape, offset = found.dtype, found.shape, found.data_offset
        strides = logical_strides(found)
    else:
        index = header.index.decode(archive.positions[key])
        dtype, shape, offset = index.dtype, index.shape, index.data_offset
        itemsize = itemsize_of(dtype)
        strides = contiguous_strides(shape, itemsize, fortran_order=index.fortran_order)
    if view is not None:
        dtype, shape, strides = view.dtype, view.shape, view.strides
    return Entry(
        key,
        dtype,
        shape,
        strides,
        member.name,
        member.name,
        offset,
        math.prod(shape) * itemsize_of(dtype),
        member.stored_size,
        member.crc32,
    )
