"""Modules whose tensors are tied, or of dtypes that NumPy lacks, are saved and loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vkml_io

if TYPE_CHECKING:
    from pathlib import Path

    from vkml_io.aliases import Array

ml_dtypes = pytest.importorskip("ml_dtypes")


class Module:
    """Anything with a state dict."""

    def __init__(self, **state: Any) -> None:
        self.state = state

    def state_dict(self) -> dict[str, Any]:
        return self.state


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.vkml"


def _bf16(*values: float) -> Array:
    return np.array(values, ml_dtypes.bfloat16)


@pytest.mark.parametrize("compress", [False, True])
def test_tied_tensors_are_stored_once_and_fill_tied_and_untied_modules(
    path: Path, compress: bool
) -> None:
    weight = np.arange(1000.0)
    vkml_io.save_module(path, Module(a=weight, b=weight), compress=compress)
    tied = np.zeros(1000)

    vkml_io.load_module(path, Module(a=tied, b=tied))
    untied = Module(a=np.zeros(1000), b=np.zeros(1000))
    vkml_io.load_module(path, untied)

    assert len({entry.member for entry in vkml_io.inspect(path)}) == 1
    for found in (tied, untied.state["a"], untied.state["b"]):
        np.testing.assert_array_equal(found, weight)


def test_views_that_differ_do_not_fit_one_tensor(path: Path) -> None:
    numbers = np.arange(10.0)
    vkml_io.save(path, {"a": numbers[:8], "b": numbers[2:]})
    tied = np.zeros(8)

    with pytest.raises(vkml_io.StateMismatchError, match="differ in the file"):
        vkml_io.load_module(path, Module(a=tied, b=tied))

    assert not tied.any()


def test_a_damaged_storage_changes_nothing(path: Path) -> None:
    numbers = np.arange(1.0, 100.0)
    vkml_io.save(path, {"a": numbers[::2], "b": numbers[::3], "c": np.ones(3)})
    data = bytearray(path.read_bytes())
    data[vkml_io.inspect(path)[0].data_offset] ^= 1
    path.write_bytes(data)
    module = Module(a=np.zeros(50), b=np.zeros(33), c=np.zeros(3))

    with pytest.raises(vkml_io.StateMismatchError, match="CRC-32"):
        vkml_io.load_module(path, module)

    assert not any(each.any() for each in module.state.values())


@pytest.mark.parametrize(
    ("source", "target", "cast", "fits"),
    [
        ("bfloat16", "bfloat16", "no", True),
        ("bfloat16", "float32", "safe", True),
        ("bfloat16", "float32", "no", False),
        ("bfloat16", "float16", "safe", False),
        ("bfloat16", "float16", "same_kind", True),
        ("bfloat16", "int32", "same_kind", False),
        ("bfloat16", "int32", "unsafe", True),
        ("float32", "bfloat16", "same_kind", True),
        ("float32", "bfloat16", "safe", False),
        ("float8_e5m2", "bfloat16", "same_kind", True),
        ("int4", "float32", "safe", True),
    ],
)
def test_casts_follow_the_argument(
    path: Path, source: str, target: str, cast: Any, fits: bool
) -> None:
    values = np.array([1, 2, -3], getattr(ml_dtypes, source, source))
    vkml_io.save(path, {"w": values})
    mine = np.zeros(3, getattr(ml_dtypes, target, target))

    if not fits:
        with pytest.raises(vkml_io.StateMismatchError, match=f"is {source}, and {target}"):
            vkml_io.load_module(path, Module(w=mine), cast=cast)
        assert not mine.any()
        return
    vkml_io.load_module(path, Module(w=mine), cast=cast)

    assert mine.astype("f4").tolist() == [1, 2, -3]


def test_torch_tensors_take_bfloat16_bit_for_bit(path: Path) -> None:
    torch = pytest.importorskip("torch")
    vkml_io.save(path, {"w": _bf16(1, -2.5, np.inf), "e": _bf16(3).astype("float32")})
    w, e = torch.zeros(3, dtype=torch.bfloat16), torch.zeros(1, dtype=torch.bfloat16)

    vkml_io.load_module(path, Module(w=w, e=e))

    assert (w.tolist(), e.tolist()) == ([1, -2.5, float("inf")], [3])


def test_torch_tensors_of_bfloat16_are_saved_with_their_sharing(path: Path) -> None:
    torch = pytest.importorskip("torch")
    w = torch.arange(6, dtype=torch.bfloat16).reshape(2, 3).requires_grad_()
    q = torch.tensor([0.5, -2.0]).to(torch.float8_e4m3fn)

    vkml_io.save_module(path, Module(w=w, tied=w, t=w.T, q=q))

    loaded = vkml_io.load(path).tensors
    assert loaded["w"].dtype == ml_dtypes.bfloat16
    assert loaded["w"].astype("f4").tolist() == [[0, 1, 2], [3, 4, 5]]
    assert loaded["q"].astype("f4").tolist() == [0.5, -2]
    loaded["w"][0, 1] = 9
    assert loaded["t"][1, 0] == loaded["tied"][0, 1] == 9
