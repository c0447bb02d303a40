"""`save_module` and `load_module`: all or nothing, in place, for modules of any library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vkml_io

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from forge import Forge
    from vkml_io.aliases import Array


class Module:
    """A module whose tensors are NumPy arrays."""

    def __init__(self, **tensors: Any) -> None:  # Any: arrays, or what behaves like a tensor
        self.tensors = tensors

    def state_dict(self) -> Mapping[str, Any]:  # Any: see above
        return dict(self.tensors)


class Bfloat16:
    """Stands for a dtype that NumPy lacks."""

    name = "bfloat16"


class Device:
    """A tensor on a device: it takes values by `copy_` alone."""

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:  # Any: what has a name
        self.shape = shape
        self.dtype = dtype
        self.received: list[Array] = []

    def copy_(self, array: Array) -> None:
        self.received.append(array)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    module = Module(weight=np.arange(6, dtype="f4").reshape(2, 3), steps=np.int64(7))
    vkml_io.save_module(tmp_path / "a.vkml", module, {"epoch": 3})
    return tmp_path / "a.vkml"


def zeros() -> Module:
    return Module(weight=np.zeros((2, 3), "f4"), steps=np.zeros((), "i8"))


def test_values_are_copied_into_the_arrays_of_the_module(path: Path) -> None:
    module = zeros()
    weight = module.tensors["weight"]

    checkpoint = vkml_io.load_module(path, module)

    assert weight.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert module.tensors["steps"] == 7
    assert checkpoint.metadata == {"epoch": 3}
    assert checkpoint.tensors["weight"] is weight


def test_every_problem_is_listed_and_nothing_changed(path: Path) -> None:
    module = Module(weight=np.zeros((3, 2), "f4"), steps=np.zeros((), "?"), bias=np.zeros(3))

    with pytest.raises(vkml_io.StateMismatchError) as caught:
        vkml_io.load_module(path, module)

    message = str(caught.value)
    assert "missing in the file: 'bias'" in message
    assert "'weight' has shape (2, 3), and (3, 2) in the module" in message
    assert "'steps' is int64, and bool in the module" in message
    assert not any(array.any() for array in module.tensors.values())


def test_an_unexpected_key_is_listed(path: Path) -> None:
    with pytest.raises(KeyError, match="not in the module: 'steps'"):
        vkml_io.load_module(path, Module(weight=np.zeros((2, 3), "f4")))


def test_a_damaged_array_is_found_before_anything_changed(path: Path) -> None:
    module = zeros()
    entry = vkml_io.inspect(path)[1]
    data = bytearray(path.read_bytes())
    data[entry.data_offset] ^= 1
    path.write_bytes(data)

    with pytest.raises(vkml_io.StateMismatchError, match=r"steps\.npy.*CRC-32"):
        vkml_io.load_module(path, module)

    assert not module.tensors["weight"].any()


@pytest.mark.parametrize("target", [np.float64(0), {"extra": 1}, np.broadcast_to(0.0, (3,))])
def test_what_cannot_be_written_in_place_is_listed(tmp_path: Path, target: Any) -> None:
    vkml_io.save(tmp_path / "a.vkml", {"w": np.ones(3)})

    with pytest.raises(vkml_io.StateMismatchError, match="'w' is no tensor"):
        vkml_io.load_module(tmp_path / "a.vkml", Module(w=target))


def test_a_damaged_stream_changes_nothing_without_verify_either(tmp_path: Path) -> None:
    values = np.tile(np.arange(1000, dtype="f4"), 10)
    path = tmp_path / "a.vkml"
    vkml_io.save(path, {"a": values, "b": values}, compress=True)
    entry = vkml_io.inspect(path)[1]
    data = bytearray(path.read_bytes())
    middle = slice(entry.data_offset + 900, entry.data_offset + entry.stored_bytes)
    data[middle] = b"\xff" * len(data[middle])
    path.write_bytes(data)
    module = Module(a=np.zeros(10_000, "f4"), b=np.zeros(10_000, "f4"))

    with pytest.raises(vkml_io.StateMismatchError, match="deflate stream"):
        vkml_io.load_module(path, module, verify=False)

    assert not module.tensors["a"].any()


def test_a_wrong_bool_changes_nothing_without_verify_either(forge: Forge) -> None:
    bools = forge.npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", b"\0\2")
    path = forge.write(
        forge.tensor(key="a"), forge.tensor(bools, key="b"), forge.header(["a", "b"])
    )
    module = Module(a=np.ones((2, 3), "f4"), b=np.zeros(2, bool))

    with pytest.raises(vkml_io.StateMismatchError, match="neither 0 nor 1"):
        vkml_io.load_module(path, module, verify=False)

    assert module.tensors["a"].all()


def test_a_prefix_chooses_a_part_of_the_file(tmp_path: Path) -> None:
    vkml_io.save(tmp_path / "a.vkml", {"encoder.w": np.ones(2), "decoder.w": np.zeros(2)})
    module = Module(w=np.zeros(2))

    vkml_io.load_module(tmp_path / "a.vkml", module, prefix="encoder.")

    assert module.tensors["w"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("stored", "target", "cast", "allowed"),
    [
        ("f8", "f4", "same_kind", True),
        ("f8", "f4", "safe", False),
        ("f8", "i4", "same_kind", False),
        ("f8", "i4", "unsafe", True),
        (">f4", "<f4", "equiv", True),
        ("f4", "f8", "no", False),
    ],
)
def test_casts_follow_numpy(
    tmp_path: Path, stored: str, target: str, cast: Any, allowed: bool
) -> None:
    vkml_io.save(tmp_path / "a.vkml", {"w": np.ones(3, stored)})
    module = Module(w=np.zeros(3, target))

    if allowed:
        vkml_io.load_module(tmp_path / "a.vkml", module, cast=cast)
        assert module.tensors["w"].tolist() == [1, 1, 1]
    else:
        with pytest.raises(vkml_io.StateMismatchError, match="forbids"):
            vkml_io.load_module(tmp_path / "a.vkml", module, cast=cast)


@pytest.mark.parametrize(
    ("stored", "cast", "allowed"),
    [("f4", "same_kind", True), ("c8", "same_kind", False), ("f4", "safe", False)],
)
def test_casts_into_a_dtype_that_numpy_lacks(
    tmp_path: Path, stored: str, cast: Any, allowed: bool
) -> None:
    vkml_io.save(tmp_path / "a.vkml", {"w": np.ones(3, stored)})
    target = Device((3,), Bfloat16)

    if allowed:
        vkml_io.load_module(tmp_path / "a.vkml", Module(w=target), cast=cast)
        assert target.received[0].tolist() == [1, 1, 1]
    else:
        with pytest.raises(vkml_io.StateMismatchError, match="bfloat16"):
            vkml_io.load_module(tmp_path / "a.vkml", Module(w=target), cast=cast)


@pytest.mark.parametrize("dtype", [object, "U8"])
def test_arrays_that_hold_no_numbers_are_not_filled(path: Path, dtype: Any) -> None:
    module = Module(weight=np.full((2, 3), "kept", dtype), steps=np.zeros((), "i8"))

    with pytest.raises(vkml_io.StateMismatchError, match="'weight' is float32"):
        vkml_io.load_module(path, module)

    assert (module.tensors["weight"] == "kept").all()


def test_tied_tensors_take_equal_values(tmp_path: Path) -> None:
    tied = np.zeros(3)
    vkml_io.save_module(tmp_path / "a.vkml", Module(a=np.ones(3), b=np.ones(3)))

    vkml_io.load_module(tmp_path / "a.vkml", Module(a=tied, b=tied))

    assert tied.tolist() == [1, 1, 1]


def test_tied_tensors_refuse_different_values(tmp_path: Path) -> None:
    tied = np.zeros(3)
    vkml_io.save_module(tmp_path / "a.vkml", Module(a=np.ones(3), b=np.full(3, 2.0)))

    with pytest.raises(vkml_io.StateMismatchError, match="one tensor in the module"):
        vkml_io.load_module(tmp_path / "a.vkml", Module(a=tied, b=tied))

    assert not tied.any()


def test_views_of_one_array_are_not_tied(tmp_path: Path) -> None:
    both = np.zeros((2, 3))
    vkml_io.save(tmp_path / "a.vkml", {"a": np.ones(3), "b": np.full(3, 2.0)})

    vkml_io.load_module(tmp_path / "a.vkml", Module(a=both[0], b=both[1]))

    assert both.tolist() == [[1, 1, 1], [2, 2, 2]]


def test_torch_modules_round_trip(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    first, second = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2).double()
    parameter = second.weight

    vkml_io.save_module(tmp_path / "a.vkml", first)
    vkml_io.load_module(tmp_path / "a.vkml", second)

    assert second.weight is parameter
    assert parameter.requires_grad
    assert parameter.dtype == torch.float64
    assert torch.equal(parameter.float(), first.weight)
