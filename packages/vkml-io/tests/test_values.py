"""Arrays that offer `__vkml_entry__`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest

import vkml_io

if TYPE_CHECKING:
    from pathlib import Path

    from vkml_io.aliases import Array


@dataclass
class Storage:
    """Memory of a device; counts how often it is read."""

    values: Array
    reads: int = 0


@dataclass
class Tensor:
    """A view of a storage, as vkML's tensors are."""

    source: Storage
    view: Array
    dtype: str = field(default="")

    def __vkml_entry__(self) -> vkml_io.VkmlEntry:
        return Entry(self)


class Entry:
    def __init__(self, tensor: Tensor) -> None:
        base = tensor.source.values
        self.storage = id(tensor.source)
        self.dtype = tensor.dtype or tensor.view.dtype.name
        self.shape: tuple[int, ...] = tensor.view.shape
        self.strides: tuple[int, ...] = tensor.view.strides
        address = tensor.view.__array_interface__["data"][0]
        self.offset = address - base.__array_interface__["data"][0]
        self.storage_nbytes = base.nbytes
        self._source = tensor.source

    def read_into(self, buffer: memoryview) -> None:
        self._source.reads += 1
        buffer[:] = self._source.values.tobytes()


@pytest.fixture
def storage() -> Storage:
    return Storage(np.arange(24, dtype="f4"))


@pytest.mark.parametrize("compress", [False, True])
def test_views_of_any_strides_are_saved_as_arrays(
    tmp_path: Path, storage: Storage, compress: bool
) -> None:
    table = storage.values.reshape(4, 6)
    views = {
        "whole": table,
        "transposed": table.T,
        "slice": table[1:, ::2],
        "reversed": table[::-1],
        "expanded": np.broadcast_to(table[0], (3, 6)),
        "scalar": table[2, 3, ...],
        "empty": table[:0],
    }

    vkml_io.save(
        tmp_path / "a.vkml",
        {key: Tensor(storage, view) for key, view in views.items()},
        compress=compress,
    )

    tensors = vkml_io.load(tmp_path / "a.vkml").tensors
    for key, view in views.items():
        np.testing.assert_array_equal(tensors[key], view, strict=True)
    assert tensors["transposed"].flags.f_contiguous


def test_a_storage_is_read_once_while_consecutive_arrays_use_it(
    tmp_path: Path, storage: Storage
) -> None:
    other = Storage(np.ones(3, "f4"))
    tensors = {
        "a": Tensor(storage, storage.values[:3]),
        "b": Tensor(storage, storage.values[3:]),
        "c": Tensor(other, other.values),
    }

    vkml_io.save(tmp_path / "a.vkml", tensors)

    assert (storage.reads, other.reads) == (1, 1)


def test_a_dtype_that_no_checkpoint_holds_is_refused_by_name_with_the_remedy(
    tmp_path: Path, storage: Storage
) -> None:
    with pytest.raises(TypeError, match=r"'w' is complex32.*float32"):
        vkml_io.save(tmp_path / "a.vkml", {"w": Tensor(storage, storage.values, "complex32")})

    assert storage.reads == 0
    assert list(tmp_path.iterdir()) == []


def test_a_device_that_fails_leaves_no_file(tmp_path: Path) -> None:
    class Lost(Entry):
        def read_into(self, _buffer: memoryview) -> None:
            raise RuntimeError("device lost")

    class LostTensor(Tensor):
        def __vkml_entry__(self) -> vkml_io.VkmlEntry:
            return Lost(self)

    storage = Storage(np.ones(3))

    with pytest.raises(RuntimeError, match="device lost"):
        vkml_io.save(tmp_path / "a.vkml", {"w": LostTensor(storage, storage.values)})

    assert list(tmp_path.iterdir()) == []
