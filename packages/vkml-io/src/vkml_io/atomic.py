"""Replacing a file so that at any moment the old one or the new one is there, whole (F2 to F8)."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from vkml_io import platform
from vkml_io.errors import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vkml_io.aliases import PathLike

_LONGEST_NAME = 255  # bytes of a file name on the usual file systems
_SUFFIX_BYTES = 6


@contextmanager
def replacing(path: PathLike, *, durable: bool) -> Iterator[int]:
    """Give a descriptor to write to; at the end of the block the file takes the place of `path`.

    If the block fails, the file at `path` stays as it was and nothing is left behind. With
    `durable` the bytes and the new name have reached the disk when this returns.
    """
    target = Path(os.path.realpath(path))  # through symlinks: they keep pointing to the file
    mode = _existing_mode(target)
    temporary = target.with_name(_temporary_name(target.name))
    # 0666: the kernel applies the caller's umask, as for any file that he writes.
    try:
        descriptor = os.open(temporary, platform.OPEN_NEW_FILE, 0o666)
    except OSError as error:
        _name(error, temporary, target)
        raise
    try:
        try:
            if mode is not None:
                platform.set_mode(descriptor, mode)
            yield descriptor
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        _replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            _name(error, temporary, target)
        raise
    if durable:
        platform.sync_folder(target.parent)


def _name(error: OSError, temporary: Path, target: Path) -> None:
    """Say which file could not be written: descriptors have no name, and nobody knows the new."""
    if error.filename in (None, str(temporary)):
        error.filename, error.filename2 = str(target), None


def _existing_mode(target: Path) -> int | None:
    """Return the permission bits of an existing target, which must be a regular file."""
    try:
        status = target.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise CheckpointError(
            "the destination exists and is not a regular file", code="F2", path=str(target)
        )
    return stat.S_IMODE(status.st_mode) & 0o777


def _temporary_name(name: str) -> str:
    """Return a hidden name that no other writer uses, and that file systems allow."""
    suffix = f".{secrets.token_hex(_SUFFIX_BYTES)}.tmp"
    stem = os.fsencode(name)[: _LONGEST_NAME - 1 - len(suffix)]
    return f".{os.fsdecode(stem)}{suffix}"


def _replace(temporary: Path, target: Path) -> None:
    try:
        temporary.replace(target)
    except PermissionError as error:
        if os.name == "nt":
            error.add_note("Windows cannot replace a file that is mapped: close its readers first")
        raise
