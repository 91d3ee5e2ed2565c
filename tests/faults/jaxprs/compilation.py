"""Faults in ``jit``: its cache, its rules, and caches of jaxprs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lawful.autodiff import _jvp, _linearize
from lawful.batching import _batch
from lawful.core import Var, Zero, exact_key, get_aval
from lawful.staging._jit import inline as _inline
from lawful.staging._jit.entry import Entry, Signature
from lawful.staging._jit.jit import JitFunction
from lawful.staging._jit.primitive import jit_p
from lawful.staging._passes import dce as _dce
from lawful.staging._passes import partial_eval as _partial_eval
from lawful.tree import PyTreeDef
from tests.faults._fault import PROGRAMS, Rule, Wrong, function_fault, method_fault, rule_fault, with_forms


def keyed_by(part: Callable[[Signature], Any]) -> Wrong:
    """Returns a lookup of traces by one part of the signature only."""

    def wrong(right: Rule) -> Rule:
        def entry(self: Any, signature: Signature) -> Any:
            for known in self._cache.values():
                if part(known.signature) == part(signature):
                    return known
            return right(self, signature)

        return entry

    return wrong


def forgetting(index: int) -> Wrong:
    """Returns a cache of a jaxpr's results that ignores one of the other arguments."""

    def wrong(right: Rule) -> Rule:
        known: dict[Any, Any] = {}

        def cached(closed: Any, *args: Any) -> Any:
            key = (id(closed), *args[:index], *args[index + 1 :])
            if key not in known:
                known[key] = closed, right(closed, *args)
            return known[key][1]

        return cached

    return wrong


def _first_result(right: Rule) -> Rule:
    results: dict[int, Any] = {}

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if id(self) not in results:
            results[id(self)] = self, right(self, *args, **kwargs)
        return results[id(self)][1]

    return call


def _one_cache_for_closures(right: Rule) -> Rule:
    caches: dict[Any, Any] = {}

    def init(self: Any, function: Any, *options: Any) -> None:
        right(self, function, *options)
        self._cache = caches.setdefault((getattr(function, "__code__", function), *map(str, options)), self._cache)

    return init


def _reversed(right: Rule) -> Rule:
    return lambda *args, **params: list(reversed(right(*args, **params)))


def _reversed_tangents(right: Rule) -> Rule:
    def jvp(primals: Any, tangents: Any, **params: Any) -> Any:
        outs, found = right(primals, tangents, **params)
        types = [(x.aval if type(x) is Zero else get_aval(x)) for x in found]
        return outs, list(reversed(found)) if types == types[::-1] else found

    return jvp


def _reversed_residuals(right: Rule) -> Rule:
    def linearized(closed: Any, *args: Any) -> Any:
        primal, linear, nonzeros = right(closed, *args)
        count = len(nonzeros)
        outvars = list(primal.jaxpr.outvars)
        outvars[count:] = outvars[count:][::-1]
        return type(primal)(primal.jaxpr.replace(outvars=outvars), primal.consts), linear, nonzeros

    return linearized


def _first_dims(right: Rule) -> Rule:
    def batch(args: Any, dims: Any, **params: Any) -> Any:
        outs, found = right(args, dims, **params)
        return outs, [None if dim is None else 0 for dim in found]

    return batch


def _said_to_be_shared(right: Rule) -> Rule:
    def batch(args: Any, dims: Any, **params: Any) -> Any:
        outs, found = right(args, dims, **params)
        return outs, [found[0], *(None for _ in found[1:])]

    return batch


def _swapped(args: Any) -> Any:
    """Returns arguments with the first two of equal type exchanged."""
    args = list(args)
    for i, x in enumerate(args):
        for j in range(i + 1, len(args)):
            if x.aval == args[j].aval:
                args[i], args[j] = args[j], args[i]
                return args
    return args


def _inlined_wrongly(right: Rule) -> Rule:
    def inline(closed: Any) -> Any:
        eqns = [eqn.replace(invars=_swapped(eqn.invars)) if eqn.primitive is jit_p else eqn for eqn in closed.eqns]
        return right(type(closed)(closed.jaxpr.replace(eqns=eqns), closed.consts))

    return inline


def _captured(right: Rule) -> Rule:
    def inline(closed: Any) -> Any:
        variables: dict[Any, Any] = {}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_inline, "Var", lambda aval: variables.setdefault(aval, Var(aval)))
            return right(closed)

    return inline


def _missing_cotangent(right: Rule) -> Rule:
    def transpose(cts: Any, *args: Any, **params: Any) -> Any:
        if len(cts) > 1 and type(cts[-1]) is not Zero:
            cts = [*cts[:-1], Zero(get_aval(cts[-1]))]
        return right(cts, *args, **params)

    return transpose


