"""What kernels have prepared, by the forms of their operands and by options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

Prepared = TypeVar("Prepared")

_MOST_PLANS: Final = 4096
"""Of one kernel. A program with ever-new shapes would otherwise fill the host's memory."""


class Plans(dict[tuple[Any, ...], Prepared]):
    """``plans[key]`` is ``prepare(*key)``, made when first asked for; None may be one.

    Where they have become too many, they begin anew.
    """

    def __init__(self, prepare: Callable[..., Prepared]) -> None:
        super().__init__()
        self._prepare = prepare

    def __missing__(self, key: tuple[Any, ...]) -> Prepared:
        prepared = self._prepare(*key)
        if len(self) >= _MOST_PLANS:
            self.clear()
        self[key] = prepared
        return prepared
