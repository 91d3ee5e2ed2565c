"""Linear solvers that iterate, with the derivatives of the solution."""

import numpy as np
import pytest

from lawful.autodiff import grad, hessian, jacfwd, jacrev, jvp, linear_transpose, linearize, vjp
from lawful.batching import vmap
from lawful.control_flow import custom_linear_solve, fori_loop, linear_solve_p, while_loop
from lawful.core import (
    ArgumentTypeError,
    NonArrayError,
    NotLinearError,
    alpha_equivalent,
    check_jaxpr,
    float0,
    get_aval,
    parse_jaxpr,
)
from lawful.ops import dot, full_like, reduce_sum, sin, transpose
from lawful.staging import jit, make_jaxpr

RANDOM = np.random.default_rng(0)
B = RANDOM.normal(size=3)
A = RANDOM.normal(size=(3, 3)) * 0.3 + 2.0 * np.eye(3)


def total(x):
    return reduce_sum(x, (0,))


def richardson(matvec, b):
    """Iterates until the residual is small."""

    def residual(x):
        return b - matvec(x)

    def proceed(x):
        r = residual(x)
        return total(r * r) > 1e-28

    return while_loop(proceed, lambda x: x + 0.3 * residual(x), full_like(b, 0.0))


def conjugate_gradients(matvec, b):
    def step(state):
        x, r, p, squared = state
        along = matvec(p)
        length = squared / total(p * along)
        r = r - length * along
        new = total(r * r)
        return x + length * p, r, r + new / squared * p, new

    start = (full_like(b, 0.0), b, b, total(b * b))
    return while_loop(lambda state: state[3] > 1e-28, step, start)[0]


def solve(a, b):
    return custom_linear_solve(lambda x: dot(a, x), b, richardson, richardson)


def symmetric_solve(s, b):
    a = dot(s, transpose(s, (1, 0)))
    return custom_linear_solve(lambda x: dot(a, x), b, conjugate_gradients, symmetric=True)


def close(got, expected, atol=1e-10):
    np.testing.assert_allclose(got, expected, atol=atol, rtol=1e-9)


@pytest.fixture(params=[solve, symmetric_solve])
def solver(request):
    return request.param


def matrix_of(solver, a):
    return a if solver is solve else a @ a.T


def test_custom_linear_solve_solutions(solver):
    expected = np.linalg.solve(matrix_of(solver, A), B)
    close(solver(A, B), expected)
    close(jit(solver, backend="numpy")(A, B), expected)


def loss_of(solver):
    return lambda a, b: total(sin(solver(a, b)))


def test_custom_linear_solve_first_derivatives(solver, difference_quotient):
    loss = loss_of(solver)
    a_bar, b_bar = grad(loss, (0, 1))(A, B)
    matrix = matrix_of(solver, A)
    x = np.linalg.solve(matrix, B)
    adjoint = np.linalg.solve(matrix.T, np.cos(x))
    close(b_bar, adjoint)
    matrix_bar = -np.outer(adjoint, x)
    close(a_bar, matrix_bar if solver is solve else (matrix_bar + matrix_bar.T) @ A)
    t, u = RANDOM.normal(size=(3, 3)), RANDOM.normal(size=3)
    tangent = jvp(solver, (A, B), (t, u))[1]
    close(tangent, difference_quotient(solver, (A, B), (t, u)), 1e-8)
    close(linearize(solver, A, B)[1](t, u), tangent)
    for a, b in zip(jit(grad(loss, (0, 1)), backend="numpy")(A, B), (a_bar, b_bar), strict=True):
        close(a, b)


def test_custom_linear_solve_second_derivatives(solver, difference_quotient):
    loss = loss_of(solver)
    t, u = RANDOM.normal(size=(3, 3)), RANDOM.normal(size=3)
    gradient = grad(loss, (0, 1))
    along = jvp(gradient, (A, B), (t, u))[1]
    for got, expected in zip(along, difference_quotient(gradient, (A, B), (t, u)), strict=True):
        close(got, expected, 1e-7)
    by_reverse = vjp(gradient, A, B)[1]((t, u))
    for got, expected in zip(by_reverse, along, strict=True):  # Hessians are symmetric
        close(got, expected)
    close(hessian(loss, 1)(A, B), jacrev(jacrev(loss, 1), 1)(A, B))
    close(hessian(loss, 1)(A, B), jacfwd(jacfwd(loss, 1), 1)(A, B))


