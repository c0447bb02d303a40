"""What makes a file version 2: features that an older reader could not read rightly (G1, G4, G6).

A file of version 2 lists in `"requires"` the fields of `vkml.json` that use one. In a file of
version 1 such fields mean nothing, as any field that a reader does not know.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from vkml_io.errors import quoted, violation
from vkml_io.format import FEATURES, TENSOR_SUFFIX, VERSION, VERSION_WITH_FEATURES
from vkml_io.logical_dtypes import LOGICAL_DTYPES
from vkml_io.names import (
    escaped_member,
    is_storage_name,
    member_of,
    name_problem,
    storage_member,
)
from vkml_io.views import View, parse_views

# Any in this module: foreign JSON.


@dataclass(frozen=True, slots=True)
class Features:
    """The fields of version 2.

    Attributes
    ----------
    dtypes : dict of str to str
        The logical dtypes of keys whose members hold a carrier.
    views : dict of str to View
        The keys that have no member of their own.
    members : dict of str to str
        The members of keys whose own names are not allowed as such.
    """

    dtypes: dict[str, str] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    members: dict[str, str] = field(default_factory=dict)

    @property
    def version(self) -> int:
        """The version of a file with these features."""
        return VERSION_WITH_FEATURES if self.requires else VERSION

    @property
    def requires(self) -> list[str]:
        """The features that are used."""
        return [name for name in FEATURES if getattr(self, name)]

    def to_json(self) -> dict[str, Any]:
        """Return the fields of `vkml.json`; none in version 1."""
        fields: dict[str, Any] = {"requires": self.requires} if self.requires else {}
        if self.dtypes:
            fields["dtypes"] = self.dtypes
        if self.views:
            fields["views"] = {key: view.to_json() for key, view in self.views.items()}
        if self.members:
            fields["members"] = self.members
        return fields

    def member_of(self, key: str) -> str:
        """Return the member that holds the values of `key`: its own, or that of its storage."""
        view = self.views.get(key)
        if view is not None:
            if is_storage_name(view.storage):
                return storage_member(view.storage)
            key = view.storage
        return self.members.get(key) or member_of(key)

    def stored(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        """Return the members that hold arrays: those of keys in order, then the storages."""
        own = [self.member_of(key) for key in keys if key not in self.views]
        names = {view.storage for view in self.views.values() if is_storage_name(view.storage)}
        ordered = sorted(names, key=lambda name: (len(name), name))  # by number
        return (*own, *map(storage_member, ordered))


NO_FEATURES = Features()


def parse_features(document: dict[str, Any], version: int, keys: tuple[str, ...]) -> Features:
    """Return the features that a `vkml.json` uses, after checks G1 to G4 and G6."""
    if version == VERSION:
        return NO_FEATURES
    _check_requires(document)
    known = frozenset(keys)
    views = parse_views(document["views"], known) if "views" in document else {}
    owners = known - views.keys()
    return Features(
        dtypes=_parse_dtypes(document["dtypes"], owners) if "dtypes" in document else {},
        views=views,
        members=_parse_members(document["members"], keys, owners) if "members" in document else {},
    )


def check_extra_members(extra: set[str], features: Features) -> None:
    """Name the members that are too many because of views (G3)."""
    for name in sorted(extra):
        if is_storage_name(name.removesuffix(TENSOR_SUFFIX)):
            raise violation("G3", "no view uses this storage", member=name)
    for key in features.views:
        if member_of(key) in extra:
            raise violation(
                "G3", f"{quoted(key)} is a view and has a member", member=member_of(key)
            )


def _check_requires(document: dict[str, Any]) -> None:
    requires = document.get("requires")
    if not isinstance(requires, list) or not all(isinstance(name, str) for name in requires):
        raise violation("G1", "'requires' is not a list of strings, as version 2 has it")
    for name in requires:
        if name not in FEATURES:
            raise violation(
                "G1",
                f"the file requires {quoted(name)}, which this vkml-io does not know. Upgrade it: "
                "pip install --upgrade vkml-io",
            )
    present = [name for name in FEATURES if name in document]
    if sorted(requires) != sorted(present):
        raise violation("G1", f"'requires' lists {requires[:9]}, and the fields are {present}")


def _parse_dtypes(value: Any, owners: frozenset[str]) -> dict[str, str]:
    if not isinstance(value, dict) or not value:
        raise violation("G4", "'dtypes' is not an object with a name for each logical dtype")
    for key, name in value.items():
        if key not in owners:
            raise violation("G4", f"'dtypes' has {quoted(key)}, which is no key with a member")
        if not isinstance(name, str) or name not in LOGICAL_DTYPES:
            raise violation(
                "G4",
                f"{quoted(key)} is of dtype {quoted(str(name))}, which this vkml-io does not know; "
                "a newer one may: pip install --upgrade vkml-io",
            )
    return value


def _parse_members(value: Any, keys: tuple[str, ...], owners: frozenset[str]) -> dict[str, str]:
    if not isinstance(value, dict) or not value:
        raise violation("G6", "'members' is not an object with a name for each escaped member")
    positions = {key: position for position, key in enumerate(keys)}
    for key, name in value.items():
        if key not in owners:
            raise violation("G6", f"'members' has {quoted(key)}, which is no key with a member")
        if name != escaped_member(positions[key]):
            expected = escaped_member(positions[key])
            raise violation("G6", f"the member of {quoted(key)} is not named {expected!r}")
        if name_problem(member_of(key)) is None:
            raise violation("G6", f"{quoted(key)} needs no escaped member")
    return value
