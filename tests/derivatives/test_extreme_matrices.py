"""Determinants and inverses of matrices with extreme elements: products on the way do not over- or underflow."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import lawful.numpy as lnp
from lawful import ops
from lawful.autodiff import grad, jacfwd, jacrev, value_and_grad
from lawful.batching import vmap
from lawful.linalg import expm
from lawful.staging import jit

Function = Callable[..., Any]
Array = np.ndarray[Any, Any]


def beside_identity(batched: Function) -> Function:
    """Returns a function of one matrix, from one of several matrices, which is compiled once."""
    return lambda x: batched(np.stack([np.eye(len(x), dtype=x.dtype), x]))[1]


FORMS: dict[str, Callable[[Function], Function]] = {
    "known": lambda f: lambda x: value_and_grad(f)(x)[0],
    "numpy": lambda f: jit(f, backend="numpy"),
    "xla": lambda f: jit(f, backend="xla"),
    "batched": lambda f: beside_identity(jit(vmap(f), backend="xla")),
}
FORMS_OF_DERIVATIVES = {**FORMS, "known": lambda f: f}
DIAGONALS = (
    (1e200, 1e200, 1e-300), (1e-200, 1e-200, 1e300), (1e200, 1e-200, 1e200), (1e300, 1e300, 1e300),
    (1e-300, 1e-300, 1e-300), (1.0, 0.0, 1e300), (1e200, 1e-200), (1e200, 1e200),
)  # fmt: skip
ORDERS = {n: [*itertools.permutations(range(n))] for n in (2, 3)}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("form", FORMS)
def test_det_of_few_rows_of_extreme_elements(form: str) -> None:
    det = FORMS[form](lnp.linalg.det)
    matrices = [np.diag(d)[list(order)] for d in DIAGONALS for order in ORDERS[len(d)]]
    matrices += [np.array(m) for m in ([[1e200, 1e200], [1e200, 2e200]], [[1e-200, 1e200], [1e-300, 1e200]])]
    for matrix in matrices:
        np.testing.assert_allclose(det(matrix), np.linalg.det(matrix), rtol=1e-12, err_msg=f"{matrix}")


@pytest.mark.parametrize("form", ["numpy", "xla"])
def test_det_gradient_of_extreme_elements(form: str) -> None:
    """The matrix of cofactors, of which one is infinite."""
    gradient = jit(grad(lnp.linalg.det), backend=form)
    with np.errstate(all="ignore"):
        found = gradient(np.diag([1e200, 1e200, 1e-300])[[2, 0, 1]])
    expected = np.diag([1e-100, 1e-100, np.inf])[[2, 0, 1]]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("scale", [1e200, 1e155, 1e-200])
def test_det_gradient_of_well_conditioned_extreme_matrices(scale: float) -> None:
    """It comes from the inverse, also where the square of the norm overflows."""
    expected = np.diag([scale * scale] * 3)
    found = grad(lnp.linalg.det)(scale * np.eye(3))
    np.testing.assert_allclose(np.diag(found), np.diag(expected), rtol=1e-12)


#: By the number of rows: regular, not symmetric, with zeros; and one of rank one.
SMALL_MATRICES = {
    2: (np.array([[1.0, 3.0], [-2.0, 5.0]]), np.ones((2, 2))),
    3: (np.array([[1.0, 3.0, 0.0], [-2.0, 5.0, 1.0], [4.0, -1.0, 2.0]]), np.zeros((3, 3))),
    4: (np.diag([1.0, 2.0, 3.0, 4.0])[[2, 0, 3, 1]] + np.eye(4), np.diag([1.0, 2.0, 3.0, 0.0])),
}
EXPONENTS = {"float64": (-600, -400, 400, 600), "float32": (-90, -45, 45, 90), "complex128": (-400, 400)}
HESSIANS = {"reverse": lambda f, **k: jacrev(jacrev(f, **k), **k), "mixed": lambda f, **k: jacfwd(jacrev(f, **k), **k)}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("form", FORMS_OF_DERIVATIVES)
@pytest.mark.parametrize("dtype", EXPONENTS)
@pytest.mark.parametrize("rows", SMALL_MATRICES)
def test_det_gradient_is_homogeneous(rows: int, dtype: str, form: str) -> None:
    """The gradient at ``2**k x`` is ``2**((n - 1) k)`` times that at ``x``, where the determinant is 0 or infinite."""
    gradient = FORMS_OF_DERIVATIVES[form](grad(lnp.linalg.det, holomorphic=dtype == "complex128"))
    for matrix in [m.astype(dtype) for m in SMALL_MATRICES[rows]]:
        matrix = matrix * (1 + 2j) if dtype == "complex128" else matrix
        expected = grad(lnp.linalg.det, holomorphic=dtype == "complex128")(matrix)
        for exponent in EXPONENTS[dtype]:
            found = gradient(times_power(matrix, exponent))
            check_scaled(found, expected, (rows - 1) * exponent, f"{matrix} * 2**{exponent}")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("form", ["known", "numpy", "xla"])
@pytest.mark.parametrize("hessian", HESSIANS)
@pytest.mark.parametrize("rows", SMALL_MATRICES)
def test_det_hessian_is_homogeneous(rows: int, hessian: str, form: str) -> None:
    """It is ``2**((n - 2) k)`` times that at ``x``, of matrices whose gradient may be 0 or infinite too."""
    found = FORMS_OF_DERIVATIVES[form](HESSIANS[hessian](lnp.linalg.det))
    for matrix in SMALL_MATRICES[rows]:
        expected = HESSIANS[hessian](lnp.linalg.det)(matrix)
        for exponent in (-450, 450) if rows == 4 else (-600, -400, 400, 600):
            check_scaled(
                found(times_power(matrix, exponent)), expected, (rows - 2) * exponent, f"{matrix} * 2**{exponent}"
            )


def times_power(x: Array, exponent: int) -> Array:
    return (x * np.float64(2.0) ** exponent).astype(x.dtype)


def check_scaled(found: Array, expected: Array, exponent: int, message: str) -> None:
    """Checks ``2**exponent`` times the expected numbers, up to rounding of the largest."""
    half, rest = exponent // 2, exponent - exponent // 2
    expected = times_power(times_power(expected, half), rest)
    is_finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.isfinite(found), is_finite, err_msg=message)
    info = np.finfo(expected.dtype)
    error = np.abs(found - expected)[is_finite]
    assert (error <= 200 * info.eps * np.abs(expected[is_finite]).max(initial=0) + info.tiny).all(), message


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("element", [3.0, 0.1, -7e-30, 6e30, 0.0])
def test_det_hessian_of_one_row_is_zero(dtype: str, element: float) -> None:
    """Exactly: the determinant is the element. Derivatives by the inverse would be zero up to rounding."""
    x = np.array([[element]], dtype)
    for hessian in (jacfwd(jacrev(lnp.linalg.det)), jacrev(jacrev(lnp.linalg.det)), jacrev(jacfwd(lnp.linalg.det))):
        np.testing.assert_array_equal(hessian(x), np.zeros((1, 1, 1, 1), dtype))
    np.testing.assert_array_equal(grad(lnp.linalg.det)(x), np.ones((1, 1), dtype))


@pytest.mark.parametrize("shape", [(0, 0), (3, 0, 0), (0, 2, 2)])
def test_balanced_of_empty_matrices(shape: tuple[int, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ops.balanced(np.zeros(shape)).shape == shape
        assert ops.mean_exponents(np.zeros(shape)).shape == shape[:-2]


DERIVED: dict[str, Callable[[Function], Function]] = {
    "known": lambda f: f,
    "numpy": lambda f: jit(f, backend="numpy"),
    "xla": lambda f: jit(f, backend="xla"),
}
SCALES = ((1e200, 1e-200), (1e200, 1.0, 1e-200), (1e-200, 1e-200), (1e200, 1e200), (1e100, 1e50, 1.0, 1e-150))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("form", DERIVED)
@pytest.mark.parametrize("scales", SCALES, ids=str)
def test_inv_gradient_of_extreme_elements(scales: tuple[float, ...], form: str) -> None:
    """The gradient of the sum of all elements is infinite only where it overflows."""
    found = DERIVED[form](grad(lambda x: lnp.linalg.inv(x).sum()))(np.diag(scales))
    inverse = 1 / np.array(scales)
    np.testing.assert_allclose(found, -np.outer(inverse, inverse), rtol=1e-12, atol=1e-300)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("outer", [jacfwd, jacrev])
@pytest.mark.parametrize("inner", [jacfwd, jacrev])
@pytest.mark.parametrize("form", DERIVED)
def test_slogdet_hessian_of_extreme_elements(form: str, inner: Function, outer: Function) -> None:
    """The derivative by elements (i, j) and (k, l) is that of the inverse, ``-x⁻¹[j, k] x⁻¹[l, i]``.

    Twice in forward mode, an infinite one makes the others along its direction NaN (docs/derivatives.md).
    """
    for scales in SCALES:
        hessian = DERIVED[form](outer(inner(lambda x: lnp.linalg.slogdet(x)[1])))
        inverse = np.diag(1 / np.array(scales))
        expected = -np.einsum("jk,li->ijkl", inverse, inverse)
        if inner is outer is jacfwd:
            is_infinite = np.isinf(expected)
            expected[is_infinite.any((0, 1)) & ~is_infinite] = np.nan
        np.testing.assert_allclose(hessian(np.diag(scales)), expected, rtol=1e-12, atol=1e-300, err_msg=f"{scales}")


@pytest.mark.parametrize("form", DERIVED)
@pytest.mark.parametrize("shift", [-690.0, -600.0, 0.0, 600.0, 690.0])
def test_expm_gradient_of_shifted_matrices(shift: float, form: str) -> None:
    """The exponential of ``x + s I`` is ``exp(s)`` times the exponential of ``x``."""
    x, weights = np.array([[0.3, 1.2], [-0.7, 0.1]]), np.array([[1.0, 2.0], [3.0, -1.0]])
    found = DERIVED[form](grad(lambda x: (weights * expm(x)).sum()))(x + shift * np.eye(2))
    expected = scipy.linalg.expm_frechet(x.T, weights, compute_expm=False)
    np.testing.assert_allclose(found, np.exp(shift) * expected, rtol=1e-11)
