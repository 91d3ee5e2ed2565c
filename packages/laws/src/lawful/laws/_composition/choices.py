"""Laws of control flow: a choice is the branch taken, under every transformation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lawful import tree
from lawful.laws._composition.batching import batch_of, mappable
from lawful.laws._derivatives.directions import is_floating, restrict, tangents_of
from lawful.laws._law.law import Claim, Claims, Inapplicable, Trial, law

Function = Callable[..., Any]


def _branches(trial: Trial, function: Function) -> list[Function]:
    """Returns functions of one type: a function, and two that modify its floating-point results."""
    system = trial.system

    def strong(y: Any) -> Any:
        # A function returns strong results, and so does a choice.
        aval = system.aval(y)
        return system.ops.add(y, np.zeros(aval.shape, aval.dtype)) if aval.weak_type else y

    def then(change: Function) -> Function:
        def branch(*args: Any) -> Any:
            return tree.map(lambda y: change(y) if is_floating(system.aval(y)) else strong(y), function(*args))

        return branch

    return [then(strong), then(lambda y: system.ops.mul(strong(y), 2)), then(lambda y: system.ops.sin(strong(y)))]


@law("control flow", needs=("cond",), share=1 / 4)
def law_cond_is_branch(trial: Trial) -> Claims:
    """A choice gives what the branch taken gives, and so do its derivatives; an index is clamped.

    Equation: T(cond(p, f, g))(x) = T(f)(x) if p else T(g)(x), for T among nothing, jit, jvp and vjp, and the same of
    switch with the index brought into its bounds

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_cond_is_branch(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    system, args = trial.system, trial.args
    branches = _branches(trial, trial.function)
    cond, switch = system.scope["cond"], system.scope.get("switch")
    for taken in trial.some((True, False)):
        expected = branches[0 if taken else 1]
        yield Claim(f"cond({taken}, f, g)(x)", cond(taken, *branches[:2], *args), "the branch taken", expected(*args))
        if trial.has("jit"):
            chosen = system.jit(lambda p, *xs: cond(p, *branches[:2], *xs))(np.bool_(taken), *args)
            yield Claim(f"jit(cond)({taken}, f, g)(x)", chosen, "the branch taken", expected(*args))
    if switch is not None:
        for index in trial.some((-2, 0, 1, 2, 5)):
            chosen = switch(np.int64(index), branches, *args)
            expected = branches[min(max(index, 0), 2)](*args)
            yield Claim(f"switch({index}, (f, g, h))(x)", chosen, "the branch taken", expected)
    for part in trial.some((_forward, _reverse)):
        yield from part(trial)


def _choice(trial: Trial) -> tuple[Function, list[Any], Function, bool]:
    """Returns a function that chooses by a predicate, its arguments, the branch taken, and the predicate."""
    restricted, leaves = restrict(trial)
    branches = _branches(trial, restricted)
    taken = bool(trial.random.integers(0, 2))
    cond = trial.system.scope["cond"]
    return (lambda p: lambda *xs: cond(p, *branches[:2], *xs)), leaves, branches[0 if taken else 1], taken


def _forward(trial: Trial) -> Claims:
    if not trial.has("jvp"):
        return
    choice, leaves, branch, taken = _choice(trial)
    v = tangents_of(trial, leaves)
    found = trial.system.jvp(choice(np.bool_(taken)), leaves, v)
    yield Claim(f"jvp(cond({taken}, f, g), x, v)", found, "jvp of the branch", trial.system.jvp(branch, leaves, v))


def _reverse(trial: Trial) -> Claims:
    if not trial.has("vjp"):
        return
    choice, leaves, branch, taken = _choice(trial)
    out, pull = trial.system.vjp(branch, *leaves)
    w = tangents_of(trial, out)
    found = trial.system.vjp(choice(np.bool_(taken)), *leaves)[1](w)
    yield Claim(f"vjp(cond({taken}, f, g), x)[1](w)", found, "vjp of the branch", pull(w))
    if trial.has("jit"):
        compiled = trial.system.jit(lambda p, ct, *xs: trial.system.vjp(choice(p), *xs)[1](ct))
        yield Claim("jit of it", compiled(np.bool_(taken), w, *leaves), "vjp of the branch", pull(w))


@law("control flow", needs=("cond", "vmap"), share=1 / 2)
def law_batched_cond_is_choice(trial: Trial) -> Claims:
    """A choice by a batched predicate chooses element by element, and by an unbatched one takes one branch for all.

    Equation: vmap(cond)(p, f, g, x)[i] = f(x[i]) if p[i] else g(x[i])

    Raises:
      LawViolation: it does not hold.
      Inapplicable: there is no argument to map.

    >>> import numpy as np
    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_batched_cond_is_choice(lawful, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
    """
    system, args = trial.system, trial.args
    argnums = mappable(args)
    branches = _branches(trial, trial.function)[:2]
    cond = system.scope["cond"]
    size = 3
    axes = tuple(0 if i in argnums else None for i in range(len(args)))
    batched = [tree.map(lambda y: batch_of(y, size, 0), x) if i in argnums else x for i, x in enumerate(args)]

    def element(index: int) -> list[Any]:
        return [tree.map(lambda y: y[index], x) if i in argnums else x for i, x in enumerate(batched)]

    predicates = np.asarray(trial.random.integers(0, 2, size), bool)
    for name, predicate, axis in trial.some((("p", predicates, 0), ("p[0]", np.bool_(predicates[0]), None))):
        taken = np.broadcast_to(np.asarray(predicate), size)
        outs = [tree.map(system.numpy, branches[0 if taken[i] else 1](*element(i))) for i in range(size)]
        expected = tree.map(lambda *elements: np.stack(elements), *outs)
        found = system.vmap(lambda p, *xs: cond(p, *branches, *xs), (axis, *axes))(predicate, *batched)
        yield Claim(f"vmap(cond)({name}, f, g, x) with p = {predicates.tolist()}", found, "each its branch", expected)
        if trial.has("jvp") and trial.effort.most > 1:
            yield from _batched_tangents(trial, predicate, axis)
    switch = system.scope.get("switch")
    if switch is not None:
        branches = _branches(trial, trial.function)
        indices = trial.random.permutation(size)
        outs = [tree.map(system.numpy, branches[indices[i]](*element(i))) for i in range(size)]
        expected = tree.map(lambda *elements: np.stack(elements), *outs)
        found = system.vmap(lambda i, *xs: switch(i, branches, *xs), (0, *axes))(indices, *batched)
        yield Claim(f"vmap(switch)(i, (f, g, h), x) with i = {indices.tolist()}", found, "each its branch", expected)


def _batched_tangents(trial: Trial, predicate: Any, axis: int | None) -> Claims:
    system = trial.system
    restricted, leaves = restrict(trial)
    if any(trial.system.aval(x).weak_type for x in leaves):
        raise Inapplicable("vmap: expected arrays to map over, got a Python number")
    branches, cond = _branches(trial, restricted)[:2], system.scope["cond"]
    batched = [batch_of(x, 3, 0) for x in leaves]
    v = tangents_of(trial, batched)

    def pushed(p: Any, xs: Any, ts: Any) -> Any:
        return system.jvp(lambda *ys: cond(p, *branches, *ys), xs, ts)[1]

    taken = np.broadcast_to(np.asarray(predicate), 3)
    each = [
        tree.map(system.numpy, pushed(np.bool_(taken[i]), [x[i] for x in batched], [t[i] for t in v])) for i in range(3)
    ]
    found = system.vmap(pushed, (axis, 0, 0))(predicate, batched, v)
    yield Claim("vmap(jvp(cond))", found, "jvp of each", tree.map(lambda *elements: np.stack(elements), *each))