@pytest.mark.parametrize("in_axes", [(0, 0), (0, None), (None, 0), (2, 1)])
def test_custom_linear_solve_vmap_is_the_loop(solver, in_axes):
    a = np.stack([A, A + 0.1, 1.5 * A], -1 if in_axes[0] == 2 else 0)
    b = RANDOM.normal(size=(3, 4) if in_axes[1] == 1 else (3, 3))
    if in_axes == (2, 1):
        b = b[:, :3]
    args = [x if axis is not None else x[0] for x, axis in zip((a, b), in_axes, strict=True)]
    loss = loss_of(solver)
    for function in (solver, grad(loss), grad(loss, 1), lambda a, b: jvp(solver, (a, b), (a, b))[1]):
        got = vmap(function, in_axes)(*args)
        for i in range(3):
            element = [x if axis is None else np.take(x, i, axis) for x, axis in zip(args, in_axes, strict=True)]
            close(got[i], function(*element))


def test_custom_linear_solve_vmap_with_separate_trip_counts():
    scales = np.array([1.0, 1e-6, 1e6])
    close(vmap(lambda s: solve(A, s * B))(scales), [solve(A, s * B) for s in scales], 1e-8)
    close(vmap(solve, (0, None))(np.zeros((0, 3, 3)), B), np.zeros((0, 3)))


def test_custom_linear_solve_is_linear_in_b():
    (b_bar,) = linear_transpose(lambda b: solve(A, b), B)(B)
    close(b_bar, np.linalg.solve(A.T, B))
    with pytest.raises(NotLinearError, match="it is linear in the right-hand side only"):
        linear_transpose(lambda a: solve(a, B), A)(B)


def test_custom_linear_solve_trees():
    def matvec(v):
        return {"p": 2.0 * v["p"] + v["q"][0], "q": (v["q"][0] - v["p"],)}

    def by_hand(matvec, b):
        return {"p": (b["p"] - b["q"][0]) / 3.0, "q": ((b["p"] + 2.0 * b["q"][0]) / 3.0,)}

    def transposed_by_hand(vecmat, b):
        return {"p": (b["p"] + b["q"][0]) / 3.0, "q": ((2.0 * b["q"][0] - b["p"]) / 3.0,)}

    def f(p, q):
        x = custom_linear_solve(matvec, {"p": p, "q": (q,)}, by_hand, transposed_by_hand)
        return matvec(x)

    found = f(1.0, 2.0)
    close([found["p"], found["q"][0]], [1.0, 2.0])
    close(grad(lambda p, q: sin(f(p, q)["p"]), (0, 1))(1.0, 2.0), (np.cos(1.0), 0.0))
    close(grad(lambda p, q: sin(f(p, q)["q"][0]), (0, 1))(1.0, 2.0), (0.0, np.cos(2.0)))


def test_custom_linear_solve_partly_differentiated_map():
    def solution(a, b, c):
        def solve(_, v):
            return v[0] / (a * a), v[1] / 4.0

        return custom_linear_solve(lambda v: (a * a * v[0], 4.0 * v[1]), (b, c), solve, symmetric=True)

    # x = b / a², y = c / 4: only the first row of the map depends on a; none, one or both of b and c depend on it too.
    a, b, c = 2.0, 3.0, 5.0
    close(jvp(lambda a: solution(a, b, c), (a,), (1.0,))[1], (-2.0 * b / a**3, 0.0))
    close(jvp(lambda a, b: solution(a, b, c), (a, b), (1.0, 1.0))[1], (1.0 / a**2 - 2.0 * b / a**3, 0.0))
    close(jvp(lambda a, c: solution(a, b, c), (a, c), (1.0, 1.0))[1], (-2.0 * b / a**3, 0.25))
    close(jvp(solution, (a, b, c), (1.0, 1.0, 1.0))[1], (1.0 / a**2 - 2.0 * b / a**3, 0.25))
    close(grad(lambda *xs: solution(*xs)[0] * solution(*xs)[1], (0, 1, 2))(a, b, c), (-0.9375, 0.3125, 0.1875))


def test_custom_linear_solve_partly_differentiated_b():
    """Only one leaf of a tree depends on the differentiated argument."""

    def f(p):
        def halve(_, b):
            return (b[0] / 2.0, b[1] / 2.0)

        return total(custom_linear_solve(lambda v: (2.0 * v[0], 2.0 * v[1]), (p, B), halve, symmetric=True)[0])

    close(grad(f)(B), [0.5] * 3)


