"""Writing the archive: members one after the other, with as few calls as possible."""

from __future__ import annotations

import os
import zlib
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vkml_io import platform
from vkml_io.archive_end import build_archive_end
from vkml_io.beside import running
from vkml_io.checksums import Checksums
from vkml_io.contents import CHUNK
from vkml_io.directory import Member
from vkml_io.format import DEFAULT_EXPANSION_RATIO, DEFLATED, FLAG_UTF8, STORED
from vkml_io.local_header import build_local_header, local_header_size
from vkml_io.reading import array_bytes, pieces_in_c_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vkml_io.aliases import Array

_BATCH = 2**23  # bytes of small members that are collected for one call
_SMALL = 2**20  # members from this size on are written at once, the CRC being made beside that


class Written(NamedTuple):
    """Where a member came to lie."""

    start: int  # of its bytes, packed or not
    packed: bool
    sha256: str | None


class ArchiveWriter:
    """Writes members to a new file, and at the end the directory.

    Parameters
    ----------
    descriptor : int
        An empty file, open for writing.
    align : int
        Members start at multiples of it.
    sha256 : bool
        Compute the SHA-256 of each member.
    """

    def __init__(self, descriptor: int, *, align: int, sha256: bool) -> None:
        self._descriptor = descriptor
        self._align = align
        self._sha256 = sha256
        self._members: list[Member] = []
        self._position = 0
        self._batch = bytearray()
        self._batch_start = 0

    def add_array(
        self, name: str, npy_header: bytes, array: Array, *, compress: bool, shown: int = 0
    ) -> Written:
        """Write one array; packed if that is asked for and makes it smaller.

        `shown` is how many bytes views show of it, which a reader counts as unpacked ones.
        """
        if compress and array.nbytes:
            written = self._add_packed(name, npy_header, array, shown)
            if written is not None:
                return written
        contiguous = array.flags.c_contiguous or array.flags.f_contiguous
        if contiguous or array.nbytes < _SMALL:
            whole = array if contiguous else np.ascontiguousarray(array)
            return self.add_bytes(name, [npy_header, array_bytes(whole)], align=self._align)
        return self._add_strided(name, npy_header, array)

    def add_bytes(self, name: str, parts: list[platform.Buffer], *, align: int) -> Written:
        """Write a stored member whose bytes are in memory."""
        size = sum(map(len, parts))
        if size < _SMALL:
            checksums = Checksums(parts, sha256=self._sha256)
            member = self._member(name, STORED, checksums.crc32, size, size)
            local = build_local_header(member, align)
            self._batch += local
            for part in parts:
                self._batch += part
            start = self._advance(member, local)
            if self._position - self._batch_start >= _BATCH:
                self._flush()
            return Written(start, False, checksums.sha256)
        self._flush()
        draft = self._member(name, STORED, 0, size, size)
        start = self._position + local_header_size(draft, align)
        # zlib, hashlib and the write release the GIL: they run side by side.
        with running(partial(Checksums, parts, sha256=self._sha256)) as future:
            position = start
            for part in parts:
                position += platform.write_at(self._descriptor, part, position)
            checksums = future.result()
        member = self._member(name, STORED, checksums.crc32, size, size)
        return self._write_local(member, align, checksums)

    def finish(self) -> int:
        """Write the directory, and return the size of the file. Nothing can be added after that."""
        end = build_archive_end(self._members, self._position)
        self._batch += end
        self._position += len(end)
        self._flush()
        # A packed attempt that was given up may reach further than what took its place.
        os.ftruncate(self._descriptor, self._position)
        return self._position

    def _add_strided(self, name: str, npy_header: bytes, array: Array) -> Written:
        """Write a large array of any strides in C order, in pieces."""
        self._flush()
        size = len(npy_header) + array.nbytes
        draft = self._member(name, STORED, 0, size, size)
        position = self._position + local_header_size(draft, self._align)
        checksums = Checksums([], sha256=self._sha256)
        for piece in _pieces(npy_header, array):
            checksums.update(piece)
            position += platform.write_at(self._descriptor, piece, position)
        member = draft._replace(crc32=checksums.crc32)
        return self._write_local(member, self._align, checksums)

    def _add_packed(self, name: str, npy_header: bytes, array: Array, shown: int) -> Written | None:
        """Write the array deflated; return None if it becomes no smaller, or far too small."""
        self._flush()
        size = len(npy_header) + array.nbytes
        draft = self._member(name, DEFLATED, 0, 0, size)
        start = self._position + local_header_size(draft, self._align)
        # A reader refuses what expands too much. Huffman codes alone, without matches, spend at
        # least one bit a byte: eight times at most.
        for strategy in (zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY):
            checksums = Checksums([], sha256=self._sha256)
            stored_size = 0
            for packed in _deflate(_pieces(npy_header, array), checksums, strategy):
                stored_size += platform.write_at(self._descriptor, packed, start + stored_size)
            if max(size, shown) <= DEFAULT_EXPANSION_RATIO * stored_size:
                break
        else:
            return None
        if stored_size >= size:
            return None
        member = draft._replace(crc32=checksums.crc32, stored_size=stored_size)
        return self._write_local(member, self._align, checksums)

    def _member(self, name: str, method: int, crc32: int, stored_size: int, size: int) -> Member:
        flags = 0 if name.isascii() else FLAG_UTF8
        return Member(name, flags, method, crc32, stored_size, size, self._position)

    def _write_local(self, member: Member, align: int, checksums: Checksums) -> Written:
        """Write the local header before bytes that are in the file already."""
        local = build_local_header(member, align)
        platform.write_at(self._descriptor, local, self._position)
        start = self._advance(member, local)
        self._batch_start = self._position
        return Written(start, member.method == DEFLATED, checksums.sha256)

    def _advance(self, member: Member, local: bytes) -> int:
        self._members.append(member)
        start = self._position + len(local)
        self._position = start + member.stored_size
        return start

    def _flush(self) -> None:
        platform.write_at(self._descriptor, self._batch, self._batch_start)
        self._batch.clear()
        self._batch_start = self._position


def _pieces(npy_header: bytes, array: Array) -> Iterator[platform.Buffer]:
    """Yield the bytes of a member in pieces of bounded size."""
    yield npy_header
    if array.flags.c_contiguous or array.flags.f_contiguous:
        whole = array_bytes(array)
        for position in range(0, len(whole), CHUNK):
            yield whole[position : position + CHUNK]
        return
    for values in pieces_in_c_order(array):
        yield array_bytes(np.ascontiguousarray(values))


def _deflate(
    pieces: Iterator[platform.Buffer], checksums: Checksums, strategy: int
) -> Iterator[bytes]:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS, strategy=strategy)
    for piece in pieces:
        checksums.update(piece)
        yield packer.compress(piece)
    yield packer.flush()
