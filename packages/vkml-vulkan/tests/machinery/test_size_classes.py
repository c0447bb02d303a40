"""Sizes of chunks: little waste, aligned, few."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vkml_vulkan.memory import GRANULE, size_class

_BYTES = st.integers(0, 2**34)


@given(_BYTES)
def test_a_chunk_holds_what_was_asked_for(nbytes: int) -> None:
    assert size_class(nbytes) >= nbytes


@given(_BYTES)
def test_a_chunk_is_a_number_of_granules(nbytes: int) -> None:
    assert size_class(nbytes) % GRANULE == 0


@given(_BYTES)
def test_a_chunk_wastes_at_most_an_eighth_and_a_granule(nbytes: int) -> None:
    assert size_class(nbytes) <= max(nbytes * 9 // 8, nbytes + GRANULE)


@given(_BYTES)
def test_the_size_of_a_chunk_is_its_own_class(nbytes: int) -> None:
    assert size_class(size_class(nbytes)) == size_class(nbytes)


@given(_BYTES, _BYTES)
def test_larger_requests_never_get_smaller_chunks(one: int, other: int) -> None:
    small, large = sorted((one, other))

    assert size_class(small) <= size_class(large)


def test_there_are_at_most_eight_classes_in_an_octave() -> None:
    octave = {size_class(nbytes) for nbytes in range(2**20 + 1, 2**21 + 1, GRANULE)}

    assert len(octave) == 8


def test_nothing_at_all_gets_a_granule() -> None:
    assert size_class(0) == GRANULE
