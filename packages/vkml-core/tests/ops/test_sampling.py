from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml


def generator() -> vkml.Generator:
    return vkml.Generator(1234)


# randperm --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_a_permutation_holds_each_number_once(n: int) -> None:
    result = vkml.randperm(n)

    assert result.dtype is vkml.int64
    assert_array_equal(np.sort(result.numpy()), np.arange(n))


def test_a_permutation_is_the_order_of_64_bit_words() -> None:
    words = vkml.randint(0, 2**64, (50,), dtype="uint64", generator=generator())

    result = vkml.randperm(50, generator=generator())

    assert_array_equal(result.numpy(), np.argsort(words.numpy(), kind="stable"))


def test_all_permutations_are_equally_likely() -> None:
    source = generator()
    found = [tuple(vkml.randperm(3, generator=source).tolist()) for _ in range(1200)]

    counts = np.unique(found, axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert ((counts - 200) ** 2 / 200).sum() < 20  # chi-squared, 5 degrees of freedom


def test_a_permutation_can_have_another_dtype() -> None:
    assert vkml.randperm(3, dtype="int32").dtype is vkml.int32


# bernoulli -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bernoulli_draws_with_the_probabilities(dtype: str) -> None:
    p = vkml.tensor([0.0, 0.25, 1.0], dtype=dtype).expand(10_000, 3)

    result = vkml.bernoulli(p, generator=generator())

    assert result.dtype.name == dtype
    means = result.mean(0).tolist()
    assert (means[0], means[2]) == (0, 1)
    assert abs(means[1] - 0.25) < 0.02


def test_bernoulli_refuses_integers() -> None:
    with pytest.raises(vkml.DTypeError, match=r"bernoulli: .*int64 holds no fractions"):
        vkml.bernoulli(vkml.ones(2, dtype="int64"))


# multinomial -----------------------------------------------------------------------------


@pytest.mark.parametrize("replacement", [False, True])
def test_places_are_drawn_by_their_weights(replacement: bool) -> None:
    weights = vkml.tensor([1.0, 0.0, 3.0, 4.0]).expand(20_000, 4)

    result = vkml.multinomial(weights, 1, replacement, generator=generator())

    assert (result.shape, result.dtype) == ((20_000, 1), vkml.int64)
    shares = np.bincount(result.numpy().ravel(), minlength=4) / 20_000
    np.testing.assert_allclose(shares, [1 / 8, 0, 3 / 8, 4 / 8], atol=0.015)


def test_without_replacement_no_place_comes_twice() -> None:
    weights = vkml.rand(50, 6, generator=generator())

    result = vkml.multinomial(weights, 6).numpy()

    assert_array_equal(np.sort(result, axis=1), np.broadcast_to(np.arange(6), (50, 6)))


def test_one_row_gives_one_axis() -> None:
    assert vkml.multinomial(vkml.tensor([1.0, 1.0]), 5, True).shape == (5,)


@pytest.mark.parametrize("weights", [[-1.0, 2.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_weights_that_are_none_are_refused(weights: Any) -> None:
    with pytest.raises(vkml.ArgumentError, match="finite and 0 or more"):
        vkml.multinomial(vkml.tensor(weights), 1)


@pytest.mark.parametrize(
    ("weights", "count", "replacement"),
    [([1.0, 0.0], 2, False), ([0.0, 0.0], 1, True), ([1.0], 0, True)],
)
def test_too_few_weights_are_refused(weights: Any, count: int, replacement: bool) -> None:
    with pytest.raises(vkml.ArgumentError, match=rf"{count} cannot be drawn"):
        vkml.multinomial(vkml.tensor(weights), count, replacement)
