"""Every layer gives torch's results and gradients from torch's state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vkml
from vkml import nn

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    ("name", "arguments", "options", "shape"),
    [
        ("Identity", (), {}, (2, 3)),
        ("Linear", (5, 3), {}, (4, 5)),
        ("Linear", (5, 3), {"bias": False}, (2, 4, 5)),
        ("Conv1d", (4, 6, 3), {"padding": 1, "groups": 2}, (2, 4, 9)),
        ("Conv1d", (4, 6, 5), {"padding": "same"}, (2, 4, 9)),
        ("Conv2d", (3, 4, 3), {}, (2, 3, 8, 7)),
        ("Conv2d", (3, 4, (3, 2)), {"stride": 2, "padding": (1, 0), "bias": False}, (2, 3, 8, 7)),
        ("Conv2d", (3, 4, 3), {"padding": "same", "dilation": 2}, (2, 3, 8, 7)),
        ("Conv2d", (4, 4, 3), {"groups": 4, "padding": 1}, (2, 4, 6, 6)),
        ("Conv2d", (3, 4, 3), {"padding": 1, "padding_mode": "reflect"}, (2, 3, 6, 5)),
        ("Conv2d", (3, 4, 3), {"padding": 2, "padding_mode": "circular"}, (2, 3, 6, 5)),
        ("Conv2d", (3, 4, (2, 3)), {"padding": "same", "padding_mode": "replicate"}, (2, 3, 6, 5)),
        ("MaxPool2d", (2,), {}, (2, 3, 8, 7)),
        ("MaxPool2d", (3,), {"stride": 2, "padding": 1, "ceil_mode": True}, (2, 3, 8, 8)),
        ("AvgPool2d", (3,), {"stride": 2, "padding": 1, "count_include_pad": False}, (2, 3, 8, 7)),
        ("AdaptiveAvgPool2d", ((2, None),), {}, (2, 3, 8, 7)),
        ("BatchNorm1d", (4,), {}, (6, 4)),
        ("BatchNorm1d", (4,), {}, (6, 4, 5)),
        ("BatchNorm2d", (4,), {}, (3, 4, 5, 2)),
        ("BatchNorm2d", (4,), {"momentum": None}, (3, 4, 5, 2)),
        ("BatchNorm2d", (4,), {"affine": False}, (3, 4, 5, 2)),
        ("BatchNorm2d", (4,), {"track_running_stats": False}, (3, 4, 5, 2)),
        ("LayerNorm", (6,), {}, (3, 4, 6)),
        ("LayerNorm", ((4, 6),), {"bias": False}, (3, 4, 6)),
        ("LayerNorm", (6,), {"elementwise_affine": False}, (3, 4, 6)),
        ("RMSNorm", (6,), {}, (3, 4, 6)),
        ("RMSNorm", (6,), {"eps": 0.1}, (3, 4, 6)),
        ("GroupNorm", (2, 4), {}, (3, 4, 5)),
        ("ReLU", (), {}, (3, 4)),
        ("LeakyReLU", (0.2,), {}, (3, 4)),
        ("ELU", (0.7,), {}, (3, 4)),
        ("SiLU", (), {}, (3, 4)),
        ("GELU", (), {}, (3, 4)),
        ("GELU", ("tanh",), {}, (3, 4)),
        ("Sigmoid", (), {}, (3, 4)),
        ("Tanh", (), {}, (3, 4)),
        ("Softplus", (2.0,), {}, (3, 4)),
        ("Softmax", (1,), {}, (3, 4)),
        ("LogSoftmax", (1,), {}, (3, 4)),
        ("Flatten", (), {}, (3, 4, 5)),
        ("Unflatten", (1, (2, 3)), {}, (2, 6)),
    ],
)
@pytest.mark.parametrize("training", [True, False])
def test_layer_equals_torch(
    compare: Any, name: str, arguments: Any, options: Any, shape: Any, training: bool
) -> None:
    ours = getattr(nn, name)(*arguments, **options)
    theirs = getattr(torch.nn, name)(*arguments, **options).train(training)

    compare(ours, theirs, shape)


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("Linear", (5, 3), {"bias": False}),
        ("Conv2d", (3, 4, 3), {}),
        ("Conv2d", (4, 4, 3), {"padding": 2, "groups": 2, "dilation": 3, "bias": False}),
        ("Conv2d", (4, 4, 3), {"padding": "same", "padding_mode": "reflect"}),
        ("BatchNorm2d", (4,), {}),
        ("LayerNorm", (6,), {}),
        ("RMSNorm", (6,), {}),
        ("GroupNorm", (2, 4), {}),
        ("MaxPool2d", (2,), {}),
        ("AvgPool2d", (2,), {}),
        ("AdaptiveAvgPool2d", (2,), {}),
        ("ReLU", (), {"inplace": True}),
        ("LeakyReLU", (0.2,), {}),
        ("GELU", (), {}),
        ("Softmax", (1,), {}),
        ("Dropout", (0.3,), {}),
        ("Dropout2d", (), {"inplace": True}),
        ("Embedding", (5, 3), {"padding_idx": 1}),
        ("Flatten", (), {}),
    ],
)
def test_layer_prints_as_in_torch(name: str, arguments: Any, options: Any) -> None:
    ours = getattr(nn, name)(*arguments, **options)
    theirs = getattr(torch.nn, name)(*arguments, **options)

    assert repr(ours) == repr(theirs)


def test_embedding_equals_torch_and_gives_the_padding_row_no_gradient() -> None:
    theirs = torch.nn.Embedding(6, 3, padding_idx=2)
    ours = nn.Embedding(6, 3, padding_idx=2)
    ours.load_state_dict(theirs.state_dict())
    indices = [[0, 2, 5], [5, 5, 1]]

    result = ours(vkml.tensor(indices))
    (result * result).sum().backward()
    expected = theirs(torch.tensor(indices))
    (expected * expected).sum().backward()

    assert ours.weight.grad is not None
    np.testing.assert_array_equal(result.detach().numpy(), expected.detach().numpy())
    np.testing.assert_allclose(ours.weight.grad.numpy(), theirs.weight.grad.numpy(), 1e-6)
    assert ours.weight.grad[2].tolist() == [0, 0, 0]


def test_row_of_a_new_embedding_for_padding_is_zero() -> None:
    assert nn.Embedding(4, 3, padding_idx=-1).weight[3].tolist() == [0, 0, 0]


def test_embedding_from_pretrained_rows_is_not_trained() -> None:
    layer = nn.Embedding.from_pretrained(vkml.ones(3, 2))

    assert not layer.weight.requires_grad
    assert layer(vkml.tensor([1])).tolist() == [[1, 1]]


@pytest.mark.parametrize("name", ["ReLU", "LeakyReLU", "ELU", "SiLU"])
def test_activation_in_place_writes_into_its_input_and_keeps_the_gradient(name: str) -> None:
    values = [-1.5, 0.5, 2.0]
    x = vkml.tensor(values, requires_grad=True)
    y = torch.tensor(values, requires_grad=True)

    inside = x * 1.0
    result = getattr(nn, name)(inplace=True)(inside)
    result.sum().backward()
    getattr(torch.nn, name)()(y).sum().backward()

    assert result is inside
    assert x.grad is not None
    assert x.grad.tolist() == pytest.approx(y.grad.tolist())


def test_dropout_in_evaluation_returns_its_input() -> None:
    x = vkml.ones(4)

    assert nn.Dropout(0.5).eval()(x) is x


def test_dropout_in_training_zeroes_the_given_part_and_keeps_the_mean() -> None:
    result = nn.Dropout(0.25)(vkml.ones(10_000))

    assert (result == 0).float().mean().item() == pytest.approx(0.25, abs=0.02)
    assert result.amax().item() == pytest.approx(1 / 0.75)


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize(("name", "axes"), [("Dropout1d", (5,)), ("Dropout2d", (2, 3))])
def test_dropout_of_channels_drops_whole_ones_of_each_sample(
    name: str, axes: tuple[int, ...], inplace: bool
) -> None:
    x = vkml.ones(40, 50, *axes)

    result = getattr(nn, name)(0.2, inplace=inplace)(x)

    channels = result.flatten(2)
    assert (result is x) == inplace
    assert bool((channels == channels[:, :, :1]).all())
    assert set(channels[:, :, 0].flatten().tolist()) == {0.0, 1.25}
    assert channels.mean().item() == pytest.approx(1, abs=0.05)
    assert len(set(map(tuple, channels[:, :, 0].tolist()))) == 40


def test_dropout_of_channels_gives_their_gradients_the_same_factors() -> None:
    x = vkml.ones(3, 4, 5, requires_grad=True)

    result = nn.Dropout1d()(x)
    result.sum().backward()

    assert x.grad is not None
    assert x.grad.tolist() == result.tolist()
    assert nn.Dropout1d().eval()(x) is x


def test_dropout_of_channels_refuses_a_wrong_number_of_axes() -> None:
    with pytest.raises(vkml.ShapeError, match="dropout1d: expected 2 or 3 axes"):
        nn.Dropout1d()(vkml.ones(4))
    with pytest.raises(vkml.ShapeError, match=r"dropout2d: expected 4 axes, got shape \(2, 3, 4\)"):
        nn.Dropout2d()(vkml.ones(2, 3, 4))


def test_dropout_repeats_itself_after_the_same_seed() -> None:
    layer = nn.Dropout(0.5)

    vkml.manual_seed(3)
    first = layer(vkml.ones(50)).tolist()
    vkml.manual_seed(3)

    assert layer(vkml.ones(50)).tolist() == first


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: nn.Conv2d(3, 4, 3, groups=2), "do not divide into 2 groups"),
        (lambda: nn.Conv2d(3, 4, 3, padding="full"), "'same' or 'valid'"),
        (lambda: nn.Conv2d(3, 4, 3, padding="same", stride=2), "needs a stride of 1"),
        (lambda: nn.Conv2d(3, 4, (3, 3, 3)), "give one number, or 2"),
        (lambda: nn.Conv2d(3, 4, 3, padding_mode="mirror"), "padding_mode is 'mirror'"),
        (lambda: nn.GroupNorm(2, 3), "do not divide into 2 groups"),
        (lambda: nn.Dropout(1.5), "between 0 and 1"),
        (lambda: nn.Dropout1d(-1), "Dropout1d: p is -1"),
        (lambda: nn.Embedding(3, 2, padding_idx=3), "is none of 3 rows"),
        (lambda: nn.MultiheadAttention(6, 4), "4 heads do not divide"),
    ],
)
def test_wrong_argument_is_named(make: Any, part: str) -> None:
    with pytest.raises(vkml.ArgumentError, match=part):
        make()


def test_batch_norm_refuses_a_wrong_number_of_axes() -> None:
    with pytest.raises(vkml.ShapeError, match="expected 4 axes"):
        nn.BatchNorm2d(3)(vkml.zeros(2, 3))
