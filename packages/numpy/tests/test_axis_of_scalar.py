"""The axis 0 or -1 of a scalar: NumPy's reductions and some other functions accept it, as for one element."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import lawful.numpy as lnp
from lawful.core import get_aval
from lawful.ops import AxisError
from lawful.staging import jit

REDUCTIONS = ("sum", "prod", "max", "min", "amax", "amin", "all", "any", "argmax", "argmin", "ptp", "count_nonzero")
OF_NAN = ("sum", "prod", "max", "min", "mean", "var", "std", "argmax", "argmin", "cumsum", "cumprod")
NAMES = (*REDUCTIONS, "cumsum", "cumprod", *[f"nan{name}" for name in OF_NAN], "squeeze", "argsort")
OTHERS: dict[str, Callable[[Any, Any, int], Any]] = {
    "take": lambda np, x, axis: np.take(x, numpy.array([0, 0]), axis),
    "repeat": lambda np, x, axis: np.repeat(x, 2, axis),
    "compress": lambda np, x, axis: np.compress(numpy.array([True]), x, axis),
    "argpartition": lambda np, x, axis: np.argpartition(x, 0, axis),
    "max with an initial value": lambda np, x, axis: np.max(x, axis, initial=9.0, keepdims=True),
    **{
        f"{name}.reduce": lambda np, x, axis, name=name: getattr(np, name).reduce(x, axis, keepdims=True)
        for name in ("add", "maximum", "subtract", "power", "logaddexp", "logical_and")
    },
}
CALLS = {**{name: lambda np, x, axis, name=name: getattr(np, name)(x, axis=axis) for name in NAMES}, **OTHERS}
METHODS = ("sum", "prod", "max", "min", "all", "any", "argmax", "argmin", "squeeze")


def same(got: Any, want: Any) -> None:
    assert get_aval(got).update(weak_type=False) == get_aval(want)
    numpy.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("name", CALLS)
def test_axis_of_scalar_is_numpy_s(name: str, axis: int):
    for x in (numpy.array(3.0), numpy.float32(2)):
        want = CALLS[name](numpy, x, axis)
        same(CALLS[name](lnp, x, axis), want)
        same(jit(lambda x: CALLS[name](lnp, x, axis), backend="numpy")(x), want)


@pytest.mark.parametrize("name", METHODS)
def test_axis_of_scalar_in_methods_of_tracers(name: str):
    x = numpy.array(3.0)
    same(jit(lambda x: getattr(x, name)(axis=0), backend="numpy")(x), getattr(x, name)(axis=0))


@pytest.mark.parametrize("name", [*REDUCTIONS, "cumsum", "mean", "sort"])
def test_axis_of_scalar_beyond_the_first_is_an_error(name: str):
    for run in (getattr(lnp, name), jit(getattr(lnp, name), static_argnums=1, backend="numpy")):
        with pytest.raises(AxisError):
            run(numpy.array(3.0), 1)
