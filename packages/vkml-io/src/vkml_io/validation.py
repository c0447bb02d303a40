"""`validate`: what is wrong with a file, as a report and not as an exception."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml_io.archive import Archive
from vkml_io.errors import CheckpointError
from vkml_io.format import HEADER_MEMBER, Limits
from vkml_io.inspection import list_entries
from vkml_io.key_reading import check_view_bools, scan_view
from vkml_io.logical_dtypes import LOGICAL_DTYPES
from vkml_io.name_warnings import name_warnings
from vkml_io.names import member_of
from vkml_io.progress import Progress
from vkml_io.reading import check_bools, scan_values
from vkml_io.report import LEVELS, Finding, Level, Report
from vkml_io.schema import Schema, read_schema
from vkml_io.source import path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import BinaryIO

    from vkml_io.aliases import Array, OnProgress, PathLike


def validate(
    path: PathLike | BinaryIO,
    *,
    level: Level = "values",
    schema: PathLike | Mapping[str, Any] | None = None,  # Any: foreign JSON
    max_expansion_ratio: float = 100.0,
    max_file_size: int | None = None,
    follow_symlinks: bool = True,
    progress: OnProgress | None = None,
) -> Report:
    """Return a report of everything that is wrong with a file. Memory stays bounded.

    Parameters
    ----------
    path : path-like or binary file
        The file, whoever wrote it.
    level : {"structure", "crc", "sha256", "values"}
        "structure" checks the container, `vkml.json` and every array's header; "crc" also
        compares each CRC-32; "sha256" also each SHA-256 that the file gives; "values" also looks
        at the values: bools must be 0 or 1, and NaN and infinities give a warning.
    schema : path-like or dict, optional
        What the file is expected to hold: keys, dtypes and shapes, as a JSON file or its content.
        The guide to checkpoints describes it.
    max_expansion_ratio, max_file_size, follow_symlinks
        Limits, as in `load`.
    progress : callable, optional
        Called with a `Progress` after each piece.

    Raises
    ------
    OSError
        The file cannot be read.
    SchemaError
        `schema` does not follow its grammar.

    Examples
    --------
    >>> import numpy as np, vkml_io
    >>> vkml_io.save("model.vkml", {"w": np.ones(3)})
    >>> vkml_io.validate("model.vkml").is_sound
    True
    >>> tensors = {"w": {"dtype": "float32", "shape": ["*"]}}
    >>> schema = {"schema": "vkml-schema", "version": 1, "tensors": tensors}
    >>> vkml_io.validate("model.vkml", schema=schema).violations[0].message
    "'w' is float64, and float32 is expected"
    """
    if level not in LEVELS:
        raise ValueError(f"level must be one of {LEVELS}, not {level!r}")
    limits = Limits(
        max_expansion_ratio=max_expansion_ratio,
        max_file_size=max_file_size,
        follow_symlinks=follow_symlinks,
    )
    expected = None if schema is None else read_schema(schema)
    check = _Check(level, progress)
    try:
        with Archive(path, limits) as archive:
            check.all_of(archive, expected)
    except CheckpointError as error:
        check.violations.append(_finding(error))
        check.not_checked.append("what comes after the last violation: the file is too damaged")
    return Report(
        path_of(path),
        level,
        tuple(check.violations),
        tuple(check.warnings),
        tuple(check.not_checked),
    )


class _Check:
    """One pass over a file, and what it finds."""

    def __init__(self, level: Level, progress: OnProgress | None) -> None:
        self.violations: list[Finding] = []
        self.warnings: list[Finding] = []
        self.not_checked: list[str] = []
        self._depth = LEVELS.index(level)
        self._progress = progress
        if level != LEVELS[-1]:
            left = ", ".join(LEVELS[self._depth + 1 :])
            self.not_checked.append(f"{left}: level {level!r} does not look at that")

    def all_of(self, archive: Archive, expected: Schema | None) -> None:
        """Check what lies between the members, `vkml.json`, and then every array."""
        archive.check_layout()
        header = archive.header
        self.warnings += name_warnings(
            [key for key in header.keys if header.member_of(key) == member_of(key)]
        )
        self.warnings += _json_warnings(header.bare_constants)
        if header.sha256 is None and self._reaches("sha256"):
            self.not_checked.append("sha256: the file gives none")
        owners = {header.member_of(key): key for key in reversed(header.keys)}
        sizes = {name: archive.members[name].size for name in header.stored}
        total, done = sum(sizes.values()), 0
        damaged: set[str] = set()
        for name in header.stored:
            key = owners[name]
            advance = self._advance(key, done, total)
            if not self._attempt(partial(self._member, archive, name, key, advance)):
                damaged.add(name)
            done += sizes[name]
            advance(sizes[name])
        for key in header.features.views:
            if header.member_of(key) not in damaged:
                self._attempt(partial(self._view, archive, key))
        if expected is not None:
            self._schema(archive, expected)
        archive.source.check_unchanged()

    def _attempt(self, check: Callable[[], None]) -> bool:
        """Run a check; return whether it found no violation."""
        try:
            check()
        except CheckpointError as error:
            if error.code == "E1":
                raise
            self.violations.append(_finding(error))
            return False
        return True

    def _member(
        self, archive: Archive, name: str, key: str, advance: Callable[[int], None]
    ) -> None:
        """Check one stored array as deep as the level says; `key` is the first that uses it."""
        place = archive.locate_member(name)
        dtype = place.npy.dtype_name
        if key not in archive.header.features.views:
            dtype = archive.find(key).dtype
        if not self._reaches("crc"):
            return
        if not self._reaches("sha256"):
            place = place._replace(sha256=None)
        non_finite = read = 0
        for values in scan_values(archive, place):
            if self._reaches("values"):
                check_bools(place, values)
                non_finite += _count_non_finite(values, dtype)
            read += values.nbytes
            advance(read)
        self._warn_of_non_finite(non_finite, name, place.data_start)

    def _view(self, archive: Archive, key: str) -> None:
        """Check one array that shares memory, whose bytes are checked already."""
        view = archive.find(key)
        if not self._reaches("values"):
            return
        non_finite = 0
        for values in scan_view(archive, view):
            check_view_bools(view, values)
            non_finite += _count_non_finite(values, view.dtype)
        self._warn_of_non_finite(non_finite, view.place.member.name, view.data_offset)

    def _warn_of_non_finite(self, count: int, member: str, offset: int) -> None:
        if count:
            message = f"{count} of the values are NaN or infinite"
            self.warnings.append(Finding("W-NONFINITE", member, offset, message))

    def _schema(self, archive: Archive, expected: Schema) -> None:
        """Compare what the file holds with what it should hold."""
        try:
            entries = {entry.key: entry for entry in list_entries(archive)}
        except CheckpointError:  # a finding already: the header of an array is damaged
            self.not_checked.append("the schema: the header of an array cannot be read")
            return
        header_start = archive.members[HEADER_MEMBER].offset
        arrays = ((entry.key, entry.dtype, entry.shape) for entry in entries.values())
        for mismatch in expected.check(arrays):
            member, offset = HEADER_MEMBER, header_start  # where a key is missing
            if mismatch.key is not None:
                entry = entries[mismatch.key]
                member, offset = entry.member, entry.data_offset
            self.violations.append(Finding(mismatch.code, member, offset, mismatch.message))

    def _reaches(self, level: Level) -> bool:
        return self._depth >= LEVELS.index(level)

    def _advance(self, key: str, done: int, total: int) -> Callable[[int], None]:
        """Return what tells the caller that so many bytes of `key` are done."""

        def advance(read: int) -> None:
            if self._progress is not None:
                self._progress(Progress(done + read, total, key))

        return advance


def _count_non_finite(values: Array, dtype: str) -> int:
    logical = LOGICAL_DTYPES.get(dtype)
    if logical is not None:
        return logical.count_non_finite(values)
    if values.dtype.kind not in "fc":
        return 0
    return values.size - int(np.count_nonzero(np.isfinite(values)))


def _json_warnings(bare_constants: int) -> list[Finding]:
    if not bare_constants:
        return []
    message = f"{bare_constants} NaN or infinity tokens in the metadata, which JSON does not have"
    return [Finding("W-JSON", HEADER_MEMBER, None, message)]


def _finding(error: CheckpointError) -> Finding:
    return Finding(error.code, error.member, error.offset, error.message)
