"""Laws of jaxprs: every transformation gives a well-typed one, and its text determines it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.autodiff import grad, jvp, linearize, vjp
from lawful.batching import vmap
from lawful.core import (
    ClosedJaxpr,
    Jaxpr,
    LawfulError,
    Var,
    check_jaxpr,
    explain_difference,
    jaxprs_in_params,
    parse_jaxpr,
)
from lawful.custom_rules import CallRules
from lawful.laws._composition.batching import batch_of, mappable
from lawful.laws._derivatives.directions import restrict, scalarized, tangents_of
from lawful.laws._law.case import FunctionCase
from lawful.laws._law.law import Claims, Fault, Inapplicable, Trial, law
from lawful.parallel import Mesh, NamedSharding
from lawful.staging import EachElement, HostFunction, jit, make_jaxpr

Jaxprs = Iterator[tuple[str, ClosedJaxpr]]
Transformed = tuple[str, Callable[..., Any], tuple[Any, ...]]


def _identity(trial: Trial) -> Transformed:
    return "f", trial.function, trial.args


def _compiled(trial: Trial) -> Transformed:
    return "jit(f)", jit(trial.function, backend="numpy"), trial.args


def _forward(trial: Trial) -> Transformed:
    function, count = trial.function, len(trial.args)
    tangents = tangents_of(trial, trial.args)
    return "jvp(f)", lambda *xs: jvp(function, xs[:count], xs[count:]), (*trial.args, *tangents)


def _mapped(trial: Trial) -> Transformed:
    argnums = mappable(trial.args)
    in_axes = tuple(0 if i in argnums else None for i in range(len(trial.args)))
    batches = [tree.map(lambda y: batch_of(y, 2, 0), x) if i in argnums else x for i, x in enumerate(trial.args)]
    return "vmap(f)", vmap(trial.function, in_axes), tuple(batches)


def _reverse(trial: Trial) -> Transformed:
    function = trial.function
    cotangents = tangents_of(trial, trial.value(function, trial.args))
    return "vjp(f)", lambda ct, *xs: vjp(function, *xs)[1](ct), (cotangents, *trial.args)


def _linear(trial: Trial) -> Transformed:
    function, count = trial.function, len(trial.args)
    tangents = tangents_of(trial, trial.args)
    return "linearize(f)", lambda *xs: linearize(function, *xs[:count])[1](*xs[count:]), (*trial.args, *tangents)


def _gradient(trial: Trial) -> Transformed:
    restricted, leaves = restrict(trial)
    loss = scalarized(trial.system, restricted, trial.case.seed)
    return "grad(f)", grad(loss, tuple(range(len(leaves)))), tuple(leaves)


_OUTER = (_forward, _mapped, _reverse, _linear, _gradient)


def transformed(trial: Trial, depth: int) -> Iterator[Transformed]:
    """Yields stacks of up to ``depth`` transformations of a function: how each is written, itself, its arguments.

    The function itself comes first. With little effort there is one stack of each depth.
    """
    yield _identity(trial)
    if depth == 0:
        return
    for transformation in trial.some((_compiled, *_OUTER)):
        with suppress(Inapplicable):
            text, function, args = transformation(trial)
            yield text, function, args
            if transformation is _compiled or depth == 1:
                continue
            inner = Trial(trial.system, FunctionCase(function, args, trial.case.seed + 1), trial.effort, trial.random)
            for inner_text, *rest in transformed(inner, depth - 1):
                if inner_text != "f":
                    yield inner_text.replace("f)", f"{text})", 1), *rest  # type: ignore[misc]


def jaxprs_of(trial: Trial, depth: int) -> Jaxprs:
    """Yields the jaxprs of the stacks of transformations of a function, and its linear programs.

    With little effort there is one stack, or one linear program.
    """
    parts: list[Callable[[], Jaxprs]] = [lambda: _traced(trial, depth), lambda: _linear_programs(trial)]
    if trial.effort.most == 1:
        parts.insert(0, lambda: _traced(trial, 0))
    for part in trial.some(parts):
        yield from part()


def _traced(trial: Trial, depth: int) -> Jaxprs:
    for text, function, args in transformed(trial, depth):
        if text != "f" or depth == 0 or trial.effort.most > 1:
            yield text, make_jaxpr(function)(*args)


def _linear_programs(trial: Trial) -> Jaxprs:
    derivatives: tuple[tuple[str, Callable[..., Any]], ...] = ("linearize", linearize), ("vjp", vjp)
    for text, derivative in trial.some(derivatives):
        yield f"{text}(f, x)[1]", derivative(trial.function, *trial.args)[1].jaxpr


@law("typing", needs=("jaxprs",), share=1 / 4)
def law_typing(trial: Trial, *, depth: int = 2) -> Claims:
    """Every stack of transformations of a function has a well-typed jaxpr, and one that is not is refused.

    Equation: check_jaxpr(make_jaxpr(T(f))(x)) for T among stacks of jit, jvp, vmap, vjp, grad and linearize, and it
    raises for a jaxpr with a result of another dtype, or with an equation left out

    There are at most ``depth`` transformations in a stack.

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_typing(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    for text, closed in jaxprs_of(trial, min(depth, 1) if trial.effort.most == 1 else depth):
        try:
            check_jaxpr(closed)
        except LawfulError as error:
            yield Fault(f"the jaxpr of {text} is not well typed: {error}", str(closed))
        for what, broken in _ill_typed(closed):
            try:
                check_jaxpr(broken)
            except LawfulError:
                continue
            yield Fault(f"the jaxpr of {text} {what} is taken for well typed", str(broken))


def _ill_typed(closed: ClosedJaxpr) -> Jaxprs:
    """Yields ill-typed variants of a well-typed jaxpr, with their descriptions."""
    index = max((i for i, eqn in enumerate(closed.eqns) if eqn.outvars), default=None)
    if index is None:
        return
    last = closed.eqns[index]
    new = {var: Var(var.aval.update(dtype=np.int8 if var.aval.dtype != np.int8 else np.int16)) for var in last.outvars}
    outvars = [new.get(atom, atom) if type(atom) is Var else atom for atom in closed.jaxpr.outvars]
    other = last.replace(outvars=[new[var] for var in last.outvars])
    yield (
        "with a result of another dtype",
        _with(closed, eqns=[*closed.eqns[:index], other, *closed.eqns[index + 1 :]], outvars=outvars),
    )
    used = {atom for eqn in closed.eqns for atom in eqn.invars} | set(closed.jaxpr.outvars)
    for i, eqn in enumerate(closed.eqns):
        if not used.isdisjoint(eqn.outvars):
            yield "with an equation left out", _with(closed, eqns=[*closed.eqns[:i], *closed.eqns[i + 1 :]])
            return


def _with(closed: ClosedJaxpr, **changes: Any) -> ClosedJaxpr:
    return ClosedJaxpr(closed.jaxpr.replace(**changes), closed.consts)


def _shared(trial: Trial) -> Jaxprs:
    """Yields a jaxpr in which two different sub-jaxprs of one name occur twice each."""
    function = trial.function
    one = jit(lambda *xs: function(*xs), backend="numpy")
    other = jit(lambda *xs: (function(*xs), *xs), backend="numpy")
    closed = make_jaxpr(lambda *xs: [called(*xs) for called in (one, other, one, other)])(*trial.args)
    yield "two functions that are called twice", closed


@law("typing", needs=("jaxprs",))
def law_print_parse(trial: Trial) -> Claims:
    """A jaxpr printed and parsed is the same jaxpr up to names, also after each transformation.

    It is not about calls that carry rules, nor about calls of Python or programs for devices: a Python function and a
    mesh have no notation.

    Equation: parse(str(j)) = j

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_print_parse(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    parts: list[Callable[[], Jaxprs]] = [lambda: jaxprs_of(trial, 1), lambda: _shared(trial)]
    none_prints = True
    for text, closed in chain.from_iterable(part() for part in trial.some(parts)):
        if _carries_functions(closed.jaxpr):
            continue
        none_prints = False
        try:
            parsed = parse_jaxpr(str(closed), closed.consts)
        except LawfulError as error:
            yield Fault(f"the jaxpr of {text} does not parse: {error}", str(closed))
            continue
        difference = explain_difference(parsed, closed)
        if difference is not None:
            yield Fault(f"the jaxpr of {text} differs once printed and parsed: {difference}", str(closed))
    if none_prints:
        raise Inapplicable("its jaxprs carry Python functions, which have no notation")


_WITHOUT_NOTATION: Final = (CallRules, HostFunction, EachElement, Mesh, NamedSharding)


def _carries_functions(jaxpr: Jaxpr) -> bool:
    """Whether a jaxpr, or one inside it, has a call with rules or of Python, or one for a mesh of devices."""
    pending, seen = [jaxpr], {id(jaxpr)}
    while pending:
        for eqn in pending.pop().eqns:
            if any(isinstance(value, _WITHOUT_NOTATION) for value in eqn.params.values()):
                return True
            new = [inner for inner in jaxprs_in_params(eqn.params) if id(inner) not in seen]
            seen.update(map(id, new))
            pending += new
    return False
