"""Creation: shapes, dtypes, counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml

torch = pytest.importorskip("torch")

LIKE: list[Any] = [vkml.zeros_like, vkml.ones_like, vkml.empty_like]
DTYPES = ["bool", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64"]


def same(ours: vkml.Tensor, theirs: Any, tolerance: float = 0.0) -> None:
    assert ours.dtype.name == str(theirs.dtype).split(".")[-1]
    assert ours.shape == tuple(theirs.shape)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=tolerance, atol=tolerance)


# zeros, ones, empty, full ------------------------------------------------------------------


@pytest.mark.parametrize("size", [(2, 3), ((2, 3),), ([2],), ((),), (0,), (2, 0), (np.int64(2),)])
@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_zeros_and_ones_equal_those_of_torch(name: str, size: Any) -> None:
    same(getattr(vkml, name)(*size), getattr(torch, name)(*size))


@pytest.mark.parametrize("create", [vkml.zeros, vkml.ones, vkml.empty])
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtype_is_the_one_asked_for(create: Any, dtype: str) -> None:
    assert create(2, dtype=dtype).dtype.name == dtype


@pytest.mark.parametrize("create", [vkml.zeros, vkml.ones, vkml.empty])
def test_a_gradient_can_be_wanted_from_the_start(create: Any) -> None:
    assert create(2, requires_grad=True).requires_grad
    assert not create(2).requires_grad


@pytest.mark.parametrize("create", [vkml.zeros, vkml.ones, vkml.empty, vkml.eye])
def test_a_negative_size_is_an_error(create: Any) -> None:
    with pytest.raises(vkml.ArgumentError, match="a size is negative"):
        create(-1)


@pytest.mark.parametrize("create", LIKE)
@pytest.mark.parametrize("dtype", [None, "int32"])
def test_like_takes_shape_and_dtype_over(create: Any, dtype: str | None) -> None:
    model = vkml.zeros(2, 3, dtype="float64").T

    result = create(model, dtype=dtype)

    assert result.shape == (3, 2)
    assert result.dtype.name == (dtype or "float64")
    assert result.storage() != model.storage()


@pytest.mark.parametrize("value", [True, 7, 2.5, 1j, float("nan"), -(2**63)])
@pytest.mark.parametrize("size", [(2, 3), (), (0,), [2]])
def test_full_equals_that_of_torch(size: Any, value: Any) -> None:
    same(vkml.full(size, value), torch.full(size, value))


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(np.float64(3), "float32"), (np.int32(3), "int64"), (np.True_, "bool"),
     (vkml.tensor(3.0), "float32"), (vkml.tensor([3]), "int64")],
    ids=repr,
)  # fmt: skip
def test_full_takes_tensors_and_numpy_numbers_for_python_numbers(value: Any, dtype: str) -> None:
    assert vkml.full((2,), value).dtype.name == dtype


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(300, "uint8"), (-1, "uint8"), (128, "int8"), (2**63, "int64"), (float("nan"), "int32"),
     (1e300, "int64"), (1j, "float32"), (1j, "int8")],
)  # fmt: skip
def test_a_number_that_does_not_fit_is_an_error(value: Any, dtype: str) -> None:
    x = vkml.zeros(2, dtype=dtype)

    with pytest.raises(vkml.DTypeError, match=r"full: .* does not fit in"):
        vkml.full((2,), value, dtype=dtype)
    with pytest.raises(vkml.DTypeError, match=r"full: .* does not fit in"):
        vkml.full_like(x, value)
    with pytest.raises(vkml.DTypeError, match=r"full: .* does not fit in"):
        x.fill_(value)


@pytest.mark.parametrize("value", ["a", None, [1], (1, 2)])
def test_what_is_no_number_fills_nothing(value: Any) -> None:
    with pytest.raises(vkml.DTypeError, match="full: expected a number"):
        vkml.full((2,), value)


def test_full_like_keeps_the_dtype() -> None:
    same(vkml.full_like(vkml.zeros(2), 7), torch.full_like(torch.zeros(2), 7))


# arange ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [None, "float32", "float64"])
@pytest.mark.parametrize(
    "arguments",
    [
        (3,), (0,), (2.5,), (1, 4), (1, 4.0), (1, 1), (0, 10, 3), (0, -10, -3), (3, 3, 1),
        (0, 1, 0.1), (0, 1, 0.3), (1, 0, -0.1), (0, 1.0000001, 0.1), (0.0, 0.3, 0.1),
        (1, 1.3, 0.1), (0, 0.7, 0.1), (-1, 1, 0.2), (0, 2, 0.4), (0, 1, 1 / 3), (0, 1, 1 / 49),
        (0, 1e6, 1e5), (True,), (0.1, 0.5, 0.1), (10, 9.95, -0.01), (1e-3, 1e-2, 1e-3),
    ],
    ids=str,
)  # fmt: skip
def test_arange_counts_and_steps_as_in_torch(arguments: Any, dtype: str | None) -> None:
    theirs = torch.arange(*arguments, dtype=getattr(torch, dtype or "", None))

    same(vkml.arange(*arguments, dtype=dtype), theirs, tolerance=1e-6)


@pytest.mark.parametrize("step", [0.1, 0.2, 0.3, 0.7, 1 / 3, 1 / 7, 0.01, 0.05, 1.1])
def test_arange_of_whole_multiples_counts_as_in_torch(step: float) -> None:
    ours = [len(vkml.arange(0, count * step, step)) for count in range(1, 60)]

    assert ours == [len(torch.arange(0, count * step, step)) for count in range(1, 60)]


def test_arange_of_large_integers_is_exact() -> None:
    result = vkml.arange(2**62, 2**62 + 3)

    assert result.tolist() == [2**62, 2**62 + 1, 2**62 + 2]


def test_arange_takes_tensors_of_one_element() -> None:
    result = vkml.arange(vkml.tensor(3))  # type: ignore[arg-type]  # not typed, but works

    same(result, torch.arange(torch.tensor(3)))


@pytest.mark.parametrize(
    "arguments",
    [(5, 1), (1, 5, -1), (0, 5, 0), (0, 5, 0.0), (float("inf"),), (float("nan"),),
     (0, 1, float("nan")), (0, 1, float("inf")), (1j,), ("a",), (None,)],
    ids=str,
)  # fmt: skip
def test_a_range_that_leads_nowhere_is_an_error(arguments: Any) -> None:
    with pytest.raises(vkml.ArgumentError, match="arange: "):
        vkml.arange(*arguments)


# linspace, eye -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [None, "float64", "float16"])
@pytest.mark.parametrize(
    "arguments",
    [(0, 1, 5), (0, 1, 1), (0, 1, 0), (0, 1, 2), (1, 0, 4), (-1, 1, 5), (3, 3, 4), (0, 1, 100)],
    ids=str,
)
def test_linspace_equals_that_of_torch(arguments: Any, dtype: str | None) -> None:
    theirs = torch.linspace(*arguments, dtype=getattr(torch, dtype or "", None))

    same(vkml.linspace(*arguments, dtype=dtype), theirs, tolerance=1e-3 if dtype else 1e-6)


def test_linspace_ends_at_its_end() -> None:
    assert vkml.linspace(0.1, 0.7, 50)[-1].item() == vkml.tensor(0.7).item()


@pytest.mark.parametrize("arguments", [(0, 1, -1), (0, float("inf"), 3), ("a", 1, 2), (0, 1j, 2)])
def test_a_linspace_without_an_end_is_an_error(arguments: Any) -> None:
    with pytest.raises(vkml.ArgumentError, match="linspace: "):
        vkml.linspace(*arguments)


def test_the_steps_of_linspace_are_an_integer() -> None:
    with pytest.raises(vkml.ShapeError, match="integers"):
        vkml.linspace(0, 1, 2.5)  # type: ignore[arg-type]  # the mistake that is tested


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
@pytest.mark.parametrize("size", [(3,), (2, 4), (4, 2), (0,), (0, 3)])
def test_eye_equals_that_of_torch(size: Any, dtype: str) -> None:
    same(vkml.eye(*size, dtype=dtype), torch.eye(*size, dtype=getattr(torch, dtype)))


def test_new_tensors_share_nothing() -> None:
    first, second = vkml.zeros(2), vkml.zeros(2)

    first.add_(1)

    assert_array_equal(second.numpy(), [0, 0])
