"""Sums by an index, where each result walks along the index: ``scatter_walk.comp``."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from vkml_vulkan.engine import Engine
from vkml_vulkan.kernels.gathering import index_code
from vkml_vulkan.kernels.index_sums import IndexSum, require_format
from vkml_vulkan.launch import Launch, is_long
from vkml_vulkan.layouts import axis_words, collapse, divisor, require_countable
from vkml_vulkan.operand import Dtype, Operand

_SHORTEST_BLOCK, _LONGEST_BLOCK = 256, 65536
_FEW_INVOCATIONS: Final = 2**15
"""Where a GPU has fewer results to compute, walks are cut into blocks."""
_ACCUMULATED_IN: Final[dict[str, Dtype]] = {
    "f32": np.dtype(np.float32), "i32": np.dtype(np.int32), "u32": np.dtype(np.uint32),
    "i64": np.dtype(np.int64), "u64": np.dtype(np.uint64), "f64": np.dtype(np.float64),
}  # fmt: skip


class WalkedSum:
    """Prepared launches: one, or two where walks are cut into blocks."""

    def __init__(self, device: Engine, name: str, problem: IndexSum) -> None:
        self._device = device
        elements, index = problem.elements, problem.index
        shape, axis = problem.shape, problem.axis
        format = require_format(elements.dtype)
        module = f"scatter_walk_{format.compute}"
        count, length = math.prod(shape), problem.length
        blocks = _blocks(count, length, on_cpu=device.profile.on_cpu)
        require_countable(name, count * blocks)
        accumulator = _ACCUMULATED_IN[format.compute]
        partial = require_format(accumulator).code
        self._partial = (count * blocks,), accumulator
        strides = [problem.steps, problem.beside(index.strides), problem.beside(elements.strides)]
        tail = [
            count, *divisor(count), length, index.strides[axis], elements.strides[axis],
            -(-length // blocks), blocks, shape[axis], problem.skipped,
            *axis_words(*collapse(shape, strides)),
        ]  # fmt: skip
        workgroup = device.profile.independent_workgroup

        def launch(total: bool, result_code: int, element_code: int, invocations: int) -> Launch:
            constants = (
                workgroup, int(is_long("QQQ", tail)), int(total),
                result_code, element_code, index_code(index.dtype),
            )  # fmt: skip
            pipeline = device.pipelines.get(module, constants)
            groups = device.grid(-(-invocations // workgroup))
            work = invocations * (blocks if total else -(-length // blocks))
            return Launch(device.device.api, name, pipeline, "QQQ", tail, groups, work)

        is_cut = blocks > 1
        first_code = partial if is_cut else format.code
        self._walk = launch(False, first_code, format.code, count * blocks)
        self._total = launch(True, format.code, partial, count) if is_cut else None

    def run(self, result: Operand, elements: Operand, index: Operand) -> None:
        """Record the sums of `elements`, written to `result`."""
        launch = self._device.recorder.launch
        sums = result if self._total is None else self._device.empty(*self._partial)
        read = (elements.storage.chunk, index.storage.chunk)
        launch(
            self._walk, (sums.storage.chunk,), read,
            sums.address, elements.address, index.address,
        )  # fmt: skip
        if self._total is not None:
            launch(
                self._total, (result.storage.chunk,), (sums.storage.chunk,),
                result.address, sums.address, sums.address,
            )  # fmt: skip


def _blocks(count: int, length: int, *, on_cpu: bool) -> int:
    """Return into how many blocks to cut walks, for accuracy and to keep a GPU busy."""
    wanted = 1 if on_cpu else -(-_FEW_INVOCATIONS // count)
    most = -(-length // _SHORTEST_BLOCK)
    return max(min(wanted, most), -(-length // _LONGEST_BLOCK), 1)
