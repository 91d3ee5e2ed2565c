"""``jax.experimental.checkify``: the names of `lawful.checkify`, with `Array`s, beside JAX's transformations."""

from typing import Any

import numpy as np
import pytest

import lawful.jax as jax
import lawful.jax.numpy as jnp
from lawful import checkify as lawful_checkify
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.jax import lax
from lawful.jax.experimental import checkify
from lawful.parallel import numpy_devices

FAILED = "expected more than 0.0, got {} (`check` failed)"


def checked_sin(x: Any) -> Any:
    checkify.check(x > 0.0, "expected more than {}, got {x}", jnp.zeros(()), x=jnp.asarray(x))
    return jnp.sin(x)


def test_checkify_has_the_names_of_lawful() -> None:
    assert checkify.JaxRuntimeError is lawful_checkify.CheckError
    names = {name for name in dir(checkify) if name.isidentifier()}  # pytest adds others to a module with doctests
    assert names - {"JaxRuntimeError"} == {*lawful_checkify.__all__} - {"CheckError", "check_p"}
    for name in ("Error", "ErrorCategory", "all_checks", "init_error", "user_checks"):
        assert getattr(checkify, name) is getattr(lawful_checkify, name)


def test_checkify_of_programs_of_jax() -> None:
    def scanned(x: Any) -> Any:
        xs = jnp.stack([x, x - 1.0, x - 2.0])
        return lax.scan(lambda carry, y: (carry + lax.cond(y < 5.0, checked_sin, jnp.cos, y), carry), 0.0, xs)[0]

    for f in (checked_sin, jax.grad(checked_sin), jax.checkpoint(checked_sin), scanned):
        for checked in (checkify.checkify(f), checkify.checkify(jax.jit(f)), jax.jit(checkify.checkify(f))):
            error, y = checked(-1.0)
            assert error.get() == FAILED.format(-1.0)
            assert type(y) is jax.Array
            assert checked(3.0)[0].get() is None


def test_checkify_of_a_batch() -> None:
    xs = jnp.array([1.0, -1.0, -2.0])
    error, ys = jax.vmap(checkify.checkify(checked_sin))(xs)
    texts = [f"at mapped index {i}: " + FAILED.format(x) for i, x in ((1, -1.0), (2, -2.0))]
    assert error.get() == "\n".join(texts)
    assert np.array_equal(ys, np.sin(xs))
    mapped = jax.pmap(checked_sin, devices=numpy_devices(3))
    assert checkify.checkify(mapped)(xs)[0].get() == FAILED.format(-1.0)


def test_check_raises_the_error_of_jax_by_name() -> None:
    for f in (checked_sin, jax.jit(checked_sin)):
        with pytest.raises(checkify.JaxRuntimeError, match=r"expected more than 0.0, got -1.0 \(`check` failed\)"):
            f(-1.0)
    error, _ = checkify.checkify(checked_sin)(-1.0)
    for raises in (error.throw, lambda: checkify.check_error(error)):
        with pytest.raises(checkify.JaxRuntimeError, match=r"got -1\.0"):
            raises()
    checkify.init_error.throw()


def test_check_formats_arrays_of_jax() -> None:
    def f(x: Any) -> None:
        checkify.check(x[0] > 0.0, "{} {:.1f} {pair}", x, x[1], pair=(x,))

    expected = "[-1.  2.] 2.0 (Array([-1.,  2.], dtype=float64),) (`check` failed)"
    x = jnp.array([-1.0, 2.0])
    assert checkify.checkify(f)(x)[0].get() == expected
    for raises in (f, jax.jit(f)):
        with pytest.raises(checkify.JaxRuntimeError) as failed:
            raises(x)
        assert str(failed.value).split() == expected.split()


def test_debug_check_counts_under_checkify_only() -> None:
    checkify.debug_check(False, "only under checkify")
    error, _ = checkify.checkify(lambda: checkify.debug_check(False, "only under checkify"))()
    assert error.get() == "only under checkify (`check` failed)"


def test_checkify_refuses_as_lawful_does() -> None:
    with pytest.raises(ArgumentTypeError, match="a boolean without dimensions, got"):
        checkify.check(jnp.ones(2) > 0.0, "twice")
    with pytest.raises(ArgumentTypeError, match="arrays to format, got 'x'"):
        checkify.check(True, "{}", "x")
    with pytest.raises(ArgumentValueError, match="expected user_checks, got NaN, division by zero too"):
        checkify.checkify(jnp.sin, errors=checkify.float_checks)
