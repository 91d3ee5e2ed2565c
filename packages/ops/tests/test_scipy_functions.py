"""Special functions by SciPy, in the conventions of the algorithms."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import plain
from lawful.ops._fast import scipy_functions

special = pytest.importorskip("scipy.special", reason="these tests compare with SciPy")
pytestmark = pytest.mark.fast

NAMES = {
    "lgamma": ("gammaln", 1), "digamma": ("digamma", 1), "erf_inv": ("erfinv", 1), "bessel_i0e": ("i0e", 1),
    "bessel_i1e": ("i1e", 1), "igamma": ("gammainc", 2), "igammac": ("gammaincc", 2), "zeta": ("zeta", 2),
    "betainc": ("betainc", 3),
}  # fmt: skip
POINTS = (-np.inf, -1e300, -30.0, -2.5, -2.0, -1.0, -0.25, -1e-308, -5e-324, -0.0)
EDGES = (*POINTS, *[-x for x in POINTS[::-1]], 0.5, 0.75, np.nan)


def arguments(count: int) -> list[Any]:
    """Returns all combinations of special points; of three arguments of some."""
    points = EDGES if count < 3 else (-1.0, -0.0, 0.0, 5e-324, 0.25, 0.5, 1.0, 2.0, 30.0, np.inf, np.nan)
    return [*np.array(list(product(points, repeat=count))).T.copy()]


@pytest.mark.parametrize("name", NAMES)
def test_special_functions_are_those_of_scipy(name: str) -> None:
    count = NAMES[name][1]
    args = [np.random.default_rng(i).uniform(1.1, 3.0, (4, 50)) for i in range(count)]
    if name in ("betainc", "erf_inv"):
        args[-1] = args[-1] / 4
    found = getattr(ops, name)(*args)
    expected = getattr(special, NAMES[name][0])(*args)
    np.testing.assert_array_equal(found, expected)
    assert getattr(ops, name)(*[float(x[0, 0]) for x in args]) == expected[0, 0]


@pytest.mark.parametrize("name", NAMES)
def test_special_functions_at_edges_equal_the_algorithm(name: str) -> None:
    """NaN, infinities, and the signs of zeros are those of the algorithm; an array is its elements."""
    args = arguments(NAMES[name][1])
    found = getattr(ops, name)(*args)
    with plain():
        expected = getattr(ops, name)(*args)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=5e-324)
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(found)[zero], np.signbit(expected)[zero])
    with np.errstate(all="ignore"):
        one_by_one = [getattr(ops, name)(*map(float, values)) for values in zip(*args, strict=True)]
    np.testing.assert_array_equal(found, one_by_one)


def test_digamma_near_its_zero_has_all_digits() -> None:
    x = np.array([1.4616321449683623 + 1e-9, 1.5])
    # mpmath.digamma with 40 digits
    np.testing.assert_allclose(ops.digamma(x), [9.6767223265776339e-10, 0.036489973978576520559], rtol=3e-13)


@pytest.mark.usefixtures("without_scipy")
@pytest.mark.parametrize("name", NAMES)
def test_special_functions_without_scipy(name: str) -> None:
    args = [np.linspace(0.3, 0.9, 100)] * NAMES[name][1]
    found = getattr(ops, name)(*args)
    with plain():
        expected = getattr(ops, name)(*args)
    np.testing.assert_array_equal(found, expected)


def test_special_functions_with_an_old_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    class Old:
        __version__ = "1.9.3"

    monkeypatch.setattr(scipy_functions, "import_module", lambda name: Old)
    assert scipy_functions._special() is None


@pytest.mark.parametrize("name", NAMES)
def test_special_functions_of_empty_arrays(name: str) -> None:
    assert getattr(ops, name)(*[np.ones((2, 0))] * NAMES[name][1]).shape == (2, 0)
