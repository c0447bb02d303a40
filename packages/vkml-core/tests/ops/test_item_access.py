"""What an index may be, and what is said of one that cannot index."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml


@pytest.fixture
def x() -> vkml.Tensor:
    return vkml.arange(600.0).reshape(200, 3)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_an_index_of_a_narrow_dtype_reaches_along_a_long_axis(x: vkml.Tensor, dtype: str) -> None:
    index = vkml.tensor([1, 100, 0], dtype=dtype)

    assert_array_equal(x[index].numpy(), x.numpy()[[1, 100, 0]])
    if dtype != "uint8":
        assert_array_equal(x[-index].numpy(), x.numpy()[[-1, -100, 0]])


@pytest.mark.parametrize(
    "index", [True, False, (True, 1), (..., False), (None, True), ([1, 2], True)]
)
def test_a_single_truth_value_is_an_index_as_in_numpy(x: vkml.Tensor, index: Any) -> None:
    assert_array_equal(x[index].numpy(), x.numpy()[index])
    assert_array_equal(x[vkml.tensor(True)].numpy(), x.numpy()[np.True_])


def test_writing_where_a_single_truth_value_says_so(x: vkml.Tensor) -> None:
    before = x.numpy().copy()

    x[False] = 7.0
    assert_array_equal(x.numpy(), before)

    x[True] = 7.0
    assert (x == 7.0).all()


def test_a_rank_0_array_is_an_integer(x: vkml.Tensor) -> None:
    assert_array_equal(x[np.array(2), :].numpy(), x.numpy()[2])


@pytest.mark.parametrize("index", [0, (slice(0, 1), None, 0), [0, 1], (..., [2])])
def test_a_written_value_may_have_axes_of_size_1_in_front(x: vkml.Tensor, index: Any) -> None:
    expected = x.numpy().copy()
    value = np.full((1, 1, *expected[index].shape), 5.0, np.float32)
    expected[index] = value

    x[index] = vkml.tensor(value)

    assert_array_equal(x.numpy(), expected)


def test_a_slice_without_a_step_is_refused(x: vkml.Tensor) -> None:
    with pytest.raises(vkml.ArgumentError, match=r"the slice 1:2:0 .* step cannot be zero"):
        x[1:2:0]


def test_a_slice_of_words_is_refused(x: vkml.Tensor) -> None:
    with pytest.raises(vkml.DTypeError, match="the slice 'a': cannot index"):
        x["a":]


def test_an_uneven_list_is_refused(x: vkml.Tensor) -> None:
    with pytest.raises(vkml.ShapeError, match="a list that indexes"):
        x[[[1], [1, 2]]]
