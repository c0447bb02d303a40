"""Cache-sized blocks for kernels that pass over their data several times."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# 256 KiB of float32: a few such blocks stay in the second-level cache, and a NumPy call on one
# takes long enough (about 20 µs) to hide the cost of the call.
BLOCK_SIZE = 64 * 1024


def row_blocks(rows: int, row_size: int) -> Iterator[slice]:
    """Yield slices that cut `rows` rows into blocks of about `BLOCK_SIZE` elements."""
    step = max(1, BLOCK_SIZE // max(1, row_size))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


@lru_cache(maxsize=64)
def ones(size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a read-only vector of ones, kept between calls."""
    vector = np.ones(size, dtype)
    vector.setflags(write=False)
    return vector


@lru_cache(maxsize=64)
def _constant_block(value: float, dtype: np.dtype[Any]) -> NDArray[Any]:
    block = np.full(BLOCK_SIZE, value, dtype)
    block.setflags(write=False)
    return block


def constants_like(value: float, block: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only array of one value for a flat block of at most `BLOCK_SIZE` elements.

    `np.maximum` and `np.minimum` of two arrays are three times as fast as with a scalar.
    """
    return _constant_block(value, block.dtype)[: block.size]
