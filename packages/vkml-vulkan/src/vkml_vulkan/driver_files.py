"""The files that tell the Vulkan loader of drivers, and whether the drivers load.

Found as the loader does: "Driver discovery" in the Vulkan loader's LoaderDriverInterface.md. On
Windows most drivers stand in the registry, where this does not look.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_INSTEAD_OF_THE_FOLDERS: Final = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")
"""Variables that name all drivers; the second is the first's old name and yields to it."""
_IN_ADDITION: Final = "VK_ADD_DRIVER_FILES"
_TIMEOUT_S: Final = 60

_LOAD: Final = """
import ctypes, sys
try:
    ctypes.CDLL(sys.argv[1])
except OSError as error:
    sys.exit(str(error))
"""


def chosen_by() -> str | None:
    """Return the environment variable that replaces the search for drivers, if one is set.

    An empty one is set, too: it names no driver.
    """
    return next((name for name in _INSTEAD_OF_THE_FOLDERS if name in os.environ), None)


def driver_files() -> list[Path]:
    """Return the files that the loader reads, in its order; also those that do not exist."""
    variable = chosen_by()
    if variable is not None:
        places = _paths(variable, "")
    else:
        places = [*_paths(_IN_ADDITION, ""), *(each for each in _folders() if each.is_dir())]
    found = [
        file
        for place in places
        for file in (sorted(place.glob("*.json")) if place.is_dir() else [place])
    ]
    return list(dict.fromkeys(found))


def why_unusable(file: Path) -> str | None:
    """Return None for a file whose driver loads, else what is wrong with it."""
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
        library = str(manifest["ICD"]["library_path"])
    except OSError as error:
        return f"it cannot be read: {error.strerror}."
    except (ValueError, KeyError, TypeError):
        return "it names no driver: there is no ICD.library_path in it."
    # A path is relative to the file; a bare name is looked for where all libraries are.
    if "/" in library or "\\" in library:
        library = str(file.parent / library)
    return why_not_loaded(library)


def why_not_loaded(library: str) -> str | None:
    """Return None for a shared library that loads, else why not. In a process of its own."""
    command = [sys.executable, "-I", "-c", _LOAD, library]
    try:
        ended = subprocess.run(  # noqa: S603 - this interpreter, with our program
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{library} was not loaded after {_TIMEOUT_S} s."
    if ended.returncode == 0:
        return None
    return (ended.stderr.strip() or f"loading {library} ended the process") + "."


def _folders() -> Iterator[Path]:
    for base in _bases():
        yield base / "vulkan" / "icd.d"


def _bases() -> list[Path]:
    if sys.platform == "win32":
        return []
    home = Path.home()
    system = [Path("/etc"), Path("/usr/local/etc")]
    if sys.platform == "darwin":
        system += [Path("/opt/homebrew/etc"), Path("/opt/homebrew/share")]
    return [
        *_paths("XDG_CONFIG_HOME", str(home / ".config")),
        *_paths("XDG_CONFIG_DIRS", "/etc/xdg"),
        *system,
        *_paths("XDG_DATA_HOME", str(home / ".local/share")),
        *_paths("XDG_DATA_DIRS", "/usr/local/share:/usr/share"),
    ]


def _paths(variable: str, default: str) -> list[Path]:
    value = os.environ.get(variable) or default
    return [Path(each) for each in value.split(os.pathsep) if each]
