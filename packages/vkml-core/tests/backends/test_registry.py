"""How backends are found, and what is said when they cannot be."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import vkml
from vkml.backends.interface import INTERFACE_VERSION
from vkml.backends.registry import backend_names, find_backend
from vkml.errors import BackendError, DeviceError

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a distribution with a backend, made of one module's source."""
    monkeypatch.syspath_prepend(str(tmp_path))
    find_backend.cache_clear()

    def install(package: str, backend: str, source: str) -> None:
        module = f"{package.replace('-', '_')}_module"
        (tmp_path / f"{module}.py").write_text(source)
        info = tmp_path / f"{package.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        entry = f"[vkml.backends]\n{backend} = {module}:BACKEND\n"
        (info / "entry_points.txt").write_text(entry)
        monkeypatch.delitem(sys.modules, module, raising=False)

    yield install
    find_backend.cache_clear()


BACKEND = """
class Backend:
    interface_version = {version}
    def list_devices(self): return ()
    def why_unavailable(self): return "there is no driver; install mesa-vulkan-drivers."
BACKEND = Backend()
"""


def test_the_cpu_comes_first() -> None:
    assert backend_names()[0] == "cpu"
    assert "meta" in backend_names()


def test_an_unknown_backend_lists_those_there_are() -> None:
    with pytest.raises(BackendError, match=r"no backend named 'tpu'.*'cpu'"):
        vkml.device("tpu")


def test_a_backend_that_is_not_installed_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vkml.backends.registry.entry_points", lambda **_: ())
    find_backend.cache_clear()

    with pytest.raises(BackendError, match="pip install vkml-vulkan"):
        find_backend("vulkan")
    find_backend.cache_clear()


def test_a_backend_that_does_not_import_names_package_and_cause(install: Install) -> None:
    install("vkml-broken", "broken", "import no_such_module")

    with pytest.raises(
        BackendError, match=r"'vkml-broken' failed to import.*no_such_module"
    ) as found:
        vkml.device("broken")
    assert isinstance(found.value.__cause__, ImportError)


def test_a_backend_without_the_named_object_is_an_import_failure(install: Install) -> None:
    install("vkml-hollow", "hollow", "")

    with pytest.raises(BackendError, match="failed to import"):
        vkml.device("hollow")


def test_an_old_backend_is_to_be_upgraded(install: Install) -> None:
    install("vkml-old", "old", BACKEND.format(version=INTERFACE_VERSION - 1))

    with pytest.raises(BackendError, match="pip install --upgrade vkml-old"):
        vkml.device("old")


def test_a_backend_that_is_too_new_asks_for_a_newer_core(install: Install) -> None:
    install("vkml-new", "new", BACKEND.format(version=INTERFACE_VERSION + 1))

    with pytest.raises(BackendError, match="pip install --upgrade vkml-core"):
        vkml.device("new")


def test_a_backend_without_devices_says_what_is_missing(install: Install) -> None:
    install("vkml-bare", "bare", BACKEND.format(version=INTERFACE_VERSION))

    with pytest.raises(DeviceError, match="install mesa-vulkan-drivers"):
        vkml.device("bare")


def test_broken_backends_do_not_hide_the_cpu(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("vkml-broken2", "broken2", "raise RuntimeError('no')")
    install("vkml-bare2", "bare2", BACKEND.format(version=INTERFACE_VERSION))
    names = ["cpu", "bare2", "broken2"]
    monkeypatch.setattr(importlib.import_module("vkml.device"), "backend_names", lambda: names)

    chosen, reason = vkml.best_device()

    assert vkml.available_devices()[0] == "cpu"
    assert chosen == "cpu"
    assert "bare2: there is no driver" in reason


def test_a_backend_is_loaded_once(install: Install) -> None:
    install("vkml-once", "once", BACKEND.format(version=INTERFACE_VERSION))

    assert find_backend("once") is find_backend("once")


def test_the_strided_backend_is_found_and_opened(strided: vkml.Device) -> None:
    x = vkml.ones(3, device=strided)

    assert (x + 1).tolist() == [2, 2, 2]
    assert strided in vkml.available_devices()
