"""The expected content of a checkpoint: keys, dtypes and shapes, with wildcards.

The grammar stands in ``docs/checkpoints.md``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vkml_io.errors import CheckpointError, quoted
from vkml_io.key_pattern import KeyPattern
from vkml_io.strict_json import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vkml_io.aliases import PathLike

_NAME, _VERSION = "vkml-schema", 1
_FIELDS = frozenset({"schema", "version", "tensors", "extra", "description"})
_EXPECTED_FIELDS = frozenset({"dtype", "shape", "required", "count"})
_ANY_LENGTH, _ANY_AXES = "*", "..."
_DTYPE = re.compile(r"[a-z0-9_:*]+", re.IGNORECASE)
_NAMED_LENGTH = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Any in this module: foreign JSON, before it is checked.


class SchemaError(ValueError):
    """A description of expected content does not follow its grammar."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One way in which a checkpoint is not what was expected; `key` is None for all of it."""

    code: str
    key: str | None
    message: str


@dataclass(frozen=True, slots=True)
class _Expected:
    """What is said of the keys that fit one pattern."""

    pattern: KeyPattern
    dtypes: tuple[str, ...] | None
    shape: tuple[int | str, ...] | None
    required: bool
    count: int | None


class Schema:
    """A parsed description, which `check` compares with what a checkpoint holds."""

    def __init__(self, expected: tuple[_Expected, ...], *, extra: bool) -> None:
        self._exact = {
            each.pattern.exact: each for each in expected if each.pattern.exact is not None
        }
        self._patterns = [each for each in expected if each.pattern.exact is None]
        self._expected = expected
        self._extra = extra

    def check(self, arrays: Iterable[tuple[str, str, tuple[int, ...]]]) -> list[Mismatch]:
        """Return how arrays, given as (key, dtype, shape), differ from what is expected."""
        found: list[Mismatch] = []
        counts = dict.fromkeys(range(len(self._expected)), 0)
        numbers = {id(each): number for number, each in enumerate(self._expected)}
        lengths: dict[str, tuple[int, str]] = {}  # of a named length: the length, and whose
        for key, dtype, shape in arrays:
            expected = self._of(key)
            if expected is None:
                if not self._extra:
                    found.append(Mismatch("S2", key, f"the key {quoted(key)} is not expected"))
                continue
            counts[numbers[id(expected)]] += 1
            found += _check_dtype(expected, key, dtype)
            found += _check_shape(expected, key, shape, lengths)
        for number, expected in enumerate(self._expected):
            found += _check_count(expected, counts[number])
        return found

    def _of(self, key: str) -> _Expected | None:
        """Return what is said of `key`: under its own name, else by the first pattern it fits."""
        exact = self._exact.get(key)
        if exact is not None:
            return exact
        return next((each for each in self._patterns if each.pattern.fits(key)), None)


def read_schema(given: PathLike | Mapping[str, Any]) -> Schema:
    """Return the schema that a JSON file or a dict describes.

    Raises
    ------
    SchemaError
        It does not follow the grammar; the message says where.
    OSError
        The file cannot be read.
    """
    if isinstance(given, Mapping):
        return _parse(dict(given), "schema")
    where = os.fspath(given)
    data = Path(where).read_bytes()
    try:
        document = parse_json(data.removesuffix(b"\n"))
    except CheckpointError as error:
        raise SchemaError(f"{where}: {error.message}") from None
    return _parse(document, where)


def _parse(document: Any, where: str) -> Schema:
    if not isinstance(document, dict) or document.get("schema") != _NAME:
        raise SchemaError(f"{where}: this is no object whose 'schema' is {_NAME!r}")
    if type(document.get("version")) is not int or document["version"] != _VERSION:
        raise SchemaError(f"{where}: 'version' must be {_VERSION}")
    _refuse_unknown(document, _FIELDS, where)
    tensors = document.get("tensors")
    if not isinstance(tensors, dict):
        raise SchemaError(f"{where}: 'tensors' must be an object: pattern to description")
    extra = document.get("extra", False)
    if not isinstance(extra, bool):
        raise SchemaError(f"{where}: 'extra' must be true or false")
    expected = tuple(_parse_expected(*item, where) for item in tensors.items())
    return Schema(expected, extra=extra)


