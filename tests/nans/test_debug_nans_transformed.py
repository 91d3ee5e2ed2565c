"""`debug_nans` changes no result of a program without NaNs, and raises for the others, eager and compiled."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.jax as jax
import lawful.jax.numpy as jnp
import lawful.numpy as lnp
from lawful import random, tree
from lawful.autodiff import checkpoint, grad, hessian, value_and_grad
from lawful.batching import vmap
from lawful.control_flow import cond, scan, while_loop
from lawful.core import NonFiniteError
from lawful.debug import debug_nans
from lawful.staging import jit

X = np.array([0.5, 1.5, 2.5])

PROGRAMS: dict[str, Callable[..., Any]] = {
    "maximum": lambda x: lnp.max(x) + lnp.min(x),
    "sort": lambda x: lnp.sum(lnp.sort(x) * X),
    "scan": lambda x: lnp.sum(scan(lambda c, a: (c * a, lnp.sin(c)), 1.0, x)[1]),
    "while": lambda x: while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, x))[1].sum(),
    "cond": lambda x: lnp.sum(cond(x[0] > 0, lambda y: lnp.log(y), lambda y: y, x)),
    "checkpoint": lambda x: lnp.sum(checkpoint(lambda y: lnp.tanh(y) ** 2)(x)),
    "solve": lambda x: lnp.linalg.solve(lnp.eye(3) + lnp.outer(x, x), x)[0],
    "random": lambda x: lnp.sum(random.normal(random.key(1), (3,)) * x),
    "numpy": lambda x: np.sum(np.where(x > 1.0, np.sqrt(x), x)),
    "power": lambda x: lnp.sum(x**3) + lnp.prod(x) + lnp.var(x),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("staged", [lambda f: f, jit, lambda f: jit(f, backend="numpy")])
def test_debug_nans_changes_no_result(name: str, staged: Callable[..., Any]) -> None:
    function = PROGRAMS[name]
    if name == "while":
        derived = [function]
    else:
        derived = [function, grad(function), vmap(value_and_grad(lambda x: function(x * 1.0)))]
    for program in derived:
        x = np.stack([X, X + 1.0]) if program is derived[-1] and len(derived) > 1 else X
        expected = staged(program)(x)
        with debug_nans():
            found = staged(program)(x)
        for one, other in zip(tree.leaves(expected), tree.leaves(found), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-14)


@pytest.mark.parametrize("staged", [lambda f: f, jit, lambda f: jit(f, backend="numpy")])
def test_debug_nans_gradient(staged: Callable[..., Any]) -> None:
    function = staged(grad(lambda x: lnp.sqrt(x) * 0.0))
    by_rules = r"by the jvp rule of sqrt, the transpose rule of mul"
    with np.errstate(divide="ignore"), debug_nans(), pytest.raises(NonFiniteError, match=by_rules):
        function(0.0)


def test_debug_nans_hessian_in_a_loop() -> None:
    def function(x: Any) -> Any:
        return scan(lambda c, a: (lnp.sqrt(c * a), c), x, X)[0]

    with debug_nans(), pytest.raises(NonFiniteError, match=r"in iteration \d of 3 .*of scan"):
        jit(hessian(function))(0.0)


def test_debug_nans_switch_of_jax() -> None:
    with jax.debug_nans(True):
        with pytest.raises(FloatingPointError, match=r"log -1\.0 = nan"):
            jnp.log(jnp.array([1.0, -1.0]))
        with pytest.raises(FloatingPointError, match=r"transpose rule of mul"):
            jax.jit(jax.grad(lambda x: jnp.sqrt(x) * 0.0))(0.0)
        assert jnp.log(jnp.zeros(1))[0] == -jnp.inf
    with jax.debug_infs(True):
        with pytest.raises(FloatingPointError, match="got infinity"):
            jax.jit(jnp.log)(0.0)
        assert jnp.isnan(jnp.log(-1.0))
    assert jnp.isnan(jnp.log(-1.0))


def test_debug_nans_of_the_environment_checks_lawful_numpy() -> None:
    program = "import numpy, lawful.numpy as lnp; lnp.log(numpy.array(-1.0))"
    environment = {**os.environ, "LAWFUL_DEBUG_NANS": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert "NaN was made by log at <string>:1" in done.stderr
