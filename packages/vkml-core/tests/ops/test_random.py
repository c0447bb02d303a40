"""The definition of the random numbers is tested against a plain Python Philox4x32-10."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml
from vkml.backends.cpu_kernels import random as kernels

WORD = 2**32 - 1

# Random123's known answers for philox4x32-10: counter, key, result.
KNOWN_ANSWERS: list[tuple[tuple[int, ...], tuple[int, int], tuple[int, ...]]] = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((WORD,) * 4, (WORD, WORD), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def philox(counter: tuple[int, ...], key: tuple[int, int]) -> tuple[int, ...]:
    a, x, b, y = counter
    k0, k1 = key
    for _ in range(10):
        first, second = a * 0xD2511F53, b * 0xCD9E8D57
        a, x, b, y = second >> 32 ^ x ^ k0, second & WORD, first >> 32 ^ y ^ k1, first & WORD
        k0, k1 = (k0 + 0x9E3779B9) & WORD, (k1 + 0xBB67AE85) & WORD
    return a, x, b, y


def words(index: int, seed: int, offset: int) -> tuple[int, ...]:
    counter = (index & WORD, index >> 32, offset & WORD, offset >> 32)
    return philox(counter, (seed & WORD, seed >> 32))


def generator() -> vkml.Generator:
    return vkml.Generator(1234)


# the numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN_ANSWERS)
def test_the_reference_gives_the_published_answers(counter: Any, key: Any, expected: Any) -> None:
    assert philox(counter, key) == expected


@pytest.mark.parametrize("seed", [0, 42, 2**64 - 1, 0xDEADBEEF_00000001])
@pytest.mark.parametrize("offset", [0, 1, 2**32, 2**64 - 1])
def test_the_kernel_gives_the_words_of_the_reference(seed: int, offset: int) -> None:
    count = kernels.BLOCK + 3
    places = [0, 1, 2, kernels.BLOCK - 1, kernels.BLOCK, kernels.BLOCK + 2]

    found = np.empty((2, count), np.uint64)
    for where, first, second in kernels._blocks(count, seed, offset):
        found[:, where] = first, second

    for place in places:
        assert tuple(found[:, place].tolist()) == words(place, seed, offset)[:2]


def test_the_kernel_uses_both_halves_of_an_index() -> None:
    start = 5 * 2**32 + 7
    keys = [
        (np.uint64((3 + n * 0x9E3779B9) & WORD), np.uint64((n * 0xBB67AE85) & WORD))
        for n in range(10)
    ]
    buffers = [np.empty(4, np.uint64) for _ in range(6)]

    first, second = kernels._philox(start, 4, 9, keys, buffers)

    for place in range(4):
        assert (first[place], second[place]) == words(start + place, 3, 9)[:2]


def test_rand_of_seed_42_has_these_bits() -> None:
    result = vkml.rand(4, generator=vkml.Generator(42)).numpy()

    assert result.dtype == np.float32
    assert result.view(np.uint32).tolist() == [1058859760, 1065147169, 1062431746, 1060816644]


def test_the_second_draw_of_seed_42_has_these_values() -> None:
    source = vkml.Generator(42)
    vkml.rand(100, generator=source)

    assert vkml.rand(4, generator=source).tolist() == [
        0.010058820247650146,
        0.12889963388442993,
        0.21278762817382812,
        0.1193508505821228,
    ]


def test_a_shorter_draw_is_the_beginning_of_a_longer_one() -> None:
    long = vkml.rand(3, 20_000, generator=generator())

    assert_array_equal(vkml.rand(7, generator=generator()).numpy(), long.numpy().ravel()[:7])


@pytest.mark.parametrize(("dtype", "bits"), [("float16", 11), ("float32", 24), ("float64", 53)])
def test_uniform_numbers_are_whole_multiples_below_1(dtype: str, bits: int) -> None:
    x = vkml.rand(50_000, dtype=dtype, generator=generator()).numpy().astype(np.float64)

    scaled = x * 2.0**bits
    assert_array_equal(scaled, np.floor(scaled))
    assert x.min() >= 0
    assert x.max() < 1


def test_float64_uniforms_use_both_words() -> None:
    first, second = words(5, 1234, 0)[:2]

    result = vkml.rand(6, dtype="float64", generator=generator()).tolist()[5]

    assert result == ((first << 21) | (second >> 11)) * 2.0**-53


def test_uniform_numbers_are_uniform() -> None:
    x = vkml.rand(100_000, generator=generator()).numpy().astype(np.float64)

    counts = np.histogram(x, 100, (0, 1))[0]
    assert ((counts - 1000) ** 2 / 1000).sum() < 150  # chi-squared, 99 degrees of freedom
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 0.015


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_are_normal(dtype: str) -> None:
    x = vkml.randn(200_000, dtype=dtype, generator=generator()).numpy().astype(np.float64)

    assert abs(x.mean()) < 0.01
    assert abs(x.std() - 1) < 0.01
    assert abs((x**3).mean()) < 0.03
    assert abs((x**4).mean() - 3) < 0.08
    for bound in (-2, -1, 0, 1, 2):
        expected = 0.5 * (1 + math.erf(bound / math.sqrt(2)))
        assert abs((x < bound).mean() - expected) < 0.005


def test_normal_numbers_are_box_and_muller_s() -> None:
    first, second = (word >> 8 for word in words(3, 1234, 0)[:2])
    radius = math.sqrt(-2 * math.log((first + 1) / 2**24))

    result = vkml.randn(4, generator=generator()).tolist()[3]

    assert result == pytest.approx(radius * math.cos(2 * math.pi * second / 2**24), rel=1e-5)


def test_normal_numbers_are_finite_even_for_the_smallest_word() -> None:
    x = vkml.randn(2_000_000, generator=generator()).numpy()

    assert np.isfinite(x).all()
    assert abs(x).max() < 5.8


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (2, 3, 4)])
@pytest.mark.parametrize("name", ["rand", "randn"])
def test_any_shape_can_be_drawn(name: str, shape: Any) -> None:
    assert getattr(vkml, name)(*shape).shape == shape
    assert getattr(vkml, name)(shape).shape == shape


def test_like_functions_take_shape_and_dtype() -> None:
    like = vkml.zeros(2, 3, dtype="float64")

    for result in (vkml.rand_like(like), vkml.randn_like(like)):
        assert (result.shape, result.dtype) == ((2, 3), vkml.float64)
    assert vkml.rand_like(like, dtype="float32").dtype is vkml.float32


def test_drawn_tensors_can_require_a_gradient() -> None:
    assert vkml.randn(2, requires_grad=True).is_leaf


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_integers_are_no_dtype_of_fractions(name: str) -> None:
    with pytest.raises(vkml.DTypeError, match=rf"{name}: .*int64 holds no fractions"):
        getattr(vkml, name)(2, dtype="int64")


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"a size is negative"):
        vkml.rand(-1)


# normal ----------------------------------------------------------------------------------


def test_normal_scales_and_shifts() -> None:
    result = vkml.normal(3.0, 2.0, (4,), generator=generator())

    expected = vkml.randn(4, generator=generator()) * 2 + 3
    assert_array_equal(result.numpy(), expected.numpy())


def test_normal_broadcasts_tensors_and_gives_them_no_gradient() -> None:
    mean = vkml.tensor([[1.0], [2.0]], requires_grad=True)

    result = vkml.normal(mean, vkml.zeros(3))

    assert not result.requires_grad
    assert result.tolist() == [[1, 1, 1], [2, 2, 2]]


def test_normal_without_tensors_needs_a_size() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"normal: neither mean nor std"):
        vkml.normal(0.0, 1.0)


def test_normal_refuses_a_negative_deviation() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"normal: std is -1"):
        vkml.normal(0.0, -1.0, (2,))


# randint ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [(0, 10), (-3, 4), (5, 6), (-(2**40), 2**40)])
def test_integers_are_the_words_scaled_to_the_range(low: int, high: int) -> None:
    result = vkml.randint(low, high, (5,), generator=generator()).tolist()

    count = high - low
    for place, number in enumerate(result):
        first, second = words(place, 1234, 0)[:2]
        if count <= 2**32:
            assert number == low + (first * count >> 32)
        else:
            assert number == low + (first << 32 | second) % count


def test_integers_take_each_value_equally_often() -> None:
    x = vkml.randint(10, (100_000,), generator=generator()).numpy()

    counts = np.bincount(x, minlength=10)
    assert len(counts) == 10
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 30  # chi-squared, 9 degrees of freedom


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [("int64", -(2**63), 2**63), ("uint64", 0, 2**64), ("uint8", 0, 256), ("int8", -128, 128)],
)
def test_integers_fill_a_whole_dtype(dtype: str, low: int, high: int) -> None:
    x = vkml.randint(low, high, (2000,), dtype=dtype, generator=generator())

    values = x.numpy().astype(np.float64)
    assert x.dtype.name == dtype
    assert values.min() < low + (high - low) / 100
    assert values.max() > high - 1 - (high - low) / 100


def test_integers_can_be_drawn_as_floats() -> None:
    assert vkml.randint(1, 2, (2,), dtype="float32").tolist() == [1.0, 1.0]


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"randint: there is no integer from 3 up to 3"):
        vkml.randint(3, 3, (1,))


def test_a_range_that_the_dtype_does_not_hold_is_refused() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"randint: uint8 does not hold all of 0 to 256"):
        vkml.randint(257, (1,), dtype="uint8")


def test_randint_says_how_it_is_called() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"call it as randint\(high, size\)"):
        vkml.randint(1, 3)


# in place --------------------------------------------------------------------------------


def test_uniform_in_place_fills_the_range() -> None:
    x = vkml.zeros(10_000)

    assert x.uniform_(-2, 3, generator=generator()) is x
    assert x.min().item() >= -2
    assert x.max().item() <= 3
    assert abs(x.mean().item() - 0.5) < 0.05


def test_normal_in_place_scales_and_shifts() -> None:
    x = vkml.zeros(4)

    x.normal_(3, 2, generator=generator())

    assert_array_equal(x.numpy(), (vkml.randn(4, generator=generator()) * 2 + 3).numpy())


def test_bernoulli_in_place_writes_zeros_and_ones() -> None:
    from vkml.ops.functions import call

    x = vkml.zeros(10_000)

    call("bernoulli_", x, 0.25, generator=generator())

    assert set(x.tolist()) == {0.0, 1.0}
    assert abs(x.mean().item() - 0.25) < 0.02


def test_filling_a_view_fills_its_part() -> None:
    x = vkml.zeros(4)

    x[1:3].uniform_(1, 2)

    assert [value > 0 for value in x.tolist()] == [False, True, True, False]


def test_filling_a_result_ends_its_history() -> None:
    leaf = vkml.ones(3, requires_grad=True)
    x = leaf * 2

    x.normal_()

    assert not x.requires_grad


def test_filling_a_leaf_that_requires_a_gradient_needs_no_grad() -> None:
    x = vkml.zeros(3, requires_grad=True)

    with pytest.raises(vkml.AutogradError, match="uniform_"):
        x.uniform_()
    with vkml.no_grad():
        x.uniform_(1, 2)
    assert x.requires_grad
    assert x.detach().min().item() >= 1


def test_an_empty_range_cannot_be_filled_in() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"uniform_: the range from 2 to 1"):
        vkml.zeros(1).uniform_(2, 1)
