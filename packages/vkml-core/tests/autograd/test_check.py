"""gradcheck and gradgradcheck: right gradients pass, wrong ones are described."""

# ruff: noqa: ARG004 - forward and backward have the signatures of Function

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vkml
from vkml.autograd import Function, gradcheck, gradgradcheck
from vkml.errors import ArgumentError, AutogradError, DTypeError


class WrongSlope(Function):
    @staticmethod
    def forward(context: Any, x: vkml.Tensor) -> vkml.Tensor:
        return x * 2

    @staticmethod
    def backward(context: Any, upstream: vkml.Tensor) -> vkml.Tensor:
        return upstream * 3


class WrongCurvature(Function):
    @staticmethod
    def forward(context: Any, x: vkml.Tensor) -> vkml.Tensor:
        context.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(context: Any, upstream: vkml.Tensor) -> Any:
        (x,) = context.saved_tensors
        return upstream * x.detach() * 2


def leaf(*shape: int) -> vkml.Tensor:
    values = np.random.default_rng(0).uniform(0.5, 2, shape)
    return vkml.tensor(values, requires_grad=True)


def test_right_gradients_pass() -> None:
    assert gradcheck(lambda x, y: (x * y).exp(), (leaf(2, 3), leaf(3)))


def test_inputs_are_left_as_they_were() -> None:
    x = leaf(3)
    before = x.tolist()

    gradcheck(lambda x: x.exp(), x)

    assert (x.tolist(), x.grad) == (before, None)


def test_inputs_of_any_layout_are_checked() -> None:
    x = leaf(3, 4).detach().T.requires_grad_()
    y = leaf(12).detach()[1::3].requires_grad_()

    assert gradcheck(lambda x, y: x * x * y.reshape(4, 1), (x, y))


def test_several_outputs_are_checked() -> None:
    assert gradcheck(lambda x: (x * 2, x.sum(), vkml.tensor(1)), leaf(3))
    with pytest.raises(AutogradError, match="output 1 by input 0"):
        gradcheck(lambda x: (x * 2, WrongSlope.apply(x)), leaf(3))


def test_a_wrong_gradient_is_described() -> None:
    pattern = r"output 0 by input 1.*element \(0,\) of .* by element \(0,\).* 3 by the back.* 2 by"

    with pytest.raises(AutogradError, match=pattern):
        gradcheck(lambda _, y: WrongSlope.apply(y), (leaf(2), leaf(2)))


def test_a_wrong_gradient_may_be_returned() -> None:
    assert not gradcheck(WrongSlope.apply, leaf(2), raise_exception=False)


def test_a_gradient_that_is_missing_is_wrong() -> None:
    with pytest.raises(AutogradError, match="is 0 by the backward pass"):
        gradcheck(lambda x: x.detach().exp() + x * 0, leaf(2))


def test_tolerances_are_obeyed() -> None:
    assert gradcheck(WrongSlope.apply, leaf(2), atol=1.5)
    assert gradcheck(WrongSlope.apply, leaf(2), rtol=0.6)


def test_other_arguments_pass_through() -> None:
    assert gradcheck(lambda x, power, y: x**power + y, (leaf(2), 3, leaf(2).detach()))


def test_float32_is_refused() -> None:
    with pytest.raises(DTypeError, match=r"input 0 is vkml\.float32, too coarse"):
        gradcheck(lambda x: x, vkml.ones(2, requires_grad=True))


def test_complex_numbers_are_refused() -> None:
    x = vkml.ones(2, dtype=vkml.complex128).requires_grad_()

    with pytest.raises(DTypeError, match="complex gradients are not checked"):
        gradcheck(lambda x: x, x)


def test_inputs_without_gradient_are_refused() -> None:
    with pytest.raises(ArgumentError, match="requires_grad=True"):
        gradcheck(lambda x: x, leaf(2).detach())


def test_an_expanded_input_is_refused() -> None:
    x = leaf(1).detach().expand(3).requires_grad_()

    with pytest.raises(ArgumentError, match=r"x\.clone"):
        gradcheck(lambda x: x * 2, x)


def test_empty_inputs_and_outputs_pass() -> None:
    assert gradcheck(lambda x: x * 2, leaf(0, 3))
    assert gradcheck(lambda x: x[:0], leaf(3))


def test_right_second_derivatives_pass() -> None:
    assert gradgradcheck(lambda x, y: (x * y).exp() / x, (leaf(2, 2), leaf(2)))


def test_linear_functions_pass_the_second_check() -> None:
    assert gradgradcheck(lambda x: x.sum(0), leaf(2, 2))


def test_wrong_second_derivatives_are_found() -> None:
    x = leaf(2)

    assert gradcheck(WrongCurvature.apply, x)
    with pytest.raises(AutogradError, match="gradgradcheck: the derivative of output 0 by input 0"):
        gradgradcheck(WrongCurvature.apply, x)


def test_starting_gradients_may_be_given() -> None:
    assert gradgradcheck(lambda x: x * x, leaf(2), vkml.tensor([1.0, 2.0], dtype=vkml.float64))


def test_checks_run_on_other_devices(strided: vkml.Device) -> None:
    x = leaf(3).detach().to(strided).requires_grad_()

    assert gradcheck(lambda x: (x * x).exp(), x)
    assert gradgradcheck(lambda x: (x * x).exp(), x)
