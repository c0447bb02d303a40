"""A report as a SARIF 2.1.0 log (OASIS standard, "Static Analysis Results Interchange Format")."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from vkml_io.rules import RULES

if TYPE_CHECKING:
    from vkml_io.report import Finding, Report

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_MOST_RESULTS = 5000  # readers of such logs take no more of one run

# Any in this module: plain JSON values.


def sarif_log(report: Report) -> dict[str, Any]:
    """Return the log of one run: a rule for each code that was found, a result for each finding."""
    findings = [("error", finding) for finding in report.violations]
    findings += [("warning", finding) for finding in report.warnings]
    notes = list(report.not_checked)
    if len(findings) > _MOST_RESULTS:
        notes.append(f"{len(findings) - _MOST_RESULTS} more findings are left out of this log")
        findings = findings[:_MOST_RESULTS]
    codes = list(dict.fromkeys(finding.code for _, finding in findings))
    driver = {
        "name": "vkml-io",
        "version": version("vkml-io"),
        "rules": [
            {"id": code, "shortDescription": {"text": RULES.get(code, code)}} for code in codes
        ],
    }
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "artifacts": [{"location": _artifact(report.path)}],
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            {"level": "note", "message": {"text": f"Not checked: {note}"}}
                            for note in notes
                        ],
                    }
                ],
                "properties": {"level": report.level, "sound": report.is_sound},
                "results": [
                    _result(level, finding, codes.index(finding.code), report.path)
                    for level, finding in findings
                ],
            }
        ],
    }


def _result(level: str, finding: Finding, rule: int, path: str) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {**_artifact(path), "index": 0}}
    if finding.offset is not None:
        place["region"] = {"byteOffset": finding.offset}
    location: dict[str, Any] = {"physicalLocation": place}
    if finding.member is not None:
        name = finding.member
        location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "member"}]
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": level,
        "message": {"text": finding.message},
        "locations": [location],
    }


def _artifact(path: str) -> dict[str, Any]:
    return {"uri": quote(path.replace("\\", "/"), errors="surrogatepass")}
