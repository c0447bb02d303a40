"""Reductions over axes: sums, products, extremes and where they lie, questions, log-sum-exp.

One launch reduces to the results. Where few outputs leave most of a device idle, a first one
reduces chunks to partial results, in the type that is computed in, and a second one those.
"""

from __future__ import annotations

import functools
import math
from typing import Final, NamedTuple

import numpy as np

from vkml.backends.interface import Kernel
from vkml.shapes import reduced as reduced_shape
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import Format, StorageCode, format_of
from vkml_vulkan.kernel_table import KERNELS, Entry
from vkml_vulkan.kernels import filling
from vkml_vulkan.kernels.reduction_axes import Geometry, Side, geometry, split, tail_words
from vkml_vulkan.launch import Launch, is_long
from vkml_vulkan.layouts import require_countable
from vkml_vulkan.number_arguments import number_bits
from vkml_vulkan.operand import Dtype, Form, Operand, dense_form
from vkml_vulkan.plans import Plans

_Axes = tuple[int, ...]


class _Operation(NamedTuple):
    """A reduction: its code in ``reduce.comp``, its dtype, and what it is of no elements."""

    code: int
    result: Dtype | None
    of_nothing: float


SUM: Final = 0
_BOOL: Final = np.dtype(np.bool_)
_INT64: Final = np.dtype(np.int64)
_OPERATIONS: Final = {
    "sum": _Operation(SUM, None, 0),
    "sum_to_size": _Operation(SUM, None, 0),
    "mean": _Operation(1, None, math.nan),
    "prod": _Operation(2, None, 1),
    "amax": _Operation(3, None, math.nan),  # core refuses those of nothing
    "amin": _Operation(4, None, math.nan),
    "any": _Operation(5, _BOOL, False),
    "all": _Operation(6, _BOOL, True),
    "argmax": _Operation(7, _INT64, 0),
    "argmin": _Operation(8, _INT64, 0),
    "logsumexp": _Operation(9, None, -math.inf),
}
_KEPT_PLACE: Final = 8
"""Of the kept axes among the words after the addresses."""
_PLACES: Final = ("argmax", "argmin")
_COMPOSITES: Final = ("sum_to_size", "mean", "prod", "any", "all", "logsumexp")

NO_COMPANIONS, _COMPANIONS_WRITTEN, _COMPANIONS_READ = range(3)
"""Whether something goes along with partial results, which is written or read."""


