from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vkml_io
from vkml_io.cli import main
from vkml_io.key_pattern import KeyPattern

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from forge import Forge


def _schema(tensors: Any, **fields: Any) -> dict[str, Any]:
    return {"schema": "vkml-schema", "version": 1, "tensors": tensors, **fields}


MODEL = {
    "encoder.0.weight": np.zeros((8, 4), "f4"),
    "encoder.0.bias": np.zeros(8, "f4"),
    "encoder.1.weight": np.zeros((8, 4), "f4"),
    "encoder.1.bias": np.zeros(8, "f4"),
    "head/weight": np.zeros((2, 3, 8), "f2"),
    "step": np.int64(7),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    vkml_io.save(tmp_path / "model.vkml", MODEL)
    return tmp_path / "model.vkml"


@pytest.fixture
def codes(path: Path) -> Callable[..., list[str]]:
    def codes(tensors: Any, *, extra: bool = True) -> list[str]:
        report = vkml_io.validate(path, schema=_schema(tensors, extra=extra))
        return [finding.code for finding in report.violations]

    return codes


def test_a_model_that_is_as_expected_is_sound(path: Path) -> None:
    schema = _schema(
        {
            "encoder.*.weight": {"dtype": "float32", "shape": ["hidden", 4], "count": 2},
            "encoder.*.bias": {"dtype": ["float16", "float32"], "shape": ["hidden"]},
            "head/*": {"dtype": "float*", "shape": ["...", "hidden"]},
            "step": {"dtype": "int64", "shape": []},
            "optimizer/**": {"required": False},
        },
        description="a small model",
    )

    report = vkml_io.validate(path, schema=schema)

    assert report.violations == ()


@pytest.mark.parametrize(
    ("tensors", "expected"),
    [
        ({"missing": {}}, ["S1"]),
        ({"decoder.*": {}}, ["S1"]),
        ({"decoder.*": {"required": False}}, []),
        ({"step": {"dtype": "int32"}}, ["S3"]),
        ({"step": {"dtype": "INT64"}}, ["S3"]),
        ({"step": {"dtype": ["float*", "int*"]}}, []),
        ({"step": {"shape": [1]}}, ["S4"]),
        ({"encoder.*.weight": {"shape": [8, 5]}}, ["S4", "S4"]),
        ({"encoder.*.weight": {"shape": ["n", "n"]}}, ["S4", "S4"]),
        ({"encoder.*.weight": {"shape": ["*", "*"]}}, []),
        ({"encoder.*.weight": {"shape": ["..."]}}, []),
        ({"encoder.*.weight": {"shape": [8, "...", 4]}}, []),
        ({"encoder.*.weight": {"shape": [8, "...", 8, 4]}}, ["S4", "S4"]),
        ({"head/weight": {"shape": [2, "...", 8]}}, []),
        ({"head/weight": {"shape": ["...", 3]}}, ["S4"]),
        ({"encoder.*.*": {"count": 4}}, []),
        ({"encoder.*.*": {"count": 5}}, ["S5"]),
        ({"*": {"count": 1}}, []),  # no dots, no slashes
        ({"**": {"count": 6}}, []),
        ({"encoder.**": {"count": 4}}, []),
    ],
)
def test_each_kind_of_mismatch_has_its_code(
    codes: Callable[..., list[str]], tensors: Any, expected: list[str]
) -> None:
    assert codes(tensors) == expected


def test_keys_that_nothing_describes_are_refused_unless_allowed(
    codes: Callable[..., list[str]],
) -> None:
    assert codes({"encoder.**": {}}, extra=False) == ["S2", "S2"]
    assert codes({"encoder.**": {}}, extra=True) == []


def test_the_exact_key_wins_over_a_pattern_and_the_first_pattern_over_the_second(
    codes: Callable[..., list[str]],
) -> None:
    bias = {"encoder.*.bias": {"shape": [8]}, "encoder.0.bias": {"shape": [9]}}
    assert codes(bias) == ["S4"]
    assert codes({"**": {"dtype": "*"}, "encoder.**": {"dtype": "int8"}}) == ["S1"]


def test_a_backslash_makes_a_star_a_star(tmp_path: Path) -> None:
    vkml_io.save(tmp_path / "a.vkml", {"a*": 1, "ab": 2})
    schema = _schema({r"a\*": {"dtype": "int64"}}, extra=True)

    assert vkml_io.validate(tmp_path / "a.vkml", schema=schema).is_sound
    only = _schema({r"a\*": {}})
    assert [f.code for f in vkml_io.validate(tmp_path / "a.vkml", schema=only).violations] == ["S2"]


def test_a_mismatch_names_member_byte_and_the_length_it_contradicts(path: Path) -> None:
    schema = _schema({"encoder.0.bias": {"shape": ["n"]}, "head/weight": {"shape": ["n", 3, 8]}},
                     extra=True)  # fmt: skip

    (finding,) = vkml_io.validate(path, schema=schema).violations

    entry = next(entry for entry in vkml_io.inspect(path) if entry.key == "head/weight")
    assert (finding.code, finding.member, finding.offset) == ("S4", entry.member, entry.data_offset)
    assert finding.message.endswith("n is 8 in 'encoder.0.bias'")


def test_violations_of_the_format_come_before_those_of_the_schema(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[vkml_io.inspect(path)[0].data_offset] ^= 1
    path.write_bytes(data)

    report = vkml_io.validate(path, schema=_schema({"missing": {}}, extra=True))

    assert [finding.code for finding in report.violations] == ["D9", "S1"]


def test_a_schema_is_compared_at_every_level(path: Path) -> None:
    report = vkml_io.validate(path, level="structure", schema=_schema({"missing": {}}, extra=True))

    assert [finding.code for finding in report.violations] == ["S1"]
    assert report.violations[0].member == "vkml.json"


def test_a_file_whose_headers_are_damaged_is_not_compared_with_a_schema(forge: Forge) -> None:
    path = forge.write(forge.tensor(b"\x93NU"), forge.header())

    report = vkml_io.validate(path, schema=_schema({"missing": {}}))

    assert [finding.code for finding in report.violations] == ["D1"]
    assert any("schema" in each for each in report.not_checked)


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        {"schema": "other", "version": 1, "tensors": {}},
        {"schema": "vkml-schema", "version": 2, "tensors": {}},
        {"schema": "vkml-schema", "version": True, "tensors": {}},
        _schema([]),
        _schema({}, extra=1),
        _schema({}, keys=[]),
        _schema({"w": None}),
        _schema({"w": {"shapes": [1]}}),
        _schema({"w": {"shape": 3}}),
        _schema({"w": {"shape": [-1]}}),
        _schema({"w": {"shape": [1.0]}}),
        _schema({"w": {"shape": [True]}}),
        _schema({"w": {"shape": ["..", 1]}}),
        _schema({"w": {"shape": ["...", "..."]}}),
        _schema({"w": {"dtype": 3}}),
        _schema({"w": {"dtype": []}}),
        _schema({"w": {"dtype": "float 32"}}),
        _schema({"w": {"required": "no"}}),
        _schema({"w": {"count": -1}}),
        _schema({"w\\": {}}),
    ],
)
def test_a_schema_that_breaks_the_grammar_is_refused_as_a_file_and_as_a_dict(
    path: Path, tmp_path: Path, document: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(document))

    with pytest.raises(vkml_io.SchemaError, match=r"schema\.json"):
        vkml_io.validate(path, schema=file)
    if isinstance(document, dict):
        with pytest.raises(vkml_io.SchemaError):
            vkml_io.validate(path, schema=document)
    assert main(["validate", "--schema", str(file), str(path)]) == 2
    assert "schema.json" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "{", '{"schema": 1, "schema": 2}', '{"a": "\\ud800"}'])
