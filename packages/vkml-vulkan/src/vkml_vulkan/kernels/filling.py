"""The kernel of `full`: one value everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import RAW
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.elementwise import Plan, plan
from vkml_vulkan.operand import Dtype, Form, Operand
from vkml_vulkan.plans import Plans


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel ``full(shape, value, dtype)``."""
    raw = RAW[8]

    def prepare(result: Form) -> Plan:
        return plan(
            device, name, "unary_u64", 0, result, (None,), result_format=raw, operand_format=raw
        )

    plans: Plans[Plan] = Plans(prepare)

    def run(shape: tuple[int, ...], value: Any, dtype: Dtype) -> Operand:
        device.require_raw(name, dtype)
        result = device.empty(shape, dtype)
        if result.form.size == 0:
            return result
        pattern = np.array(bool(value) if dtype.kind == "b" else value, dtype).tobytes()
        words = pattern * (8 // dtype.itemsize)
        if words[:4] == words[4:]:
            nbytes = -(-result.form.nbytes // 4) * 4  # a chunk is longer than its last word
            word = int.from_bytes(words[:4], "little")
            device.recorder.fill(result.storage.chunk, 0, nbytes, word)
            return result
        found = plans[result.form,]
        assert found.launch is not None  # noqa: S101 - there are elements
        number = int.from_bytes(words, "little")
        device.recorder.launch(found.launch, (result.storage.chunk,), (), result.address, number)
        return result

    return run
