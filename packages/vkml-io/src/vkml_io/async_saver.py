"""`AsyncSaver`: saving beside the work that makes the next checkpoint."""

from __future__ import annotations

import os
import threading
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from vkml_io.beside import start_thread
from vkml_io.path_arguments import check_folder, check_order, check_path
from vkml_io.save_plan import plan_save
from vkml_io.snapshot import snapshot
from vkml_io.writer import save

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Future

    from vkml_io.aliases import OnProgress, PathLike
    from vkml_io.sharing import Views


class AsyncSaver:
    """Saves checkpoints in a thread of its own, one at a time.

    `save` copies the arrays and returns; what happens to them afterwards does not reach the file.
    So one more copy of all of them is in memory until the save is done. A save that fails is never
    lost: the next call raises its error, be it `save`, `result` or `close`, once.

    One object may be used by several threads. Leave its ``with`` block, or call `close`, to wait
    for the last save. A program that ends without doing so still finishes it, and says nothing of
    an error.

    Examples
    --------
    >>> import numpy as np, vkml_io
    >>> weight = np.zeros(3)
    >>> with vkml_io.AsyncSaver() as saver:
    ...     for epoch in range(2):
    ...         weight += 1
    ...         saver.save(f"epoch{epoch}.vkml", {"w": weight}, {"epoch": epoch})
    >>> vkml_io.load("epoch0.vkml").tensors["w"]
    array([1., 1., 1.])
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._running: Future[None] | None = None
        self._closed = False

    def save(
        self,
        path: PathLike,
        tensors: Mapping[str, Any],  # Any: whatever np.asarray takes
        metadata: Mapping[str, Any] | None = None,  # Any: whatever JSON can say
        compress: bool = False,
        *,
        views: Views = "preserve",
        align: int = 64,
        sha256: bool = False,
        durable: bool = True,
        progress: OnProgress | None = None,
    ) -> None:
        """Start to save, when the save before is done; return as soon as the arrays are copied.

        The arguments are those of `save`. For a module pass ``module.state_dict()``. What can be
        refused without writing is refused here, and nothing is started. `progress` is called in
        the thread that writes.

        Raises
        ------
        Exception
            The save before failed: this is its error, and nothing is started.
        ValueError
            The saver is closed.
        """
        check_order("save", "tensors", path, tensors)
        check_path("save", path)
        check_folder(path)
        with self._lock:
            if self._closed:
                raise ValueError("this AsyncSaver is closed")
            self.result()
            plan_save(tensors, metadata, align, sha256=sha256, views=views)
            copies = snapshot(tensors, views)
            frozen = None if metadata is None else deepcopy(dict(metadata))
            write = partial(
                save,
                os.fspath(path),
                copies,
                frozen,
                compress,
                views=views,
                align=align,
                sha256=sha256,
                durable=durable,
                progress=progress,
            )
            self._running = start_thread(write)

    def result(self, timeout_s: float | None = None) -> None:
        """Wait until nothing is being saved, and raise the error of a save that failed.

        Parameters
        ----------
        timeout_s : float, optional
            Wait no longer than so many seconds.

        Raises
        ------
        Exception
            The save failed: its own error, as `save` would have raised it.
        TimeoutError
            The save goes on.
        """
        running = self._running
        if running is None:
            return
        error = running.exception(timeout_s)
        with self._lock:
            if self._running is running:
                self._running = None  # an error is raised once
            elif error is not None:
                return  # another thread has raised it
        if error is not None:
            raise error

    @property
    def is_saving(self) -> bool:
        """Whether a save goes on."""
        running = self._running
        return running is not None and not running.done()

    def close(self) -> None:
        """Wait for the last save and raise its error. May be called twice."""
        with self._lock:
            self._closed = True
        self.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        try:
            self.close()
        except Exception as failure:
            if error is None:
                raise
            # The error of the block goes on; what happened to the checkpoint is told with it.
            error.add_note(f"A save failed too: {type(failure).__name__}: {failure}")
