"""Where the bytes of a checkpoint come from, whatever holds them: a file, an object, a server."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, BinaryIO, Literal, Self

from vkml_io import platform
from vkml_io.errors import violation
from vkml_io.foreign_files import hint_of_head
from vkml_io.format import SMALLEST_FILE, Limits

if TYPE_CHECKING:
    import mmap

    from vkml_io.aliases import PathLike

WINDOW = 2**18
"""One read of so many bytes brings the directory and `vkml.json` of most checkpoints."""
_SMALL = 2**13  # reads of up to so many bytes go through a window of that size
_NEAR = 2**14  # bytes between two reads that still count as neighbours
_COPIED_AT_ONCE = 2**20


class Source(ABC):
    """Bytes that can be read at any offset, and may be hostile.

    A subclass says in `_fill` how to read, and in `check_unchanged` how to see that the bytes are
    still those of the first read. Small reads go through a window, so that headers which lie side
    by side need one read.

    Attributes
    ----------
    path : str
        What messages call it.
    size : int
        The number of bytes.
    """

    path: str
    size: int
    can_map = False
    """Whether `map` works."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.size = 0
        self._window = (0, b"")

    @abstractmethod
    def _fill(self, buffer: memoryview, offset: int) -> int:
        """Fill `buffer` with the bytes from `offset` on; return how many there were."""

    @abstractmethod
    def check_unchanged(self) -> None:
        """Raise if the bytes are not those of the first read any more (E1)."""

    @abstractmethod
    def close(self) -> None:
        """Read no more. May be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

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
        window = self._read(offset, max(size, min(WINDOW, self._ahead(offset))) if near else size)
        self._window = (offset, window)
        return window[:size]

    def read_into(self, buffer: memoryview, offset: int) -> None:
        """Fill a writable byte buffer with the bytes from `offset` on."""
        if buffer.nbytes <= _SMALL:
            buffer[:] = self.read(offset, buffer.nbytes)
        else:
            self._check_length(self._fill(buffer, offset), buffer.nbytes)

    def expect(self, start: int, end: int) -> None:  # noqa: B027  # most have nothing to prepare
        """Be told that the bytes from `start` to `end` will be read next, in order."""

    def map(self, _access: Literal["r", "c"]) -> mmap.mmap:
        """Return the whole file, mapped read-only ("r") or private and writable ("c")."""
        raise ValueError(
            f"{self.path}: only a file of this machine can be mapped; read it with mmap=False"
        )

    def check_size(self) -> None:  # noqa: B027  # what is not mapped cannot be cut
        """Raise if the file was cut: touching a page behind its end kills the process (E2)."""

    def clone_to(self, _descriptor: int) -> bool:
        """Let an empty file share all blocks of this one; return whether that is possible."""
        return False

    def copy_to(self, descriptor: int, offset: int, size: int, position: int) -> None:
        """Copy the bytes from `offset` on to `position` of another open file."""
        for done in range(0, size, _COPIED_AT_ONCE):
            piece = self.read(offset + done, min(_COPIED_AT_ONCE, size - done))
            platform.write_at(descriptor, piece, position + done)

    def _ahead(self, offset: int) -> int:
        """Return how many bytes from `offset` on may be read along with what was asked for."""
        return self.size - offset

    def _read(self, offset: int, size: int) -> bytes:
        buffer = bytearray(size)
        self._check_length(self._fill(memoryview(buffer), offset), size)
        return bytes(buffer)

    def _check_length(self, found: int, wanted: int) -> None:
        if found != wanted:
            raise violation("E1", "the file became shorter while it was read; fetch it again")

    def _check_limits(self, limits: Limits) -> None:
        """Compare the size with what is allowed (A2)."""
        if self.size < SMALLEST_FILE:
            hint = hint_of_head(self._read(0, self.size))
            message = f"the file has {self.size} bytes, too few for any checkpoint{hint}"
            raise violation("A2", message)
        if limits.max_file_size is not None and self.size > limits.max_file_size:
            raise violation(
                "A2",
                f"the file has {self.size} bytes, more than max_file_size={limits.max_file_size}",
            )

    def _read_tail(self, size: int = WINDOW) -> None:
        """Take the end of the file into the window."""
        tail = min(self.size, size)
        self._window = (self.size - tail, self._read(self.size - tail, tail))


def path_of(file: PathLike | BinaryIO) -> str:
    """Return the path of `file`, as messages show it."""
    if isinstance(file, str | os.PathLike):
        return os.fspath(file)
    if hasattr(file, "read") and hasattr(file, "seek"):
        return str(getattr(file, "name", "<open file>"))
    raise TypeError(f"a path or an open binary file is needed, not {type(file).__name__}")
