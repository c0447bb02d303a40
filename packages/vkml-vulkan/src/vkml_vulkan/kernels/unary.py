"""Kernels of one operand: functions, and through `predicate` questions."""

from __future__ import annotations

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import format_of
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.elementwise import Plan, plan
from vkml_vulkan.operand import Dtype, Form, Operand, dense_form
from vkml_vulkan.operation_codes import operation_codes
from vkml_vulkan.plans import Plans


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel of a function whose result has its operand's dtype."""
    return elementwise_kernel(device, name, None)


def elementwise_kernel(device: Engine, name: str, result_dtype: Dtype | None) -> Kernel:
    """Return a kernel of one operand; the result has its dtype where none is given."""
    code = operation_codes()[name]
    allocate, launch = device.pool.allocate, device.recorder.launch

    def prepare(operand: Form, out: Form | None) -> Plan:
        result = out or dense_form(operand.shape, result_dtype or operand.dtype)
        module = device.module(name, operand.dtype)
        result_format, operand_format = format_of(result.dtype), format_of(operand.dtype)
        assert result_format is not None  # noqa: S101 - `module` refuses what has no format
        assert operand_format is not None  # noqa: S101
        return plan(
            device, name, module, code, result, (operand,),
            result_format=result_format, operand_format=operand_format,
        )  # fmt: skip

    plans: Plans[Plan] = Plans(prepare)

    def run(x: Operand, out: Operand | None = None) -> Operand:
        key = (x.form, None if out is None else out.form)
        found = plans[key]
        form, prepared = found
        if out is None:
            storage = allocate(form.nbytes)
            out = Operand(storage, form, storage.address)
        if prepared is not None:
            launch(prepared, (out.storage.chunk,), (x.storage.chunk,), out.address, x.address)
        return out

    return run
