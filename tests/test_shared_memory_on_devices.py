"""Tensors that share memory keep that in a checkpoint, from any device to any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import vkml
import vkml_io
from vkml import nn

pytestmark = pytest.mark.usefixtures("gpu")

WAYS = [("cpu", "vulkan"), ("vulkan", "cpu"), ("vulkan", "vulkan")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.vkml"


@pytest.mark.parametrize(("source", "target"), WAYS)
def test_what_changes_one_changes_the_other(path: Path, source: str, target: str) -> None:
    numbers = vkml.arange(1, 10, device=source)
    vkml.save(path, {"numbers": numbers, "evens": numbers[1::2], "T": numbers.reshape(3, 3).T})

    loaded = vkml.load_tensors(path, device=target)
    loaded["evens"].mul_(2)

    assert loaded["numbers"].device.type == target
    assert loaded["numbers"].tolist() == [1, 4, 3, 8, 5, 12, 7, 16, 9]
    assert loaded["T"].tolist() == [[1, 8, 7], [4, 5, 16], [3, 12, 9]]
    assert len({each.storage() for each in loaded.values()}) == 1


@pytest.mark.parametrize(("source", "target"), WAYS)
def test_a_part_comes_alone_or_with_its_whole_storage(path: Path, source: str, target: str) -> None:
    small = vkml.arange(1, 1000, device=source)[0:5]

    ways: list[tuple[Literal["preserve", "whole"], int]] = [("preserve", 5), ("whole", 999)]
    for views, size in ways:
        vkml.save(path, {"small": small}, views=views)
        loaded = vkml.load_tensors(path, device=target)["small"]
        assert (loaded.tolist(), loaded.storage().size()) == ([1, 2, 3, 4, 5], size)


@pytest.mark.parametrize(("source", "target"), WAYS)
def test_bfloat16_keeps_every_bit(path: Path, source: str, target: str) -> None:
    pytest.importorskip("ml_dtypes")
    w = (vkml.arange(12.0, device=source) / 7).to(dtype=vkml.bfloat16).reshape(3, 4)
    vkml.save(path, {"w": w, "column": w[:, 1]})

    loaded = vkml.load_tensors(path, device=target)

    np.testing.assert_array_equal(loaded["w"].cpu().numpy(), w.cpu().numpy())
    np.testing.assert_array_equal(loaded["column"].cpu().numpy(), w[:, 1].cpu().numpy())
    assert loaded["column"].storage() == loaded["w"].storage()


def test_each_storage_is_downloaded_and_uploaded_once(
    path: Path, gpu: vkml.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    for name in ("download", "upload"):
        original = getattr(gpu.handle, name)

        def counted(x: Any, name: str = name, original: Any = original) -> Any:
            calls.append(name)
            return original(x)

        monkeypatch.setattr(gpu.handle, name, counted)
    a, b = vkml.arange(12, device=gpu), vkml.arange(12, device=gpu)
    calls.clear()

    vkml.save(path, {"0": a[:4], "1": b, "2": a[6:], "3": b[::2], "4": a[2:8], "5": b[:3]})
    downloads = calls.count("download")
    calls.clear()
    vkml.load_tensors(path, device=gpu)

    assert downloads == 2
    assert calls.count("upload") == 2


@pytest.mark.parametrize("target", ["cpu", "vulkan"])
def test_tied_weights_are_stored_once_and_stay_tied(path: Path, target: str) -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Linear(4, 4, bias=False)
            self.project = nn.Linear(4, 4, bias=False)
            self.project.weight = self.embed.weight

    model = Tied().to("vulkan")
    vkml.save_module(path, model)
    fresh = Tied().to(target)

    vkml.load_module(path, fresh)

    assert len({entry.member for entry in vkml_io.inspect(path)}) == 1
    np.testing.assert_array_equal(
        fresh.project.weight.detach().cpu().numpy(), model.embed.weight.detach().cpu().numpy()
    )
    assert fresh.project.weight is fresh.embed.weight
