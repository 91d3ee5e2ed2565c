"""Faults in ``jvp``, ``linearize``, ``vjp`` and ``grad``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import _grad, _jvp, _linearize, _transpose, _vjp
from lawful.autodiff._fast import jvp, transpose
from lawful.autodiff._fast.linearize import TapeLinearized
from lawful.autodiff._jvp import JVPTrace, JVPTracer
from lawful.autodiff._linear_function import LinearFunction
from lawful.autodiff._linearize import Linearized
from lawful.autodiff._vjp import VJPFunction
from lawful.core import ClosedJaxpr, Zero, get_aval, zeros
from lawful.staging._passes import partial_eval as _partial_eval
from tests.faults._fault import Fault, Rule, function_fault, instead, local_fault, method_fault, with_forms


def _same_results_again(right: Rule) -> Rule:
    known: dict[int, Any] = {}

    def call(self: Any, *args: Any) -> Any:
        if id(self) not in known:
            known[id(self)] = self, right(self, *args)
        return known[id(self)][1]

    return call


def _first_cotangents(right: Rule) -> Rule:
    def cotangents(linearized: Any, in_types: Any, cts: list[Any], **last: Any) -> Any:
        return right(linearized, in_types, [cts[0] if get_aval(cts[0]) == get_aval(ct) else ct for ct in cts], **last)

    return cotangents


def _next_argument(right: Rule) -> Rule:
    def chosen(name: str, positions: Any, args: Any) -> Any:
        found, *_ = right(name, positions, args)
        values = list(found.values())
        values = [*values[1:], *values[:1]]
        leaves, in_tree = tree.flatten(tuple(values))
        return dict(zip(found, values, strict=True)), leaves, in_tree, tuple(map(get_aval, leaves))

    return chosen


def _reversed_tangents(right: Rule) -> Rule:
    def check(name: str, primals: Any, tangents: Any) -> Any:
        flat, found, treedef = right(name, primals, tangents)
        types = [x.aval if type(x) is Zero else get_aval(x) for x in found]
        return flat, list(reversed(found)) if types == types[::-1] else found, treedef

    return check


def _any_jvp_tracer(right: Rule) -> Rule:
    return lambda self, x: (x.primal, x.tangent) if isinstance(x, JVPTracer) else right(self, x)


def _any_parts(right: Rule) -> Rule:
    """Splits tracers of any jvp as if they belonged to this trace."""

    def parts(trace: Any, args: Any) -> Any:
        owner = next((x._trace for x in args if isinstance(x, JVPTracer)), trace)
        return right(owner, args)

    return parts


def _confuse(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(JVPTrace, "split", _any_jvp_tracer(JVPTrace.split))
    patch.setattr(jvp, "parts", _any_parts(jvp.parts))


def _first_of_type(right: Rule) -> Rule:
    """Passes, for each constant of a program, the first one of its type."""

    def opened(closed: ClosedJaxpr) -> Any:
        jaxpr, consts = right(closed)
        types = [get_aval(x) for x in consts]
        return jaxpr, [consts[types.index(aval)] for aval in types]

    return opened


def _with_floats_for_integers(right: Rule) -> Rule:
    def cotangents(linearized: Any, in_types: Any, cts: list[Any], **last: Any) -> Any:
        found = right(linearized, in_types, cts, **last)
        return [
            zeros(aval.update(dtype=np.float64)) if not has else y
            for y, aval, has in zip(found, in_types, linearized.inputs, strict=True)
        ]

    return cotangents


def _without_the_last(right: Rule) -> Rule:
    def backward(self: Any, cts: Any, **last: Any) -> Any:
        dropped = len(cts) > 1 and type(cts[-1]) is not Zero
        return right(self, [*cts[:-1], Zero(get_aval(cts[-1]))] if dropped else cts, **last)

    return backward


differentiation_faults = (
    Fault("jvp takes a tracer of another jvp for its own", "perturbation confusion", "`split` of autodiff", _confuse),
    local_fault("jvp exchanges tangents", "operands swapped", _jvp, "check_tangents", _reversed_tangents),
    local_fault(
        "cotangents of a value that is used twice are not added",
        "forgotten sum",
        _transpose,
        "add_tangents",
        instead(lambda x, y: y),
        fast=transpose,
    ),
    local_fault(
        "cotangents of a value that is used twice are added twice",
        "wrong factor",
        _transpose,
        "add_tangents",
        lambda right: lambda x, y: right(right(x, y), y),
        fast=transpose,
    ),
    method_fault(
        "the cotangent of the last result is dropped",
        "missing term",
        Linearized,
        "pull_back",
        _without_the_last,
        fast=TapeLinearized,
    ),
    function_fault(
        "every result gets the cotangent of the first", "wrong operand", _vjp, "cotangents", _first_cotangents
    ),
    function_fault("an integer has a cotangent of zeros", "dtype lost", _vjp, "cotangents", _with_floats_for_integers),
    local_fault("grad differentiates by the next argument", "off by one", _grad, "chosen_arguments", _next_argument),
    method_fault(
        "a linear function gives its first result again", "stale cache", LinearFunction, "__call__", _same_results_again
    ),
    method_fault(
        "a vjp function gives its first result again", "stale cache", VJPFunction, "__call__", _same_results_again
    ),
    function_fault(
        "residuals of one type are one", "residual aliasing", _partial_eval, "consts_as_inputs", _first_of_type
    ),
    local_fault(
        "a zero tangent is recorded as ones",
        "zero tangent taken for one",
        _linearize,
        "recorded_zeros",
        lambda right: lambda linear, zero: ops.add(right(linear, zero), 1),
        with_forms("jit", "cond", "linearize", "vjp"),
    ),
    local_fault(
        "zero cotangents of a jaxpr are ones",
        "zero tangent taken for one",
        _transpose,
        "instantiated",
        lambda right: lambda t: ops.add(right(t), 1) if type(t) is Zero else t,
    ),
)
