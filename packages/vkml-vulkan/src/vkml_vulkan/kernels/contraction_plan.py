"""Launches for contractions: one for each, and where sums are split, one that adds the parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import Format, StorageCode
from vkml_vulkan.kernels.contraction import Contraction, count, reach
from vkml_vulkan.kernels.contraction_arguments import Splitting, arguments, count_tiles
from vkml_vulkan.kernels.contraction_geometry import (
    DOTS,
    TILES,
    Geometry,
    choose_geometry,
    is_better_swapped,
)
from vkml_vulkan.launch import Launch
from vkml_vulkan.layouts import MAX_ELEMENTS, divisor, require_countable
from vkml_vulkan.memory import Chunk
from vkml_vulkan.operand import Form, Operand

_HEAD = "QQQQ"  # left, right, result, bias
_SUM_HEAD = "QQQ"  # result, parts, bias

# Workgroups that keep a device busy, and products of an element's sum that are worth one. Splits
# are chosen by shapes alone, so a result does not depend on what else the device does.
_BUSY_GROUPS_ON_CPU = 8
_BUSY_GROUPS_ON_GPU = 256
_WORTH_A_SPLIT_ON_CPU = 4096
_WORTH_A_SPLIT_ON_GPU = 512
_LONG_SUM = 2048
"""Products that a sum may have before it goes in parts, to bound its rounding error."""
_LONG_DOT = 1024
"""Products that one invocation sums in `DOTS`."""


class BiasLayout(NamedTuple):
    """Where a dense result's element finds its bias: ``index // run % size * stride``."""

    run: int
    size: int
    stride: int


NO_BIAS = BiasLayout(1, 1, 0)


class ContractionPlan(NamedTuple):
    """Prepared launches.

    Attributes
    ----------
    result : Form
        Dense.
    swapped : bool
        The left operand is the shader's right one.
    launches : tuple of Launch
        Each writes other elements of the result; none where the result has no elements.
    parts_nbytes : int
        Memory for the parts of split sums; 0 where they are whole.
    final : Launch or None
        Adds up the parts.
    """

    result: Form
    swapped: bool
    launches: tuple[Launch, ...]
    parts_nbytes: int
    final: Launch | None


def plan_contractions(
    device: Engine,
    name: str,
    result: Form,
    operand: Format,
    works: Sequence[Contraction],
    bias: BiasLayout = NO_BIAS,
) -> ContractionPlan:
    """Return a plan for contractions that together write every element of a dense result.

    `bias` says how a bias lies, for the case that sums are split.
    """
    require_countable(name, result.size)
    works = [each for each in works if count(each.batch + each.rows + each.columns)]
    if not works:
        return ContractionPlan(result, False, (), 0, None)
    for each in works:
        require_countable(name, reach(each))
    itemsize = max(operand.itemsize, 4)
    swapped = len(works) == 1 and is_better_swapped(device.profile, works[0], itemsize)
    if swapped:
        works = [works[0].swapped()]
    geometries = [choose_geometry(device.profile, each, itemsize) for each in works]
    wanted = (_splits(device, *each) for each in zip(works, geometries, strict=True))
    splits = max(1, min(max(wanted), MAX_ELEMENTS // result.size))
    splitting = Splitting(splits, result.size if splits > 1 else 0)
    launches = [
        _launch(device, name, result, operand, each, geometry, splitting)
        for each, geometry in zip(works, geometries, strict=True)
    ]
    if splits == 1:
        return ContractionPlan(result, swapped, tuple(launches), 0, None)
    nbytes = splits * result.size * itemsize
    final = _final(device, name, result, operand, splits, bias)
    return ContractionPlan(result, swapped, tuple(launches), nbytes, final)


def compute(
    device: Engine,
    plan: ContractionPlan,
    left: Operand,
    right: Operand,
    bias: Operand | None = None,
) -> Operand:
    """Return the result of a plan, made for operands of these forms."""
    result, swapped, launches, parts_nbytes, final = plan
    storage = device.pool.allocate(result.nbytes)
    out = Operand(storage, result, storage.address)
    if swapped:
        left, right = right, left
    read: tuple[Chunk, ...] = (left.storage.chunk, right.storage.chunk)
    bias_chunks: tuple[Chunk, ...] = ()
    bias_address = 0
    if bias is not None:
        bias_chunks, bias_address = (bias.storage.chunk,), bias.address
    launch = device.recorder.launch
    written = (storage.chunk,)
    if final is None:
        read += bias_chunks
        for each in launches:
            launch(each, written, read, left.address, right.address, out.address, bias_address)
        return out
    parts = device.pool.allocate(parts_nbytes)
    for each in launches:
        launch(each, (parts.chunk,), read, left.address, right.address, parts.address, 0)
    read = (parts.chunk, *bias_chunks)
    launch(final, written, read, out.address, parts.address, bias_address)
    return out


def _products(work: Contraction) -> int:
    return count(work.inner)


def _splits(device: Engine, work: Contraction, geometry: Geometry) -> int:
    """Return into how many parts the sums go."""
    products = _products(work)
    on_cpu = device.profile.on_cpu
    busy = _BUSY_GROUPS_ON_CPU if on_cpu else _BUSY_GROUPS_ON_GPU
    worth = _WORTH_A_SPLIT_ON_CPU if on_cpu else _WORTH_A_SPLIT_ON_GPU
    splits = min(busy // math.prod(count_tiles(work, geometry)), products // worth)
    if geometry.shader == DOTS:
        splits = max(splits, -(-products // (_LONG_DOT * geometry.workgroup)))
    return splits


def _launch(
    device: Engine,
    name: str,
    result: Form,
    operand: Format,
    work: Contraction,
    geometry: Geometry,
    splitting: Splitting,
) -> Launch:
    row_tiles, column_tiles, batch = count_tiles(work, geometry)
    groups = row_tiles * column_tiles * batch * splitting.splits
    require_countable(name, groups)
    tail = arguments(work, geometry, splitting)
    code = operand.code if splitting.splits == 1 else _part_code(operand)
    extra: tuple[int, ...] = ()
    if geometry.shader == TILES:
        extra = (int(_products(work) > splitting.splits * _LONG_SUM),)
    constants = (
        geometry.workgroup, 1, operand.code, code, int(work.window is not None),
        *geometry.constants, *extra,
    )  # fmt: skip
    pipeline = device.pipelines.get(f"{geometry.shader}_{operand.compute}", constants)
    elements = count(work.batch) * count(work.rows) * count(work.columns)
    cost = max(elements * _products(work), result.size)
    return Launch(device.device.api, name, pipeline, _HEAD, tail, device.grid(groups), cost)


def _part_code(operand: Format) -> StorageCode:
    return StorageCode.PAIR if operand.itemsize == 8 else StorageCode.WORD


def _final(
    device: Engine,
    name: str,
    result: Form,
    operand: Format,
    splits: int,
    bias: BiasLayout,
) -> Launch:
    workgroup = device.profile.independent_workgroup
    run, size, stride = bias
    tail = [result.size, splits, run, *divisor(run), size, *divisor(size), stride]
    module = f"split_sum_{operand.compute}"
    pipeline = device.pipelines.get(module, (workgroup, 0, operand.code))
    groups = device.grid(-(-result.size // workgroup))
    return Launch(device.device.api, name, pipeline, _SUM_HEAD, tail, groups, result.size * splits)
