"""Faults in ``checkpoint``: which values are recomputed, from which inputs, for which results."""

from __future__ import annotations

from typing import Any

from lawful.autodiff import checkpoint_p, name_p
from lawful.autodiff._checkpoint import primitive as _checkpoint_primitive
from lawful.core import Zero, get_aval, is_array
from lawful.ops import optimization_barrier_p
from tests.faults._fault import Fault, Rule, instead, local_fault, met_by, rule_fault, with_forms


def _reversed(right: Rule) -> Rule:
    """Reverses items of equal type."""

    def kept(items: Any, mask: Any) -> Any:
        found = right(items, mask)
        return found[::-1] if len({str(get_aval(x)) for x in found if is_array(x)}) == 1 else found

    return kept


def _cotangents_exchanged(right: Rule) -> Rule:
    def transpose(cts: Any, *args: Any, **params: Any) -> Any:
        found = right(cts, *args, **params)
        given = [ct for ct in found if ct is not None]
        exchanged = iter(given[::-1] if len({_type(ct) for ct in given}) == 1 else given)
        return [None if ct is None else next(exchanged) for ct in found]

    return transpose


def _type(x: Any) -> str:
    return str(x.aval if type(x) is Zero else get_aval(x))


def _first_tangent_dropped(right: Rule) -> Rule:
    def linearize(nonzeros: Any, *primals: Any, **params: Any) -> Any:
        outs, nonzeros_out, tangent_fun = right(nonzeros, *primals, **params)
        return (
            outs,
            nonzeros_out,
            lambda *tangents: tangent_fun(
                *[t * 0 if i == 0 and len(tangents) > 1 else t for i, t in enumerate(tangents)]
            ),
        )

    return linearize


def _without_the_last_tangent(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any, **params: Any) -> Any:
        outs, dots = right(primals, tangents, **params)
        return outs, [*dots[:-1], Zero(get_aval(outs[-1]).to_tangent_aval())] if len(dots) > 1 else dots

    return jvp


def _dims_exchanged(right: Rule) -> Rule:
    def batch(args: Any, dims: Any, **params: Any) -> Any:
        outs, dims_out = right(args, dims, **params)
        ndims = [get_aval(x).ndim for x in outs]
        return outs, [n - 1 if dim == 0 and n > 1 else dim for dim, n in zip(dims_out, ndims, strict=True)]

    return batch


def _reversed_outputs(right: Rule) -> Rule:
    def dce(used: Any, eqn: Any) -> Any:
        found = right(used, eqn)
        types = [var.aval for var in found.outvars]
        return found.replace(outvars=found.outvars[::-1]) if types == types[::-1] and found is not eqn else found

    return dce


rematerialization_faults: tuple[Fault, ...] = (
    *met_by(
        with_forms("checkpoint", "jit", "grad"),
        rule_fault(
            "checkpoint drops the tangent of its last result", "missing term", checkpoint_p, "jvp",
            _without_the_last_tangent,
        ),
        rule_fault(
            "a linearized checkpoint loses its first tangent", "missing term", checkpoint_p, "linearize",
            _first_tangent_dropped,
        ),
        rule_fault(
            "cotangents of checkpoint are exchanged", "operands swapped", checkpoint_p, "transpose",
            _cotangents_exchanged,
        ),
        rule_fault(
            "results of a mapped checkpoint have their batch dimension elsewhere", "batch dimension", checkpoint_p,
            "batch", _dims_exchanged,
        ),
        rule_fault(
            "dead code elimination exchanges results of checkpoint", "operands swapped", checkpoint_p, "dce",
            _reversed_outputs,
        ),
        local_fault(
            "checkpoint recomputes from its inputs reversed", "operands swapped", _checkpoint_primitive, "kept",
            _reversed,
        ),
    ),
    *met_by(
        with_forms("checkpoint", "jit", "vmap", "grad"),
        local_fault(
            "a partly known checkpoint gives its unknown results reversed", "operands swapped", _checkpoint_primitive,
            "merge_lists", lambda right: lambda choice, if_false, if_true: right(choice, if_false, [*if_true][::-1]),
        ),
    ),
    rule_fault(
        "a name has no derivative", "missing term", name_p, "jvp",
        instead(lambda primals, tangents, **params: (primals[0], Zero(get_aval(primals[0]).to_tangent_aval()))),
    ),
    rule_fault(
        "cotangents pass a barrier reversed", "operands swapped", optimization_barrier_p, "transpose",
        lambda right: lambda cts, *args: right(
            cts[::-1] if len({str(get_aval(x)) for x in cts if type(x) is not Zero}) == 1 else cts, *args
        ),
    ),
)  # fmt: skip
