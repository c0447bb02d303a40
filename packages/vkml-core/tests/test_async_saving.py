"""Tensors of any device can be saved beside the training that goes on changing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import vkml

if TYPE_CHECKING:
    from pathlib import Path


def test_a_tensor_that_is_changed_after_the_call_is_saved_as_it_was(tmp_path: Path) -> None:
    weight = vkml.ones(3, requires_grad=True)
    bias = vkml.zeros(2, 2)

    with vkml.io.AsyncSaver() as saver:
        saver.save(tmp_path / "a.vkml", {"w": weight, "row": bias[1], "b": bias}, {"epoch": 1})
        with vkml.no_grad():
            weight.add_(5)
            bias.add_(7)

    found = vkml.load_tensors(tmp_path / "a.vkml")
    assert found["w"].tolist() == [1, 1, 1]
    assert found["row"].tolist() == [0, 0]
    assert found["b"].tolist() == [[0, 0], [0, 0]]


def test_the_file_is_the_one_that_save_writes(tmp_path: Path) -> None:
    tensors = {"w": vkml.arange(6).reshape(2, 3).T, "x": vkml.ones(2)}
    vkml.save(tmp_path / "a.vkml", tensors)

    with vkml.io.AsyncSaver() as saver:
        saver.save(tmp_path / "b.vkml", tensors)

    assert (tmp_path / "b.vkml").read_bytes() == (tmp_path / "a.vkml").read_bytes()
