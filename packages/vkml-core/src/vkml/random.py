"""Sources of random numbers: a seed, and how many draws were made from it.

Random numbers are computed from the seed, the number of the draw (the offset) and the place in the
tensor, by the operations of `vkml.ops.random`. Nothing else decides, so the same seed gives the
same numbers on every device, and NumPy's own random state is neither used nor changed.
"""

from __future__ import annotations

import secrets
import struct
import threading
from operator import index
from typing import Any, Final

import numpy as np

from vkml.errors import ArgumentError
from vkml.ops.from_data import tensor
from vkml.tensor import Tensor

__all__ = [
    "Generator",
    "default_generator",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]

_WORD: Final = 2**64
_STATE: Final = struct.Struct("<QQ")


class Generator:
    """A source of random numbers: pass it as ``generator=`` to the functions that draw.

    Parameters
    ----------
    seed : int, optional
        Where to start; by default a number that the operating system makes up.

    Examples
    --------
    >>> import vkml
    >>> first = vkml.rand(2, generator=vkml.Generator(42))
    >>> vkml.equal(first, vkml.rand(2, generator=vkml.Generator(42)))
    True
    """

    def __init__(self, seed: int | None = None) -> None:
        self._lock = threading.Lock()
        self._seed = secrets.randbits(64) if seed is None else _checked(seed)
        self._offset = 0

    def take(self) -> tuple[int, int]:
        """Return the seed and the offset of one draw, and move on to the next. Thread-safe."""
        with self._lock:
            taken = self._seed, self._offset
            self._offset = (self._offset + 1) % _WORD
        return taken

    def manual_seed(self, seed: int) -> Generator:
        """Start anew from `seed`, and return this generator.

        Raises
        ------
        ArgumentError
            `seed` does not fit in 64 bits.
        """
        number = _checked(seed)
        with self._lock:
            self._seed, self._offset = number, 0
        return self

    def initial_seed(self) -> int:
        """Return the seed that this generator started from."""
        return self._seed

    def seed(self) -> int:
        """Start anew from a number that the operating system makes up, and return it."""
        number = secrets.randbits(64)
        self.manual_seed(number)
        return number

    def get_state(self) -> Tensor:
        """Return the seed and the offset as 16 bytes, little-endian, in a tensor of uint8."""
        with self._lock:
            state = _STATE.pack(self._seed, self._offset)
        return tensor(np.frombuffer(state, np.uint8))

    def set_state(self, state: Tensor) -> Generator:
        """Continue from what `get_state` returned, and return this generator.

        Raises
        ------
        ArgumentError
            `state` is not what `get_state` returns.
        """
        if state.dtype.name != "uint8" or state.shape != (_STATE.size,):
            message = (
                f"set_state: expected {_STATE.size} bytes of uint8, as get_state returns them, got "
                f"{state.dtype} of shape {state.shape}."
            )
            raise ArgumentError(message)
        found = _STATE.unpack(state.numpy(force=True).tobytes())
        with self._lock:
            self._seed, self._offset = found
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            return _rebuilt, (self._seed, self._offset)

    def __repr__(self) -> str:
        return f"<vkml.Generator seed={self._seed} offset={self._offset}>"


def _rebuilt(seed: int, offset: int) -> Generator:
    generator = Generator(seed)
    generator._offset = offset
    return generator


def _checked(seed: int) -> int:
    try:
        seed = index(seed)
    except TypeError:
        message = f"a seed is an integer, not a {type(seed).__name__}; give 0 to 2**64 - 1."
        raise ArgumentError(message) from None
    if not -_WORD // 2 <= seed < _WORD:
        raise ArgumentError(f"seed {seed} does not fit in 64 bits; give 0 to 2**64 - 1.")
    return seed % _WORD  # negative seeds count from the end, as in PyTorch


default_generator: Final = Generator()
"""What is drawn from where no other generator is given."""


def manual_seed(seed: int) -> Generator:
    """Start the default generator anew from `seed`, and return it.

    Examples
    --------
    >>> import vkml
    >>> vkml.manual_seed(42)
    <vkml.Generator seed=42 offset=0>
    >>> vkml.rand(2)
    tensor([0.6130, 0.9877])
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Start the default generator anew from a number that the system makes up; return that."""
    return default_generator.seed()


def initial_seed() -> int:
    """Return the seed that the default generator started from.

    Examples
    --------
    >>> import vkml
    >>> generator = vkml.manual_seed(7)
    >>> vkml.initial_seed()
    7
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Return the state of the default generator, for checkpoints.

    Examples
    --------
    >>> import vkml
    >>> state = vkml.get_rng_state()
    >>> first = vkml.rand(3)
    >>> vkml.set_rng_state(state)
    >>> vkml.equal(first, vkml.rand(3))
    True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Let the default generator continue from what `get_rng_state` returned."""
    default_generator.set_state(new_state)
