"""Running one function beside another, in a thread.

Unlike with an executor, that works while the interpreter is ending: a save that goes on then is
finished.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")


def start_thread(function: Callable[[], T]) -> Future[T]:
    """Start `function` in a thread, for which the interpreter waits; else run it here and now."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            result = function()
        except BaseException as error:  # noqa: BLE001  # it is raised where the result is asked for
            future.set_exception(error)
        else:
            future.set_result(result)

    try:
        threading.Thread(target=run, name="vkml-io").start()
    except RuntimeError:  # Python 3.12 starts no thread any more when the main one has ended
        run()
    return future


@contextmanager
def running(function: Callable[[], T]) -> Iterator[Future[T]]:
    """Run `function` beside the block; at the end of the block, wait for it."""
    future = start_thread(function)
    try:
        yield future
    finally:
        wait([future])
