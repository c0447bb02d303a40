"""`load`: a whole checkpoint, checked, into arrays."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from vkml_io.archive import Archive, check_mmap
from vkml_io.configuration import config
from vkml_io.errors import StateMismatchError, naming, quoted
from vkml_io.format import DEFLATED, Limits
from vkml_io.progress import Progress
from vkml_io.reading import check_values, fill_array, read_array
from vkml_io.small_arrays import read_small
from vkml_io.source import path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from vkml_io.aliases import Array, Metadata, Mmap, OnProgress, PathLike
    from vkml_io.array_place import ArrayPlace

_LARGE = 2**20  # bytes of an array whose checksum is worth a thread


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
    max_json: int = 2**24,
    max_directory: int = 2**28,
    max_file_size: int | None = None,
    follow_symlinks: bool = True,
    progress: OnProgress | None = None,
) -> Checkpoint:
    """Return the arrays and the metadata of a `.vkml` file, after checking all of it.

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
    mmap = _mmap_of(mmap, into=into, data=data)
    if into is not None and (mmap or not data):
        raise ValueError("into= fills arrays with data: it goes with neither mmap nor data=False")
    wanted = None if keys is None else _wanted(keys)
    if into is not None and not isinstance(into, Mapping):
        raise TypeError(f"into must be a dict of arrays, not {type(into).__name__}")
    limits = Limits(max_expansion_ratio, max_json, max_directory, max_file_size, follow_symlinks)
    with naming(path_of(path)), Archive(path, limits) as archive:
        archive.check_layout()
        places = _places(archive, archive.header.keys if wanted is None else wanted)
        targets = _targets(places, into or {})
        if mmap and data:
            tensors = _map(archive, places, private=mmap == "c", verify=verify)
        elif data:
            fresh = {key: place for key, place in places.items() if key not in targets}
            small = read_small(archive, fresh, verify=verify)
            tensors = _targets_or_fresh(places, {**targets, **small})
            _fill(archive, places, tensors, set(small), verify=verify, progress=progress)
        else:
            tensors = _targets_or_fresh(places, {})
        archive.source.check_unchanged()
        return Checkpoint(tensors, archive.header.metadata, archive.header.version)


def _mmap_of(mmap: Mmap | None, *, into: object, data: bool) -> Mmap:
    """Return the argument `mmap=`, or where it is not given what the configuration says."""
    if mmap is None:
        return False if into is not None or not data else config.load.mmap
    check_mmap(mmap)
    return mmap


def _map(
    archive: Archive, places: Mapping[str, ArrayPlace], *, private: bool, verify: bool
) -> dict[str, Array]:
    archive.source.check_size()
    return {
        key: read_array(archive, place, verify=verify)
        if place.member.method == DEFLATED
        else archive.view(place, private=private, checked=True)
        for key, place in places.items()
    }


def _targets_or_fresh(
    places: Mapping[str, ArrayPlace], targets: Mapping[str, Array]
) -> dict[str, Array]:
    """Return the array that each value goes into, in the order of `places`."""
    return {
        key: targets[key] if key in targets else place.npy.empty() for key, place in places.items()
    }


def _fill(
    archive: Archive,
    places: Mapping[str, ArrayPlace],
    tensors: Mapping[str, Array],
    filled: AbstractSet[str],
    *,
    verify: bool,
    progress: OnProgress | None,
) -> None:
    """Read every array but those of `filled`; a large one is checked beside the next reading."""
    total = sum(place.npy.nbytes for place in places.values())
    done = 0
    with ThreadPoolExecutor(max_workers=1) as beside:  # its thread starts when it is first used
        checks = []
        for key, place in places.items():
            if key not in filled:
                values = fill_array(archive, place, tensors[key])
                if values.nbytes >= _LARGE:
                    checks.append(beside.submit(check_values, place, values, verify=verify))
                else:
                    check_values(place, values, verify=verify)
            done += place.npy.nbytes
            if progress is not None:
                progress(Progress(done, total, key))
        for check in checks:
            check.result()


def _wanted(keys: Iterable[str]) -> tuple[str, ...]:
    """Return the keys that are asked for; an iterator of them can be used once only."""
    if isinstance(keys, str):
        raise TypeError("keys must be a sequence of str, not one str")
    wanted = tuple(keys)
    for key in wanted:
        if not isinstance(key, str):
            raise TypeError(f"keys must be str, not {type(key).__name__} ({quoted(repr(key))})")
    return wanted


def _places(archive: Archive, keys: Sequence[str]) -> dict[str, ArrayPlace]:
    unknown = [key for key in keys if key not in archive.positions]
    if unknown:
        raise StateMismatchError(
            f"the checkpoint has no {', '.join(map(quoted, unknown[:3]))} "
            f"({len(unknown)} of the wanted keys are missing)"
        )
    return {key: archive.locate(key) for key in keys}


def _targets(
    places: Mapping[str, ArrayPlace],
    into: Mapping[str, Any],  # Any: arrays, if the caller is right
) -> Mapping[str, Array]:
    """Check, before anything is written, that every array of `into` can be filled."""
    problems = []
    for key, array in into.items():
        if key not in places:
            problems.append(f"{quoted(key)} is not among the keys that are loaded")
            continue
        if not isinstance(array, np.ndarray):
            problems.append(f"{quoted(key)} is a {type(array).__name__}, and no NumPy array")
            continue
        npy = places[key].npy
        if (array.dtype.str, array.shape) != (npy.descr, npy.shape):
            problems.append(
                f"{quoted(key)} is {array.dtype.str} {array.shape}, in the file {npy.descr} "
                f"{npy.shape}"
            )
        elif not array.flags.writeable:
            problems.append(f"{quoted(key)} is read-only")
    if problems:
        raise StateMismatchError("into= does not fit: " + "; ".join(problems))
    return into
