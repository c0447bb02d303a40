"""Hostile files of version 2, written from docs/format.md: for each, the check that refuses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from forge import Forge

# The member "w" holds float32 values of shape (2, 3): 24 bytes.
VIEW = {"storage": "w", "dtype": "float32", "shape": [3], "strides": [4], "offset": 12}
BYTES = "{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }"
PAIRS = "{'descr': '%s', 'fortran_order': False, 'shape': (2, 3), }"
DEEP: Any = []  # Any: lists in lists
for _ in range(62):
    DEEP = [DEEP]


def view_file(change: dict[str, Any] | None = None, **fields: Any) -> Callable[[Forge], Path]:
    """Return what writes a file with the view "v" of "w"; `change` replaces fields of it."""
    views = {"v": {k: v for k, v in (VIEW | (change or {})).items() if v is not ...}}
    whole = {"keys": ["w", "v"], "requires": ["views"], "views": views} | fields
    return lambda f: f.write(f.tensor(), f.header(version=2, **whole))


def storage_file(storage: str, data: int, **change: Any) -> Callable[[Forge], Path]:
    """Return what writes a file with the view "v" of a storage without a key."""
    views = {"v": VIEW | {"storage": "storages/0", "offset": 0} | change}
    return lambda f: f.write(
        f.part("storages/0.npy", f.npy(storage, bytes(data))),
        f.header(version=2, keys=["v"], requires=["views"], views=views),
    )


def dtype_file(
    descr: str, name: Any, index: list[str] | None = None, **fields: Any
) -> Callable[[Forge], Path]:
    """Return what writes a file whose "w" is of a logical dtype."""
    size = 6 * int(descr[-1])
    more = fields if index is None else {"index": index} | fields
    return lambda f: f.write(
        f.tensor(f.npy(PAIRS % descr, bytes(size))),
        f.header(version=2, **({"requires": ["dtypes"], "dtypes": {"w": name}} | more)),
    )


def members_file(
    members: Any, keys: list[str] | None = None, name: str = "escaped/0.npy"
) -> Callable[[Forge], Path]:
    """Return what writes a file with an escaped member."""
    return lambda f: f.write(
        f.part(name, f.npy()),
        f.header(version=2, keys=keys or ["../w"], requires=["members"], members=members),
    )


def tree_file(tree: Any) -> Callable[[Forge], Path]:
    """Return what writes a file of version 1 with a tree."""
    return lambda f: f.write(f.tensor(), f.header(tree=tree))


def requires_file(*requires: Any, **fields: Any) -> Callable[[Forge], Path]:
    """Return what writes a file that requires these features."""
    return lambda f: f.write(f.tensor(), f.header(version=2, requires=list(requires), **fields))


CASES: dict[str, tuple[str, Callable[[Forge], Path]]] = {
    "no requires": ("G1", lambda f: f.write(f.tensor(), f.header(version=2))),
    "requires a text": (
        "G1", lambda f: f.write(f.tensor(), f.header(version=2, requires="views"))
    ),
    "requires a number": ("G1", requires_file(1)),
    "unknown feature": ("G1", requires_file("quantum")),
    "reserved feature": ("G1", requires_file("unfilled", unfilled=["w"])),
    "required and absent": ("G1", requires_file("views")),
    "present and not required": ("G1", view_file(requires=[])),
    "required twice": ("G1", view_file(requires=["views", "views"])),
    "no views": ("G2", view_file(views={})),
    "views are a list": ("G2", view_file(views=[])),
    "a view is a list": ("G2", view_file(views={"v": []})),
    "a field is missing": ("G2", view_file({"offset": ...})),
    "a field too many": ("G2", view_file({"more": 1})),
    "storage is a number": ("G2", view_file({"storage": 7})),
    "unknown storage": ("G2", view_file({"storage": "x"})),
    "storage is a view": ("G2", view_file({"storage": "v"})),
    "strides do not fit": ("G2", view_file({"strides": [4, 4]})),
    "65 axes": ("G2", view_file({"shape": [1] * 65, "strides": [4] * 65})),
    "a length of -1": ("G2", view_file({"shape": [-1]})),
    "a length of true": ("G2", view_file({"shape": [True]})),
    "a length of 1.0": ("G2", view_file({"shape": [1.0]})),
    "shape is a text": ("G2", view_file({"shape": "3"})),
    "a stride of 2**63": ("G2", view_file({"strides": [2**63]})),
    "offset of -4": ("G2", view_file({"offset": -4})),
    "offset of 1.0": ("G2", view_file({"offset": 1.0})),
    "one byte too far": ("G2", view_file({"offset": 13})),
    "far behind": ("G2", view_file({"offset": 2**62})),
    "one byte too early": ("G2", view_file({"strides": [-4], "offset": 7})),
    "stride over the end": ("G2", view_file({"strides": [8]})),
    "in the header's bytes": ("G2", view_file({"offset": 100})),
    "empty and outside": ("G2", view_file({"shape": [0], "offset": 25})),
    "larger than any memory": ("G2", view_file({"shape": [2**62], "strides": [0]})),
    "wraps to zero": ("G2", view_file({"shape": [2**32, 2**32], "strides": [0, 0]})),
    "shows too much": ("G2", view_file({"shape": [10**6], "strides": [0]})),
    "unknown order": ("G2", view_file({"order": "<"})),
    "order of bytes": ("G2", view_file({"dtype": "uint8", "order": ">"})),
    "storage of floats": ("G2", storage_file(PAIRS % "<f4", 24)),
    "storage is short": ("G2", storage_file(BYTES % 11, 11)),
    "storage is a table": (
        "G2", storage_file("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 6), }", 12)
    ),
    "storage is packed": (
        "G2",
        dtype_file(
            "|u1", "int4", ["int4 2,6 171", "uint8 3 171"], keys=["w", "v"],
            requires=["dtypes", "views"], views={"v": VIEW | {"dtype": "uint8", "offset": 0}},
        ),
    ),
    "view of an unlisted key": ("G3", view_file(keys=["w"])),
    "view with a member": (
        "G3",
        lambda f: f.write(
            f.tensor(), f.tensor(key="v"),
            f.header(version=2, keys=["w", "v"], requires=["views"], views={"v": VIEW}),
        ),
    ),
    "storage without a user": (
        "G3",
        lambda f: f.write(
            f.tensor(), f.part("storages/0.npy", f.npy(BYTES % 4, bytes(4))),
            f.header(version=2, keys=["w", "v"], requires=["views"], views={"v": VIEW}),
        ),
    ),
    "storage is missing": ("C7", view_file({"storage": "storages/0"})),
    "odd number of a storage": ("G2", view_file({"storage": "storages/00"})),
    "unknown dtype of a view": ("G4", view_file({"dtype": "float128"})),
    "dtype of a view is a list": ("G4", view_file({"dtype": ["float32"]})),
    "no dtypes": ("G4", dtype_file("<u2", "bfloat16", dtypes={})),
    "dtypes are a list": ("G4", dtype_file("<u2", "bfloat16", dtypes=["w"])),
    "unknown logical dtype": ("G4", dtype_file("<u2", "posit16")),
    "plain dtype as a logical one": ("G4", dtype_file("<f4", "float32")),
    "dtype of an unlisted key": ("G4", dtype_file("<u2", "bfloat16", dtypes={"x": "bfloat16"})),
    "dtype of a view": (
        "G4", view_file(requires=["dtypes", "views"], dtypes={"v": "bfloat16"})
    ),
    "carrier too narrow": ("G4", dtype_file("|u1", "bfloat16")),
    "carrier too wide": ("G4", dtype_file("<u2", "float8_e5m2")),
    "carrier with a sign": ("G4", dtype_file("<i2", "bfloat16")),
    "carrier of the other order": ("G4", dtype_file(">u2", "bfloat16")),
    "packed without an index": ("G4", dtype_file("|u1", "int4")),
    "packed and too long": ("G4", dtype_file("|u1", "int4", ["int4 2,7 171"])),
    "packed and too short": ("G4", dtype_file("|u1", "int4", ["int4 2,4 171"])),
    "packed flat with axes": ("G4", dtype_file("|u1", "float6_e2m3fn", ["float6_e2m3fn 8 171"])),
    "leaf of no key": ("G5", tree_file({"$array": "x"})),
    "leaf of a number": ("G5", tree_file({"$array": 1})),
    "unknown tag": ("G5", tree_file({"$set": []})),
    "tag beside a key": ("G5", tree_file({"$array": "w", "x": 1})),
    "tuple of a text": ("G5", tree_file({"$tuple": "w"})),
    "dict of no pairs": ("G5", tree_file({"$dict": [["w"]]})),
    "dict with a float as key": ("G5", tree_file({"$dict": [[1.0, None]]})),
    "dict with a list as key": ("G5", tree_file({"$dict": [[[], None]]})),
    "dict with a key twice": ("G5", tree_file({"$dict": [[1, None], [1, None]]})),
    "unknown float": ("G5", tree_file({"$float": "NAN"})),
    "float of a list": ("G5", tree_file({"$float": []})),
    "complex of three": ("G5", tree_file({"$complex": [1.0, 2.0, 3.0]})),
    "complex of texts": ("G5", tree_file({"$complex": ["1", "2"]})),
    "bytes that are none": ("G5", tree_file({"$bytes": "?"})),
    "wrong leaf far below": ("G5", tree_file([[{"a": {"$tuple": [{"$array": "x"}]}}]])),
    "too deep a tree": ("C2", tree_file([DEEP])),
    "too many values": ("G5", tree_file([0] * (2**20 + 1))),
    "no members": ("G6", members_file({})),
    "members are a list": ("G6", members_file(["../w"])),
    "member of an unlisted key": ("G6", members_file({"../x": "escaped/0.npy"})),
    "wrong number": ("G6", members_file({"../w": "escaped/1.npy"}, name="escaped/1.npy")),
    "padded number": ("G6", members_file({"../w": "escaped/00.npy"}, name="escaped/00.npy")),
    "another folder": ("G6", members_file({"../w": "tensors/w.npy"}, name="tensors/w.npy")),
    "a number as member": ("G6", members_file({"../w": 0})),
    "needs no escape": ("G6", members_file({"w": "escaped/0.npy"}, keys=["w"])),
    "member of a view": (
        "G6", view_file(requires=["views", "members"], members={"v": "escaped/1.npy"})
    ),
    "escaped and unlisted": (
        "C7", lambda f: f.write(f.part("escaped/0.npy", f.npy()), f.header(keys=["../w"]))
    ),
    "index of a view": ("D11", view_file(index=["float32 2,3 158", "float32 4 170"])),
}  # fmt: skip

SOUND: dict[str, Callable[[Forge], Path]] = {
    "view": view_file(),
    "negative stride": view_file({"strides": [-4], "offset": 20}),
    "repeated value": view_file({"strides": [0], "shape": [100]}),
    "not aligned": view_file({"offset": 11}),
    "empty at the end": view_file({"shape": [0], "offset": 24}),
    "view of bits": view_file({"dtype": "float8_e5m2"}),
    "big-endian view": view_file({"order": ">"}),
    "scalar": view_file({"shape": [], "strides": []}),
    "storage without a key": storage_file(BYTES % 12, 12),
    "64 axes": view_file({"shape": [1] * 64, "strides": [2**62] * 64}),
    "bfloat16": dtype_file("<u2", "bfloat16"),
    "escaped": members_file({"../w": "escaped/0.npy"}),
    "tree": tree_file([{"$array": "w"}, {"$$array": {"$complex": [1.0, {"$float": "nan"}]}}]),
    "fields of version 2 in version 1": lambda f: f.write(
        f.tensor(), f.header(requires=["quantum"], views=7, dtypes=[], members=None)
    ),
}
