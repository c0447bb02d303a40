"""`update_metadata`: other metadata for the same arrays, which are copied and not read."""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vkml_io import platform
from vkml_io.archive import Archive
from vkml_io.archive_end import build_archive_end
from vkml_io.atomic import replacing
from vkml_io.contents import chunks
from vkml_io.directory import Member
from vkml_io.end_records import find_directory
from vkml_io.errors import naming, quoted, violation
from vkml_io.format import HEADER_MEMBER, STORED, Limits
from vkml_io.header import parse_header
from vkml_io.local_header import build_local_header
from vkml_io.logical_dtypes import LOGICAL_DTYPES
from vkml_io.metadata import encode_metadata
from vkml_io.path_arguments import check_order, check_path
from vkml_io.strict_json import parse_json
from vkml_io.views import check_views_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vkml_io.aliases import PathLike


@dataclass(slots=True)
class _Piece:
    """Bytes of the old file that go into the new one, after bytes that are made."""

    made: bytes
    offset: int
    size: int
    position: int  # in the new file, of `made`


def update_metadata(
    path: PathLike,
    metadata: Mapping[str, Any] | None,  # Any: whatever JSON can say
    *,
    max_expansion_ratio: float = 100.0,
    durable: bool = True,
) -> None:
    """Replace the metadata of a checkpoint. Its arrays and their checksums stay as they are.

    The new file is written beside the old one and takes its place, as by `save`: whatever happens,
    one of them is there, whole. The arrays are copied without being read; where the file system
    can share blocks between files (btrfs, xfs), not even that.

    Parameters
    ----------
    path : path-like
        The file.
    metadata : dict
        All of the new metadata. To change one value, pass ``{**old, "epoch": 4}``.
    max_expansion_ratio : float
        As in `load`.
    durable : bool
        As in `save`.

    Raises
    ------
    TypeError
        A value is of a type that JSON does not have.
    CheckpointError
        The file is damaged or not a checkpoint, or a reader would refuse the metadata. Nothing was
        changed.

    Examples
    --------
    >>> import numpy as np, vkml_io
    >>> vkml_io.save("model.vkml", {"w": np.ones(2)}, {"epoch": 3})
    >>> old = vkml_io.load("model.vkml").metadata
    >>> vkml_io.update_metadata("model.vkml", {**old, "note": "the best so far"})
    >>> vkml_io.load("model.vkml").metadata
    {'epoch': 3, 'note': 'the best so far'}
    """
    check_order("update_metadata", "metadata", path, metadata)
    check_path("update_metadata", path)
    limits = Limits(max_expansion_ratio=max_expansion_ratio)
    with naming(os.fspath(path)):
        encoded = encode_metadata(metadata)
        with Archive(path, limits) as archive:
            archive.check_layout()
            ends = _ends(archive, limits)
            pieces, members = _lay_out(archive, ends)
            document = _document(archive, ends) | {"metadata": encoded}
            if any(piece.made for piece in pieces):
                _check_shapes(archive)
                document.pop("index", None)  # it may be left out, and its places are the old ones
            last = pieces[-1] if pieces else _Piece(b"", 0, 0, 0)
            end = last.position + len(last.made) + last.size
            tail = _tail(document, members, end, limits)
            views = archive.header.features.views
            check_views_size(views, end + len(tail), limits.max_expansion_ratio)
            with replacing(path, durable=durable) as descriptor:
                _write(archive, descriptor, pieces, end, tail)
                archive.source.check_unchanged()


def _check_shapes(archive: Archive) -> None:
    """Refuse to drop an index that alone knows the shape of an array (G4)."""
    for key, dtype in archive.header.features.dtypes.items():
        if LOGICAL_DTYPES[dtype].is_packed:
            raise violation(
                "G4",
                f"{quoted(key)} is {dtype}, and the members lie in another order than vkml-io "
                "writes; load the checkpoint, and save it with the new metadata",
            )


def _ends(archive: Archive, limits: Limits) -> dict[str, int]:
    """Return where each member ends, in the order in which they lie in the file."""
    members = sorted(archive.members.values(), key=lambda member: member.offset)
    directory = find_directory(archive.source, limits.max_directory).offset
    starts = [member.offset for member in members[1:]]
    return {member.name: end for member, end in zip(members, [*starts, directory], strict=True)}


def _document(archive: Archive, ends: Mapping[str, int]) -> dict[str, Any]:
    """Return the whole of `vkml.json`, with the fields that only other versions know."""
    member = archive.members[HEADER_MEMBER]
    start = ends[HEADER_MEMBER] - member.stored_size
    document: dict[str, Any] = parse_json(b"".join(chunks(archive.source, member, start)))
    return document


def _lay_out(archive: Archive, ends: Mapping[str, int]) -> tuple[list[_Piece], list[Member]]:
    """Return what the new file takes from the old one, and its members but `vkml.json`.

    That comes last. What lay behind it in the old file (our own have nothing there) moves up, and
    gets new local headers so that the arrays are aligned again.
    """
    pieces: list[_Piece] = []
    members: list[Member] = []
    position = 0
    for name, end in ends.items():
        member = archive.members[name]
        if name == HEADER_MEMBER:
            continue
        if position == member.offset:
            size = end - member.offset
            if pieces:
                pieces[-1].size += size
            else:
                pieces.append(_Piece(b"", 0, size, 0))
            position = end
        else:
            member = member._replace(offset=position)
            local = build_local_header(member, archive.header.align)
            start = end - member.stored_size
            pieces.append(_Piece(local, start, member.stored_size, position))
            position += len(local) + member.stored_size
        members.append(member)
    return pieces, members


def _tail(document: dict[str, Any], members: list[Member], position: int, limits: Limits) -> bytes:
    """Return `vkml.json` with its local header, the directory and the end records."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    data = text.encode("utf-8")
    if len(data) > limits.max_json:
        raise violation("B20", f"{HEADER_MEMBER} would have {len(data)} bytes, too many to read")
    parse_header(data)  # a reader's own checks, before a byte is written
    size = len(data)
    member = Member(HEADER_MEMBER, 0, STORED, zlib.crc32(data), size, size, position)
    record = build_local_header(member, 1) + data
    return record + build_archive_end([*members, member], position + len(record))


def _write(archive: Archive, descriptor: int, pieces: list[_Piece], end: int, tail: bytes) -> None:
    shared = archive.source.clone_to(descriptor)
    if not shared:
        platform.reserve_space(descriptor, end + len(tail))
    for piece in pieces:
        platform.write_at(descriptor, piece.made, piece.position)
        position = piece.position + len(piece.made)
        if not (shared and position == piece.offset):
            archive.source.copy_to(descriptor, piece.offset, piece.size, position)
    platform.write_at(descriptor, tail, end)
    os.ftruncate(descriptor, end + len(tail))
