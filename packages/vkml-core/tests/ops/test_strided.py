"""Views by explicit strides: what they show, never memory outside the storage, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml

torch = pytest.importorskip("torch")

VIEWS: list[Any] = [
    ((3, 2), (4, 1), 1), ((2, 3), (1, 1), 0), ((2, 2, 2), (0, 3, 1), 2), ((), (), 5),
    ((0,), (1,), 3), ((4,), (2,), 1), ((5,), (0,), 7), ((12,), (1,), 0),
]  # fmt: skip


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_view_and_its_derivatives_equal_torch(agrees_with_torch: Any, view: Any) -> None:
    x = np.random.default_rng(3).standard_normal(12)

    def shown(library: Any) -> Any:
        return lambda x: library.as_strided(x * x, *view)

    agrees_with_torch(shown(vkml), shown(torch), x)


def test_view_of_a_transposed_tensor_has_the_gradient_of_torch(agrees_with_torch: Any) -> None:
    x = np.random.default_rng(3).standard_normal((3, 4)).T

    def shown(library: Any) -> Any:
        return lambda x: library.as_strided(x, (2, 3), (4, 1), 1)

    agrees_with_torch(shown(vkml), shown(torch), x)


def test_view_begins_where_the_tensor_begins() -> None:
    part = vkml.arange(6)[2:4]

    assert part.as_strided((4,), (1,)).tolist() == [2, 3, 4, 5]
    assert part.as_strided((4,), (1,), 0).tolist() == [0, 1, 2, 3]


def test_negative_strides_read_backwards() -> None:
    x = vkml.arange(6.0, requires_grad=True)

    view = vkml.as_strided(x, (3,), (-2,), 5)
    (gradient,) = vkml.autograd.grad((view * vkml.tensor([1.0, 2, 3])).sum(), x)

    assert view.tolist() == [5, 3, 1]
    assert gradient is not None
    assert gradient.tolist() == [0, 3, 0, 2, 0, 1]


def test_view_shares_memory_and_version() -> None:
    x = vkml.arange(6)
    view = x.as_strided((2, 2), (3, 1))

    x.add_(10)
    view[1, 1] = 0

    assert view.tolist() == [[10, 11], [13, 0]]
    assert x.tolist() == [10, 11, 12, 13, 0, 15]
    assert view.storage() == x.storage()


@pytest.mark.parametrize(
    "view",
    [((3, 3), (3, 1), 0), ((2,), (-1,), 0), ((2, 2), (2, 1), 3), ((2, 2), (2, 1), 4),
     ((1,), (1,), 6), ((2,), (1,), -1), ((), (), 6), ((2,), (10**12,), 0)],
    ids=str,
)  # fmt: skip
def test_view_beyond_the_storage_is_an_error(view: Any) -> None:
    with pytest.raises(vkml.ShapeError, match="outside the storage, which holds 6"):
        vkml.arange(6).as_strided(*view)


@pytest.mark.parametrize(
    "view",
    [((2, 2), (1,)), ((-1,), (1,)), ((-1,), (0,)), ((2.5,), (1,)), ((2,), (1.5,)),
     ((2,), (1,), 0.5), (("a",), (1,)), ((0,), (1,), -1)],
    ids=str,
)  # fmt: skip
def test_what_is_no_view_is_an_error(view: Any) -> None:
    with pytest.raises(vkml.ShapeError):
        vkml.arange(6).as_strided(*view)


@pytest.mark.parametrize("offset", [0, 6, 100])
def test_an_empty_view_may_lie_anywhere(offset: int) -> None:
    assert vkml.arange(6).as_strided((0, 3), (3, 1), offset).shape == (0, 3)


def test_view_beyond_its_base_has_no_gradient() -> None:
    x = vkml.arange(6.0)[:3].requires_grad_()

    view = x.as_strided((2,), (1,), 3)

    assert view.tolist() == [3, 4]
    with pytest.raises(vkml.ShapeError, match="memory that its base does not"):
        view.sum().backward()


def test_overlapping_elements_add_their_gradients() -> None:
    x = vkml.ones(3, requires_grad=True)

    x.as_strided((2, 2), (1, 1)).sum().backward()

    assert x.grad is not None
    assert_array_equal(x.grad.numpy(), [1, 2, 1])
