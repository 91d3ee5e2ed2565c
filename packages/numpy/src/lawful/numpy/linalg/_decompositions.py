"""Decompositions: Cholesky, QR, eigenvalues, singular values."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy
from lawful import ops
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy._eager import direct
from lawful.numpy.linalg._matrices import adjoint, by_numpy, check_stack, inexact
from lawful.numpy.linalg._reflections import reflections


class EigResult(NamedTuple):
    """Eigenvalues, and the eigenvectors in columns.

    >>> eig(numpy.diag([1.0, 2.0])).eigenvalues.real
    array([1., 2.])
    """

    eigenvalues: Any
    eigenvectors: Any


class EighResult(NamedTuple):
    """Ascending eigenvalues, and the eigenvectors in columns.

    >>> eigh(numpy.array([[2.0, 1.0], [1.0, 2.0]])).eigenvalues.round(6)
    array([1., 3.])
    """

    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    """A unitary matrix and an upper triangular one.

    >>> abs(qr(numpy.array([[3.0, 1.0], [4.0, 2.0]])).R).round(6)
    array([[5. , 2.2],
           [0. , 0.4]])
    """

    Q: Any
    R: Any


class SVDResult(NamedTuple):
    """Left singular vectors in columns, descending singular values, right singular vectors in rows.

    >>> svd(numpy.array([[0.0, 3.0], [4.0, 0.0]])).S.round(6)
    array([4., 3.])
    """

    U: Any
    S: Any
    Vh: Any


def _hermitian_part(x: Any) -> Any:
    (x,) = inexact("linalg", x)
    return (x + adjoint(x)) * get_aval(x).dtype.type(0.5)


_DOUBLE: Final = frozenset([numpy.dtype(numpy.float64)])


def _finite(a: Any) -> Any:
    """Returns an array of NumPy; raises ValueError if an element is not finite: the results are NaN."""
    if not numpy.isfinite(a).all():
        raise ValueError("not finite")
    return a


def _numpy_cholesky(a: Any) -> Any:
    rows, columns = a.shape[-2:]
    if rows != columns:
        raise ValueError(a.shape)
    return numpy.linalg.cholesky((a + a.swapaxes(-1, -2)) * 0.5)


@direct(_numpy_cholesky, types=_DOUBLE)
def cholesky(a: Any, /, *, upper: bool | None = None, symmetrize_input: bool | None = None) -> Any:
    """Returns the triangular matrices L with ``L Lᴴ = a``, or, with ``upper``, U with ``Uᴴ U = a``.

    Args:
      a: an array of shape (…, n, n): positive definite matrices.
      upper: whether the factor is upper triangular; by default it is lower. Where it is given, one triangle is read.
      symmetrize_input: whether ``(a + aᴴ) / 2`` is decomposed, as in jax; otherwise one triangle is read, as in
        NumPy. Of Hermitian matrices this is the same, up to the derivative, which is then Hermitian too.

    Raises:
      LinAlgError: the matrices are not square; or, where nothing is traced, not positive definite. Compiled or traced
        such a matrix gives NaN.
      ArgumentTypeError: the dtype is not one that LAPACK has.

    >>> cholesky(numpy.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])

    Source: ``numpy.linalg.cholesky``, ``jax.numpy.linalg.cholesky``.
    """
    check_stack("cholesky", a, square=True)
    (a,) = inexact("cholesky", a)
    symmetrizes = upper is None if symmetrize_input is None else symmetrize_input
    if symmetrizes and not upper:
        return _lower_of_part(a)
    return (_cholesky_of_part if symmetrizes else _cholesky)(a, upper=bool(upper))


@ops.composite()
def _lower_of_part(a: Any) -> Any:  # the common case, without settings
    return _cholesky(_hermitian_part(a), upper=False)


@ops.composite()
def _cholesky_of_part(a: Any, *, upper: bool) -> Any:
    return _cholesky(_hermitian_part(a), upper=upper)


@by_numpy(numpy.linalg.cholesky)
def _cholesky(a: Any, *, upper: bool) -> Any:
    # The upper triangle is the lower triangle of the adjoint.
    out = ops.cholesky(adjoint(a) if upper else a, symmetrize_input=False)
    return adjoint(out) if upper else out


def _numpy_qr(a: Any) -> QRResult:
    return QRResult(*numpy.linalg.qr(_finite(a)))


@direct(_numpy_qr, types=_DOUBLE)
def qr(a: Any, mode: str = "reduced") -> Any:
    """Returns the QR decomposition ``a = Q R``.

    Args:
      a: an array of shape (…, m, n).
      mode: ``"reduced"``, ``"complete"`` for a square Q, ``"r"`` for R alone, or ``"raw"`` for the transpose of R with
        the vectors of the reflections below its diagonal, and the factors of the reflections.

    Raises:
      LinAlgError: the array has fewer than two dimensions.
      ArgumentValueError: the mode is another one.

    >>> qr(numpy.array([[3.0], [4.0]])).R
    array([[-5.]])

    Source: ``numpy.linalg.qr``; about derivatives see `lawful.ops.qr`.
    """
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ArgumentValueError(f"qr: expected the mode 'reduced', 'complete', 'r' or 'raw', got {mode!r}")
    check_stack("qr", a)
    if mode == "raw":
        packed, factors = reflections(*inexact("qr", a))
        return QRResult(packed.mT, factors)
    q, r = ops.qr(*inexact("qr", a), full_matrices=mode == "complete")
    return r if mode == "r" else QRResult(q, r)


def _numpy_svd(a: Any, full_matrices: bool = True) -> SVDResult:
    return SVDResult(*numpy.linalg.svd(_finite(a), full_matrices))


@direct(_numpy_svd, types=_DOUBLE, most=2, names=("full_matrices",))
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Returns the singular value decomposition ``a = U diag(S) Vh``, or S alone.

    Args:
      a: an array of shape (…, m, n).
      full_matrices: whether U and Vh are square.
      compute_uv: whether singular vectors are computed.
      hermitian: that the matrices are Hermitian, which changes nothing here.

    Raises:
      LinAlgError: the array has fewer than two dimensions.

    >>> svd(numpy.array([[3.0, 0.0], [0.0, -4.0]]), compute_uv=False)
    array([4., 3.])

    Source: ``numpy.linalg.svd``; about derivatives see `lawful.ops.svd`.
    """
    check_stack("svd", a)
    (a,) = inexact("svd", a)
    if not compute_uv:
        return ops.svd(a, compute_uv=False)
    return SVDResult(*ops.svd(a, full_matrices=bool(full_matrices)))


