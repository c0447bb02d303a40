"""Hostile files, written from docs/format.md: for each check, files that only it refuses.

``python hostile_files.py FOLDER`` writes all of them.
"""

from __future__ import annotations

import os
import struct
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from forge import Forge

if TYPE_CHECKING:
    from collections.abc import Callable

EXTRA_ZIP64 = struct.pack("<2HQ", 1, 8, 0)
F4 = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }"


def _with_bytes(change: Callable[[bytes], bytes]) -> Callable[[Forge], Path]:
    def build(f: Forge) -> Path:
        path = f.write()
        path.write_bytes(change(path.read_bytes()))
        return path

    return build


def _central(**fields: Any) -> Callable[[Forge], Path]:  # Any: fields of a record
    return lambda f: f.write(f.tensor(central=fields), f.header())


def _local(**fields: Any) -> Callable[[Forge], Path]:  # Any: fields of a record
    return lambda f: f.write(f.tensor(local=fields), f.header())


def _both(**fields: Any) -> Callable[[Forge], Path]:  # Any: fields of a record
    return lambda f: f.write(f.tensor(central=fields, local=fields), f.header())


def _json(text: str | bytes) -> Callable[[Forge], Path]:
    data = text if isinstance(text, bytes) else text.encode()
    return lambda f: f.write(f.tensor(), f.json(data))


def _metadata(text: str) -> Callable[[Forge], Path]:
    return _json(
        f'{{"format":"vkml-checkpoint","version":1,"keys":["w"],"metadata":{{"m":{text}}}}}'
    )


def _header(**fields: Any) -> Callable[[Forge], Path]:  # Any: JSON
    return lambda f: f.write(f.tensor(), f.header(**fields))


def _named(name: str, **central: Any) -> Callable[[Forge], Path]:  # Any: fields of a record
    return lambda f: f.write(
        f.part(f"tensors/{name}.npy", f.npy(), central=central), f.header([name])
    )


def _npy(*arguments: Any, **options: Any) -> Callable[[Forge], Path]:  # Any: see Forge.npy
    return lambda f: f.write(f.tensor(f.npy(*arguments, **options)), f.header())


def _raw(data: bytes) -> Callable[[Forge], Path]:
    return lambda f: f.write(f.tensor(data), f.header())


def _descr(descr: str) -> Callable[[Forge], Path]:
    return _npy(f"{{'descr': {descr}, 'fortran_order': False, 'shape': (2, 3), }}")


def _deflated(**fields: Any) -> Callable[[Forge], Path]:  # Any: fields of Part
    return lambda f: f.write(f.tensor(deflate=True, **fields), f.header())


def _deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def _packed(change: Callable[[bytes], bytes]) -> Callable[[Forge], Path]:
    return lambda f: f.write(f.tensor(deflate=True, packed=change(_deflate(f.npy()))), f.header())


def _folder(f: Forge) -> Path:
    path = f.folder / "folder.vkml"
    path.mkdir()
    return path


def _pipe(f: Forge) -> Path:
    path = f.folder / "pipe.vkml"
    os.mkfifo(path)
    return path


