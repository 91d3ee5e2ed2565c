"""`lawful.integrate.odeint`: solutions and derivatives as formulas, SciPy and JAX have them."""

from collections.abc import Callable
from typing import Any

import jax.experimental.ode
import numpy as np
import pytest
import scipy.integrate

import lawful.jax
import lawful.numpy as lnp
from lawful import laws
from lawful.autodiff import grad, jacfwd, jacrev
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.integrate import odeint
from lawful.integrate._dormand_prince import Control, _State, _step, _value_between
from lawful.staging import jit

TIMES = np.array([0.0, 0.5, 0.7, 2.0])


def oscillator(y: Any, t: Any, damping: Any, frequency: Any) -> Any:
    position, velocity = y
    return lnp.stack([velocity, -2 * damping * velocity - frequency**2 * position])


def decay(y: Any, t: Any, rate: Any) -> Any:
    """Has the solution ``y0 * exp(-rate * (t**2 - t0**2))``, of an equation that depends on time."""
    return -2 * rate * t * y


def decayed(y0: Any, ts: Any, rate: Any) -> Any:
    return y0 * lnp.exp(-rate * (ts**2 - ts[0] ** 2))[:, None]


def test_odeint_is_that_of_scipy() -> None:
    y0 = np.array([1.0, 0.5])
    for times in (TIMES, TIMES[::-1], np.linspace(0, 3, 100), np.array([0.0, 0.0, 1.0, 1.0]), TIMES[:1], np.arange(3)):
        found = odeint(oscillator, y0, times, 0.1, 3.0)
        expected = scipy.integrate.odeint(oscillator, y0, times, (0.1, 3.0), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found, expected, atol=5e-7)
        tight = odeint(oscillator, y0, times, 0.1, 3.0, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(tight, expected, atol=2e-9)


def test_odeint_is_that_of_jax() -> None:
    y0 = np.array([1.0, 0.5])
    ours = lawful.jax.experimental.ode.odeint(oscillator, y0, TIMES, 0.1, 3.0)
    assert isinstance(ours, lawful.jax.Array)

    def of_jax(y: Any, t: Any, damping: Any, frequency: Any) -> Any:
        return jax.numpy.stack([y[1], -2 * damping * y[1] - frequency**2 * y[0]])

    with jax.enable_x64(True):
        theirs = jax.experimental.ode.odeint(of_jax, y0, TIMES, 0.1, 3.0)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_odeint_step_has_order_five_and_between_four() -> None:
    def errors(h: float) -> tuple[float, float]:
        slope = lambda y, t: decay(y, t, 1.0)  # noqa: E731
        y, t = np.array([1.0]), np.asarray(0.3)
        control = Control(1e9, 1e9, np.inf, np.inf)
        state = _State(t, y, slope(y, t), np.asarray(h), t, np.zeros((5, 1)))
        after = _step(slope, control, state, 1.0)
        exact = [np.exp(0.09 - (0.3 + part * h) ** 2) for part in (1.0, 0.4)]
        return abs(after.y[0] - exact[0]), abs(_value_between(after.between, 0.4)[0] - exact[1])

    ends, middles = zip(errors(0.1), errors(0.05), strict=True)
    assert np.log2(ends[0] / ends[1]) == pytest.approx(6, abs=0.5)
    assert np.log2(middles[0] / middles[1]) == pytest.approx(5, abs=0.5)


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_odeint_derivatives_are_those_of_the_formula(jacobian: Callable[..., Any]) -> None:
    args = np.array([1.0, -2.0]), np.array([0.3, 0.5, 1.2]), np.asarray(0.7)
    for times in (args[1], args[1][::-1], args[1][:1]):
        given = args[0], times, args[2]
        found = jacobian(lambda *args: odeint(decay, *args), (0, 1, 2))(*given)
        expected = jacfwd(decayed, (0, 1, 2))(*given)
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_allclose(x, y, atol=1e-6)


@pytest.mark.parametrize("outer", [jacfwd, jacrev])
@pytest.mark.parametrize("inner", [jacfwd, jacrev])
def test_odeint_second_derivatives(outer: Callable[..., Any], inner: Callable[..., Any]) -> None:
    args = np.array([1.5]), np.array([0.3, 1.2]), np.asarray(0.7)
    found = outer(inner(lambda *args: odeint(decay, *args)[-1], 2), (0, 1, 2))(*args)
    expected = jacfwd(jacfwd(lambda *args: decayed(*args)[-1], 2), (0, 1, 2))(*args)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-5)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_odeint_compiled_and_batched(backend: str) -> None:
    def both(y0: Any, rate: Any) -> Any:
        return odeint(decay, y0, TIMES, rate)[-1], grad(lambda r: lnp.sum(odeint(decay, y0, TIMES, r)))(rate)

    y0, rates = np.array([[1.0, 2.0], [-3.0, 0.5]]), np.array([0.5, 1.0])
    found = jit(vmap(both), backend=backend)(y0, rates)
    for i in range(2):
        np.testing.assert_allclose(found[0][i], decayed(y0[i], TIMES, rates[i])[-1], atol=1e-6)
        expected = grad(lambda r, i=i: lnp.sum(decayed(y0[i], TIMES, r)))(rates[i])
        np.testing.assert_allclose(found[1][i], expected, atol=1e-6)


