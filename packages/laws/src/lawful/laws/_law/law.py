"""Laws: functions that yield claims, each of which is checked, and the errors of failing claims."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Concatenate, Final, Literal

import numpy as np
from hypothesis import reject

from lawful import tree
from lawful.core import AbsentRuleError, Jaxpr, LawfulError, is_inexact, jaxprs_in_params
from lawful.laws._law.case import Case, text_of_value
from lawful.laws._law.comparison import Closeness, Difference, find_difference
from lawful.laws._law.effort import Effort, default_effort
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.tally import tally
from lawful.laws._law.values import indented
from lawful.staging import make_jaxpr


class LawViolation(LawfulError, AssertionError):
    """A law does not hold for a function. The text has all that is needed to see it again.

    Cause: a rule of a primitive, a transformation, or a custom derivative is wrong. Cure: run the program that the
    text shows; its equations are few.

    Attributes:
      size: the largest difference, relative to the larger of both values; None where something else is wrong.
      explanation: what is wrong, without the law and the case.

    >>> from lawful import ops
    >>> from lawful.autodiff import stop_gradient
    >>> from lawful.laws import law_jvp_finite_differences
    >>> from lawful.laws.systems import lawful
    >>> law_jvp_finite_differences(lawful, Case.of(lambda x: stop_gradient(x) * x, 0.5))
    Traceback (most recent call last):
        ...
    lawful.laws._law.law.LawViolation: ...law_jvp_finite_differences does not hold: ...
    """

    size: float | None = None
    explanation: str = ""


class Inapplicable(LawfulError):
    """A law says nothing about a function at these arguments: nothing to differentiate by, or a kink is near.

    >>> from lawful.laws import law_jvp_linear
    >>> from lawful.laws.systems import lawful
    >>> law_jvp_linear(lawful, Case.of(lambda x: x + 1, 3))
    Traceback (most recent call last):
        ...
    lawful.laws._law.law.Inapplicable: ...
    """


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim that two values are equal.

    Attributes:
      left: how the first one was computed.
      left_value: the first one, a pytree of arrays.
      right: how the second one was computed.
      right_value: the second one.
      closeness: what they may differ by.
      weakness: whether they must agree in what stands for a Python scalar.
      at: the arguments that the function was called with, where they have other dtypes than those of the case.
      excuse: whether nothing is claimed after all: it is asked where the values differ.
      mixed: whether an element is a sum over elements of the arguments even if the function is pointwise: what cancels
        in it leaves rounding errors as large as those of the largest element.
    """

    left: str
    left_value: Any
    right: str
    right_value: Any
    closeness: Closeness = "rounding"
    weakness: bool = False
    at: tuple[Any, ...] | None = None
    excuse: Callable[[], bool] = lambda: False
    mixed: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure other than an unequal pair of arrays: its description and details."""

    explanation: str
    details: str = ""


Claims = Iterator[Claim | Fault]

#: The subject of a law: any function, a call of a primitive, or a whole system.
Subject = Literal["function", "primitive"]


@dataclass(frozen=True, slots=True)
class Law:
    """A law with its metadata.

    Attributes:
      name: its function's name without ``law_``.
      check: the function: ``check(system, case)``.
      group: the kind of law: "evaluation", "tangents" and so on.
      equation: what it states.
      needs: what a system must have for it, of ``Implementation.absent``.
      smooth: whether it takes finite differences, so that a case must keep away from kinks.
      subject: what cases it is about.
      share: on which share of the cases it is tried where laws are sampled.

    >>> from lawful.laws import law_jvp_linear
    >>> laws["jvp_linear"].name, laws["jvp_linear"].group, laws["jvp_linear"].check is law_jvp_linear
    ('jvp_linear', 'tangents', True)
    """

    name: str
    check: Callable[..., None]
    group: str
    equation: str
    needs: tuple[str, ...] = ()
    smooth: bool = False
    subject: Subject = "function"
    share: float = 1.0

    def __call__(self, system: Implementation, case: Case, **options: Any) -> None:
        self.check(system, case, **options)


#: All laws by name, without ``law_``.
laws: Final[dict[str, Law]] = {}

#: The groups of laws, in the order of reports.
groups: Final = (
    *("evaluation", "typing", "tangents", "linearization", "transposition", "batching", "commutation"),
    *(
        "second order",
        "passes",
        "control flow",
        "loops",
        "purity",
        "edges",
        "cost",
        "errors",
        "leaks",
        "sharding",
        "primitives",
        "agreement",
    ),
)

LawFunction = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Trial:
    """A law applied to a case: the context in which its claims are computed.

    Attributes:
      system: the system of transformations.
      case: the function and its arguments.
      effort: how many variants to try.
      random: draws directions and variants; of the case's seed.
    """

    system: Implementation
    case: Case
    effort: Effort
    random: np.random.Generator = field(repr=False)

    @property
    def function(self) -> Callable[..., Any]:
        """The function, as the system runs it."""
        return self.case.on(self.system)

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments, without elements at which backends of the system are known to compute something else."""
        return self.comparable(self.case.args)

    def comparable(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Returns arguments without elements at which backends of the system are known to compute something else."""
        return self.case.comparable(self.system, args)

    def value(self, function: Callable[..., Any], args: Any) -> Any:
        """Returns ``f(x)``; for the case's own function and arguments, the cached first result."""
        if function is self.function and args is self.case.args:
            return self.case.value(self.system)
        return function(*args)

    def has(self, capability: str) -> bool:
        """Whether the system has a capability."""
        return capability not in self.system.absent

    def some[T](self, variants: Iterable[T]) -> list[T]:
        """Returns as many variants as the effort allows, in random order."""
        return self.effort.some(self.random, list(variants))


def law[**P](
    group: str,
    *,
    needs: tuple[str, ...] = (),
    smooth: bool = False,
    subject: Subject = "function",
    share: float = 1.0,
) -> Callable[[Callable[Concatenate[Trial, P], Claims]], Callable[Concatenate[Implementation, Case, P], None]]:
    """Makes a law of a generator of claims: ``law(system, case)`` raises LawViolation for the first that fails.

    The generator is called with a :class:`Trial`. The law takes ``effort`` too. The equation stands in the docstring
    after ``Equation:``.

    Args:
      group: one of ``groups``.
      needs: what a system must have, else the law is inapplicable to it.
      smooth: whether cases must keep away from kinks.
      subject: what cases it is about.
      share: on which share of the cases it is tried where laws are sampled: less than 1 where it takes long.
    """
    assert group in groups, group

    def decorated(
        claims: Callable[Concatenate[Trial, P], Claims],
    ) -> Callable[Concatenate[Implementation, Case, P], None]:
        name = claims.__name__
        short = name.removeprefix("law_")
        equation = equation_of(claims)

        def checked(system: Implementation, case: Case, /, **options: Any) -> None:
            with _counted(short):
                for need in needs:
                    if need in system.absent:
                        raise Inapplicable(f"{name}: {system.name} has no {need}: {system.absent[need]}")
                effort = options.pop("effort", None) or default_effort()
                trial = Trial(system, case, effort, np.random.default_rng(options.pop("seed", case.seed)))
                with np.errstate(all="ignore"):
                    _check(name, equation, trial, claims(trial, **options))  # type: ignore[call-arg]

        functools.update_wrapper(checked, claims)
        del checked.__wrapped__  # type: ignore[attr-defined]  # the signature differs
        checked.__signature__ = _signature(claims)  # type: ignore[attr-defined]
        laws[short] = Law(short, checked, group, equation, needs, smooth, subject, share)
        return checked  # type: ignore[return-value]

    return decorated


def _signature(claims: Callable[..., Claims]) -> inspect.Signature:
    only = inspect.Parameter.POSITIONAL_ONLY
    first = [inspect.Parameter(name, only) for name in ("system", "case")]
    _, *rest = inspect.signature(claims).parameters.values()
    named = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in ("effort", "seed")]
    return inspect.Signature([*first, *[p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in rest], *named])


