"""Derivatives of calls with a batching rule and no derivative rule, as calls with a batching rule.

The batching rule of the derivative is the derivative of the batching rule. The linear part of such a call evaluates the
function again instead of taking residuals: the residuals of the batching rule differ from those of the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.autodiff import as_tangent_of, backward_pass, instantiated, jvp_flat, linear_program, zero_tangent
from lawful.batching import AxisData, place_batch_dim
from lawful.core import ShapedArray, UndefinedPrimal, Zero, float0, get_aval
from lawful.custom_rules._call.callee import Callee
from lawful.custom_rules._call.primitive import custom_vmap_call_p
from lawful.custom_rules._call.rules import CallRules, Dims, Flat
from lawful.staging import kept, merge_lists


def tangent_call(
    function: Flat, name: str, rules: CallRules, primals: Sequence[Any], tangents: Sequence[Any], outs: Sequence[Any]
) -> list[Any]:
    """Returns the tangents of the results of a call with a batching rule.

    Args:
      function: the function of the operands.
      name: its name.
      rules: its rules, with a batching rule.
      primals: the operands.
      tangents: their tangents.
      outs: the results.
    """
    given = [type(t) is not Zero for t in tangents]
    wanted = [zero_tangent(x).aval.dtype != float0 for x in outs]
    if not any(wanted):
        return [zero_tangent(x) for x in outs]
    count = len(primals)

    def differentiated(function: Flat, operands: Sequence[Any]) -> list[Any]:
        primals, rest = operands[:count], iter(operands[count:])
        directions = [next(rest) if nonzero else zero_tangent(x) for x, nonzero in zip(primals, given, strict=True)]
        results, results_dot = jvp_flat(function, primals, directions)
        return kept([*map(as_tangent_of, results, results_dot)], wanted)

    def batch(axis_data: AxisData, operands: Sequence[Any], dims: Dims) -> tuple[list[Any], list[int | None]]:
        assert rules.batch is not None
        batching_rule, size = rules.batch, axis_data.size
        rest = iter(dims[count:])
        tangent_dims = [next(rest) if nonzero else None for nonzero in given]
        # A primal and its tangent have the same batch dimension.
        both = [0 if (a, b) != (None, None) else None for a, b in zip(dims[:count], tangent_dims, strict=True)]
        placed = [
            place_batch_dim(x, dim, to, size)
            for x, dim, to in zip(operands, dims, [*both, *kept(both, given)], strict=True)
        ]
        out_dims: list[int | None] = []

        def of_batches(*batches: Any) -> list[Any]:
            nonlocal out_dims
            results, out_dims = batching_rule(axis_data, batches, both)
            return results

        return differentiated(of_batches, placed), kept(out_dims, wanted)

    operands = [*primals, *kept(tangents, given)]
    callee = Callee(
        f"the derivative of {name}", lambda *xs: differentiated(function, xs), [get_aval(x) for x in operands],
        ("jvp", tuple(given), rules.key), out_avals=kept([zero_tangent(x).aval for x in outs], wanted),
    )  # fmt: skip
    derived = CallRules(
        ("jvp", tuple(given), rules.key), batch=batch, linear=(*(False,) * count, *(True,) * sum(given)),
        closed_over=rules.closed_over,
    )  # fmt: skip
    found = custom_vmap_call_p.bind(*operands, name=f"jvp_{name}", fun=callee, rules=derived)
    return merge_lists(wanted, [zero_tangent(x) for x, want in zip(outs, wanted, strict=True) if not want], found)


def transposed_call(function: Flat, name: str, rules: CallRules, args: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
    """Returns the cotangents of the linear operands of a call with a batching rule, and None for the others.

    Args:
      function: the function of the operands.
      name: its name.
      rules: its rules, with a batching rule.
      args: the operands, of which the linear ones are an ``UndefinedPrimal``.
      cts: the cotangents of the results.
    """
    known = [type(x) is not UndefinedPrimal for x in args]
    given = [type(ct) is not Zero for ct in cts]
    linear_avals = [x.aval for x in args if type(x) is UndefinedPrimal]
    if not any(given):
        return [None if is_known else Zero(x.aval) for x, is_known in zip(args, known, strict=True)]
    count = sum(known)

    def transposed(function: Flat, operands: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
        def of_linear(*values: Any) -> list[Any]:
            return kept(function(*merge_lists(known, values, operands[:count])), given)

        program, depends, _ = linear_program(of_linear, avals)
        return [*map(instantiated, backward_pass(program, kept(operands[count:], depends)))]

    def batch(axis_data: AxisData, operands: Sequence[Any], dims: Dims) -> tuple[list[Any], list[int | None]]:
        assert rules.batch is not None
        batching_rule, size = rules.batch, axis_data.size
        all_dims = merge_lists(known, [0] * len(linear_avals), dims[:count])

        def of_batches(*batches: Any) -> list[Any]:
            results, out_dims = batching_rule(axis_data, batches, all_dims)
            return [place_batch_dim(x, dim, 0, size) for x, dim in zip(results, out_dims, strict=True)]

        in_front = [
            x if i < count else place_batch_dim(x, dim, 0, size)
            for i, (x, dim) in enumerate(zip(operands, dims, strict=True))
        ]
        avals = [aval.update(shape=(size, *aval.shape), weak_type=False) for aval in linear_avals]
        return transposed(of_batches, in_front, avals), [0] * len(avals)

    operands = [*kept(args, known), *kept(cts, given)]
    key = ("transpose", tuple(known), tuple(given), rules.key)
    callee = Callee(
        f"the transpose of {name}", lambda *xs: transposed(function, xs, linear_avals),
        [get_aval(x) for x in operands], key, out_avals=linear_avals,
    )  # fmt: skip
    derived = CallRules(
        key, batch=batch, linear=(*(False,) * count, *(True,) * sum(given)),
        closed_over=sum(known[: rules.closed_over]),
    )  # fmt: skip
    found = iter(custom_vmap_call_p.bind(*operands, name=f"transpose_{name}", fun=callee, rules=derived))
    return [None if is_known else next(found) for is_known in known]
