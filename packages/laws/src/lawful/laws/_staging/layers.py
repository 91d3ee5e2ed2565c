"""The law of the two layers: accelerators give the results of the plain interpreters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lawful import tree
from lawful.core import plain
from lawful.laws._composition.batching import batch_of
from lawful.laws._derivatives.directions import differentiable, restrict, scalarized, tangents_of
from lawful.laws._law.law import Claim, Claims, Trial, law

#: Cached rules are used from the second call on, and compiled after thirty.
_CALLS: Final = (1, 2, 3, 40)


@law("evaluation", needs=("jaxprs", "jit", "jvp", "vjp", "grad", "vmap", "linearize"), share=1 / 4)
def law_layers_agree(trial: Trial) -> Claims:
    """The accelerators give what the plain interpreters give, in the first call of a transformed function and later.

    Equation: T(f)(x) = T(f)(x) with lawful.core.plain(), for T among jvp, vjp, grad, linearize, vmap, jit, jit of vjp

    Recorded programs are compared by their results, not as text. Those of cached rules have no dead equations, merge
    equal ones, and may order them differently; where a strong constant cotangent meets a weak result, an equation
    converts it, while the plain interpreters convert the constant itself.

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_layers_agree(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    calls = _CALLS if trial.effort.most > 1 else _CALLS[:3]
    for name, transformed in trial.some(_transformed(trial)):
        with plain():
            expected = transformed()
        for number in range(1, max(calls) + 1):
            found = transformed()
            if number in calls:
                yield Claim(f"{name}, call {number}", found, f"{name} on the plain layer", expected, weakness=True)


def _transformed(trial: Trial) -> list[tuple[str, Callable[[], Any]]]:
    system = trial.system
    function, args = differentiable(trial)
    v = tangents_of(trial, args)
    w = tangents_of(trial, function(*args))
    restricted, leaves = restrict(trial)
    loss = scalarized(system, restricted, trial.case.seed)
    return [
        ("jvp(f, x, v)", lambda: system.jvp(function, args, v)),
        ("vjp(f, x)[1](w)", lambda: system.vjp(function, *args)[1](w)),
        ("grad of a weighted sum, by the first argument", lambda: system.grad(loss)(*leaves)),
        ("linearize(f, x)[1](v)", lambda: system.linearize(function, *args)[1](*v)),
        ("jvp of the pullback", lambda: system.jvp(lambda *xs: system.vjp(function, *xs)[1](w), args, v)),
        ("vmap(jvp(f))", _batched(trial, function, args, v)),
        ("jit(f)(x)", lambda: system.jit(trial.function)(*trial.args)),
        ("jit of the pullback", lambda: system.jit(lambda *xs: system.vjp(function, *xs)[1](w))(*args)),
    ]


def _batched(trial: Trial, function: Callable[..., Any], args: Any, v: Any) -> Callable[[], Any]:
    """Returns the jvp at a batch of two arguments along one tangent; unmappable arguments are not batched."""
    axes = tree.map(lambda x: None if trial.system.aval(x).weak_type else 0, args)
    batches = tree.map(lambda x: x if trial.system.aval(x).weak_type else batch_of(x, 2, 0), args)
    if all(axis is None for axis in tree.leaves(axes, is_leaf=lambda axis: axis is None)):
        return lambda: trial.system.jvp(function, args, v)
    return lambda: trial.system.vmap(lambda *xs: trial.system.jvp(function, xs, v), axes)(*batches)
