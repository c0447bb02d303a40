"""The memory pool: chunks come back at once, blocks when nobody needs them."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable

import numpy as np
import pytest

import vkml
from vkml_vulkan.device import LogicalDevice
from vkml_vulkan.handle import VulkanDevice
from vkml_vulkan.memory import GRANULE, MemoryPool, Storage

_MIB = 2**20


def test_every_chunk_is_aligned(handle: VulkanDevice) -> None:
    held = [handle.pool.allocate(nbytes) for nbytes in (1, 255, 257, 4000, 70_001)]

    assert [each.address % GRANULE for each in held] == [0] * len(held)


def test_chunks_in_use_do_not_overlap(handle: VulkanDevice) -> None:
    held = [handle.pool.allocate(nbytes) for nbytes in (1, 300, 5000, 1, 300, 5000, 80_000)]

    ranges = sorted((each.address, each.address + each.chunk.nbytes) for each in held)
    assert all(stop <= start for (_, stop), (start, _) in itertools.pairwise(ranges))


def test_the_chunk_of_a_dead_tensor_is_used_again_at_once(handle: VulkanDevice) -> None:
    first = handle.empty((100,), np.dtype(np.float32))
    address = first.address
    del first

    assert handle.empty((100,), np.dtype(np.float32)).address == address


def test_a_chunk_is_not_used_again_while_a_view_lives(handle: VulkanDevice) -> None:
    first = handle.empty((100,), np.dtype(np.float32))
    view = handle.view(first, (2,), (1,), 5)
    address = first.address
    del first

    assert handle.empty((100,), np.dtype(np.float32)).address != address
    assert view.offset == 5


def test_values_are_right_where_chunks_are_reused_while_kernels_are_pending(
    handle: VulkanDevice,
) -> None:
    add = handle.kernel("add")
    assert add is not None
    addresses, value = set(), handle.upload(np.arange(5, dtype=np.float32))

    for _ in range(500):
        value = add(value, 1.0)  # the old value dies with its kernel still to run
        addresses.add(value.address)

    assert len(addresses) <= 3
    assert handle.download(value).tolist() == [500, 501, 502, 503, 504]


def test_small_tensors_share_a_block(handle: VulkanDevice) -> None:
    held = [handle.pool.allocate(1000) for _ in range(50)]

    assert len({each.chunk.block for each in held}) == 1


def test_a_tensor_larger_than_a_block_gets_one_of_its_own(handle: VulkanDevice) -> None:
    storage = handle.pool.allocate(65 * _MIB)

    assert storage.chunk.block.allocation.nbytes == storage.chunk.nbytes


def test_statistics_count_what_tensors_hold(handle: VulkanDevice) -> None:
    held = [handle.pool.allocate(nbytes) for nbytes in (256, 512, 1024)]
    assert handle.memory()["allocated"] == 1792

    del held[1]

    assert handle.memory()["allocated"] == 1280


def test_statistics_count_what_was_taken_from_the_driver(handle: VulkanDevice) -> None:
    assert handle.memory() == {"reserved": 0, "allocated": 0, "blocks": 0}

    storage = handle.pool.allocate(1)

    assert handle.memory()["blocks"] == 1
    assert handle.memory()["reserved"] == storage.chunk.block.allocation.nbytes


def test_trim_gives_back_what_no_tensor_uses(handle: VulkanDevice) -> None:
    storage = handle.pool.allocate(100 * _MIB)
    nbytes = storage.chunk.nbytes
    del storage

    assert handle.pool.trim() == nbytes
    assert handle.memory()["reserved"] == 0


def test_trim_keeps_blocks_with_a_living_tensor(handle: VulkanDevice) -> None:
    held = handle.pool.allocate(1000)
    dead = handle.pool.allocate(1000)
    address = dead.address
    del dead

    assert handle.pool.trim() == 0
    assert handle.pool.allocate(1000).address == address
    assert held.address != address


def test_trim_waits_for_the_kernels_of_dead_tensors(handle: VulkanDevice) -> None:
    add = handle.kernel("add")
    assert add is not None
    operand = handle.upload(np.ones(20 * _MIB, np.float32))
    del operand  # the kernel below is recorded, and has not run
    value = add(handle.upload(np.ones(20 * _MIB, np.float32)), 1.0)
    del value

    assert handle.pool.trim() > 0
    handle.synchronize()


def test_trim_of_an_empty_pool_does_nothing(handle: VulkanDevice) -> None:
    assert handle.pool.trim() == 0


def test_trim_never_frees_what_another_thread_is_given_meanwhile(handle: VulkanDevice) -> None:
    handle.pool.allocate(1000)
    taken: list[Storage] = []

    def take_during_wait() -> None:
        # As another thread would, past the lock of the pool.
        free = handle.pool._free[handle.pool._class_of[1000]]
        taken.extend(Storage(chunk, 1000, free) for chunk in [*free])
        free.clear()

    pool = _pool_like(handle, take_during_wait)
    pool.trim()

    assert taken == []  # there was nothing left to take


def _pool_like(handle: VulkanDevice, wait: Callable[[], None]) -> MemoryPool:
    handle.pool._wait_until_idle = wait
    return handle.pool


def test_a_chunk_that_dies_during_trim_is_not_lost(handle: VulkanDevice) -> None:
    dying = [handle.pool.allocate(1000)]
    handle.pool.allocate(100 * _MIB)  # a block that trim frees
    address = dying[0].address

    _pool_like(handle, dying.clear).trim()

    assert handle.pool.allocate(1000).address == address


def test_an_interrupted_trim_keeps_every_chunk(handle: VulkanDevice) -> None:
    handle.pool.allocate(1000)
    before = handle.memory()

    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _pool_like(handle, interrupted).trim()

    assert handle.memory() == before
    assert handle.pool.allocate(1000).chunk.block in handle.pool.blocks()


def test_threads_that_allocate_never_get_the_same_chunk(handle: VulkanDevice) -> None:
    held: list[Storage] = []
    start = threading.Barrier(4)

    def allocate() -> None:
        start.wait()
        for number in range(300):
            held.append(handle.pool.allocate(256 * (1 + number % 7)))
            if number % 50 == 0:
                handle.pool.trim()

    threads = [threading.Thread(target=allocate) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert len({each.address for each in held}) == 1200


def test_a_program_of_ever_new_sizes_does_not_grow_for_ever(
    handle: VulkanDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vkml_vulkan.memory._MOST_SIZES", 10)

    for nbytes in range(100):
        handle.pool.allocate(nbytes)

    assert len(handle.pool._class_of) <= 10


def test_devices_never_mix_their_memory(open_device: Callable[..., VulkanDevice]) -> None:
    one, other = open_device(), open_device()

    def owners(handle: VulkanDevice) -> set[LogicalDevice]:
        held = [handle.upload(np.ones(number, np.float32)) for number in (3, 3000)]
        del held[0]
        held.append(handle.upload(np.ones(3, np.float32)))
        blocks = {each.storage.chunk.block for each in held}
        assert blocks <= set(handle.pool.blocks())
        return {handle.device for _ in blocks}

    assert owners(one).isdisjoint(owners(other))
    assert not set(one.pool.blocks()) & set(other.pool.blocks())


def test_the_memory_of_a_device_is_seen_from_its_tensors(gpu: vkml.Device) -> None:
    before = gpu.handle.memory()["allocated"]

    held = vkml.zeros(1000, device=gpu)

    assert gpu.handle.memory()["allocated"] >= before
    assert held.shape == (1000,)
