"""VKML_VULKAN_DEBUG=canaries: a kernel that writes beside a tensor is found out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from vkml_vulkan.errors import AccessError
from vkml_vulkan.formats import RAW
from vkml_vulkan.handle import VulkanDevice
from vkml_vulkan.kernels.elementwise import plan
from vkml_vulkan.operand import Operand, dense_form


@pytest.fixture(params=["mapped", "staged"])
def guarded(request: pytest.FixtureRequest, open_device: Callable[..., VulkanDevice]) -> object:
    staging = str(int(request.param == "staged"))
    return open_device(VKML_VULKAN_DEBUG="canaries", VKML_VULKAN_FORCE_STAGING=staging)


def _fill(handle: VulkanDevice, target: Operand, elements: int, first: int) -> None:
    """Write so many floats to a tensor, from one of its elements on."""
    form, raw = dense_form((elements,), np.dtype(np.float32)), RAW[4]
    made = plan(
        handle, "reckless", "unary_u32", 0, form, (None,), result_format=raw, operand_format=raw
    )
    assert made.launch is not None
    address = target.address + 4 * first
    handle.recorder.launch(made.launch, (target.storage.chunk,), (), address, 7)


@pytest.mark.parametrize("size", [1, 3, 64, 1000])
def test_writing_all_of_a_tensor_is_right(guarded: VulkanDevice, size: int) -> None:
    target = guarded.upload(np.zeros(size, np.float32))

    _fill(guarded, target, size, 0)

    guarded.synchronize()


@pytest.mark.parametrize("size", [1, 3, 64, 1000])
def test_writing_one_element_too_many_is_found(guarded: VulkanDevice, size: int) -> None:
    target = guarded.upload(np.zeros(size, np.float32))

    _fill(guarded, target, size + 1, 0)

    with pytest.raises(AccessError, match=f"a tensor of {4 * size} bytes, at byte {4 * size} of"):
        guarded.synchronize()


def test_writing_before_the_first_element_is_found(guarded: VulkanDevice) -> None:
    target = guarded.upload(np.zeros(10, np.float32))

    _fill(guarded, target, 2, -1)

    with pytest.raises(AccessError, match="at byte -4 of it"):
        guarded.synchronize()


def test_the_error_names_what_ran(guarded: VulkanDevice) -> None:
    target = guarded.upload(np.zeros(10, np.float32))

    _fill(guarded, target, 11, 0)

    with pytest.raises(AccessError, match=r"Recent: .*reckless"):
        guarded.synchronize()


def test_guards_are_found_where_the_tensor_is_dead(guarded: VulkanDevice) -> None:
    target = guarded.upload(np.zeros(10, np.float32))
    _fill(guarded, target, 11, 0)
    del target

    with pytest.raises(AccessError):
        guarded.synchronize()


def test_guards_do_not_count_as_held_by_tensors(guarded: VulkanDevice) -> None:
    held = guarded.upload(np.zeros(10, np.float32))

    assert guarded.memory()["allocated"] == 40
    assert held.form.size == 10


def test_guards_of_memory_that_was_given_back_are_not_looked_for(guarded: VulkanDevice) -> None:
    guarded.upload(np.zeros(10, np.float32))

    assert guarded.pool.trim() > 0

    guarded.synchronize()
