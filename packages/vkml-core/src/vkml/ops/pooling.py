"""2-D pooling: the largest value or the average of each window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vkml.backends.cpu_kernels import pooling as kernels
from vkml.errors import ArgumentError, DTypeError, ShapeError
from vkml.ops import rules
from vkml.ops.apply import apply, apply_all
from vkml.ops.convolution import Pair, pair_of
from vkml.ops.definition import (
    THROUGH_DECOMPOSITION,
    Operation,
    Ops,
    Sample,
    Spec,
    Value,
    array,
    define,
    no_samples,
)
from vkml.ops.reduction import mean
from vkml.shapes import Shape
from vkml.tensor import Tensor

__all__ = ["adaptive_avg_pool2d", "avg_pool2d", "max_pool2d"]


def _pooled(
    x: Spec, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair, ceil_mode: bool
) -> Shape:
    """Return the shape of the result, or raise where no window fits."""
    if x.dtype.kind in "bc":
        raise DTypeError(f"expected real numbers, got {x.dtype}; convert with x.to(vkml.float32).")
    if len(x.shape) not in (3, 4):
        raise ShapeError(f"expected images (N, C, H, W) or one image (C, H, W), got {x.shape}.")
    if any(2 * padding[axis] > kernel[axis] for axis in (0, 1)):
        message = f"padding {padding} is more than half of the kernel {kernel}; use less."
        raise ShapeError(message)
    size = x.shape[-2], x.shape[-1]
    windows = kernels.pooled_size(size, kernel, stride, padding, dilation, ceil_mode)
    if min(windows) < 1:
        message = (
            f"a window {kernel} with dilation {dilation} does not fit into planes of {size} with "
            f"padding {padding}; use a smaller window."
        )
        raise ShapeError(message)
    return (*x.shape[:-2], *windows)


# max_pool2d --------------------------------------------------------------------------


def _max_pool2d_samples(generator: np.random.Generator) -> list[Sample]:
    one = (1, 1)
    return [
        Sample((array(generator, 2, 3, 6, 8),), ((2, 2), (2, 2), (0, 0), one, False, False)),
        Sample((array(generator, 1, 2, 7, 5),), ((3, 2), (2, 1), (1, 1), one, True, False)),
        Sample((array(generator, 3, 9, 8),), ((2, 3), (1, 2), (0, 0), (3, 2), False, False)),
        Sample((array(generator, 0, 2, 4, 4),), ((2, 2), (2, 2), (0, 0), one, False, False)),
    ]


def _max_pool2d_gradient(
    k: Ops, upstream: Value, outputs: tuple[Value, Value | None], x: Value, *options: Any
) -> tuple[Value]:
    return (k.max_pool2d_backward(upstream, x, *outputs, *options[:-1]),)


def _max_pool2d_rule(
    x: Spec,
    kernel: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    ceil_mode: bool,
    return_indices: bool,
) -> tuple[Spec, Spec | None]:
    shape = _pooled(x, kernel, stride, padding, dilation, ceil_mode)
    return Spec(shape, x.dtype), Spec(shape, rules.INT64) if return_indices else None


MAX_POOL2D = define(
    Operation(
        name="max_pool2d", result=_max_pool2d_rule, cpu=kernels.max_pool2d, auxiliaries=1,
        gradient=_max_pool2d_gradient, samples=_max_pool2d_samples,
    )
)  # fmt: skip


def max_pool2d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # Any: one tensor or two, by an argument
    """Return the largest value of each window of an image; NaN where the window holds one.

    Parameters
    ----------
    input : Tensor
        Images (N, C, H, W), or one image (C, H, W).
    kernel_size : int or pair of int
        The size of a window.
    stride : int or pair of int, optional
        The steps between windows; by default `kernel_size`, so that windows do not overlap.
    padding : int or pair of int
        How far windows reach over the edge, at most half a window. Nothing there is ever largest.
    dilation : int or pair of int
        The steps between the values in a window.
    ceil_mode : bool
        Count also a last window that does not fit entirely.
    return_indices : bool
        Return also where each largest value lies, as ``h * W + w``.

    Returns
    -------
    Tensor or tuple of Tensor
        The maxima, and the int64 indices where they are asked for.

    Raises
    ------
    ShapeError
        No window fits, or the padding is more than half of one.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([[[1.0, 2.0], [4.0, 3.0]]])
    >>> vkml.max_pool2d(x, 2)
    tensor([[[4.]]])
    """
    options = (
        *_window("max_pool2d", kernel_size, stride, padding),
        pair_of("max_pool2d", "dilation", dilation, 1),
        ceil_mode,
        return_indices,
    )
    results = apply_all(MAX_POOL2D, (input,), options)
    return results if return_indices else results[0]


def _window(name: str, kernel_size: Any, stride: Any, padding: Any) -> tuple[Pair, Pair, Pair]:
    kernel = pair_of(name, "kernel_size", kernel_size, 1)
    unset = stride is None or stride == ()
    steps = kernel if unset else pair_of(name, "stride", stride, 1)
    return kernel, steps, pair_of(name, "padding", padding, 0)


# max_pool2d_backward -----------------------------------------------------------------


def _max_pool2d_backward(
    k: Ops, g: Value, x: Value, _y: Value, indices: Value | None, *options: Any
) -> Value:
    """Add each gradient at the place of its maximum."""
    if indices is None:
        indices = k.max_pool2d(x, *options, True)[1]
    planes, windows = _flat(x.shape), _flat(g.shape)
    places = k.reshape(indices, windows)
    dx = k.scatter_add_zeros(k.reshape(g, windows), places, planes, len(planes) - 1)
    return k.reshape(dx, x.shape)


def _flat(shape: Shape) -> Shape:
    return (*shape[:-2], shape[-2] * shape[-1])


MAX_POOL2D_BACKWARD = define(
    Operation(
        name="max_pool2d_backward", operands=4, cpu=kernels.max_pool2d_backward,
        result=lambda g, x, *_rest: Spec(x.shape, g.dtype), decomposition=_max_pool2d_backward,
        gradient=THROUGH_DECOMPOSITION, samples=no_samples,
    )
)  # fmt: skip


# avg_pool2d --------------------------------------------------------------------------


def _avg_pool2d_samples(generator: np.random.Generator) -> list[Sample]:
    return [
        Sample((array(generator, 2, 3, 6, 8),), ((2, 2), (2, 2), (0, 0), False, True)),
        Sample((array(generator, 1, 2, 7, 5),), ((3, 2), (2, 1), (1, 1), True, False)),
        Sample((array(generator, 3, 7, 8),), ((3, 3), (2, 3), (1, 1), True, True)),
        Sample((array(generator, 0, 2, 4, 4),), ((2, 2), (2, 2), (0, 0), False, True)),
    ]


def _avg_pool2d_gradient(
    k: Ops, upstream: Value, _output: Value, x_spec: Spec, *options: Any
) -> tuple[Value]:
    return (k.avg_pool2d_backward(upstream, x_spec.shape, *options),)


def _avg_pool2d_rule(
    x: Spec, kernel: Pair, stride: Pair, padding: Pair, ceil_mode: bool, _count_include_pad: bool
) -> Spec:
    rules.require_floating(x)
    return Spec(_pooled(x, kernel, stride, padding, (1, 1), ceil_mode), x.dtype)


AVG_POOL2D = define(
    Operation(
        name="avg_pool2d", result=_avg_pool2d_rule, cpu=kernels.avg_pool2d,
        gradient=_avg_pool2d_gradient, samples=_avg_pool2d_samples,
    )
)  # fmt: skip


def avg_pool2d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the average of each window of an image.

    Parameters
    ----------
    input : Tensor
        Images (N, C, H, W), or one image (C, H, W), of floating-point numbers.
    kernel_size, stride, padding, ceil_mode
        As for `max_pool2d`; the padding is zeros.
    count_include_pad : bool
        Whether the zeros of the padding count in the average.

    Raises
    ------
    ShapeError
        No window fits, or the padding is more than half of one.
    DTypeError
        The elements are integers; convert them first.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([[[1.0, 2.0], [4.0, 3.0]]])
    >>> vkml.avg_pool2d(x, 2)
    tensor([[[2.5000]]])
    """
    window = _window("avg_pool2d", kernel_size, stride, padding)
    return apply(AVG_POOL2D, (input,), (*window, ceil_mode, count_include_pad))