def test_odeint_of_pytrees_closures_and_integers() -> None:
    y0 = {"a": 1, "b": np.ones((2, 1), np.float32)}

    def total(scale: Any) -> Any:
        def slope(y: Any, t: Any, args: Any) -> Any:
            return {"a": -scale * y["a"] * args["n"], "b": args["rate"] * y["b"]}

        ys = odeint(slope, y0, np.array([0.0, 1.0]), {"n": np.asarray(2), "rate": 0.5})
        assert ys["a"].shape == (2,)
        assert (ys["a"].dtype, ys["b"].dtype, ys["b"].shape) == (np.float64, np.float32, (2, 2, 1))
        return ys["a"][-1] + lnp.sum(ys["b"])

    np.testing.assert_allclose(total(1.5), np.exp(-3.0) + 2 + 2 * np.exp(0.5), rtol=1e-6)
    np.testing.assert_allclose(grad(total)(1.5), -2 * np.exp(-3.0), rtol=1e-6)
    np.testing.assert_allclose(jacfwd(total)(1.5), -2 * np.exp(-3.0), rtol=1e-6)
    np.testing.assert_allclose(vmap(grad(total))(np.array([1.5, 0.5])), -2 * np.exp([-3.0, -1.0]), rtol=1e-6)


def test_odeint_of_complex_numbers_and_float32() -> None:
    def solved(y0: Any, rate: Any) -> Any:
        return odeint(lambda y, t, rate: rate * y, y0, np.array([0.0, 1.0]), rate)[-1]

    y0, rate = np.array([1.0 + 2j, 0.5]), np.asarray(0.3 + 1j)
    np.testing.assert_allclose(solved(y0, rate), y0 * np.exp(rate), rtol=1e-7)
    laws.check_grads(solved, (y0, rate), 1)
    single = odeint(decay, np.ones(2, np.float32), TIMES.astype(np.float32), np.float32(0.5), rtol=1e-5, atol=1e-5)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single[:, 0], np.exp(-0.5 * TIMES**2), rtol=1e-4)


def test_odeint_is_nan_where_it_does_not_come() -> None:
    y0 = np.array([1.0])
    # y = 1 / (1 - t)
    exploding = odeint(lambda y, t: y**2, y0, np.array([0.0, 0.5, 2.0, 3.0]))[:, 0]
    np.testing.assert_allclose(exploding, [1, 2, np.nan, np.nan], rtol=1e-6)
    few = odeint(decay, y0, np.array([0.0, 0.1, 9.0]), 1.0, mxstep=15)[:, 0]
    np.testing.assert_allclose(few, [1, np.exp(-0.01), np.nan], rtol=1e-6)
    assert np.isfinite(odeint(decay, y0, np.array([0.0, 0.1, 9.0]), 1.0)[-1, 0])
    # A pulse that steps longer than hmax would miss.
    pulse = lambda y, t: lnp.exp(-((t - 50.0) ** 2)) + 0 * y  # noqa: E731
    found = odeint(pulse, np.array([0.0]), np.array([0.0, 100.0]), hmax=0.5)[-1, 0]
    np.testing.assert_allclose(found, np.pi**0.5, rtol=1e-6)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_odeint_of_nan_ends(backend: str) -> None:
    solution = lambda y, rate: odeint(lambda y, t, a: -a * y, y, TIMES, rate)  # noqa: E731
    assert np.isnan(jit(solution, backend=backend)(np.nan, 1.0)).all()
    assert np.isnan(np.asarray(jit(solution, backend=backend)(1.0, np.nan))[1:]).all()
    assert np.isnan(jit(grad(lambda y: lnp.nan * lnp.sum(solution(y, 1.0))), backend=backend)(1.0))


BACK = [[0.0, 5.0, 1.0], [0.0, 1.0, 2.0, 1.5, 3.0], [0.0, 2.0, -1.0], [3.0, 1.0, 2.0], [0.0, 1.0, 0.0]]


