"""A bar that shows on a terminal how far a command has come."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self, TextIO

from vkml_io.summary import size_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from vkml_io.progress import Progress

_PATIENCE_S = 2.0  # work that takes no longer shows no bar
_INTERVAL_S = 0.1  # between two drawings
_WIDTH = 30


class ProgressBar:
    """Draws on one line of `stream`, if that is a terminal, and removes the line at the end.

    Parameters
    ----------
    stream : text file
        Where to draw: stderr, so that what the command writes stays clean.
    clock : callable
        Gives the time in seconds.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._is_terminal = stream.isatty()
        self._next = clock() + _PATIENCE_S
        self._longest = 0

    def __call__(self, progress: Progress) -> None:
        """Draw, if it is time to."""
        if not self._is_terminal:
            return
        now = self._clock()
        if now < self._next:
            return
        self._next = now + _INTERVAL_S
        self._draw(bar_text(progress))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._longest:
            self._draw("")
            self._stream.write("\r")
            self._stream.flush()

    def _draw(self, text: str) -> None:
        self._stream.write(f"\r{text.ljust(self._longest)}")
        self._stream.flush()
        self._longest = max(self._longest, len(text))


def bar_text(progress: Progress) -> str:
    """Return one line in ASCII, which says how much of the work is done."""
    share = progress.done / progress.total if progress.total else 1.0
    filled = int(_WIDTH * share)
    bar = "#" * filled + "." * (_WIDTH - filled)
    return f"[{bar}] {share:4.0%}  {size_text(progress.done)} of {size_text(progress.total)}"
