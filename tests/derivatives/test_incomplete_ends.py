"""Derivatives of the incomplete gamma and beta functions at the ends of their domains: the limits from inside."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import ops
from lawful.autodiff import jvp
from lawful.staging import jit

INF = np.inf
#: Derived by hand from the power series of the integrands, for each first argument.
GAMMA_AT_ZERO = {
    0.5: (0, INF, -INF, INF),
    1.0: (0, 1, -1, 1),
    1.5: (0, 0, INF, -INF),
    2.0: (0, 0, 1, -2),
    2.5: (0, 0, 0, INF),
    3.0: (0, 0, 0, 1),
    4.0: (0, 0, 0, 0),
}
BETA_AT_ZERO = {
    (0.5, 4.0): (0, INF, -INF, INF),
    (1.0, 1.0): (0, 1, 0, 0),
    (1.0, 2.0): (0, 2, -2, 0),
    (1.5, 2.0): (0, 0, INF, -INF),
    (2.0, 3.0): (0, 0, 12, -48),
    (2.5, 2.0): (0, 0, 0, INF),
    (3.0, 1.0): (0, 0, 0, 6),
    (4.0, 1.0): (0, 0, 0, 0),
}


def rows(function: Callable[..., Any], backend: str, *args: Any) -> Any:
    """Returns the value and the derivatives of orders 1 to 3 by the last argument."""

    def derivatives(*args: Any) -> list[Any]:
        functions: list[Callable[[Any], Any]] = [lambda x: function(*args[:-1], x)]
        for _ in range(3):
            functions.append(lambda x, f=functions[-1]: jvp(f, (x,), (lnp.ones_like(x),))[1])
        return [f(args[-1]) for f in functions]

    with np.errstate(all="ignore"):
        return np.array((jit(derivatives, backend=backend) if backend else derivatives)(*args)).T


@pytest.mark.parametrize("backend", ["", "numpy", "xla"])
def test_igamma_derivatives_at_zero(backend: str) -> None:
    a = np.array([*GAMMA_AT_ZERO])
    wanted = np.array([*GAMMA_AT_ZERO.values()], float)
    np.testing.assert_allclose(rows(ops.igamma, backend, a, np.zeros_like(a)), wanted, rtol=1e-12)
    wanted = np.concatenate([1 - wanted[:, :1], -wanted[:, 1:]], 1)
    np.testing.assert_allclose(rows(ops.igammac, backend, a, np.zeros_like(a)), wanted, rtol=1e-12)


@pytest.mark.parametrize("backend", ["", "numpy", "xla"])
def test_igamma_derivatives_at_infinity(backend: str) -> None:
    a = np.array([0.5, 1.0, 3.0])
    np.testing.assert_array_equal(rows(ops.igamma, backend, a, np.full(3, INF)), [[1, 0, 0, 0]] * 3)


@pytest.mark.parametrize("backend", ["", "numpy", "xla"])
def test_betainc_derivatives_at_both_ends(backend: str) -> None:
    a, b = np.array([*BETA_AT_ZERO]).T
    wanted = np.array([*BETA_AT_ZERO.values()], float)
    np.testing.assert_allclose(rows(ops.betainc, backend, a, b, np.zeros_like(a)), wanted, rtol=1e-12)
    # I(x; a, b) = 1 - I(1 - x; b, a).
    wanted = np.concatenate([1 - wanted[:, :1], wanted[:, 1:] * [1, -1, 1]], 1)
    np.testing.assert_allclose(rows(ops.betainc, backend, b, a, np.ones_like(a)), wanted, rtol=1e-12)
