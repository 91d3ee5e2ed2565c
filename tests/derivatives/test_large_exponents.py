"""Powers of negative numbers with whole exponents that are large: the parity counts beside an exponent that is rounded.

From 2 / eps on, all floats are even integers, and the exponent of a derivative, ``y - 1``, is rounded to one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import mpmath as mp
import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import jvp
from lawful.staging import jit
from lawful.taylor import jet

DTYPES = ("float64", "float32", "float16", "bfloat16")
ORDERS = 4


def bases_of(dtype: Any) -> Any:
    eps = float(ml_dtypes.finfo(dtype).eps)
    return np.array([-1.0, -1 - eps, -1 + eps / 2, 1 + eps, -1.5, -0.5, -0.0, 0.0], dtype)


def exact(x: float, y: int, order: int) -> float:
    """Returns a derivative of ``x ** y``, rounded to float64."""
    with mp.workdps(60):
        factor = mp.fprod(mp.mpf(y - k) for k in range(order))
        if x == 0 and y - order < 0:
            return np.inf
        return float(factor * mp.power(mp.mpf(x), y - order))


def derivatives(f: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    """Returns a function of the value and the derivatives to the third order."""
    functions = [f]
    for _ in range(1, ORDERS):
        functions.append(lambda x, f=functions[-1]: jvp(f, (x,), (ops.full_like(x, 1),))[1])
    return lambda x: [f(x) for f in functions]


def by_jet(f: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    def found(x: Any) -> list[Any]:
        zero = ops.full_like(x, 0)
        value, rest = jet(f, (x,), ([ops.full_like(x, 1), *[zero] * (ORDERS - 2)],))
        return [value, *rest]

    return found


FORMS: dict[str, Callable[[Callable[[Any], Any]], Callable[[Any], list[Any]]]] = {
    "eager": derivatives,
    "numpy": lambda f: jit(derivatives(f), backend="numpy"),
    "xla": lambda f: jit(derivatives(f), backend="xla"),
    "jet": by_jet,
}


def assert_powers(found: list[Any], x: Any, exponents: list[int], context: str) -> None:
    """Compares derivatives, up to the first that is infinite or subnormal: of it the limit and the sign."""
    for out in found:
        assert out.dtype == x.dtype, context
    for position, (base, y) in enumerate(zip(x.tolist(), exponents, strict=True)):
        for order, out in enumerate(found):
            if not assert_power(float(out[position]), base, y, order, x.dtype, context):
                break


def assert_power(got: float, base: float, y: int, order: int, dtype: Any, context: str) -> bool:
    """Compares a derivative; returns whether it is a normal number, or 0 at 0."""
    info = ml_dtypes.finfo(dtype)
    if base == 0 and y - order < 0:
        return False  # a pole
    expected = exact(base, y, order)
    message = f"{context}, {base!r} ** {y}, order {order}: expected {expected}, got {got}"
    if abs(expected) < float(info.tiny):
        assert abs(got) <= float(info.tiny), message
        return base == 0
    if abs(expected) > float(info.max):
        assert got == np.copysign(np.inf, expected), message
        return False
    assert abs(got - expected) <= 6 * float(info.eps) * abs(expected), message
    return True


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_pow_derivatives_at_large_whole_exponents(dtype: str, form: str) -> None:
    info = ml_dtypes.finfo(dtype)
    even = 2 / float(info.eps)
    exponents = [even - 2, even - 1, even, even + 2, even + 6, 1.5 * even, 2.0 ** (info.maxexp - 1)]
    exponents += [-y for y in exponents[:-1]]
    x, y = (part.ravel() for part in np.meshgrid(bases_of(dtype), np.array(exponents, dtype), indexing="ij"))
    with np.errstate(all="ignore"):
        found = FORMS[form](lambda x: ops.pow(x, y))(x)
    assert_powers(found, x, [int(k) for k in y.tolist()], f"{dtype}, {form}")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_integer_pow_derivatives_at_large_exponents(dtype: str, form: str) -> None:
    even = int(2 / float(ml_dtypes.finfo(dtype).eps))
    x = bases_of(dtype)
    for y in (65, even - 1, even + 1, even + 2, 2 * even + 1, -even - 1, 2**53 + 1, 2**60 + 2, 1 - 2**54):
        with np.errstate(all="ignore"):
            found = FORMS[form](lambda x, y=y: ops.integer_pow(x, y))(x)
        assert_powers(found, x, [y] * len(x), f"{dtype}, {form}")
