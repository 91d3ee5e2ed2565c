"""Routines of linear algebra in a program: LAPACK's on the CPU, cuSOLVER's and cuBLAS's on NVIDIA's devices.

All are applied to each matrix of a batch, and have the meaning of LAPACK's routine of that name. ``info`` is its
status: 0 is success, and a positive number tells where it failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful.core import ShapedArray
from lawful.ops._linalg.decomposition import info_of, mask_triangle

# The size of matrices up to which cuSOLVER's Jacobi method is the faster one, and that up to which it takes batches, by
# https://developer.download.nvidia.com/video/gputechconf/gtc/2019/presentation/s9226-fast-singular-value-decomposition-on-gpus-v2.pdf
_JACOBI = 1024
_SMALL = 32


def potrf(ctx: Any, x: Any, aval: ShapedArray) -> tuple[Any, Any]:
    """Returns the lower Cholesky factors, with what the upper triangle held, and ``info``."""
    results = [aval, info_of(aval)]
    if ctx.platform == "cpu":
        factors, info = ctx.lapack("potrf", [x], results, uplo=ord("L"))
    else:
        factors, info = ctx.cuda_kernel("cusolver_potrf_ffi", [x], results, lower=True)
    return factors, info


def getrf(ctx: Any, x: Any, aval: ShapedArray) -> tuple[Any, Any, Any]:
    """Returns the transposed LU factors in one matrix, the pivots, counted from 1, and ``info``.

    XLA takes calls that differ only in the layouts of their results for one call. So all calls have the same layouts.
    """
    *batch, rows, columns = aval.shape
    pivots = ShapedArray((*batch, min(rows, columns)), np.dtype(np.int32))
    factors = ShapedArray((*batch, columns, rows), aval.dtype)
    results = [factors, pivots, info_of(aval)]
    if ctx.platform == "cpu":
        transposed, swaps, info = ctx.lapack("getrf", [x], results, transposed_results=[0])
    else:
        transposed, swaps, info = ctx.cuda_kernel("cusolver_getrf_ffi", [x], results, transposed_results=[0])
    return transposed, swaps, info


def trsm(
    ctx: Any, a: Any, b: Any, aval: ShapedArray, *, left_side: bool, lower: bool, transpose: str, unit_diagonal: bool,
    transposed: bool = False,
) -> Any:  # fmt: skip
    """Returns the solutions of systems with triangular matrices.

    Args:
      ctx: the context.
      a: the matrices, or their transposes if ``transposed``, of which one triangle is read.
      b: the right-hand sides.
      aval: the type of ``b``.
      left_side: whether the matrices are on the left of the solutions.
      lower: whether their lower triangle is read.
      unit_diagonal: whether their diagonal counts as ones.
      transpose: ``"N"``, ``"T"`` or ``"C"``: the matrices, their transposes, or their adjoints.
      transposed: whether ``a`` is given transposed.
    """
    if ctx.platform == "cpu":
        (out,) = ctx.lapack(
            "trsm", [a, b], [aval], transposed_operands=[0] * transposed, side=ord("L" if left_side else "R"),
            uplo=ord("L" if lower else "U"), trans_x=ord(transpose), diag=ord("U" if unit_diagonal else "N"),
        )  # fmt: skip
        return out
    size = aval.shape[-2 if left_side else -1]
    a_aval = aval.update(shape=(*aval.shape[:-2], size, size))
    if transposed:
        axes = [*range(aval.ndim - 2), aval.ndim - 1, aval.ndim - 2]
        a = ctx.hlo.transpose(a, ctx.i64_array(axes))
    a = mask_triangle(ctx, a, a_aval, lower=lower, k=-int(unit_diagonal) if lower else int(unit_diagonal))
    bools = [ctx.ir.BoolAttr.get(value) for value in (left_side, lower, unit_diagonal)]
    code = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}[transpose]
    return ctx.hlo.triangular_solve(a, b, *bools, ctx.hlo.TransposeAttr.get(code))


def geqrf(ctx: Any, x: Any, aval: ShapedArray) -> tuple[Any, Any]:
    """Returns R, with the reflections of the QR decomposition below it, and the factors of the reflections."""
    *batch, rows, columns = aval.shape
    results = [aval, ShapedArray((*batch, min(rows, columns)), aval.dtype)]
    if ctx.platform == "cpu":
        reflections, tau = ctx.lapack("geqrf", [x], results)
    else:
        reflections, tau = ctx.cuda_kernel("cusolver_geqrf_ffi", [x], results)
    return reflections, tau


def orgqr(ctx: Any, reflections: Any, tau: Any, aval: ShapedArray) -> Any:
    """Returns Q from the reflections of `geqrf`; ``aval`` is its type."""
    if ctx.platform == "cpu":
        (q,) = ctx.lapack("ungqr" if aval.dtype.kind == "c" else "orgqr", [reflections, tau], [aval])
    else:
        (q,) = ctx.cuda_kernel("cusolver_orgqr_ffi", [reflections, tau], [aval])
    return q


def syevd(ctx: Any, x: Any, aval: ShapedArray, *, lower: bool) -> tuple[Any, Any, Any]:
    """Returns the eigenvectors of Hermitian matrices in double precision, the ascending eigenvalues, and ``info``."""
    results = [aval, ShapedArray(aval.shape[:-1], np.dtype(np.float64)), info_of(aval)]
    if ctx.platform == "cpu":
        name = "heevd" if aval.dtype.kind == "c" else "syevd"
        v, w, info = ctx.lapack(name, [x], results, mode=ord("V"), uplo=ord("L" if lower else "U"))
    else:
        v, w, info = ctx.cuda_kernel("cusolver_syevd_ffi", [x], results, lower=lower, algorithm=0)
    return v, w, info


def gesvd(
    ctx: Any, x: Any, aval: ShapedArray, results: Sequence[ShapedArray], *, full_matrices: bool, compute_uv: bool
) -> tuple[list[Any], Any]:
    """Returns ``[s, u, vh]`` of the types ``results``, or ``[s]``, and ``info``."""
    if ctx.platform == "cpu":
        mode = ord("N" if not compute_uv else "A" if full_matrices else "S")
        _, *outs, info = ctx.lapack("gesdd", [x], [aval, *results, info_of(aval)], mode=mode)
        return outs if compute_uv else outs[:1], info
    if max(aval.shape[-2:]) <= _JACOBI:
        return _gesvdj(ctx, x, aval, results, full_matrices=full_matrices, compute_uv=compute_uv)
    # cuSOLVER takes matrices with at least as many rows as columns. By rows, others are such matrices, transposed.
    s_aval, *vectors = results if compute_uv else (results[0], *[ShapedArray((), aval.dtype)] * 2)
    transposed = aval.shape[-2] < aval.shape[-1]
    types = [aval, s_aval, *(reversed(vectors) if transposed else vectors), info_of(aval)]
    by_rows = range(len(types)) if transposed else ()
    _, s, *outs, info = ctx.cuda_kernel(
        "cusolver_gesvd_ffi", [x], types, transposed_operands=by_rows, transposed_results=by_rows,
        full_matrices=full_matrices, compute_uv=compute_uv, transposed=transposed,
    )  # fmt: skip
    return [s, *(reversed(outs) if transposed else outs)] if compute_uv else [s], info


def _gesvdj(
    ctx: Any, x: Any, aval: ShapedArray, results: Sequence[ShapedArray], *, full_matrices: bool, compute_uv: bool
) -> tuple[list[Any], Any]:
    """`gesvd` by Jacobi's method: all matrices of a batch at once if they are small, and faster up to `_JACOBI`."""
    *batch, rows, columns = aval.shape
    # Of small matrices it gives all vectors.
    is_full = full_matrices or min(rows, columns) <= _SMALL
    rank = min(rows, columns)
    u_aval = aval.update(shape=(*batch, rows, rows if is_full else rank))
    v_aval = aval.update(shape=(*batch, columns, columns if is_full else rank))
    types = [aval, results[0], u_aval, v_aval, info_of(aval)]
    _, s, u, v, info = ctx.cuda_kernel("cusolver_gesvdj_ffi", [x], types, full_matrices=is_full, compute_uv=compute_uv)
    if not compute_uv:
        return [s], info
    vh = ctx.hlo.transpose(v, ctx.i64_array([*range(len(batch)), len(batch) + 1, len(batch)]))
    if aval.dtype.kind == "c":
        vh = ctx.chlo.conj(vh)

    def part(value: Any, result: ShapedArray) -> Any:
        start, stride = ctx.i64_array([0] * aval.ndim), ctx.i64_array([1] * aval.ndim)
        return ctx.hlo.slice(value, start, ctx.i64_array(result.shape), stride)

    _, u_result, vh_result = results
    return [s, part(u, u_result), part(vh, vh_result)], info


