"""What differs between operating systems. Linux is tested; Windows and macOS are not."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

Buffer: TypeAlias = bytes | bytearray | memoryview

_BINARY = getattr(os, "O_BINARY", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
# O_NONBLOCK: opening a FIFO for reading would otherwise wait for a writer.
OPEN_TO_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _CLOEXEC | _BINARY
OPEN_NEW_FILE = os.O_CREAT | os.O_EXCL | os.O_WRONLY | _CLOEXEC | NOFOLLOW | _BINARY

# One Linux call moves at most 2,147,479,552 bytes.
_LONGEST_TRANSFER = 2**30
_COPIED_AT_A_TIME = 2**20
_FICLONE = 0x40049409  # the request of Linux to share the blocks of a whole file
# What copy_file_range says of files that it cannot copy between.
_NOT_IN_THE_KERNEL = (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ETXTBSY)


def read_at(file_descriptor: int, buffer: memoryview, offset: int) -> int:
    """Fill `buffer` with the bytes from `offset` on; return how many there were."""
    done, size = 0, buffer.nbytes
    while done < size:
        count = _read_some(file_descriptor, buffer[done : done + _LONGEST_TRANSFER], offset + done)
        if count == 0:
            break
        done += count
    return done


def read_bytes(file_descriptor: int, offset: int, size: int) -> bytes:
    """Return `size` bytes from `offset` on, or as many as there are."""
    if hasattr(os, "pread") and size <= _LONGEST_TRANSFER:
        data = os.pread(file_descriptor, size, offset)
        if len(data) == size:
            return data
    buffer = bytearray(size)
    return bytes(buffer[: read_at(file_descriptor, memoryview(buffer), offset)])


def write_at(file_descriptor: int, buffer: Buffer, offset: int) -> int:
    """Write all of `buffer` from `offset` on; return the number of bytes."""
    view = memoryview(buffer)
    done, size = 0, view.nbytes
    while done < size:
        done += _write_some(file_descriptor, view[done : done + _LONGEST_TRANSFER], offset + done)
    return size


def clone_file(source: int, target: int) -> bool:
    """Let the empty file `target` share all blocks of `source`; return whether that is possible."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError:  # another file system than btrfs, xfs and a few more
        return False
    return True


def copy_range(source: int, offset: int, target: int, position: int, size: int) -> int:
    """Copy `size` bytes between two files, inside the kernel if it can; return how many it were."""
    done = 0
    try:
        while done < size and hasattr(os, "copy_file_range"):
            count = min(size - done, _LONGEST_TRANSFER)
            copied = os.copy_file_range(source, target, count, offset + done, position + done)
            if copied == 0:
                break
            done += copied
    except OSError as error:
        if error.errno not in _NOT_IN_THE_KERNEL:
            raise
    while done < size:
        data = read_bytes(source, offset + done, min(_COPIED_AT_A_TIME, size - done))
        if not data:
            break
        done += write_at(target, data, position + done)
    return done


def reserve_space(file_descriptor: int, size: int) -> None:
    """Reserve `size` bytes, so that a full disk shows before the first byte is written."""
    if size == 0 or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(file_descriptor, 0, size)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS):
            raise


def set_mode(file_descriptor: int, mode: int) -> None:
    """Give the open file the permission bits `mode`."""
    if hasattr(os, "fchmod"):
        os.fchmod(file_descriptor, mode)


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` durable, where the system can."""
    if os.name == "nt":  # a folder cannot be opened there
        return
    file_descriptor = os.open(folder, os.O_RDONLY | _CLOEXEC)
    try:
        os.fsync(file_descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP):
            raise
    finally:
        os.close(file_descriptor)


def _read_some(file_descriptor: int, buffer: memoryview, offset: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(file_descriptor, [buffer], offset)
    os.lseek(file_descriptor, offset, os.SEEK_SET)
    data = os.read(file_descriptor, buffer.nbytes)
    buffer[: len(data)] = data
    return len(data)


def _write_some(file_descriptor: int, buffer: memoryview, offset: int) -> int:
    if hasattr(os, "pwrite"):
        return os.pwrite(file_descriptor, buffer, offset)
    os.lseek(file_descriptor, offset, os.SEEK_SET)
    return os.write(file_descriptor, buffer)
