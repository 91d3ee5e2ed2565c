"""Mistakes in calls of jvp."""

import re
from typing import Any

import numpy as np
import pytest

from lawful.autodiff import jvp
from lawful.core import (
    ArgumentTypeError,
    NonArrayError,
    float0,
)


@pytest.mark.parametrize(
    ("result", "got"), [(1.0, "float"), ((1.0,), "tuple of length 1"), ((1.0, 2.0, 3.0), "of length 3")]
)
def test_jvp_has_aux_asks_for_a_pair(result: Any, got: str) -> None:
    with pytest.raises(ArgumentTypeError, match=r"expected a function that returns a pair \(output, aux\)") as caught:
        jvp(lambda x: result, (1.0,), (1.0,), has_aux=True)
    assert got in str(caught.value)


@pytest.mark.parametrize("tangent", [1, 1.0, np.zeros((), np.int64), np.True_, np.zeros(2, float0), None])
def test_jvp_another_tangent_for_an_integer_says_what_it_must_be(tangent: Any) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        jvp(lambda x, n: x * n, (2.0, np.int64(3)), (1.0, tangent))
    if tangent is not None:
        assert "expected a tangent of dtype float0 for i64[] at primals[1], because integers" in str(caught.value)
        assert "use numpy.zeros((), lawful.core.float0)" in str(caught.value)


# Wrong tangents.


@pytest.mark.parametrize(
    ("primal", "tangent", "expected", "got"),
    [
        (np.ones(3), np.ones(2), "f64[3]", "f64[2]"),
        (np.ones(3), np.ones((3, 1)), "f64[3]", "f64[3,1]"),
        (np.ones(3), 1.0, "f64[3]", "~f64[]"),
        (np.ones(3), np.ones(3, np.float32), "f64[3]", "f32[3]"),
        (np.ones(3, np.float32), np.ones(3), "f32[3]", "f64[3]"),
        (1.0, np.ones(1), "~f64[]", "f64[1]"),
        (np.ones(3), np.ones(3, int), "f64[3]", "i64[3]"),
        (1.0, 1j, "~f64[]", "~c128[]"),
        (np.ones(2), np.zeros(2, float0), "f64[2]", "float0[2]"),
    ],
    ids=repr,
)
def test_jvp_tangent_of_another_type_says_where_and_both_types(
    primal: Any, tangent: Any, expected: str, got: str
) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        jvp(lambda d: d["x"][0], ({"x": [primal]},), ({"x": [tangent]},))
    message = str(caught.value)
    assert message.startswith(f"{__file__}:")
    assert f"jvp: expected a tangent of type {expected} at primals[0]['x'][0], got {got}" in message


@pytest.mark.parametrize(
    ("primals", "tangents", "words"),
    [
        (({"a": 1.0},), ({"b": 1.0},), "missing 'a'; extra 'b'"),
        ((1.0,), (1.0, 2.0), "PyTreeDef((*,)), got PyTreeDef((*, *))"),
        ((1.0, 2.0), (1.0,), "PyTreeDef((*, *)), got PyTreeDef((*,))"),
        (([1.0],), ((1.0,),), "PyTreeDef(([*],)), got PyTreeDef(((*,),))"),
        ((1.0,), (None,), "PyTreeDef((*,)), got PyTreeDef((None,))"),
    ],
)
def test_jvp_tangent_of_another_tree_shows_both(primals: Any, tangents: Any, words: str) -> None:
    with pytest.raises(ArgumentTypeError, match="jvp: expected tangents of the same tree as the primals") as caught:
        jvp(lambda *args: 1.0, primals, tangents)
    assert words in str(caught.value)
    assert "build the tangents with lawful.tree.map over the primals" in str(caught.value)


@pytest.mark.parametrize(("primals", "tangents"), [(1.0, (1.0,)), ((1.0,), 1.0), (np.ones(1), (1.0,)), ("a", "b")])
def test_jvp_primals_and_tangents_come_in_tuples(primals: Any, tangents: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=re.escape("write jvp(f, (x,), (x_dot,))")):
        jvp(lambda x: x, primals, tangents)


@pytest.mark.parametrize("value", ["a", object(), len])
def test_jvp_refuses_non_arrays(value: Any) -> None:
    with pytest.raises(NonArrayError, match=r"jvp: expected arrays or numbers as arguments, got .* at argument 0\[0\]"):
        jvp(lambda x: 1.0, ([value],), ([1.0],))
    with pytest.raises(NonArrayError, match=r"jvp of <lambda>: expected a function that returns arrays or numbers"):
        jvp(lambda x: (x, value), (1.0,), (1.0,))
    with pytest.raises(NonArrayError):
        jvp(lambda x: x, (1.0,), (value,))


def test_jvp_value_in_place_of_the_function_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match=r"jvp: expected a function, got 3.0 of type float"):
        jvp(3.0, (1.0,), (1.0,))  # type: ignore[arg-type]
