"""Checkpoints beside safetensors: large arrays, many arrays, one of many, and memory.

python tests/benchmarks/bench_checkpoints.py [--size 512]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from timing import in_turns, pin

REPEATS = 7  # of each figure in each process
SMALL_KEY = "probe"  # an array of 4 KiB
MIB = 2**20

# Row of the table: our figure, the peer's, and the largest ratio that is allowed.
GATES = {
    "views, every byte summed": ("views_summed", "load_summed", 0.2),
    "fresh copies, unverified": ("copies", "load", 0.5),
    "fresh copies, every CRC checked": ("verified", "load", 0.9),
    "into existing arrays / raw preadv": ("into", "preadv", 1.15),
    "save, two cores": ("save_two", "save_file_two", 1.2),
    "save, one core": ("save_one", "save_file_one", 2.0),
    "open + keys of many": ("open_keys", "safe_open_keys", 1.2),
    "open + one 4 KiB array of many": ("open_one", "safe_open_one", 2.0),
    "load many: views": ("many_views", "many_load", 1.6),
    "load many: copies, unverified": ("many_copies", "many_load", 2.1),
    "load many: copies, verified": ("many_verified", "many_load", 2.5),
}
MEMORY_BAR_MIB = 16


def model(size_mib: int) -> dict[str, Any]:
    """Return a model of about `size_mib` MiB: few large arrays and many small ones."""
    generator = np.random.default_rng(0)
    unit = size_mib * MIB // 4 // 512  # float32 values in 1/512 of the size
    sizes = [64 * unit] * 7 + [16 * unit] * 3 + [1024 * (1 + i % 4) for i in range(190)]
    arrays = {f"layer.{i}.weight": generator.random(n, "f4") for i, n in enumerate(sizes)}
    return arrays | {SMALL_KEY: generator.random(1024, "f4")}


def many(count: int) -> dict[str, Any]:
    """Return `count` arrays of 256 bytes, and one of 4 KiB."""
    arrays = {f"blocks.{i // 12}.part.{i % 12}.weight": np.full(64, i, "f4") for i in range(count)}
    return arrays | {SMALL_KEY: np.arange(1024, dtype="f4")}


def write_files(folder: Path, size_mib: int, count: int) -> None:
    from safetensors.numpy import save_file

    import vkml_io

    for name, arrays in (("large", model(size_mib)), ("many", many(count))):
        vkml_io.save(folder / f"{name}.vkml", arrays)
        save_file(arrays, folder / f"{name}.safetensors")


def least(actions: dict[str, Callable[[], object]], clock: Callable[[], float]) -> dict[str, float]:
    """Return the least time of each action, all of which take turns."""
    best = dict.fromkeys(actions, float("inf"))
    for _ in range(REPEATS):
        for name, action in actions.items():
            start = clock()
            result = action()
            best[name] = min(best[name], clock() - start)
            del result
    return best


def sum_bytes(tensors: dict[str, Any]) -> int:
    """Read every byte, as 64-bit words where the size allows."""
    return sum(int(array.view("u8").sum()) for array in tensors.values())


def ours_reading(folder: Path) -> dict[str, Callable[[], object]]:
    import vkml_io

    large, lots = folder / "large.vkml", folder / "many.vkml"
    existing = {key: np.zeros_like(array) for key, array in vkml_io.load(large).tensors.items()}

    def one() -> object:
        with vkml_io.open(lots) as reader:
            return np.array(reader[SMALL_KEY])

    def keys() -> object:
        with vkml_io.open(lots) as reader:
            return list(reader)

    return {
        "views_summed": lambda: sum_bytes(vkml_io.load(large, mmap=True).tensors),
        "copies": lambda: vkml_io.load(large, verify=False),
        "verified": lambda: vkml_io.load(large),
        "into": lambda: vkml_io.load(large, verify=False, into=existing),
        "preadv": lambda: read_raw(large, existing),
        "open_keys": keys,
        "open_one": one,
        "many_views": lambda: vkml_io.load(lots, mmap=True),
        "many_copies": lambda: vkml_io.load(lots, verify=False),
        "many_verified": lambda: vkml_io.load(lots),
    }


def read_raw(path: Path, arrays: dict[str, Any]) -> None:
    """Fill the arrays from where `inspect` found them, with nothing but preadv."""
    import vkml_io

    if path not in _PLACES:
        _PLACES[path] = {entry.key: entry.data_offset for entry in vkml_io.inspect(path)}
    with path.open("rb") as file:
        for key, array in arrays.items():
            os.preadv(file.fileno(), [array], _PLACES[path][key])


_PLACES: dict[Path, dict[str, int]] = {}


def theirs_reading(folder: Path) -> dict[str, Callable[[], object]]:
    from safetensors import safe_open
    from safetensors.numpy import load_file

    large, lots = folder / "large.safetensors", folder / "many.safetensors"

    def one() -> object:
        with safe_open(lots, "numpy") as file:
            return file.get_tensor(SMALL_KEY)

    def keys() -> object:
        with safe_open(lots, "numpy") as file:
            return list(file.keys())

    return {
        "load_summed": lambda: sum_bytes(load_file(large)),
        "load": lambda: load_file(large),
        "safe_open_keys": keys,
        "safe_open_one": one,
        "many_load": lambda: load_file(lots),
    }


def measure_save(folder: Path, peer: str, cores: str, size_mib: int) -> dict[str, float]:
    """Return the time of a save without waiting for the disk, which both leave out."""
    arrays = model(size_mib)
    target = folder / f"saved.{peer}"
    if peer == "vkml":
        import vkml_io

        name, save = "save", lambda: vkml_io.save(target, arrays, durable=False)
    else:
        from safetensors.numpy import save_file

        name, save = "save_file", lambda: save_file(arrays, target)
    # On one core the CPU time is the wall time; threads on two cores show in wall time only.
    clock = time.process_time if cores == "one" else time.perf_counter
    return least({f"{name}_{cores}": save}, clock)


def measure_memory(folder: Path, what: str, size_mib: int) -> dict[str, float]:
    """Return the MiB of private memory that a save, or a load of views, adds at its peak."""
    import vkml_io

    arrays = model(size_mib) if what == "save" else {}
    vkml_io.save(folder / "saved.small", {"w": np.zeros(3)}, durable=False)  # imports are done
    if what == "save":
        before = _status_mib("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        vkml_io.save(folder / "saved.memory", arrays, durable=False)
        return {"memory_save": _status_mib("VmHWM") - before}
    before = _status_mib("RssAnon")
    checkpoint = vkml_io.load(folder / "large.vkml", mmap=True)
    sum_bytes(checkpoint.tensors)
    return {"memory_views": _status_mib("RssAnon") - before}


def _status_mib(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def work(folder: Path, task: list[str], size_mib: int) -> dict[str, float]:
    kind, what = task[0], task[1]
    if kind == "memory":
        return measure_memory(folder, what, size_mib)
    if kind == "save":
        if task[2] == "one":
            pin()
        return measure_save(folder, what, task[2], size_mib)
    pin()
    actions = (ours_reading if what == "vkml" else theirs_reading)(folder)
    return least(actions, time.process_time)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=256, help="MiB of the large model")
    parser.add_argument("--tensors", type=int, default=10_000, help="arrays of the other one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker", nargs="+")
    options = parser.parse_args()
    if options.worker:
        folder, size_mib, *task = options.worker
        print(json.dumps(work(Path(folder), task, int(size_mib))))
        return
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), options.size, options.tensors)
        tasks: list[tuple[str, ...]] = [
            ("read", "vkml"),
            ("read", "safetensors"),
            ("memory", "save"),
            ("memory", "views"),
        ]
        tasks += [("save", peer, n) for n in ("one", "two") for peer in ("vkml", "safetensors")]
        runs = in_turns(
            __file__, [(folder, str(options.size), *task) for task in tasks], options.rounds
        )
    report({name: min(r[name] for r in runs if name in r) for run in runs for name in run})


def report(best: dict[str, float]) -> None:
    print(f"{'':36}{'vkml ms':>10}{'peer ms':>10}{'ratio':>8}{'bar':>6}")
    for row, (ours, theirs, bar) in GATES.items():
        ratio = best[ours] / best[theirs]
        print(
            f"{row:36}{best[ours] * 1e3:10.2f}{best[theirs] * 1e3:10.2f}{ratio:8.2f}{bar:6.2f}"
            f"{'' if ratio <= bar else '  OVER'}"
        )
    for what in ("save", "views"):
        print(
            f"extra private memory, {what}: {best[f'memory_{what}']:.1f} MiB; "
            f"at most {MEMORY_BAR_MIB}"
        )


if __name__ == "__main__":
    main()
