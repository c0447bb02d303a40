"""Movement against torch: shapes, strides, gradients, shared memory, and what is no shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import vkml

torch = pytest.importorskip("torch")

MOVES: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "reshape": ((3, 4), lambda x: x.reshape(2, 6)),
    "reshape to a row": ((3, 4), lambda x: x.reshape(-1)),
    "reshape by a tuple": ((3, 4), lambda x: x.reshape((2, -1, 3))),
    "reshape a transpose": ((3, 4), lambda x: x.transpose(0, 1).reshape(2, 6)),
    "reshape rank 0": ((), lambda x: x.reshape(1, 1)),
    "reshape to rank 0": ((1, 1), lambda x: x.reshape(())),
    "reshape nothing": ((0, 3), lambda x: x.reshape(-1, 3)),
    "view": ((3, 4), lambda x: x.view(4, 3)),
    "view a part": ((3, 4), lambda x: x[:, 1:3].view(3, 2, 1)),
    "view a transpose": ((3, 4), lambda x: x.transpose(0, 1).view(2, 2, 3)),
    "view nothing": ((0, 3), lambda x: x.view(3, 0)),
    "flatten": ((2, 3, 4), lambda x: x.flatten()),
    "flatten two": ((2, 3, 4), lambda x: x.flatten(1)),
    "flatten the first": ((2, 3, 4), lambda x: x.flatten(0, -2)),
    "flatten rank 0": ((), lambda x: x.flatten()),
    "unflatten": ((2, 12), lambda x: x.unflatten(1, (3, -1))),
    "squeeze": ((1, 3, 1), lambda x: x.squeeze()),
    "squeeze one": ((1, 3, 1), lambda x: x.squeeze(-1)),
    "squeeze two": ((1, 3, 1), lambda x: x.squeeze((0, 2))),
    "squeeze what is long": ((1, 3, 1), lambda x: x.squeeze(1)),
    "squeeze rank 0": ((), lambda x: x.squeeze(0)),
    "unsqueeze": ((3, 4), lambda x: x.unsqueeze(1)),
    "unsqueeze behind": ((3, 4), lambda x: x.unsqueeze(-1)),
    "unsqueeze rank 0": ((), lambda x: x.unsqueeze(0)),
    "permute": ((2, 3, 4), lambda x: x.permute(2, 0, 1)),
    "permute from behind": ((2, 3, 4), lambda x: x.permute((-1, 0, -2))),
    "transpose": ((2, 3, 4), lambda x: x.transpose(0, -1)),
    "transpose rank 0": ((), lambda x: x.transpose(0, -1)),
    "T": ((2, 3), lambda x: x.T),
    "mT": ((2, 3, 4), lambda x: x.mT),
    "t of a vector": ((3,), lambda x: x.t()),
    "expand": ((3, 1), lambda x: x.expand(2, -1, 4)),
    "expand to nothing": ((1,), lambda x: x.expand(0)),
    "expand nothing": ((0, 1), lambda x: x.expand(2, 0, 3)),
    "expand rank 0": ((), lambda x: x.expand(2, 3)),
    "expand to itself": ((3,), lambda x: x.expand(3)),
    "expand a part": ((3, 4), lambda x: x[1:2, ::2].expand(5, 2)),
    "contiguous": ((3, 4), lambda x: x.T.contiguous()),
    "clone": ((3, 4), lambda x: x.clone()),
}
each_move = pytest.mark.parametrize(("shape", "move"), MOVES.values(), ids=MOVES)


def numbers(*shape: int) -> Any:
    return np.asarray(np.random.default_rng(3).standard_normal(shape))


@each_move
def test_move_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, shape: Any, move: Callable[[Any], Any]
) -> None:
    agrees_with_torch(lambda x: move(x * x), lambda x: move(x * x), numbers(*shape))


@each_move
def test_move_has_the_strides_of_torch(shape: Any, move: Callable[[Any], Any]) -> None:
    x = numbers(*shape)

    ours, theirs = move(vkml.tensor(x)), move(torch.tensor(x))

    for size, mine, other in zip(theirs.shape, ours.stride(), theirs.stride(), strict=True):
        assert size < 2 or 0 in theirs.shape or mine == other


@pytest.mark.parametrize("dtype", ["bool", "int32", "complex64"])
@each_move
def test_move_keeps_any_dtype(shape: Any, move: Callable[[Any], Any], dtype: str) -> None:
    x = numbers(*shape).astype(dtype)

    ours = move(vkml.tensor(x))

    assert ours.dtype.name == dtype
    assert_array_equal(ours.numpy(), move(torch.tensor(x)).numpy())


# shared memory ----------------------------------------------------------------------------

VIEWS = [name for name in MOVES if name not in ("reshape a transpose", "contiguous", "clone")]


@pytest.mark.parametrize("name", VIEWS)
def test_view_shares_the_memory_and_the_version_of_its_base(name: str) -> None:
    shape, move = MOVES[name]
    x = vkml.tensor(numbers(*shape))
    view = move(x)

    x.mul_(2)

    assert view.storage() == x.storage()
    assert_array_equal(view.numpy(), move(x).numpy())


@pytest.mark.parametrize("name", ["reshape a transpose", "contiguous", "clone"])
def test_copy_has_memory_of_its_own(name: str) -> None:
    shape, move = MOVES[name]
    x = vkml.tensor(numbers(*shape))

    copy = move(x)

    assert copy.storage() != x.storage()
    assert copy.is_contiguous()


@pytest.mark.parametrize("name", [each for each in VIEWS if "expand" not in each])
def test_a_write_through_a_view_is_seen_by_its_base(name: str) -> None:
    shape, move = MOVES[name]
    ours, theirs = vkml.tensor(numbers(*shape)), torch.tensor(numbers(*shape))

    move(ours).add_(1)
    move(theirs).add_(1)

    assert_array_equal(ours.numpy(), theirs.numpy())


def test_a_changed_view_is_noticed_by_the_backward_pass_of_its_base() -> None:
    x = vkml.ones(2, 2, requires_grad=True)
    y = x * 1
    result = (y * y).sum()

    y.view(4).zero_()

    with pytest.raises(vkml.AutogradError, match="mul"):
        result.backward()


def test_contiguous_returns_what_is_contiguous_already() -> None:
    x = vkml.zeros(2, 3)

    assert x.contiguous() is x
    assert vkml.zeros(1, 3).T.is_contiguous() == torch.zeros(1, 3).T.is_contiguous()


# errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "move",
    [
        lambda x: x.expand(2),
        lambda x: x.expand(2, 2),
        lambda x: x.expand(0),
        lambda x: x.expand(-1, 3),
        lambda x: x.expand(-2),
        lambda x: x.expand(2.5),
        lambda x: x.expand(()),
        lambda x: vkml.broadcast_to(x, (2,)),
        lambda x: vkml.broadcast_to(x, (3, 2)),
        lambda x: vkml.broadcast_to(x, ()),
        lambda x: x.expand_as(vkml.zeros(2)),
        lambda x: x.view(2),
        lambda x: x.view(4),
        lambda x: x.view(-1, 2),
        lambda x: x.view(-1, -1),
        lambda x: x.view(-3),
        lambda x: x.view(0, -1),
        lambda x: x.reshape(2, 2),
        lambda x: x.reshape(()),
        lambda x: x.reshape(1.5),
        lambda x: x.reshape("3"),
        lambda x: x.permute(0, 0),
        lambda x: x.permute(1),
        lambda x: x.permute(()),
        lambda x: x.transpose(0, 1),
        lambda x: x.squeeze(1),
        lambda x: x.unsqueeze(2),
        lambda x: x.unsqueeze(-3),
        lambda x: x.flatten(1),
        lambda x: x.unflatten(0, (2, 2)),
        lambda x: x.unflatten(0, (2, -1)),
        lambda x: x.unflatten(1, (3,)),
        lambda x: x.reshape(1, 3).flatten(1, 0),
        lambda x: x[:0].reshape(0, -1),
        lambda x: x[0].expand(-1),
    ],
)
def test_what_is_no_shape_for_these_elements_is_an_error(move: Callable[[Any], Any]) -> None:
    with pytest.raises(vkml.ShapeError):
        move(vkml.arange(3))


@pytest.mark.parametrize("source", [lambda x: x.T, lambda x: x[:, :2], lambda x: x[::-1]])
def test_a_view_that_no_strides_can_show_is_an_error(source: Callable[[Any], Any]) -> None:
    x = source(vkml.arange(12).reshape(3, 4))

    with pytest.raises(vkml.ShapeError, match=r"without a copy; use x\.reshape"):
        x.view(-1)

    assert_array_equal(x.reshape(-1).numpy(), x.numpy().reshape(-1))


def test_a_view_of_a_flipped_vector_splits_its_axis() -> None:
    x = vkml.arange(6)[::-1]

    assert_array_equal(x.view(2, 3).numpy(), [[5, 4, 3], [2, 1, 0]])


def test_a_view_of_an_expanded_tensor_is_an_error() -> None:
    with pytest.raises(vkml.ShapeError, match="without a copy"):
        vkml.arange(3).expand(2, 3).view(6)


def test_t_swaps_the_axes_of_matrices_only() -> None:
    assert vkml.ones(2, 3).t().shape == (3, 2)
    assert vkml.ones(2).t().shape == (2,)
    with pytest.raises(vkml.ShapeError, match="t: expected a matrix"):
        vkml.ones(2, 3, 4).t()
