"""Everything that can be known, and refused, before a byte is written (F1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from vkml_io.archive_end import archive_end_size
from vkml_io.directory import Member
from vkml_io.errors import CheckpointError, quoted, violation
from vkml_io.features import Features
from vkml_io.format import (
    ALIGNMENTS,
    DEFAULT_EXPANSION_RATIO,
    DIRECTORY_RECORD,
    HEADER_MEMBER,
    STORED,
    Limits,
)
from vkml_io.header import encode_header
from vkml_io.index import index_entry
from vkml_io.local_header import local_header_size
from vkml_io.metadata import encode_metadata
from vkml_io.names import escaped_member, member_of, name_problem, storage_member, storage_name
from vkml_io.npy import build_npy_header, check_array_size
from vkml_io.sharing import VIEWS, Shared, Views, find_shared
from vkml_io.strict_json import lone_surrogate
from vkml_io.values import StorageCache, Value, as_value
from vkml_io.views import View, check_views_size

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from vkml_io.aliases import Array, Metadata

_NO_DIGEST = "0" * 64  # as long as every SHA-256
_BYTES_DESCR = "|u1"  # of a storage without a key


class PlannedMember(NamedTuple):
    """One stored array and the bytes that stand before its values.

    Attributes
    ----------
    name : str
        The member.
    npy_header : bytes
        Its header.
    nbytes : int
        The size of its values.
    shown : int
        The bytes that views show of it; a reader counts them when it limits expansion.
    key : str
        The first key that uses it.
    get : callable
        Returns the values.
    """

    name: str
    npy_header: bytes
    nbytes: int
    shown: int
    key: str
    get: Callable[[StorageCache], Array]


@dataclass(frozen=True)
class SavePlan:
    """A checkpoint that is known to be readable once it is written."""

    values: dict[str, Value]
    members: tuple[PlannedMember, ...]
    features: Features
    metadata: Metadata
    further: dict[str, Any]  # Any: the features and the tree, as JSON
    storage_uses: tuple[Hashable, ...]
    file_size: int = 0  # when nothing is compressed

    @property
    def total(self) -> int:
        """The bytes of all stored arrays."""
        return sum(member.nbytes for member in self.members)

    def encode_header(
        self, starts: Mapping[str, tuple[int, bool]], sha256: Sequence[str] | None, align: int
    ) -> bytes:
        """Return `vkml.json` of a file in which each member starts there, packed or not."""
        headers = {member.name: len(member.npy_header) for member in self.members}
        index = []
        for key, value in self.values.items():
            name = self.features.member_of(key)
            view = self.features.views.get(key)
            start, packed = starts[name]
            # The place of a packed array is where its deflate stream starts.
            if not packed:
                start += headers[name] + (0 if view is None else view.offset)
            index.append(
                index_entry(
                    value.dtype,
                    value.shape,
                    start,
                    fortran_order=view is None and value.fortran_order,
                    big_endian=value.descr[0] == ">",
                )
            )
        return encode_header(list(self.values), self.metadata, index, sha256, align, self.further)

    def views_in(self, member: str) -> list[View]:
        """Return the views that lie in a member."""
        return self._views_by_member.get(member, [])

    @cached_property
    def _views_by_member(self) -> dict[str, list[View]]:
        found: dict[str, list[View]] = {}
        for key, view in self.features.views.items():
            found.setdefault(self.features.member_of(key), []).append(view)
        return found

    def check_views(self, file_size: int) -> None:
        """Refuse views that a reader would take for an attempt to fill its memory (G2)."""
        check_views_size(self.features.views, file_size, DEFAULT_EXPANSION_RATIO)


def plan_save(
    tensors: Mapping[str, Any],  # Any: whatever np.asarray takes
    metadata: Mapping[str, Any] | None,  # Any: whatever JSON can say
    align: int,
    *,
    sha256: bool,
    views: Views = "preserve",
    tree: Mapping[str, Any] | None = None,  # Any: the field "tree", encoded
) -> SavePlan:
    """Return the plan of a checkpoint, after everything that a reader would check."""
    if type(align) is not int or align not in ALIGNMENTS:
        raise ValueError(f"align must be one of {ALIGNMENTS}, not {align!r}")
    if views not in VIEWS:
        raise ValueError(f"views must be one of {VIEWS}, not {views!r}")
    if not isinstance(tensors, Mapping):
        raise TypeError(_no_dict(tensors))
    encoded = encode_metadata(metadata)
    values = dict(_plan_value(key, given) for key, given in tensors.items())
    features, storages = _plan_features(values, views)
    members = _plan_members(values, features, storages)
    further = features.to_json() | dict(tree or {})
    uses = _storage_uses(values, features, storages)
    plan = SavePlan(values, members, features, encoded, further, uses)
    file_size = _plan_layout(plan, align, sha256=sha256)
    try:
        plan.check_views(file_size)
    except CheckpointError as error:
        error.message += "; or save with views='copy', which gives each array a copy of its own"
        raise
    return replace(plan, file_size=file_size)


def _no_dict(tensors: object) -> str:
    remedy = "; use save_module(path, module)" if hasattr(tensors, "state_dict") else ""
    return f"tensors must be a dict, not {type(tensors).__name__}{remedy}"


def _plan_value(key: str, given: Any) -> tuple[str, Value]:  # Any: whatever np.asarray takes
    if not isinstance(key, str):
        raise TypeError(f"keys must be str, not {type(key).__name__} ({quoted(repr(key))})")
    key = str.__str__(key)  # an enumeration of texts would be formatted as its name
    if not key:
        raise violation("C6", "a key is empty")
    if lone_surrogate(key):
        raise violation("C5", f"{quoted(key)} cannot be a key: it holds a lone surrogate")
    value = as_value(key, given)
    check_array_size(value.descr, value.shape)
    return key, value


def _plan_features(values: Mapping[str, Value], views: Views) -> tuple[Features, dict[str, Shared]]:
    """Return what the file needs of version 2, and the storages that have no key."""
    planned: dict[str, View] = {}
    storages: dict[str, Shared] = {}
    for shared in find_shared(values, views):
        storage = shared.owner(values)
        if storage is None:
            storage = storage_name(len(storages))
            storages[storage] = shared
        for key in shared.keys:
            view = None if key == storage else shared.view(values[key], storage)
            if view is not None:
                planned[key] = view
    dtypes, members = {}, {}
    for position, (key, value) in enumerate(values.items()):
        if key in planned:
            continue
        if value.logical is not None:
            dtypes[key] = value.dtype
        if name_problem(member_of(key)) is not None:
            members[key] = escaped_member(position)
    return Features(dtypes, planned, members), storages


def _plan_members(
    values: Mapping[str, Value], features: Features, storages: Mapping[str, Shared]
) -> tuple[PlannedMember, ...]:
    """Return the members that hold arrays: those of keys, then the storages."""
    shown: Counter[str] = Counter()
    for key, view in features.views.items():
        shown[features.member_of(key)] += view.nbytes
    members = []
    for key, value in values.items():
        if key not in features.views:
            name = features.member_of(key)
            header = build_npy_header(value.descr, value.stored_shape, value.fortran_order)
            members.append(PlannedMember(name, header, value.nbytes, shown[name], key, value.get))
    for storage, shared in storages.items():
        name = storage_member(storage)
        size = shared.high - shared.low
        header = build_npy_header(_BYTES_DESCR, (size,), False)
        members.append(PlannedMember(name, header, size, shown[name], shared.keys[0], shared.read))
    return tuple(members)


def _storage_uses(
    values: Mapping[str, Value], features: Features, storages: Mapping[str, Shared]
) -> tuple[Hashable, ...]:
    """Return the storages of entries that will be read, each as often as that happens."""
    memories = [value.memory for key, value in values.items() if key not in features.views]
    memories += [shared.memory for shared in storages.values()]
    return tuple(memory.space for memory in memories if memory is not None)


def _plan_layout(plan: SavePlan, align: int, *, sha256: bool) -> int:
    """Return the size of the stored file. No compressed one has offsets larger than these."""
    limits = Limits()
    members: list[Member] = []
    starts: dict[str, tuple[int, bool]] = {}
    position = 0
    for planned in plan.members:
        size = len(planned.npy_header) + planned.nbytes
        members.append(Member(planned.name, 0, STORED, 0, size, size, position))
        start = position + local_header_size(members[-1], align)
        starts[planned.name] = (start, False)
        position = start + size
    digests = [_NO_DIGEST] * len(members) if sha256 else None
    json_size = len(plan.encode_header(starts, digests, align))
    if json_size > limits.max_json:
        raise violation(
            "B20",
            f"{HEADER_MEMBER} would have {json_size} bytes, more than {limits.max_json}; "
            "split the checkpoint into several files, or save large metadata as arrays",
        )
    members.append(Member(HEADER_MEMBER, 0, STORED, 0, json_size, json_size, position))
    position += local_header_size(members[-1], 1) + json_size
    end_size = archive_end_size(members, position)
    if end_size - DIRECTORY_RECORD.size > limits.max_directory:
        raise violation("B6", "too many keys for one directory; split the checkpoint")
    return position + end_size
