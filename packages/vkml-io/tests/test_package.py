from __future__ import annotations

import subprocess
import sys

import vkml_io

_FOREIGN = """
import sys
import vkml_io
roots = {name.partition('.')[0] for name in sys.modules}
assert 'numpy' in roots
found = roots & {'vkml', 'vkml_nn', 'vkml_vulkan', 'vulkan', 'torch', 'ml_dtypes', 'h5py'}
assert not found, found
"""


def test_import_loads_numpy_and_nothing_else_of_vkml() -> None:
    result = subprocess.run([sys.executable, "-c", _FOREIGN], capture_output=True, text=True)

    assert result.returncode == 0, result.stderr


def test_every_public_name_exists_and_has_a_docstring() -> None:
    for name in vkml_io.__all__:
        assert getattr(vkml_io, name).__doc__, name


def test_public_names_are_sorted() -> None:
    assert vkml_io.__all__ == sorted(vkml_io.__all__)


def test_a_state_mismatch_is_a_key_error_with_a_plain_message() -> None:
    error = vkml_io.StateMismatchError("no key 'w'", code="C7", path="a.vkml", offset=3)

    assert isinstance(error, KeyError)
    assert str(error) == "a.vkml: no key 'w' [C7, byte 3]"


def test_errors_survive_pickling_between_processes() -> None:
    import pickle

    error = vkml_io.IntegrityError("damaged", code="D9", path="a.vkml", member="m", offset=1)

    copy = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own bytes

    assert (type(copy), str(copy), copy.code) == (vkml_io.IntegrityError, str(error), "D9")
