"""`load`: a whole checkpoint, checked, into arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from vkml_io.archive import Archive, check_mmap
from vkml_io.configuration import config
from vkml_io.errors import StateMismatchError, naming, quoted
from vkml_io.format import Limits
from vkml_io.loaded_arrays import empty_arrays, map_arrays, read_arrays
from vkml_io.logical_dtypes import logical_dtype_of
from vkml_io.source import path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vkml_io.aliases import Array, Metadata, Mmap, OnProgress, PathLike
    from vkml_io.header import Header


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What `load` returns.

    Attributes
    ----------
    tensors : dict of str to array
        The arrays, in the order of the file.
    metadata : dict
        The metadata that were saved with them.
    version : int
        The format version of the file.
    """

    tensors: dict[str, Any]  # Any: `load_module` puts the module's own tensors here
    metadata: Metadata
    version: int

    if not TYPE_CHECKING:  # a type checker refuses ``checkpoint[key]`` by itself

        def __getitem__(self, key: object) -> NoReturn:
            """Say where the arrays are; `in` and `for` come here too."""
            what = f"[{key!r}]" if isinstance(key, str) else ""
            message = (
                "a Checkpoint is no dict: its arrays are in .tensors, and the metadata in "
                f".metadata. Write checkpoint.tensors{what}"
            )
            raise TypeError(message)


def load(
    path: PathLike,
    *,
    max_expansion_ratio: float = 100.0,
    keys: Sequence[str] | None = None,
    mmap: Mmap | None = None,
    verify: bool = True,
    into: Mapping[str, Array] | None = None,
    data: bool = True,
    raw: bool = False,
    max_json: int = 2**24,
    max_directory: int = 2**28,
    max_file_size: int | None = None,
    follow_symlinks: bool = True,
    progress: OnProgress | None = None,
) -> Checkpoint:
    """Return the arrays and the metadata of a `.vkml` file, after checking all of it.

    Arrays that shared memory when they were saved share it again.

    Parameters
    ----------
    path : path-like
        The file. Nothing in it is executed, whoever wrote it.
    max_expansion_ratio : float
        Refuse a file that unpacks to more than this many times its size.
    keys : sequence of str, optional
        Only these, in this order. All by default.
    mmap : bool or "c"
        False gives fresh writable arrays. True maps the file: read-only arrays without a copy,
        whose checksums are not compared (see `open`). "c" gives mapped arrays that are private
        and writable. Map only files that nobody cuts meanwhile: that would kill the process. By
        default what ``config.load.mmap`` says: False, unless somebody changed it.
    verify : bool
        Compare the checksums of every array that is read: its CRC-32, and its SHA-256 if the
        file has one.
    into : dict of str to array, optional
        Arrays to fill instead of making new ones; shape and dtype must be those of the file.
    data : bool
        False gives arrays of the right shape and dtype whose values are not read.
    raw : bool
        Read arrays of dtypes that NumPy lacks (bfloat16, float8, int4 …) as the unsigned integers
        that carry their bits. By default they come as arrays of the package ml_dtypes.
    max_json, max_directory : int
        The largest `vkml.json` and directory that are read, in bytes.
    max_file_size : int, optional
        Refuse larger files.
    follow_symlinks : bool
        False refuses a path that is a symlink.
    progress : callable, optional
        Called with a `Progress` after each array that is read.

    Raises
    ------
    CheckpointError
        The file is damaged or not a checkpoint; `code` says which check failed.
    MissingPackageError
        An array needs ml_dtypes, which is not installed.
    StateMismatchError
        A key of `keys` or `into` is not in the file, or an array of `into` does not fit.

    Examples
    --------
    >>> import numpy as np, vkml_io
    >>> vkml_io.save("model.vkml", {"w": np.arange(3), "b": np.zeros(2)}, {"epoch": 3})
    >>> checkpoint = vkml_io.load("model.vkml")
    >>> checkpoint.tensors["w"], checkpoint.metadata
    (array([0, 1, 2]), {'epoch': 3})
    """
    limits = Limits(max_expansion_ratio, max_json, max_directory, max_file_size, follow_symlinks)
    checkpoint, _ = read_checkpoint(
        path,
        limits,
        keys=keys,
        mmap=mmap,
        verify=verify,
        into=into,
        data=data,
        raw=raw,
        progress=progress,
    )
    return checkpoint


