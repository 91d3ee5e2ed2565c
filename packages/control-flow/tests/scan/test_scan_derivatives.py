"""The derivatives of `scan` equal those of the loop, in both modes and to any order, with and without checkpoints."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import grad, hessian, jacfwd, jacrev, jvp, linear_transpose, linearize, vjp
from lawful.control_flow import scan
from lawful.core import check_jaxpr, float0, get_aval
from lawful.staging import jit as jit_by
from lawful.staging import make_jaxpr

jit = partial(jit_by, backend="numpy")

W = np.random.default_rng(0).normal(size=(3, 3)) * 0.5
H = np.array([0.1, -0.2, 0.3])
XS = np.random.default_rng(1).normal(size=(6, 3))
POINT = (W, H, XS)
TANGENTS = (W[::-1] * 0.1, H + 1.0, XS * 0.3)


def matvec(w: Any, h: Any) -> Any:
    return ops.reduce_sum(w * h, (1,))


def step(w: Any, h: Any, x: Any) -> Any:
    after = ops.tanh(matvec(w, h) + x)
    return after, (after * x, ops.sin(h))


def scanned(w: Any, h: Any, xs: Any, **options: Any) -> Any:
    return scan(partial(step, w), h, xs, **options)


def unrolled(w: Any, h: Any, xs: Any, reverse: bool = False) -> Any:
    rows: dict[int, Any] = {}
    for i in range(6)[::-1] if reverse else range(6):
        h, rows[i] = step(w, h, xs[i])
    return h, tuple([ops.concatenate([ops.reshape(rows[i][k], (1, 3)) for i in range(6)], 0) for k in range(2)])


def total(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function with one scalar result that depends on all results of the function."""

    def summed(*args: Any) -> Any:
        leaves = tree.leaves(function(*args))
        return sum(ops.reduce_sum(ops.sin(y), tuple(range(get_aval(y).ndim))) for y in leaves)

    return summed


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "reverse": {"reverse": True},
    "unrolled": {"unroll": 4},
    "1 carry": {"checkpoints": 1},
    "2 carries": {"checkpoints": 2},
    "2 carries, reverse": {"checkpoints": 2, "reverse": True},
    "5 carries": {"checkpoints": 5},
    "9 carries": {"checkpoints": 9},
}
every_option = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


@every_option
def test_scan_forward_mode(options: Any, require_same: Callable[..., None]) -> None:
    expected = jvp(partial(unrolled, reverse=options.get("reverse", False)), POINT, TANGENTS)
    function = partial(scanned, **options)
    require_same(jvp(function, POINT, TANGENTS), expected, 1e-14)
    require_same(jvp(jit(function), POINT, TANGENTS), expected, 1e-14)
    require_same(jit(lambda *args: jvp(function, args, TANGENTS))(*POINT), expected, 1e-14)
    out, push = linearize(function, *POINT)
    require_same((out, push(*TANGENTS)), expected, 1e-14)
    check_jaxpr(push.jaxpr)


@every_option
def test_scan_reverse_mode(options: Any, require_same: Callable[..., None]) -> None:
    loss = total(partial(unrolled, reverse=options.get("reverse", False)))
    function = total(partial(scanned, **options))
    for argnums in (0, 1, 2, (0, 1, 2)):
        expected = grad(loss, argnums)(*POINT)
        require_same(grad(function, argnums)(*POINT), expected, 1e-13)
        require_same(jit(grad(function, argnums))(*POINT), expected, 1e-13)
        require_same(grad(jit(function), argnums)(*POINT), expected, 1e-13)
    check_jaxpr(make_jaxpr(grad(function, (0, 1, 2)))(*POINT))


@every_option
def test_scan_second_order(options: Any, require_same: Callable[..., None]) -> None:
    reverse = options.get("reverse", False)
    expected = hessian(lambda h: total(partial(unrolled, reverse=reverse))(W, h, XS))(H)

    def function(h: Any) -> Any:
        return total(partial(scanned, **options))(W, h, XS)

    for second in (hessian, lambda f: jacrev(jacrev(f)), lambda f: jacrev(jacfwd(f)), lambda f: jacfwd(jacfwd(f))):
        require_same(second(function)(H), expected, 1e-12)
    require_same(jit(jacrev(grad(function)))(H), expected, 1e-12)


@every_option
def test_scan_grad_of_each_result(options: Any, require_same: Callable[..., None]) -> None:
    """A missing cotangent is a symbolic zero."""
    reverse = options.get("reverse", False)

    def one(function: Callable[..., Any], i: int) -> Callable[..., Any]:
        return total(lambda *args: tree.leaves(function(*args))[i])

    for i in range(3):
        expected = grad(one(partial(unrolled, reverse=reverse), i), (0, 1, 2))(*POINT)
        require_same(grad(one(partial(scanned, **options), i), (0, 1, 2))(*POINT), expected, 1e-13)


@every_option
def test_scan_grad_by_python_numbers(options: Any) -> None:
    """Cotangents of Python numbers (a constant, a first carry, a factor) are Python numbers."""

    def function(a: Any, c: Any) -> Any:
        return scan(lambda c, x: (c * a + x * a, ()), c, np.ones(3), **options)[0]

    # a³ c + a³ + a² + a
    a, c = 1.5, 0.5
    found = grad(function, (0, 1))(a, c)
    np.testing.assert_allclose(found, (3 * a**2 * c + 3 * a**2 + 2 * a + 1, a**3))
    assert all(get_aval(ct).weak_type for ct in found)
    np.testing.assert_allclose(jit(grad(function, (0, 1)))(a, c), found)