# avg_pool2d_backward -----------------------------------------------------------------


def _avg_pool2d_backward_gradient(
    k: Ops, upstream: Value, _output: Value, _g: Value, _input_shape: Shape, *options: Any
) -> tuple[Value]:
    return (k.avg_pool2d(upstream, *options),)


AVG_POOL2D_BACKWARD = define(
    Operation(
        name="avg_pool2d_backward", cpu=kernels.avg_pool2d_backward,
        result=lambda g, input_shape, *_options: Spec(input_shape, g.dtype),
        gradient=_avg_pool2d_backward_gradient, samples=no_samples,
    )
)  # fmt: skip


# adaptive_avg_pool2d -----------------------------------------------------------------


def adaptive_avg_pool2d(
    input: Tensor,
    output_size: int | Sequence[int | None],
) -> Tensor:
    """Return averages of equal windows that cut each image into `output_size` parts.

    Parameters
    ----------
    input : Tensor
        Images (N, C, H, W), or one image (C, H, W), of floating-point numbers.
    output_size : int or pair of int or None
        How many windows along each axis; None keeps the size. It must divide the image's size.

    Raises
    ------
    ArgumentError
        The size of the image is no multiple of `output_size`.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([[[1.0, 2.0], [4.0, 3.0]]])
    >>> vkml.adaptive_avg_pool2d(x, (1, 2))
    tensor([[[2.5000, 2.5000]]])
    """
    size = input.shape[-2:]
    wanted = (output_size,) * 2 if isinstance(output_size, int) else tuple(output_size)
    if len(size) != 2 or len(wanted) != 2:
        message = (
            f"adaptive_avg_pool2d: expected images and one or two sizes, got {input.shape} and "
            f"{output_size}."
        )
        raise ShapeError(message)
    counts = [have if want is None else want for have, want in zip(size, wanted, strict=True)]
    if any(want < 1 or have % want for have, want in zip(size, counts, strict=True)):
        message = (
            f"adaptive_avg_pool2d: {tuple(counts)} windows do not divide planes of {size} into "
            "equal parts; use avg_pool2d, or resize the image to a multiple."
        )
        raise ArgumentError(message)
    if counts == [1, 1]:
        return mean(input, (-2, -1), keepdim=True)
    return avg_pool2d(input, (size[0] // counts[0], size[1] // counts[1]))
