"""Barriers: where two pieces of work touch the same memory and one writes, and nowhere else."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

from vkml_vulkan.handle import VulkanDevice
from vkml_vulkan.operand import Operand

Calls: TypeAlias = Callable[[str], list[tuple[Any, ...]]]


class Program:
    """Operands that no work was recorded on, and work to record."""

    def __init__(self, handle: VulkanDevice, calls: Calls) -> None:
        self.handle = handle
        self.add = handle.kernel("add")
        self.a, self.b, self.c, self.d = (handle.upload(np.ones(3, np.float32)) for _ in range(4))
        self.record(self.a, self.b)  # prepares the kernel
        handle.synchronize()
        for each in (self.a, self.b, self.c, self.d):
            each.storage.chunk.read = each.storage.chunk.written = -1
        self.barriers = calls("vkCmdPipelineBarrier2")

    def record(self, source: Operand, target: Operand) -> None:
        """Record `target` = `source` + 1."""
        assert self.add is not None
        self.add(source, 1.0, target)


@pytest.fixture
def program(handle: VulkanDevice, calls: Calls) -> Program:
    return Program(handle, calls)


def test_independent_work_has_no_barrier(program: Program) -> None:
    program.record(program.a, program.b)
    program.record(program.c, program.d)

    assert program.barriers == []


def test_reading_twice_has_no_barrier(program: Program) -> None:
    program.record(program.a, program.b)
    program.record(program.a, program.c)

    assert program.barriers == []


def test_reading_what_was_written_has_a_barrier(program: Program) -> None:
    program.record(program.a, program.b)
    program.record(program.b, program.c)

    assert len(program.barriers) == 1


def test_writing_what_was_read_has_a_barrier(program: Program) -> None:
    program.record(program.a, program.b)
    program.record(program.c, program.a)

    assert len(program.barriers) == 1


def test_writing_what_was_written_has_a_barrier(program: Program) -> None:
    program.record(program.a, program.b)
    program.record(program.c, program.b)

    assert len(program.barriers) == 1


def test_work_in_place_has_a_barrier_only_the_second_time(program: Program) -> None:
    program.record(program.a, program.a)
    assert program.barriers == []

    program.record(program.a, program.a)

    assert len(program.barriers) == 1


def test_one_barrier_orders_all_that_came_before(program: Program) -> None:
    program.record(program.a, program.b)
    program.record(program.c, program.d)
    program.record(program.b, program.a)
    program.record(program.d, program.c)

    assert len(program.barriers) == 1


def test_a_barrier_is_needed_across_submissions(program: Program) -> None:
    program.record(program.a, program.b)
    program.handle.recorder.submit()
    program.barriers.clear()  # of which one is for the host

    program.record(program.b, program.c)

    assert len(program.barriers) == 1


def test_each_submission_shows_what_was_written_to_the_host(program: Program) -> None:
    program.record(program.a, program.b)

    program.handle.synchronize()

    assert len(program.barriers) == 1


@pytest.mark.parametrize("work", ["fill", "update", "copy"])
def test_transfers_are_ordered_like_kernels(program: Program, work: str) -> None:
    recorder = program.handle.recorder
    source, target = program.a.storage.chunk, program.b.storage.chunk
    record: dict[str, Callable[[], None]] = {
        "fill": lambda: recorder.fill(target, 0, 12, 0),
        "update": lambda: recorder.update(target, 0, bytes(12)),
        "copy": lambda: recorder.copy(source, 0, target, 0, 12),
    }

    record[work]()
    program.record(program.b, program.c)

    assert len(program.barriers) == 1


def test_a_chain_of_work_has_a_barrier_between_each_two(program: Program) -> None:
    names = (program.a, program.b, program.c, program.d)
    for source, target in itertools.pairwise(names):
        program.record(source, target)

    assert len(program.barriers) == 2
