"""The names that `lawful.autograd.scipy.stats.poisson` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

a: Any
b: Any
badvalue: Any
cdf: Callable[..., Any]
entropy: Callable[..., Any]
expect: Any
freeze: Any
generic_moment: Any
inc: Any
interval: Any
isf: Any
logcdf: Any
logpmf: Callable[..., Any]
logsf: Any
mean: Any
median: Any
moment: Any
moment_tol: Any
name: Any
nnlf: Any
numargs: Any
pmf: Callable[..., Any]
ppf: Any
random_state: Any
rvs: Any
sf: Any
shapes: Any
stats: Any
std: Any
support: Any
var: Any
vecentropy: Any
