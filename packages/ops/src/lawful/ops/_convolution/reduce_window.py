"""The family of reductions over windows (pooling): one declaration makes the primitive, its rules and its function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from lawful.core import Call, Choose, Declaration, Primitive, ShapedArray, Zero, get_aval, kind
from lawful.ops._convolution.select_and_gather import select_and_gather_add_p
from lawful.ops._convolution.sliding_window import (
    Params,
    batched,
    dilated,
    sample_windows,
    window_attributes,
    window_params,
    window_shape,
    windows,
)
from lawful.ops._support.dtypes import accumulation_dtype, check_kind, highest, lowest
from lawful.ops._support.promotion import cast
from lawful.ops._support.structural import Shape, cotangent, strong, zeros_of

__all__ = [
    "reduce_window_max",
    "reduce_window_max_p",
    "reduce_window_min",
    "reduce_window_min_p",
    "reduce_window_sum",
    "reduce_window_sum_p",
]


class WindowReduction(Protocol):
    """A function that reduces windows of an array."""

    def __call__(
        self,
        operand: Any,
        window_dimensions: Any,
        window_strides: Any = None,
        padding: Any = "VALID",
        base_dilation: Any = None,
        window_dilation: Any = None,
    ) -> Any: ...


def _reduce_window(
    name: str,
    doc: str,
    derivative_doc: str,
    ufunc: np.ufunc,
    hlo: str,
    unit: Callable[[np.dtype[Any]], Any],
    *,
    kinds: str,
    select_prim: str | None = None,
) -> tuple[WindowReduction, Primitive]:
    """Declares a reduction over windows.

    Args:
      name: the primitive's name, and the function's.
      doc: the first line of the function's docstring.
      derivative_doc: the sentence about the derivative in the docstring.
      ufunc: the binary NumPy function that is repeated.
      hlo: the StableHLO op that is repeated.
      unit: gives, for a dtype, the padding value, which is the value of an empty reduction.
      kinds: the dtype kinds that it is defined for.
      select_prim: the comparison that selects the element whose tangent the result has; None for the sum, which is
        linear.
    """
    primitive = Primitive(name, pure_rules=True)
    primitive.def_rule("operations", lambda eqn: eqn.outvars[0].aval.size * math.prod(eqn.params["window_dimensions"]))

    def function(
        operand: Any,
        window_dimensions: Any,
        window_strides: Any = None,
        padding: Any = "VALID",
        base_dilation: Any = None,
        window_dilation: Any = None,
    ) -> Any:
        aval = get_aval(operand)
        check_kind(name, aval, kinds)
        params = window_params(
            name, aval.shape, window_dimensions, window_strides, padding, base_dilation, window_dilation
        )
        window_shape(name, aval.shape, **params)
        return primitive.bind(strong(operand), **params)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{doc}

    Args:
      operand: an array.
      window_dimensions: the lengths of the window, one a dimension.
      window_strides: the distances of two windows; None for 1.
      padding: for each dimension how much to pad before and after, with what changes no result; a negative number
        drops elements. Or ``"VALID"`` for none, ``"SAME"`` for a result of the operand's shape over the strides.
      base_dilation: the distances at which the elements of the operand stand; None for 1.
      window_dilation: the distances at which the elements of the window stand; None for 1.

    Raises:
      ArgumentTypeError: the op is not defined for this dtype.
      ArgumentValueError: the numbers do not fit the operand.

    {derivative_doc}

    >>> {name}(np.array([1.0, 3.0, 2.0]), (2,))
    {ufunc.reduce(np.array([[1.0, 3.0], [3.0, 2.0]]), axis=1)!r}

    Source: ``jax.lax.reduce_window``, of which it is one case.
    """

    @primitive.def_impl
    def impl(x: Any, **params: Any) -> Any:
        x = np.asarray(x)
        wide = accumulation_dtype(x.dtype)
        view = windows(x.astype(wide, copy=False), cast(unit(x.dtype), wide), **params)
        axes = tuple(range(x.ndim, 2 * x.ndim))
        out = ufunc.reduce(view, axis=axes, dtype=wide) if x.ndim else np.array(view)
        return out if wide == x.dtype else cast(out, x.dtype)

    @primitive.def_abstract_eval
    def abstract_eval(x: ShapedArray, **params: Any) -> ShapedArray:
        check_kind(f"{name}_p", x, kinds)
        return ShapedArray(window_shape(f"{name}_p", x.shape, **params), x.dtype)

    @primitive.def_jvp
    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        ans = primitive.bind(x, **params)
        aval = get_aval(ans)
        if type(t) is Zero or kind(aval.dtype) not in "fc":
            return ans, Zero(aval.to_tangent_aval())
        if select_prim is None:
            return ans, primitive.bind(t, **params)
        return ans, select_and_gather_add_p.bind(t, x, select_prim=select_prim, **params)

    if select_prim is None:

        @primitive.def_transpose
        def transpose(ct: Any, x: Any, **params: Any) -> list[Any]:
            return [Zero(x.aval) if type(ct) is Zero else cotangent(_spread(ct, x.aval, **params), x.aval)]
    else:
        primitive.declare_absent("transpose", "it is not linear")

    @primitive.def_batch
    def batch(args: Sequence[Any], dims: Sequence[int], **params: Any) -> tuple[Any, int]:
        return primitive.bind(args[0], **batched(params, dims[0])), dims[0]

    @primitive.def_lowering
    def lower(ctx: Any, x: Any, **params: Any) -> Any:
        (aval,), (out,) = ctx.avals_in, ctx.avals_out
        if not aval.size or not out.size:
            return ctx.full(out, unit(aval.dtype))
        wide = aval.update(dtype=accumulation_dtype(aval.dtype))
        narrow = wide.dtype != aval.dtype
        if narrow:
            x = ctx.hlo.convert(ctx.tensor_type(wide), x)
        init = ctx.constant(cast(unit(aval.dtype), wide.dtype))
        op = ctx.hlo.ReduceWindowOp(
            [ctx.tensor_type(out.update(dtype=wide.dtype))], [x], [init], **window_attributes(ctx, params)
        )
        scalar = ctx.tensor_type(ShapedArray((), wide.dtype))
        with ctx.block(op.regions[0], [scalar, scalar]) as (left, right):
            ctx.hlo.return_([getattr(ctx.hlo, hlo)(left, right)])
        return ctx.hlo.convert(ctx.tensor_type(out), op.results[0]) if narrow else op.results[0]

    def sample(choose: Choose) -> Call:
        shape = choose.shape()
        return (ShapedArray(shape, choose.dtype(kinds)),), sample_windows(choose, shape)

    primitive.declaration = Declaration(
        sample=sample,
        reference=_reference(ufunc, unit),
        kinds=kinds,
        linear=((0,),) if select_prim is None else (),
    )
    return function, primitive