@every_option
def test_scan_grad_with_integers(options: Any) -> None:
    def function(x: Any, counts: Any) -> Any:
        def body(carry: Any, n: Any) -> Any:
            i, y = carry
            return (i + n, y * ops.convert_element_type(i, np.float64)), i

        return scan(body, (np.int64(1), x), counts, **options)

    counts = np.array([1, 2, 3])
    factor = 1 * 2 * 4 if not options.get("reverse") else 1 * 4 * 6
    out, tangents = jvp(function, (2.0, counts), (1.0, np.zeros(3, float0)))
    assert out[0][1] == 2 * factor
    assert tangents[0][0].dtype == float0
    assert tangents[1].dtype == float0
    assert tangents[0][1] == factor
    assert grad(lambda x: function(x, counts)[0][1])(2.0) == factor
    pulled = vjp(function, 2.0, counts)[1](((np.zeros((), float0), 1.0), np.zeros(3, float0)))
    assert pulled[0] == factor
    assert pulled[1].dtype == float0


@every_option
def test_scan_complex_derivatives(options: Any) -> None:
    def function(z: Any) -> Any:
        return scan(lambda c, _: (c * z + 1.0, ()), np.complex128(1.0), length=3, **options)[0]

    z = 0.3 + 0.4j
    expected = 3 * z**2 + 2 * z + 1  # of z³ + z² + z + 1
    np.testing.assert_allclose(vjp(function, z)[1](np.complex128(1.0))[0], expected)
    np.testing.assert_allclose(jvp(function, (z,), (1.0 + 0j,))[1], expected)


@every_option
def test_scan_derivatives_of_length_zero(options: Any) -> None:
    def function(c: Any, xs: Any, a: Any) -> Any:
        return scan(lambda c, x: (c * x * a, c), c, xs, **options)

    none = np.zeros(0)
    for transformed in (
        grad(lambda *args: function(*args)[0], (0, 1, 2)),
        jit(grad(lambda *args: function(*args)[0], (0, 1, 2))),
    ):
        c, xs, a = transformed(2.0, none, 3.0)
        assert (c, a, xs.shape) == (1.0, 0.0, (0,))
    assert jvp(function, (2.0, none, 3.0), (1.0, none, 1.0))[1][0] == 1.0


@every_option
def test_scan_carry_differentiable_in_a_later_iteration(options: Any) -> None:
    """The first part of the carry depends on x from the second iteration on, the third part never."""

    def function(x: Any) -> Any:
        def body(c: Any, _: Any) -> Any:
            return (c[1], c[2] * x, c[2] + 1.0), c[0]

        (a, b, n), ys = scan(body, (1.0, 1.0, 1.0), length=4, **options)
        return a + 10.0 * b + 100.0 * n + ops.reduce_sum(ys, (0,))

    # a: 1, 1, x, 2x, 3x; b: 1, x, 2x, 3x, 4x; ys: 1, 1, x, 2x
    np.testing.assert_allclose(grad(function)(0.5), 3 + 40 + 3)
    np.testing.assert_allclose(jvp(function, (0.5,), (1.0,))[1], 46)
    np.testing.assert_allclose(jit(grad(function))(0.5), 46)


@every_option
def test_scan_linear_transpose(options: Any, require_same: Callable[..., None]) -> None:
    def function(h: Any, xs: Any) -> Any:
        def body(carry: Any, x: Any) -> Any:
            i, c = carry
            return (i + 1.0, matvec(W, c) * i + x), c

        (_, last), ys = scan(body, (np.float64(1.0), h), xs, **options)
        return last, ys

    transposed = linear_transpose(function, H, XS)
    ct = (H, XS)
    found = transposed(ct)
    require_same(found, vjp(function, H, XS)[1](ct), 1e-13)
    # ⟨w, J v⟩ = ⟨Jᵀ w, v⟩
    out = function(H, XS)
    left = sum(np.vdot(a, b) for a, b in zip(out, ct, strict=True))
    np.testing.assert_allclose(left, np.vdot(found[0], H) + np.vdot(found[1], XS))


def test_scan_nested_derivatives(require_same: Callable[..., None]) -> None:
    xs = XS.reshape(2, 3, 3)

    def nested(w: Any, h: Any, xs: Any, inner: Any, outer: Any) -> Any:
        def body(h: Any, rows: Any) -> Any:
            return scan(partial(step, w), h, rows, **inner)

        h, ys = scan(body, h, xs, **outer)
        return h, tuple([ops.reshape(y, (6, 3)) for y in ys])

    expected = grad(total(unrolled), (0, 1, 2))(*POINT)
    for inner in ({}, {"checkpoints": 2}):
        for outer in ({}, {"checkpoints": 1}):
            found = grad(total(partial(nested, inner=inner, outer=outer)), (0, 1, 2))(W, H, xs)
            require_same((*found[:2], found[2].reshape(6, 3)), expected, 1e-13)


def test_scan_gradient_records_no_empty_call() -> None:
    """The part of a linear call that depends on residuals alone may be nothing."""
    inner = jit(lambda c, x: ops.mul(ops.sin(c), x))
    loss = grad(lambda xs: scan(lambda c, x: (inner(c, x), None), 1.0, xs)[0])
    backward = make_jaxpr(loss)(np.ones(3)).jaxpr.eqns[-1]
    assert [eqn.primitive.name for eqn in backward.params["jaxpr"].jaxpr.eqns] == ["jit"]
