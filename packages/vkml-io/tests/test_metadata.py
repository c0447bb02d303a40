from __future__ import annotations

import enum
import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vkml_io
from vkml_io.metadata import decode_metadata, encode_metadata

if TYPE_CHECKING:
    from pathlib import Path


class Word(str, enum.Enum):  # noqa: UP042  # its str() is not its text
    HOT = "hot"


class Number(int, enum.Enum):
    TWO = 2


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"a": (1, 2)}, {"a": [1, 2]}),
        ({2: "a", None: "b", True: "c"}, {"2": "a", "null": "b", "true": "c"}),
        ({1.5: "a", np.int8(2): "b"}, {"1.5": "a", "2": "b"}),
        ({"n": np.float32(0.5), "i": np.int8(3)}, {"n": 0.5, "i": 3}),
        ({"b": np.bool_(True)}, {"b": True}),
        ({"$float": "nan"}, {"$float": "nan"}),
        ({"a": {"$float": "nan"}}, {"a": {"$float": "nan"}}),
        ({"$": 1, "$$": 2, "$$x": {"$y": 3}}, {"$": 1, "$$": 2, "$$x": {"$y": 3}}),
        ({"text": "日本語 \x00 \u2028"}, {"text": "日本語 \x00 \u2028"}),
        ({"big": 10**999, "small": 5e-324}, {"big": 10**999, "small": 5e-324}),
        ({"inf": [math.inf, -math.inf]}, {"inf": [math.inf, -math.inf]}),
        ({Word.HOT: Word.HOT, Number.TWO: Number.TWO}, {"hot": "hot", "2": 2}),
        (None, {}),
    ],
)
def test_metadata_round_trip(tmp_path: Path, given: Any, expected: Any) -> None:
    vkml_io.save(tmp_path / "a.vkml", {}, given)

    assert vkml_io.load(tmp_path / "a.vkml").metadata == expected


def test_nan_comes_back_as_nan(tmp_path: Path) -> None:
    vkml_io.save(tmp_path / "a.vkml", {}, {"loss": float("nan"), "numpy": np.float64("nan")})

    metadata = vkml_io.load(tmp_path / "a.vkml").metadata
    assert math.isnan(metadata["loss"])
    assert math.isnan(metadata["numpy"])


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({1, 2}, "metadata['a']"),
        ([1, b"x"], "metadata['a'][1]"),
        ({"b": [np.ones(2)]}, "metadata['a']['b'][0]"),
        (1j, "metadata['a']"),
        (np.datetime64("2026-01-01"), "metadata['a']"),
        ({(1, 2): 3}, "a key of metadata['a']"),
    ],
)
def test_what_json_cannot_say_is_a_type_error_with_its_place(
    tmp_path: Path, value: Any, place: str
) -> None:
    with pytest.raises(TypeError) as caught:
        vkml_io.save(tmp_path / "a.vkml", {}, {"a": value})

    assert str(caught.value).startswith(f"{place} is of type")
    assert list(tmp_path.iterdir()) == []


def _nested(depth: int) -> list[Any]:  # Any: lists all the way down
    return [_nested(depth - 1)] if depth > 1 else []


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("\ud800", "C5"),
        ({"\udfff": 1}, "C5"),
        (10**1000, "C3"),
        (-(10**999), "C3"),
        ({10**5000: 1}, "C3"),
        ({1: "a", "1": "b"}, "C4"),
        (_nested(63), "C2"),
    ],
    ids=[
        "surrogate",
        "surrogate key",
        "digits",
        "digits and sign",
        "digits of a key",
        "twice",
        "depth",
    ],
)
def test_what_a_reader_would_refuse_is_refused(tmp_path: Path, value: Any, code: str) -> None:
    with pytest.raises(vkml_io.CheckpointError) as caught:
        vkml_io.save(tmp_path / "a.vkml", {}, {"a": value})

    assert caught.value.code == code


def test_an_integer_that_the_interpreter_does_not_spell_is_refused(tmp_path: Path) -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        with pytest.raises(vkml_io.CheckpointError) as caught:
            vkml_io.save(tmp_path / "a.vkml", {}, {"a": 10**900})
    finally:
        sys.set_int_max_str_digits(before)

    assert caught.value.code == "C3"


def test_the_deepest_metadata_allowed_round_trip(tmp_path: Path) -> None:
    vkml_io.save(tmp_path / "a.vkml", {}, {"a": _nested(62)})

    assert vkml_io.load(tmp_path / "a.vkml").metadata == {"a": _nested(62)}


def test_metadata_that_contain_themselves_are_refused(tmp_path: Path) -> None:
    loop: list[Any] = []  # Any: itself
    loop.append(loop)

    with pytest.raises(vkml_io.CheckpointError, match="nested"):
        vkml_io.save(tmp_path / "a.vkml", {}, {"a": loop})


def test_metadata_that_are_no_dict_are_a_type_error(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="list"):
        vkml_io.save(tmp_path / "a.vkml", {}, [1])  # type: ignore[arg-type]  # the point


@pytest.mark.parametrize("foreign", [{"$x": 1}, {"$float": "foo"}, {"$float": "nan", "b": 1}])
def test_dollar_keys_of_other_writers_stay_as_they_are(foreign: dict[str, Any]) -> None:
    decoded, _ = decode_metadata(foreign)

    assert decoded == foreign
    assert decode_metadata(encode_metadata(decoded))[0] == foreign
