"""Selection against torch: values, derivatives, dtypes, what does not fit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml

torch = pytest.importorskip("torch")

DTYPES = ["bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64", "complex64"]


def numbers(*shape: int, dtype: Any = np.float64) -> Any:
    return np.asarray(np.random.default_rng(3).standard_normal(shape), dtype)


def mask(*shape: int) -> Any:
    return np.random.default_rng(4).random(shape) < 0.5


def same(ours: vkml.Tensor, theirs: Any) -> None:
    assert ours.dtype.name == str(theirs.dtype).split(".")[-1]
    assert_array_equal(ours.numpy(), theirs.numpy())


# where ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "shapes",
    [((3, 4), (3, 4), (3, 4)), ((3, 1), (4,), ()), ((), (2,), (2,)), ((0, 3), (3,), (1, 1)),
     ((2,), (3, 1), (1,)), ((), (), ())],
    ids=str,
)  # fmt: skip
def test_where_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, shapes: Any, dtype: Any
) -> None:
    x, y = (numbers(*shape, dtype=dtype) for shape in shapes[1:])

    agrees_with_torch(vkml.where, torch.where, np.asarray(mask(*shapes[0])), x, y)


@pytest.mark.parametrize("number", [0, 2.5])
def test_where_with_a_number_on_either_side_equals_torch(
    agrees_with_torch: Any, number: float
) -> None:
    choose = mask(3, 4)

    def left(library: Any) -> Any:
        return lambda x: library.where(library.tensor(choose), number, x)

    def right(library: Any) -> Any:
        return lambda x: library.where(library.tensor(choose), x, number)

    agrees_with_torch(left(vkml), left(torch), numbers(3, 4))
    agrees_with_torch(right(vkml), right(torch), numbers(4, 3).T)


def test_what_was_not_chosen_gets_0_of_an_infinite_gradient() -> None:
    x = vkml.tensor([-1.0, 4.0], requires_grad=True)

    vkml.where(x > 0, x, 0.0).backward(vkml.tensor([float("inf"), 1.0]))

    assert x.grad is not None
    assert x.grad.tolist() == [0, 1]


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((), (3,)), ((3,), ())], ids=str)
def test_mixed_dtypes_meet_as_in_torch(shapes: Any) -> None:
    choose = np.array([True, False, True])
    for first, second in itertools.product(DTYPES, DTYPES):
        if {first, second} == {"float16", "complex64"}:
            continue  # complex32 in torch
        x, y = (np.resize([1, 2, 0], shape) for shape in shapes)
        x, y = x.astype(first), y.astype(second)

        ours = vkml.where(vkml.tensor(choose), vkml.tensor(x), vkml.tensor(y))

        same(ours, torch.where(torch.tensor(choose), torch.tensor(x), torch.tensor(y)))


@pytest.mark.parametrize(
    ("x", "y"), [(1, 2), (1.5, 2), (True, 2), (True, False), (1j, 2), (1, float("nan"))]
)
def test_where_between_numbers_equals_torch(x: Any, y: Any) -> None:
    choose = np.array([True, False])

    same(vkml.where(vkml.tensor(choose), x, y), torch.where(torch.tensor(choose), x, y))


def test_where_of_views_reads_their_elements() -> None:
    x = vkml.arange(6.0).reshape(2, 3)

    result = vkml.where(x.T > 2, x.T, x[:, ::-1].T)

    assert_array_equal(result.numpy(), [[2, 3], [1, 4], [0, 5]])


def test_a_condition_of_numbers_is_an_error() -> None:
    with pytest.raises(vkml.DTypeError, match="expected truth values as the condition"):
        vkml.where(vkml.tensor([1, 0]), 1.0, vkml.zeros(2))


def test_shapes_that_do_not_broadcast_are_named() -> None:
    with pytest.raises(vkml.ShapeError, match=r"where: shapes \(2,\) and \(3,\)"):
        vkml.where(vkml.tensor([True, False]), vkml.zeros(3), 1.0)


# masked_fill ------------------------------------------------------------------------------


@pytest.mark.parametrize("shapes", [((3, 4), (3, 4)), ((3, 4), (4,)), ((), ()), ((4,), (3, 4))])
def test_masked_fill_and_its_derivatives_equal_torch(agrees_with_torch: Any, shapes: Any) -> None:
    hidden = np.asarray(mask(*shapes[1]))

    def filled(library: Any) -> Any:
        return lambda x: library.masked_fill(x, library.tensor(hidden), -np.inf)

    def finite(library: Any) -> Any:
        return lambda x: library.masked_fill(x * x, library.tensor(hidden), 7)

    agrees_with_torch(filled(vkml), filled(torch), numbers(*shapes[0]), second=False)
    agrees_with_torch(finite(vkml), finite(torch), numbers(*shapes[0]))


def test_masked_fill_with_a_tensor_and_its_derivatives_equal_torch(agrees_with_torch: Any) -> None:
    hidden = mask(3, 4)

    def filled(library: Any) -> Any:
        return lambda x, value: library.masked_fill(x, library.tensor(hidden), value)

    agrees_with_torch(filled(vkml), filled(torch), numbers(3, 4), numbers())


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_filled_tensor_keeps_its_dtype(dtype: str) -> None:
    x = vkml.zeros(2, dtype=dtype)

    result = vkml.masked_fill(x, vkml.tensor([True, False]), True)

    assert result.dtype.name == dtype
    assert result.tolist() == [1, 0]


@pytest.mark.parametrize("shape", [(1,), (2,), (2, 1)])
def test_a_value_with_axes_is_an_error(shape: Any) -> None:
    with pytest.raises(vkml.ShapeError, match=r"masked_fill: the value has shape .* use where"):
        vkml.masked_fill(vkml.zeros(2), vkml.tensor([True, False]), vkml.ones(shape))


def test_a_mask_of_numbers_is_an_error() -> None:
    with pytest.raises(vkml.DTypeError, match="expected truth values"):
        vkml.masked_fill(vkml.zeros(2), vkml.tensor([1, 0]), 1)


def test_masked_fill_in_place_writes_where_the_mask_is_true() -> None:
    x = vkml.zeros(2, 2)

    x[0].masked_fill_(vkml.tensor([True, False]), 5)

    assert x.tolist() == [[5, 0], [0, 0]]
