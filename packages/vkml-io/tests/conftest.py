from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from forge import Forge

# pytest imports test modules by their paths: modules that they share are found here.
sys.path.append(str(Path(__file__).parent))


@pytest.fixture
def forge(tmp_path: Path) -> Forge:
    from forge import Forge

    return Forge(tmp_path)


@pytest.fixture(scope="session")
def forge_factory() -> type[Forge]:
    """Return the class itself: hypothesis takes no fixture that is made for each test."""
    from forge import Forge

    return Forge


@pytest.fixture
def arrays() -> dict[str, np.ndarray[Any, Any]]:
    """Arrays of many dtypes, shapes and memory orders."""
    generator = np.random.default_rng(7)
    table = generator.normal(size=(4, 6))
    return {
        "weight": table.astype("f4"),
        "block.0/bias": np.arange(5, dtype="<i8"),
        "schlüssel 鍵": np.array([[1, 2], [3, 4]], dtype=">u2"),
        "fortran": np.asfortranarray(table),
        "strided": table[::2, ::-3],
        "broadcast": np.broadcast_to(np.float16(0.5), (3, 2)),
        "scalar": np.array(7, dtype="u1"),
        "empty": np.zeros((0, 3), dtype="c8"),
        "flags": np.array([True, False, True]),
        "specials": np.array([np.nan, np.inf, -0.0, 5e-324]),
        "complex": table.astype("c16"),
    }
