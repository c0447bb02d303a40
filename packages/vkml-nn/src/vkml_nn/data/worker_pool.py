"""The worker processes of one pass over a data set."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Final

from vkml_nn.data.worker import EndOfData, WorkerInfo, start, work
from vkml_nn.errors import WorkerError

# Never fork: a Vulkan device, and the threads of NumPy, do not survive it.
_START_METHOD: Final = (
    "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
)

_BOOTSTRAPPING: Final = "bootstrapping phase"
"""What multiprocessing says when a new process, still importing the script, starts others."""

_NO_GUARD: Final = (
    "DataLoader: a worker process imports the script that started it, and this script then starts "
    "workers itself. Put what it runs under 'if __name__ == \"__main__\":', or give num_workers=0."
)


class WorkerPool:
    """Processes that make batches ahead; each holds its own copy of the data set.

    Batch i goes to worker i modulo their number, so that results do not depend on timing.

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
        # An executor for each worker rather than one for all: with one, any worker might take any
        # batch, and an iterable data set could not go on where it was.
        self._executors = [
            ProcessPoolExecutor(
                max_workers=1,
                mp_context=multiprocessing.get_context(_START_METHOD),
                initializer=start,
                initargs=(fetch, WorkerInfo(number, count, seed + number, dataset), worker_init_fn),
            )
            for number in range(count)
        ]

    def results(self, requests: Iterator[Any], ahead: int) -> Iterator[Any]:
        """Yield the batches in the order of the requests, `ahead` of which are under way.

        Raises
        ------
        WorkerError
            A worker died or took too long. What a data set raises is raised again as it is.
        """
        pending: deque[tuple[int, Future[Any]]] = deque()
        turns = deque(range(len(self._executors)))

        def submit() -> None:
            if not turns:
                return
            for request in requests:
                number = turns[0]
                turns.rotate(-1)
                pending.append((number, self._submit(number, request)))
                return

        try:
            for _ in range(ahead):
                submit()
            while pending:
                number, future = pending.popleft()
                try:
                    batch = future.result(self._timeout_s)
                except EndOfData:
                    if number in turns:
                        turns.remove(number)
                    submit()
                    continue
                except BrokenProcessPool as error:
                    raise WorkerError(_death(number)) from error
                except TimeoutError as error:
                    if future.done():
                        raise  # the data set's own
                    message = f"DataLoader: worker {number} gave no batch for {self._timeout_s} s."
                    raise WorkerError(message) from error
                submit()
                yield batch
        finally:
            self.close()

    def _submit(self, number: int, request: Any) -> Future[Any]:
        try:
            return self._executors[number].submit(work, request)
        except RuntimeError as error:
            if _BOOTSTRAPPING in str(error):
                raise WorkerError(_NO_GUARD) from None
            raise

    def close(self) -> None:
        """End the processes. May be called twice."""
        for executor in self._executors:
            executor.shutdown(wait=False, cancel_futures=True)


def _death(number: int) -> str:
    return (
        f"DataLoader: worker {number} died without a result. Three usual reasons: the data set or "
        "worker_init_fn raised while the worker started (its message is above); a script lacks "
        "'if __name__ == \"__main__\":' around what it runs; the system ran out of memory."
    )
