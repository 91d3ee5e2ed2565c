"""Those who trace a function of `jit` give it its static arguments as they are."""

from functools import partial, wraps
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.core import ArgumentValueError, NonArrayError
from lawful.staging import ShapeDtypeStruct, blame_nan, eval_shape, explain_cache_misses, jit, make_jaxpr

X = np.ones(3)


def power(x: Any, n: int, activation: str = "none") -> Any:
    for _ in range(n):
        x = ops.sin(x)
    return ops.log(ops.neg(x)) if activation == "log" else x


@wraps(power)
def logged(*args: Any, **kwargs: Any) -> Any:
    return STATIC(*args, **kwargs)


STATIC = jit(power, static_argnums=(1, 2))
logged.__wrapped__ = STATIC  # type: ignore[attr-defined]
CALLS = [
    (STATIC, (X, 3), {}),
    (STATIC, (X,), {"n": 3, "activation": "log"}),
    (partial(STATIC, activation="log"), (X, 3), {}),
    (partial(jit(lambda n, x: power(x, n), static_argnums=0), 2), (X,), {}),
    (logged, (X, 3, "log"), {}),
    (jit(lambda x, n: ops.mul(x, float(n)), static_argnums=1), (X, 2.5), {}),
]


@wraps(STATIC)
def thrice(x: Any) -> Any:
    return STATIC(x, 3)


@wraps(STATIC)
def swapped(n: int, x: Any) -> Any:
    return STATIC(x, n)


@wraps(jit(lambda n, x: power(x, n), static_argnums=0))
def doubled(x: Any) -> Any:
    return STATIC(x, 2)


OTHER_PARAMETERS: list[tuple[Any, tuple[Any, ...]]] = [(thrice, (X,)), (swapped, (3, X)), (doubled, (X,))]


@pytest.mark.parametrize(("function", "args"), OTHER_PARAMETERS)
def test_wrappers_with_other_parameters(function: Any, args: tuple[Any, ...]) -> None:
    """Wrappers by functools.wraps have static arguments where they have parameters of that name."""
    assert [aval.shape for aval in make_jaxpr(function)(*args).in_avals] == [(3,)]
    assert eval_shape(function, *args) == ShapeDtypeStruct((3,), "float64")


@pytest.mark.parametrize("call", range(len(CALLS)))
def test_make_jaxpr_and_eval_shape_of_static_arguments(call: int) -> None:
    function, args, kwargs = CALLS[call]
    closed = make_jaxpr(function)(*args, **kwargs)
    assert len(closed.in_avals) == 1
    assert eval_shape(function, *args, **kwargs) == ShapeDtypeStruct((3,), "float64")


def test_make_jaxpr_adds_its_own_static_arguments() -> None:
    function = jit(power, static_argnums=1)
    closed = make_jaxpr(lambda x, n, m: function(ops.mul(x, float(m)), n), static_argnums=(1, 2))(X, 2, 3)
    assert len(closed.in_avals) == 1
    assert make_jaxpr(function, static_argnums=0)(2.0, 3).in_avals == []


def test_make_jaxpr_says_how_to_give_text() -> None:
    with pytest.raises(NonArrayError, match=r"'log' .* at argument 1; mark it static \(static_argnums of make_jaxpr\)"):
        make_jaxpr(lambda x, activation: power(x, 1, activation))(X, "log")


def test_jit_static_argument_that_is_traced() -> None:
    with pytest.raises(ArgumentValueError, match=r"a hashable static argument 1, got .*traced; mark it static"):
        make_jaxpr(lambda x, n: STATIC(x, n))(X, 2)


@pytest.mark.parametrize("function", [STATIC, logged, partial(STATIC, activation="log")])
def test_blame_nan_of_static_arguments(function: Any) -> None:
    blame = blame_nan(partial(function, activation="log"))(X, 2)
    assert blame is not None
    assert blame.primitive == "log"


def test_blame_nan_of_a_floating_static_argument() -> None:
    blame = blame_nan(jit(lambda x, scale: ops.log(ops.mul(x, float(scale))), static_argnums=1))(X, -1.0)
    assert blame is not None
    assert blame.primitive == "log"


def test_explain_cache_misses_of_static_arguments() -> None:
    function = jit(lambda x, n: ops.mul(x, float(n)), static_argnames="n")
    with explain_cache_misses(show=False) as misses:
        function(X, n=2)
        function(X, n=3)
    assert misses[-2].reasons == ("the static argument n is 3, was 2",)
