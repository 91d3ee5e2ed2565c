"""The functions of each system, and arguments of each size."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import numpy

Function = Callable[..., Any]

#: The modules of special functions, of linear algebra and of `expm`, by system.
MODULES: Final = {
    "lawful": ("lawful.special", "lawful.numpy.linalg", "lawful.linalg"),
    "jax": ("jax.scipy.special", "jax.numpy.linalg", "jax.scipy.linalg"),
    "scipy": ("scipy.special", "scipy.linalg", "scipy.linalg"),
    "numpy": ("", "numpy.linalg", ""),
    "autograd": ("autograd.scipy.special", "autograd.numpy.linalg", "autograd.scipy.linalg"),
}
SPECIAL: Final = ("gammaln", "digamma", "betainc", "gammainc", "erfinv", "i0e")
MATRICES: Final = ("cholesky", "solve", "qr", "svd", "eigh", "det", "expm")
#: The functions with several results.
OF_SEVERAL: Final = ("qr", "svd", "eigh")
#: The functions of which Autograd has the gradient by the last argument.
OF_AUTOGRAD: Final = ("gammaln", "digamma", "gammainc", "erfinv", "cholesky", "solve", "svd", "eigh", "det")
#: The ends of the intervals of the arguments.
INTERVALS: Final = {
    "gammaln": ((0.1, 20.0),), "digamma": ((0.1, 20.0),), "betainc": ((0.5, 8.0), (0.5, 8.0), (0.05, 0.95)),
    "gammainc": ((0.5, 8.0), (0.1, 12.0)), "erfinv": ((-0.95, 0.95),), "i0e": ((-20.0, 20.0),),
}  # fmt: skip
SEED: Final = 31337


def function(system: str, name: str) -> Function:
    """Returns a function by its name."""
    special, linalg, functions = MODULES[system]
    if name == "svd":
        return _without_rest(linalg)
    module = special if name in SPECIAL else functions if name == "expm" else linalg
    found: Function = getattr(import_module(module), name)
    return found


def _without_rest(linalg: str) -> Function:
    svd = import_module(linalg).svd
    return lambda a: svd(a, full_matrices=False)


def total(name: str, f: Function, add_up: Function) -> Function:
    """Returns the function that adds up the elements of all results."""

    def summed(*args: Any) -> Any:
        out = f(*args)
        return sum([add_up(x) for x in out]) if name in OF_SEVERAL else add_up(out)

    return summed


def numbers(name: str, size: int) -> tuple[numpy.ndarray[Any, Any], ...]:
    """Returns arguments of a special function, of ``size`` elements."""
    draw = numpy.random.default_rng(SEED)
    return tuple([draw.uniform(*ends, size) for ends in INTERVALS[name]])


def matrices(name: str, size: int, count: int | None) -> tuple[numpy.ndarray[Any, Any], ...]:
    """Returns arguments of a function of matrices: one matrix, or ``count`` of them."""
    draw = numpy.random.default_rng(SEED)
    shape = (size, size) if count is None else (count, size, size)
    a = draw.normal(size=shape) / numpy.sqrt(size)
    if name in ("cholesky", "eigh"):
        return (a @ a.mT + numpy.eye(size),)
    if name in ("solve", "det"):
        a = a + 2 * numpy.eye(size)
    return (a, draw.normal(size=(*shape[:-1], 1))) if name == "solve" else (a,)
