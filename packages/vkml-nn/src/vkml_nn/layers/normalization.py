"""Layers that bring values to mean 0 and variance 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import vkml
from vkml import ArgumentError, DType, Parameter, ShapeError, Tensor
from vkml.device import DeviceLike
from vkml_nn import init
from vkml_nn.module import Module


class _BatchNorm(Module):
    """What batch normalisations share; see `BatchNorm2d`."""

    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None
    _ranks: ClassVar[tuple[int, ...]]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats

        def made() -> Tensor:
            return vkml.zeros(num_features, device=device, dtype=dtype)

        self.register_parameter("weight", Parameter(made()) if affine else None)
        self.register_parameter("bias", Parameter(made()) if affine and bias else None)
        self.register_buffer("running_mean", made() if track_running_stats else None)
        self.register_buffer("running_var", made() if track_running_stats else None)
        count = vkml.zeros((), dtype=vkml.int64, device=device) if track_running_stats else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the running statistics."""
        for tensor, value in (
            (self.running_mean, 0), (self.running_var, 1), (self.num_batches_tracked, 0),
        ):  # fmt: skip
            if tensor is not None:
                tensor.fill_(value)

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0, and forget the running statistics."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalised input; in training, take note of its mean and variance."""
        if input.ndim not in self._ranks:
            ranks = " or ".join(map(str, self._ranks))
            message = f"{type(self).__name__}: expected {ranks} axes, got shape {input.shape}."
            raise ShapeError(message)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / self.num_batches_tracked.item()
        mean, var = self.running_mean, self.running_var
        by_batch = self.training or mean is None
        return vkml.batch_norm(
            input, mean, var, self.weight, self.bias, by_batch, momentum, self.eps
        )

    def extra_repr(self) -> str:
        """Return the options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (batch, features) or (batch, features, length).

    Parameters and attributes as for `BatchNorm2d`.
    """

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Each channel of (batch, channels, height, width) minus its mean, over its deviation.

    Training uses mean and variance of the batch, evaluation those that training has noted.

    Parameters
    ----------
    num_features : int
        The number of channels.
    eps : float
        Added to the variance.
    momentum : float or None
        The part of the running statistics that each batch replaces; None: their plain mean.
    affine, bias : bool
        Whether the result is scaled, and shifted, by parameters.
    track_running_stats : bool
        Whether there are running statistics; if not, the batch's are used always.
    device, dtype
        Of the parameters.

    Attributes
    ----------
    weight, bias : Parameter or None
        Scale (1 at first) and shift (0), shape (num_features,).
    running_mean, running_var : Tensor or None
        The running statistics (variance without bias), shape (num_features,).
    num_batches_tracked : Tensor or None
        How many batches they come from.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.BatchNorm2d(3)(vkml.ones(2, 3, 4, 4)).shape
    (2, 3, 4, 4)
    """

    _ranks = (4,)


class LayerNorm(Module):
    """The last axes minus their mean, over their deviation.

    Parameters
    ----------
    normalized_shape : int or sequence of int
        The sizes of these axes.
    eps : float
        Added to the variance.
    elementwise_affine, bias : bool
        Whether the result is scaled, and shifted, by parameters.
    device, dtype
        Of the parameters.

    Attributes
    ----------
    weight, bias : Parameter or None
        Scale (1 at first) and shift (0), of shape `normalized_shape`.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.LayerNorm(2)(vkml.tensor([[0.0, 1000.0]]))
    tensor([[-1.,  1.]], grad_fn=<layer_norm gradient>)
    """

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        shape, weight, shift = self.normalized_shape, None, None
        if elementwise_affine:
            weight = Parameter(vkml.ones(shape, device=device, dtype=dtype))
        if elementwise_affine and bias:
            shift = Parameter(vkml.zeros(shape, device=device, dtype=dtype))
        self.register_parameter("weight", weight)
        self.register_parameter("bias", shift)

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0."""
        _reset(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalised input."""
        return vkml.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """The last axes over the root of their mean square (Zhang and Sennrich, 2019).

    Parameters
    ----------
    normalized_shape : int or sequence of int
        The sizes of these axes.
    eps : float, optional
        Added to the mean square; the smallest step of the dtype by default.
    elementwise_affine : bool
        Whether the result is scaled by a parameter.
    device, dtype
        Of the parameter.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.RMSNorm(2)(vkml.tensor([[3.0, 3.0]])).shape
    (1, 2)
    """

    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        made = (
            Parameter(vkml.ones(self.normalized_shape, device=device, dtype=dtype))
            if elementwise_affine
            else None
        )
        self.register_parameter("weight", made)

    def reset_parameters(self) -> None:
        """Set the weight to 1."""
        _reset(self.weight, None)

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalised input."""
        return vkml.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Return the options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """Groups of channels minus their mean, over their deviation (Wu and He, 2018).

    Parameters
    ----------
    num_groups : int
        Into how many groups the channels are divided.
    num_channels : int
        How many channels there are.
    eps : float
        Added to the variance.
    affine, bias : bool
        Whether each channel is scaled, and shifted, by parameters.
    device, dtype
        Of the parameters.

    Raises
    ------
    ArgumentError
        The channels do not divide into the groups.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.GroupNorm(2, 4)(vkml.zeros(1, 4, 3, 3)).shape
    (1, 4, 3, 3)
    """

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            message = f"GroupNorm: {num_channels} channels do not divide into {num_groups} groups."
            raise ArgumentError(message)
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        weight, shift = None, None
        if affine:
            weight = Parameter(vkml.ones(num_channels, device=device, dtype=dtype))
        if affine and bias:
            shift = Parameter(vkml.zeros(num_channels, device=device, dtype=dtype))
        self.register_parameter("weight", weight)
        self.register_parameter("bias", shift)

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0."""
        _reset(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalised input."""
        return vkml.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the options."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


def _shape(given: int | Sequence[int]) -> tuple[int, ...]:
    return (given,) if isinstance(given, int) else tuple(given)


def _reset(weight: Parameter | None, bias: Parameter | None) -> None:
    if weight is not None:
        init.ones_(weight)
    if bias is not None:
        init.zeros_(bias)
