from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vkml
from vkml import nn
from vkml.nn import init

torch = pytest.importorskip("torch")

WEIGHT = (200, 30, 3, 3)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("uniform_", {"a": -1.0, "b": 3.0}),
        ("normal_", {"mean": 1.0, "std": 2.0}),
        ("trunc_normal_", {"std": 1.5}),
        ("xavier_uniform_", {"gain": 2.0}),
        ("xavier_normal_", {}),
        ("kaiming_uniform_", {"a": math.sqrt(5)}),
        ("kaiming_uniform_", {"mode": "fan_out", "nonlinearity": "relu"}),
        ("kaiming_normal_", {"nonlinearity": "tanh"}),
    ],
)
def test_distribution_is_torchs(name: str, options: Any) -> None:
    torch.manual_seed(0)
    found = getattr(init, name)(vkml.empty(*WEIGHT), **options).numpy()
    expected = getattr(torch.nn.init, name)(torch.empty(*WEIGHT), **options).numpy()

    quantiles = np.linspace(0.01, 0.99, 21)
    tolerance = 0.03 * expected.std()
    np.testing.assert_allclose(
        np.quantile(found, quantiles), np.quantile(expected, quantiles), 0.02, tolerance
    )


@pytest.mark.parametrize("name", ["xavier_uniform_", "kaiming_uniform_", "uniform_"])
def test_bounds_are_torchs(name: str) -> None:
    found = getattr(init, name)(vkml.empty(*WEIGHT)).numpy()
    expected = getattr(torch.nn.init, name)(torch.empty(*WEIGHT)).numpy()

    assert abs(found).max() == pytest.approx(abs(expected).max(), rel=1e-3)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda: nn.Linear(400, 300), lambda: torch.nn.Linear(400, 300)),
        (lambda: nn.Conv2d(30, 200, 3), lambda: torch.nn.Conv2d(30, 200, 3)),
        (lambda: nn.Embedding(300, 100), lambda: torch.nn.Embedding(300, 100)),
        (lambda: nn.MultiheadAttention(128, 4), lambda: torch.nn.MultiheadAttention(128, 4)),
        (lambda: nn.BatchNorm2d(5), lambda: torch.nn.BatchNorm2d(5)),
    ],
)
def test_new_layer_is_distributed_as_torchs(
    ours: Callable[[], Any], theirs: Callable[[], Any]
) -> None:
    expected = theirs().state_dict()

    for name, tensor in ours().state_dict().items():
        found, wanted = tensor.numpy().astype(float), expected[name].numpy().astype(float)
        assert found.std() == pytest.approx(wanted.std(), rel=0.15, abs=1e-12), name
        assert abs(found).max() == pytest.approx(abs(wanted).max(), rel=0.35, abs=1e-12), name


def test_truncated_numbers_stay_inside() -> None:
    values = init.trunc_normal_(vkml.empty(10_000), mean=1.0, std=2.0, a=0.0, b=1.5)

    assert values.amin().item() >= 0
    assert values.amax().item() <= 1.5


def test_truncation_far_off_the_mean_is_refused() -> None:
    with pytest.raises(vkml.ArgumentError, match="holds almost nothing"):
        init.trunc_normal_(vkml.empty(2), a=10, b=11)


def test_same_seed_gives_the_same_model() -> None:
    vkml.manual_seed(5)
    first = nn.Linear(20, 20).weight.tolist()
    vkml.manual_seed(5)

    assert nn.Linear(20, 20).weight.tolist() == first
    assert nn.Linear(20, 20).weight.tolist() != first


def test_generator_is_used_and_vkmls_own_left_alone() -> None:
    first, second = vkml.Generator(), vkml.Generator()
    first.manual_seed(1)
    second.manual_seed(1)
    vkml.manual_seed(0)
    expected = vkml.rand(3).tolist()
    vkml.manual_seed(0)

    a = init.kaiming_normal_(vkml.empty(3, 3), generator=first).tolist()
    b = init.kaiming_normal_(vkml.empty(3, 3), generator=second).tolist()

    assert a == b
    assert vkml.rand(3).tolist() == expected


def test_parameters_are_filled_without_a_trace_in_the_graph() -> None:
    weight = vkml.Parameter(vkml.empty(2, 2))

    assert init.eye_(weight) is weight
    assert weight.requires_grad
    assert weight.is_leaf
    assert weight.tolist() == [[1, 0], [0, 1]]
    assert init.ones_(weight).tolist() == [[1, 1], [1, 1]]
    assert init.zeros_(weight).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    "name", ["linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"]
)
def test_gain_is_torchs(name: str) -> None:
    assert init.calculate_gain(name) == torch.nn.init.calculate_gain(name)


def test_unknown_names_and_shapes_are_refused() -> None:
    with pytest.raises(vkml.ArgumentError, match="'swoosh' is not known"):
        init.calculate_gain("swoosh")
    with pytest.raises(vkml.ArgumentError, match="mode is 'fan'"):
        init.kaiming_normal_(vkml.empty(2, 2), mode="fan")  # type: ignore[arg-type]  # the point
    with pytest.raises(vkml.ShapeError, match=r"got \(3,\)"):
        init.xavier_normal_(vkml.empty(3))
    with pytest.raises(vkml.ShapeError, match="expected a matrix"):
        init.eye_(vkml.empty(3))
