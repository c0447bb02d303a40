"""Every check of the repository; `nox -l` lists them.

Test sessions build the packages into wheels and install these into a new environment, as users
do. A package is tested beside the packages it declares and no others, and no package index can
ever supply a distribution named ``vkml-*`` (see `install`).
"""

import os
import re
import shutil
import sys
from pathlib import Path

import nox
from nox.command import CommandFailed

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / ".ci"))

from environments import (  # noqa: E402 - a sibling that is no package
    ALL,
    TORCH,
    TORCH_PYTHONS,
    find_interpreter,
    install,
    install_again,
    program,
    shader_tools,
    torch_for,
    version_of,
    wheel_of,
)

IMPORT_NAMES = {
    "vkml-io": "vkml_io",
    "vkml-core": "vkml",
    "vkml-vulkan": "vkml_vulkan",
    "vkml-nn": "vkml_nn",
}

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
PYTEST = ["pytest>=8.3", "hypothesis>=6.100"]
# The oldest NumPy that vkML accepts, or else that has wheels for the interpreter.
OLDEST_NUMPY = {"3.11": "2.0.*", "3.12": "2.0.*", "3.13": "2.1.*", "3.14": "2.3.*"}
DEMO = ["scikit-learn", "tqdm"]
# Each release of these finds something new to say; raise them in a change of its own.
RUFF = "ruff>=0.17,<0.18"
MYPY = ["mypy>=2.4,<2.5", "numpy==2.4.*"]  # NumPy's own annotations change, too

# What core's conformance suite is run with, beside everything on the first driver that is found.
# SwiftShader offers little more than Vulkan guarantees; MIN_SPEC takes no more of lavapipe.
VULKAN_SUITES = {
    "swiftshader": {"VK_DRIVER_FILES": os.environ.get("VKML_SWIFTSHADER_ICD", "")},
    "min-spec": {"VKML_MIN_SPEC": "1"},
}
# Slow modes run every n-th case of the suite only; `vulkan-modes` runs more of them.
VULKAN_DEBUG_MODES = {
    "staging": {"VKML_VULKAN_FORCE_STAGING": "1", "VKML_VULKAN_VALIDATION": "sync"},
    "access": {"VKML_VULKAN_DEBUG": "access"},
    "canaries": {"VKML_VULKAN_DEBUG": "canaries"},
    "gpu-assisted": {"VKML_VULKAN_DEBUG": "separate", "VKML_VULKAN_VALIDATION": "gpu"},
}
VULKAN_STEPS = {"staging": (7, 1), "access": (7, 1), "canaries": (7, 1), "gpu-assisted": (211, 7)}
VULKAN_WORKERS = "2"

TEST_SESSIONS = ["tests-io-alone", "tests-core", "tests-nn", "tests-vulkan"]

nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "venv"
nox.options.error_on_missing_interpreters = True
nox.options.sessions = [
    "versions",
    "shaders",
    "lint",
    "types",
    *TEST_SESSIONS,
    "tests-integration",
    "tests-oldest",
    "docs",
    "build",
]

# Two BLAS threads on shared cores make small products many times slower, and the number of
# threads changes the last bits of a result.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
# The software driver of the Vulkan tests: a worker thread costs it more than a small kernel.
os.environ.setdefault("LP_NUM_THREADS", "0")
if "VKML_LAVAPIPE_ICD" in os.environ:
    os.environ.setdefault("VK_DRIVER_FILES", os.environ["VKML_LAVAPIPE_ICD"])


# Tests -------------------------------------------------------------------------------


@nox.session(name="tests-io-alone")
def tests_io_alone(session: nox.Session) -> None:
    """Prove that vkml-io works with NumPy and nothing else of vkML."""
    install(session, ["vkml-io"], *PYTEST, "ml_dtypes")
    run_pytest(session, "packages/vkml-io/tests")


@nox.session(name="tests-core")
def tests_core(session: nox.Session) -> None:
    """Prove that tensors, gradients and CPU kernels are right, with PyTorch as the oracle."""
    install(session, ["vkml-core"], *PYTEST, "ml_dtypes", *torch_for(session))
    run_pytest(session, "packages/vkml-core/tests")


@nox.session(name="tests-nn")
def tests_nn(session: nox.Session) -> None:
    """Prove that modules, losses, optimisers and data loading agree with PyTorch."""
    install(session, ["vkml-nn"], *PYTEST, "ml_dtypes", *torch_for(session))
    run_pytest(session, "packages/vkml-nn/tests")


