"""Random tensors: uniform, normal, integers; and tensors filled with them.

Each function takes one draw from a generator (`vkml.random`): the same seed and the same order of
calls give the same numbers on every device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from vkml import dtypes, shapes
from vkml.autograd.inplace import assign, check_writable, is_recorded, write
from vkml.backends.cpu_kernels import random as kernels
from vkml.device import DeviceLike
from vkml.dtypes import DTypeLike
from vkml.errors import ArgumentError, DTypeError
from vkml.ops import rules
from vkml.ops.comparison import lt
from vkml.ops.definition import Operation, Sample, Spec, define
from vkml.ops.from_data import device_or_cpu, marked
from vkml.ops.quiet import quiet
from vkml.random import Generator, default_generator
from vkml.shapes import Shape
from vkml.tensor import Tensor, wrap

__all__ = [
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
]

FLOAT32: Final = np.dtype(np.float32)


def _random(name: str, kernel: Callable[..., Any]) -> Operation:
    return define(
        Operation(
            name=name, operands=0, gradient=None, result=_floating, cpu=kernel,
            samples=lambda _generator: [
                Sample((), ((3, 5), 42, 0, FLOAT32)),
                Sample((), ((), 2**63 + 5, 2**40, FLOAT32)),
                Sample((), ((20_000,), 7, 1, FLOAT32)),
                Sample((), ((0, 2), 7, 1, FLOAT32)),
            ],
        )
    )  # fmt: skip


def _floating(shape: Shape, _seed: int, _offset: int, dtype: np.dtype[Any]) -> Spec:
    spec = Spec(shape, dtype)
    rules.require_floating(spec)
    return spec


def drawn(
    operation: Operation,
    shape: Shape,
    generator: object,
    place: DeviceLike | None,
    *options: Any,
) -> Tensor:
    """Return the result of one draw of a random operation."""
    if any(size < 0 for size in shape):
        raise ArgumentError(f"a size is negative in shape {shape}; sizes are 0 or more.")
    if generator is None:
        generator = default_generator
    elif not isinstance(generator, Generator):
        message = f"{operation.name}: generator is a {type(generator).__name__}; give a Generator."
        raise DTypeError(message)
    seed, offset = generator.take()
    on = device_or_cpu(place)
    return wrap(quiet.run(on.kernels[operation.name], shape, seed, offset, *options), on)


def floating_dtype(name: str, dtype: DTypeLike | None) -> np.dtype[Any]:
    found = dtypes.as_dtype(dtypes.get_default_dtype() if dtype is None else dtype)
    if not found.is_floating_point:
        raise DTypeError(f"{name}: {found} holds no fractions; give a floating-point dtype.")
    return found.dtype


# random_uniform --------------------------------------------------------------------------

RANDOM_UNIFORM = _random("random_uniform", kernels.random_uniform)


def rand(
    *size: Any,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return random numbers that are evenly spread over [0, 1).

    Parameters
    ----------
    size : int ... or sequence of int
        The shape.
    generator : Generator, optional
        What to draw from; the default generator otherwise.
    dtype, device
        float32 on the CPU by default.
    requires_grad : bool
        Whether operations on the tensor are recorded.

    Examples
    --------
    >>> import vkml
    >>> vkml.rand(2, generator=vkml.Generator(42))
    tensor([0.6130, 0.9877])
    """
    options = (generator, device, floating_dtype("rand", dtype))
    return marked(drawn(RANDOM_UNIFORM, shapes.as_shape(size), *options), requires_grad)


def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """Return random numbers in [0, 1) with the shape, dtype and device of `input`.

    Examples
    --------
    >>> import vkml
    >>> vkml.rand_like(vkml.zeros(2, 3)).shape
    (2, 3)
    """
    found = floating_dtype("rand_like", dtype or input.dtype)
    return drawn(RANDOM_UNIFORM, input.shape, generator, device or input.device, found)


# random_normal ---------------------------------------------------------------------------

RANDOM_NORMAL = _random("random_normal", kernels.random_normal)


