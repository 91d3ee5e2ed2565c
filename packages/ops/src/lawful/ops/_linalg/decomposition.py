"""The family of matrix decompositions: one declaration makes the primitive and all of its rules.

A decomposition is a function of the matrices in the last two dimensions of one array. NumPy evaluates it and XLA calls
LAPACK, as NumPy does. The results for a matrix with an element that is not finite, or for which LAPACK fails, are NaN
(integer results are those of the zero matrix); other matrices of the array are not affected.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.core import (
    Call,
    Choose,
    Declaration,
    Excluded,
    Interval,
    Primitive,
    ShapedArray,
    Unequal,
    Zero,
    get_aval,
    is_inexact,
)
from lawful.ops._linalg.matrices import check_matrices, matrix_dtypes
from lawful.ops._support.batch_dimensions import move_batch_dim

Arrays = tuple[Any, ...]


def decomposition(
    name: str,
    *,
    infer: Callable[..., tuple[ShapedArray, ...]],
    compute: Callable[..., Arrays],
    derive: Callable[..., tuple[Sequence[Any], Sequence[Any]]] | None,
    lower: Callable[..., tuple[Sequence[Any], Any]],
    sample: Callable[[Choose], Call],
    reference: Callable[..., Any] | None,
    prepare: Callable[..., Arrays] | None = None,
    excluded: Sequence[Excluded] = (),
    unequal: Sequence[Unequal] = (),
    read: Callable[..., Any] | None = None,
    lower_read: Callable[..., Any] | None = None,
    computes_part: bool = False,
    checks_finite: bool = False,
    square: bool = False,
    single: bool = False,
    platform: str | None = None,
) -> Primitive:
    """Declares a decomposition.

    Args:
      name: the primitive's name.
      infer: ``infer(aval, **params)`` gives the types of the results.
      compute: ``compute(x, **params)`` gives them in NumPy; may raise LinAlgError.
      derive: ``derive(x, x_dot, **params)`` gives the results and their tangents; None if it has no derivative.
      lower: ``lower(ctx, x, **params)`` gives the values and where LAPACK succeeded, or None.
      sample: draws a well-typed call, for laws.
      reference: a function of NumPy that it equals, for laws; None where there is none.
      prepare: brings a matrix into the domain, for laws.
      excluded: where derivatives do not exist, for laws.
      unequal: where backends may give another result, for laws.
      read: ``read(x, **params)`` gives the part of a matrix that is read, in NumPy.
      lower_read: ``lower_read(ctx, x, **params)`` does the same to an MLIR value.
      checks_finite: whether ``lower`` itself gives NaN for matrices that are not finite, or where LAPACK fails.
      computes_part: whether ``compute`` itself reads no more than that part.
      square: whether the matrices must be square.
      single: whether the primitive has one result, and not a list.
      platform: the only one that it is lowered for; None for all.
    """
    primitive = Primitive(name, multiple_results=not single, pure_rules=True)

    def results(values: Sequence[Any]) -> Any:
        return values[0] if single else list(values)

    @primitive.def_impl
    def impl(x: Any, **params: Any) -> Any:
        x = np.asarray(x)
        with np.errstate(all="ignore"):
            if read is not None and not (computes_part and all_finite(x)):
                x = read(x, **params)
            return results(_evaluate(x, infer, compute, params))

    @primitive.def_abstract_eval
    def abstract_eval(x: ShapedArray, **params: Any) -> Any:
        check_matrices(f"{name}_p", x, square=square)
        return results(infer(x, **params))

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        (x,), (x_dot,) = primals, tangents
        if type(x_dot) is Zero:
            outs = primitive.bind(x, **params)
            avals = [get_aval(out).to_tangent_aval() for out in ([outs] if single else outs)]
            return outs, results([Zero(aval) for aval in avals])
        assert derive is not None
        found, derivatives = derive(x, x_dot, **params)
        return results(found), results(derivatives)

    if derive is None:
        primitive.declare_absent("jvp", "its result is not unique, and may jump")
    else:
        primitive.def_jvp(jvp)
    primitive.declare_absent("transpose", "it is not linear")

    @primitive.def_batch
    def batch(args: Sequence[Any], dims: Sequence[int], **params: Any) -> tuple[Any, Any]:
        outs = primitive.bind(move_batch_dim(args[0], dims[0]), **params)
        return outs, 0 if single else [0] * len(outs)

    def lowering(ctx: Any, x: Any, **params: Any) -> Any:
        (aval,) = ctx.avals_in
        if not aval.size:  # results of empty matrices are constants
            return [ctx.constant(out) for out in compute(np.zeros(aval.shape, aval.dtype), **params)]
        if lower_read is not None:
            x = lower_read(ctx, x, **params)
        if checks_finite:
            return list(lower(ctx, x, **params)[0])
        finite = finite_matrices(ctx, x, aval)
        values, succeeded = lower(ctx, where_matrix(ctx, finite, x, aval, 0), **params)
        ok = finite if succeeded is None else ctx.hlo.and_(finite, succeeded)
        return [
            where_matrix(ctx, ok, value, out, np.nan) if is_inexact(out.dtype) else value
            for value, out in zip(values, ctx.avals_out, strict=True)
        ]

    primitive.def_lowering(lowering, platform)
    primitive.declaration = Declaration(
        sample=sample,
        reference=reference,
        domain=(Interval(),),
        kinds="fc",
        differentiable=derive is not None,
        prepare=prepare,
        excluded=tuple(excluded),
        unequal=tuple(unequal),
    )
    return primitive


def sample_dtype(choose: Choose, kinds: str = "fc") -> np.dtype[Any]:
    """Draws a dtype that LAPACK supports."""
    dtype = choose.dtype(kinds)
    return dtype if dtype in matrix_dtypes else np.dtype(np.float32)


# Evaluation


def all_finite(x: Any) -> bool:
    """Whether all elements of an array of NumPy are finite; False also if their sum is not, where NumPy may warn."""
    return cmath.isfinite(np.add.reduce(x, None))


def _evaluate(x: Any, infer: Any, compute: Any, params: dict[str, Any]) -> Arrays:
    if all_finite(x):
        return _computed(x, infer, compute, params)
    finite = np.isfinite(x).all((-2, -1))
    outs = _computed(np.where(finite[..., None, None], x, x.dtype.type(0)), infer, compute, params)
    return outs if finite.all() else tuple([_nan_unless(finite, out) for out in outs])


def _computed(x: Any, infer: Any, compute: Any, params: dict[str, Any]) -> Arrays:
    try:
        outs: Arrays = compute(x, **params)
    except np.linalg.LinAlgError:
        outs = _one_by_one(x, infer, compute, params)
    return outs


def _one_by_one(x: Any, infer: Any, compute: Any, params: dict[str, Any]) -> Arrays:
    """Decomposes the matrices one by one: NaN where that fails."""
    outs = tuple([np.empty(aval.shape, aval.dtype) for aval in infer(get_aval(x), **params)])
    for index in np.ndindex(x.shape[:-2]):
        try:
            found = compute(x[index], **params)
        except np.linalg.LinAlgError:
            found = (np.nan,) * len(outs)
        for out, value in zip(outs, found, strict=True):
            out[index] = value
    return outs


def _nan_unless(ok: Any, out: Any) -> Any:
    if not is_inexact(out.dtype):
        return out
    return np.where(ok.reshape(ok.shape + (1,) * (out.ndim - ok.ndim)), out, out.dtype.type(np.nan))


# Lowering


def finite_matrices(ctx: Any, x: Any, aval: ShapedArray) -> Any:
    """Returns, for each matrix, whether all of its elements are finite."""
    return ctx.reduce(is_finite(ctx, x, aval), True, (aval.ndim - 2, aval.ndim - 1), "and_")


def is_finite(ctx: Any, x: Any, aval: ShapedArray) -> Any:
    """Returns which elements are finite."""
    hlo = ctx.hlo
    if aval.dtype.kind != "c":
        return hlo.is_finite(x)
    return hlo.and_(hlo.is_finite(hlo.real(x)), hlo.is_finite(hlo.imag(x)))


def where_matrix(ctx: Any, ok: Any, x: Any, aval: ShapedArray, otherwise: float) -> Any:
    """Returns an array with another value in the matrices or vectors that are not ``ok``."""
    batch = tuple(ok.type.shape)
    mask = aval.update(dtype=np.dtype(bool), weak_type=False)
    wide = ctx.hlo.broadcast_in_dim(ctx.tensor_type(mask), ok, ctx.i64_array(range(len(batch))))
    return ctx.hlo.select(wide, x, ctx.full(aval, otherwise))


def compare_with_diagonal(ctx: Any, aval: ShapedArray, direction: str, k: int = 0) -> Any:
    """Returns where in matrices the row plus ``k`` compares with the column: ``"EQ"`` is a diagonal."""
    indices = aval.update(dtype=np.dtype(np.int32), weak_type=False)
    row, column = (ctx.hlo.iota(ctx.tensor_type(indices), ctx.i64(aval.ndim - 2 + dim)) for dim in (0, 1))
    return ctx.compare(ctx.hlo.add(row, ctx.full(indices, k)) if k else row, column, direction)


def mask_triangle(ctx: Any, x: Any, aval: ShapedArray, *, lower: bool, k: int = 0) -> Any:
    """Returns matrices with zeros above a diagonal, or below it."""
    return ctx.hlo.select(compare_with_diagonal(ctx, aval, "GE" if lower else "LE", k), x, ctx.zeros(aval))


def info_of(aval: ShapedArray) -> ShapedArray:
    """Returns the type of LAPACK's status, an integer for each matrix."""
    return ShapedArray(aval.shape[:-2], np.dtype(np.int32))


def is_success(ctx: Any, info: Any, aval: ShapedArray) -> Any:
    """Returns which statuses are success."""
    return ctx.compare(info, ctx.zeros(info_of(aval)), "EQ")


def widened(ctx: Any, x: Any) -> tuple[ShapedArray, Any]:
    """Returns the type of matrices in double precision, and these.

    NumPy decomposes all matrices in double precision, and rounding may decide the sign of a vector.
    """
    (aval,) = ctx.avals_in
    wide = aval.update(dtype=np.dtype(np.complex128 if aval.dtype.kind == "c" else np.float64))
    return wide, x if wide == aval else ctx.hlo.convert(ctx.tensor_type(wide), x)


def narrowed(ctx: Any, values: Sequence[Any]) -> list[Any]:
    """Returns values in the dtypes of the results."""
    types = [ctx.tensor_type(aval) for aval in ctx.avals_out]
    return [
        value if value.type == type_ else ctx.hlo.convert(type_, value)
        for type_, value in zip(types, values, strict=True)
    ]
