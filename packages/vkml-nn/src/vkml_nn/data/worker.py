"""What runs in the worker processes of a data loader."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from threading import Thread
from typing import Any

import vkml

# Any in this module: samples and batches are what the user's data set makes.


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker this process is.

    Attributes
    ----------
    id : int
        Its number, from 0.
    num_workers : int
        How many there are.
    seed : int
        What `vkml.manual_seed` was called with.
    dataset : object
        This worker's copy of the data set.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


class _Worker:
    """The state of this process, if it is a worker."""

    info: WorkerInfo | None = None


class Fetcher:
    """Makes batches of the samples of a data set."""

    def __init__(self, dataset: Any, collate_fn: Callable[[Any], Any]) -> None:
        self._dataset = dataset
        self._collate = collate_fn

    def __call__(self, indices: Sequence[Any]) -> Any:
        """Return the samples as one batch."""
        return self._collate([self._dataset[index] for index in indices])


class SampleFetcher:
    """Gets single samples of a data set."""

    def __init__(self, dataset: Any, collate_fn: Callable[[Any], Any]) -> None:
        self._dataset = dataset
        self._collate = collate_fn

    def __call__(self, index: Any) -> Any:
        """Return the sample of this number, or whatever the data set takes."""
        return self._collate(self._dataset[index])


class GatheringFetcher:
    """Makes batches through the data set's own ``gather``."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def __call__(self, indices: Sequence[int]) -> Any:
        """Return the samples as one batch."""
        return self._dataset.gather(indices)


class IteratingFetcher:
    """Makes batches of the samples of an iterable data set, of which it holds the iterator."""

    def __init__(self, dataset: Any, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        self._dataset = dataset
        self._collate = collate_fn
        self._drop_last = drop_last
        self._samples: Iterator[Any] | None = None

    def __call__(self, count: int | None) -> Any:
        """Return the next `count` samples as one batch, or one sample for None.

        Raises
        ------
        EndOfData
            There are none left, or too few and they are to be dropped.
        """
        if self._samples is None:
            self._samples = iter(self._dataset)
        samples = list(islice(self._samples, 1 if count is None else count))
        if not samples or (count is not None and len(samples) < count and self._drop_last):
            raise EndOfData
        return self._collate(samples[0] if count is None else samples)


class EndOfData(Exception):  # noqa: N818 - as StopIteration, which a process cannot pass on
    """An iterable data set has no more samples."""


def get_worker_info() -> WorkerInfo | None:
    """Return which worker of a data loader this process is; None in the main process.

    Examples
    --------
    >>> import vkml
    >>> vkml.data.get_worker_info() is None
    True
    """
    return _Worker.info


def serve(
    connection: Connection,
    fetch: Callable[[Any], Any],
    info: WorkerInfo,
    worker_init_fn: Callable[[int], object] | None,
) -> None:
    """Answer requests until the main process closes the connection: what a worker does.

    Two threads keep both directions of the connection flowing: neither process ever waits for the
    other one to read, and the next batch is made while the last one is on its way.
    """
    # An interrupt from the keyboard is for the main process, which then ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _Worker.info = info
    vkml.manual_seed(info.seed)
    requests: SimpleQueue[bytes | None] = SimpleQueue()
    answers: SimpleQueue[bytes] = SimpleQueue()
    for flow, queue in ((_receive, requests), (_send, answers)):
        Thread(target=flow, args=(connection, queue), daemon=True).start()
    if worker_init_fn is not None:
        worker_init_fn(info.id)
    while (request := requests.get()) is not None:
        answers.put(_answer(fetch, request))


def _receive(connection: Connection, requests: SimpleQueue[bytes | None]) -> None:
    with suppress(EOFError, OSError):
        while True:
            requests.put(connection.recv_bytes())
    requests.put(None)


def _send(connection: Connection, answers: SimpleQueue[bytes]) -> None:
    with suppress(OSError):  # the main process wants no more
        while True:
            connection.send_bytes(answers.get())


def _answer(fetch: Callable[[Any], Any], request: bytes) -> bytes:
    """Return, pickled, the batch that `request` asks for; or the exception, and where it arose."""
    try:
        return packed((fetch(unpacked(request)), None))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the main process raises it
        return packed((_portable(error), traceback.format_exc()))


def packed(value: Any) -> bytes:
    """Return `value` as bytes for the other process."""
    return bytes(ForkingPickler.dumps(value))


def unpacked(data: bytes) -> Any:
    """Return what the other process packed."""
    return ForkingPickler.loads(data)


def _portable(error: BaseException) -> BaseException:
    """Return the exception, or one that says the same and survives the way."""
    try:
        unpacked(packed(error))
    except Exception:  # noqa: BLE001 - it may fail in any way
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
