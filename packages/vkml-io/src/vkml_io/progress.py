"""How far a long piece of work has come."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """What a function given as `progress=` is called with.

    Attributes
    ----------
    done : int
        Bytes of arrays that are done. It never falls, and ends at `total`.
    total : int
        Bytes of all arrays that take part.
    key : str
        The array that was worked on last.

    Examples
    --------
    >>> import numpy as np, vkml_io
    >>> arrays = {"a": np.zeros(2), "b": np.zeros(6)}
    >>> vkml_io.save("model.vkml", arrays, progress=lambda p: print(p.key, p.done, p.total))
    a 16 64
    b 64 64
    """

    done: int
    total: int
    key: str
