"""The elementwise functions of the standard, and the operators of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from .arguments import operands, promotable
from .arrays import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATING,
    FLOATS,
    INTEGERS,
    NUMERIC,
    REAL,
    Strategy,
    arrays,
    filled,
    scalars,
    smaller,
)
from .calls import Several, call
from .closeness import Closeness, exact
from .spec import Spec

# Correctly rounded, except for the sign of zero where it depends on the order of equal operands.
_UNSIGNED_ZERO = Closeness(zeros=False)
# The difference between mathematical libraries of processors and compilers.
_LIBRARY = Closeness(digits=16)
# NumPy adds 1 to complex numbers, or subtracts it.
_CANCELLING = Closeness(digits=16, terms=2)

UNARY: dict[str, tuple[tuple[str, ...], Closeness]] = {
    "abs": (NUMERIC, Closeness(digits=2)),
    "acos": (FLOATING, _LIBRARY),
    "acosh": (FLOATING, _LIBRARY),
    "asin": (FLOATING, _LIBRARY),
    "asinh": (FLOATING, _LIBRARY),
    "atan": (FLOATING, _LIBRARY),
    "atanh": (FLOATING, _LIBRARY),
    "bitwise_invert": ((*BOOL, *INTEGERS), exact),
    "ceil": (REAL, exact),
    "conj": (NUMERIC, exact),
    "cos": (FLOATING, _LIBRARY),
    "cosh": (FLOATING, _LIBRARY),
    "exp": (FLOATING, _LIBRARY),
    "expm1": (FLOATING, _CANCELLING),
    "floor": (REAL, exact),
    "imag": (COMPLEX, exact),
    "isfinite": (NUMERIC, exact),
    "isinf": (NUMERIC, exact),
    "isnan": (NUMERIC, exact),
    "log": (FLOATING, _LIBRARY),
    "log10": (FLOATING, _LIBRARY),
    "log1p": (FLOATING, _CANCELLING),
    "log2": (FLOATING, _LIBRARY),
    "logical_not": (BOOL, exact),
    "negative": (NUMERIC, exact),
    "positive": (NUMERIC, exact),
    "real": (NUMERIC, exact),
    "reciprocal": (FLOATING, Closeness(digits=4)),
    "round": (NUMERIC, exact),
    "sign": (NUMERIC, Closeness(digits=4, zeros=False)),
    "signbit": (FLOATS, exact),
    "sin": (FLOATING, _LIBRARY),
    "sinh": (FLOATING, _LIBRARY),
    "sqrt": (FLOATING, Closeness(digits=4)),
    "square": (NUMERIC, Closeness(digits=4)),
    "tan": (FLOATING, _LIBRARY),
    "tanh": (FLOATING, _LIBRARY),
    "trunc": (REAL, exact),
}
BINARY: dict[str, tuple[tuple[str, ...], Closeness]] = {
    "add": (NUMERIC, exact),
    "atan2": (FLOATS, _LIBRARY),
    "bitwise_and": ((*BOOL, *INTEGERS), exact),
    "bitwise_or": ((*BOOL, *INTEGERS), exact),
    "bitwise_xor": ((*BOOL, *INTEGERS), exact),
    "copysign": (FLOATS, exact),
    "divide": (FLOATING, Closeness(digits=4, parts=False)),
    "equal": (ALL, exact),
    "floor_divide": (REAL, exact),
    "greater": (REAL, exact),
    "greater_equal": (REAL, exact),
    "hypot": (FLOATS, Closeness(digits=4)),
    "less": (REAL, exact),
    "less_equal": (REAL, exact),
    "logaddexp": (FLOATS, Closeness(digits=8)),
    "logical_and": (BOOL, exact),
    "logical_or": (BOOL, exact),
    "logical_xor": (BOOL, exact),
    "maximum": (REAL, _UNSIGNED_ZERO),
    "minimum": (REAL, _UNSIGNED_ZERO),
    "multiply": (NUMERIC, Closeness(digits=4)),
    "nextafter": (FLOATS, exact),
    "not_equal": (ALL, exact),
    "remainder": (REAL, exact),
    "subtract": (NUMERIC, exact),
}
# The complex operands of some functions, if restricted: for numbers with an infinite part or NaN, the standard does not
# define products and quotients, and NumPy deviates from it for others.
COMPLEX_KINDS = {
    **dict.fromkeys(("multiply", "divide", "square", "sign", "expm1", "log1p"), "small"),
    "reciprocal": "positive",
}
DIVISOR_KINDS = {"divide": "positive"}

# Python's operators, with the function of each.
OPERATORS: dict[str, str] = {
    "add": "add",
    "and_": "bitwise_and",
    "eq": "equal",
    "floordiv": "floor_divide",
    "ge": "greater_equal",
    "gt": "greater",
    "le": "less_equal",
    "lshift": "bitwise_left_shift",
    "lt": "less",
    "mod": "remainder",
    "mul": "multiply",
    "ne": "not_equal",
    "or_": "bitwise_or",
    "pow": "pow",
    "rshift": "bitwise_right_shift",
    "sub": "subtract",
    "truediv": "divide",
    "xor": "bitwise_xor",
    "abs": "abs",
    "invert": "bitwise_invert",
    "neg": "negative",
    "pos": "positive",
}


def _unary_calls(name: str, dtypes: tuple[str, ...]) -> Strategy:
    return call(arrays(dtypes, complex_kind=COMPLEX_KINDS.get(name)))


def _binary_calls(name: str, dtypes: tuple[str, ...]) -> Strategy:
    if name not in COMPLEX_KINDS:
        return call(operands(dtypes))
    real = tuple(dtype for dtype in dtypes if dtype not in COMPLEX)
    return st.one_of(call(operands(real)), call(operands(FLOATING, COMPLEX_KINDS[name], DIVISOR_KINDS.get(name))))


_SHAPE = st.sampled_from([(), (2,), (2, 3), (0, 2), (1, 3)])


@st.composite
def powers(draw: st.DrawFn) -> Several:
    """Draws a base and an exponent; integer exponents are not negative."""
    left, right = draw(st.sampled_from(promotable(NUMERIC)))
    kind, exponents = ("any", "any") if right in FLOATS and left in FLOATS else ("small", "positive")
    shape = draw(_SHAPE)
    x, y = filled(shape, left, kind), filled(draw(smaller(shape)), right, exponents)
    number = draw(st.sampled_from((None, None, 0, 1)))
    base = draw(scalars(right, kind) if number == 0 else x)
    return Several((base, draw(scalars(left, exponents) if number == 1 else y)))


@st.composite
def shifts(draw: st.DrawFn) -> Several:
    """Draws integers and shift counts, which are less than the number of bits."""
    left, right = draw(st.sampled_from(promotable(INTEGERS)))
    shape = draw(_SHAPE)
    x, number = draw(filled(shape, left)), draw(st.sampled_from((None, None, 0, 1)))
    if number == 1:
        return Several((x, draw(st.integers(0, 7))))
    dims = draw(st.lists(st.integers(0, 7), min_size=x.size, max_size=x.size))
    return Several((draw(scalars(right)) if number == 0 else x, np.array(dims, right).reshape(shape)))


@st.composite
def limits(draw: st.DrawFn) -> Any:
    """Draws an array with bounds: arrays of its dtype, numbers, or None; the lower bound is at most the upper one."""
    dtype = draw(st.sampled_from(REAL))
    shape = draw(_SHAPE)
    low, high = draw(filled(shape, dtype, "small")), draw(filled(shape, dtype, "small"))
    low, high = np.asarray(np.minimum(low, high)), np.asarray(np.maximum(low, high))
    numbers = sorted([draw(scalars(dtype, "small")), draw(scalars(dtype, "small"))])
    bounds = draw(st.sampled_from([(low, high), (None, high), (low, None), (None, None), tuple(numbers)]))
    return Several((draw(filled(shape, dtype)), *bounds))


def _elementwise() -> Iterator[Spec]:
    for name, (dtypes, closeness) in UNARY.items():
        yield Spec(name, _unary_calls(name, dtypes), closeness)
    for name, (dtypes, closeness) in BINARY.items():
        yield Spec(name, _binary_calls(name, dtypes), closeness)
    yield Spec("pow", call(powers()), Closeness(digits=64))
    yield Spec("bitwise_left_shift", call(shifts()))
    yield Spec("bitwise_right_shift", call(shifts()))
    yield Spec("clip", call(limits()), _UNSIGNED_ZERO)


ELEMENTWISE = [*_elementwise()]


def _operators() -> Iterator[Spec]:
    of = {spec.name: spec for spec in ELEMENTWISE}
    for operator, name in OPERATORS.items():
        yield Spec(f"operator.{operator}", of[name].calls, of[name].closeness)


OPERATIONS = [*_operators()]
