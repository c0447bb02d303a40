"""Storage: whose memory it is, how large, and who shares it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import vkml
from vkml import Tensor

VIEWS: dict[str, Callable[[Tensor], Tensor]] = {
    "itself": lambda x: x,
    "part": lambda x: x[1:, :2],
    "flip": lambda x: x[::-1],
    "transpose": lambda x: x.T,
    "reshape": lambda x: x.reshape(-1),
    "expand": lambda x: x[:1].expand(5, 4),
    "element": lambda x: x[1, 2],
    "part of a part": lambda x: x.T[1:].T[2],
    "nothing": lambda x: x[3:],
    "detached": lambda x: x.detach(),
    "data": lambda x: x.data,
    "strided": lambda x: x.as_strided((2,), (5,), 1),
    "parameter": lambda x: vkml.Parameter(x),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_have_the_storage_of_their_base(view: Callable[[Tensor], Tensor]) -> None:
    x = vkml.zeros(3, 4)

    shown = view(x).storage()

    assert shown == x.storage()
    assert hash(shown) == hash(x.storage())
    assert (shown.size(), len(shown), shown.nbytes) == (12, 12, 48)


@pytest.mark.parametrize(
    "copy",
    [lambda x: x.clone(), lambda x: x + 0, lambda x: x[[0, 1]], lambda x: x.to("float64"),
     lambda x: vkml.tensor(x), lambda x: x.T.contiguous()],
)  # fmt: skip
def test_copies_have_another_storage(copy: Callable[[Tensor], Tensor]) -> None:
    x = vkml.zeros(3, 4)

    assert copy(x).storage() != x.storage()


@pytest.mark.parametrize("dtype", ["bool", "float16", "float32", "complex128"])
def test_size_counts_elements_and_nbytes_bytes(dtype: str) -> None:
    storage = vkml.zeros(2, 3, dtype=dtype).storage()

    assert storage.size() == 6
    assert storage.nbytes == 6 * storage.dtype.itemsize
    assert storage.dtype.name == dtype


def test_a_rank_0_tensor_has_storage_for_one_element() -> None:
    x = vkml.ones(3).sum()

    assert x.storage().size() == 1
    assert x.storage() == x.reshape(1).storage()


def test_no_elements_have_no_bytes() -> None:
    assert vkml.zeros(0, 3).storage().nbytes == 0


def test_storage_of_a_shared_array_is_that_of_the_whole_array() -> None:
    array = np.zeros((4, 5), np.float32)

    part, whole = vkml.from_numpy(array[1:, ::2]), vkml.from_numpy(array)

    assert part.storage() == whole.storage()
    assert part.storage_offset() == 5
    assert part.stride() == (5, 2)


def test_tensors_made_one_after_the_other_never_look_shared() -> None:
    first = vkml.zeros(1000).storage()

    assert all(vkml.zeros(1000).storage() != first for _ in range(20))


def test_storage_knows_its_device_and_prints_it() -> None:
    storage = vkml.zeros(3).untyped_storage()

    assert storage.device == vkml.device("cpu")
    assert repr(storage) == "<storage of 12 bytes on cpu>"


def test_storage_equals_only_storages() -> None:
    assert vkml.zeros(3).storage() != 12


def test_storage_on_another_device(strided: vkml.Device) -> None:
    x = vkml.zeros(3, 4, device=strided)

    assert x[1:, :2].storage() == x.storage()
    assert x.storage() != vkml.zeros(3, 4).storage()
    assert x.storage().nbytes == 48
