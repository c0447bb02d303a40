"""What all elementwise kernels share: `elementwise.glsl` and its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from vkml.shapes import broadcast
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import Format
from vkml_vulkan.launch import Launch, is_long
from vkml_vulkan.layouts import axis_words, broadcast_strides, collapse, require_countable
from vkml_vulkan.number_arguments import packed_as
from vkml_vulkan.operand import Dtype, Form, dense_form

_DENSE, _STRIDED, _UNIFORM, _NUMBER = range(4)
_ELEMENTS: Final = 4
"""Results that an invocation computes; `ELEMENTS` of the shader."""


class Plan(NamedTuple):
    """A launch for operands of certain forms; None where there is nothing to compute."""

    result: Form
    launch: Launch | None


def result_form(forms: Sequence[Form | None], dtype: Dtype) -> Form:
    """Return the form of a new result for operands that broadcast; numbers are None."""
    shape = broadcast(*(each.shape for each in forms if each is not None))
    return dense_form(shape, dtype)


def plan(
    device: Engine,
    name: str,
    module: str,
    operation: int,
    result: Form,
    forms: Sequence[Form | None],
    *,
    result_format: Format,
    operand_format: Format,
    options: str = "",
) -> Plan:
    """Return a launch of an elementwise shader.

    Its arguments are the addresses of the result and of the operands, in order, with numbers in
    the places of operands that are None; then what `options`, a struct format, names.
    """
    require_countable(name, result.size)
    if result.size == 0:
        return Plan(result, None)
    shape = result.shape
    zeros = (0,) * len(shape)
    shown = [
        zeros if each is None else broadcast_strides(each.shape, each.strides, shape)
        for each in forms
    ]
    layouts = [_layout(each, result) for each in forms]
    words, runs = [result.size], False
    if not result.is_dense or _STRIDED in layouts:
        sizes, strides = collapse(shape, [result.strides, *shown])
        words += axis_words(sizes, strides)
        runs = bool(sizes) and sizes[0] % _ELEMENTS == 0
    head = "Q" + "".join("Q" if each is not None else packed_as(operand_format) for each in forms)
    head += options
    in_ring = int(is_long(head, words))
    workgroup = device.profile.independent_workgroup
    pipeline = device.pipelines.get(
        module,
        (
            workgroup, in_ring, operation, result_format.code, operand_format.code,
            int(not result.is_dense), int(runs), *layouts,
        ),
    )  # fmt: skip
    groups = device.grid(-(-result.size // (workgroup * _ELEMENTS)))
    return Plan(result, Launch(device.device.api, name, pipeline, head, words, groups, result.size))


def _layout(form: Form | None, result: Form) -> int:
    if form is None:
        return _NUMBER
    if form.size == 1:
        return _UNIFORM
    return _DENSE if form.is_dense and form.size == result.size else _STRIDED
