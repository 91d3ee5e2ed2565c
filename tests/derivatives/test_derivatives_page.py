"""The conventions of `docs/derivatives.md` are those of the code, in both modes, eagerly and compiled."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.autodiff import grad, jvp
from lawful.staging import jit

from . import page


def forward(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: jvp(function, (x,), (1.0,))[1]


def every_row(*points: Any) -> list[Any]:
    functions = [page.function_of(expression, lnp) for expression, _, _ in page.ROWS]
    return [[f(x) for f in page.derivatives(g, grad)] for g, x in zip(functions, points, strict=True)]


def test_derivatives_page_is_up_to_date() -> None:
    assert page.PAGE.read_text() == page.page(), "run python -m tests.derivatives.page --write"


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_conventions_are_the_same_compiled(backend: str) -> None:
    points = [point for _, point, _ in page.ROWS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's warnings about infinities
        compiled = jit(every_row, backend=backend)(*points)
    for (expression, point, _), found in zip(page.ROWS, compiled, strict=True):
        wanted = page.values(expression, point, lnp, grad)
        np.testing.assert_allclose(np.array(found, float), wanted, rtol=1e-9, err_msg=expression)


@pytest.mark.parametrize(("expression", "point"), [row[:2] for row in page.ROWS])
def test_conventions_are_the_same_in_forward_mode(expression: str, point: float) -> None:
    wanted = page.values(expression, point, lnp, grad)
    np.testing.assert_allclose(page.values(expression, point, lnp, forward), wanted, rtol=1e-9)
