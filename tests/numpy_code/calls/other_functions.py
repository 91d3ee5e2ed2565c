"""A call of every function of `lawful.special`, its distributions and `lawful.random`, for the walk of dtypes.

And of what is only in `lawful.numpy`.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

import lawful.numpy as lnp
from lawful import random, special
from lawful.core import as_dtype
from lawful.special import stats

from .ops import Call, call

OF_LAWFUL_NUMPY: dict[str, list[Call]] = {
    "c_": [call(lambda x, y: lnp.c_[x, y], np.array([0.25, 0.5]), np.array([1.5, 2.0]))],
    "r_": [call(lambda x, y: lnp.r_[x, y, 1], np.array([0.25, 0.5]), np.array([1.5]))],
}

X, Y, Z = np.array([0.25, 0.5, 0.75]), np.array([0.3, 1.0, 1.6]), np.array([0.1, 0.4, 0.9])
ONE = np.asarray(0.75)

_OF_ONE = ("digamma", "entr", "erf", "erfc", "erfinv", "expit", "gamma", "gammaln", "gammasgn", "i0", "i0e", "i1")
_OF_ONE_MORE = (
    "dawsn",
    "erfcinv",
    "erfcx",
    "exp1",
    "expi",
    "factorial",
    "fresnel",
    "loggamma",
    "sici",
    "spence",
    "wofz",
)
_OF_TWO = (
    "beta",
    "betaln",
    "boxcox",
    "boxcox1p",
    "comb",
    "gammainc",
    "gammaincc",
    "kl_div",
    "poch",
    "rel_entr",
    "xlog1py",
    "xlogy",
    "zeta",
)
_OF_TWO_MORE = ("boxcox", "boxcox1p", "comb", "owens_t", "poch")

SPECIAL: dict[str, list[Call]] = {
    **{name: [call(getattr(special, name), X)] for name in (*_OF_ONE, "i1e", "log_ndtr", "logit", "ndtr", "ndtri")},
    **{name: [call(getattr(special, name), X)] for name in _OF_ONE_MORE},
    **{name: [call(getattr(special, name), X + 1, Y)] for name in (*_OF_TWO, *_OF_TWO_MORE)},
    **{
        name: [
            call(getattr(special, name), X),
            call(lambda x, name=name: getattr(special, name)(x, axis=1), np.array([X, Y])),
        ]
        for name in ("log_softmax", "logsumexp", "softmax")
    },
    "bernoulli": [call(lambda x: x * special.bernoulli(2), X)],
    "bessel_jn": [call(lambda x: special.bessel_jn(x, v=2), X)],
    "betainc": [call(special.betainc, X, Y, Z)],
    "expn": [call(lambda x: special.expn(2, x), Y), call(special.expn, np.array([0, 1, 2]), Y)],
    "hyp1f1": [call(special.hyp1f1, X, Y + 1, Z)],
    "hyp2f1": [call(special.hyp2f1, X, Y, X + 1, Z)],
    "sph_harm_y": [call(lambda x, y: special.sph_harm_y(2, 1, x, y), X, Y)],
    "multigammaln": [call(lambda x: special.multigammaln(x, 2), Y + 2)],
    "polygamma": [call(lambda x: special.polygamma(2, x), Y), call(special.polygamma, np.array([0, 1, 2]), Y + 1)],
}
SPECIAL["logsumexp"] += [
    call(lambda x, b: special.logsumexp(x, b=b), X, Y),
    call(lambda x, b: special.logsumexp(x, b=b, return_sign=True), X, Y - 1),
    call(lambda x, m: special.logsumexp(x, where=m), X, np.array([True, False, True])),
]


def _distribution(module: ModuleType, *params: Any) -> dict[str, list[Call]]:
    """Returns the calls of the functions of a distribution, with its parameters, a location and a scale."""
    found = {}
    for name in _FUNCTIONS:
        function = getattr(module, name, None)
        if function is not None:
            where = Z if name in ("ppf", "isf") else Y
            names = f"{module.__name__.rpartition('.')[2]}.{name}"
            located = (ONE,) if "loc" in function.__code__.co_varnames else ()
            scaled = (ONE,) if "scale" in function.__code__.co_varnames else ()
            found[names] = [call(function, where, *params, *located, *scaled), call(function, where, *params)]
    return found


_FUNCTIONS = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
_COVARIANCE = np.array([[2.0, 0.5, 0.25], [0.5, 1.0, 0.25], [0.25, 0.25, 3.0]])

STATS: dict[str, list[Call]] = {
    **_distribution(stats.norm),
    **_distribution(stats.uniform),
    **_distribution(stats.expon),
    **_distribution(stats.gamma, X + 1),
    **_distribution(stats.beta, X + 1, Y + 1),
    **_distribution(stats.t, X + 2),
    **_distribution(stats.bernoulli, X),
    **_distribution(stats.poisson, X + 1),
    "poisson.entropy": [call(stats.poisson.entropy, X), call(stats.poisson.entropy, X, ONE)],
    **_distribution(stats.cauchy),
    **_distribution(stats.chi2, X + 1),
    **_distribution(stats.gennorm, X + 1),
    **_distribution(stats.gumbel_l),
    **_distribution(stats.gumbel_r),
    **_distribution(stats.laplace),
    **_distribution(stats.logistic),
    **_distribution(stats.pareto, X + 1),
    **_distribution(stats.truncnorm, X - 1, X + 1),
    **_distribution(stats.vonmises, X + 1),
    **_distribution(stats.wrapcauchy, X),
    **_distribution(stats.binom, X + 5, X),
    **_distribution(stats.betabinom, X + 5, X + 1, Y + 1),
    **_distribution(stats.geom, X),
    **_distribution(stats.nbinom, X + 1, X),
    **_distribution(stats.dirichlet, Y + 1),
    **_distribution(stats.multinomial, np.asarray(2.0), X),
    **{
        f"multivariate_normal.{name}": [call(getattr(stats.multivariate_normal, name), X, Y, _COVARIANCE)]
        for name in ("pdf", "logpdf")
    },
}

KEY = random.key(3)
DRAWN = ("bool", "int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float8_e5m2", "float32")
DRAWN = (*DRAWN, "float64", "complex64", "complex128")


def _of_dtype(name: str, *args: Any) -> list[Call]:
    """Returns the calls of a distribution in each of some dtypes."""
    draw = getattr(random, name)
    return [call(partial(draw, KEY, *args, dtype=as_dtype(dtype)), free=()) for dtype in DRAWN]


def _of_parameters(name: str, *params: Any, **options: Any) -> list[Call]:
    """Returns the call of a distribution with parameters of each dtype."""
    return [call(lambda *params: getattr(random, name)(KEY, *params, **options), *params)]


_OF_ONE_PARAMETER = ("chisquare", "lognormal", "pareto", "rayleigh", "t", "wald")

RANDOM: dict[str, list[Call]] = {
    **{name: _of_dtype(name, (3,)) for name in ("uniform", "normal", "exponential", "gumbel", "bits")},
    "randint": [
        *_of_dtype("randint", (3,), 0, 5),
        call(lambda low, high: random.randint(KEY, (3,), low, high), np.asarray(1), np.asarray(9)),
        call(lambda low, high: random.randint(KEY, (3,), low, high, "uint8"), np.array([0, 1, 1]), np.asarray(9)),
    ],
    "gamma": [*_of_dtype("gamma", 2.0, (3,)), *_of_parameters("gamma", Y)],
    "loggamma": [*_of_dtype("loggamma", 2.0, (3,)), *_of_parameters("loggamma", Y)],
    "truncated_normal": [
        *_of_dtype("truncated_normal", -1.0, 1.0, (3,)),
        *_of_parameters("truncated_normal", Y - 1, Y + 1),
    ],
    "permutation": [
        *_of_parameters("permutation", np.arange(4)),
        *_of_parameters("permutation", np.arange(6.0).reshape(2, 3), axis=1, independent=True),
    ],
    "choice": [
        *_of_parameters("choice", np.arange(4), shape=(3,)),
        *_of_parameters("choice", np.arange(4.0), shape=(3,), replace=False),
        call(lambda a, p: random.choice(KEY, a, (3,), p=p), np.arange(3), X, free=(1,)),
        call(lambda a, p: random.choice(KEY, a, (2,), False, p), np.arange(3), X, free=(1,)),
    ],
    "bernoulli": [*_of_parameters("bernoulli", X), *_of_parameters("bernoulli", ONE, shape=(3,))],
    "categorical": [
        *_of_parameters("categorical", np.array([Y, Z])),
        *_of_parameters("categorical", np.array([Y, Z]), axis=0, shape=(2, 3)),
        *_of_parameters("categorical", Y, shape=(2,), replace=False),
    ],
    "key": [call(random.key, np.asarray(5)), call(lambda seed: random.key(seed), np.asarray(-1))],
    "fold_in": [call(lambda n: random.fold_in(KEY, n), np.asarray(5))],
    "split": [call(lambda n: random.split(random.fold_in(KEY, n), 3), np.asarray(5))],
}
RANDOM |= {
    **{name: _of_dtype(name, (3,)) for name in ("cauchy", "laplace", "maxwell", "rademacher")},
    **{name: [*_of_dtype(name, 2.0, (3,)), *_of_parameters(name, Y + 1)] for name in _OF_ONE_PARAMETER},
    "f": [*_of_dtype("f", 0.5, 2.0, (3,)), *_of_parameters("f", X + 1, Y + 1)],
    "geometric": [*_of_dtype("geometric", 0.5, (3,)), *_of_parameters("geometric", X)],
    "generalized_normal": _of_dtype("generalized_normal", 2.0, (3,)),
    "double_sided_maxwell": _of_dtype("double_sided_maxwell", 0.5, 2.0, (3,)),
    "weibull_min": _of_dtype("weibull_min", 0.5, 2.0, (3,)),
    "triangular": [*_of_dtype("triangular", -1.0, 0.5, 2.0, (3,)), *_of_parameters("triangular", X - 2, X, X + 2)],
    "ball": _of_dtype("ball", 3, 2, (2,)),
    "binomial": [*_of_dtype("binomial", 20, 0.5, (3,)), *_of_parameters("binomial", Y + 5, X)],
    "multinomial": [*_of_dtype("multinomial", 20, X), *_of_parameters("multinomial", np.asarray(9), X)],
    "poisson": [*_of_dtype("poisson", 2.0, (3,)), *_of_parameters("poisson", 20 * X)],
    "orthogonal": _of_dtype("orthogonal", 3),
    "dirichlet": [*_of_dtype("dirichlet", Y + 1), *_of_parameters("dirichlet", Y + 1)],
    "multivariate_normal": [
        *_of_dtype("multivariate_normal", Y, _COVARIANCE),
        *_of_parameters("multivariate_normal", Y, _COVARIANCE),
    ],
}
RANDOM["uniform"] += [
    call(lambda low, high: random.uniform(KEY, (3,), minval=low, maxval=high), np.asarray(0.5), np.asarray(1.5)),
    call(lambda low, high: random.uniform(KEY, (3,), "float16", low, high), np.asarray(0.5), Y + 1),
]
