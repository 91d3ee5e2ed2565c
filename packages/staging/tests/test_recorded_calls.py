"""Calls of elementwise ops under a trace that records: the same equations in the first call and in later ones."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import Primitive, ShapedArray, get_aval, plain, user_source
from lawful.staging import cache_report, clear_caches, make_jaxpr
from lawful.staging._fast import calls

DTYPES = ("float64", "float32", "float16", "bfloat16", "int32", "uint8", "bool", "complex64", "complex128")
WEAK = [get_aval(number) for number in (True, 1, 1.0, 1j)]
OPS: tuple[Callable[..., Any], ...] = (ops.add, ops.sub, ops.div, ops.pow, ops.max, ops.lt, ops.atan2)


def text(f: Callable[..., Any], *args: Any) -> str:
    """Returns the program, or the error; constants are printed with their types."""
    try:
        return str(make_jaxpr(f)(*args))
    except TypeError as error:
        return str(error).partition(": ")[2]


def agrees(f: Callable[..., Any], *args: Any) -> None:
    found = [text(f, *args) for _ in range(3)]
    with plain():
        expected = text(f, *args)
    assert found == [expected] * 3


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("aval", [*[ShapedArray((3,), dtype) for dtype in DTYPES], *WEAK], ids=str)
def test_recorded_call_with_a_number_is_that_of_plain(op: Callable[..., Any], aval: ShapedArray) -> None:
    for number in (0.1, -0.0, 1e300, float("nan"), 2, True, 1j):
        agrees(lambda x, number=number: op(x, number), aval)
        agrees(lambda x, number=number: op(number, x), aval)


@pytest.mark.parametrize("op", [ops.sub, ops.pow, ops.lt])
@pytest.mark.parametrize("shape", [(), (3,), (2, 1)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_recorded_call_of_two_tracers_is_that_of_plain(
    op: Callable[..., Any], shape: tuple[int, ...], dtype: str
) -> None:
    for other in DTYPES:
        agrees(op, ShapedArray(shape, dtype), ShapedArray((3,), other))
    for weak in WEAK:
        agrees(lambda x, y: op(y, x), ShapedArray(shape, dtype), weak)


@pytest.mark.parametrize("dtype", DTYPES)
def test_recorded_call_of_operators_is_that_of_plain(dtype: str) -> None:
    x = ShapedArray((3,), dtype)
    agrees(lambda x: [2.0 * x + 1.5, -x, ops.exp(x), x <= 0.5, x**2.0, ops.exp(x)], x)


@pytest.mark.fast
def test_recorded_call_is_looked_up_and_has_its_own_line() -> None:
    clear_caches()
    hits = _hits()
    here = user_source()
    jaxpr = make_jaxpr(lambda x: ops.sin(x * 2.0) * 2.0)(np.float64(1.0))
    assert _hits() == hits + 1
    assert here is not None
    assert [(eqn.source.file, eqn.source.line) for eqn in jaxpr.eqns] == [(here.file, here.line + 1)] * 3


def _hits() -> int:
    return sum(use.hits or 0 for use in cache_report().caches if use.name == "cached rules")


@pytest.mark.fast
def test_recorded_call_of_an_impure_primitive_is_not_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    primitive = Primitive("stagingtest_impure")
    runs = []
    clear_caches()

    @primitive.def_abstract_eval
    def typed(x: ShapedArray) -> ShapedArray:
        runs.append(x)
        return x

    monkeypatch.setattr(ops.sin.as_function, "primitive", primitive)
    make_jaxpr(lambda x: ops.sin(ops.sin(x)))(np.float64(1.0))
    assert len(runs) == 2


@pytest.mark.fast
def test_recorded_call_sees_a_redefined_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    before = make_jaxpr(ops.sin)(1.0)
    monkeypatch.setitem(ops.sin_p.rules, "abstract_eval", lambda x: x.update(dtype=np.float32))
    assert make_jaxpr(ops.sin)(1.0).out_avals != before.out_avals


@pytest.mark.fast
def test_recorded_call_with_a_wrong_literal_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    make_jaxpr(lambda x: x * 2.0)(1.0)
    right = calls._literal
    monkeypatch.setattr(calls, "_literal", lambda x, aval: right(x + 1.0, aval))
    with pytest.raises(AssertionError):
        agrees(lambda x: x * 2.0, ShapedArray((), "float64", weak_type=True))
