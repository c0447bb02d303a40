"""The extra fields of ZIP headers (B12)."""

from __future__ import annotations

import struct

from vkml_io.format import EXTRA_HEADER, EXTRA_REFUSED, EXTRA_ZIP64


def zip64_values(extra: bytes, count: int) -> tuple[int, ...]:
    """Return the values of the zip64 field, of which there must be exactly `count`.

    Raises
    ------
    ValueError
        The fields do not parse, or one is refused; the message says which.
    """
    found: bytes | None = None
    position = 0
    while position < len(extra):
        if position + EXTRA_HEADER.size > len(extra):
            raise ValueError("an extra field is cut")
        field, size = EXTRA_HEADER.unpack_from(extra, position)
        position += EXTRA_HEADER.size
        if position + size > len(extra):
            raise ValueError("an extra field is longer than the extra area")
        if field in EXTRA_REFUSED:
            raise ValueError(f"extra field 0x{field:04x} (another name, or encryption)")
        if field == EXTRA_ZIP64:
            if found is not None:
                raise ValueError("two zip64 fields")
            found = extra[position : position + size]
        position += size
    if len(found or b"") != 8 * count:
        raise ValueError(f"a zip64 field of {len(found or b'')} bytes where {8 * count} are needed")
    return struct.unpack(f"<{count}Q", found or b"")
