"""Functions of jaxprs that are given something else."""

from collections.abc import Callable
from typing import Any

import pytest

from lawful.core import (
    ArgumentTypeError,
    check_jaxpr,
    eval_closed_jaxpr,
    eval_jaxpr,
    format_jaxpr,
    has_effects,
    memoize,
    parse_jaxpr,
    plain,
)

CLOSED = parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }")


@memoize
def with_options(closed: Any, options: Any) -> Any:
    return closed, options


OF_CLOSED: list[Callable[[Any], Any]] = [eval_closed_jaxpr, has_effects, lambda x: with_options(x, ())]
OF_JAXPRS: list[Callable[[Any], Any]] = [check_jaxpr, format_jaxpr, lambda x: eval_jaxpr(x, ())]


@pytest.mark.parametrize("function", OF_CLOSED)
def test_jaxpr_in_place_of_a_closed_jaxpr_says_so(function: Callable[[Any], Any]) -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected a ClosedJaxpr, got a Jaxpr; give ClosedJaxpr\(jaxpr, "):
        function(CLOSED.jaxpr)


@pytest.mark.parametrize("function", [*OF_CLOSED, *OF_JAXPRS])
@pytest.mark.parametrize("given", [abs, None, "{ lambda ; . let in () }", 1.0])
def test_other_value_in_place_of_a_jaxpr_says_so(function: Callable[[Any], Any], given: Any) -> None:
    for _ in range(2):
        with pytest.raises(ArgumentTypeError, match=r"jaxpr: |has_effects: |with_options: .*make_jaxpr\(f\)"):
            function(given)
    with plain(), pytest.raises(ArgumentTypeError, match="expected a"):
        function(given)


def test_argument_of_memoized_function_that_is_not_hashable() -> None:
    with pytest.raises(ArgumentTypeError, match="with_options: expected hashable arguments, got unhashable"):
        with_options(CLOSED, [True])
    assert with_options(CLOSED, (True,)) == (CLOSED, (True,))
