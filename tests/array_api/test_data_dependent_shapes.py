"""Functions whose result shape depends on values: they work on known values, and explain themselves on traced ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.core import ConcretizationTypeError
from lawful.staging import jit, make_jaxpr

X = np.array([2.0, 0.0, 2.0, 1.0])

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "nonzero": lambda x: lnp.nonzero(x),
    "unique_all": lambda x: lnp.unique_all(x),
    "unique_counts": lambda x: lnp.unique_counts(x),
    "unique_inverse": lambda x: lnp.unique_inverse(x),
    "unique_values": lambda x: lnp.unique_values(x),
    "a mask": lambda x: x[x > 0.5],
    "repeat": lambda x: lnp.repeat(X, lnp.astype(x, "int64")),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("transform", [jit, make_jaxpr, vmap, lambda f: jit(grad(lambda x: lnp.sum(f(x))))])
def test_array_api_program_does_not_know_the_shape(name: str, transform: Callable[..., Any]) -> None:
    x = np.stack([X, X]) if transform is vmap else X
    with pytest.raises(ConcretizationTypeError, match=r"size=n|total_repeat_length="):
        transform(FUNCTIONS[name])(x)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_array_api_data_dependent_shapes_under_jvp(name: str) -> None:
    """Where a transformation knows the values, data-dependent shapes are known too."""
    function = FUNCTIONS[name]
    want = function(X)
    got, _ = jvp(lambda x: tuple(function(x)) if isinstance(want, tuple) else function(x), (X,), (np.ones(4),))
    for have, wanted in zip(got, want, strict=True):
        np.testing.assert_array_equal(have, wanted)


def test_array_api_way_out() -> None:
    program = jit(lambda x: (lnp.nonzero(x, size=2), lnp.unique_counts(x, size=2)))
    (places,), (values, counts) = program(X)
    np.testing.assert_array_equal(places, [0, 2])
    np.testing.assert_array_equal(values, [0.0, 1.0])
    np.testing.assert_array_equal(counts, [1, 1])
