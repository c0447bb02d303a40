"""The worker processes of one pass over a data set."""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

from vkml_nn.data.worker import EndOfData, WorkerInfo, packed, serve, unpacked
from vkml_nn.errors import WorkerError

# Never fork: a Vulkan device, and the threads of NumPy, do not survive it.
_CONTEXT: Final = (
    multiprocessing.get_context("forkserver")
    if "forkserver" in multiprocessing.get_all_start_methods()
    else multiprocessing.get_context("spawn")
)

_BOOTSTRAPPING: Final = "bootstrapping phase"
"""What multiprocessing says when a new process, still importing the script, starts others."""

_NO_GUARD: Final = (
    "DataLoader: a worker process imports the script that started it, and this script then starts "
    "workers itself. Put what it runs under 'if __name__ == \"__main__\":', or give num_workers=0."
)

_GRACE_S: Final = 1.0
"""How long workers may take to end by themselves. Longer ones are ended: they may never answer."""


class WorkerPool:
    """Processes that make batches ahead; each holds its own copy of the data set.

    Batch i goes to worker i modulo their number, so that results do not depend on timing. The
    processes end with this one, whatever they are doing; they may start none themselves.

    Parameters
    ----------
    fetch : callable
        Makes a batch for a request.
    dataset : object
        For `get_worker_info`.
    count : int
        How many processes.
    seed : int
        Worker i is seeded with ``seed + i``.
    worker_init_fn : callable or None
        Called in each process with its number.
    timeout_s : float or None
        How long to wait for a batch.
    """

    def __init__(
        self,
        fetch: Callable[[Any], Any],
        dataset: Any,
        *,
        count: int,
        seed: int,
        worker_init_fn: Callable[[int], object] | None,
        timeout_s: float | None,
    ) -> None:
        self._timeout_s = timeout_s
        self._tasks = [
            (fetch, WorkerInfo(number, count, seed + number, dataset), worker_init_fn)
            for number in range(count)
        ]
        self._workers: list[_Worker] = []

    def results(self, requests: Iterator[Any], ahead: int) -> Iterator[Any]:
        """Yield the batches in the order of the requests, `ahead` of which are under way.

        Raises
        ------
        WorkerError
            A worker died or took too long. What a data set raises is raised again as it is.
        """
        pending: deque[_Worker] = deque()
        turns: deque[_Worker] = deque()

        def submit() -> None:
            if not turns:
                return
            for request in requests:
                worker = turns[0]
                turns.rotate(-1)
                worker.ask(request)
                pending.append(worker)
                return

        try:
            for task in self._tasks:
                self._workers.append(_Worker(len(self._workers), task))
            turns += self._workers
            for _ in range(ahead):
                submit()
            while pending:
                worker = pending.popleft()
                try:
                    batch = worker.answer(self._timeout_s)
                except EndOfData:
                    if worker in turns:
                        turns.remove(worker)
                    submit()
                    continue
                submit()
                yield batch
        finally:
            self.close()

    def close(self) -> None:
        """End the processes. May be called twice."""
        for worker in self._workers:
            worker.dismiss()
        deadline = time.monotonic() + _GRACE_S
        for worker in self._workers:
            worker.end(max(deadline - time.monotonic(), 0))
        self._workers.clear()


class _Worker:
    """The main process's side of one worker."""

    def __init__(self, number: int, task: tuple[Any, ...]) -> None:
        self._number = number
        self._connection, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=serve, args=(theirs, *task), daemon=True)
        try:
            self._process.start()
        except RuntimeError as error:
            if _BOOTSTRAPPING in str(error):
                raise WorkerError(_NO_GUARD) from None
            raise
        finally:
            theirs.close()  # or the end of the worker would not close the connection

    def ask(self, request: Any) -> None:
        """Send a request; to a dead worker in vain, which `answer` tells."""
        data = packed(request)
        with suppress(BrokenPipeError, ConnectionResetError):
            self._connection.send_bytes(data)

    def answer(self, timeout_s: float | None) -> Any:
        """Return the batch of the first request without an answer, or raise what arose."""
        if not self._connection.poll(timeout_s):
            message = f"DataLoader: worker {self._number} gave no batch for {timeout_s} s."
            raise WorkerError(message)
        try:
            data = self._connection.recv_bytes()
        except (EOFError, ConnectionResetError):
            raise WorkerError(_death(self._number)) from None
        result, place = unpacked(data)
        if place is None:
            return result
        raise result from _WorkerTraceback(place)

    def dismiss(self) -> None:
        """Let the worker end when it has made what it is making."""
        self._connection.close()

    def end(self, within_s: float) -> None:
        """Wait for the end of the worker, and enforce it when the time is over."""
        self._process.join(within_s)
        for enforce in (self._process.terminate, self._process.kill):
            if self._process.is_alive():
                enforce()
                self._process.join(_GRACE_S)


class _WorkerTraceback(Exception):  # noqa: N818 - a place, which its error points to
    """Where in a worker an exception arose: shown as its cause."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def _death(number: int) -> str:
    return (
        f"DataLoader: worker {number} died without a result. Three usual reasons: the data set or "
        "worker_init_fn raised while the worker started (its message is above); a script lacks "
        "'if __name__ == \"__main__\":' around what it runs; the system ran out of memory."
    )
