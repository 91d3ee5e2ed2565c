"""Generated programs of calls, branches, loops and batches: each effect in order, as often as the program says.

Their arithmetic is exact, so that NumPy and XLA print equal lines and take the same branches.
"""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawful import debug
from lawful.autodiff import checkpoint, jvp, linearize, value_and_grad, vjp
from lawful.batching import vmap
from lawful.control_flow import cond, fori_loop, scan, switch, while_loop
from lawful.core import check_jaxpr, eval_closed_jaxpr
from lawful.staging import cse_jaxpr, dce_jaxpr, inline_jaxpr, jit, make_jaxpr

LOG: list[tuple[Any, ...]] = []


def record(label: str, *values: Any) -> None:
    debug.callback(lambda *xs: LOG.append((label, *map(float, xs))), *values)


def log_of(function: Callable[..., Any], *args: Any) -> list[tuple[Any, ...]]:
    LOG.clear()
    function(*args)
    return list(LOG)


STEPS: dict[str, Callable[..., Any]] = {
    "halve": lambda x, **_: x * 0.5 + 1.0,
    "double": lambda x, **_: x * 2.0 - 3.0,
    "negate": lambda x, **_: 1.0 - x,
}


@st.composite
def functions(draw: st.DrawFn, depth: int = 3, kinds: str = "all") -> Callable[[Any], Any]:
    """Functions from a float to a float, made of steps, each of which records itself before and after."""
    body = [draw(steps(depth, f"{depth}.{i}", kinds)) for i in range(draw(st.integers(1, 3)))]
    record_first = draw(st.booleans())

    def function(x: Any) -> Any:
        for label, step in body:
            if record_first:
                record(f"{label} begins", x)
            x = step(x)
            record(f"{label} ends", x)
        return x

    return function


@st.composite
def steps(draw: st.DrawFn, depth: int, label: str, kinds: str) -> tuple[str, Callable[[Any], Any]]:
    simple = [*STEPS, "unused"]
    nested = ["cond", "switch", "fori_loop", "scan", "while_loop", "jit", "dead jit"]
    if kinds == "all":
        nested.append("checkpoint")
    kind = draw(st.sampled_from(simple + nested * 2 if depth else simple))
    label = f"{label} {kind}"
    if kind in STEPS:
        return label, STEPS[kind]
    inner = [draw(functions(depth - 1, kinds)) for _ in range(3)] if kind in nested else []
    limit = draw(st.sampled_from([-2.0, 0.0, 1.5]))
    count = draw(st.integers(0, 3))
    forwards = draw(st.booleans())

    def body(i: Any, x: Any) -> Any:
        record(f"{label} iteration", i, x)
        return inner[0](x)

    def limited(state: Any) -> Any:
        i, x = state
        record(f"{label} predicate", i, x)
        return (i < count) & (x < 50.0)

    table: dict[str, Callable[[Any], Any]] = {
        "unused": lambda x: (record(label, x * 3.0), x)[1],
        "cond": lambda x: cond(x > limit, inner[0], inner[1], x),
        "switch": lambda x: switch((x > limit).astype(np.int64) + (x > 2.0), inner, x),
        "fori_loop": lambda x: fori_loop(0, count, body, x),
        "scan": lambda x: scan(
            lambda c, y: (body(y, c), c + y), x, np.arange(float(count)), reverse=not forwards, unroll=2
        )[0],
        "while_loop": lambda x: while_loop(limited, lambda s: (s[0] + 1, body(*s)), (np.int64(0), x))[1],
        "jit": lambda x: jit(inner[0])(x),
        "dead jit": lambda x: (jit(inner[0])(x), x)[1],
        "checkpoint": lambda x: checkpoint(inner[0])(x),
    }
    return label, table[kind]


