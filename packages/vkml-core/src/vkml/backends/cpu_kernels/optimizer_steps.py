"""Steps of optimisers on flat arrays, in place, in blocks with shared scratch.

The formulas, and the order of their operations, are those of `torch.optim`. One flat array for
all parameters of a group costs a few calls for each block instead of for each parameter.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml.backends.cpu_kernels.blocks import BLOCK_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


def _blocks(size: int) -> Iterator[slice]:
    for start in range(0, size, BLOCK_SIZE):
        yield slice(start, min(start + BLOCK_SIZE, size))


def _decayed_gradient(
    param: NDArray[Any],
    grad: NDArray[Any],
    weight_decay: float,
    maximize: bool,
    out: NDArray[Any],
) -> NDArray[Any]:
    """Return the gradient to descend: grad itself, or a changed copy in `out`."""
    kind = param.dtype.type
    if not weight_decay and not maximize:
        return grad
    if not weight_decay:
        np.negative(grad, out=out)
        return out
    np.multiply(param, kind(weight_decay), out=out)
    combine = np.subtract if maximize else np.add
    combine(out, grad, out=out)
    return out


def sgd_step(
    param: NDArray[Any],
    grad: NDArray[Any],
    momentum_buffer: NDArray[Any] | None,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    first: bool,
    maximize: bool,
) -> None:
    """Take one step of stochastic gradient descent, in place.

    `first` says that `momentum_buffer` holds nothing yet: the gradient becomes its content.
    """
    kind = param.dtype.type
    scratch = np.empty((2, min(param.size, BLOCK_SIZE)), param.dtype)
    for block in _blocks(param.size):
        p = param[block]
        first_scratch, second_scratch = scratch[0, : p.size], scratch[1, : p.size]
        d = _decayed_gradient(p, grad[block], weight_decay, maximize, first_scratch)
        if momentum_buffer is not None and momentum:
            velocity = momentum_buffer[block]
            if first:
                velocity[...] = d
            else:
                velocity *= kind(momentum)
                velocity += np.multiply(d, kind(1 - dampening), out=second_scratch)
            if nesterov:
                np.multiply(velocity, kind(momentum), out=second_scratch)
                d = np.add(second_scratch, d, out=second_scratch)
            else:
                d = velocity
        p -= np.multiply(d, kind(lr), out=first_scratch)


def adam_step(
    param: NDArray[Any],
    grad: NDArray[Any],
    exp_avg: NDArray[Any],
    exp_avg_sq: NDArray[Any],
    max_exp_avg_sq: NDArray[Any] | None,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    step: int,
    amsgrad: bool,
    maximize: bool,
) -> None:
    """Take step number `step` (from 1) of Adam in place, or of AdamW where `decoupled`."""
    kind = param.dtype.type
    step_size = kind(lr / (1 - beta1**step))
    root_correction = kind(sqrt(1 - beta2**step))
    scratch = np.empty((2, min(param.size, BLOCK_SIZE)), param.dtype)
    for block in _blocks(param.size):
        p, average, square = param[block], exp_avg[block], exp_avg_sq[block]
        work, spare = scratch[0, : p.size], scratch[1, : p.size]
        if decoupled and weight_decay:
            p *= kind(1 - lr * weight_decay)
        d = _decayed_gradient(p, grad[block], 0.0 if decoupled else weight_decay, maximize, spare)
        # average + (d - average) * (1 - beta1), as torch interpolates.
        np.subtract(d, average, out=work)
        work *= kind(1 - beta1)
        average += work
        np.multiply(d, d, out=work)
        work *= kind(1 - beta2)
        square *= kind(beta2)
        square += work
        if amsgrad and max_exp_avg_sq is not None:
            square = np.maximum(max_exp_avg_sq[block], square, out=max_exp_avg_sq[block])
        np.sqrt(square, out=work)
        work /= root_correction
        work += kind(eps)
        np.divide(average, work, out=work)
        work *= step_size
        p -= work
