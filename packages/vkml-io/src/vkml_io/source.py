"""An open file that may be hostile: checks A1, A2, E1 and E2, and reads at an offset."""

from __future__ import annotations

import mmap
import os
import stat
from typing import TYPE_CHECKING, BinaryIO, Literal

from vkml_io import platform
from vkml_io.errors import violation
from vkml_io.foreign_files import hint_of_head
from vkml_io.format import SMALLEST_FILE, Limits

if TYPE_CHECKING:
    from vkml_io.aliases import PathLike

# One read of the end of the file brings the directory and vkml.json of most checkpoints.
_WINDOW = 2**18
_SMALL = 2**13  # reads of up to so many bytes go through a window of that size
_NEAR = 2**14  # bytes between two reads that still count as neighbours


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
        self.size = 0
        self._descriptor = _open(file, limits)
        try:
            self._status = os.fstat(self._descriptor)
            self.size = self._status.st_size
            self._check(limits)
            tail = min(self.size, _WINDOW)
            self._window = (self.size, b"")
            self._window = (self.size - tail, self._read(self.size - tail, tail))
        except BaseException:
            self.close()
            raise

    def read(self, offset: int, size: int) -> bytes:
        """Return exactly `size` bytes. The caller has compared them with the file's size."""
        window_start, window = self._window
        start = offset - window_start
        if 0 <= start <= len(window) - size:
            return window[start : start + size]
        if size > _SMALL:
            return self._read(offset, size)
        # Small members are read one after the other: close behind the last read, more is taken.
        near = 0 <= start <= len(window) + _NEAR
        window = self._read(offset, min(_WINDOW, self.size - offset) if near else size)
        self._window = (offset, window)
        return window[:size]

    def read_into(self, buffer: memoryview, offset: int) -> None:
        """Fill a writable byte buffer with the bytes from `offset` on."""
        if buffer.nbytes <= _SMALL:
            buffer[:] = self.read(offset, buffer.nbytes)
        else:
            found = platform.read_at(self._opened(), buffer, offset)
            self._check_length(found, buffer.nbytes)

    def _read(self, offset: int, size: int) -> bytes:
        data = platform.read_bytes(self._opened(), offset, size)
        self._check_length(len(data), size)
        return data

    def _check_length(self, found: int, wanted: int) -> None:
        if found != wanted:
            raise violation("E1", "the file became shorter while it was read; fetch it again")

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

    def _check(self, limits: Limits) -> None:
        if not stat.S_ISREG(self._status.st_mode):
            raise violation("A1", "this is not a regular file")
        if self.size < SMALLEST_FILE:
            hint = hint_of_head(self._read(0, self.size))
            message = f"the file has {self.size} bytes, too few for any checkpoint{hint}"
            raise violation("A2", message)
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
