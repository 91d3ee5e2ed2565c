"""Derivatives of functions of ``lawful.numpy`` and ``lawful.special`` at ties, zeros and kinks."""

from typing import Any

import numpy as np
import pytest

import lawful.numpy as lnp
from lawful import ops, special
from lawful.autodiff import grad, jacfwd, jacrev
from lawful.batching import vmap
from lawful.staging import jit


@pytest.mark.parametrize(("function", "scale"), [(lnp.logaddexp, 1.0), (lnp.logaddexp2, np.log(2.0))])
def test_logaddexp_second_derivative_at_a_tie(function: Any, scale: float) -> None:
    for f in (function, lambda x, y: function.reduce(lnp.stack([x, y])), jit(function, backend="numpy")):
        assert grad(f)(1.0, 1.0) == 0.5
        np.testing.assert_allclose(grad(grad(f))(1.0, 1.0), 0.25 * scale)
        np.testing.assert_allclose(grad(grad(f), 1)(1.0, 1.0), -0.25 * scale)


def test_logaddexp_derivatives_at_infinities() -> None:
    inf = np.inf
    for point, expected in {(inf, inf): (1, 1), (-inf, 1.0): (0, 1), (1.0, -inf): (1, 0), (inf, 1.0): (1, 0)}.items():
        np.testing.assert_array_equal(grad(lnp.logaddexp, (0, 1))(*point), expected)


@pytest.mark.parametrize("x", [0.0, 1e-9, -1e-9])
def test_i0_and_i1_derivatives_at_zero(x: float) -> None:
    for function, expected in (
        (special.i0, (1.0, x / 2, 0.5, 3 * x / 8)),
        (lnp.i0, (1.0, x / 2, 0.5, 3 * x / 8)),
        (special.i1, (x / 2, 0.5, 3 * x / 8, 0.375)),
    ):
        for value in expected:
            np.testing.assert_allclose(function(x), value, rtol=1e-14)
            function = grad(function)
    assert grad(grad(lambda b: lnp.kaiser(5, b).sum()))(0.0) == -1.25


def test_logsumexp_derivative_by_a_zero_factor() -> None:
    a, b = np.array([1.0, 2.0, 1000.0]), np.array([0.0, 1.0, 0.0])
    np.testing.assert_allclose(grad(lambda b: special.logsumexp(a, b=b))(b), [np.exp(-1.0), 1.0, 0.0])


def test_roots_derivative_by_a_zero_last_coefficient() -> None:
    got = jacfwd(lnp.roots)(np.array([1.0, -3.0, 2.0, 0.0]))
    np.testing.assert_allclose(got[0], [0, 0, 0, -0.5], atol=1e-14)
    np.testing.assert_allclose(got[1], [1, 1, 1, 1], atol=1e-13)


def test_complex_abs_and_sign_derivatives_at_zero() -> None:
    z = np.array([0j, 3 + 4j])
    np.testing.assert_allclose(grad(lambda z: lnp.abs(z).sum())(z), [0, 0.6 - 0.8j])
    second = grad(lambda z: lnp.real(grad(lambda z: lnp.abs(z).sum())(z)).sum())(z)
    np.testing.assert_allclose(second, [0, 0.128 + 0.096j])


def test_clip_derivatives_between_equal_bounds() -> None:
    assert grad(lnp.clip, (0, 1, 2))(1.0, 1.0, 1.0) == (0.0, 0.0, 1.0)
    assert grad(lambda x: lnp.clip(x, 2.0, 2.0))(2.0) == 0.0
    assert grad(lambda x: lnp.clip(x, 0.0, 1.0))(1.0) == 0.5


@pytest.mark.parametrize("function", [lnp.max, lnp.min, lnp.ptp])
def test_extremum_derivative_of_nan_is_nan_in_both_modes(function: Any) -> None:
    for x in (np.array([np.nan, 1.0, 2.0]), np.array([1.0, np.nan, np.nan])):
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(jacfwd(function)(x), [np.nan] * 3)
            np.testing.assert_array_equal(grad(function)(x), [np.nan] * 3)
            np.testing.assert_array_equal(jit(grad(function), backend="numpy")(x), [np.nan] * 3)


