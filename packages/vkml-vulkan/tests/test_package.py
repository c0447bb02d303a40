import subprocess
import sys
from importlib import metadata

import vkml_vulkan

IMPORT_AND_LIST_MODULES = """
import sys, threading
before = set(sys.modules)
import vkml_vulkan
assert threading.active_count() == 1, "importing starts no thread"
print("\\n".join(sorted(set(sys.modules) - before)))
"""

OPENED_BY_IMPORT = """
import sys
opened = []
def watch(event, arguments):
    if event in {"open", "ctypes.dlopen", "subprocess.Popen", "socket.connect"}:
        opened.append((event, str(arguments[0])))
sys.addaudithook(watch)
import vkml_vulkan
own = vkml_vulkan.__path__[0]
print([event for event in opened if not event[1].startswith(own)])
"""


def test_importing_loads_neither_vulkan_nor_any_other_package() -> None:
    command = [sys.executable, "-c", IMPORT_AND_LIST_MODULES]

    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()

    assert loaded == ["vkml_vulkan"]


def test_importing_opens_nothing_but_its_own_files() -> None:
    command = [sys.executable, "-c", OPENED_BY_IMPORT]

    opened = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    assert opened == "[]"


def test_the_version_is_that_of_the_distribution() -> None:
    assert vkml_vulkan.__version__ == metadata.version("vkml-vulkan")