class _Plan(NamedTuple):
    """The launches of a reduction.

    Attributes
    ----------
    result : Form
    first : Launch or None
        None where there is nothing to reduce.
    second : Launch or None
        It reduces the partial results of the first, if those are needed.
    companions : int
        Bytes of partial results before what goes along with them.
    partial_nbytes : int
        Bytes of both.
    """

    result: Form
    first: Launch | None
    second: Launch | None = None
    companions: int = 0
    partial_nbytes: int = 0


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel of a reduction."""
    reductions = _Reductions(device, name)
    if name == "sum_to_size":
        return reductions.to_size
    return reductions.along if name in _PLACES else reductions.over


class _Reductions:
    """One operation on one device, with the plans that it has made."""

    def __init__(self, device: Engine, name: str) -> None:
        self._device = device
        self._name = name
        self._launch = functools.partial(reduction_launch, device, name)
        self._operation = _OPERATIONS[name]
        self._over_axes: Plans[_Plan | None] = Plans(self._prepare_over)
        self._along_axis: Plans[_Plan | None] = Plans(self._prepare_along)
        self._to_shape: Plans[_Plan | None] = Plans(self._prepare_to)

    def over(self, x: Operand, axes: _Axes, keepdim: bool) -> Operand:
        """Reduce over axes: ``kernel(x, axes, keepdim)``."""
        plan = self._over_axes[x.form, axes, keepdim]
        return NotImplemented if plan is None else self._run(plan, x)

    def along(self, x: Operand, axis: int | None, keepdim: bool) -> Operand:
        """Reduce along one axis or over all: ``kernel(x, axis, keepdim)``."""
        plan = self._along_axis[x.form, axis, keepdim]
        return NotImplemented if plan is None else self._run(plan, x)

    def to_size(self, x: Operand, shape: _Axes) -> Operand:
        """Undo a broadcast from `shape`: ``kernel(x, shape)``."""
        plan = self._to_shape[x.form, shape]
        return NotImplemented if plan is None else self._run(plan, x)

    def _run(self, plan: _Plan, x: Operand) -> Operand:
        device = self._device
        form, first, second, companions, nbytes = plan
        if first is None:
            return self._of_nothing(form)
        storage = device.pool.allocate(form.nbytes)
        out = Operand(storage, form, storage.address)
        launch, address = device.recorder.launch, storage.address
        if second is None:
            launch(first, (storage.chunk,), (x.storage.chunk,), address, x.address, 0)
            return out
        partial = device.pool.allocate(nbytes)
        along = partial.address + companions if companions < nbytes else 0
        launch(first, (partial.chunk,), (x.storage.chunk,), partial.address, x.address, along)
        launch(second, (storage.chunk,), (partial.chunk,), address, partial.address, along)
        return out

    def _of_nothing(self, form: Form) -> Operand:
        if form.size == 0:
            return self._device.empty(form.shape, form.dtype)
        full = filling.build(self._device, "full", KERNELS["full"])
        made: Operand = full(form.shape, self._operation.of_nothing, form.dtype)
        return made

    def _prepare_over(self, x: Form, axes: _Axes, keepdim: bool) -> _Plan | None:
        return self._prepare(x, axes, reduced_shape(x.shape, axes, keepdim))

    def _prepare_along(self, x: Form, axis: int | None, keepdim: bool) -> _Plan | None:
        rank = len(x.shape)
        axes = tuple(range(rank)) if axis is None or rank == 0 else (axis,)
        return self._prepare_over(x, axes, keepdim)

    def _prepare_to(self, x: Form, shape: _Axes) -> _Plan | None:
        return self._prepare(x, _broadcast(x.shape, shape), shape)

    def _prepare(self, x: Form, axes: _Axes, shape: _Axes) -> _Plan | None:
        """Return the launches, or None for a dtype that a composite is left to core with."""
        device, name = self._device, self._name
        if name in _COMPOSITES and device.why_not_dtype(name, x.dtype) is not None:
            return None
        device.module(name, x.dtype)  # or it raises
        require_countable(name, x.size)
        result = dense_form(shape, self._operation.result or x.dtype)
        if x.size == 0:
            return _Plan(result, None)
        operand_format, result_format = format_of(x.dtype), format_of(result.dtype)
        assert operand_format is not None  # noqa: S101 - `module` refuses what has no format
        assert result_format is not None  # noqa: S101
        kept, reduced = split(x, axes, in_order=name in _PLACES)
        return self._launches(result, kept, reduced, operand_format, result_format)

    def _launches(
        self, result: Form, kept: Side, reduced: Side, operand: Format, final: Format
    ) -> _Plan:
        between = partial_format(operand)
        number = number_bits(reduced.elements, between) if self._name == "mean" else 0
        chosen, code = self._geometry(kept, reduced, operand, chunks=True), self._operation.code
        if chosen.chunks == 1:
            words = tail_words(number, kept, reduced, chosen)
            return _Plan(result, self._launch(code, chosen, words, operand, final))
        count = kept.elements * chosen.chunks
        companions = count * between.itemsize
        has_companions = self._name in (*_PLACES, "logsumexp")
        written = _COMPANIONS_WRITTEN if has_companions else NO_COMPANIONS
        words = tail_words(0, kept, reduced, chosen)
        # The mean of parts is their sum by the number of all.
        part = SUM if self._name == "mean" else code
        first = self._launch(part, chosen, words, operand, between, written)
        outputs = Side(kept.elements, [kept.elements], [1])
        partials = Side(chosen.chunks, [chosen.chunks], [kept.elements])
        again = self._geometry(outputs, partials, between, chunks=False)
        words = tail_words(number, outputs, partials, again)
        read = _COMPANIONS_READ if has_companions else NO_COMPANIONS
        second = self._launch(code, again, words, between, final, read)
        nbytes = companions + (4 * count if has_companions else 0)
        return _Plan(result, first, second, companions, nbytes)

    def _geometry(self, kept: Side, reduced: Side, operand: Format, *, chunks: bool) -> Geometry:
        profile = self._device.profile
        # A subgroup multiplies no 64-bit integers.
        lanes = profile.subgroup_arithmetic and not (
            self._name == "prod" and operand.compute == "i64"
        )
        words = operand.code is StorageCode.WORD
        return geometry(profile, kept, reduced, words=words, lanes=lanes, chunks=chunks)


def reduction_launch(
    device: Engine,
    name: str,
    code: int,
    chosen: Geometry,
    words: list[int],
    operand: Format,
    result: Format,
    companions: int = NO_COMPANIONS,
) -> Launch:
    """Return a launch of ``reduce.comp``.

    Its arguments are the addresses of the result, of the operand and of what goes along with
    partial results.
    """
    profile, head = device.profile, "QQQ"
    subgroup = "_subgroup" if profile.subgroup_arithmetic else ""
    axes = words[_KEPT_PLACE + 1 + 4 * words[_KEPT_PLACE]]
    pipeline = device.pipelines.get(
        f"reduce{subgroup}_{operand.compute}",
        (
            chosen.workgroup, int(is_long(head, words)), profile.subgroup,
            code, result.code, operand.code,
            chosen.lanes, int(chosen.lanes_apart), int(chosen.wide),
            axes if axes <= 2 else 0, companions,
        ),
    )  # fmt: skip
    groups = device.grid(chosen.blocks * chosen.chunks)
    work = chosen.blocks * chosen.chunks * chosen.chunk_size
    return Launch(device.device.api, name, pipeline, head, words, groups, work)


def partial_format(format: Format) -> Format:
    """Return the format of partial results: what a shader computes in."""
    if format.itemsize == 8:
        return format
    return Format(format.compute, StorageCode.WORD, 4)


def _broadcast(shape: _Axes, target: _Axes) -> _Axes:
    """Return the axes of `shape` that `target` lacks or has with size 1."""
    added = len(shape) - len(target)
    repeated = (
        axis + added for axis, size in enumerate(target) if size == 1 and shape[axis + added] != 1
    )
    return (*range(added), *repeated)
