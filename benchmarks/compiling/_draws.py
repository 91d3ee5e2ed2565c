"""Programs of random draws: each draw has its own key, split from the previous one."""

from __future__ import annotations

import math
from ast import literal_eval
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks._systems import System

NUMBERS = (1, 2, 5, 10, 20, 50)
SHAPES: tuple[tuple[int, ...], ...] = ((), (8,), (100,), (3, 5), (100_000,))
#: The call of each distribution of `lawful.random`.
DRAWS: dict[str, Callable[[Any, Any, tuple[int, ...]], Any]] = {
    **{
        name: lambda f, key, shape: f(key, shape)
        for name in (
            "uniform", "normal", "exponential", "gumbel", "bits",
            "cauchy", "laplace", "logistic", "maxwell", "rademacher",
        )
    },
    **{
        name: lambda f, key, shape: f(key, 2.0, shape)
        for name in (
            "gamma", "loggamma", "chisquare", "generalized_normal",
            "lognormal", "pareto", "poisson", "rayleigh", "t", "wald",
        )
    },
    **{name: lambda f, key, shape: f(key, 0.5, shape) for name in ("bernoulli", "geometric")},
    **{
        name: lambda f, key, shape: f(key, 2.0, 3.0, shape)
        for name in ("beta", "f", "double_sided_maxwell", "weibull_min")
    },
    **{name: lambda f, key, shape: f(key, 3, shape=shape) for name in ("ball", "orthogonal")},
    "binomial": lambda f, key, shape: f(key, 10.0, 0.3, shape),
    "dirichlet": lambda f, key, shape: f(key, np.ones(3), shape),
    "multinomial": lambda f, key, shape: f(key, 10.0, np.ones(4) / 4, shape=(*shape, 4)),
    "multivariate_normal": lambda f, key, shape: f(key, np.zeros(3), np.eye(3), shape),
    "triangular": lambda f, key, shape: f(key, 0.0, 1.0, 2.0, shape),
    "randint": lambda f, key, shape: f(key, shape, 0, 10),
    "truncated_normal": lambda f, key, shape: f(key, -1.0, 1.0, shape),
    "choice": lambda f, key, shape: f(key, 7, shape),
    "categorical": lambda f, key, shape: f(key, np.linspace(0.0, 1.0, 7), shape=shape),
    "permutation": lambda f, key, shape: f(key, math.prod(shape) + 1),
}  # fmt: skip
MODULES = {"lawful": "lawful.random", "jax": "jax.random"}


def form_of(number: int, shape: tuple[int, ...]) -> str:
    """Returns the text of a number of draws of a shape."""
    return f"{number} of {shape}"


def draws(words: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yields module, name and form of each program; with words, of distributions with one of them in their name."""
    for name in DRAWS:
        if not words or any(word in name for word in words):
            yield from (("random", name, form_of(number, shape)) for shape in SHAPES for number in NUMBERS)


def program_of(system: System, name: str, form: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Returns a program and its argument, a key."""
    function, draw = getattr(import_module(MODULES[system.name]), name), DRAWS[name]
    number, _, text = form.partition(" of ")
    shape = literal_eval(text)

    def chain(key: Any) -> Any:
        total: Any = 0
        for _ in range(int(number)):
            key, own = system.split(key)
            total = total + draw(function, own, shape)
        return total

    return chain, (system.key(0),)
