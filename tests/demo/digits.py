"""The data and the model that training and prediction share."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits

from vkml import nn

CLASSES = 10
BRIGHTEST = 16  # pixels are counts from 0 to 16
TRAINING_SHARE = 0.8
SPLIT_SEED = 0


class Part(NamedTuple):
    """Images of shape (count, 1, 8, 8), from 0 to 1, and the digits they show."""

    images: npt.NDArray[np.float32]
    labels: npt.NDArray[np.int64]


def load_parts() -> tuple[Part, Part]:
    """Return the training part and the test part of scikit-learn's digits, always the same ones."""
    digits: Any = load_digits()  # scikit-learn has no types
    images = (digits.images[:, None] / BRIGHTEST).astype(np.float32)
    labels = digits.target.astype(np.int64)
    order = np.random.default_rng(SPLIT_SEED).permutation(len(images))
    training, test = np.split(order, [int(TRAINING_SHARE * len(order))])
    return Part(images[training], labels[training]), Part(images[test], labels[test])


def make_model() -> nn.Sequential:
    """Return a small convolutional network for images of 8 by 8 pixels."""
    return nn.Sequential(
        nn.Conv2d(1, 16, kernel_size=3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, kernel_size=3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 2 * 2, CLASSES),
    )
