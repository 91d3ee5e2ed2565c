"""Every pass over a jaxpr costs work in proportion to its equations, and no stack."""

import gc
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lawful.core import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    ShapedArray,
    Var,
    alpha_equivalent,
    check_jaxpr,
    format_jaxpr,
    parse_jaxpr,
)

pytestmark = pytest.mark.once

ARRAY = ShapedArray((), "float32")

Program = Callable[[int, SimpleNamespace], Jaxpr]


def chain(length: int, toy: SimpleNamespace) -> Jaxpr:
    """Equations one after the other, with parameters."""
    first = var = Var(ARRAY)
    eqns = []
    for index in range(length):
        new = Var(ARRAY)
        if index % 2:
            params = {"axis": index, "name": "f", "dims": (1, (2,))}
            eqns.append(JaxprEqn(toy.settings_p, (var,), (new,), params))
        else:
            eqns.append(JaxprEqn(toy.combine_p, (var, Literal(np.float32(index))), (new,), {}))
        var = new
    return Jaxpr((), (first,), tuple(eqns), (var,))


def unused(length: int, toy: SimpleNamespace) -> Jaxpr:
    """Equations whose results nothing uses."""
    var = Var(ARRAY)
    eqns = [JaxprEqn(toy.combine_p, (var, var), (Var(ARRAY),), {}) for _ in range(length)]
    return Jaxpr((), (var,), tuple(eqns), ())


def calls(length: int, toy: SimpleNamespace) -> Jaxpr:
    """Calls one after the other, each of a jaxpr of its own."""
    first = var = Var(ARRAY)
    eqns = []
    for _ in range(length):
        new, a, b = Var(ARRAY), Var(ARRAY), Var(ARRAY)
        inner = Jaxpr((), (a,), (JaxprEqn(toy.combine_p, (a, a), (b,), {}),), (b,))
        eqns.append(JaxprEqn(toy.call_p, (var,), (new,), {"jaxpr": ClosedJaxpr(inner), "name": "f"}))
        var = new
    return Jaxpr((), (first,), tuple(eqns), (var,))


def shared(length: int, toy: SimpleNamespace) -> Jaxpr:
    """Jaxprs that each call the one before twice."""
    jaxpr = chain(1, toy)
    for _ in range(length // 2):
        jaxpr = calling(jaxpr, 2, toy)
    return jaxpr


def deep(length: int, toy: SimpleNamespace) -> Jaxpr:
    """Jaxprs that each call the one before once."""
    jaxpr = chain(1, toy)
    for _ in range(length):
        jaxpr = calling(jaxpr, 1, toy)
    return jaxpr


def calling(jaxpr: Jaxpr, times: int, toy: SimpleNamespace) -> Jaxpr:
    variables = [Var(ARRAY) for _ in range(times + 1)]
    params = {"jaxpr": ClosedJaxpr(jaxpr), "name": "f"}
    eqns = [JaxprEqn(toy.call_p, (x,), (y,), params) for x, y in pairwise(variables)]
    return Jaxpr((), variables[:1], eqns, variables[-1:], name="f")


def count_calls(function: Callable[..., Any], *args: Any) -> int:
    """How many calls, of Python functions and of others, a call makes."""
    count = 0

    def profile(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        function(*args)
    finally:
        sys.setprofile(before)
    return count


def cpu_time(function: Callable[..., Any], args: tuple[Any, ...], times: int) -> float:
    """How long some calls take, in seconds, of this process only."""
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        for _ in range(times):
            function(*args)
        return time.process_time() - start
    finally:
        gc.enable()


PASSES: dict[str, Callable[[Jaxpr, str, Jaxpr], Any]] = {
    "print": lambda jaxpr, text, copy: format_jaxpr(jaxpr),
    "parse": lambda jaxpr, text, copy: parse_jaxpr(text),
    "check": lambda jaxpr, text, copy: check_jaxpr(jaxpr),
    "alpha": lambda jaxpr, text, copy: alpha_equivalent(jaxpr, copy),
}


def arguments(program: Program, length: int, toy: SimpleNamespace) -> tuple[Jaxpr, str, Jaxpr]:
    jaxpr = program(length, toy)
    text = format_jaxpr(jaxpr)
    return jaxpr, text, parse_jaxpr(text).jaxpr


@pytest.mark.parametrize("program", [chain, unused, calls, shared])
def test_jaxpr_passes_number_of_steps_is_linear(program: Program, toy: SimpleNamespace):
    short, long = (arguments(program, length, toy) for length in (200, 2_000))
    for name, function in PASSES.items():
        few, many = count_calls(function, *short), count_calls(function, *long)
        assert few > 200
        assert many < 10.5 * few, name


@pytest.mark.parametrize("program", [chain, unused, calls, shared])
def test_jaxpr_passes_no_step_grows(program: Program, toy: SimpleNamespace):
    short, long = (arguments(program, length, toy) for length in (500, 5_000))
    for name, function in PASSES.items():
        # A step that searches or copies what came before takes 10 times as long, in every try. A machine that is busy
        # with something else takes longer now and then.
        ratios = (cpu_time(function, long, 1) / cpu_time(function, short, 10) for _ in range(8))
        assert any(ratio < 2.5 for ratio in ratios), name


@pytest.mark.parametrize(("program", "length"), [(chain, 10_000), (unused, 10_000), (calls, 10_000), (shared, 10_000)])
def test_jaxpr_passes_length_needs_no_stack(program: Program, length: int, toy: SimpleNamespace):
    assert length >= 10 * sys.getrecursionlimit()
    run_all(program(length, toy))


def test_jaxpr_passes_depth_needs_no_stack(toy: SimpleNamespace):
    run_all(deep(sys.getrecursionlimit(), toy))


def run_all(jaxpr: Jaxpr) -> None:
    parsed = parse_jaxpr(format_jaxpr(jaxpr))
    check_jaxpr(parsed)
    assert alpha_equivalent(parsed, jaxpr)


def test_jaxpr_passes_sharing_costs_nothing(toy: SimpleNamespace):
    # 2 ** 100 equations, were it written out.
    jaxpr = shared(200, toy)
    text = format_jaxpr(jaxpr)
    assert len(text.split("\n")) == 1 + 4 * 100
    run_all(jaxpr)