VALUES = st.sampled_from([-1.0, 0.5, 1.0, 2.0, 3.0]).map(np.float64)
FEW = settings(max_examples=max(settings.default.max_examples // 3, 1))
FEWER = settings(max_examples=max(settings.default.max_examples // 5, 1))


@FEW
@given(functions(), VALUES)
def test_compiled_they_have_the_effects_that_they_have_evaluated(f: Any, x: Any) -> None:
    expected = log_of(f, x)
    for compiled in (jit(f), jit(f, backend="numpy"), jit(f, inline=True)):
        assert log_of(compiled, x) == expected
    assert log_of(jit(lambda x: (jit(f, inline=True)(x), x)[1]), x) == expected


@FEW
@given(functions(), VALUES)
def test_effects_passes_keep_them(f: Any, x: Any) -> None:
    closed = make_jaxpr(f)(x)
    expected = log_of(partial(eval_closed_jaxpr, closed), x)
    assert expected == log_of(f, x)
    inlined = inline_jaxpr(closed)
    for passed in (dce_jaxpr(closed, [True]), dce_jaxpr(closed, [False]), cse_jaxpr(closed), inlined):
        check_jaxpr(passed)
        assert log_of(partial(eval_closed_jaxpr, passed), x) == expected
    assert log_of(partial(eval_closed_jaxpr, dce_jaxpr(cse_jaxpr(inlined), [False])), x) == expected


DERIVATIVES: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "jvp": lambda f: lambda x: jvp(f, (x,), (np.float64(1.0),)),
    "jvp of jvp": lambda f: lambda x: jvp(lambda x: jvp(f, (x,), (x,)), (x,), (x,)),
    "value_and_grad": lambda f: value_and_grad(f),
    "linearize": lambda f: lambda x: [linearize(f, x)[1](np.float64(t)) for t in (1.0, 2.0)] and x,
    "vjp": lambda f: lambda x: vjp(f, x)[1](np.float64(1.0)),
    "grad of grad": lambda f: value_and_grad(lambda x: value_and_grad(f)(x)[1] * x),
}


@pytest.mark.parametrize("name", DERIVATIVES)
@FEWER
@given(functions(depth=2, kinds="without checkpoint"), VALUES)
def test_their_derivatives_have_the_effects_once(name: str, f: Any, x: Any) -> None:
    runs = 2 if name == "linearize" else 1  # linearized once for each tangent
    expected = log_of(f, x) * runs
    derivative = DERIVATIVES[name](f)
    assert log_of(derivative, x) == expected
    assert log_of(jit(derivative, backend="numpy"), x) == expected
    assert log_of(jit(derivative), x) == expected


@FEW
@given(functions(depth=2), VALUES)
def test_checkpoint_repeats_effects_it_recomputes(f: Any, x: Any) -> None:
    """The gradient repeats only effects of the program itself, and as often when compiled."""
    once = Counter(log_of(f, x))
    repeated = Counter(log_of(value_and_grad(f), x))
    assert set(repeated) == set(once)
    assert all(repeated[entry] >= count for entry, count in once.items())
    assert Counter(log_of(jit(value_and_grad(f)), x)) == repeated


@FEW
@given(functions(depth=2), st.lists(VALUES, min_size=0, max_size=3))
def test_a_batch_has_the_effects_of_its_elements(f: Any, xs: Any) -> None:
    batch = np.array(xs, np.float64)
    expected = Counter(entry for x in batch for entry in log_of(f, x))
    evaluated = log_of(vmap(f), batch)
    assert Counter(evaluated) == expected
    assert log_of(jit(vmap(f)), batch) == evaluated
    assert log_of(jit(vmap(f), backend="numpy"), batch) == evaluated
    assert log_of(vmap(jit(f)), batch) == evaluated
    if len(xs):
        assert log_of(vmap(f), batch[:1]) == log_of(f, batch[0])


@FEWER
@given(functions(depth=1, kinds="without checkpoint"), st.lists(VALUES, min_size=1, max_size=2))
def test_effects_derivatives_of_batches(f: Any, xs: Any) -> None:
    batch = np.array(xs)
    expected = Counter(log_of(vmap(f), batch))
    for function in (vmap(value_and_grad(f)), jit(vmap(value_and_grad(f))), value_and_grad(lambda x: vmap(f)(x).sum())):
        assert Counter(log_of(function, batch)) == expected