@nox.session(name="tests-vulkan")
def tests_vulkan(session: nox.Session) -> None:
    """Prove the Vulkan backend: all on one driver, core's suite on the other, samples of modes."""
    needs = [*PYTEST, "pytest-xdist", "ml_dtypes", "mpmath", *shader_tools()]
    install(session, ALL, *needs, *torch_for(session))
    run_pytest(session, "packages/vkml-vulkan/tests", "-n", VULKAN_WORKERS)
    for name, environment in VULKAN_SUITES.items():
        run_vulkan_suite(session, name, environment)
    for name, environment in VULKAN_DEBUG_MODES.items():
        step = str(VULKAN_STEPS[name][0])
        run_vulkan_suite(session, name, environment | {"VKML_SUITE_STEP": step})


@nox.session(name="vulkan-modes")
def vulkan_modes(session: nox.Session) -> None:
    """Prove core's suite on the Vulkan backend in every debug mode, whole where it can be."""
    install(session, ALL, *PYTEST, "pytest-xdist")
    for name, environment in VULKAN_DEBUG_MODES.items():
        step = str(VULKAN_STEPS[name][1])
        run_vulkan_suite(session, name, environment | {"VKML_SUITE_STEP": step})


@nox.session(name="tests-integration")
def tests_integration(session: nox.Session) -> None:
    """Prove what needs two packages or more: training, saving and loading across them."""
    install(session, ALL, *PYTEST, "ml_dtypes", "scikit-learn", *torch_for(session))
    run_pytest(session, "tests", "--ignore=tests/benchmarks", "--ignore=tests/demo")


@nox.session(name="tests-oldest")
def tests_oldest(session: nox.Session) -> None:
    """Prove that io, core and nn work with the oldest NumPy they accept and no extras."""
    oldest = OLDEST_NUMPY[version_of(session)]
    install(session, ["vkml-nn"], *PYTEST, f"numpy=={oldest}")
    run_pytest(session, *(f"packages/{name}/tests" for name in ["vkml-io", "vkml-core", "vkml-nn"]))


@nox.session
def fuzz(session: nox.Session) -> None:
    """Prove on thousands of new files that the checkpoint reader refuses or reads, never breaks."""
    install(session, ["vkml-io"], *PYTEST)
    session.env["VKML_FUZZ_EXAMPLES"] = os.environ.get("VKML_FUZZ_EXAMPLES", "3000")
    run_pytest(session, "packages/vkml-io/tests/test_properties.py")
    try:
        session.install("atheris")
    except CommandFailed:
        session.warn("atheris DID NOT RUN: it cannot be installed here")
        return
    seconds = os.environ.get("VKML_FUZZ_SECONDS", "60")
    limits = [f"-max_total_time={seconds}", "-timeout=5", "-rss_limit_mb=1024", "-verbosity=0"]
    for target in ["container", "json"]:
        corpus = Path(session.create_tmp()) / target
        script = "packages/vkml-io/tests/fuzz/targets.py"
        session.run("python", script, target, str(corpus), f"-artifact_prefix={corpus}-", *limits)


@nox.session(venv_backend="none")
def exhaustive(session: nox.Session) -> None:
    """Prove everything: all sessions, the slow tests too, on every interpreter that is found."""
    interpreters = {version: find_interpreter(version) for version in PYTHONS}
    current = f"{sys.version_info.major}.{sys.version_info.minor}"
    run_nox(session, ["versions", "shaders", "lint", "types", "docs", "build"])
    run_nox(session, ["bench", "demo", "fuzz", "vulkan-modes"])
    run_nox(session, ["tests-integration", "tests-oldest"], "--", "-m", "")
    for version, path in interpreters.items():
        if path is not None:
            python = sys.executable if version == current else path
            run_nox(session, TEST_SESSIONS, "--force-python", python, "--", "-m", "")
    missing = [version for version, path in interpreters.items() if path is None]
    session.log(f"interpreters tested: {', '.join(v for v in PYTHONS if v not in missing)}")
    if missing:
        session.warn(f"NOT TESTED, no such interpreter here: Python {', '.join(missing)}")


# Everything else that is proved -------------------------------------------------------


