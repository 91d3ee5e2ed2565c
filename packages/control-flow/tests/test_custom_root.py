"""Roots found by iteration, with the derivatives of the implicit function theorem."""

import numpy as np
import pytest

from lawful.autodiff import checkpoint, grad, hessian, jacfwd, jacrev, jvp, linearize, saved_residuals, vjp
from lawful.batching import vmap
from lawful.control_flow import custom_linear_solve, custom_root, fori_loop, root_p, while_loop
from lawful.core import (
    ArgumentTypeError,
    MissingRuleError,
    NonArrayError,
    NotLinearError,
    alpha_equivalent,
    check_jaxpr,
    float0,
    get_aval,
    parse_jaxpr,
)
from lawful.ops import abs, cos, dot, floor, full_like, reduce_sum, sin
from lawful.staging import jit, make_jaxpr

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(3, 3)) * 0.3 + 2.0 * np.eye(3)
B = RANDOM.normal(size=3)


def total(x):
    return reduce_sum(x, (0,))


def close(got, expected, atol=1e-10):
    np.testing.assert_allclose(got, expected, atol=atol, rtol=1e-9)


def newton(f, x):
    return while_loop(lambda x: abs(f(x)) > 1e-13, lambda x: x - f(x) / grad(f)(x), x)


def cube_root(a):
    return custom_root(lambda x: x * x * x - a, 1.0, newton, lambda g, y: y / g(1.0))


def by_jacobian(g, y):
    return jacobian_solve(jacfwd(g)(full_like(y, 0.0)), y)


def jacobian_solve(matrix, y):
    """Solves by a fixed number of steps, which are differentiated."""
    x = full_like(y, 0.0)
    return fori_loop(0, 150, lambda _, x: x + 0.3 * (y - dot(matrix, x)), x)


def by_iteration(g, y):
    def iterate(matvec, b):
        def proceed(x):
            r = b - matvec(x)
            return total(r * r) > 1e-28

        return while_loop(proceed, lambda x: x + 0.3 * (b - matvec(x)), full_like(b, 0.0))

    return custom_linear_solve(g, y, iterate, iterate)


def vector_root(tangent_solve):
    def root(a, b):
        def f(x):
            return dot(a, x) + 0.1 * x * x * x - b

        def solve(f, x):
            return while_loop(lambda x: total(f(x) * f(x)) > 1e-28, lambda x: x - 0.3 * f(x), x)

        return custom_root(f, full_like(b, 0.0), solve, tangent_solve)

    return root


def test_custom_root_values():
    close(cube_root(8.0), 2.0)
    close(jit(cube_root, backend="numpy")(8.0), 2.0)
    x = vector_root(by_iteration)(A, B)
    close(A @ x + 0.1 * x**3, B)


def test_custom_root_scalar_derivatives():
    a = 8.0
    first, second, third = a ** (-2 / 3) / 3, -2 / 9 * a ** (-5 / 3), 10 / 27 * a ** (-8 / 3)
    close(grad(cube_root)(a), first)
    close(jvp(cube_root, (a,), (2.0,))[1], 2.0 * first)
    close(linearize(cube_root, a)[1](2.0), 2.0 * first)
    for derivative in (
        grad(grad(cube_root)),
        lambda a: jvp(grad(cube_root), (a,), (1.0,))[1],
        grad(lambda a: jvp(cube_root, (a,), (1.0,))[1]),
        jacfwd(jacfwd(cube_root)),
        jit(grad(jit(grad(cube_root), backend="numpy")), backend="numpy"),
    ):
        close(derivative(a), second)
    close(grad(grad(grad(cube_root)))(a), third)


