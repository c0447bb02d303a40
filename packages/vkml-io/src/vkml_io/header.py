"""`vkml.json`: what the checkpoint holds, in which order (C6 to C9)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vkml_io.errors import UnsupportedVersionError, quoted, violation
from vkml_io.features import Features, check_extra_members, parse_features
from vkml_io.format import (
    ALIGNMENTS,
    FORMAT_NAME,
    HEADER_MEMBER,
    VERSION,
    VERSION_WITH_FEATURES,
)
from vkml_io.index import Index
from vkml_io.metadata import decode_metadata
from vkml_io.strict_json import BareConstant, parse_json
from vkml_io.tree_structure import check_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vkml_io.aliases import Metadata

_NAMED_AT_MOST = 3  # missing or extra members in one message

_BARE_TOKENS = (b"NaN", b"Infinity")
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Header:
    """The content of `vkml.json`."""

    version: int
    keys: tuple[str, ...]
    metadata: Metadata
    index: Index | None
    sha256: tuple[str, ...] | None
    align: int
    bare_constants: int  # NaN and infinities written as tokens that JSON does not have
    features: Features
    tree: Any  # Any: see tree_structure.py; None if the file has none
    has_tree: bool

    @property
    def stored(self) -> tuple[str, ...]:
        """The members that hold arrays: those of keys, then the storages; so go the SHA-256."""
        return self.features.stored(self.keys)

    def member_of(self, key: str) -> str:
        """Return the member that holds the values of `key`."""
        return self.features.member_of(key)


def encode_header(
    keys: Sequence[str],
    metadata: Metadata,
    index: Sequence[str],
    sha256: Sequence[str] | None,
    align: int,
    further: Mapping[str, Any],  # Any: the features and the tree, as JSON
) -> bytes:
    """Return the bytes of `vkml.json`. The metadata are encoded already."""
    document: dict[str, Any] = {  # Any: see metadata.py
        "format": FORMAT_NAME,
        "version": VERSION_WITH_FEATURES if "requires" in further else VERSION,
        "keys": list(keys),
        "metadata": metadata,
        "index": list(index),
        "alignment": align,
    }
    if sha256 is not None:
        document["sha256"] = list(sha256)
    document |= further
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def parse_header(data: bytes) -> Header:
    """Return the content of `vkml.json`, after checks C2 to C6, C8, C9 and those of G."""
    document = parse_json(data)
    if not isinstance(document, dict) or document.get("format") != FORMAT_NAME:
        raise violation("C6", f"this is no object whose 'format' is {FORMAT_NAME!r}")
    version = document.get("version")
    if type(version) is not int or version < 1:  # True and 1.0 are equal to 1, and refused
        raise violation("C6", "'version' is not a positive integer")
    if version > VERSION_WITH_FEATURES:
        raise UnsupportedVersionError(
            f"the file is of version {version}; this vkml-io reads up to "
            f"{VERSION_WITH_FEATURES}. Upgrade it: "
            "pip install --upgrade vkml-io",
            code="C6",
        )
    keys = document.get("keys")
    if not isinstance(keys, list) or not {str}.issuperset(map(type, keys)):
        raise violation("C6", "'keys' is not a list of strings")
    if len(set(keys)) != len(keys):
        raise violation("C6", "a key is listed twice")
    if "" in keys:
        raise violation("C6", "a key is empty")
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        raise violation("C6", "'metadata' is not an object")
    bare = any(token in data for token in _BARE_TOKENS)
    for field, value in document.items() if bare else ():
        if field != "metadata" and _holds_bare_constant(value):
            raise violation("C3", f"NaN or an infinity outside the metadata, in {quoted(field)}")
    decoded, bare_constants = decode_metadata(metadata)
    features = parse_features(document, version, tuple(keys))
    stored_count = len(features.stored(tuple(keys))) if features.views else len(keys)
    if "tree" in document:
        check_tree(document["tree"], frozenset(keys))
    align = document.get("alignment")
    index = document.get("index")
    return Header(
        version=version,
        keys=tuple(keys),
        metadata=decoded,
        index=None if index is None else Index(index, len(keys)),
        sha256=_parse_sha256(document.get("sha256"), stored_count),
        align=align if type(align) is int and align in ALIGNMENTS else ALIGNMENTS[0],
        bare_constants=bare_constants,
        features=features,
        tree=document.get("tree"),
        has_tree="tree" in document,
    )


def check_member_set(header: Header, names: set[str]) -> None:
    """Compare what the header says is stored with the members of the archive (C7, G3)."""
    expected = {HEADER_MEMBER, *header.stored}
    extra = names - expected
    if extra and header.version > VERSION:
        check_extra_members(extra, header.features)
    for what, found in (("missing", expected - names), ("extra", extra)):
        if found:
            shown = ", ".join(quoted(name) for name in sorted(found)[:_NAMED_AT_MOST])
            raise violation("C7", f"{len(found)} {what} member(s), against 'keys': {shown}")


def _parse_sha256(value: Any, count: int) -> tuple[str, ...] | None:  # Any: foreign JSON
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != count:
        raise violation("C8", "'sha256' is not a list with one entry an array member")
    if not all(isinstance(digest, str) and _SHA256.fullmatch(digest) for digest in value):
        raise violation("C8", "an entry of 'sha256' is not 64 lower-case hexadecimal digits")
    return tuple(value)


def _holds_bare_constant(value: Any) -> bool:  # Any: foreign JSON
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, BareConstant):
            return True
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list):
            waiting += [part for part in item if not isinstance(part, str)]
    return False
