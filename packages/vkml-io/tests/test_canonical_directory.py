"""The fast way to read a directory gives the verdict of the general one."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vkml_io
from vkml_io.canonical_directory import expands_at_most, parse_canonical
from vkml_io.directory import check_expansion, parse_directory
from vkml_io.end_records import DirectoryPlace

if TYPE_CHECKING:
    from pathlib import Path

    from vkml_io.aliases import Array
    from vkml_io.directory_table import DirectoryTable

FIELDS = ["needed", "flags", "method", "time", "date", "crc", "stored", "size", "name_length",
          "extra_length", "comment_length", "disk", "internal", "external", "offset"]  # fmt: skip
NUMBERS = [0, 1, 2, 6, 8, 10, 20, 21, 45, 46, 90, 0x800, 0x801, 0xFFFF, 0xFFFFFFFF, 0o600 << 16]


def _directory_of(path: Path) -> tuple[bytes, DirectoryPlace]:
    data = path.read_bytes()
    _, _, _, _, count, size, offset, _ = struct.unpack("<4s4H2IH", data[-22:])
    return data[offset : offset + size], DirectoryPlace(count, size, offset)


@pytest.mark.parametrize("compress", [False, True])
def test_our_own_files_take_the_fast_way(
    tmp_path: Path, arrays: dict[str, Array], compress: bool
) -> None:
    vkml_io.save(tmp_path / "a.vkml", arrays, compress=compress)
    data, place = _directory_of(tmp_path / "a.vkml")

    fast = parse_canonical(data, place, list(arrays))

    assert fast is not None
    assert dict(fast) == parse_directory(data, place)
    assert fast.last == fast["vkml.json"]
    assert list(fast)[-1] == "vkml.json"


def _record(name: bytes, changes: dict[str, int]) -> bytes:
    fields = dict.fromkeys(FIELDS, 0) | {
        "needed": 20,
        "date": 0x21,
        "stored": 10,
        "size": 10,
        "external": 0o600 << 16,
        "flags": 0 if name.isascii() else 0x800,
        "name_length": len(name),
    }
    for field, value in changes.items():
        large = field in ("crc", "stored", "size", "external", "offset")
        fields[field] = value if large else value & 0xFFFF
    return struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 0x0314, *fields.values()) + name


NAMES = st.sampled_from(
    [b"a", b"b", b"tensors/w.npy", "é".encode(), b"a//b", b"../a", b"/a", b"a/", b"", b"\xff",
     b"a\nb", b"a\\b", b".", b"..", b"...", b"a/./b", "\u0085".encode(), b"x" * 4090]
)  # fmt: skip
CHANGES = st.dictionaries(st.sampled_from(FIELDS), st.sampled_from(NUMBERS), max_size=2)
RECORDS = st.builds(_record, NAMES.map(lambda name: b"tensors/%s.npy" % name), CHANGES)
LAST = st.builds(_record, st.sampled_from([b"vkml.json"] * 4 + [b"a"]), CHANGES)


def key_of(record: bytes) -> str:
    """Return the key of a member, as a header has it."""
    return record[46:].decode("utf-8", "replace").removeprefix("tensors/").removesuffix(".npy")


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(records=st.lists(RECORDS, max_size=4), last=LAST, extra=st.integers(-1, 1))
def test_what_the_fast_way_accepts_the_general_one_reads_alike(
    records: list[bytes], last: bytes, extra: int
) -> None:
    data = b"".join([*records, last])
    place = DirectoryPlace(len(records) + 1 + extra, len(data), 100)
    # As a header has them: different, and text.
    keys = list(dict.fromkeys(key_of(record) for record in records))

    fast = parse_canonical(data, place, keys)

    if fast is not None:
        assert dict(fast) == parse_directory(data, place)
        for ratio in (0, 0.01, 100.0):
            _check_verdict_on_expansion(fast, ratio)


def _check_verdict_on_expansion(fast: DirectoryTable, ratio: float) -> None:
    members = dict(fast)
    for file_size in (10, 10**9):
        if expands_at_most(fast, file_size, ratio):
            check_expansion(members, file_size, ratio)
        else:
            with pytest.raises(vkml_io.ExpansionError):
                check_expansion(members, file_size, ratio)


def test_a_directory_of_many_names_is_read_alike() -> None:
    names = np.random.default_rng(3).permutation(500)
    records = [_record(b"tensors/%d.npy" % name, {"offset": int(name)}) for name in names]
    data = b"".join([*records, _record(b"vkml.json", {"offset": 500})])
    place = DirectoryPlace(501, len(data), 10**6)

    fast: Any = parse_canonical(data, place, [str(name) for name in names])

    assert dict(fast) == parse_directory(data, place)
    ends = dict(zip(fast, fast.ends(10**6).tolist(), strict=True))
    assert ends == {f"tensors/{name}.npy": name + 1 for name in names} | {"vkml.json": 10**6}
