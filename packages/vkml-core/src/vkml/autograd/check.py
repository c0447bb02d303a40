"""Checking gradients against central differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vkml.autograd.backward_pass import grad
from vkml.autograd.modes import enable_grad, no_grad
from vkml.errors import ArgumentError, AutogradError, DTypeError
from vkml.ops.from_data import tensor
from vkml.tensor import Tensor

Checked: TypeAlias = Callable[..., "Tensor | Sequence[Tensor]"]
_Array: TypeAlias = NDArray[np.float64]


def gradcheck(
    func: Checked,
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Return whether the gradients of `func` agree with central differences.

    Parameters
    ----------
    func : callable
        Takes the inputs, returns one tensor or several. It must give the same result each time.
    inputs : Tensor or sequence
        Those that are float64 tensors with ``requires_grad=True`` are checked, in any layout;
        anything else is passed on.
    eps : float
        How far each element is moved either way.
    atol, rtol : float
        Allowed: ``abs(analytic - numerical) <= atol + rtol * abs(numerical)``.
    raise_exception : bool
        Raise where the gradients disagree, instead of returning False.

    Raises
    ------
    AutogradError
        The gradients disagree. The message holds the worst entry of both Jacobians.
    DTypeError
        An input that requires a gradient is not float64.
    ArgumentError
        No input requires a gradient, or one shows the same memory twice.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([0.5, 2.0], dtype=vkml.float64, requires_grad=True)
    >>> vkml.autograd.gradcheck(lambda x: x * x, x)
    True
    """
    arguments = _leaves("gradcheck", inputs)
    found = _disagreement(func, arguments, eps, atol, rtol)
    if found is None:
        return True
    if raise_exception:
        raise AutogradError(f"gradcheck: {found}")
    return False


