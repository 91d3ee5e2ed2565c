"""Reverse mode of elementwise functions is forward mode at special points, for all public functions.

The laws hold primitives to it. A function of several primitives may still choose between two formulas: then the one
that was not chosen must have a finite slope, or reverse mode multiplies it by 0 and gives NaN.
"""

import inspect
import itertools
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import nn
from lawful.autodiff import grad, jvp
from lawful.staging import jit

ENDS = [0.5, 1.0, 2.0, 3.0, 10.0, 50.0, 745.0, 1e5, 1e10, 1e100, 1e160, 1e200, 1.7e308, np.inf, 1e-5, 1e-160, 1e-300]
POINTS = np.array([0.0, -0.0, 1 + 1e-15, 1 - 1e-16, *ENDS, *[-x for x in ENDS]])
PAIRS = np.array(list(itertools.product([0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 50.0, -50.0, 1e5, 1e200], repeat=2))).T.copy()

#: Functions that are left out, each with the reason.
LEFT_OUT = {
    "numpy.from_dlpack": "it takes NumPy's arrays alone",
    "special.polygamma": "its order has no derivative",
    "special.comb": "of large numbers it is a difference of logarithms, which cancel",
    "special.poch": "a quotient of gamma functions at their poles has no derivative",
    "nn.celu": "it divides by alpha, 0 among others; by a large alpha its two terms cancel",
}


def elementwise(points: Sequence[Any]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Returns the public functions that map so many arrays of floats to one of the same shape, element by element."""
    order = np.arange(len(points[0]))[::-1]
    for module in map(import_module, ("lawful.numpy", "lawful.special", "lawful.nn")):
        for name in sorted(dir(module)):
            f = getattr(module, name)
            if name.startswith("_") or not callable(f) or inspect.isclass(f):
                continue
            try:
                whole = f(*points)
                parts = np.ravel([f(*[x[[i]] for x in points]) for i in order])
            except (TypeError, ValueError, IndexError, AttributeError):  # it is called in another way
                continue
            if type(whole) is not np.ndarray or whole.dtype != float or whole.shape != order.shape:
                continue
            if np.allclose(parts, whole[order], rtol=1e-14, atol=0, equal_nan=True):
                yield f"{module.__name__.removeprefix('lawful.')}.{name}", f


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("points", [[POINTS], [*PAIRS]], ids=["one", "two"])
def test_reverse_is_forward_at_special_points(points: list[Any]) -> None:
    wrong = []
    count = 0
    for name, f in elementwise(points):
        if name in LEFT_OUT:
            continue
        count += 1
        for k, x in enumerate(points):

            def of_one(x: Any, f: Callable[..., Any] = f, k: int = k) -> Any:
                return f(*points[:k], x, *points[k + 1 :])

            forward = np.asarray(jvp(of_one, (x,), (np.ones_like(x),))[1])
            reverse = np.asarray(grad(lambda x, g=of_one: np.sum(g(x)))(x))
            # Below 1e-290 products of slopes underflow, in another order.
            same = np.isclose(forward, reverse, rtol=1e-7, atol=1e-290, equal_nan=True)
            wrong += [(name, k, [float(p[i]) for p in points], forward[i], reverse[i]) for i in np.flatnonzero(~same)]
    assert not wrong
    assert count > (100 if len(points) == 1 else 40)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_slopes_of_activations_far_out() -> None:
    far = np.array([-np.inf, -1e200, -1e20, 1e20, 1e200, np.inf])
    for f, slopes in [
        (nn.hard_silu, [0, 0, 0, 1, 1, 1]),
        (nn.sparse_plus, [0, 0, 0, 1, 1, 1]),
        (nn.soft_sign, [0, 0, 1e-40, 1e-40, 0, 0]),
    ]:
        np.testing.assert_allclose(grad(lambda x, f=f: np.sum(f(x)))(far), slopes, rtol=1e-12)
    tiny = np.array([1e-300, 1e-20, 1e-3])
    np.testing.assert_allclose(grad(lambda x: np.sum(nn.log1mexp(x)))(tiny), 1 / np.expm1(tiny), rtol=1e-12)


@pytest.mark.parametrize("f", [nn.hard_silu, nn.sparse_plus, nn.soft_sign, nn.log1mexp], ids=lambda f: f.__name__)
def test_slopes_of_activations_at_nan_are_nan(f: Callable[..., Any]) -> None:
    assert np.isnan(grad(f)(np.nan))
    assert np.isnan(jvp(f, (np.nan,), (1.0,))[1])


def test_arccosh_at_one_and_at_infinity() -> None:
    slope = grad(lnp.arccosh)
    with np.errstate(all="ignore"):
        for f in (grad(slope), jit(grad(slope)), lambda x: jvp(slope, (x,), (1.0,))[1]):
            assert (f(1.0), f(np.inf)) == (-np.inf, 0.0)
        assert grad(grad(slope))(1.0) == np.inf
