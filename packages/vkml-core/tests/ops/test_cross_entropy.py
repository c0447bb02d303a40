from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import vkml
from vkml.ops.definition import OPERATIONS

torch = pytest.importorskip("torch")

REDUCTIONS = ["mean", "sum", "none"]
SHAPES = [(5, 3), (7,), (2, 3, 4), (2, 3, 1, 2), (100, 10)]
LOSSES = ["cross_entropy", "nll_loss"]
CASES = [
    (False, {}),
    (True, {}),
    (False, {"ignore_index": 1}),
    (True, {"ignore_index": 1}),
]
SMOOTHED = [(weighted, {**options, "label_smoothing": 0.2}) for weighted, options in CASES]


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return np.asarray(2 * np.random.default_rng(7).standard_normal(shape), dtype)


def positive(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(3).uniform(0.2, 1, shape).astype(dtype)


def targets(shape: tuple[int, ...]) -> Any:
    """Return class numbers for logits of `shape`; the second is 1, in case that is ignored."""
    classes, places = (shape[1], (shape[0], *shape[2:])) if len(shape) > 1 else (shape[0], ())
    return np.asarray(np.random.default_rng(3).integers(0, classes, places))


def pair(name: str, target: Any, weight: Any, **options: Any) -> tuple[Any, Any]:
    """Return our function and torch's, of the logits alone."""

    def call(library: Any, functions: Any) -> Any:
        extra = [None if each is None else library.tensor(each) for each in (target, weight)]
        return lambda x: getattr(functions, name)(x, *extra, **options)

    return call(vkml, vkml), call(torch, torch.nn.functional)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("name", "weighted", "options"),
    [
        *(("cross_entropy", *case) for case in (*CASES, *SMOOTHED)),
        *(("nll_loss", *case) for case in CASES),
    ],
)
def test_loss_of_classes_and_its_derivatives_equal_torch(
    agrees_with_torch: Any,
    name: str,
    weighted: bool,
    options: Any,
    shape: Any,
    reduction: str,
    dtype: Any,
) -> None:
    classes = shape[1] if len(shape) > 1 else shape[0]
    weight = positive(classes, dtype=dtype) if weighted else None
    ours, theirs = pair(name, targets(shape), weight, reduction=reduction, **options)

    agrees_with_torch(ours, theirs, numbers(*shape, dtype=dtype))


@pytest.mark.parametrize("name", LOSSES)
def test_loss_of_a_transposed_view_equals_torch(agrees_with_torch: Any, name: str) -> None:
    agrees_with_torch(*pair(name, targets((4, 3)), None), numbers(3, 4).T)


@pytest.mark.parametrize("name", LOSSES)
def test_loss_of_only_ignored_targets_is_nan_in_the_mean_and_0_in_the_sum(name: str) -> None:
    x, target = vkml.tensor(numbers(2, 3)), vkml.tensor([-100, -100])
    loss = getattr(vkml, name)

    assert np.isnan(loss(x, target).item())
    assert loss(x, target, reduction="sum").item() == 0


@pytest.mark.parametrize("options", [{}, {"label_smoothing": 0.2}])
@pytest.mark.parametrize("create_graph", [False, True])
def test_gradient_of_only_ignored_targets_is_0_though_the_mean_is_nan(
    options: Any, create_graph: bool
) -> None:
    x = vkml.tensor(numbers(2, 3), requires_grad=True)
    loss = vkml.cross_entropy(x, vkml.tensor([-100, -100]), **options)

    (gradient,) = vkml.autograd.grad(loss, [x], create_graph=create_graph)

    assert gradient is not None
    assert gradient.tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("reduction", ["sum", "none"])
def test_loss_of_an_empty_batch_equals_torch(
    agrees_with_torch: Any, name: str, reduction: str
) -> None:
    ours, theirs = pair(name, np.zeros(0, np.int64), None, reduction=reduction)

    agrees_with_torch(ours, theirs, numbers(0, 3), second=False)


def test_cross_entropy_of_infinite_logits_equals_torch() -> None:
    logits, target = np.array([[0, -np.inf, 2], [1000, 0, -1000]], np.float32), np.array([2, 2])
    ours, theirs = pair("cross_entropy", target, None, reduction="none")
    x, y = vkml.tensor(logits, requires_grad=True), torch.tensor(logits, requires_grad=True)

    result, expected = ours(x), theirs(y)
    result.sum().backward()
    expected.sum().backward()

    assert x.grad is not None
    assert_allclose(result.detach().numpy(), expected.detach().numpy(), rtol=1e-6)
    assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-6, atol=1e-7)


def test_cross_entropy_of_float16_stays_float16() -> None:
    x = vkml.tensor(numbers(5, 3).astype(np.float16), requires_grad=True)

    loss = vkml.cross_entropy(x, vkml.tensor(targets((5, 3))))
    loss.backward()

    assert loss.dtype is vkml.float16
    assert x.grad is not None
    assert x.grad.dtype is vkml.float16


