"""NumPy's functions take device arrays: lawful has the first word, and NumPy with their values the last."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.core import get_aval
from lawful.staging import jit
from lawful.xla_backend import Array, device_put

VALUES = np.array([1.0, 2.0, 4.0])

CALLS: dict[str, Callable[[Any], Any]] = {
    "ufunc": lambda x: np.sin(x),
    "operator": lambda x: VALUES - x,
    "operator of a scalar": lambda x: np.float32(2) * x,
    "comparison": lambda x: np.float64(2) < x,
    "reduction": lambda x: np.sum(x),
    "function": lambda x: np.concatenate([x, VALUES]),
    "reduce": lambda x: np.add.reduce(x),
    "a list beside it": lambda x: np.add(x, [1, 2, 3]),
    "a list of lists beside it": lambda x: np.concatenate([x, [1.0]]),
    "out": lambda x: np.add(x, 1, out=np.zeros(3)),
    "an argument that lawful has not": lambda x: np.mean(x, where=VALUES > 1),
    "a mode that lawful has not": lambda x: np.pad(x, 1, "edge"),
    "a ufunc that lawful has not": lambda x: np.spacing(x),
    "a method that lawful has not": lambda x: np.add.reduceat(x, [0, 1]),
    "a function that lawful has not": lambda x: np.linalg.norm(x),
    "a shape that depends on values": lambda x: np.where(x > 1)[0],
    "values": lambda x: np.array([x, x]),
}


@pytest.mark.parametrize("name", CALLS)
def test_device_arrays_as_with_the_values(name: str) -> None:
    want, got = CALLS[name](VALUES), CALLS[name](device_put(VALUES))
    assert get_aval(got) == get_aval(want)
    np.testing.assert_allclose(got, want, rtol=1e-15)


def test_device_arrays_numpy_arrays_can_be_written_to_with_them() -> None:
    total = np.zeros(3)
    total += device_put(VALUES)
    np.testing.assert_array_equal(total, VALUES)


def test_device_arrays_numpy_s_own_errors() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        np.add(device_put(VALUES), np.ones(4))


def test_device_arrays_lawful_numpy_compiles_with_them() -> None:
    x = device_put(VALUES)
    out = jit(lambda y: lnp.sum(np.exp(-x) * y), backend="xla")(VALUES)
    assert isinstance(out, Array)
    np.testing.assert_allclose(out, np.sum(np.exp(-VALUES) * VALUES), rtol=1e-15)
    assert lnp.asarray(x) is x
