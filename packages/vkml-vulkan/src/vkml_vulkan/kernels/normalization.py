"""Kernels of layer and root-mean-square normalization, which keep what the backward halves need."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.copying import dense
from vkml_vulkan.kernels.fused import covered_format
from vkml_vulkan.kernels.row_launches import Launches, launches
from vkml_vulkan.kernels.rows import rows_over
from vkml_vulkan.number_arguments import packed_as
from vkml_vulkan.operand import Dtype, Form, Operand, dense_form
from vkml_vulkan.plans import Plans

# Flags of normalization.glsl.
CENTRES, WEIGHT, BIAS, PER_ROW, TO_INPUT = 1, 2, 4, 8, 16

_FLOAT32: Final = np.dtype(np.float32)


def statistics_dtype(dtype: Dtype) -> Dtype:
    """Return the dtype of a row's mean and deviation."""
    return dtype if dtype.itemsize == 8 else _FLOAT32


def flags_of(weight: object, bias: object) -> int:
    """Return the flags that say which parameters there are."""
    return (0 if weight is None else WEIGHT) | (0 if bias is None else BIAS)


def build(device: Engine, name: str, entry: Entry) -> Kernel:
    """Return the kernel of `layer_norm` or of `rms_norm`."""
    forward = Forward(device, name, entry)

    def layer_norm(
        x: Operand, weight: Operand | None, bias: Operand | None, ndim: int, eps: float
    ) -> Any:
        axes = tuple(range(len(x.shape) - ndim, len(x.shape)))
        statistics = x.shape[: len(x.shape) - ndim] + (1,) * ndim
        made = forward.run(x, weight, bias, axes, statistics, eps, CENTRES)
        return made if made is NotImplemented else (made[0], made[1], made[3])

    def rms_norm(x: Operand, weight: Operand | None, ndim: int, eps: float) -> Any:
        axes = tuple(range(len(x.shape) - ndim, len(x.shape)))
        statistics = x.shape[: len(x.shape) - ndim] + (1,) * ndim
        made = forward.run(x, weight, None, axes, statistics, eps, 0)
        return made if made is NotImplemented else (made[0], made[3])

    return layer_norm if name == "layer_norm" else rms_norm


class Forward:
    """Launches of ``normalization.comp``, prepared once for each form and set of flags."""

    def __init__(self, device: Engine, name: str, entry: Entry) -> None:
        self._device, self._name, self._entry = device, name, entry
        self._plans: Plans[Launches | None] = Plans(self._prepare)

    def run(
        self,
        x: Operand,
        weight: Operand | None,
        bias: Operand | None,
        axes: tuple[int, ...],
        statistics: tuple[int, ...],
        eps: float,
        flags: int,
    ) -> Any:
        """Return the result, and of each row mean, variance and 1 / deviation.

        Mean and variance are None where the flags do not ask for them; NotImplemented for dtypes
        without a shader, and where there is nothing to normalize.
        """
        device = self._device
        parameters = [None if each is None else dense(device, each) for each in (weight, bias)]
        flags |= flags_of(weight, bias)
        x_form = x.form
        if any(each is not None and each.dtype != x.dtype for each in parameters):
            return NotImplemented
        key = (x_form, axes, flags)
        found = self._plans[key]
        if found is None:
            if covered_format(self._entry, (x_form,)) is None or x_form.size == 0:
                return NotImplemented
            x = dense(device, x)  # rows that are not made of runs
            return self.run(x, weight, bias, axes, statistics, eps, flags)
        y = device.empty(x.shape, x.dtype)
        kept = statistics_dtype(x.dtype)
        mean = device.empty(statistics, kept) if flags & CENTRES else None
        variance = device.empty(statistics, kept) if flags & PER_ROW else None
        rstd = device.empty(statistics, kept)
        arrays, extras = (y, x), (*parameters, mean, variance, rstd)
        device.recorder.launch(
            found.choose((y, x) if flags & PER_ROW else (y, x, *parameters)),
            [each.storage.chunk for each in (y, mean, variance, rstd) if each is not None],
            [each.storage.chunk for each in (x, *parameters) if each is not None],
            *[each.address for each in arrays],
            found.convert(eps),
            *[0 if each is None else each.address for each in extras],
        )
        return y, mean, variance, rstd

    def _prepare(self, x: Form, axes: tuple[int, ...], flags: int) -> Launches | None:
        format = covered_format(self._entry, (x,))
        if format is None or x.size == 0:
            return None
        self._device.module(self._name, x.dtype)  # raises where there is no float64
        result = dense_form(x.shape, x.dtype)
        laid_out = rows_over(x.shape, axes, [result.strides, x.strides])
        if laid_out is None:
            return None
        return launches(
            self._device, self._name, self._entry.shader, *laid_out, format,
            extras=packed_as(format) + "QQQQQ", constants=(flags,),
        )  # fmt: skip
