"""Special functions and distributions, with the names and arguments of ``scipy.special``.

They differentiate, batch and compile as all of lawful does, and need no SciPy.

>>> from lawful.autodiff import grad
>>> from lawful.special import gammaln, ndtr
>>> grad(gammaln)(2.0), ndtr(0.0)
(0.42278433509846..., np.float64(0.5))
"""

from lawful.ops import bessel_i0e as i0e
from lawful.ops import bessel_i1e as i1e
from lawful.ops import (
    betainc,
    boxcox,
    boxcox1p,
    dawsn,
    entr,
    erf,
    erfc,
    exp1,
    expi,
    expn,
    log_ndtr,
    loggamma,
    ndtri,
    owens_t,
    polygamma,
    rel_entr,
    spence,
    wofz,
    xlog1py,
    xlogy,
)
from lawful.ops import erf_inv as erfinv
from lawful.ops import erfc_inv as erfcinv
from lawful.ops import igamma as gammainc
from lawful.ops import igammac as gammaincc
from lawful.ops import lgamma as gammaln
from lawful.special import stats
from lawful.special._bessel import bessel_jn
from lawful.special._beta import beta, betaln
from lawful.special._combinatorics import bernoulli, comb, factorial, poch
from lawful.special._exponentials import expit, log_softmax, logit, logsumexp, softmax
from lawful.special._functions import gammasgn, i0, i1, kl_div, multigammaln, ndtr, zeta
from lawful.special._gamma import digamma, gamma
from lawful.special._harmonics import sph_harm_y
from lawful.special._hypergeometric import hyp1f1, hyp2f1
from lawful.special._integrals import erfcx, fresnel, sici

__all__ = [
    "bernoulli",
    "bessel_jn",
    "beta",
    "betainc",
    "betaln",
    "boxcox",
    "boxcox1p",
    "comb",
    "dawsn",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "exp1",
    "expi",
    "expit",
    "expn",
    "factorial",
    "fresnel",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "gammasgn",
    "hyp1f1",
    "hyp2f1",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "kl_div",
    "log_ndtr",
    "log_softmax",
    "loggamma",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "owens_t",
    "poch",
    "polygamma",
    "rel_entr",
    "sici",
    "softmax",
    "spence",
    "sph_harm_y",
    "stats",
    "wofz",
    "xlog1py",
    "xlogy",
    "zeta",
]
