"""Load each checkpoint on every device and compare with the predictions stored beside it.

Usage: python predict.py FOLDER
"""

import sys
import time
from pathlib import Path

import numpy as np
from digits import Part, load_parts, make_model

import vkml

# Devices add in different orders; the logits are of size ten.
TOLERANCE = 1e-3


def predict(path: Path, part: Part, device: str) -> bool:
    """Return whether the model in `path` answers on `device` as it did when it was saved."""
    begin = time.perf_counter()
    model = make_model().to(device)
    checkpoint = vkml.load_module(path, model)
    model.eval()
    with vkml.no_grad():
        logits = model(vkml.from_numpy(part.images).to(device)).cpu().numpy()
    milliseconds = 1000 * (time.perf_counter() - begin)

    before = np.load(path.with_suffix(".logits.npy"))
    furthest = float(np.abs(logits - before).max())
    accuracy = float(np.mean(logits.argmax(axis=1) == part.labels))
    is_same = furthest <= TOLERANCE and accuracy == checkpoint.metadata["accuracy"]
    print(
        f"{path.name} on {device}: {accuracy:.2%} right, loaded and run in {milliseconds:.0f} ms; "
        f"logits differ by at most {furthest:.1e}: {'as saved' if is_same else 'NOT AS SAVED'}"
    )
    return is_same


def main(folder: Path) -> int:
    """Check every checkpoint of `folder` on every device; return 1 if one answers differently."""
    _, test_part = load_parts()
    devices = [str(device) for device in vkml.available_devices() if str(device) != "meta"]
    paths = sorted(folder.glob("*.vkml"))
    results = [predict(path, test_part, device) for path in paths for device in devices]
    print(f"checkpoints and predictions are in {folder.resolve()}")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
