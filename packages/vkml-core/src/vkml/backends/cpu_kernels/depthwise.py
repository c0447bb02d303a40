"""Depthwise convolution: one filter for each channel, as shifted multiplications in cache.

Each image is copied once to zero-padded flat planes, split by row and column phase (position
modulo stride). The operand of a tap is then a run of the plane, so a tap is one multiplication
and one addition over long contiguous rows. Each output row carries surplus columns, which are cut
at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.backends.cpu_kernels.convolution_columns import Geometry, clip

if TYPE_CHECKING:
    from numpy.typing import NDArray


def is_depthwise(weight: NDArray[Any], groups: int) -> bool:
    """Return whether each channel has one filter of its own."""
    return groups > 1 and weight.shape[0] == groups and weight.shape[1] == 1


class _Planes:
    """A padded, phase-split copy of one image at a time."""

    def __init__(self, channels: int, geometry: Geometry, dtype: np.dtype[Any]) -> None:
        self.geometry = geometry
        reach = [
            (geometry.kernel[axis] - 1) * geometry.dilation[axis] // geometry.stride[axis]
            for axis in (0, 1)
        ]
        self.high, self.wide = (geometry.output[axis] + reach[axis] for axis in (0, 1))
        self.run_size = geometry.output[0] * self.wide
        # The run of the last tap reads its surplus columns behind the plane.
        size = self.high * self.wide + reach[1]
        self.planes = np.zeros((*geometry.stride, channels, size), dtype)

    def load(self, image: NDArray[Any]) -> None:
        """Copy an image (C, H, W) to the planes."""
        geometry = self.geometry
        whole = self.planes[..., : self.high * self.wide]
        # Splitting the last axis is always a view.
        grids = whole.reshape(*self.planes.shape[:3], self.high, self.wide)
        for row_phase in range(geometry.stride[0]):
            rows, input_rows = clip(
                row_phase - geometry.padding[0], geometry.stride[0], self.high, geometry.size[0]
            )
            for phase in range(geometry.stride[1]):
                places, input_places = clip(
                    phase - geometry.padding[1], geometry.stride[1], self.wide, geometry.size[1]
                )
                source = image[:, input_rows, input_places]
                grids[row_phase, phase, :, rows, places] = source

    def tap(self, i: int, j: int) -> NDArray[Any]:
        """Return the operand (C, rows × padded columns) of one tap."""
        geometry = self.geometry
        down, row_phase = divmod(i * geometry.dilation[0], geometry.stride[0])
        right, phase = divmod(j * geometry.dilation[1], geometry.stride[1])
        start = down * self.wide + right
        return self.planes[row_phase, phase, :, start : start + self.run_size]


def depthwise(y: NDArray[Any], x: NDArray[Any], weight: NDArray[Any], geometry: Geometry) -> None:
    """Write to y (N, C, Ho, Wo) the convolution of x with one filter for each channel."""
    channels = x.shape[1]
    planes = _Planes(channels, geometry, x.dtype)
    total = np.empty((channels, planes.run_size), x.dtype)
    product = np.empty_like(total)
    for sample in range(x.shape[0]):
        planes.load(x[sample])
        for i in range(geometry.kernel[0]):
            for j in range(geometry.kernel[1]):
                factor = weight[:, 0, i, j, None]
                if i == j == 0:
                    np.multiply(planes.tap(i, j), factor, out=total)
                    continue
                np.multiply(planes.tap(i, j), factor, out=product)
                np.add(total, product, out=total)
        grid = total.reshape(channels, geometry.output[0], planes.wide)
        y[sample] = grid[:, :, : geometry.output[1]]


def depthwise_weight_gradient(g: NDArray[Any], x: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    """Return the gradient for the weight (C, 1, kh, kw)."""
    channels = x.shape[1]
    planes = _Planes(channels, geometry, x.dtype)
    # The surplus columns stay zero and add nothing.
    upstream = np.zeros((channels, geometry.output[0], planes.wide), g.dtype)
    flat = upstream.reshape(channels, planes.run_size)
    total = np.zeros((channels, 1, *geometry.kernel), g.dtype)
    for sample in range(x.shape[0]):
        planes.load(x[sample])
        upstream[:, :, : geometry.output[1]] = g[sample]
        for i in range(geometry.kernel[0]):
            for j in range(geometry.kernel[1]):
                total[:, 0, i, j] += np.vecdot(flat, planes.tap(i, j))
    return total
