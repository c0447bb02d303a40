"""`save` leaves the old file or the new one, whole, with the permissions one expects."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pytest

import vkml_io

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions and signals of POSIX")

_SAVE_FOREVER = """
import sys
import numpy as np
import vkml_io
number = 1
print("ready", flush=True)
while True:
    number += 1
    tensors = {f"t{i}": np.full(50_000, number, "f4") for i in range(20)}
    vkml_io.save(sys.argv[1], tensors, {"number": number}, compress=number % 5 == 0)
"""

_SAVE_TOO_MUCH = """
import errno, resource, signal, sys
import numpy as np
import vkml_io
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for compress in (False, True):
    try:
        noise = np.random.default_rng(0).integers(0, 256, 10**6, dtype="u1")
        vkml_io.save(sys.argv[1], {"w": noise}, compress=compress)
    except OSError as error:
        assert error.errno in (errno.EFBIG, errno.ENOSPC), error
    else:
        raise SystemExit("it was saved")
"""


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("delay_ms", [0, 3, 11, 29, 53])
def test_a_killed_save_leaves_a_whole_file(tmp_path: Path, delay_ms: int) -> None:
    path = tmp_path / "a.vkml"
    vkml_io.save(path, {f"t{i}": np.full(50_000, 1, "f4") for i in range(20)}, {"number": 1})
    child = subprocess.Popen(
        [sys.executable, "-c", _SAVE_FOREVER, str(path)], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    child.stdout.readline()

    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(timeout=0.05 + delay_ms / 1000)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()

    checkpoint = vkml_io.load(path)
    number = checkpoint.metadata["number"]
    assert all((array == number).all() for array in checkpoint.tensors.values())
    left = [entry.name for entry in tmp_path.iterdir() if entry != path]
    assert len(left) <= 1
    assert all(name.startswith(".a.vkml.") and name.endswith(".tmp") for name in left)


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.vkml"
    vkml_io.save(path, {"w": np.ones(3)})
    before = path.read_bytes()

    result = subprocess.run(
        [sys.executable, "-c", _SAVE_TOO_MUCH, str(path)], capture_output=True, text=True
    )

    assert result.returncode == 0, result.stderr
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "a.vkml"
    vkml_io.save(path, {"w": np.ones(3)})
    before = path.read_bytes()

    def interrupt(_progress: vkml_io.Progress) -> None:
        raise error

    with pytest.raises(error):
        vkml_io.save(path, {"w": np.zeros(3)}, progress=interrupt)

    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("mask", "mode"), [(0o000, 0o666), (0o022, 0o644), (0o077, 0o600)])
def test_a_new_file_has_the_permissions_that_the_umask_leaves(
    tmp_path: Path, mask: int, mode: int
) -> None:
    with umask(mask):
        vkml_io.save(tmp_path / "a.vkml", {})

    assert stat.S_IMODE((tmp_path / "a.vkml").stat().st_mode) == mode


@pytest.mark.parametrize("mode", [0o640, 0o600, 0o666, 0o444])
def test_an_existing_file_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a.vkml"
    path.write_bytes(b"old")
    path.chmod(mode)

    with umask(0o077):
        vkml_io.save(path, {})

    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_symlink_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "a.vkml", tmp_path / "link.vkml"
    link.symlink_to(target)

    vkml_io.save(link, {"w": 1})

    assert link.is_symlink()
    assert list(vkml_io.load(target).tensors) == ["w"]
    assert [entry.name for entry in (tmp_path / "real").iterdir()] == ["a.vkml"]


@pytest.mark.parametrize("kind", ["fifo", "directory", "device", "loop"])
def test_a_destination_that_is_no_regular_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.vkml"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    else:
        path.symlink_to("/dev/null")

    with pytest.raises(vkml_io.CheckpointError, match="regular file") as caught:
        vkml_io.save(path, {})

    assert caught.value.code == "F2"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_missing_folder_is_named_before_the_arrays_are_looked_at(tmp_path: Path) -> None:
    folder = tmp_path / "missing"

    with pytest.raises(FileNotFoundError, match="create it first") as caught:
        vkml_io.save(folder / "a.vkml", {"": object()})

    assert caught.value.filename == str(folder)


def test_a_failed_write_names_the_destination(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("vkml_io.platform.write_at", full)

    with pytest.raises(OSError, match="No space left") as caught:
        vkml_io.save(tmp_path / "a.vkml", {})

    assert caught.value.filename == str(tmp_path / "a.vkml")


def test_a_name_as_long_as_the_system_allows_can_be_saved(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 125 + ".vkml")

    vkml_io.save(path, {})

    assert vkml_io.load(path).tensors == {}


def test_saving_over_a_file_that_is_mapped_leaves_the_map_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.vkml"
    vkml_io.save(path, {"w": np.arange(100_000)})
    mapped = vkml_io.load(path, mmap=True).tensors["w"]

    vkml_io.save(path, {"w": mapped + 1})

    assert mapped[-1] == 99_999
    assert vkml_io.load(path).tensors["w"][-1] == 100_000


def test_two_processes_may_save_to_one_path(tmp_path: Path) -> None:
    path = tmp_path / "a.vkml"
    code = (
        "import sys, numpy as np, vkml_io\n"
        "for n in range(20):\n"
        "    vkml_io.save(sys.argv[1], {'w': np.full(9999, n)}, durable=False)\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(2)]

    assert [child.wait() for child in children] == [0, 0]

    assert set(vkml_io.load(path).tensors["w"].tolist()) == {19}
    assert list(tmp_path.iterdir()) == [path]
