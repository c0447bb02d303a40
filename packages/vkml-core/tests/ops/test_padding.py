from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml

torch = pytest.importorskip("torch")

AgreesWithTorch = Callable[..., None]


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.asarray(np.random.default_rng(sum(shape)).standard_normal(shape), dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("shape", "pads"),
    [
        ((3, 4), (1, 2)),
        ((3, 4), (0, 0, 2, 1)),
        ((2, 3, 4), (1, 0, 0, 2)),
        ((3, 4), (-1, 2)),
        ((3, 4), (-1, -2, 3, -1)),
        ((0, 2), (0, 0, 1, 1)),
        ((3,), ()),
    ],
)
@pytest.mark.parametrize("value", [0, 2.5, float("-inf")])
def test_pad_and_its_derivatives_equal_torch(
    shape: Any, pads: Any, value: float, dtype: Any, agrees_with_torch: AgreesWithTorch
) -> None:
    agrees_with_torch(
        lambda x: vkml.pad(x * 2, pads, value=value),
        lambda x: torch.nn.functional.pad(x * 2, pads, value=value),
        numbers(*shape, dtype=dtype),
        second=False,
    )


def test_pad_of_a_transposed_tensor_equals_torch(agrees_with_torch: AgreesWithTorch) -> None:
    agrees_with_torch(
        lambda x: vkml.pad(x, (1, 1)) ** 2,
        lambda x: torch.nn.functional.pad(x, (1, 1)) ** 2,
        numbers(4, 3).T,
    )


def test_pad_of_integers_keeps_their_dtype() -> None:
    result = vkml.pad(vkml.tensor([1, 2]), (1, 0), value=7)

    assert result.dtype is vkml.int64
    assert result.tolist() == [7, 1, 2]


def test_pad_without_a_value_uses_0() -> None:
    assert_array_equal(vkml.pad(vkml.ones(1), (1, 1), "constant", None).numpy(), [0, 1, 0])


def test_pad_of_nothing_copies() -> None:
    x = vkml.zeros(2)

    vkml.pad(x, (0, 0)).add_(1)

    assert x.tolist() == [0, 0]


@pytest.mark.parametrize("pads", [(1,), (1, 1, 1, 1)])
def test_pad_refuses_numbers_that_are_no_pairs(pads: Any) -> None:
    with pytest.raises(vkml.ArgumentError, match=r"pad: .* are no pairs"):
        vkml.pad(vkml.zeros(2), pads)


def test_pad_refuses_to_cut_off_more_than_there_is() -> None:
    with pytest.raises(vkml.ShapeError, match=r"pad: 3 elements cannot be cut off axis 0"):
        vkml.pad(vkml.zeros(2), (-2, -1))


def test_pad_names_a_mode_that_it_lacks() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"no mode 'reflect'"):
        vkml.pad(vkml.zeros(2), (1, 1), "reflect")
