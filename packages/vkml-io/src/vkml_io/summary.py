"""What a checkpoint holds, as a text for people and as JSON for programs."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from vkml_io.archive import Archive
from vkml_io.errors import LONGEST_QUOTE, naming, quoted
from vkml_io.format import Limits
from vkml_io.inspection import list_entries
from vkml_io.metadata import encode_metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vkml_io.difference import ArrayChange, Difference
    from vkml_io.report import Finding, Report

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
            *(f"  not checked: {what}" for what in report.not_checked),
        ]
    )


def difference_text(found: Difference, first: str, second: str) -> str:
    """Return what `diff` found as text. Names are escaped, as in a summary."""
    if found.is_empty:
        return f"{first} and {second}: no difference"
    metadata = [
        f"  metadata{change.place}: {_metadata_text(change.before)} -> "
        f"{_metadata_text(change.after)}"
        for change in found.metadata
    ]
    return "\n".join(
        [
            f"{first} and {second} differ",
            *(f"  only in the first: {quoted(key)}" for key in found.only_in_first),
            *(f"  only in the second: {quoted(key)}" for key in found.only_in_second),
            *(f"  {quoted(change.key)}: {_change_text(change)}" for change in found.changed),
            *metadata,
        ]
    )


def _change_text(change: ArrayChange) -> str:
    parts = []
    if change.dtypes[0] != change.dtypes[1]:
        parts.append(f"dtype {change.dtypes[0]} -> {change.dtypes[1]}")
    if change.shapes[0] != change.shapes[1]:
        parts.append(f"shape {change.shapes[0]} -> {change.shapes[1]}")
    if change.differing is not None:
        total = math.prod(change.shapes[0])
        parts.append(
            f"{change.differing} of {total} values differ, by {change.max_abs_difference:g} at most"
        )
    return ", ".join(parts)


def _metadata_text(value: Any) -> str:  # Any: whatever JSON can say, or Ellipsis
    """Return a value as JSON in ASCII, cut when it is long."""
    if value is ...:
        return "nothing"
    text = json.dumps(encode_metadata({"": value})[""])
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


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
