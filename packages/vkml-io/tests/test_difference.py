from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vkml_io

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vkml_io.aliases import Array


@pytest.fixture
def differ(tmp_path: Path) -> Callable[..., vkml_io.Difference]:
    def differ(
        first: dict[str, Any],
        second: dict[str, Any],
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
    ) -> vkml_io.Difference:
        vkml_io.save(tmp_path / "a.vkml", first, before)
        vkml_io.save(tmp_path / "b.vkml", second, after)
        return vkml_io.diff(tmp_path / "a.vkml", tmp_path / "b.vkml")

    return differ


def _change(found: vkml_io.Difference) -> tuple[int | None, float | None]:
    (change,) = found.changed
    return change.differing, change.max_abs_difference


def test_equal_content_written_in_two_ways_does_not_differ(
    tmp_path: Path, arrays: dict[str, Array]
) -> None:
    other = {key: np.array(arrays[key], order="F") for key in reversed(arrays)}
    other = {key: array.astype(array.dtype.newbyteorder()) for key, array in other.items()}
    vkml_io.save(tmp_path / "a.vkml", arrays, {"loss": math.nan})
    vkml_io.save(tmp_path / "b.vkml", other, {"loss": math.nan}, compress=True, align=256)

    found = vkml_io.diff(tmp_path / "a.vkml", tmp_path / "b.vkml")

    assert found.is_empty
    assert found.changed == ()


def test_keys_of_one_file_only_are_listed(differ: Any) -> None:
    found = differ({"a": 1, "b": 2, "c": 3}, {"b": 2, "d": 4})

    assert (found.only_in_first, found.only_in_second) == (("a", "c"), ("d",))
    assert not found.is_empty


def test_another_shape_is_a_change_without_a_distance(differ: Any) -> None:
    found = differ({"w": np.zeros((2, 3))}, {"w": np.zeros((3, 2))})

    assert found.changed == (
        vkml_io.ArrayChange("w", ("float64", "float64"), ((2, 3), (3, 2)), None, None),
    )


def test_another_dtype_with_equal_values_is_a_change_of_no_value(differ: Any) -> None:
    found = differ({"w": np.array([1, np.nan], "f4")}, {"w": np.array([1, np.nan], "f8")})

    assert found.changed[0].dtypes == ("float32", "float64")
    assert _change(found) == (0, 0.0)


@pytest.mark.parametrize(
    ("first", "second", "differing", "distance"),
    [
        (np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.5, 2.75]), 2, 0.5),
        (np.array([0.0]), np.array([-0.0]), 1, 0.0),
        (np.array([1.0]), np.array([np.inf]), 1, math.inf),
        (np.array([1e308]), np.array([-1e308]), 1, math.inf),
        (np.array([60000, 0], "f2"), np.array([-60000, 0], "f2"), 1, 120000.0),
        (np.array([2**63 - 1]), np.array([-(2**63)]), 1, float(2**64 - 1)),
        (np.array([200], "u1"), np.array([100], "u1"), 1, 100.0),
        (np.array([True, False]), np.array([True, True]), 1, 1.0),
        (np.array([3 + 4j], "c8"), np.array([0], "c8"), 1, 5.0),
        (np.array([1, 2]), np.array([1.0, 2.25]), 1, 0.25),
        (np.float32(1), np.float32(3), 1, 2.0),
    ],
)
def test_the_largest_distance_between_two_values_is_given(
    differ: Any, first: Array, second: Array, differing: int, distance: float
) -> None:
    assert _change(differ({"w": first}, {"w": second})) == (differing, distance)


def test_nan_is_equal_to_itself_and_infinitely_unlike_a_number(differ: Any) -> None:
    assert differ({"w": np.array([math.nan])}, {"w": np.array([math.nan])}).is_empty

    differing, distance = _change(
        differ({"w": np.array([math.nan, 1, 5.0])}, {"w": np.array([0.0, 1, 1])})
    )
    assert differing == 2
    assert distance is not None
    assert math.isnan(distance)


def test_a_change_far_into_a_large_array_is_found_across_pieces(differ: Any) -> None:
    first = np.arange(300_001, dtype="f8")
    second = first.astype("f4")
    second[-1] += 8

    found = differ({"w": np.asfortranarray(first)}, {"w": second})

    assert _change(found) == (1, 8.0)


def test_metadata_are_compared_to_the_depth_of_the_change(differ: Any) -> None:
    before = {"same": math.nan, "lr": 0.1, "a": {"b": [1, {"c": 2}]}, "gone": None}
    after = {"same": math.nan, "lr": 0.2, "a": {"b": [1, {"c": 2.0}, 3]}, "new": True}

    found = differ({}, {}, before, after)

    assert set(found.metadata) == {
        vkml_io.MetadataChange("['lr']", 0.1, 0.2),
        vkml_io.MetadataChange("['a']['b'][1]['c']", 2, 2.0),
        vkml_io.MetadataChange("['a']['b'][2]", ..., 3),
        vkml_io.MetadataChange("['gone']", None, ...),
        vkml_io.MetadataChange("['new']", ..., True),
    }


def test_the_differences_are_valid_json(differ: Any) -> None:
    found = differ(
        {"w": np.array([math.nan]), "x": 1},
        {"w": np.array([1.0])},
        {"$a": math.inf, "b": 1},
        {"$a": 1},
    )

    text = json.dumps(found.to_json(), allow_nan=False)

    document = json.loads(text)
    assert document["equal"] is False
    assert document["only_in_first"] == ["x"]
    assert document["changed"][0]["max_abs_difference"] == {"$float": "nan"}
    assert document["metadata"] == [
        {"place": "['$a']", "before": {"$float": "inf"}, "after": 1},
        {"place": "['b']", "before": 1},
    ]


@pytest.mark.parametrize("damaged", ["a.vkml", "b.vkml"])
def test_a_damaged_file_is_named(tmp_path: Path, damaged: str) -> None:
    for name in ("a.vkml", "b.vkml"):
        vkml_io.save(tmp_path / name, {"w": np.ones(3)})
    data = bytearray((tmp_path / damaged).read_bytes())
    data[vkml_io.inspect(tmp_path / damaged)[0].data_offset] ^= 1
    (tmp_path / damaged).write_bytes(data)

    with pytest.raises(vkml_io.IntegrityError, match=damaged):
        vkml_io.diff(tmp_path / "a.vkml", tmp_path / "b.vkml")


def test_no_difference_means_equal_digests_and_the_other_way_round(differ: Any) -> None:
    generator = np.random.default_rng(3)
    for _ in range(30):
        first, second = (
            {
                key: generator.integers(0, 2, generator.integers(1, 3)).astype(dtype)
                for key, dtype in zip("ab", generator.choice(["f4", "i4"], 2), strict=True)
            }
            for _ in range(2)
        )
        same = vkml_io.digest(first) == vkml_io.digest(second)

        assert differ(first, second).is_empty == same