def gradgradcheck(
    func: Checked,
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Return whether the second derivatives of `func` agree with central differences.

    Parameters
    ----------
    func, inputs, eps, atol, rtol, raise_exception
        As for `gradcheck`.
    grad_outputs : Tensor or sequence, optional
        The gradients to start from, one per differentiable output; random ones by default.

    Raises
    ------
    AutogradError
        The second derivatives disagree, or `func` cannot be differentiated twice.

    Examples
    --------
    >>> import vkml
    >>> x = vkml.tensor([0.5, 2.0], dtype=vkml.float64, requires_grad=True)
    >>> vkml.autograd.gradgradcheck(lambda x: x * x * x, x)
    True
    """
    arguments = _leaves("gradgradcheck", inputs)
    outputs = _differentiable(func(*arguments))
    if grad_outputs is None:
        generator = np.random.default_rng(0)
        upstream = [
            tensor(generator.uniform(0.5, 1.5, each.shape), device=each.device) for each in outputs
        ]
    else:
        given = (grad_outputs,) if isinstance(grad_outputs, Tensor) else grad_outputs
        upstream = [each.detach() for each in given]
    upstream = [each.requires_grad_() for each in upstream]
    count = len(arguments)
    checked = [each for each in arguments if _is_checked(each)]

    def first_derivatives(*both: Any) -> list[Tensor]:
        results = _differentiable(func(*both[:count]))
        sources = [each for each in both[:count] if _is_checked(each)]
        found = grad(results, sources, both[count:], create_graph=True, allow_unused=True)
        return [each for each in found if each is not None]

    if not checked or not outputs:
        return True
    found = _disagreement(first_derivatives, [*arguments, *upstream], eps, atol, rtol)
    if found is None:
        return True
    if raise_exception:
        raise AutogradError(f"gradgradcheck: {found}")
    return False


def _leaves(name: str, inputs: Tensor | Sequence[Any]) -> list[Any]:
    """Return the inputs, with new leaves on the memory of those that are to be checked."""
    arguments: list[Any] = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    if not any(_is_checked(each) for each in arguments):
        message = f"{name}: no input requires a gradient; give tensors with requires_grad=True."
        raise ArgumentError(message)
    for position, each in enumerate(arguments):
        if not _is_checked(each):
            continue
        if each.dtype.is_complex:
            message = (
                f"{name}: input {position} is {each.dtype}; complex gradients are not checked. "
                "Pass real and imaginary parts as two float64 tensors."
            )
            raise DTypeError(message)
        if each.dtype.name != "float64":
            message = (
                f"{name}: input {position} is {each.dtype}, too coarse for differences of "
                "1e-6; convert it with x.detach().double().requires_grad_()."
            )
            raise DTypeError(message)
        steps = zip(each.stride(), each.shape, strict=True)
        if each.numel() and any(step == 0 and size > 1 for step, size in steps):
            message = (
                f"{name}: input {position} shows one element at several places (it was expanded), "
                "so these cannot be moved apart; pass x.clone()."
            )
            raise ArgumentError(message)
        arguments[position] = each.detach().requires_grad_()
    return arguments


def _is_checked(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _differentiable(results: Any) -> list[Tensor]:
    outputs = [results] if isinstance(results, Tensor) else list(results)
    return [each for each in outputs if isinstance(each, Tensor) and each.requires_grad]


def _disagreement(
    func: Checked, arguments: Sequence[Any], eps: float, atol: float, rtol: float
) -> str | None:
    """Return what differs most between analytic and numerical Jacobians, or None."""
    with enable_grad():
        outputs = _differentiable(func(*arguments))
        sources = {n: each for n, each in enumerate(arguments) if _is_checked(each)}
        # All backward passes come first: moving an input changes values that they need.
        analytic = {
            n: [_analytic(output, source) for output in outputs] for n, source in sources.items()
        }
        for position, source in sources.items():
            numerical = _numerical(func, arguments, source, eps)
            if len(numerical) != len(outputs):
                return "the function returns another number of outputs each time it is called."
            pairs = zip(analytic[position], numerical, strict=True)
            for number, pair in enumerate(pairs):
                found = _worst(*pair, atol, rtol)
                if found is not None:
                    return _message(found, pair, number, position, (outputs[number], source))
    return None


def _analytic(output: Tensor, source: Tensor) -> _Array:
    """Return the Jacobian by backward passes: one row per element of `output`."""
    rows = np.zeros((output.numel(), source.numel()))
    for row in range(len(rows)):
        one = np.zeros(output.numel())
        one[row] = 1
        start = tensor(one.reshape(output.shape), dtype=output.dtype, device=output.device)
        (found,) = grad(output, source, start, retain_graph=True, allow_unused=True)
        if found is not None:
            rows[row] = _values(found).reshape(-1)
    return rows


def _numerical(func: Checked, arguments: Sequence[Any], source: Tensor, eps: float) -> list[_Array]:
    """Return the Jacobians by central differences: one per output, one column per element moved."""
    values = _values(source)
    memory = source.detach()
    columns: list[list[_Array]] = []
    for column in range(values.size):
        sides: list[list[_Array]] = []
        for step in (eps, -eps):
            moved = values.copy()
            moved.reshape(-1)[column] += step
            _write(memory, moved)
            sides.append([_values(each).reshape(-1) for each in _differentiable(func(*arguments))])
        _write(memory, values)
        columns.append([(up - down) / (2 * eps) for up, down in zip(*sides, strict=True)])
    if not columns:
        sizes = [each.numel() for each in _differentiable(func(*arguments))]
        return [np.zeros((size, 0)) for size in sizes]
    return [np.stack(each, axis=1) for each in zip(*columns, strict=True)]


def _write(target: Tensor, values: _Array) -> None:
    with no_grad():
        target.copy_(values)


def _values(x: Tensor) -> _Array:
    """Return a copy of the values, in C order."""
    return np.array(x.numpy(force=True), dtype=np.float64, order="C")


def _worst(analytic: _Array, numerical: _Array, atol: float, rtol: float) -> int | None:
    """Return the flat position of the entry furthest outside what is allowed, or None."""
    if analytic.size == 0:
        return None
    excess = np.abs(analytic - numerical) - (atol + rtol * np.abs(numerical))
    excess[np.isnan(analytic) | np.isnan(numerical)] = np.inf
    worst = int(excess.argmax())
    return worst if excess.reshape(-1)[worst] > 0 else None


def _message(
    worst: int,
    pair: tuple[_Array, _Array],
    number: int,
    position: int,
    where: tuple[Tensor, Tensor],
) -> str:
    analytic, numerical = pair
    row, column = divmod(worst, analytic.shape[1])
    to, by = (
        tuple(int(index) for index in np.unravel_index(flat, each.shape)) if each.shape else ()
        for flat, each in zip((row, column), where, strict=True)
    )
    return (
        f"the derivative of output {number} by input {position} is wrong. Worst entry: element "
        f"{to} of the output by element {by} of the input is {analytic[row, column]:.6g} by the "
        f"backward pass and {numerical[row, column]:.6g} by central differences. Correct the "
        "gradient rule, or raise atol and rtol if the function is not smooth there."
    )
