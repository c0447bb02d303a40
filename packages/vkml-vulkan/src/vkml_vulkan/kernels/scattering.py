"""Kernels of sums by an index: `scatter_add_zeros`, `index_add_zeros`, `embedding_backward`.

An index that lies outside its axis cannot raise on a GPU; its elements are not added anywhere.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.copying import dense
from vkml_vulkan.kernels.filling import build as build_full
from vkml_vulkan.kernels.index_sums import NO_PLACE, IndexSum, should_walk
from vkml_vulkan.kernels.placing import build as build_placing
from vkml_vulkan.kernels.sorted_sums import SortedSum
from vkml_vulkan.kernels.walked_sums import WalkedSum
from vkml_vulkan.layouts import require_countable
from vkml_vulkan.operand import Form, Operand, View, dense_form, form
from vkml_vulkan.plans import Plans


class _Plan(NamedTuple):
    """The result, and what adds to it; None where there is nothing to add."""

    result: Form
    sum: WalkedSum | SortedSum | None
    starts_at_zero: bool


def build(device: Engine, name: str, entry: Entry) -> Kernel:
    """Return the kernel of one of the three operations."""
    sums = _Sums(device, name, entry)
    kernels: dict[str, Kernel] = {
        "scatter_add_zeros": sums.scatter_add_zeros,
        "index_add_zeros": sums.index_add_zeros,
        "embedding_backward": sums.embedding_backward,
    }
    return kernels[name]


class _Sums:
    """The kernels, and their plans."""

    def __init__(self, device: Engine, name: str, entry: Entry) -> None:
        self._device = device
        self._name = name
        self._full = build_full(device, "full", entry)
        self._place = build_placing(device, "slice_backward", entry)
        self._scatters: Plans[_Plan] = Plans(self._prepare_scatter)
        self._slices: Plans[_Plan] = Plans(self._prepare_slices)

    def scatter_add_zeros(
        self, src: Operand, index: Operand, shape: tuple[int, ...], dim: int
    ) -> Operand:
        """Return zeros of `shape` with the elements added, along `dim` at the places `index`."""
        covered = (*src.shape[:dim], *shape[dim : dim + 1], *src.shape[dim + 1 :])
        key = (src.form, index.form, covered, dim)
        plan = self._scatters[key]
        result = self._run(plan, src, index)
        if covered == shape:
            return result
        rank = len(shape)
        placed: Operand = self._place(result, shape, (0,) * rank, (1,) * rank)
        return placed

    def index_add_zeros(self, src: Operand, index: Operand, size: int, dim: int) -> Operand:
        """Return zeros of `size` along `dim` with the slices added at the places `index`."""
        return self._add_slices(src, index, size, dim, NO_PLACE)

    def embedding_backward(
        self, upstream: Operand, indices: Operand, count: int, padding_idx: int | None
    ) -> Operand:
        """Return `count` rows with those of `upstream` added; that of the padding stays zero."""
        rows = _reshaped(self._device, upstream, (math.prod(indices.shape), upstream.shape[-1]))
        index = _reshaped(self._device, indices, (rows.shape[0],))
        skipped = NO_PLACE if padding_idx is None else padding_idx
        return self._add_slices(rows, index, count, 0, skipped)

    def _add_slices(
        self, src: Operand, index: Operand, size: int, dim: int, skipped: int
    ) -> Operand:
        key = (src.form, index.form, size, dim, skipped)
        plan = self._slices[key]
        return self._run(plan, src, index)

    def _run(self, plan: _Plan, src: Operand, index: Operand) -> Operand:
        shape, dtype = plan.result.shape, plan.result.dtype
        zeros = plan.starts_at_zero
        result: Operand = self._full(shape, 0, dtype) if zeros else self._device.empty(shape, dtype)
        if plan.sum is not None:
            plan.sum.run(result, src, index)
        return result

    # Plans ----------------------------------------------------------------------------

    def _prepare_scatter(self, src: Form, index: Form, shape: tuple[int, ...], dim: int) -> _Plan:
        result = dense_form(shape, src.dtype)
        if not shape:  # as one axis of one element
            src, index = (form((1,), (0,), each.dtype) for each in (src, index))
            shape = (1,)
        return self._prepare(result, IndexSum(src, index, shape, dim))

    def _prepare_slices(self, src: Form, index: Form, size: int, dim: int, skipped: int) -> _Plan:
        before, after = src.shape[:dim], src.shape[dim + 1 :]
        strides = (*[0] * len(before), *index.strides, *[0] * len(after))
        shown = form(src.shape, strides, index.dtype)
        shape = (*before, size, *after)
        return self._prepare(
            dense_form(shape, src.dtype), IndexSum(src, shown, shape, dim, skipped)
        )

    def _prepare(self, result: Form, problem: IndexSum) -> _Plan:
        device, name = self._device, self._name
        device.module(name, result.dtype)  # refuses what has none
        require_countable(name, max(result.size, problem.elements.size))
        if result.size == 0 or problem.elements.size == 0:
            return _Plan(result, None, starts_at_zero=result.size > 0)
        if should_walk(problem, on_cpu=device.profile.on_cpu):
            return _Plan(result, WalkedSum(device, name, problem), starts_at_zero=False)
        return _Plan(result, SortedSum(device, name, problem), starts_at_zero=True)


def _reshaped(device: Engine, x: Operand, shape: tuple[int, ...]) -> Operand:
    """Return `x` in another shape: a view where its elements lie in order, else a copy."""
    if x.shape == shape:
        return x
    x = dense(device, x)
    return View(x.storage, dense_form(shape, x.dtype), x.address)
