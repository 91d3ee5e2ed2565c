"""``jax.experimental.checkify``: failed checks as values, through the transformations and control flow."""

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.jax as jax
import lawful.jax.numpy as jnp
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.jax import lax
from lawful.jax.experimental import checkify
from lawful.parallel import numpy_devices

FAILED = "expected more than 0.0, got {} (`check` failed)"


def checked_sin(x: Any) -> Any:
    checkify.check(x > 0.0, "expected more than {}, got {x}", jnp.zeros(()), x=jnp.asarray(x))
    return jnp.sin(x)


def branches(x: Any) -> Any:
    return lax.cond(x < 5.0, checked_sin, lambda x: checkify.check(x < 9.0, "too much") or x, x)


def loop(x: Any) -> Any:
    def body(i: Any, x: Any) -> Any:
        checkify.check(i < 3, "in iteration {}", i)
        return x + 1.0

    return lax.fori_loop(0, jnp.asarray(x, int), body, x)


def scanned(x: Any) -> Any:
    return lax.scan(lambda carry, y: (carry + checked_sin(y), carry), 0.0, jnp.stack([x, x - 1.0, x - 2.0]))[0]


@pytest.mark.parametrize(
    ("f", "x", "text"),
    [
        (checked_sin, 1.0, None),
        (checked_sin, -1.0, FAILED.format(-1.0)),
        (jax.grad(checked_sin), -1.0, FAILED.format(-1.0)),
        (jax.checkpoint(checked_sin), -1.0, FAILED.format(-1.0)),
        (branches, 2.0, None),
        (branches, -2.0, FAILED.format(-2.0)),
        (branches, 6.0, None),
        (branches, 9.0, "too much (`check` failed)"),
        (loop, 3.0, None),
        (loop, 6.0, "in iteration 3 (`check` failed)"),
        (scanned, 3.0, None),
        (scanned, 1.0, FAILED.format(0.0)),
    ],
)
def test_checkify_returns_the_first_failed_check(f: Callable[..., Any], x: float, text: str | None) -> None:
    for checked in (checkify.checkify(f), checkify.checkify(jax.jit(f)), jax.jit(checkify.checkify(f))):
        error, y = checked(x)
        assert error.get() == text
        assert np.isfinite(y)


def test_checkify_of_a_batch() -> None:
    xs = jnp.array([1.0, -1.0, -2.0])
    error, ys = jax.vmap(checkify.checkify(checked_sin))(xs)
    texts = [f"at mapped index {i}: " + FAILED.format(x) for i, x in ((1, -1.0), (2, -2.0))]
    assert error.get() == "\n".join(texts)
    assert np.array_equal(ys, np.sin(xs))
    assert checkify.checkify(jax.vmap(checked_sin))(xs)[0].get() == FAILED.format(-1.0)
    assert checkify.checkify(jax.vmap(checked_sin))(jnp.ones(2))[0].get() is None
    assert checkify.checkify(jax.vmap(checked_sin))(jnp.ones(0))[0].get() is None
    mapped = jax.pmap(checked_sin, devices=numpy_devices(3))
    assert checkify.checkify(mapped)(xs)[0].get() == FAILED.format(-1.0)


def test_check_that_fails_outside_of_checkify_raises() -> None:
    functions: list[Callable[..., Any]] = [checked_sin, jax.grad(checked_sin), jax.jit(checked_sin)]
    if importlib.util.find_spec("lawful.xla_backend") is not None:
        functions.append(jax.jit(checked_sin, backend="cpu"))
    for f in functions:
        assert f(1.0) > 0.0
        with pytest.raises(ValueError, match=r"expected more than 0.0, got -1.0 \(`check` failed\)"):
            f(-1.0)
    checkify.debug_check(False, "only under checkify")
    error, _ = checkify.checkify(lambda: checkify.debug_check(False, "only under checkify"))()
    assert error.get() == "only under checkify (`check` failed)"


def test_check_error_raises_or_states_the_check_again() -> None:
    def f(x: Any) -> Any:
        error, y = checkify.checkify(checked_sin)(x)
        checkify.check_error(error)
        return y

    assert f(1.0) == np.sin(1.0)
    for raises in (lambda: f(-1.0), checkify.checkify(f)(-1.0)[0].throw):
        with pytest.raises(checkify.JaxRuntimeError, match=r"got -1\.0"):
            raises()
    checkify.init_error.throw()


def test_check_refuses_what_it_cannot_state() -> None:
    with pytest.raises(ArgumentTypeError, match="a boolean without dimensions, got"):
        checkify.check(jnp.ones(2) > 0.0, "twice")
    with pytest.raises(ArgumentTypeError, match="arrays to format, got 'x'"):
        checkify.check(True, "{}", "x")
    with pytest.raises(KeyError):
        checkify.check(True, "{x}")


def test_checkify_refuses_what_it_does_not_look_for() -> None:
    with pytest.raises(ArgumentValueError, match="expected user_checks, got NaN, division by zero too"):
        checkify.checkify(jnp.sin, errors=checkify.float_checks)
    error, _ = checkify.checkify(checked_sin, errors=frozenset())(-1.0)
    assert error.get() is None

    @jax.custom_jvp
    def own(x: Any) -> Any:
        return checked_sin(x)

    own.defjvps(lambda t, ans, x: 2.0 * t)
    with pytest.raises(ArgumentValueError, match="got one in custom_jvp_call"):
        checkify.checkify(own)(1.0)

    def f(x: Any) -> Any:
        return lax.while_loop(lambda x: checkify.check(x < 3.0, "in a predicate") or x < 2.0, lambda x: x + 1.0, x)

    with pytest.raises(ArgumentValueError, match="got one in while"):
        checkify.checkify(f)(1.0)
