from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml

torch = pytest.importorskip("torch")

AgreesWithTorch = Callable[..., None]

DTYPES = [np.float32, np.float64]


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.asarray(np.random.default_rng(sum(shape)).standard_normal(shape), dtype)


CASES: list[tuple[str, tuple[int, ...], tuple[Any, ...]]] = [
    ("flip", (3, 4, 5), ((0,),)),
    ("flip", (3, 4, 5), ((1, -1),)),
    ("flip", (3, 0), ((1,),)),
    ("flip", (3, 4), ((),)),
    ("roll", (3, 5), (2, 1)),
    ("roll", (3, 5), ((-1, 7), (0, 1))),
    ("roll", (3, 5), (4,)),
    ("roll", (0, 2), (1, 0)),
    ("tile", (3, 2), ((2,),)),
    ("tile", (3, 2), ((2, 1, 3),)),
    ("tile", (), ((2, 2),)),
    ("repeat_interleave", (3, 2), (3,)),
    ("repeat_interleave", (3, 2), (3, 1)),
    ("repeat_interleave", (3, 2), (1, 0)),
    ("repeat_interleave", (3, 2), (0, 0)),
    ("repeat_interleave", (), (3,)),
    ("tril", (4, 5), ()),
    ("tril", (2, 3, 3), (1,)),
    ("tril", (3, 4), (-1,)),
    ("tril", (0, 4), ()),
    ("triu", (4, 5), ()),
    ("triu", (2, 3, 3), (-1,)),
    ("triu", (3, 4), (9,)),
    ("movedim", (2, 3, 4), (0, -1)),
    ("movedim", (2, 3, 4, 5), ((0, 1), (2, 0))),
    ("movedim", (2, 3, 4, 5), ((3, 0), (0, 3))),
    ("swapaxes", (2, 3, 4), (0, -1)),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "shape", "arguments"), CASES)
def test_values_and_derivatives_equal_torch(
    name: str, shape: Any, arguments: Any, dtype: Any, agrees_with_torch: AgreesWithTorch
) -> None:
    agrees_with_torch(
        lambda x: getattr(vkml, name)(x, *arguments) ** 2,
        lambda x: getattr(torch, name)(x, *arguments) ** 2,
        numbers(*shape, dtype=dtype),
    )


@pytest.mark.parametrize(
    ("name", "arguments"), [("flip", ((0,),)), ("roll", (1, 0)), ("tril", ()), ("tile", ((2, 1),))]
)
def test_transposed_tensors_are_arranged_as_in_torch(
    name: str, arguments: Any, agrees_with_torch: AgreesWithTorch
) -> None:
    agrees_with_torch(
        lambda x: getattr(vkml, name)(x, *arguments),
        lambda x: getattr(torch, name)(x, *arguments),
        numbers(4, 3).T,
        second=False,
    )


@pytest.mark.parametrize("repeats", [(2, 1), (3, 1, 2), (0, 2)])
def test_repeat_and_its_derivatives_equal_torch(
    repeats: Any, agrees_with_torch: AgreesWithTorch
) -> None:
    agrees_with_torch(
        lambda x: vkml.repeat(x, *repeats) ** 2,
        lambda x: x.repeat(*repeats) ** 2,
        numbers(3, 2),
        second=0 not in repeats,
    )


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("flip", (0,)), ("repeat", (1,)), ("tile", (1,)), ("repeat_interleave", (1,)), ("roll", (0,))],
)
def test_arranging_copies_even_where_nothing_moves(name: str, arguments: Any) -> None:
    x = vkml.zeros(1)

    getattr(vkml, name)(x, *arguments).add_(1)

    assert x.tolist() == [0]


def test_repeat_interleave_takes_a_number_for_each_element() -> None:
    x, repeats = numbers(3, 2), np.array([2, 0, 3])

    result = vkml.repeat_interleave(vkml.tensor(x), vkml.tensor(repeats), 0)

    assert_array_equal(result.numpy(), np.repeat(x, repeats, 0))


@pytest.mark.parametrize("name", ["tril", "triu"])
def test_triangles_of_integers_keep_their_dtype(name: str) -> None:
    x = np.arange(12).reshape(3, 4)

    result = getattr(vkml, name)(vkml.tensor(x))

    assert result.dtype is vkml.int64
    assert_array_equal(result.numpy(), getattr(np, name)(x))


def test_triangles_hide_nan() -> None:
    assert vkml.tril(vkml.full((2, 2), np.nan)).tolist()[0][1] == 0


@pytest.mark.parametrize("name", ["movedim", "swapaxes"])
def test_moved_axes_are_views(name: str) -> None:
    x = vkml.zeros(2, 3)

    getattr(vkml, name)(x, 0, 1).add_(1)

    assert x.sum().item() == 6


def test_tril_refuses_a_vector() -> None:
    with pytest.raises(vkml.ShapeError, match=r"tril: expected a matrix"):
        vkml.tril(vkml.zeros(3))


def test_repeat_refuses_too_few_numbers() -> None:
    with pytest.raises(vkml.ShapeError, match=r"repeat: \(2,\) does not say .* or use tile"):
        vkml.repeat(vkml.zeros(2, 2), 2)


def test_repeat_refuses_negative_numbers() -> None:
    with pytest.raises(vkml.ShapeError, match=r"repeat: \(-1,\)"):
        vkml.repeat(vkml.zeros(2), -1)


def test_repeat_interleave_refuses_another_number_of_repeats() -> None:
    with pytest.raises(vkml.ShapeError, match=r"repeats has shape \(2,\), axis 0 has size 3"):
        vkml.repeat_interleave(vkml.zeros(3), vkml.tensor([1, 2]), 0)


def test_repeat_interleave_refuses_negative_repeats() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"repeats holds -1"):
        vkml.repeat_interleave(vkml.zeros(3), -1)


def test_roll_refuses_another_number_of_axes() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"roll: shifts \(1, 2\) and dims \(0,\)"):
        vkml.roll(vkml.zeros(3), (1, 2), 0)


def test_roll_of_rank_0_along_an_axis_is_refused() -> None:
    with pytest.raises(vkml.ShapeError, match=r"roll: a rank-0 tensor"):
        vkml.roll(vkml.tensor(1.0), 1, 0)


@pytest.mark.parametrize(("source", "destination"), [((0, 1), (0,)), ((0, 0), (0, 1))])
def test_movedim_refuses_axes_that_do_not_pair(source: Any, destination: Any) -> None:
    with pytest.raises(vkml.ShapeError, match=r"movedim: .* name each axis once"):
        vkml.movedim(vkml.zeros(2, 3), source, destination)
