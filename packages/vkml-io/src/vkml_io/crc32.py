"""CRC-32 as fast as this machine can: zlib, a faster zlib where there is one, or folding.

Folding: over GF(2), x**91639 + x**41678 + 1 is a multiple of the polynomial of CRC-32. So are its
2**k-th powers, which have three terms too. Modulo such a multiple, a bit equals the sum of two
bits that stand later in the data, 49961 * 2**k and 91639 * 2**k places on: it may be deleted if it
is added to (XORed into) those two. Done to whole blocks of bytes, this shortens any data to its
last few hundred kilobytes, whose CRC-32 is the one of all. The result is exact.
"""

from __future__ import annotations

import importlib
import time
import zlib
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from vkml_io.aliases import Array
    from vkml_io.platform import Buffer

_POWER = 16  # of x in the multiple; a multiple of 8, so that whole bytes are moved
_NEAR = (91639 - 41678) * _POWER // 8  # bytes from a bit to the nearer of the two, and
_FAR = 91639 * _POWER // 8  # to the farther; all that is touched stays in a core's own cache
_KEPT_BLOCKS = 4  # of folded bytes behind the last _FAR ones, before these are moved to the front

_WORTH_FOLDING = 2**21  # bytes; below, the tail that zlib does is most of the data
_TRIAL_SIZE = 2**22  # about a millisecond
_ALL_ONES = 0xFFFFFFFF


def crc32(data: Buffer, value: int = 0) -> int:
    """Return the CRC-32 of `data`, which goes on from `value`, as `zlib.crc32` does."""
    if len(data) < _WORTH_FOLDING:
        return zlib.crc32(data, value)
    return _fastest()(data, value)


def fold_crc32(data: Buffer, value: int = 0) -> int:
    """Return the same as `crc32`, by folding."""
    # zlib starts with all bits inverted; inverting the first four bytes is the same.
    start = (value ^ _ALL_ONES).to_bytes(4, "little")
    given = np.frombuffer(data, np.uint8)
    blocks = (given.size - _FAR) // _NEAR
    if blocks < 1:
        return zlib.crc32(data, value)
    folded = np.zeros(_FAR + _KEPT_BLOCKS * _NEAR, np.uint8)
    position = _FAR
    block = given[:_NEAR].copy()
    block[:4] ^= np.frombuffer(start, np.uint8)
    for number in range(1, blocks + 1):
        if position + _NEAR > folded.size:
            folded[:_FAR] = folded[position - _FAR : position]
            position = _FAR
        _fold_block(block, folded, position)
        position += _NEAR
        block = given[number * _NEAR : (number + 1) * _NEAR]
    tail = given[blocks * _NEAR :].copy()
    for distance in (_NEAR, _FAR):
        reach = min(distance, tail.size)
        tail[:reach] ^= folded[position - distance : position - distance + reach]
    # Inverting was done above: zlib must start with zeros.
    return zlib.crc32(tail.data, _ALL_ONES)


def _fold_block(block: Array, folded: Array, position: int) -> None:
    """Put `block`, with what earlier bytes add to it, at `position` of the folded bytes."""
    size = block.size
    target = folded[position : position + size]
    np.bitwise_xor(block, folded[position - _NEAR : position - _NEAR + size], out=target)
    np.bitwise_xor(target, folded[position - _FAR : position - _FAR + size], out=target)


@cache
def _fastest() -> Callable[[Buffer, int], int]:
    """Return the fastest way on this machine; the first use of it measures that."""
    trial = b"\x5a" * _TRIAL_SIZE
    return min(_candidates(), key=lambda candidate: _duration(candidate, trial))


def _candidates() -> list[Callable[[Buffer, int], int]]:
    """Return every way there is: packages made for this are used where they are installed."""
    found: list[Callable[[Buffer, int], int]] = [zlib.crc32, fold_crc32]
    for module in ("isal.isal_zlib", "zlib_ng.zlib_ng"):
        try:
            found.append(importlib.import_module(module).crc32)
        except (ImportError, AttributeError):
            continue
    return found


def _duration(candidate: Callable[[Buffer, int], int], data: bytes) -> float:
    """Return the shorter of two runs: other programs can only lengthen them."""
    times = []
    for _ in range(2):
        start = time.perf_counter()
        candidate(data, 0)
        times.append(time.perf_counter() - start)
    return min(times)
