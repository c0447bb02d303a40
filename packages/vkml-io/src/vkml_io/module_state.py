"""`save_module` and `load_module`: the state of any module that has `state_dict()`."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from vkml_io.archive import Archive
from vkml_io.errors import CheckpointError, StateMismatchError, naming, quoted
from vkml_io.format import DEFLATED, Limits
from vkml_io.key_reading import check_view, read_carrier, read_key
from vkml_io.loaded_arrays import check_dtypes
from vkml_io.loading import Checkpoint
from vkml_io.path_arguments import check_order
from vkml_io.reading import check_bools, scan_values
from vkml_io.sharing import Views
from vkml_io.source import path_of
from vkml_io.state_targets import (
    Casting,
    cast_allowed,
    copy_into,
    dtype_name,
    is_writable,
    memory_identity,
)
from vkml_io.writer import save

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from vkml_io.aliases import Array, OnProgress, PathLike
    from vkml_io.key_view import KeyView


class HasState(Protocol):
    """A module of any library: vkML's, torch's, or one of your own."""

    def state_dict(self) -> Mapping[str, Any]:  # Any: the library's own tensors
        """Return the tensors by name, sharing memory with those of the module."""


def save_module(
    path: PathLike,
    module: HasState,
    metadata: Mapping[str, Any] | None = None,  # Any: whatever JSON can say
    compress: bool = False,
    *,
    views: Views = "preserve",
    align: int = 64,
    sha256: bool = False,
    durable: bool = True,
    progress: OnProgress | None = None,
) -> None:
    """Write the state of a module to a `.vkml` file: `save` of ``module.state_dict()``.

    Parameters
    ----------
    path : path-like
        The file.
    module : object with `state_dict()`
        Parameters and buffers are saved under their names.
    metadata, compress, views, align, sha256, durable, progress
        As in `save`. Tied parameters are stored once.

    Examples
    --------
    >>> import numpy as np, vkml_io
    >>> class Scale:
    ...     def __init__(self, factor):
    ...         self.factor = np.array([factor])
    ...
    ...     def state_dict(self):
    ...         return {"factor": self.factor}
    >>> vkml_io.save_module("scale.vkml", Scale(3.0), {"epoch": 1})
    >>> vkml_io.load("scale.vkml").tensors
    {'factor': array([3.])}
    """
    check_order("save_module", "module", path, module)
    save(
        path,
        _state_of("save_module", module),
        metadata,
        compress,
        views=views,
        align=align,
        sha256=sha256,
        durable=durable,
        progress=progress,
    )


def load_module(
    path: PathLike,
    module: HasState,
    *,
    max_expansion_ratio: float = 100.0,
    prefix: str = "",
    verify: bool = True,
    cast: Casting = "same_kind",
) -> Checkpoint:
    """Copy a checkpoint into the tensors of a module, in place, and return its metadata.

    First everything is checked: keys, shapes, dtypes and checksums. Only when all fits is the
    first value changed. The tensors stay the same objects, so that an optimiser made earlier goes
    on working, and keep device, dtype and `requires_grad`. At most one array is held besides.

    To look at the metadata before anything is installed, use `open`, and then
    ``module.load_state_dict(reader)``: it accepts NumPy arrays and lazy readers.

    Parameters
    ----------
    path : path-like
        The file.
    module : object with `state_dict()`
        Its tensors are filled.
    max_expansion_ratio : float
        As in `load`.
    prefix : str
        Load only the keys that start with it, which are named without it in the module.
    verify : bool
        Compare the checksums before anything is changed.
    cast : {"no", "equiv", "safe", "same_kind", "unsafe"}
        Which changes of dtype are allowed, as in `numpy.can_cast`.

    Returns
    -------
    Checkpoint
        `tensors` are the module's own.

    Raises
    ------
    StateMismatchError
        Something does not fit; all problems are listed, and nothing was changed.
    CheckpointError
        The file is damaged or not a checkpoint; nothing was changed.

    Examples
    --------
    >>> import numpy as np, vkml_io
    >>> class Scale:
    ...     def __init__(self, factor):
    ...         self.factor = np.array([factor])
    ...
    ...     def state_dict(self):
    ...         return {"factor": self.factor}
    >>> vkml_io.save_module("scale.vkml", Scale(3.0), {"epoch": 1})
    >>> module = Scale(0.0)
    >>> vkml_io.load_module("scale.vkml", module).metadata
    {'epoch': 1}
    >>> module.factor
    array([3.])
    """
    check_order("load_module", "module", path, module)
    targets = _state_of("load_module", module)
    limits = Limits(max_expansion_ratio=max_expansion_ratio)
    with naming(path_of(path)), Archive(path, limits) as archive:
        archive.check_layout()
        keys = {
            key.removeprefix(prefix): key for key in archive.positions if key.startswith(prefix)
        }
        problems = _key_problems(keys, targets)
        views: dict[str, KeyView] = {}
        for name, key in keys.items():
            if name in targets:
                views[name] = archive.find(key)
                problems += _fit_problems(name, views[name], targets[name], cast)
        problems += _damaged(archive, views, verify=verify)
        problems += _tie_problems(archive, views, targets)
        if problems:
            raise StateMismatchError(_report(problems))
        check_dtypes(views)
        archive.source.check_unchanged()
        for name, view in views.items():
            # Verified above; a change of the file since then shows below.
            copy_into(targets[name], read_key(archive, view, verify=False))
        archive.source.check_unchanged()
        return Checkpoint(dict(targets), archive.header.metadata, archive.header.version)


def _state_of(function: str, module: HasState) -> Mapping[str, Any]:
    if not hasattr(module, "state_dict"):
        message = (
            f"{function}: a {type(module).__name__} has no state_dict(), as modules have; "
            "for a dict of tensors use save(path, tensors) and load(path)"
        )
        raise TypeError(message)
    return module.state_dict()


def _key_problems(keys: Mapping[str, str], targets: Mapping[str, Any]) -> list[str]:
    missing = [f"missing in the file: {quoted(name)}" for name in targets if name not in keys]
    unexpected = [f"not in the module: {quoted(name)}" for name in keys if name not in targets]
    return missing + unexpected


def _fit_problems(name: str, view: KeyView, target: Any, cast: Casting) -> list[str]:
    if not is_writable(target):
        return [f"{quoted(name)} is no tensor of the module that can be written in place"]
    problems = []
    shape = tuple(target.shape)
    if view.shape != shape:
        problems.append(f"{quoted(name)} has shape {view.shape}, and {shape} in the module")
    wanted = dtype_name(target)
    if not cast_allowed(view.dtype, view.descr, wanted, cast):
        problems.append(
            f"{quoted(name)} is {view.dtype}, and {wanted} in the module; "
            f"cast={cast!r} forbids that"
        )
    return problems


def _damaged(archive: Archive, views: Mapping[str, KeyView], *, verify: bool) -> list[str]:
    """Return what is wrong with the bytes of the arrays, none of which are kept.

    Without `verify`, that is what would stop the reading when half of the module is filled.
    """
    problems = []
    places = {view.place.member.name: view.place for view in views.values()}
    for place in places.values():
        if not verify and place.member.method != DEFLATED and place.npy.dtype != np.bool_:
            continue
        try:
            for values in scan_values(archive, place, verify=verify):
                check_bools(place, values)
        except CheckpointError as error:
            if error.code == "E1":
                raise
            problems.append(str(error))
    if problems:
        return problems
    for view in views.values():
        try:
            check_view(archive, view)
        except CheckpointError as error:
            problems.append(str(error))
    return problems


def _tie_problems(
    archive: Archive, views: Mapping[str, KeyView], targets: Mapping[str, Any]
) -> list[str]:
    """Return the tensors that are one in the module and different in the file."""
    tied: dict[Hashable, list[str]] = defaultdict(list)
    for name in filter(lambda name: is_writable(targets[name]), views):
        tied[memory_identity(targets[name])].append(name)
    return [
        f"{quoted(other)} and {quoted(first)} are one tensor in the module, and differ in the file"
        for first, *others in tied.values()
        for other in others
        if not _equal(archive, views[first], views[other])
    ]


def _equal(archive: Archive, a: KeyView, b: KeyView) -> bool:
    if a._replace(key="", is_view=False) == b._replace(key="", is_view=False):
        return True
    if not (a.is_view or b.is_view) and a.dtype == b.dtype and a.shape == b.shape:
        x, y = a.place, b.place
        if x.npy_bytes == y.npy_bytes and x.member.crc32 == y.member.crc32:
            return True
    first, second = (read_carrier(archive, view, verify=False) for view in (a, b))
    if a.dtype != b.dtype and (a.logical or b.logical):
        first, second = (view.finish(x, raw=False) for view, x in ((a, first), (b, second)))
    return _same_values(first, second)


def _same_values(a: Array, b: Array) -> bool:
    floating = a.dtype.kind in "fc" and b.dtype.kind in "fc"
    return np.array_equal(a, b, equal_nan=floating)


def _report(problems: list[str]) -> str:
    return "\n  ".join(
        ["the checkpoint does not fit the module, which was not changed:", *problems]
    )
