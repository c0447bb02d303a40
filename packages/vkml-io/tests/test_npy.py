from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vkml_io.format import DTYPE_NAMES
from vkml_io.npy import build_npy_header, contiguous_strides, npy_header_size, parse_npy_header

SHAPES: list[tuple[int, ...]] = [(), (0,), (3,), (4, 3), (1,) * 32, (10**9, 0, 7)]


@pytest.mark.parametrize("descr", sorted(DTYPE_NAMES))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("fortran_order", [False, True])
def test_headers_are_those_that_numpy_writes(
    descr: str, shape: tuple[int, ...], fortran_order: bool
) -> None:
    expected = io.BytesIO()
    fields: dict[str, Any] = {"descr": descr, "fortran_order": fortran_order, "shape": shape}
    np.lib.format.write_array_header_1_0(expected, fields)

    header = build_npy_header(descr, shape, fortran_order)

    assert header == expected.getvalue()
    parsed = parse_npy_header(header)
    assert (parsed.descr, parsed.shape, parsed.fortran_order) == (descr, shape, fortran_order)
    assert parsed.size == npy_header_size(header[:12], 10**6) == len(header)


def test_the_table_of_dtypes_has_numpys_names() -> None:
    assert len(DTYPE_NAMES) == 25
    for descr, name in DTYPE_NAMES.items():
        assert np.dtype(descr).name == name
        assert np.dtype(descr).str == descr


@settings(max_examples=200, deadline=None, derandomize=True)
@given(shape=st.lists(st.integers(1, 4), max_size=5).map(tuple), fortran_order=st.booleans())
def test_strides_are_those_of_numpy(shape: tuple[int, ...], fortran_order: bool) -> None:
    array = np.empty(shape, "f4", order="F" if fortran_order else "C")

    assert contiguous_strides(shape, 4, fortran_order=fortran_order) == array.strides
