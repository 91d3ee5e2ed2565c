"""The transpose of ``scan_p``: a scan of cotangents in the opposite direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lawful.autodiff import transpose_jaxpr
from lawful.control_flow._loops.bodies import Counts, Mask, fixpoint, instantiate_cotangents, split_list, with_zeros
from lawful.control_flow._scan.linearization import split_scan
from lawful.control_flow._scan.primitive import bind_scan, counts_of, scan_p
from lawful.control_flow._scan.reversal import reversed_scan
from lawful.core import ClosedJaxpr, UndefinedPrimal, Zero, eval_closed_jaxpr, get_aval, memoize
from lawful.ops import add_tangents, with_weakness_of
from lawful.staging import kept, trace_to_jaxpr


@memoize
def _transposed_body(
    jaxpr: ClosedJaxpr, counts: Counts, linear: Mask, nonzeros: Mask
) -> tuple[ClosedJaxpr, Mask, Mask, Mask]:
    """Returns the transposed body, and masks of the cotangents that it returns: of constants, carry and slices.

    Its constants are the constant residuals. Its carry is the cotangents of the carry, and those of the constants
    summed so far. Its slices are the cotangents of the results, and the residuals that are slices.
    """
    lin_consts, _, lin_xs = split_list(linear, counts[:2])
    mask = (*lin_consts, *(True,) * counts.carry, *lin_xs)
    first, results = split_list(nonzeros, (counts.carry,))
    before, after = sum(lin_consts), sum(lin_consts) + counts.carry
    carry = fixpoint(first, lambda cts: transpose_jaxpr(jaxpr, mask, (*cts, *results))[1][before:after])
    wanted = (*(False,) * before, *carry, *(False,) * sum(lin_xs))
    transposed, found = transpose_jaxpr(jaxpr, mask, (*carry, *results), wanted)
    ct_consts, ct_xs = found[:before], found[after:]

    res_consts = [aval for aval, lin in zip(jaxpr.in_avals, mask, strict=True) if not lin][: counts.consts - before]
    res_xs = transposed.in_avals[len(res_consts) : len(res_consts) + counts.xs - sum(lin_xs)]
    cts_in = transposed.in_avals[len(res_consts) + len(res_xs) :]
    cts_carry, cts_ys = cts_in[: sum(carry)], cts_in[sum(carry) :]
    # The sums are a part of the carry, and so strong.
    sums = [aval.update(weak_type=False) for aval in transposed.out_avals[: sum(ct_consts)]]
    sizes = (len(res_consts), len(cts_carry), len(sums), len(cts_ys))

    def backwards(*args: Any) -> list[Any]:
        consts, cts, totals, cts_out, slices = split_list(args, sizes)
        outs = eval_closed_jaxpr(transposed, *consts, *slices, *cts, *cts_out)
        terms, cts, cts_slices = split_list(outs, (len(sums), len(cts)))
        return [*cts, *map(add_tangents, totals, map(with_weakness_of, terms, sums)), *cts_slices]

    avals = [*res_consts, *cts_carry, *sums, *cts_ys, *res_xs]
    body = trace_to_jaxpr(backwards, avals, transformation="transpose", name=f"transposed_{jaxpr.jaxpr.name}")
    return body, ct_consts, carry, ct_xs


@scan_p.def_transpose
def _transpose(
    cts: Sequence[Any],
    *args: Any,
    jaxpr: ClosedJaxpr,
    num_consts: int,
    num_carry: int,
    length: int,
    reverse: bool,
    unroll: int,
    checkpoints: int | None,
) -> list[Any]:
    counts = counts_of(jaxpr, num_consts, num_carry)
    linear = tuple([isinstance(x, UndefinedPrimal) for x in args])
    nonzeros = tuple([type(ct) is not Zero for ct in cts])
    if checkpoints is not None:
        return _transpose_recomputing(cts, args, jaxpr, counts, length, reverse, checkpoints)
    body, ct_consts, ct_carry, ct_xs = _transposed_body(jaxpr, counts, linear, nonzeros)
    consts, _, xs = split_list(args, counts[:2])
    res_consts = [x for x in consts if not isinstance(x, UndefinedPrimal)]
    res_xs = [x for x in xs if not isinstance(x, UndefinedPrimal)]
    lin_consts = [x.aval for x in consts if isinstance(x, UndefinedPrimal)]
    lin_xs = [x.aval for x in xs if isinstance(x, UndefinedPrimal)]
    sums = instantiate_cotangents([Zero(aval) for aval in lin_consts], ct_consts)
    given_ys = [ct for ct in cts[num_carry:] if type(ct) is not Zero]
    operands = [*res_consts, *instantiate_cotangents(cts[:num_carry], ct_carry), *sums, *given_ys, *res_xs]
    inner = Counts(len(res_consts), sum(ct_carry) + len(sums), len(given_ys) + len(res_xs))
    outs = bind_scan(operands, body, inner, length=length, reverse=not reverse, unroll=unroll, checkpoints=None)
    cts_carry, totals, cts_xs = split_list(outs, (sum(ct_carry), len(sums)))
    carry_avals = jaxpr.in_avals[num_consts : num_consts + num_carry]
    found = [
        *with_zeros(totals, ct_consts, lin_consts),
        *with_zeros(cts_carry, ct_carry, carry_avals),
        *with_zeros(cts_xs, ct_xs, lin_xs),
    ]
    # A carry that is not linear itself starts at zero in a linear loop.
    numbers = [*[i for i in range(num_consts) if linear[i]], *range(num_consts, num_consts + num_carry)]
    numbers += [i for i in range(num_consts + num_carry, len(args)) if linear[i]]
    ct_of = dict(zip(numbers, found, strict=True))
    return [ct_of[i] if linear[i] else None for i in range(len(args))]


def _transpose_recomputing(
    cts: Sequence[Any], args: Sequence[Any], jaxpr: ClosedJaxpr, counts: Counts, length: int, reverse: bool, room: int
) -> list[Any]:
    """Transposes a loop without residuals; its iterations are rerun from the known parts of the carry."""
    linear = tuple([isinstance(x, UndefinedPrimal) for x in args])
    _, mask = split_scan(jaxpr, counts, linear)
    lin_consts, lin_carry, lin_xs = split_list(mask, counts[:2])
    given = [*kept(cts[: counts.carry], lin_carry), *cts[counts.carry :]]
    nonzeros = tuple([type(ct) is not Zero for ct in given])
    loop = reversed_scan(jaxpr, counts, mask, nonzeros, length, reverse, max(min(room, length), 1))
    of_carry = kept(cts[: counts.carry], lin_carry)
    known = [x for x, lin in zip(args, mask, strict=True) if not lin]
    cts_ys = [ct for ct in cts[counts.carry :] if type(ct) is not Zero]
    operands = [*known, *instantiate_cotangents(of_carry, loop.carry), *cts_ys]
    outs = eval_closed_jaxpr(loop.program, *map(with_weakness_of, operands, loop.program.in_avals))
    sums, cts_carry, cts_xs = split_list(outs, (sum(loop.consts), sum(loop.carry)))
    avals = [x.aval if isinstance(x, UndefinedPrimal) else get_aval(x) for x in args]
    of_consts, of_carry, of_xs = split_list(avals, counts[:2])
    found = iter(
        [
            *with_zeros(sums, loop.consts, kept(of_consts, lin_consts)),
            *with_zeros(cts_carry, loop.carry, kept(of_carry, lin_carry)),
            *with_zeros(cts_xs, loop.xs, kept(of_xs, lin_xs)),
        ]
    )
    all_cts = [next(found) if lin else None for lin in mask]
    return [ct if lin else None for ct, lin in zip(all_cts, linear, strict=True)]
