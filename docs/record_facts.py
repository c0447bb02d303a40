"""What the reference says of an operation: read off its record, its code and its tests."""

import ast
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from vkml.ops.catalog import FAMILIES
from vkml.ops.definition import OPERATIONS, THROUGH_DECOMPOSITION, Operation
from vkml.ops.functions import FUNCTIONS
from vkml_vulkan.kernel_table import KERNELS

TESTS = Path(__file__).resolve().parents[1] / "packages/vkml-core/tests"
NONE = "none"


# Facts of a record -----------------------------------------------------------------------


def kind(record: Operation) -> str:
    """Return what sort of operation it is."""
    return "composite" if record.decomposition else "view" if record.view else "primitive"


def where(function: Any) -> str:
    """Return name and place of a function, with the line it begins at."""
    if isinstance(function, np.ufunc) or function.__module__.partition(".")[0] == "numpy":
        return f"``numpy.{function.__name__}``"
    function = inspect.unwrap(function)
    path, line = inspect.getsourcefile(function), function.__code__.co_firstlineno
    place = str(path).replace("\\", "/").rpartition("/vkml/")[2]
    name = "" if function.__name__ == "<lambda>" else f"``{function.__name__}`` in "
    return f"{name}``vkml/{place}:{line}``"


def cpu_kernel(record: Operation) -> str:
    """Return where the CPU kernel is."""
    if record.cpu is not None:
        return where(record.cpu)
    return "its decomposition" if record.decomposition else "its layout"


def vulkan_kernel(record: Operation) -> str:
    """Return the shader of the Vulkan kernel, and where it is launched."""
    entry = KERNELS.get(record.name)
    if entry is not None:
        return f"``{entry.shader}.comp`` by ``vkml_vulkan/kernels/{entry.kernel}.py``"
    if record.view:
        return "its layout"
    return "its decomposition" if record.decomposition else NONE


def _gradient(record: Operation) -> str:
    if record.gradient is None:
        return "not differentiable"
    through = record.gradient is THROUGH_DECOMPOSITION
    return "through its decomposition" if through else where(record.gradient)


def _written_as(record: Operation) -> str:
    rule = record.decomposition or record.view
    return where(rule) if rule else NONE


def _samples(record: Operation) -> str:
    return f"{len(record.samples(np.random.default_rng(0)))} cases"


FACTS: dict[str, Callable[[Operation], str]] = {
    "kind": kind,
    "CPU kernel": cpu_kernel,
    "Vulkan shader": vulkan_kernel,
    "gradient rule": _gradient,
    "decomposition or layout": _written_as,
    "generated tests": _samples,
}


def short(family: ModuleType) -> str:
    """Return the name of a family."""
    return family.__name__.rpartition(".")[2]


# From functions to records and tests ------------------------------------------------------


def records_of(family: ModuleType, name: str) -> list[Operation]:
    """Return the record of that name, then those that the function's code names."""
    values, kernels = _mentioned(family, name)
    mentioned = [each for each in values if isinstance(each, Operation)]
    found = [OPERATIONS.get(each) for each in (name, *kernels)] + mentioned
    return list(dict.fromkeys(each for each in found if each is not None))


def called_by(family: ModuleType, name: str) -> list[str]:
    """Return the names of the public functions that a function calls, sorted."""
    own = getattr(family, name)
    called = [each for each in _mentioned(family, name)[0] if isinstance(each, FunctionType)]
    public = {each.__name__ for each in called if FUNCTIONS.get(each.__name__) is each}
    return sorted(public - {own.__name__})


def is_differentiable(family: ModuleType, name: str) -> bool:
    """Return whether an operation that the function applies, or one it calls, has a gradient."""
    pending, seen = [(family, name)], set()
    while pending:
        where_and_name = pending.pop()
        seen.add(where_and_name)
        records = records_of(*where_and_name)
        if any(each.gradient is not None for each in records):
            return True
        called = [] if records else called_by(*where_and_name)
        pending += [each for each in map(_placed, called) if each not in seen]
    return False


def _placed(name: str) -> tuple[ModuleType, str]:
    return next(family for family in FAMILIES if name in family.__all__), name


@functools.cache
def _mentioned(family: ModuleType, name: str) -> tuple[list[Any], list[str]]:
    """Return the globals that a function names, and the kernels it looks up by their names.

    The functions of the family's module that are not public count as parts of it.
    """
    pending, seen = [getattr(family, name)], set()
    values: list[Any] = []
    kernels: list[str] = []
    while pending:
        function = pending.pop()
        seen.add(function)
        kernels += re.findall(r'kernels\["(\w+)"\]', inspect.getsource(function))
        found = [function.__globals__.get(each) for each in _names(function.__code__)]
        values += found
        pending += [
            each for each in found
            if isinstance(each, FunctionType) and each not in seen
            and each.__module__ == family.__name__ and each.__name__ not in family.__all__
        ]  # fmt: skip
    return values, kernels


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@functools.cache
def _test_functions() -> list[tuple[str, str]]:
    """Return module, name and text of each test of vkml-core, with what it uses of its module."""
    found = []
    for path in sorted(TESTS.rglob("test_*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        texts = {name: ast.unparse(node) for node in body for name in _bound_names(node)}
        found += [
            (path.stem, "\n".join(_with_used(name, texts)))
            for name in texts
            if name.startswith("test_")
        ]
    return found


def _bound_names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _with_used(name: str, texts: dict[str, str]) -> list[str]:
    """Return the text that defines `name`, then the texts of the names in it, and so on."""
    reached = [name]
    for each in reached:  # grows as it is walked
        words = dict.fromkeys(re.findall(r"\w+", texts[each]))
        reached += [word for word in words if word in texts and word not in reached]
    return [texts[each] for each in reached]


def count_tests(family: ModuleType, name: str) -> int:
    """Return how many tests use ``vkml.<name>``, or just the name where its family is tested."""
    qualified, word = re.compile(rf"\bvkml\.{name}\b"), re.compile(rf"(\b|_){name}(\b|_)")
    return sum(
        bool(qualified.search(text))
        or ("getattr(vkml" in text and f"'{name}'" in text)
        or (module == f"test_{short(family)}" and bool(word.search(text)))
        for module, text in _test_functions()
    )
