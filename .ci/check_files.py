"""Check the files of an sdist, and of a wheel built from it against one built from the tree.

Usage: python check_files.py SDIST WHEEL WHEEL_FROM_TREE
"""

import hashlib
import sys
import tarfile
import zipfile
from pathlib import Path

# What an sdist may hold at its top; PKG-INFO and .gitignore are put there by hatchling.
SDIST_TOP = {"src", "tests", "README.md", "LICENSE", "pyproject.toml", "PKG-INFO", ".gitignore"}
SDIST_TOP |= {"hatch_build.py"}  # vkml-vulkan compiles its shaders


def complaints_about_sdist(sdist: Path) -> list[str]:
    """Return a sentence for each path that does not belong into an sdist."""
    with tarfile.open(sdist) as archive:
        paths = [Path(*Path(name).parts[1:]) for name in archive.getnames()]
    strange = [p for p in paths if p.parts[0] not in SDIST_TOP or "__pycache__" in p.parts]
    return [f"{sdist.name} holds {path}, which is not on the list" for path in strange]


def complaints_about_wheel(wheel: Path, from_tree: Path) -> list[str]:
    """Return a sentence for each file that a wheel lacks, holds too much, or has different."""
    files, expected = digests_in_wheel(wheel), digests_in_wheel(from_tree)
    information = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    package = next(path for path in files if path.count("/") == 1).split("/")[0]
    notices = [f"{package}/py.typed", f"{information}/licenses/LICENSE"]
    complaints = [f"{wheel.name} lacks {path}" for path in notices if path not in files]
    strange = [path for path in files if path.split("/")[0] not in {package, information}]
    complaints += [f"{wheel.name} holds {path} outside {package}/" for path in strange]
    differing = [path for path in {**files, **expected} if files.get(path) != expected.get(path)]
    return complaints + [f"{wheel.name}: {path} differs from the tree's" for path in differing]


def digests_in_wheel(wheel: Path) -> dict[str, str]:
    """Return the SHA-256 of every file in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {n: hashlib.sha256(archive.read(n)).hexdigest() for n in archive.namelist()}


if __name__ == "__main__":
    sdist, wheel, from_tree = map(Path, sys.argv[1:])
    complaints = complaints_about_sdist(sdist) + complaints_about_wheel(wheel, from_tree)
    sys.exit("\n".join(complaints) or None)
