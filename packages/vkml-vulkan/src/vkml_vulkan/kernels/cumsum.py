"""The kernel of `cumsum`: running sums along an axis.

Long or few lines are cut into chunks. A first launch sums up the chunks, a second one makes
running sums of those, and the last one walks along each chunk from the sum of what lies before.
"""

from __future__ import annotations

import functools
import math
from typing import Final, NamedTuple

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import Format, format_of
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.reduction import SUM, partial_format, reduction_launch
from vkml_vulkan.kernels.reduction_axes import Geometry, Side, tail_words
from vkml_vulkan.launch import Launch, is_long
from vkml_vulkan.layouts import axis_words, collapse, divisor, require_countable
from vkml_vulkan.operand import Form, Operand, dense_form
from vkml_vulkan.plans import Plans
from vkml_vulkan.profile import Profile

_ELEMENTS: Final = 4
"""What an invocation takes at a time where a workgroup walks together; as in ``cumsum.comp``."""

_MOST_CHUNKS: Final = 4096
_LONGEST_CHUNK: Final = 64 * 64
"""Elements that an invocation adds up for the sum of a chunk, as sums of sums of 64."""

# What keeps a device busy, but is worth a second look at the elements.
_CPU_GROUPS: Final = 16
_CPU_CHUNK: Final = 16_384
_GPU_GROUPS: Final = 256
_GPU_CHUNK: Final = 64


class _Lines(NamedTuple):
    """The lines to walk along: how many, how long, and how they lie in operand and result."""

    number: int
    elements: int
    strides: tuple[int, int]
    sizes: list[int]
    steps: list[list[int]]


class _Walk(NamedTuple):
    """Whether a workgroup walks together, and the elements of a chunk."""

    together: bool
    chunk_size: int

    def workgroup(self, profile: Profile) -> int:
        """Return the invocations of a workgroup."""
        return profile.workgroup if self.together else profile.independent_workgroup


