"""Check that the four packages have one version, ask for each other by range and have news."""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def complaints_about_versions() -> list[str]:
    """Return a sentence for each version, range or changelog heading that is wrong."""
    files = sorted(ROOT.glob("packages/*/pyproject.toml"))
    projects = [tomllib.loads(path.read_text())["project"] for path in files]
    version = projects[0]["version"]
    major, minor = map(int, version.split(".")[:2])
    complaints = []
    for project in projects:
        name = project["name"]
        if project["version"] != version:
            complaints.append(f"{name} is {project['version']}, {projects[0]['name']} is {version}")
        extras = project.get("optional-dependencies", {}).values()
        for need in [*project["dependencies"], *(need for extra in extras for need in extra)]:
            other = re.match(r"vkml-\w+", need)
            if other and need != f"{other[0]}>={major}.{minor},<{major}.{minor + 1}":
                complaints.append(f"{name} needs {need!r}: not the range of version {version}")
    for path in ROOT.glob("packages/*/src/*/__init__.py"):
        written = re.search(r'^__version__ = "(.*)"', path.read_text(), re.MULTILINE)
        if written and written[1] != version:
            complaints.append(f"{path.relative_to(ROOT)} says {written[1]}, not {version}")
    if "\n## [Unreleased]\n" not in (ROOT / "CHANGELOG.md").read_text():
        complaints.append("CHANGELOG.md has no section '## [Unreleased]'")
    return complaints


if __name__ == "__main__":
    sys.exit("\n".join(complaints_about_versions()) or None)
