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


def open_source_or_url(file: PathLike | BinaryIO, limits: Limits) -> Source:
    """Return the source of a path, an open binary file or a URL.

    A function of its own, so that a path that somebody gives makes nothing reach for the network
    where that is not expected.
    """
    if isinstance(file, str) and file.startswith(("http://", "https://")):
        # Imported here: who opens files only need not wait for the modules of HTTP and TLS.
        from vkml_io.http_source import HttpSource

        return HttpSource(file, limits)
    return open_source(file, limits)


def _is_plain(file: BinaryIO) -> bool:
    """Return whether the descriptor of `file` has the bytes that its `read` gives.

    That of a `gzip.GzipFile`, for one, has not.
    """
    raw = getattr(file, "raw", file)
    return isinstance(raw, io.FileIO)
