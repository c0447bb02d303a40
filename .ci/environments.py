"""The environments of the sessions: wheels built once, installed as users install them."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import nox
from nox.command import CommandFailed

ROOT = Path(__file__).resolve().parents[1]

# Each distribution with the ones it stands on, lowest first.
STANDS_ON = {
    "vkml-io": [],
    "vkml-core": ["vkml-io"],
    "vkml-vulkan": ["vkml-io", "vkml-core"],
    "vkml-nn": ["vkml-io", "vkml-core"],
}
ALL = list(STANDS_ON)

# The oracle of many tests, required on the interpreters of TORCH_PYTHONS and used on the one that
# runs nox where pip finds it. PyPI's Linux build brings gigabytes of CUDA along; set
# PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu to get the CPU build instead.
TORCH = "torch==2.13.0"
TORCH_PYTHONS = ["3.11"]


def install(session: nox.Session, names: list[str], *needs: str) -> None:
    """Install `names`, the packages they stand on, and `needs`, in one resolution.

    Every ``vkml-*`` distribution is given as the path of a wheel. The others are constrained to
    a version that cannot exist, so that a package index never supplies one.
    """
    wanted = [name for name in ALL if name in names or any(name in STANDS_ON[n] for n in names)]
    wheels = [str(wheel_of(session, name)) for name in wanted]
    constraints = Path(session.create_tmp()) / "constraints.txt"
    constraints.write_text("".join(f"{name}<0\n" for name in ALL if name not in wanted))
    session.install("--constraint", str(constraints), *wheels, *needs)


def install_again(session: nox.Session, names: list[str], *needs: str) -> None:
    """Install as `install` does, into an environment that may hold an older build."""
    install(session, names, *needs)
    wheels = [str(wheel_of(session, name)) for name in names]
    session.install("--force-reinstall", "--no-deps", *wheels)


def wheel_of(session: nox.Session, name: str) -> Path:
    """Return the path of the wheel of `name`, built once for each state of its source."""
    source = ROOT / "packages" / name
    folder = ROOT / ".nox" / "wheels" / digest_of(source)
    if not any(folder.glob("*.whl")):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as building:
            arguments = ["--no-deps", "--wheel-dir", building, str(source)]
            session.run("python", "-m", "pip", "wheel", *arguments, silent=True)
            built = next(Path(building).glob("*.whl"))
            built.replace(folder / built.name)  # whole or not at all
    return next(folder.glob("*.whl"))


def digest_of(source: Path) -> str:
    """Return a digest of all that a wheel is built from."""
    digest = hashlib.sha256(str(source).encode())
    files = [*source.glob("*.toml"), *source.glob("*.py"), source / "README.md", source / "LICENSE"]
    files += sorted(path for path in (source / "src").rglob("*") if path.is_file())
    caches = ("__pycache__", ".mypy_cache", ".ruff_cache", "spirv")  # the shaders' own are built
    for path in (path for path in files if not any(cache in path.parts for cache in caches)):
        digest.update(str(path.relative_to(source)).encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def shader_tools() -> list[str]:
    """Return the pinned compiler of the shaders and its companion, as the build requires them."""
    text = (ROOT / "packages/vkml-vulkan/pyproject.toml").read_text()
    requirements: list[str] = tomllib.loads(text)["build-system"]["requires"]
    return [requirement for requirement in requirements if requirement.startswith("cmeel-")]


def torch_for(session: nox.Session) -> list[str]:
    """Return the requirement of PyTorch where it is tested, else nothing, and say so."""
    version = version_of(session)
    current = f"{sys.version_info.major}.{sys.version_info.minor}"
    if version in TORCH_PYTHONS or (version == current and can_install(session, TORCH)):
        return [TORCH]
    session.warn(f"WITHOUT PyTorch on Python {version}: tests against that oracle are skipped")
    return []


def can_install(session: nox.Session, requirement: str) -> bool:
    """Return whether pip finds `requirement` for the session's interpreter."""
    command = ["python", "-m", "pip", "install", "--dry-run", "--no-deps", "--quiet", requirement]
    try:
        session.run(*command, silent=True)
    except CommandFailed:
        return False
    return True


def version_of(session: nox.Session) -> str:
    """Return the version of the session's interpreter, like ``3.11``."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return str(session.run("python", "-c", code, silent=True, log=False)).strip()


def program(environment: Path, name: str) -> str:
    """Return the path of a program in a virtual environment."""
    return str(environment / ("Scripts" if os.name == "nt" else "bin") / name)


def find_interpreter(version: str) -> str | None:
    """Return a working interpreter of that version, from PATH or pyenv, or None."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    on_path = shutil.which(f"python{version}")
    candidates = [Path(on_path)] if on_path else []
    candidates += sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)
    code = f"import sys, ensurepip; sys.exit('%d.%d' % sys.version_info[:2] != {version!r})"
    for path in candidates:
        if subprocess.run([path, "-c", code], capture_output=True, check=False).returncode == 0:
            return str(path)
    return None
