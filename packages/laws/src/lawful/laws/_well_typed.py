"""Laws of jaxprs: every transformation gives a well-typed one, and its text is the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from lawful import tree
from lawful.autodiff import grad, jvp, linearize, vjp
from lawful.batching import vmap
from lawful.core import ClosedJaxpr, LawfulError, check_jaxpr, explain_difference, parse_jaxpr
from lawful.laws._batching import lanes_of, mappable
from lawful.laws._case import FunctionCase
from lawful.laws._directions import restrict, scalarized, tangents_of
from lawful.laws._law import Claims, Fault, Inapplicable, Trial, law
from lawful.staging import jit, make_jaxpr

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
    places = mappable(trial.args)
    in_axes = tuple(0 if i in places else None for i in range(len(trial.args)))
    lanes = [tree.map(lambda y: lanes_of(y, 2, 0), x) if i in places else x for i, x in enumerate(trial.args)]
    return "vmap(f)", vmap(trial.function, in_axes), tuple(lanes)


def _reverse(trial: Trial) -> Transformed:
    function = trial.function
    cotangents = tangents_of(trial, function(*trial.args))
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


def jaxprs_of(trial: Trial, depth: int) -> Iterator[tuple[str, ClosedJaxpr]]:
    """Yields the jaxprs of the stacks of transformations of a function, and its linear programs."""
    for text, function, args in transformed(trial, depth):
        yield text, make_jaxpr(function)(*args)
    for text, derivative in trial.some((("linearize", linearize), ("vjp", vjp))):
        yield f"{text}(f, x)[1]", derivative(trial.function, *trial.args)[1].jaxpr


@law("typing", needs=("jaxprs",))
def law_typing(trial: Trial, *, depth: int = 2) -> Claims:
    """Every stack of transformations of a function has a well-typed jaxpr.

    Equation: check_jaxpr(make_jaxpr(T(f))(x)) for T among stacks of jit, jvp, vmap, vjp, grad and linearize

    There are at most ``depth`` transformations in a stack.

    Raises:
      LawViolation: it does not hold.
    """
    for text, closed in jaxprs_of(trial, min(depth, 1) if trial.effort.most == 1 else depth):
        try:
            check_jaxpr(closed)
        except LawfulError as error:
            yield Fault(f"the jaxpr of {text} is not well typed: {error}", str(closed))


@law("typing", needs=("jaxprs",))
def law_print_parse(trial: Trial) -> Claims:
    """A jaxpr printed and parsed is the same jaxpr up to names, also after each transformation.

    Equation: parse(str(j)) = j

    Raises:
      LawViolation: it does not hold.
    """
    for text, closed in jaxprs_of(trial, 1):
        try:
            parsed = parse_jaxpr(str(closed), closed.consts)
        except LawfulError as error:
            yield Fault(f"the jaxpr of {text} does not parse: {error}", str(closed))
            continue
        difference = explain_difference(parsed, closed)
        if difference is not None:
            yield Fault(f"the jaxpr of {text} differs once printed and parsed: {difference}", str(closed))
