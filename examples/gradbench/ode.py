"""An ordinary differential equation, by the classical Runge-Kutta method. Gradient of the sum of the components.

y₀' = x₀, y_i' = x_i y_(i-1), from y(0) = 0 to y(2) in s equal steps. Exactly, y_i(t) = x₀ ⋯ x_i t^(i+1) / (i + 1)!.
GradBench takes the gradient of the last component. A step reaches four components further, so in the sizes of
GradBench the last component is 0, and so is its gradient; the sum costs as much and can be checked.

Source: Bell's cmpad, "an_ode"; GradBench, eval "ode", whose numbers these are for the first size that it runs.
"""

from __future__ import annotations

from typing import Any

import numpy

import lawful.numpy as np
from lawful.autodiff import grad
from lawful.control_flow import scan

from .objective import Objective

SIZES = {
    "tiny": {"n": 4, "s": 5},
    "small": {"n": 1000, "s": 10},
    "medium": {"n": 10_000, "s": 10},
    "large": {"n": 100_000, "s": 100},
}
END = 2.0


def generate(n: int, s: int, seed: int) -> tuple[Any, Any]:
    """Returns n coefficients, and the lengths of the s steps."""
    return numpy.random.RandomState(seed).uniform(size=n), numpy.full(s, END / s)


def components(x: Any, steps: Any) -> Any:
    """Returns the n components at the end."""

    def slope(y: Any) -> Any:
        return np.concatenate([x[:1], x[1:] * y[:-1]])

    def step(y: Any, h: Any) -> tuple[Any, None]:
        a = slope(y)
        b = slope(y + 0.5 * h * a)
        c = slope(y + 0.5 * h * b)
        d = slope(y + h * c)
        return y + h * (a + 2.0 * b + 2.0 * c + d) / 6.0, None

    return scan(step, np.zeros_like(x), steps)[0]


def sum_of_components(x: Any, steps: Any) -> Any:
    """Returns the objective."""
    return np.sum(components(x, steps))


ode = Objective(name="ode", sizes=SIZES, generate=generate, value=sum_of_components, derivative=grad(sum_of_components))
