"""Keys that are distinct, and whose members still cannot lie side by side on every system."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from typing import TYPE_CHECKING

from vkml_io.errors import quoted
from vkml_io.format import TENSOR_SUFFIX
from vkml_io.names import member_of
from vkml_io.report import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def name_warnings(keys: Sequence[str]) -> list[Finding]:
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
