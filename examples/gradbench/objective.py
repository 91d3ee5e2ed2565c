"""Objectives of the benchmark, and a check of their derivatives by finite differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy

from lawful import tree


def along_gradient(gradient: Any, direction: Any, data: Any) -> Any:
    """Returns the derivative along a direction by a gradient: the sum of the products of the elements."""
    return sum(numpy.vdot(x, y) for x, y in zip(tree.leaves(gradient), tree.leaves(direction), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """An objective, its derivative, and what they are run on and checked against.

    Attributes:
      name: how it is chosen on the command line.
      sizes: the numbers that make up a size, by the size's name.
      generate: called with the numbers of a size and a ``seed``, returns a tree of parameters and one of data.
      value: the objective, a number or an array, of parameters and data.
      derivative: its gradient or Jacobian in the parameters, in a form of its own.
      along: called with that, a direction (a tree as the parameters) and the data, returns the derivative of ``value``
        along the direction.
      by_hand: what ``derivative`` returns, by a formula that was derived by hand, where there is one.
      step: of finite differences, relative to the parameters.
    """

    name: str
    sizes: Mapping[str, Mapping[str, int]]
    generate: Callable[..., tuple[Any, Any]]
    value: Callable[[Any, Any], Any]
    derivative: Callable[[Any, Any], Any]
    along: Callable[[Any, Any, Any], Any] = along_gradient
    by_hand: Callable[[Any, Any], Any] | None = None
    step: float = 1e-4


def random_direction(parameters: Any, rng: numpy.random.Generator) -> Any:
    """Returns a direction which moves each parameter by about its own size, so that none is lost beside the others."""
    return tree.map(lambda p: rng.normal(size=p.shape) * numpy.where(p == 0.0, 1.0, abs(p)), parameters)


def difference_quotient(f: Callable[[Any], Any], at: Any, direction: Any, step: float) -> Any:
    """Returns the derivative of ``f`` along a direction by central differences of the fourth order."""

    def moved(steps: float) -> Any:
        return numpy.asarray(f(tree.map(lambda p, v: p + steps * step * v, at, direction)))

    return (8.0 * (moved(1.0) - moved(-1.0)) - (moved(2.0) - moved(-2.0))) / (12.0 * step)


def relative_error(found: Any, expected: Any) -> float:
    """Returns the largest difference in a tree of arrays, relative to the largest element of the array."""
    pairs = zip(map(numpy.asarray, tree.leaves(found)), map(numpy.asarray, tree.leaves(expected)), strict=True)
    # NumPy's maximum, other than Python's, is NaN where one of them is.
    return float(numpy.max([numpy.max(abs(x - y)) / max(numpy.max(abs(y)), 1e-300) for x, y in pairs]))


def difference_check(objective: Objective, derivative: Any, parameters: Any, data: Any) -> float:
    """Returns the relative error of a derivative along three random directions, by finite differences."""
    rng = numpy.random.default_rng(0)
    directions = [random_direction(parameters, rng) for _ in range(3)]
    errors = [
        relative_error(
            objective.along(derivative, direction, data),
            difference_quotient(lambda p: objective.value(p, data), parameters, direction, objective.step),
        )
        for direction in directions
    ]
    return float(numpy.max(errors))
