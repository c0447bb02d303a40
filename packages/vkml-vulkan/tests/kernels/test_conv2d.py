"""Convolutions and their gradients on Vulkan, beside plain loops over taps in float64."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml

Pair = tuple[int, int]
Array = NDArray[Any]


class Case(NamedTuple):
    """Shapes and options of a convolution."""

    x: tuple[int, int, int, int]
    weight: tuple[int, int, int, int]
    stride: Pair = (1, 1)
    padding: Pair = (0, 0)
    dilation: Pair = (1, 1)
    groups: int = 1

    @property
    def options(self) -> tuple[Pair, Pair, Pair, int]:
        return self[2:]


CASES: Final = [
    Case((1, 1, 1, 1), (1, 1, 1, 1)),
    Case((2, 3, 9, 7), (4, 3, 3, 2)),
    Case((2, 16, 28, 28), (32, 16, 3, 3), padding=(1, 1)),
    Case((3, 5, 17, 13), (6, 5, 5, 3), (2, 3), (2, 1)),
    Case((2, 8, 15, 15), (12, 4, 3, 3), (1, 2), (2, 2), (2, 2), 2),
    Case((1, 6, 20, 21), (6, 1, 3, 3), padding=(1, 1), groups=6),
    Case((2, 6, 12, 11), (12, 1, 3, 5), (2, 2), (1, 2), (1, 1), 6),
    Case((2, 64, 10, 9), (70, 64, 1, 1)),
    Case((2, 20, 11, 9), (7, 20, 1, 1), (2, 2)),
    Case((1, 3, 40, 33), (8, 3, 11, 11), (4, 4), (2, 2)),
    Case((2, 2, 12, 13), (3, 2, 2, 3), (3, 2), (1, 1), (2, 3)),
    Case((1, 2, 14, 14), (3, 2, 3, 3), (2, 2), (4, 4), (2, 2)),
    Case((2, 3, 9, 9), (2, 3, 2, 2), (5, 4)),
    Case((9, 1, 30, 30), (2, 1, 3, 3), padding=(1, 1)),
    Case((1, 4, 1, 300), (5, 4, 1, 7), (1, 1), (0, 3)),
    Case((1, 2, 4, 4), (3, 2, 3, 3), padding=(5, 6)),
    Case((130, 3, 6, 5), (2, 3, 3, 3), padding=(1, 1)),
]


def values(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def taps(case: Case, x: Array, output: tuple[int, ...]) -> list[tuple[int, int, Array]]:
    """Return for each tap the part of the padded, grouped input that it meets: a view."""
    _, _, stride, padding, dilation, groups = case
    grouped = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
    margins = [(0, 0)] * 3 + [(each, each) for each in padding]
    padded = np.pad(grouped, margins) if any(padding) else grouped
    found = []
    for i in range(case.weight[2]):
        for j in range(case.weight[3]):
            rows = slice(i * dilation[0], None, stride[0])
            columns = slice(j * dilation[1], None, stride[1])
            met = padded[..., rows, columns][..., : output[2], : output[3]]
            found.append((i, j, met))
    return found


def output_shape(case: Case) -> tuple[int, int, int, int]:
    high, wide = (
        (case.x[axis + 2] + 2 * case.padding[axis]
         - case.dilation[axis] * (case.weight[axis + 2] - 1) - 1) // case.stride[axis] + 1
        for axis in (0, 1)
    )  # fmt: skip
    return case.x[0], case.weight[0], high, wide


def expected_output(case: Case, x: Array, weight: Array) -> Array:
    shape = output_shape(case)
    filters = weight.reshape(case.groups, -1, *weight.shape[1:]).astype(np.float64)
    y = np.zeros((shape[0], case.groups, shape[1] // case.groups, *shape[2:]))
    for i, j, met in taps(case, x.astype(np.float64), shape):
        y += np.einsum("gock,ngchw->ngohw", filters[:, :, :, i, j, None], met)
    return y.reshape(shape)


def expected_gradients(case: Case, x: Array, weight: Array, g: Array) -> tuple[Array, Array]:
    """Return the gradients for input and weight."""
    shape = output_shape(case)
    filters = weight.reshape(case.groups, -1, *weight.shape[1:]).astype(np.float64)
    upstream = g.reshape(shape[0], case.groups, -1, *shape[2:]).astype(np.float64)
    size = [n + 2 * p for n, p in zip(case.x[2:], case.padding, strict=True)]
    dx = np.zeros((*case.x[:2], *size))
    dweight = np.zeros(filters.shape)
    wide = case._replace(padding=(0, 0))
    for i, j, met in taps(case, x.astype(np.float64), shape):
        dweight[:, :, :, i, j] = np.einsum("ngohw,ngchw->goc", upstream, met)
    for i, j, met in taps(wide, dx, shape):
        met += np.einsum("goc,ngohw->ngchw", filters[:, :, :, i, j], upstream)
    (top, left), (high, across) = case.padding, case.x[2:]
    return dx[:, :, top : top + high, left : left + across], dweight.reshape(weight.shape)


def run(gpu: vkml.Device, case: Case, x: Array, weight: Array, bias: Array | None = None) -> Array:
    added = None if bias is None else vkml.tensor(bias).to(gpu)
    y = vkml.conv2d(vkml.tensor(x).to(gpu), vkml.tensor(weight).to(gpu), added, *case.options)
    array: Array = y.cpu().numpy()
    return array


def on_device(gpu: vkml.Device, *arrays: Array) -> list[vkml.Tensor]:
    return [vkml.tensor(each).to(gpu).requires_grad_() for each in arrays]


def assert_close(found: Array, expected: Array) -> None:
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5 * max(1, abs(expected).max()))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_convolution_is_the_sum_over_taps(gpu: vkml.Device, case: Case) -> None:
    x, weight, bias = values(*case.x), values(*case.weight, seed=1), values(case.weight[0])

    found = run(gpu, case, x, weight, bias)

    assert_close(found, expected_output(case, x, weight) + bias[:, None, None])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_gradients_are_those_of_the_sum_over_taps(gpu: vkml.Device, case: Case) -> None:
    x, weight = values(*case.x), values(*case.weight, seed=1)
    on_gpu = on_device(gpu, x, weight)
    g = values(*output_shape(case), seed=2)

    y = vkml.conv2d(on_gpu[0], on_gpu[1], None, *case.options)
    found = vkml.autograd.grad(y, on_gpu, vkml.tensor(g).to(gpu))

    for each, expected in zip(found, expected_gradients(case, x, weight, g), strict=True):
        assert each is not None
        assert_close(each.cpu().numpy(), expected)


def test_float64_is_convolved_in_float64(gpu_with_float64: vkml.Device) -> None:
    case = CASES[4]
    x, weight = values(*case.x).astype(np.float64), values(*case.weight).astype(np.float64)

    found = run(gpu_with_float64, case, x, weight)

    np.testing.assert_allclose(found, expected_output(case, x, weight), rtol=1e-12, atol=1e-12)


def test_float16_is_rounded_once(gpu: vkml.Device) -> None:
    case = CASES[3]
    x, weight = values(*case.x).astype(np.float16), values(*case.weight).astype(np.float16)

    found = run(gpu, case, x, weight)

    expected = expected_output(case, x, weight)
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=1e-3, atol=1e-3)


def test_strided_images_and_filters_are_read_where_they_lie(gpu: vkml.Device) -> None:
    case = CASES[3]
    x, weight = values(*case.x[::-1]), values(*case.weight[::-1], seed=1)
    views = [each.permute(3, 2, 1, 0) for each in on_device(gpu, x, weight)]

    found = vkml.conv2d(views[0], views[1], None, *case.options).detach().cpu().numpy()

    assert_close(found, expected_output(case, x.transpose(), weight.transpose()))


def test_an_upstream_gradient_may_be_repeated(gpu: vkml.Device) -> None:
    case = CASES[1]
    x, weight = values(*case.x), values(*case.weight, seed=1)
    on_gpu = on_device(gpu, x, weight)

    vkml.conv2d(on_gpu[0], on_gpu[1], None, *case.options).sum().backward()

    g = np.ones(output_shape(case))
    for each, expected in zip(on_gpu, expected_gradients(case, x, weight, g), strict=True):
        assert each.grad is not None
        assert_close(each.grad.cpu().numpy(), expected)


def test_a_special_pixel_reaches_its_windows_alone(gpu: vkml.Device) -> None:
    case = Case((2, 3, 12, 12), (5, 3, 3, 3), padding=(1, 1))
    x, weight = values(*case.x), values(*case.weight, seed=1)
    x[1, 2, 11, 0] = np.nan

    found = run(gpu, case, x, weight)

    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected_output(case, x, weight)))


def test_images_without_a_sample_have_no_result_and_a_zero_gradient(gpu: vkml.Device) -> None:
    x = vkml.zeros(0, 2, 5, 5, device=gpu)
    weight = vkml.ones(3, 2, 3, 3, device=gpu).requires_grad_()

    y = vkml.conv2d(x, weight)
    y.sum().backward()

    assert y.shape == (0, 3, 3, 3)
    assert weight.grad is not None
    assert not weight.grad.cpu().numpy().any()


def test_a_gradient_of_a_gradient_equals_that_on_the_cpu(gpu: vkml.Device) -> None:
    found, expected = (second_derivative(each) for each in (gpu, vkml.device("cpu")))

    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def second_derivative(device: vkml.Device) -> Array:
    x, weight = on_device(device, values(2, 3, 8, 8), values(4, 3, 3, 3))
    y = vkml.conv2d(x, weight, stride=2, padding=1)
    (dx,) = vkml.autograd.grad((y * y).sum(), [x], create_graph=True)
    assert dx is not None
    (found,) = vkml.autograd.grad((dx * dx).sum(), [weight])
    assert found is not None
    array: Array = found.cpu().numpy()
    return array