@nox.session
def shaders(session: nox.Session) -> None:
    """Prove that the shaders compile to what the manifest says and are valid, base-profile SPIR-V.

    ``-- --update`` rewrites the manifest first.
    """
    update = "--update" in session.posargs
    if update:
        session.posargs.remove("--update")  # the rest is for pytest
    session.install(*shader_tools())
    rebuilt = Path(session.create_tmp()) / "spirv"
    shutil.rmtree(rebuilt, ignore_errors=True)
    package = ROOT / "packages/vkml-vulkan"
    script = package / "src/vkml_vulkan/shader_build.py"
    choice = "--update" if update else "--check"
    session.run("python", str(script), choice, "--target", str(rebuilt))

    # The hook builds them once more, into the wheel whose modules are read here.
    install(session, ["vkml-vulkan"], *PYTEST)
    session.env["VKML_REQUIRE_SHADER_TOOLS"] = "1"
    run_pytest(session, *(str(package / f"tests/test_shader_{n}.py") for n in ["build", "rules"]))


@nox.session(reuse_venv=True)
def lint(session: nox.Session) -> None:
    """Prove that ruff finds nothing to say and nothing to format."""
    session.install(RUFF)
    session.run("ruff", "check", *(session.posargs or ["."]))
    session.run("ruff", "format", "--check", *(session.posargs or ["."]))


@nox.session(reuse_venv=True)
def types(session: nox.Session) -> None:
    """Prove that types hold: mypy --strict on all code, pyright on a user's script."""
    needs = [*PYTEST, *MYPY, *DEMO, "nox", "sybil", "ml_dtypes", "types-tqdm", "hatchling"]
    install_again(session, ALL, *needs)
    passed = [run_mypy(session, f"packages/{n}/src", f"packages/{n}/tests") for n in ALL]
    passed.append(
        run_mypy(
            session,
            "noxfile.py",
            "packages/vkml-vulkan/hatch_build.py",
            ".ci/check_files.py",
            ".ci/check_versions.py",
            ".ci/environments.py",
            "docs",
            "tests",
        )
    )
    if not all(passed):
        session.error("mypy is not content")

    try:
        session.install("pyright[nodejs]")
        session.run("pyright", "--version")
    except CommandFailed:
        session.warn("pyright DID NOT RUN: it cannot be installed or started here")
        return
    session.run("pyright", "tests/demo")


@nox.session(reuse_venv=True)
def docs(session: nox.Session) -> None:
    """Prove that the documentation builds without a warning and that its examples run."""
    install_again(session, ALL, "sphinx", "myst-parser", "pydata-sphinx-theme")
    session.install(*PYTEST, "sybil", "ml_dtypes")
    session.env["PYTHONPATH"] = str(ROOT / "docs")  # where run_examples.py is
    target = "docs/_build/html"
    session.run("sphinx-build", "-W", "--keep-going", "-E", "-q", "-b", "html", "docs", target)
    docstrings = ["--doctest-modules", "--pyargs", *IMPORT_NAMES.values()]
    with session.chdir(session.create_tmp()):  # examples write files
        run_pytest(session, *docstrings, report="docs-docstrings")
    run_pytest(session, "-p", "run_examples", "README.md", "docs", report="docs-pages")
    session.log(f"documentation: {ROOT / target / 'index.html'}")


@nox.session
def build(session: nox.Session) -> None:
    """Prove that sdists and wheels are complete, hold nothing else and agree with each other."""
    session.install("build", "twine")
    for name in ALL:
        folder = Path(session.create_tmp()) / name
        shutil.rmtree(folder, ignore_errors=True)
        # Without options, `build` makes the sdist from the tree and the wheel from the sdist.
        session.run(
            "python", "-m", "build", "--outdir", str(folder), f"packages/{name}", silent=True
        )
        sdist, wheel = next(folder.glob("*.tar.gz")), next(folder.glob("*.whl"))
        from_tree = str(wheel_of(session, name))
        session.run("python", ".ci/check_files.py", str(sdist), str(wheel), from_tree)
        session.run("twine", "check", "--strict", str(sdist), str(wheel))


@nox.session(venv_backend="none")
def versions(session: nox.Session) -> None:
    """Prove that the four packages have one version, ask for each other by range and have news."""
    session.run(sys.executable, ".ci/check_versions.py")


