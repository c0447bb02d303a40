"""vkML and torch train the same models from the same weights, step for step and in the long run."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits

torch = pytest.importorskip("torch")

BATCH = 64


class Library:
    """vkml or torch: the models below are written once for both."""

    def __init__(self, name: str) -> None:
        self.root = importlib.import_module(name)
        self.nn = importlib.import_module(f"{name}.nn")
        self.functional = importlib.import_module(f"{name}.nn.functional")
        self.optim = importlib.import_module(f"{name}.optim")

    def tensor(self, array: NDArray[Any]) -> Any:
        return self.root.from_numpy(array)


VKML, TORCH = Library("vkml"), Library("torch")


def cnn(library: Library) -> Any:
    nn = library.nn
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(128, 10),
    )  # fmt: skip


def transformer_block(library: Library) -> Any:
    """A pre-norm block over the rows of an image, then a classifier."""
    nn, functional = library.nn, library.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]  # either library's Module
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Linear(8, 32)
            self.norm1 = nn.LayerNorm(32)
            self.attention = nn.MultiheadAttention(32, 4, batch_first=True)
            self.norm2 = nn.LayerNorm(32)
            self.widen = nn.Linear(32, 64)
            self.narrow = nn.Linear(64, 32)
            self.classify = nn.Linear(32, 10)

        def forward(self, x: Any) -> Any:
            x = self.embed(x.squeeze(1))
            normed = self.norm1(x)
            x = x + self.attention(normed, normed, normed, need_weights=False)[0]
            x = x + self.narrow(functional.gelu(self.widen(self.norm2(x))))
            return self.classify(x.mean(1))

    return Block()


MODELS = {"cnn": cnn, "transformer_block": transformer_block}


def optimizer_for(name: str, library: Library, model: Any) -> Any:
    if name == "cnn":
        return library.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    return library.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)


@pytest.fixture(scope="module")
def digits() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    images, labels = load_digits(return_X_y=True)
    return (images.reshape(-1, 1, 8, 8) / 16).astype(np.float32), labels.astype(np.int64)


def batches(
    digits: tuple[NDArray[np.float32], NDArray[np.int64]], seed: int
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int64]]]:
    images, labels = digits
    generator = np.random.default_rng(seed)
    while True:
        chosen = generator.choice(len(images), BATCH, replace=False)
        yield images[chosen], labels[chosen]


def train(
    library: Library, model: Any, optimizer: Any, data: Iterator[tuple[Any, Any]], steps: int
) -> list[float]:
    losses = []
    for _ in range(steps):
        images, labels = next(data)
        loss = library.functional.cross_entropy(
            model(library.tensor(images)), library.tensor(labels)
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def copied_weights(make: Callable[[Library], Any]) -> tuple[Any, Any]:
    """Return the model in both libraries, with torch's initial weights."""
    torch.manual_seed(0)
    theirs, ours = make(TORCH), make(VKML)
    ours.load_state_dict({key: value.numpy() for key, value in theirs.state_dict().items()})
    return ours, theirs


@pytest.mark.parametrize("name", MODELS)
def test_losses_agree_with_torch_for_20_steps_from_the_same_weights(
    name: str, digits: tuple[NDArray[np.float32], NDArray[np.int64]]
) -> None:
    ours, theirs = copied_weights(MODELS[name])

    losses = [
        train(library, model, optimizer_for(name, library, model), batches(digits, 1), 20)
        for library, model in ((VKML, ours), (TORCH, theirs))
    ]

    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_200_steps_end_inside_the_spread_of_five_torch_seeds(
    name: str, digits: tuple[NDArray[np.float32], NDArray[np.int64]]
) -> None:
    def final_loss(library: Library, seed: int) -> float:
        library.root.manual_seed(seed)
        model = MODELS[name](library)
        optimizer = optimizer_for(name, library, model)
        return float(np.mean(train(library, model, optimizer, batches(digits, seed), 200)[-50:]))

    theirs = [final_loss(TORCH, seed) for seed in range(5)]
    ours = np.mean([final_loss(VKML, seed) for seed in range(5)])  # the mean is less of a dice roll

    assert min(theirs) <= ours <= max(theirs)
