"""The names that `lawful.autograd.scipy.stats.beta` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

a: Any
b: Any
badvalue: Any
cdf: Callable[..., Any]
entropy: Any
expect: Any
fit: Any
fit_loc_scale: Any
freeze: Any
generic_moment: Any
interval: Any
isf: Any
logcdf: Callable[..., Any]
logpdf: Callable[..., Any]
logsf: Callable[..., Any]
mean: Any
median: Any
moment: Any
moment_type: Any
name: Any
nnlf: Any
numargs: Any
pdf: Callable[..., Any]
ppf: Any
random_state: Any
rvs: Any
sf: Callable[..., Any]
shapes: Any
stats: Any
std: Any
support: Any
var: Any
vecentropy: Any
xtol: Any
