"""The arguments of ``contraction.glsl``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vkml_vulkan.kernels.contraction import Axes, Contraction, count
from vkml_vulkan.kernels.contraction_geometry import Geometry, block_size
from vkml_vulkan.layouts import divisor


class Splitting(NamedTuple):
    """How sums are split.

    Attributes
    ----------
    splits : int
        Parts of each sum; 1 where it is whole.
    stride : int
        Elements between the results of two parts.
    """

    splits: int
    stride: int


def count_tiles(work: Contraction, geometry: Geometry) -> tuple[int, int, int]:
    """Return tiles along rows and along columns, and the batch."""
    row_tiles = -(-count(work.rows) // geometry.tile_rows)
    column_tiles = -(-count(work.columns) // geometry.tile_columns)
    return row_tiles, column_tiles, count(work.batch)


def arguments(work: Contraction, geometry: Geometry, splitting: Splitting) -> list[int]:
    """Return the words from `ROW_COUNT` on, in the order of the shader's constants."""
    row_tiles, column_tiles, batch = count_tiles(work, geometry)
    splits, stride = splitting
    words = [count(work.rows), count(work.columns), batch]
    words += [row_tiles, *divisor(row_tiles), column_tiles, *divisor(column_tiles)]
    words += [splits, *divisor(splits), stride]
    words += _inner_words(work, geometry, splits)
    words += [work.result_start, work.left_start, work.right_start]
    height, width, y, x = work.window or (0, 0, 0, 0)
    words += [y, x, height, width, len(work.batch), len(work.rows), len(work.columns)]
    inner = work.inner[-1]
    words += [int(abs(inner.left) == 1), int(abs(inner.right) == 1)]
    words += _axis_words(work.batch, ("left", "right", "result", "bias"))
    words += _axis_words(work.rows, ("left", "result", "bias"))
    return words + _axis_words(work.columns, ("right", "result", "bias", "y", "x"))


def _inner_words(work: Contraction, geometry: Geometry, splits: int) -> list[int]:
    outer, middle, inner = work.inner
    steps = outer.size * middle.size * -(-inner.size // geometry.unit)
    block = block_size(inner.size)
    blocks = max(1, -(-inner.size // block))
    words = [steps, -(-steps // splits), inner.size, *divisor(max(1, inner.size))]
    words += [block, blocks, *divisor(blocks), middle.size, *divisor(max(1, middle.size))]
    for each in (inner, middle, outer):
        words += [each.left, each.right, each.y, each.x]
    return words


def _axis_words(axes: Axes, operands: Sequence[str]) -> list[int]:
    """Return size, divisor and the named steps of axes, the innermost first."""
    words = []
    for each in reversed(axes):
        steps = each._asdict()
        words += [each.size, *divisor(each.size), *(steps[name] for name in operands)]
    return words
