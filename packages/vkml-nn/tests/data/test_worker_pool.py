"""Workers end with the process that started them, and never keep it waiting."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_START = """
import sys
import time

import vkml
from vkml import data, nn


class Hanging(data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        if index >= 2:
            time.sleep(1000)
        return index


def loader(**options):
    return data.DataLoader(Hanging(), num_workers=2, **options)


if __name__ == "__main__":
"""

_TIMED_OUT = """
    try:
        list(loader(timeout=1))
    except nn.WorkerError:
        print("done")
"""
_LEFT = """
    for batch in loader():
        print("done")
        break
"""
_INTERRUPTED = """
    import signal

    batches = iter(loader())
    next(batches), next(batches)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        next(batches)
    except KeyboardInterrupt:
        print("done")
"""
_STILL_OPEN = """
    batches = iter(loader())
    next(batches)
    print("done")
    sys.exit(0)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(
    "script",
    [_TIMED_OUT, _LEFT, _INTERRUPTED, _STILL_OPEN],
    ids=["timed out", "left", "interrupted", "still open"],
)
def test_a_worker_that_hangs_does_not_keep_the_program_from_ending(
    tmp_path: Path, script: str
) -> None:
    file = tmp_path / "script.py"
    file.write_text(_START + script)

    # Far less than the worker hangs; a failure, not a limit on speed.
    result = subprocess.run(
        [sys.executable, file], capture_output=True, text=True, timeout=60, check=False
    )

    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")


def test_requests_and_batches_may_be_larger_than_what_a_pipe_holds(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text(
        "import vkml\n"
        "if __name__ == '__main__':\n"
        "    numbers = list(range(600_000))\n"
        "    dataset = vkml.data.TensorDataset(vkml.arange(600_000))\n"
        "    loader = vkml.data.DataLoader(dataset, batch_sampler=[numbers] * 6, num_workers=1)\n"
        "    print(sum(len(batch) for (batch,) in loader))\n"
    )

    result = subprocess.run(
        [sys.executable, file], capture_output=True, text=True, timeout=120, check=False
    )

    assert (result.stdout, result.stderr) == ("3600000\n", "")
