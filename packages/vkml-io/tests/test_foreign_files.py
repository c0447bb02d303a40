"""A file of another kind is refused under the same code, and named."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pytest

import vkml_io

if TYPE_CHECKING:
    from pathlib import Path


def _npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.ones(3))
    return file.getvalue()


def _safetensors() -> bytes:
    entry = {"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}
    header = json.dumps(entry).encode()
    return len(header).to_bytes(8, "little") + header + b"\0" * 4


def _pytorch(*, with_descriptor: bool) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}.")
        archive.writestr("archive/data/0", b"\0" * 24)
    data = file.getvalue()
    if with_descriptor:  # as torch.save writes: flag bit 3, in the directory records
        start = data.index(b"PK\x01\x02")
        data = data[: start + 8] + b"\x08\x08" + data[start + 10 :]
    return data


OLD_PYTORCH = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03." + b"\0" * 20
LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"


@pytest.mark.parametrize(
    ("data", "code", "part"),
    [
        (_pytorch(with_descriptor=True), "B8", "looks like a PyTorch file: read it with torch"),
        (_pytorch(with_descriptor=False), "B19", "looks like a PyTorch file"),
        (OLD_PYTORCH, "B1", "looks like a PyTorch file"),
        (pickle.dumps(list(range(100))), "B1", "looks like a pickle"),
        (pickle.dumps(1), "A2", "looks like a pickle"),
        (_safetensors(), "B1", "looks like a safetensors file"),
        (b"\n<!DOCTYPE html>\n<html><head></head></html>", "B1", "looks like an HTML page"),
        (b"\xef\xbb\xbf<html lang='en'><head></head></html>", "B1", "looks like an HTML page"),
        (LFS_POINTER, "B1", "looks like a Git LFS pointer"),
        (_npy(), "B1", r"looks like a single \.npy array"),
    ],
)
def test_a_file_of_another_kind_is_named(tmp_path: Path, data: bytes, code: str, part: str) -> None:
    (tmp_path / "a.vkml").write_bytes(data)

    with pytest.raises(vkml_io.CheckpointError, match=part) as caught:
        vkml_io.load(tmp_path / "a.vkml")

    assert caught.value.code == code


@pytest.mark.parametrize("data", [b"", b"\x80", b"{", b"x" * 100, b"\0" * 8 + b"{" * 50])
def test_nothing_is_guessed_of_other_bytes(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.vkml").write_bytes(data)

    with pytest.raises(vkml_io.NotACheckpointError) as caught:
        vkml_io.load(tmp_path / "a.vkml")

    assert "looks like" not in str(caught.value)
