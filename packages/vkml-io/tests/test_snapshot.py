from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vkml_io.snapshot import snapshot

if TYPE_CHECKING:
    from vkml_io.aliases import Array


def test_copies_have_values_dtype_shape_and_order_of_the_arrays(arrays: dict[str, Array]) -> None:
    copies = snapshot(arrays)

    assert list(copies) == list(arrays)
    for key, array in arrays.items():
        assert copies[key].dtype == array.dtype
        assert copies[key].shape == array.shape
        assert copies[key].tobytes() == array.tobytes()
        assert not np.may_share_memory(copies[key], array)


def test_views_of_one_array_are_views_of_one_copy() -> None:
    numbers = np.arange(1, 10)
    copies = snapshot({"evens": numbers[1::2], "numbers": numbers, "last": numbers[-1:]})

    copies["evens"][...] *= 2
    copies["last"][...] = 0

    assert copies["numbers"].tolist() == [1, 4, 3, 8, 5, 12, 7, 16, 0]
    assert numbers.tolist() == list(range(1, 10))


def test_a_small_view_alone_is_copied_without_its_base() -> None:
    base = np.zeros(100_000)

    copy = snapshot({"small": base[::20_000]})["small"]

    assert copy.nbytes == copy.base.nbytes if copy.base is not None else copy.flags.owndata


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
def test_any_views_share_memory_as_before(data: st.DataObject) -> None:
    bases = [np.arange(24.0).reshape(4, 6), np.arange(10, dtype="i2")]
    index = st.slices(6)
    views = {
        f"v{n}": data.draw(st.sampled_from(bases))[data.draw(index)]
        for n in range(data.draw(st.integers(0, 5)))
    }

    copies = snapshot(views)

    for a in views:
        assert np.array_equal(copies[a], views[a])
        for b in views:
            assert np.shares_memory(copies[a], copies[b]) == np.shares_memory(views[a], views[b])
            assert not np.shares_memory(copies[a], views[b])
