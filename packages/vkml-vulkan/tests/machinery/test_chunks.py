"""Chunks that are cut and joined keep what was recorded on their memory."""

from __future__ import annotations

import pytest

from vkml_vulkan.handle import VulkanDevice
from vkml_vulkan.memory import Chunk


@pytest.fixture
def chunk(handle: VulkanDevice) -> Chunk:
    """Return a chunk of four granules that was written in epoch 5, read in 7, and is busy."""
    chunk = handle.pool.allocate(1024).chunk
    chunk.written, chunk.read, chunk.busy_until = 5, 7, 9
    return chunk


def test_what_is_cut_off_begins_where_the_rest_ends(chunk: Chunk) -> None:
    address, host = chunk.address, chunk.host

    rest = chunk.shorten(256)

    assert rest is not None
    assert (chunk.address, chunk.nbytes) == (address, 256)
    assert (rest.address, rest.nbytes) == (address + 256, 768)
    assert rest.host == (host + 256 if host else 0)


def test_what_is_cut_off_was_used_as_the_whole_was(chunk: Chunk) -> None:
    rest = chunk.shorten(256)

    assert rest is not None
    assert (rest.written, rest.read, rest.busy_until) == (5, 7, 9)


def test_nothing_is_cut_off_what_has_the_length(chunk: Chunk) -> None:
    assert chunk.shorten(1024) is None


def test_neighbours_become_one_that_was_used_as_either(chunk: Chunk) -> None:
    rest = chunk.shorten(256)
    assert rest is not None
    rest.written, rest.read, rest.busy_until = 6, 3, 11

    assert chunk.absorb(rest)

    assert chunk.nbytes == 1024
    assert (chunk.written, chunk.read, chunk.busy_until) == (6, 7, 11)


def test_what_lies_apart_is_not_joined(handle: VulkanDevice, chunk: Chunk) -> None:
    handle.pool.allocate(512)
    other = handle.pool.allocate(2048).chunk

    assert not chunk.absorb(other)
    assert not other.absorb(chunk)


def test_chunks_of_different_blocks_are_not_joined(handle: VulkanDevice) -> None:
    large = [handle.pool.allocate(70 * 2**20).chunk for _ in range(2)]

    assert not large[0].absorb(large[1])
    assert not large[1].absorb(large[0])
