"""Functions with loops trace them at the first call for some types, and give what the loops give at every call."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import linalg, random, special
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.core import NonFiniteError, plain
from lawful.staging import JaxprTrace, clear_caches, debug_nans, disable_jit, make_jaxpr

KEY = random.key(0)
SQUARE = np.array([[4.0, 1.0], [0.5, 3.0]])

DIFFERENTIABLE: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "gamma": (lambda a: random.gamma(KEY, a, (3,)), 2.0),
    "loggamma": (lambda a: random.loggamma(KEY, a), np.array([0.5, 2.0])),
    "beta": (lambda a: random.beta(KEY, a, 3.0), 2.0),
    "dirichlet": (lambda a: random.dirichlet(KEY, a), np.array([0.5, 2.0])),
    "t": (lambda df: random.t(KEY, df), 3.0),
    "chisquare": (lambda df: random.chisquare(KEY, df), 3.0),
    "bessel_jn": (lambda z: special.bessel_jn(z, v=2), np.array([0.5, 30.0])),
    "sph_harm_y": (lambda theta: special.sph_harm_y(2, 1, theta, 0.5).real, 0.5),
    "sqrtm": (lambda a: linalg.sqrtm(a).real, SQUARE),
    "solve_sylvester": (lambda a: linalg.solve_sylvester(a, SQUARE, SQUARE), SQUARE),
    "qdwh": (lambda a: linalg.qdwh(a)[0], SQUARE),
    "cholesky_update": (lambda w: linalg.cholesky_update(np.eye(2), w), np.array([1.0, 2.0])),
}
OTHERS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "poisson": (lambda mean: random.poisson(KEY, mean, (3,)), 3.0),
    "binomial": (lambda p: random.binomial(KEY, 40, p, (3,)), 0.5),
    "multinomial": (lambda p: random.multinomial(KEY, 40, p), np.array([0.25, 0.75])),
    "funm": (lambda a: linalg.funm(a, np.exp), SQUARE),
}
ALL = DIFFERENTIABLE | OTHERS


def total(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: lnp.sum(function(x))


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the transformations that have recorded a program since the list was cleared."""
    names: list[str] = []
    begin = JaxprTrace.__init__

    def noting(self: JaxprTrace, parent: Any, transformation: str) -> None:
        names.append(transformation)
        begin(self, parent, transformation)

    monkeypatch.setattr(JaxprTrace, "__init__", noting)
    return names


@pytest.mark.parametrize("name", ALL)
def test_second_call_traces_nothing(name: str, recorded: list[str]) -> None:
    function, x = ALL[name]
    clear_caches()
    function(x)
    assert recorded
    recorded.clear()
    function(x * 1.125)
    assert recorded == []


@pytest.mark.parametrize("name", ALL)
def test_results_are_those_of_the_loops(name: str) -> None:
    function, x = ALL[name]
    xs = np.stack([x, x * 1.125])
    found = function(x), vmap(function)(xs)
    with plain():
        np.testing.assert_array_equal(function(x), found[0], strict=True)
    with disable_jit():
        by_loops = function(x), vmap(function)(xs)
    for result, expected in zip(found, by_loops, strict=True):
        np.testing.assert_array_equal(result, expected, strict=True)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_derivatives_are_those_of_the_loops(name: str) -> None:
    function, x = DIFFERENTIABLE[name]
    found = grad(total(function))(x), jvp(function, (x,), (x,))[1]
    with disable_jit():
        expected = grad(total(function))(x), jvp(function, (x,), (x,))[1]
    for derivative, by_loops in zip(found, expected, strict=True):
        np.testing.assert_allclose(derivative, by_loops, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", ALL)
def test_jaxpr_of_loops_has_no_jit(name: str) -> None:
    function, x = ALL[name]
    function(x)
    assert all(eqn.primitive.name != "jit" for eqn in make_jaxpr(function)(x).eqns)


def test_errors_name_the_line_of_this_call() -> None:
    """And not that of the call for which the loop was traced."""
    special.bessel_jn(np.ones(2), v=2)
    with debug_nans(), pytest.raises(NonFiniteError) as raised:
        special.bessel_jn(np.full(2, np.inf), v=2)  # this line
    assert "# this line" in str(raised.value)