def test_custom_linear_solve_complex():
    def f(a, b):
        return custom_linear_solve(lambda x: dot(a, x), b, lambda _, b: dot(np.linalg.inv(c), b), by_transpose)

    def by_transpose(_, b):
        return dot(np.linalg.inv(c).T, b)

    c = A + 0.5j * A.T
    b = B + 1j
    close(f(c, b), np.linalg.solve(c, b))
    (b_bar,) = vjp(lambda b: f(c, b), b)[1](b)
    close(b_bar, np.linalg.solve(c.T, b))  # a transpose without conjugation


def test_custom_linear_solve_has_aux():
    def counting(matvec, b):
        x = fori_loop(0, 200, lambda _, x: x + 0.3 * (b - matvec(x)), full_like(b, 0.0))
        return x, {"trip_count": 200, "norm": total(x * x)}

    def f(a, b):
        return custom_linear_solve(lambda x: dot(a, x), b, counting, counting, has_aux=True)

    x, aux = f(A, B)
    close(x, np.linalg.solve(A, B))
    assert aux["trip_count"] == 200
    _, (x_dot, aux_dot) = jvp(f, (A, B), (A, B))
    close(x_dot, jvp(solve, (A, B), (A, B))[1])
    assert aux_dot["norm"] == 0.0
    assert get_aval(aux_dot["trip_count"]).dtype == float0
    close(grad(lambda a: total(f(a, B)[0]))(A), grad(lambda a: total(solve(a, B)))(A))
    batched, aux = vmap(f, (None, 0))(A, np.stack([B, 2.0 * B]))
    close(batched, [solve(A, B), solve(A, 2.0 * B)])
    close(aux["norm"], [total(solve(A, B) ** 2), total(solve(A, 2.0 * B) ** 2)])


def test_custom_linear_solve_steps_are_not_differentiated(primitives_of):
    """The backward pass is a solve, whatever the solver does: the loop has no residuals."""
    kept = vjp(solve, A, B)[1].jaxpr.consts
    assert sum(x.size for x in kept) <= 2 * A.size + 2 * B.size
    found = primitives_of(make_jaxpr(grad(loss_of(solve)))(A, B))
    assert found["linear_solve"] == 2
    assert found["scan"] == 0


def test_custom_linear_solve_jaxpr_prints_and_parses():
    for f in (solve, grad(loss_of(solve)), lambda a, b: vmap(solve, (None, 0))(a, b * np.ones((2, 1)))):
        closed = make_jaxpr(f)(A, B)
        check_jaxpr(closed)
        assert alpha_equivalent(parse_jaxpr(str(closed), closed.consts), closed)
    assert linear_solve_p.name == "linear_solve"


@pytest.mark.parametrize(
    ("matvec", "b", "solver", "options", "text"),
    [
        (lambda x: x[:2], B, richardson, {}, r"expected matvec to give the shapes and dtypes of b, got f64\[2\]"),
        (lambda x: (x,), B, richardson, {}, "expected matvec to give a tree like b"),
        (lambda x: x, B, lambda _, b: (b, b), {}, "expected solve to give a tree like b"),
        (lambda x: x, B, lambda _, b: b.astype("float32"), {}, r"expected solve to give the shapes and dtypes of b"),
        (lambda x: x, B, lambda _, b: b, {"has_aux": True}, r"expected solve to return a pair \(solution, aux\), got"),
        (lambda x: x, np.arange(3), lambda _, b: b, {}, r"expected floating or complex numbers as b, got i64\[3\] at"),
        (lambda x: x, B, None, {}, "custom_linear_solve: expected a function, got None"),
        (
            lambda x: x,
            B,
            richardson,
            {"transpose_solve": lambda _, b: 1.0},
            "expected transpose_solve to give the shapes and dtypes of b",
        ),
    ],
)
def test_custom_linear_solve_errors(matvec, b, solver, options, text):
    with pytest.raises(ArgumentTypeError, match=f"custom_linear_solve.*{text.removeprefix('custom_linear_solve')}"):
        custom_linear_solve(matvec, b, solver, **options)


def test_custom_linear_solve_errors_of_reverse_mode():
    with pytest.raises(NotLinearError):
        custom_linear_solve(lambda x: x * x, B, richardson, richardson)
    with pytest.raises(NonArrayError):
        custom_linear_solve(lambda x: x, "b", richardson)

    def one_way(b):
        return total(custom_linear_solve(lambda x: dot(A, x), b, richardson))

    close(jvp(one_way, (B,), (B,))[1], total(solve(A, B)))
    with pytest.raises(ArgumentTypeError, match="expected a solver of the transposed system to differentiate in rev"):
        grad(one_way)(B)