@contextmanager
def _counted(name: str) -> Iterator[None]:
    try:
        yield
    except Inapplicable:
        tally.add(name, "inapplicable")
        raise
    except Exception:
        tally.add(name, "failed")
        raise
    tally.add(name, "passed")


def _check(name: str, equation: str, trial: Trial, claims: Claims) -> None:
    try:
        for claim in claims:
            found = _difference_of(claim, trial)
            if found is not None:
                text, size = found
                raised = LawViolation(
                    "\n".join([f"{name} does not hold: {equation}", text, trial.case.text(trial.system)])
                )
                raised.size, raised.explanation = size, text
                raise raised
    except (LawViolation, Inapplicable):
        raise
    except AbsentRuleError as error:  # declared, with the mathematical reason
        raise Inapplicable(f"{name}: {error.message}") from error
    except Exception as error:
        error.add_note(f"while checking {name}: {equation}\n{trial.case.text(trial.system)}")
        raise


def equation_of(law_function: Callable[..., Any]) -> str:
    """Returns the equation that a law's docstring states."""
    found = re.search(r"Equation: (.*?)(\n\s*\n|\Z)", inspect.getdoc(law_function) or "", re.DOTALL)
    assert found is not None, f"{law_function.__name__} states no equation"
    return re.sub(r"\s+", " ", found[1]).strip()


