"""Members beyond 32 bits, without a disk that holds them."""

from __future__ import annotations

import zipfile
import zlib
from typing import TYPE_CHECKING

import pytest

import vkml_io
from vkml_io.archive_end import archive_end_size, build_archive_end
from vkml_io.directory import Member, parse_directory
from vkml_io.end_records import DirectoryPlace
from vkml_io.format import DIRECTORY_RECORD
from vkml_io.local_header import build_local_header, local_header_size
from vkml_io.npy import build_npy_header

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 0xFFFFFFFF
JSON = b'{"format":"vkml-checkpoint","version":1,"keys":["large","small"],"metadata":{}}'


@pytest.mark.parametrize("size", [LIMIT - 1, LIMIT, 2**40])
@pytest.mark.parametrize("offset", [0, LIMIT - 1, LIMIT, 2**41])
def test_a_directory_record_holds_any_size_and_offset(size: int, offset: int) -> None:
    member = Member("tensors/w.npy", 0, 0, 7, size, size, offset)

    end = build_archive_end([member], 2**42)

    large = (size >= LIMIT) * 2 + (offset >= LIMIT)
    length = DIRECTORY_RECORD.size + len(member.name) + (4 + 8 * large if large else 0)
    assert parse_directory(end[:length], DirectoryPlace(1, length, 2**42)) == {member.name: member}


@pytest.fixture
def sparse(tmp_path: Path) -> Path:
    """Return a file of more than 4 GiB, nearly all of it a hole."""
    large = build_npy_header("|u1", (2**32,), False)
    small = build_npy_header("<f4", (), False) + b"\0\0\x80\x3f"
    members = []
    position = 0
    path = tmp_path / "sparse.vkml"
    with path.open("wb") as file:
        for name, data, size in (
            ("tensors/large.npy", large, len(large) + 2**32),
            ("tensors/small.npy", small, len(small)),
            ("vkml.json", JSON, len(JSON)),
        ):
            # The CRC of the large member is not that of so many zeros: it is not compared here.
            member = Member(name, 0, 0, zlib.crc32(data), size, size, position)
            local = build_local_header(member, 64 if name != "vkml.json" else 1)
            file.seek(position)
            file.write(local + data)
            members.append(member)
            position += len(local) + size
        file.seek(position)
        file.write(build_archive_end(members, position))
    return path


def test_a_file_beyond_4_gib_is_read(sparse: Path) -> None:
    tensors = vkml_io.load(sparse, mmap=True).tensors

    assert tensors["large"].shape == (2**32,)
    assert tensors["large"][-1] == 0
    assert tensors["small"] == 1.0
    assert vkml_io.load(sparse, keys=["small"]).tensors["small"] == 1.0


def test_zipfile_reads_the_records_of_a_file_beyond_4_gib(sparse: Path) -> None:
    with zipfile.ZipFile(sparse) as archive:
        assert archive.getinfo("tensors/large.npy").file_size == 2**32 + 128
        assert archive.read("tensors/small.npy").endswith(b"\0\0\x80\x3f")
        assert archive.read("vkml.json") == JSON


@pytest.mark.parametrize("align", [1, 64, 4096])
@pytest.mark.parametrize("size", [0, 100, 0xFFFFFFFE, 0xFFFFFFFF, 2**40])
@pytest.mark.parametrize("name", ["a", "é" * 50])
def test_the_sizes_of_records_are_known_beforehand(name: str, size: int, align: int) -> None:
    for offset in (*range(130), 0xFFFFFFFE, 0xFFFFFFFF, 2**41):
        member = Member(name, 0, 0, 0, size, size, offset)

        assert local_header_size(member, align) == len(build_local_header(member, align))
        end = build_archive_end([member, member], offset + size)
        assert archive_end_size([member, member], offset + size) == len(end)


def test_records_made_at_once_are_those_made_one_by_one() -> None:
    members = [
        Member(name, 0x800 * (not name.isascii()), method, 0xFFFFFFFF - i, 5 * i, 7 * i, 9 * i)
        for i, (name, method) in enumerate([("a", 0), ("é" * 9, 8), ("b/c", 0), ("", 0)])
    ]
    large = Member("large", 0, 0, 1, 2**32, 2**32, 5)

    together = build_archive_end(members, 100)
    one_by_one = build_archive_end([*members, large], 100)

    records = sum(46 + len(member.name.encode()) for member in members)
    assert together[:records] == one_by_one[:records]
