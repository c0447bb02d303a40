from typing import Any

import numpy as np
import pytest

import vkml

torch = pytest.importorskip("torch")


def numbers(*shape: int, dtype: Any = np.float32, seed: int = 7) -> Any:
    return np.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


EQUATIONS = [
    ("ij->ji", [(3, 4)]),
    ("ij", [(3, 4)]),
    ("ji", [(3, 4)]),
    ("ij->", [(3, 4)]),
    ("ij->i", [(3, 4)]),
    ("ii->i", [(4, 4)]),
    ("ii", [(4, 4)]),
    ("iji->j", [(3, 4, 3)]),
    ("iii->i", [(3, 3, 3)]),
    ("...ij->...ji", [(2, 3, 4)]),
    ("ij,jk->ik", [(3, 4), (4, 5)]),
    ("ij,jk", [(3, 4), (4, 5)]),
    ("ij,kj->ki", [(3, 4), (5, 4)]),
    ("i,i->", [(4,), (4,)]),
    ("i,i->i", [(4,), (4,)]),
    ("i,j->ij", [(3,), (4,)]),
    ("i,j->ji", [(3,), (4,)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
    ("bqhd,bkhd->bhqk", [(2, 4, 3, 5), (2, 6, 3, 5)]),
    ("...ij,...jk->...ik", [(2, 3, 4), (5, 1, 4, 6)]),
    ("...ij,jk", [(2, 3, 4), (4, 5)]),
    ("i...,i...->...", [(3, 2, 4), (3, 4)]),
    ("...,...", [(2, 1), (3,)]),
    ("ij,ij->ij", [(3, 1), (3, 4)]),
    ("ij,j->i", [(3, 1), (4,)]),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
    ("ai,bi,ci->abc", [(2, 5), (3, 5), (4, 5)]),
    ("ij,kl->", [(2, 3), (4, 5)]),
    (" b n i , n i j -> b n j ", [(2, 3, 4), (3, 4, 5)]),
    ("abc,cd,ab->d", [(2, 3, 4), (4, 5), (2, 3)]),
    (",i->i", [(), (3,)]),
]


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS, ids=[each for each, _ in EQUATIONS])
def test_einsum_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, equation: str, shapes: Any
) -> None:
    operands = [numbers(*shape, seed=seed) for seed, shape in enumerate(shapes)]

    agrees_with_torch(
        lambda *x: vkml.einsum(equation, *x), lambda *x: torch.einsum(equation, *x), *operands
    )


def test_einsum_without_elements_sums_to_zero() -> None:
    result = vkml.einsum("ij,jk->ik", vkml.ones(2, 0), vkml.ones(0, 3))

    assert result.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_einsum_takes_a_list_of_operands() -> None:
    result = vkml.einsum("i,i->", [vkml.ones(3), vkml.ones(3)])

    assert result.item() == 3


@pytest.mark.parametrize(
    ("equation", "shapes", "error", "message"),
    [
        ("ij,jk", [(2, 3)], vkml.ArgumentError, "has 2 terms for 1 operands"),
        ("i", [(2, 3)], vkml.ShapeError, "the term 'i' stands for a tensor of rank 2"),
        ("ijk...", [(2, 3)], vkml.ShapeError, "stands for a tensor of rank 2"),
        ("ij,jk", [(2, 3), (4, 5)], vkml.ShapeError, "'j' in 'ij,jk' has the sizes 3 and 4"),
        ("...,...", [(2,), (3,)], vkml.ShapeError, r"an axis of '...' .* the sizes 2 and 3"),
        ("ij->k", [(2, 3)], vkml.ArgumentError, "or one that is not there"),
        ("ij->ii", [(2, 3)], vkml.ArgumentError, "names an axis twice"),
        ("i1", [(2, 3)], vkml.ArgumentError, "'i1' in 'i1' is no term"),
    ],
)
def test_einsum_says_what_is_wrong(equation: str, shapes: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        vkml.einsum(equation, *(vkml.ones(*shape) for shape in shapes))


@pytest.mark.parametrize(
    ("left", "right", "dims"),
    [
        ((2, 3, 4), (3, 4, 5), 2),
        ((2, 3), (4,), 0),
        ((2, 3, 4), (4, 3), ([1, 2], [1, 0])),
        ((2, 3), (5, 3), ([-1], [-1])),
        ((3,), (3,), 1),
    ],
)
def test_tensordot_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, left: Any, right: Any, dims: Any
) -> None:
    agrees_with_torch(
        lambda a, b: vkml.tensordot(a, b, dims),
        lambda a, b: torch.tensordot(a, b, dims),
        numbers(*left), numbers(*right, seed=8),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("dims", "message"), [(1, r"\[2\] of shape .* differ in size"), (3, "do not both have 3 axes")]
)
def test_tensordot_says_what_does_not_fit(dims: int, message: str) -> None:
    with pytest.raises(vkml.ShapeError, match=message):
        vkml.tensordot(vkml.ones(2, 3, 4), vkml.ones(3, 4), dims)
