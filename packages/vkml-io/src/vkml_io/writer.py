"""`save`: a checkpoint into a file, whole or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml_io import platform
from vkml_io.archive_writer import ArchiveWriter
from vkml_io.atomic import replacing
from vkml_io.errors import naming, violation
from vkml_io.format import HEADER_MEMBER
from vkml_io.path_arguments import check_folder, check_order, check_path
from vkml_io.progress import Progress
from vkml_io.reading import array_bytes, holds_odd_bools
from vkml_io.save_plan import PlannedMember, SavePlan, plan_save
from vkml_io.sharing import Views
from vkml_io.values import StorageCache

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vkml_io.aliases import Array, OnProgress, PathLike
    from vkml_io.views import View


def save(
    path: PathLike,
    tensors: Mapping[str, Any],  # Any: whatever np.asarray takes
    metadata: Mapping[str, Any] | None = None,  # Any: whatever JSON can say
    compress: bool = False,
    *,
    views: Views = "preserve",
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
        device). dtype, byte order and Fortran order are kept; dtypes of the package ml_dtypes
        (bfloat16, float8, int4 …) too.
    metadata : dict, optional
        What JSON can say, also NaN and infinities. Tuples become lists, keys become strings.
    compress : bool
        Deflate each array that becomes smaller by it. Such arrays cannot be mapped.
    views : {"preserve", "whole", "copy"}
        What is stored of arrays that share memory. "preserve" stores that memory once, from the
        first byte to the last that one of them touches, and `load` lets them share it again.
        "whole" stores the whole memory that each array is a part of: all of ``a`` for ``a[:5]``.
        "copy" stores each array for itself.
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
        plan = plan_save(tensors, metadata, align, sha256=sha256, views=views)
        write_plan(
            path, plan, compress=compress, align=align, sha256=sha256, durable=durable,
            progress=progress,
        )  # fmt: skip


def write_plan(
    path: PathLike,
    plan: SavePlan,
    *,
    compress: bool,
    align: int,
    sha256: bool,
    durable: bool,
    progress: OnProgress | None,
) -> None:
    """Write a planned checkpoint, whole or not at all."""
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
    storages = StorageCache(plan.storage_uses)
    starts: dict[str, tuple[int, bool]] = {}
    digests = []
    total, done = plan.total, 0
    for member in plan.members:
        values = member.get(storages)
        _check_bools(member, values, plan.views_in(member.name))
        written = writer.add_array(
            member.name, member.npy_header, values, compress=compress, shown=member.shown
        )
        starts[member.name] = (written.start, written.packed)
        if written.sha256 is not None:
            digests.append(written.sha256)
        done += member.nbytes
        if progress is not None:
            progress(Progress(done, total, member.key))
    # Last, so that one read of the end of the file opens it.
    header = plan.encode_header(starts, digests or None, align)
    writer.add_bytes(HEADER_MEMBER, [header], align=1)
    plan.check_views(writer.finish())


def _check_bools(member: PlannedMember, values: Array, views: Iterable[View]) -> None:
    """Refuse what a reader refuses: bools that are neither 0 nor 1 (D10)."""
    odd = holds_odd_bools(values)
    for view in views:
        if view.dtype == "bool" and not odd:
            stored = array_bytes(values)
            odd = holds_odd_bools(
                np.ndarray(view.shape, np.bool_, stored, view.offset, view.strides)
            )
    if odd:
        message = "a bool is neither 0 nor 1; save array.view('uint8') != 0"
        raise violation("D10", message, member=member.name)
