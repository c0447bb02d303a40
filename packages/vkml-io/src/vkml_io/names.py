"""The rule for member names: the reader refuses by it, and `save` decides by it."""

from __future__ import annotations

import re

from vkml_io.format import (
    ESCAPED_FOLDER,
    MAX_NAME_BYTES,
    STORAGE_FOLDER,
    TENSOR_FOLDER,
    TENSOR_SUFFIX,
)

# C0 and C1 control characters, DEL, and the backslash that Windows takes for a separator.
_FORBIDDEN_CHARACTER = re.compile("[\x00-\x1f\x7f-\x9f\\\\]")

_STORAGE = re.compile(f"{STORAGE_FOLDER}(?:0|[1-9][0-9]{{0,8}})")


def member_of(key: str) -> str:
    """Return the name of the member that holds `key`, where that name is allowed."""
    return f"{TENSOR_FOLDER}{key}{TENSOR_SUFFIX}"


def escaped_member(position: int) -> str:
    """Return the member of a key, the `position`-th, whose own name is not allowed."""
    return f"{ESCAPED_FOLDER}{position}{TENSOR_SUFFIX}"


def storage_name(number: int) -> str:
    """Return how views name the storage of that number."""
    return f"{STORAGE_FOLDER}{number}"


def is_storage_name(name: str) -> bool:
    """Return whether a view that names this storage means one without a key of its own."""
    return _STORAGE.fullmatch(name) is not None


def storage_member(name: str) -> str:
    """Return the member of a storage without a key of its own."""
    return f"{name}{TENSOR_SUFFIX}"


def key_of(name: str) -> str:
    """Return the key whose array the member `name` holds; KeyError if it is no such name."""
    if not (name.startswith(TENSOR_FOLDER) and name.endswith(TENSOR_SUFFIX)):
        raise KeyError(name)
    return name[len(TENSOR_FOLDER) : -len(TENSOR_SUFFIX)]


def name_size(name: str) -> int:
    """Return the bytes that a name takes in the archive."""
    return len(name) if name.isascii() else len(name.encode("utf-8"))


def name_problem(name: str) -> str | None:
    """Return what is wrong with a member name, or None."""
    try:
        size = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        return "it holds a lone surrogate"
    if not 1 <= size <= MAX_NAME_BYTES:
        return f"it has {size} bytes, outside 1 to {MAX_NAME_BYTES}"
    return forbidden_part(name)


def forbidden_part(name: str) -> str | None:
    """Return which part of a name is not allowed, or None. Also for names joined by slashes."""
    # A quick look first: control characters are not printable.
    if ("\\" in name or not name.isprintable()) and _FORBIDDEN_CHARACTER.search(name):
        return "it holds a control character or a backslash"
    if has_forbidden_component(name):
        return "it is absolute, or has an empty, '.' or '..' component"
    return None


def has_forbidden_component(name: str) -> bool:
    """Return whether a component is empty, '.' or '..'; a slash at either end leaves one empty."""
    framed = f"/{name}/"
    return "//" in framed or ("/." in framed and ("/./" in framed or "/../" in framed))
