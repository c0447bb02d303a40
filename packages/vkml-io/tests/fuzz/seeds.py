"""Small files to start fuzzing from: our writer's, the original's, and the hostile ones."""

from __future__ import annotations

import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np

import vkml_io

sys.path.append(str(Path(__file__).parents[1]))

LARGEST = 4096  # bytes; small files are mutated faster, and where it matters


def container_seeds(folder: Path) -> list[Path]:
    """Write the seeds of the container target into `folder`."""
    from hostile_files import write_all

    write_all(folder)
    arrays = {
        "w": np.arange(6, dtype=">f4").reshape(2, 3),
        "é": np.asfortranarray(np.eye(2, dtype="f8")),
        "flags": np.array([True, False]),
        "scalar": np.int8(3),
        "empty": np.zeros((0, 2), "c8"),
    }
    vkml_io.save(folder / "stored.vkml", arrays, {"a": [1, float("nan")]}, sha256=True)
    vkml_io.save(folder / "deflated.vkml", {"w": np.zeros(200)}, compress=True, align=256)
    vkml_io.save(folder / "nothing.vkml", {})
    numbers = np.arange(9.0)
    shared = {"numbers": numbers, "evens": numbers[1::2], "../escaped": numbers[:2] + 1}
    vkml_io.save(folder / "shared.vkml", shared)
    vkml_io.save(folder / "whole.vkml", {"small": numbers[2:4]}, views="whole", sha256=True)
    original = Path(__file__).parents[1] / "data" / "v1"
    for path in original.glob("*.vkml"):
        (folder / f"original-{path.name}").write_bytes(path.read_bytes())
    for path in folder.iterdir():
        if path.stat().st_size > LARGEST:
            path.unlink()
    return sorted(folder.iterdir())


def json_seeds(folder: Path, containers: list[Path]) -> list[Path]:
    """Write the `vkml.json` of each container that has one into `folder`."""
    for path in containers:
        try:
            with zipfile.ZipFile(path) as archive:
                data = archive.read("vkml.json")
        except (KeyError, OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error):
            continue  # it is hostile, or cut
        (folder / f"{path.stem}.json").write_bytes(data)
    return sorted(folder.iterdir())
