"""Which shader computes a contraction, and in what pieces."""

from __future__ import annotations

from typing import NamedTuple

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


REGISTERS = "contraction_registers"
TILES = "contraction_tiles"
DOTS = "contraction_dots"

_BLOCK = 512
"""Products that are summed before the sum is added to a total: it bounds the rounding error."""
_DEPTH = 16
_FEW = 4
"""Rows or columns that do not fill a tile."""
_SHORT = 64
"""Products of a short sum."""


def choose_geometry(profile: Profile, work: Contraction, itemsize: int) -> Geometry:
    """Return the best geometry for a contraction as it is; `itemsize` of the compute class."""
    rows, columns = count(work.rows), count(work.columns)
    if profile.on_cpu:
        return _for_cpu(profile, work, rows, columns, itemsize)
    return _for_gpu(profile, work, rows, columns, itemsize)


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
    as_it_is = min(cpu_cost(rows, columns, lanes, each) for each in tiles)
    return min(cpu_cost(columns, rows, lanes, each) for each in tiles) < as_it_is


def _cpu_tiles(work: Contraction, itemsize: int) -> tuple[tuple[int, int], ...]:
    """Return rows and columns that an invocation may compute: as many as registers hold, or few.

    For few rows it is not many columns either, which would compete for cache lines; but of short
    sums, to begin which costs more than to compute them.
    """
    narrow = (1, 8) if count(work.inner) <= _SHORT else (1, 2)
    return ((8, 8), (8, 2), narrow) if itemsize == 4 else ((8, 4), narrow)


def is_dot(work: Contraction) -> bool:
    """Return whether there is one inner axis, and no window."""
    return work.window is None and all(each.size == 1 for each in work.inner[:2])


def _for_cpu(
    profile: Profile, work: Contraction, rows: int, columns: int, itemsize: int
) -> Geometry:
    lanes = profile.workgroup
    if max(rows, columns) <= _FEW and is_dot(work) and work.inner[-1].size >= _FEW * lanes:
        return _dots(lanes, rows, columns)
    tile = min(_cpu_tiles(work, itemsize), key=lambda each: cpu_cost(rows, columns, lanes, each))
    return _registers(work, lanes, tile)


def cpu_cost(rows: int, columns: int, lanes: int, tile: tuple[int, int]) -> float:
    """Return about what a step along the inner axis costs, in instructions of a CPU.

    A load from different places for each invocation costs about 10, one from the same place 2.
    """
    high, wide = tile
    tiles = -(-rows // high) * -(-columns // (wide * lanes))
    return tiles * (2.0 * high * wide + 10 * wide + 2 * high)


def _for_gpu(
    profile: Profile, work: Contraction, rows: int, columns: int, itemsize: int
) -> Geometry:
    few = min(rows, columns) <= _FEW
    innermost = work.inner[-1]
    if few and is_dot(work) and {innermost.left, innermost.right} <= {0, 1}:
        wide = min(profile.workgroup, 64)
        return _dots(wide, min(rows, _FEW), min(columns, _FEW) if rows < _FEW else 1)
    if rows <= _FEW:
        return _registers(work, min(profile.workgroup, 64), (_FEW if rows > 1 else 1, 1))
    threads = profile.workgroup
    sizes = [8, 4, 2] if itemsize == 4 else [4, 2]
    for each in sizes:
        geometry = _tiles(threads, each, each)
        shared = (geometry.tile_rows + geometry.tile_columns + 2) * _DEPTH * itemsize
        tiles = -(-rows // geometry.tile_rows) * -(-columns // geometry.tile_columns)
        enough = tiles * count(work.batch) >= _MANY_TILES
        if shared <= profile.shared_bytes and (enough or each == sizes[-1]):
            return geometry
    return _tiles(threads, 2, 2)


_MANY_TILES = 128
"""Workgroups that occupy most GPUs; with fewer, smaller tiles are better."""


def _dots(workgroup: int, rows: int, columns: int) -> Geometry:
    return Geometry(DOTS, (rows, columns), workgroup, rows, columns, 1)


def _registers(work: Contraction, workgroup: int, tile: tuple[int, int]) -> Geometry:
    rows, columns = tile
    return Geometry(
        REGISTERS, tile, workgroup, rows, columns * workgroup, block_size(work.inner[-1].size)
    )


def block_size(size: int) -> int:
    """Return the length of the blocks into which the innermost axis is cut, about equal ones."""
    blocks = max(1, -(-size // _BLOCK))
    return max(1, -(-size // blocks))


def _tiles(workgroup: int, rows: int, columns: int) -> Geometry:
    row_threads = 1 << (workgroup.bit_length() - 1) // 2
    column_threads = workgroup // row_threads
    constants = (rows, columns, row_threads, _DEPTH)
    return Geometry(TILES, constants, workgroup, rows * row_threads, columns * column_threads, 1)