def _difference_of(claim: Claim | Fault, trial: Trial) -> tuple[str, float | None] | None:
    """Returns the failure of a claim, and the size of the difference; None if the claim holds."""
    if isinstance(claim, Fault):
        return "\n".join(filter(None, [claim.explanation, claim.details])), None
    left, right = (tree.map(trial.system.numpy, value) for value in (claim.left_value, claim.right_value))
    by_element = trial.case.is_pointwise and not claim.mixed

    def difference_through(dtypes: Iterable[np.dtype[Any]]) -> Difference | None:
        weakness = claim.weakness and trial.has("weak types")
        return find_difference(left, right, claim.closeness, weakness=weakness, through=dtypes, by_element=by_element)

    if difference_through(()) is None:
        return None
    # The tolerance is that of the least precise dtype in the function, computed only if needed.
    dtypes = _floating_dtypes(trial, claim.at or trial.args) if trial.has("jaxprs") else ()
    difference = difference_through(dtypes)
    if difference is None or claim.excuse():
        return None
    sides = [f"{label}:\n{indented(written(value))}" for label, value in ((claim.left, left), (claim.right, right))]
    return "\n".join([f"{difference}", *sides]), difference.size


def _floating_dtypes(trial: Trial, args: tuple[Any, ...]) -> set[np.dtype[Any]]:
    """Returns the floating dtypes of all variables of a function's jaxpr, and of its sub-jaxprs."""
    found: set[np.dtype[Any]] = set()
    jaxprs: list[Jaxpr] = [make_jaxpr(trial.function)(*args).jaxpr]
    for jaxpr in jaxprs:
        variables = [*jaxpr.constvars, *jaxpr.invars, *(var for eqn in jaxpr.eqns for var in eqn.outvars)]
        found.update(var.aval.dtype for var in variables if is_inexact(var.aval.dtype))
        jaxprs.extend(inner for eqn in jaxpr.eqns for inner in jaxprs_in_params(eqn.params))
    return found


def written(value: Any) -> str:
    return "\n".join(
        f"{tree.keystr(path)} = {text_of_value(leaf)}".removeprefix(" = ")
        for path, leaf in tree.leaves_with_path(value)
    )


def holds(law_function: LawFunction, system: Implementation, case: Case, **options: Any) -> None:
    """Checks a law on a generated case, in a Hypothesis test: the example is rejected if the law is inapplicable.

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import law_jvp_linear
    >>> from lawful.laws.systems import lawful
    >>> holds(law_jvp_linear, lawful, Case.of(ops.sin, 0.5))
    """
    try:
        law_function(system, case, **options)
    except Inapplicable:
        reject()
