from __future__ import annotations

import io

from vkml_io import Progress
from vkml_io.progress_bar import ProgressBar, bar_text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def _run(stream: io.StringIO, *, seconds: int) -> str:
    clock = Clock()
    with ProgressBar(stream, clock) as bar:
        for second in range(1, seconds + 1):
            clock.now = 100.0 + second
            bar(Progress(second * 2**20, seconds * 2**20, "w"))
    return stream.getvalue()


def test_work_of_more_than_two_seconds_shows_a_bar_and_takes_it_away() -> None:
    drawn = _run(Terminal(), seconds=4).split("\r")

    assert drawn[1] == "[###############...............]  50%  2.0 MiB of 4.0 MiB"
    assert drawn[-3].startswith("[##############################] 100%")
    assert drawn[-2].strip() == drawn[-1] == ""
    assert len(drawn[-2]) >= len(drawn[-3].rstrip())


def test_short_work_shows_nothing() -> None:
    assert _run(Terminal(), seconds=1) == ""


def test_what_is_no_terminal_gets_nothing() -> None:
    assert _run(io.StringIO(), seconds=60) == ""


def test_the_bar_is_drawn_ten_times_a_second_at_most() -> None:
    clock, stream = Clock(), Terminal()
    bar = ProgressBar(stream, clock)
    clock.now += 3

    for done in range(1000):
        bar(Progress(done, 1000, "w"))

    assert stream.getvalue().count("\r") == 1


def test_no_bytes_at_all_are_all_of_them() -> None:
    assert "100%" in bar_text(Progress(0, 0, "w"))
