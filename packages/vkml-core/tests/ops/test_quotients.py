"""Rounded quotients, filled masks and other edges, against torch."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml

torch = pytest.importorskip("torch")

X = np.array([7, -7, 7, -7, 6, -6, 0, 5])
Y = np.array([2, 2, -2, -2, 3, 3, -5, 9])


@pytest.mark.parametrize("dtype", ["int64", "int8", "float32"])
@pytest.mark.parametrize("mode", ["trunc", "floor"])
def test_rounded_quotients_are_those_of_torch(dtype: str, mode: str) -> None:
    x, y = X.astype(dtype), Y.astype(dtype)

    result = vkml.div(vkml.tensor(x), vkml.tensor(y), rounding_mode=mode)

    expected = torch.div(torch.tensor(x), torch.tensor(y), rounding_mode=mode).numpy()
    assert result.dtype.name == dtype
    assert_array_equal(result.numpy(), expected)


def test_a_quotient_rounded_down_is_written_into_out() -> None:
    out = vkml.zeros(8)

    assert vkml.div(vkml.tensor(X), 2, rounding_mode="floor", out=out) is out
    assert_array_equal(out.numpy(), X // 2)


def test_a_truncated_quotient_has_no_out() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"out\.copy_"):
        vkml.div(vkml.ones(2), 2, rounding_mode="trunc", out=vkml.zeros(2))


@pytest.mark.parametrize(("data", "value"), [([1, 2], 1.5), ([True, False], 3), ([1.0, 2.0], 1j)])
def test_a_filled_tensor_keeps_its_dtype_or_refuses(data: Any, value: Any) -> None:
    with pytest.raises(vkml.DTypeError, match=r"masked_fill: .* does not fit"):
        vkml.masked_fill(vkml.tensor(data), vkml.tensor([True, False]), value)


def test_squeezing_no_axes_changes_nothing() -> None:
    assert vkml.squeeze(vkml.ones(1, 2, 1), ()).shape == (1, 2, 1)


def test_the_limits_of_linspace_may_be_tensors() -> None:
    result = vkml.linspace(vkml.tensor(4.3), vkml.tensor(-3), 50, dtype="float64")  # type: ignore[arg-type]

    expected = torch.linspace(torch.tensor(4.3), torch.tensor(-3), 50, dtype=torch.float64)
    np.testing.assert_allclose(result.numpy(), expected.numpy(), rtol=1e-12)


def test_a_part_may_be_given_by_tensors() -> None:
    x = vkml.arange(6.0, requires_grad=True)

    part = vkml.narrow(x, 0, vkml.tensor(1), vkml.tensor(2))  # type: ignore[arg-type]
    (gradient,) = vkml.autograd.grad(part.sum(), x)

    assert gradient is not None
    assert_array_equal(gradient.numpy(), [0, 1, 1, 0, 0, 0])


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "float64"])
def test_the_operator_makes_the_fractions_that_div_makes(dtype: str) -> None:
    x = vkml.ones(2, dtype=dtype)

    assert (x / x).dtype is vkml.div(x, x).dtype
    assert (x / x).dtype.name == ("float32" if dtype[0] in "bui" else dtype)


def test_truth_values_have_no_difference() -> None:
    x = vkml.tensor([True, False])

    with pytest.raises(vkml.DTypeError, match="sub: "):
        x - x
