"""Laws of loops: they agree with Python loops under every transformation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, Final

import numpy as np

from lawful.laws._composition.batching import batch_of
from lawful.laws._composition.loop_bodies import (
    FACTOR,
    offset_body,
    offset_carry,
    stacked,
    stacked_trees,
)
from lawful.laws._derivatives.directions import tangents_of
from lawful.laws._law.law import Claim, Claims, Trial, law

Function = Callable[..., Any]

_ITERATIONS = 3


def _unrolled(trial: Trial, body: Function, order: Sequence[int]) -> Function:
    """Returns the Python loop over slices in an order, as a function of a factor, arguments and slices."""

    def loop(factor: Any, parts: Sequence[Any], xs: Any) -> tuple[Any, Any]:
        carry, rows = offset_carry(trial, factor, parts), {}
        for i in order:
            carry, rows[i] = body(factor, carry, xs[i])
        return carry, [stacked(trial, parts) for parts in zip(*[rows[i] for i in sorted(rows)], strict=True)]

    return loop


def _same_derivatives(trial: Trial, name: str, found: Function, expected: Function, args: Any) -> Claims:
    """Yields claims that two functions have equal derivatives, also compiled."""
    system = trial.system
    if trial.has("jvp"):
        v = tangents_of(trial, args)
        yield Claim(f"jvp({name})", system.jvp(found, args, v), "jvp of the loop", system.jvp(expected, args, v))
    if trial.has("vjp"):
        out, pull = system.vjp(expected, *args)
        w = tangents_of(trial, out)
        yield Claim(f"vjp({name})", system.vjp(found, *args)[1](w), "vjp of the loop", pull(w))
        if trial.has("jit") and trial.effort.most > 1:
            compiled = system.jit(lambda ct, *xs: system.vjp(found, *xs)[1](ct))
            yield Claim(f"jit(vjp({name}))", compiled(w, *args), "vjp of the loop", pull(w))


def _last_part(trial: Trial, name: str, found: Function, expected: Function, args: Any) -> Claims:
    """Yields claims that two loops give the same last part of the carry, if nothing else is used.

    It depends on the previous part after one iteration, and on all others after two. So an analysis of which parts are
    needed, or have a cotangent, must reach its fixed point.
    """
    system = trial.system

    def last(loop: Function) -> Function:
        return lambda *args: loop(*args)[-1]

    if trial.has("jit"):
        value = system.jit(last(found))(*args)
        yield Claim(f"jit of the last part of {name}", value, "that of the loop", expected(*args)[-1])
    if trial.has("vjp"):
        out, pull = system.vjp(last(expected), *args)
        w = tangents_of(trial, out)
        found_cts = system.vjp(last(found), *args)[1](w)
        yield Claim(f"vjp of the last part of {name}", found_cts, "that of the loop", pull(w))


def _carry_of(scanned: Function) -> Function:
    return lambda *args: scanned(*args)[0]


@law("loops", needs=("scan",), share=1 / 16)
def law_scan_is_loop(trial: Trial) -> Claims:
    """A scan gives what the loop of Python over the slices gives, in both directions, and so do its derivatives.

    So does a `fori_loop` between known bounds. A scan of length 0 gives the first carry, and results without elements.

    Equation: T(scan(f, c, xs)) = T(c, y₀ = f(c, x₀), c, y₁ = f(c, x₁), … ↦ c, [y₀, y₁, …]), for T among nothing, jit,
    jvp and vjp

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import Case, quick
    >>> from lawful.laws.systems import lawful
    >>> law_scan_is_loop(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5), effort=quick)
    """
    system = trial.system
    scan, fori_loop = system.scope["scan"], system.scope.get("fori_loop")
    body, parts = offset_body(trial)
    xs = np.array([0.01, -0.02, 0.03])
    factor = FACTOR
    variants = [(False, 1, None), (True, 1, None), (False, 2, None), (True, True, None), (False, 1, 1), (True, 2, 2)]
    for reverse, unroll, checkpoints in trial.some(variants):
        said = f"scan(reverse={reverse}, unroll={unroll}, checkpoints={checkpoints})"
        loop = _unrolled(trial, body, range(_ITERATIONS)[::-1] if reverse else range(_ITERATIONS))

        def scanned(
            factor: Any, parts: Any, xs: Any, reverse: Any = reverse, unroll: Any = unroll, kept: Any = checkpoints
        ) -> Any:
            return scan(
                lambda c, x: body(factor, c, x),
                offset_carry(trial, factor, parts),
                xs,
                None,
                reverse,
                unroll,
                checkpoints=kept,
            )

        expected = loop(factor, parts, xs)
        yield Claim(said, scanned(factor, parts, xs), "the loop", expected)
        if trial.has("jit"):
            yield Claim(f"jit({said})", system.jit(scanned)(factor, parts, xs), "the loop", expected)
        yield from _same_derivatives(trial, said, scanned, loop, (factor, parts, xs))
        yield from _last_part(trial, said, _carry_of(scanned), _carry_of(loop), (factor, parts, xs))
    if trial.has("vmap"):
        yield from _batched_scan(trial, body, parts, xs)
    before, none = scan(lambda c, x: body(factor, c, x), offset_carry(trial, factor, parts), xs[:0])
    yield Claim("scan of no slices", before, "the first carry", offset_carry(trial, factor, parts))
    avals = [system.aval(y) for y in body(factor, offset_carry(trial, factor, parts), xs[0])[1]]
    yield Claim("results of no slices", none, "no elements", [np.zeros((0, *a.shape), a.dtype) for a in avals])
    if fori_loop is not None:
        found = fori_loop(
            0, _ITERATIONS, lambda i, c: body(factor, c, _slice_at(trial, i))[0], offset_carry(trial, factor, parts)
        )
        yield Claim(f"fori_loop(0, {_ITERATIONS})", found, "the loop", _python(trial, body, _ITERATIONS)(factor, parts))


def _batched_scan(trial: Trial, body: Function, parts: list[Any], xs: Any) -> Claims:
    """Yields claims that a scan mapped over some of its operands is the stack of scans."""
    scan, factor = trial.system.scope["scan"], np.float64(1.0)

    def function(parts: Any, xs: Any) -> Any:
        return scan(lambda c, x: body(factor, c, x), offset_carry(trial, factor, parts), xs)

    elements = [batch_of(x, 2, 0) for x in parts]
    rows = np.stack([xs, 2 * xs], 1)
    for said, axes in trial.some((("the carry", (0, None)), ("the slices", (None, 1)))):
        args = (parts if axes[0] is None else elements, xs if axes[1] is None else rows)
        each = [
            function(parts if axes[0] is None else [x[i] for x in elements], xs if axes[1] is None else rows[:, i])
            for i in range(2)
        ]
        found = trial.system.vmap(function, axes)(*args)
        yield Claim(f"scan mapped over {said}", found, "each its scan", stacked_trees(each, trial))


def _slice_at(trial: Trial, i: Any) -> Any:
    """Returns a body's slice for an iteration, from the iteration's number."""
    ops = trial.system.ops
    return ops.mul(0.01, ops.add(ops.convert_element_type(i, np.float64), 1.0))


def _while(trial: Trial, body: Function, **tape: Any) -> Function:
    """Returns a while loop as a function of a trip count, a factor and arguments."""
    while_loop, ops = trial.system.scope["while_loop"], trial.system.ops

    def loop(count: Any, factor: Any, parts: Any) -> Any:
        def step(state: Any) -> Any:
            i, carry = state
            return ops.add(i, 1), body(factor, carry, _slice_at(trial, i))[0]

        return while_loop(
            lambda state: ops.lt(state[0], count), step, (np.int64(0), offset_carry(trial, factor, parts)), **tape
        )[1]

    return loop


def _python(trial: Trial, body: Function, count: int) -> Function:
    """Returns the Python loop, as a function of the factor and the arguments."""

    def loop(factor: Any, parts: Any) -> Any:
        carry = offset_carry(trial, factor, parts)
        for i in range(count):
            carry, _ = body(factor, carry, 0.01 * (i + 1))
        return carry

    return loop


_TAPES: Final[tuple[dict[str, int], ...]] = ({}, {"checkpoints": 1}, {"checkpoints": 2}, {"max_iters": _ITERATIONS})


@law("loops", needs=("while_loop",), share=1 / 16)
def law_while_is_loop(trial: Trial) -> Claims:
    """A while loop gives what the loop of Python gives, and so do its derivatives, whatever is stored for them.

    So does a `fori_loop` to a bound that is traced.

    Equation: T(while_loop(p, f, x)) = T(while p(x): x = f(x)), for T among nothing, jit, jvp and vjp

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import Case, quick
    >>> from lawful.laws.systems import lawful
    >>> law_while_is_loop(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5), effort=quick)
    """
    system = trial.system
    body, parts = offset_body(trial)
    factor = FACTOR
    for count, tape in trial.some(product(range(_ITERATIONS + 1), _TAPES)):
        expected, loop = _python(trial, body, count), _while(trial, body, **tape)
        said = f"while_loop of {count} iterations with {tape}"

        def looped(factor: Any, parts: Any, loop: Function = loop, count: int = count) -> Any:
            return loop(np.int64(count), factor, parts)

        yield Claim(said, looped(factor, parts), "the loop", expected(factor, parts))
        if trial.has("jit"):
            compiled = system.jit(loop)(np.int64(count), factor, parts)
            yield Claim(f"jit({said})", compiled, "the loop", expected(factor, parts))
        yield from _same_derivatives(trial, said, looped, expected, (factor, parts))
        yield from _last_part(trial, said, looped, expected, (factor, parts))
    if trial.has("jit") and trial.has("fori_loop"):
        fori_loop = system.scope["fori_loop"]

        def counted(n: Any, factor: Any, parts: Any) -> Any:
            return fori_loop(
                0, n, lambda i, c: body(factor, c, _slice_at(trial, i))[0], offset_carry(trial, factor, parts)
            )

        compiled = system.jit(counted)
        for count in trial.some(range(_ITERATIONS + 1)):
            found, expected = compiled(np.int64(count), factor, parts), _python(trial, body, count)
            yield Claim(f"jit(fori_loop(0, {count}))", found, "the loop", expected(factor, parts))


@law("loops", needs=("while_loop", "vmap"), share=1 / 8)
def law_batched_while_is_choice(trial: Trial) -> Claims:
    """Each element of a batched predicate stops its own loop; what is shared gets the cotangents of all of them.

    With a predicate that is not batched only what depends on batched values is so.

    Equation: vmap(while_loop)(p, f, x)[i] = (while p(x[i]): x[i] = f(x[i])), and the same of jvp and vjp

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import Case, quick
    >>> from lawful.laws.systems import lawful
    >>> law_batched_while_is_choice(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5), effort=quick)
    """
    system = trial.system
    body, parts = offset_body(trial)
    size = 3
    factor = FACTOR
    batched = [batch_of(x, size, 0) for x in parts]
    counts = trial.random.integers(0, _ITERATIONS + 1, size)
    elements = [[x[i] for x in batched] for i in range(size)]
    singles = [_python(trial, body, int(n)) for n in counts]
    (tape,) = trial.some(_TAPES)[:1]
    said = f"vmap(while_loop) of {counts.tolist()} iterations with {tape}"

    def looped(factor: Any, xs: Any) -> Any:
        return system.vmap(_while(trial, body, **tape), (0, None, 0))(counts, factor, xs)

    expected = stacked_trees([single(factor, xs) for single, xs in zip(singles, elements, strict=True)], trial)
    yield Claim(said, looped(factor, batched), "each its loop", expected)
    common = system.vmap(_while(trial, body, **tape), (None, None, 0))(np.int64(_ITERATIONS), factor, batched)
    each = [_python(trial, body, _ITERATIONS)(factor, xs) for xs in elements]
    yield Claim(
        f"vmap(while_loop) of {_ITERATIONS} iterations each with {tape}",
        common,
        "each its loop",
        stacked_trees(each, trial),
    )
    if trial.has("jit"):
        yield Claim(f"jit({said})", system.jit(looped)(factor, batched), "each its loop", expected)
    if trial.has("jvp"):
        v = tangents_of(trial, batched)
        each = [
            system.jvp(single, (factor, xs), (np.float64(0.5), [t[i] for t in v]))[1]
            for i, (single, xs) in enumerate(zip(singles, elements, strict=True))
        ]
        found = system.jvp(looped, (factor, batched), (np.float64(0.5), v))[1]
        yield Claim(f"jvp({said})", found, "jvp of each", stacked_trees(each, trial))
    if trial.has("vjp"):
        out, pull = system.vjp(looped, factor, batched)
        w = tangents_of(trial, out)
        pulled = [
            system.vjp(single, factor, xs)[1]([ct[i] for ct in w])
            for i, (single, xs) in enumerate(zip(singles, elements, strict=True))
        ]
        shared = np.float64(sum(float(system.numpy(ct)) for ct, _ in pulled))
        yield Claim(f"vjp({said})", pull(w), "of each", (shared, stacked_trees([cts for _, cts in pulled], trial)))


@law("loops", needs=("map",), share=1 / 4)
def law_map_is_stack(trial: Trial) -> Claims:
    """Mapping one slice after the other, or some at a time, gives the stacked results.

    Equation: map(f, xs) = [f(x₀), f(x₁), …]

    Raises:
      LawViolation: it does not hold.

    >>> import numpy as np
    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_map_is_stack(lawful, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
    """
    system = trial.system
    body, parts = offset_body(trial)
    size = 3
    batched = [batch_of(x, size, 0) for x in parts]

    def function(xs: Any) -> Any:
        return body(FACTOR, offset_carry(trial, FACTOR, xs), 0.01)

    expected = stacked_trees([function([x[i] for x in batched]) for i in range(size)], trial)
    for batch_size in trial.some((None, 1, 2, 3, 4)):
        found = system.scope["map"](function, batched, batch_size=batch_size)
        yield Claim(f"map(f, xs, batch_size={batch_size})", found, "the stack", expected)
