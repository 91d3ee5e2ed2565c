"""The names that `lawful.jax.stages` looks up. Written by `python -m tools.typed_names`."""

from lawful.staging._jit.ahead_of_time import Compiled as Compiled
from lawful.staging._jit.ahead_of_time import Lowered as Lowered
from lawful.staging._jit.ahead_of_time import Traced as Traced
from lawful.staging._jit.jit import JitFunction as _Wrapped

Wrapped = _Wrapped
