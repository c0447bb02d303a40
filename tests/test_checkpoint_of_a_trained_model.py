"""A model is trained, saved, checked by vkml-io alone, and loaded again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vkml
from vkml import nn, optim

REGISTRY = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("vkml", "vkml_nn", "vkml_vulkan"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import vkml_io

report = vkml_io.validate(sys.argv[1])
print(report.is_sound, *(entry.key for entry in vkml_io.inspect(sys.argv[1])))
"""


def make_model() -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.GELU(), nn.Linear(8, 3))


def train(model: nn.Module, optimizer: optim.Optimizer, steps: int) -> float:
    x = vkml.from_numpy(np.random.default_rng(0).standard_normal((32, 4)).astype(np.float32))
    target = vkml.from_numpy(np.arange(32) % 3)
    loss = vkml.zeros(())
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss.detach())


@pytest.fixture
def trained() -> nn.Sequential:
    vkml.manual_seed(0)
    model = make_model()
    train(model, optim.AdamW(model.parameters(), lr=0.01), 10)
    return model


def test_vkml_io_alone_validates_and_lists_what_a_model_saved(
    trained: nn.Sequential, tmp_path: Path
) -> None:
    path = tmp_path / "model.vkml"
    vkml.save_module(path, trained, metadata={"epoch": 10})

    done = subprocess.run(
        [sys.executable, "-c", REGISTRY, str(path)], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["True", *trained.state_dict()]


def test_a_loaded_model_predicts_exactly_what_the_saved_one_did(
    trained: nn.Sequential, tmp_path: Path
) -> None:
    vkml.save_module(tmp_path / "model.vkml", trained)
    x = vkml.randn(5, 4)
    trained.eval()
    expected = trained(x).detach().numpy()

    loaded = make_model()
    vkml.load_module(tmp_path / "model.vkml", loaded)
    loaded.eval()

    np.testing.assert_array_equal(loaded(x).detach().numpy(), expected)


def test_loading_returns_the_checkpoint_and_leaves_devices_alone(
    trained: nn.Sequential, tmp_path: Path
) -> None:
    vkml.save_module(tmp_path / "model.vkml", trained, metadata={"epoch": 10})
    model = make_model()
    device = next(iter(model.named_parameters()))[1].device

    checkpoint = vkml.load_module(tmp_path / "model.vkml", model)

    assert checkpoint.metadata["epoch"] == 10
    assert next(iter(model.named_parameters()))[1].device is device


def test_an_optimizer_built_before_the_load_goes_on_training(
    trained: nn.Sequential, tmp_path: Path
) -> None:
    vkml.save_module(tmp_path / "model.vkml", trained)
    model = make_model()
    optimizer = optim.AdamW(model.parameters(), lr=0.01)
    train(model, optimizer, 1)
    vkml.load_module(tmp_path / "model.vkml", model)
    before = train(model, optimizer, 1)

    after = train(model, optimizer, 30)

    assert after < before


def test_a_model_of_other_shapes_is_refused_and_keeps_its_weights(
    trained: nn.Sequential, tmp_path: Path
) -> None:
    vkml.save_module(tmp_path / "model.vkml", trained)
    other = nn.Sequential(nn.Linear(4, 9), nn.BatchNorm1d(9), nn.GELU(), nn.Linear(9, 3))
    before = {key: value.clone().numpy() for key, value in other.state_dict().items()}

    with pytest.raises(vkml.io.StateMismatchError, match=r"0\.weight"):
        vkml.load_module(tmp_path / "model.vkml", other)

    for key, value in other.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[key])
