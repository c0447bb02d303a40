"""The instance of the process: one, also where several threads ask first."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_threads_that_ask_at_once_get_the_same_instance(run_python: Run) -> None:
    ended = run_python(
        """
        import threading
        from vkml_vulkan.instance import the_instance

        found, start = [], threading.Barrier(4)

        def ask():
            start.wait()
            found.append(the_instance())

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        print(len(set(map(id, found))))
        """
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "1\n", "")


def test_importing_the_backend_opens_nothing(run_python: Run) -> None:
    ended = run_python(
        """
        import sys
        import vkml_vulkan.backend
        from vkml_vulkan import instance

        print("vulkan" in sys.modules, instance._open)
        """
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "False []\n", "")
