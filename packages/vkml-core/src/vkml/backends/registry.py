"""How backends are found: by the entry point group ``vkml.backends``, when first asked for."""

from __future__ import annotations

import functools
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import Final

from vkml.backends.interface import INTERFACE_VERSION, Backend
from vkml.errors import BackendError

ENTRY_POINT_GROUP: Final = "vkml.backends"
_INSTALL: Final = {"vulkan": "vkml-vulkan"}


def backend_names() -> list[str]:
    """Return the names of the installed backends, the CPU first."""
    names = {entry.name for entry in entry_points(group=ENTRY_POINT_GROUP)}
    return sorted(names | {"cpu"}, key=lambda name: (name != "cpu", name))


def _remedy(name: str) -> str:
    package = _INSTALL.get(name)
    if package is None:
        usable = ", ".join(repr(each) for each in backend_names() if each != "meta")
        return f"There are: {usable}. GPUs of any vendor are reached as 'vulkan'."
    try:
        installed = version(package)
    except PackageNotFoundError:
        return f"Install it with: pip install {package}"
    return f"{package} {installed} is installed and offers none; upgrade it when it does."


@functools.cache
def find_backend(name: str) -> Backend:
    """Return the backend `name`.

    Raises
    ------
    BackendError
        It is not installed, does not import, or speaks another version of the interface.
    """
    found = [entry for entry in entry_points(group=ENTRY_POINT_GROUP) if entry.name == name]
    if not found:
        raise BackendError(f"there is no backend named {name!r}. {_remedy(name)}")
    entry = found[0]
    origin = entry.dist.name if entry.dist is not None else entry.value
    try:
        backend: Backend = entry.load()
    except Exception as error:
        message = f"backend {name!r} of package {origin!r} failed to import: {error}. Reinstall it."
        raise BackendError(message) from error
    spoken = backend.interface_version
    if spoken != INTERFACE_VERSION:
        older = origin if spoken < INTERFACE_VERSION else "vkml-core"
        message = (
            f"backend {name!r} of package {origin!r} speaks interface version {spoken}, vkml-core "
            f"speaks {INTERFACE_VERSION}. Upgrade {older}: pip install --upgrade {older}"
        )
        raise BackendError(message)
    return backend