def geev(ctx: Any, x: Any, aval: ShapedArray, *, left: bool, right: bool) -> list[Any]:
    """Returns the eigenvalues of matrices in double precision, their left and right eigenvectors, and ``info``.

    Real matrices have the real and the imaginary parts of the eigenvalues. Vectors that are not asked for hold no
    values. NVIDIA's devices leave it to LAPACK on the host: cuSOLVER has no left eigenvectors.
    """
    vectors = aval.update(dtype=np.dtype(np.complex128))
    parts = 1 if aval.dtype.kind == "c" else 2
    results = [*(aval.update(shape=aval.shape[:-1]),) * parts, vectors, vectors, info_of(aval)]
    if ctx.platform == "cpu":
        codes = {f"compute_{name}": ord("V" if wanted else "N") for name, wanted in (("left", left), ("right", right))}
        return list(ctx.lapack("geev", [x], results, **codes))
    name = "comp" if aval.dtype.kind == "c" else "real"
    return list(ctx.cuda_kernel(f"cuhybrid_eig_{name}", [x], results, magma="off", left=left, right=right))


# On the CPU only


def gehrd(ctx: Any, x: Any, aval: ShapedArray) -> tuple[Any, Any, Any]:
    """Returns the Hessenberg form, with the vectors of reflections below it, their factors, and ``info``."""
    *batch, size, _ = aval.shape
    results = [aval, aval.update(shape=(*batch, size - 1)), info_of(aval)]
    h, taus, info = ctx.lapack("gehrd", [x], results, low=np.int32(1), high=np.int32(size))
    return h, taus, info


