"""Generators: seeds, offsets, states."""

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml


@pytest.fixture(autouse=True)
def _same_state_afterwards() -> Iterator[None]:
    state = vkml.get_rng_state()
    yield
    vkml.set_rng_state(state)


def numpy_state() -> list[int]:
    state: Any = np.random.get_state(legacy=False)  # noqa: NPY002
    found: list[int] = state["state"]["key"].tolist()
    return found


def test_the_same_seed_gives_the_same_numbers() -> None:
    vkml.manual_seed(5)
    first = [vkml.rand(3).tolist(), vkml.randperm(5).tolist(), vkml.randn(2).tolist()]

    vkml.manual_seed(5)
    again = [vkml.rand(3).tolist(), vkml.randperm(5).tolist(), vkml.randn(2).tolist()]

    assert first == again


def test_each_draw_takes_one_offset_whatever_its_size() -> None:
    source = vkml.Generator(9)

    vkml.rand(1, generator=source)
    vkml.randn(1000, 1000, generator=source)
    vkml.randperm(3, generator=source)

    assert source.take() == (9, 3)


def test_generators_do_not_disturb_each_other() -> None:
    first, second = vkml.Generator(1), vkml.Generator(1)
    vkml.rand(3, generator=first)

    assert second.take() == (1, 0)


def test_numpy_s_random_state_is_neither_used_nor_changed() -> None:
    vkml.manual_seed(5)
    np.random.seed(0)  # noqa: NPY002 - the global state is what is tested
    first = vkml.rand(3).tolist()
    state = numpy_state()
    vkml.manual_seed(5)
    np.random.seed(1)  # noqa: NPY002

    assert vkml.rand(3).tolist() == first
    np.random.seed(0)  # noqa: NPY002
    assert numpy_state() == state


def test_a_state_continues_where_it_was_taken() -> None:
    source = vkml.Generator(3)
    vkml.rand(2, generator=source)
    state = source.get_state()
    expected = vkml.rand(4, generator=source)

    other = vkml.Generator(0).set_state(state)

    assert_array_equal(vkml.rand(4, generator=other).numpy(), expected.numpy())


def test_a_state_is_16_bytes() -> None:
    state = vkml.Generator(0x0102030405060708).get_state()

    assert state.dtype is vkml.uint8
    assert state.tolist() == [8, 7, 6, 5, 4, 3, 2, 1, *[0] * 8]


def test_something_else_is_no_state() -> None:
    with pytest.raises(vkml.ArgumentError, match=r"set_state: expected 16 bytes of uint8"):
        vkml.Generator(0).set_state(vkml.zeros(16))


def test_the_initial_seed_is_remembered() -> None:
    source = vkml.Generator(3)
    vkml.rand(2, generator=source)

    assert source.initial_seed() == 3
    assert source.manual_seed(4).initial_seed() == 4
    assert source.take() == (4, 0)


def test_a_made_up_seed_is_returned() -> None:
    number = vkml.seed()

    assert vkml.initial_seed() == number
    assert vkml.Generator().initial_seed() != vkml.Generator().initial_seed()


def test_a_negative_seed_counts_from_the_end() -> None:
    assert vkml.Generator(-1).initial_seed() == 2**64 - 1


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_a_seed_that_does_not_fit_is_refused(seed: int) -> None:
    with pytest.raises(vkml.ArgumentError, match="does not fit in 64 bits"):
        vkml.Generator(seed)


def test_threads_never_share_an_offset() -> None:
    source = vkml.Generator(1)
    taken: list[tuple[int, int]] = []

    def draw() -> None:
        taken.extend(source.take() for _ in range(500))

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(offset for _, offset in taken) == list(range(4000))


def test_a_generator_shows_its_state() -> None:
    source = vkml.Generator(3)
    source.take()

    assert repr(source) == "<vkml.Generator seed=3 offset=1>"
