"""Steps of optimisers on flat tensors, in place: for those who write optimisers.

An optimiser that keeps the parameters of a group in one flat tensor (each parameter a view of it)
takes its step in one call. The formulas, and the order of their operations, are those of
`torch.optim`. Nothing here is recorded.
"""

from __future__ import annotations

import math
from typing import Any

from vkml.autograd.graph import Node, version_of
from vkml.backends.cpu_kernels import optimizer_steps as kernels
from vkml.errors import AutogradError, ShapeError
from vkml.ops import rules
from vkml.ops.apply import check, common_device
from vkml.ops.definition import Operation, Ops, Spec, Value, define, no_samples
from vkml.ops.quiet import quiet
from vkml.tensor import Tensor

__all__ = ["adam_step", "sgd_step"]


def _flat(**tensors: Spec | None) -> Spec:
    """Return the parameter's spec, or raise unless all are flat, of one size and dtype."""
    param = tensors["param"]
    assert param is not None  # noqa: S101 - the records' first operand
    rules.require_floating(param)
    rules.require_same_dtype(**tensors)
    for name, each in tensors.items():
        if each is not None and (len(each.shape) != 1 or each.shape != param.shape):
            message = (
                f"expected flat tensors of one size, got param {param.shape} and {name} "
                f"{each.shape}; use x.reshape(-1)."
            )
            raise ShapeError(message)
    return Spec(param.shape, param.dtype)


def _run(
    operation: Operation,
    operands: tuple[Tensor | None, ...],
    options: tuple[Any, ...],
    written: tuple[Tensor | None, ...],
) -> None:
    """Run the kernel of `operation`, which writes into some of its operands."""
    device = common_device(operation, operands)
    for each in written:
        if each is not None:
            _require_unrecorded(operation, each)
    raw = [None if each is None else each._placed() for each in operands]
    check(operation, raw, options)
    quiet.run(device.kernels[operation.name], *raw, *options)
    for each in written:
        if each is not None:
            version_of(each)[0] += 1


def _require_unrecorded(operation: Operation, tensor: Tensor) -> None:
    base = tensor if tensor._view is None else tensor._view.base
    if isinstance(tensor._node, Node) or isinstance(base._node, Node):
        message = (
            f"{operation.name}: a tensor to write into is the result of a recorded operation; "
            "pass x.detach(), or make it under vkml.no_grad()."
        )
        raise AutogradError(message)


def _descended(k: Ops, param: Value, grad: Value, weight_decay: float, maximize: bool) -> Value:
    """Return the gradient to descend along."""
    if not weight_decay:
        return k.neg(grad) if maximize else grad
    decay = k.mul(param, weight_decay)
    return k.sub(decay, grad) if maximize else k.add(decay, grad)


# sgd_step ----------------------------------------------------------------------------


def _sgd_step(
    k: Ops,
    param: Value,
    grad: Value,
    momentum_buffer: Value | None,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    first: bool,
    maximize: bool,
) -> Value:
    step = _descended(k, param, grad, weight_decay, maximize)
    if momentum_buffer is not None and momentum:
        if first:
            k.mul(step, 1.0, out=momentum_buffer)
        else:
            k.mul(momentum_buffer, momentum, out=momentum_buffer)
            k.add(momentum_buffer, k.mul(step, 1 - dampening), out=momentum_buffer)
        step = k.add(k.mul(momentum_buffer, momentum), step) if nesterov else momentum_buffer
    return k.sub(param, k.mul(step, lr), out=param)


SGD_STEP = define(
    Operation(
        name="sgd_step", operands=3, cpu=kernels.sgd_step, decomposition=_sgd_step,
        result=lambda param, grad, momentum_buffer, *_options: _flat(
            param=param, grad=grad, momentum_buffer=momentum_buffer
        ),
        gradient=None, samples=no_samples,
    )
)  # fmt: skip


