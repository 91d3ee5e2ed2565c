"""The gamma function and digamma of complex numbers, with derivatives, are mpmath's on every path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from lawful import special
from lawful.autodiff import jvp, vjp
from lawful.core import ArgumentTypeError
from lawful.staging import jit

FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "gamma": (special.gamma, mpmath.gamma),
    "digamma": (special.digamma, mpmath.digamma),
}
BACKENDS = (None, "numpy", "xla")
#: In all quadrants, on the real axis from above and below, near poles, and far away.
POINTS = np.array(
    [
        0.5,
        -0.5,
        complex(-0.5, -0.0),
        5,
        1 + 2j,
        1e-10 + 1e-10j,
        3 - 4j,
        -3.5 + 1e-3j,
        10 + 10j,
        3j,
        -1.2 - 0.5j,
        -8 + 2j,
    ]
)
POLES = np.array([0, complex(0.0, -0.0), -1, complex(-2.0, -0.0)])


def compiled(function: Callable[..., Any], backend: str | None) -> Callable[..., Any]:
    return function if backend is None else jit(function, backend=backend)


def reference(function: Callable[..., Any], order: int) -> Any:
    return np.array([complex(mpmath.diff(function, mpmath.mpmathify(complex(z)), order)) for z in POINTS])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gamma_of_complex_numbers(name: str, backend: str | None) -> None:
    function, expected = FUNCTIONS[name]
    run = compiled(function, backend)
    np.testing.assert_allclose(run(POINTS), reference(expected, 0), rtol=1e-13)
    narrow = np.asarray(run(POINTS.astype("complex64")))
    assert narrow.dtype == np.complex64
    np.testing.assert_allclose(narrow, reference(expected, 0), rtol=2e-6)
    assert np.isnan(run(POLES)).all()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gamma_derivatives_of_complex_numbers(name: str, backend: str | None) -> None:
    function, expected = FUNCTIONS[name]
    run = compiled(function, backend)
    z_dot = np.full_like(POINTS, 0.6 + 0.8j)
    first, second = reference(expected, 1), reference(expected, 2)
    np.testing.assert_allclose(jvp(run, (POINTS,), (z_dot,))[1], first * z_dot, rtol=1e-12)
    np.testing.assert_allclose(vjp(run, POINTS)[1](z_dot)[0], first * z_dot, rtol=1e-12)

    def slope(z: Any) -> Any:
        return jvp(run, (z,), (z_dot,))[1]

    np.testing.assert_allclose(jvp(slope, (POINTS,), (z_dot,))[1], second * z_dot**2, rtol=1e-11)


def test_gammaln_of_complex_numbers_is_refused() -> None:
    """As SciPy's: the logarithm of complex numbers is `loggamma`."""
    for function in (special.gammaln, special.gammasgn):
        with pytest.raises(ArgumentTypeError):
            function(POINTS)
