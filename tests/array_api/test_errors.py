"""Calls that the standard does not allow raise an error, eagerly as traced, that says what was expected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lawful.core import LawfulError

from .specs.calls import Call
from .specs.reference import reference
from .specs.runs import eagerly, on_device, staged

X = np.ones((2, 3))
V = np.ones(3)
ONE = np.ones(())
BOOLS = np.array([True, False])
COMPLEX = np.array([1j, 2.0])
INTEGERS = np.array([1, 2])

CALLS: dict[str, list[Call]] = {
    "add": [Call((X, np.ones(2)))],
    "all": [Call((X,), {"axis": 2})],
    "argmax": [Call((X,), {"axis": -3}), Call((np.ones(0),))],
    "argsort": [Call((X,), {"axis": 2})],
    "bitwise_and": [Call((V, V))],
    "bitwise_left_shift": [Call((V, V))],
    "broadcast_arrays": [Call((X, np.ones(2)))],
    "broadcast_to": [Call((X, (3, 2))), Call((X, (3,)))],
    "concat": [Call(([X, V],)), Call(([X, X],), {"axis": 2})],
    "cumulative_sum": [Call((X,)), Call((X,), {"axis": 2})],
    "cumulative_prod": [Call((X,)), Call((X,), {"axis": -3})],
    "diff": [Call((X,), {"axis": 2}), Call((X,), {"n": -1})],
    "expand_dims": [Call((X,), {"axis": 3}), Call((X,), {"axis": -4})],
    "fft.fft": [Call((X,), {"axis": 2}), Call((X.astype("complex128"),), {"norm": "other"})],
    "fft.rfft": [Call((COMPLEX,))],
    "flip": [Call((X,), {"axis": 2})],
    "floor": [Call((COMPLEX,))],
    "floor_divide": [Call((COMPLEX, COMPLEX))],
    "isdtype": [Call((np.dtype("int8"), "some kind"))],
    "linalg.cholesky": [Call((X,))],
    "linalg.cross": [Call((np.ones(2), np.ones(2)))],
    "linalg.det": [Call((X,)), Call((V,))],
    "linalg.eigh": [Call((X,))],
    "linalg.inv": [Call((X,))],
    "linalg.matrix_norm": [Call((V,))],
    "linalg.matrix_power": [Call((X, 2))],
    "linalg.outer": [Call((X, V))],
    "linalg.solve": [Call((X, V)), Call((np.eye(2), V))],
    "linalg.trace": [Call((V,))],
    "matmul": [Call((X, X)), Call((ONE, X))],
    "matrix_transpose": [Call((V,))],
    "max": [Call((np.ones((0, 2)),)), Call((X,), {"axis": 2})],
    "meshgrid": [Call((V, V), {"indexing": "other"})],
    "min": [Call((np.ones((2, 0)),), {"axis": 1})],
    "moveaxis": [Call((X, 2, 0)), Call((X, (0, 0), (0, 1)))],
    "negative": [Call((BOOLS,))],
    "nonzero": [Call((ONE,))],
    "operator.and_": [Call((V, V))],
    "operator.getitem": [Call((X, (0, 0, 0))), Call((X, 2)), Call((X, (..., ...)))],
    "operator.invert": [Call((V,))],
    "operator.matmul": [Call((X, X))],
    "operator.neg": [Call((BOOLS,))],
    "permute_dims": [Call((X, (0,))), Call((X, (0, 0)))],
    "pow": [Call((X, np.ones(2)))],
    "repeat": [Call((V, np.array([1, 2])), {"axis": 0})],
    "reshape": [Call((X, (4,))), Call((X, (-1, -1)))],
    "roll": [Call((X, 1), {"axis": 2}), Call((X, (1, 1, 1)), {"axis": (0, 1)})],
    "searchsorted": [Call((V, V), {"side": "other"})],
    "sort": [Call((X,), {"axis": 2})],
    "squeeze": [Call((X, 0)), Call((X, 2))],
    "stack": [Call(([X, V],)), Call(([X, X],), {"axis": 3})],
    "subtract": [Call((BOOLS, BOOLS))],
    "sum": [Call((X,), {"axis": 2}), Call((X,), {"axis": (0, 0)})],
    "take": [Call((X, INTEGERS), {"axis": 2})],
    "take_along_axis": [Call((X, INTEGERS), {"axis": 0})],
    "tensordot": [Call((X, X), {"axes": 1})],
    "tril": [Call((V,))],
    "unstack": [Call((X,), {"axis": 2})],
    "vecdot": [Call((X, np.ones(2))), Call((ONE, ONE))],
    "where": [Call((np.array([True, False]), X, X))],
}

EVERY = [pytest.param(name, call, id=f"{name}{call!r}"[:60]) for name, calls in CALLS.items() for call in calls]
ERRORS = (TypeError, ValueError, IndexError)


@pytest.mark.parametrize(("name", "call"), EVERY)
def test_array_api_refused(name: str, call: Call) -> None:
    with pytest.raises(ERRORS):
        reference(name, call)
    for run in (eagerly, on_device):
        with pytest.raises(ERRORS):
            run(name, call)


@pytest.mark.parametrize(("name", "call"), EVERY)
def test_array_api_refused_with_a_reason_when_traced(name: str, call: Call) -> None:
    known = frozenset([1]) if name == "repeat" else frozenset[int]()
    with pytest.raises(ERRORS, match=r"expected .*got") as error:
        staged([(name, call, known)], "numpy")
    assert isinstance(error.value, LawfulError)


def test_array_api_what_standard_does_not_have_is_refused_too() -> None:
    """An argument of no kind that a function takes."""
    cases: list[tuple[str, tuple[Any, ...]]] = [("sum", ("text",)), ("add", (X, [1, 2, 3])), ("zeros", ("text",))]
    for name, args in cases:
        with pytest.raises(ERRORS, match=r"expected .*got"):
            staged([(name, Call(args), frozenset())], "numpy")
