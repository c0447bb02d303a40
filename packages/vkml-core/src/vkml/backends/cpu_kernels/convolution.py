"""2-D convolution and its gradients as matrix products on copies of the input, by shape.

A 1×1 kernel needs no copy. A window with few values (`FEW_VALUES`) is one product on columns.
Everything else is a product for each kernel row on *rows* (see `convolution_columns`), and one
filter for each channel (depthwise) is no matrix product at all. Images are taken in groups whose
buffer fits the cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.backends.cpu_kernels.convolution_columns import (
    Geometry,
    Pair,
    add_columns,
    as_matrices,
    empty_columns,
    empty_rows,
    fill_columns,
    fill_rows,
    output_size,
)
from vkml.backends.cpu_kernels.depthwise import (
    depthwise,
    depthwise_weight_gradient,
    is_depthwise,
)
from vkml.backends.cpu_kernels.half import through_float32

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# A product over fewer values than this (kernel width × channels) is bound by reading its operands,
# so one product over all taps beats one for each kernel row.
FEW_VALUES = 32

# Elements of a buffer for a group of images: 2 MiB of float32. Small planes then share a NumPy call
# with many others; a wide layer fills it with one or two images, and stays in cache.
GROUP_SIZE = 512 * 1024


@through_float32()
def conv2d(
    x: NDArray[Any],
    weight: NDArray[Any],
    bias: NDArray[Any] | None,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return the convolution (N, O, Ho, Wo) and the columns, if they are kept for the gradient.

    Columns are kept when they are no larger than the result: then the layer holds at most twice
    what it would without them.
    """
    kernel = weight.shape[2], weight.shape[3]
    size = x.shape[2], x.shape[3]
    output = output_size(size, kernel, stride, padding, dilation)
    geometry = Geometry(size, kernel, stride, padding, dilation, output)
    y, columns = _correlate(x, weight, bias, geometry, groups)
    return y, columns


