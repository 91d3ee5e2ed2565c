"""Nested calls, branches and loops: 25 levels work, and too many for Python's stack raise an explicit error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import checkpoint, grad, jvp
from lawful.batching import vmap
from lawful.control_flow import cond, scan
from lawful.core import NestingError
from lawful.custom_rules import custom_jvp
from lawful.staging import jit

Function = Callable[..., Any]


def _custom_jvp(f: Function) -> Function:
    g = custom_jvp(lambda x: f(x))
    g.defjvp(lambda primals, tangents: jvp(f, primals, tangents))
    return g


CONSTRUCTS: dict[str, Callable[[Function], Function]] = {
    "cond": lambda f: lambda x: cond(x > 0.0, f, ops.cos, x),
    "scan": lambda f: lambda x: scan(lambda c, _: (f(c), None), x, None, length=1)[0],
    "jit": lambda f: jit(lambda x: f(x), backend="numpy"),
    "checkpoint": lambda f: checkpoint(lambda x: f(x)),
    "custom_jvp": _custom_jvp,
}
TRANSFORMATIONS: dict[str, Callable[[Function], Any]] = {
    "grad": lambda f: grad(f)(0.5),
    "vmap": lambda f: vmap(f)(np.array([0.5]))[0],
    "jit": lambda f: jit(f, backend="numpy")(0.5),
}


def _nested(construct: str, levels: int) -> Function:
    function: Function = ops.sin
    for _ in range(levels):
        function = CONSTRUCTS[construct](function)
    return function


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_nesting_depth_of_25(construct: str, transformation: str) -> None:
    transform = TRANSFORMATIONS[transformation]
    np.testing.assert_allclose(transform(_nested(construct, 25)), transform(ops.sin))


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_nesting_depth_of_2000(construct: str, transformation: str) -> None:
    transform = TRANSFORMATIONS[transformation]
    with pytest.raises(NestingError, match=r"recursion limit of .* sys\.setrecursionlimit"):
        transform(_nested(construct, 2000))
    np.testing.assert_allclose(transform(_nested(construct, 1)), transform(ops.sin))


def test_nesting_depth_recursion_of_user_functions() -> None:
    """An infinite recursion of the user's code raises Python's error."""

    def endless(x: Any) -> Any:
        return endless(x)

    with pytest.raises(RecursionError) as caught:
        grad(endless)(0.5)
    assert not isinstance(caught.value, NestingError)
