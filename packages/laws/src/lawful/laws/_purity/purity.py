"""The law of purity: results depend only on arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.laws._composition.batching import batch_of
from lawful.laws._derivatives.directions import differentiable, is_floating, tangents_of
from lawful.laws._law.law import Claim, Claims, Trial, law
from lawful.laws._purity.compilation import (
    compiled_anew,
    compiled_at_other_types,
    compiled_closures,
    compiled_closures_over_tracers,
    compiled_under_transformations,
    compiled_with_static_arguments,
    in_thread_while_compiling,
)
from lawful.laws._purity.memory import copies, in_thread, spoil


@law("purity", share=1 / 2)
def law_purity(trial: Trial) -> Claims:
    """Results do not depend on caches, threads, the order of calls, or later writes into arguments and results.

    Equation: T(f)(x) = T(f)(x), whatever happens before, between and after

    Before a call of a compiled function there are calls at other values, types and static arguments, under other
    transformations, and of functions of the same code that close over other values. The arguments are copied.

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_purity(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    parts = [part for part, needs in _PARTS if all(map(trial.has, needs))]
    if trial.has("jit"):
        yield from _compiled(trial)
    for part in trial.some(parts):
        yield from part(trial)


def _pullback(trial: Trial) -> Claims:
    function, args = differentiable(trial)
    out = copies(trial, function(*copies(trial, args)))
    w = tangents_of(trial, out)
    pulled = copies(trial, trial.system.vjp(function, *args)[1](w))
    own = copies(trial, args)
    out, pull = trial.system.vjp(function, *own)
    first = pull(copies(trial, w))
    yield Claim("vjp(f, x)[1](w)", first, "the same of another copy of x", pulled)
    spoil((own, out, first))
    yield Claim("vjp(f, x)[1](w) after writing into x and the results", pull(w), "before", pulled)
    trial.system.clear_caches()
    yield Claim("vjp(f, x)[1](w) with cleared caches", pull(w), "before", pulled)


def _pullback_of_closures(trial: Trial) -> Claims:
    """Writes into arrays that a function closes over: all arguments but one, and a factor."""
    function, args = differentiable(trial)
    floating = [is_floating(trial.system.aval(y)) for y in tree.leaves(function(*copies(trial, args)))]
    for argnum, argument in enumerate(args):
        own, factor = list(copies(trial, args)), trial.system.array(np.full(1, 1.5))

        def closure(x: Any, argnum: int = argnum, own: Any = own, factor: Any = factor) -> Any:
            results, treedef = tree.flatten(function(*own[:argnum], x, *own[argnum + 1 :]))
            return treedef.unflatten([y * factor if has else y for y, has in zip(results, floating, strict=True)])

        out, pull = trial.system.vjp(closure, argument)
        w = tangents_of(trial, out)
        first = copies(trial, pull(w))
        spoil((own, factor))
        yield Claim(f"vjp by argument {argnum} after writing into what is closed over", pull(w), "before", first)


def _linear_program(trial: Trial) -> Claims:
    function, args = differentiable(trial)
    v = tangents_of(trial, args)
    pushed = copies(trial, trial.system.linearize(function, *args)[1](*v))
    own = copies(trial, args)
    out, push = trial.system.linearize(function, *own)
    first = push(*copies(trial, v))
    spoil((own, out, first))
    yield Claim("linearize(f, x)[1](v) after writing into x and the results", push(*v), "before", pushed)


def _forward_in_thread(trial: Trial) -> Claims:
    function, args = differentiable(trial)
    v = tangents_of(trial, args)
    pushed = trial.system.jvp(function, args, v)[1]
    found = in_thread(lambda: trial.system.jvp(function, args, v)[1])
    yield Claim("jvp(f, x, v) in another thread", found, "jvp(f, x, v)", pushed)


def _compiled(trial: Trial) -> Claims:
    function, args = trial.function, trial.args
    expected = copies(trial, function(*copies(trial, args)))
    own, compiled = copies(trial, args), trial.system.jit(function)
    out = compiled(*own)
    spoil(own)
    yield Claim("jit(f)(x) after writing into x", out, "f(x)", expected)
    spoil(out)
    yield Claim("jit(f)(x) after writing into an earlier result", compiled(*copies(trial, args)), "f(x)", expected)

    other = trial.comparable(tree.map(lambda x: batch_of(x, 2, 0)[1] if hasattr(x, "dtype") else x, args))
    yield Claim("jit(f) of other values", compiled(*other), "f of them", function(*other))
    yield Claim("jit(f)(x) after jit(f) of other values", compiled(*args), "f(x)", expected)
    trial.system.clear_caches()
    yield Claim("jit(f)(x) with cleared caches", compiled(*args), "f(x)", expected)
    yield Claim("jit(f)(x) in another thread", in_thread(lambda: compiled(*args)), "f(x)", expected)


# The other parts of the law, with the capabilities that each needs.
_PARTS: Final[tuple[tuple[Callable[[Trial], Claims], tuple[str, ...]], ...]] = (
    (compiled_at_other_types, ("jit", "jaxprs")),
    (compiled_closures, ("jit", "jaxprs")),
    (compiled_closures_over_tracers, ("jit", "jvp", "jaxprs")),
    (compiled_with_static_arguments, ("jit", "jaxprs")),
    (compiled_anew, ("jit", "jaxprs")),
    (compiled_under_transformations, ("jit", "jvp", "vmap", "jaxprs")),
    (in_thread_while_compiling, ("jit", "jaxprs")),
    (_pullback, ("vjp",)),
    (_pullback_of_closures, ("vjp", "copies of constants")),
    (_linear_program, ("linearize",)),
    (_forward_in_thread, ("jvp",)),
)