def test_clamp_derivative_of_nan_passes() -> None:
    assert grad(lambda x: ops.clamp(0.0, x, 1.0))(np.nan) == 1.0


def test_cumlogsumexp_derivative_beside_infinity() -> None:
    """Infinite elements have the derivative 1, like the operands of ``logaddexp``."""
    for derivative in (jacfwd, jacrev):
        got = derivative(ops.cumlogsumexp)(np.array([np.inf, 0.0, np.inf]))
        np.testing.assert_array_equal(got, [[1, 0, 0], [1, 0, 0], [1, 0, 1]])
        got = derivative(ops.cumlogsumexp)(np.array([-np.inf, -np.inf, 2.0]))
        np.testing.assert_array_equal(got, [[1, 0, 0], [0, 0, 0], [0, 0, 1]])


def _pieces(x: Any) -> Any:
    functions = [lnp.sqrt, lambda x: lnp.log(x - 1.0), lambda x: lnp.sqrt(1.0 - x)]
    return lnp.piecewise(x, [x > 0.0, x > 2.0], functions)


@pytest.mark.parametrize("count", range(6))
def test_piecewise_derivative_where_other_pieces_have_none(count: int) -> None:
    """Each piece is smooth where it is used, and NaN or infinite elsewhere; a prefix leaves pieces without elements."""
    x = np.array([-1.0, 0.0, 0.5, 1.5, 3.0])[:count]
    expected = np.array([-np.sqrt(0.125), -0.5, np.sqrt(0.5), 0.5 / np.sqrt(1.5), 0.5])[:count]
    total = grad(lambda x: lnp.sum(_pieces(x)))
    for derivative in (
        total,
        jit(total, backend="numpy"),
        vmap(grad(_pieces)),
        lambda x: np.diagonal(jacfwd(_pieces)(x)),
    ):
        np.testing.assert_allclose(derivative(x), expected, rtol=1e-14)


def test_piecewise_integer_conditions() -> None:
    x = np.array([1.0, 2.0, 3.0])
    got = lnp.piecewise(x, [np.array([2, 0, 0]), np.array([0, 3, 0])], [lambda x: -x, lambda x: 10.0 * x])
    np.testing.assert_array_equal(got, [-1.0, 20.0, 0.0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_det_derivative_of_rows_of_very_different_sizes(dtype: str) -> None:
    """A cofactor is the determinant by an element, also where the norms of the matrix and its inverse overflow."""
    large, small = (np.array([2.0**80, 2.0**-80]) if dtype == "float32" else np.array([1e200, 1e-200])).astype(dtype)
    permuted = np.diag(np.stack([large, small, large, small]))[[1, 0, 3, 2]]
    for a, cofactors in (
        (np.diag(np.stack([large, large, small, small])), np.diag(np.stack([small, small, large, large]))),
        (permuted, np.diag(np.stack([small, large, small, large]))[[1, 0, 3, 2]]),
        (np.diag(np.stack([large, small, large, 0 * small])), np.diag(np.stack([0 * large] * 3 + [large]))),
    ):

        def det(a: Any) -> Any:
            return lnp.real(lnp.linalg.det(a))

        for f in (grad(det), jit(grad(det), backend="numpy")):
            np.testing.assert_allclose(f(a), cofactors, rtol=1e-4 if dtype == "float32" else 1e-10)
        batch = np.stack([a, np.eye(4, dtype=dtype)])
        np.testing.assert_allclose(vmap(grad(det))(batch)[0], cofactors, rtol=1e-4)


def test_det_second_derivative_of_rows_of_very_different_sizes() -> None:
    a = np.diag([1e200, 1e200, 1e-200, 1e-200])
    for f in (jacfwd(grad(lnp.linalg.det)), jacrev(grad(lnp.linalg.det))):
        with np.errstate(over="ignore"):  # that by both of the last elements is the product of the first
            second = f(a)
        np.testing.assert_allclose([second[0, 0, 2, 2], second[0, 2, 2, 0], second[1, 1, 3, 3]], [1, -1, 1])
        assert np.isfinite(second[:2]).all()


def test_det_derivative_where_the_value_underflows() -> None:
    a = np.diag([1e-200, 1e-200, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(grad(lnp.linalg.det)(a), np.diag([1e-200, 1e-200, 0, 0, 0]))
