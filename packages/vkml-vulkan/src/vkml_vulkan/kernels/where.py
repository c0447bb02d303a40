"""The kernel of `where`: it moves elements of any dtype."""

from __future__ import annotations

from typing import Any

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import RAW, format_of
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.elementwise import Plan, plan, result_form
from vkml_vulkan.number_arguments import number_bits
from vkml_vulkan.operand import Form, Operand
from vkml_vulkan.plans import Plans


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel ``where(condition, x, y)``; `x` or `y` may be a number."""

    def prepare(condition: Form, x: Form | None, y: Form | None) -> Plan:
        tensor = x or y
        assert tensor is not None  # noqa: S101 - core leaves one tensor
        device.require_raw(name, tensor.dtype)
        result = result_form((condition, x, y), tensor.dtype)
        raw = RAW[tensor.dtype.itemsize]._replace(compute="u64")  # numbers come as bits
        return plan(
            device, name, "where", 0, result, (condition, x, y),
            result_format=raw, operand_format=raw,
        )  # fmt: skip

    plans: Plans[Plan] = Plans(prepare)

    def run(condition: Operand, x: Any, y: Any) -> Operand:
        key = (condition.form, getattr(x, "form", None), getattr(y, "form", None))
        found = plans[key]
        result = device.empty(found.result.shape, found.result.dtype)
        if found.launch is None:
            return result
        format = format_of(result.dtype)
        assert format is not None  # noqa: S101 - `prepare` has looked
        read = [condition.storage.chunk]
        arguments = []
        for each, form in ((x, key[1]), (y, key[2])):
            if form is None:
                arguments.append(number_bits(each, format))
            else:
                read.append(each.storage.chunk)
                arguments.append(each.address)
        written = (result.storage.chunk,)
        device.recorder.launch(
            found.launch, written, read, result.address, condition.address, *arguments
        )
        return result

    return run