def _reference(ufunc: np.ufunc, unit: Callable[[np.dtype[Any]], Any]) -> Callable[..., Any]:
    """Returns a reference implementation: loops over the windows and their elements."""

    def fold(
        x: Any,
        *,
        window_dimensions: Shape,
        window_strides: Shape,
        padding: Any,
        base_dilation: Shape,
        window_dilation: Shape,
    ) -> Any:
        groups = (window_dimensions, window_strides, padding, base_dilation, window_dilation)
        counts = []
        for size, window, stride, (low, high), base, spread in zip(x.shape, *groups, strict=True):
            length = low + high + (0 if size == 0 else base * (size - 1) + 1)
            counts.append(len(range(0, length - spread * (window - 1), stride)))
        wide = accumulation_dtype(x.dtype)
        out = np.full(counts, unit(x.dtype)).astype(wide)
        for window in np.ndindex(*counts):
            for inside in np.ndindex(*window_dimensions):
                index = []
                for o, k, stride, (low, _), base, spread, size in zip(
                    window, inside, window_strides, padding, base_dilation, window_dilation, x.shape, strict=True
                ):
                    position, rest = divmod(o * stride + k * spread - low, base)
                    index.append(position if rest == 0 and 0 <= position < size else None)
                if None not in index:
                    out[window] = ufunc(out[window], x[tuple(index)].astype(wide))
        return cast(out, x.dtype)

    return fold


def _spread(
    ct: Any,
    aval: ShapedArray,
    *,
    window_dimensions: Shape,
    window_strides: Shape,
    padding: Any,
    base_dilation: Shape,
    window_dilation: Shape,
) -> Any:
    """Returns the transpose of a sum over windows: such a sum of the cotangent, dilated by the strides."""
    given = get_aval(ct).shape
    if not aval.size or 0 in given:
        return zeros_of(aval.update(weak_type=False))
    pads = []
    for size, count, window, stride, (low, _), base, spread in zip(
        aval.shape, given, window_dimensions, window_strides, padding, base_dilation, window_dilation, strict=True
    ):
        before = (window - 1) * spread - low
        whole = (size - 1) * base + dilated(window, spread)
        pads.append((before, whole - before - dilated(count, stride)))
    params: Params = {
        "window_dimensions": window_dimensions,
        "window_strides": base_dilation,
        "padding": tuple(pads),
        "base_dilation": window_strides,
        "window_dilation": window_dilation,
    }
    return reduce_window_sum_p.bind(ct, **params)


_EXTREMUM = "The derivative is that of the first element of a window that is the extremum."

reduce_window_sum, reduce_window_sum_p = _reduce_window(
    "reduce_window_sum",
    "Returns the sums of the windows of an array.",
    "It is linear.",
    np.add,
    "add",
    lambda dtype: dtype.type(0),
    kinds="iufc",
)
reduce_window_max, reduce_window_max_p = _reduce_window(
    "reduce_window_max",
    "Returns the largest elements of the windows of an array, NaN if one is.",
    _EXTREMUM,
    np.maximum,
    "maximum",
    lowest,
    kinds="biuf",
    select_prim="ge",
)
reduce_window_min, reduce_window_min_p = _reduce_window(
    "reduce_window_min",
    "Returns the smallest elements of the windows of an array, NaN if one is.",
    _EXTREMUM,
    np.minimum,
    "minimum",
    highest,
    kinds="biuf",
    select_prim="le",
)
