"""A forge for archives: every field of every record can be set, right or wrong."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

LOCAL = "<4s5H3I2H"
CENTRAL = "<4s6H3I5H2I"
END = "<4s4H2IH"
ZIP64_END = "<4sQ2H2I4Q"
ZIP64_LOCATOR = "<4sIQI"


def npy(
    text: str | None = None, data: bytes = b"\0" * 24, *, version: bytes = b"\x01\x00"
) -> bytes:
    """Return a `.npy` array whose header is `text`, padded as NumPy does."""
    if text is None:
        text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
    width = 2 if version[0] == 1 else 4
    text += " " * (-(8 + width + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(width, "little") + text.encode() + data


@dataclass(frozen=True)
class Part:
    """One member. `local` and `central` replace fields of its two headers, by name."""

    name: bytes
    data: bytes
    deflate: bool = False
    packed: bytes | None = None
    local: dict[str, Any] = field(default_factory=dict)  # Any: a number or bytes
    central: dict[str, Any] = field(default_factory=dict)  # Any: a number or bytes
    local_extra: bytes = b""
    central_extra: bytes = b""
    comment: bytes = b""
    gap: bytes = b""


class Forge:
    """Builds archives in a folder; whatever is not given is right."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def part(self, name: str, data: bytes, **fields: Any) -> Part:  # Any: fields of Part
        return Part(name.encode(), data, **fields)

    def header(self, keys: list[Any] | None = None, **fields: Any) -> Part:  # Any: JSON
        document = {
            "format": "vkml-checkpoint",
            "version": 1,
            "keys": ["w"] if keys is None else keys,
            "metadata": {},
        } | fields
        return self.json(json.dumps({k: v for k, v in document.items() if v is not ...}).encode())

    def json(self, data: bytes) -> Part:
        return Part(b"vkml.json", data)

    def tensor(self, data: bytes | None = None, key: str = "w", **fields: Any) -> Part:
        return self.part(f"tensors/{key}.npy", npy() if data is None else data, **fields)

    def npy(self, *arguments: Any, **options: Any) -> bytes:
        return npy(*arguments, **options)

    def write(self, *parts: Part, **end: Any) -> Path:  # Any: see archive
        path = self.folder / "forged.vkml"
        path.write_bytes(self.archive(*parts, **end))
        return path

    def archive(
        self,
        *parts: Part,
        end: dict[str, int] | None = None,
        zip64: dict[str, int] | None = None,
        locator: dict[str, int] | None = None,
        directory_tail: bytes = b"",
    ) -> bytes:
        """Return an archive of `parts`; the dicts replace fields of the end records."""
        body, directory = b"", b""
        for part in parts or (self.tensor(), self.header()):
            body += part.gap
            local, central, packed = _headers(part, len(body))
            body += local + packed
            directory += central
        count = len(parts) or 2
        directory += directory_tail
        plain = {
            "disk": 0, "directory_disk": 0, "here": count, "count": count,
            "size": len(directory), "offset": len(body), "comment": 0,
        }  # fmt: skip
        tail = b""
        if zip64 is not None:
            record = {
                "record_size": 44, "made_by": 45, "needed": 45, "disk": 0, "directory_disk": 0,
                "here": count, "count": count, "size": len(directory), "offset": len(body),
            } | zip64  # fmt: skip
            tail += struct.pack(ZIP64_END, b"PK\x06\x06", *record.values())
            pointer = {"disk": 0, "offset": len(body + directory), "disks": 1} | (locator or {})
            tail += struct.pack(ZIP64_LOCATOR, b"PK\x06\x07", *pointer.values())
        tail += struct.pack(END, b"PK\x05\x06", *(plain | (end or {})).values())
        return body + directory + tail


def _headers(part: Part, offset: int) -> tuple[bytes, bytes, bytes]:
    packed = part.data
    if part.deflate:
        packer = zlib.compressobj(9, wbits=-15)
        packed = packer.compress(part.data) + packer.flush()
    if part.packed is not None:
        packed = part.packed
    shared: dict[str, Any] = {  # Any: numbers, and bytes in the records below
        "needed": 20,
        "flags": 0 if part.name.isascii() else 0x800,
        "method": 8 if part.deflate else 0,
        "time": 0,
        "date": 0x21,
        "crc": zlib.crc32(part.data),
        "stored": len(packed),
        "size": len(part.data),
        "name_length": len(part.name),
    }
    local = shared | {"extra_length": len(part.local_extra), "name": part.name} | part.local
    central = shared | {
        "extra_length": len(part.central_extra),
        "comment_length": len(part.comment),
        "disk": 0,
        "internal": 0,
        "external": 0,
        "offset": offset,
        "name": part.name,
        "signature": b"PK\x01\x02",
        "made_by": 20,
    } | part.central  # fmt: skip
    signature = local.pop("signature", b"PK\x03\x04")
    name = local.pop("name")
    local_bytes = struct.pack(LOCAL, signature, *local.values()) + name + part.local_extra
    name, signature, made_by = (central.pop(k) for k in ("name", "signature", "made_by"))
    central_bytes = struct.pack(CENTRAL, signature, made_by, *central.values())
    return local_bytes, central_bytes + name + part.central_extra + part.comment, packed
