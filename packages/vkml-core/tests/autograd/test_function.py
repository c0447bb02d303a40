"""Functions with a gradient of the user's own."""

# ruff: noqa: ARG004 - forward and backward have the signatures of Function

from __future__ import annotations

from typing import Any

import pytest

import vkml
from vkml.autograd import Function, gradcheck, gradgradcheck
from vkml.errors import AutogradError


class Cube(Function):
    @staticmethod
    def forward(context: Any, x: vkml.Tensor) -> vkml.Tensor:
        context.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(context: Any, upstream: vkml.Tensor) -> Any:
        (x,) = context.saved_tensors
        return upstream * x * x * 3


class Scaled(Function):
    @staticmethod
    def forward(context: Any, x: vkml.Tensor, factor: float, y: vkml.Tensor) -> vkml.Tensor:
        context.factor = factor
        return x * factor + y

    @staticmethod
    def backward(context: Any, upstream: vkml.Tensor) -> Any:
        assert context.needs_input_grad == (True, False, False)
        return upstream * context.factor, None, None


class TooFew(Scaled):
    @staticmethod
    def backward(context: Any, upstream: vkml.Tensor) -> Any:
        return upstream, None


class Same(Function):
    @staticmethod
    def forward(context: Any, x: vkml.Tensor) -> vkml.Tensor:
        return x

    @staticmethod
    def backward(context: Any, upstream: vkml.Tensor) -> vkml.Tensor:
        return upstream * 7


def grad(*arguments: Any, **options: Any) -> Any:
    """Return the gradients; Any, since the tests know which ones are there."""
    return vkml.autograd.grad(*arguments, **options)


def double(*values: float) -> Any:
    """Return a leaf; Any, since its gradient is known to be there where a test asks for it."""
    return vkml.tensor(list(values), dtype=vkml.float64, requires_grad=True)


def test_the_gradient_is_the_user_s() -> None:
    x = double(2.0)

    Cube.apply(x).sum().backward()

    assert x.grad.tolist() == [12]


def test_a_function_passes_gradcheck_twice() -> None:
    x = double(0.5, -1.5)

    assert gradcheck(Cube.apply, x)
    assert gradgradcheck(Cube.apply, x)


def test_third_derivatives_go_through_backward() -> None:
    x = double(2.0)
    (first,) = grad(Cube.apply(x), x, create_graph=True)
    (second,) = grad(first, x, create_graph=True)
    (third,) = grad(second, x)

    assert (second.tolist(), third.tolist()) == ([12], [6])


def test_arguments_may_be_anything() -> None:
    x = double(1.0)

    Scaled.apply(x, 4.0, vkml.zeros(1, dtype=vkml.float64)).backward()

    assert x.grad.tolist() == [4]


def test_a_wrong_number_of_gradients_is_refused() -> None:
    with pytest.raises(AutogradError, match="returned 2 gradients for 3 arguments"):
        TooFew.apply(double(1.0), 1.0, vkml.zeros(1, dtype=vkml.float64)).backward()


def test_returning_an_argument_still_has_the_user_s_gradient() -> None:
    x = double(1.0)

    Same.apply(x).backward()

    assert x.grad.tolist() == [7]
    assert x.is_leaf


def test_nothing_is_recorded_without_need() -> None:
    x = double(1.0)

    with vkml.no_grad():
        assert not Cube.apply(x).requires_grad
    assert not Cube.apply(x.detach()).requires_grad


def test_a_kept_tensor_that_changed_is_refused() -> None:
    x = double(1.0)
    y = x * 2
    z = Cube.apply(y)

    y.detach().zero_()

    with pytest.raises(AutogradError, match="save_for_backward was changed in place"):
        z.backward()


def test_a_missing_attribute_is_named() -> None:
    class Forgetful(Cube):
        @staticmethod
        def backward(context: Any, upstream: vkml.Tensor) -> Any:
            return upstream * context.scale

    with pytest.raises(AttributeError, match="'scale'"):
        Forgetful.apply(double(1.0)).backward()


def test_forward_must_return_a_tensor() -> None:
    class Wrong(Cube):
        @staticmethod
        def forward(context: Any, x: vkml.Tensor) -> Any:
            return 3

    with pytest.raises(TypeError, match=r"Wrong\.forward: expected one tensor, got int"):
        Wrong.apply(double(1.0))


def test_a_returned_tensor_is_not_taken_for_the_gradient() -> None:
    factor = vkml.full((1,), 5.0, dtype=vkml.float64)

    class ByFactor(Cube):
        @staticmethod
        def backward(context: Any, upstream: vkml.Tensor) -> Any:
            return factor

    x = double(1.0)
    for _ in range(2):
        ByFactor.apply(x).backward()

    assert (x.grad.tolist(), factor.tolist()) == ([10], [5])


class TimesItsExponential(Function):
    """x * exp(x), whose backward uses the saved output."""

    @staticmethod
    def forward(context: Any, x: vkml.Tensor) -> vkml.Tensor:
        output = x * x.exp()
        context.save_for_backward(x, output)
        return output

    @staticmethod
    def backward(context: Any, upstream: vkml.Tensor) -> vkml.Tensor:
        x, output = context.saved_tensors
        gradient: vkml.Tensor = upstream * (x.exp() + output)
        return gradient


def test_second_derivatives_go_through_a_saved_output() -> None:
    x = vkml.tensor([0.5, -1.0], dtype="float64", requires_grad=True)

    assert gradgradcheck(TimesItsExponential.apply, (x,))


class Reducing(Function):
    """Doubles, and returns a gradient of a wrong shape."""

    @staticmethod
    def forward(_context: Any, x: vkml.Tensor) -> vkml.Tensor:
        return x * 2

    @staticmethod
    def backward(_context: Any, upstream: vkml.Tensor) -> vkml.Tensor:
        return upstream.sum()


def test_a_gradient_of_another_shape_is_refused() -> None:
    x = vkml.ones(2, requires_grad=True)

    with pytest.raises(vkml.ShapeError, match=r"gradient 0 has shape \(\).*\(2,\)"):
        Reducing.apply(x).sum().backward()

    assert x.grad is None
