"""Error messages of loops: the user's line, the expected and the given value, and the correction."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.control_flow import associative_scan, fori_loop, map, scan, while_loop
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    LawfulError,
    NonArrayError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
)
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")

XS = np.ones(3)


def step(carry: Any, x: Any) -> Any:
    return carry, x


def traced(function: Callable[[Any], Any]) -> Any:
    return jit(function)(2)


def to_float(c: Any) -> Any:
    return c + 1.5


def halved(c: Any) -> Any:
    return ops.convert_element_type(c, np.float32)


def body(i: Any, x: Any) -> Any:
    return {"a": x["a"] + 0.5}


WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    # functions
    "scan of no function": (
        lambda: scan(3, 0.0, XS),
        ArgumentTypeError,
        "scan: expected a function as f, got int; wrap it",
    ),
    "no predicate": (lambda: while_loop(None, ops.sin, 0.0), ArgumentTypeError, "a function as cond_fun, got NoneType"),
    "no body": (lambda: while_loop(ops.sin, 3, 0.0), ArgumentTypeError, "a function as body_fun, got int"),
    "fori without a body": (
        lambda: fori_loop(0, 3, None, 0.0),
        ArgumentTypeError,
        "fori_loop: expected a function as body_fun",
    ),
    "map of no function": (lambda: map(XS, XS), ArgumentTypeError, "map: expected a function as f, got ndarray"),
    "no fn": (lambda: associative_scan(None, XS), ArgumentTypeError, "associative_scan: expected a function as fn"),
    # results of the body of a scan
    "no pair": (
        lambda: scan(lambda c, x: c, np.float64(0), XS),
        ArgumentTypeError,
        "return a pair (carry, result), got f64[]; return (carry, None)",
    ),
    "a triple": (
        lambda: scan(lambda c, x: (c, x, x), 0.0, XS),
        ArgumentTypeError,
        "a pair (carry, result), got tuple of 3",
    ),
    "a result that is no array": (
        lambda: scan(lambda c, x: (c, "a"), 0.0, XS),
        NonArrayError,
        "the results of <lambda>: expected a function that returns arrays or numbers, got 'a'",
    ),
    "a carry that is a tuple": (
        lambda: scan(lambda c, x: ((c, c), x), 0.0, XS),
        ArgumentTypeError,
        "give back the structure that it takes, got PyTreeDef((*, *)) for the array init; return the tree of init",
    ),
    "a carry without a key": (
        lambda: scan(lambda c, x: ({"a": x}, x), {"a": 0.0, "b": 1.0}, XS),
        ArgumentTypeError,
        "of init: expected a dict with keys 'a', 'b' at the root of the tree, got a dict with keys 'a'",
    ),
    "a first value of less precision": (
        lambda: scan(lambda c, x: ({"h": to_float(c["h"])}, x), {"h": np.int32(3)}, XS),
        ArgumentTypeError,
        "got f64[] for the i32[] of init['h']: start with init['h'] of dtype float64, by astype, or return it from "
        f"<lambda> as int32: it became float64 at {__file__}:{to_float.__code__.co_firstlineno + 1} (to_float)",
    ),
    "a result of less precision": (
        lambda: scan(lambda c, x: (halved(c), x), np.float64(0), XS),
        ArgumentTypeError,
        "got f32[] for the f64[] of init: convert what <lambda> gives there by astype(float64)",
    ),
    "another shape": (
        lambda: scan(lambda c, x: ((c[0], c[1][:1]), x), (0.0, np.zeros(2)), XS),
        ArgumentTypeError,
        "got f64[1] for the f64[2] of init[1]: start with init[1] of shape (1,), or keep the shape (2,) in <lambda>",
    ),
    # numbers
    "a negative length": (
        lambda: scan(step, 0.0, None, -1),
        ArgumentValueError,
        "scan: expected length of at least 0, got -1",
    ),
    "a length that is a float": (
        lambda: scan(step, 0.0, None, 2.5),
        ArgumentTypeError,
        "expected an integer as length, got ~f64[]",
    ),
    "a traced length": (
        lambda: traced(lambda n: scan(step, 0.0, None, n)),
        TracerIntegerConversionError,
        "got the traced ~i64[]; the trip count decides shapes: make it static, or use while_loop or fori_loop",
    ),
    "a traced unroll": (
        lambda: traced(lambda n: scan(step, 0.0, XS, unroll=n)),
        TracerIntegerConversionError,
        "expected a known integer as unroll, got the traced ~i64[]",
    ),
    "unroll -1": (lambda: scan(step, 0.0, XS, unroll=-1), ArgumentValueError, "expected unroll of at least 0, got -1"),
    "no checkpoints": (
        lambda: scan(step, 0.0, XS, checkpoints=0),
        ArgumentValueError,
        "expected checkpoints of at least 1, got 0",
    ),
    "fori unroll -1": (
        lambda: fori_loop(0, 3, lambda i, x: x, 0.0, unroll=-1),
        ArgumentValueError,
        "fori_loop: expected unroll of at least 0",
    ),
    "a negative bound": (
        lambda: while_loop(ops.sin, ops.sin, 0.0, max_iters=-1),
        ArgumentValueError,
        "while_loop: expected max_iters of at least 0, got -1",
    ),
    "checkpoints that are text": (
        lambda: while_loop(ops.sin, ops.sin, 0.0, checkpoints="a"),
        ArgumentTypeError,
        "an integer as checkpoints, got str",
    ),
    "fori checkpoints": (
        lambda: traced(lambda n: fori_loop(0, n, lambda i, x: x, 0.0, checkpoints=0)),
        ArgumentValueError,
        "fori_loop: expected checkpoints of at least 1",
    ),
    "batches of -1": (
        lambda: map(ops.sin, XS, batch_size=-1),
        ArgumentValueError,
        "map: expected batch_size of at least 0, got -1",
    ),
    "batches of 2.0": (
        lambda: map(ops.sin, XS, batch_size=2.0),
        ArgumentTypeError,
        "map: expected an integer as batch_size, got ~f64[]",
    ),
    # slices
    "a number to slice": (
        lambda: scan(step, 0.0, {"k": (XS, 2.0)}),
        ArgumentTypeError,
        "expected arrays to slice, got ~f64[] at xs['k'][1]; give it a first dimension, or let the function close",
    ),
    "slices of two lengths": (
        lambda: scan(step, 0.0, (XS, np.ones(4))),
        ArgumentValueError,
        "of one length, got 3 at xs[0], 4 at xs[1]; cut or pad them",
    ),
    "another length": (lambda: scan(step, 0.0, XS, 4), ArgumentValueError, "of one length, got 3 at xs, length=4"),
    "no length": (lambda: scan(step, 0.0), ArgumentValueError, "scan: expected arrays in xs, or a length, got neither"),
    "text to slice": (lambda: scan(step, 0.0, "abc"), NonArrayError, "got 'abc' of type str at argument 'xs'"),
    "a first carry that is text": (
        lambda: scan(step, {"k": "a"}, XS),
        NonArrayError,
        "got 'a' of type str at argument 'init'['k']",
    ),
    "a number to map": (
        lambda: map(ops.sin, 3.0),
        ArgumentTypeError,
        "map: expected arrays to slice, got ~f64[] at xs",
    ),
    "lengths to map": (
        lambda: map(ops.sin, (XS, np.ones(4))),
        ArgumentValueError,
        "map: expected first dimensions of one length",
    ),
    "lengths to map in batches": (
        lambda: map(ops.sin, (XS, np.ones(4)), batch_size=2),
        ArgumentValueError,
        "map: expected first dimensions of one length",
    ),
    "nothing to map": (lambda: map(ops.sin, ()), ArgumentValueError, "map: expected arrays in xs"),
    # while loops
    "a predicate that is a number": (
        lambda: while_loop(lambda x: x, lambda x: x, 0.0),
        ArgumentTypeError,
        "a boolean scalar as the result of <lambda>, got f64[]; compare numbers, and reduce arrays with all or any",
    ),
    "a predicate that is an array": (
        lambda: while_loop(lambda x: x > 0.0, lambda x: x, XS),
        ArgumentTypeError,
        "a boolean scalar as the result of <lambda>, got bool[3]",
    ),
    "a predicate that is a tuple": (
        lambda: while_loop(lambda x: (True,), lambda x: x, 0.0),
        ArgumentTypeError,
        "as the result of <lambda>, got tuple",
    ),
    "a predicate in Python": (
        lambda: while_loop(lambda x: x > 0 and x < 3, lambda x: x, 0.0),
        TracerBoolConversionError,
        "of while_loop",
    ),
    "another structure": (
        lambda: while_loop(lambda s: s[0] > 0, lambda s: s[0], (1.0, 2.0)),
        ArgumentTypeError,
        "got PyTreeDef(*) for the PyTreeDef((*, *)) of init_val: expected a tuple of length 2 at the root of the tree",
    ),
    "another type": (
        lambda: while_loop(lambda s: s["a"] > 0, lambda s: {"a": s["a"] / 2}, {"a": np.int64(8)}),
        ArgumentTypeError,
        "got f64[] for the i64[] of init_val['a']: start with init_val['a'] of dtype float64",
    ),
    # fori loops
    "a bound that is a float": (
        lambda: fori_loop(0, 3.0, body, 0.0),
        ArgumentTypeError,
        "an integer scalar as upper, got ~f64[]; convert it with int",
    ),
    "a bound that is an array": (
        lambda: fori_loop(np.ones(2, int), 3, body, 0.0),
        ArgumentTypeError,
        "an integer scalar as lower, got i64[2]",
    ),
    "no bound": (lambda: fori_loop(None, 3, body, 0.0), ArgumentTypeError, "an integer scalar as lower, got NoneType"),
    "another type in a known range": (
        lambda: fori_loop(0, 3, body, {"a": np.int64(3)}),
        ArgumentTypeError,
        "fori_loop: expected body to give back the types that it takes, got f64[] for the i64[] of init_val['a']",
    ),
    "another type in a traced range": (
        lambda: traced(lambda n: fori_loop(0, n, body, {"a": np.int64(3)})),
        ArgumentTypeError,
        "fori_loop: expected body to give back the types that it takes, got f64[] for the i64[] of init_val['a']",
    ),
    "another structure in a range": (
        lambda: fori_loop(0, 3, lambda i, x: (x, x), 0.0),
        ArgumentTypeError,
        "got PyTreeDef((*, *)) for the array init_val",
    ),
    "a key less in a range": (
        lambda: fori_loop(0, 3, body, {"a": 1.0, "b": 1.0}),
        ArgumentTypeError,
        "of init_val: expected a dict with keys 'a', 'b' at the root of the tree",
    ),
    "unrolled between traced bounds": (
        lambda: traced(lambda n: fori_loop(0, n, lambda i, x: x, 0.0, unroll=2)),
        ArgumentValueError,
        "expected known bounds where unroll is given",
    ),
    # associative scans
    "nothing to combine": (lambda: associative_scan(ops.add, ()), ArgumentValueError, "expected at least one array"),
    "a number to combine": (lambda: associative_scan(ops.add, 1.0), np.exceptions.AxisError, "a scalar has none"),
    "no such axis": (lambda: associative_scan(ops.add, XS, axis=1), np.exceptions.AxisError, "use one from -1 to 0"),
    "two lengths to combine": (
        lambda: associative_scan(lambda a, b: a, (XS, np.ones(4))),
        ArgumentValueError,
        "arrays of one length along axis 0, got 3, 4",
    ),
    "a combination of another structure": (
        lambda: associative_scan(lambda a, b: (a, b), XS),
        ArgumentTypeError,
        "expected fn to give what it takes",
    ),
    "a combination of another type": (
        lambda: associative_scan(lambda a, b: (a + b) * 0.5, np.arange(3)),
        ArgumentTypeError,
        "i64[1] in PyTreeDef(*), got f64[1]",
    ),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_loop_error_messages(case: Any) -> None:
    wrong, error, text = case
    with pytest.raises(error, match=re.escape(text)) as raised:
        wrong()
    assert isinstance(raised.value, LawfulError)
    assert "test_loop_errors.py" in str(raised.value)


def test_loop_errors_leave_no_state() -> None:
    for wrong, *_ in WRONG.values():
        with pytest.raises(LawfulError):
            wrong()
        assert scan(lambda c, x: (c + x, None), 0.0, XS)[0] == 3.0
