from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vkml_io

if TYPE_CHECKING:
    from collections.abc import Hashable
    from pathlib import Path

    from vkml_io.aliases import Array


class Gate:
    """Stops a save in its thread, at its first progress, until it is opened."""

    def __init__(self) -> None:
        self.reached, self.open = threading.Event(), threading.Event()

    def __call__(self, _progress: vkml_io.Progress) -> None:
        self.reached.set()
        assert self.open.wait(60)


def _failing(_progress: vkml_io.Progress) -> None:
    raise RuntimeError("no more room")


def test_the_file_is_the_one_that_save_writes(tmp_path: Path, arrays: dict[str, Array]) -> None:
    options: dict[str, Any] = {"sha256": True, "align": 256, "durable": False}
    vkml_io.save(tmp_path / "a.vkml", arrays, {"epoch": 1}, **options)

    with vkml_io.AsyncSaver() as saver:
        saver.save(tmp_path / "b.vkml", arrays, {"epoch": 1}, **options)

    assert (tmp_path / "b.vkml").read_bytes() == (tmp_path / "a.vkml").read_bytes()


@pytest.mark.parametrize("views", ["preserve", "whole", "copy"])
def test_shared_memory_is_saved_as_by_save(tmp_path: Path, views: Any) -> None:
    numbers = np.arange(1, 1000)
    tensors = {"evens": numbers[1::2], "small": numbers[:5], "last": numbers[-3:]}
    alone = {"small": np.arange(50)[10:15]}

    for given in (tensors, alone):
        vkml_io.save(tmp_path / "a.vkml", given, views=views)
        with vkml_io.AsyncSaver() as saver:
            saver.save(tmp_path / "b.vkml", given, views=views)

        assert (tmp_path / "b.vkml").read_bytes() == (tmp_path / "a.vkml").read_bytes()


def test_what_is_changed_after_save_returns_does_not_reach_the_file(tmp_path: Path) -> None:
    weight, metadata, gate = np.zeros(3), {"losses": [1.0]}, Gate()
    tensors = {"first": np.zeros(1), "w": weight, "view": weight[1:]}

    with vkml_io.AsyncSaver() as saver:
        saver.save(tmp_path / "a.vkml", tensors, metadata, progress=gate)
        assert gate.reached.wait(60)
        weight += 5
        metadata["losses"].append(2.0)
        tensors.clear()
        assert saver.is_saving
        gate.open.set()

    loaded = vkml_io.load(tmp_path / "a.vkml")
    assert not loaded.tensors["w"].any()
    assert not loaded.tensors["view"].any()
    assert loaded.metadata == {"losses": [1.0]}
    assert not saver.is_saving


def test_one_save_is_in_flight_at_a_time(tmp_path: Path) -> None:
    gate, second = Gate(), threading.Event()

    with vkml_io.AsyncSaver() as saver:
        saver.save(tmp_path / "a.vkml", {"w": 1}, progress=gate)

        def save_again() -> None:
            saver.save(tmp_path / "b.vkml", {"w": 2})
            second.set()

        thread = threading.Thread(target=save_again)
        thread.start()
        assert gate.reached.wait(60)
        assert not second.wait(0.05)
        assert not (tmp_path / "b.vkml").exists()
        gate.open.set()
        thread.join()

    assert vkml_io.load(tmp_path / "a.vkml").tensors["w"] == 1
    assert vkml_io.load(tmp_path / "b.vkml").tensors["w"] == 2


def test_an_error_surfaces_at_the_next_save_which_does_not_start(tmp_path: Path) -> None:
    with vkml_io.AsyncSaver() as saver:
        saver.save(tmp_path / "a.vkml", {"w": 1}, progress=_failing)
        with pytest.raises(RuntimeError, match="no more room"):
            saver.save(tmp_path / "b.vkml", {"w": 2})
        saver.save(tmp_path / "c.vkml", {"w": 3})

    assert [path.name for path in tmp_path.iterdir()] == ["c.vkml"]


def test_an_error_surfaces_once_at_result(tmp_path: Path) -> None:
    saver = vkml_io.AsyncSaver()
    saver.save(tmp_path / "a.vkml", {"w": 1}, progress=_failing)

    with pytest.raises(RuntimeError, match="no more room"):
        saver.result()
    saver.result()
    saver.close()
    saver.close()


