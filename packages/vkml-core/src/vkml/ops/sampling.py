"""Random choices: permutations, yes or no by a probability, places by their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vkml.errors import ArgumentError
from vkml.ops.comparison import lt
from vkml.ops.from_data import tensor
from vkml.ops.random import FLOAT32, RANDOM_INTEGERS, RANDOM_UNIFORM, drawn, floating_dtype

if TYPE_CHECKING:
    from vkml.device import DeviceLike
    from vkml.dtypes import DTypeLike
    from vkml.random import Generator
    from vkml.tensor import Tensor

__all__ = ["bernoulli", "multinomial", "randperm"]


# randperm --------------------------------------------------------------------------------


def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """Return the numbers from 0 to ``n - 1`` in random order.

    They are the order of `n` random words of 64 bits, computed on the CPU for every device.

    Parameters
    ----------
    n : int
        How many.
    generator, device
        As for `rand`.
    dtype : DType or str, optional
        int64 by default.

    Examples
    --------
    >>> import vkml
    >>> sorted(vkml.randperm(4).tolist())
    [0, 1, 2, 3]
    """
    words = drawn(RANDOM_INTEGERS, (n,), generator, "cpu", 0, 2**64, np.dtype(np.uint64))
    order = np.argsort(words.numpy(), kind="stable")
    return tensor(order, dtype="int64" if dtype is None else dtype, device=device)


# bernoulli, multinomial ------------------------------------------------------------------


def bernoulli(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Return 1 with the probabilities `input`, else 0, in the dtype of `input`.

    Parameters
    ----------
    input : Tensor
        Floating-point probabilities; 0 and less never give 1, and 1 and more always do.
    generator : Generator, optional
        As for `rand`.

    Examples
    --------
    >>> import vkml
    >>> vkml.bernoulli(vkml.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    floating_dtype("bernoulli", input.dtype)
    values = drawn(RANDOM_UNIFORM, input.shape, generator, input.device, FLOAT32)
    return lt(values, input.detach()).to(dtype=input.dtype)


def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Return places drawn with the weights in each row of `input`, as int64.

    Parameters
    ----------
    input : Tensor
        Weights, one axis or two; a row need not sum to 1. They are fetched from the device.
    num_samples : int
        How many to draw from each row.
    replacement : bool
        Whether a place can be drawn several times.
    generator : Generator, optional
        As for `rand`.

    Raises
    ------
    ArgumentError
        A weight is negative or not finite, or there are too few that are not 0.

    Examples
    --------
    >>> import vkml
    >>> vkml.multinomial(vkml.tensor([0.0, 1.0, 0.0]), 2, replacement=True)
    tensor([1, 1])
    """
    weights = np.atleast_1d(input.numpy(force=True)).astype(np.float64)
    if weights.ndim > 2 or not (np.isfinite(weights).all() and (weights >= 0).all()):
        message = "multinomial: expected one axis or two of weights that are finite and 0 or more."
        raise ArgumentError(message)
    needed = 1 if replacement else num_samples
    if num_samples < 1 or (np.count_nonzero(weights, axis=-1) < needed).any():
        message = (
            f"multinomial: {num_samples} cannot be drawn from every row; give 1 or more, and "
            "without replacement no more than there are weights above 0."
        )
        raise ArgumentError(message)
    rows = weights.reshape(-1, weights.shape[-1])
    shape = (len(rows), num_samples if replacement else rows.shape[1])
    uniform = drawn(RANDOM_UNIFORM, shape, generator, "cpu", np.dtype(np.float64)).numpy()
    if replacement:
        bounds = np.cumsum(rows, axis=1)
        # A number below the total never reaches the last bound, so weights of 0 are not drawn.
        aims = np.minimum(uniform * bounds[:, -1:], np.nextafter(bounds[:, -1:], 0))
        pairs = zip(bounds, aims, strict=True)
        places = np.stack([np.searchsorted(bound, aim, side="right") for bound, aim in pairs])
    else:
        # The first to arrive of exponential clocks with these rates.
        with np.errstate(divide="ignore"):
            arrival = -np.log1p(-uniform) / rows
        arrival[rows == 0] = np.inf
        places = np.argsort(arrival, axis=1, kind="stable")[:, :num_samples]
    result = places.reshape((*weights.shape[:-1], num_samples)).astype(np.int64)
    return tensor(result, device=input.device)
