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
