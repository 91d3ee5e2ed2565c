"""Calls of ops on values: both layers return the same, and the plain one binds primitives."""

import gc
import sys
from collections.abc import Callable, Sequence
from itertools import product
from types import FrameType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.core import Primitive, Trace, current, get_aval, plain, set_current
from lawful.ops import Elementwise

OPS = [op for op in (getattr(ops, name) for name in ops.__all__) if isinstance(op, Elementwise) and op.arity <= 2]
DTYPES = ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
VALUES: list[Any] = [
    *(np.array([1, 2, 3], dtype) for dtype in DTYPES),
    *(np.array(2, dtype)[()] for dtype in DTYPES),
    *(np.array([0.5, 0.25, 0.75], dtype) for dtype in ("float32", "float64", ml_dtypes.bfloat16)),
    *(np.zeros((0, 3)), np.array([[0.5], [0.25]], "float32"), True, 2, -1, 300, 0.5, 0.5 + 0.25j),
]
FEW = VALUES[::3] + VALUES[-6:]
#: On some processors NumPy 2.3 gives one float16 another last bit of log1p than many. The layers may use either form.
LAST_BIT_IS_OPEN = {ops.xlog1py} if np.log1p(np.float16(2)) != np.log1p(np.full(3, 2, np.float16))[0] else set()


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Returns the type and the bits of a result, or the class of the error."""
    try:
        with np.errstate(all="ignore"):
            out = function(*args)
    except Exception as error:
        return type(error)
    return type(out), get_aval(out), np.asarray(out).tobytes()


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.__name__)
def test_elementwise_call_of_values_agrees_in_both_layers(op: Elementwise) -> None:
    for args in product(VALUES) if op.arity == 1 else product(FEW, FEW):
        with plain():
            expected = outcome(op, args)
        found = outcome(op, args)
        if op in LAST_BIT_IS_OPEN and found != expected and found[1].dtype == np.float16:
            assert found[:2] == expected[:2], args
            bits, wanted = (np.frombuffer(x[2], np.int16) for x in (found, expected))
            assert np.max(np.abs(bits - wanted)) <= 1, args
        else:
            assert found == expected, args


INDICES: list[Any] = [
    *(0, -1, 1, slice(None), slice(None, None, -1), slice(1, 3), slice(0, 4, 2), ..., None, (0, 1), (slice(1), -1)),
    *((None, 1), (..., 0), np.array([0, 2]), np.array([[-1], [1]]), (slice(None), np.array([0, 0])), 7, (0, 0, 0)),
    *(np.array([True, False, True, False]), np.array([5]), True, "x", 1.5, [0, 1], np.int32(1), (np.array([]),)),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_getitem_of_values_agrees_in_both_layers(index: Any) -> None:
    x = np.arange(12.0).reshape(4, 3)
    with plain():
        expected = outcome(ops.getitem, (x, index))
    assert outcome(ops.getitem, (x, index)) == expected


class Listing(Trace):
    """Evaluates primitives, and lists their names."""

    __slots__ = ("names",)

    def __init__(self) -> None:
        super().__init__(current.trace, "listing")
        self.names: list[str] = []

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        assert self.parent is not None
        self.names.append(primitive.name)
        return self.parent.process_primitive(primitive, args, params)


def primitives_of(function: Callable[..., Any], *args: Any) -> list[str]:
    trace = Listing()
    with set_current(trace):
        function(*args)
    return trace.names


def test_elementwise_call_of_values_binds_on_the_plain_layer() -> None:
    with plain():
        assert primitives_of(ops.sin, np.arange(3.0)) == ["sin"]
        assert primitives_of(ops.mul, np.arange(3.0), np.arange(3.0)) == ["mul"]
        assert primitives_of(ops.add_tangents, 1.0, 2.0) == ["add"]


@pytest.mark.fast
def test_elementwise_call_of_values_goes_to_numpy() -> None:
    assert primitives_of(ops.sin, np.arange(3.0)) == []
    assert primitives_of(ops.add_tangents, 1.0, 2.0) == []


def calls_of(function: Callable[..., Any], *args: Any) -> list[str]:
    """Returns the names of the Python functions that a call runs."""
    found: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            found.append(frame.f_code.co_qualname)

    gc.disable()  # a collection would call finalizers of earlier tests
    sys.setprofile(note)
    try:
        function(*args)
    finally:
        sys.setprofile(None)
        gc.enable()
    return found


@pytest.mark.parametrize("function", [ops.sin, ops.exp2, ops.sign], ids=lambda op: op.__name__)
def test_elementwise_plain_call_takes_one_route(function: Elementwise) -> None:
    with plain():
        function(np.arange(4.0))  # dtypes are promoted once
        routes = [calls_of(function, np.arange(4.0)) for _ in range(40)]
    assert all(route == routes[0] for route in routes)