def randn(
    *size: Any,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return random numbers from the normal distribution of mean 0 and deviation 1.

    Parameters
    ----------
    size, generator, dtype, device, requires_grad
        As for `rand`. In float32 the numbers lie between -5.8 and 5.8.

    Examples
    --------
    >>> import vkml
    >>> vkml.randn(2, 3).shape
    (2, 3)
    """
    options = (generator, device, floating_dtype("randn", dtype))
    return marked(drawn(RANDOM_NORMAL, shapes.as_shape(size), *options), requires_grad)


def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """Return random numbers as `randn`, with the shape, dtype and device of `input`.

    Examples
    --------
    >>> import vkml
    >>> vkml.randn_like(vkml.zeros(2, 3)).shape
    (2, 3)
    """
    found = floating_dtype("randn_like", dtype or input.dtype)
    return drawn(RANDOM_NORMAL, input.shape, generator, device or input.device, found)


def normal(
    mean: Tensor | float,
    std: Tensor | float = 1.0,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """Return random numbers from normal distributions.

    Parameters
    ----------
    mean, std : Tensor or float
        Tensors give one distribution for each element; they broadcast.
    size : sequence of int, optional
        The shape, where neither is a tensor.
    generator, dtype, device
        As for `rand`.

    Raises
    ------
    ArgumentError
        A deviation is negative, or `size` is missing.

    Examples
    --------
    >>> import vkml
    >>> vkml.normal(10.0, 0.5, (2, 3)).shape
    (2, 3)
    """
    given = [each.detach() for each in (mean, std) if isinstance(each, Tensor)]
    if not given and size is None:
        raise ArgumentError("normal: neither mean nor std is a tensor; give the size.")
    if not isinstance(std, Tensor) and std < 0:
        raise ArgumentError(f"normal: std is {std}; a deviation is 0 or more.")
    shape = shapes.broadcast(*(each.shape for each in given)) if size is None else tuple(size)
    if given:
        device = given[0].device if device is None else device
        dtype = given[0].dtype if dtype is None else dtype
    result = drawn(RANDOM_NORMAL, shape, generator, device, floating_dtype("normal", dtype))
    factor, shift = (each.detach() if isinstance(each, Tensor) else each for each in (std, mean))
    return result * factor + shift


# random_integers -------------------------------------------------------------------------


def _integers(
    shape: Shape, _seed: int, _offset: int, _low: int, _high: int, dtype: np.dtype[Any]
) -> Spec:
    return Spec(shape, dtype)


RANDOM_INTEGERS = define(
    Operation(
        name="random_integers", operands=0, gradient=None, result=_integers,
        cpu=kernels.random_integers,
        samples=lambda _generator: [
            Sample((), ((3, 5), 42, 0, -3, 4, np.dtype(np.int64))),
            Sample((), ((20_000,), 42, 1, 0, 2**31, np.dtype(np.int32))),
            Sample((), ((), 42, 1, -(2**63), 2**63, np.dtype(np.int64))),
        ],
    )
)  # fmt: skip


def randint(
    low: int,
    high: int | Sequence[int] | None = None,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return random integers in [low, high); ``randint(high, size)`` starts at 0.

    Parameters
    ----------
    low, high : int
        The smallest one, and the end, which is not drawn.
    size : sequence of int
        The shape.
    generator, device, requires_grad
        As for `rand`.
    dtype : DType or str, optional
        int64 by default.

    Raises
    ------
    ArgumentError
        There is no integer in the range, or the dtype cannot hold it.

    Examples
    --------
    >>> import vkml
    >>> vkml.randint(10, (2, 3)).shape
    (2, 3)
    """
    first, end, shape = (0, low, high) if size is None else (low, high, size)
    if not isinstance(shape, Sequence) or not isinstance(end, int):
        raise ArgumentError("randint: call it as randint(high, size) or randint(low, high, size).")
    found = dtypes.as_numpy("int64" if dtype is None else dtype)
    if end <= first:
        raise ArgumentError(f"randint: there is no integer from {first} up to {end}.")
    if found.kind in "iu":
        limits = np.iinfo(found)
        if first < limits.min or end - 1 > limits.max:
            raise ArgumentError(f"randint: {found} does not hold all of {first} to {end - 1}.")
    options = (generator, device, first, end, found)
    return marked(drawn(RANDOM_INTEGERS, tuple(shape), *options), requires_grad)


# in place --------------------------------------------------------------------------------


def _filled(name: str, x: Tensor, values: Tensor) -> Tensor:
    """Write random values into `x`, which forgets how it was computed."""
    if is_recorded(x):
        check_writable(name, x)
        return assign(name, x, values)
    write(x, values._operand)
    return x


def _uniform(
    x: Tensor, low: float = 0.0, high: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    if high < low:
        raise ArgumentError(f"uniform_: the range from {low} to {high} is empty.")
    values = rand_like(x.detach(), generator=generator)
    return _filled("uniform_", x, values if (low, high) == (0, 1) else values * (high - low) + low)


def _normal(
    x: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    if std < 0:
        raise ArgumentError(f"normal_: std is {std}; a deviation is 0 or more.")
    values = randn_like(x.detach(), generator=generator)
    return _filled("normal_", x, values if (mean, std) == (0, 1) else values * std + mean)


def _bernoulli(x: Tensor, p: float = 0.5, *, generator: Generator | None = None) -> Tensor:
    values = drawn(RANDOM_UNIFORM, x.shape, generator, x.device, FLOAT32)
    return _filled("bernoulli_", x, lt(values, p).to(dtype=x.dtype))


METHODS: Final[dict[str, Callable[..., Tensor]]] = {
    "uniform_": _uniform,
    "normal_": _normal,
    "bernoulli_": _bernoulli,
}
"""The in-place methods by name."""
