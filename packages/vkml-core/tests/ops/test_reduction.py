import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import vkml

torch = pytest.importorskip("torch")

AgreesWithTorch = Callable[..., None]

DTYPES = [np.float32, np.float64]
AXES: list[tuple[tuple[int, ...], Any, bool]] = [
    ((3, 4, 5), None, False),
    ((3, 4, 5), 1, True),
    ((3, 4, 5), (0, 2), False),
    ((3, 4, 5), -1, False),
    ((40, 50), 1, False),
    ((40, 50), 0, True),
    ((), None, False),
    ((1, 3), 0, False),
    ((0, 3), 0, False),
]


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(7).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "dim", "keepdim"), AXES)
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_values_and_derivatives_equal_torch(
    name: str, shape: Any, dim: Any, keepdim: bool, dtype: Any, agrees_with_torch: AgreesWithTorch
) -> None:
    def reduced(library: Any) -> Callable[[Any], Any]:
        function = getattr(library, name)
        if dim is None:
            return lambda x: function(x) ** 2
        return lambda x: function(x, dim, keepdim) ** 2

    agrees_with_torch(reduced(vkml), reduced(torch), numbers(*shape, dtype=dtype), tolerance=5)


@pytest.mark.parametrize("dim", [0, 1, (0, 2)])
def test_sum_of_a_transposed_tensor_equals_torch(
    dim: Any, agrees_with_torch: AgreesWithTorch
) -> None:
    x = numbers(5, 40, 30).T

    agrees_with_torch(lambda x: vkml.sum(x, dim), lambda x: torch.sum(x, dim), x, tolerance=5)


def test_sum_of_an_empty_tuple_of_axes_is_the_sum_of_all() -> None:
    assert vkml.sum(vkml.ones(2, 3), ()).item() == 6


def test_sum_of_a_million_float32_is_as_exact_as_pairwise_summation() -> None:
    x = np.random.default_rng(0).random(1_000_003).astype(np.float32)

    assert_allclose(vkml.sum(vkml.tensor(x)).item(), math.fsum(x), rtol=2e-7)


def test_sum_of_halves_accumulates_in_float32() -> None:
    assert vkml.sum(vkml.ones(4096, dtype="float16")).item() == 4096


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64"])
def test_sum_of_integers_is_int64(dtype: str) -> None:
    result = vkml.sum(vkml.ones(300, dtype=dtype))

    assert result.dtype is vkml.int64
    assert result.item() == 300


def test_sum_can_be_asked_for_another_dtype() -> None:
    assert vkml.sum(vkml.ones(3, dtype="int64"), dtype="float32").dtype is vkml.float32


def test_sum_with_nan_is_nan_and_with_both_infinities_too() -> None:
    x = vkml.tensor([[1.0, np.nan], [np.inf, -np.inf], [np.inf, 1.0]])

    assert_array_equal(vkml.sum(x, 1).numpy(), [np.nan, np.nan, np.inf])


def test_mean_of_nothing_is_nan() -> None:
    assert math.isnan(vkml.mean(vkml.zeros(0)).item())


def test_mean_of_integers_says_how_to_get_one() -> None:
    with pytest.raises(vkml.DTypeError, match=r"mean: expected floating-point"):
        vkml.mean(vkml.ones(3, dtype="int64"))
    assert vkml.mean(vkml.ones(3, dtype="int64"), dtype="float32").item() == 1


def test_an_axis_out_of_range_is_named() -> None:
    with pytest.raises(vkml.ShapeError, match=r"axis 2 is out of range for rank 2"):
        vkml.sum(vkml.zeros(2, 2), 2)


def test_an_axis_given_twice_is_refused() -> None:
    with pytest.raises(vkml.ShapeError, match=r"name one axis twice"):
        vkml.sum(vkml.zeros(2, 2), (0, -2))


# any, all, count_nonzero -----------------------------------------------------------------


@pytest.mark.parametrize(("shape", "dim", "keepdim"), AXES)
@pytest.mark.parametrize("name", ["any", "all"])
@pytest.mark.parametrize("dtype", [np.bool_, np.int64, np.float32])
def test_any_and_all_equal_torch(
    name: str, shape: Any, dim: Any, keepdim: bool, dtype: Any
) -> None:
    x = (np.random.default_rng(2).random(shape) < 0.7).astype(dtype)
    options = () if dim is None else (dim, keepdim)

    result = getattr(vkml, name)(vkml.tensor(x), *options)

    assert result.dtype is vkml.bool
    assert_array_equal(result.numpy(), getattr(torch, name)(torch.tensor(x), *options))


def test_nan_counts_as_true() -> None:
    x = vkml.tensor([np.nan, np.nan])

    assert vkml.any(x).item()
    assert vkml.all(x).item()


@pytest.mark.parametrize("dim", [None, 0, (0, 1)])
def test_count_nonzero_equals_torch(dim: Any) -> None:
    x = np.array([[0, 2, np.nan], [0, 0, -1]], np.float32)

    result = vkml.count_nonzero(vkml.tensor(x), dim)

    assert result.dtype is vkml.int64
    assert_array_equal(result.numpy(), torch.count_nonzero(torch.tensor(x), dim))


# cumsum ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "dim"), [((3, 5), 0), ((3, 5), -1), ((2, 0), 1), ((), 0)])
def test_cumsum_and_its_derivatives_equal_torch(
    shape: Any, dim: int, dtype: Any, agrees_with_torch: AgreesWithTorch
) -> None:
    agrees_with_torch(
        lambda x: vkml.cumsum(x, dim) ** 2,
        lambda x: torch.cumsum(x, dim) ** 2,
        numbers(*shape, dtype=dtype),
        tolerance=5,
    )


def test_cumsum_of_integers_is_int64() -> None:
    result = vkml.cumsum(vkml.ones(3, dtype="uint8"), 0)

    assert result.dtype is vkml.int64
    assert result.tolist() == [1, 2, 3]


def test_sums_of_long_columns_keep_their_digits() -> None:
    values = np.full((1_000_000, 3), 0.1, np.float32)

    result = vkml.sum(vkml.tensor(values), 0).numpy()

    assert_allclose(result, values.sum(0, dtype=np.float64), rtol=3e-6)


def test_a_long_running_sum_keeps_its_digits() -> None:
    values = np.full(1_000_000, 0.1, np.float32)

    result = vkml.cumsum(vkml.tensor(values), 0).numpy()

    assert_allclose(result, values.cumsum(dtype=np.float64), rtol=1e-7)
