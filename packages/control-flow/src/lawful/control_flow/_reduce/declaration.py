"""Declares the primitives of reductions by any computation, with all of their rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.autodiff import jvp as jvp_of
from lawful.batching import vmap
from lawful.control_flow._reduce.combination import Arrays, combine_all
from lawful.core import (
    ArgumentTypeError,
    Call,
    Choose,
    ClosedJaxpr,
    Declaration,
    Primitive,
    ShapedArray,
    Unequal,
    Zero,
    cached_function,
    eval_closed_jaxpr,
    get_aval,
)
from lawful.ops import (
    add,
    broadcast_in_dim,
    move_batch_dim,
    mul,
)
from lawful.staging import make_jaxpr


def general_reduction(
    name: str,
    infer: Callable[..., tuple[int, ...]],
    stack: Callable[..., Any],
    shifted: Callable[[dict[str, Any], int], tuple[dict[str, Any], int]],
    lower_op: Callable[..., Any],
    sample_params: Callable[[Choose, tuple[int, ...]], dict[str, Any]],
    is_padded: Callable[..., bool] = lambda **_: False,
) -> Primitive:
    """Declares a reduction by a computation. Its operands are the arrays, then as many initial values.

    Args:
      name: the primitive's name.
      infer: ``infer(shape, **params)`` returns the shape of the results.
      stack: ``stack(x, init, **params)`` returns an array whose elements along the first dimension are combined.
      shifted: ``shifted(params, dim)`` returns the parameters for operands with batch dimension ``dim``, and the batch
        dimension of the results.
      lower_op: ``lower_op(ctx, types, operands, inits, **params)`` builds the operation, with an empty region.
      sample_params: draws parameters that fit a shape.
      is_padded: ``is_padded(**params)`` returns whether stacks contain elements that are not the operand's. These are
        not combined.
    """
    primitive = Primitive(name, multiple_results=True, pure_rules=True)

    def present(shape: tuple[int, ...], **params: Any) -> Any:
        """Returns which elements of a stack are the operand's; None if all are."""
        return stack(broadcast_in_dim(True, shape, ()), False, **params) if is_padded(**params) else None

    def fold(*args: Any, jaxpr: ClosedJaxpr, **params: Any) -> Arrays:
        operands, inits = args[: len(args) // 2], args[len(args) // 2 :]
        stacks = [stack(x, init, **params) for x, init in zip(operands, inits, strict=True)]
        return combine_all(jaxpr, stacks, inits, present(get_aval(operands[0]).shape, **params))

    primitive.def_impl(fold)

    @primitive.def_abstract_eval
    def abstract_eval(*avals: ShapedArray, jaxpr: ClosedJaxpr, **params: Any) -> list[ShapedArray]:
        operands, inits = avals[: len(avals) // 2], avals[len(avals) // 2 :]
        scalars = [ShapedArray((), aval.dtype) for aval in operands]
        if not avals or any(aval.shape != avals[0].shape for aval in operands) or len(avals) % 2:
            raise ArgumentTypeError(f"{name}_p: expected operands of one shape, got {', '.join(map(str, avals))}")
        if [aval.update(weak_type=False, vma=frozenset()) for aval in inits] != scalars:
            raise ArgumentTypeError(
                f"{name}_p: expected a scalar of the dtype of each operand, got {', '.join(map(str, inits))}"
            )
        if jaxpr.in_avals != scalars * 2 or jaxpr.out_avals != scalars:
            raise ArgumentTypeError(
                f"{name}_p: expected a computation of {', '.join(map(str, scalars * 2))} that gives "
                f"{', '.join(map(str, scalars))}, got {', '.join(map(str, jaxpr.in_avals))} and "
                f"{', '.join(map(str, jaxpr.out_avals))}; convert in it"
            )
        shape = infer(operands[0].shape, **params)
        return [ShapedArray(shape, aval.dtype) for aval in operands]

    # Its jaxpr combines two scalars: it does not say over which axes of a mesh the operands vary.
    primitive.def_rule("varying", lambda vma, **_: vma)

    @primitive.def_jvp
    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Arrays, Arrays]:
        out = primitive.bind(*primals, **params)
        moving = [i for i, t in enumerate(tangents) if type(t) is not Zero]
        zeros = [Zero(get_aval(x).to_tangent_aval()) for x in out]
        if not moving:
            return out, zeros

        def along(*xs: Any) -> Arrays:
            args = list(primals)
            for i, x in zip(moving, xs, strict=True):
                args[i] = x
            return fold(*args, **params)

        pushed = jvp_of(along, tuple(primals[i] for i in moving), tuple(tangents[i] for i in moving))[1]
        pairs = zip(pushed, zeros, strict=True)
        return out, [zero if zero.aval.dtype.names else x for x, zero in pairs]  # integers have float0 tangents

    primitive.declare_absent("transpose", "it is not linear: its computation is arbitrary")

    @primitive.def_batch
    def batch(args: Sequence[Any], dims: Sequence[int | None], **params: Any) -> tuple[Arrays, Sequence[int | None]]:
        count = len(args) // 2
        if any(dim is not None for dim in dims[count:]):
            outs = vmap(lambda *xs: fold(*xs, **params), in_axes=tuple(dims))(*args)
            return outs, [0] * count
        size = next(get_aval(x).shape[dim] for x, dim in zip(args, dims, strict=True) if dim is not None)
        operands = [
            broadcast_in_dim(x, (size, *get_aval(x).shape), tuple(range(1, get_aval(x).ndim + 1)))
            if dim is None
            else move_batch_dim(x, dim)
            for x, dim in zip(args[:count], dims[:count], strict=True)
        ]
        moved, out_dim = shifted(params, 0)
        return primitive.bind(*operands, *args[count:], **moved), [out_dim] * count

    @primitive.def_lowering
    def lower(ctx: Any, *args: Any, jaxpr: ClosedJaxpr, **params: Any) -> Any:
        count = len(args) // 2
        outs = ctx.avals_out
        if not outs[0].size or not ctx.avals_in[0].size:
            return [ctx.broadcast_scalar(init, aval) for init, aval in zip(args[count:], outs, strict=True)]
        elements = [np.broadcast_to(np.zeros((), aval.dtype), aval.shape) for aval in ctx.avals_in]
        if len(stack(elements[0], elements[count], **params)) == 1:  # XLA would ignore the initial value
            return ctx.inline(make_jaxpr(lambda *xs: fold(*xs, jaxpr=jaxpr, **params))(*elements), args)
        op = lower_op(ctx, [ctx.tensor_type(aval) for aval in outs], list(args[:count]), list(args[count:]), **params)
        scalars = [ctx.tensor_type(ShapedArray((), aval.dtype)) for aval in outs]
        with ctx.block(op.regions[0], scalars * 2) as values:
            ctx.hlo.return_(ctx.inline(jaxpr, values))
        return list(op.results)

    def sample(choose: Choose) -> Call:
        shape = choose.shape()
        dtype = choose.dtype("f")
        count = choose.integer(1, 2)
        aval, scalar = ShapedArray(shape, dtype), ShapedArray((), dtype)
        params = {"jaxpr": _example(count, dtype), **sample_params(choose, shape)}
        return (*[aval] * count, *[scalar] * count), params

    def reference(*args: Any, jaxpr: ClosedJaxpr, **params: Any) -> Arrays:
        """Combines the elements in order, without padding."""
        count = len(args) // 2
        stacks = [np.asarray(stack(x, y, **params)) for x, y in zip(args[:count], args[count:], strict=True)]
        outs = [np.empty(x.shape[1:], x.dtype) for x in stacks]
        own = present(np.shape(args[0]), **params)
        for index in np.ndindex(outs[0].shape):
            state: Arrays = list(args[count:])
            for position in range(len(stacks[0])):
                if own is not None and not own[(position, *index)]:
                    continue
                state = eval_closed_jaxpr(jaxpr, *state, *[x[(position, *index)] for x in stacks])
            for out, value in zip(outs, state, strict=True):
                out[index] = value
        return outs

    def combines_infinities(*args: Any, jaxpr: ClosedJaxpr, **params: Any) -> bool:
        """Whether there are infinities, for which the example computation is not associative."""
        is_infinite = any([bool(np.isinf(x).any()) for x in args])
        return is_infinite and len(stack(args[0], args[len(args) // 2], **params)) > 1

    primitive.declaration = Declaration(
        sample=sample,
        reference=reference,
        prepare=_with_units,
        units=lambda count: range(count // 2, count),
        unequal=(Unequal("", combines_infinities, "0 times infinity is NaN, so that the order decides"),),
    )
    return primitive


def _with_units(*args: Any, **params: Any) -> tuple[Any, ...]:
    """Returns arguments with units of the example computation as initial values."""
    count = len(args) // 2
    units = (0.0,) if count == 1 else (1.0, 0.0)
    return (*args[:count], *[np.asarray(unit, x.dtype) for unit, x in zip(units, args, strict=False)])


@cached_function("jaxprs of associative reductions", 256)
def _example(count: int, dtype: np.dtype[Any]) -> ClosedJaxpr:
    """Returns the jaxpr of an associative and commutative computation: of a number, or of a value with a tangent."""
    scalars = [np.zeros((), dtype)] * count
    if count == 1:
        jaxpr: ClosedJaxpr = make_jaxpr(lambda x, y: [add(add(x, y), mul(mul(x, y), dtype.type(0.25)))])(*scalars * 2)
        return jaxpr
    jaxpr = make_jaxpr(lambda x, t, y, s: [mul(x, y), add(mul(x, s), mul(t, y))])(*scalars * 2)
    return jaxpr
