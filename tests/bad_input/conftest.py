"""Fixtures of the tests of mistakes: ways to run a function of a scalar, and the check of an error."""

import re
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp, linearize, value_and_grad, vjp
from lawful.batching import vmap
from lawful.control_flow import cond
from lawful.core import LawfulError, current, eval_trace
from lawful.staging import jit, make_jaxpr

AT = 1.5
MANY = np.full(3, AT)

jit_numpy = partial(jit, backend="numpy")
jit_xla = partial(jit, backend="xla")


def tangent_of(f: Any) -> Any:
    return lambda x: jvp(f, (x,), (1.0,))[1]


# Each runs a function of a float scalar. Under these, the function does not know the value of the scalar ...
ABSTRACTLY = {
    "jit-numpy": lambda f: jit_numpy(f)(AT),
    "jit-xla": lambda f: jit_xla(f)(AT),
    "vmap": lambda f: vmap(f)(MANY),
    "make_jaxpr": lambda f: make_jaxpr(f)(AT),
    "cond": lambda f: cond(True, f, lambda x: x, AT),
    "cond-false": lambda f: cond(True, lambda x: x, f, AT),
    "jit-jit": lambda f: jit_numpy(jit_xla(f))(AT),
    "jit-grad": lambda f: jit_numpy(grad(f))(AT),
    "jit-jvp": lambda f: jit_xla(tangent_of(f))(AT),
    "jit-vmap": lambda f: jit_numpy(vmap(f))(MANY),
    "jit-cond": lambda f: jit_xla(lambda x: cond(x > 0.0, f, lambda x: x, x))(AT),
    "grad-jit": lambda f: grad(jit_numpy(f))(AT),
    "grad-cond": lambda f: grad(lambda x: cond(x > 0.0, f, lambda x: x, x))(AT),
    "jvp-jit": lambda f: tangent_of(jit_xla(f))(AT),
    "linearize-jit": lambda f: linearize(jit_numpy(f), AT),
    "vmap-jit": lambda f: vmap(jit_numpy(f))(MANY),
    "vmap-grad": lambda f: vmap(grad(f))(MANY),
    "vmap-vmap": lambda f: vmap(vmap(f))(np.stack([MANY, MANY])),
    "vmap-cond": lambda f: vmap(lambda x: cond(x > 0.0, f, lambda x: x, x))(MANY),
    "vmap-jit-grad-cond": lambda f: vmap(jit_xla(grad(lambda x: cond(x > 0.0, f, lambda x: x, x))))(MANY),
    "make_jaxpr-grad": lambda f: make_jaxpr(grad(f))(AT),
}
# ... and under these, which differentiate, it does.
CONCRETELY = {
    "grad": lambda f: grad(f)(AT),
    "value_and_grad": lambda f: value_and_grad(f)(AT),
    "jvp": lambda f: jvp(f, (AT,), (1.0,)),
    "vjp": lambda f: vjp(f, AT),
    "linearize": lambda f: linearize(f, AT),
    "grad-grad": lambda f: grad(grad(f))(AT),
    "jvp-grad": lambda f: tangent_of(grad(f))(AT),
    "grad-jvp": lambda f: grad(tangent_of(f))(AT),
}
EVERY_WAY = ABSTRACTLY | CONCRETELY


@pytest.fixture(params=EVERY_WAY)
def under(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs a function of a scalar under one of all the transformations and nests."""
    return EVERY_WAY[request.param]


@pytest.fixture(params=ABSTRACTLY)
def abstractly(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Like `under`, for those under which the function does not know its argument's value."""
    return ABSTRACTLY[request.param]


@pytest.fixture(params=CONCRETELY)
def concretely(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Like `under`, for those under which the function knows its argument's value."""
    return CONCRETELY[request.param]


def require_usable() -> None:
    assert current.trace is eval_trace, "a trace was left behind"

    def square(x: Any) -> Any:  # a new function, which no cache contains
        return x * x

    assert jit_numpy(square)(3.0) == 9.0
    assert grad(square)(3.0) == 6.0
    np.testing.assert_array_equal(vmap(lambda x: cond(x > 0.0, square, ops.neg, x))(np.array([3.0, -1.0])), [9.0, 1.0])


@pytest.fixture
def usable() -> Callable[[], None]:
    """Checks that transformations work, after an error."""
    return require_usable


def line_of(function: FunctionType) -> str:
    """Returns the source line of a function's last line, as in an error."""
    code = function.__code__
    return f"{code.co_filename}:{max(line for *_, line in code.co_lines() if line)} ({code.co_name}): "


@pytest.fixture
def refused() -> Callable[..., LawfulError]:
    """Checks that a call raises just this class of error, at the last line of a function (of the call, by default),
    with these words, and that everything works afterwards.
    """

    def check(error: type[LawfulError], words: str, call: Any, *, at: Any = None) -> LawfulError:
        with pytest.raises(error, match=re.escape(words)) as caught:
            call()
        assert type(caught.value) is error
        assert str(caught.value).startswith(line_of(call if at is None else at)), str(caught.value)
        require_usable()
        return caught.value

    return check


@pytest.fixture(autouse=True)
def _the_trace_is_restored() -> Any:
    yield
    assert current.trace is eval_trace, "a test left a trace behind"
