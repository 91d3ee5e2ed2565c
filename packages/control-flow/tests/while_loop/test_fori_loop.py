"""`fori_loop` equals the Python loop over a range: it is a scan if the bounds are known, else a while loop."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.control_flow import fori_loop, scan_p, while_p
from lawful.core import get_aval
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")

BOUNDS = ((0, 5), (2, 4), (-3, 1), (3, 3), (4, 1))


def weighted(i: Any, s: Any) -> Any:
    return s[0] * 0.5 + ops.convert_element_type(i, np.float64), i


@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_fori_loop_equals_the_python_loop(lower: int, upper: int, require_same: Callable[..., None]) -> None:
    expected = 1.0
    for i in range(lower, upper):
        expected = expected * 0.5 + i
    init = (1.0, np.int64(99))
    result = (np.float64(expected), np.int64(upper - 1 if upper > lower else 99))
    for checkpoints, unroll in product((None, 2), (None, 1, 3, True)):
        options: dict[str, Any] = {"checkpoints": checkpoints, "unroll": unroll}
        require_same(fori_loop(lower, upper, weighted, init, **options), result)
        require_same(
            jit(lambda init, options=options: fori_loop(lower, upper, weighted, init, **options))(init), result
        )
    require_same(jit(lambda *args: fori_loop(*args[:2], weighted, args[2]))(lower, upper, init), result)
    require_same(jit(lambda n: fori_loop(lower, n, weighted, init))(upper), result)
    require_same(jit(lambda n: fori_loop(n, upper, weighted, init))(lower), result)


def test_fori_loop_is_scan_if_bounds_are_known_else_while() -> None:
    def primitives(function: Callable[..., Any], *args: Any) -> set[Any]:
        return {eqn.primitive for eqn in make_jaxpr(function)(*args).eqns}

    def body(i: Any, x: Any) -> Any:
        return x + 1.0

    assert scan_p in primitives(lambda x: fori_loop(0, 3, body, x), 1.0)
    assert scan_p in primitives(lambda x: fori_loop(np.int32(0), np.array(3), body, x), 1.0)
    assert while_p in primitives(lambda x, n: fori_loop(0, n, body, x), 1.0, 3)
    assert while_p in primitives(lambda x, n: fori_loop(n, 3, body, x), 1.0, 0)


@pytest.mark.parametrize(
    ("lower", "upper", "dtype", "weak"),
    [
        (0, 2, "int64", True), (np.int32(0), 2, "int32", False), (np.uint8(0), np.uint8(255), "uint8", False),
        (np.int8(125), np.int8(127), "int8", False), (np.int16(0), np.int32(2), "int32", False),
    ],
)  # fmt: skip
def test_fori_loop_type_of_the_index(lower: Any, upper: Any, dtype: str, weak: bool) -> None:
    seen = []

    def body(i: Any, n: Any) -> Any:
        seen.append(get_aval(i))
        return n + 1

    expected = int(upper) - int(lower)
    assert fori_loop(lower, upper, body, 0) == expected
    assert jit(lambda a, b: fori_loop(a, b, body, 0))(lower, upper) == expected
    assert {(str(aval.dtype), aval.weak_type) for aval in seen} == {(dtype, weak)}


@pytest.mark.parametrize("options", [{}, {"checkpoints": 2}], ids=str)
@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_fori_loop_derivatives(lower: int, upper: int, options: Any) -> None:
    def known(x: Any) -> Any:
        return fori_loop(lower, upper, lambda i, y: ops.sin(y * x + i), x, **options)

    def traced(x: Any, a: Any, b: Any) -> Any:
        return fori_loop(a, b, lambda i, y: ops.sin(y * x + i), x, **options)

    def loop(x: Any) -> Any:
        y = x
        for i in range(lower, upper):
            y = ops.sin(y * x + i)
        return y

    first, second = grad(loop)(0.7), grad(grad(loop))(0.7)
    np.testing.assert_allclose(grad(known)(0.7), first)
    np.testing.assert_allclose(grad(grad(known))(0.7), second)
    np.testing.assert_allclose(jvp(known, (0.7,), (1.0,))[1], first)
    np.testing.assert_allclose(jit(grad(traced))(0.7, lower, upper), first)
    np.testing.assert_allclose(jit(grad(grad(traced)))(0.7, lower, upper), second)
    np.testing.assert_allclose(vmap(grad(traced), (0, None, None))(np.array([0.7, 0.7]), lower, upper), [first, first])


def test_fori_loop_derivative_with_large_traced_bound() -> None:
    gradient = jit(grad(lambda x, n: fori_loop(0, n, lambda _, y: y * x, 1.0)))
    for n in (0, 1, 33, 34, 700):
        np.testing.assert_allclose(gradient(0.999, n), n * 0.999 ** (n - 1))
