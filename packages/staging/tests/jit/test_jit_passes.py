"""``jit(f, passes=...)``: programs are rewritten once they are traced, before anything else sees them."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, ClosedJaxpr, Literal
from lawful.staging import cse_jaxpr, inline_jaxpr, jit, make_jaxpr

numpy_jit = partial(jit, backend="numpy")


def twice(x: Any) -> Any:
    return ops.sin(x) * ops.sin(x)


def with_literal(closed: ClosedJaxpr, value: float = 7.0) -> ClosedJaxpr:
    """A pass that returns a number in place of the first output."""
    outvars = [Literal(np.float64(value)), *closed.jaxpr.outvars[1:]]
    return ClosedJaxpr(closed.jaxpr.replace(outvars=outvars), closed.consts)


def names(closed: ClosedJaxpr) -> list[str]:
    return [eqn.primitive.name for eqn in closed.eqns]


def test_jit_pass_rewrites_what_is_run_and_what_is_shown() -> None:
    compiled = numpy_jit(twice, passes=(cse_jaxpr,))
    assert float(compiled(np.float64(0.5))) == float(twice(np.float64(0.5)))
    assert names(compiled.trace(np.float64(0.5)).jaxpr) == ["sin", "mul"]
    assert compiled.lower(np.float64(0.5)).as_text().count("sin") == 1
    assert float(compiled.lower(np.float64(0.5)).compile()(np.float64(0.5))) == float(twice(np.float64(0.5)))
    assert float(numpy_jit(twice, passes=[with_literal])(np.float64(0.5))) == 7.0


def test_jit_passes_are_applied_in_their_order() -> None:
    inner = numpy_jit(ops.sin)
    compiled = numpy_jit(lambda x: inner(x) * inner(x), passes=(inline_jaxpr, cse_jaxpr))
    assert names(compiled.trace(np.float64(0.5)).jaxpr) == ["sin", "mul"]
    last = numpy_jit(twice, passes=(partial(with_literal, value=1.0), partial(with_literal, value=2.0)))
    assert float(last(np.float64(0.5))) == 2.0


def test_jit_transformations_see_program_that_the_passes_give() -> None:
    compiled = numpy_jit(twice, passes=(cse_jaxpr,))
    (call,) = make_jaxpr(compiled)(np.float64(0.5)).eqns
    assert names(call.params["jaxpr"]) == ["sin", "mul"]
    inlined = make_jaxpr(numpy_jit(twice, passes=(cse_jaxpr,), inline=True))(np.float64(0.5))
    assert names(inlined) == ["sin", "mul"]


def test_jit_passes_belong_to_the_cache() -> None:
    def function(x: Any) -> Any:
        traced.append(x)
        return ops.sin(x)

    traced: list[Any] = []
    x = np.float64(0.5)
    assert float(numpy_jit(function)(x)) == np.sin(x)
    assert float(numpy_jit(function, passes=(with_literal,))(x)) == 7.0
    assert float(numpy_jit(function, passes=(partial(with_literal, value=3.0),))(x)) == 3.0
    assert float(numpy_jit(function, passes=(partial(with_literal, value=4.0),))(x)) == 4.0
    assert len(traced) == 4
    # The same again is not traced again, also through partials of their own.
    assert float(numpy_jit(function, passes=[with_literal])(x)) == 7.0
    assert float(numpy_jit(function, passes=(partial(with_literal, value=3.0),))(x)) == 3.0
    assert float(numpy_jit(function, passes=())(x)) == np.sin(x)
    assert len(traced) == 4


def test_jit_passes_through_a_decorator() -> None:
    @numpy_jit(passes=(cse_jaxpr,))
    def function(x: Any) -> Any:
        return twice(x)

    assert names(function.trace(np.float64(0.5)).jaxpr) == ["sin", "mul"]


def test_jit_what_is_no_sequence_of_functions() -> None:
    with pytest.raises(ArgumentTypeError, match=r"jit: expected a sequence of functions as passes, got .*cse_jaxpr,"):
        jit(twice, passes=cse_jaxpr)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="jit: expected a sequence of functions as passes, got 3 of type int"):
        jit(twice, passes=3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="jit: expected functions of a ClosedJaxpr in passes, got 'cse'"):
        jit(twice, passes=["cse"])  # type: ignore[list-item]
    with pytest.raises(ArgumentValueError, match="jit: expected hashable passes"):
        jit(twice, passes=[partial(with_literal, value=[1.0])])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda closed: None, "to return a ClosedJaxpr, got None of type NoneType; return the program"),
        (
            lambda closed: make_jaxpr(lambda x: (x, x))(1.0),
            r"to return a program that takes f64\[\], got one that takes ~f64\[\]",
        ),
        (
            lambda closed: make_jaxpr(lambda x: x * 2)(np.int32(1)),
            r"to return a program that takes f64\[\], got one that takes i32\[\]",
        ),
        (
            lambda closed: ClosedJaxpr(closed.jaxpr.replace(outvars=[Literal(1.0)])),
            r"to return a program that gives f64\[\], got one that gives ~f64\[\]",
        ),
        (
            lambda closed: ClosedJaxpr(closed.jaxpr.replace(eqns=closed.eqns[1:])),
            "to return a well-typed program, got one that is not: jaxpr: expected variables that are bound before",
        ),
    ],
)
def test_jit_what_a_pass_must_give(wrong: Any, text: str) -> None:
    with pytest.raises(ArgumentTypeError, match=f"jit of twice: expected the pass <lambda> {text}"):
        numpy_jit(twice, passes=(wrong,))(np.float64(0.5))