@pytest.mark.parametrize("dtype", [np.int32, np.uint8])
@pytest.mark.parametrize("name", LOSSES)
def test_loss_takes_targets_of_every_integer_dtype(name: str, dtype: Any) -> None:
    x, target = vkml.tensor(numbers(5, 3)), targets((5, 3))
    loss = getattr(vkml, name)

    result = loss(x, vkml.tensor(target.astype(dtype)))

    assert_allclose(result.item(), loss(x, vkml.tensor(target)).item())


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("weighted", "options"), [*CASES, *SMOOTHED])
def test_cross_entropy_equals_its_decomposition(
    shape: Any, weighted: bool, options: Any, reduction: str
) -> None:
    x, target, k = numbers(*shape), targets(shape), vkml.device("cpu").raw
    weight = positive(shape[1] if len(shape) > 1 else shape[0]) if weighted else None
    chosen = (reduction, options.get("ignore_index", -100), options.get("label_smoothing", 0.0))
    forward, backward = (
        OPERATIONS[name].decomposition for name in ("cross_entropy", "cross_entropy_backward")
    )
    assert forward is not None
    assert backward is not None

    loss, *auxiliary = k.cross_entropy(x, target, weight, *chosen)
    upstream = np.asarray(numbers(*loss.shape))

    with np.errstate(all="ignore"):
        assert_allclose(forward(k, x, target, weight, *chosen), loss, rtol=1e-5, atol=1e-6)
        expected = k.cross_entropy_backward(upstream, x, target, weight, *auxiliary, *chosen)
        composed = backward(k, upstream, x, target, weight, None, None, *chosen)
    assert_allclose(composed, expected, rtol=1e-4, atol=1e-5)


# errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("wrong", [3, -1])
def test_target_that_is_no_class_is_an_error(name: str, wrong: int) -> None:
    with pytest.raises(vkml.IndexOutOfRangeError, match=r"out of range|outside"):
        getattr(vkml, name)(vkml.ones(2, 3), vkml.tensor([0, wrong]))


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(
    ("shape", "target", "message"),
    [
        ((2, 3), (3,), r"\(2, 3\) needs class numbers of shape \(2,\), got \(3,\)"),
        ((2, 3, 4), (2, 3), r"of shape \(2, 4\), got \(2, 3\). The axis of the classes is 1"),
        ((3,), (1,), r"of shape \(\), got \(1,\)"),
        ((), (), "got a number"),
    ],
)
def test_target_of_another_shape_is_an_error(
    name: str, shape: Any, target: Any, message: str
) -> None:
    with pytest.raises(vkml.ShapeError, match=message):
        getattr(vkml, name)(vkml.ones(*shape), vkml.zeros(*target, dtype=vkml.int64))


@pytest.mark.parametrize("name", LOSSES)
def test_floating_target_of_another_shape_is_an_error(name: str) -> None:
    with pytest.raises(vkml.DTypeError, match=r"expected class numbers .* got float32"):
        getattr(vkml, name)(vkml.ones(2, 3), vkml.ones(2))


@pytest.mark.parametrize("name", LOSSES)
def test_weight_of_another_shape_or_dtype_is_an_error(name: str) -> None:
    loss, x, target = getattr(vkml, name), vkml.ones(2, 3), vkml.tensor([0, 1])

    with pytest.raises(vkml.ShapeError, match="a weight for each of 3 classes"):
        loss(x, target, vkml.ones(2))
    with pytest.raises(vkml.DTypeError, match="input float32, weight float64"):
        loss(x, target, vkml.ones(3, dtype=vkml.float64))


@pytest.mark.parametrize("name", LOSSES)
def test_unknown_reduction_is_an_error(name: str) -> None:
    with pytest.raises(vkml.ArgumentError, match=f"{name}: reduction='avg' is unknown"):
        getattr(vkml, name)(vkml.ones(2, 3), vkml.tensor([0, 1]), reduction="avg")


@pytest.mark.parametrize(
    "target", [vkml.tensor([0, 1]), vkml.ones(2, 3)], ids=["classes", "shares"]
)
def test_label_smoothing_above_1_is_an_error(target: Any) -> None:
    with pytest.raises(vkml.ArgumentError, match=r"label_smoothing is 1.5"):
        vkml.cross_entropy(vkml.ones(2, 3), target, label_smoothing=1.5)


# probabilities as targets ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy_of_probabilities_and_its_derivatives_equal_torch(
    agrees_with_torch: Any, weighted: bool, smoothing: float, shape: Any, reduction: str, dtype: Any
) -> None:
    classes = shape[1] if len(shape) > 1 else shape[0]
    weight = positive(classes, dtype=dtype) if weighted else None
    options: Any = {"reduction": reduction, "label_smoothing": smoothing}

    def ours(x: Any, target: Any) -> Any:
        each = None if weight is None else vkml.tensor(weight)
        return vkml.cross_entropy(x, target, each, **options)

    def theirs(x: Any, target: Any) -> Any:
        each = None if weight is None else torch.tensor(weight)
        return torch.nn.functional.cross_entropy(x, target, each, **options)

    agrees_with_torch(ours, theirs, numbers(*shape, dtype=dtype), positive(*shape, dtype=dtype))
