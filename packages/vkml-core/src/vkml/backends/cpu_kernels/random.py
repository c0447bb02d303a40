"""Random numbers from counters: Philox4x32-10.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). The key is
the seed; the counter of element i is (i, offset), each of 64 bits. A number depends on nothing
else, so every device draws the same ones, in any order.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

ROUNDS = 10
MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
WEYL = (0x9E3779B9, 0xBB67AE85)
LOW = 0xFFFFFFFF
HALF = np.uint64(32)
MASK = np.uint64(LOW)

# Six blocks of this many words fit into a second-level cache of 1 MiB. It divides 2**32, so the
# upper half of an index is the same throughout a block.
BLOCK = 16 * 1024

# The numbers are below 1 in every format: they have as many bits as its significand.
_BITS = {"float16": 11, "bfloat16": 8, "float32": 24}


def _blocks(count: int, seed: int, offset: int) -> Iterator[tuple[slice, Words, Words]]:
    """Yield, for one block of elements after the other, the words 0 and 1 of each.

    Words are 32 bits wide, held in 64 for the products. The next block is written over them.
    """
    keys = _keys(seed)
    buffers = [np.empty(min(BLOCK, count), np.uint64) for _ in range(6)]
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        first, second = _philox(
            start, stop - start, offset, keys, [each[: stop - start] for each in buffers]
        )
        yield slice(start, stop), first, second


@lru_cache(maxsize=16)
def _keys(seed: int) -> tuple[tuple[np.uint64, np.uint64], ...]:
    """Return the two keys of each round."""
    low, high = _halves(seed)
    return tuple(
        (np.uint64((low + number * WEYL[0]) & LOW), np.uint64((high + number * WEYL[1]) & LOW))
        for number in range(ROUNDS)
    )


def _halves(number: int) -> tuple[int, int]:
    return number & LOW, number >> 32 & LOW


def _philox(
    start: int, count: int, offset: int, keys: Sequence[Any], buffers: list[Words]
) -> tuple[Words, Words]:
    """Return the words 0 and 1 of `count` counters from `start` on, in two of the buffers.

    A round maps the words (a, x, b, y) to (high(b * M1) ^ x ^ k0, low(b * M1), high(a * M0) ^ y ^
    k1, low(a * M0)). The low halves are used once, in the next round, so they stay inside the
    products until then.
    """
    a, b, low_a, low_b, next_a, next_b = buffers
    multiply_a, multiply_b = MULTIPLIERS
    offset_low, offset_high = _halves(offset)
    index_low, index_high = _halves(start)
    # Rounds 1 and 2: all words but the index are the same for all elements, plain numbers.
    product = offset_low * int(multiply_b)
    constant = product >> 32 ^ index_high ^ int(keys[0][0])
    a[:] = np.arange(index_low, index_low + count, dtype=np.uint64)
    np.multiply(a, multiply_a, out=low_a)
    np.right_shift(low_a, HALF, out=b)
    np.bitwise_xor(b, np.uint64(offset_high ^ int(keys[0][1])), out=b)
    np.multiply(b, multiply_b, out=low_b)
    np.right_shift(low_b, HALF, out=a)
    np.bitwise_xor(a, np.uint64(product & LOW ^ int(keys[1][0])), out=a)
    product = constant * int(multiply_a)
    np.bitwise_xor(low_a, np.uint64(product >> 32 ^ int(keys[1][1])), out=b)
    np.bitwise_and(b, MASK, out=b)
    low_a.fill(product & LOW)
    for key_a, key_b in keys[2:-1]:
        np.multiply(a, multiply_a, out=next_a)
        np.multiply(b, multiply_b, out=next_b)
        _mix(next_b, low_b, key_a, a)
        _mix(next_a, low_a, key_b, b)
        low_a, next_a = next_a, low_a
        low_b, next_b = next_b, low_b
    np.multiply(b, multiply_b, out=next_b)
    _mix(next_b, low_b, keys[-1][0], a)
    return a, np.bitwise_and(next_b, MASK, out=b)


def _mix(product: Words, low: Words, key: np.uint64, out: Words) -> None:
    """Write the upper half of `product`, mixed with the lower half of `low` and the key."""
    np.right_shift(product, HALF, out=out)
    np.bitwise_xor(out, low, out=out)
    np.bitwise_xor(out, key, out=out)
    np.bitwise_and(out, MASK, out=out)


def random_uniform(
    shape: tuple[int, ...], seed: int, offset: int, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return numbers in [0, 1): the top bits of word 0; for float64 all of word 0, then word 1."""
    result = np.empty(math.prod(shape), dtype)
    bits = _BITS.get(dtype.name)
    for where, first, second in _blocks(result.size, seed, offset):
        if bits is None:
            first <<= np.uint64(21)
            first |= np.right_shift(second, np.uint64(11), out=second)
            np.multiply(first, 2.0**-53, out=result[where])
        else:
            first >>= np.uint64(32 - bits)
            result[where] = np.multiply(first, 2.0**-bits)
    return result.reshape(shape)


