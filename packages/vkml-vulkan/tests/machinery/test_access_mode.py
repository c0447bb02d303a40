"""VKML_VULKAN_DEBUG=access: a kernel that touches what it did not declare is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from vkml_vulkan.errors import AccessError
from vkml_vulkan.formats import RAW
from vkml_vulkan.handle import VulkanDevice
from vkml_vulkan.kernels.elementwise import plan
from vkml_vulkan.launch import Launch
from vkml_vulkan.operand import Operand, dense_form

_FLOAT32 = np.dtype(np.float32)


@pytest.fixture
def checked(open_device: Callable[..., VulkanDevice]) -> VulkanDevice:
    return open_device(VKML_VULKAN_DEBUG="access")


def copying(handle: VulkanDevice, elements: int) -> Launch:
    """Return a launch that copies so many floats from one address to another."""
    form, raw = dense_form((elements,), _FLOAT32), RAW[4]
    made = plan(
        handle, "copy", "unary_u32", 0, form, (form,), result_format=raw, operand_format=raw
    )
    assert made.launch is not None
    return made.launch


def _operands(handle: VulkanDevice) -> tuple[Operand, Operand]:
    return handle.upload(np.arange(64.0, dtype=np.float32)), handle.upload(np.zeros(64, np.float32))


def test_what_is_declared_passes(checked: VulkanDevice) -> None:
    source, target = _operands(checked)
    to, of = (target.storage.chunk,), (source.storage.chunk,)

    checked.recorder.launch(copying(checked, 64), to, of, target.address, source.address)

    assert checked.download(target).tolist() == list(range(64))


def test_an_address_that_is_read_and_not_declared_is_found(checked: VulkanDevice) -> None:
    source, target = _operands(checked)

    with pytest.raises(AccessError, match=r"copy is given the address 0x.*in no declared chunk"):
        checked.recorder.launch(
            copying(checked, 64), (target.storage.chunk,), (), target.address, source.address
        )


def test_an_address_that_is_written_and_not_declared_is_found(checked: VulkanDevice) -> None:
    source, target = _operands(checked)

    with pytest.raises(AccessError, match="in no declared chunk"):
        checked.recorder.launch(
            copying(checked, 64), (), (source.storage.chunk,), target.address, source.address
        )


@pytest.fixture
def mapped(checked: VulkanDevice) -> VulkanDevice:
    if not checked.pool.kind.is_mapped:
        pytest.skip("the checking recorder sees what was written only where memory is mapped")
    return checked


def test_a_result_that_was_declared_as_read_is_found(mapped: VulkanDevice) -> None:
    source, target = _operands(mapped)
    both = (source.storage.chunk, target.storage.chunk)

    with pytest.raises(AccessError, match=r"copy wrote .* bytes outside its result"):
        mapped.recorder.launch(copying(mapped, 64), (), both, target.address, source.address)


def test_a_write_past_the_end_of_a_result_is_found(mapped: VulkanDevice) -> None:
    source, target = _operands(mapped)
    neighbour = mapped.upload(np.full(64, 9, np.float32))
    assert neighbour.address == target.address + 256
    to, of = (target.storage.chunk,), (source.storage.chunk,)

    with pytest.raises(AccessError, match=r"copy wrote \d+ bytes outside its result, the first at"):
        mapped.recorder.launch(copying(mapped, 80), to, of, target.address, source.address)


def test_nothing_was_run_where_an_address_is_refused(checked: VulkanDevice) -> None:
    source, target = _operands(checked)
    with pytest.raises(AccessError):
        checked.recorder.launch(
            copying(checked, 64), (target.storage.chunk,), (), target.address, source.address
        )

    assert checked.download(target).tolist() == [0] * 64


def test_without_the_mode_nobody_looks(handle: VulkanDevice) -> None:
    source, target = _operands(handle)
    both: tuple[Any, ...] = (source.storage.chunk, target.storage.chunk)

    handle.recorder.launch(copying(handle, 64), (), both, target.address, source.address)

    handle.synchronize()
