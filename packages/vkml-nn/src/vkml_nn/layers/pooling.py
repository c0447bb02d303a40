"""Pooling over windows of an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import vkml
from vkml import Tensor
from vkml_nn.module import Module

Size: TypeAlias = int | Sequence[int]


class MaxPool2d(Module):
    """The largest value in each window of (batch, channels, height, width).

    Parameters
    ----------
    kernel_size : int or sequence of int
        The window.
    stride : int or sequence of int, optional
        Steps between windows; `kernel_size` by default.
    padding : int or sequence of int
        How far windows reach over the border.
    dilation : int or sequence of int
        Steps within a window.
    return_indices : bool
        Return also where the values were found.
    ceil_mode : bool
        Whether a last window that is not full counts.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.MaxPool2d(2)(vkml.zeros(1, 3, 8, 8)).shape
    (1, 3, 4, 4)
    """

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        dilation: Size = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        """Return the largest values, and where they were if `return_indices`."""
        return vkml.max_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.dilation,
            self.ceil_mode, self.return_indices,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the window."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class AvgPool2d(Module):
    """The mean of each window of (batch, channels, height, width).

    Parameters
    ----------
    kernel_size, stride, padding, ceil_mode
        As for `MaxPool2d`.
    count_include_pad : bool
        Whether the zeros of the padding count in the mean.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.AvgPool2d(2)(vkml.ones(1, 1, 4, 4)).shape
    (1, 1, 2, 2)
    """

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return vkml.avg_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AdaptiveAvgPool2d(Module):
    """The means of as many windows as it takes to get a given size.

    Parameters
    ----------
    output_size : int or sequence of int or None
        The size of the result; None keeps that of an axis.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.AdaptiveAvgPool2d(1)(vkml.ones(1, 3, 7, 5)).shape
    (1, 3, 1, 1)
    """

    def __init__(self, output_size: int | Sequence[int | None]) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return vkml.adaptive_avg_pool2d(input, self.output_size)

    def extra_repr(self) -> str:
        """Return the size."""
        return f"output_size={self.output_size}"
