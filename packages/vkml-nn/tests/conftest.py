"""What the tests of vkml-nn share: modules of both libraries with the same weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import vkml
from vkml import nn

Compare = Callable[..., None]


@pytest.fixture(autouse=True)
def _seeded() -> None:
    vkml.manual_seed(0)


@pytest.fixture
def compare() -> Compare:
    """Return a function that compares a module with one of torch's, forward and backward.

    The first state is torch's, noise added so that weights of 1 and biases of 0 show.
    """
    torch = pytest.importorskip("torch")

    def run(
        ours: nn.Module,
        theirs: Any,
        *shapes: Sequence[int],
        tolerance: float = 1e-5,
        **options: Any,
    ) -> None:
        generator = np.random.default_rng(1)
        with torch.no_grad():
            for parameter in theirs.parameters():
                noise = 0.2 * generator.standard_normal(tuple(parameter.shape))
                parameter += torch.from_numpy(noise.astype(np.float32))
        state = theirs.state_dict()
        assert list(ours.state_dict()) == list(state)
        for name, tensor in ours.state_dict().items():
            assert tensor.shape == tuple(state[name].shape), name
            assert tensor.dtype.name == str(state[name].dtype).removeprefix("torch."), name
        ours.load_state_dict(state)
        ours.train(theirs.training)
        inputs = [generator.standard_normal(shape).astype(np.float32) for shape in shapes]
        x = [vkml.tensor(each, requires_grad=True) for each in inputs]
        expected_x = [torch.tensor(each, requires_grad=True) for each in inputs]

        result = ours(*x, **options)
        expected = theirs(*expected_x, **{k: to_torch(torch, v) for k, v in options.items()})
        if isinstance(result, tuple):
            result, expected = result[0], expected[0]
        upstream = generator.standard_normal(result.shape).astype(np.float32)
        result.backward(vkml.tensor(upstream))
        expected.backward(torch.from_numpy(upstream))

        def close(found: Any, wanted: Any, what: str) -> None:
            assert found is not None, what
            np.testing.assert_allclose(
                found.numpy(), wanted.numpy(), tolerance, tolerance, err_msg=what
            )

        close(result.detach(), expected.detach(), "result")
        for mine, other in zip(x, expected_x, strict=True):
            close(mine.grad, other.grad, "gradient of the input")
        for (name, mine), other in zip(ours.named_parameters(), theirs.parameters(), strict=True):
            close(mine.grad, other.grad, f"gradient of {name}")
        for (name, mine), other in zip(ours.named_buffers(), theirs.buffers(), strict=True):
            close(mine, other, name)

    return run


def to_torch(torch: Any, value: Any) -> Any:
    return torch.from_numpy(value.numpy()) if isinstance(value, vkml.Tensor) else value
