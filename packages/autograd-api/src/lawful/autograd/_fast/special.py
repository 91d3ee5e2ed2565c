"""Special functions in reverse mode: SciPy's value, and a derivative made of SciPy's functions; and the determinant.

One call of compiled code takes the place of an algorithm of many NumPy operations. A value under ``grad`` is then that
of SciPy, as it is without. Elsewhere, as in forward mode, under `vmap` or without SciPy, the functions are lawful's.
Solutions of systems with a known matrix are NumPy's, as they are without.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.autodiff._fast import FastLinearizeTracer
from lawful.autograd._fast.call import call
from lawful.autograd._primitive.rules import Rules
from lawful.core import Tracer, current, register_dispatch_module

register_dispatch_module(__name__)

Function = Callable[..., Any]

_FLOAT64: Final = numpy.dtype(numpy.float64)
_VALUES: Final = (numpy.ndarray, float, numpy.float64)
_SLOPE: Final = 2.0 / math.sqrt(math.pi)


def evaluate(name: str, theirs: Function, ours: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Applies a function to tracers; see `library_hook`."""
    if name == "solve":
        return _solved(ours, args, kwargs)
    rules = _rules.get(name)
    if (rules is not None or name == "det") and len(args) == _ARITIES.get(name, 1) and not kwargs:
        *parameters, x = args
        if parameters and not all([_fits(a, x) for a in parameters]):
            return ours(*args, **kwargs)
        if type(x) is FastLinearizeTracer and x._trace is current.trace and x.aval.dtype is _FLOAT64:
            value = x.primal
            while type(value) is FastLinearizeTracer and name not in _CANCELLING:
                value = value.primal
            if rules is None:
                rules = _rules_of_det(value)
            if rules is not None and type(value) in _VALUES:
                return call(theirs, rules, args, kwargs)
    return ours(*args, **kwargs)


def _of(name: str, x: Any) -> Any:
    """Returns a function of the namespace, which defines the rules here, of a value or tracer."""
    return getattr(import_module("lawful.autograd.scipy.special"), name)(x)


def _is_positive(x: Any) -> bool:
    return bool(x > 0.0 if type(x) is not numpy.ndarray else x.size and x.min() > 0.0)


def _digamma(x: Any) -> Any:
    # SciPy takes 1,000 times as long for negative numbers.
    return _of("psi", x) if isinstance(x, Tracer) or _is_positive(x) else ops.digamma(x)


def _trigamma(x: Any) -> Any:
    if isinstance(x, Tracer) or not _is_positive(x):
        return ops.polygamma(1, x)
    return sys.modules["scipy.special"].zeta(2.0, x)


def _fits(a: Any, x: Any) -> bool:
    """Whether a parameter is a number, or an array of the same type as a tracer."""
    if type(a) is numpy.ndarray:
        return a.dtype is _FLOAT64 and a.shape == getattr(x, "shape", None)
    return type(a) in (float, int, numpy.float64)


def _are_within(low: float, x: Any, high: float) -> bool:
    if type(x) is not numpy.ndarray:
        return bool(low <= x <= high)
    return bool(x.size and x.min() >= low and x.max() <= high)


# Where parameters and arguments are neither large nor at an end, a density is a product of powers that cancel nothing.
# Elsewhere, and of tracers, it is lawful's.
_LARGEST, _LEAST = 30.0, 1e-30


def _gamma_density(a: Any, x: Any) -> Any:
    if type(x) in _VALUES and _are_within(_LEAST, a, _LARGEST) and _are_within(_LEAST, x, 600.0):
        return x ** (a - 1.0) * numpy.exp(-x) * sys.modules["scipy.special"].rgamma(a)
    return ops.gamma_density_p.bind(_as_float(a), x, orders=(0, 0))


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    is_inside = type(x) in _VALUES and _are_within(1e-9, x, 1.0 - 1e-9)
    if is_inside and _are_within(_LEAST, a, _LARGEST) and _are_within(_LEAST, b, _LARGEST):
        return x ** (a - 1.0) * (1.0 - x) ** (b - 1.0) / sys.modules["scipy.special"].beta(a, b)
    return ops.beta_density_p.bind(_as_float(a), _as_float(b), x, orders=(0, 0, 0))