def _parse_expected(pattern: Any, said: Any, where: str) -> _Expected:
    if not isinstance(pattern, str):
        raise SchemaError(f"{where}: a key of 'tensors' is a {type(pattern).__name__}, not a str")
    here = f"{where}: {quoted(pattern)}"
    if not isinstance(said, dict):
        raise SchemaError(f"{here}: this must be an object, for example {{}}")
    _refuse_unknown(said, _EXPECTED_FIELDS, here)
    required = said.get("required", True)
    if not isinstance(required, bool):
        raise SchemaError(f"{here}: 'required' must be true or false")
    count = said.get("count")
    if count is not None and (type(count) is not int or count < 0):
        raise SchemaError(f"{here}: 'count' must be a number of keys")
    return _Expected(
        _parse_pattern(pattern, here),
        _parse_dtypes(said.get("dtype"), here),
        _parse_shape(said.get("shape"), here),
        required,
        count,
    )


def _parse_pattern(pattern: str, here: str) -> KeyPattern:
    try:
        return KeyPattern(pattern)
    except ValueError as error:
        raise SchemaError(f"{here}: {error}") from None


def _parse_dtypes(given: Any, here: str) -> tuple[str, ...] | None:
    if given is None:
        return None
    names = [given] if isinstance(given, str) else given
    fits = isinstance(names, list | tuple) and all(
        isinstance(name, str) and _DTYPE.fullmatch(name) for name in names
    )
    if not fits or not names:
        raise SchemaError(
            f"{here}: 'dtype' must be a name such as 'float32' or 'float*', or a list"
        )
    return tuple(names)


def _parse_shape(given: Any, here: str) -> tuple[int | str, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list | tuple):
        raise SchemaError(f"{here}: 'shape' must be a list of lengths")
    for length in given:
        is_number = type(length) is int and length >= 0
        is_word = isinstance(length, str) and (
            length in (_ANY_LENGTH, _ANY_AXES) or _NAMED_LENGTH.fullmatch(length)
        )
        if not (is_number or is_word):
            raise SchemaError(
                f"{here}: a length is a number, '*', '...' or a name, and not {length!r}"
            )
    if list(given).count(_ANY_AXES) > 1:
        raise SchemaError(f"{here}: '...' may stand once in a shape")
    return tuple(given)


def _refuse_unknown(document: Mapping[str, Any], known: frozenset[str], here: str) -> None:
    for field in document:
        if field not in known:
            raise SchemaError(f"{here}: unknown field {field!r}; known are {sorted(known)}")


def _check_dtype(expected: _Expected, key: str, dtype: str) -> list[Mismatch]:
    if expected.dtypes is None:
        return []
    for name in expected.dtypes:
        if re.fullmatch(re.escape(name).replace(r"\*", ".*"), dtype):
            return []
    wanted = " or ".join(expected.dtypes)
    return [Mismatch("S3", key, f"{quoted(key)} is {dtype}, and {wanted} is expected")]


def _check_shape(
    expected: _Expected, key: str, shape: tuple[int, ...], lengths: dict[str, tuple[int, str]]
) -> list[Mismatch]:
    wanted = expected.shape
    if wanted is None:
        return []
    shown = f"{quoted(key)} has shape {shape}, and [{', '.join(map(str, wanted))}] is expected"
    if _ANY_AXES in wanted:
        left = wanted.index(_ANY_AXES)
        right = len(wanted) - left - 1
        if len(shape) < left + right:
            return [Mismatch("S4", key, shown)]
        pairs = [*zip(wanted[:left], shape, strict=False)]
        pairs += zip(wanted[left + 1 :], shape[len(shape) - right :], strict=True)
    elif len(shape) != len(wanted):
        return [Mismatch("S4", key, shown)]
    else:
        pairs = [*zip(wanted, shape, strict=True)]
    for want, length in pairs:
        if want == _ANY_LENGTH:
            continue
        if isinstance(want, str):
            known, owner = lengths.setdefault(want, (length, key))
            if known != length:
                why = f"; {want} is {known} in {quoted(owner)}"
                return [Mismatch("S4", key, shown + why)]
        elif want != length:
            return [Mismatch("S4", key, shown)]
    return []


def _check_count(expected: _Expected, count: int) -> list[Mismatch]:
    if expected.count is not None and count != expected.count:
        message = (
            f"{count} keys fit {quoted(expected.pattern.text)}, and {expected.count} are expected"
        )
        return [Mismatch("S5", None, message)]
    if expected.required and expected.count is None and count == 0:
        what = "the key" if expected.pattern.exact is not None else "a key that fits"
        return [Mismatch("S1", None, f"{what} {quoted(expected.pattern.text)} is missing")]
    return []
