"""Training steps that vkML and torch run from the same weights, written once for both."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Step = Callable[[], float]

WIDTH, HEADS, LENGTH = 256, 4, 128


class Library:
    """vkml or torch: the two have the same names."""

    def __init__(self, name: str) -> None:
        self.root = importlib.import_module(name)
        self.nn = importlib.import_module(f"{name}.nn")
        self.functional = importlib.import_module(f"{name}.nn.functional")
        self.optim = importlib.import_module(f"{name}.optim")

    def fill(self, model: Any, seed: int) -> Any:
        """Give the model weights that depend on nothing but the seed and the shapes."""
        generator = np.random.default_rng(seed)
        with self.root.no_grad():
            for parameter in model.parameters():
                shape = tuple(parameter.shape)
                if len(shape) == 1:
                    values = 0.1 * generator.standard_normal(shape)
                else:
                    values = generator.standard_normal(shape) / math.sqrt(math.prod(shape[1:]))
                parameter.copy_(self.root.from_numpy(values.astype(np.float32)))
        return model


def _images(generator: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    return generator.standard_normal(shape).astype(np.float32)


def _training(library: Library, optimizer: Any, loss_of: Callable[[], Any]) -> Step:
    def step() -> float:
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


def mlp(library: Library) -> Step:
    """784-256-128-10 with ReLU, batch 64, cross-entropy, SGD."""
    nn, generator = library.nn, np.random.default_rng(0)
    model = library.fill(
        nn.Sequential(
            nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10)
        ),
        seed=1,
    )
    x = library.root.from_numpy(_images(generator, 64, 784))
    target = library.root.from_numpy(generator.integers(0, 10, 64))
    optimizer = library.optim.SGD(model.parameters(), lr=0.01)
    return _training(library, optimizer, lambda: library.functional.cross_entropy(model(x), target))


def cnn(library: Library) -> Step:
    """Two 3x3 convolutions with pooling and a linear layer on 28x28 images, batch 64, SGD."""
    nn, generator = library.nn, np.random.default_rng(0)
    model = library.fill(
        nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(1568, 10),
        ),
        seed=1,
    )  # fmt: skip
    x = library.root.from_numpy(_images(generator, 64, 1, 28, 28))
    target = library.root.from_numpy(generator.integers(0, 10, 64))
    optimizer = library.optim.SGD(model.parameters(), lr=0.01)
    return _training(library, optimizer, lambda: library.functional.cross_entropy(model(x), target))


def residual_block(library: Library) -> Step:
    """Two 3x3 convolutions of 64 channels with batch norm and a shortcut; input gradient too."""
    nn, generator = library.nn, np.random.default_rng(0)
    relu = library.functional.relu

    class Block(nn.Module):  # type: ignore[misc, name-defined]  # either library's Module
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(64, 64, 3, padding=1, bias=False)
            self.norm1 = nn.BatchNorm2d(64)
            self.conv2 = nn.Conv2d(64, 64, 3, padding=1, bias=False)
            self.norm2 = nn.BatchNorm2d(64)

        def forward(self, x: Any) -> Any:
            return relu(self.norm2(self.conv2(relu(self.norm1(self.conv1(x))))) + x)

    model = library.fill(Block(), seed=1)
    x = library.root.from_numpy(_images(generator, 32, 64, 32, 32)).requires_grad_()

    def loss_of() -> Any:
        x.grad = None
        return (model(x) ** 2).mean()

    return _training(library, library.optim.SGD(model.parameters(), lr=0.01), loss_of)


def transformer_block(library: Library) -> Step:
    """A pre-norm block: width 256, 4 heads, causal, 128 tokens, batch 8, GELU, AdamW."""
    nn, generator = library.nn, np.random.default_rng(0)
    functional = library.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm1 = nn.LayerNorm(WIDTH)
            self.attend = nn.Linear(WIDTH, 3 * WIDTH)
            self.project = nn.Linear(WIDTH, WIDTH)
            self.norm2 = nn.LayerNorm(WIDTH)
            self.widen = nn.Linear(WIDTH, 4 * WIDTH)
            self.narrow = nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Any) -> Any:
            batch, length, width = x.shape
            packed = self.attend(self.norm1(x)).reshape(batch, length, 3, HEADS, width // HEADS)
            q, k, v = packed.permute(2, 0, 3, 1, 4).unbind(0)
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.project(mixed.transpose(1, 2).reshape(batch, length, width))
            return x + self.narrow(functional.gelu(self.widen(self.norm2(x))))

    model = library.fill(Block(), seed=1)
    x = library.root.from_numpy(_images(generator, 8, LENGTH, WIDTH))
    optimizer = library.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    return _training(library, optimizer, lambda: (model(x) ** 2).mean())


def elementwise_chain(library: Library) -> Step:
    """Seven elementwise operations on a million floats, forward and backward to two inputs."""
    root, generator = library.root, np.random.default_rng(0)
    a, b, x = (root.from_numpy(_images(generator, 1_000_000)) for _ in range(3))
    a.requires_grad_()
    b.requires_grad_()

    def step() -> float:
        a.grad = b.grad = None
        hidden = root.relu(x * a + b)
        hidden = hidden * root.sigmoid(hidden)
        loss = root.sqrt(hidden * hidden + 1).mean()
        loss.backward()
        return float(loss.detach())

    return step


WORKLOADS: dict[str, Callable[[Library], Step]] = {
    "mlp": mlp,
    "cnn": cnn,
    "residual_block": residual_block,
    "transformer_block": transformer_block,
    "elementwise_chain": elementwise_chain,
}
