"""Uploads: what arrives is what was sent, whichever way it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from vkml_vulkan import transfer
from vkml_vulkan.handle import VulkanDevice
from vkml_vulkan.recorder import UPDATE_BYTES

Calls: TypeAlias = Callable[[str], list[tuple[Any, ...]]]

DTYPES = [
    *map(
        np.dtype, ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
    ),
    *map(np.dtype, ["float16", "float32", "float64", "complex64", "complex128"]),
    np.dtype(ml_dtypes.bfloat16),
]


@pytest.fixture(params=["direct", "staged"])
def device(request: pytest.FixtureRequest, open_device: Callable[..., VulkanDevice]) -> Any:
    return open_device(VKML_VULKAN_FORCE_STAGING=str(int(request.param == "staged")))


def _same(handle: VulkanDevice, array: NDArray[Any]) -> bool:
    found = handle.download(handle.upload(array))
    wanted = array.astype(array.dtype.newbyteorder("="))
    same = found.shape == wanted.shape and found.dtype == wanted.dtype
    return same and found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_comes_back(device: VulkanDevice, dtype: np.dtype[Any]) -> None:
    array = np.random.default_rng(1).integers(0, 100, (3, 5)).astype(dtype)

    assert _same(device, array)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0, 2), (2, 3, 4, 5)])
def test_every_shape_comes_back(device: VulkanDevice, shape: tuple[int, ...]) -> None:
    assert _same(device, np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape))


@pytest.mark.parametrize("change", [-5, -4, -1, 0, 1, 3, 4])
def test_sizes_around_an_update_come_back(device: VulkanDevice, change: int) -> None:
    assert _same(device, _bytes(UPDATE_BYTES + change))


def _bytes(count: int) -> NDArray[np.uint8]:
    return np.random.default_rng(count).integers(0, 256, count, np.uint8)


@pytest.mark.parametrize("buffers", [1, 2, 3, 5])
@pytest.mark.parametrize("change", [-1, 0, 1, 7])
def test_sizes_around_staging_buffers_come_back(
    open_device: Callable[..., VulkanDevice],
    monkeypatch: pytest.MonkeyPatch,
    buffers: int,
    change: int,
) -> None:
    monkeypatch.setattr(transfer, "_STAGING_BYTES", 128 * 1024)
    handle = open_device(VKML_VULKAN_FORCE_STAGING="1")

    assert _same(handle, _bytes(buffers * 128 * 1024 + change))


def test_more_than_a_staging_buffer_of_the_real_size_comes_back(
    open_device: Callable[..., VulkanDevice],
) -> None:
    handle = open_device(VKML_VULKAN_FORCE_STAGING="1")

    assert _same(handle, _bytes(transfer._STAGING_BYTES + 3))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("code", ["i2", "u4", "i8", "f2", "f4", "f8", "c8"])
def test_either_byte_order_becomes_the_native_one(
    device: VulkanDevice, order: str, code: str
) -> None:
    assert _same(device, np.arange(20).astype(order + code))


_LAYOUTS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "transposed": lambda array: array.T,
    "reversed": lambda array: array[::-1, ::-1],
    "every other": lambda array: array[:, ::2],
    "repeated": lambda array: np.broadcast_to(array[:1], (3, *array.shape[1:])),
    "in the order of Fortran": np.asfortranarray,
    "read only": lambda array: np.frombuffer(array.tobytes(), array.dtype),
    "not aligned": lambda array: np.frombuffer(b"x" + array.tobytes(), array.dtype, offset=1),
}


@pytest.mark.parametrize("layout", _LAYOUTS.values(), ids=_LAYOUTS.keys())
def test_every_layout_is_read(
    device: VulkanDevice, layout: Callable[[NDArray[Any]], NDArray[Any]]
) -> None:
    assert _same(device, layout(np.arange(24, dtype=np.float32).reshape(4, 6)))


def test_the_array_may_change_after_its_upload(device: VulkanDevice) -> None:
    array = _bytes(300_000)
    wanted = array.copy()

    operand = device.upload(array)
    array[:] = 0

    assert np.array_equal(device.download(operand), wanted)


def test_memory_that_kernels_still_read_is_written_after_them(
    handle: VulkanDevice, calls: Calls
) -> None:
    add = handle.kernel("add")
    assert add is not None
    updates = calls("vkCmdUpdateBuffer")
    first = handle.upload(np.full(5, 1, np.float32))
    address = first.address
    total = add(first, 1.0)  # recorded, not run
    del first

    second = handle.upload(np.full(5, 7, np.float32))

    assert second.address == address
    assert len(updates) == 1
    assert handle.download(total).tolist() == [2] * 5
    assert handle.download(second).tolist() == [7] * 5


def test_much_memory_that_kernels_still_read_is_written_after_them(
    handle: VulkanDevice, calls: Calls
) -> None:
    add, size = handle.kernel("add"), 5_000_001
    assert add is not None
    copies = calls("vkCmdCopyBuffer")
    first = handle.upload(np.full(size, 1, np.float32))
    address = first.address
    total = add(first, 1.0)
    del first

    second = handle.upload(np.full(size, 7, np.float32))

    assert second.address == address
    assert len(copies) == 2
    assert (handle.download(total) == 2).all()
    assert (handle.download(second) == 7).all()


def test_an_upload_of_odd_length_writes_no_neighbour(handle: VulkanDevice) -> None:
    operand = handle.upload(_bytes(256))  # all of its chunk
    neighbour = handle.upload(_bytes(256))
    wanted = handle.download(neighbour)
    add = handle.kernel("add")
    assert add is not None
    add(operand, 1)
    del operand

    handle.upload(_bytes(253))

    assert np.array_equal(handle.download(neighbour), wanted)


def test_many_uploads_without_waiting_are_all_right(device: VulkanDevice) -> None:
    operands = [device.upload(_bytes(1000 + number)) for number in range(300)]

    assert all(
        np.array_equal(device.download(each), _bytes(1000 + number))
        for number, each in enumerate(operands)
    )


@pytest.mark.parametrize("size", [3, 300_000])
def test_uploads_into_a_tensor_of_a_mapped_device_need_no_command(
    handle: VulkanDevice, calls: Calls, size: int
) -> None:
    if not handle.pool.kind.is_mapped:
        pytest.skip("tensors are not mapped here")
    begun = calls("vkBeginCommandBuffer")

    handle.upload(_bytes(size))

    assert begun == []
