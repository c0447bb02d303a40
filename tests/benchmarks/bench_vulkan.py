"""The Vulkan backend beside computeml, another Vulkan library for Python, and beside NumPy.

python tests/benchmarks/bench_vulkan.py

Kernels are measured in CPU time of the whole process, which on a software driver is the work of
the device, too; the cost of recording in CPU time of the main thread. On a machine without a GPU
set VK_DRIVER_FILES to lavapipe; LP_NUM_THREADS=0 is set here.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from timing import fastest, in_turns, pin

os.environ["LP_NUM_THREADS"] = "0"  # a worker thread of the driver costs more than small kernels

PEERS = ("vkml", "computeml")
SECONDS = 2.0
CHAIN = 100
GATES = {
    "matmul 256": 1.0, "matmul 512": 1.0, "softmax 1024x1024": 1.0, "MLP step": 1.0,
    "elementwise chain, per operation": 1.0,
}  # fmt: skip
RECORDING_GATE = 20.0
BATCHING_GATE = 2.0

Workload = Callable[[], object]


def arrays(*shapes: tuple[int, ...]) -> list[NDArray[np.float32]]:
    generator = np.random.default_rng(0)
    return [generator.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]


def linear_arrays() -> list[NDArray[np.float32]]:
    weights = arrays((128, 784), (128,), (10, 128), (10,))
    return [each * np.float32(0.05) for each in weights]


def labels() -> NDArray[np.int64]:
    return np.random.default_rng(1).integers(0, 10, 128)


# The workloads ----------------------------------------------------------------------------


def vkml_workloads() -> dict[str, Workload]:
    vkml = importlib.import_module("vkml")
    functional = importlib.import_module("vkml.nn.functional")
    optim = importlib.import_module("vkml.optim")
    device = vkml.device("vulkan")

    def on_device(array: NDArray[Any]) -> Any:
        return vkml.from_numpy(array).to(device)

    def matmul(size: int) -> Workload:
        a, b = map(on_device, arrays((size, size), (size, size)))
        return lambda: ((a @ b), device.synchronize())

    (scores,) = map(on_device, arrays((1024, 1024)))
    images, targets = on_device(arrays((128, 784))[0]), on_device(labels())
    weights = [on_device(each).requires_grad_() for each in linear_arrays()]
    optimizer = optim.SGD(weights, lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        hidden = functional.relu(functional.linear(images, weights[0], weights[1]))
        logits = functional.linear(hidden, weights[2], weights[3])
        functional.cross_entropy(logits, targets).backward()
        optimizer.step()
        device.synchronize()

    x, y = map(on_device, arrays((8,), (8,)))

    def chain() -> None:
        total = x
        for _ in range(CHAIN):
            total = total + y
        device.synchronize()

    def softmax() -> None:
        functional.softmax(scores, -1)
        device.synchronize()

    return {
        "matmul 256": matmul(256), "matmul 512": matmul(512), "softmax 1024x1024": softmax,
        "MLP step": step, "elementwise chain, per operation": chain,
    }  # fmt: skip


def computeml_workloads() -> dict[str, Workload]:
    library = importlib.import_module("computeml")
    context = library.Context()

    def matmul(size: int) -> Workload:
        a, b = map(context.asarray, arrays((size, size), (size, size)))
        return lambda: ((a @ b), context.flush())

    scores = context.asarray(arrays((1024, 1024))[0])
    images = context.asarray(arrays((128, 784))[0])
    targets = context.asarray(labels().astype(np.float32))
    first, second, third, fourth = linear_arrays()
    layers = library.nn.Sequential(
        library.nn.Linear.from_numpy(context, first, second, activation="relu"),
        library.nn.Linear.from_numpy(context, third, fourth),
    ).requires_grad_()
    optimizer = library.optim.SGD(layers.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        library.ops.cross_entropy(layers(images), targets).backward()
        optimizer.step()
        context.flush()

    x, y = map(context.asarray, arrays((8,), (8,)))

    def chain() -> None:
        total = x
        for _ in range(CHAIN):
            total = total + y
        context.flush()

    def softmax() -> None:
        library.ops.softmax(scores)
        context.flush()

    return {
        "matmul 256": matmul(256), "matmul 512": matmul(512), "softmax 1024x1024": softmax,
        "MLP step": step, "elementwise chain, per operation": chain,
    }  # fmt: skip


def measure(peer: str) -> dict[str, float]:
    """Return milliseconds of CPU time of each workload."""
    workloads = vkml_workloads() if peer == "vkml" else computeml_workloads()
    found = {name: fastest(run, SECONDS) * 1e3 for name, run in workloads.items()}
    found["elementwise chain, per operation"] /= CHAIN
    return found


# The cost of recording ---------------------------------------------------------------------


def measure_recording() -> dict[str, float]:
    """Return what recording costs beside NumPy, and what batches of dispatches gain."""
    vkml = importlib.import_module("vkml")
    device = vkml.device("vulkan")
    array = np.arange(8, dtype=np.float32)
    x = vkml.from_numpy(array).to(device)
    y = x + 1.0

    def thread_time(function: Workload, repeats: int = 1000) -> float:
        best = float("inf")
        for _ in range(15):
            start = time.thread_time()
            for _ in range(repeats):
                function()
            best = min(best, (time.thread_time() - start) / repeats)
            device.synchronize()
        return best

    def wall_time(submits: bool) -> float:
        best = float("inf")
        for _ in range(200):
            start = time.perf_counter()
            total = x
            for _ in range(CHAIN):
                total = total + y
                if submits:
                    device.synchronize()
            device.synchronize()
            best = min(best, time.perf_counter() - start)
        return best

    numpy_add = thread_time(lambda: np.add(array, array))
    return {
        "recorded, µs": thread_time(lambda: x + y) * 1e6,
        "recorded / NumPy": thread_time(lambda: x + y) / numpy_add,
        "each submitted and waited for / batched": wall_time(True) / wall_time(False),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker")
    options = parser.parse_args()
    if options.worker:
        pin()
        found = measure_recording() if options.worker == "recording" else measure(options.worker)
        print(json.dumps(found))
        return

    if importlib.util.find_spec("computeml") is None:
        raise SystemExit("computeml is missing: pip install computeml")
    results = in_turns(__file__, [(peer,) for peer in (*PEERS, "recording")], options.rounds)
    print("Vulkan: milliseconds of CPU time, the least of several runs; ratio to computeml\n")
    print(f"{'workload':36}{'vkml':>10}{'computeml':>12}{'ratio':>8}{'gate':>7}")
    for name, gate in GATES.items():
        ours = min(each[name] for each in results[0::3])
        peers = min(each[name] for each in results[1::3])
        print(f"{name:36}{ours:10.4f}{peers:12.4f}{ours / peers:8.2f}{gate:7.2f}")
    recording = results[2::3]
    bar = f"   at most {RECORDING_GATE:.0f}"
    for name, remark in (("recorded / NumPy", bar), ("recorded, µs", "")):
        print(f"{name:48}{min(each[name] for each in recording):10.2f}{remark}")
    name = "each submitted and waited for / batched"
    value = max(each[name] for each in recording)
    print(f"{name:48}{value:10.2f}   at least {BATCHING_GATE:.0f}")


if __name__ == "__main__":
    main()