def svdvals(x: Any, /) -> Any:
    """Returns the singular values of matrices, descending.

    >>> svdvals(numpy.array([[3.0, 0.0], [0.0, -4.0]]))
    array([4., 3.])

    Source: ``numpy.linalg.svdvals``.
    """
    return svd(x, compute_uv=False)


def _is_lower(name: str, UPLO: Any) -> bool:
    if UPLO is not None and (not isinstance(UPLO, str) or UPLO.upper() not in ("L", "U")):
        raise ArgumentValueError(f"{name}: expected UPLO to be 'L' or 'U', got {UPLO!r}; use one of these")
    return UPLO is None or UPLO.upper() == "L"


def _numpy_eigh(a: Any) -> EighResult:
    rows, columns = a.shape[-2:]
    if rows != columns:
        raise ValueError(a.shape)
    return EighResult(*numpy.linalg.eigh((_finite(a) + a.swapaxes(-1, -2)) * 0.5))


@direct(_numpy_eigh, types=_DOUBLE)
def eigh(a: Any, UPLO: str | None = None, symmetrize_input: bool | None = None) -> EighResult:
    """Returns the eigenvalues and eigenvectors of Hermitian matrices.

    Args:
      a: an array of shape (…, n, n).
      UPLO: which triangle is read, ``"L"`` or ``"U"``, as in NumPy; where it is None and ``symmetrize_input`` is False,
        the lower one.
      symmetrize_input: whether ``(a + aᴴ) / 2`` is decomposed, as in jax; of Hermitian matrices it is the same. By
        default it is where ``UPLO`` is None.

    Raises:
      LinAlgError: the matrices are not square.
      ArgumentValueError: ``UPLO`` is neither.

    >>> eigh(numpy.array([[2.0, 1.0], [1.0, 2.0]])).eigenvalues
    array([1., 3.])

    Source: ``numpy.linalg.eigh``, ``jax.numpy.linalg.eigh``; about derivatives see `lawful.ops.eigh`.
    """
    lower = _is_lower("eigh", UPLO)
    if symmetrize_input is None:
        symmetrize_input = UPLO is None
    check_stack("eigh", a, square=True)
    v, w = ops.eigh(*inexact("eigh", a), lower=lower, symmetrize_input=symmetrize_input)
    return EighResult(w, v)


def eigvalsh(a: Any, UPLO: str | None = None, *, symmetrize_input: bool | None = None) -> Any:
    """Returns the eigenvalues of Hermitian matrices, ascending; the arguments and errors are those of :func:`eigh`.

    >>> eigvalsh(numpy.array([[2.0, 1.0], [1.0, 2.0]]))
    array([1., 3.])

    Source: ``numpy.linalg.eigvalsh``.
    """
    check_stack("eigvalsh", a, square=True)
    return eigh(a, UPLO, symmetrize_input).eigenvalues


def eig(a: Any) -> EigResult:
    """Returns the eigenvalues and right eigenvectors of square matrices, always complex.

    NumPy gives real arrays where all eigenvalues happen to be; a dtype does not depend on values here.

    Raises:
      LinAlgError: the matrices are not square.
      NotImplementedError: it is differentiated: `lawful.ops.eig` says why, and how to have it.

    >>> eig(numpy.array([[2.0, 1.0], [0.0, 3.0]])).eigenvalues
    array([2.+0.j, 3.+0.j])

    Source: ``numpy.linalg.eig``, ``jax.numpy.linalg.eig``.
    """
    check_stack("eig", a, square=True)
    return EigResult(*ops.eig(*inexact("eig", a), compute_left_eigenvectors=False))


def eigvals(a: Any) -> Any:
    """Returns the eigenvalues of square matrices, always complex; they have derivatives where they are different.

    Raises:
      LinAlgError: the matrices are not square.

    >>> eigvals(numpy.array([[2.0, 1.0], [0.0, 3.0]]))
    array([2.+0.j, 3.+0.j])

    Source: ``numpy.linalg.eigvals``, ``jax.numpy.linalg.eigvals``.
    """
    check_stack("eigvals", a, square=True)
    arrays = inexact("eigvals", a)
    return ops.eig(*arrays, compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0]
