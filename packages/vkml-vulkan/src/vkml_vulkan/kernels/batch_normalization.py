"""Kernels of batch normalization."""

from __future__ import annotations

from typing import Any

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import format_of
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.copying import dense
from vkml_vulkan.kernels.fused import covered_format
from vkml_vulkan.kernels.normalization import CENTRES, PER_ROW, TO_INPUT, Forward
from vkml_vulkan.kernels.normalization_backward import Backward
from vkml_vulkan.kernels.row_launches import Launches, launches
from vkml_vulkan.kernels.rows import rows_over
from vkml_vulkan.number_arguments import packed_as
from vkml_vulkan.operand import Dtype, Form, Operand, dense_form
from vkml_vulkan.plans import Plans

# Flags of batch_norm_eval.comp.
_WEIGHT, _BIAS = 1, 2


def build(device: Engine, name: str, entry: Entry) -> Kernel:
    """Return the kernel of `batch_norm_train`, `batch_norm_backward` or `batch_norm_eval`."""
    if name == "batch_norm_eval":
        return _eval(device, name, entry)
    return (
        _train(device, name, entry)
        if name == "batch_norm_train"
        else _backward(device, name, entry)
    )


def _all_but_channels(x: Operand) -> tuple[int, ...]:
    return (0, *range(2, len(x.shape)))


def _train(device: Engine, name: str, entry: Entry) -> Kernel:
    forward = Forward(device, name, entry)

    def run(x: Operand, weight: Operand | None, bias: Operand | None, eps: float) -> Any:
        axes, flags = _all_but_channels(x), CENTRES | PER_ROW
        return forward.run(x, weight, bias, axes, x.shape[1:2], eps, flags)

    return run


def _backward(device: Engine, name: str, entry: Entry) -> Kernel:
    backward = Backward(device, name, entry)

    def run(
        g: Operand,
        x: Operand,
        weight: Operand | None,
        mean: Any,
        rstd: Any,
        _eps: float,
        needs: tuple[bool, ...],
    ) -> Any:
        if mean is None or not backward.covers(g, x, weight, rstd):
            return NotImplemented
        flags = PER_ROW | (TO_INPUT if needs[0] else 0)
        of_rows = tuple(device.empty(x.shape[1:2], x.dtype) for _ in range(2))
        made = backward.run(g, x, weight, mean, rstd, _all_but_channels(x), flags, of_rows)
        return tuple(each if needed else None for each, needed in zip(made, needs, strict=True))

    return run


def _eval(device: Engine, name: str, entry: Entry) -> Kernel:

    def prepare(x: Form, given: Dtype, flags: int) -> Launches | None:
        format, given_format = covered_format(entry, (x,)), format_of(given)
        if format is None or given_format is None or x.size == 0:
            return None
        device.module(name, x.dtype)  # raises where there is no float64
        strides = [dense_form(x.shape, x.dtype).strides, x.strides]
        laid_out = rows_over(x.shape, range(2, len(x.shape)), strides)
        if laid_out is None:
            return None
        return launches(
            device, name, entry.shader, *laid_out, format,
            extras=packed_as(format) + "QQQQQ", constants=(flags, given_format.code),
        )  # fmt: skip

    plans: Plans[Launches | None] = Plans(prepare)

    def run(
        x: Operand,
        mean: Operand,
        var: Operand,
        weight: Operand | None,
        bias: Operand | None,
        eps: float,
    ) -> Any:
        flags = (0 if weight is None else _WEIGHT) | (0 if bias is None else _BIAS)
        key = (x.form, mean.dtype, flags)
        found = plans[key]
        if found is None or var.dtype != mean.dtype:
            return NotImplemented
        given = [
            None if each is None else dense(device, each) for each in (mean, var, weight, bias)
        ]
        y = device.empty(x.shape, x.dtype)
        device.recorder.launch(
            found.choose((y, x)), (y.storage.chunk,),
            [each.storage.chunk for each in (x, *given) if each is not None],
            y.address, x.address, found.convert(eps),
            *[0 if each is None else each.address for each in given], x.shape[1],
        )  # fmt: skip
        return y

    return run
