"""Products of NaN and infinity with a single zero, for which BLAS gives zero: NaN on every path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful.staging import jit

ARRAY = np.array([np.nan, 1.0, np.inf])
CALLS = {
    "dot": lnp.dot,
    "dot of a column": lambda x, y: lnp.dot(lnp.reshape(x, (-1, 1)), lnp.reshape(y, (1, 1))),
    "inner": lnp.inner,
    "tensordot": lambda x, y: lnp.tensordot(x, y, 0),
    "linalg.tensordot": lambda x, y: lnp.linalg.tensordot(x, y, axes=0),
    "outer": lnp.outer,
    "kron": lnp.kron,
    "multiply": lnp.multiply,
    "convolve": lambda x, y: lnp.convolve(x, lnp.reshape(y, 1)),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("zero", [0, 0.0, False, np.array(0.0), np.float32(0), 0j], ids=repr)
@pytest.mark.parametrize("name", CALLS)
def test_product_with_zero_is_nan(name: str, zero: Any) -> None:
    call = CALLS[name]
    for dtype in ("float32", "complex128"):
        x = ARRAY.astype(dtype)
        for y, z in ((x, zero), (zero, x)) if name in ("dot", "inner", "tensordot", "multiply") else ((x, zero),):
            eager = np.asarray(call(y, z))
            assert np.isnan(eager).ravel().tolist() == [True, False, True]
            traced = jit(call, backend="numpy")(y, z)
            assert (traced.dtype, traced.shape) == (eager.dtype, eager.shape)
            np.testing.assert_array_equal(traced, eager)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_product_with_zero_is_nan_on_xla() -> None:
    def calls(x: Any, zero: Any) -> dict[str, Any]:
        return {name: call(x, zero) for name, call in CALLS.items()}

    for array in jit(calls, backend="xla")(ARRAY, 0.0).values():
        assert np.isnan(np.asarray(array)).ravel().tolist() == [True, False, True]


def test_tensordot_promotes_a_number_as_an_array() -> None:
    for call in (lnp.tensordot, jit(lnp.tensordot, static_argnums=2, backend="numpy")):
        assert call(np.ones(2, "float32"), 2.0, 0).dtype == np.float64
