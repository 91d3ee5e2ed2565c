"""Factorizations, and solutions of equations by them."""

from __future__ import annotations

from typing import Any

import lawful.numpy as np
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval
from lawful.numpy import linalg
from lawful.special._arguments import inexact


def _hermitian(a: Any) -> Any:
    return np.conj(np.matrix_transpose(a))


def cholesky(a: Any, lower: bool = False) -> Any:
    """Returns the triangular factor of positive definite matrices, the upper one by default.

    Args:
      a: an array of shape (…, n, n), of which one triangle is read.
      lower: whether the lower triangle is read, and the lower factor returned.

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 1.],
           [0., 2.]])

    Source: ``scipy.linalg.cholesky``.
    """
    return linalg.cholesky(inexact("cholesky", a), upper=not lower)


def cho_factor(a: Any, lower: bool = False) -> tuple[Any, bool]:
    """Returns the triangular factor of positive definite matrices, and whether it is the lower one, for `cho_solve`.

    >>> cho_factor(np.array([[4.0, 0.0], [2.0, 5.0]]), lower=True)
    (array([[2., 0.],
           [1., 2.]]), True)

    Source: ``scipy.linalg.cho_factor``.
    """
    return cholesky(a, lower), lower


def cho_solve(c_and_lower: tuple[Any, bool], b: Any) -> Any:
    """Returns the solution of ``a x = b`` by what `cho_factor` returned of ``a``.

    >>> a = np.array([[4.0, 2.0], [2.0, 5.0]])
    >>> cho_solve(cho_factor(a), np.array([6.0, 7.0])).round(3)
    array([1., 1.])

    Source: ``scipy.linalg.cho_solve``.
    """
    factor, lower = c_and_lower
    first = solve_triangular(factor, b, trans=0 if lower else 2, lower=lower)
    return solve_triangular(factor, first, trans=2 if lower else 0, lower=lower)


_TRANSPOSITIONS = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}


def solve_triangular(a: Any, b: Any, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False) -> Any:
    """Returns the solution of ``a x = b`` for triangular matrices.

    Args:
      a: an array of shape (…, n, n), of which one triangle is read.
      b: an array of shape (…, n) or (…, n, k).
      trans: whether ``a`` is transposed, 1 or ``"T"``, or transposed and conjugated, 2 or ``"C"``.
      lower: whether the lower triangle is read.
      unit_diagonal: whether the diagonal is taken to be ones.

    Raises:
      ArgumentValueError: ``trans`` is another one.

    >>> solve_triangular(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([2.0, 3.0]), lower=True)
    array([1., 2.])

    Source: ``scipy.linalg.solve_triangular``.
    """
    if trans not in _TRANSPOSITIONS:
        raise ArgumentValueError(f"solve_triangular: expected trans to be 0, 1, 2, 'N', 'T' or 'C', got {trans!r}")
    kind = _TRANSPOSITIONS[trans]
    a, b = inexact("solve_triangular", a), inexact("solve_triangular", b)
    dtype = np.result_type(a, b)
    a, b = a.astype(dtype), b.astype(dtype)
    is_vector = get_aval(b).ndim == 1
    if is_vector:
        b = b[:, None]
    batch = np.broadcast_shapes(get_aval(a).shape[:-2], get_aval(b).shape[:-2])
    a, b = (np.broadcast_to(x, (*batch, *get_aval(x).shape[-2:])) for x in (a, b))
    out = ops.triangular_solve(
        a, b, left_side=True, lower=lower, transpose_a=kind > 0, conjugate_a=kind == 2, unit_diagonal=unit_diagonal
    )
    return out[..., 0] if is_vector else out


_KINDS = ("gen", "general", "sym", "symmetric", "her", "hermitian", "pos", "positive definite")


