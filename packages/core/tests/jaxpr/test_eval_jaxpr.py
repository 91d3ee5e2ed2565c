"""Evaluation of jaxprs under the current trace: in order, freeing what is used no more, with the recorded lines."""

import itertools
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Primitive,
    ShapedArray,
    Var,
    clear_caches,
    eval_closed_jaxpr,
    eval_jaxpr,
    get_aval,
    last_uses,
    memoize,
    user_source,
)

F64 = ShapedArray((), np.float64)


def sum_of_three(plus_p: Primitive) -> Jaxpr:
    a, b, c, d = (Var(F64) for _ in range(4))
    eqns = [JaxprEqn(plus_p, [a, b], [c], {}), JaxprEqn(plus_p, [c, Literal(10.0)], [d], {})]
    return Jaxpr([a], [b], eqns, [d, b, Literal(7.0)])


def test_eval_jaxpr_outputs(counting: SimpleNamespace) -> None:
    """An output may be a result of an equation, an input or a literal."""
    jaxpr = sum_of_three(counting.plus_p)
    assert eval_jaxpr(jaxpr, [1.0], 2.0) == [13.0, 2.0, 7.0]
    assert eval_closed_jaxpr(ClosedJaxpr(jaxpr, [1.0]), 2.0) == [13.0, 2.0, 7.0]


def test_eval_jaxpr_runs_under_the_current_transformation(counting: SimpleNamespace) -> None:
    jaxpr = sum_of_three(counting.plus_p)
    assert counting.count(lambda x: eval_jaxpr(jaxpr, [1.0], x)[0], 2.0) == (13.0, 2)
    assert counting.count(lambda x: eval_jaxpr(jaxpr, [x], 2.0)[1], 1.0) == (2.0, 0)


@pytest.mark.parametrize(("consts", "args"), [([], [1.0]), ([1.0], []), ([1.0], [1.0, 2.0]), ([1.0, 1.0], [1.0])])
def test_eval_jaxpr_wrong_number_of_arguments_error(
    counting: SimpleNamespace, consts: list[Any], args: list[Any]
) -> None:
    with pytest.raises(ArgumentTypeError, match=f"1 constants and 1 arguments, got {len(consts)} and {len(args)}"):
        eval_jaxpr(sum_of_three(counting.plus_p), consts, *args)


def test_eval_jaxpr_several_results_of_an_equation(counting: SimpleNamespace) -> None:
    a, b, c = (Var(F64) for _ in range(3))
    jaxpr = Jaxpr([], [a], [JaxprEqn(counting.pair_p, [a], [b, c], {})], [c, b])
    assert eval_jaxpr(jaxpr, [], 2.0) == [-2.0, 2.0]


def test_eval_jaxpr_value_is_freed_after_its_last_use() -> None:
    class Array(np.ndarray):
        pass

    alive: list[weakref.ref[Any]] = []
    most = []
    step_p = Primitive("coretest_step")

    @step_p.def_impl
    def step(x: Any) -> Any:
        most.append(sum(ref() is not None for ref in alive))
        result = np.ones(3).view(Array)
        alive.append(weakref.ref(result))
        return result

    aval = get_aval(np.ones(3))
    variables = [Var(aval) for _ in range(20)]
    eqns = [JaxprEqn(step_p, [x], [y], {}) for x, y in itertools.pairwise(variables)]
    eval_jaxpr(Jaxpr([], variables[:1], eqns, variables[-1:]), [], np.ones(3))
    assert max(most) == 1


def test_eval_jaxpr_last_uses_name_each_variable_once(counting: SimpleNamespace) -> None:
    jaxpr = sum_of_three(counting.plus_p)
    (a,), (b,) = jaxpr.constvars, jaxpr.invars
    first, second = last_uses(jaxpr)
    assert first == [a], "b is an output"
    assert second == [jaxpr.eqns[1].invars[0]]
    assert b not in [*first, *second]


def test_eval_jaxpr_result_that_nothing_uses_is_freed_at_once(counting: SimpleNamespace) -> None:
    a, b = Var(F64), Var(F64)
    jaxpr = Jaxpr([], [a], [JaxprEqn(counting.plus_p, [a, a], [b], {})], [])
    assert set(last_uses(jaxpr)[0]) == {a, b}
    assert eval_jaxpr(jaxpr, [], 1.0) == []


def test_eval_jaxpr_error_names_recorded_line() -> None:
    """An error names the source line at which the equation was recorded."""
    recorded = user_source()
    missing_p = Primitive("coretest_missing")
    a, b = Var(F64), Var(F64)
    jaxpr = Jaxpr([], [a], [JaxprEqn(missing_p, [a], [b], {}, recorded)], [b])
    with pytest.raises(NotImplementedError) as caught:
        eval_jaxpr(jaxpr, [], 1.0)
    assert str(caught.value).startswith(f"{recorded}: Evaluation rule for 'coretest_missing'")
    now = user_source()
    assert str(now) != str(recorded), "and the line is forgotten afterwards"


def test_eval_jaxpr_no_recursion_once_an_equation(counting: SimpleNamespace) -> None:
    variables = [Var(F64) for _ in range(50_001)]
    eqns = [JaxprEqn(counting.plus_p, [x, Literal(1.0)], [y], {}) for x, y in itertools.pairwise(variables)]
    assert eval_jaxpr(Jaxpr([], variables[:1], eqns, variables[-1:]), [], 0.0) == [50_000.0]


# Results derived from a jaxpr.


def test_memoize_computes_once_for_a_jaxpr_and_argument(counting: SimpleNamespace) -> None:
    calls = []

    @memoize
    def derive(closed: ClosedJaxpr, n: int, *, flag: bool = False) -> int:
        calls.append((n, flag))
        return n

    one, other = (ClosedJaxpr(sum_of_three(counting.plus_p), [1.0]) for _ in range(2))
    for closed in (one, other):
        for _ in range(2):
            assert derive(closed, 3) == 3
            assert derive(closed, 3, flag=True) == 3
    assert calls == [(3, False), (3, True)] * 2
    clear_caches()
    derive(one, 3)
    assert len(calls) == 5


def test_eval_jaxpr_derived_result_that_fails_is_not_cached(counting: SimpleNamespace) -> None:
    calls = []

    @memoize
    def fail(closed: ClosedJaxpr) -> None:
        calls.append(1)
        raise ZeroDivisionError

    closed = ClosedJaxpr(sum_of_three(counting.plus_p), [1.0])
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            fail(closed)
    assert len(calls) == 2


def test_eval_jaxpr_derived_results_die_with_the_jaxpr(counting: SimpleNamespace) -> None:
    class Derived:
        pass

    derive = memoize(lambda closed: Derived())
    closed = ClosedJaxpr(sum_of_three(counting.plus_p), [1.0])
    derived = weakref.ref(derive(closed))
    assert derived() is not None
    del closed
    assert derived() is None
