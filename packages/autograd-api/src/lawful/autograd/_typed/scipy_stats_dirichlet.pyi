"""The names that `lawful.autograd.scipy.stats.dirichlet` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

cov: Any
entropy: Any
logpdf: Callable[..., Any]
mean: Any
pdf: Callable[..., Any]
random_state: Any
rvs: Any
var: Any
