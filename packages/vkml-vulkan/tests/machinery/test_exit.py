"""The end of the process: quiet and clean, whatever was going on. Validation is on throughout."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

_BEGIN = """
import atexit, gc, os, sys, threading, time
import numpy as np
import vkml

device = vkml.device("vulkan")
device.synchronize()

def work(count=100, size=10_000):
    value = vkml.ones(size, device=device)
    for _ in range(count):
        value = value + 1
    return value

"""

_ENDS = {
    "nothing done": "pass",
    "work in flight": "work()",
    "live tensors": "held = [work() for _ in range(5)]",
    "live tensors in a cycle": "held = [work()]; held.append(held); del held",
    "a graph of gradients": "x = work().requires_grad_(); y = (x * x).sum(); y.backward()",
    "after a download": "work().cpu()",
    "after sys.exit": "held = work(); sys.exit(0)",
    "in a thread": "threading.Thread(target=work).start()",
    "in a thread that ends later": """
threading.Thread(target=lambda: (time.sleep(0.2), work().cpu())).start()
""",
    "sys.exit while threads work": """
for _ in range(3):
    threading.Thread(target=lambda: work(300).cpu()).start()
sys.exit(0)
""",
    "tensors of a module": "import types; sys.modules['kept'] = types.SimpleNamespace(x=work())",
    "a device of its own": """
from vkml_vulkan.backend import VULKAN_BACKEND
handle = VULKAN_BACKEND.open_device(0)
held = handle.upload(np.ones(100))
""",
    "closed before": "held = work(); device.handle.close()",
    "closed by the user's own hook": "held = work(); atexit.register(device.handle.close)",
    "a finalizer that holds tensors": """
import weakref
class Owner: pass
owner = Owner()
weakref.finalize(owner, list, [work()])
""",
}


@pytest.mark.parametrize("end", _ENDS.values(), ids=_ENDS.keys())
def test_the_end_is_clean_and_silent(run_python: Run, end: str) -> None:
    ended = run_python(_BEGIN + end)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.parametrize("debug", ["access", "canaries", "separate"])
def test_the_end_is_clean_in_debug_modes(run_python: Run, debug: str) -> None:
    ended = run_python(_BEGIN + "held = [work(10) for _ in range(5)]", VKML_VULKAN_DEBUG=debug)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_use_in_a_hook_that_runs_after_the_device_was_closed_is_refused(run_python: Run) -> None:
    ended = run_python(
        """
        import atexit

        def late():
            try:
                tensor.cpu()
            except Exception as error:
                print(type(error).__name__, error)

        atexit.register(late)
        import vkml
        tensor = vkml.ones(10, device="vulkan")
        """
    )

    assert ended.returncode == 0
    assert ended.stdout.startswith("DeviceClosedError ")
    assert ended.stderr == ""


def test_daemon_threads_at_work_do_not_crash_the_end(run_python: Run) -> None:
    program = (
        _BEGIN
        + """
threading.excepthook = lambda _: None  # they are told that the device is closed

def for_ever():
    while True:
        work(20).cpu()

for _ in range(3):
    threading.Thread(target=for_ever, daemon=True).start()
time.sleep(0.3)
"""
    )

    for _ in range(3):
        ended = run_python(program)
        assert (ended.returncode, ended.stderr) == (0, "")


def test_an_exception_that_ends_the_program_is_the_only_message(run_python: Run) -> None:
    ended = run_python(_BEGIN + "held = work(); raise SystemExit('my words')")

    assert (ended.returncode, ended.stderr) == (1, "my words\n")
