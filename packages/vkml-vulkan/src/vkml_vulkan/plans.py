"""What kernels have prepared, by the forms of their operands."""

from __future__ import annotations

from typing import Final, TypeVar

Key = TypeVar("Key")
Prepared = TypeVar("Prepared")

_MOST_PLANS: Final = 4096
"""Of one kernel. A program with ever-new shapes would otherwise fill the host's memory."""


class Plans(dict[Key, Prepared]):
    """A dictionary that begins anew when it has grown too large; looking up costs nothing more."""

    def __setitem__(self, key: Key, prepared: Prepared) -> None:
        if len(self) >= _MOST_PLANS:
            self.clear()
        super().__setitem__(key, prepared)
