"""The kernels of random numbers: the CPU backend's, drawn by counters (`philox.glsl`)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import format_of
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.copying import Copies
from vkml_vulkan.kernels.elementwise import Plan, plan
from vkml_vulkan.operand import Dtype, Form, Operand, dense_form
from vkml_vulkan.plans import Plans

DRAW: Final = "QQ"
"""How seed and offset, of 64 bits each, lie among the arguments."""
_WORD: Final = 2**64
_INT64: Final = np.dtype(np.int64)


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel ``random_*(shape, seed, offset, *options, dtype)``."""

    def prepare(result: Form) -> Plan:
        if name == "random_integers":
            module, options = name, DRAW + "QQ"
        else:
            module, options = device.module(name, result.dtype), DRAW
        format = format_of(result.dtype)
        assert format is not None  # noqa: S101 - `device.module` refuses what has no format
        return plan(
            device, name, module, 0, result, (),
            result_format=format, operand_format=format, options=options,
        )  # fmt: skip

    plans: Plans[Plan] = Plans(prepare)

    def write(found: Plan, *options: int) -> Operand:
        result = device.empty(found.result.shape, found.result.dtype)
        if found.launch is not None:
            written = (result.storage.chunk,)
            device.recorder.launch(found.launch, written, (), result.address, *options)
        return result

    def fractions(shape: tuple[int, ...], seed: int, offset: int, dtype: Dtype) -> Operand:
        form = dense_form(shape, dtype)
        return write(plans[form,], seed, offset)

    def integers(
        shape: tuple[int, ...], seed: int, offset: int, low: int, high: int, dtype: Dtype
    ) -> Operand:
        if dtype.kind not in "iub":
            device.module(name, dtype)  # refuses before anything is computed
            return device.shared(Copies).made(
                integers(shape, seed, offset, low, high, _INT64), dtype
            )
        form = dense_form(shape, dtype)
        count = high - low
        return write(plans[form,], seed, offset, count if count < _WORD else 0, low % _WORD)

    kernels: dict[str, Any] = {"random_integers": integers}  # their options differ
    kernel: Kernel = kernels.get(name, fractions)
    return kernel
