"""What kernels prepare is made once for each key, and not kept for ever."""

from __future__ import annotations

from vkml_vulkan import plans
from vkml_vulkan.plans import Plans


def test_a_plan_is_made_once() -> None:
    made: list[tuple[int, int]] = []

    def multiply(x: int, y: int) -> int:
        made.append((x, y))
        return x * y

    products: Plans[int] = Plans(multiply)

    assert (products[3, 4], products[3, 4]) == (12, 12)
    assert made == [(3, 4)]


def test_a_refusal_is_remembered_too() -> None:
    asked: list[int] = []
    refusals: Plans[None] = Plans(asked.append)

    assert (refusals[7,], refusals[7,]) == (None, None)
    assert asked == [7]


def test_ever_new_keys_do_not_fill_the_memory() -> None:
    squares: Plans[int] = Plans(lambda x: x * x)

    found = [squares[number,] for number in range(3 * plans._MOST_PLANS)]

    assert found == [number * number for number in range(3 * plans._MOST_PLANS)]
    assert len(squares) <= plans._MOST_PLANS
