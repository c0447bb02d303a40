"""Normalization of each sample by groups of channels."""

from __future__ import annotations

from vkml.errors import ArgumentError, ShapeError
from vkml.ops.normalization import layer_norm
from vkml.tensor import Tensor

__all__ = ["group_norm"]


# group_norm --------------------------------------------------------------------------


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Return `input` with mean 0 and deviation 1 in each group of channels, scaled and shifted.

    Parameters
    ----------
    input : Tensor
        Floating-point numbers (N, C, *).
    num_groups : int
        Into how many groups the C channels are split.
    weight, bias : Tensor, optional
        A factor and a summand for each channel, (C,).
    eps : float
        Added to the variance.

    Raises
    ------
    ShapeError
        The shapes do not fit.
    ArgumentError
        `num_groups` does not divide the channels.

    Examples
    --------
    >>> import vkml
    >>> vkml.group_norm(vkml.tensor([[1.0, 3.0, 10.0, 30.0]]), 2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    if input.ndim < 2:
        raise ShapeError(f"group_norm: expected an input (N, C, *), got {input.shape}.")
    samples, channels = input.shape[:2]
    if num_groups < 1 or channels % num_groups:
        message = f"group_norm: {num_groups} groups do not divide {channels} channels."
        raise ArgumentError(message)
    grouped = input.reshape(samples, num_groups, channels // num_groups, *input.shape[2:])
    y = layer_norm(grouped, grouped.shape[2:], eps=eps).reshape(input.shape)
    broadcast = (channels,) + (1,) * (input.ndim - 2)
    for name, each in (("weight", weight), ("bias", bias)):
        if each is None:
            continue
        if each.shape != (channels,):
            message = f"group_norm: expected a {name} of shape ({channels},), got {each.shape}."
            raise ShapeError(message)
        y = y * each.reshape(broadcast) if each is weight else y + each.reshape(broadcast)
    return y
