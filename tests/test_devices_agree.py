"""Training on Vulkan goes as it goes on the CPU, and checkpoints travel between the two."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits

import vkml
from vkml import nn
from vkml.nn.functional import cross_entropy
from vkml.optim import AdamW

STEPS = 50
BATCH = 32
TESTED = 297
"""Images that training never sees."""


class TransformerBlock(nn.Module):
    """A pre-norm block over the rows of an image, then a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(8, 32)
        self.norm1 = nn.LayerNorm(32)
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)
        self.norm2 = nn.LayerNorm(32)
        self.widen = nn.Linear(32, 64)
        self.narrow = nn.Linear(64, 32)
        self.classify = nn.Linear(32, 10)

    def forward(self, x: vkml.Tensor) -> vkml.Tensor:
        x = self.embed(x.squeeze(1))
        normed = self.norm1(x)
        x = x + self.attention(normed, normed, normed, need_weights=False)[0]
        x = x + self.narrow(nn.functional.gelu(self.widen(self.norm2(x))))
        logits: vkml.Tensor = self.classify(x.mean(1))
        return logits


def digits_cnn() -> nn.Module:
    """Return the model of the demo."""
    return nn.Sequential(
        nn.Conv2d(1, 16, kernel_size=3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, kernel_size=3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(128, 10),
    )  # fmt: skip


MODELS: dict[str, Callable[[], nn.Module]] = {
    "digits_cnn": digits_cnn,
    "transformer_block": TransformerBlock,
}


@pytest.fixture(scope="module")
def images() -> NDArray[np.float32]:
    found: Any = load_digits()
    return np.asarray(found.images[:, None] / 16, np.float32)


@pytest.fixture(scope="module")
def labels() -> NDArray[np.int64]:
    found: Any = load_digits()
    return np.asarray(found.target, np.int64)


def trained(
    name: str, images: NDArray[Any], labels: NDArray[Any], device: vkml.Device | str
) -> tuple[nn.Module, list[float]]:
    """Return a model after `STEPS` steps from the same weights everywhere, and its losses."""
    vkml.manual_seed(0)
    model = MODELS[name]().to(device)
    optimizer = AdamW(model.parameters(), lr=1e-3)
    losses = []
    for step in range(STEPS):
        part = slice(step * BATCH % 1200, step * BATCH % 1200 + BATCH)
        batch = vkml.from_numpy(images[part]).to(device)
        loss = cross_entropy(model(batch), vkml.from_numpy(labels[part]).to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    return model, losses


def predictions(model: nn.Module, images: NDArray[Any], device: vkml.Device | str) -> Any:
    """Return the logits for the images that training never saw."""
    with vkml.no_grad():
        return model(vkml.from_numpy(images[-TESTED:]).to(device)).cpu().numpy()


@pytest.mark.parametrize("name", MODELS)
def test_losses_of_fifty_steps_and_predictions_are_those_of_the_cpu(
    name: str, images: NDArray[Any], labels: NDArray[Any], gpu: vkml.Device
) -> None:
    cpu_model, cpu_losses = trained(name, images, labels, "cpu")
    gpu_model, gpu_losses = trained(name, images, labels, gpu)

    np.testing.assert_allclose(gpu_losses, cpu_losses, rtol=1e-3)
    expected = predictions(cpu_model, images, "cpu").argmax(1)
    np.testing.assert_array_equal(predictions(gpu_model, images, gpu).argmax(1), expected)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("saved_on", ["cpu", "vulkan"])
def test_a_checkpoint_loads_on_the_other_device_bit_for_bit(
    name: str, saved_on: str, images: NDArray[Any], labels: NDArray[Any], gpu: vkml.Device,
    tmp_path: Path,
) -> None:  # fmt: skip
    here, there = ("cpu", gpu) if saved_on == "cpu" else (gpu, "cpu")
    model, _ = trained(name, images, labels, here)
    vkml.save_module(tmp_path / "model.vkml", model)

    loaded = MODELS[name]().to(there)
    vkml.load_module(tmp_path / "model.vkml", loaded)
    loaded.eval()

    for key, value in model.state_dict().items():
        np.testing.assert_array_equal(loaded.state_dict()[key].cpu().numpy(), value.cpu().numpy())
    expected = predictions(model, images, here)
    np.testing.assert_allclose(predictions(loaded, images, there), expected, atol=1e-4)