def _types(signature: Signature, **changes: Any) -> Any:
    return signature._replace(avals=tuple(aval.update(**changes) for aval in signature.avals)).key


compilation_faults = (
    method_fault(
        "compiled functions give their first result again", "stale cache", JitFunction, "__call__", _first_result
    ),
    method_fault(
        "traces are looked up whatever the dtype",
        "stale cache",
        JitFunction,
        "_entry",
        keyed_by(lambda signature: _types(signature, dtype="float64")),
    ),
    method_fault(
        "traces are looked up whatever the weakness",
        "stale cache",
        JitFunction,
        "_entry",
        keyed_by(lambda signature: _types(signature, weak_type=False)),
    ),
    method_fault(
        "traces are looked up by the number of dimensions",
        "stale cache",
        JitFunction,
        "_entry",
        keyed_by(
            lambda signature: (
                signature._replace(avals=tuple(aval.update(shape=(1,) * aval.ndim) for aval in signature.avals)).key
            )
        ),
    ),
    method_fault(
        "traces are looked up whatever the static arguments",
        "stale cache",
        JitFunction,
        "_entry",
        keyed_by(lambda signature: signature._replace(static=()).key),
    ),
    method_fault(
        "equal static arguments of other types are one",
        "stale cache",
        JitFunction,
        "_entry",
        keyed_by(lambda signature: (signature.static, signature._replace(static=()).key)),
    ),
    method_fault(
        "equal keys of dicts of other types are one",
        "stale cache",
        JitFunction,
        "_entry",
        keyed_by(lambda signature: (signature.in_tree, signature.avals, exact_key(signature.static))),
    ),
    method_fault(
        "a call like the last one may have equal keys of dicts of other types",
        "stale cache",
        PyTreeDef,
        "exact_matcher",
        lambda right: PyTreeDef.matcher,
        only_fast=True,  # only the direct call of jit asks for it
    ),
    method_fault(
        "closures of one code share their traces", "stale cache", JitFunction, "__init__", _one_cache_for_closures
    ),
    method_fault(
        "a trace that closes over a tracer is cached",
        "stale cache",
        Entry,
        "is_current",
        lambda right: lambda self: True,
    ),
    function_fault(
        "the jvp of a jaxpr is cached whatever has a tangent", "stale cache", _jvp, "jvp_jaxpr", forgetting(0)
    ),
    function_fault(
        "the batch of a jaxpr is cached whatever its size", "stale cache", _batch, "batch_jaxpr", forgetting(0)
    ),
    function_fault(
        "the batch of a jaxpr is cached whatever is mapped", "stale cache", _batch, "batch_jaxpr", forgetting(1)
    ),
    function_fault(
        "partial evaluation is cached whatever is known",
        "stale cache",
        _partial_eval,
        "partial_eval_jaxpr",
        forgetting(0),
    ),
    rule_fault(
        "the tangents of a call come in reversed order",
        "reversed order",
        jit_p,
        "jvp",
        _reversed_tangents,
        sources=PROGRAMS,
    ),
    rule_fault(
        "partial evaluation of a call reverses its results",
        "reversed order",
        jit_p,
        "partial_eval",
        _reversed,
        sources=PROGRAMS,
    ),
    rule_fault(
        "the transpose of a call reverses its cotangents",
        "reversed order",
        jit_p,
        "transpose",
        _reversed,
        sources=PROGRAMS,
    ),
    rule_fault(
        "the last cotangent of a call is dropped",
        "missing term",
        jit_p,
        "transpose",
        _missing_cotangent,
        sources=PROGRAMS,
    ),
    rule_fault(
        "the batches of results of a call are said to come first",
        "wrong axis",
        jit_p,
        "batch",
        _first_dims,
        sources=with_forms("jit", "vmap"),
    ),
    rule_fault(
        "only the first result of a call is mapped",
        "batch dimension ignored",
        jit_p,
        "batch",
        _said_to_be_shared,
        sources=PROGRAMS,
    ),
    function_fault(
        "residuals are handed over in reversed order",
        "residual aliasing",
        _linearize,
        "linearize_jaxpr",
        _reversed_residuals,
    ),
    function_fault("inlining exchanges two arguments", "operands swapped", _inline, "inline_jaxpr", _inlined_wrongly),
    function_fault("inlined calls share their variables", "variable captured", _inline, "inline_jaxpr", _captured),
    function_fault(
        "a call is cut down to the inputs of another mask",
        "wrong operand",
        _dce,
        "dce_call",
        lambda right: lambda closed, used: right(closed, tuple(reversed(used))),
    ),
)
