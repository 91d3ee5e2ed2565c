"""What a law is: a function that yields claims, each of which is checked, and what is raised when one fails."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Concatenate, Final

import numpy as np
from hypothesis import reject

from lawful import tree
from lawful.core import Jaxpr, LawfulError, is_inexact, jaxprs_in_params
from lawful.laws._comparison import Closeness, Difference, find_difference
from lawful.laws._program import Program
from lawful.laws._values import expression
from lawful.staging import make_jaxpr


class LawViolation(LawfulError, AssertionError):
    """A law does not hold for a function. The text has all that is needed to see it again.

    Cause: a rule of a primitive, a transformation, or a custom derivative is wrong. Cure: run the program that the
    text shows; its equations are few.
    """


class Inapplicable(LawfulError):
    """A law says nothing about a function at these arguments: nothing to differentiate by, or a kink is near."""


@dataclass(frozen=True, slots=True)
class Claim:
    """That two values are equal.

    Attributes:
      left: how the first one was computed.
      left_value: the first one, a pytree of arrays.
      right: how the second one was computed.
      right_value: the second one.
      closeness: what they may differ by.
      weakness: whether they must agree in what stands for a Python scalar.
    """

    left: str
    left_value: Any
    right: str
    right_value: Any
    closeness: Closeness = "rounding"
    weakness: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """That something does not hold which is not an equality of arrays: what is wrong, and details of it."""

    explanation: str
    details: str = ""


Claims = Iterator[Claim | Fault]

#: Every law by its name, without ``law_``.
laws: Final[dict[str, Callable[..., None]]] = {}


def law[F: Callable[..., Any], **P](
    claims: Callable[Concatenate[F, P], Claims],
) -> Callable[Concatenate[F, P], None]:
    """Makes a law of a generator of claims about a function: it raises LawViolation for the first that fails.

    The equation stands in the docstring after ``Equation:``.
    """
    name = claims.__name__
    equation = equation_of(claims)

    @functools.wraps(claims)
    def checked(function: F, /, *args: P.args, **options: P.kwargs) -> None:
        with np.errstate(all="ignore"):
            try:
                for claim in claims(function, *args, **options):
                    text = _fault_text(claim, function, args)
                    if text is not None:
                        raise LawViolation(
                            "\n".join([f"{name} does not hold: {equation}", text, _case(function, args)])
                        )
            except (LawViolation, Inapplicable):
                raise
            except Exception as error:
                error.add_note(f"while checking {name}: {equation}\n{_case(function, args)}")
                raise

    laws[name.removeprefix("law_")] = checked
    return checked


def equation_of(law_function: Callable[..., Any]) -> str:
    """Returns the equation that a law's docstring states."""
    found = re.search(r"Equation: (.*?)(\n\s*\n|\Z)", inspect.getdoc(law_function) or "", re.DOTALL)
    assert found is not None, f"{law_function.__name__} states no equation"
    return re.sub(r"\s+", " ", found[1]).strip()


def _fault_text(claim: Claim | Fault, function: Callable[..., Any], args: tuple[Any, ...]) -> str | None:
    if isinstance(claim, Fault):
        return "\n".join(filter(None, [claim.explanation, claim.details]))

    def difference_through(dtypes: Iterable[np.dtype[Any]]) -> Difference | None:
        return find_difference(
            claim.left_value, claim.right_value, claim.closeness, weakness=claim.weakness, through=dtypes
        )

    if difference_through(()) is None:
        return None
    # Rounding is that of the least precise dtype on the way; the way is looked at only where it matters.
    difference = difference_through(_floating_dtypes(function, args))
    if difference is None:
        return None
    sides = [
        f"{label}:\n{_indented(_written(value))}"
        for label, value in ((claim.left, claim.left_value), (claim.right, claim.right_value))
    ]
    return "\n".join([f"{difference}", *sides])


def _floating_dtypes(function: Callable[..., Any], args: tuple[Any, ...]) -> set[np.dtype[Any]]:
    """Returns the floating dtypes of all variables of a function's jaxpr, and of those within it."""
    found: set[np.dtype[Any]] = set()
    jaxprs: list[Jaxpr] = [make_jaxpr(function)(*args).jaxpr]
    for jaxpr in jaxprs:
        variables = [*jaxpr.constvars, *jaxpr.invars, *(var for eqn in jaxpr.eqns for var in eqn.outvars)]
        found.update(var.aval.dtype for var in variables if is_inexact(var.aval.dtype))
        jaxprs.extend(inner for eqn in jaxpr.eqns for inner in jaxprs_in_params(eqn.params))
    return found


def _written(value: Any) -> str:
    return "\n".join(
        f"{tree.keystr(path)} = {_leaf_text(leaf)}".removeprefix(" = ") for path, leaf in tree.leaves_with_path(value)
    )


def _leaf_text(leaf: Any) -> str:
    try:
        return expression(leaf)
    except Exception:
        return repr(leaf)


def _case(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """Returns the program as Python and as a jaxpr, and its inputs."""
    if isinstance(function, Program):
        lines = ["The program:", _indented(function.source())]
        if not _same_args(function.args, args):
            lines += ["at the arguments", _indented("\n".join(map(_leaf_text, args)))]
        try:
            lines += ["As a jaxpr:", _indented(str(function.jaxpr()))]
        except Exception as error:
            lines += [f"(make_jaxpr of it raises {type(error).__name__}: {error})"]
        return "\n".join(lines)
    described = getattr(function, "description", None) or repr(function)
    return "\n".join([f"The function: {described}", "at the arguments", _indented("\n".join(map(_leaf_text, args)))])


def _same_args(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    return len(left) == len(right) and all(x is y for x, y in zip(left, right, strict=True))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.strip("\n").splitlines())


def holds(law_function: Callable[..., None], program: Program, **options: Any) -> None:
    """Checks a law on a generated program, in a Hypothesis test: the example is rejected if the law is inapplicable.

    Raises:
      LawViolation: it does not hold.
    """
    try:
        law_function(program, *program.args, **options)
    except Inapplicable:
        reject()
