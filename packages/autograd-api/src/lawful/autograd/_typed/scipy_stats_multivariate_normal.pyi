"""The names that `lawful.autograd.scipy.stats.multivariate_normal` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

cdf: Any
entropy: Callable[..., Any]
fit: Any
logcdf: Any
logpdf: Callable[..., Any]
marginal: Any
pdf: Callable[..., Any]
random_state: Any
rvs: Any