def _correlate(
    x: NDArray[Any],
    weight: NDArray[Any],
    bias: NDArray[Any] | None,
    geometry: Geometry,
    groups: int,
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    samples, outputs = x.shape[0], weight.shape[0]
    y = np.empty((samples, outputs, *geometry.output), x.dtype)
    columns = None
    if is_depthwise(weight, groups):
        depthwise(y, x, weight, geometry)
    elif y.size:
        grouped_y = y.reshape(samples, groups, outputs // groups, geometry.positions)
        grouped_x = _grouped(x, groups)
        if _is_pointwise(geometry):
            filters = weight.reshape(groups, outputs // groups, -1)
            np.matmul(filters, _points(grouped_x, geometry), out=grouped_y)
        elif _has_few_values(grouped_x, geometry):
            columns = _correlate_columns(grouped_y, grouped_x, weight, geometry)
        else:
            _correlate_rows(grouped_y, grouped_x, weight, geometry)
    if bias is not None:
        y += bias[:, None, None]
    return y, columns


def _grouped(x: NDArray[Any], groups: int) -> NDArray[Any]:
    """Return (N, C, ...) as (N, groups, C / groups, ...)."""
    return x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])


def _is_pointwise(geometry: Geometry) -> bool:
    return geometry.kernel == (1, 1) and geometry.padding == (0, 0)


def _has_few_values(x: NDArray[Any], geometry: Geometry) -> bool:
    values: int = geometry.kernel[1] * x.shape[2]
    return values < FEW_VALUES


def _points(x: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    """Return the inputs that a 1×1 kernel reads, as (N, groups, C, outputs)."""
    points = x[..., :: geometry.stride[0], :: geometry.stride[1]]
    return points.reshape(*points.shape[:3], geometry.positions)


def _image_groups(samples: int, image_size: int) -> Iterator[slice]:
    step = max(1, GROUP_SIZE // max(1, image_size))
    for start in range(0, samples, step):
        yield slice(start, min(start + step, samples))


def _column_filters(weight: NDArray[Any], groups: int) -> NDArray[Any]:
    """Return the weight as (groups, O, kh * kw * C), in the order of columns."""
    outputs, channels, high, wide = weight.shape
    split = weight.reshape(groups, outputs // groups, channels, high, wide)
    return split.transpose(0, 1, 3, 4, 2).reshape(groups, outputs // groups, -1)


def _row_filters(weight: NDArray[Any], groups: int) -> NDArray[Any]:
    """Return the weight as (kh, groups, O, kw * C), in the order of rows."""
    outputs, channels, high, wide = weight.shape
    split = weight.reshape(groups, outputs // groups, channels, high, wide)
    return split.transpose(3, 0, 1, 4, 2).reshape(high, groups, outputs // groups, -1)


def _correlate_columns(
    y: NDArray[Any], x: NDArray[Any], weight: NDArray[Any], geometry: Geometry
) -> NDArray[Any] | None:
    samples, groups, channels = x.shape[:3]
    values = channels * geometry.kernel[0] * geometry.kernel[1]
    filters = _column_filters(weight, groups)
    keep = values <= y.shape[2]
    images = list(_image_groups(samples, groups * values * geometry.positions))
    held = samples if keep else images[0].stop
    columns = empty_columns(held, groups, channels, geometry, x.dtype)
    for group in images:
        part = columns[group] if keep else columns[: group.stop - group.start]
        np.matmul(filters, fill_columns(part, x[group], geometry), out=y[group])
    return columns if keep else None


def _correlate_rows(
    y: NDArray[Any], x: NDArray[Any], weight: NDArray[Any], geometry: Geometry
) -> None:
    filters = _row_filters(weight, x.shape[1])
    for group, rows in _filled_rows(x, geometry):
        result = y[group]
        product = np.empty(result.shape, y.dtype)
        for i in range(geometry.kernel[0]):
            phase, run = geometry.row_run(i)
            np.matmul(filters[i], rows[:, :, :, phase, run], out=product if i else result)
            if i:
                result += product


def _filled_rows(x: NDArray[Any], geometry: Geometry) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield groups of images, and their rows in a buffer that the next group overwrites."""
    samples, groups, channels = x.shape[:3]
    phase_size = geometry.phase_rows * geometry.output[1]
    image_size = groups * channels * geometry.kernel[1] * geometry.stride[0] * phase_size
    images = list(_image_groups(samples, image_size))
    buffer = empty_rows(images[0].stop, groups, channels, geometry, x.dtype)
    for group in images:
        yield group, fill_rows(buffer[: group.stop - group.start], x[group], geometry)


@through_float32()
def conv2d_input_gradient(
    g: NDArray[Any],
    weight: NDArray[Any],
    input_shape: tuple[int, ...],
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
) -> NDArray[Any]:
    """Return the gradient of `conv2d` for its input, of shape `input_shape`."""
    samples, channels, *size = input_shape
    outputs, group_channels, *kernel = weight.shape
    geometry = Geometry(
        (size[0], size[1]),
        (kernel[0], kernel[1]),
        stride,
        padding,
        dilation,
        (g.shape[2], g.shape[3]),
    )
    if g.size == 0 or 0 in input_shape:
        return np.zeros(input_shape, g.dtype)
    copies, additions = kernel[1] * outputs, kernel[0] * kernel[1] * channels
    if stride == (1, 1) and kernel != [1, 1] and copies <= additions:
        # The gradient is itself a convolution: with the filters turned round and transposed.
        # Where it would copy more planes of g than there are planes of columns, columns are added.
        split = weight.reshape(groups, outputs // groups, group_channels, *kernel)
        turned = split.swapaxes(1, 2)[..., ::-1, ::-1].reshape(channels, -1, *kernel)
        margins = [d * (k - 1) - p for d, k, p in zip(dilation, kernel, padding, strict=True)]
        transposed = Geometry(
            geometry.output,
            geometry.kernel,
            stride,
            (margins[0], margins[1]),
            dilation,
            geometry.size,
        )
        return _correlate(g, turned, None, transposed, groups)[0]
    grouped_g = _grouped(g, groups).reshape(samples, groups, outputs // groups, -1)
    filters = _column_filters(weight, groups).swapaxes(1, 2)
    if _is_pointwise(geometry) and stride == (1, 1):
        product: NDArray[Any] = np.matmul(filters, grouped_g)
        return product.reshape(input_shape)
    dx = np.zeros(input_shape, g.dtype)
    grouped_dx = _grouped(dx, groups)
    shape = (groups, *geometry.kernel, group_channels, *geometry.output)
    for group in _image_groups(samples, int(np.prod(shape))):
        columns = np.matmul(filters, grouped_g[group]).reshape(-1, *shape)
        add_columns(grouped_dx[group], columns, geometry)
    return dx


@through_float32()
def conv2d_weight_gradient(
    g: NDArray[Any],
    x: NDArray[Any],
    columns: NDArray[Any] | None,
    weight_shape: tuple[int, ...],
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
) -> NDArray[Any]:
    """Return the gradient of `conv2d` for its weight; `columns` as `conv2d` returned them."""
    outputs, channels, *kernel = weight_shape
    geometry = Geometry(
        (x.shape[2], x.shape[3]),
        (kernel[0], kernel[1]),
        stride,
        padding,
        dilation,
        (g.shape[2], g.shape[3]),
    )
    if g.size == 0 or 0 in weight_shape:
        return np.zeros(weight_shape, g.dtype)
    if outputs == groups and channels == 1:
        return depthwise_weight_gradient(g, x, geometry)
    filters = outputs // groups
    grouped_g = _grouped(g, groups).reshape(g.shape[0], groups, filters, geometry.positions)
    grouped_x = _grouped(x, groups)
    if _is_pointwise(geometry):
        products = _product_sum(grouped_g, _points(grouped_x, geometry))
        return products.swapaxes(1, 2).reshape(weight_shape)
    if columns is not None:
        total = _product_sum(grouped_g, as_matrices(columns))
    elif _has_few_values(grouped_x, geometry):
        total = _column_products(grouped_g, grouped_x, geometry)
    else:
        by_row = _row_products(grouped_g, grouped_x, geometry)
        split = by_row.reshape(kernel[0], groups, kernel[1], channels, filters)
        return split.transpose(1, 4, 3, 0, 2).reshape(weight_shape)
    split = total.reshape(groups, kernel[0], kernel[1], channels, filters)
    return split.transpose(0, 4, 3, 1, 2).reshape(weight_shape)


def _column_products(g: NDArray[Any], x: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    samples, groups, channels = x.shape[:3]
    values = channels * geometry.kernel[0] * geometry.kernel[1]
    images = list(_image_groups(samples, groups * values * geometry.positions))
    buffer = empty_columns(images[0].stop, groups, channels, geometry, x.dtype)
    total = np.zeros((groups, values, g.shape[2]), g.dtype)
    for group in images:
        part = fill_columns(buffer[: group.stop - group.start], x[group], geometry)
        total += _product_sum(g[group], part)
    return total


def _row_products(g: NDArray[Any], x: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    groups, channels = x.shape[1:3]
    high, wide = geometry.kernel
    total = np.zeros((high, groups, wide * channels, g.shape[2]), g.dtype)
    for group, rows in _filled_rows(x, geometry):
        for i in range(high):
            phase, run = geometry.row_run(i)
            total[i] += _product_sum(g[group], rows[:, :, :, phase, run])
    return total


def _product_sum(g: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """Return the sum over samples of x (N, G, K, L) times g (N, G, O, L) transposed.

    In this order: g times x transposed is up to a quarter slower.
    """
    samples, _, filters, positions = g.shape
    values = x.shape[2]
    if samples > 1 and filters * values > 2 * (filters + values) * positions:
        # Small planes of many channels: joining the samples costs less than adding their products.
        joined_g = g.transpose(1, 2, 0, 3).reshape(-1, filters, samples * positions)
        joined_x = x.transpose(1, 2, 0, 3).reshape(-1, values, samples * positions)
        joined: NDArray[Any] = np.matmul(joined_x, joined_g.swapaxes(1, 2))
        return joined
    products = np.matmul(x, g.swapaxes(2, 3))
    total: NDArray[Any] = products[0] if samples == 1 else products.sum(axis=0)
    return total
