"""What `validate` returns."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from vkml_io.sarif import sarif_log

Level: TypeAlias = Literal["structure", "crc", "sha256", "values"]
LEVELS: tuple[Level, ...] = ("structure", "crc", "sha256", "values")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or that deserves a warning.

    Attributes
    ----------
    code : str
        The check of ``docs/format.md`` that failed, for example "B16". Codes that start with S are
        about the expected content (`schema=`), codes that start with W are warnings.
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
        How deep it was checked: "structure", "crc", "sha256" or "values".
    violations : tuple of Finding
        Why the file is not sound, the first violation first. A damaged structure ends the search.
    warnings : tuple of Finding
        What loads, and may still surprise somebody.
    not_checked : tuple of str
        What was not looked at, and why.
    """

    path: str
    level: Level
    violations: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    not_checked: tuple[str, ...] = ()

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
            "not_checked": list(self.not_checked),
        }

    def to_sarif(self) -> dict[str, Any]:  # Any: plain JSON values
        """Return the report as a SARIF 2.1.0 log, which code hosts and registries display."""
        return sarif_log(self)
