"""The χ² distribution with ``df`` degrees of freedom: the gamma distribution of shape ``df / 2`` and scale 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful.special.stats import gamma


def _of_gamma(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(gamma, name)

    def of_chi2(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Any:
        return function(x, df / 2, loc, 2 * scale)

    of_chi2.__name__ = of_chi2.__qualname__ = name
    of_chi2.__doc__ = function.__doc__
    return of_chi2


#: The functions by name.
functions = {name: _of_gamma(name) for name in ("logpdf", "pdf", "cdf", "sf")}
