"""The meta device: shapes and dtypes without data."""

from __future__ import annotations

import pytest

import vkml
from vkml.errors import DeviceError, ShapeError
from vkml.ops.definition import OPERATIONS, Operation
from vkml.testing.operations import evaluate
from vkml.testing.samples import samples_of, tensors_of

SAMPLED = [each for each in OPERATIONS.values() if samples_of(each)]


def test_zeros_on_meta_have_shape_and_dtype() -> None:
    x = vkml.zeros(3, 4, device="meta", dtype=vkml.float16)

    assert (x.shape, x.dtype, str(x.device)) == ((3, 4), vkml.float16, "meta")


@pytest.mark.parametrize("operation", SAMPLED, ids=lambda each: each.name)
def test_meta_says_what_the_cpu_computes(operation: Operation) -> None:
    cpu, meta = vkml.device("cpu"), vkml.device("meta")
    for sample in samples_of(operation):
        expected = evaluate(operation, tensors_of(sample, cpu), sample, cpu)
        found = evaluate(operation, tensors_of(sample, meta), sample, meta)

        for ours, theirs in zip(found, expected, strict=False):
            if ours is not None and theirs is not None:
                assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)


def test_a_chain_of_operations_gives_the_right_shape() -> None:
    x = vkml.zeros(32, 784, device="meta")
    weight = vkml.zeros(784, 10, device="meta")

    logits = (x @ weight).exp()
    result = (logits / logits.sum(1, keepdim=True)).T[2:5]

    assert (result.shape, result.dtype) == ((3, 32), vkml.float32)


def test_promotion_is_that_of_other_devices() -> None:
    whole = vkml.zeros(3, dtype=vkml.int32, device="meta")

    assert (whole + 1.5).dtype is vkml.float32
    assert (whole / 2).dtype is vkml.float32
    assert (whole > 1).dtype is vkml.bool


def test_views_share_the_storage() -> None:
    x = vkml.zeros(4, 6, device="meta")
    view = x.T[1:3]

    assert view.storage() == x.storage()
    assert (view.stride(), view.storage_offset()) == ((1, 6), 1)
    assert x.storage().nbytes == 96


def test_a_clone_has_a_storage_of_its_own() -> None:
    x = vkml.zeros(4, device="meta")

    assert x.clone().storage() != x.storage()


def test_values_cannot_be_fetched() -> None:
    x = vkml.zeros(3, device="meta")

    for fetch in (x.tolist, x.cpu, lambda: x.numpy(force=True), x.sum().item):
        with pytest.raises(DeviceError, match="has no values"):
            fetch()


def test_printing_shows_shape_and_device() -> None:
    assert repr(vkml.zeros(2, 3, device="meta")) == "tensor(..., device='meta', size=(2, 3))"


def test_wrong_shapes_are_found() -> None:
    with pytest.raises(ShapeError, match="do not broadcast"):
        vkml.zeros(3, device="meta") + vkml.zeros(4, device="meta")


def test_gradients_have_shapes_too() -> None:
    x = vkml.zeros(3, 4, device="meta", requires_grad=True)
    scale = vkml.zeros(4, device="meta", requires_grad=True)

    (x * scale).exp().sum().backward()

    assert x.grad is not None
    assert scale.grad is not None
    assert (x.grad.shape, scale.grad.shape) == ((3, 4), (4,))


def test_writing_checks_shapes() -> None:
    x = vkml.zeros(3, 4, device="meta")

    assert x.add_(1).copy_(vkml.ones(4)) is x
    with pytest.raises(ShapeError):
        x.copy_(vkml.ones(5))


def test_moving_to_meta_forgets_the_values() -> None:
    x = vkml.ones(2, dtype=vkml.float64).to("meta")

    assert (x.shape, x.dtype) == ((2,), vkml.float64)


def test_meta_is_no_available_device() -> None:
    assert vkml.device("meta") not in vkml.available_devices()


def test_there_is_one_meta_device() -> None:
    with pytest.raises(DeviceError, match="meta:1"):
        vkml.device("meta:1")
