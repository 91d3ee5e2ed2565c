"""The square of a number: the smallest program. Derivative.

It measures what a call costs. Source: GradBench, eval "hello".
"""

from __future__ import annotations

from typing import Any

import numpy

from lawful.autodiff import grad

from .objective import Objective

SIZES: dict[str, dict[str, int]] = {"tiny": {}, "small": {}, "medium": {}, "large": {}}


def generate(seed: int) -> tuple[Any, Any]:
    """Returns a number between 0 and 1, and no data."""
    return numpy.float64(numpy.random.RandomState(seed).uniform()), ()


def square_of(x: Any, _: Any) -> Any:
    """Returns the square."""
    return x * x


def double(x: Any, _: Any) -> Any:
    """Returns the derivative by hand."""
    return 2.0 * x


hello = Objective(
    name="hello",
    sizes=SIZES,
    generate=generate,
    value=square_of,
    derivative=grad(square_of),
    by_hand=double,
)