class _Plan(NamedTuple):
    """The launches: the last one alone, or first those of chunks; None where nothing is to do."""

    result: Form
    last: Launch | None
    of_chunks: tuple[Launch, Launch] | None = None
    partial_nbytes: int = 0


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel ``cumsum(x, axis)``."""
    plans: Plans[_Plan] = Plans(functools.partial(_prepare, device, name))
    allocate, launch = device.pool.allocate, device.recorder.launch

    def run(x: Operand, axis: int) -> Operand:
        form, last, of_chunks, nbytes = plans[x.form, axis]
        storage = allocate(form.nbytes)
        out = Operand(storage, form, storage.address)
        if last is None:
            return out
        if of_chunks is None:
            launch(last, (storage.chunk,), (x.storage.chunk,), out.address, x.address, 0)
            return out
        sums, running = of_chunks
        partial = allocate(nbytes)
        between, address = (partial.chunk,), partial.address
        launch(sums, between, (x.storage.chunk,), address, x.address, 0)
        launch(running, between, between, address, address, 0)
        read = (x.storage.chunk, partial.chunk)
        launch(last, (storage.chunk,), read, out.address, x.address, address)
        return out

    return run


def _prepare(device: Engine, name: str, x: Form, axis: int) -> _Plan:
    device.module(name, x.dtype)  # or it raises
    require_countable(name, x.size)
    format = format_of(x.dtype)
    assert format is not None  # noqa: S101 - `module` refuses what has no format
    result = dense_form(x.shape, x.dtype)
    if x.size == 0:
        return _Plan(result, None)
    lines = _lines(x, result, axis)
    walk = _walk(device.profile, lines)
    chunks = math.ceil(lines.elements / walk.chunk_size)
    last = _launch(device, name, lines, walk, format, format)
    if chunks == 1:
        return _Plan(result, last)
    between = partial_format(format)
    number = lines.number
    partials = _Lines(number, chunks, (number, number), [number], [[1], [1]])
    whole = _Walk(_together(device.profile, partials), chunks)
    sums = _launch_of_sums(device, name, lines, walk, format)
    running = _launch(device, name, partials, whole, between, between)
    return _Plan(result, last, (sums, running), number * chunks * between.itemsize)


def _lines(x: Form, result: Form, axis: int) -> _Lines:
    if not x.shape:
        return _Lines(1, 1, (0, 0), [], [[], []])
    others = [each for each in range(len(x.shape)) if each != axis]
    shape = tuple(x.shape[each] for each in others)
    strides = [tuple(form.strides[each] for each in others) for form in (x, result)]
    along = x.strides[axis], result.strides[axis]
    return _Lines(math.prod(shape), x.shape[axis], along, *collapse(shape, strides))


def _together(profile: Profile, lines: _Lines) -> bool:
    """Return whether workgroups walk together: along neighbours, or few lines."""
    if profile.on_cpu and not profile.subgroup_arithmetic:
        return False
    if lines.number < profile.workgroup:
        return True
    neighbours = not lines.steps[0] or abs(lines.strides[0]) <= abs(lines.steps[0][0])
    return neighbours and lines.elements > profile.workgroup


def _walk(profile: Profile, lines: _Lines) -> _Walk:
    """Return how to walk along the lines, and where to cut them."""
    walk = _Walk(_together(profile, lines), 1)
    workgroup = walk.workgroup(profile)
    wanted, shortest = (_CPU_GROUPS, _CPU_CHUNK) if profile.on_cpu else (_GPU_GROUPS, _GPU_CHUNK)
    groups = lines.number if walk.together else math.ceil(lines.number / workgroup)
    size = max(shortest, lines.elements * groups // wanted)
    size = min(size, _LONGEST_CHUNK * (workgroup if walk.together else 1))
    size = max(size, math.ceil(lines.elements / _MOST_CHUNKS))
    if walk.together:
        tile = workgroup * _ELEMENTS
        size = math.ceil(size / tile) * tile
    return walk._replace(chunk_size=min(size, lines.elements))


def _launch(
    device: Engine, name: str, lines: _Lines, walk: _Walk, operand: Format, result: Format
) -> Launch:
    profile, head = device.profile, "QQQ"
    chunks = math.ceil(lines.elements / walk.chunk_size)
    workgroup = walk.workgroup(profile)
    groups = lines.number if walk.together else math.ceil(lines.number / workgroup)
    words = [
        lines.number, lines.elements, walk.chunk_size, *lines.strides,
        groups, *divisor(groups), *axis_words(lines.sizes, lines.steps),
    ]  # fmt: skip
    # Lanes of subgroups are only in order where all subgroups are whole.
    whole = profile.subgroup_arithmetic and profile.subgroup > 1
    subgroup = "_subgroup" if whole else ""
    pipeline = device.pipelines.get(
        f"cumsum{subgroup}_{operand.compute}",
        (
            workgroup, int(is_long(head, words)), profile.subgroup,
            result.code, operand.code, int(walk.together), int(chunks > 1),
        ),
    )  # fmt: skip
    work = lines.number * lines.elements
    return Launch(
        device.device.api, name, pipeline, head, words, device.grid(groups * chunks), work
    )


def _launch_of_sums(
    device: Engine, name: str, lines: _Lines, walk: _Walk, operand: Format
) -> Launch:
    workgroup = walk.workgroup(device.profile)
    lanes = workgroup & -workgroup if walk.together else 1
    blocks = math.ceil(lines.number / (workgroup // lanes))
    chunks = math.ceil(lines.elements / walk.chunk_size)
    chosen = Geometry(workgroup, lanes, False, False, chunks, walk.chunk_size, blocks)
    kept = Side(lines.number, lines.sizes, lines.steps[0])
    reduced = Side(lines.elements, [lines.elements], [lines.strides[0]])
    words = tail_words(0, kept, reduced, chosen)
    return reduction_launch(device, name, SUM, chosen, words, operand, partial_format(operand))
