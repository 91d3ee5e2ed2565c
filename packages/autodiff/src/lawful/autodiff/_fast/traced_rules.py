"""Traced derivative rules: run for arguments of some types, and replayed afterwards.

A pure jvp rule applies the same primitives to all values of the same types. The same holds for its linearization, for
the transpose of a linear equation, and for each of these of a whole program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.autodiff._dual import run_jvp_rule
from lawful.autodiff._fast.dual import TangentAvals
from lawful.autodiff._jvp import jvp_jaxpr
from lawful.autodiff._linearize import linearize_jaxpr
from lawful.autodiff._transpose import backward_pass
from lawful.core import (
    ClosedJaxpr,
    Jaxpr,
    Primitive,
    ShapedArray,
    UndefinedPrimal,
    Zero,
    current,
    exact_params_key,
    get_aval,
    has_effects,
    new_trace,
)
from lawful.core._fast import IndexedJaxpr, cached_rule, definitions, derived_or_none, insert_rule, rule_cache
from lawful.staging import JaxprTrace, PartialTrace, consts_as_inputs, cse_jaxpr, dce_jaxpr, numpy_function

Avals = tuple[ShapedArray, ...]
Mask = tuple[bool, ...]
#: The type of Python's floats.
_NUMBER = get_aval(0.0)
_ABSENT: Any = object()


class TracedRule:
    """The program of a jvp or transpose rule; some of its tangents or cotangents may be zero.

    Attributes:
      program: from the arguments to the primal outputs, if any, and then the tangents that are not zero.
      count: how many primal outputs there are.
      numbers: for each tangent, its number among the results of ``program``; None if it is zero.
      all_nonzero: whether none of them is zero.
    """

    __slots__ = ("all_nonzero", "count", "numbers", "program")

    def __init__(self, closed: ClosedJaxpr, count: int, nonzeros: Sequence[bool]) -> None:
        self.program = IndexedJaxpr(closed, numpy_function)
        self.count = count
        self.numbers = _numbers(nonzeros, count)
        self.all_nonzero = all(nonzeros)


class LinearizedRule:
    """A primitive, or a program of several, linearized at some types.

    Attributes:
      primal: from the primals to the outputs, and then the residuals: what the linear part needs of them.
      closed: the linear part: from the residuals and then the tangents to those output tangents that are not zero.
      linear: the same in indexed form.
      count: how many outputs there are.
      out_avals: their types, and then those of the residuals.
      numbers: for each output, the number of its tangent among those that ``linear`` gives; None if it is zero.
      is_single: whether there is one output, with a tangent.
      is_plain: whether each tangent that ``linear`` gives is computed, once; none is an argument or a scalar.
      computed: if not, the rule with only the one tangent that is computed; None if there is none.
      sources: for each tangent, 0 for that one, or its number among the input tangents less their count. None if more
        are computed, or one is a scalar, or an input is used twice: then equations add cotangents in another order.
      common: the transpose for one array or number as cotangent, if it gives no zero, after the Python type, shape and
        dtype of that cotangent.
      single: the same after the type of that cotangent.
    """

    __slots__ = (
        "closed", "common", "computed", "count", "is_plain", "is_single", "linear", "numbers", "out_avals", "primal",
        "single", "sources",
    )  # fmt: skip

    def __init__(self, primal: ClosedJaxpr, closed: ClosedJaxpr, count: int, nonzeros: Sequence[bool]) -> None:
        self.primal = IndexedJaxpr(primal, numpy_function)
        self.closed = closed
        self.linear = IndexedJaxpr(closed)
        self.count = count
        self.out_avals = self.primal.out_avals
        self.numbers = _numbers(nonzeros, 0)
        self.is_single = self.numbers == (0,)
        results = self.linear.results
        known = len(closed.in_avals) + len(self.linear.literals)
        self.is_plain = len(set(results)) == len(results) and all(number >= known for number in results)
        self.computed: LinearizedRule | None = None
        self.sources: tuple[int, ...] | None = None
        if not self.is_plain:
            self._separate(primal)
        self.common: tuple[type, tuple[int, ...], np.dtype[Any], IndexedJaxpr] | None = None
        self.single: tuple[ShapedArray, IndexedJaxpr] | None = None

    def _separate(self, primal: ClosedJaxpr) -> None:
        """Sets ``computed`` and ``sources``."""
        jaxpr = self.closed.jaxpr
        tangents = jaxpr.invars[len(self.primal.results) - self.count :]
        made = [var for eqn in jaxpr.eqns for var in eqn.outvars]
        computed = [atom for atom in dict.fromkeys(jaxpr.outvars) if atom in made]
        numbers: dict[Any, int] = {var: i - len(tangents) for i, var in enumerate(tangents)}
        numbers.update({var: i for i, var in enumerate(computed)})
        uses = [atom for eqn in jaxpr.eqns for atom in eqn.invars if atom in tangents]
        if all([atom in numbers for atom in jaxpr.outvars]) and len(computed) < 2 and len(uses) == len({*uses}):
            self.sources = tuple([numbers[atom] for atom in jaxpr.outvars])
            if computed:
                closed = ClosedJaxpr(jaxpr.replace(outvars=computed), ())
                self.computed = LinearizedRule(primal, closed, self.count, [True] * len(computed))

    def transposed(self, cts: tuple[ShapedArray | None, ...]) -> TracedRule | None:
        """Returns the linear part backwards: from the residuals and then the cotangents to those of its tangents.

        Args:
          cts: the types of the cotangents of what ``linear`` gives; None for a zero.

        Returns:
          None if a transpose rule looks at values.
        """
        key = (LinearizedRule.transposed, self, cts)
        found: TracedRule | None = rule_cache.lookup(key, _ABSENT)
        if found is _ABSENT:
            since = definitions()
            found = derived_or_none(self._transpose, cts)
            insert_rule(key, found, since)
            if found is not None and found.all_nonzero and len(cts) == 1 and cts[0] is not None:
                self._set_common(cts[0], found.program)
        return found

    def _set_common(self, aval: ShapedArray, program: IndexedJaxpr) -> None:
        """Keeps the transpose for a cotangent of a type, and of the Python type, shape and dtype that tell it."""
        self.single = aval, program
        if aval is _NUMBER:
            self.common = float, aval.shape, aval.dtype, program
        elif not aval.weak_type:
            self.common = np.ndarray if aval.shape else aval.dtype.type, aval.shape, aval.dtype, program

    def _transpose(self, cts: Sequence[ShapedArray | None]) -> TracedRule | None:
        jaxpr = self.closed.jaxpr
        count = len(self.primal.results) - self.count
        opened = Jaxpr(jaxpr.invars[:count], jaxpr.invars[count:], jaxpr.eqns, jaxpr.outvars)

        def pull_back(*args: Any) -> tuple[list[Any], Sequence[Any]]:
            given = iter(args[count:])
            return [], backward_pass(
                ClosedJaxpr(opened, args[:count]), [None if aval is None else next(given) for aval in cts]
            )

        residuals = [var.aval for var in opened.constvars]
        return _traced(pull_back, [*residuals, *[aval for aval in cts if aval is not None]])


def linearized_rule(
    primitive: Primitive, avals: Avals, tangents: TangentAvals, params: dict[str, Any]
) -> LinearizedRule | None:
    """Returns a primitive linearized at some types; None if its jvp rule does not follow from them.

    Args:
      primitive: an operation.
      avals: the types of its arguments.
      tangents: the types of their tangents; None for those that are zero.
      params: its parameters.

    Law: replaying it gives what the jvp rule gives, and none of the primal work is in its linear part.
    """
    known = _known(primitive, "jvp", params) if params else ()
    key = (_linearize_rule, primitive, known, current.trace.axis_env, avals, tangents)
    return cached_rule(key, _linearize_rule, primitive, avals, tangents, params)


def _linearize_rule(
    primitive: Primitive, avals: Avals, tangents: TangentAvals, params: dict[str, Any]
) -> LinearizedRule | None:
    if not _follows_from_types(primitive, "jvp"):
        return None
    outer = JaxprTrace(current.trace, "linearize")
    with new_trace(outer):
        linear = PartialTrace(outer, "the linear part of linearize")
        primals = [outer.new_input(aval) for aval in avals]
        all_tangents: list[Any] = [
            Zero(aval.to_tangent_aval()) if tangent is None else linear.new_input(tangent)
            for aval, tangent in zip(avals, tangents, strict=True)
        ]
        with new_trace(linear):
            outs, found = run_jvp_rule(primitive, primals, all_tangents, params)
        given = [t for t in all_tangents if type(t) is not Zero]
        program = linear.to_jaxpr(given, [t for t in found if type(t) is not Zero])
        program, residuals = consts_as_inputs(dce_jaxpr(program, (True,) * len(program.out_avals)))
        primal = outer.to_jaxpr(primals, [*outs, *residuals])
    primal = dce_jaxpr(primal, (True,) * len(primal.out_avals))
    if not (_is_program(primal) and _is_program(program)):
        return None
    return LinearizedRule(primal, program, len(outs), [type(t) is not Zero for t in found])


def linearized_program(program: IndexedJaxpr, tangents: TangentAvals) -> tuple[TangentAvals, LinearizedRule] | None:
    """Returns a whole program linearized, with the types that tangents must have for it.

    Args:
      program: for arguments of some types.
      tangents: the types of their tangents, which may be strong where they are weak; None for those that are zero.

    Returns:
      None if a rule within the program does not follow from types.
    """
    primal, linear, nonzeros_out = linearize_jaxpr(program.closed, tuple([t is not None for t in tangents]))
    primal = cse_jaxpr(primal)  # a value and its derivative often share subexpressions
    if not (_is_program(primal) and _is_program(linear)):
        return None
    return _exact_tangents(program, tangents), LinearizedRule(primal, linear, len(program.results), nonzeros_out)


def _exact_tangents(program: IndexedJaxpr, tangents: TangentAvals) -> TangentAvals:
    """Returns the types that tangents of a program's arguments must have."""
    avals = program.closed.in_avals
    return tuple([None if t is None else aval.to_tangent_aval() for aval, t in zip(avals, tangents, strict=True)])


