"""Kernels of `cross_entropy` and of its backward half.

Targets that are no class count as ignored: a shader cannot raise an error.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import Format, StorageCode
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.copying import Copies, dense
from vkml_vulkan.kernels.fused import covered_format
from vkml_vulkan.kernels.normalization import statistics_dtype
from vkml_vulkan.kernels.row_launches import Launches, launches, row_launch
from vkml_vulkan.kernels.rows import Array, Rows, rows_over
from vkml_vulkan.launch import Launch
from vkml_vulkan.number_arguments import packed_as
from vkml_vulkan.operand import Form, Operand, dense_form
from vkml_vulkan.plans import Plans

# Flags of cross_entropy.glsl.
_WEIGHTED, _SMOOTHED, _BY_ROW, _MEAN, _LOSSES = 1, 2, 4, 8, 16

_INT64: Final = np.dtype(np.int64)
_CODES: Final = {np.dtype(np.int32): StorageCode.WORD, _INT64: StorageCode.PAIR}
_NO_CLASS: Final = -1


class _Problem(NamedTuple):
    """What both halves need of their operands."""

    logits: Operand
    target: Operand
    weight: Operand | None
    flags: int
    ignored: int
    smoothing: float

    @property
    def weight_address(self) -> int:
        """Of the weights of classes; 0 where there are none."""
        return 0 if self.weight is None else self.weight.address

    def reads(self, *others: Operand | None) -> list[Any]:
        """Return the chunks of the operands and of `others`."""
        given = (self.logits, self.target, self.weight, *others)
        return [each.storage.chunk for each in given if each is not None]


def build(device: Engine, name: str, entry: Entry) -> Kernel:
    """Return the kernel of `cross_entropy` or of `cross_entropy_backward`."""
    return (
        _Forward(device, name, entry) if name == "cross_entropy" else _Backward(device, name, entry)
    )


class _Half:
    def __init__(self, device: Engine, name: str, entry: Entry) -> None:
        self._device, self._name, self._entry = device, name, entry
        self._plans: Plans[Launches] = Plans(self._prepare_rows)
        self._totals: Plans[Launch] = Plans(self._prepare_total)

    def problem(
        self,
        logits: Operand,
        target: Operand,
        weight: Operand | None,
        reduction: str,
        ignore_index: int,
        smoothing: float,
    ) -> _Problem | None:
        """Return what there is to compute; None for dtypes without a shader, or for nothing."""
        forms = (logits.form,) if weight is None else (logits.form, weight.form)
        if covered_format(self._entry, forms) is None or logits.form.size == 0:
            return None
        device = self._device
        if target.dtype not in _CODES:
            target = device.shared(Copies).made(target, _INT64)
        flags = (0 if weight is None else _WEIGHTED) | (_SMOOTHED if smoothing else 0)
        flags |= {"none": _BY_ROW, "mean": _MEAN, "sum": 0}[reduction]
        weight = None if weight is None else dense(device, weight)
        # A class beyond int32 is no class, and needs not be compared with.
        ignored = ignore_index if abs(ignore_index) < 1 << 31 else _NO_CLASS
        return _Problem(logits, dense(device, target), weight, flags, ignored, smoothing)

    def rows(self, given: _Problem, results: int, extras: str) -> Launches:
        """Return the launches over rows of logits; the first of two arrays is the gradient."""
        logits, code = given.logits.form, _CODES[given.target.dtype]
        flags = given.flags if results else given.flags & ~_MEAN  # losses come before their mean
        return self._plans[logits, code, flags, results, extras]

    def _prepare_rows(
        self, logits: Form, code: StorageCode, flags: int, results: int, extras: str
    ) -> Launches:
        device, shape = self._device, logits.shape
        device.module(self._name, logits.dtype)  # raises where there is no float64
        format = logits.format
        assert format is not None  # noqa: S101 - `problem` has looked
        strides = [*results * [dense_form(shape, logits.dtype).strides], logits.strides]
        laid_out = rows_over(shape, (1 if len(shape) > 1 else 0,), strides)
        assert laid_out is not None  # noqa: S101 - one axis is one run
        return launches(
            device, self._name, self._entry.shader, *laid_out, format,
            extras=packed_as(format) + extras, constants=(flags, code),
        )  # fmt: skip

    def _prepare_total(self, format: Format, count: int, code: StorageCode, flags: int) -> Launch:
        return row_launch(
            self._device, self._name, "cross_entropy_total", Rows((), count, count),
            [Array((), 0)], format,
            wide=False, extras="i4xQQQQ", constants=(flags, code), per_invocation=False,
        )  # fmt: skip

    def total(
        self, given: _Problem, result: Operand, losses: Operand | None, flags: int
    ) -> Operand:
        """Write the sum or mean of losses, or, without them, the sum of the targets' weights."""
        device, target = self._device, given.target
        format = given.logits.form.format
        assert format is not None  # noqa: S101 - `problem` has looked
        found = self._totals[format, target.form.size, _CODES[target.dtype], flags]
        shape = given.logits.shape
        device.recorder.launch(
            found, (result.storage.chunk,), given.reads(losses),
            result.address, given.ignored, target.address, given.weight_address,
            0 if losses is None else losses.address, shape[1 if len(shape) > 1 else 0],
        )  # fmt: skip
        return result


