"""Processes started by spawn and forkserver, and the workers of a loader, beside an open device."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

_SPAWNING = """
import multiprocessing, sys
import vkml

def total(number):
    return float(vkml.full((10,), number, device="vulkan").sum())

if __name__ == "__main__":
    tensor = vkml.ones(100, device="vulkan") + 1
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(pool.map(total, [1.0, 2.0, 3.0]))
    print(float(tensor.sum()))
"""

_LOADING = """
import numpy as np
import vkml
from vkml.data import DataLoader

class Squares:
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return np.float32(index * index)

if __name__ == "__main__":
    device = vkml.device("vulkan")
    weight = vkml.ones(1, device=device) * 2
    total = vkml.zeros(1, device=device)
    for batch in DataLoader(Squares(), batch_size=4, num_workers=2):
        total = total + (vkml.as_tensor(batch).to(device) * weight).sum()
    print(float(total[0]))
"""


def _run(path: Path, program: str, *arguments: str) -> tuple[int, str, str]:
    path.write_text(program)
    ended = subprocess.run(
        [sys.executable, str(path), *arguments],
        timeout=120, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_children_open_devices_of_their_own(gpu: object, tmp_path: Path, method: str) -> None:
    if method == "forkserver" and sys.platform == "win32":
        pytest.skip("this system has no forkserver")

    ended = _run(tmp_path / "program.py", _SPAWNING, method)

    assert ended == (0, "[10.0, 20.0, 30.0]\n200.0\n", "")


def test_workers_of_a_loader_load_beside_an_open_device(gpu: object, tmp_path: Path) -> None:
    pytest.importorskip("vkml_nn", reason="the loader is part of vkml-nn")

    ended = _run(tmp_path / "program.py", _LOADING)

    assert ended == (0, "1012.0\n", "")