def random_normal(
    shape: tuple[int, ...], seed: int, offset: int, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return numbers of mean 0 and deviation 1: Box and Muller's cosine of words 0 and 1.

    24 bits of each word in float32, which other formats are rounded from; all 32 for float64.
    """
    result = np.empty(math.prod(shape), dtype)
    wide = np.dtype(np.float64 if dtype == np.float64 else np.float32)
    bits = 32 if wide == np.float64 else 24
    for where, first, second in _blocks(result.size, seed, offset):
        first >>= np.uint64(32 - bits)
        second >>= np.uint64(32 - bits)
        first += np.uint64(1)  # in (0, 1]: the logarithm needs a number above 0
        radius = np.multiply(first, 2.0**-bits).astype(wide, copy=False)
        angle = np.multiply(second, 2.0**-bits).astype(wide, copy=False)
        np.log(radius, out=radius)
        radius *= wide.type(-2)
        np.sqrt(radius, out=radius)
        angle *= wide.type(2 * math.pi)
        radius *= np.cos(angle, out=angle)
        result[where] = radius
    return result.reshape(shape)


def random_integers(
    shape: tuple[int, ...], seed: int, offset: int, low: int, high: int, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return integers in [low, high).

    Up to 2**32 different ones: the upper half of word 0 times their number. More: the remainder of
    (word 0, word 1), word 0 being the upper half, by their number.
    """
    result = np.empty(math.prod(shape), np.uint64)
    count = high - low
    for where, first, second in _blocks(result.size, seed, offset):
        part = result[where]
        if count <= 2**32:
            np.multiply(first, np.uint64(count), out=part)
            part >>= HALF
        else:
            first <<= HALF
            np.bitwise_or(first, second, out=part)
            if count < 2**64:
                part %= np.uint64(count)
    result += np.uint64(low % 2**64)  # wraps around, as two's complement does
    if dtype != np.uint64:
        result = result.view(np.int64)
    return result.astype(dtype, copy=False).reshape(shape)


def dropout(x: NDArray[Any], p: float, seed: int, offset: int) -> tuple[NDArray[Any], Any]:
    """Return x with elements set to 0 at random, the others scaled up; and which were kept."""
    kept = np.empty(x.size, np.bool_)
    # u >= p for u = (word >> 8) / 2**24 and p in float32, as integers.
    limit = np.uint64(math.ceil(float(np.float32(p)) * 2**24) << 8)
    for where, first, _ in _blocks(x.size, seed, offset):
        np.greater_equal(first, limit, out=kept[where])
    mask = kept.reshape(x.shape)
    return masked_scale(x, mask, 1 / (1 - p) if p < 1 else 0.0), mask


def masked_scale(x: NDArray[Any], mask: NDArray[np.bool_], scale: float) -> NDArray[Any]:
    """Return x times a number where the mask holds, and 0 elsewhere."""
    result: NDArray[Any] = np.empty(x.shape, x.dtype)
    np.multiply(x, x.dtype.type(scale), out=result)
    if x.dtype.kind == "f":
        # On the bits: `where` is slow for random masks, and infinity times 0 would be NaN.
        bits = result.view(f"i{x.dtype.itemsize}")
        np.bitwise_and(bits, np.negative(mask.view(np.int8)), out=bits)
        return result
    result[~mask] = 0
    return result
