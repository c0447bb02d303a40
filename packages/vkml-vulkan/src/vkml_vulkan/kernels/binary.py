"""Kernels of two operands, one of which may be a Python number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import format_of
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.elementwise import Plan, plan, result_form
from vkml_vulkan.number_arguments import converter
from vkml_vulkan.operand import Dtype, Form, Operand
from vkml_vulkan.operation_codes import operation_codes
from vkml_vulkan.plans import Plans


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel of a function whose result has its operands' dtype."""
    return elementwise_kernel(device, name, None)


def elementwise_kernel(device: Engine, name: str, result_dtype: Dtype | None) -> Kernel:
    """Return a kernel of two operands; the result has their dtype where none is given."""
    code = operation_codes()[name]
    allocate, launch = device.pool.allocate, device.recorder.launch

    def prepare(
        x: Form | None, y: Form | None, out: Form | None
    ) -> tuple[Plan, Callable[[Any], Any]]:
        tensor = x or y
        assert tensor is not None  # noqa: S101 - core leaves one tensor
        module = device.module(name, tensor.dtype)
        result = out or result_form((x, y), result_dtype or tensor.dtype)
        result_format, operand_format = format_of(result.dtype), format_of(tensor.dtype)
        assert result_format is not None  # noqa: S101 - `module` refuses what has no format
        assert operand_format is not None  # noqa: S101
        prepared = plan(
            device, name, module, code, result, (x, y),
            result_format=result_format, operand_format=operand_format,
        )  # fmt: skip
        return prepared, converter(operand_format)

    plans: Plans[tuple[Plan, Callable[[Any], Any]]] = Plans(prepare)

    def run(x: Any, y: Any, out: Operand | None = None) -> Operand:
        x_form, y_form = getattr(x, "form", None), getattr(y, "form", None)
        key = (x_form, y_form, None if out is None else out.form)
        found = plans[key]
        (form, prepared), convert = found
        if out is None:
            storage = allocate(form.nbytes)
            out = Operand(storage, form, storage.address)
        if prepared is None:
            return out
        written = (out.storage.chunk,)
        if y_form is None:
            launch(prepared, written, (x.storage.chunk,), out.address, x.address, convert(y))
        elif x_form is None:
            launch(prepared, written, (y.storage.chunk,), out.address, convert(x), y.address)
        else:
            read = (x.storage.chunk, y.storage.chunk)
            launch(prepared, written, read, out.address, x.address, y.address)
        return out

    return run