def test_a_schema_that_is_no_strict_json_is_refused(path: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "schema.json").write_text(text)

    with pytest.raises(vkml_io.SchemaError):
        vkml_io.validate(path, schema=tmp_path / "schema.json")


@pytest.mark.parametrize("pattern", ["a*" * 30 + "c", "a**" * 30 + "c", "a*a**" * 15 + "c"])
def test_a_pattern_of_many_stars_takes_no_exponential_time(pattern: str) -> None:
    assert not KeyPattern(pattern).fits("a" * 200 + "b")
    assert KeyPattern(pattern).fits("a" * 200 + "c")


@settings(max_examples=400, deadline=None, derandomize=True)
@given(pattern=st.text("ab./*", max_size=10), key=st.text("ab./", max_size=10))
def test_a_pattern_fits_what_the_plain_regular_expression_fits(pattern: str, key: str) -> None:
    plain = re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", "[^./]*")

    assert KeyPattern(pattern).fits(key) == (re.fullmatch(plain, key) is not None)


def test_the_command_takes_a_schema(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.json").write_text(json.dumps(_schema({"**": {"dtype": "float*"}})) + "\n")

    assert main(["validate", "--schema", str(tmp_path / "s.json"), str(path)]) == 1
    assert "S3: 'tensors/step.npy'" in capsys.readouterr().out


def test_a_schema_that_does_not_exist_is_named(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", "--schema", str(tmp_path / "absent"), str(path)]) == 3
    assert "absent" in capsys.readouterr().err
