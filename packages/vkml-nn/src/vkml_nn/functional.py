"""Functions that layers are made of, under PyTorch's names: ``import vkml.nn.functional as F``."""

from __future__ import annotations

from collections.abc import Callable

import vkml
from vkml import (
    ShapeError,
    Tensor,
    adaptive_avg_pool2d,
    avg_pool2d,
    batch_norm,
    binary_cross_entropy_with_logits,
    conv1d,
    conv2d,
    cross_entropy,
    embedding,
    gelu,
    group_norm,
    huber_loss,
    kl_div,
    l1_loss,
    layer_norm,
    linear,
    log_softmax,
    max_pool2d,
    mse_loss,
    nll_loss,
    one_hot,
    rms_norm,
    scaled_dot_product_attention,
    sigmoid,
    smooth_l1_loss,
    softmax,
    softplus,
    tanh,
)
from vkml_nn.binary_cross_entropy import binary_cross_entropy
from vkml_nn.directions import cosine_similarity, normalize
from vkml_nn.padding import pad

__all__ = [
    "adaptive_avg_pool2d", "avg_pool2d", "batch_norm", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "conv1d", "conv2d", "cosine_similarity", "cross_entropy",
    "dropout", "dropout1d", "dropout2d", "elu", "embedding", "gelu", "group_norm", "huber_loss",
    "kl_div", "l1_loss", "layer_norm", "leaky_relu", "linear", "log_softmax", "max_pool2d",
    "mse_loss", "nll_loss", "normalize", "one_hot", "pad", "relu", "rms_norm",
    "scaled_dot_product_attention", "sigmoid", "silu", "smooth_l1_loss", "softmax", "softplus",
    "tanh",
]  # fmt: skip


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the larger of each element and 0, in the input's memory if `inplace`.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.functional.relu(vkml.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return input.relu_() if inplace else vkml.relu(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return x where it is positive, else `negative_slope` times x."""
    if inplace:
        return _in_place(input, lambda x: vkml.leaky_relu(x, negative_slope))
    return vkml.leaky_relu(input, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return x where it is positive, else `alpha` (eˣ - 1)."""
    return _in_place(input, lambda x: vkml.elu(x, alpha)) if inplace else vkml.elu(input, alpha)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x σ(x)."""
    return _in_place(input, vkml.silu) if inplace else vkml.silu(input)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Return `input` with each element 0 with probability `p`, the others grown by 1/(1 - p).

    Parameters
    ----------
    input : Tensor
        Floating-point values.
    p : float
        Between 0 and 1.
    training : bool
        Return `input` itself if not.
    inplace : bool
        Whether the input's memory gets the result.

    Examples
    --------
    >>> import vkml
    >>> vkml.nn.functional.dropout(vkml.ones(3), training=False)
    tensor([1., 1., 1.])
    """
    if not training or p == 0:
        return input
    if inplace:
        return _in_place(input, lambda x: vkml.dropout(x, p, training=True))
    return vkml.dropout(input, p, training=True)


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return `input` with each channel 0 with probability `p`, the others grown by 1/(1 - p).

    Parameters
    ----------
    input : Tensor
        Shape (batch, channels, length), or (channels, length).
    p, training, inplace
        As for `dropout`.

    Raises
    ------
    ShapeError
        The input has another number of axes.
    """
    return _channel_dropout("dropout1d", input, 1, p, training, inplace)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Return `input` with each channel 0 with probability `p`, the others grown by 1/(1 - p).

    Parameters
    ----------
    input : Tensor
        Shape (batch, channels, height, width). PyTorch also takes three axes, and then drops
        as `dropout1d` does.
    p, training, inplace
        As for `dropout`.

    Raises
    ------
    ShapeError
        The input has another number of axes.

    Examples
    --------
    >>> import vkml
    >>> result = vkml.nn.functional.dropout2d(vkml.ones(1, 100, 2, 2))
    >>> sorted(set(result.sum((2, 3)).flatten().tolist()))
    [0.0, 8.0]
    """
    return _channel_dropout("dropout2d", input, 2, p, training, inplace)


def _channel_dropout(
    name: str, input: Tensor, axes: int, p: float, training: bool, inplace: bool
) -> Tensor:
    """Drop along all but the last `axes` axes, and along these together."""
    ranks = (2, 3) if axes == 1 else (4,)
    if input.ndim not in ranks:
        wanted = " or ".join(map(str, ranks))
        message = f"{name}: expected {wanted} axes, got shape {input.shape}."
        raise ShapeError(message)
    if not training or p == 0:
        return input
    shape = input.shape[: input.ndim - axes] + (1,) * axes
    factors = vkml.dropout(vkml.ones(shape, dtype=input.dtype, device=input.device), p)
    return input.mul_(factors) if inplace else input * factors


def _in_place(input: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """Write ``function(input)`` into `input`; a gradient that needs the old values keeps a copy."""
    recorded = input.requires_grad and vkml.is_grad_enabled()
    return input.copy_(function(input.clone() if recorded else input))
