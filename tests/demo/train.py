"""Train the digits model on every device and save a checkpoint and its predictions.

Usage: python train.py FOLDER
"""

import sys
import time
from pathlib import Path

import numpy as np
from digits import CLASSES, Part, load_parts, make_model
from tqdm import tqdm

import vkml
from vkml import nn
from vkml.data import DataLoader, TensorDataset
from vkml.nn.functional import cross_entropy
from vkml.optim import AdamW

SEED = 0
EPOCHS = 15
BATCH_SIZE = 32
LEARNING_RATE = 3e-3
LOWEST_ACCURACY = 0.97


def train(model: nn.Module, part: Part, device: str) -> None:
    """Fit `model`, on `device`, showing the loss while it falls."""
    dataset = TensorDataset(vkml.from_numpy(part.images), vkml.from_numpy(part.labels))
    generator = vkml.Generator().manual_seed(SEED)
    loader = DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True, generator=generator)
    optimizer = AdamW(model.parameters(), lr=LEARNING_RATE)
    model.train()
    with tqdm(total=EPOCHS * len(loader), desc=f"training on {device}", unit="batch") as bar:
        for epoch in range(EPOCHS):
            for images, labels in loader:
                loss = cross_entropy(model(images.to(device)), labels.to(device))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                bar.update()
                bar.set_postfix(epoch=epoch + 1, loss=f"{loss.item():.4f}", refresh=False)


def main(folder: Path) -> int:
    """Train on every device; return 1 if a model is worse than it should be."""
    folder.mkdir(parents=True, exist_ok=True)
    training_part, test_part = load_parts()
    devices = [str(device) for device in vkml.available_devices() if str(device) != "meta"]
    print(f"vkml {vkml.__version__}, devices: {', '.join(devices)}")
    accuracies = []
    for device in devices:
        vkml.manual_seed(SEED)
        model = make_model().to(device)
        begin = time.perf_counter()
        train(model, training_part, device)
        seconds = time.perf_counter() - begin

        model.eval()
        with vkml.no_grad():
            logits = model(vkml.from_numpy(test_part.images).to(device)).cpu().numpy()
        accuracy = float(np.mean(logits.argmax(axis=1) == test_part.labels))
        accuracies.append(accuracy)

        path = folder / f"digits-{device.replace(':', '-')}.vkml"
        metadata = {"accuracy": accuracy, "epochs": EPOCHS, "classes": CLASSES}
        vkml.save_module(path, model, metadata=metadata)
        np.save(path.with_suffix(".logits.npy"), logits)
        print(
            f"{device}: {accuracy:.2%} of {len(test_part.labels)} unseen digits right "
            f"after {seconds:.1f} s; saved {path} ({path.stat().st_size:,} bytes)"
        )

    if min(accuracies) < LOWEST_ACCURACY:
        print(f"FAILED: expected at least {LOWEST_ACCURACY:.0%} right on every device")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
