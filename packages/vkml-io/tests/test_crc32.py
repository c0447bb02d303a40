"""CRC-32 by folding is the CRC-32 of zlib."""

from __future__ import annotations

import sys
import zlib
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pytest

from vkml_io import crc32 as module
from vkml_io.crc32 import crc32, fold_crc32

if TYPE_CHECKING:
    from collections.abc import Iterator

# One byte around the lengths at which one more block is folded, and around their seams.
NEAR, FAR = 99_922, 183_278
LENGTHS = sorted(
    length + step
    for length in (4, NEAR, FAR, NEAR + FAR, 2 * NEAR + FAR, 7 * NEAR + FAR, 2**21)
    for step in (-1, 0, 1)
)
NOISE = np.random.default_rng(5).bytes(2**21 + 1)


@pytest.fixture
def measured_anew() -> Iterator[None]:
    module._fastest.cache_clear()
    yield
    module._fastest.cache_clear()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("value", [0, 1, 0x12345678, 0xFFFFFFFF])
def test_folding_gives_what_zlib_gives(length: int, value: int) -> None:
    data = NOISE[:length]

    assert fold_crc32(data, value) == zlib.crc32(data, value)


@pytest.mark.parametrize("byte", [0, 255])
def test_folding_of_equal_bytes_gives_what_zlib_gives(byte: int) -> None:
    data = bytes([byte]) * 1_000_003

    assert fold_crc32(data) == zlib.crc32(data)


def test_folding_sees_every_flipped_bit() -> None:
    data = bytearray(NOISE[: 3 * NEAR + FAR])
    right = fold_crc32(data)

    for position in (0, 3, 4, NEAR, NEAR + 1, FAR, len(data) - FAR, len(data) - 1):
        data[position] ^= 1
        assert fold_crc32(data) == zlib.crc32(data) != right
        data[position] ^= 1


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_data_in_parts_give_the_sum_of_the_whole(kind: type) -> None:
    parts = (NOISE[:100], NOISE, NOISE[:7])
    value = 0

    for part in parts:
        value = crc32(kind(part), value)

    assert value == zlib.crc32(b"".join(parts))


@pytest.mark.usefixtures("measured_anew")
@pytest.mark.parametrize("name", ["isal.isal_zlib", "zlib_ng.zlib_ng"])
def test_a_faster_package_is_used_where_it_is_installed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = ModuleType(name)
    fast.crc32 = lambda _data, _value: 42  # type: ignore[attr-defined]  # nothing is faster
    monkeypatch.setitem(sys.modules, name.split(".")[0], ModuleType(name.split(".")[0]))
    monkeypatch.setitem(sys.modules, name, fast)

    assert crc32(NOISE) == 42


@pytest.mark.usefixtures("measured_anew")
def test_the_way_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = crc32(NOISE)
    monkeypatch.setattr(module, "_duration", None)

    assert crc32(NOISE) == first == zlib.crc32(NOISE)
