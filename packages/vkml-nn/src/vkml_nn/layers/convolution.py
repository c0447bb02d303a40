"""Convolutions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias

import vkml
from vkml import ArgumentError, DType, Parameter, Tensor
from vkml.device import DeviceLike
from vkml_nn import functional, init
from vkml_nn.layers.sizes import repeated
from vkml_nn.module import Module

Size: TypeAlias = int | Sequence[int]


class _Convolution(Module):
    """What convolutions over one or two axes share; see `Conv2d`."""

    weight: Parameter
    bias: Parameter | None
    _axes: ClassVar[int]
    _function: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size | str = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        name, axes = type(self).__name__, self._axes
        if groups < 1 or in_channels % groups or out_channels % groups:
            message = (
                f"{name}: {in_channels} channels in and {out_channels} out do not divide into "
                f"{groups} groups."
            )
            raise ArgumentError(message)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = repeated(name, "kernel_size", kernel_size, axes)
        self.stride = repeated(name, "stride", stride, axes)
        self.padding = (
            padding if isinstance(padding, str) else repeated(name, "padding", padding, axes)
        )
        self.dilation = repeated(name, "dilation", dilation, axes)
        self.groups = groups
        self.padding_mode = padding_mode
        self._check_padding(name)
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = Parameter(vkml.empty(shape, device=device, dtype=dtype))
        made = Parameter(vkml.empty(out_channels, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", made)
        self.reset_parameters()

    def _check_padding(self, name: str) -> None:
        if self.padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            message = (
                f"{name}: padding_mode is {self.padding_mode!r}; choose 'zeros', 'reflect', "
                "'replicate' or 'circular'."
            )
            raise ArgumentError(message)
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                message = f"{name}: padding is {self.padding!r}; give numbers, 'same' or 'valid'."
                raise ArgumentError(message)
            if self.padding == "same" and any(stride != 1 for stride in self.stride):
                message = f"{name}: padding='same' needs a stride of 1, not {self.stride}."
                raise ArgumentError(message)

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init.fans("bias", self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in else 0.0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Return the convolved input, with or without a batch axis."""
        function = type(self)._function
        if self.padding_mode == "zeros":
            return function(
                input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
            )
        padded = functional.pad(input, self._borders(), mode=self.padding_mode)
        return function(padded, self.weight, self.bias, self.stride, 0, self.dilation, self.groups)

    def _borders(self) -> tuple[int, ...]:
        """Return what is added before and after each axis, last axis first."""
        if self.padding == "valid":
            return (0,) * (2 * self._axes)
        if isinstance(self.padding, str):
            totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            pairs = [(total // 2, total - total // 2) for total in totals]
        else:
            pairs = [(each, each) for each in self.padding]
        return tuple(each for pair in reversed(pairs) for each in pair)

    def extra_repr(self) -> str:
        """Return the sizes, and what differs from the defaults."""
        none = (0,) * self._axes
        parts = [
            f"{self.in_channels}, {self.out_channels}",
            f"kernel_size={self.kernel_size}, stride={self.stride}",
        ]
        parts += [f"padding={self.padding}"] * (self.padding != none)
        parts += [f"dilation={self.dilation}"] * (self.dilation != (1,) * self._axes)
        parts += [f"groups={self.groups}"] * (self.groups != 1)
        parts += ["bias=False"] * (self.bias is None)
        parts += [f"padding_mode={self.padding_mode}"] * (self.padding_mode != "zeros")
        return ", ".join(parts)


class Conv1d(_Convolution):
    """A convolution of (batch, channels, length). Parameters as for `Conv2d`.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.Conv1d(3, 8, kernel_size=5, padding=2)(vkml.zeros(2, 3, 10)).shape
    (2, 8, 10)
    """

    _axes = 1
    _function = staticmethod(vkml.conv1d)


class Conv2d(_Convolution):
    """A convolution of (batch, channels, height, width).

    Parameters
    ----------
    in_channels, out_channels : int
        Numbers of channels before and after.
    kernel_size : int or sequence of int
        The window.
    stride, dilation : int or sequence of int
        Steps between windows, and within one.
    padding : int, sequence of int, "same" or "valid"
        What is added on both sides; ``"same"`` keeps the size.
    groups : int
        The channels are divided into so many parts that do not see each other.
    bias : bool
        Whether a bias is added.
    padding_mode : {"zeros", "reflect", "replicate", "circular"}
        What the padding consists of.
    device, dtype
        Of the parameters.

    Attributes
    ----------
    weight : Parameter
        Shape (out_channels, in_channels / groups, *kernel_size), even in ±1/√(fan in) at first.
    bias : Parameter or None
        Shape (out_channels,), from the same interval.

    Raises
    ------
    ArgumentError
        `groups` does not divide the channels, or an argument has another value than these.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.Conv2d(3, 8, kernel_size=3, padding="same")(vkml.zeros(2, 3, 10, 10)).shape
    (2, 8, 10, 10)
    """

    _axes = 2
    _function = staticmethod(vkml.conv2d)
