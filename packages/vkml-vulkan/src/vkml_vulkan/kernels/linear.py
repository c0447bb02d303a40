"""The kernel of `linear`: a product, with the bias added where it is stored."""

from __future__ import annotations

from vkml.backends.interface import Kernel
from vkml.shapes import contiguous_strides
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import format_of
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.contraction import Axis, contraction
from vkml_vulkan.kernels.contraction_plan import (
    BiasLayout,
    ContractionPlan,
    compute,
    plan_contractions,
)
from vkml_vulkan.operand import Form, Operand, dense_form
from vkml_vulkan.plans import Plans


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel ``linear(x, weight, bias)``: ``x @ weight.T + bias``."""

    def prepare(x: Form, weight: Form, bias: Form | None) -> ContractionPlan:
        device.module(name, x.dtype)
        operand = format_of(x.dtype)
        assert operand is not None  # noqa: S101 - `module` refuses what has no format
        outputs, inputs = weight.shape
        result = dense_form((*x.shape[:-1], outputs), x.dtype)
        steps = contiguous_strides(result.shape)
        rows = [
            Axis(size, left=left, result=step)
            for size, left, step in zip(x.shape[:-1], x.strides, steps, strict=False)
        ]
        bias_step = bias.strides[0] if bias is not None else 0
        column = Axis(outputs, right=weight.strides[0], result=1, bias=bias_step)
        inner = Axis(inputs, left=x.strides[-1], right=weight.strides[1])
        work = contraction([], rows, [column], [inner])
        layout = BiasLayout(1, max(1, outputs), bias_step)
        return plan_contractions(device, name, result, operand, [work], layout)

    plans: Plans[ContractionPlan] = Plans(prepare)

    def run(x: Operand, weight: Operand, bias: Operand | None) -> Operand:
        key = (x.form, weight.form, None if bias is None else bias.form)
        found = plans[key]
        return compute(device, found, x, weight, bias)

    return run
