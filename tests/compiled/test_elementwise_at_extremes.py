"""Elementwise functions of real numbers and of pairs of them on XLA are those of NumPy over the range of float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops, special
from lawful.ops._elementwise.declaration import Elementwise
from lawful.staging import jit

LARGEST = float(np.finfo(np.float64).max)
SIZES = (
    *(0.0, 1e-300, 1e-200, 1e-100, 1e-20, 1e-8, 1e-3, 0.25, 0.5, 1.0, 2.0, 2.5, 3.0, 10.0, 10.5, 20.0, 31.5, 100.0),
    *(171.5, 200.5, 709.78, 745.5, 1e5, 1e8, 1e10, 2.0**53, 1e16, 1e20, 1e100, 1e154, 1e200, 1e300, LARGEST / 2),
    *(LARGEST, np.inf),
)
POINTS = np.array([*SIZES, *[-x for x in SIZES], np.nan])
#: Results below this may contain subnormal terms, which XLA takes as 0.
LEAST = 1e-290
EXCEPTIONS = {"random_gamma_grad": "NaN where the density underflows, which is sooner on XLA"}
COMPOSED = (
    *("beta", "comb", "gammasgn", "i0", "i1", "kl_div", "ndtr", "poch", "polygamma", "factorial", "expit", "logit"),
)


def functions() -> dict[str, tuple[Callable[..., Any], int]]:
    """Returns the functions of one or two floats, with their numbers of arguments."""
    found = {name: getattr(ops, name) for name in ops.__all__ if isinstance(getattr(ops, name), Elementwise)}
    found |= {f"special.{name}": getattr(special, name) for name in COMPOSED} | {"expn": ops.expn}
    out = {}
    for name, function in found.items():
        for count in (1, 2):
            try:
                with np.errstate(all="ignore"):
                    value = function(*[np.ones(1)] * count)
            except TypeError:
                continue
            if getattr(value, "dtype", None) == np.float64 and name not in EXCEPTIONS:
                out[name] = function, count
            break
    return out


FUNCTIONS = functions()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_elementwise_at_extremes(name: str) -> None:
    function, count = FUNCTIONS[name]
    args = [x.ravel() for x in np.meshgrid(*[POINTS] * count)]
    found = np.asarray(jit(function, backend="xla")(*args))
    np.testing.assert_allclose(found, function(*args), rtol=1e-9, atol=LEAST)


def test_elementwise_at_extremes_functions() -> None:
    assert len(FUNCTIONS) > 80