def test_an_error_surfaces_at_close(tmp_path: Path) -> None:
    saver = vkml_io.AsyncSaver()
    saver.save(tmp_path / "a.vkml", {"w": 1}, progress=_failing)

    with pytest.raises(RuntimeError, match="no more room"):
        saver.close()


def test_an_error_surfaces_at_the_end_of_the_block(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no more room"), vkml_io.AsyncSaver() as saver:
        saver.save(tmp_path / "a.vkml", {"w": 1}, progress=_failing)


def test_the_error_of_the_block_goes_on_with_that_of_the_save_as_a_note(tmp_path: Path) -> None:
    def train() -> None:
        with vkml_io.AsyncSaver() as saver:
            saver.save(tmp_path / "a.vkml", {"w": 1}, progress=_failing)
            raise KeyError("training")

    with pytest.raises(KeyError) as caught:
        train()

    assert caught.value.__notes__ == ["A save failed too: RuntimeError: no more room"]


def test_a_wait_that_takes_too_long_is_a_timeout(tmp_path: Path) -> None:
    gate = Gate()
    with vkml_io.AsyncSaver() as saver:
        saver.save(tmp_path / "a.vkml", {"w": 1}, progress=gate)
        with pytest.raises(TimeoutError):
            saver.result(timeout_s=0.01)
        gate.open.set()
        saver.result()

    assert vkml_io.load(tmp_path / "a.vkml").tensors["w"] == 1


@pytest.mark.parametrize(
    ("tensors", "error"),
    [({"w": object()}, TypeError), ({"w": np.ma.masked_array([1])}, TypeError), ([1], TypeError)],
)
def test_what_cannot_be_saved_is_refused_at_the_call(
    tmp_path: Path, tensors: Any, error: type[Exception]
) -> None:
    with vkml_io.AsyncSaver() as saver:
        with pytest.raises(error):
            saver.save(tmp_path / "a.vkml", tensors)
        with pytest.raises(FileNotFoundError):
            saver.save(tmp_path / "absent" / "a.vkml", {})

    assert list(tmp_path.iterdir()) == []


def test_a_closed_saver_saves_no_more(tmp_path: Path) -> None:
    saver = vkml_io.AsyncSaver()
    saver.close()

    with pytest.raises(ValueError, match="closed"):
        saver.save(tmp_path / "a.vkml", {})


@dataclass
class Device:
    """A storage on some device, read by arrays that are views of it."""

    content: Array
    reads: list[int] = field(default_factory=list)


@dataclass
class View:
    storage: Hashable
    device: Device
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def storage_nbytes(self) -> int:
        return self.device.content.nbytes

    def read_into(self, buffer: memoryview, /) -> None:
        self.device.reads.append(threading.get_ident())
        buffer[:] = self.device.content.tobytes()

    def __vkml_entry__(self) -> View:
        return self


def test_a_storage_of_a_device_is_read_once_and_in_the_callers_thread(tmp_path: Path) -> None:
    device = Device(np.arange(6, dtype="f4"))
    whole = View("token", device, "float32", (6,), (4,))
    part = View("token", device, "float32", (2,), (8,), offset=4)

    with vkml_io.AsyncSaver() as saver:
        saver.save(tmp_path / "a.vkml", {"whole": whole, "other": np.ones(1), "part": part})
        device.content[:] = 0

    assert device.reads == [threading.get_ident()]
    tensors = vkml_io.load(tmp_path / "a.vkml").tensors
    assert tensors["whole"].tolist() == [0, 1, 2, 3, 4, 5]
    assert tensors["part"].tolist() == [1, 3]


def test_a_program_that_ends_without_closing_finishes_its_save(tmp_path: Path) -> None:
    code = (
        "import sys, numpy, vkml_io\n"
        "saver = vkml_io.AsyncSaver()\n"
        "saver.save(sys.argv[1], {'w': numpy.ones(2_000_000)})\n"
    )
    path = tmp_path / "a.vkml"

    subprocess.run([sys.executable, "-c", code, str(path)], check=True)

    assert vkml_io.load(path).tensors["w"].all()
