"""Arithmetic against torch: values, derivatives, dtypes, quotients by 0, writing into `out`."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import vkml

torch = pytest.importorskip("torch")

EDGES = [0.0, -0.0, 1.0, -1.0, 2.0, -2.5, 0.5, 3.0, -3.0, np.inf, -np.inf, np.nan]
FLOATING = ["add", "sub", "mul", "div"]
ALL = [*FLOATING, "floor_divide", "remainder"]
DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64"]
WITH_NUMBERS = [
    (name, number)
    for name in ALL
    for number in (2, -3.5, True)
    if not (name == "sub" and number is True)  # torch has no difference with a truth value
]
SHAPES: list[Any] = [
    ((7, 5), (7, 5)), ((3, 1), (4,)), ((), ()), ((), (2, 3)), ((2, 3), ()), ((0, 3), (1, 3)),
    ((2, 1, 4), (3, 1)),
]  # fmt: skip
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod,
}  # fmt: skip


def numbers(*shape: int, dtype: Any = np.float64) -> Any:
    """Return numbers from 0.5 to 2 with random signs: fit to divide by."""
    rng = np.random.default_rng(3)
    return np.asarray(rng.uniform(0.5, 2, shape) * rng.choice([-1, 1], shape), dtype)


def same(ours: vkml.Tensor, theirs: Any, tolerance: float = 1e-6) -> None:
    assert ours.dtype.name == str(theirs.dtype).split(".")[-1]
    assert_allclose(ours.numpy(), theirs.numpy(), rtol=tolerance, atol=tolerance)


# values and derivatives -------------------------------------------------------------------


@pytest.mark.parametrize("name", FLOATING)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_arithmetic_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, shapes: Any, dtype: Any, name: str
) -> None:
    x, y = (numbers(*shape, dtype=dtype) for shape in shapes)

    agrees_with_torch(getattr(vkml, name), getattr(torch, name), x, y)


@pytest.mark.parametrize("name", FLOATING)
def test_arithmetic_of_views_equals_torch(agrees_with_torch: Any, name: str) -> None:
    def of_views(library: Any) -> Any:
        return lambda x, y: getattr(library, name)(x[1:, ::2], y[:1].expand(3, 4))

    agrees_with_torch(of_views(vkml), of_views(torch), numbers(8, 4).T, numbers(2, 4))


def test_arithmetic_of_a_flipped_view_reads_backwards() -> None:
    x = vkml.arange(4.0)

    assert (x[::-1] + x).tolist() == [3, 3, 3, 3]


@pytest.mark.parametrize(("name", "number"), [each for each in WITH_NUMBERS if each[0] in FLOATING])
def test_a_number_on_either_side_and_the_derivatives_equal_torch(
    agrees_with_torch: Any, name: str, number: Any
) -> None:
    compute = OPERATORS[name]

    agrees_with_torch(lambda x: compute(x, number), lambda x: compute(x, number), numbers(3))
    agrees_with_torch(lambda x: compute(number, x), lambda x: compute(number, x), numbers(3))


def test_remainder_and_its_derivatives_equal_torch(agrees_with_torch: Any) -> None:
    agrees_with_torch(vkml.remainder, torch.remainder, numbers(3, 4) * 5, numbers(4))


@pytest.mark.parametrize("name", ["add", "sub"])
@pytest.mark.parametrize("alpha", [2, -0.5, 0])
def test_alpha_scales_the_second_operand(agrees_with_torch: Any, alpha: float, name: str) -> None:
    def scaled(library: Any) -> Any:
        return lambda x, y: getattr(library, name)(x, y, alpha=alpha)

    agrees_with_torch(scaled(vkml), scaled(torch), numbers(3, 4), numbers(4))


def test_neg_and_its_derivatives_equal_torch(agrees_with_torch: Any) -> None:
    agrees_with_torch(vkml.neg, torch.neg, numbers(4, 3).T)


# edges ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_values_at_the_edges_equal_torch(name: str) -> None:
    x, y = np.array(list(itertools.product(EDGES, EDGES)), np.float32).T

    result = getattr(vkml, name)(vkml.tensor(x), vkml.tensor(y))

    expected = getattr(torch, name)(torch.tensor(x), torch.tensor(y))
    assert_array_equal(result.numpy(), expected.numpy())


@pytest.mark.parametrize("name", [*FLOATING, "remainder"])
def test_gradients_at_the_edges_equal_torch(name: str) -> None:
    values = np.array(list(itertools.product(EDGES, EDGES)), np.float32).T
    ours = [vkml.tensor(each, requires_grad=True) for each in values]
    theirs = [torch.tensor(each, requires_grad=True) for each in values]

    found = vkml.autograd.grad(getattr(vkml, name)(*ours).sum(), ours)
    expected = torch.autograd.grad(getattr(torch, name)(*theirs).sum(), theirs)

    for mine, other in zip(found, expected, strict=True):
        assert mine is not None
        assert_allclose(mine.numpy(), other.numpy(), rtol=1e-6)


# dtypes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("shapes", [((6,), (6,)), ((), (6,)), ((6,), ())], ids=str)
def test_mixed_dtypes_meet_as_in_torch(shapes: Any, name: str) -> None:
    dtypes = DTYPES if name in FLOATING else DTYPES[:-1]
    for first, second in itertools.product(["bool", *dtypes], dtypes):
        if name == "sub" and first == "bool":
            continue  # torch has no difference with truth values
        if {first, second} == {"float16", "complex64"}:
            continue  # complex32 in torch
        x = np.resize([3, 7, 2, 1, 5, 9], shapes[0]).astype(first)
        y = np.resize([2, 3, 4, 5, 1, 2], shapes[1]).astype(second)

        result = getattr(vkml, name)(vkml.tensor(x), vkml.tensor(y))

        theirs = getattr(torch, name)(torch.tensor(x), torch.tensor(y))
        same(result, theirs, 1e-2 if "float16" in (first, second) else 1e-6)


@pytest.mark.parametrize("dtype", DTYPES[:-1])
@pytest.mark.parametrize(("name", "number"), WITH_NUMBERS)
def test_numbers_and_tensors_meet_as_in_torch(name: str, number: Any, dtype: str) -> None:
    x = np.array([3, 7, 1]).astype(dtype)
    compute = OPERATORS[name]
    tolerance = 1e-2 if dtype == "float16" else 1e-6

    same(compute(vkml.tensor(x), number), compute(torch.tensor(x), number), tolerance)
    same(compute(number, vkml.tensor(x)), compute(number, torch.tensor(x)), tolerance)


@pytest.mark.parametrize("number", [300, -1, 2**40])
def test_a_number_that_the_tensor_s_integers_lack_is_an_error(number: int) -> None:
    with pytest.raises(vkml.DTypeError, match=f"{number} does not fit in uint8"):
        vkml.ones(2, dtype="uint8") + number


@pytest.mark.parametrize("name", ["sub", "floor_divide", "remainder"])
def test_truth_values_have_no_difference(name: str) -> None:
    x = vkml.tensor([True, False])

    with pytest.raises(vkml.DTypeError, match=f"{name}: truth values"):
        getattr(vkml, name)(x, x)


def test_truth_values_have_no_sign() -> None:
    with pytest.raises(vkml.DTypeError, match="neg: truth values have no sign"):
        -vkml.tensor([True])


# quotients of integers --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_rounding_of_negative_integers_equals_torch(name: str, dtype: str) -> None:
    signs = np.array(list(itertools.product([7, -7, 6, 0, 127, -128], [2, -2, 3, -3, -1, 127])))
    x, y = signs.astype(dtype).T

    same(
        getattr(vkml, name)(vkml.tensor(x), vkml.tensor(y)),
        getattr(torch, name)(torch.tensor(x), torch.tensor(y)),
    )


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
@pytest.mark.parametrize("divisor", [0, False, [1, 0], [[0]]])
def test_an_integer_divided_by_0_is_an_error(divisor: Any, name: str, dtype: str) -> None:
    y = divisor if isinstance(divisor, int) else vkml.tensor(divisor, dtype=dtype)

    with pytest.raises(vkml.ArgumentError, match=rf"{name}: an integer is divided by 0.*float32"):
        getattr(vkml, name)(vkml.tensor([1, 2], dtype=dtype), y)


@pytest.mark.parametrize("compute", [operator.floordiv, operator.mod])
def test_a_number_divided_by_an_integer_0_is_an_error(compute: Any) -> None:
    with pytest.raises(vkml.ArgumentError, match="divided by 0"):
        compute(7, vkml.tensor([1, 0]))


@pytest.mark.parametrize("mode", ["floor", "trunc"])
def test_a_rounded_quotient_by_an_integer_0_is_an_error(mode: str) -> None:
    with pytest.raises(vkml.ArgumentError, match="divided by 0"):
        vkml.div(vkml.tensor([1]), vkml.tensor([0]), rounding_mode=mode)


def test_no_integer_divided_by_0_is_nothing() -> None:
    assert (vkml.arange(0) // 0).shape == (0,)


def test_an_unknown_rounding_mode_is_an_error() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"rounding_mode is 'up'; give None"):
        vkml.div(vkml.ones(1), 2, rounding_mode="up")


# lerp, scaled_add -------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [0, 0.25, 0.5, 0.75, 1, -1.5, 2])
def test_lerp_by_a_number_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, weight: float
) -> None:
    def lerp(library: Any) -> Any:
        return lambda x, y: library.lerp(x, y, weight)

    agrees_with_torch(lerp(vkml), lerp(torch), numbers(3, 4), numbers(4))


def test_lerp_by_a_tensor_and_its_derivatives_equal_torch(agrees_with_torch: Any) -> None:
    agrees_with_torch(vkml.lerp, torch.lerp, numbers(3, 4), numbers(3, 4), numbers(4))


@pytest.mark.parametrize("weight", [1.0, vkml.tensor(1.0)])
def test_lerp_ends_exactly_at_its_end(weight: Any) -> None:
    result = vkml.lerp(vkml.tensor(1e8), vkml.tensor(1.0), weight)

    assert result.item() == 1


def test_lerp_at_the_edges_equals_torch() -> None:
    grid = itertools.product(EDGES, EDGES, [0.0, 0.25, 0.5, 1.0])
    values = np.array(list(grid), np.float32).T

    result = vkml.lerp(*map(vkml.tensor, values))

    assert_array_equal(result.numpy(), torch.lerp(*map(torch.tensor, values)).numpy())


def test_scaled_add_scales_both() -> None:
    result = vkml.scaled_add(vkml.tensor([1.0, 2.0]), vkml.tensor([10.0, 20.0]), 3.0, 0.5)

    assert result.tolist() == [8, 16]


# out --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FLOATING)
def test_out_is_written_and_returned(name: str) -> None:
    x, y = vkml.tensor([6.0, 8.0]), vkml.tensor([2.0, 4.0])
    out = vkml.zeros(2, 2)[:, 0]

    result = getattr(vkml, name)(x, y, out=out)

    assert result is out
    assert_array_equal(out.numpy(), getattr(vkml, name)(x, y).numpy())


def test_out_may_be_an_operand_that_is_read_backwards() -> None:
    x = vkml.arange(4.0)

    vkml.add(x[::-1], 0, out=x)

    assert x.tolist() == [3, 2, 1, 0]


def test_out_of_a_wider_dtype_is_converted_into() -> None:
    out = vkml.zeros(2)

    vkml.add(vkml.tensor([1, 2]), 1, out=out)

    assert out.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (vkml.zeros(3), vkml.ShapeError, r"add: the result has shape \(2,\)"),
        (vkml.zeros(1, 2), vkml.ShapeError, r"add: the result has shape \(2,\)"),
        (vkml.zeros(2, dtype="int64"), vkml.DTypeError, "add: the result is float32"),
        (vkml.zeros(2, requires_grad=True), vkml.ArgumentError, "out= records no gradient"),
    ],
    ids=str,
)
def test_out_that_cannot_hold_the_result_is_an_error(
    out: vkml.Tensor, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        vkml.add(vkml.ones(2), 1, out=out)


def test_out_beside_an_operand_with_a_gradient_is_an_error() -> None:
    with pytest.raises(vkml.ArgumentError, match="out= records no gradient"):
        vkml.mul(vkml.ones(2, requires_grad=True), 2, out=vkml.zeros(2))


def test_shapes_that_do_not_broadcast_are_named() -> None:
    with pytest.raises(vkml.ShapeError, match=r"add: shapes \(2,\) and \(3,\).*at axis -1"):
        vkml.ones(2) + vkml.ones(3)


@pytest.mark.parametrize("other", [None, "a", [1.0], np.ones(2)], ids=str)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_what_is_no_number_is_an_error(name: str, other: Any) -> None:
    with pytest.raises(vkml.DTypeError, match=f"{name}: "):
        OPERATORS[name](vkml.ones(2), other)
