from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
import zlib
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vkml_io
from vkml_io.cli import main
from vkml_io.report import LEVELS

if TYPE_CHECKING:
    from pathlib import Path

    from forge import Forge
    from vkml_io.aliases import Array

BOOL = "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }"


@pytest.fixture
def path(tmp_path: Path, arrays: dict[str, Array]) -> Path:
    vkml_io.save(tmp_path / "a.vkml", arrays, {"epoch": 3}, sha256=True)
    return tmp_path / "a.vkml"


@pytest.fixture
def damaged(path: Path) -> Path:
    data = bytearray(path.read_bytes())
    for entry in vkml_io.inspect(path):
        if entry.key in ("weight", "complex"):
            data[entry.data_offset] ^= 1
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_the_command_writes_any_key_to_any_terminal(tmp_path: Path, encoding: str) -> None:
    vkml_io.save(tmp_path / "a.vkml", {"日本": np.ones(1)})
    command = [sys.executable, "-m", "vkml_io", "info", str(tmp_path / "a.vkml")]

    done = subprocess.run(
        command, capture_output=True, env=os.environ | {"PYTHONIOENCODING": encoding}, check=False
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert ("日本" if encoding == "utf-8" else "\\u65e5\\u672c").encode() in done.stdout


def test_the_command_is_silent_when_nobody_reads_on(path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "vkml_io", "info", str(path)]

    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)

    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("ratio", ["nan", "-1"])
def test_a_ratio_that_limits_nothing_is_wrong_usage(path: Path, ratio: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["validate", f"--max-expansion-ratio={ratio}", str(path)])

    assert caught.value.code == 2


def test_every_damaged_array_is_reported_in_file_order(damaged: Path) -> None:
    report = vkml_io.validate(damaged)

    assert not report.is_sound
    assert [finding.code for finding in report.violations] == ["D9", "D9"]
    assert [finding.member for finding in report.violations] == [
        "tensors/weight.npy",
        "tensors/complex.npy",
    ]
    assert all(finding.offset is not None for finding in report.violations)


def test_the_structure_level_reads_no_values(damaged: Path) -> None:
    assert vkml_io.validate(damaged, level="structure").is_sound


def test_the_crc_level_leaves_the_values_alone(forge: Forge) -> None:
    path = forge.write(forge.tensor(forge.npy(BOOL, b"\0\2")), forge.header())

    assert vkml_io.validate(path, level="crc").is_sound
    assert vkml_io.validate(path, level="values").violations[0].code == "D10"


def test_the_crc_level_leaves_the_sha256_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.vkml"
    vkml_io.save(path, {"w": np.ones(3)}, sha256=True)
    (digest,) = re.findall(rb"[0-9a-f]{64}", path.read_bytes())
    header = zipfile.ZipFile(path).read("vkml.json")
    changed = header.replace(digest, b"0" * 64)
    data = path.read_bytes().replace(header, changed)
    before, after = (zlib.crc32(text).to_bytes(4, "little") for text in (header, changed))
    path.write_bytes(data.replace(before, after))

    assert vkml_io.validate(path, level="crc").is_sound
    for level in LEVELS[2:]:
        (finding,) = vkml_io.validate(path, level=level).violations
        assert (finding.code, "SHA-256" in finding.message) == ("D9", True)


@pytest.mark.parametrize(
    ("level", "left"),
    [("structure", "crc, sha256, values"), ("crc", "sha256, values"), ("sha256", "values")],
)
def test_what_a_level_does_not_look_at_is_said(path: Path, level: Any, left: str) -> None:
    assert vkml_io.validate(path, level=level).not_checked == (
        f"{left}: level '{level}' does not look at that",
    )


def test_a_file_without_sha256_is_said_to_have_none(tmp_path: Path, path: Path) -> None:
    vkml_io.save(tmp_path / "b.vkml", {"w": 1})

    assert vkml_io.validate(tmp_path / "b.vkml").not_checked == ("sha256: the file gives none",)
    assert vkml_io.validate(path).not_checked == ()


def test_a_damaged_structure_ends_the_search_and_the_report_says_so(forge: Forge) -> None:
    report = vkml_io.validate(forge.write(end={"disk": 1}))

    assert [finding.code for finding in report.violations] == ["B3"]
    assert report.not_checked == ("what comes after the last violation: the file is too damaged",)


@pytest.mark.parametrize("level", LEVELS)
def test_progress_ends_at_the_total(path: Path, level: Any) -> None:
    calls: list[vkml_io.Progress] = []

    vkml_io.validate(path, level=level, progress=calls.append)

    assert calls[-1].done == calls[-1].total > 0
    assert [call.done for call in calls] == sorted(call.done for call in calls)


def test_another_level_is_a_value_error(path: Path) -> None:
    with pytest.raises(ValueError, match="level"):
        vkml_io.validate(path, level="all")  # type: ignore[arg-type]  # the point


def test_values_that_are_not_finite_give_a_warning(path: Path) -> None:
    report = vkml_io.validate(path)

    assert [finding.member for finding in report.warnings] == ["tensors/specials.npy"]
    assert report.warnings[0].message.startswith("2 of the values")


