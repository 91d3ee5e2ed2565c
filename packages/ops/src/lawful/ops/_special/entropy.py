"""Products with a logarithm, which are 0 where the factor is 0, and the entropies made of them.

>>> xlogy(np.array([0.0, 2.0]), np.array([0.0, 1.0]))
array([0., 0.])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.core import Interval
from lawful.ops._elementwise.arithmetic.arithmetic import add, div, mul, neg, sub
from lawful.ops._elementwise.comparison import bitwise_and, bitwise_or, eq, le
from lawful.ops._elementwise.declaration import Elementwise
from lawful.ops._elementwise.declaration import pure_elementwise as elementwise
from lawful.ops._elementwise.select import where
from lawful.ops._elementwise.transcendental.exponential import log, log1p
from lawful.ops._support.double import REAL_PROMOTION, Evaluated, lowered
from lawful.ops._support.dtypes import least_normal

__all__ = ["entr", "entr_p", "rel_entr", "rel_entr_p", "xlog1py", "xlog1py_p", "xlogy", "xlogy_p"]

_POSITIVE = Interval(0.3, 2.0)


def _declare(
    name: str,
    doc: str,
    algorithm: Callable[..., Any],
    derivatives: Sequence[Callable[..., Any]],
    domain: Sequence[Interval],
) -> Elementwise:
    return elementwise(
        name,
        doc,
        Evaluated(name, algorithm),
        lowered(algorithm),
        arity=len(domain),
        promote_as=REAL_PROMOTION[len(domain)],
        derivatives=derivatives,
        domain=domain,
    )


def _numpy_xlogy(x: Any, y: Any) -> Any:
    return np.where((x == 0) & (y == y), 0, x * np.log(y))


def _numpy_xlog1py(x: Any, y: Any) -> Any:
    return np.where((x == 0) & (y == y), 0, x * np.log1p(y))


def _numpy_entr(x: Any) -> Any:
    return np.where(x > 0, -x * np.log(x), np.where(x == 0, 0, np.where(x < 0, -np.inf, x)))


def _numpy_rel_entr(x: Any, y: Any) -> Any:
    both = (x > 0) & (y > 0)
    ratio = np.where(both, x / y, 1)
    # The ratio of the fourth roots neither overflows nor underflows.
    is_normal = (ratio > least_normal(x.dtype)) & (ratio < np.inf)
    roots = np.sqrt(np.sqrt(x)) / np.sqrt(np.sqrt(y))
    log = np.log(np.where(is_normal, ratio, roots)) * np.where(is_normal, 1, 4)
    out = np.where(both, x * log, np.where((x == 0) & (y >= 0), 0, np.inf))
    return np.where((x == x) & (y == y), out, np.nan)


def _quotient(x: Any, y: Any) -> Any:
    """Returns ``x / y``, and 0 for 0 / 0: the function is 0 for all ``y`` where ``x`` is 0."""
    return div(x, where(bitwise_and(eq(x, 0), eq(y, 0)), 1, y))


xlogy: Elementwise = _declare(
    "xlogy",
    """Returns ``x log(y)``, which is 0 where ``x`` is 0, whatever ``y`` is unless NaN.

    >>> xlogy(np.array([0.0, 2.0]), np.array([0.0, 3.0]))
    array([0.        , 2.19722458])

    Source: ``scipy.special.xlogy``, ``jax.scipy.special.xlogy``.
    """,
    _numpy_xlogy,
    (lambda t, ans, x, y: mul(t, log(y)), lambda t, ans, x, y: mul(t, _quotient(x, y))),
    (Interval(), _POSITIVE),
)
xlog1py: Elementwise = _declare(
    "xlog1py",
    """Returns ``x log(1 + y)``, which is 0 where ``x`` is 0, whatever ``y`` is unless NaN.

    >>> xlog1py(np.array([0.0, 2.0]), np.array([-1.0, 1e-20]))
    array([0.e+00, 2.e-20])

    Source: ``scipy.special.xlog1py``, ``jax.scipy.special.xlog1py``.
    """,
    _numpy_xlog1py,
    (lambda t, ans, x, y: mul(t, log1p(y)), lambda t, ans, x, y: mul(t, _quotient(x, add(y, 1)))),
    (Interval(), Interval(-0.8, 2.0)),
)
entr: Elementwise = _declare(
    "entr",
    """Returns ``-x log(x)``, which is 0 at 0 and -∞ below.

    >>> entr(np.array([-1.0, 0.0, 0.5, 1.0]))
    array([      -inf,  0.        ,  0.34657359, -0.        ])

    Source: ``scipy.special.entr``, ``jax.scipy.special.entr``.
    """,
    _numpy_entr,
    (lambda t, ans, x: neg(mul(t, add(log(x), 1))),),
    (_POSITIVE,),
)


def _of_positive(x: Any, y: Any, slope: Callable[[Any, Any], Any]) -> Any:
    """Returns a derivative of the relative entropy, 0 at the ends of its domain and outside, as in JAX."""
    outside = bitwise_or(le(x, 0), le(y, 0))
    return where(outside, 0, slope(where(outside, 1, x), where(outside, 1, y)))


rel_entr: Elementwise = _declare(
    "rel_entr",
    """Returns ``x log(x / y)`` of positive numbers; 0 where ``x`` is 0 and ``y`` is not negative, else ∞.

    >>> rel_entr(np.array([0.0, 1.0, 1.0]), np.array([0.0, 2.0, 0.0]))
    array([ 0.        , -0.69314718,         inf])

    Source: ``scipy.special.rel_entr``, ``jax.scipy.special.rel_entr``.
    """,
    _numpy_rel_entr,
    (
        lambda t, ans, x, y: mul(t, _of_positive(x, y, lambda x, y: add(sub(log(x), log(y)), 1))),
        lambda t, ans, x, y: neg(mul(t, _of_positive(x, y, div))),
    ),
    (_POSITIVE, _POSITIVE),
)
xlogy_p, xlog1py_p, entr_p, rel_entr_p = xlogy.primitive, xlog1py.primitive, entr.primitive, rel_entr.primitive
