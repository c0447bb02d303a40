"""Kernels of the backward halves of layer and root-mean-square normalization."""

from __future__ import annotations

from math import prod
from typing import Any

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.copying import Copies, dense
from vkml_vulkan.kernels.fused import covered_format
from vkml_vulkan.kernels.normalization import CENTRES, TO_INPUT, WEIGHT, statistics_dtype
from vkml_vulkan.kernels.parameter_gradients import ParameterGradients
from vkml_vulkan.kernels.row_launches import Launches, launches
from vkml_vulkan.kernels.rows import rows_over
from vkml_vulkan.operand import Form, Operand, dense_form
from vkml_vulkan.plans import Plans


def build(device: Engine, name: str, entry: Entry) -> Kernel:
    """Return the kernel of `layer_norm_backward` or of `rms_norm_backward`."""
    backward = Backward(device, name, entry)
    parameters = ParameterGradients(device, name)

    def run(
        g: Operand, x: Operand, weight: Operand | None, mean: Any, rstd: Any, ndim: int, needs: Any
    ) -> Any:
        if not backward.covers(g, x, weight, rstd):
            return NotImplemented
        split = len(x.shape) - ndim
        dx = None
        if needs[0]:
            axes = tuple(range(split, len(x.shape)))
            dx = backward.run(g, x, weight, mean, rstd, axes, TO_INPUT)[0]
        if not any(needs[1:]):
            return dx, None, None
        count, shape = prod(x.shape[:split]), x.shape[split:]
        dweight, dbias = parameters.run(g, x, mean, rstd, count, shape)
        return dx, dweight if needs[1] else None, dbias if needs[-1] else None

    def layer_norm_backward(
        g: Operand,
        x: Operand,
        weight: Operand | None,
        mean: Any,
        rstd: Any,
        ndim: int,
        _eps: float,
        needs: tuple[bool, ...],
    ) -> Any:
        return NotImplemented if mean is None else run(g, x, weight, mean, rstd, ndim, needs)

    def rms_norm_backward(
        g: Operand,
        x: Operand,
        weight: Operand | None,
        rstd: Any,
        ndim: int,
        _eps: float,
        needs: tuple[bool, ...],
    ) -> Any:
        made = run(g, x, weight, None, rstd, ndim, needs)
        return made if made is NotImplemented else made[:2]

    return layer_norm_backward if name == "layer_norm_backward" else rms_norm_backward


class Backward:
    """Launches of ``normalization_backward.comp``, prepared once for each forms and flags."""

    def __init__(self, device: Engine, name: str, entry: Entry) -> None:
        self._device, self._name, self._entry = device, name, entry
        self._plans: Plans[Launches | None] = Plans(self._prepare)

    def covers(self, g: Operand, x: Operand, weight: Operand | None, rstd: Any) -> bool:
        """Return whether there is a shader for these operands, and something to compute."""
        if rstd is None or x.form.size == 0 or rstd.dtype != statistics_dtype(x.dtype):
            return False  # under create_graph the statistics are recomputed
        forms = [each.form for each in (x, g, weight) if each is not None]
        return covered_format(self._entry, tuple(forms)) is not None

    def run(
        self,
        g: Operand,
        x: Operand,
        weight: Operand | None,
        mean: Operand | None,
        rstd: Operand,
        axes: tuple[int, ...],
        flags: int,
        of_rows: tuple[Operand | None, ...] = (None, None),
    ) -> tuple[Operand | None, ...]:
        """Return the gradient of the input; write those of weight and bias that rows have."""
        device = self._device
        flags |= (0 if mean is None else CENTRES) | (0 if weight is None else WEIGHT)
        key = (g.form, x.form, axes, flags)
        found = self._plans[key]
        if found is None:  # rows that are not made of runs
            g, x = device.shared(Copies).made(g, g.dtype), device.shared(Copies).made(x, x.dtype)
            return self.run(g, x, weight, mean, rstd, axes, flags, of_rows)
        dx = device.empty(x.shape, x.dtype) if flags & TO_INPUT else None
        kept = [None if each is None else dense(device, each) for each in (weight, mean, rstd)]
        written, read = (dx, *of_rows), (g, x, *kept)
        addresses = [0 if each is None else each.address for each in (dx, *read, *of_rows)]
        device.recorder.launch(
            found.choose((dx, g, x, kept[0])),
            [each.storage.chunk for each in written if each is not None],
            [each.storage.chunk for each in read if each is not None],
            *addresses,
        )
        return dx, *of_rows

    def _prepare(self, g: Form, x: Form, axes: tuple[int, ...], flags: int) -> Launches | None:
        self._device.module(self._name, x.dtype)  # raises where there is no float64
        format = x.format
        assert format is not None  # noqa: S101 - `covers` has looked
        result = dense_form(x.shape, x.dtype)
        laid_out = rows_over(x.shape, axes, [result.strides, g.strides, x.strides])
        if laid_out is None:
            return None
        return launches(
            self._device, self._name, self._entry.shader, *laid_out, format,
            extras="QQQQQ", constants=(flags,),
        )  # fmt: skip
