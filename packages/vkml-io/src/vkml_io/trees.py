"""`save_tree` and `load_tree`: arrays in nested dicts, lists and tuples."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from vkml_io.errors import naming
from vkml_io.format import Limits
from vkml_io.loading import read_checkpoint
from vkml_io.path_arguments import check_folder, check_order, check_path
from vkml_io.save_plan import plan_save
from vkml_io.tree_structure import TreeEncoder, decode_tree
from vkml_io.writer import write_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vkml_io.aliases import Mmap, OnProgress, PathLike
    from vkml_io.sharing import Views

# Any in this module: a tree holds values of many types.


def save_tree(
    path: PathLike,
    tree: Any,
    metadata: Mapping[str, Any] | None = None,
    compress: bool = False,
    *,
    views: Views = "preserve",
    align: int = 64,
    sha256: bool = False,
    durable: bool = True,
    progress: OnProgress | None = None,
) -> None:
    """Write arrays in a nested structure to a `.vkml` file, whole or not at all.

    The arrays get keys by their places, ``"optimizer/0"`` for ``tree["optimizer"][0]``: `load`
    and `open` read the file too. The structure is for `load_tree`.

    Parameters
    ----------
    path : path-like
        The file.
    tree : nested dict, list, tuple
        What it holds are arrays (what `save` takes), None, bools, numbers, complex numbers, texts
        and bytes. Keys of dicts are texts or integers. It may be a single array. NumPy's scalars
        become Python's numbers; a subclass (an OrderedDict, a named tuple) the plain type.
    metadata, compress, views, align, sha256, durable, progress
        As in `save`.

    Raises
    ------
    TypeError
        A value is of another type; the message gives its place.
    CheckpointError
        The tree is nested too deep, or holds what a reader would refuse.

    Examples
    --------
    >>> import numpy as np, vkml_io
    >>> state = {"step": 7, "moments": [np.zeros(2), np.ones(2)], "shape": (2, None)}
    >>> vkml_io.save_tree("state.vkml", state)
    >>> vkml_io.load_tree("state.vkml")
    {'step': 7, 'moments': [array([0., 0.]), array([1., 1.])], 'shape': (2, None)}
    >>> list(vkml_io.load("state.vkml").tensors)
    ['moments/0', 'moments/1']
    """
    check_order("save_tree", "tree", path, tree)
    check_path("save_tree", path)
    check_folder(path)
    with naming(os.fspath(path)):
        encoder = TreeEncoder()
        structure = {"tree": encoder.encode(tree)}
        plan = plan_save(
            encoder.arrays, metadata, align, sha256=sha256, views=views, tree=structure
        )
        write_plan(
            path,
            plan,
            compress=compress,
            align=align,
            sha256=sha256,
            durable=durable,
            progress=progress,
        )


def load_tree(
    path: PathLike,
    *,
    max_expansion_ratio: float = 100.0,
    mmap: Mmap | None = None,
    verify: bool = True,
    data: bool = True,
    raw: bool = False,
    max_json: int = 2**24,
    max_directory: int = 2**28,
    max_file_size: int | None = None,
    follow_symlinks: bool = True,
    progress: OnProgress | None = None,
) -> Any:
    """Return the nested structure that `save_tree` wrote, after checking all of the file.

    A file that `save` wrote has no structure: it gives the dict of its arrays.

    Parameters
    ----------
    path : path-like
        The file. Nothing in it is executed, whoever wrote it.
    max_expansion_ratio, mmap, verify, data, raw, progress
        As in `load`.
    max_json, max_directory, max_file_size, follow_symlinks
        Limits, as in `load`.

    Raises
    ------
    CheckpointError
        The file is damaged or not a checkpoint; `code` says which check failed.

    Examples
    --------
    >>> import numpy as np, vkml_io
    >>> vkml_io.save_tree("one.vkml", np.arange(3))
    >>> vkml_io.load_tree("one.vkml")
    array([0, 1, 2])
    """
    limits = Limits(max_expansion_ratio, max_json, max_directory, max_file_size, follow_symlinks)
    checkpoint, header = read_checkpoint(
        path, limits, mmap=mmap, verify=verify, data=data, raw=raw, progress=progress
    )
    if not header.has_tree:
        return checkpoint.tensors
    return decode_tree(header.tree, checkpoint.tensors.__getitem__)
