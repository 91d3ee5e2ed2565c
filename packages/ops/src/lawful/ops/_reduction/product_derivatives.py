"""Derivatives of products of all orders as primitives: the rules of `reduce_prod` and `cumprod`.

`product_tangent` takes an array and the tangents along which its product is differentiated. It is linear in each of
them, and `product_cotangent` is its transpose. Both are right at zeros, and where partial products overflow or
underflow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import accumulate
from typing import Any

import numpy as np

from lawful import ops
from lawful.core import (
    ArgumentTypeError,
    Call,
    Choose,
    Declaration,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Unequal,
    Zero,
    get_aval,
)
from lawful.ops._products.precision import OF_COMPLEX_INFINITY
from lawful.ops._reduction import product_series, scaled_numbers
from lawful.ops._reduction.axes import kept_axes, sample_axes
from lawful.ops._reduction.product_series import Combine, Exact, Flat, Plain, Series, Unit, joined_rows
from lawful.ops._reduction.scaled_numbers import wide_dtype
from lawful.ops._support.batch_dimensions import align_to_front
from lawful.ops._support.promotion import cast

__all__ = ["product_cotangent_p", "product_tangent_p"]

Shape = tuple[int, ...]
Algorithm = Callable[..., Any]
#: So many elements are combined without a loop.
_FEW = 8
#: Numbers with a logarithm below this in size are normal, and so are sums of 2 ** 80 of them.
_RANGE = 650.0


def _has_zero_and_infinity(*args: Any, **_: Any) -> bool:
    return any([(x == 0).any() for x in args]) and any([np.isinf(x).any() for x in args])


_ZERO_TIMES_INFINITY = Unequal(
    "xla",
    _has_zero_and_infinity,
    "the order of products decides whether a zero meets an infinity or a tangent",
)


def _in_front(x: Any, axes: Shape, reverse: bool) -> Any:
    """Returns an array with the dimensions of the product made one, in front."""
    if axes != (0,):
        kept = kept_axes(x.ndim, axes)
        count = math.prod([x.shape[axis] for axis in axes])
        x = x.transpose(axes + kept).reshape((count, *[x.shape[axis] for axis in kept]))
    return x[::-1] if reverse else x


def _back(x: Any, shape: Shape, axes: Shape, reverse: bool) -> Any:
    """Undoes `_in_front`."""
    x = x[::-1] if reverse else x
    if axes == (0,):
        return x
    order = axes + kept_axes(len(shape), axes)
    x = x.reshape([shape[axis] for axis in order])
    return x.transpose([order.index(axis) for axis in range(len(shape))])


def _kept_shape(shape: Shape, axes: Shape) -> Shape:
    return tuple([shape[axis] for axis in kept_axes(len(shape), axes)])


def _plain_tangent(*arrays: Any, cumulative: bool) -> Any:
    if len(arrays) == 2 and not cumulative:
        x, t = arrays
        return np.asarray((t * product_series.products_of_others(x)).sum(0))
    x = arrays[0]
    return product_series.tangent(Plain(), product_series.Arrays(), x.dtype, *arrays, cumulative=cumulative)


def _plain_cotangent(*arrays: Any, cumulative: bool) -> Any:
    x = arrays[0]
    if len(arrays) == 2 and not cumulative:
        return arrays[1] * product_series.products_of_others(x)
    return product_series.cotangent(Plain(), product_series.Arrays(), x.dtype, *arrays, cumulative=cumulative)


def _index_of_plain(x: Any, *others: Any) -> tuple[Any]:
    """Returns 1 if plain arithmetic is exact up to rounding, else 0: a number is not finite, or a product may overflow.

    Every partial product is one of distinct elements along the first dimension and of a number of each other array.
    """
    logs = [ops.log(np.where(y == 0, 1.0, abs(y))) for y in (x, *others)]
    is_plain: Any = True
    for sign in (1, -1):
        size = np.maximum(sign * logs[0], 0).sum(0).max()
        for y in logs[1:]:
            size = size + np.maximum(sign * y, 0).max()
        is_plain = is_plain & (size < _RANGE)
    return (is_plain.astype(np.int32),)


class _Lowered:
    """Runs over values of a compiled program: loops over blocks of about as many elements as there are blocks."""

    def __init__(self, ctx: Any) -> None:
        self._ctx = ctx

    def apply(self, function: Callable[..., Flat], *arrays: Any) -> Flat:
        return tuple(self._ctx.inline(self._ctx.program(function, *arrays), arrays))

    def products(self, numbers: Plain | Exact, flat: Flat, reverse: bool) -> Flat:
        if flat[0].type.shape[0] <= _FEW:
            return self.apply(partial(_in_a_row, Series(numbers, 0).times, reverse), *flat)
        if isinstance(numbers, Plain):
            return self.apply(lambda x: (ops.cumprod(x, 0, reverse),), *flat)
        return self.apply(lambda *flat: scaled_numbers.products((flat[0], flat[1]), reverse), *flat)

    def scan(self, combine: Combine, flat: Flat, unit: Unit, reverse: bool) -> Flat:
        size, *rest = flat[0].type.shape
        if size <= _FEW:
            return self.apply(partial(_in_a_row, combine, reverse), *flat)
        length = math.isqrt(size - 1) + 1
        count = -(-size // length)
        ordered = (lambda x, y: combine(y, x)) if reverse else combine

        def blocks(*flat: Any) -> Flat:
            padding = unit((length * count - size, *rest))
            found = [joined_rows(x[::-1] if reverse else x, y) for x, y in zip(flat, padding, strict=True)]
            return tuple(
                [ops.transpose(x.reshape((count, length, *rest)), (1, 0, *range(2, 2 + len(rest)))) for x in found]
            )

        within = self._loop(ordered, self.apply(blocks, *flat), unit)
        totals = self.apply(lambda *within: tuple([x[-1] for x in within]), *within)
        sums = self._loop(ordered, totals, unit)

        def joined(*values: Any) -> Flat:
            sums, within = values[: len(flat)], values[len(flat) :]
            before = tuple([x[None] for x in product_series.delayed(sums, unit)])
            swapped = [ops.transpose(x, (1, 0, *range(2, 2 + len(rest)))) for x in ordered(before, within)]
            found = [x.reshape((length * count, *rest))[:size] for x in swapped]
            return tuple([x[::-1] if reverse else x for x in found])

        return self.apply(joined, *sums, *within)

    def _loop(self, combine: Combine, flat: Flat, unit: Unit) -> Flat:
        """Returns a scan, one element after the other."""
        ctx, size, width = self._ctx, flat[0].type.shape[0], len(flat)
        rest = tuple(flat[0].type.shape[1:])

        def begin(*flat: Any) -> Flat:
            return np.int64(0), *unit(rest), *flat

        def step(*values: Any) -> Flat:
            xs, index, total, out = values[:width], values[width], values[width + 1 : -width], values[-width:]
            total = combine(total, tuple([ops.dynamic_index_in_dim(x, index, keepdims=False) for x in xs]))
            out = tuple([ops.dynamic_update_index_in_dim(x, y, index, 0) for x, y in zip(out, total, strict=True)])
            return index + 1, *total, *out

        init = self.apply(begin, *flat)
        goes_on = ctx.program(lambda index, *_: index < size, *init)
        return tuple(ctx.while_loop(goes_on, ctx.program(step, *flat, *init), init, body_consts=flat)[-width:])


def _in_a_row(combine: Combine, reverse: bool, *flat: Any) -> Flat:
    """Returns a scan of few elements."""
    rows = [tuple([x[i] for x in flat]) for i in range(flat[0].shape[0])]
    if reverse:
        found = list(accumulate(rows[::-1], lambda x, y: combine(y, x)))[::-1]
    else:
        found = list(accumulate(rows, combine))
    return tuple(
        [ops.concatenate([ops.expand_dims(x, (0,)) for x in column], 0) for column in zip(*found, strict=True)]
    )


def _declared(name: str, plain: Algorithm, exact: Algorithm, derive: Callable[..., Any]) -> Primitive:
    """Declares one of both primitives: its arguments are the elements, tangents, and for the one a cotangent at last.

    Args:
      name: the primitive.
      plain: its evaluation in plain arithmetic.
      exact: the function of an arithmetic that evaluates it.
      derive: the transpose: ``derive(ct, args, position, **params)`` gives the cotangent of an argument.
    """
    primitive = Primitive(name, pure_rules=True)
    gives_elements = exact is product_series.cotangent

    def out_shape(shape: Shape, axes: Shape, cumulative: bool, transposed: bool) -> Shape:
        return shape if cumulative or transposed else _kept_shape(shape, axes)

    def prepared(args: Sequence[Any], axes: Shape, cumulative: bool, reverse: bool) -> list[Any]:
        """Returns the operands in float64 or complex128, the dimensions of the product in front."""
        found = [
            x if gives_elements and not cumulative and i == len(args) - 1 else _in_front(x, axes, reverse)
            for i, x in enumerate(args)
        ]
        wide = wide_dtype(found[0].dtype)
        return found if wide == found[0].dtype else [x.astype(wide) for x in found]

    def finished(out: Any, shape: Shape, axes: Shape, cumulative: bool, reverse: bool) -> Any:
        return _back(out, shape, axes, reverse) if gives_elements or cumulative else out

    @primitive.def_impl
    def impl(*args: Any, axes: Shape, cumulative: bool, reverse: bool) -> Any:
        x = np.asarray(args[0])
        arrays = prepared([np.asarray(y) for y in args], axes, cumulative, reverse)
        if not x.size:
            shape = out_shape(x.shape, axes, cumulative, gives_elements)
            return np.zeros(shape, x.dtype)[()]
        out = product_series.evaluated(
            partial(plain, cumulative=cumulative),
            partial(exact, Exact(), product_series.Arrays(), arrays[0].dtype, cumulative=cumulative),
            *arrays,
        )
        out = finished(out, x.shape, axes, cumulative, reverse)
        return (out if out.dtype == x.dtype else cast(out, x.dtype))[()]

    @primitive.def_rule_as("numpy")
    def specialised(avals: Sequence[ShapedArray], compile: Any, **params: Any) -> Callable[..., Any]:
        function = primitive.rule("impl")
        x, is_total = avals[0], params["axes"] == (0,) and not params["cumulative"]
        if function is not impl or x.dtype != np.float64 or x.ndim != 1 or not x.size or not is_total:
            return partial(function, **params)
        functions = (
            partial(plain, cumulative=False),
            partial(exact, Exact(), product_series.Arrays(), x.dtype, cumulative=False),
        )
        return lambda *args: product_series.evaluated(*functions, *args)[()]

    @primitive.def_abstract_eval
    def abstract_eval(*avals: ShapedArray, axes: Shape, cumulative: bool, reverse: bool) -> ShapedArray:
        x = avals[0]
        shapes = [x.shape] * len(avals)
        if gives_elements:
            shapes[-1] = out_shape(x.shape, axes, cumulative, False)
        if len(avals) < 2 or [(aval.shape, aval.dtype) for aval in avals] != [(shape, x.dtype) for shape in shapes]:
            raise ArgumentTypeError(
                f"{name}_p: expected an array, tangents of its type{' and a cotangent' if gives_elements else ''}, "
                f"got {', '.join(map(str, avals))}; it is the derivative of reduce_prod and cumprod, which call it"
            )
        return ShapedArray(out_shape(x.shape, axes, cumulative, gives_elements), x.dtype)

    @primitive.def_jvp
    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        ans = primitive.bind(*primals, **params)
        terms = []
        for i, t in enumerate(tangents):
            if type(t) is not Zero:
                args = list(primals)
                args[i : i + 1] = [t] if i else [primals[0], t]
                terms.append(primitive.bind(*args, **params))
        if not terms:
            return ans, Zero(get_aval(ans).to_tangent_aval())
        return ans, reduce(ops.add, terms)

    @primitive.def_transpose
    def transpose(ct: Any, *args: Any, **params: Any) -> list[Any]:
        (position,) = [i for i, x in enumerate(args) if type(x) is UndefinedPrimal]
        found: list[Any] = [None] * len(args)
        found[position] = Zero(args[position].aval) if type(ct) is Zero else derive(ct, args, position, **params)
        return found

    @primitive.def_batch
    def batch(args: Sequence[Any], dims: Sequence[int | None], *, axes: Shape, **params: Any) -> tuple[Any, int]:
        shifted = tuple([axis + 1 for axis in axes])
        return primitive.bind(*align_to_front(args, dims), axes=shifted, **params), 0

    @primitive.def_lowering
    def lower(ctx: Any, *operands: Any, axes: Shape, cumulative: bool, reverse: bool) -> Any:
        aval = ctx.avals_in[0]
        if not aval.size:
            return ctx.zeros(ctx.avals_out[0])
        runs, dtype = _Lowered(ctx), wide_dtype(aval.dtype)
        arrays = runs.apply(lambda *args: tuple(prepared(args, axes, cumulative, reverse)), *operands)
        (index,) = runs.apply(_index_of_plain, *arrays)
        kept = arrays[0].type.shape[0 if cumulative or gives_elements else 1 :]
        op = ctx.hlo.CaseOp([ctx.tensor_type(ShapedArray(tuple(kept), dtype))], index=index, num_branches=2)
        for region, numbers in zip(op.regions, (Exact(), Plain()), strict=True):
            with ctx.block(region, ()):
                ctx.hlo.return_([exact(numbers, runs, dtype, *arrays, cumulative=cumulative)])
        out = op.results[0]

        def finish(out: Any) -> Any:
            return finished(out, aval.shape, axes, cumulative, reverse).astype(aval.dtype)

        return ctx.inline(ctx.program(finish, out), [out])[0]

    def sample(choose: Choose) -> Call:
        cumulative = choose.one_of((False, True))
        shape, dtype = choose.shape(min_ndim=1), choose.dtype("fc")
        axes = (choose.integer(0, len(shape) - 1),) if cumulative else sample_axes(choose, len(shape))
        last = ShapedArray(out_shape(shape, axes, cumulative, not gives_elements), dtype)
        params = {"axes": axes, "cumulative": cumulative, "reverse": cumulative and choose.one_of((False, True))}
        return (ShapedArray(shape, dtype), last), params

    primitive.declaration = Declaration(
        sample=sample, kinds="fc", linear=((1,),), unequal=(OF_COMPLEX_INFINITY, _ZERO_TIMES_INFINITY)
    )
    return primitive


def _transposed_tangent(ct: Any, args: Sequence[Any], position: int, **params: Any) -> Any:
    others = [x for i, x in enumerate(args) if i != position]
    return product_cotangent_p.bind(*others, ct, **params)


def _transposed_cotangent(ct: Any, args: Sequence[Any], position: int, **params: Any) -> Any:
    *others, last = [x for i, x in enumerate(args) if i != position]
    if position == len(args) - 1:
        return product_tangent_p.bind(*others, last, ct, **params)
    return product_cotangent_p.bind(*others, ct, last, **params)


product_tangent_p = _declared("product_tangent", _plain_tangent, product_series.tangent, _transposed_tangent)
product_cotangent_p = _declared("product_cotangent", _plain_cotangent, product_series.cotangent, _transposed_cotangent)
