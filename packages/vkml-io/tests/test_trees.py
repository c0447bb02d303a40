"""Nested structures come back as they were, with their arrays."""

from __future__ import annotations

import json
import math
import zipfile
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vkml_io

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

A = np.arange(3.0)
TREES: list[Any] = [
    A, [A], (A,), {"w": A}, {}, [], (), None, "text", 7, True, 0.5, 1j,
    {"a": {"b": [A, {"c": (A + 1, None)}]}},
    {0: A, 1: {"x": 1}, "0": 2, -5: []},
    {"": A, "$array": "w", "$$x": {"$tuple": 1}, "a/b": {"": A}},
    [True, 1, 1.0, -0.0, 10**300, "1", None, b"", b"\x00\xff", "\x00ü"],
    [math.inf, -math.inf, complex(math.inf, -0.0), complex(1, 2)],
    [[[]], [()], ({},)],
]  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.vkml"


def _same(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected, strict=True)
    elif isinstance(expected, dict):
        assert list(map(repr, found)) == list(map(repr, expected))
        for key, each in expected.items():
            _same(found[key], each)
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            _same(one, other)
    else:
        assert repr(found) == repr(expected)


@pytest.mark.parametrize("tree", TREES, ids=range(len(TREES)))
@pytest.mark.parametrize("options", [{}, {"mmap": True}], ids=str)
def test_a_tree_comes_back_as_it_was(path: Path, tree: Any, options: dict[str, Any]) -> None:
    vkml_io.save_tree(path, tree, {"epoch": 3})

    _same(vkml_io.load_tree(path, **options), tree)
    assert vkml_io.load(path).metadata == {"epoch": 3}
    assert vkml_io.validate(path).violations == ()


_leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(), st.binary(),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.builds(np.arange, st.integers(0, 4)),
)  # fmt: skip
_keys = st.one_of(st.text("ab$/.~2", max_size=3), st.integers(-2, 2))
_trees = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(_keys, inner, max_size=4),
    ),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(tree=_trees)
def test_any_tree_comes_back_as_it_was(tmp_path_factory: Any, tree: Any) -> None:
    path = tmp_path_factory.mktemp("tree") / "a.vkml"

    vkml_io.save_tree(path, tree)

    _same(vkml_io.load_tree(path), tree)


def test_arrays_have_keys_by_their_places(path: Path) -> None:
    vkml_io.save_tree(path, {"a": {"b": A}, "a/b": A + 1, "c": [A + 2, A + 3], 7: A + 4})

    found = vkml_io.load(path)

    assert list(found.tensors) == ["a/b", "a/b~2", "c/0", "c/1", "7"]
    assert found.version == 1


def test_arrays_in_a_tree_keep_their_sharing(path: Path) -> None:
    vkml_io.save_tree(path, [A, {"again": A, "part": A[1:]}])

    first, rest = vkml_io.load_tree(path)
    first[1] = 7

    assert rest["again"][1] == rest["part"][0] == 7


def test_numpy_scalars_and_subclasses_become_plain(path: Path) -> None:
    tree = OrderedDict(x=np.float32(0.5), y=np.int64(3), z=bytearray(b"ab"))

    vkml_io.save_tree(path, tree)

    _same(vkml_io.load_tree(path), {"x": 0.5, "y": 3, "z": b"ab"})


def test_a_file_without_a_tree_gives_the_dict_of_its_arrays(path: Path) -> None:
    vkml_io.save(path, {"w": A})

    _same(vkml_io.load_tree(path), {"w": A})


def test_the_structure_is_json_that_anyone_reads(path: Path) -> None:
    vkml_io.save_tree(path, {"w": A, 1: (A, math.nan, b"a", 2j)})

    with zipfile.ZipFile(path) as archive:
        structure = json.loads(archive.read("vkml.json"))["tree"]
    parts = [{"$array": "1/0"}, {"$float": "nan"}, {"$bytes": "YQ=="}, {"$complex": [0.0, 2.0]}]
    assert structure == {"$dict": [["w", {"$array": "w"}], [1, {"$tuple": parts}]]}


@pytest.mark.parametrize(
    ("tree", "place"),
    [
        ({"a": [1, {2}]}, r"the tree\['a'\]\['1'\] is of type set"),
        ([object()], r"the tree\['0'\] is of type object"),
        ({True: 1}, "a key of the tree is of type bool"),
        ({1.5: 1}, "a key of the tree is of type float"),
        ({"a": {(1, 2): 1}}, r"a key of the tree\['a'\] is of type tuple"),
    ],
)
def test_what_a_tree_cannot_hold_is_a_type_error_with_its_place(
    path: Path, tree: Any, place: str
) -> None:
    with pytest.raises(TypeError, match=place):
        vkml_io.save_tree(path, tree)

    assert not path.exists()


@pytest.mark.parametrize("kind", [list, tuple, dict, "int keys"])
def test_a_tree_as_deep_as_save_takes_it_loads_and_a_deeper_one_is_refused(
    path: Path, kind: Any
) -> None:
    wraps: dict[Any, Callable[[Any], Any]] = {
        list: lambda x: [x],
        tuple: lambda x: (x,),
        dict: lambda x: {"a": x},
        "int keys": lambda x: {1: x},
    }
    tree: Any = complex(math.nan, 1)
    deepest = -1
    for depth in range(70):
        try:
            vkml_io.save_tree(path, tree)
        except vkml_io.CheckpointError:
            break
        _same(vkml_io.load_tree(path), tree)
        tree = wraps[kind](tree)
        deepest = depth

    assert 15 < deepest < 65
    with pytest.raises(vkml_io.CheckpointError) as caught:
        vkml_io.save_tree(path, tree)
    assert caught.value.code == "G5"


def test_a_list_that_holds_itself_is_refused(path: Path) -> None:
    tree: list[Any] = []
    tree.append(tree)

    with pytest.raises(vkml_io.CheckpointError, match="contain itself"):
        vkml_io.save_tree(path, tree)


def test_the_path_comes_first(path: Path) -> None:
    with pytest.raises(TypeError, match="the path comes first"):
        vkml_io.save_tree({"w": A}, path)  # type: ignore[arg-type]  # what is tested
