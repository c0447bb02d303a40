"""Whole training steps beside torch, from the same weights, on one thread.

python tests/benchmarks/bench_training.py --workloads mlp cnn
"""

from __future__ import annotations

import argparse
import json

from timing import fastest, in_turns, pin
from workloads import WORKLOADS, Library

PEERS = ("vkml", "torch")
GATES = {"mlp": 0.9, "cnn": 1.7, "transformer_block": 1.15}


def worker(peer: str, workload: str, seconds: float) -> dict[str, object]:
    pin()
    if peer == "torch":
        import torch

        torch.set_num_threads(1)
    step = WORKLOADS[workload](Library(peer))
    first = step()
    return {"peer": peer, "workload": workload, "ms": fastest(step, seconds) * 1e3, "loss": first}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", nargs="+", default=list(WORKLOADS), choices=list(WORKLOADS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--worker", nargs=2, metavar=("PEER", "WORKLOAD"))
    options = parser.parse_args()
    if options.worker:
        peer, workload = options.worker
        print(json.dumps(worker(peer, workload, options.seconds)))
        return
    print(f"{'':20}{'vkml ms':>10}{'torch ms':>10}{'ratio':>8}{'bar':>6}   first losses")
    for workload in options.workloads:
        runs = in_turns(__file__, [("vkml", workload), ("torch", workload)], options.rounds)
        best = {peer: min(run["ms"] for run in runs if run["peer"] == peer) for peer in PEERS}
        losses = [run["loss"] for run in runs[:2]]
        bar = f"{GATES[workload]:.2f}" if workload in GATES else ""
        print(
            f"{workload:20}{best['vkml']:10.2f}{best['torch']:10.2f}"
            f"{best['vkml'] / best['torch']:8.2f}{bar:>6}   {losses[0]:.6f} {losses[1]:.6f}"
        )


if __name__ == "__main__":
    main()
