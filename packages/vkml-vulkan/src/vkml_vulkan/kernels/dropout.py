"""The kernel of `dropout`: the mask is the CPU backend's, bit for bit."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import format_of
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.elementwise import Plan, plan
from vkml_vulkan.kernels.random import DRAW
from vkml_vulkan.number_arguments import packed_as
from vkml_vulkan.operand import Form, Operand, dense_form
from vkml_vulkan.plans import Plans

_BOOL: Final = np.dtype(np.bool_)


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel ``dropout(x, p, seed, offset)`` of two results."""

    def prepare(x: Form) -> Plan:
        module = device.module(name, x.dtype)
        format = format_of(x.dtype)
        assert format is not None  # noqa: S101 - `module` refuses what has no format
        return plan(
            device, name, module, 0, dense_form(x.shape, x.dtype), (x,),
            result_format=format, operand_format=format,
            options=f"Q{DRAW}I4x{packed_as(format)}",
        )  # fmt: skip

    plans: Plans[Plan] = Plans(prepare)

    def run(x: Operand, p: float, seed: int, offset: int) -> tuple[Operand, Operand]:
        found = plans[x.form,]
        result, mask = device.empty(x.shape, x.dtype), device.empty(x.shape, _BOOL)
        if found.launch is not None:
            # An element is kept where u >= p, in float32, for u = (word >> 8) / 2^24.
            smallest = math.ceil(float(np.float32(p)) * 2**24)
            scale = float(x.dtype.type(1 / (1 - p) if p < 1 else 0.0))
            device.recorder.launch(
                found.launch, (result.storage.chunk, mask.storage.chunk), (x.storage.chunk,),
                result.address, x.address, mask.address, seed, offset, smallest, scale,
            )  # fmt: skip
        return result, mask

    return run