def solve(a: Any, b: Any, lower: bool = False, assume_a: str = "gen") -> Any:
    """Returns the solution of ``a x = b``.

    Args:
      a: an array of shape (…, n, n).
      b: an array of shape (…, n) or (…, n, k).
      lower: whether the lower triangle of a positive definite ``a`` is read.
      assume_a: what ``a`` is: ``"gen"``, ``"sym"``, ``"her"``, or ``"pos"`` for positive definite.

    Raises:
      ArgumentValueError: ``assume_a`` is another one.

    >>> solve(np.array([[4.0, 2.0], [2.0, 5.0]]), np.array([6.0, 7.0]), assume_a="pos").round(3)
    array([1., 1.])

    Source: ``scipy.linalg.solve``.
    """
    if assume_a not in _KINDS:
        raise ArgumentValueError(f"solve: expected assume_a to be one of {', '.join(_KINDS)}, got {assume_a!r}")
    if assume_a.startswith("pos"):
        return cho_solve(cho_factor(a, lower), b)
    is_vector = get_aval(b).ndim == 1
    out = linalg.solve(a, b[:, None] if is_vector else b)
    return out[..., 0] if is_vector else out


def lu_factor(a: Any) -> tuple[Any, Any]:
    """Returns the factors L and U of matrices in one array, and the swaps of rows, for `lu_solve`.

    >>> lu_factor(np.array([[0.0, 1.0], [2.0, 3.0]]))
    (array([[2., 3.],
           [0., 1.]]), array([1, 1], dtype=int32))

    Source: ``scipy.linalg.lu_factor``.
    """
    factors, pivots, _ = ops.lu(inexact("lu_factor", a))
    return factors, pivots


def lu_solve(lu_and_piv: tuple[Any, Any], b: Any, trans: int = 0) -> Any:
    """Returns the solution of ``a x = b`` by what `lu_factor` returned of ``a``.

    Args:
      lu_and_piv: the factors and the swaps.
      b: an array of shape (n,) or (…, n, k).
      trans: whether ``a`` is transposed, 1, or transposed and conjugated, 2.

    >>> a = np.array([[0.0, 1.0], [2.0, 3.0]])
    >>> lu_solve(lu_factor(a), np.array([1.0, 5.0]))
    array([1., 1.])

    Source: ``scipy.linalg.lu_solve``.
    """
    factors, pivots = lu_and_piv
    order = ops.lu_pivots_to_permutation(pivots, get_aval(factors).shape[-1])
    b = inexact("lu_solve", b)
    is_vector = get_aval(b).ndim == 1
    b = b[:, None] if is_vector else b
    if trans == 0:
        b = np.take_along_axis(b, order[..., None], axis=-2)
        b = solve_triangular(factors, b, lower=True, unit_diagonal=True)
        out = solve_triangular(factors, b)
    else:
        b = solve_triangular(factors, b, trans=trans)
        b = solve_triangular(factors, b, trans=trans, lower=True, unit_diagonal=True)
        out = np.take_along_axis(b, np.argsort(order, axis=-1)[..., None], axis=-2)
    return out[..., 0] if is_vector else out


def lu(a: Any, permute_l: bool = False) -> Any:
    """Returns the factors of ``a = P L U``; ``P L`` and ``U`` with ``permute_l``.

    >>> lu(np.array([[0.0, 1.0], [2.0, 3.0]]), permute_l=True)[1]
    array([[2., 3.],
           [0., 1.]])

    Source: ``scipy.linalg.lu``.
    """
    a = inexact("lu", a)
    rows, columns = get_aval(a).shape[-2:]
    factors, _, permutation = ops.lu(a)
    dtype = get_aval(factors).dtype
    count = min(rows, columns)
    upper = np.triu(factors)[..., :count, :]
    lower = np.tril(factors, -1)[..., :, :count] + np.eye(rows, count, dtype=dtype)
    swaps = np.equal(permutation[..., None, :], np.arange(rows)[:, None]).astype(np.finfo(dtype).dtype)
    return (swaps.astype(dtype) @ lower, upper) if permute_l else (swaps, lower, upper)


def qr(a: Any, mode: str = "full") -> Any:
    """Returns the factors of ``a = Q R``.

    Args:
      a: an array of shape (…, m, n).
      mode: ``"full"`` for a square Q, ``"economic"``, or ``"r"`` for a tuple of R alone.

    Raises:
      ArgumentValueError: the mode is another one.

    >>> qr(np.array([[3.0], [4.0]]), "economic")
    (array([[-0.6],
           [-0.8]]), array([[-5.]]))

    Source: ``scipy.linalg.qr``.
    """
    if mode not in ("full", "economic", "r"):
        raise ArgumentValueError(f"qr: expected the mode 'full', 'economic' or 'r', got {mode!r}")
    q, r = ops.qr(inexact("qr", a), full_matrices=mode != "economic")
    return (r,) if mode == "r" else (q, r)