def gees(ctx: Any, x: Any, aval: ShapedArray, *, vectors: bool) -> tuple[Any, Any, Any]:
    """Returns the Schur form, the unitary matrix, which holds no values without ``vectors``, and ``info``."""
    values = [aval.update(shape=aval.shape[:-1])] * (1 if aval.dtype.kind == "c" else 2)
    results = [aval, aval, *values, info_of(aval), info_of(aval)]
    codes = {"mode": ord("V" if vectors else "N"), "sort": ord("N")}
    t, z, *_, info = ctx.lapack("gees", [x], results, **codes)
    return t, z, info


def sytrd(ctx: Any, x: Any, aval: ShapedArray, *, lower: bool) -> list[Any]:
    """Returns the tridiagonal form, with the vectors of reflections, both diagonals, factors, and ``info``."""
    *batch, size, _ = aval.shape
    real = aval.update(dtype=np.dtype(np.float64))
    diagonals = [real.update(shape=(*batch, size)), real.update(shape=(*batch, size - 1))]
    results = [aval, *diagonals, aval.update(shape=(*batch, size - 1)), info_of(aval)]
    name = "hetrd" if aval.dtype.kind == "c" else "sytrd"
    return list(ctx.lapack(name, [x], results, uplo=ord("L" if lower else "U")))
