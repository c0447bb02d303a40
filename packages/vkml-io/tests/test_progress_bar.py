from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import vkml_io
from vkml_io import Progress, progress_bar
from vkml_io.cli import main
from vkml_io.progress_bar import ProgressBar, bar_text

if TYPE_CHECKING:
    from pathlib import Path


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


@pytest.mark.parametrize("command", ["validate", "digest", "diff"])
def test_a_command_draws_on_stderr_and_writes_its_result_on_stdout(
    tmp_path: Path,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = str(tmp_path / "a.vkml")
    vkml_io.save(path, {"w": np.ones(3), "v": np.ones(2)})
    terminal = Terminal()
    monkeypatch.setattr(progress_bar, "_PATIENCE_S", 0)
    monkeypatch.setattr(progress_bar, "_INTERVAL_S", 0)
    monkeypatch.setattr(sys, "stderr", terminal)

    assert main([command, path, *([path] if command == "diff" else [])]) == 0

    assert "] 100%  " in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")
    assert "\r" not in capsys.readouterr().out
