"""The logarithm of a sum of exponentials, written out: the maximum, exponentials, a sum, a logarithm. Gradient.

By hand the gradient is softmax. GradBench asks for no ready-made function, so this is not `lawful.special.logsumexp`.

Source: GradBench, eval "lse", whose numbers these are for the first size that it runs.
"""

from __future__ import annotations

from typing import Any

import numpy

import lawful.numpy as np
from lawful.autodiff import grad

from .objective import Objective

SIZES = {"tiny": {"n": 20}, "small": {"n": 2500}, "medium": {"n": 40_000}, "large": {"n": 1_280_000}}


def generate(n: int, seed: int) -> tuple[Any, Any]:
    """Returns n numbers between 0 and 1, and no data."""
    return numpy.random.RandomState(seed).uniform(size=n), ()


def log_sum_exp(x: Any, _: Any) -> Any:
    """Returns ``log(sum(exp(x)))`` without overflow."""
    largest = np.max(x)
    return largest + np.log(np.sum(np.exp(x - largest)))


def softmax(x: Any, _: Any) -> Any:
    """Returns the gradient by hand."""
    weights = numpy.exp(x - numpy.max(x))
    return weights / numpy.sum(weights)


logsumexp = Objective(
    name="logsumexp",
    sizes=SIZES,
    generate=generate,
    value=log_sum_exp,
    derivative=grad(log_sum_exp),
    by_hand=softmax,
)