@nox.session
def bench(session: nox.Session) -> None:
    """Measure vkML beside its peers and print the ratios."""
    scripts = sorted(path.relative_to(ROOT) for path in ROOT.glob("tests/benchmarks/bench_*.py"))
    if not scripts:
        session.warn("NOTHING MEASURED: tests/benchmarks holds no script yet")
        return
    install(session, ALL, "ml_dtypes", "safetensors", "computeml", *torch_for(session))
    for script in scripts:
        session.run("python", str(script), *session.posargs)


@nox.session
def demo(session: nox.Session) -> None:
    """Train on digits, let vkml-io alone validate the checkpoint, load it and compare."""
    checkpoints = ROOT / "demo"
    shutil.rmtree(checkpoints, ignore_errors=True)
    install(session, ALL, *DEMO)
    session.run("python", "tests/demo/train.py", str(checkpoints))

    # What a registry has: vkml-io, and nothing that could run a model.
    registry = Path(session.create_tmp()) / "registry"
    session.run("python", "-m", "venv", "--clear", str(registry))
    wheel = str(wheel_of(session, "vkml-io"))
    session.run(program(registry, "python"), "-m", "pip", "install", wheel, external=True)
    for path in sorted(checkpoints.glob("*.vkml")):
        session.run(program(registry, "vkml-io"), "validate", str(path), external=True)
        session.run(program(registry, "vkml-io"), "info", str(path), external=True)

    session.run("python", "tests/demo/predict.py", str(checkpoints))


@nox.session(venv_backend="none")
def dev(session: nox.Session) -> None:
    """Make the editable environment .venv with every tool."""
    session.run(sys.executable, "-m", "venv", ".venv")
    python = program(ROOT / ".venv", "python")
    editable = [argument for name in ALL for argument in ("--editable", f"packages/{name}")]
    tools = ["nox", RUFF, *MYPY, "ml_dtypes", "types-tqdm", *DEMO, *shader_tools()]
    oracle = [TORCH] if f"3.{sys.version_info.minor}" in TORCH_PYTHONS else []
    session.run(python, "-m", "pip", "install", *editable, *PYTEST, *tools, *oracle)
    session.log(f"activate it: source {ROOT / '.venv/bin/activate'}")


# Running ------------------------------------------------------------------------------


def run_pytest(session: nox.Session, *arguments: str, report: str | None = None) -> None:
    """Run pytest; no test at all is a failure. Reports go to the folder VKML_REPORTS, if set."""
    settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
    options = [*settings, "-p", "no:cacheprovider"]
    if folder := os.environ.get("VKML_REPORTS"):
        name = re.sub(r"[^\w.-]+", "-", report or session.name)
        options.append(f"--junitxml={Path(folder) / name}.xml")
    command = ["python", "-P", "-m", "pytest", *options, "-m", "not exhaustive"]
    session.run(*command, *arguments, *session.posargs)


def run_vulkan_suite(session: nox.Session, name: str, environment: dict[str, str]) -> None:
    """Run core's suite on the Vulkan backend, in an environment."""
    drivers = environment.get("VK_DRIVER_FILES", os.environ.get("VKML_LAVAPIPE_ICD", ""))
    if not drivers and "VK_DRIVER_FILES" in environment:
        session.warn(f"NOT TESTED on {name}: set VKML_{name.upper()}_ICD to its .json file")
        return
    if drivers:
        environment = environment | {"VK_DRIVER_FILES": drivers}
    suite = "packages/vkml-vulkan/tests/test_backend_suite.py"
    session.env.update(environment)
    try:
        run_pytest(session, suite, "-n", VULKAN_WORKERS, report=f"{session.name}-{name}")
    finally:
        for each in environment:
            del session.env[each]


def run_mypy(session: nox.Session, *paths: str) -> bool:
    """Return whether mypy is content with `paths`, which may be roots of import packages."""
    roots = [f"packages/{name}/src" for name in ALL]
    roots += [
        "docs",
        ".ci",
        "tests/demo",
        "tests/benchmarks",
        *(path for path in paths if path.endswith("/tests")),
    ]
    present = [path for path in paths if path.endswith(".py") or any(Path(path).rglob("*.py"))]
    try:
        session.run("mypy", "--strict", *present, env={"MYPYPATH": os.pathsep.join(roots)})
    except CommandFailed:
        return False
    return True


def run_nox(session: nox.Session, sessions: list[str], *options: str) -> None:
    """Run `sessions` in another nox, so that interpreter and options can differ."""
    session.run(sys.executable, "-m", "nox", "-s", *sessions, *options, external=True)
