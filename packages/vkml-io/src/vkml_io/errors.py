"""The errors of vkml-io.

Every check of the format (``docs/format.md``) has a code, and the error of a failed check carries
it in `code`::

    ValueError
    └── CheckpointError
        ├── NotACheckpointError        no `.vkml` file at all, or one that is cut short
        ├── UnsupportedVersionError    written by a newer vkml-io
        ├── ExpansionError             unpacks to far more bytes than the file has
        ├── IntegrityError             a checksum does not match
        ├── UnsafeContentError         member names, dtypes or attributes that are never needed
        ├── ChangedWhileReadError      somebody wrote to the file during the load
        ├── MissingPackageError        an array is of a dtype that needs the package ml_dtypes
        └── StateMismatchError         keys, shapes or dtypes do not fit (also a KeyError)
"""

from __future__ import annotations

LONGEST_QUOTE = 200  # characters of a foreign name that a message repeats


class CheckpointError(ValueError):
    """A file is not a sound checkpoint, or something cannot be saved as one.

    Attributes
    ----------
    code : str
        The failed check, for example ``"B16"``.
    path : str or None
        The file.
    member : str or None
        The member of the archive, for example ``"tensors/weight.npy"``.
    offset : int or None
        The byte of the file at which the evidence starts.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        path: str | None = None,
        member: str | None = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.path = path
        self.member = member
        self.offset = offset

    def __str__(self) -> str:
        where = "" if self.path is None else f"{self.path}: "
        if self.member is not None:
            where += f"{quoted(self.member)}: "
        evidence = [part for part in (self.code, _at(self.offset)) if part]
        return where + self.message + (f" [{', '.join(evidence)}]" if evidence else "")


class NotACheckpointError(CheckpointError):
    """The file is something else, or only the beginning of a checkpoint."""


class UnsupportedVersionError(CheckpointError):
    """The file needs a newer vkml-io."""


class ExpansionError(CheckpointError):
    """The file unpacks to more bytes than `max_expansion_ratio` allows."""


class IntegrityError(CheckpointError):
    """A checksum does not match: the file was damaged after it was written."""


class UnsafeContentError(CheckpointError):
    """The file holds something that could hurt a reader and that no checkpoint needs."""


class ChangedWhileReadError(CheckpointError):
    """The file was changed in place while it was being read."""


class MissingPackageError(CheckpointError):
    """An array is of a dtype that NumPy lacks, and the package that has it is not installed."""


class StateMismatchError(CheckpointError, KeyError):
    """Keys, shapes or dtypes of the file do not fit where they should go."""

    __str__ = CheckpointError.__str__  # KeyError's own would show the repr of the message


_CLASS_OF_CODE: dict[str, type[CheckpointError]] = {
    "A1": NotACheckpointError,
    "A2": NotACheckpointError,
    "B1": NotACheckpointError,
    "B2": NotACheckpointError,
    "B19": NotACheckpointError,
    "B10": UnsafeContentError,
    "B13": UnsafeContentError,
    "D3": UnsafeContentError,
    "B17": ExpansionError,
    "C1": IntegrityError,
    "D9": IntegrityError,
    "G1": UnsupportedVersionError,
    "E1": ChangedWhileReadError,
    "E2": ChangedWhileReadError,
}


def violation(
    code: str, message: str, *, member: str | None = None, offset: int | None = None
) -> CheckpointError:
    """Return the error for a failed check. The reader adds the path."""
    error_class = _CLASS_OF_CODE.get(code, CheckpointError)
    return error_class(message, code=code, member=member, offset=offset)


class naming:  # noqa: N801  # used as a statement, `with naming(path):`
    """Give the path to every CheckpointError that leaves the block."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: object, error: object, _traceback: object) -> None:
        if isinstance(error, CheckpointError) and error.path is None:
            error.path = self._path


def quoted(name: str) -> str:
    """Return `name` as a message may show it: escaped, and cut when it is long."""
    if len(name) <= LONGEST_QUOTE:
        return repr(name)
    return f"{name[:LONGEST_QUOTE]!r}… ({len(name)} characters)"


def _at(offset: int | None) -> str:
    return "" if offset is None else f"byte {offset}"
