from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vkml
from vkml import nn

torch = pytest.importorskip("torch")

RANDOM = np.random.default_rng(0)
SCORES = RANDOM.standard_normal((6, 4)).astype(np.float32)
REAL = RANDOM.standard_normal((6, 4)).astype(np.float32)
PART = RANDOM.random((6, 4)).astype(np.float32)
CLASSES = np.array([0, 3, 1, -100, 2, 2])
WEIGHT = np.array([1.0, 2.0, 0.5, 0.1], np.float32)


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides:UserWarning")  # torch's
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(
    ("name", "options", "target"),
    [
        ("MSELoss", {}, REAL),
        ("L1Loss", {}, REAL),
        ("HuberLoss", {"delta": 0.5}, REAL),
        ("SmoothL1Loss", {"beta": 0.5}, REAL),
        ("CrossEntropyLoss", {}, CLASSES),
        ("CrossEntropyLoss", {"weight": WEIGHT, "label_smoothing": 0.1}, CLASSES),
        ("CrossEntropyLoss", {"ignore_index": 2}, np.abs(CLASSES) % 4),
        ("CrossEntropyLoss", {}, PART),
        ("NLLLoss", {"weight": WEIGHT}, CLASSES),
        ("BCEWithLogitsLoss", {"pos_weight": WEIGHT, "weight": PART}, PART),
        ("KLDivLoss", {}, PART),
        ("KLDivLoss", {"log_target": True}, REAL),
    ],
)
def test_loss_equals_torch(name: str, options: Any, target: Any, reduction: str) -> None:
    def run(library: Any) -> tuple[Any, Any]:
        made = {
            key: library.tensor(value) if isinstance(value, np.ndarray) else value
            for key, value in options.items()
        }
        loss = getattr(library.nn, name)(reduction=reduction, **made)
        x = library.tensor(SCORES, requires_grad=True)
        result = loss(x, library.tensor(target))
        result.sum().backward()
        return result.detach().numpy(), x.grad.numpy()

    with np.errstate(all="ignore"):
        for found, expected in zip(run(vkml), run(torch), strict=True):
            np.testing.assert_allclose(found, expected, 1e-5, 1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy_of_probabilities_equals_torch_at_0_and_1_too(
    reduction: str, weighted: bool
) -> None:
    edges = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1e-9, 1e-13], np.float32)
    chance = np.concatenate([edges, RANDOM.random(8, dtype=np.float32)])
    target = np.array([0.0, 0.3, 1.0, 0.0, 0.3, 1.0, 1.0, 1.0] * 2, np.float32)

    def run(library: Any) -> list[Any]:
        weight = library.tensor(np.linspace(0, 2, 16, dtype="f4")) if weighted else None
        x = library.tensor(chance, requires_grad=True)
        result = library.nn.BCELoss(weight, reduction=reduction)(x, library.tensor(target))
        result.sum().backward()
        return [result.detach().numpy(), x.grad.numpy()]

    for found, expected in zip(run(vkml), run(torch), strict=True):
        np.testing.assert_allclose(found, expected, 1e-5, 1e-6)


def test_second_derivatives_of_cross_entropy_of_probabilities_equal_torch() -> None:
    def run(library: Any) -> Any:
        x = library.tensor(PART, requires_grad=True)
        target = library.tensor(PART[::-1].copy(), requires_grad=True)
        loss = library.nn.functional.binary_cross_entropy(x, target, reduction="sum")
        first = library.autograd.grad(loss, [x, target], create_graph=True)
        (second,) = library.autograd.grad((first[0] ** 2).sum(), [x])
        return [first[1].detach().numpy(), second.numpy()]

    for found, expected in zip(run(vkml), run(torch), strict=True):
        np.testing.assert_allclose(found, expected, 1e-4, 1e-5)


@pytest.mark.parametrize(
    ("values", "options", "error", "part"),
    [
        (vkml.ones(3, 1), {}, vkml.ShapeError, r"shape \(3, 1\), the target \(3,\)"),
        (vkml.ones(3).long(), {}, vkml.DTypeError, "give probabilities"),
        (vkml.ones(3), {"reduction": "average"}, vkml.ArgumentError, "reduction is 'average'"),
    ],
)
def test_cross_entropy_of_probabilities_names_what_is_wrong(
    values: vkml.Tensor, options: Any, error: type[Exception], part: str
) -> None:
    with pytest.raises(error, match=part):
        nn.functional.binary_cross_entropy(values, vkml.ones(3), **options)


def test_divergence_by_batch_equals_torch() -> None:
    loss = nn.KLDivLoss(reduction="batchmean")(vkml.tensor(SCORES), vkml.tensor(PART))
    expected = torch.nn.KLDivLoss(reduction="batchmean")(torch.tensor(SCORES), torch.tensor(PART))

    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)


def test_weights_move_with_the_module_and_are_in_its_state() -> None:
    loss = nn.CrossEntropyLoss(vkml.tensor(WEIGHT)).double()

    assert list(loss.state_dict()) == ["weight"]
    assert loss.weight is not None
    assert loss.weight.dtype is vkml.float64


def test_unknown_reduction_is_refused() -> None:
    with pytest.raises(vkml.ArgumentError, match="reduction is 'average'"):
        nn.MSELoss("average")
    with pytest.raises(vkml.ArgumentError, match="batchmean"):
        nn.MSELoss("batchmean")
