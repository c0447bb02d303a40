"""What kernels that work on rows share: `rows.glsl` and its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from vkml_vulkan.formats import Format
from vkml_vulkan.launch import Launch, is_long
from vkml_vulkan.layouts import axis_words, collapse, divisor, require_countable
from vkml_vulkan.numbers import packed_as

if TYPE_CHECKING:
    from vkml_vulkan.handle import VulkanDevice

_WIDTH: Final = 4
"""Elements that an invocation takes at a time; `MOST` of the shader."""
_SHORT: Final = 32
"""Rows up to here are taken by one invocation each; a workgroup would be idle for the most part."""
_MANY: Final = 1024
"""From so many rows on they fill a GPU with one invocation each."""
_MEDIUM: Final = 512
"""Rows up to here are taken by small workgroups."""
_SMALL_WORKGROUP: Final = 64


class Array(NamedTuple):
    """An operand or result of a kernel on rows, in elements.

    Attributes
    ----------
    row_strides : tuple of int
        One for each axis of the rows.
    step : int
        From element to element of a row.
    run_step : int
        From run to run, where a row is made of runs.
    """

    row_strides: tuple[int, ...]
    step: int
    run_step: int = 0


class Rows(NamedTuple):
    """The rows of an operation.

    Attributes
    ----------
    shape : tuple of int
        Their axes.
    length : int
        Elements of a row.
    inner : int
        Elements of a run; `length` where the row is one run.
    """

    shape: tuple[int, ...]
    length: int
    inner: int


def is_wide(rows: Rows, arrays: Sequence[Array], format: Format) -> bool:
    """Return whether rows can be read four elements at a time, where addresses are aligned."""
    if rows.inner % _WIDTH or format.itemsize == 1:
        return False
    return all(
        each.step == 1 and not any(stride % _WIDTH for stride in (*each.row_strides, each.run_step))
        for each in arrays
    )


def alignment(format: Format) -> int:
    """Return the mask of address bits that are 0 where an array can be read wide."""
    return _WIDTH * min(format.itemsize, 4) - 1


def row_launch(
    device: VulkanDevice,
    name: str,
    module: str,
    rows: Rows,
    arrays: Sequence[Array],
    format: Format,
    *,
    wide: bool,
    numbers: int = 0,
    constants: Sequence[int] = (),
    per_invocation: bool | None = None,
) -> Launch:
    """Return a launch of a shader with `rows.glsl`; results come first among `arrays`."""
    count = 1
    for size in rows.shape:
        count *= size
    require_countable(name, count * rows.length)
    if per_invocation is None:
        per_invocation = _takes_invocations(count, rows, arrays)
    words = [count, rows.length, rows.inner, *divisor(rows.inner)]
    for each in arrays:
        words += [each.step, each.run_step]
    words += axis_words(*collapse(rows.shape, [each.row_strides for each in arrays]))
    head = len(arrays) * "Q" + numbers * packed_as(format)
    workgroup = _workgroup(device, rows.length, per_invocation)
    profile = device.profile
    suffix = "_subgroup" if profile.subgroup_arithmetic else ""
    pipeline = device.pipelines.get(
        f"{module}{suffix}_{format.compute}",
        (
            workgroup, int(is_long(head, words)), min(profile.subgroup, workgroup),
            int(per_invocation), int(wide), int(rows.inner != rows.length), format.code,
            *constants,
        ),
    )  # fmt: skip
    groups = device.grid(-(-count // workgroup) if per_invocation else count)
    return Launch(device.device.api, name, pipeline, head, words, groups, count * rows.length)


def _takes_invocations(count: int, rows: Rows, arrays: Sequence[Array]) -> bool:
    """Return whether each row is the work of one invocation, not of a workgroup."""
    if rows.length <= _SHORT:
        return True
    # Neighbouring rows lie side by side: invocations read them together.
    return count >= _MANY and arrays[0].step > 1


def _workgroup(device: VulkanDevice, length: int, per_invocation: bool) -> int:
    profile = device.profile
    if per_invocation:
        return profile.independent_workgroup
    if profile.on_cpu or length > _MEDIUM:
        return profile.workgroup
    return min(profile.workgroup, max(_SMALL_WORKGROUP, profile.subgroup))
