"""A strided array in pieces that each span few bytes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from vkml_io.contents import CHUNK
from vkml_io.views import extent_of

if TYPE_CHECKING:
    from collections.abc import Iterator


class Piece(NamedTuple):
    """A part of an array, in bytes of its storage."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    def extent(self, itemsize: int) -> tuple[int, int]:
        """Return the first byte that it touches, and the end of the last."""
        return extent_of(self.shape, self.strides, self.offset, itemsize)


def memory_pieces(
    shape: tuple[int, ...], strides: tuple[int, ...], offset: int, itemsize: int
) -> Iterator[Piece]:
    """Yield pieces that together touch every value, in the order of memory.

    Axes that repeat the same memory are left out.
    """
    if 0 in shape:
        return
    axes = [axis for axis in zip(shape, strides, strict=True) if axis[0] > 1 and axis[1]]
    axes.sort(key=lambda axis: -abs(axis[1]))  # outermost in memory first: pieces span little
    waiting = [Piece(tuple(n for n, _ in axes), tuple(step for _, step in axes), offset)]
    while waiting:
        piece = waiting.pop()
        low, high = piece.extent(itemsize)
        if high - low <= CHUNK and math.prod(piece.shape) * itemsize <= CHUNK:
            yield piece
        else:
            waiting += reversed(_halves(piece))


def _halves(piece: Piece) -> list[Piece]:
    (length, *lengths), (stride, *strides) = piece.shape, piece.strides
    half = length // 2
    parts = []
    for count, start in ((half, 0), (length - half, half)):
        offset = piece.offset + start * stride
        if count == 1:
            parts.append(Piece(tuple(lengths), tuple(strides), offset))
        else:
            parts.append(Piece((count, *lengths), (stride, *strides), offset))
    return parts
