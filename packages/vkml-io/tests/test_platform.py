"""Systems that lack what Linux has, and how much memory is used."""

from __future__ import annotations

import os
import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
import pytest

import vkml_io

if TYPE_CHECKING:
    from pathlib import Path

    from vkml_io.aliases import Array

MIB = 2**20


@pytest.mark.parametrize("compress", [False, True])
def test_files_are_the_same_where_reads_and_writes_take_no_offset(
    tmp_path: Path, arrays: dict[str, Array], compress: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays["large"] = np.arange(2 * MIB, dtype="u1")
    vkml_io.save(tmp_path / "a.vkml", arrays, compress=compress)
    for name in ("pread", "preadv", "pwrite", "posix_fallocate", "fchmod"):
        monkeypatch.delattr(os, name)

    vkml_io.save(tmp_path / "b.vkml", arrays, compress=compress)
    tensors = vkml_io.load(tmp_path / "b.vkml").tensors

    assert (tmp_path / "a.vkml").read_bytes() == (tmp_path / "b.vkml").read_bytes()
    for key, array in arrays.items():
        assert tensors[key].tobytes() == array.tobytes()


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("strided", [False, True])
def test_save_needs_little_memory(tmp_path: Path, compress: bool, strided: bool) -> None:
    table = np.zeros((2, 64 * MIB // 8))
    array = table.T[:, ::-1] if strided else table

    tracemalloc.start()
    vkml_io.save(tmp_path / "a.vkml", {"w": array}, compress=compress, durable=False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 16 * MIB


def test_validate_needs_little_memory(tmp_path: Path) -> None:
    vkml_io.save(tmp_path / "a.vkml", {"w": np.zeros(64 * MIB // 8)}, durable=False)

    tracemalloc.start()
    assert vkml_io.validate(tmp_path / "a.vkml").is_sound
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 16 * MIB
