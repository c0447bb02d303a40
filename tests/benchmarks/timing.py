"""How the benchmarks measure: processes pinned to one core that take turns, minima, ratios.

Machines are shared and noisy. CPU time of a pinned process hides most of that; what is left hits
all peers alike when they take turns, and the minimum of several turns is the steadiest figure.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def pin() -> None:
    """Keep this process on the last core it may use."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def fastest(function: Callable[[], object], seconds: float) -> float:
    """Return the least CPU time, in seconds, of one call of `function`."""
    function()
    function()
    best = float("inf")
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or best == float("inf"):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


def in_turns(script: str, tasks: Sequence[tuple[str, ...]], rounds: int) -> list[dict[str, Any]]:
    """Run ``script --worker *task`` for each task, `rounds` times in turn; return what each prints.

    Each worker runs in a process of its own with one thread, and prints one line of JSON.
    """
    environment = os.environ | THREADS
    # Settings that work around old BLAS builds would slow the current one.
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        environment.pop(name, None)
    results = []
    for _ in range(rounds):
        for task in tasks:
            command = [sys.executable, script, "--worker", *task]
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise SystemExit(f"{' '.join(task)} failed:\n{done.stderr}")
            results.append(json.loads(done.stdout.splitlines()[-1]))
    return results
