"""The shaders' elementary functions are as close to the true values as they claim.

Float32 is held against NumPy in float64, float64 against NumPy in long double. Errors are in units
in the last place (ulp) of the nearest result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

import vkml

Array = NDArray[Any]
Function = Callable[[Array], Array]

_COUNT: Final = 65_536
_FLOAT32: Final = np.dtype("float32")
_FLOAT64: Final = np.dtype("float64")
_SMALLEST_NORMAL: Final = {_FLOAT32: 2.0**-126, _FLOAT64: 2.0**-1022}
_LONG_DOUBLE_IS_WIDER: Final = np.finfo(np.longdouble).nmant >= 63


# oracles and points ----------------------------------------------------------------------


def _sigmoid(x: Array) -> Array:
    e = np.exp(-np.abs(x))
    result: Array = np.where(x < 0, e, 1) / (1 + e)
    return result


def _reciprocal_root(x: Array) -> Array:
    result: Array = 1 / np.sqrt(x)
    return result


_erf: Final = np.vectorize(math.erf, otypes=[np.float64])

_ORACLES: Final[dict[str, Function]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "erf": _erf,
    "sigmoid": _sigmoid,
    "rsqrt": _reciprocal_root,
}


def _between(low: float, high: float) -> Array:
    """Return numbers spread evenly."""
    return np.random.default_rng(1).uniform(low, high, _COUNT)


def _sizes(low: float, high: float) -> Array:
    """Return positive numbers whose logarithms are spread evenly."""
    result: Array = np.exp(_between(math.log(low), math.log(high)))
    return result


def _signed_sizes(low: float, high: float) -> Array:
    """Return numbers of both signs whose logarithms are spread evenly."""
    signs: Array = np.random.default_rng(2).choice([-1.0, 1.0], _COUNT)
    return signs * _sizes(low, high)


def _around(centre: float) -> Array:
    """Return numbers on both sides of `centre`, most of them very near."""
    return centre + _signed_sizes(1e-9, 0.5)


def _quarter_turns(count: int) -> Array:
    """Return the multiples of pi / 2: there nothing is left of an angle but its last bits."""
    return np.arange(-count, count + 1) * (math.pi / 2)


@dataclass(frozen=True)
class Claim:
    """A function stays within `ulps` at `points`."""

    name: str
    ulps: float
    where: str
    points: Array

    def __str__(self) -> str:
        return f"{self.name} {self.where}"


def _claims(name: str, ulps: float, **points: Array) -> list[Claim]:
    return [Claim(name, ulps, where, each) for where, each in points.items()]


_TINY: Final = _signed_sizes(1e-36, 1)
_LOGARITHM_POINTS: Final = {
    "near_1": _around(1),
    "of_all_sizes": _sizes(1e-37, 3e38),
    "to_100": _between(1e-30, 100),
}
_ANGLES: Final = {
    "to_1": _between(-1, 1),
    "to_1000": _between(-1000, 1000),
    "to_1e5": _between(-1e5, 1e5),
    "to_1e30": _signed_sizes(1000, 1e30),
    "near_multiples": _quarter_turns(640),
}
_ANGLES_OF_FLOAT64: Final = {
    "to_1e5": _between(-1e5, 1e5),
    "to_1e300": _signed_sizes(1e5, 1e300),
    "near_multiples": _quarter_turns(60_000),
}

_CLAIMS: Final = [
    *_claims("exp", 2, to_1=_between(-1, 1), to_80=_between(-80, 80), high=_between(85, 90)),
    *_claims("exp2", 2, to_1=_between(-1, 1), to_120=_between(-120, 120), high=_between(120, 130)),
    *_claims("expm1", 2, tiny=_TINY, to_1=_between(-1, 1), to_88=_between(-30, 88)),
    *_claims("log", 2, **_LOGARITHM_POINTS),
    *_claims("log2", 2, **_LOGARITHM_POINTS),
    *_claims("log10", 2, **_LOGARITHM_POINTS),
    *_claims("log1p", 2, tiny=_TINY, to_10=_between(-1, 10), large=_sizes(1e-3, 3e38)),
    *_claims("sin", 2, tiny=_TINY, **_ANGLES),
    *_claims("cos", 2, **_ANGLES),
    *_claims("tan", 4, tiny=_TINY, **_ANGLES),
    *_claims("asin", 4, tiny=_TINY, to_1=_between(-1, 1), near_1=_around(1).clip(-1, 1)),
    *_claims("acos", 4, to_1=_between(-1, 1), near_1=_around(1).clip(-1, 1)),
    *_claims("atan", 4, to_10=_between(-10, 10), of_all_sizes=_signed_sizes(1e-36, 3e38)),
    *_claims("sinh", 4, tiny=_TINY, to_10=_between(-10, 10), to_92=_between(-92, 92)),
    *_claims("cosh", 4, to_10=_between(-10, 10), to_92=_between(-92, 92)),
    *_claims("tanh", 2, tiny=_TINY, to_1=_between(-1, 1), to_10=_between(-10, 10)),
    *_claims("erf", 6, tiny=_TINY, to_1=_between(-1, 1), to_5=_between(-5, 5)),
    *_claims("sigmoid", 4, to_10=_between(-10, 10), to_100=_between(-100, 100)),
    *_claims("rsqrt", 2, of_all_sizes=_sizes(1e-37, 3e38)),
]
_CLAIMS_OF_FLOAT64: Final = [
    *_claims("exp", 4, to_1=_between(-1, 1), to_700=_between(-700, 712)),
    *_claims("exp2", 8, to_1=_between(-1, 1), to_1000=_between(-1000, 1000)),
    *_claims("expm1", 4, tiny=_TINY, to_1=_between(-1, 1), to_700=_between(-50, 709)),
    *_claims("log", 4, **_LOGARITHM_POINTS),
    *_claims("log2", 8, **_LOGARITHM_POINTS),
    *_claims("log10", 8, **_LOGARITHM_POINTS),
    *_claims("log1p", 4, tiny=_TINY, to_10=_between(-1, 10), large=_sizes(1e-3, 1e300)),
    *_claims("sin", 4, tiny=_TINY, to_1=_between(-1, 1), **_ANGLES_OF_FLOAT64),
    *_claims("cos", 4, to_1=_between(-1, 1), **_ANGLES_OF_FLOAT64),
    *_claims("tan", 8, to_1=_between(-1, 1), to_1e5=_between(-1e5, 1e5)),
    *_claims("asin", 8, tiny=_TINY, to_1=_between(-1, 1)),
    *_claims("acos", 8, to_1=_between(-1, 1)),
    *_claims("atan", 8, to_10=_between(-10, 10), of_all_sizes=_signed_sizes(1e-300, 1e300)),
    *_claims("sinh", 8, tiny=_TINY, to_10=_between(-10, 10), to_712=_between(-712, 712)),
    *_claims("cosh", 8, to_10=_between(-10, 10), to_712=_between(-712, 712)),
    *_claims("tanh", 4, tiny=_TINY, to_10=_between(-10, 10)),
    *_claims("erf", 8, tiny=_TINY, to_1=_between(-1, 1), to_6=_between(-6.5, 6.5)),
    *_claims("sigmoid", 8, to_10=_between(-10, 10), to_700=_between(-700, 700)),
    *_claims("rsqrt", 4, of_all_sizes=_sizes(1e-300, 1e300)),
]


# comparing -------------------------------------------------------------------------------


def _on(device: vkml.Device, name: str, *operands: Array) -> Array:
    function = getattr(vkml, name)
    result = function(*(vkml.tensor(each, device=device) for each in operands))
    found: Array = result.cpu().numpy()
    return found


def _ulps_between(found: Array, true: Array) -> Array:
    """Return the error of each element; where the true value rounds to no finite one, 0 if equal.

    A driver may flush denormal results to zero: beside them every denormal will do.
    """
    smallest = _SMALLEST_NORMAL[found.dtype]
    with np.errstate(all="ignore"):
        rounded = true.astype(found.dtype)
        unit = np.spacing(np.maximum(np.abs(rounded), smallest)).astype(true.dtype)
        error = np.abs(found.astype(true.dtype) - true) / unit
    same = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
    flushed = (np.abs(rounded) <= smallest) & (np.abs(found) <= smallest)
    error = np.where(np.isfinite(rounded), error, np.where(same, 0, np.inf))
    result: Array = np.where(np.isnan(error), np.inf, np.where(flushed, 0, error))
    return result


def _assert_within(ulps: float, found: Array, true: Array, *operands: Array) -> None:
    error = _ulps_between(found, true)
    worst = int(np.argmax(error))
    assert error[worst] <= ulps, (
        f"{error[worst]} ulp at {[float(each[worst]) for each in operands]}: "
        f"{found[worst]!r} instead of {true[worst]!r}"
    )


def _need_float64(device: vkml.Device, name: str) -> None:
    reason = device.handle.why_not(name, [_FLOAT64], ())
    if reason is not None:
        pytest.skip(reason)


@pytest.mark.parametrize("claim", _CLAIMS, ids=str)
def test_a_float32_function_stays_within_its_ulps(claim: Claim, gpu: vkml.Device) -> None:
    x = claim.points.astype(np.float32)

    found = _on(gpu, claim.name, x)

    with np.errstate(all="ignore"):
        true = _ORACLES[claim.name](x.astype(np.float64))
    _assert_within(claim.ulps, found, true, x)


@pytest.mark.skipif(not _LONG_DOUBLE_IS_WIDER, reason="long double is no wider than double here")
@pytest.mark.parametrize("claim", _CLAIMS_OF_FLOAT64, ids=str)
def test_a_float64_function_stays_within_its_ulps(claim: Claim, gpu: vkml.Device) -> None:
    _need_float64(gpu, claim.name)

    found = _on(gpu, claim.name, claim.points)

    with np.errstate(all="ignore"):
        true = _ORACLES[claim.name](claim.points.astype(np.longdouble)).astype(np.longdouble)
    _assert_within(claim.ulps, found, true, claim.points)


# edges -----------------------------------------------------------------------------------

_EDGES: Final = np.array([0.0, -0.0, 1, -1, 2, -2, 1e30, -1e30, np.inf, -np.inf, np.nan])
_EXPONENTS: Final = np.array(
    [0.0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 1.5, 2**24, 1e38, np.inf, -np.inf, np.nan]
)


def _assert_same_edges(found: Array, true: Array) -> None:
    numbers = ~np.isnan(true)
    np.testing.assert_allclose(found, true, rtol=4 * np.finfo(found.dtype).eps)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(true[numbers]))


@pytest.mark.parametrize("dtype", [_FLOAT32, _FLOAT64], ids=str)
@pytest.mark.parametrize("name", sorted(_ORACLES))
def test_zeros_infinities_and_nan_give_what_numpy_gives(
    name: str, dtype: np.dtype[Any], gpu: vkml.Device
) -> None:
    if dtype == _FLOAT64:
        _need_float64(gpu, name)
    x = _EDGES.astype(dtype)

    found = _on(gpu, name, x)

    with np.errstate(all="ignore"):
        true = _ORACLES[name](x.astype(np.float64)).astype(dtype)
    _assert_same_edges(found, true)


@pytest.mark.parametrize("dtype", [_FLOAT32, _FLOAT64], ids=str)
def test_all_edges_of_pow_are_what_numpy_gives(dtype: np.dtype[Any], gpu: vkml.Device) -> None:
    if dtype == _FLOAT64:
        _need_float64(gpu, "pow")
    x, y = (each.ravel().astype(dtype) for each in np.meshgrid(_EDGES, _EXPONENTS))

    found = _on(gpu, "pow", x, y)

    with np.errstate(all="ignore"):
        true = np.power(x.astype(np.float64), y.astype(np.float64)).astype(dtype)
    _assert_same_edges(found, true)


@pytest.mark.parametrize("name", ["log", "log2", "log10"])
def test_the_logarithm_of_a_denormal_is_right_on_every_driver(name: str, gpu: vkml.Device) -> None:
    x = _sizes(2e-45, 1e-38).astype(np.float32)

    found = _on(gpu, name, x)

    _assert_within(2, found, _ORACLES[name](x.astype(np.float64)), x)


# pow and whole numbers -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (_between(0.001, 20), _between(-20, 20)[::-1]),
        (_between(0.999, 1.001), _between(-80_000, 80_000)[::-1]),
        (-_between(0.1, 50), np.round(_between(-20, 20))[::-1]),
        (_sizes(1e-38, 1e38), _between(-2, 2)[::-1]),
    ],
    ids=["moderate", "near 1", "negative", "of all sizes"],
)
def test_pow_stays_within_two_ulps(x: Array, y: Array, gpu: vkml.Device) -> None:
    x, y = x.astype(np.float32), y.astype(np.float32)

    found = _on(gpu, "pow", x, y)

    with np.errstate(all="ignore"):
        true = np.power(x.astype(np.float64), y.astype(np.float64))
    _assert_within(2, found, true, x, y)


def test_pow_is_exact_where_a_float_is(gpu: vkml.Device) -> None:
    x, y = (each.ravel() for each in np.meshgrid(np.arange(1.0, 4096), np.arange(1.0, 24)))
    exact = np.power(x, y)
    keep = exact < 2**24
    x, y, exact = (each[keep].astype(np.float32) for each in (x, y, exact))

    found = _on(gpu, "pow", x, y)

    np.testing.assert_array_equal(found, exact)


def test_exp2_of_a_whole_number_is_exact(gpu: vkml.Device) -> None:
    n = np.arange(-126, 128, dtype=np.float32)

    found = _on(gpu, "exp2", n)

    np.testing.assert_array_equal(found, np.ldexp(np.float32(1), n.astype(np.int32)))


@pytest.mark.parametrize(("name", "base", "last"), [("log2", 2.0, 127), ("log10", 10.0, 10)])
def test_the_logarithm_of_a_power_of_its_base_is_exact(
    name: str, base: float, last: int, gpu: vkml.Device
) -> None:
    n = np.arange(last + 1, dtype=np.float32)

    found = _on(gpu, name, np.power(base, n.astype(np.float64)).astype(np.float32))

    np.testing.assert_array_equal(found, n)
