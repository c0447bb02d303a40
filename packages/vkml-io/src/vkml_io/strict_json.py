"""JSON as strictly as two readers can agree on it (C2 to C5)."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any

from vkml_io.errors import CheckpointError, quoted, violation
from vkml_io.format import MAX_JSON_DEPTH, MAX_NUMBER_LENGTH

# Without such an escape, decoded UTF-8 holds no lone surrogate and no string need be looked at.
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class BareConstant(float):
    """NaN, Infinity or -Infinity, written as the bare token that JSON does not have."""


def parse_json(data: bytes) -> Any:  # Any: whatever JSON can say
    """Return the one document in `data`.

    Bare NaN and infinities come back as `BareConstant`; the caller decides where they may stand.
    """
    if data[:1] not in (b"{", b"["):  # neither a byte order mark nor white space
        raise violation("C2", "not valid JSON: the first byte is not '{'")
    try:
        # Decoded here: json.loads guesses UTF-16 and UTF-32 when it is given bytes.
        text = data.decode("utf-8")
        document = _DECODER.decode(text)
    except CheckpointError:
        raise
    except UnicodeDecodeError as error:
        raise violation("C2", f"not valid JSON: no UTF-8 at byte {error.start} of it") from None
    except RecursionError:
        raise violation("C2", "not valid JSON: nested too deep") from None
    except ValueError as error:
        raise violation("C2", f"not valid JSON: {error}") from None
    if text.count("{") + text.count("[") > MAX_JSON_DEPTH or _SURROGATE_ESCAPE.search(text):
        _check_depth_and_strings(document)
    return document


def lone_surrogate(text: str) -> bool:
    """Return whether `text` holds half of a surrogate pair, which no UTF-8 can say."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _check_depth_and_strings(document: Any) -> None:  # Any: see parse_json
    level, depth = [document], 0
    while level:
        depth += 1
        below: list[Any] = []
        for value in level:
            if isinstance(value, str):
                if lone_surrogate(value):
                    raise violation("C5", f"a lone surrogate in {quoted(value)}")
            elif isinstance(value, dict):
                below += value.keys()
                below += value.values()
            elif isinstance(value, list):
                below += value
        if depth > MAX_JSON_DEPTH and any(isinstance(value, dict | list) for value in level):
            raise violation("C2", f"not valid JSON: nested deeper than {MAX_JSON_DEPTH}")
        level = below


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise violation("C4", f"the field {quoted(twice)} is given twice")
    return result


def _integer(literal: str) -> int:
    _check_length(literal)
    try:
        return int(literal)
    except ValueError:  # the interpreter may be set to a lower limit of digits than ours
        raise violation("C3", f"a number of {len(literal)} characters") from None


def _float(literal: str) -> float:
    _check_length(literal)
    value = float(literal)
    if math.isinf(value):
        raise violation("C3", f"the number {literal[:40]} is too large for a float")
    return value


def _check_length(literal: str) -> None:
    if len(literal) > MAX_NUMBER_LENGTH:
        raise violation("C3", f"a number of {len(literal)} characters")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_float,
    parse_constant=BareConstant,
)
