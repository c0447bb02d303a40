"""`validate`: what is wrong with a file, as a report and not as an exception."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from vkml_io.archive import Archive
from vkml_io.errors import CheckpointError, quoted
from vkml_io.format import HEADER_MEMBER, TENSOR_SUFFIX, Limits
from vkml_io.names import member_of
from vkml_io.reading import check_bools, scan_values
from vkml_io.source import path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO

    from vkml_io.aliases import Array, PathLike

Level: TypeAlias = Literal["structure", "crc", "values"]
LEVELS: tuple[Level, ...] = ("structure", "crc", "values")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or that deserves a warning.

    Attributes
    ----------
    code : str
        The check of ``docs/format.md`` that failed, for example "B16".
    member : str or None
        The member of the archive.
    offset : int or None
        The byte of the file at which the evidence starts.
    message : str
        What was found and what was expected.
    """

    code: str
    member: str | None
    offset: int | None
    message: str


@dataclass(frozen=True, slots=True)
class Report:
    """What `validate` found.

    Attributes
    ----------
    path : str
        The file.
    level : str
        How deep it was checked: "structure", "crc" or "values".
    violations : tuple of Finding
        Why the file is not sound, the first violation first. A damaged structure ends the search.
    warnings : tuple of Finding
        What loads, and may still surprise somebody.
    """

    path: str
    level: Level
    violations: tuple[Finding, ...]
    warnings: tuple[Finding, ...]

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong; warnings do not count."""
        return not self.violations

    def to_json(self) -> dict[str, Any]:  # Any: plain JSON values
        """Return the report as values that JSON can say."""
        return {
            "path": self.path,
            "level": self.level,
            "sound": self.is_sound,
            "violations": [asdict(finding) for finding in self.violations],
            "warnings": [asdict(finding) for finding in self.warnings],
        }


def validate(
    path: PathLike | BinaryIO,
    *,
    level: Level = "values",
    max_expansion_ratio: float = 100.0,
    max_file_size: int | None = None,
    follow_symlinks: bool = True,
) -> Report:
    """Return a report of everything that is wrong with a file. Memory stays bounded.

    Parameters
    ----------
    path : path-like or binary file
        The file, whoever wrote it.
    level : {"structure", "crc", "values"}
        "structure" checks the container, `vkml.json` and every array's header; "crc" also
        compares all checksums; "values" also looks at the values: bools must be 0 or 1, and NaN
        and infinities give a warning.
    max_expansion_ratio, max_file_size, follow_symlinks
        Limits, as in `load`.

    Raises
    ------
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import numpy as np, vkml_io
    >>> vkml_io.save("model.vkml", {"w": np.ones(3)})
    >>> vkml_io.validate("model.vkml").is_sound
    True
    """
    if level not in LEVELS:
        raise ValueError(f"level must be one of {LEVELS}, not {level!r}")
    limits = Limits(
        max_expansion_ratio=max_expansion_ratio,
        max_file_size=max_file_size,
        follow_symlinks=follow_symlinks,
    )
    violations: list[Finding] = []
    warnings: list[Finding] = []
    try:
        with Archive(path, limits) as archive:
            archive.check_layout()
            warnings += _name_warnings(archive.header.keys)
            warnings += _json_warnings(archive.header.bare_constants)
            for key in archive.header.keys:
                try:
                    warnings += _check_array(archive, key, level)
                except CheckpointError as error:
                    if error.code == "E1":
                        raise
                    violations.append(_finding(error))
            archive.source.check_unchanged()
    except CheckpointError as error:
        violations.append(_finding(error))
    return Report(path_of(path), level, tuple(violations), tuple(warnings))


def _check_array(archive: Archive, key: str, level: Level) -> list[Finding]:
    """Check one array as deep as `level` says; return the warnings."""
    place = archive.locate(key)
    if level == "structure":
        return []
    non_finite = 0
    for values in scan_values(archive, place):
        if level == "values":
            check_bools(place, values)
            non_finite += _count_non_finite(values)
    if not non_finite:
        return []
    message = f"{non_finite} of the values are NaN or infinite"
    return [Finding("W-NONFINITE", place.member.name, place.data_start, message)]


def _count_non_finite(values: Array) -> int:
    if values.dtype.kind not in "fc":
        return 0
    return values.size - int(np.count_nonzero(np.isfinite(values)))


def _json_warnings(bare_constants: int) -> list[Finding]:
    if not bare_constants:
        return []
    message = f"{bare_constants} NaN or infinity tokens in the metadata, which JSON does not have"
    return [Finding("W-JSON", HEADER_MEMBER, None, message)]


def _name_warnings(keys: Sequence[str]) -> list[Finding]:
    """Return which keys `unzip` cannot write side by side on every system."""
    findings = []
    forms: tuple[Callable[[str], str], ...] = (str.casefold, _composed)
    for form, difference in zip(forms, ("case", "Unicode form"), strict=True):
        groups: dict[str, list[str]] = defaultdict(list)
        for key in keys:
            groups[form(key)].append(key)
        findings += [
            Finding(
                "W-NAMES",
                member_of(group[1]),
                None,
                f"{quoted(group[0])} and {quoted(group[1])} differ only by {difference}",
            )
            for group in groups.values()
            if len(group) > 1
        ]
    names = set(map(member_of, keys))
    findings += [
        Finding("W-NAMES", name, None, "another member lies below this one, as if in a folder")
        for name in sorted(_folders(names) & names)
    ]
    return findings


def _folders(names: set[str]) -> set[str]:
    """Return every folder, of any depth, that `names` lie in and that looks like a member."""
    folders = set()
    for name in names:
        position = name.find(TENSOR_SUFFIX + "/")
        while position >= 0:
            folders.add(name[: position + len(TENSOR_SUFFIX)])
            position = name.find(TENSOR_SUFFIX + "/", position + 1)
    return folders


def _composed(key: str) -> str:
    return unicodedata.normalize("NFC", key)


def _finding(error: CheckpointError) -> Finding:
    return Finding(error.code, error.member, error.offset, error.message)
