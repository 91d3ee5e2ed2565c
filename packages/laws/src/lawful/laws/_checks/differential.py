"""A program on two systems: the results, and those of each transformation, compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.laws._composition.batching import batch_of, mappable
from lawful.laws._derivatives.directions import restrict, scalarized, tangents_of
from lawful.laws._law.case import Case
from lawful.laws._law.comparison import find_difference
from lawful.laws._law.effort import Effort, usual
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.law import Inapplicable, Law, LawViolation, Trial, laws, written
from lawful.laws._law.values import indented

Observed = Callable[[Trial], Any]


def _value(trial: Trial) -> Any:
    return trial.function(*trial.args)


def _forward(trial: Trial) -> Any:
    restricted, leaves = restrict(trial)
    return trial.system.jvp(restricted, leaves, tangents_of(trial, leaves))


def _reverse(trial: Trial) -> Any:
    restricted, leaves = restrict(trial)
    out, pull = trial.system.vjp(restricted, *leaves)
    return out, pull(tangents_of(trial, out))


def _gradient(trial: Trial) -> Any:
    restricted, leaves = restrict(trial)
    loss = scalarized(trial.system, restricted, trial.case.seed)
    return trial.system.grad(loss, tuple(range(len(leaves))))(*leaves)


def _linear(trial: Trial) -> Any:
    restricted, leaves = restrict(trial)
    out, push = trial.system.linearize(restricted, *leaves)
    return out, push(*tangents_of(trial, leaves))


def _compiled(trial: Trial) -> Any:
    return trial.system.jit(trial.function)(*trial.args)


def _mapped(trial: Trial) -> Any:
    argnums = mappable(trial.args)
    in_axes = tuple([0 if i in argnums else None for i in range(len(trial.args))])
    batches = [tree.map(lambda y: batch_of(y, 3, 0), x) if i in argnums else x for i, x in enumerate(trial.args)]
    return trial.system.vmap(trial.function, in_axes)(*batches)


def _curvature(trial: Trial) -> Any:
    restricted, leaves = restrict(trial)
    loss = scalarized(trial.system, restricted, trial.case.seed)
    gradient = trial.system.grad(loss, tuple(range(len(leaves))))
    return trial.system.jvp(lambda *xs: list(gradient(*xs)), leaves, tangents_of(trial, leaves))[1]


#: The observations: each with its text, the capabilities that both systems need, and its function.
observations: Final[tuple[tuple[str, tuple[str, ...], Observed], ...]] = (
    ("f(x)", (), _value),
    ("jvp(f, x, v)", ("jvp",), _forward),
    ("linearize(f, x) and its derivative of v", ("linearize",), _linear),
    ("vjp(f, x) and its derivative of w", ("vjp",), _reverse),
    ("grad(x ↦ ⟨w, f(x)⟩)(x)", ("grad",), _gradient),
    ("jit(f)(x)", ("jit",), _compiled),
    ("vmap(f)(batch of x)", ("vmap",), _mapped),
    ("jvp(grad(x ↦ ⟨w, f(x)⟩), x, v)", ("higher order", "grad", "jvp"), _curvature),
)


def compare_systems(
    one: Implementation, other: Implementation, case: Case, *, effort: Effort = usual, seed: int | None = None
) -> None:
    """Checks that two systems agree about a program: its value, derivatives, gradient, mapping and compilation.

    Equation: T₁(f)(x) = T₂(f)(x) for T among what both systems have

    Both get the same arguments and directions, and results are compared as NumPy arrays, in structure, shape, dtype
    and value up to rounding; which of them stand for Python numbers is not compared. It says nothing about programs
    whose dtypes promote otherwise in one system: draw them by ``generation_for``, of both.

    Args:
      one: a system.
      other: another one.
      case: a program, which both can run.
      effort: how many of the observations to make.
      seed: what directions are drawn from; by default the case's.

    Raises:
      LawViolation: they disagree; the text names both.

    >>> import numpy as np
    >>> from lawful import ops
    >>> from lawful.laws import Case, compare_systems
    >>> from lawful.laws.systems import Lawful, lawful
    >>> compare_systems(lawful, Lawful("numpy"), Case.of(ops.sin, np.array([0.5, 1.0])))
    """
    start = case.seed if seed is None else seed
    present = [entry for entry in observations if not set(entry[1]) & {*one.absent, *other.absent}]
    for label, _, observed in effort.some(np.random.default_rng(start), present):
        try:
            values = [_observation(observed, system, case, effort, start) for system in (one, other)]
        except Inapplicable:
            continue
        difference = find_difference(*values)
        if difference is not None:
            raise _disagreement(one, other, case, label, values, str(difference), difference.size)


def agreement_law(other: Implementation) -> Law:
    """Registers the law that a system agrees with another one, such as ``"agrees_with_jax"``, and returns it.

    >>> from lawful import ops
    >>> from lawful.laws.systems import Lawful, lawful
    >>> law = agreement_law(lawful)
    >>> law.name
    'agrees_with_lawful'
    >>> law(Lawful("numpy"), Case.of(ops.sin, 0.5))
    >>> _ = laws.pop(law.name)
    """

    def check(system: Implementation, case: Case, *, effort: Effort = usual, seed: int | None = None) -> None:
        compare_systems(system, other, case, effort=effort, seed=seed)

    name = f"agrees_with_{other.name}"
    equation = f"T(f)(x) = T(f)(x) on {other.name}, for T among what both systems have"
    return laws.setdefault(name, Law(name, check, "agreement", equation))


def _observation(observed: Observed, system: Implementation, case: Case, effort: Effort, seed: int) -> Any:
    trial = Trial(system, case, effort, np.random.default_rng(seed))
    try:
        with np.errstate(all="ignore"):
            return tree.map(system.numpy, observed(trial))
    except Inapplicable:
        raise
    except Exception as error:
        error.add_note(f"while comparing what {system.name} gives\n{case.text(system)}")
        raise


def _disagreement(
    one: Implementation, other: Implementation, case: Case, label: str, values: list[Any], difference: str,
    size: float | None,
) -> LawViolation:  # fmt: skip
    sides = [f"{system.name}:\n{indented(written(value))}" for system, value in zip((one, other), values, strict=True)]
    lines = [f"{one.name} and {other.name} do not agree about {label}", difference, *sides]
    raised = LawViolation("\n".join([*lines, case.text(one), f"For {other.name}:", case.text(other)]))
    raised.size = size
    return raised
