"""Grad modes: nesting, exceptions, decorators, threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import vkml
from vkml import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled


@pytest.fixture(autouse=True)
def recording() -> Iterator[None]:
    assert is_grad_enabled()
    yield
    assert is_grad_enabled()


def test_no_grad_records_nothing() -> None:
    x: Any = vkml.ones(2, requires_grad=True)

    with no_grad():
        y = x * 2

    assert not y.requires_grad
    assert (x * 2).requires_grad


def test_modes_nest() -> None:
    seen = []
    with no_grad():
        seen.append(is_grad_enabled())
        with enable_grad():
            seen.append(is_grad_enabled())
            with no_grad():
                seen.append(is_grad_enabled())
            seen.append(is_grad_enabled())
        seen.append(is_grad_enabled())

    assert seen == [False, True, False, True, False]


def test_an_exception_restores_the_mode() -> None:
    with pytest.raises(ZeroDivisionError), no_grad():
        raise ZeroDivisionError
    assert is_grad_enabled()


def test_decorators_hold_during_the_call_only() -> None:
    @no_grad()
    def inside() -> bool:
        """Say whether."""
        return is_grad_enabled()

    assert inside.__doc__ == "Say whether."
    assert (inside(), is_grad_enabled()) == (False, True)


def test_a_decorated_function_may_call_itself() -> None:
    @no_grad()
    def countdown(n: int) -> list[bool]:
        return [is_grad_enabled(), *(countdown(n - 1) if n else [])]

    assert countdown(3) == [False] * 4


def test_a_decorated_function_that_raises_restores_the_mode() -> None:
    @no_grad()
    def broken() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        broken()
    assert is_grad_enabled()


def test_one_manager_may_be_entered_twice() -> None:
    manager = no_grad()

    with manager, manager:
        assert not is_grad_enabled()


def test_inference_mode_cannot_be_undone_inside() -> None:
    x: Any = vkml.ones(2, requires_grad=True)

    with inference_mode(), enable_grad():
        assert not (x * 2).requires_grad


def test_set_grad_enabled_acts_at_once() -> None:
    set_grad_enabled(False)
    try:
        assert not is_grad_enabled()
    finally:
        set_grad_enabled(True)


def test_set_grad_enabled_restores_after_a_block() -> None:
    with set_grad_enabled(False):
        assert not is_grad_enabled()
        with set_grad_enabled(True):
            assert is_grad_enabled()
        assert not is_grad_enabled()


def test_set_grad_enabled_as_a_decorator_holds_during_the_call_only() -> None:
    @set_grad_enabled(False)
    def inside() -> bool:
        return is_grad_enabled()

    assert is_grad_enabled()
    assert (inside(), is_grad_enabled()) == (False, True)


def test_each_thread_has_its_own_mode() -> None:
    seen = {}
    entered, checked = threading.Event(), threading.Event()

    def other() -> None:
        seen["before"] = is_grad_enabled()
        with no_grad():
            entered.set()
            checked.wait(10)

    with no_grad():
        thread = threading.Thread(target=other)
        thread.start()
        entered.wait(10)
    seen["main"] = is_grad_enabled()
    checked.set()
    thread.join()

    assert seen == {"before": True, "main": True}


def test_threads_record_and_differentiate_at_the_same_time() -> None:
    found = {}

    def work(number: int) -> None:
        for _ in range(50):
            x: Any = vkml.full((3,), float(number), requires_grad=True)
            (x * x * number).sum().backward()
        found[number] = x.grad.tolist()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == {n: [2.0 * n * n] * 3 for n in range(1, 6)}
