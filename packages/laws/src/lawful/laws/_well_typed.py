"""Laws of jaxprs: every transformation gives a well-typed one, and its text is the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from lawful import tree
from lawful.autodiff import grad, jvp, linearize, vjp
from lawful.batching import vmap
from lawful.core import ClosedJaxpr, LawfulError, check_jaxpr, explain_difference, parse_jaxpr
from lawful.laws._batching import lanes_of, mappable
from lawful.laws._directions import restrict, scalarized, tangents_of
from lawful.laws._law import Claims, Fault, Inapplicable, law
from lawful.staging import jit, make_jaxpr

Transformed = tuple[str, Callable[..., Any], tuple[Any, ...]]


def transformed(function: Callable[..., Any], args: tuple[Any, ...], seed: int, depth: int) -> Iterator[Transformed]:
    """Yields stacks of up to ``depth`` transformations of a function: how each is written, itself, its arguments."""
    random = np.random.default_rng(seed)
    tangents = tangents_of(random, args)
    stack: list[Transformed] = [
        ("f", function, args),
        ("jit(f)", jit(function, backend="numpy"), args),
        ("jvp(f)", lambda *xs: jvp(function, xs[: len(args)], xs[len(args) :]), (*args, *tangents)),
    ]
    with suppress(Inapplicable):
        places = mappable(args)
        in_axes = tuple(0 if i in places else None for i in range(len(args)))
        lanes = [tree.map(lambda y: lanes_of(y, 2, 0), x) if i in places else x for i, x in enumerate(args)]
        stack.append(("vmap(f)", vmap(function, in_axes), tuple(lanes)))
    cotangents = tangents_of(random, function(*args))
    stack.append(("vjp(f)", lambda ct, *xs: vjp(function, *xs)[1](ct), (cotangents, *args)))
    stack.append(
        ("linearize(f)", lambda *xs: linearize(function, *xs[: len(args)])[1](*xs[len(args) :]), (*args, *tangents))
    )
    with suppress(Inapplicable):
        restricted, leaves = restrict(function, args)
        loss = scalarized(restricted, seed)
        stack.append(("grad(f)", grad(loss, tuple(range(len(leaves)))), tuple(leaves)))
    for text, outer, outer_args in stack:
        yield text, outer, outer_args
    if depth > 1:
        for text, outer, outer_args in stack[2:]:
            for inner_text, inner, inner_args in transformed(outer, outer_args, seed + 1, depth - 1):
                if inner_text != "f":
                    yield (
                        inner_text.replace("f", text, 1) if inner_text.count("f") == 1 else f"{inner_text} of {text}",
                        inner,
                        inner_args,
                    )


def jaxprs_of(
    function: Callable[..., Any], args: tuple[Any, ...], seed: int, depth: int
) -> Iterator[tuple[str, ClosedJaxpr]]:
    """Yields the jaxprs of the stacks of transformations of a function, and its linear program."""
    for text, derived, derived_args in transformed(function, args, seed, depth):
        yield text, make_jaxpr(derived)(*derived_args)
    yield "linearize(f, x)[1]", linearize(function, *args)[1].jaxpr
    yield "vjp(f, x)[1]", vjp(function, *args)[1].jaxpr


@law
def law_typing(function: Callable[..., Any], *args: Any, seed: int = 0, depth: int = 2) -> Claims:
    """Every stack of transformations of a function has a well-typed jaxpr.

    Equation: check_jaxpr(make_jaxpr(T(f))(x)) for T among stacks of jit, jvp, vmap, vjp, grad and linearize

    Args:
      function: a function of pytrees of arrays.
      args: its arguments.
      seed: of the tangents.
      depth: how many transformations are stacked at most.

    Raises:
      LawViolation: it does not hold.
    """
    for text, closed in jaxprs_of(function, args, seed, depth):
        try:
            check_jaxpr(closed)
        except LawfulError as error:
            yield Fault(f"the jaxpr of {text} is not well typed: {error}", str(closed))


@law
def law_print_parse(function: Callable[..., Any], *args: Any, seed: int = 0) -> Claims:
    """A jaxpr printed and parsed is the same jaxpr up to names, also after each transformation.

    Equation: parse(str(j)) = j

    Raises:
      LawViolation: it does not hold.
    """
    for text, closed in jaxprs_of(function, args, seed, 1):
        try:
            parsed = parse_jaxpr(str(closed), closed.consts)
        except LawfulError as error:
            yield Fault(f"the jaxpr of {text} does not parse: {error}", str(closed))
            continue
        difference = explain_difference(parsed, closed)
        if difference is not None:
            yield Fault(f"the jaxpr of {text} differs once printed and parsed: {difference}", str(closed))
