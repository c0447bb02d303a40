"""Data sets for worker processes, which import them by this module's name."""

from __future__ import annotations

import os
from collections.abc import Iterator

import vkml
from vkml import data


class Numbers(data.Dataset[int]):
    """Each number itself; 17 is broken, and 19 ends the process."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> int:
        if index == 17:
            raise ValueError("sample 17 is broken")
        if index == 18:
            raise Unportable("sample", 18)
        if index == 19:
            os._exit(3)
        return index


class Unportable(Exception):  # noqa: N818 - short
    """Cannot be pickled: it is made of two arguments and keeps one."""

    def __init__(self, what: str, number: int) -> None:
        super().__init__(f"{what} {number} is lost")


class Stream(data.IterableDataset[int]):
    """0 up to `count`, divided among the workers."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[int]:
        info = data.get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, self.count, step))

    def __len__(self) -> int:
        return self.count


class Noise(data.Dataset[float]):
    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> float:
        return float(vkml.rand(1).item())
