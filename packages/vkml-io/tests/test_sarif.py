"""The log has the structure that the SARIF 2.1.0 standard asks for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
import pytest

import vkml_io
from vkml_io.cli import main
from vkml_io.report import Finding, Report
from vkml_io.rules import RULES

if TYPE_CHECKING:
    from forge import Forge

FORMAT = Path(__file__).parents[3] / "docs" / "format.md"
# Of each kind of object that we write: its required properties (SARIF 2.1.0, section 3), and the
# others that the standard defines and we use. It defines no more than these under such names.
REQUIRED: dict[str, dict[str, str]] = {
    "sarifLog": {"version": "str", "runs": "[run]"},
    "run": {"tool": "tool"},
    "tool": {"driver": "toolComponent"},
    "toolComponent": {"name": "str"},
    "reportingDescriptor": {"id": "str"},
    "multiformatMessageString": {"text": "str"},
    "artifact": {},
    "invocation": {"executionSuccessful": "bool"},
    "notification": {"message": "message"},
    "result": {"message": "message"},
    "message": {"text": "str"},  # required unless there is an id
    "location": {},
    "physicalLocation": {"artifactLocation": "artifactLocation"},
    "artifactLocation": {"uri": "str"},
    "region": {"byteOffset": "int"},  # required where the region is one of bytes
    "logicalLocation": {"fullyQualifiedName": "str"},
    "propertyBag": {},
}
OPTIONAL: dict[str, dict[str, str]] = {
    "sarifLog": {"$schema": "str"},
    "run": {"artifacts": "[artifact]", "invocations": "[invocation]", "results": "[result]",
            "properties": "propertyBag"},
    "toolComponent": {"version": "str", "rules": "[reportingDescriptor]"},
    "reportingDescriptor": {"shortDescription": "multiformatMessageString"},
    "artifact": {"location": "artifactLocation"},
    "invocation": {"toolExecutionNotifications": "[notification]"},
    "notification": {"level": "str"},
    "result": {"ruleId": "str", "ruleIndex": "int", "level": "str", "locations": "[location]"},
    "location": {"physicalLocation": "physicalLocation", "logicalLocations": "[logicalLocation]"},
    "physicalLocation": {"region": "region"},
    "artifactLocation": {"index": "int"},
    "logicalLocation": {"kind": "str"},
    "propertyBag": {"level": "str", "sound": "bool"},
}  # fmt: skip
LEVELS = {"none", "note", "warning", "error"}


def _check(value: Any, kind: str, place: str = "log") -> None:
    if kind.startswith("["):
        assert isinstance(value, list), place
        for index, item in enumerate(value):
            _check(item, kind[1:-1], f"{place}[{index}]")
    elif kind in ("str", "int", "bool"):
        assert type(value).__name__ == kind, place
        assert kind != "int" or value >= 0, place
    else:
        allowed = REQUIRED[kind] | OPTIONAL.get(kind, {})
        assert REQUIRED[kind].keys() <= value.keys() <= allowed.keys(), place
        for name, part in value.items():
            _check(part, allowed[name], f"{place}.{name}")


def _log(report: Report) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(json.dumps(report.to_sarif(), allow_nan=False))
    _check(log, "sarifLog")
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in LEVELS
        artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert run["artifacts"][artifact["index"]]["location"]["uri"] == artifact["uri"]
    return log


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    path = tmp_path / "a model #1 %.vkml"
    vkml_io.save(path, {"w": np.ones(3), "W": np.array([np.nan]), "x": 1})
    data = bytearray(path.read_bytes())
    data[vkml_io.inspect(path)[0].data_offset] ^= 1
    path.write_bytes(data)
    return path


def test_findings_and_warnings_become_results_with_rule_member_and_byte(damaged: Path) -> None:
    log = _log(vkml_io.validate(damaged))

    results = log["runs"][0]["results"]
    assert [(each["ruleId"], each["level"]) for each in results] == [
        ("D9", "error"),
        ("W-NAMES", "warning"),
        ("W-NONFINITE", "warning"),
    ]
    location = results[0]["locations"][0]
    assert unquote(location["physicalLocation"]["artifactLocation"]["uri"]) == str(damaged)
    assert "#" not in location["physicalLocation"]["artifactLocation"]["uri"]
    assert location["physicalLocation"]["region"] == {"byteOffset": 0}
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "tensors/w.npy"


def test_a_sound_file_gives_a_log_without_results(tmp_path: Path) -> None:
    vkml_io.save(tmp_path / "a.vkml", {"w": np.ones(3)}, sha256=True)

    (run,) = _log(vkml_io.validate(tmp_path / "a.vkml"))["runs"]

    assert run["results"] == []
    assert run["properties"] == {"level": "values", "sound": True}
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_what_was_not_checked_is_a_notification(forge: Forge) -> None:
    (run,) = _log(vkml_io.validate(forge.write(), level="crc"))["runs"]

    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["level"] == "note"
    assert "sha256, values" in note["message"]["text"]


def test_a_file_that_is_no_archive_gives_a_result_too(tmp_path: Path) -> None:
    (tmp_path / "a.vkml").write_bytes(b"x" * 100)

    (result,) = _log(vkml_io.validate(tmp_path / "a.vkml"))["runs"][0]["results"]

    assert (result["ruleId"], result["level"]) == ("B1", "error")


def test_a_log_of_very_many_findings_is_cut_and_says_so() -> None:
    findings = tuple(Finding("D9", f"tensors/{n}.npy", n, "damaged") for n in range(6000))

    (run,) = _log(Report("a.vkml", "values", findings, ()))["runs"]

    assert len(run["results"]) == 5000
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert "1000 more" in note["message"]["text"]


def test_every_code_in_the_source_has_a_rule_with_a_sentence() -> None:
    source = Path(vkml_io.__file__).parent
    text = "".join(path.read_text() for path in source.glob("*.py"))
    codes = set(
        re.findall(r"""(?:violation\(\s*|code=|Finding\(\s*|Mismatch\()"([A-Z][^"]*)\"""", text)
    )

    assert len(codes) > 40
    assert codes <= RULES.keys()
    assert all(sentence.endswith(".") for sentence in RULES.values())


@pytest.mark.skipif(not FORMAT.exists(), reason="docs are in the repository, not in the sdist")
def test_the_format_describes_every_check() -> None:
    described = set(re.findall(r"\*\*([A-G][0-9]+)\*\*", FORMAT.read_text()))

    assert {code for code in RULES if code[0] in "ABCDEG"} <= described


def test_the_command_writes_sarif(damaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--sarif", str(damaged)]) == 1

    _check(json.loads(capsys.readouterr().out), "sarifLog")


def test_json_and_sarif_exclude_each_other(damaged: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["validate", "--sarif", "--json", str(damaged)])

    assert caught.value.code == 2
