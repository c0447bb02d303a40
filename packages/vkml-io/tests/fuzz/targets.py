"""What must hold for any bytes at all. Each function returns whether it accepted them.

``python targets.py container|json FOLDER [options of libFuzzer]`` runs one target with atheris:
FOLDER gets the seeds and what is found, and any exception but CheckpointError ends the run.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import vkml_io
from vkml_io.header import parse_header
from vkml_io.metadata import decode_metadata, encode_metadata

_MEMORY_FILE: list[int] = []


def container(data: bytes) -> bool:
    """Check that `data` loads or is refused, alike by every way to read it."""
    path = _file_of(data)
    try:
        loaded = vkml_io.load(path)
    except vkml_io.CheckpointError:
        loaded = None
    try:
        with vkml_io.open(path) as reader:
            list(reader.values())
            reader.verify()
            lazy = True
    except vkml_io.CheckpointError:
        lazy = False
    report = vkml_io.validate(path)
    accepted = loaded is not None
    verdicts = (accepted, lazy, report.is_sound)
    if len(set(verdicts)) != 1:
        raise AssertionError(f"load, open and validate disagree: {verdicts}, {report}")
    if loaded is not None and vkml_io.digest(path) != vkml_io.digest(loaded.tensors):
        raise AssertionError("the digest of the file is not that of its arrays")
    return accepted


def json(data: bytes) -> bool:
    """Check that `data` is a `vkml.json` whose metadata survive being written, or is refused."""
    try:
        header = parse_header(data)
    except vkml_io.CheckpointError:
        return False
    # What a file may say, a writer may not always: our limits are on what is written.
    with suppress(vkml_io.CheckpointError):
        again, bare = decode_metadata(encode_metadata(header.metadata))
        if bare or repr(again) != repr(header.metadata):
            raise AssertionError("the metadata change when they are written again")
    return True


TARGETS = {"container": container, "json": json}


def _file_of(data: bytes) -> str:
    """Return the path of a file that holds `data`, in memory where the system can."""
    if not _MEMORY_FILE:
        _MEMORY_FILE.append(os.memfd_create("fuzz"))
    (descriptor,) = _MEMORY_FILE
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, data, 0)
    return f"/proc/self/fd/{descriptor}"


def main() -> None:
    """Write the seeds and fuzz one target, as the command line says."""
    import atheris

    name, folder, *options = sys.argv[1:]
    sys.path.append(str(Path(__file__).parents[1]))
    from fuzz.seeds import LARGEST, container_seeds, json_seeds

    corpus = Path(folder)
    corpus.mkdir(parents=True, exist_ok=True)
    if name == "container":
        container_seeds(corpus)
    else:
        with TemporaryDirectory() as containers:
            json_seeds(corpus, container_seeds(Path(containers)))
    atheris.instrument_all()
    arguments = [sys.argv[0], f"-max_len={4 * LARGEST}", *options, folder]
    atheris.Setup(arguments, TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
