"""Everything that can be known, and refused, before a byte is written (F1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vkml_io.archive_end import build_archive_end
from vkml_io.directory import Member
from vkml_io.errors import quoted, violation
from vkml_io.format import (
    ALIGNMENTS,
    DIRECTORY_RECORD,
    HEADER_MEMBER,
    STORED,
    Limits,
)
from vkml_io.header import encode_header
from vkml_io.index import index_entry
from vkml_io.local_header import build_local_header
from vkml_io.metadata import encode_metadata
from vkml_io.names import member_of, name_problem
from vkml_io.npy import build_npy_header, check_array_size
from vkml_io.values import Value, as_value

if TYPE_CHECKING:
    from vkml_io.aliases import Metadata

_NO_DIGEST = "0" * 64  # as long as every SHA-256


@dataclass(frozen=True, slots=True)
class PlannedArray:
    """One array and the bytes that stand before its values."""

    key: str
    value: Value
    npy_header: bytes

    def index_entry(self, member_start: int, *, packed: bool) -> str:
        """Return the index entry of this array in a member that starts there."""
        value = self.value
        # The place of a packed array is where its deflate stream starts.
        start = member_start + (0 if packed else len(self.npy_header))
        return index_entry(value.descr, value.shape, start, fortran_order=value.fortran_order)


@dataclass(frozen=True, slots=True)
class SavePlan:
    """A checkpoint that is known to be readable once it is written."""

    arrays: tuple[PlannedArray, ...]
    metadata: Metadata
    file_size: int  # when nothing is compressed

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys, in order."""
        return tuple(array.key for array in self.arrays)


def plan_save(
    tensors: Mapping[str, Any],  # Any: whatever np.asarray takes
    metadata: Mapping[str, Any] | None,  # Any: whatever JSON can say
    align: int,
    *,
    sha256: bool,
) -> SavePlan:
    """Return the plan of a checkpoint, after everything that a reader would check."""
    if type(align) is not int or align not in ALIGNMENTS:
        raise ValueError(f"align must be one of {ALIGNMENTS}, not {align!r}")
    if not isinstance(tensors, Mapping):
        raise TypeError(_no_dict(tensors))
    encoded = encode_metadata(metadata)
    arrays = tuple(_plan_array(key, given) for key, given in tensors.items())
    file_size = _plan_layout(arrays, encoded, align, sha256=sha256)
    return SavePlan(arrays, encoded, file_size)


def _no_dict(tensors: object) -> str:
    remedy = "; use save_module(path, module)" if hasattr(tensors, "state_dict") else ""
    return f"tensors must be a dict, not {type(tensors).__name__}{remedy}"


def _plan_array(key: str, given: Any) -> PlannedArray:  # Any: whatever np.asarray takes
    if not isinstance(key, str):
        raise TypeError(f"keys must be str, not {type(key).__name__} ({quoted(repr(key))})")
    key = str.__str__(key)  # an enumeration of texts would be formatted as its name
    if not key:
        raise violation("C6", "a key is empty")
    member = member_of(key)
    problem = name_problem(member)
    if problem is not None:
        raise violation(
            "B10", f"{quoted(key)} cannot be a key: as a file name {problem}", member=member
        )
    value = as_value(key, given)
    check_array_size(value.descr, value.shape)
    header = build_npy_header(value.descr, value.shape, value.fortran_order)
    return PlannedArray(key, value, header)


def _plan_layout(
    arrays: Sequence[PlannedArray], metadata: Metadata, align: int, *, sha256: bool
) -> int:
    """Return the size of the stored file. No compressed one has offsets larger than these."""
    limits = Limits()
    members: list[Member] = []
    index: list[str] = []
    position = 0
    for array in arrays:
        name = member_of(array.key)
        size = len(array.npy_header) + array.value.nbytes
        members.append(Member(name, 0, STORED, 0, size, size, position))
        start = position + len(build_local_header(members[-1], align))
        index.append(array.index_entry(start, packed=False))
        position = start + size
    keys = [array.key for array in arrays]
    digests = [_NO_DIGEST] * len(arrays) if sha256 else None
    json_size = len(encode_header(keys, metadata, index, digests, align))
    if json_size > limits.max_json:
        raise violation(
            "B20",
            f"{HEADER_MEMBER} would have {json_size} bytes, more than {limits.max_json}; "
            "split the checkpoint into several files, or save large metadata as arrays",
        )
    members.append(Member(HEADER_MEMBER, 0, STORED, 0, json_size, json_size, position))
    position += len(build_local_header(members[-1], 1)) + json_size
    end = build_archive_end(members, position)
    if len(end) - DIRECTORY_RECORD.size > limits.max_directory:
        raise violation("B6", "too many keys for one directory; split the checkpoint")
    return position + len(end)