@pytest.mark.parametrize("pair", [("w", "W"), ("é", "e\u0301"), ("a", "a.npy/b")])
def test_names_that_some_systems_cannot_keep_apart_give_a_warning(
    tmp_path: Path, pair: tuple[str, str]
) -> None:
    vkml_io.save(tmp_path / "a.vkml", dict.fromkeys(pair, 1))

    report = vkml_io.validate(tmp_path / "a.vkml")

    assert report.is_sound
    assert [finding.code for finding in report.warnings] == ["W-NAMES"]


def test_an_open_file_can_be_validated(path: Path) -> None:
    with path.open("rb") as file:
        assert vkml_io.validate(file).is_sound


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        vkml_io.validate(tmp_path / "missing")


# The command ---------------------------------------------------------------------------------


def test_validate_exits_with_0_for_a_sound_file(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", str(path)]) == 0
    assert "sound" in capsys.readouterr().out


def test_validate_exits_with_1_and_lists_findings(
    damaged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", str(damaged)]) == 1
    assert capsys.readouterr().out.count("D9") == 2


def test_validate_writes_json(damaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--json", str(damaged)]) == 1

    report = json.loads(capsys.readouterr().out)
    assert report["sound"] is False
    assert report["violations"][0]["code"] == "D9"
    assert report["violations"][0]["member"] == "tensors/weight.npy"


def test_info_lists_arrays_and_metadata(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(path)]) == 0

    text = capsys.readouterr().out
    assert "'weight'" in text
    assert "4, 6" in text
    assert '"epoch": 3' in text


def test_info_writes_json(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--json", str(path)]) == 0

    summary = json.loads(capsys.readouterr().out)
    assert summary["arrays"][0]["key"] == "weight"
    assert summary["arrays"][0]["shape"] == [4, 6]
    assert summary["metadata"] == {"epoch": 3}


def test_info_writes_no_control_characters_of_the_metadata(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vkml_io.save(tmp_path / "a.vkml", {"w\u202e": np.ones(1)}, {"\x1b[2J": "\x07"})

    main(["info", str(tmp_path / "a.vkml")])

    assert not set(capsys.readouterr().out) & set("\x1b\x07\u202e")


def test_info_exits_with_1_for_what_is_no_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.vkml").write_bytes(b"x" * 100)

    assert main(["info", str(tmp_path / "a.vkml")]) == 1
    assert "B1" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["info", "validate", "digest"])
def test_an_unreadable_file_exits_with_3(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(tmp_path / "missing")]) == 3
    assert "missing" in capsys.readouterr().err


def test_digest_writes_what_sha256sum_would(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["digest", str(path)]) == 0
    assert capsys.readouterr().out == f"{vkml_io.digest(path)}  {path}\n"

    assert main(["digest", "--json", str(path)]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "path": str(path),
        "digest": vkml_io.digest(path),
    }


def test_digest_of_a_damaged_file_exits_with_1(
    damaged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["digest", str(damaged)]) == 1
    assert capsys.readouterr().out == ""


def test_diff_exits_with_0_for_equal_content(
    path: Path, tmp_path: Path, arrays: dict[str, Array], capsys: pytest.CaptureFixture[str]
) -> None:
    vkml_io.save(tmp_path / "b.vkml", arrays, {"epoch": 3}, compress=True)

    assert main(["diff", str(path), str(tmp_path / "b.vkml")]) == 0
    assert capsys.readouterr().out.endswith("no difference\n")


def test_diff_exits_with_1_and_lists_differences(
    path: Path, tmp_path: Path, arrays: dict[str, Array], capsys: pytest.CaptureFixture[str]
) -> None:
    other = arrays | {"weight": arrays["weight"] + 1, "scalar": np.zeros(2)}
    del other["flags"]
    vkml_io.save(tmp_path / "b.vkml", other, {"epoch": 4, "\x1b[2J": "\x07"})

    assert main(["diff", str(path), str(tmp_path / "b.vkml")]) == 1

    text = capsys.readouterr().out
    assert "only in the first: 'flags'" in text
    assert "'weight': 24 of 24 values differ, by 1 at most" in text
    assert "'scalar': dtype uint8 -> float64, shape () -> (2,)" in text
    assert "metadata['epoch']: 3 -> 4" in text
    assert not set(text) & set("\x1b\x07")
    assert main(["diff", "--json", str(path), str(tmp_path / "b.vkml")]) == 1
    assert json.loads(capsys.readouterr().out)["only_in_first"] == ["flags"]


def test_diff_of_what_cannot_be_read_exits_with_3(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "b.vkml").write_bytes(b"x" * 100)

    assert main(["diff", str(path), str(tmp_path / "b.vkml")]) == 3
    assert main(["diff", str(path), str(tmp_path / "missing")]) == 3
    assert "missing" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["info"], ["validate", "--level", "all", "x"]])
def test_wrong_usage_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)

    assert caught.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_the_command_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])

    assert caught.value.code == 0
    assert capsys.readouterr().out == f"vkml-io {metadata.version('vkml-io')}\n"


def test_the_module_is_the_command(path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "vkml_io", "validate", str(path)], capture_output=True, text=True
    )

    assert (result.returncode, "sound" in result.stdout) == (0, True)
