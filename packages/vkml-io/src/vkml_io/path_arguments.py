"""The path of a checkpoint as an argument: it comes first, and its folder must exist."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vkml_io.aliases import PathLike


def check_order(function: str, other: str, path: object, value: object) -> None:
    """Refuse the order of torch's `save`, in which the path comes last.

    Parameters
    ----------
    function, other : str
        The function, and its second argument, for the message.
    path, value : object
        The first two arguments.
    """
    if _is_path(value) and not _is_path(path):
        message = (
            f"{function}: the path comes first, but the first argument is a "
            f"{type(path).__name__} and the second a path. "
            f"Write {function}({value!r}, {other})."
        )
        raise TypeError(message)


def check_path(function: str, path: object) -> None:
    """Refuse what names no file to write."""
    if not _is_path(path):
        message = f"{function}: the path must be a str or os.PathLike, not {type(path).__name__}"
        raise TypeError(message)


def check_folder(path: PathLike) -> None:
    """Refuse the path of a file to write whose folder does not exist."""
    folder = os.path.dirname(os.path.realpath(path))  # noqa: PTH120  # as `replacing` finds it
    if not os.path.lexists(folder):
        message = "the folder of the checkpoint does not exist; create it first"
        raise FileNotFoundError(errno.ENOENT, message, folder)


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike)
