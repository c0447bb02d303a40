"""The kernel of `mse_loss_backward`."""

from __future__ import annotations

import math
from typing import Any

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.elementwise import Plan, plan, result_form
from vkml_vulkan.kernels.fused import covered_format, wide_converter
from vkml_vulkan.number_arguments import packed_as
from vkml_vulkan.operand import Form, Operand
from vkml_vulkan.plans import Plans


def build(device: Engine, name: str, entry: Entry) -> Kernel:
    """Return the kernel ``mse_loss_backward(upstream, x, y, reduction)``."""
    allocate, launch = device.pool.allocate, device.recorder.launch

    def prepare(*forms: Form) -> Plan | None:
        format = covered_format(entry, forms)
        if format is None:
            return None  # core composes the operation
        module = device.module(name, forms[0].dtype)
        return plan(
            device, name, module, 0, result_form(forms[1:], forms[0].dtype), forms,
            result_format=format, operand_format=format, options=packed_as(format),
        )  # fmt: skip

    plans: Plans[Plan | None] = Plans(prepare)

    def run(upstream: Operand, x: Operand, y: Operand, reduction: str) -> Any:
        key = (upstream.form, x.form, y.form)
        found = plans[key]
        if found is None:
            return NotImplemented
        form, prepared = found
        storage = allocate(form.nbytes)
        if prepared is not None:
            assert form.format is not None  # noqa: S101 - `prepare` has looked
            count = math.prod(form.shape) if reduction == "mean" else 1
            given = (upstream, x, y)
            launch(
                prepared, (storage.chunk,), [each.storage.chunk for each in given],
                storage.address, *[each.address for each in given],
                wide_converter(form.format)(2 / count),
            )  # fmt: skip
        return Operand(storage, form, storage.address)

    return run
