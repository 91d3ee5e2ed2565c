"""The derivatives of `while_loop` equal those of the Python loop, in both modes and to any order."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, hessian, jacfwd, jacrev, jvp, linear_transpose, linearize, vjp
from lawful.control_flow import while_loop
from lawful.core import NotLinearError, check_jaxpr, float0, get_aval
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")

OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "1 state": {"checkpoints": 1},
    "2 states": {"checkpoints": 2},
    "3 states": {"checkpoints": 3},
    "tape": {"max_iters": 12},
    "tape that just holds": {"max_iters": 5},
}
every_option = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)

W = np.random.default_rng(0).normal(size=(3, 3)) * 0.6
X = np.array([0.5, -0.3, 0.8])
POINT, TANGENT = (W, X), (W[::-1] * 0.3, X + 1.0)


def step(w: Any, x: Any, i: Any) -> Any:
    return ops.sin(ops.reduce_sum(w * x, (1,))) + x * 0.5 * ops.convert_element_type(i, np.float64)


def looped(trip_count: int, w: Any, x: Any, **options: Any) -> Any:
    return while_loop(lambda s: s[0] < trip_count, lambda s: (s[0] + 1, step(w, s[1], s[0])), (0, x), **options)[1]


def unrolled(trip_count: int, w: Any, x: Any) -> Any:
    for i in range(trip_count):
        x = step(w, x, np.int64(i))
    return x


def total(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: ops.reduce_sum(ops.sin(function(*args)), (0,))


@every_option
@pytest.mark.parametrize("trip_count", [0, 1, 5])
def test_while_loop_forward_mode(options: Any, trip_count: int, require_same: Callable[..., None]) -> None:
    expected = jvp(partial(unrolled, trip_count), POINT, TANGENT)
    function = partial(looped, trip_count, **options)
    require_same(jvp(function, POINT, TANGENT), expected, 1e-14)
    require_same(jit(lambda *args: jvp(function, args, TANGENT))(*POINT), expected, 1e-14)
    out, push = linearize(function, *POINT)
    require_same((out, push(*TANGENT)), expected, 1e-14)
    check_jaxpr(push.jaxpr)


@every_option
@pytest.mark.parametrize("trip_count", [0, 1, 2, 3, 4, 5])
def test_while_loop_reverse_mode(options: Any, trip_count: int, require_same: Callable[..., None]) -> None:
    loss, function = total(partial(unrolled, trip_count)), total(partial(looped, trip_count, **options))
    for argnums in (0, 1, (0, 1)):
        expected = grad(loss, argnums)(*POINT)
        require_same(grad(function, argnums)(*POINT), expected, 1e-13)
        require_same(jit(grad(function, argnums))(*POINT), expected, 1e-13)
        require_same(grad(jit(function), argnums)(*POINT), expected, 1e-13)


def test_while_loop_reverse_mode_with_few_checkpoints(require_same: Callable[..., None]) -> None:
    expected = grad(total(partial(unrolled, 40)), (0, 1))(*POINT)
    for checkpoints in (1, 2, 3, 5, 8, 39, 40, 41):
        found = grad(total(partial(looped, 40, checkpoints=checkpoints)), (0, 1))(*POINT)
        require_same(found, expected, 1e-12)


def test_while_loop_transpose_is_well_typed() -> None:
    for options in OPTIONS.values():
        check_jaxpr(make_jaxpr(grad(total(partial(looped, 4, **options)), (0, 1)))(*POINT))


@every_option
def test_while_loop_second_order(options: Any, require_same: Callable[..., None]) -> None:
    expected = hessian(lambda x: total(partial(unrolled, 3))(W, x))(X)

    def function(x: Any) -> Any:
        return total(partial(looped, 3, **options))(W, x)

    for second in (hessian, lambda f: jacrev(jacrev(f)), lambda f: jacrev(jacfwd(f)), lambda f: jacfwd(jacfwd(f))):
        require_same(second(function)(X), expected, 1e-12)
    require_same(jit(jacrev(grad(function)))(X), expected, 1e-12)


def test_while_loop_third_order() -> None:
    def cube(x: Any) -> Any:  # x to the ninth
        return while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, s[1] * s[1] * s[1]), (0, x))[1]

    np.testing.assert_allclose(grad(grad(grad(cube)))(1.1), 9 * 8 * 7 * 1.1**6)


def newton(a: Any, **options: Any) -> Any:
    """The root of x² = a; the trip count depends on a."""
    return while_loop(lambda x: ops.abs(x * x - a) > 1e-12, lambda x: 0.5 * (x + a / x), a, **options)


@every_option
@pytest.mark.parametrize("a", [1.0, 1.2, 2.0, 4.0])
def test_while_loop_grad_with_trip_count_depending_on_x(options: Any, a: float) -> None:
    found = grad(partial(newton, **options))(a)
    np.testing.assert_allclose(found, 0.5 / np.sqrt(a) if a > 1 else 1.0, rtol=1e-6)
    np.testing.assert_allclose(jit(grad(partial(newton, **options)))(a), found, rtol=1e-13)
    np.testing.assert_allclose(jvp(partial(newton, **options), (a,), (1.0,))[1], found, rtol=1e-13)
    assert get_aval(found).weak_type


@every_option
def test_while_grad_constant_and_unused_state(options: Any) -> None:
    """One part of the state does not depend on the argument; the result does not depend on another."""

    def function(x: Any) -> Any:
        def body(s: Any) -> Any:
            i, y, n, unused = s
            return i + 1, y * n, n + 1.0, ops.sin(unused) + y

        return while_loop(lambda s: s[0] < 4, body, (0, x, 1.0, 0.0), **options)[1]

    assert grad(function)(2.0) == 24.0
    assert jit(grad(function))(2.0) == 24.0
    assert jvp(function, (2.0,), (1.0,))[1] == 24.0


@every_option
def test_while_loop_carry_differentiable_in_a_later_iteration(options: Any) -> None:
    def function(x: Any) -> Any:
        return while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[2], s[2] * x), (0, 1.0, 1.0), **options)[1]

    np.testing.assert_allclose(grad(function)(2.0), 3 * 2.0**2)  # of x³
    np.testing.assert_allclose(jvp(function, (2.0,), (1.0,))[1], 12.0)


def test_while_loop_integers_and_predicate_have_no_tangents() -> None:
    def function(x: Any, n: Any) -> Any:
        return while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * x), (np.int64(0), 1.0))

    out, (count, y) = jvp(function, (2.0, np.int64(3)), (1.0, np.zeros((), float0)))
    assert out == (3, 8.0)
    assert count.dtype == float0
    assert y == 12.0
    cts = vjp(function, 2.0, np.int64(3))[1]((np.zeros((), float0), 1.0))
    assert cts[0] == 12.0
    assert cts[1].dtype == float0
    # The derivative by a value that only the predicate uses is zero.
    assert grad(lambda limit: while_loop(lambda x: x < limit, lambda x: x * 2.0, 1.0))(10.0) == 0.0


@every_option
def test_while_loop_complex(options: Any) -> None:
    def function(z: Any) -> Any:
        return while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * z + 1.0), (0, np.complex128(1.0)), **options)[
            1
        ]

    z = 0.3 + 0.4j
    np.testing.assert_allclose(vjp(function, z)[1](np.complex128(1.0))[0], 3 * z**2 + 2 * z + 1)


@every_option
def test_while_loop_linear_transpose(options: Any, require_same: Callable[..., None]) -> None:
    def function(x: Any) -> Any:
        def body(s: Any) -> Any:
            i, y = s
            return i + 1, ops.reduce_sum(W * y, (1,)) * ops.convert_element_type(i, np.float64) + x

        return while_loop(lambda s: s[0] < 4, body, (0, x), **options)[1]

    require_same(linear_transpose(function, X)(X)[0], vjp(function, X)[1](X)[0], 1e-14)


def test_while_loop_transpose_refuses_linear_predicate() -> None:
    transposed = linear_transpose(lambda x: while_loop(lambda s: s < 3.0, lambda s: s * 2.0, x), 1.0)
    with pytest.raises(NotLinearError, match="expected a predicate that does not depend on what is transposed"):
        transposed(1.0)


def test_while_loop_nested_derivatives(require_same: Callable[..., None]) -> None:
    def nested(w: Any, x: Any, inner: Any, outer: Any) -> Any:
        def body(s: Any) -> Any:
            i, y = s
            return i + 1, looped(2, w, y, **inner)

        return while_loop(lambda s: s[0] < 3, body, (0, x), **outer)[1]

    def flat(w: Any, x: Any) -> Any:
        for _ in range(3):
            x = unrolled(2, w, x)
        return x

    expected = grad(total(flat), (0, 1))(*POINT)
    for inner in ({}, {"checkpoints": 1}, {"max_iters": 2}):
        for outer in ({}, {"checkpoints": 2}, {"max_iters": 3}):
            function = total(partial(nested, inner=inner, outer=outer))
            require_same(grad(function, (0, 1))(*POINT), expected, 1e-13)
            require_same(jit(grad(function, (0, 1)))(*POINT), expected, 1e-13)
