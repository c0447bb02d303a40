from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import vkml
from vkml.errors import ArgumentError, DTypeError, ShapeError

torch = pytest.importorskip("torch")
attention: Any = vkml.scaled_dot_product_attention
torch_attention = torch.nn.functional.scaled_dot_product_attention


@pytest.fixture(params=["once", "twice"])
def agrees_with_torch(agrees_with_torch: Any, request: pytest.FixtureRequest) -> Any:
    """Compare by a plain backward pass (fused kernels), and by one that is differentiated again."""
    return partial(agrees_with_torch, second=request.param == "twice")


def normal(*shape: int, dtype: Any = np.float64) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def chosen(*shape: int) -> Any:
    """Return where a query may attend; the third may attend to nothing."""
    mask = np.random.default_rng(3).random(shape) < 0.6
    mask[..., 2, :] = False
    return mask


CASES: dict[str, tuple[Any, ...]] = {
    "heads": ((2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6), None, {}),
    "causal": ((2, 3, 5, 4), (2, 3, 5, 4), (2, 3, 5, 4), None, {"is_causal": True}),
    "causal, more keys": ((3, 4, 2), (3, 6, 2), (3, 6, 2), None, {"is_causal": True}),
    "causal, fewer keys": ((3, 6, 2), (3, 4, 2), (3, 4, 2), None, {"is_causal": True}),
    "chosen": ((2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6), chosen(5, 7), {}),
    "chosen per head": ((2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6), chosen(2, 1, 5, 7), {}),
    "added": ((2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6), normal(3, 5, 7), {}),
    "added for each key": ((2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6), normal(1, 7), {}),
    "scale": ((2, 5, 4), (2, 7, 4), (2, 7, 4), None, {"scale": 0.3}),
    "one sequence": ((5, 4), (7, 4), (7, 3), None, {}),
    "shared keys": ((2, 3, 5, 4), (1, 3, 7, 4), (2, 1, 7, 4), None, {}),
}


@pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("place", ["cpu", "strided"])
def test_attention_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, case: str, place: str, strided: vkml.Device
) -> None:
    *shapes, mask, options = CASES[case]
    device = strided if place == "strided" else vkml.device("cpu")

    def mine(*operands: Any) -> Any:
        moved = (each if each is None else each.to(device) for each in operands)
        return attention(*moved, **options).cpu()

    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        agrees_with_torch(
            mine,
            lambda *operands: torch_attention(*operands, **options),
            *(normal(*shape) for shape in shapes), mask, tolerance=100,
        )  # fmt: skip


def test_attention_in_float32_of_strided_operands_equals_torch(agrees_with_torch: Any) -> None:
    q, k, v = (normal(4, n, 2, dtype=np.float32).T for n in (5, 7, 7))

    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        agrees_with_torch(attention, torch_attention, q, k, v, tolerance=10)


def test_attention_to_nothing_is_zero_and_gives_no_gradient() -> None:
    q, k, v = (vkml.tensor(normal(3, 4), requires_grad=True) for _ in range(3))
    mask = np.ones((3, 3), bool)
    mask[1] = False

    y = attention(q, k, v, vkml.tensor(mask))
    y.sum().backward()

    assert_array_equal(y.detach().numpy()[1], 0)
    assert q.grad is not None
    assert_array_equal(q.grad.numpy()[1], 0)
    assert np.isfinite(q.grad.numpy()).all()


def test_attention_over_no_keys_is_zero() -> None:
    y = attention(vkml.ones(2, 4), vkml.ones(0, 4), vkml.ones(0, 3))

    assert_array_equal(y.numpy(), np.zeros((2, 3)))


def test_attention_spreads_nan_to_the_queries_that_see_it() -> None:
    q, k, v = (normal(3, 4) for _ in range(3))
    k[2, 0] = np.nan

    y = attention(*map(vkml.tensor, (q, k, v)), is_causal=False).numpy()
    causal = attention(*map(vkml.tensor, (q, k[:2], v[:2])), is_causal=True).numpy()

    assert np.isnan(y).all()
    assert np.isfinite(causal).all()


@pytest.mark.parametrize("place", ["cpu", "strided"])
def test_attention_computes_half_precision_in_float32(place: str, strided: vkml.Device) -> None:
    device = strided if place == "strided" else vkml.device("cpu")
    q, k, v = (normal(5, 8, dtype=np.float16) * np.float16(30) for _ in range(3))
    tensors = [vkml.tensor(each, device=device) for each in (q, k, v)]

    y = attention(*tensors, scale=1.0).cpu()

    expected = torch_attention(*(torch.tensor(each).float() for each in (q, k, v)), scale=1.0)
    assert y.dtype is vkml.float16
    assert_allclose(y.numpy(), expected.numpy(), rtol=1e-3, atol=1e-3)


@pytest.mark.skipif(not hasattr(vkml, "dropout"), reason="there is no dropout yet")
def test_attention_with_dropout_drops_some_and_scales_the_rest() -> None:
    size = 400
    q = vkml.zeros(1, 4)
    value = vkml.ones(size, 1, requires_grad=True)

    y = attention(q, vkml.zeros(size, 4), value, dropout_p=0.5)
    y.sum().backward()

    assert value.grad is not None
    kept = value.grad.numpy() * size
    assert set(np.round(kept.ravel(), 3)) == {0.0, 2.0}
    assert 0.35 < (kept > 0).mean() < 0.65
    assert_allclose(y.detach().numpy().item(), kept.mean(), rtol=1e-4)


def test_attention_with_dropout_checks_its_operands() -> None:
    with pytest.raises(ShapeError, match="scaled_dot_product_attention: query"):
        attention(vkml.ones(2, 4), vkml.ones(2, 3), vkml.ones(2, 3), dropout_p=0.5)
    with pytest.raises(ArgumentError, match="dropout_p is 2"):
        attention(vkml.ones(2, 4), vkml.ones(2, 4), vkml.ones(2, 3), dropout_p=2)


@pytest.mark.parametrize(
    ("shapes", "options", "error", "message"),
    [
        (((5, 4), (7, 3), (7, 3)), {}, ShapeError, "must agree in the last size"),
        (((5, 4), (7, 4), (6, 4)), {}, ShapeError, "must agree in the last size"),
        (((5,), (7, 4), (7, 4)), {}, ShapeError, r"expected a query \(\.\.\., length, size\)"),
        (((2, 5, 4), (3, 7, 4), (3, 7, 4)), {}, ShapeError, "do not broadcast"),
        (
            ((5, 4), (7, 4), (7, 4)), {"attn_mask": vkml.ones(5, 6)}, ShapeError,
            r"shapes \(5, 6\) and \(5, 7\) do not broadcast",
        ),
        (
            ((1, 4), (7, 4), (7, 4)), {"attn_mask": vkml.ones(5, 7)}, ShapeError,
            r"a mask \(5, 7\) does not broadcast to \(\.\.\., 1, 7\)",
        ),
        (
            ((5, 4), (7, 4), (7, 4)), {"attn_mask": vkml.ones(5, 7), "is_causal": True},
            ArgumentError, "a mask and is_causal=True",
        ),
        (
            ((5, 4), (7, 4), (7, 4)), {"attn_mask": vkml.ones(5, 7, dtype="int64")}, DTypeError,
            "expected one dtype, got query float32, attn_mask int64",
        ),
    ],
)  # fmt: skip
def test_attention_says_what_does_not_fit(
    shapes: Any, options: Any, error: Any, message: str
) -> None:
    with pytest.raises(error, match=f"scaled_dot_product_attention: .*{message}"):
        attention(*(vkml.ones(shape) for shape in shapes), **options)
