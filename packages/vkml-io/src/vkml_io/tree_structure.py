"""`"tree"` of `vkml.json`: a nested structure whose leaves name keys (G5).

None, bools, finite numbers, texts, lists, and dicts whose keys are texts are what they are in
JSON. Everything else is an object with one key that starts with `$`; a text key of a dict that
starts with `$` gets one more.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from vkml_io.errors import CheckpointError, quoted, violation
from vkml_io.format import MAX_JSON_DEPTH, MAX_NUMBER_LENGTH, MAX_TREE_DEPTH, MAX_TREE_NODES
from vkml_io.strict_json import lone_surrogate

# Any in this module: a tree holds values of many types.

_TOO_LARGE = 10 ** (MAX_NUMBER_LENGTH - 1)
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_ONLY_KEY = "array"  # of a tree that is one array
# Levels of JSON: a complex number may hold two tagged floats, an item of "$dict" is a pair.
_LEVELS = {complex: 2}
_PAIR_LEVELS = 3

Leaf: TypeAlias = Callable[[str], Any]  # what stands in a tree for the array of a key


class TreeEncoder:
    """Takes a tree apart into its structure and its arrays, which get keys by their places."""

    def __init__(self) -> None:
        self.arrays: dict[str, Any] = {}
        self._nodes = 0

    def encode(self, value: Any, path: tuple[str, ...] = (), depth: int = 2) -> Any:
        """Return the structure of `value`, and collect its arrays in `arrays`.

        `depth` is how deep the structure stands in `vkml.json`.

        Raises
        ------
        TypeError
            A value of a type that a tree cannot hold; the message gives its place.
        CheckpointError
            It is nested too deep, or too large, or holds what no reader would take.
        """
        self._nodes += 1
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return _integer(value, path)
        if isinstance(value, str):
            return _text(value, path)
        if isinstance(value, float) and math.isfinite(value):
            return float(value)
        self._check_size(path, depth + _LEVELS.get(type(value), 0))
        if isinstance(value, float):
            return _non_finite(value)
        if isinstance(value, complex):
            parts = (value.real, value.imag)
            return {"$complex": [x if math.isfinite(x) else _non_finite(x) for x in parts]}
        if isinstance(value, bytes | bytearray):
            return {"$bytes": base64.b64encode(value).decode("ascii")}
        if isinstance(value, list):
            return self._encode_items(value, path, depth + 1)
        if isinstance(value, tuple):
            self._check_size(path, depth + 1)
            return {"$tuple": self._encode_items(value, path, depth + 2)}
        if isinstance(value, Mapping):
            return self._encode_mapping(value, path, depth)
        if hasattr(value, "__vkml_entry__") or hasattr(value, "__array__"):
            return {"$array": self._add(value, path)}
        raise TypeError(
            f"{_place(path)} is of type {type(value).__name__}; a tree holds arrays, dicts, lists, "
            "tuples, numbers, texts, bytes, bools and None"
        )

    def _check_size(self, path: tuple[str, ...], depth: int) -> None:
        """Refuse what JSON cannot hold at this depth, and too many values."""
        if depth > MAX_JSON_DEPTH or self._nodes > MAX_TREE_NODES:
            raise violation(
                "G5",
                f"the tree is too deep for {MAX_JSON_DEPTH} levels of JSON, or has more than "
                f"{MAX_TREE_NODES} values, at {_place(path[:8])}…; does it contain itself?",
            )

    def _encode_items(self, items: Sequence[Any], path: tuple[str, ...], depth: int) -> list[Any]:
        return [self.encode(item, (*path, str(i)), depth) for i, item in enumerate(items)]

    def _encode_mapping(self, mapping: Mapping[Any, Any], path: tuple[str, ...], depth: int) -> Any:
        for key in mapping:
            if isinstance(key, bool) or not isinstance(key, str | int | np.integer):
                raise TypeError(
                    f"a key of {_place(path)} is of type {type(key).__name__}; the keys of a tree "
                    "are str or int"
                )
        plain = all(isinstance(key, str) for key in mapping)
        below = depth + 1 if plain else depth + _PAIR_LEVELS
        self._check_size(path, below - 1)
        pairs = [
            [
                _text(key, path) if isinstance(key, str) else _integer(int(key), path),
                self.encode(value, (*path, str(key)), below),
            ]
            for key, value in mapping.items()
        ]
        return {_escaped(key): each for key, each in pairs} if plain else {"$dict": pairs}

    def _add(self, array: Any, path: tuple[str, ...]) -> str:
        key = wanted = "/".join(path) or _ONLY_KEY
        number = 1
        while key in self.arrays:  # {"a": {"b": …}, "a/b": …}
            number += 1
            key = f"{wanted}~{number}"
        self.arrays[key] = array
        return key


def decode_tree(structure: Any, leaf: Leaf) -> Any:
    """Return the tree with `leaf(key)` for each array. The structure is checked already."""
    if isinstance(structure, list):
        return [decode_tree(item, leaf) for item in structure]
    if not isinstance(structure, dict):
        return structure
    if len(structure) == 1:
        (tag, content), *_ = structure.items()
        decode = _DECODERS.get(tag)
        if decode is not None:
            return decode(content, leaf)
    return {_unescaped(key): decode_tree(each, leaf) for key, each in structure.items()}


def check_tree(structure: Any, keys: frozenset[str]) -> None:
    """Refuse a structure that is not in this grammar, or whose leaves name no key (G5)."""
    level, nodes, depth = [structure], 0, 0
    while level:  # one level after the other: it needs no stack
        depth += 1
        nodes += len(level)
        if depth > MAX_TREE_DEPTH or nodes > MAX_TREE_NODES:
            raise _g5(f"more than {MAX_TREE_DEPTH} levels or {MAX_TREE_NODES} values")
        level = [item for node in level for item in _parts(node, keys)]


def _parts(node: Any, keys: frozenset[str]) -> list[Any]:
    """Return the nodes below `node`, after checking what it says itself."""
    if isinstance(node, list):
        return node
    if not isinstance(node, dict):
        return []
    tags = [key for key in node if key.startswith("$") and not key.startswith("$$")]
    if not tags:
        return list(node.values())
    content = node[tags[0]]
    if len(node) != 1:
        raise _g5(f"an object with {quoted(tags[0])} and other keys")
    if tags[0] == "$tuple" and isinstance(content, list):
        return content
    if tags[0] == "$dict" and isinstance(content, list):
        return _pairs(content)
    if not _is_leaf(tags[0], content, keys):
        raise _g5(f"{quoted(tags[0])} with {quoted(repr(content))}")
    return []


def _pairs(content: list[Any]) -> list[Any]:
    """Return the values of a dict whose keys are texts and integers."""
    for pair in content:
        if not isinstance(pair, list) or len(pair) != 2 or type(pair[0]) not in (str, int):
            raise _g5("an item of '$dict' is no pair of a key and a value")
    if len({key for key, _ in content}) != len(content):
        raise _g5("a key of '$dict' is given twice")
    return [value for _, value in content]


def _is_leaf(tag: str, content: Any, keys: frozenset[str]) -> bool:
    if tag == "$array":
        return isinstance(content, str) and content in keys
    if tag == "$float":
        return isinstance(content, str) and content in _NON_FINITE
    if tag == "$complex":
        return isinstance(content, list) and len(content) == 2 and all(map(_is_float, content))
    if tag == "$bytes" and isinstance(content, str):
        try:
            base64.b64decode(content, validate=True)
        except (binascii.Error, ValueError):
            return False
        return True
    return False


def _is_float(value: Any) -> bool:
    if isinstance(value, dict):
        name = value.get("$float")
        return len(value) == 1 and isinstance(name, str) and name in _NON_FINITE
    return type(value) is float


def _float(value: Any) -> float:
    return _NON_FINITE[value["$float"]] if isinstance(value, dict) else float(value)


_DECODERS: dict[str, Callable[[Any, Leaf], Any]] = {
    "$array": lambda key, leaf: leaf(key),
    "$float": lambda name, _: _NON_FINITE[name],
    "$complex": lambda parts, _: complex(_float(parts[0]), _float(parts[1])),
    "$bytes": lambda text, _: base64.b64decode(text),
    "$tuple": lambda items, leaf: tuple([decode_tree(item, leaf) for item in items]),
    "$dict": lambda pairs, leaf: {key: decode_tree(each, leaf) for key, each in pairs},
}


def _escaped(key: str) -> str:
    return f"${key}" if key.startswith("$") else key


def _unescaped(key: str) -> str:
    return key[1:] if key.startswith("$$") else key


def _text(value: str, path: tuple[str, ...]) -> str:
    if lone_surrogate(value):
        raise violation("C5", f"{_place(path)} holds a lone surrogate: {quoted(value)}")
    return str.__str__(value)  # of an enumeration with texts, str() is its name


def _integer(value: int, path: tuple[str, ...]) -> int:
    try:
        fits = abs(value) < _TOO_LARGE and bool(int.__repr__(value))
    except ValueError:  # the interpreter may be set to a lower limit of digits than ours
        fits = False
    if not fits:
        raise violation("C3", f"{_place(path)} is an integer of more digits than a reader takes")
    return int(value)


def _non_finite(value: float) -> dict[str, str]:
    return {"$float": repr(float(value))}


def _place(path: tuple[str, ...]) -> str:
    return "the tree" + "".join(f"[{part!r}]" for part in path)


def _g5(message: str) -> CheckpointError:
    return violation("G5", f"'tree' is malformed: {message}")
