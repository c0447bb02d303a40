"""What is said of arguments that no function can work with."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vkml

NOTHING: Any = None
INTEGER: Any = 3
LIST: Any = [1.0, 2.0]
NOT_AXES = ["abc", 1.5, float("nan"), True, 1j, object(), (1.5,), (None,), slice(0, 1)]


@pytest.fixture
def x() -> vkml.Tensor:
    return vkml.ones(2, 3)


@pytest.mark.parametrize("dim", NOT_AXES)
@pytest.mark.parametrize("function", [vkml.sum, vkml.amax, vkml.argmax, vkml.softmax, vkml.cumsum])
def test_what_is_no_integer_is_no_axis(function: Any, dim: Any, x: vkml.Tensor) -> None:
    with pytest.raises(vkml.ShapeError, match=r"an axis is an integer, not|name one axis twice"):
        function(x, dim)


def test_a_numpy_integer_is_an_axis(x: vkml.Tensor) -> None:
    assert vkml.sum(x, np.int64(1)).shape == (2,)  # type: ignore[arg-type]  # not typed, but works


@pytest.mark.parametrize("size", [1.5, None, "abc", vkml.ones(2), np.ones(2), {}])
def test_what_is_no_integer_is_no_size(size: Any) -> None:
    with pytest.raises(vkml.ShapeError, match="a shape is made of integers, not of"):
        vkml.zeros(size)


@pytest.mark.parametrize("dtype", ["float31", vkml.ones(2), 5, (), [1], object(), np.ones(2)])
def test_what_is_no_dtype_is_named(dtype: Any, x: vkml.Tensor) -> None:
    with pytest.raises(vkml.DTypeError, match="vkML has no dtype"):
        x.to(dtype=dtype)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + NOTHING,
        lambda x: NOTHING * x,
        lambda x: x.mul_(NOTHING),
        lambda _: vkml.exp(NOTHING),
        lambda x: vkml.maximum(NOTHING, x),
        lambda x: vkml.linear(INTEGER, x),
        lambda x: vkml.mul(x, LIST),
        lambda x: x.to(dtype="complex64") // 2,
        lambda x: vkml.floor(x.to(dtype="complex64")),
        lambda x: vkml.erf(x.to(dtype="complex64")),
        lambda x: vkml.var(x, correction=NOTHING),
        lambda _: vkml.rand(2, generator=INTEGER),
    ],
)
def test_what_an_operation_cannot_take_is_named(
    call: Callable[[vkml.Tensor], Any], x: vkml.Tensor
) -> None:
    with pytest.raises(vkml.DTypeError, match=r"^\w+: "):
        call(x)


@pytest.mark.parametrize("value", ["abc", (1, 2, 3), 1.5, None, {}])
def test_a_kernel_size_is_one_integer_or_two(value: Any) -> None:
    with pytest.raises(vkml.ArgumentError, match="give one integer or two"):
        vkml.avg_pool2d(vkml.ones(1, 1, 4, 4), value)


def test_an_operation_runs_inside_another_ones_kernel(x: vkml.Tensor) -> None:
    class Size:
        def __index__(self) -> int:
            return int(vkml.tensor([0, 1]).sum())

    total = vkml.ops.apply.apply(vkml.ops.reduction.SUM, (x,), ((Size(),), False))

    assert total.shape == (2,)
