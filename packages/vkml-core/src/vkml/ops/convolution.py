"""Convolution in one and two dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from vkml.backends.cpu_kernels import convolution as kernels
from vkml.errors import ArgumentError, DTypeError, ShapeError
from vkml.ops import rules
from vkml.ops.apply import apply
from vkml.ops.definition import Operation, Ops, Sample, Spec, Value, array, define, no_samples
from vkml.shapes import Shape, as_shape
from vkml.tensor import Tensor

__all__ = ["conv1d", "conv2d"]

Pair: TypeAlias = tuple[int, int]


def pair_of(function: str, name: str, value: int | Sequence[int], least: int) -> Pair:
    """Return an option given as one integer, or as one for each axis, as two integers."""
    try:
        sizes = as_shape((value,))
    except ShapeError:
        sizes = ()
    if len(sizes) == 1:
        sizes = (sizes[0], sizes[0])
    if len(sizes) != 2 or any(size < least for size in sizes):
        message = f"{function}: {name} is {value}; give one integer or two, each {least} or more."
        raise ArgumentError(message)
    return sizes[0], sizes[1]


def _samples(generator: np.random.Generator) -> list[Sample]:
    def make(x: Shape, weight: Shape, *options: Any, bias: bool = True) -> Sample:
        added = array(generator, weight[0]) if bias else None
        return Sample((array(generator, *x), array(generator, *weight), added), options)

    return [
        make((2, 3, 7, 5), (4, 3, 3, 2), (1, 1), (0, 0), (1, 1), 1),
        make((2, 4, 8, 7), (6, 2, 3, 3), (2, 1), (1, 2), (1, 2), 2, bias=False),
        make((1, 3, 5, 5), (3, 1, 3, 3), (1, 1), (1, 1), (1, 1), 3),
        make((3, 2, 4, 4), (5, 2, 1, 1), (1, 1), (0, 0), (1, 1), 1),
        make((2, 16, 6, 6), (3, 16, 3, 3), (2, 2), (1, 1), (1, 1), 1),
        make((0, 2, 4, 4), (3, 2, 3, 3), (1, 1), (0, 0), (1, 1), 1),
    ]


# conv2d ------------------------------------------------------------------------------


def _conv2d_gradient(
    k: Ops,
    upstream: Value,
    auxiliary: tuple[Value | None],
    x: Value,
    weight: Value,
    _bias: Value,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
    needs: tuple[bool, ...],
) -> tuple[Value | None, ...]:
    options = (stride, padding, dilation, groups)
    dx = dweight = None
    if needs[0]:
        dx = k.conv2d_input_gradient(upstream, weight, x.shape, *options)
    if needs[1]:
        dweight = k.conv2d_weight_gradient(upstream, x, auxiliary[0], weight.shape, *options)
    return dx, dweight, k.sum(upstream, (0, 2, 3), False) if needs[2] else None


def _conv2d_rule(
    x: Spec,
    weight: Spec,
    bias: Spec | None,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
) -> tuple[Spec, None]:
    rules.require_floating(x)
    if x.dtype.kind == "c":
        raise DTypeError(f"expected real numbers, got {x.dtype}.")
    rules.require_same_dtype(input=x, weight=weight, bias=bias)
    if len(x.shape) != 4 or len(weight.shape) != 4:
        message = (
            f"expected an input (N, C, H, W) and a weight (O, C / groups, kH, kW), got {x.shape} "
            f"and {weight.shape}."
        )
        raise ShapeError(message)
    channels, outputs = x.shape[1], weight.shape[0]
    if groups < 1 or channels % groups or outputs % groups:
        message = (
            f"conv2d: {groups} groups do not divide {channels} input and {outputs} output channels."
        )
        raise ArgumentError(message)
    if weight.shape[1] * groups != channels:
        message = (
            f"a weight {weight.shape} with {groups} groups takes {weight.shape[1] * groups} "
            f"channels, the input {x.shape} has {channels}."
        )
        raise ShapeError(message)
    if bias is not None and bias.shape != (outputs,):
        raise ShapeError(f"expected a bias of shape ({outputs},), got {bias.shape}.")
    size = tuple(
        (x.shape[axis + 2] + 2 * padding[axis] - dilation[axis] * (weight.shape[axis + 2] - 1) - 1)
        // stride[axis]
        + 1
        for axis in (0, 1)
    )
    if min(size) < 1 or 0 in weight.shape[2:]:
        message = (
            f"a kernel {weight.shape[2:]} with dilation {dilation} does not fit into planes of "
            f"{x.shape[2:]} with padding {padding}; use a smaller kernel or more padding."
        )
        raise ShapeError(message)
    return Spec((x.shape[0], outputs, *size), x.dtype), None


CONV2D = define(
    Operation(
        name="conv2d", operands=3, result=_conv2d_rule, cpu=kernels.conv2d,
        gradient=_conv2d_gradient, samples=_samples, auxiliaries=1, tolerance=1e-4,
    )
)  # fmt: skip


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """Return the 2-D convolution of images with filters (as everywhere: a correlation).

    Parameters
    ----------
    input : Tensor
        Images (N, C, H, W), or one image (C, H, W).
    weight : Tensor
        Filters (O, C / groups, kH, kW).
    bias : Tensor, optional
        One number for each output channel, (O,).
    stride, dilation : int or pair of int
        The steps between windows, and between the values in a window.
    padding : int, pair of int, "same" or "valid"
        Zeros on each side. "same" keeps the size of the image (stride 1 only); "valid" is 0.
    groups : int
        Into how many groups the channels are split; each is convolved alone.

    Returns
    -------
    Tensor
        (N, O, Ho, Wo) with ``Ho = (H + 2 * padding - dilation * (kH - 1) - 1) // stride + 1``.

    Raises
    ------
    ShapeError
        The channels do not fit, or the kernel is larger than the image.
    ArgumentError
        An option is out of range, or `groups` does not divide the channels.

    Examples
    --------
    >>> import vkml
    >>> image = vkml.ones(1, 1, 3, 3)
    >>> vkml.conv2d(image, vkml.ones(1, 1, 2, 2))
    tensor([[[[4., 4.],
              [4., 4.]]]])
    """
    if input.ndim == 3:
        image = input.reshape(1, *input.shape)
        batch = conv2d(image, weight, bias, stride, padding, dilation, groups)
        return batch.reshape(batch.shape[1:])
    steps = pair_of("conv2d", "stride", stride, 1)
    spread = pair_of("conv2d", "dilation", dilation, 1)
    if padding == "same":
        return _same_size(input, weight, bias, steps, spread, groups)
    if isinstance(padding, str):
        if padding != "valid":
            message = f"conv2d: padding is {padding!r}; give integers, 'same' or 'valid'."
            raise ArgumentError(message)
        padding = 0
    margin = pair_of("conv2d", "padding", padding, 0)
    return apply(CONV2D, (input, weight, bias), (steps, margin, spread, groups))


def _same_size(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Pair, dilation: Pair, groups: int
) -> Tensor:
    """Pad so that the result has the size of `x`; an odd zero goes to the end, as in PyTorch."""
    if stride != (1, 1):
        raise ArgumentError(f"conv2d: padding='same' needs stride 1, got {stride}.")
    total = [d * (size - 1) for d, size in zip(dilation, weight.shape[-2:], strict=True)]
    margin = (total[0] + 1) // 2, (total[1] + 1) // 2
    y = apply(CONV2D, (x, weight, bias), (stride, margin, dilation, groups))
    if total[0] % 2 or total[1] % 2:  # the zero too many at the start made the first result
        y = y[:, :, total[0] % 2 :, total[1] % 2 :]
    return y


# conv2d_input_gradient ---------------------------------------------------------------


def _input_gradient_gradient(
    k: Ops,
    upstream: Value,
    _output: Value,
    g: Value,
    weight: Value,
    _input_shape: Shape,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
    needs: tuple[bool, ...],
) -> tuple[Value | None, ...]:
    options = (stride, padding, dilation, groups)
    dg = dweight = None
    if needs[0]:
        dg = k.conv2d(upstream, weight, None, *options)[0]
    if needs[1]:
        dweight = k.conv2d_weight_gradient(g, upstream, None, weight.shape, *options)
    return dg, dweight


CONV2D_INPUT_GRADIENT = define(
    Operation(
        name="conv2d_input_gradient", operands=2, cpu=kernels.conv2d_input_gradient,
        result=lambda g, _weight, input_shape, *_options: Spec(input_shape, g.dtype),
        gradient=_input_gradient_gradient, samples=no_samples, tolerance=1e-4,
    )
)  # fmt: skip


# conv2d_weight_gradient --------------------------------------------------------------


def _weight_gradient_gradient(
    k: Ops,
    upstream: Value,
    _output: Value,
    g: Value,
    x: Value,
    _columns: Value,
    _weight_shape: Shape,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
    needs: tuple[bool, ...],
) -> tuple[Value | None, ...]:
    options = (stride, padding, dilation, groups)
    dg = dx = None
    if needs[0]:
        dg = k.conv2d(x, upstream, None, *options)[0]
    if needs[1]:
        dx = k.conv2d_input_gradient(g, upstream, x.shape, *options)
    return dg, dx, None


CONV2D_WEIGHT_GRADIENT = define(
    Operation(
        name="conv2d_weight_gradient", operands=3, cpu=kernels.conv2d_weight_gradient,
        result=lambda g, _x, _columns, weight_shape, *_options: Spec(weight_shape, g.dtype),
        gradient=_weight_gradient_gradient, samples=no_samples, tolerance=1e-4,
    )
)  # fmt: skip


# conv1d ------------------------------------------------------------------------------


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """Return the 1-D convolution of sequences with filters: `conv2d` on planes of height 1.

    Parameters
    ----------
    input : Tensor
        Sequences (N, C, L), or one sequence (C, L).
    weight : Tensor
        Filters (O, C / groups, k).
    bias, stride, padding, dilation, groups
        As for `conv2d`.

    Raises
    ------
    ShapeError
        The channels do not fit, or the kernel is longer than the sequence.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([[[1.0, 2.0, 3.0]]])
    >>> vkml.conv1d(x, vkml.ones(1, 1, 2))
    tensor([[[3., 5.]]])
    """
    if input.ndim not in (2, 3) or weight.ndim != 3:
        message = (
            "conv1d: expected an input (N, C, L) or (C, L) and a weight (O, C / groups, k), got "
            f"{input.shape} and {weight.shape}."
        )
        raise ShapeError(message)
    planes = input.reshape(*input.shape[:-1], 1, input.shape[-1])
    filters = weight.reshape(*weight.shape[:-1], 1, weight.shape[-1])
    margin = padding if isinstance(padding, str) else (0, _single("padding", padding))
    steps, spread = (1, _single("stride", stride)), (1, _single("dilation", dilation))
    y = conv2d(planes, filters, bias, steps, margin, spread, groups)
    return y.reshape(*y.shape[:-2], y.shape[-1])


def _single(name: str, value: int | Sequence[int]) -> int:
    if isinstance(value, int):
        return value
    if len(value) != 1:
        raise ArgumentError(f"conv1d: {name} is {value}; give one integer.")
    return value[0]
