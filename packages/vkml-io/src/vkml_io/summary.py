"""What a checkpoint holds, as a text for people and as JSON for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from vkml_io.archive import Archive
from vkml_io.errors import naming, quoted
from vkml_io.format import Limits
from vkml_io.inspection import list_entries
from vkml_io.metadata import encode_metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vkml_io.validation import Finding, Report

_LONGEST_METADATA = 2000  # characters of the metadata that the text shows


def summarise(path: str) -> dict[str, Any]:  # Any: plain JSON values
    """Return what the checkpoint holds, as values that JSON can say."""
    with naming(path), Archive(path, Limits()) as archive:
        entries = list_entries(archive)
        return {
            "path": path,
            "version": archive.header.version,
            "file_bytes": archive.source.size,
            "array_bytes": sum(entry.nbytes for entry in entries),
            "arrays": [
                {
                    "key": entry.key,
                    "dtype": entry.dtype,
                    "shape": list(entry.shape),
                    "nbytes": entry.nbytes,
                    "stored_bytes": entry.stored_bytes,
                    "data_offset": entry.data_offset,
                    "crc32": f"{entry.crc32:08x}",
                }
                for entry in entries
            ],
            "metadata": encode_metadata(archive.header.metadata),
        }


def summary_text(summary: dict[str, Any]) -> str:  # Any: see summarise
    """Return a summary as a table. Names are escaped: a terminal obeys nothing in them."""
    arrays = summary["arrays"]
    rows = [
        (
            repr(array["key"]),
            array["dtype"],
            ", ".join(map(str, array["shape"])) or "scalar",
            size_text(array["nbytes"]),
        )
        for array in arrays
    ]
    metadata = json.dumps(summary["metadata"], indent=2)
    if len(metadata) > _LONGEST_METADATA:
        metadata = f"{metadata[:_LONGEST_METADATA]}\n… ({len(metadata)} characters)"
    return "\n".join(
        [
            f"{summary['path']}: format version {summary['version']}, {len(arrays)} arrays, "
            f"{size_text(summary['array_bytes'])} in a file of {size_text(summary['file_bytes'])}",
            *_table([("key", "dtype", "shape", "size"), *rows]),
            f"metadata: {metadata}",
        ]
    )


def report_text(report: Report) -> str:
    """Return the report of `validate` as text."""
    count = len(report.violations)
    verdict = "sound" if report.is_sound else f"NOT sound, {count} violation(s)"
    return "\n".join(
        [
            f"{report.path}: {verdict} (level: {report.level})",
            *_lines("", report.violations),
            *_lines("warning ", report.warnings),
        ]
    )


def size_text(size: int) -> str:
    """Return a number of bytes as people read it."""
    if size < 1024:
        return f"{size} B"
    value = float(size)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 1024 or unit == "TiB":
            break
    return f"{value:.1f} {unit}"


def _lines(prefix: str, findings: Iterable[Finding]) -> list[str]:
    return [
        f"  {prefix}{finding.code}: "
        + ("" if finding.member is None else f"{quoted(finding.member)}: ")
        + finding.message
        + ("" if finding.offset is None else f" (byte {finding.offset})")
        for finding in findings
    ]


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