def sgd_step(
    param: Tensor,
    grad: Tensor,
    momentum_buffer: Tensor | None,
    *,
    lr: float,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
    first: bool = False,
    maximize: bool = False,
) -> None:
    """Take one step of stochastic gradient descent, writing into `param` and `momentum_buffer`.

    Parameters
    ----------
    param, grad : Tensor
        The parameters and their gradients, flat (n,), of one dtype.
    momentum_buffer : Tensor or None
        The running step (n,); None without momentum.
    lr, momentum, dampening, weight_decay, nesterov, maximize
        As for `torch.optim.SGD`.
    first : bool
        Whether `momentum_buffer` holds nothing yet; the gradient becomes its content.

    Raises
    ------
    ShapeError, DTypeError
        The tensors are not flat, or not of one size and dtype.
    AutogradError
        A tensor to write into is the result of a recorded operation.

    Examples
    --------
    >>> import vkml
    >>> from vkml.ops.optimizer_steps import sgd_step
    >>> param = vkml.tensor([1.0, 2.0])
    >>> sgd_step(param, vkml.tensor([1.0, -1.0]), None, lr=0.5)
    >>> param
    tensor([0.5000, 2.5000])
    """
    options = (lr, momentum, dampening, weight_decay, nesterov, first, maximize)
    _run(SGD_STEP, (param, grad, momentum_buffer), options, (param, momentum_buffer))


# adam_step ---------------------------------------------------------------------------


def _adam_step(
    k: Ops,
    param: Value,
    grad: Value,
    exp_avg: Value,
    exp_avg_sq: Value,
    max_exp_avg_sq: Value | None,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    step: int,
    amsgrad: bool,
    maximize: bool,
) -> Value:
    if decoupled and weight_decay:
        k.mul(param, 1 - lr * weight_decay, out=param)
    d = _descended(k, param, grad, 0.0 if decoupled else weight_decay, maximize)
    k.add(exp_avg, k.mul(k.sub(d, exp_avg), 1 - beta1), out=exp_avg)
    k.mul(exp_avg_sq, beta2, out=exp_avg_sq)
    k.add(exp_avg_sq, k.mul(k.mul(d, d), 1 - beta2), out=exp_avg_sq)
    square = exp_avg_sq
    if amsgrad and max_exp_avg_sq is not None:
        square = k.maximum(max_exp_avg_sq, exp_avg_sq, out=max_exp_avg_sq)
    root = k.add(k.div(k.sqrt(square), math.sqrt(1 - beta2**step)), eps)
    change = k.mul(k.div(exp_avg, root), lr / (1 - beta1**step))
    return k.sub(param, change, out=param)


ADAM_STEP = define(
    Operation(
        name="adam_step", operands=5, cpu=kernels.adam_step, decomposition=_adam_step,
        result=lambda param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, *_options: _flat(
            param=param, grad=grad, exp_avg=exp_avg, exp_avg_sq=exp_avg_sq,
            max_exp_avg_sq=max_exp_avg_sq,
        ),
        gradient=None, samples=no_samples,
    )
)  # fmt: skip


def adam_step(
    param: Tensor,
    grad: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    max_exp_avg_sq: Tensor | None,
    *,
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
    """Take one step of Adam, or of AdamW, writing into `param` and its averages.

    Parameters
    ----------
    param, grad : Tensor
        The parameters and their gradients, flat (n,), of one dtype.
    exp_avg, exp_avg_sq : Tensor
        The running averages of gradients and of their squares, (n,); zeros before step 1.
    max_exp_avg_sq : Tensor or None
        The largest averages of squares so far, (n,), for `amsgrad`.
    lr, beta1, beta2, eps, weight_decay, amsgrad, maximize
        As for `torch.optim.Adam`.
    decoupled : bool
        Decay the weights themselves, as AdamW does, not through the gradient.
    step : int
        The number of this step, from 1.

    Raises
    ------
    ShapeError, DTypeError
        The tensors are not flat, or not of one size and dtype.
    AutogradError
        A tensor to write into is the result of a recorded operation.

    Examples
    --------
    >>> import vkml
    >>> from vkml.ops.optimizer_steps import adam_step
    >>> param, average, square = vkml.tensor([1.0, 2.0]), vkml.zeros(2), vkml.zeros(2)
    >>> adam_step(
    ...     param,
    ...     vkml.tensor([3.0, -3.0]),
    ...     average,
    ...     square,
    ...     None,
    ...     lr=0.5,
    ...     beta1=0.9,
    ...     beta2=0.999,
    ...     eps=1e-8,
    ...     weight_decay=0.0,
    ...     decoupled=False,
    ...     step=1,
    ...     amsgrad=False,
    ...     maximize=False,
    ... )
    >>> param
    tensor([0.5000, 2.5000])
    """
    options = (
        lr, beta1, beta2, eps, weight_decay, decoupled, step, amsgrad, maximize,
    )  # fmt: skip
    operands = (param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq)
    _run(ADAM_STEP, operands, options, (param, exp_avg, exp_avg_sq, max_exp_avg_sq))