def traced_jvp(primitive: Primitive, avals: Avals, tangents: TangentAvals, params: dict[str, Any]) -> TracedRule | None:
    """Returns what a jvp rule does, from primals and then the tangents that are given; None as `linearized_rule`."""
    known = _known(primitive, "jvp", params) if params else ()
    key = (_trace_jvp, primitive, known, current.trace.axis_env, avals, tangents)
    return cached_rule(key, _trace_jvp, primitive, avals, tangents, params)


def _trace_jvp(primitive: Primitive, avals: Avals, tangents: TangentAvals, params: dict[str, Any]) -> TracedRule | None:
    if not _follows_from_types(primitive, "jvp"):
        return None

    def rule(*args: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        given = iter(args[len(avals) :])
        all_tangents = [
            Zero(aval.to_tangent_aval()) if tangent is None else next(given)
            for aval, tangent in zip(avals, tangents, strict=True)
        ]
        return run_jvp_rule(primitive, args[: len(avals)], all_tangents, params)

    return _traced(rule, [*avals, *[tangent for tangent in tangents if tangent is not None]])


def jvp_of_program(program: IndexedJaxpr, tangents: TangentAvals) -> tuple[TangentAvals, TracedRule] | None:
    """Returns the jvp of a whole program, with the types that tangents must have for it."""
    closed, nonzeros_out = jvp_jaxpr(program.closed, tuple([t is not None for t in tangents]), False)
    closed = cse_jaxpr(closed)
    if not _is_program(closed):
        return None
    return _exact_tangents(program, tangents), TracedRule(closed, len(program.results), nonzeros_out)


def traced_transpose(
    primitive: Primitive, avals: Avals, linear: Mask, cts: Avals, nonzeros: Mask, params: dict[str, Any]
) -> TracedRule | None:
    """Returns what a transpose rule does, from the other arguments and then the cotangents that are not zero.

    Args:
      primitive: an operation.
      avals: the types of its arguments.
      linear: which of these it is transposed by.
      cts: the types of the cotangents of its results.
      nonzeros: which of these are given; the others are zero.
      params: its parameters.
    """
    known = _known(primitive, "transpose", params) if params else ()
    key = (_trace_transpose, primitive, known, current.trace.axis_env, avals, linear, cts, nonzeros)
    return cached_rule(key, _trace_transpose, primitive, avals, linear, cts, nonzeros, params)


def _trace_transpose(
    primitive: Primitive, avals: Avals, linear: Mask, cts: Avals, nonzeros: Mask, params: dict[str, Any]
) -> TracedRule | None:
    if not _follows_from_types(primitive, "transpose"):
        return None

    def rule(*args: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        rest = iter(args)
        operands = [UndefinedPrimal(aval) if lin else next(rest) for aval, lin in zip(avals, linear, strict=True)]
        given = [next(rest) if nonzero else Zero(aval) for aval, nonzero in zip(cts, nonzeros, strict=True)]
        found = primitive.rule("transpose")(given if primitive.multiple_results else given[0], *operands, **params)
        return [], _marked(found, linear)

    return _traced(rule, [*_marked(avals, [not lin for lin in linear]), *_marked(cts, nonzeros)])


def _known(primitive: Primitive, slot: str, params: dict[str, Any]) -> Any:
    """Returns the key of the parameters of a traced rule; an empty one for a call, which is never traced."""
    return exact_params_key(params) if _follows_from_types(primitive, slot) else ()


def _follows_from_types(primitive: Primitive, slot: str) -> bool:
    """Whether a rule may follow from types: it is pure, and not that of a call, which runs a program."""
    rules = primitive.rules
    return (
        slot in rules
        and "abstract_eval" in rules
        and primitive.pure_rules
        and not primitive.effectful
        and not ("linearize" in rules or "partial_eval" in rules or "stage" in rules)
    )


def _traced(
    rule: Callable[..., tuple[Sequence[Any], Sequence[Any]]], avals: Sequence[ShapedArray]
) -> TracedRule | None:
    trace = JaxprTrace(current.trace, "rule")
    with new_trace(trace):
        inputs = [trace.new_input(aval) for aval in avals]
        outs, found = rule(*inputs)
        nonzeros = [t is not None and type(t) is not Zero for t in found]
        closed = trace.to_jaxpr(inputs, [*outs, *_marked(found, nonzeros)])
    closed = dce_jaxpr(closed, (True,) * len(closed.out_avals))
    return TracedRule(closed, len(outs), nonzeros) if _is_program(closed) else None


def _marked(items: Sequence[Any], mask: Sequence[bool]) -> list[Any]:
    return [item for item, marked in zip(items, mask, strict=True) if marked]


def _numbers(nonzeros: Sequence[bool], start: int) -> tuple[int | None, ...]:
    """Returns for each value its number among those that are not zero, from ``start``."""
    return tuple([start + sum(nonzeros[:i]) if nonzero else None for i, nonzero in enumerate(nonzeros)])


def _is_program(closed: ClosedJaxpr) -> bool:
    return not closed.consts and not has_effects(closed)
