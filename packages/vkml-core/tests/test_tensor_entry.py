"""How a saver reads a tensor: its place in its storage, in bytes, and the storage's bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml
from vkml.tensor import Tensor


def read(tensor: Tensor) -> Any:
    """Return the elements of a tensor as a saver puts them together from its entry."""
    entry = tensor.__vkml_entry__()
    buffer = bytearray(entry.storage_nbytes)
    entry.read_into(memoryview(buffer))
    return np.ndarray(entry.shape, entry.dtype, buffer, entry.offset, entry.strides)


def views() -> dict[str, Tensor]:
    base = vkml.arange(24, dtype="float32").reshape(2, 3, 4)
    return {
        "whole": base,
        "part": base[:, 1:, ::2],
        "transpose": base.permute(2, 0, 1),
        "flip": base[:, ::-1],
        "expand": base[:, :1].expand(2, 5, 4),
        "element": base[1, 2, 3],
        "nothing": base[2:],
        "overlap": base.reshape(-1).as_strided((3, 3), (1, 1), 2),
        "trained": vkml.Parameter(base.clone()),
        "computed": base.clone().requires_grad_() * 2,
        "rank 0": base.sum(),
        "bool": base > 3,
        "float16": base.to("float16").T,
        "complex": vkml.tensor([1 + 2j, 3j])[::-1],
    }


@pytest.mark.parametrize("name", views())
def test_entry_leads_to_the_elements(name: str) -> None:
    tensor = views()[name]

    assert_array_equal(read(tensor), tensor.detach().numpy())


@pytest.mark.parametrize("name", ["part", "transpose", "whole", "element", "expand"])
def test_entry_on_another_device_leads_to_the_elements(strided: vkml.Device, name: str) -> None:
    moved = views()["whole"].to(strided)
    index: Any = {"part": (slice(None), slice(1, None), slice(None, None, 2)), "element": (1, 2, 3)}
    tensor = {
        "transpose": lambda: moved.permute(2, 0, 1),
        "expand": lambda: moved[:, :1].expand(2, 5, 4),
    }.get(name, lambda: moved[index.get(name, ...)])()

    assert_array_equal(read(tensor), views()[name].numpy())


def test_tensors_on_one_storage_have_equal_keys() -> None:
    x = vkml.zeros(3, 4)

    keys = [each.__vkml_entry__().storage for each in (x, x.T, x[1:], x.clone())]

    assert keys[0] == keys[1] == keys[2] != keys[3]


def test_facts_are_in_bytes() -> None:
    entry = vkml.zeros(3, 4, dtype="float64")[1:, ::2].__vkml_entry__()

    assert (entry.dtype, entry.shape) == ("float64", (2, 2))
    assert (entry.offset, entry.strides, entry.storage_nbytes) == (32, (32, 16), 96)


def test_reading_does_not_change_the_tensor() -> None:
    x = vkml.arange(6).reshape(2, 3).T

    array = read(x)
    array[:] = 0

    assert_array_equal(x.numpy(), [[0, 3], [1, 4], [2, 5]])
