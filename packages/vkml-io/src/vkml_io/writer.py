"""`save`: a checkpoint into a file, whole or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from vkml_io import platform
from vkml_io.archive_writer import ArchiveWriter
from vkml_io.atomic import replacing
from vkml_io.errors import naming, violation
from vkml_io.format import HEADER_MEMBER
from vkml_io.header import encode_header
from vkml_io.names import member_of
from vkml_io.path_arguments import check_folder, check_order, check_path
from vkml_io.progress import Progress
from vkml_io.reading import holds_odd_bools
from vkml_io.save_plan import SavePlan, plan_save
from vkml_io.values import StorageCache

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vkml_io.aliases import OnProgress, PathLike


def save(
    path: PathLike,
    tensors: Mapping[str, Any],  # Any: whatever np.asarray takes
    metadata: Mapping[str, Any] | None = None,  # Any: whatever JSON can say
    compress: bool = False,
    *,
    align: int = 64,
    sha256: bool = False,
    durable: bool = True,
    progress: OnProgress | None = None,
) -> None:
    """Write arrays and metadata to a `.vkml` file, whole or not at all.

    Everything is checked before a byte is written. The bytes go to a new file beside `path`, which
    takes its place at the end: after a crash the old checkpoint or the new one is there. Equal
    input gives equal bytes.

    Parameters
    ----------
    path : path-like
        The file. A symlink is followed, an existing file keeps its permissions.
    tensors : dict of str to array-like
        What `numpy.asarray` takes, or objects with `__vkml_entry__` (vkML's tensors on any
        device). dtype, byte order and Fortran order are kept.
    metadata : dict, optional
        What JSON can say, also NaN and infinities. Tuples become lists, keys become strings.
    compress : bool
        Deflate each array that becomes smaller by it. Such arrays cannot be mapped.
    align : int
        The file offset of array data is a multiple of 64 in any case; 256 and 4096 align
        the members, for readers that hand them to a device.
    sha256 : bool
        Also write the SHA-256 of each member into `vkml.json`. Readers compare it.
    durable : bool
        Wait until the disk has the bytes. Without, a power cut may lose the new checkpoint.
    progress : callable, optional
        Called with a `Progress` after each array.

    Raises
    ------
    TypeError
        An array or a metadata value is of a type that the format cannot hold, or the path does
        not come first.
    CheckpointError
        A key, shape or metadata value that a reader would refuse, or a destination that is no
        regular file.
    FileNotFoundError
        The folder does not exist.
    OSError
        The system could not write. The old file is untouched.

    Examples
    --------
    >>> import numpy as np, vkml_io
    >>> vkml_io.save("model.vkml", {"weight": np.eye(2, dtype="f4")}, {"epoch": 3})
    >>> vkml_io.load("model.vkml").tensors["weight"]
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    check_order("save", "tensors", path, tensors)
    check_path("save", path)
    check_folder(path)
    with naming(os.fspath(path)):
        plan = plan_save(tensors, metadata, align, sha256=sha256)
        with replacing(path, durable=durable) as descriptor:
            if not compress:
                platform.reserve_space(descriptor, plan.file_size)
            writer = ArchiveWriter(descriptor, align=align, sha256=sha256)
            _write(writer, plan, align, compress=compress, progress=progress)


def _write(
    writer: ArchiveWriter,
    plan: SavePlan,
    align: int,
    *,
    compress: bool,
    progress: OnProgress | None,
) -> None:
    storages = StorageCache()
    index, digests = [], []
    total = sum(array.value.nbytes for array in plan.arrays)
    done = 0
    for array in plan.arrays:
        name = member_of(array.key)
        values = array.value.get(storages)
        if holds_odd_bools(values):  # the reader refuses them
            message = "a bool is neither 0 nor 1; save array.view('uint8') != 0"
            raise violation("D10", message, member=name)
        written = writer.add_array(name, array.npy_header, values, compress=compress)
        index.append(array.index_entry(written.start, packed=written.packed))
        if written.sha256 is not None:
            digests.append(written.sha256)
        done += array.value.nbytes
        if progress is not None:
            progress(Progress(done, total, array.key))
    # Last, so that one read of the end of the file opens it.
    header = encode_header(plan.keys, plan.metadata, index, digests or None, align)
    writer.add_bytes(HEADER_MEMBER, [header], align=1)
    writer.finish()
