"""Launches of shaders with `rows.glsl`: the arguments and the geometry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any, Final

from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import Format
from vkml_vulkan.kernels.fused import wide_converter
from vkml_vulkan.kernels.rows import Array, Rows, alignment, is_wide
from vkml_vulkan.launch import Launch, is_long
from vkml_vulkan.layouts import axis_words, collapse, divisor, require_countable
from vkml_vulkan.operand import Operand

_SHORT: Final = 32
"""Rows up to here are taken by one invocation each; a workgroup would be idle for the most part."""
_MANY: Final = 1024
"""From so many rows on they fill a GPU with one invocation each."""
_ENOUGH: Final = 64
"""The same for a CPU."""
_MEDIUM: Final = 512
"""Rows up to here are taken by small workgroups."""
_SMALL_WORKGROUP: Final = 64


def row_launch(
    device: Engine,
    name: str,
    module: str,
    rows: Rows,
    arrays: Sequence[Array],
    format: Format,
    *,
    wide: bool,
    extras: str = "",
    constants: Sequence[int] = (),
    per_invocation: bool | None = None,
) -> Launch:
    """Return a launch of a shader with `rows.glsl`; results come first among `arrays`.

    `extras` is the struct format of what follows the addresses of arrays: 8 bytes each.
    """
    count = prod(rows.shape)
    require_countable(name, count * rows.length)
    if per_invocation is None:
        per_invocation = _takes_invocations(device, count, rows, arrays)
    words = [count, rows.length, rows.inner, *divisor(rows.inner)]
    for each in arrays:
        words += [each.step, each.run_step]
    words += axis_words(*collapse(rows.shape, [each.row_strides for each in arrays]))
    head = len(arrays) * "Q" + extras
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


def _takes_invocations(device: Engine, count: int, rows: Rows, arrays: Sequence[Array]) -> bool:
    """Return whether each row is the work of one invocation, not of a workgroup."""
    if rows.length <= _SHORT:
        return True
    # Neighbouring rows lie side by side: invocations read them together.
    return arrays[0].step > 1 and count >= (_ENOUGH if device.profile.on_cpu else _MANY)


def _workgroup(device: Engine, length: int, per_invocation: bool) -> int:
    profile = device.profile
    if per_invocation:
        return profile.independent_workgroup
    if profile.on_cpu or length > _MEDIUM:
        return profile.workgroup
    return min(profile.workgroup, max(_SMALL_WORKGROUP, profile.subgroup))


class Launches:
    """A launch for aligned operands and one for any, made when first needed.

    Attributes
    ----------
    convert : callable
        Makes a number fit the arguments.
    """

    __slots__ = ("_any", "_make", "_mask", "_wide", "convert")

    def __init__(
        self, make: Callable[[bool], Launch], mask: int | None, convert: Callable[[Any], Any]
    ) -> None:
        self._make, self._mask = make, mask
        self._wide: Launch | None = None
        self._any: Launch | None = None
        self.convert = convert

    def choose(self, operands: Iterable[Operand | None]) -> Launch:
        """Return the launch for operands that are read and written at these addresses."""
        mask = self._mask
        if mask is not None and not any(each.address & mask for each in operands if each):
            if self._wide is None:
                self._wide = self._make(True)
            return self._wide
        if self._any is None:
            self._any = self._make(False)
        return self._any


def launches(
    device: Engine,
    name: str,
    module: str,
    rows: Rows,
    arrays: Sequence[Array],
    format: Format,
    *,
    extras: str = "",
    constants: Sequence[int] = (),
) -> Launches:
    """Return the launches of a shader with `rows.glsl`. Parameters as for `row_launch`."""

    def make(wide: bool) -> Launch:
        return row_launch(
            device, name, module, rows, arrays, format,
            wide=wide, extras=extras, constants=constants,
        )  # fmt: skip

    mask = alignment(format) if is_wide(rows, arrays, format) else None
    return Launches(make, mask, wide_converter(format))