def _as_float(a: Any) -> Any:
    return float(a) if type(a) is int else a


def _exp(x: Any) -> Any:
    return numpy.exp(x) if type(x) in _VALUES else np.exp(x)


#: The derivatives by the last argument, given the result and the arguments.
_DERIVATIVES: Final[dict[str, Function]] = {
    "gammaln": lambda ans, x: _digamma(x),
    "gamma": lambda ans, x: ans * _digamma(x),
    "psi": lambda ans, x: _trigamma(x),
    "digamma": lambda ans, x: _trigamma(x),
    "erf": lambda ans, x: _SLOPE * _exp(-(x * x)),
    "erfc": lambda ans, x: -_SLOPE * _exp(-(x * x)),
    "erfinv": lambda ans, x: _exp(ans * ans) / _SLOPE,
    "expit": lambda ans, x: ans * _of("expit", -x),
    "logit": lambda ans, x: numpy.divide(1.0, x * (1.0 - x)),  # Python's division by zero is an error
    "i0": lambda ans, x: _of("i1", x),
    "gammainc": lambda ans, a, x: _gamma_density(a, x),
    "gammaincc": lambda ans, a, x: -_gamma_density(a, x),
    "betainc": lambda ans, a, b, x: _beta_density(a, b, x),
}
#: The numbers of arguments of functions of more than one.
_ARITIES: Final = {"gammainc": 2, "gammaincc": 2, "betainc": 3}
#: Functions for whose second derivative lawful's does not cancel or overflow, and that of the formula above does.
_CANCELLING: Final = frozenset({"expit", "logit"})


def _by(derivative: Function) -> Function:
    return lambda ans, *args: lambda g: g * derivative(ans, *args)


def _rules_by(name: str, derivative: Function) -> Rules:
    rules = Rules(name)

    def pullback(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Function:
        return lambda g: [g * derivative(ans, *args)]

    rules.define(pullback, {_ARITIES.get(name, 1) - 1: _by(derivative)})
    return rules


_rules: Final = {name: _rules_by(name, derivative) for name, derivative in _DERIVATIVES.items()}


def _rules_of_det(value: Any) -> Rules | None:
    """Returns the rules of the determinant of a matrix by its inverse, computed once; None if that is not precise."""
    if type(value) is not numpy.ndarray or value.ndim != 2 or value.shape[0] != value.shape[1] or len(value) < 2:
        return None
    # Imported with the namespace that the function is from.
    from lawful.numpy.linalg._determinants import well_conditioned_inverse

    inverse = well_conditioned_inverse(value)
    if inverse is None:
        return None

    def derivative(ans: Any, x: Any) -> Any:
        return ans * (np.linalg.inv(x) if isinstance(x, Tracer) else inverse).T

    return _rules_by("det", derivative)


def _solved(ours: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns the solution of a system of a known matrix and a traced right side, with a rule that solves another."""
    if len(args) == 2 and not kwargs:
        a, b = args
        if (
            type(a) is numpy.ndarray
            and type(b) is FastLinearizeTracer
            and b._trace is current.trace
            and a.dtype is b.aval.dtype is _FLOAT64
            and b.aval.shape[:1] == a.shape[1:] == a.shape[:1]
            and len(b.aval.shape) < 3
        ):
            value = b.primal
            while type(value) is FastLinearizeTracer:
                value = value.primal
            if type(value) is numpy.ndarray and _is_finite(a):
                return call(_solve, _rules_of_solve, (a.copy(), b), kwargs)  # the user may write into it
    return ours(*args, **kwargs)


def _solve(a: Any, b: Any) -> Any:
    if isinstance(b, Tracer):
        return np.linalg.solve(a, b)
    out = numpy.linalg.solve(a, b)
    return out if _is_finite(out) else ops.solve(a, b)


def _is_finite(x: Any) -> bool:
    return bool(numpy.logical_and.reduce(numpy.isfinite(x), None))


def _pull_back_solution(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Function:
    return lambda g: [_solve(args[0].T, g)]


_rules_of_solve: Final = Rules("solve")
_rules_of_solve.define(_pull_back_solution, {1: lambda ans, a, b: lambda g: _solve(a.T, g)})