@pytest.mark.parametrize("times", BACK)
def test_odeint_times_that_turn_back(times: list[float]) -> None:
    ts = np.array(times)
    with pytest.raises(ArgumentValueError, match="expected times that rise throughout or fall throughout"):
        odeint(lambda y, t: -y, 1.0, ts)
    with pytest.raises(ArgumentValueError, match="expected times"):
        jit(lambda y: odeint(lambda y, t: -y, y, ts))(1.0)
    with pytest.raises(ArgumentValueError, match="expected times"):
        grad(lambda t: lnp.sum(odeint(lambda y, t: -y, 1.0, t)))(ts)


@pytest.mark.parametrize("backend", ["numpy", "xla"])
@pytest.mark.parametrize("times", BACK)
def test_odeint_traced_times_that_turn_back(times: list[float], backend: str) -> None:
    """The values before are right, those from there on NaN; so are derivatives of forward mode."""
    ts = np.array(times)
    direction = np.sign(ts[-1] - ts[0]) or 1.0
    first = 1 + int(np.argmax(direction * np.diff(ts) < 0))
    expected = np.where(np.arange(ts.size) < first, np.exp(ts[0] - ts), np.nan)

    def solution(y: Any, t: Any) -> Any:
        return odeint(lambda y, t: -y, y, t)

    np.testing.assert_allclose(jit(solution, backend=backend)(1.0, ts), expected, rtol=1e-6)
    np.testing.assert_allclose(vmap(solution, (None, 0))(1.0, ts[None])[0], expected, rtol=1e-6)
    forward = np.asarray(jit(jacfwd(solution), backend=backend)(1.0, ts))
    np.testing.assert_allclose(forward, expected, rtol=1e-5)
    assert np.isnan(jit(jacrev(solution), backend=backend)(1.0, ts)).all()  # a zero cotangent times NaN


@pytest.mark.parametrize("times", [[3.0, 1.0, 0.5, 0.5, -1.0], [0.0, -2.0], [0.0, 0.0, 1.0], [1.0, 1.0], [2.0]])
@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_odeint_falling_and_equal_times(times: list[float], backend: str) -> None:
    ts = np.array(times)
    expected = np.exp(ts[0] - ts)
    solution = lambda t: odeint(lambda y, t: -y, 1.0, t)  # noqa: E731
    np.testing.assert_allclose(solution(ts), expected, rtol=1e-6)
    np.testing.assert_allclose(jit(solution, backend=backend)(ts), expected, rtol=1e-6)


def test_odeint_explains_func() -> None:
    y0 = np.array([1.0, 0.0])
    with pytest.raises(IndexError) as swapped:
        odeint(lambda t, y: lnp.stack([y[1], -y[0]]), y0, TIMES)
    assert any("odeint called func(y, t, *args)" in note for note in swapped.value.__notes__)
    with pytest.raises(ArgumentTypeError, match=r"an array, as y0 is one, got a list of 2; .* lawful.numpy.array"):
        odeint(lambda y, t: [y[1], -y[0]], y0, TIMES)


def test_odeint_refuses_wrong_arguments() -> None:
    y0 = np.ones(2)
    for call in (
        lambda: odeint(decay, y0, np.ones((2, 2)), 1.0),
        lambda: odeint(decay, y0, np.ones(0), 1.0),
        lambda: odeint(lambda y, t: y[:1], y0, TIMES),
    ):
        with pytest.raises(ArgumentValueError, match="odeint: expected"):
            call()
    for library in (jax, lawful.jax):
        with pytest.raises(TypeError, match="unexpected keyword argument 'args'"):
            library.experimental.ode.odeint(decay, 1.0, TIMES, args=2.0)
    with pytest.raises(ArgumentTypeError, match="real times"):
        odeint(decay, y0, TIMES * 1j, 1.0)
    with pytest.raises(ArgumentTypeError, match="pytree"):
        odeint(lambda y, t: {"y": y}, y0, TIMES)
    with pytest.raises(ArgumentTypeError, match="an array, as y0 is one, got a tuple of 2"):
        odeint(lambda y, t: (y, y), y0, TIMES)


def test_odeint_times_that_are_not_finite() -> None:
    with pytest.raises(ArgumentValueError, match="expected finite times"):
        odeint(lambda y, t: -y, 1.0, np.array([0.0, np.inf]))
    np.testing.assert_allclose(odeint(lambda y, t: -y, 1.0, np.array([0.0, np.nan, 1.0])), [1.0, np.nan, np.nan])
    for backend in ("numpy", "xla"):
        found = jit(lambda t: odeint(lambda y, t: -y, 1.0, t), backend=backend)(np.array([0.0, 1.0, np.inf]))
        np.testing.assert_allclose(found, [1.0, np.exp(-1.0), np.nan], rtol=1e-6)
