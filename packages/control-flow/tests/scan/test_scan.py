"""`scan` equals the Python loop over slices, for any carry, slices and results."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.control_flow import scan, scan_p
from lawful.core import check_jaxpr, current, get_aval, parse_jaxpr
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")

XS = np.linspace(-1.0, 1.0, 5)
ROWS = np.arange(15.0).reshape(5, 3) / 10


def loop(f: Callable[..., Any], init: Any, xs: Any, length: int, reverse: bool = False) -> Any:
    """The Python loop."""
    carry, rows = init, {}
    for i in reversed(range(length)) if reverse else range(length):
        carry, rows[i] = f(carry, tree.map(lambda x, i=i: x[i], xs))
    stacked = tree.map(lambda *ys: np.stack([np.asarray(y) for y in ys]), *[rows[i] for i in range(length)])
    return tree.map(lambda x: np.asarray(x)[()], carry), stacked


def two_states(carry: Any, x: Any) -> Any:
    a, b = carry["a"], carry["b"]
    return {"a": b + x["row"], "b": ops.sin(a) * x["x"]}, (a * x["x"], [b])


BODIES: dict[str, tuple[Any, Any, Any]] = {
    "one state": (lambda c, x: (c * x + 1.0, c), np.float64(0.5), XS),
    "trees": (two_states, {"a": np.zeros(3), "b": np.ones(3)}, {"x": XS, "row": ROWS}),
    "no results": (lambda c, x: (c + x, None), np.float64(0.0), XS),
    "no carry": (lambda c, x: ((), ops.sin(x)), (), ROWS),
    "nothing": (lambda c, x: ((), ()), (), XS),
    "swapped": (lambda c, x: ((c[1], c[0]), c[0]), (np.float64(1.0), np.float64(2.0)), XS),
    "handed on": (lambda c, x: ((c[0], c[1] + c[0]), x), (np.float64(1.0), np.float64(2.0)), XS),
    "the slice becomes the carry": (lambda c, x: (x, c), np.zeros(3), ROWS),
    "integers": (lambda c, x: (c + x, c * 2), np.int32(1), np.arange(5, dtype=np.int32)),
    "booleans": (lambda c, x: (ops.bitwise_xor(c, x), c), np.bool_(True), np.array([1, 0, 1, 1, 0], bool)),
    "complex": (lambda c, x: (c * (1 + 1j), c), np.complex128(1.0), XS),
    "float32": (lambda c, x: (c + x, c), np.float32(0.0), XS.astype(np.float32)),
    "a number closed over": (lambda c, x: (c + XS[0] * x, 3), np.float64(0.0), XS),
}

every_body = pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)


@every_body
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_equals_the_python_loop(body: Any, reverse: bool, require_same: Callable[..., None]) -> None:
    f, init, xs = body
    expected = loop(f, init, xs, 5, reverse)
    for unroll in (1, 2, 5, 7, 0, True, False):
        for checkpoints in (None, 1, 2, 9):
            scanned = partial(scan, f, reverse=reverse, unroll=unroll, checkpoints=checkpoints)
            require_same(scanned(init, xs), expected)
            require_same(jit(scanned)(init, xs), expected)


@every_body
def test_scan_jaxpr_is_well_typed_and_parses(body: Any) -> None:
    f, init, xs = body
    closed = make_jaxpr(lambda init, xs: scan(f, init, xs, reverse=True, checkpoints=3))(init, xs)
    check_jaxpr(closed)
    assert str(parse_jaxpr(str(closed))) == str(closed)
    assert [eqn.primitive for eqn in closed.eqns] == [scan_p]


@every_body
def test_scan_of_length_zero_returns_init(body: Any, require_same: Callable[..., None]) -> None:
    f, init, xs = body
    none = tree.map(lambda x: x[:0], xs)
    one = tree.map(lambda x: x[:1], xs)
    ys = tree.map(lambda y: y[:0], scan(f, init, one)[1])
    for function in (scan, jit(scan, static_argnums=0)):
        require_same(function(f, init, none), (init, ys))


def test_scan_without_xs_needs_length(require_same: Callable[..., None]) -> None:
    found = scan(lambda c, x: (c * 2.0, (c, x)), np.float64(1.0), length=4)
    require_same(found, (np.float64(16.0), (np.array([1.0, 2.0, 4.0, 8.0]), None)))
    require_same(scan(lambda c, x: (c, c), np.float64(1.0), None, 0), (np.float64(1.0), np.zeros(0)))
    with_none = scan(lambda c, x: (c + x["a"], ()), np.float64(0.0), {"a": XS, "b": None})
    require_same(with_none, (np.float64(sum(XS)), ()))


def test_scan_with_consistent_length() -> None:
    assert scan(lambda c, x: (c + x, ()), 0.0, XS, np.int64(5))[0] == pytest.approx(0.0)


def test_scan_python_number_in_init_gets_type_of_body() -> None:
    def carry_of(init: Any, f: Callable[[Any], Any]) -> Any:
        return get_aval(scan(lambda c, _: (f(c), ()), init, length=2)[0])

    assert str(carry_of(0, lambda c: c + 0.5)) == "f64[]"
    assert str(carry_of(1, lambda c: c * np.float32(2))) == "f32[]"
    assert str(carry_of(1, lambda c: c + 1)) == "i64[]"
    assert str(carry_of(True, lambda c: c + np.int32(1))) == "i32[]"
    assert str(carry_of(1.0, lambda c: c)) == "f64[]"


def test_scan_python_number_results_are_arrays(require_same: Callable[..., None]) -> None:
    require_same(
        scan(lambda c, x: (c, (1, 2.0, True)), (), XS[:2])[1],
        (np.array([1, 1]), np.array([2.0, 2.0]), np.array([True, True])),
    )


def test_scan_traces_its_body_once() -> None:
    calls = []

    def f(c: Any, x: Any) -> Any:
        calls.append(current.trace)
        return c + x, c

    for length in (1, 10, 1000):
        calls.clear()
        scan(f, np.float64(0.0), np.ones(length))
        assert len(calls) == 1


def test_scan_jaxpr_size_is_independent_of_length() -> None:
    def text(length: int) -> str:
        return str(
            make_jaxpr(lambda xs: scan(two_states, {"a": np.zeros(3), "b": np.ones(3)}, xs))(
                {"x": np.ones(length), "row": np.ones((length, 3))}
            )
        ).replace(str(length), "n")

    assert text(70) == text(7000)


def test_scan_results_share_no_memory_with_arguments() -> None:
    init, xs = np.zeros(3), np.ones((4, 3))
    for function in (scan, jit(scan, static_argnums=0)):
        carry, (ys, same) = function(lambda c, x: (x, (c, x)), init, xs)
        for out in (carry, ys, same):
            out[...] = 7.0
        carry, _ = function(lambda c, x: (c, x), init, xs)
        carry[...] = 7.0
    assert not init.any()
    assert (xs == 1.0).all()


def test_scan_nested(require_same: Callable[..., None]) -> None:
    def outer(c: Any, row: Any) -> Any:
        return scan(lambda d, x: (d * 0.5 + x, d), c, row)

    carry, expected = np.float64(0.0), np.zeros((5, 3))
    for i, j in np.ndindex(5, 3):
        expected[i, j], carry = carry, carry * 0.5 + ROWS[i, j]
    for function in (scan, jit(scan, static_argnums=0)):
        require_same(function(outer, np.float64(0.0), ROWS), (carry, expected))


def test_scan_copies_arrays_it_closes_over() -> None:
    factor = np.array(2.0)
    compiled = jit(lambda xs: scan(lambda c, x: (c + factor * x, ()), 0.0, xs)[0])
    assert compiled(np.ones(3)) == 6.0
    factor[...] = 5.0
    assert compiled(np.ones(3)) == 6.0
    assert scan(lambda c, x: (c + factor * x, ()), 0.0, np.ones(3))[0] == 15.0