@pytest.mark.parametrize("tangent_solve", [by_jacobian, by_iteration])
def test_custom_root_vector_derivatives(tangent_solve, difference_quotient):
    root = vector_root(tangent_solve)

    def loss(a, b):
        return total(sin(root(a, b)))

    x = root(A, B)
    adjoint = np.linalg.solve((A + np.diag(0.3 * x**2)).T, np.cos(x))
    a_bar, b_bar = grad(loss, (0, 1))(A, B)
    close(a_bar, -np.outer(adjoint, x))
    close(b_bar, adjoint)
    t, u = RANDOM.normal(size=(3, 3)), RANDOM.normal(size=3)
    close(jvp(root, (A, B), (t, u))[1], difference_quotient(root, (A, B), (t, u)), 1e-8)
    gradient = grad(loss, (0, 1))
    along = jvp(gradient, (A, B), (t, u))[1]
    for got, expected in zip(along, difference_quotient(gradient, (A, B), (t, u)), strict=True):
        close(got, expected, 1e-7)
    for got, expected in zip(vjp(gradient, A, B)[1]((t, u)), along, strict=True):
        close(got, expected)
    close(hessian(loss, 1)(A, B), jacrev(jacrev(loss, 1), 1)(A, B))


def test_custom_root_vmap_is_the_loop():
    values = np.array([1.0, 8.0, 1000.0])
    close(vmap(cube_root)(values), [1.0, 2.0, 10.0])
    close(vmap(grad(cube_root))(values), [grad(cube_root)(a) for a in values])
    close(jit(vmap(grad(cube_root)), backend="numpy")(values), [grad(cube_root)(a) for a in values])
    close(grad(lambda a: total(vmap(cube_root)(a)))(values), [grad(cube_root)(a) for a in values])
    root = vector_root(by_iteration)
    bs = np.stack([B, 2.0 * B])
    close(vmap(root, (None, 0))(A, bs), [root(A, b) for b in bs])
    jacobians = vmap(jacrev(root, 1), (None, 0))(A, bs)
    close(jacobians, [jacrev(root, 1)(A, b) for b in bs])


def test_custom_root_guess_has_no_derivative():
    def f(a, guess):
        return custom_root(lambda x: x * x - a, guess, newton, lambda g, y: y / g(1.0))

    close(grad(f, (0, 1))(4.0, 1.0), (0.25, 0.0))
    close(vmap(f, (None, 0))(4.0, np.array([1.0, -1.0])), [2.0, -2.0])
    close(jvp(lambda guess: f(4.0, guess), (1.0,), (1.0,)), (2.0, 0.0))


def test_custom_root_constant_component_has_no_tangent():
    def roots(x):
        return custom_root(
            lambda xy: (xy[0] * 2.0 - floor(x), xy[1] - cos(x) * x),
            (floor(x), x),
            lambda f, xy: (floor(x) / 2.0, cos(x) * x),
            lambda g, y: (y[0] / 2.0, y[1] * cos(x) / cos(x)),
        )

    for x in (0.4, np.array([0.4, 1.3])):
        first, second = linearize(roots, x)[1].jaxpr, linearize(lambda x: roots(x)[1], x)[1].jaxpr
        assert len(first.out_avals) == len(second.out_avals) == 1
        assert len(first.consts) == len(second.consts)
        assert saved_residuals(checkpoint(lambda x: roots(x)[0]), x) == []
        (fixed, moved) = jvp(roots, (x,), (np.ones_like(x),))[1]
        close(fixed, np.zeros_like(x))
        close(moved, np.cos(x) - np.sin(x) * x)


def test_custom_root_mixed_tangent_solve():
    def roots(a):
        # x + y = a, x − y = 1: both components depend on the first equation, the only one with a.
        return custom_root(
            lambda xy: (xy[0] + xy[1] - a, xy[0] - xy[1] - 1.0),
            (0.0, 0.0),
            lambda f, xy: ((a + 1.0) / 2.0, (a - 1.0) / 2.0),
            lambda g, y: ((y[0] + y[1]) / 2.0, (y[0] - y[1]) / 2.0),
        )

    assert tuple(map(float, jvp(roots, (3.0,), (2.0,))[1])) == (1.0, 1.0)
    assert float(grad(lambda a: roots(a)[1])(3.0)) == 0.5


