"""The kernel of `masked_scale`, both halves of dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.elementwise import Plan, plan
from vkml_vulkan.kernels.fused import covered_format
from vkml_vulkan.number_arguments import converter, packed_as
from vkml_vulkan.operand import Form, Operand, dense_form
from vkml_vulkan.plans import Plans

_BOOL = np.dtype(np.bool_)


def build(device: Engine, name: str, entry: Entry) -> Kernel:
    """Return the kernel ``masked_scale(x, mask, scale)``."""
    allocate, launch = device.pool.allocate, device.recorder.launch

    def prepare(x: Form, mask: Form) -> Plan | None:
        format = covered_format(entry, (x,))
        if format is None or mask.dtype != _BOOL:
            return None  # core composes the operation
        return plan(
            device, name, device.module(name, x.dtype), 0, dense_form(x.shape, x.dtype), (x, mask),
            result_format=format, operand_format=format, options=packed_as(format),
        )  # fmt: skip

    plans: Plans[Plan | None] = Plans(prepare)

    def run(x: Operand, mask: Operand, scale: float) -> Any:
        key = (x.form, mask.form)
        found = plans[key]
        if found is None:
            return NotImplemented
        form, prepared = found
        storage = allocate(form.nbytes)
        if prepared is not None:
            assert form.format is not None  # noqa: S101 - `prepare` has looked
            number = converter(form.format)(scale)
            launch(
                prepared, (storage.chunk,), (x.storage.chunk, mask.storage.chunk),
                storage.address, x.address, mask.address, number,
            )  # fmt: skip
        return Operand(storage, form, storage.address)

    return run