CASES: dict[str, tuple[str, Callable[[Forge], Path]]] = {
    "a folder": ("A1", _folder),
    "a pipe": ("A1", _pipe),
    "empty file": ("A2", _with_bytes(lambda b: b[:0])),
    "bytes before the archive": ("B1", _with_bytes(lambda b: b"#!/bin/sh\n" + b)),
    "cut by one byte": ("B2", _with_bytes(lambda b: b[:-1])),
    "bytes after the archive": ("B2", _with_bytes(lambda b: b + b"\0")),
    "archive comment": ("B2", lambda f: f.write(end={"comment": 1})),
    "two disks": ("B3", lambda f: f.write(end={"disk": 1})),
    "counts disagree": ("B3", lambda f: f.write(end={"here": 1})),
    "zip64 wanted and absent": ("B4", lambda f: f.write(end={"offset": 0xFFFFFFFF})),
    "zip64 record of another size": ("B4", lambda f: f.write(zip64={"record_size": 45})),
    "zip64 count disagrees": ("B4", lambda f: f.write(zip64={"here": 3, "count": 3})),
    "zip64 locator points elsewhere": (
        "B4",
        lambda f: f.write(zip64={}, locator={"offset": 5}),
    ),
    "zip64 locator of two disks": ("B4", lambda f: f.write(zip64={}, locator={"disks": 2})),
    "directory elsewhere": ("B5", lambda f: f.write(end={"offset": 1})),
    "two archives": ("B5", _with_bytes(lambda b: b + b)),
    "more members than room": ("B6", lambda f: f.write(end={"here": 999, "count": 999})),
    "directory longer than its records": ("B7", lambda f: f.write(directory_tail=b"\0" * 46)),
    "directory record of another kind": ("B7", _central(signature=b"PK\x01\x03")),
    "one record too many": (
        "B7",
        lambda f: f.write(end={"here": 1, "count": 1}),
    ),
    "encrypted": ("B8", _both(flags=1)),
    "data descriptor": ("B8", _both(flags=8)),
    "deflate flag on a stored member": ("B8", _both(flags=2)),
    "version 46": ("B8", _central(needed=46)),
    "method 14": ("B9", _both(method=14)),
    "stored with two sizes": ("B9", _central(stored=10)),
    "name with a parent folder": ("B10", _named("../w")),
    "name with an empty component": ("B10", _named("a//b")),
    "name with a newline": ("B10", _named("a\nb")),
    "name with a backslash": ("B10", _named("a\\b")),
    "name without its UTF-8 flag": ("B10", _named("é", flags=0)),
    "UTF-8 flag on an ASCII name": ("B10", _both(flags=0x800)),
    "name that is no UTF-8": (
        "B10",
        lambda f: f.write(f.tensor(central={"name": b"tensors/\xff.npy", "name_length": 13})),
    ),
    "two members of one name": ("B11", lambda f: f.write(f.tensor(), f.tensor(), f.header())),
    "extra field too long": (
        "B12",
        lambda f: f.write(f.tensor(central_extra=b"\x01\x99\xff\xff"), f.header()),
    ),
    "extra field cut": ("B12", lambda f: f.write(f.tensor(central_extra=b"\x01"), f.header())),
    "zip64 field without need": (
        "B12",
        lambda f: f.write(f.tensor(central_extra=EXTRA_ZIP64), f.header()),
    ),
    "zip64 field twice": (
        "B12",
        lambda f: f.write(f.tensor(central_extra=2 * EXTRA_ZIP64), f.header()),
    ),
    "zip64 field absent": ("B12", _central(size=0xFFFFFFFF, stored=0xFFFFFFFF)),
    "another name in an extra field": (
        "B12",
        lambda f: f.write(f.tensor(central_extra=b"\x75\x70\x00\x00"), f.header()),
    ),
    "symlink": ("B13", _central(external=0o120777 << 16)),
    "directory": ("B13", _central(external=0x10)),
    "member comment": ("B14", lambda f: f.write(f.tensor(comment=b"hi"), f.header())),
    "member on disk 1": ("B14", _central(disk=1)),
    "member past the directory": ("B15", _central(stored=10**6, size=10**6)),
    "header in the directory": ("B15", _central(offset=10**6)),
    "local header with another name": ("B16", _local(name=b"tensors/v.npy")),
    "local header with another CRC": ("B16", _local(crc=1)),
    "local header with another size": ("B16", _local(size=5)),
    "local header with flags": ("B16", _local(flags=8)),
    "no local header": (
        "B16",
        lambda f: f.write(
            f.tensor(key="a"), f.tensor(local={"signature": b"PK\3\5"}), f.header(["a", "w"])
        ),
    ),
    "local extra field cut": (
        "B16",
        lambda f: f.write(f.tensor(local_extra=b"\x01"), f.header()),
    ),
    "gap": ("B16", lambda f: f.write(f.tensor(), _after_a_gap(f))),
    "unlisted first member": ("B16", lambda f: _without_first_record(f)),
    "overlap": ("B16", lambda f: f.write(f.tensor(), _at_zero(f), f.header(["w", "v"]))),
    "deflate bomb": (
        "B17",
        lambda f: f.write(f.tensor(f.npy(F4 % "(1000000,)", bytes(4_000_000)), deflate=True),
                          f.header()),
    ),
    "no vkml.json": ("B19", lambda f: f.write(f.tensor())),
    "vkml.json damaged": ("C1", lambda f: f.write(f.tensor(), _damaged_header(f))),
    "no JSON": ("C2", _json("{")),
    "byte order mark": ("C2", _json(b"\xef\xbb\xbf{}")),
    "white space first": ("C2", _json(" {}")),
    "no UTF-8": ("C2", _json(b'{"a": "\xff"}')),
    "two documents": ("C2", _json("{}{}")),
    "nested too deep": ("C2", _metadata("[" * 63 + "]" * 63)),
    "nested far too deep": ("C2", _metadata("[" * 99999 + "]" * 99999)),
    "float too large": ("C3", _metadata("1e999")),
    "long integer": ("C3", _metadata("1" * 1001)),
    "NaN outside the metadata": ("C3", _json(b'{"format":"vkml-checkpoint","version":1,'
                                             b'"keys":["w"],"metadata":{},"x":[NaN]}')),
    "field given twice": ("C4", _metadata('{"a": 1, "a": 2}')),
    "escapes that collide": ("C4", _metadata('{"$$a": 1, "$a": 2}')),
    "lone surrogate": ("C5", _metadata('"\\ud800"')),
    "lone surrogate in a name": ("C5", _metadata('{"\\udfff": 1}')),
    "a list": ("C6", _json("[]")),
    "another format": ("C6", _header(format="zip")),
    "no version": ("C6", _header(version=...)),
    "version True": ("C6", _header(version=True)),
    "version 0": ("C6", _header(version=0)),
    "version 3": ("C6", _header(version=3)),
    "keys of numbers": ("C6", _header(keys=[1])),
    "a key twice": ("C6", _header(keys=["w", "w"])),
    "an empty key": ("C6", _named("")),
    "metadata null": ("C6", _header(metadata=None)),
    "a missing member": ("C7", _header(keys=["w", "v"])),
    "an extra member": ("C7", _header(keys=[])),
    "one digest too many": ("C8", _header(sha256=["0" * 64] * 2)),
    "a digest in capitals": ("C8", _header(sha256=["A" * 64])),
    "an index of two": ("C9", _header(index=["float32 2,3 171"] * 2)),
    "an index entry without offset": ("C9", _header(index=["float32 2,3"])),
    "an index entry with a newline": ("C9", _header(index=["float32 2,3 171\nbool  9"])),
    "an index of numbers": ("C9", _header(index=[3])),
    "an index outside its member": ("C9", _header(index=["float32 2,3 9999"])),
    "no .npy": ("D1", _raw(b"PK\x03\x04" + b"\0" * 60)),
    "a member of three bytes": ("D1", _raw(b"\x93NU")),
    ".npy version 4": ("D1", _npy(version=b"\x04\x00")),
    "header cut": ("D2", _raw(b"\x93NUMPY\x01\x00v")),
    "header longer than its member": ("D2", _raw(b"\x93NUMPY\x01\x00\xff\x00" + b" " * 20)),
    "header over the limit": ("D2", _npy(F4 % "(2, 3)" + " " * 11000)),
    "deflated member of three bytes": (
        "D1", lambda f: f.write(f.tensor(b"\x93NU", deflate=True), f.header())),
    "object dtype": ("D3", _descr("'|O'")),
    "structured dtype": ("D3", _descr("[('a', '<f4')]")),
    "text": ("D3", _descr("'<U8'")),
    "long double": ("D3", _descr("'<f16'")),
    "native byte order": ("D3", _descr("'=f4'")),
    "arithmetic in the shape": ("D3", _npy(F4 % "(1+1, 3)")),
    "negative length": ("D4", _npy(F4 % "(-2, -3)")),
    "a list for a shape": ("D4", _npy(F4 % "[2, 3]")),
    "a length with a leading zero": ("D4", _npy(F4 % "(02, 3)")),
    "33 dimensions": ("D4", _npy(F4 % f"({', '.join(['1'] * 33)})", bytes(4))),
    "a fourth field": ("D4", _npy(F4.replace(", }", ", 'x': 1, }") % "(2, 3)")),
    "a product that wraps": ("D5", _npy(F4 % "(4294967296, 4294967296)")),
    "a length of 30 digits": ("D5", _npy(F4 % f"({'9' * 30},)")),
    "an empty array of vast rows": ("D5", _npy(F4 % "(0, 4611686018427387904)", b"")),
    "one value too few": ("D6", _npy(data=b"\0" * 20)),
    "bytes after the array": ("D6", _npy(data=b"\0" * 28)),
    "deflate stream too long": ("D8", _packed(lambda b: b + b"\0")),
    "deflate stream without an end": ("D8", _packed(lambda b: b[:-1])),
    "noise for a deflate stream": ("D8", _packed(lambda b: b"\xff" * len(b))),
    "deflate stream that holds more": (
        "D8", _deflated(central={"size": 100}, local={"size": 100})),
    "deflate stream that holds less": (
        "D8",
        lambda f: f.write(
            f.tensor(deflate=True, packed=_deflate(f.npy()[:-4])), f.header()
        ),
    ),
    "CRC": ("D9", _both(crc=1)),
    "CRC of a deflated member": ("D9", _deflated(central={"crc": 1}, local={"crc": 1})),
    "a bool of 2": (
        "D10", _npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", b"\x01\x02")),
    "an index with another dtype": ("D11", _header(index=["int32 2,3 171"])),
    "an index with another place": ("D11", _header(index=["float32 2,3 170"])),
}  # fmt: skip


def _after_a_gap(f: Forge) -> Any:  # Any: a Part
    return replace(f.header(), gap=b"hidden")


def _at_zero(f: Forge) -> Any:  # Any: a Part
    return f.tensor(key="v", central={"offset": 0})


def _damaged_header(f: Forge) -> Any:  # Any: a Part
    return replace(f.header(), central={"crc": 1}, local={"crc": 1})


def _without_first_record(f: Forge) -> Path:
    whole = f.archive(f.tensor(key="a"), f.tensor(), f.header())
    start = whole.index(b"PK\x01\x02")
    record = 46 + len("tensors/a.npy")
    end = bytearray(whole[-22:])
    size = struct.unpack_from("<I", end, 12)[0]
    struct.pack_into("<2HI", end, 8, 2, 2, size - record)
    path = f.folder / "forged.vkml"
    path.write_bytes(whole[:start] + whole[start + record : -22] + end)
    return path


def write_all(folder: Path) -> list[Path]:
    """Write every hostile file, and the one sound file that they are made from."""
    paths = [folder / "sound.vkml"]
    with TemporaryDirectory() as workshop:
        paths[0].write_bytes(Forge(Path(workshop)).write().read_bytes())
        for number, (name, (code, build)) in enumerate(CASES.items()):
            made = build(Forge(Path(workshop)))
            if made.is_file():  # and no FIFO or folder
                paths.append(folder / f"{number:03}-{code}-{name.replace(' ', '-')}.vkml")
                paths[-1].write_bytes(made.read_bytes())
    return paths


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    sys.stdout.write(f"{len(write_all(target))} files in {target}\n")
