"""The methods of tracers: those of NumPy's arrays that write nothing, with NumPy's arguments and results."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful.core import ArgumentTypeError, LawfulError, TracerArrayConversionError
from lawful.staging import jit

X = np.array([[3.0, -1.0, 2.0], [0.0, 5.0, -4.0]])
MASK = X > 0

METHODS: dict[str, Callable[[Any], Any]] = {
    "sum where": lambda x: x.sum(1, where=MASK, initial=2.0),
    "sum positions": lambda x: x.sum(0, np.float32, None, True),
    "prod where": lambda x: x.prod(axis=0, where=MASK),
    "mean where": lambda x: x.mean(1, where=MASK),
    "mean dtype": lambda x: x.mean(0, np.float32),
    "var where": lambda x: x.var(1, where=MASK),
    "var ddof": lambda x: x.var(0, None, None, 1),
    "std dtype": lambda x: x.std(0, np.float32, keepdims=True),
    "max initial": lambda x: x.max(1, initial=4.0),
    "min where": lambda x: x.min(1, initial=4.0, where=MASK),
    "all where": lambda x: x.all(1, where=MASK),
    "any where": lambda x: x.any(1, where=~MASK),
    "argmax": lambda x: x.argmax(1, None, keepdims=True),
    "argmin": lambda x: x.argmin(),
    "argpartition": lambda x: np.sort(x.argpartition(1, 1)[:, :1]),
    "argsort": lambda x: x.argsort(),
    "argsort axis": lambda x: x.argsort(axis=0, kind="stable"),
    "astype casting": lambda x: x.astype(np.float32, casting="same_kind", copy=False),
    "byteswap": lambda x: x.byteswap(),
    "byteswap int": lambda x: x.astype(np.int16).byteswap(),
    "byteswap complex": lambda x: (x + 1j).byteswap(),
    "choose": lambda x: (x > 0).astype(np.int64).choose([X, -X]),
    "clip out": lambda x: x.clip(-1.0, 1.0, None),
    "compress": lambda x: x.compress([True, False, True], axis=1),
    "compress flat": lambda x: x.compress([False, True, True]),
    "cumprod": lambda x: x.cumprod(1),
    "cumsum": lambda x: x.cumsum(),
    "cumsum dtype": lambda x: x.cumsum(0, np.float32),
    "diagonal": lambda x: x.diagonal(1),
    "dot": lambda x: x.dot(X.T),
    "flatten order": lambda x: x.flatten("F"),
    "ptp": lambda x: x.ptp(axis=0) if hasattr(x, "ptp") else np.ptp(x, axis=0),
    "ravel order": lambda x: x.ravel(order="F"),
    "repeat": lambda x: x.repeat(2, axis=1),
    "reshape order": lambda x: x.reshape(3, 2, order="F"),
    "round": lambda x: (x / 3).round(1, None),
    "searchsorted": lambda x: x[0].cumsum().searchsorted(np.array([1.0, 3.5]), side="right"),
    "trace": lambda x: x.trace(1),
    "view narrower": lambda x: x.view(np.int16),
    "view wider": lambda x: x.astype(np.int32)[:, :2].view(np.int64),
    "view same": lambda x: x.view(np.uint64),
    "view itself": lambda x: x.view(),
    "view bool": lambda x: (x > 0).view(np.uint8),
    "view as bool": lambda x: (x > 0).astype(np.uint8).view(np.bool_),
    "view of complex": lambda x: (x + 1j).view(np.float64),
    "view as complex": lambda x: x[:, :2].view(np.complex128),
    "view complex as int": lambda x: (x + 1j).view(np.int32),
}


@pytest.mark.parametrize("name", METHODS)
def test_tracer_method_equals_numpy(name: str) -> None:
    method = METHODS[name]
    found, expected = jit(method)(X), method(X)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6, equal_nan=True)


def test_nonzero_of_a_tracer_takes_a_size() -> None:
    rows, columns = jit(lambda x: (x > 2).nonzero(size=3, fill_value=-1))(X)
    assert (rows.tolist(), columns.tolist()) == ([0, 1, -1], [0, 1, -1])


@pytest.mark.parametrize(
    "method",
    [
        lambda x: x.astype(int, casting="safe"),
        lambda x: x.view(np.complex128),
        lambda x: x.sum().view(np.int8),
        lambda x: (x + 1j).sum().view(np.float64),
        lambda x: x[:, :1].astype(np.int32).view(np.int64),
    ],
)
def test_tracer_method_refuses(method: Callable[[Any], Any]) -> None:
    with pytest.raises(ArgumentTypeError):
        jit(method)(X)


def test_sum_of_a_tracer_refuses_out() -> None:
    with pytest.raises(LawfulError, match="out"):
        jit(lambda x: x.sum(out=np.zeros(())))(X)


def test_tobytes_of_a_tracer_has_no_value() -> None:
    with pytest.raises(TracerArrayConversionError, match="tobytes"):
        jit(lambda x: x.tobytes())(X)


@pytest.mark.parametrize("name", ["fill", "itemset", "partition", "put", "resize", "setfield"])
def test_tracer_method_that_writes_is_refused(name: str) -> None:
    """The error says what to write instead, and `hasattr` is false. `lawful.jax` defines `sort`, as JAX does."""

    def f(x: Any) -> Any:
        assert not hasattr(x, name)
        return getattr(x, name)

    with pytest.raises(AttributeError, match=rf"returns its result, got {name}, which writes to the array; write x = "):
        jit(f)(X)
