"""`open`: a checkpoint as a lazy mapping from key to array."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import BinaryIO, Self

from vkml_io.aliases import Array, Metadata, Mmap, PathLike
from vkml_io.archive import Archive, check_mmap
from vkml_io.errors import StateMismatchError, naming, quoted
from vkml_io.format import DEFLATED, Limits
from vkml_io.key_reading import check_view, read_carrier
from vkml_io.loaded_arrays import check_dtypes
from vkml_io.open_source import open_source_or_url
from vkml_io.reading import check_bools, scan_values
from vkml_io.slicing import read_slice
from vkml_io.source import path_of


class CheckpointReader(Mapping[str, Array]):
    """A checkpoint that reads an array when it is asked for; made by `vkml_io.open`.

    Iteration, `len` and `in` go over the keys, in the order of the file. Close it with `close`
    or a ``with`` block; mapped arrays stay valid after that.
    """

    def __init__(
        self,
        file: PathLike | BinaryIO,
        *,
        mmap: Mmap,
        verify: bool,
        raw: bool,
        limits: Limits,
    ) -> None:
        check_mmap(mmap)
        with naming(path_of(file)):
            self._archive = Archive(open_source_or_url(file, limits), limits)
        self._mmap = mmap
        self._verify = verify
        self._raw = raw

    @property
    def path(self) -> str:
        """The path of the file, as it was given."""
        return self._archive.source.path

    @property
    def metadata(self) -> Metadata:
        """The metadata that were saved with the arrays."""
        return self._archive.header.metadata

    @property
    def version(self) -> int:
        """The format version of the file."""
        return self._archive.header.version

    def __getitem__(self, key: str) -> Array:
        if key not in self:
            raise self._unknown(key)
        with naming(self.path):
            can_map = self._archive.source.can_map
            if not can_map:
                self._archive.expect(key)
            view = self._archive.find(key)
            if not self._raw:
                check_dtypes({key: view})
            if not (self._mmap and can_map) or view.place.member.method == DEFLATED:
                carrier = read_carrier(self._archive, view, verify=self._verify)
            else:
                carrier = self._archive.map(view, private=self._mmap == "c")
            return view.finish(carrier, raw=self._raw)

    def __iter__(self) -> Iterator[str]:
        return iter(self._archive.header.keys)

    def __len__(self) -> int:
        return len(self._archive.header.keys)

    def __contains__(self, key: object) -> bool:
        return key in self._archive.positions

    def slice(self, key: str, index: object) -> Array:
        """Return ``self[key][index]`` as a fresh array, reading only the bytes it spans.

        Parameters
        ----------
        key : str
            The array.
        index : int, slice, Ellipsis, None or tuple of these
            NumPy's basic indexing. The checksum of the array cannot be compared.

        Examples
        --------
        >>> import numpy as np, vkml_io
        >>> vkml_io.save("weights.vkml", {"w": np.arange(12.0).reshape(4, 3)})
        >>> with vkml_io.open("weights.vkml") as checkpoint:
        ...     checkpoint.slice("w", np.s_[1:3, 0])
        array([3., 6.])
        """
        if key not in self:
            raise self._unknown(key)
        with naming(self.path):
            return read_slice(self._archive, self._archive.find(key), index, raw=self._raw)

    def verify(self) -> None:
        """Compare every checksum, and check everything else that `load` checks.

        Mapped arrays are not compared with their checksums when they are read: that would read
        all their bytes. This does it, for all keys.

        Raises
        ------
        CheckpointError
            For the first fault found.
        """
        archive = self._archive
        with naming(self.path):
            archive.check_layout()
            for name in archive.header.stored:
                place = archive.locate_member(name)
                for values in scan_values(archive, place):
                    check_bools(place, values)
            for key in self:
                check_view(archive, archive.find(key))
            archive.source.check_unchanged()

    def close(self) -> None:
        """Close the file. May be called twice; mapped arrays stay valid."""
        self._archive.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _unknown(self, key: object) -> StateMismatchError:
        return StateMismatchError(
            f"there is no key {quoted(str(key))} among the {len(self)} of this checkpoint",
            path=self.path,
        )


def open(  # as in `gzip.open`: used as `vkml_io.open`
    file: PathLike | BinaryIO,
    *,
    mmap: Mmap = True,
    verify: bool = True,
    raw: bool = False,
    max_expansion_ratio: float = 100.0,
    max_json: int = 2**24,
    max_directory: int = 2**28,
    max_file_size: int | None = None,
    follow_symlinks: bool = True,
) -> CheckpointReader:
    """Return a reader: a mapping from key to array that reads an array when it is asked for.

    The container and `vkml.json` are checked here; an array and its surroundings when its key is
    first used. `load` checks everything at once.

    Parameters
    ----------
    file : path-like, binary file or URL
        The checkpoint. Of an open file the descriptor is duplicated, its position is not used; of
        another seekable object, such as `io.BytesIO`, the position is moved. A text that begins
        with ``http://`` or ``https://`` is read by ranges: two requests open a checkpoint of up
        to some thousand arrays, and each array takes one more.
    mmap : bool or "c"
        True maps stored arrays, read-only and without a copy; "c" makes them private and
        writable. False reads each into fresh memory: better on network drives, and needed when
        somebody may cut the file meanwhile, which kills a process that has it mapped. Deflated
        arrays, and those of what is no file of this machine, are always read.
    verify : bool
        Compare the checksums of arrays that are read. Mapped ones are compared by `verify()` only.
    raw : bool
        As in `load`: carriers in place of dtypes that NumPy lacks.
    max_expansion_ratio, max_json, max_directory, max_file_size, follow_symlinks
        Limits, as in `load`.

    Raises
    ------
    CheckpointError
        The file is damaged or not a checkpoint; `code` says which check failed.
    OSError
        It cannot be read. A server must answer with the range that was asked for (206).

    Examples
    --------
    >>> import numpy as np, vkml_io
    >>> vkml_io.save("weights.vkml", {"w": np.ones((2, 3))}, {"epoch": 3})
    >>> with vkml_io.open("weights.vkml") as checkpoint:
    ...     list(checkpoint), checkpoint["w"].shape, checkpoint.metadata
    (['w'], (2, 3), {'epoch': 3})
    """
    limits = Limits(max_expansion_ratio, max_json, max_directory, max_file_size, follow_symlinks)
    return CheckpointReader(file, mmap=mmap, verify=verify, raw=raw, limits=limits)
