"""`config`: what `save`, `load` and the files for PyTorch do where a call says nothing.

The names are those of ``torch.utils.serialization.config``.
"""

from __future__ import annotations

import mmap
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from vkml_io.aliases import Mmap

Endianness: TypeAlias = Literal["native", "little", "big"]

_LARGEST_ALIGNMENT = 2**15  # the extra field of a ZIP header pads no further
_MAP_PRIVATE: int = getattr(mmap, "MAP_PRIVATE", 2)  # Windows has no such constant
_MAP_SHARED: int = getattr(mmap, "MAP_SHARED", 1)

# Any in this module: an option is a bool, a number or a word.
_Values: TypeAlias = Mapping[str, Any]

# Set by `patch` for the code that runs inside its block: no other thread or task sees it.
_patched: ContextVar[_Values] = ContextVar("vkml_io.config", default=MappingProxyType({}))


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_alignment(value: Any) -> bool:
    fits = type(value) is int and 1 <= value <= _LARGEST_ALIGNMENT
    return fits and value & (value - 1) == 0


# The default of each option, whether a value is allowed, and which are.
_OPTIONS: dict[str, tuple[Any, Callable[[Any], bool], str]] = {
    "save.compute_crc32": (True, _is_bool, "True or False"),
    "save.storage_alignment": (64, _is_alignment, f"a power of two up to {_LARGEST_ALIGNMENT}"),
    "save.use_pinned_memory_for_d2h": (False, _is_bool, "True or False"),
    "load.mmap": (False, lambda value: _is_bool(value) or value == "c", "True, False or 'c'"),
    "load.endianness": (
        "native",
        lambda value: value in ("native", "little", "big"),
        "'native', 'little' or 'big'",
    ),
    "load.mmap_flags": (
        _MAP_PRIVATE,
        lambda value: type(value) is int and value in (_MAP_PRIVATE, _MAP_SHARED),
        "mmap.MAP_PRIVATE or mmap.MAP_SHARED",
    ),
    "load.calculate_storage_offsets": (False, _is_bool, "True or False"),
}


def _check(name: str, value: Any) -> None:
    if name not in _OPTIONS:
        raise _unknown(name)
    _, allowed, described = _OPTIONS[name]
    if not allowed(value):
        raise ValueError(f"config.{name} must be {described}, not {value!r}")


def _unknown(name: str) -> AttributeError:
    return AttributeError(f"config has no option {name!r}; it has {', '.join(_OPTIONS)}")


class _Section:
    """The options of one direction, as attributes."""

    __slots__ = ("_lock", "_name", "_values")

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_lock", threading.Lock())
        defaults = {key: option[0] for key, option in _OPTIONS.items() if key.startswith(name)}
        object.__setattr__(self, "_values", defaults)

    def __getattr__(self, option: str) -> Any:
        name = f"{self._name}.{option}"
        if name not in _OPTIONS:
            raise _unknown(name)
        patched = _patched.get()
        with self._lock:
            return patched[name] if name in patched else self._values[name]

    def __setattr__(self, option: str, value: Any) -> None:
        name = f"{self._name}.{option}"
        _check(name, value)
        with self._lock:
            self._values[name] = value

    def __repr__(self) -> str:
        options = [name.partition(".")[2] for name in self._values]
        return f"<{', '.join(f'{option}={getattr(self, option)!r}' for option in options)}>"


class SaveConfig(_Section):
    """`config.save`: what is about writing. All three options are about `.pt` files.

    A `.vkml` file always has CRCs, and its alignment is the argument ``align=`` of `save`.

    Attributes
    ----------
    compute_crc32 : bool
        Whether a `.pt` file gets real checksums (the default). Others refuse files without.
    storage_alignment : int
        The file offset of each storage of a `.pt` file is a multiple of this; 64 by default.
    use_pinned_memory_for_d2h : bool
        PyTorch's option for CUDA. It is kept and changes nothing: no device of vkML needs it.
    """

    __slots__ = ()

    compute_crc32: bool
    storage_alignment: int
    use_pinned_memory_for_d2h: bool


class LoadConfig(_Section):
    """`config.load`: what is about reading. `mmap` is about every file, the others about `.pt`.

    Attributes
    ----------
    mmap : bool or "c"
        What `load` does where its argument ``mmap=`` is not given; False by default.
    endianness : {"native", "little", "big"}
        The byte order of a `.pt` file that does not say it.
    mmap_flags : int
        How a `.pt` file is mapped: `mmap.MAP_PRIVATE` (the default) or `mmap.MAP_SHARED`.
    calculate_storage_offsets : bool
        PyTorch's shortcut past the ZIP headers. It is kept and changes nothing: nothing is skipped.
    """

    __slots__ = ()

    mmap: Mmap
    endianness: Endianness
    mmap_flags: int
    calculate_storage_offsets: bool


class Config:
    """The options of this package; there is one object, `vkml_io.config`.

    An assignment holds for the whole process. `patch` changes options for one block of code, as
    the thread or task that runs it sees them. An argument of a call wins over both.

    Examples
    --------
    >>> import numpy as np, vkml_io
    >>> vkml_io.save("model.vkml", {"w": np.ones(2)})
    >>> with vkml_io.config.patch("load.mmap", True):
    ...     vkml_io.load("model.vkml").tensors["w"].flags.writeable
    False
    >>> vkml_io.config.load.mmap
    False
    """

    __slots__ = ("_load", "_save")

    def __init__(self) -> None:
        self._save = SaveConfig("save")
        self._load = LoadConfig("load")

    @property
    def save(self) -> SaveConfig:
        """The options of writing."""
        return self._save

    @property
    def load(self) -> LoadConfig:
        """The options of reading."""
        return self._load

    @contextmanager
    def patch(self, options: str | _Values, value: Any = None) -> Iterator[None]:
        """Change options inside a ``with`` block, for the code that runs there.

        Parameters
        ----------
        options : str or dict
            The name of one option, such as ``"load.mmap"``, or several with their values.
        value
            The value, if `options` is one name.

        Raises
        ------
        AttributeError
            There is no such option.
        ValueError
            The option does not take this value.
        """
        changes = {options: value} if isinstance(options, str) else dict(options)
        for name, wanted in changes.items():
            _check(name, wanted)
        token = _patched.set({**_patched.get(), **changes})
        try:
            yield
        finally:
            _patched.reset(token)

    def __repr__(self) -> str:
        return f"config(save={self._save!r}, load={self._load!r})"


config = Config()
"""The options of this package. See `Config`."""
