"""Functions that repeat an operation, told to do so more often than there are elements: they end at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.staging import jit, make_jaxpr

MANY = 2**63
FORMS: dict[str, Callable[[Any], Any]] = {
    "eager": lambda f: f,
    "numpy": lambda f: jit(f, backend="numpy"),
    "xla": lambda f: jit(f, backend="xla"),
}
CALLS: dict[str, tuple[Callable[[Any, int], Any], Callable[[Any, int], Any]]] = {
    "diff": (lambda x, n: lnp.diff(x, n), np.diff),
    "diff by name": (lambda x, n: lnp.diff(x, n=n, axis=0), np.diff),
    "diff with edges": (lambda x, n: lnp.diff(x, n, prepend=0, append=x), np.diff),
    "polyder": (lambda x, n: lnp.polyder(x, n), np.polyder),
    "polyder by name": (lambda x, n: lnp.polyder(x, m=n), np.polyder),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("x", [np.arange(4.0), np.arange(3), np.zeros(0)], ids=str)
def test_repetitions_beyond_the_elements(name: str, form: str, x: Any) -> None:
    function, reference = CALLS[name]
    expected = reference(x, 20)
    for times in (2000, MANY):
        found = np.asarray(FORMS[form](lambda x, n=times: function(x, n))(x))
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)


@pytest.mark.parametrize("name", CALLS)
def test_repetitions_equations(name: str) -> None:
    function = CALLS[name][0]
    few = make_jaxpr(lambda x: function(x, 20))(np.arange(4.0))
    for times in (200, MANY):
        many = make_jaxpr(lambda x, n=times: function(x, n))(np.arange(4.0))
        assert len(many.eqns) == len(few.eqns)
