"""How reductions are laid out over invocations: the host's half of ``reduction_axes.glsl``."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from vkml_vulkan.layouts import axis_words, collapse, divisor
from vkml_vulkan.operand import Form
from vkml_vulkan.profile import Profile

QUAD: Final = 4
"""Elements that an invocation reads at a time where it can."""


class Side(NamedTuple):
    """The kept axes or the reduced ones, innermost first."""

    elements: int
    sizes: list[int]
    strides: list[int]

    @property
    def step(self) -> int:
        """Elements between neighbours."""
        return abs(self.strides[0]) if self.strides else 0

    @property
    def takes_quads(self) -> bool:
        """Four neighbours always lie one after the other, but for a rest at the end."""
        if self.strides[:1] != [1] or self.elements < QUAD:
            return False
        return len(self.sizes) == 1 or self.sizes[0] % QUAD == 0

    def words(self) -> list[int]:
        """Return the axes as shaders read them; there is always one."""
        sizes, strides = (self.sizes, self.strides) if self.sizes else ([1], [0])
        return axis_words(sizes, [strides])


class Geometry(NamedTuple):
    """How many invocations share an output, how they read, and how often the work is cut."""

    workgroup: int
    lanes: int
    lanes_apart: bool
    wide: bool
    chunks: int
    chunk_size: int
    blocks: int
    """Workgroups that compute all outputs of one chunk."""


def split(form: Form, axes: tuple[int, ...], *, in_order: bool) -> tuple[Side, Side]:
    """Return the kept and the reduced axes; the latter in any order where it does not matter."""
    kept = [axis for axis in range(len(form.shape)) if axis not in axes]
    reduced = sorted(axes)
    if not in_order:
        reduced.sort(key=lambda axis: -abs(form.strides[axis]))
    return _side(form, kept), _side(form, reduced)


def _side(form: Form, axes: list[int]) -> Side:
    shape = tuple(form.shape[axis] for axis in axes)
    sizes, (strides,) = collapse(shape, [tuple(form.strides[axis] for axis in axes)])
    return Side(math.prod(shape), sizes, strides)


_LONGEST_WALK: Final = 64 * 64
"""Steps of an invocation, as sums of sums of 64: more of them would round more."""

# What pays, by measurement on CPU drivers; on GPUs by what keeps some 50,000 invocations busy.
_CPU_SHORT_ROW: Final = 512
_CPU_GROUPS: Final = 16
_CPU_CHUNK: Final = 16_384
_GPU_GROUPS: Final = 512
_GPU_STEPS_OF_LANE: Final = 4
_GPU_STEPS_OF_CHUNK: Final = 16
_GPU_LANES: Final = (1, 8, 32)
"""Few numbers, because each is compiled for; or as many lanes as there can be."""
_GPU_COLUMNS: Final = 32
_GPU_ENOUGH_COLUMNS: Final = 1 << 15


def geometry(
    profile: Profile, kept: Side, reduced: Side, *, words: bool, lanes: bool, chunks: bool
) -> Geometry:
    """Return how to reduce.

    Parameters
    ----------
    words : bool
        Elements are words, so that four can be read at a time.
    lanes : bool
        A subgroup can combine what its invocations found.
    chunks : bool
        Partial results are welcome.
    """
    apart = kept.step < reduced.step and kept.elements >= min(profile.workgroup, _GPU_COLUMNS)
    wide = words and not apart and reduced.takes_quads
    width = QUAD if wide else 1
    if profile.on_cpu:
        many = kept.elements >= profile.workgroup
        alone = apart or not lanes or (many and reduced.elements < _CPU_SHORT_ROW)
        shared = 1 if alone else profile.workgroup
    else:
        steps = _ceiling(reduced.elements, width)
        shared = _gpu_lanes(profile.workgroup, kept.elements, steps, apart=apart)
    workgroup = profile.independent_workgroup if shared == 1 else profile.workgroup
    blocks = _ceiling(kept.elements, workgroup // shared)
    step = shared * width
    count = _chunks(profile, blocks, reduced.elements, step) if chunks else 1
    size = _ceiling(_ceiling(reduced.elements, count), step) * step
    chunk_count = _ceiling(reduced.elements, size)
    return Geometry(workgroup, shared, apart, wide, chunk_count, size, blocks)


def _gpu_lanes(workgroup: int, outputs: int, steps: int, *, apart: bool) -> int:
    most = workgroup & -workgroup  # lanes are halved, and divide the workgroup
    if apart:
        if outputs >= _GPU_ENOUGH_COLUMNS:
            return 1
        most = max(1, most // _power_of_two_from(min(outputs, _GPU_COLUMNS)))
    wanted = _ceiling(steps, _GPU_STEPS_OF_LANE)
    return next((lanes for lanes in _GPU_LANES if wanted <= lanes < most), most)


def _chunks(profile: Profile, blocks: int, elements: int, step: int) -> int:
    wanted = _ceiling(_CPU_GROUPS if profile.on_cpu else _GPU_GROUPS, blocks)
    smallest = _CPU_CHUNK if profile.on_cpu else step * _GPU_STEPS_OF_CHUNK
    return max(min(wanted, elements // smallest), _ceiling(elements, step * _LONGEST_WALK))


def _ceiling(count: int, size: int) -> int:
    return -(-count // size)


def _power_of_two_from(count: int) -> int:
    return 1 << (count - 1).bit_length()


def tail_words(number: int, kept: Side, reduced: Side, chosen: Geometry) -> list[int]:
    """Return the arguments of a reduction after the addresses; `number` is two words."""
    return [
        number & 0xFFFFFFFF, number >> 32,
        kept.elements, reduced.elements, chosen.chunk_size,
        chosen.blocks, *divisor(chosen.blocks),
        *kept.words(), *reduced.words(),
    ]  # fmt: skip
