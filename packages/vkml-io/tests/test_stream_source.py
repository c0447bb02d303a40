"""File objects that are no files of this machine."""

from __future__ import annotations

import gzip
import io
import tempfile
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest

import vkml_io

if TYPE_CHECKING:
    from pathlib import Path

    from vkml_io.aliases import Array


@pytest.fixture
def saved(tmp_path: Path, arrays: dict[str, Array]) -> Path:
    arrays["large"] = np.arange(10**5)
    vkml_io.save(tmp_path / "a.vkml", arrays, {"epoch": 3})
    return tmp_path / "a.vkml"


def _check(file: object, path: Path) -> None:
    with vkml_io.open(file) as reader, vkml_io.open(path) as local:  # type: ignore[arg-type]
        assert list(reader) == list(local)
        for key, array in reader.items():
            assert array.tobytes("A") == local[key].tobytes("A")
            assert array.flags.writeable
        reader.verify()


def test_bytes_in_memory_are_read(saved: Path) -> None:
    file = io.BytesIO(saved.read_bytes())

    _check(file, saved)

    assert not file.closed
    assert vkml_io.validate(file).is_sound


def test_members_of_archives_are_read(saved: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "outer.zip", "w", zipfile.ZIP_DEFLATED) as outer:
        outer.write(saved, "a.vkml")

    with zipfile.ZipFile(tmp_path / "outer.zip") as outer, outer.open("a.vkml") as file:
        _check(file, saved)


def test_the_bytes_of_a_gzip_file_are_those_that_it_gives(saved: Path, tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.vkml.gz", "wb") as packed:
        packed.write(saved.read_bytes())

    with gzip.open(tmp_path / "a.vkml.gz") as file:
        _check(file, saved)


def test_a_file_of_this_machine_is_mapped(saved: Path) -> None:
    with saved.open("rb") as file, vkml_io.open(file) as reader:
        assert not reader["large"].flags.writeable
    with tempfile.NamedTemporaryFile() as copy:
        copy.write(saved.read_bytes())
        copy.flush()
        with vkml_io.open(copy) as reader:
            assert not reader["large"].flags.writeable


def test_damage_is_seen(saved: Path, arrays: dict[str, Array]) -> None:
    data = bytearray(saved.read_bytes())
    data[data.index(arrays["large"].tobytes()) + 99] ^= 1

    with vkml_io.open(io.BytesIO(data)) as reader, pytest.raises(vkml_io.IntegrityError):
        reader["large"]


def test_an_object_that_grows_is_refused(saved: Path) -> None:
    file = io.BytesIO(saved.read_bytes())
    with vkml_io.open(file) as reader:
        file.seek(0, io.SEEK_END)
        file.write(b"\0")

        with pytest.raises(vkml_io.ChangedWhileReadError):
            reader.verify()


def test_an_object_that_is_cut_is_refused(saved: Path) -> None:
    file = io.BytesIO(saved.read_bytes())
    with vkml_io.open(file) as reader:
        file.truncate(1000)

        with pytest.raises(vkml_io.ChangedWhileReadError):
            reader["large"]


def test_text_is_refused(saved: Path) -> None:
    with pytest.raises(TypeError, match="binary mode"):
        vkml_io.open(io.StringIO("x" * 100))  # type: ignore[arg-type]  # what is tested
    assert saved.exists()


def test_what_cannot_seek_is_refused(saved: Path) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    with pytest.raises(TypeError, match="seekable"):
        vkml_io.open(Pipe(saved.read_bytes()))


def test_nothing_but_a_file_can_be_mapped(saved: Path) -> None:
    file = io.BytesIO(saved.read_bytes())

    with pytest.raises(ValueError, match="mmap=False"):
        vkml_io.load(file, mmap=True)  # type: ignore[arg-type]  # a path is what it is made for


def test_too_small_an_object_is_no_checkpoint() -> None:
    with pytest.raises(vkml_io.NotACheckpointError):
        vkml_io.open(io.BytesIO(b"PK"))


def test_a_closed_reader_reads_no_more(saved: Path) -> None:
    reader = vkml_io.open(io.BytesIO(saved.read_bytes()))
    reader.close()

    with pytest.raises(ValueError, match="closed"):
        reader["large"]
