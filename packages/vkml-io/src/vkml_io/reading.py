"""Arrays out of an archive: copied, mapped or verified (D7 to D10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vkml_io.checksums import Checksums
from vkml_io.contents import CHUNK, check_crc, chunks
from vkml_io.errors import violation
from vkml_io.format import DEFLATED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vkml_io.aliases import Array
    from vkml_io.archive import Archive
    from vkml_io.array_place import ArrayPlace


def read_array(archive: Archive, place: ArrayPlace, *, verify: bool) -> Array:
    """Return the array at `place` as a fresh, writable one, after D9 and D10."""
    array = place.npy.empty()
    check_values(place, fill_array(archive, place, array), verify=verify)
    return array


def fill_array(archive: Archive, place: ArrayPlace, array: Array) -> Array:
    """Read the array at `place` into `array`, which has its dtype and shape.

    Return the values in the memory order of the file, for `check_values`: `array` itself, or a
    copy if its order is another one.
    """
    npy = place.npy
    in_order = array.flags.f_contiguous if npy.fortran_order else array.flags.c_contiguous
    values = array if in_order else npy.empty()
    buffer = array_bytes(values)
    if place.member.method == DEFLATED:
        _fill_from_chunks(archive, place, buffer)
    else:
        archive.source.read_into(buffer, place.data_start)
    if values is not array:
        array[...] = values
    return values


def check_values(place: ArrayPlace, values: Array, *, verify: bool) -> None:
    """Compare the checksums of values in file order (D9), and check bools (D10)."""
    if verify:
        parts = (place.npy_bytes, array_bytes(values))
        _check_sums(place, Checksums(parts, sha256=place.sha256 is not None))
    check_bools(place, values)


def array_bytes(array: Array) -> memoryview:
    """Return the memory of a contiguous array, in either order, as bytes."""
    flat = array.reshape(-1, order="A" if array.flags.c_contiguous else "F")
    return flat.view(np.uint8).data if flat.nbytes else memoryview(bytearray())


def pieces_in_c_order(array: Array) -> Iterator[Array]:
    """Yield the values of an array of any strides as flat arrays of bounded size.

    Each is overwritten by the next.
    """
    iterator = np.nditer(
        array,
        flags=["external_loop", "buffered", "zerosize_ok"],
        buffersize=max(CHUNK // array.itemsize, 1),
        order="C",
    )
    for values in iterator:
        yield np.asarray(values)


def scan_values(archive: Archive, place: ArrayPlace, *, verify: bool = True) -> Iterator[Array]:
    """Yield the values at `place` as flat arrays of bounded size, then compare the checksums.

    The caller must go to the end, or nothing is compared (D8, D9).
    """
    dtype = place.npy.dtype
    checksums = Checksums((), sha256=place.sha256 is not None)
    skip, left = place.npy.size, b""
    for piece in chunks(archive.source, place.member, place.member_start):
        checksums.update(piece)
        data = left + piece[skip:] if left or skip else piece
        skip = max(skip - len(piece), 0)
        whole = len(data) - len(data) % dtype.itemsize
        left = data[whole:]
        yield np.frombuffer(data, dtype, count=whole // dtype.itemsize)
    if verify:
        _check_sums(place, checksums)


def check_bools(place: ArrayPlace, array: Array) -> None:
    """Refuse bool bytes other than 0 and 1, with which NumPy's results are undefined (D10)."""
    if holds_odd_bools(array):
        raise violation(
            "D10",
            "a bool is neither 0 nor 1",
            member=place.member.name,
            offset=place.member_start,
        )


def holds_odd_bools(array: Array) -> bool:
    """Return whether a bool of `array` is neither 0 nor 1 in memory."""
    return array.dtype == np.bool_ and array.size > 0 and int(array.view(np.uint8).max()) > 1


def _check_sums(place: ArrayPlace, found: Checksums) -> None:
    """Compare checksums with those of the directory and of `vkml.json` (D9)."""
    check_crc(place.member, found.crc32)
    if found.sha256 != place.sha256:
        raise violation(
            "D9",
            f"its SHA-256 is {found.sha256}, not {place.sha256} as vkml.json says",
            member=place.member.name,
            offset=place.member_start,
        )


def _fill_from_chunks(archive: Archive, place: ArrayPlace, buffer: memoryview) -> None:
    skip, position = place.npy.size, 0
    for piece in chunks(archive.source, place.member, place.member_start):
        values = piece[skip:]
        skip = max(skip - len(piece), 0)
        buffer[position : position + len(values)] = values
        position += len(values)
