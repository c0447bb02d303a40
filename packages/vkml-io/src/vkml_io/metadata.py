"""Metadata as JSON: NaN and infinities as tags, keys that start with `$` escaped.

JSON has no NaN, so `nan` becomes ``{"$float": "nan"}``. A user's own key that starts with `$`
gets one more, so that no dict of his can be taken for a tag.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from vkml_io.errors import quoted, violation
from vkml_io.format import MAX_JSON_DEPTH, MAX_NUMBER_LENGTH
from vkml_io.strict_json import BareConstant, lone_surrogate

if TYPE_CHECKING:
    from vkml_io.aliases import Metadata

_TAG = "$float"
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
# The integers that take more characters than a reader allows; a sign is one of them.
_TOO_LARGE, _TOO_SMALL = 10**MAX_NUMBER_LENGTH, -(10 ** (MAX_NUMBER_LENGTH - 1))

# Any in this module: a metadata value is whatever JSON can say.


def encode_metadata(metadata: Mapping[Any, Any] | None) -> Metadata:
    """Return `metadata` as plain values that JSON can say.

    Raises
    ------
    TypeError
        A value is of a type that JSON does not have; the message gives its place.
    CheckpointError
        It is nested too deep, or holds a number or string that the reader would refuse.
    """
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise TypeError(f"metadata must be a dict, not {type(metadata).__name__}")
    # Depth 2: the metadata stand in the object that vkml.json is.
    return _encode_mapping(metadata, "metadata", 2)


def decode_metadata(encoded: Metadata) -> tuple[Metadata, int]:
    """Return the metadata of a file, and how many bare NaN or infinity tokens it holds."""
    bare: list[float] = []
    return _decode_mapping(encoded, bare), len(bare)


def _encode(value: Any, place: str, depth: int) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        if lone_surrogate(value):
            raise violation("C5", f"{place} holds a lone surrogate: {quoted(value)}")
        return str.__str__(value)  # of an enumeration with texts, str() is its name
    if isinstance(value, int):
        _check_digits(value, place)
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {_TAG: str(float(value))}
    if isinstance(value, Mapping):
        return _encode_mapping(value, place, depth)
    if isinstance(value, list | tuple):
        _check_depth(place, depth)
        return [_encode(item, f"{place}[{i}]", depth + 1) for i, item in enumerate(value)]
    raise TypeError(
        f"{place} is of type {type(value).__name__}, which JSON cannot say; "
        "convert it to numbers, strings, lists and dicts, or save arrays as tensors"
    )


def _encode_mapping(mapping: Mapping[Any, Any], place: str, depth: int) -> Metadata:
    _check_depth(place, depth)
    result: Metadata = {}
    for key, value in mapping.items():
        name = _key(key, place)
        if lone_surrogate(name):
            raise violation("C5", f"a key of {place} holds a lone surrogate: {quoted(name)}")
        name = f"${name}" if name.startswith("$") else name
        if name in result:
            raise violation("C4", f"two keys of {place} are {quoted(name)} in JSON")
        result[name] = _encode(value, f"{place}[{key!r}]", depth + 1)
    return result


def _key(key: Any, place: str) -> str:
    """Return `key` as `json` spells the keys that are no strings."""
    if isinstance(key, np.generic):
        key = key.item()
    if isinstance(key, str):
        return str.__str__(key)
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, int):
        _check_digits(key, f"a key of {place}")
        return int.__repr__(key)
    if isinstance(key, float):
        return float.__repr__(key)
    raise TypeError(f"a key of {place} is of type {type(key).__name__}; JSON keys are strings")


def _check_digits(value: int, place: str) -> None:
    fits = _TOO_SMALL < value < _TOO_LARGE
    if fits:
        try:
            int.__repr__(value)
        except ValueError:  # the interpreter may be set to a lower limit of digits than ours
            fits = False
    if not fits:
        raise violation("C3", f"{place} is an integer of more digits than a reader takes")


def _check_depth(place: str, depth: int) -> None:
    if depth > MAX_JSON_DEPTH:
        raise violation("C2", f"{place[:80]}… is nested deeper than {MAX_JSON_DEPTH}")


def _decode(value: Any, bare: list[float]) -> Any:
    if isinstance(value, dict):
        if len(value) == 1 and value.get(_TAG) in ("nan", "inf", "-inf"):
            return _NON_FINITE[value[_TAG]]
        return _decode_mapping(value, bare)
    if isinstance(value, list):
        return [_decode(item, bare) for item in value]
    if isinstance(value, BareConstant):
        bare.append(value)
        return float(value)
    return value


def _decode_mapping(mapping: Metadata, bare: list[float]) -> Metadata:
    result = {
        key[1:] if key.startswith("$$") else key: _decode(value, bare)
        for key, value in mapping.items()
    }
    if len(result) != len(mapping):
        raise violation("C4", "two metadata keys differ only by an escaping '$'")
    return result
