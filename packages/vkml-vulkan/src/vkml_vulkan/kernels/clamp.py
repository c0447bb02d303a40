"""The kernel of `clamp`: limits are numbers."""

from __future__ import annotations

from typing import Any

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import format_of
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.elementwise import Plan, plan
from vkml_vulkan.number_arguments import converter, integer_range
from vkml_vulkan.operand import Form, Operand, dense_form
from vkml_vulkan.plans import Plans


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel ``clamp(x, low, high)``; a limit may be None."""

    def prepare(x: Form, out: Form | None, has_low: bool, has_high: bool) -> Plan:
        module = device.module(name, x.dtype)
        format = format_of(x.dtype)
        assert format is not None  # noqa: S101 - `module` refuses what has no format
        result = out or dense_form(x.shape, x.dtype)
        return plan(
            device, name, module, has_low | has_high << 1, result, (x, None, None),
            result_format=format, operand_format=format,
        )  # fmt: skip

    plans: Plans[Plan] = Plans(prepare)

    def run(x: Operand, low: Any, high: Any, out: Operand | None = None) -> Operand:
        low, high = _needed(x.form, low, high)
        form = None if out is None else out.form
        key = (x.form, form, low is not None, high is not None)
        found = plans[key]
        if out is None:
            out = device.empty(found.result.shape, found.result.dtype)
        if found.launch is not None:
            format = format_of(x.dtype)
            assert format is not None  # noqa: S101 - `prepare` has looked
            convert = converter(format)
            limits = [0 if limit is None else convert(limit) for limit in (low, high)]
            device.recorder.launch(
                found.launch, (out.storage.chunk,), (x.storage.chunk,),
                out.address, x.address, *limits,
            )  # fmt: skip
        return out

    return run


def _needed(form: Form, low: Any, high: Any) -> tuple[Any, Any]:
    """Return the limits, without one that no integer of the dtype passes."""
    format = form.format
    if format is None or format.compute[0] == "f":
        return low, high
    least, most = integer_range(format)
    return (
        None if low is not None and low < least else low,
        None if high is not None and high > most else high,
    )
