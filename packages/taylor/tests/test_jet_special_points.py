"""``jet`` at zeros, branch cuts and ties, where recurrences divide by zero and the chain rule does not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import jvp, stop_gradient
from lawful.control_flow import cond, scan, while_loop
from lawful.core import as_dtype, get_aval
from lawful.custom_rules import custom_jvp, custom_vjp
from lawful.taylor import jet


def test_jet_abs_at_zero() -> None:
    x, v = np.array([0.0, -0.0]), np.array([1.0, -2.0])
    value, derivatives = jet(lambda x: ops.abs(x) ** 2, (x,), ([v, 0 * v, 0 * v],))
    np.testing.assert_array_equal([value, *derivatives], [0 * v, 0 * v, 2 * v * v, 0 * v])


def test_jet_hypot_of_zero_and_one() -> None:
    """It divides by the larger magnitude, and has the magnitude of zero as its other operand."""

    def hypot(x: Any) -> Any:
        a, b = ops.abs(x), ops.abs(1.0)
        large = ops.max(a, b)
        return large * ops.sqrt(1.0 + (ops.min(a, b) / large) ** 2)

    _, derivatives = jet(hypot, (0.0,), ([1.0, 0.0],))
    np.testing.assert_allclose(derivatives, [0.0, 1.0])


def test_jet_complex_abs_of_some_zeros() -> None:
    z, v = np.array([0.0, 3.0 + 4.0j]), np.array([1.0, 1.0 + 0.0j])
    with np.errstate(all="ignore"):
        _, [first] = jet(ops.abs, (z,), ([v],))
    np.testing.assert_allclose(first, [0.0, 0.6])


@pytest.mark.parametrize(
    ("square", "second"),
    [
        (lambda z: ops.abs(z) ** 2, 0.0),  # by convention, docs/derivatives.md
        (lambda z: ops.real(ops.mul(z, ops.conj(z))), 50.0),
        (lambda z: ops.real(z) ** 2 + ops.imag(z) ** 2, 50.0),
    ],
)
def test_jet_square_of_a_complex_zero(square: Callable[[Any], Any], second: float) -> None:
    """It is that of repeated derivatives along the curve."""
    v = 3.0 + 4.0j
    value, found = jet(square, (0j,), ([v, 0j, 0j],))
    np.testing.assert_allclose([value, *found], [0.0, 0.0, second, 0.0])
    along = [lambda t: square(t * v)]
    for _ in range(3):
        along.append(lambda t, f=along[-1]: jvp(f, (t,), (1.0,))[1])
    np.testing.assert_allclose([f(0.0) for f in along], [0.0, 0.0, second, 0.0])


def test_jet_complex_sign() -> None:
    """Along ``exp(it)`` the sign of ``2 exp(it)`` moves on the unit circle."""
    derivatives = [2j, -2.0 + 0j, -2j]
    value, found = jet(ops.sign, (2.0 + 0j,), (derivatives,))
    np.testing.assert_allclose([value, *found], [1.0, 1j, -1.0, -1j], atol=1e-12)


@pytest.mark.parametrize("function", [ops.sqrt, ops.cbrt])
@pytest.mark.parametrize("zero", [0.0, np.zeros(2)], ids=["number", "array"])
def test_jet_roots_at_zero(function: Callable[[Any], Any], zero: Any) -> None:
    with np.errstate(all="ignore"):
        value, [first, second] = jet(function, (zero,), ([zero + 1.0, zero],))
    assert np.all(np.equal(value, 0.0))
    assert np.all(np.isposinf(first))
    assert not np.any(np.isfinite(second))


SMALL_SLOPES = {
    "tanh": (ops.tanh, 40.0, 7.219405551381660e-35),
    "tanh, left": (ops.tanh, -200.0, 7.660678386856024e-174),
    "logistic": (ops.logistic, 40.0, 4.248354255291589e-18),
    "logistic, left": (ops.logistic, -700.0, 9.859676543759770e-305),
    "asinh": (ops.asinh, -1e200, 1e-200),
    "asin": (ops.asin, 1 - 2.0**-27, 8192.000015258789),
    "complex tan": (ops.tan, 0.5 + 20j, 9.181582401115077e-18 + 1.4299467356052122e-17j),
    "complex tanh": (ops.tanh, 20.0 + 0.5j, 9.181582401115077e-18 - 1.4299467356052122e-17j),
}


@pytest.mark.parametrize(("function", "x", "slope"), SMALL_SLOPES.values(), ids=SMALL_SLOPES)
def test_jet_slopes_that_would_cancel(function: Callable[[Any], Any], x: Any, slope: Any) -> None:
    zero = x * 0.0
    _, [first, second] = jet(function, (x,), ([zero + 1.0, zero],))
    _, again = jvp(lambda x: jvp(function, (x,), (zero + 1.0,))[1], (x,), (zero + 1.0,))
    np.testing.assert_allclose(first, slope, rtol=1e-12)
    np.testing.assert_allclose(first, jvp(function, (x,), (zero + 1.0,))[1], rtol=1e-14)
    np.testing.assert_allclose(second, again, rtol=1e-12)


def test_jet_logistic_near_zero() -> None:
    _, [_, second] = jet(ops.logistic, (1e-20,), ([1.0, 0.0],))
    np.testing.assert_allclose(second, -1e-20 / 8)


POLES = {"div": lambda x: 1.0 / x, "pow": lambda x: ops.integer_pow(x, -2), "log": ops.log, "rsqrt": ops.rsqrt}


@pytest.mark.parametrize("function", POLES.values(), ids=POLES)
def test_jet_at_a_pole_of_a_python_number(function: Callable[[Any], Any]) -> None:
    with np.errstate(all="ignore"):
        value, derivatives = jet(lambda x: function(x * 1.0), (0.0,), ([1.0, 0.0],))
    assert not np.any(np.isfinite([value, *derivatives]))


def test_jet_on_a_branch_cut() -> None:
    """The side is told by the sign of a zero, which a sum with a zero loses."""
    z, v = np.array([complex(-1.0, -0.0), complex(-1.0, 0.0)]), np.array([1.0 + 0j, 1.0 + 0j])
    value, _ = jet(lambda z: ops.pow(z, ops.real(z) * 0 + 0.5 + 0j), (z,), ([v, 0 * v],))
    np.testing.assert_allclose(value, [-1j, 1j], atol=1e-12)


def test_jet_of_what_does_not_move_is_constant() -> None:
    """Also to what has no derivative there: singular vectors of the identity."""

    def function(x: Any) -> Any:
        u, s, vt = ops.svd(stop_gradient(x))
        return ops.dot(ops.dot(u, x), vt) + s

    for wrapped in (function, custom_jvp(function)):
        if wrapped is not function:
            wrapped.defjvp(lambda primals, tangents: (function(*primals), 3.0 * tangents[0]))
        _, derivatives = jet(wrapped, (np.eye(2),), ([np.ones((2, 2)), np.eye(2)],))
        assert np.all(np.isfinite(derivatives))


def test_jet_applies_custom_rules() -> None:
    @custom_jvp
    def forward(x: Any) -> Any:
        return ops.sqrt(x)

    forward.defjvp(lambda primals, tangents: (forward(*primals), 3.0 * primals[0] * tangents[0]))

    @custom_vjp
    def reverse(x: Any) -> Any:
        return ops.sqrt(x)

    reverse.defvjp(lambda x: (reverse(x), x), lambda x, ct: (3.0 * x * ct,))
    for function in (forward, reverse):
        value, derivatives = jet(function, (0.0,), ([2.0, 1.0],))
        assert (value, *derivatives) == (0.0, 0.0, 12.0)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e5m2"])
@pytest.mark.parametrize("shape", [(), (2,), (0,)])
def test_jet_keeps_low_precision(dtype: str, shape: tuple[int, ...]) -> None:
    x = np.full(shape, 0.5).astype(as_dtype(dtype))
    functions = [
        ops.abs,
        ops.exp,
        ops.acosh,
        ops.logistic,
        ops.erf,
        ops.cbrt,
        lambda x: x / (x + x),
        ops.asin,
        ops.atan2,
    ]
    for function in functions:
        args = (x, x) if function is ops.atan2 else (x,)
        with np.errstate(all="ignore"):
            value, derivatives = jet(function, args, [[x, x, x]] * len(args))
        assert {get_aval(y).dtype for y in (value, *derivatives)} == {x.dtype}


def _by_scan(x: Any, zero: Any) -> Any:
    return scan(lambda c, _: ((c[0] * 2.0 + ops.sqrt(c[1]), c[1]), None), (x, zero), None, length=3)[0][0]


def _by_while(x: Any, zero: Any) -> Any:
    return while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2.0 + ops.sqrt(s[2]), s[2]), (0, x, zero))[1]


def _by_cond(x: Any, zero: Any) -> Any:
    y, z = cond(x > 0, lambda: (x * 8.0, zero), lambda: (x, zero * 1.0))
    return y + ops.sqrt(z)


@pytest.mark.parametrize("function", [_by_scan, _by_while, _by_cond])
def test_jet_of_a_construct_with_what_does_not_move(function: Callable[..., Any]) -> None:
    """A value that stays at zero has no part in derivatives, though ``sqrt`` has none there."""
    value, derivatives = jet(lambda x: function(x, 0.0), (1.0,), ([1.0, 0.5],))
    assert (value, *derivatives) == (8.0, 8.0, 4.0)


@pytest.mark.parametrize(("count", "expected"), [(1, 0.0), (2, 0.0), (3, 1.0)])
def test_jet_of_a_loop_that_moves_a_value_later(count: int, expected: float) -> None:
    def function(x: Any) -> Any:
        return while_loop(lambda s: s[0] < count, lambda s: (s[0] + 1, s[2], s[3], x), (0, 0.0, 0.0, 0.0))[1]

    assert jet(function, (2.0,), ([1.0],))[1] == [expected]


def test_jet_of_nested_loops_costs_their_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule of a construct traces what is in it once, not once for each of its own traces."""
    calls = 0

    def nested(depth: int, x: Any) -> Any:
        if depth == 0:
            return ops.sin(x)
        return scan(lambda c, _: (nested(depth - 1, c), None), x, None, length=1)[0]

    right = ops.sin_p.rules["jet"]

    def counted(args: Any) -> Any:
        nonlocal calls
        calls += 1
        return right(args)

    monkeypatch.setitem(ops.sin_p.rules, "jet", counted)
    jet(lambda x: nested(6, x), (0.5,), ([1.0, 0.0],))
    assert calls <= 6
