"""The checksums of a member: CRC-32 always, SHA-256 on request (D9)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from vkml_io.crc32 import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vkml_io.platform import Buffer


class Checksums:
    """CRC-32 and, on request, SHA-256 of bytes that come in parts."""

    def __init__(self, parts: Iterable[Buffer], *, sha256: bool) -> None:
        self.crc32 = 0
        self._digest = hashlib.sha256() if sha256 else None
        for part in parts:
            self.update(part)

    def update(self, part: Buffer) -> None:
        """Take the next bytes."""
        self.crc32 = crc32(part, self.crc32)
        if self._digest is not None:
            self._digest.update(part)

    @property
    def sha256(self) -> str | None:
        """The digest in hexadecimal, if it was asked for."""
        return None if self._digest is None else self._digest.hexdigest()