def test_custom_root_trees_and_has_aux():
    def f(a):
        def residual(v):
            return {"p": v["p"] ** 2 - a, "q": (v["q"][0] - 2.0 * v["p"],)}

        def solve(_, guess):
            root = a**0.5
            return {"p": root + 0.0 * guess["p"], "q": (2.0 * root,)}, {"guess": guess["p"], "count": 3}

        def tangent_solve(g, y):
            slope = g({"p": 1.0, "q": (0.0,)})["p"]
            p = y["p"] / slope
            return {"p": p, "q": (y["q"][0] + 2.0 * p,)}

        return custom_root(residual, {"p": 1.0, "q": (1.0,)}, solve, tangent_solve, has_aux=True)

    root, aux = f(4.0)
    assert (root["p"], root["q"][0], aux["count"]) == (2.0, 4.0, 3)
    _, (root_dot, aux_dot) = jvp(f, (4.0,), (1.0,))
    close([root_dot["p"], root_dot["q"][0]], [0.25, 0.5])
    assert aux_dot["guess"] == 0.0
    assert get_aval(aux_dot["count"]).dtype == float0
    close(grad(lambda a: f(a)[0]["q"][0])(4.0), 0.5)


def test_custom_root_complex():
    def square_root(a):
        def solve(f, x):
            return fori_loop(0, 30, lambda _, x: x - f(x) / (2.0 * x), x)

        return custom_root(lambda x: x * x - a, 1.0 + 1.0j, solve, lambda g, y: y / g(1.0 + 0.0j))

    a = 3.0 + 4.0j
    close(square_root(a), 2.0 + 1.0j)
    close(grad(square_root, holomorphic=True)(a), 0.5 / (2.0 + 1.0j))


def test_custom_root_grad_of_iterative_tangent_solve():
    """Reverse mode needs an iterative tangent solve to be a `custom_linear_solve`."""

    def iterate(g, y):
        return while_loop(lambda x: abs(g(x) - y) > 1e-12, lambda x: x + 0.1 * (y - g(x)), y)

    def f(a):
        return custom_root(lambda x: x * x - a, 1.0, newton, iterate)

    close(jvp(f, (4.0,), (1.0,))[1], 0.25)
    with pytest.raises(NotLinearError, match="a predicate that does not depend on what is transposed"):
        grad(f)(4.0)


def test_custom_root_jaxpr_prints_and_parses():
    for f in (cube_root, grad(cube_root), lambda a: vmap(cube_root)(np.array([1.0, 2.0]) * a)):
        closed = make_jaxpr(f)(8.0)
        check_jaxpr(closed)
        assert alpha_equivalent(parse_jaxpr(str(closed), closed.consts), closed)


@pytest.mark.parametrize(
    ("f", "guess", "solve", "tangent_solve", "text"),
    [
        (lambda x: (x, x), 1.0, newton, lambda g, y: y, "expected f to give a tree like initial_guess"),
        (cos, 1.0, lambda f, x: B, lambda g, y: y, r"expected solve to give the shapes and dtypes of initial_guess"),
        (cos, 1.0, lambda f, x: x, lambda g, y: B, "expected tangent_solve to give the shapes and dtypes of initial"),
        (cos, 1, newton, lambda g, y: y, r"expected floating or complex numbers as initial_guess, got ~i64\[\] at"),
        (cos, 1.0, newton, 2.0, r"expected a function, got 2\.0"),
    ],
)
def test_custom_root_errors(f, guess, solve, tangent_solve, text):
    with pytest.raises(ArgumentTypeError, match=f"custom_root: {text}"):
        custom_root(f, guess, solve, tangent_solve)


def test_custom_root_is_not_linear():
    with pytest.raises(MissingRuleError, match="a root is not linear in what it depends on"):
        root_p.rule("transpose")
    with pytest.raises(NonArrayError):
        custom_root(cos, "x", newton, lambda g, y: y)