def qr_multiply(a: Any, c: Any, mode: str = "right", *, conjugate: bool = False) -> tuple[Any, Any]:
    """Returns the product of ``c`` and Q, and R, of the economic ``a = Q R``.

    Args:
      a: an array of shape (…, m, n); Q has k = min(m, n) columns.
      c: an array of shape (…, p, m), or (…, k, p) for the mode ``"left"``; a vector is a row, or a column.
      mode: ``"right"`` for ``c Q``, or ``"left"`` for ``Q c``.
      conjugate: whether Q is conjugated in the product.

    Returns:
      The product, of shape (…, p, k) or (…, m, p), a vector for a vector; and R, of shape (…, k, n).

    Raises:
      ArgumentValueError: the mode is another one, or the shapes do not fit.

    >>> a = np.array([[3.0], [4.0]])
    >>> qr_multiply(a, a[:, 0])
    (array([-5.]), array([[-5.]]))

    Source: ``scipy.linalg.qr_multiply``.
    """
    if mode not in ("left", "right"):
        raise ArgumentValueError(f"qr_multiply: expected the mode 'left' or 'right', got {mode!r}")
    a, c = inexact("qr_multiply", a), inexact("qr_multiply", c)
    dtype = np.result_type(a, c)
    q, r = qr(a.astype(dtype), "economic")
    c = c.astype(dtype)
    is_vector = get_aval(c).ndim == 1
    matrix = c[:, None] if is_vector and mode == "left" else c[None] if is_vector else c
    expected = get_aval(q).shape[-1] if mode == "left" else get_aval(q).shape[-2]
    axis = -2 if mode == "left" else -1
    if get_aval(c).ndim < 1 or get_aval(matrix).shape[axis] != expected:
        raise ArgumentValueError(
            f"qr_multiply: expected c with the length {expected} along axis {0 if is_vector else axis}, got "
            f"{get_aval(c)}; transpose it"
        )
    factor = np.conj(q) if conjugate else q
    if mode == "left":
        out = factor @ matrix
        return (out[..., 0] if is_vector else out), r
    out = matrix @ factor
    return (out[..., 0, :] if is_vector else out), r


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Returns the singular value decomposition.

    >>> svd(np.array([[0.0, 2.0], [3.0, 0.0]]), compute_uv=False)
    array([3., 2.])

    Source: ``scipy.linalg.svd``.
    """
    found = linalg.svd(inexact("svd", a), full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


def eigh(a: Any, b: Any = None, lower: bool = True, eigvals_only: bool = False, type: int = 1) -> Any:
    """Returns the eigenvalues ``w`` and eigenvectors ``v`` of Hermitian matrices, of which one triangle is read.

    Args:
      a: an array of shape (…, n, n).
      b: positive definite matrices of the same shape, for eigenvalues with respect to these.
      lower: whether the lower triangles are read.
      eigvals_only: whether the eigenvalues are returned alone.
      type: what is solved with ``b``: 1 for ``a v = w b v``, 2 for ``a b v = w v``, 3 for ``b a v = w v``. The
        eigenvectors are scaled to ``vᴴ b v = 1``, for type 3 to ``vᴴ b⁻¹ v = 1``.

    Raises:
      ArgumentValueError: the type is none of these.

    >>> eigh(np.array([[2.0, 0.0], [0.0, 3.0]]), np.array([[4.0, 0.0], [0.0, 1.0]]), eigvals_only=True)
    array([0.5, 3. ])

    Source: ``scipy.linalg.eigh``.
    """
    if type not in (1, 2, 3):
        raise ArgumentValueError(f"eigh: expected the type 1, 2 or 3, got {type!r}; leave it out for a v = w b v")
    a = inexact("eigh", a)
    if b is None:
        values, vectors = linalg.eigh(a, "L" if lower else "U")
        return values if eigvals_only else (values, vectors)
    factor = cholesky(b, lower)
    factor = factor if lower else _hermitian(factor)
    a = np.tril(a) + _hermitian(np.tril(a, -1)) if lower else np.triu(a) + _hermitian(np.triu(a, 1))
    if type == 1:
        half = solve_triangular(factor, a, lower=True)
        matrix = _hermitian(solve_triangular(factor, _hermitian(half), lower=True))
    else:
        matrix = _hermitian(factor) @ a @ factor
    values, vectors = linalg.eigh(matrix)
    if eigvals_only:
        return values
    return values, factor @ vectors if type == 3 else solve_triangular(factor, vectors, trans=2, lower=True)


def eigh_tridiagonal(
    d: Any,
    e: Any,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[int, int] | None = None,
    tol: float | None = None,
    key: Any = None,
) -> Any:
    """Returns the eigenvalues and eigenvectors of a real symmetric tridiagonal matrix, computed as by `eigh`.

    Args:
      d: the diagonal, of shape (n,).
      e: the elements beside it, of shape (n - 1,).
      eigvals_only: whether the eigenvalues are returned alone.
      select: ``"a"`` for all eigenvalues, ``"i"`` for those of some positions in increasing order.
      select_range: the first and the last of these positions.
      tol: has no effect: eigenvalues are exact to rounding.
      key: has no effect: eigenvectors need no random numbers.

    Raises:
      ArgumentTypeError: the elements are complex.
      ArgumentValueError: the lengths do not fit, or the eigenvalues cannot be selected so.

    >>> eigh_tridiagonal(np.array([2.0, 2.0]), np.array([1.0]), eigvals_only=True)
    array([1., 3.])

    Source: ``scipy.linalg.eigh_tridiagonal``, ``jax.scipy.linalg.eigh_tridiagonal``.
    """
    name = "eigh_tridiagonal"
    d, e = inexact(name, d), inexact(name, e)
    diagonal, beside = get_aval(d), get_aval(e)
    if "c" in (diagonal.dtype.kind, beside.dtype.kind):
        raise ArgumentTypeError(f"{name}: expected real elements, got {diagonal} and {beside}; use eigh of the matrix")
    if diagonal.ndim != 1 or beside.shape != (max(diagonal.size - 1, 0),):
        raise ArgumentValueError(
            f"{name}: expected shapes (n,) and (n - 1,), got {diagonal.shape} and {beside.shape}; use vmap for batches"
        )
    chosen = _selected(diagonal.size, select, select_range)
    dtype = np.result_type(d, e)
    matrix = np.diag(d.astype(dtype))
    if beside.size:
        matrix = matrix + np.diag(e.astype(dtype), 1) + np.diag(e.astype(dtype), -1)
    values, vectors = linalg.eigh(matrix)
    return values[chosen] if eigvals_only else (values[chosen], vectors[:, chosen])


def _selected(size: int, select: str, select_range: Any) -> slice:
    """Returns the positions of the eigenvalues that are selected."""
    name = "eigh_tridiagonal"
    if select == "a":
        return slice(size)
    if select == "v":
        raise ArgumentValueError(
            f"{name}: expected select 'a' or 'i', got 'v'; select from the result, whose length cannot depend on values"
        )
    if select != "i":
        raise ArgumentValueError(f"{name}: expected select 'a' or 'i', got {select!r}")
    positions = () if select_range is None else ops.static_integers(name, "select_range", select_range)
    if len(positions) != 2 or not 0 <= positions[0] <= positions[1] < size:
        raise ArgumentValueError(
            f"{name}: expected select_range of the first and the last position, increasing and less than {size}, got "
            f"{select_range}; correct it"
        )
    return slice(positions[0], positions[1] + 1)


def polar(a: Any, side: str = "right") -> tuple[Any, Any]:
    """Returns the unitary and the positive factor: ``a = U P``, or ``a = P U`` for the side ``"left"``.

    Raises:
      ArgumentValueError: the side is another one.

    >>> polar(np.array([[-2.0]]))
    (array([[-1.]]), array([[2.]]))

    Source: ``scipy.linalg.polar``.
    """
    if side not in ("left", "right"):
        raise ArgumentValueError(f"polar: expected the side 'left' or 'right', got {side!r}")
    u, s, vh = linalg.svd(inexact("polar", a), full_matrices=False)
    unitary = u @ vh
    scale = s[..., None, :].astype(get_aval(u).dtype)
    positive = (_hermitian(vh) * scale) @ vh if side == "right" else (u * scale) @ _hermitian(u)
    return unitary, positive
