"""Kernels of `tril` and `triu`: they move elements of any dtype."""

from __future__ import annotations

from typing import Final

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import RAW
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.elementwise import Plan, plan
from vkml_vulkan.layouts import divisor
from vkml_vulkan.operand import Form, Operand, dense_form
from vkml_vulkan.plans import Plans

_CODES: Final = {"tril": 0, "triu": 1}
"""Specialisation constants of ``triangle.comp``."""


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel ``tril(x, diagonal)`` or ``triu(x, diagonal)``."""

    def prepare(x: Form) -> Plan:
        device.require_raw(name, x.dtype)
        raw = RAW[x.dtype.itemsize]
        return plan(
            device, name, "triangle", _CODES[name], dense_form(x.shape, x.dtype), (x,),
            result_format=raw, operand_format=raw, options="6Ii",
        )  # fmt: skip

    plans: Plans[Plan] = Plans(prepare)

    def run(x: Operand, diagonal: int) -> Operand:
        found = plans[x.form,]
        result = device.empty(x.shape, x.dtype)
        if found.launch is not None:
            rows, columns = x.shape[-2:]
            number = min(max(diagonal, -rows), columns)  # beyond, nothing changes any more
            device.recorder.launch(
                found.launch, (result.storage.chunk,), (x.storage.chunk,),
                result.address, x.address,
                columns, *divisor(columns), rows, *divisor(rows), number,
            )  # fmt: skip
        return result

    return run
