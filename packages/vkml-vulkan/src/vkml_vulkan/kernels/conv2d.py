"""Kernels of `conv2d` and its gradients: contractions that read the image where it lies.

Images have zeros around them, as on the CPU: an infinite weight times such a zero is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from vkml.backends.interface import Kernel
from vkml_vulkan.engine import Engine
from vkml_vulkan.formats import format_of
from vkml_vulkan.kernel_table import Entry
from vkml_vulkan.kernels.contraction import Axis, Contraction, Window, contraction
from vkml_vulkan.kernels.contraction_plan import (
    NO_BIAS,
    BiasLayout,
    ContractionPlan,
    compute,
    plan_contractions,
)
from vkml_vulkan.kernels.conv2d_phases import input_gradient_phases
from vkml_vulkan.operand import Form, Operand, dense_form
from vkml_vulkan.plans import Plans

Pair: TypeAlias = tuple[int, int]
Options: TypeAlias = tuple[Pair, Pair, Pair, int]  # stride, padding, dilation, groups


def build(device: Engine, name: str, _entry: Entry) -> Kernel:
    """Return the kernel of `conv2d` or of one of its gradients."""
    return _KERNELS[name](device, name)


def _conv2d(device: Engine, name: str) -> Kernel:

    def prepare(x: Form, weight: Form, bias: Form | None, options: Options) -> ContractionPlan:
        stride, padding, dilation, _ = options
        size = [
            (x.shape[axis + 2] + 2 * padding[axis]
             - dilation[axis] * (weight.shape[axis + 2] - 1) - 1) // stride[axis] + 1
            for axis in (0, 1)
        ]  # fmt: skip
        result = dense_form((x.shape[0], weight.shape[0], *size), x.dtype)
        step = bias.strides[0] if bias is not None else 0
        work = correlation(x, weight, result, step, options)
        layout = BiasLayout(max(1, size[0] * size[1]), max(1, weight.shape[0]), step)
        return _plan(device, name, result, [work], layout)

    plans: Plans[ContractionPlan] = Plans(prepare)

    def run(
        x: Operand, weight: Operand, bias: Operand | None,
        stride: Pair, padding: Pair, dilation: Pair, groups: int,
    ) -> tuple[Operand, None]:  # fmt: skip
        options = (stride, padding, dilation, groups)
        key = (x.form, weight.form, None if bias is None else bias.form, options)
        found = plans[key]
        return compute(device, found, weight, x, bias), None

    return run


def _input_gradient(device: Engine, name: str) -> Kernel:

    def prepare(
        g: Form, weight: Form, input_shape: tuple[int, ...], options: Options
    ) -> ContractionPlan:
        result = dense_form(input_shape, g.dtype)
        works = input_gradient_phases(g, weight, result, *options)
        return _plan(device, name, result, works)

    plans: Plans[ContractionPlan] = Plans(prepare)

    def run(
        g: Operand, weight: Operand, input_shape: tuple[int, ...],
        stride: Pair, padding: Pair, dilation: Pair, groups: int,
    ) -> Operand:  # fmt: skip
        key = (g.form, weight.form, input_shape, (stride, padding, dilation, groups))
        found = plans[key]
        return compute(device, found, weight, g)

    return run


def _weight_gradient(device: Engine, name: str) -> Kernel:

    def prepare(
        g: Form, x: Form, weight_shape: tuple[int, ...], options: Options
    ) -> ContractionPlan:
        result = dense_form(weight_shape, g.dtype)
        return _plan(device, name, result, [weight_gradient(g, x, result, options)])

    plans: Plans[ContractionPlan] = Plans(prepare)

    def run(
        g: Operand, x: Operand, _columns: None, weight_shape: tuple[int, ...],
        stride: Pair, padding: Pair, dilation: Pair, groups: int,
    ) -> Operand:  # fmt: skip
        key = (g.form, x.form, weight_shape, (stride, padding, dilation, groups))
        found = plans[key]
        return compute(device, found, g, x)

    return run


_KERNELS: dict[str, Callable[[Engine, str], Kernel]] = {
    "conv2d": _conv2d,
    "conv2d_input_gradient": _input_gradient,
    "conv2d_weight_gradient": _weight_gradient,
}


def _plan(
    device: Engine,
    name: str,
    result: Form,
    works: list[Contraction],
    bias: BiasLayout = NO_BIAS,
) -> ContractionPlan:
    device.module(name, result.dtype)
    operand = format_of(result.dtype)
    assert operand is not None  # noqa: S101 - `module` refuses what has no format
    return plan_contractions(device, name, result, operand, works, bias)


def correlation(
    x: Form, weight: Form, result: Form, bias_step: int, options: Options
) -> Contraction:
    """Return `conv2d`: rows are output channels, columns positions in all images."""
    stride, padding, dilation, groups = options
    outputs, channels = weight.shape[0] // groups, weight.shape[1]
    to, from_, by = result.strides, x.strides, weight.strides
    batch = Axis(
        groups, left=outputs * by[0], right=channels * from_[1], result=outputs * to[1],
        bias=outputs * bias_step,
    )  # fmt: skip
    row = Axis(outputs, left=by[0], result=to[1], bias=bias_step)
    columns = [
        Axis(x.shape[0], right=from_[0], result=to[0]),
        Axis(result.shape[2], right=stride[0] * from_[2], result=to[2], y=stride[0]),
        Axis(result.shape[3], right=stride[1] * from_[3], result=to[3], x=stride[1]),
    ]
    inner = [
        Axis(channels, left=by[1], right=from_[1]),
        Axis(weight.shape[2], left=by[2], right=dilation[0] * from_[2], y=dilation[0]),
        Axis(weight.shape[3], left=by[3], right=dilation[1] * from_[3], x=dilation[1]),
    ]
    window = Window(x.shape[2], x.shape[3], -padding[0], -padding[1])
    start = -padding[0] * from_[2] - padding[1] * from_[3]
    return contraction([batch], [row], columns, inner, window, right_start=start)


def weight_gradient(g: Form, x: Form, result: Form, options: Options) -> Contraction:
    """Return the gradient for the weight: a sum over all positions in all images."""
    stride, padding, dilation, groups = options
    outputs, channels = result.shape[0] // groups, result.shape[1]
    to, by, from_ = result.strides, g.strides, x.strides
    batch = Axis(groups, left=outputs * by[1], right=channels * from_[1], result=outputs * to[0])
    row = Axis(outputs, left=by[1], result=to[0])
    columns = [
        Axis(channels, right=from_[1], result=to[1]),
        Axis(result.shape[2], right=dilation[0] * from_[2], result=to[2], y=dilation[0]),
        Axis(result.shape[3], right=dilation[1] * from_[3], result=to[3], x=dilation[1]),
    ]
    inner = [
        Axis(g.shape[0], left=by[0], right=from_[0]),
        Axis(g.shape[2], left=by[2], right=stride[0] * from_[2], y=stride[0]),
        Axis(g.shape[3], left=by[3], right=stride[1] * from_[3], x=stride[1]),
    ]
    window = Window(x.shape[2], x.shape[3], -padding[0], -padding[1])
    start = -padding[0] * from_[2] - padding[1] * from_[3]
    return contraction([batch], [row], columns, inner, window, right_start=start)
