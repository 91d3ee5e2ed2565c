"""`lawful.optimize`: minima as SciPy finds them; compiled, batched and differentiated."""

from collections.abc import Callable
from typing import Any

import jax.scipy.optimize
import numpy as np
import pytest
import scipy.optimize

import lawful.jax
import lawful.numpy as lnp
from lawful.autodiff import grad, jacfwd, jacrev
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.optimize import OptimizeResults, minimize
from lawful.staging import jit


def rosenbrock(x: Any) -> Any:
    return lnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2) + lnp.sum((1 - x[:-1]) ** 2)


def himmelblau(x: Any) -> Any:
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def matyas(x: Any) -> Any:
    return 0.26 * (x[0] ** 2 + x[1] ** 2) - 0.48 * x[0] * x[1]


def eggholder(x: Any) -> Any:
    first = -(x[1] + 47) * lnp.sin(lnp.sqrt(lnp.abs(x[0] / 2 + x[1] + 47)))
    return first - x[0] * lnp.sin(lnp.sqrt(lnp.abs(x[0] - (x[1] + 47))))


def quartic(x: Any, a: Any = 0.0) -> Any:
    """Has no Hessian at its minimum for ``a = 0``."""
    return lnp.sum((x - 1.0) ** 4 + a * x)


STARTS = [
    (rosenbrock, np.zeros(4)),
    (rosenbrock, np.full(8, -3.0)),
    (himmelblau, np.zeros(2)),
    (himmelblau, np.array([90.0, -60.0])),
    (matyas, np.array([2.0, -3.0])),
    (eggholder, np.array([100.0, 100.0])),
    (quartic, np.array([2.0])),
]


@pytest.mark.parametrize("start", range(len(STARTS)))
def test_minimize_finds_the_minimum_of_scipy(start: int) -> None:
    function, x0 = STARTS[start]
    result = minimize(function, x0, method="BFGS")
    expected = scipy.optimize.minimize(function, x0, method="BFGS", jac=grad(function))
    assert result.success
    assert result.status == 0
    np.testing.assert_allclose(result.x, expected.x, rtol=1e-5, atol=0.05 if function is quartic else 1e-4)
    np.testing.assert_allclose(result.fun, function(result.x), rtol=1e-12)
    np.testing.assert_allclose(result.jac, grad(function)(result.x), rtol=1e-12, atol=1e-15)
    assert np.max(np.abs(result.jac)) <= 1e-5
    assert result.nit < 1.5 * expected.nit + 5
    assert result.nfev < 1.5 * expected.nfev + 5


def test_minimize_approximates_the_inverse_of_the_hessian() -> None:
    matrix = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])
    result = minimize(lambda x: x @ matrix @ x / 2 - lnp.sum(x), np.zeros(3), method="bfgs", tol=1e-10)
    np.testing.assert_allclose(result.x, np.linalg.solve(matrix, np.ones(3)), rtol=1e-9)
    np.testing.assert_allclose(result.hess_inv, np.linalg.inv(matrix), atol=0.02)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_minimize_compiled_and_batched(backend: str) -> None:
    x0 = np.array([[0.0, 0.0], [90.0, -60.0], [-3.0, 1.0]])
    found = jit(vmap(lambda x: minimize(himmelblau, x, method="BFGS")), backend=backend)(x0)
    assert isinstance(found, OptimizeResults)
    for i, x in enumerate(x0):
        expected = minimize(himmelblau, x, method="BFGS")
        np.testing.assert_allclose(found.x[i], expected.x, atol=1e-6)
        assert found.nit[i] == expected.nit


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_minimize_derivatives_are_those_of_the_minimum(jacobian: Callable[..., Any]) -> None:
    def solution(a: Any) -> Any:
        return minimize(quartic, lnp.zeros(2), (a,), method="BFGS", tol=1e-9).x

    a = np.array([1.0, 3.0])
    np.testing.assert_allclose(solution(a), 1 - (a / 4) ** (1 / 3), rtol=1e-8)
    np.testing.assert_allclose(jacobian(solution)(a), np.diag(-((a / 4) ** (-2 / 3)) / 12), rtol=1e-4, atol=1e-5)


def test_minimize_status_of_failures() -> None:
    few = minimize(rosenbrock, np.zeros(4), method="BFGS", options={"maxiter": 3})
    assert (bool(few.success), int(few.status), int(few.nit)) == (False, 1, 3)
    undefined = minimize(lambda x: lnp.sum(x) * lnp.nan, np.ones(2), method="BFGS")
    assert (bool(undefined.success), int(undefined.status)) == (False, 5)
    unbounded = minimize(lambda x: lnp.sum(x), np.ones(2), method="BFGS")
    assert not unbounded.success
    at_once = minimize(matyas, np.zeros(2), method="BFGS")
    assert (bool(at_once.success), int(at_once.nit), int(at_once.nfev)) == (True, 0, 1)
    # Beyond the minimum along the line the function is not defined.
    walled = minimize(lambda x: lnp.sum(x - lnp.log(x) + 1 / x), np.array([9.0]), method="BFGS")
    np.testing.assert_allclose(walled.x, (1 + 5**0.5) / 2, rtol=1e-5)
    assert walled.success


def test_minimize_options_and_dtypes() -> None:
    for norm in (2, np.inf, 1):
        found = minimize(himmelblau, np.zeros(2), method="BFGS", options={"norm": norm, "gtol": 1e-8})
        assert np.linalg.norm(found.jac, norm) <= 1e-8
    single = minimize(himmelblau, np.zeros(2, np.float32), method="BFGS", tol=1e-2)
    assert single.x.dtype == single.fun.dtype == single.hess_inv.dtype == np.float32
    np.testing.assert_allclose(single.x, [3, 2], atol=1e-3)
    assert minimize(matyas, np.array([2, -3]), method="BFGS").x.dtype == np.float64


def test_minimize_of_lawful_jax_is_that_of_jax() -> None:
    ours = lawful.jax.scipy.optimize.minimize(matyas, np.array([2.0, -3.0]), method="BFGS")
    with jax.enable_x64(True):
        theirs = jax.scipy.optimize.minimize(matyas, np.array([2.0, -3.0]), method="BFGS")
    assert ours._fields == theirs._fields
    assert isinstance(ours.x, lawful.jax.Array)
    np.testing.assert_allclose(ours.x, theirs.x, atol=1e-4)


def test_minimize_refuses_wrong_arguments() -> None:
    for kwargs in ({"method": "Powell"}, {"method": "BFGS", "options": {"disp": True}}):
        with pytest.raises(ArgumentValueError, match="minimize: expected"):
            minimize(matyas, np.zeros(2), **kwargs)
    with pytest.raises(ArgumentValueError, match="vector"):
        minimize(matyas, np.zeros((2, 1)), method="BFGS")
    with pytest.raises(ArgumentTypeError, match="tuple"):
        minimize(quartic, np.zeros(2), 1.0, method="BFGS")
    with pytest.raises(ArgumentTypeError, match="real"):
        minimize(matyas, np.zeros(2, complex), method="BFGS")
