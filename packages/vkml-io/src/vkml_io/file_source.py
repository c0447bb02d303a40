"""A file of this machine that may be hostile: checks A1, A2, E1 and E2, and reads at an offset."""

from __future__ import annotations

import mmap
import os
import stat
from typing import TYPE_CHECKING, BinaryIO, Literal

from vkml_io import platform
from vkml_io.errors import violation
from vkml_io.source import Source, path_of

if TYPE_CHECKING:
    from vkml_io.aliases import PathLike
    from vkml_io.format import Limits


class FileSource(Source):
    """A regular file, opened once; everything is read through this one descriptor.

    Parameters
    ----------
    file : path-like or binary file
        A path, or a file that is open for reading (its descriptor is duplicated).
    limits : Limits
        `max_file_size` and `follow_symlinks` are used here.
    """

    can_map = True

    def __init__(self, file: PathLike | BinaryIO, limits: Limits) -> None:
        super().__init__(path_of(file))
        self._descriptor = _open(file, limits)
        try:
            self._status = os.fstat(self._descriptor)
            self.size = self._status.st_size
            if not stat.S_ISREG(self._status.st_mode):
                raise violation("A1", "this is not a regular file")
            self._check_limits(limits)
            self._read_tail()
        except BaseException:
            self.close()
            raise

    def _fill(self, buffer: memoryview, offset: int) -> int:
        return platform.read_at(self._opened(), buffer, offset)

    def _read(self, offset: int, size: int) -> bytes:
        data = platform.read_bytes(self._opened(), offset, size)
        self._check_length(len(data), size)
        return data

    def clone_to(self, descriptor: int) -> bool:
        """Let an empty file share all blocks of this one; return whether that is possible."""
        return platform.clone_file(self._opened(), descriptor)

    def copy_to(self, descriptor: int, offset: int, size: int, position: int) -> None:
        """Copy the bytes from `offset` on to `position` of another open file."""
        copied = platform.copy_range(self._opened(), offset, descriptor, position, size)
        self._check_length(copied, size)

    def map(self, access: Literal["r", "c"]) -> mmap.mmap:
        """Return the whole file, mapped read-only ("r") or private and writable ("c")."""
        mode = mmap.ACCESS_READ if access == "r" else mmap.ACCESS_COPY
        return mmap.mmap(self._opened(), self.size, access=mode)

    def check_unchanged(self) -> None:
        """Raise if the file was written to since it was opened (E1)."""
        now = os.fstat(self._opened())
        if (now.st_size, now.st_mtime_ns) != (self._status.st_size, self._status.st_mtime_ns):
            raise violation("E1", "the file changed while it was read; load it again")

    def check_size(self) -> None:
        """Raise if the file was cut: touching a page behind its end kills the process (E2)."""
        if os.fstat(self._opened()).st_size < self.size:
            raise violation("E2", "the mapped file was cut; replace files, never truncate them")

    def close(self) -> None:
        """Close the descriptor. May be called twice."""
        self._window = (self.size, b"")
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _opened(self) -> int:
        if self._descriptor < 0:
            raise ValueError(f"{self.path}: the checkpoint is closed")
        return self._descriptor


def _open(file: PathLike | BinaryIO, limits: Limits) -> int:
    if isinstance(file, str | os.PathLike):
        flags = platform.OPEN_TO_READ | (0 if limits.follow_symlinks else platform.NOFOLLOW)
        return os.open(file, flags)
    return os.dup(file.fileno())
