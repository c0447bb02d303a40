"""Tensors in checkpoints: any view of any memory is saved as what it shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vkml
from vkml import Tensor


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.vkml"


def views() -> dict[str, Tensor]:
    base = vkml.arange(24, dtype=vkml.float32).reshape(2, 3, 4)
    return {
        "whole": base,
        "transposed": base.permute(2, 0, 1),
        "sliced": base[:, 1:, ::2],
        "expanded": base[:, :1].expand(2, 5, 4),
        "flipped": base.flip(0),
        "rank 0": base[1, 2, 3],
        "empty": base[2:],
        "overlapping": base.reshape(-1).as_strided((3, 3), (1, 1)),
        "trained": base.clone().requires_grad_(),
        "computed": base.clone().requires_grad_() * 2,
        "parameter": vkml.Parameter(base.clone()),
        "float16": base.to(dtype=vkml.float16),
        "bool": base > 3,
        "complex": vkml.tensor(np.array([1 + 2j], np.complex64)),
    }


@pytest.mark.parametrize("compress", [False, True])
def test_a_view_is_saved_as_what_it_shows(path: Path, compress: bool) -> None:
    vkml.save(path, views(), compress=compress)

    loaded = vkml.load_tensors(path)
    for key, tensor in views().items():
        assert (loaded[key].shape, loaded[key].dtype) == (tensor.shape, tensor.dtype), key
        np.testing.assert_array_equal(loaded[key].numpy(), tensor.detach().numpy(), key)


def test_on_meta_tensors_have_shape_and_dtype_and_no_values(path: Path) -> None:
    vkml.save(path, views())

    loaded = vkml.load_tensors(path, device="meta", keys=["sliced", "float16"])
    assert [(key, each.shape, each.dtype) for key, each in loaded.items()] == [
        ("sliced", (2, 2, 2), vkml.float32),
        ("float16", (2, 3, 4), vkml.float16),
    ]
    assert loaded["sliced"].device.type == "meta"


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_key_that_is_not_there_is_named(path: Path, device: str) -> None:
    vkml.save(path, {"w": vkml.ones(2)})

    with pytest.raises(vkml.io.StateMismatchError, match="no 'v'"):
        vkml.load_tensors(path, device=device, keys=["w", "v"])


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_one_str_for_keys_is_a_type_error(path: Path, device: str) -> None:
    vkml.save(path, {"w": vkml.ones(2)})

    with pytest.raises(TypeError, match="not one str"):
        vkml.load_tensors(path, device=device, keys="w")


def test_arrays_of_the_other_byte_order_load(path: Path) -> None:
    vkml.save(path, {"w": np.arange(3, dtype=">f4")})

    assert vkml.load_tensors(path)["w"].tolist() == [0, 1, 2]


def test_a_tensor_without_values_is_refused_by_name_before_a_byte_is_written(path: Path) -> None:
    with pytest.raises(TypeError, match=r"'w' .* \(3,\) on 'meta' has no values"):
        vkml.save(path, {"w": vkml.empty(3, device="meta")})

    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("compress", [False, True])
def test_bfloat16_tensors_round_trip(path: Path, compress: bool) -> None:
    pytest.importorskip("ml_dtypes")
    w = vkml.arange(12).to(dtype=vkml.bfloat16).reshape(3, 4) / 3

    vkml.save(path, {"w": w, "t": w.T, "one": w[1, 2]}, compress=compress)
    loaded = vkml.load_tensors(path)

    for key, expected in {"w": w, "t": w.T, "one": w[1, 2]}.items():
        assert (loaded[key].shape, loaded[key].dtype) == (expected.shape, vkml.bfloat16)
        assert vkml.equal(loaded[key], expected)


@pytest.mark.parametrize("compress", [False, True])
def test_views_share_their_memory_again(path: Path, compress: bool) -> None:
    numbers = vkml.arange(1, 10)
    vkml.save(path, {"numbers": numbers, "evens": numbers[1::2]}, compress=compress)

    loaded = vkml.load_tensors(path)
    loaded["evens"].mul_(2)

    assert loaded["numbers"].tolist() == [1, 4, 3, 8, 5, 12, 7, 16, 9]
    assert loaded["evens"].storage() == loaded["numbers"].storage()


def test_a_part_is_stored_alone_or_with_its_whole_storage(path: Path) -> None:
    small = vkml.arange(1, 1000)[0:5]

    vkml.save(path, {"small": small})
    assert vkml.load_tensors(path)["small"].storage().size() == 5

    vkml.save(path, {"small": small}, views="whole")
    assert vkml.load_tensors(path)["small"].storage().size() == 999
    assert vkml.load_tensors(path)["small"].tolist() == [1, 2, 3, 4, 5]

    vkml.save(path, {"small": small.clone()}, views="whole")
    assert vkml.load_tensors(path)["small"].storage().size() == 5


def test_arrays_that_no_tensor_can_be_a_view_of_are_copied(path: Path) -> None:
    memory = np.arange(40, dtype=np.uint8)
    swapped = np.arange(4, dtype=">i4")
    arrays = {
        "memory": memory,
        "odd": memory[1:33].view("f4"),
        "swapped": swapped,
        "reversed": swapped[::-1],
    }
    vkml.save(path, arrays)

    loaded = vkml.load_tensors(path)
    for key, array in arrays.items():
        np.testing.assert_array_equal(loaded[key].numpy(), array)


def test_a_tree_of_tensors_comes_back_with_its_sharing(path: Path) -> None:
    w = vkml.arange(3.0)
    vkml.save_tree(path, {"step": 7, "state": [w, (w[1:], None)], 3: "x"}, {"epoch": 1})

    tree = vkml.load_tree(path)
    tree["state"][0][1] = 10

    assert (tree["step"], tree[3], vkml.load(path).metadata) == (7, "x", {"epoch": 1})
    first, (part, nothing) = tree["state"]
    assert isinstance(first, Tensor)
    assert (first.tolist(), part.tolist(), nothing) == ([0, 10, 2], [10, 2], None)
    assert vkml.load_tree(path, device="meta")["state"][0].device.type == "meta"


@pytest.mark.parametrize("kind", ["tensor", "list", "tuple", "dict"])
def test_a_tree_may_be_a_tensor_or_hold_only_one(path: Path, kind: str) -> None:
    w = vkml.ones(2)
    tree = {"tensor": w, "list": [w], "tuple": (w,), "dict": {"w": w}}[kind]

    vkml.save_tree(path, tree)

    found = vkml.load_tree(path)
    assert type(found) is type(tree)
    assert repr(found) == repr(tree)
