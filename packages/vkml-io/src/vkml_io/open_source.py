"""Which kind of source a file is."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, BinaryIO

from vkml_io.file_source import FileSource
from vkml_io.source import Source, path_of
from vkml_io.stream_source import StreamSource

if TYPE_CHECKING:
    from vkml_io.aliases import PathLike
    from vkml_io.format import Limits


def open_source(file: PathLike | BinaryIO | Source, limits: Limits) -> Source:
    """Return the source of a path or an open binary file; a source is returned as it is."""
    if isinstance(file, Source):
        return file
    path_of(file)  # refuses everything else
    if isinstance(file, str | os.PathLike) or _is_plain(file):
        return FileSource(file, limits)
    return StreamSource(file, limits)


def _is_plain(file: BinaryIO) -> bool:
    """Return whether the descriptor of `file` has the bytes that its `read` gives.

    That of a `gzip.GzipFile`, for one, has not.
    """
    raw = getattr(file, "raw", file)
    return isinstance(raw, io.FileIO)
