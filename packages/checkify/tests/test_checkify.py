"""``checkify``: failed checks as values, through the transformations and control flow."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import ops, tree
from lawful.autodiff import checkpoint, grad, jvp
from lawful.batching import vmap
from lawful.checkify import (
    CheckError,
    Error,
    ErrorCategory,
    all_checks,
    automatic_checks,
    check,
    check_error,
    checkify,
    div_checks,
    index_checks,
    init_error,
    nan_checks,
    user_checks,
)
from lawful.control_flow import cond, fori_loop, scan, switch, while_loop
from lawful.core import ArgumentTypeError, ArgumentValueError, TracerArrayConversionError
from lawful.custom_rules import custom_jvp, custom_vjp
from lawful.parallel import P, make_mesh, numpy_devices, pmap, shard_map
from lawful.staging import io_callback, jit, jit_p, make_jaxpr

FAILED = "expected more than 0.0, got {} (`check` failed)"


def checked_sin(x: Any) -> Any:
    check(x > 0.0, "expected more than {}, got {x}", np.zeros(()), x=lnp.asarray(x))
    return ops.sin(x)


def too_much(x: Any) -> Any:
    check(x < 9.0, "too much")
    return x


def branches(x: Any) -> Any:
    return cond(x < 5.0, checked_sin, too_much, x)


def switched(x: Any) -> Any:
    return switch(lnp.astype(x, np.int32), [lambda x: x, too_much, checked_sin], x - 2.0)


def loop(x: Any) -> Any:
    def body(i: Any, x: Any) -> Any:
        check(i < 3, "in iteration {}", lnp.asarray(i))
        return x + 1.0

    return fori_loop(0, lnp.astype(x, np.int64), body, x)


def scanned(x: Any) -> Any:
    return scan(lambda carry, y: (carry + checked_sin(y), carry), 0.0, lnp.stack([x, x - 1.0, x - 2.0]))[0]


def scanned_backwards(x: Any) -> Any:
    xs = lnp.stack([x, x - 1.0, x - 2.0])
    return scan(lambda carry, y: (carry + checked_sin(y), carry), 0.0, xs, reverse=True)[0]


def twice(x: Any) -> Any:
    return too_much(x) + checked_sin(x - 20.0)


@pytest.mark.parametrize(
    ("f", "x", "text"),
    [
        (checked_sin, 1.0, None),
        (checked_sin, -1.0, FAILED.format(-1.0)),
        (grad(checked_sin), -1.0, FAILED.format(-1.0)),
        (checkpoint(checked_sin), -1.0, FAILED.format(-1.0)),
        (grad(checkpoint(checked_sin)), -1.0, FAILED.format(-1.0)),
        (branches, 2.0, None),
        (branches, -2.0, FAILED.format(-2.0)),
        (branches, 6.0, None),
        (branches, 9.0, "too much (`check` failed)"),
        (switched, 0.0, None),
        (switched, 1.0, None),
        (switched, 2.0, FAILED.format(0.0)),
        (loop, 3.0, None),
        (loop, 6.0, "in iteration 3 (`check` failed)"),
        (scanned, 3.0, None),
        (scanned, 1.0, FAILED.format(0.0)),
        (scanned_backwards, 1.0, FAILED.format(-1.0)),
        (grad(scanned), 1.0, FAILED.format(0.0)),
        (twice, 9.0, "too much (`check` failed)"),
        (twice, 8.0, FAILED.format(-12.0)),
    ],
)
def test_checkify_returns_the_first_failed_check(f: Callable[..., Any], x: float, text: str | None) -> None:
    for checked in (checkify(f), checkify(jit(f)), jit(checkify(f))):
        error, y = checked(np.float64(x))
        assert error.get() == text
        assert np.isfinite(y)


@pytest.mark.parametrize("f", [checked_sin, branches, loop, scanned])
def test_checkify_in_jit_of_a_backend(f: Callable[..., Any], backend: str) -> None:
    for x in (1.0, 2.0, 6.0):
        error, y = jit(checkify(f), backend=backend)(x)
        expected, value = checkify(f)(np.float64(x))
        assert error.get() == expected.get()
        assert np.allclose(y, value, rtol=1e-12)


def test_checkify_of_a_batch() -> None:
    xs = np.array([1.0, -1.0, -2.0])
    error, ys = vmap(checkify(checked_sin))(xs)
    texts = [f"at mapped index {i}: " + FAILED.format(x) for i, x in ((1, -1.0), (2, -2.0))]
    assert error.get() == "\n".join(texts)
    assert np.array_equal(ys, np.sin(xs))
    assert checkify(vmap(checked_sin))(xs)[0].get() == FAILED.format(-1.0)
    assert checkify(vmap(checked_sin))(np.ones(2))[0].get() is None
    assert checkify(vmap(checked_sin))(np.ones(0))[0].get() is None


def test_checkify_of_batches_in_batches() -> None:
    error, _ = vmap(vmap(checkify(checked_sin)))(np.array([[1.0, 2.0], [3.0, -4.0]]))
    assert error.get() == "at mapped index 1, 1: " + FAILED.format(-4.0)


def test_checkify_of_pmap() -> None:
    xs = np.array([1.0, -1.0, -2.0])
    mapped = pmap(checked_sin, devices=numpy_devices(3))
    error, ys = checkify(mapped)(xs)
    assert error.get() == FAILED.format(-1.0)
    assert np.array_equal(ys, np.sin(xs))
    assert checkify(mapped)(np.ones(3))[0].get() is None


def test_checkify_takes_and_returns_pytrees() -> None:
    def f(pair: Any, *, scale: Any) -> Any:
        check(scale > 0.0, "{} {}", pair["x"], [pair["y"]])
        return {"sum": pair["x"] + scale * pair["y"]}

    error, out = checkify(f)({"x": np.ones(2), "y": np.int32(3)}, scale=np.float64(-1.0))
    assert error.get() == "[1. 1.] [array(3, dtype=int32)] (`check` failed)"
    assert np.array_equal(out["sum"], [-2.0, -2.0])


def test_check_error_raises_or_states_the_check_again() -> None:
    def f(x: Any) -> Any:
        error, y = checkify(checked_sin)(x)
        check_error(error)
        return y

    assert f(np.float64(1.0)) == np.sin(1.0)
    for raises in (lambda: f(np.float64(-1.0)), lambda: jit(f)(-1.0), checkify(f)(np.float64(-1.0))[0].throw):
        with pytest.raises(CheckError, match=r"got -1\.0"):
            raises()
    init_error.throw()
    check_error(init_error)


def test_error_is_a_pytree_of_arrays() -> None:
    error, _ = checkify(checked_sin)(np.float64(-1.0))
    leaves, structure = tree.flatten(error)
    assert leaves[0] == 0
    assert tree.unflatten(structure, leaves).get() == error.get()
    assert jit(lambda error: error)(error).get() == error.get()
    assert repr(error) == f"Error({FAILED.format(-1.0)})"
    assert repr(init_error) == "Error(None)"


def test_error_get_traced_raises() -> None:
    def f(error: Error) -> str | None:
        assert repr(error) == "Error(traced)"
        return error.get()

    with pytest.raises(TracerArrayConversionError):
        make_jaxpr(f)(init_error)


def test_error_tangent_has_no_text() -> None:
    (error, _), (tangent, y_dot) = jvp(checkify(checked_sin), (np.float64(-1.0),), (np.float64(1.0),))
    assert error.get() == FAILED.format(-1.0)
    assert tangent.get() is None
    assert y_dot == np.cos(1.0)


def test_checkify_of_a_jaxpr_called_twice() -> None:
    """A check in it has one message, with the values of the first call that failed."""
    inner = jit(checked_sin)
    both = checkify(lambda x, y: inner(x) + inner(y))
    for x, y, text in ((-1.0, -2.0, FAILED.format(-1.0)), (1.0, -2.0, FAILED.format(-2.0)), (1.0, 2.0, None)):
        assert both(np.float64(x), np.float64(y))[0].get() == text


def test_checkify_keeps_the_backend_of_jit() -> None:
    for given in (None, "numpy"):
        closed = make_jaxpr(checkify(jit(checked_sin, backend=given)))(np.float64(1.0))
        [eqn] = [eqn for eqn in closed.eqns if eqn.primitive is jit_p]
        assert eqn.params.get("backend") == given


@pytest.mark.parametrize("errors", ["nan", ErrorCategory.NAN, {"nan"}, 3])
def test_checkify_refuses_errors_that_are_no_set(errors: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"a set of categories as errors, got .*; give user_checks"):
        checkify(ops.sin, errors=errors)


def test_sets_of_errors_are_unions() -> None:
    assert all_checks == automatic_checks | user_checks
    assert automatic_checks == nan_checks | div_checks | index_checks


def test_checkify_without_user_checks(backend: str) -> None:
    """Checks then neither return an error nor raise one."""
    for f in (checked_sin, scanned, branches):
        for checked in (checkify(f, errors=frozenset()), checkify(jit(f), errors=div_checks)):
            error, _ = jit(checked, backend=backend)(-1.0)
            assert error.get() is None


def own_jvp(x: Any) -> Any:
    function = custom_jvp(checked_sin)
    function.defjvps(lambda t, ans, x: 2.0 * t)
    return function(x)


def own_vjp(x: Any) -> Any:
    function = custom_vjp(checked_sin)
    function.defvjp(lambda x: (checked_sin(x), None), lambda _, ct: (2.0 * ct,))
    return function(x)


@pytest.mark.parametrize("f", [own_jvp, own_vjp])
def test_checkify_of_functions_with_rules(f: Callable[..., Any]) -> None:
    for checked in (checkify(f), checkify(jit(f)), jit(checkify(f))):
        error, y = checked(np.float64(-1.0))
        assert error.get() == FAILED.format(-1.0)
        assert y == pytest.approx(np.sin(-1.0))
        assert checked(np.float64(1.0))[0].get() is None
        derivative = grad(lambda x, checked=checked: checked(x)[1])
        assert derivative(np.float64(1.0)) == 2.0
        with pytest.raises(CheckError):  # the rule, outside of checkify, calls the function again
            derivative(np.float64(-1.0))
    error, y_bar = checkify(grad(f))(np.float64(-1.0))
    assert y_bar == 2.0
    assert error.get() == FAILED.format(-1.0)


def test_checkify_refuses_checks_beside_other_effects() -> None:
    @custom_jvp
    def own(x: Any) -> Any:
        return checked_sin(io_callback(lambda x: x, np.zeros(()), x))

    own.defjvps(lambda t, ans, x: 2.0 * t)
    with pytest.raises(ArgumentValueError, match="got one in custom_jvp_call beside other effects"):
        checkify(own)(1.0)


def test_checkify_of_checks_in_a_predicate() -> None:
    """A predicate is evaluated once more than the body; its error comes before one of the body."""

    def counted(x: Any, limit: Any) -> Any:
        def holds(x: Any) -> Any:
            check(x < limit, "predicate of {}", x)
            return x < 2.0

        def body(x: Any) -> Any:
            check(x < limit - 0.5, "body of {}", x)
            return x + 1.0

        return while_loop(holds, body, x)

    cases = [(0.0, "predicate of 0.0"), (1.4, "body of 1.0"), (2.0, "predicate of 2.0"), (2.1, None)]
    for limit, text in cases:
        for checked in (checkify(counted), checkify(jit(counted)), jit(checkify(counted))):
            error, x = checked(np.float64(0.0), np.float64(limit))
            assert error.get() == (text and f"{text} (`check` failed)")
            assert x == 2.0


@pytest.mark.parametrize("check_vma", [True, False])
def test_checkify_of_shard_map(check_vma: bool) -> None:
    mesh = make_mesh((2, 2), ("i", "j"), devices=numpy_devices(4))

    def f(x: Any) -> Any:
        check(lnp.all(x > 0.0), "got {}", x)
        return ops.sin(x)

    for spec, text in ((P(("i", "j")), "got [-3.] (`check` failed)"), (P("j"), "got [-3. -4.] (`check` failed)")):
        checked = checkify(shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=check_vma))
        xs = np.array([1.0, 2.0, -3.0, -4.0])
        error, ys = checked(xs)
        assert error.get() == text
        assert np.array_equal(ys, np.sin(xs))
        assert checked(np.ones(4))[0].get() is None
