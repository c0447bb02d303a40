"""A file object that is no file of this machine, for example `io.BytesIO`."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, BinaryIO

from vkml_io.errors import violation
from vkml_io.source import Source, path_of

if TYPE_CHECKING:
    from vkml_io.format import Limits

_LONGEST_READ = 2**26  # bytes that are asked for at once: such objects give copies


class StreamSource(Source):
    """A seekable binary file object. Its position is moved; it is left open at the end.

    Parameters
    ----------
    file : binary file
        What has `read` and `seek`, and gives bytes.
    limits : Limits
        `max_file_size` is used here.
    """

    def __init__(self, file: BinaryIO, limits: Limits) -> None:
        super().__init__(path_of(file))
        seekable = getattr(file, "seekable", None)
        if seekable is not None and not seekable():
            raise TypeError(f"{self.path}: the file must be seekable; read it into io.BytesIO")
        self._file: BinaryIO | None = file
        self._lock = threading.Lock()  # one position for all threads
        self.size = self._measure()
        self._check_limits(limits)
        self._read_tail()

    def _fill(self, buffer: memoryview, offset: int) -> int:
        file = self._opened()
        done = 0
        with self._lock:
            file.seek(offset)
            while done < buffer.nbytes:
                wanted = min(buffer.nbytes - done, _LONGEST_READ)
                data = file.read(wanted)
                if not isinstance(data, bytes | bytearray | memoryview):
                    raise TypeError(
                        f"{self.path}: read() gave {type(data).__name__}, not bytes; open the file "
                        "in binary mode"
                    )
                if not data or len(data) > wanted:
                    break
                buffer[done : done + len(data)] = data
                done += len(data)
        return done

    def check_unchanged(self) -> None:
        """Raise if the size is not what it was; nothing else can be seen (E1)."""
        if self._measure() != self.size:
            raise violation("E1", "the file changed while it was read; load it again")

    def close(self) -> None:
        """Let go of the object, which stays open. May be called twice."""
        self._window = (self.size, b"")
        self._file = None

    def _measure(self) -> int:
        with self._lock:
            return self._opened().seek(0, os.SEEK_END)

    def _opened(self) -> BinaryIO:
        if self._file is None:
            raise ValueError(f"{self.path}: the checkpoint is closed")
        return self._file
