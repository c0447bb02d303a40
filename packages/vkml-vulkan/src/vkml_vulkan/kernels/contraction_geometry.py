"""Which shader computes a contraction, and in what pieces."""

from __future__ import annotations

from typing import Final, NamedTuple

from vkml_vulkan.kernels.contraction import Contraction, count
from vkml_vulkan.profile import Profile


class Geometry(NamedTuple):
    """The shader and its tile.

    Attributes
    ----------
    shader : str
        The module without its class.
    constants : tuple of int
        Of the specialisation, from `ROWS` on.
    workgroup : int
        Invocations.
    tile_rows, tile_columns : int
        Elements of the result that a workgroup computes.
    unit : int
        Inner indices in a step: the least that splits of a sum differ by.
    """

    shader: str
    constants: tuple[int, ...]
    workgroup: int
    tile_rows: int
    tile_columns: int
    unit: int


Tile = tuple[int, int]

REGISTERS: Final = "contraction_registers"
TILES: Final = "contraction_tiles"
DOTS: Final = "contraction_dots"

_FEW: Final = 4
"""Rows or columns that do not fill a tile."""
_LONG: Final = 32
"""Products of a sum that several invocations should share."""
_SHORT: Final = 64
"""Products of a sum that costs more to begin than to compute."""
_BLOCK: Final = 512
"""Products that are summed before the sum is added to a total: it bounds the rounding error."""
_DEPTH: Final = 16
"""Inner indices in a slice of a tile: 64 contiguous bytes of float32 in each row."""
_MANY_TILES: Final = 128
"""Workgroups that occupy most GPUs; with fewer, smaller tiles are better."""
_SMALL_WORKGROUP: Final = 64
"""On GPUs, where invocations share nothing or little."""


def choose_geometry(profile: Profile, work: Contraction, itemsize: int) -> Geometry:
    """Return the best geometry for a contraction as it is; `itemsize` of the compute class."""
    if profile.on_cpu:
        return _for_cpu(profile, work, itemsize)
    return _for_gpu(profile, work, itemsize)


def is_better_swapped(profile: Profile, work: Contraction, itemsize: int) -> bool:
    """Return whether left and right should be exchanged.

    Invocations lie along columns, so there should be many of them.
    """
    if work.window is not None:
        return False
    rows, columns = count(work.rows), count(work.columns)
    if not profile.on_cpu:
        return columns <= _FEW < rows
    lanes, tiles = profile.workgroup, _cpu_tiles(work, itemsize)
    as_it_is = min(_cpu_cost(rows, columns, lanes, each) for each in tiles)
    return min(_cpu_cost(columns, rows, lanes, each) for each in tiles) < as_it_is


def block_size(size: int) -> int:
    """Return the length of the blocks into which the innermost axis is cut, about equal ones."""
    blocks = max(1, -(-size // _BLOCK))
    return max(1, -(-size // blocks))


# CPUs ---------------------------------------------------------------------------------


def _for_cpu(profile: Profile, work: Contraction, itemsize: int) -> Geometry:
    rows, columns, lanes = count(work.rows), count(work.columns), profile.workgroup
    if max(rows, columns) <= _FEW and _is_long_dot(work):
        return _dots(lanes, rows, columns)
    tiles = _cpu_tiles(work, itemsize)
    tile = min(tiles, key=lambda each: _cpu_cost(rows, columns, lanes, each))
    return _registers(work, lanes, tile)


def _cpu_tiles(work: Contraction, itemsize: int) -> tuple[Tile, ...]:
    """Return rows and columns that an invocation may compute: as many as registers hold, or few.

    For few rows it is not many columns either, which would compete for cache lines; but of short
    sums there are many.
    """
    narrow = (1, 8) if count(work.inner) <= _SHORT else (1, 2)
    return ((8, 8), (8, 2), narrow) if itemsize == 4 else ((8, 4), narrow)


def _cpu_cost(rows: int, columns: int, lanes: int, tile: Tile) -> float:
    """Return about what a step along the inner axis costs, in instructions of a CPU.

    A load from different places for each invocation costs about 10, one from the same place 2.
    """
    high, wide = tile
    tiles = -(-rows // high) * -(-columns // (wide * lanes))
    return tiles * (2.0 * high * wide + 10 * wide + 2 * high)


# GPUs ---------------------------------------------------------------------------------


def _for_gpu(profile: Profile, work: Contraction, itemsize: int) -> Geometry:
    rows, columns = count(work.rows), count(work.columns)
    small = min(profile.workgroup, _SMALL_WORKGROUP)
    if min(rows, columns) <= _FEW and _is_long_dot(work) and _is_contiguous(work):
        return _dots(small, rows, columns)
    if rows <= _FEW:
        return _registers(work, small, (_at_most_few(rows), 1))
    for size in (8, 4) if itemsize == 4 else (4,):
        geometry = _tiles(profile.workgroup, size, size)
        shared_bytes = (geometry.tile_rows + geometry.tile_columns + 2) * _DEPTH * itemsize
        tiles = -(-rows // geometry.tile_rows) * -(-columns // geometry.tile_columns)
        if shared_bytes <= profile.shared_bytes and tiles * count(work.batch) >= _MANY_TILES:
            return geometry
    return _tiles(profile.workgroup, 2, 2)


def _is_contiguous(work: Contraction) -> bool:
    """Return whether neighbours along the inner axis are neighbours in memory."""
    return {work.inner[-1].left, work.inner[-1].right} <= {0, 1}


# Both ---------------------------------------------------------------------------------


def _is_long_dot(work: Contraction) -> bool:
    """Return whether there is one inner axis, a long one, and no window."""
    outer, middle, inner = work.inner
    return work.window is None and outer.size == middle.size == 1 and inner.size >= _LONG


def _at_most_few(size: int) -> int:
    return _FEW if size > 1 else 1


def _dots(workgroup: int, rows: int, columns: int) -> Geometry:
    tile = _at_most_few(rows), _at_most_few(columns)
    return Geometry(DOTS, tile, workgroup, *tile, 1)


def _registers(work: Contraction, workgroup: int, tile: Tile) -> Geometry:
    rows, columns = tile
    unit = block_size(work.inner[-1].size)
    return Geometry(REGISTERS, tile, workgroup, rows, columns * workgroup, unit)


def _tiles(workgroup: int, rows: int, columns: int) -> Geometry:
    row_threads = 1 << (workgroup.bit_length() - 1) // 2
    tile_columns = columns * (workgroup // row_threads)
    constants = (rows, columns, row_threads, _DEPTH)
    return Geometry(TILES, constants, workgroup, rows * row_threads, tile_columns, 1)
