"""What must hold for every file and every input, tried on many."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tracemalloc
import zipfile
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import vkml_io
from vkml_io.cli import main
from vkml_io.format import DTYPE_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from forge import Forge
    from vkml_io.aliases import Array

UNZIP = shutil.which("unzip")
# `nox -s fuzz` asks for many, and for others each time.
EXAMPLES = os.environ.get("VKML_FUZZ_EXAMPLES")
MANY = settings(max_examples=int(EXAMPLES or 150), deadline=None, derandomize=EXAMPLES is None)
ARRAYS = hnp.arrays(
    dtype=st.sampled_from(sorted(DTYPE_NAMES)).map(np.dtype),
    shape=hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@pytest.fixture(params=["stored", "deflated", "original"])
def sound(request: pytest.FixtureRequest, tmp_path: Path) -> bytes:
    """Return the bytes of small sound files."""
    if request.param == "original":
        return (Path(__file__).parent / "data" / "v1" / "plain.vkml").read_bytes()
    tensors = {"w": np.arange(6, dtype="f4").reshape(2, 3), "f": np.array([True, False] * 20)}
    compress = request.param == "deflated"
    vkml_io.save(tmp_path / "sound", tensors, {"a": [1, None]}, compress, sha256=not compress)
    return (tmp_path / "sound").read_bytes()


def _same(first: vkml_io.Checkpoint, second: vkml_io.Checkpoint) -> bool:
    return (
        list(first.tensors) == list(second.tensors)
        and all(
            first.tensors[key].dtype == second.tensors[key].dtype
            and first.tensors[key].shape == second.tensors[key].shape
            and first.tensors[key].tobytes() == second.tensors[key].tobytes()
            for key in first.tensors
        )
        and repr(first.metadata) == repr(second.metadata)
    )


def test_every_prefix_of_a_sound_file_is_refused(sound: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cut.vkml"

    for length in range(len(sound)):
        path.write_bytes(sound[:length])
        with pytest.raises(vkml_io.CheckpointError):
            vkml_io.load(path)


def test_every_byte_that_is_flipped_is_refused_or_harmless(sound: bytes, tmp_path: Path) -> None:
    path = tmp_path / "flipped.vkml"
    path.write_bytes(sound)
    expected = vkml_io.load(path)

    for position in range(len(sound)):
        for mask in (0x01, 0x80, 0xFF):
            changed = bytearray(sound)
            changed[position] ^= mask
            path.write_bytes(changed)
            try:
                found = vkml_io.load(path)
            except vkml_io.CheckpointError:
                continue
            assert _same(found, expected), (position, mask)


@MANY
@given(tensors=st.dictionaries(st.text(max_size=8), ARRAYS, max_size=4), compress=st.booleans())
def test_what_is_saved_loads_equal_in_every_way(tensors: dict[str, Array], compress: bool) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.vkml"
        try:
            vkml_io.save(path, tensors, compress=compress, durable=False)
        except vkml_io.CheckpointError as error:
            assert error.code in ("B10", "C6")  # a key that is no safe name  # noqa: PT017
            return
        expected = vkml_io.Checkpoint(tensors, {}, 1)
        assert _same(vkml_io.load(path), expected)
        assert _same(vkml_io.load(path, mmap=True), expected)
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
        for key, array in tensors.items():
            entry = next(entry for entry in vkml_io.inspect(path) if entry.key == key)
            assert entry.shape == array.shape


@MANY
@given(metadata=st.dictionaries(st.text(), JSON, max_size=4))
def test_metadata_that_are_saved_load_equal(metadata: dict[str, Any]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.vkml"
        try:
            vkml_io.save(path, {}, metadata, durable=False)
        except vkml_io.CheckpointError as error:
            assert error.code == "C5"  # noqa: PT017  # text may hold lone surrogates
            return
        assert repr(vkml_io.load(path).metadata) == repr(metadata)


_NUMBER = st.sampled_from([0, 1, 2, 8, 20, 45, 46, 152, 153, 0x800, 0xFFFF])
_LARGE = _NUMBER | st.sampled_from([0xFFFFFFFF, 0x7FFFFFFF])
_FIELDS = st.dictionaries(
    st.sampled_from(["needed", "flags", "method", "time", "date", "extra_length"]), _NUMBER
) | st.dictionaries(st.sampled_from(["crc", "stored", "size"]), _LARGE)
_EXTRAS = st.sampled_from(
    [b"", b"\x35\xd9\x02\x00\0\0", b"UT\x01\x00\x03", b"\x01\x00\x08\x00" + bytes(8), b"\x01"]
)


@MANY
@given(local=_FIELDS, central=_FIELDS, same=st.booleans(), local_extra=_EXTRAS,
       central_extra=_EXTRAS, deflate=st.booleans())  # fmt: skip
def test_what_is_accepted_zipfile_reads_alike(
    forge_factory: type[Forge],
    local: dict[str, int],
    central: dict[str, int],
    same: bool,
    local_extra: bytes,
    central_extra: bytes,
    deflate: bool,
) -> None:
    with TemporaryDirectory() as folder:
        forge = forge_factory(Path(folder))
        part = forge.tensor(
            local=central if same else local,
            central=central,
            local_extra=local_extra,
            central_extra=central_extra,
            deflate=deflate,
        )
        path = forge.write(part, forge.header())
        try:
            loaded = vkml_io.load(path)
        except vkml_io.CheckpointError:
            assert not vkml_io.validate(path).is_sound
            return
        assert vkml_io.validate(path).is_sound
        with zipfile.ZipFile(path) as archive:
            assert archive.namelist() == ["tensors/w.npy", "vkml.json"]
            assert archive.read("tensors/w.npy").endswith(loaded.tensors["w"].tobytes())
        if UNZIP is not None:
            subprocess.run([UNZIP, "-t", path], check=True, capture_output=True)
        vkml_io.save(Path(folder) / "again", loaded.tensors, loaded.metadata, durable=False)
        assert _same(vkml_io.load(Path(folder) / "again"), loaded)


def _verdicts(path: Path) -> list[str]:
    """Return the code of the first violation, or "" for none, by every way to look at a file."""

    def code_of(read: Callable[[], object]) -> str:
        try:
            read()
        except vkml_io.CheckpointError as error:
            return error.code
        return ""

    def lazily(mmap: bool) -> None:
        with vkml_io.open(path, mmap=mmap) as reader:
            reader.verify()

    report = vkml_io.validate(path)
    with redirect_stdout(StringIO()) as text:
        status = main(["validate", "--json", str(path)])
    printed = json.loads(text.getvalue())["violations"]
    assert status == (1 if printed else 0)
    return [
        code_of(partial(vkml_io.load, path)),
        code_of(partial(lazily, True)),
        code_of(partial(lazily, False)),
        code_of(partial(vkml_io.digest, path)),
        report.violations[0].code if report.violations else "",
        printed[0]["code"] if printed else "",
    ]


@MANY
@given(local=_FIELDS, central=_FIELDS, same=st.booleans(), central_extra=_EXTRAS,
       deflate=st.booleans(), flipped=st.none() | st.integers(0, 600))  # fmt: skip
def test_every_way_to_look_at_a_file_gives_one_verdict(
    forge_factory: type[Forge],
    local: dict[str, int],
    central: dict[str, int],
    same: bool,
    central_extra: bytes,
    deflate: bool,
    flipped: int | None,
) -> None:
    with TemporaryDirectory() as folder:
        forge = forge_factory(Path(folder))
        part = forge.tensor(
            local=central if same else local,
            central=central,
            central_extra=central_extra,
            deflate=deflate,
        )
        path = forge.write(part, forge.header())
        if flipped is not None:
            data = bytearray(path.read_bytes())
            data[flipped % len(data)] ^= 0x10
            path.write_bytes(data)

        verdicts = _verdicts(path)

        assert len(set(verdicts)) == 1, verdicts


def test_every_sound_file_is_saved_again_bit_for_bit(sound: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.vkml").write_bytes(sound)
    loaded = vkml_io.load(tmp_path / "a.vkml")

    vkml_io.save(tmp_path / "b.vkml", loaded.tensors, loaded.metadata)

    assert _same(vkml_io.load(tmp_path / "b.vkml"), loaded)
    assert vkml_io.digest(tmp_path / "b.vkml") == vkml_io.digest(tmp_path / "a.vkml")


SOME = settings(MANY, max_examples=int(EXAMPLES or 60) // 3)
CONSTANT = 12 * 2**20  # pieces of bounded size, and what Python itself needs


@SOME
@given(
    count=st.integers(0, 6_000_000),
    zeros=st.booleans(),
    ratio=st.sampled_from([1.5, 20.0, 100.0]),
    way=st.sampled_from(["load", "validate", "digest", "inspect"]),
)
def test_memory_is_bounded_by_the_size_of_the_file_times_the_ratio(
    count: int, zeros: bool, ratio: float, way: str
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.vkml"
        values = np.zeros(count, "u1") if zeros else np.arange(count, dtype="u1")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            with archive.open("tensors/w.npy", "w") as member:
                np.lib.format.write_array(member, values)
            header = {"format": "vkml-checkpoint", "version": 1, "keys": ["w"], "metadata": {}}
            archive.writestr("vkml.json", json.dumps(header))
        options = {} if way == "inspect" else {"max_expansion_ratio": ratio}
        call = partial(getattr(vkml_io, way), path, **options)

        tracemalloc.start()
        try:
            call()
        except vkml_io.ExpansionError:
            pass
        finally:
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()

        held = path.stat().st_size * ratio if way == "load" else 0
        assert peak <= held + CONSTANT
