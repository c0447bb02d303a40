"""Sums by an index whose places are sorted first: ``index_runs``, ``merge_runs``, ``segment_sum``.

The result has to be zero before.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from vkml_vulkan.engine import Engine
from vkml_vulkan.kernels.copying import dense
from vkml_vulkan.kernels.gathering import index_code
from vkml_vulkan.kernels.index_sums import IndexSum, require_format
from vkml_vulkan.launch import Launch, is_long
from vkml_vulkan.layouts import axis_words, collapse
from vkml_vulkan.operand import Operand, dense_form

_RUN: Final = 8
"""Pairs that an invocation of ``index_runs`` sorts; `RUN` there."""
_CHUNK: Final = 16
"""Pairs that an invocation of ``merge_runs`` writes; `CHUNK` there."""
_WIDTH: Final = 4
"""Sums side by side that an invocation of ``segment_sum`` works out; `MOST_WIDTH` there."""
_PAIR: Final = np.dtype(np.uint64)


class SortedSum:
    """Prepared launches: sorted runs of pairs, merges, sums."""

    def __init__(self, device: Engine, name: str, problem: IndexSum) -> None:
        self._device = device
        self._name = name
        self._is_flat = not problem.has_one_index
        self._count = problem.elements.size if self._is_flat else problem.length
        self._runs = self._prepare_runs(problem)
        self._merge = self._launch("merge_runs", (), "QQII", [], -(-self._count // _CHUNK))
        self._merge_lengths = [
            exponent for exponent in range(_RUN.bit_length() - 1, 32) if 1 << exponent < self._count
        ]
        if self._is_flat:
            problem = _flattened(problem)
        self._sum = self._prepare_sum(problem)

    def run(self, result: Operand, elements: Operand, index: Operand) -> None:
        """Record the sums of `elements`, added to the zeros of `result`."""
        if self._is_flat:
            elements = dense(self._device, elements)
        pairs = self._sorted(index)
        self._device.recorder.launch(
            self._sum, (result.storage.chunk,), (elements.storage.chunk, pairs.storage.chunk),
            result.address, elements.address, pairs.address,
        )  # fmt: skip

    def _sorted(self, index: Operand) -> Operand:
        """Return pairs of a place and the number of an element, sorted."""
        device, launch = self._device, self._device.recorder.launch
        pairs = device.empty((self._count,), _PAIR)
        launch(
            self._runs, (pairs.storage.chunk,), (index.storage.chunk,),
            pairs.address, index.address,
        )  # fmt: skip
        other = device.empty((self._count,), _PAIR)
        for exponent in self._merge_lengths:
            launch(
                self._merge, (other.storage.chunk,), (pairs.storage.chunk,),
                other.address, pairs.address, exponent, self._count,
            )  # fmt: skip
            pairs, other = other, pairs
        return pairs

    def _prepare_runs(self, problem: IndexSum) -> Launch:
        """Return the launch for flat places in the result, or for places along the axis."""
        index, shape, axis = problem.index, problem.shape, problem.axis
        if self._is_flat:
            strides = problem.strides
            sizes, steps = collapse(index.shape, [index.strides, problem.beside(strides)])
            along = strides[axis]
        else:
            sizes, steps = collapse((problem.length,), [(index.strides[axis],), (0,)])
            along = 1
        tail = [self._count, shape[axis], along, problem.skipped, *axis_words(sizes, steps)]
        codes = (index_code(index.dtype),)
        return self._launch("index_runs", codes, "QQ", tail, -(-self._count // _RUN))

    def _prepare_sum(self, problem: IndexSum) -> Launch:
        elements, axis = problem.elements, problem.axis
        format = require_format(elements.dtype)
        strides = [
            problem.steps, problem.beside(elements.strides), problem.beside(problem.strides),
        ]  # fmt: skip
        sizes, steps = collapse(elements.shape, strides)
        in_pairs, *beside = (each[0] if each else 0 for each in steps)
        width = 1
        if in_pairs == 0 and sizes and sizes[0] % _WIDTH == 0:
            width = _WIDTH
            sizes[0] //= _WIDTH
            for each in steps:
                each[0] *= _WIDTH
        count = elements.size // width
        tail = [
            count, problem.length, elements.strides[axis], problem.strides[axis], *beside,
            *axis_words(sizes, steps),
        ]  # fmt: skip
        module = f"segment_sum_{format.compute}"
        return self._launch(module, (format.code, format.code, width), "QQQ", tail, count)

    def _launch(
        self, module: str, codes: tuple[int, ...], head: str, tail: list[int], invocations: int
    ) -> Launch:
        device = self._device
        workgroup = device.profile.independent_workgroup
        constants = (workgroup, int(is_long(head, tail)), *codes)
        pipeline = device.pipelines.get(module, constants)
        groups = device.grid(-(-invocations // workgroup))
        return Launch(device.device.api, self._name, pipeline, head, tail, groups, invocations)


def _flattened(problem: IndexSum) -> IndexSum:
    """Return the sum of all elements in order by flat places."""
    count = problem.elements.size
    elements = dense_form((count,), problem.elements.dtype)
    return IndexSum(elements, elements, (math.prod(problem.shape),), 0)
