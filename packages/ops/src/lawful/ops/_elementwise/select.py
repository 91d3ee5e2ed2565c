"""Selection between arrays, element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    Call,
    Choose,
    Declaration,
    Interval,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    by_elements,
    get_aval,
    promote_dtypes,
)
from lawful.ops._composite import composite
from lawful.ops._elementwise.declaration import add_tangents
from lawful.ops._support.batch_dimensions import align_scalars
from lawful.ops._support.dtypes import check_kind
from lawful.ops._support.eager import is_eager
from lawful.ops._support.large_integers import fitting_integer
from lawful.ops._support.operation_counts import one_an_element
from lawful.ops._support.promotion import (
    broadcast_shapes,
    broadcast_to,
    convert,
    promote,
    require_equal,
)
from lawful.ops._support.structural import apply_to_tangents, cotangent, strong, zeros_of

__all__ = ["clamp", "clamp_p", "select", "select_n", "select_n_p", "where"]

select_n_p = Primitive("select_n", pure_rules=True)
select_n_p.def_rule("operations", one_an_element)
clamp_p = Primitive("clamp", pure_rules=True)
clamp_p.def_rule("operations", lambda eqn: 2 * eqn.outvars[0].aval.size)

_INT32 = np.dtype(np.int32)
_BOOL = np.dtype(bool)


def select_n(which: Any, *cases: Any) -> Any:
    """Returns the elements of the cases that ``which`` names.

    Args:
      which: booleans, for at most two cases (False is the first), or int32 from 0, a scalar or of the shape of
        the cases. A number that is too small or too large names the nearest case.
      cases: arrays, promoted to one dtype and shape.

    Raises:
      ArgumentTypeError: ``which`` has another dtype or shape.

    >>> select_n(np.array([True, False]), np.array([1, 2]), np.array([10, 20]))
    array([10,  2])

    Source: ``jax.lax.select_n``.
    """
    if not cases:
        raise ArgumentValueError("select_n: expected at least one case, got none; give the arrays to choose from")
    aval = get_aval(which)
    which = convert(which, _INT32) if aval.weak_type and aval.dtype.kind == "i" else strong(which)
    operands = promote("select_n", None, cases)
    _require_selector(get_aval(which), [get_aval(x) for x in operands])
    return select_n_p.bind(which, *operands)


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """Returns the elements of ``on_true`` where ``pred`` holds, and of ``on_false`` elsewhere.

    Args:
      pred: booleans, a scalar or of the shape of the cases.
      on_true: an array.
      on_false: an array; both are promoted to one dtype and shape.

    Raises:
      ArgumentTypeError: ``pred`` has another dtype or shape.

    >>> select(True, np.array([1, 2]), np.array([10, 20]))
    array([1, 2])

    Source: ``jax.lax.select``.
    """
    return select_n(pred, on_false, on_true)


def where(condition: Any, x: Any, y: Any) -> Any:
    """Returns ``x`` where the condition holds and ``y`` elsewhere, promoted and broadcast as by ``numpy.where``.

    Args:
      condition: an array of any dtype; what is not zero is true.
      x: an array or number.
      y: an array or number.

    Raises:
      ArgumentValueError: the shapes do not broadcast together.

    >>> where(np.array([1, 0]), np.array([[1.0], [2.0]]), -1)
    array([[ 1., -1.],
           [ 2., -1.]])

    Source: ``jax.numpy.where``.
    """
    if is_eager(condition, x, y) and type(x) is not int and type(y) is not int:
        try:
            return np.where(condition, x, y)
        except ValueError:
            pass  # the path below raises the error
    return _where(condition, x, y)


@composite(arrays=3)
def _where(condition: Any, x: Any, y: Any) -> Any:
    if type(x) is int and type(y) is not int:
        x = fitting_integer(x, get_aval(y).dtype)
    elif type(y) is int and type(x) is not int:
        y = fitting_integer(y, get_aval(x).dtype)
    avals = get_aval(condition), get_aval(x), get_aval(y)
    dtype, _ = promote_dtypes(*[(aval.dtype, aval.weak_type) for aval in avals[1:]])
    shape = broadcast_shapes("where", *[aval.shape for aval in avals])
    which = convert(condition, _BOOL)
    # A scalar condition is not broadcast.
    return select_n_p.bind(
        which if not avals[0].shape else broadcast_to(which, shape),
        *[broadcast_to(convert(case, dtype), shape) for case in (y, x)],
    )


def clamp(min: Any, x: Any, max: Any) -> Any:
    """Returns ``x``, not below ``min`` and not above ``max``.

    Args:
      min: the lower bound.
      x: an array.
      max: the upper bound. All three are promoted to one dtype, and broadcast together.

    Raises:
      ArgumentTypeError: the common dtype is complex.
      ArgumentValueError: the shapes do not broadcast together.

    The derivative is that of ``x`` where it lies between the bounds, that of a bound where ``x`` is beyond it, and
    zero on the bounds.

    >>> clamp(0, np.array([-1, 1, 5]), 3)
    array([0, 1, 3])

    Source: ``jax.lax.clamp``.
    """
    args = min, x, max
    avals = [get_aval(arg) for arg in args]
    check_kind("clamp", avals[1], "fiubc")
    dtype, _ = promote_dtypes(*[(aval.dtype, aval.weak_type) for aval in avals])
    if dtype.kind == "c":
        raise ArgumentTypeError(
            f"clamp: expected real operands, got {', '.join(map(str, avals))}; call lawful.numpy.clip, which compares "
            "the real parts first"
        )
    shape = broadcast_shapes("clamp", *[aval.shape for aval in avals])
    low, operand, high = (convert(arg, dtype) for arg in args)
    return clamp_p.bind(
        broadcast_to(low, shape) if avals[0].shape else low,
        broadcast_to(operand, shape),
        broadcast_to(high, shape) if avals[2].shape else high,
    )


# select_n


def _require_selector(which: ShapedArray, cases: Sequence[ShapedArray]) -> None:
    if which.dtype not in (_BOOL, _INT32) or (which.dtype == _BOOL and len(cases) > 2):
        raise ArgumentTypeError(
            f"select_n: expected which to be int32, or bool for at most two cases, got {which} for {len(cases)}; "
            "convert it with astype"
        )
    if which.shape not in ((), cases[0].shape):
        raise ArgumentTypeError(
            f"select_n: expected which to be a scalar or of the shape of the cases, got {which} and {cases[0]}; "
            "use where, which broadcasts"
        )


@select_n_p.def_impl
def _select_impl(which: Any, *cases: Any) -> Any:
    if len(cases) == 2 and np.asarray(which).dtype == _BOOL:
        out = np.where(which, cases[1], cases[0])
    else:
        out = np.asarray(cases[0])
        for i, case in enumerate(cases[1:], 1):
            out = np.where(np.greater_equal(which, i), case, out)
    return out if out.ndim else out[()]


@by_elements
def _numpy_where(which: Any, case: Any, other: Any) -> Any:
    return np.where(which, other, case)


@select_n_p.def_rule_as("numpy")
def _select_specialised(avals: Sequence[ShapedArray], compile: Any) -> Callable[..., Any]:
    """Returns the function for operands of some types: for two cases ``numpy.where``, or the chosen case alone."""
    impl = select_n_p.rule("impl")
    if impl is not _select_impl or avals[0].dtype != _BOOL or len(avals) != 3:
        return impl
    which, aval, _ = avals
    if which.shape:
        return _numpy_where
    if aval.shape:
        return by_elements(lambda which, case, other: (other if which else case).copy())
    if aval.dtype.isbuiltin != 1 or aval.dtype.kind not in "biufc":
        return impl
    scalar = aval.dtype.type
    return lambda which, case, other: scalar(other if which else case)


@select_n_p.def_abstract_eval
def _select_abstract_eval(which: ShapedArray, *cases: ShapedArray) -> ShapedArray:
    aval = require_equal("select_n", cases)
    _require_selector(which, cases)
    return aval.update(weak_type=False)


apply_to_tangents(select_n_p, constants=1)


@select_n_p.def_transpose
def _select_transpose(ct: Any, which: Any, *cases: Any) -> list[Any]:
    assert not isinstance(which, UndefinedPrimal), "select_n is not linear in which"
    zeros = None if type(ct) is Zero else zeros_of(get_aval(ct))
    cotangents: list[Any] = [None]
    for i, case in enumerate(cases):
        if not isinstance(case, UndefinedPrimal):
            cotangents.append(None)
        elif type(ct) is Zero:
            cotangents.append(Zero(case.aval))
        else:
            chosen = select_n_p.bind(which, *[ct if j == i else zeros for j in range(len(cases))])
            cotangents.append(cotangent(chosen, case.aval))
    return cotangents


@select_n_p.def_batch
def _select_batch(args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, int]:
    args, dim = align_scalars(args, dims, (0,))
    return select_n_p.bind(*args), dim


@select_n_p.def_lowering
def _select_lower(ctx: Any, which: Any, *cases: Any) -> Any:
    if ctx.avals_in[0].dtype == _BOOL:
        return ctx.hlo.select(which, cases[1], cases[0]) if len(cases) == 2 else cases[0]
    out = cases[0]
    for i, case in enumerate(cases[1:], 1):
        out = ctx.hlo.select(ctx.compare(which, ctx.full(ctx.avals_in[0], i), "GE"), case, out)
    return out


def _select_reference(which: Any, *cases: Any) -> Any:
    return np.choose(np.asarray(which, np.int64), cases, mode="clip")


def _select_sample(choose: Choose) -> Call:
    aval = ShapedArray(choose.shape(), choose.dtype("fiubc"))
    count = choose.integer(1, 4)
    which = choose.one_of((_BOOL, _INT32)) if count <= 2 else _INT32
    return (ShapedArray(choose.one_of(((), aval.shape)), which), *(aval,) * count), {}


select_n_p.declaration = Declaration(
    sample=_select_sample,
    reference=_select_reference,
    domain=(Interval(-1.0, 4.0), *(Interval(),) * 4),
    kinds="bi",
    linear=((1, 2, 3, 4),),
)

# clamp


@clamp_p.def_impl
@by_elements
def _clamp_impl(low: Any, x: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


@clamp_p.def_abstract_eval
def _clamp_abstract_eval(low: ShapedArray, x: ShapedArray, high: ShapedArray) -> ShapedArray:
    check_kind("clamp_p", x, "fiubc")
    for bound in (low, high):
        if bound.dtype != x.dtype or bound.shape not in ((), x.shape) or x.dtype.kind == "c":
            raise ArgumentTypeError(
                f"clamp_p: expected bounds of the dtype of a real operand, and scalars or of its shape, got {low}, {x} "
                f"and {high}; call lawful.ops.clamp, which promotes and broadcasts"
            )
    return x.update(weak_type=False)


@clamp_p.def_jvp
def _clamp_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    low, x, high = primals
    ans = clamp_p.bind(low, x, high)
    aval = get_aval(ans)
    total: Any = Zero(aval.to_tangent_aval())
    is_result: tuple[Callable[[], Any], ...] = (
        # Bounds in the wrong order give the upper one, as min(max(x, low), high).
        lambda: ops.bitwise_and(ops.gt(low, x), ops.le(low, high)),
        # Not "between the bounds": a NaN passes, with its tangent.
        lambda: ops.bitwise_not(ops.bitwise_or(ops.le(x, low), ops.ge(x, high))),
        lambda: ops.bitwise_or(ops.lt(high, x), ops.lt(high, low)),
    )
    for tangent, condition in zip(tangents, is_result, strict=True):
        if type(tangent) is not Zero:
            term = select_n_p.bind(condition(), zeros_of(aval), broadcast_to(tangent, aval.shape))
            total = add_tangents(total, term)
    return ans, total


clamp_p.declare_absent("transpose", "it is not linear in any argument")


@clamp_p.def_batch
def _clamp_batch(args: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, int]:
    args, dim = align_scalars(args, dims, (0, 2))
    return clamp_p.bind(*args), dim


@clamp_p.def_lowering
def _clamp_lower(ctx: Any, low: Any, x: Any, high: Any) -> Any:
    return ctx.hlo.clamp(low, x, high)


def _clamp_sample(choose: Choose) -> Call:
    aval = ShapedArray(choose.shape(), choose.dtype("fiub"))
    low, high = (aval.update(shape=choose.one_of(((), aval.shape))) for _ in range(2))
    return (low, aval, high), {}


clamp_p.declaration = Declaration(
    sample=_clamp_sample,
    reference=_clamp_impl,
    domain=(Interval(-1.0, -0.5), Interval(), Interval(0.5, 1.0)),
    kinds="fiub",
)