def read_checkpoint(
    path: PathLike,
    limits: Limits,
    *,
    keys: Sequence[str] | None = None,
    mmap: Mmap | None,
    verify: bool,
    into: Mapping[str, Array] | None = None,
    data: bool,
    raw: bool,
    progress: OnProgress | None,
) -> tuple[Checkpoint, Header]:
    """Return what `load` does, and what `vkml.json` says besides."""
    mmap = _mmap_of(mmap, into=into, data=data)
    if into is not None and (mmap or not data):
        raise ValueError("into= fills arrays with data: it goes with neither mmap nor data=False")
    wanted = None if keys is None else _wanted(keys)
    if into is not None and not isinstance(into, Mapping):
        raise TypeError(f"into must be a dict of arrays, not {type(into).__name__}")
    with naming(path_of(path)), Archive(path, limits) as archive:
        header = archive.header
        archive.check_layout()
        chosen = header.keys if wanted is None else _known(archive, wanted)
        targets = _targets(archive, chosen, into or {}, raw=raw)
        if mmap and data:
            tensors = map_arrays(archive, chosen, private=mmap == "c", verify=verify, raw=raw)
        elif data:
            tensors = read_arrays(
                archive, chosen, targets, verify=verify, raw=raw, progress=progress
            )
        else:
            tensors = empty_arrays(archive, chosen, raw=raw)
        archive.source.check_unchanged()
        return Checkpoint(tensors, header.metadata, header.version), header


def _mmap_of(mmap: Mmap | None, *, into: object, data: bool) -> Mmap:
    """Return the argument `mmap=`, or where it is not given what the configuration says."""
    if mmap is None:
        return False if into is not None or not data else config.load.mmap
    check_mmap(mmap)
    return mmap


def _wanted(keys: Iterable[str]) -> tuple[str, ...]:
    """Return the keys that are asked for; an iterator of them can be used once only."""
    if isinstance(keys, str):
        raise TypeError("keys must be a sequence of str, not one str")
    wanted = tuple(keys)
    for key in wanted:
        if not isinstance(key, str):
            raise TypeError(f"keys must be str, not {type(key).__name__} ({quoted(repr(key))})")
    return wanted


def _known(archive: Archive, keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return the wanted keys, each once, if the file has them all."""
    unknown = [key for key in keys if key not in archive.positions]
    if unknown:
        raise StateMismatchError(
            f"the checkpoint has no {', '.join(map(quoted, unknown[:3]))} "
            f"({len(unknown)} of the wanted keys are missing)"
        )
    return tuple(dict.fromkeys(keys))


def _targets(
    archive: Archive,
    keys: Sequence[str],
    into: Mapping[str, Any],  # Any: arrays, if the caller is right
    *,
    raw: bool,
) -> Mapping[str, Array]:
    """Check, before anything is written, that every array of `into` can be filled."""
    problems = []
    chosen = frozenset(keys) if into else frozenset()
    for key, array in into.items():
        if key not in chosen:
            problems.append(f"{quoted(key)} is not among the keys that are loaded")
            continue
        if not isinstance(array, np.ndarray):
            problems.append(f"{quoted(key)} is a {type(array).__name__}, and no NumPy array")
            continue
        dtype, shape = archive.find(key).outcome(raw=raw)
        if (array.dtype, array.shape) != (dtype, shape):
            problems.append(
                f"{quoted(key)} is {_dtype_text(array.dtype)} {array.shape}, in the file "
                f"{_dtype_text(dtype)} {shape}"
            )
        elif not array.flags.writeable:
            problems.append(f"{quoted(key)} is read-only")
    if problems:
        raise StateMismatchError("into= does not fit: " + "; ".join(problems))
    return into


def _dtype_text(dtype: np.dtype[Any]) -> str:  # Any: whatever NumPy has
    return dtype.str if logical_dtype_of(dtype) is None else dtype.name
