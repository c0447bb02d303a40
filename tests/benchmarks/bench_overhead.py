"""The cost of one small operation: a chain of 1000 on 8 elements, beside raw NumPy and torch.

python tests/benchmarks/bench_overhead.py
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
from timing import in_turns, pin

OPERATIONS = 1000
PEERS = ("vkml", "torch")
GATES = {"forward": 2.9, "recorded": 5.0, "backward": 6.0}


def chain(x: Any, factor: Any, term: Any) -> Any:
    for _ in range(OPERATIONS // 2):
        x = x * factor + term
    return x


def measure(peer: str, repeats: int = 200) -> dict[str, float]:
    """Return nanoseconds per operation: raw NumPy, and the peer in three modes."""
    arrays = [np.full(8, value, np.float32) for value in (1.0, 1.0001, 1e-4)]
    library = __import__(peer)
    x, factor, term = (library.from_numpy(array.copy()) for array in arrays)
    learned = library.from_numpy(arrays[1].copy()).requires_grad_()
    best = {"numpy": 1e9, "forward": 1e9, "recorded": 1e9, "backward": 1e9}

    def note(name: str, start: float) -> None:
        best[name] = min(best[name], (time.process_time() - start) / OPERATIONS * 1e9)

    for _ in range(repeats):
        start = time.process_time()
        chain(*arrays)
        note("numpy", start)
        with library.no_grad():
            start = time.process_time()
            chain(x, factor, term)
            note("forward", start)
        start = time.process_time()
        result = chain(x, learned, term)
        note("recorded", start)
        total = result.sum()
        start = time.process_time()
        total.backward()
        note("backward", start)
        learned.grad = None
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker")
    options = parser.parse_args()
    if options.worker:
        pin()
        print(json.dumps({"peer": options.worker, **measure(options.worker)}))
        return
    runs = in_turns(__file__, [("vkml",), ("torch",)], options.rounds)
    numpy = min(run["numpy"] for run in runs)
    print(f"raw NumPy: {numpy:.0f} ns per operation\n")
    print(f"{'':10}{'vkml ns':>10}{'torch ns':>10}{'vkml/numpy':>12}{'bar':>6}{'vkml/torch':>12}")
    for mode, bar in GATES.items():
        best = {peer: min(run[mode] for run in runs if run["peer"] == peer) for peer in PEERS}
        ratio = min(run[mode] / run["numpy"] for run in runs if run["peer"] == "vkml")
        print(
            f"{mode:10}{best['vkml']:10.0f}{best['torch']:10.0f}{ratio:12.2f}{bar:6.1f}"
            f"{best['vkml'] / best['torch']:12.2f}"
        )


if __name__ == "__main__":
    main()
