"""An open file that may be hostile: checks A1, A2, E1 and E2, and reads at an offset."""

from __future__ import annotations

import mmap
import os
import stat
from typing import TYPE_CHECKING, BinaryIO, Literal

from vkml_io import platform
from vkml_io.errors import violation
from vkml_io.format import SMALLEST_FILE, Limits

if TYPE_CHECKING:
    from vkml_io.aliases import PathLike

# One read of the end of the file brings the directory and vkml.json of most checkpoints.
_TAIL_SIZE = 2**18


class Source:
    """A regular file, opened once; everything is read through this one descriptor.

    Parameters
    ----------
    file : path-like or binary file
        A path, or a file that is open for reading (its descriptor is duplicated).
    limits : Limits
        `max_file_size` and `follow_symlinks` are used here.
    """

    def __init__(self, file: PathLike | BinaryIO, limits: Limits) -> None:
        self.path = path_of(file)
        self._descriptor = _open(file, limits)
        try:
            self._status = os.fstat(self._descriptor)
            self.size = self._status.st_size
            self._check(limits)
            tail_size = min(self.size, _TAIL_SIZE)
            self._tail_start = self.size - tail_size
            self._tail = b""
            self._tail = self.read(self._tail_start, tail_size)
        except BaseException:
            self.close()
            raise

    def read(self, offset: int, size: int) -> bytes:
        """Return exactly `size` bytes. The caller has compared them with the file's size."""
        start = offset - self._tail_start
        if start >= 0 and self._tail:
            return self._tail[start : start + size]
        buffer = bytearray(size)
        self.read_into([memoryview(buffer)], offset)
        return bytes(buffer)

    def read_into(self, buffers: list[memoryview], offset: int) -> None:
        """Fill writable byte buffers, one after the other, from `offset` on."""
        wanted = sum(buffer.nbytes for buffer in buffers)
        if platform.read_at(self._opened(), buffers, offset) != wanted:
            raise violation("E1", "the file became shorter while it was read; fetch it again")

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
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _opened(self) -> int:
        if self._descriptor < 0:
            raise ValueError(f"{self.path}: the checkpoint is closed")
        return self._descriptor

    def _check(self, limits: Limits) -> None:
        if not stat.S_ISREG(self._status.st_mode):
            raise violation("A1", "this is not a regular file")
        if self.size < SMALLEST_FILE:
            raise violation("A2", f"the file has {self.size} bytes, too few for any checkpoint")
        if limits.max_file_size is not None and self.size > limits.max_file_size:
            raise violation(
                "A2",
                f"the file has {self.size} bytes, more than max_file_size={limits.max_file_size}",
            )


def path_of(file: PathLike | BinaryIO) -> str:
    """Return the path of `file`, as messages show it."""
    if isinstance(file, str | os.PathLike):
        return os.fspath(file)
    if hasattr(file, "fileno"):
        return str(getattr(file, "name", "<open file>"))
    raise TypeError(f"a path or an open binary file is needed, not {type(file).__name__}")


def _open(file: PathLike | BinaryIO, limits: Limits) -> int:
    if isinstance(file, str | os.PathLike):
        flags = platform.OPEN_TO_READ | (0 if limits.follow_symlinks else platform.NOFOLLOW)
        return os.open(file, flags)
    return os.dup(file.fileno())