class _Forward(_Half):
    def __call__(
        self, logits: Operand, target: Operand, weight: Operand | None, *options: Any
    ) -> Any:
        """Return the loss, None, and the sum of the exponentials of each row."""
        given = self.problem(logits, target, weight, *options)
        if given is None:
            return NotImplemented
        device, target = self._device, given.target
        kept = statistics_dtype(logits.dtype)
        by_row = bool(given.flags & _BY_ROW)
        losses = device.empty(target.shape, logits.dtype if by_row else kept)
        sums = device.empty(_sums_shape(logits.shape, target.form.size), kept)
        found = self.rows(given, 0, "i4xQQQQ")
        device.recorder.launch(
            found.choose((logits,)), (losses.storage.chunk, sums.storage.chunk), given.reads(),
            logits.address, found.convert(given.smoothing), given.ignored, target.address,
            given.weight_address, losses.address, sums.address,
        )  # fmt: skip
        if not by_row:
            flags = given.flags & (_WEIGHTED | _MEAN) | _LOSSES
            losses = self.total(given, device.empty((), logits.dtype), losses, flags)
        return losses, None, sums


class _Backward(_Half):
    def __call__(
        self,
        g: Operand,
        logits: Operand,
        target: Operand,
        weight: Operand | None,
        _exponentials: None,
        sums: Operand | None,
        *options: Any,
    ) -> Any:
        """Return the gradient for the logits."""
        given = self.problem(logits, target, weight, *options)
        if given is None or sums is None or g.dtype != logits.dtype:
            return NotImplemented
        device = self._device
        g, sums, target = dense(device, g), dense(device, sums), given.target
        weights = None
        if given.flags & _MEAN:
            flags = given.flags & (_WEIGHTED | _MEAN)
            weights = self.total(given, device.empty((), sums.dtype), None, flags)
        dx = device.empty(logits.shape, logits.dtype)
        found = self.rows(given, 1, "i4xQQQQQ")
        device.recorder.launch(
            found.choose((dx, logits)), (dx.storage.chunk,), given.reads(sums, g, weights),
            dx.address, logits.address, found.convert(given.smoothing), given.ignored,
            target.address, given.weight_address, sums.address, g.address,
            0 if weights is None else weights.address,
        )  # fmt: skip
        return dx


def _sums_shape(shape: tuple[int, ...], count: int) -> tuple[int, int]:
    samples = shape[0] if len(shape) > 1 else 1
    return samples, count // samples
