"""The targets of the fuzzer hold for their seeds, and for each seed with a byte changed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from fuzz.seeds import LARGEST, container_seeds, json_seeds
from fuzz.targets import TARGETS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="uses a file in memory")


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    containers = container_seeds(tmp_path_factory.mktemp("containers"))
    return {
        "container": containers,
        "json": json_seeds(tmp_path_factory.mktemp("json"), containers),
    }


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_holds_for_every_seed(target: str, seeds: dict[str, list[Path]]) -> None:
    verdicts = {path.name: TARGETS[target](path.read_bytes()) for path in seeds[target]}

    assert len(verdicts) > 40
    assert {True, False} == set(verdicts.values())


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_holds_for_every_seed_with_one_byte_changed(
    target: str, seeds: dict[str, list[Path]]
) -> None:
    for path in seeds[target][::6]:
        data = path.read_bytes()
        for position in range(0, len(data), 23):
            TARGETS[target](data[:position] + bytes([data[position] ^ 0x55]) + data[position + 1 :])


def test_seeds_are_small(seeds: dict[str, list[Path]]) -> None:
    for paths in seeds.values():
        assert max(path.stat().st_size for path in paths) <= LARGEST
