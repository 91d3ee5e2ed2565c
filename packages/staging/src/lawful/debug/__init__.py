"""Looking into programs: ``debug.print`` and ``debug.callback`` while they run, ``debug_nans`` and ``blame_nan``.

>>> from lawful import debug
>>> from lawful.ops import mul
>>> from lawful.staging import jit
>>> def square(x):
...     debug.print("x is {}", x)
...     return mul(x, x)
>>> float(jit(square)(3.0))
x is 3.0
9.0
"""

from lawful.debug._callback import callback, debug_callback_p
from lawful.debug._print import print
from lawful.staging import (
    Blame,
    CacheMiss,
    blame_nan,
    debug_nans,
    explain_cache_misses,
    set_debug_nans,
    set_explain_cache_misses,
)

__all__ = [
    "Blame",
    "CacheMiss",
    "blame_nan",
    "callback",
    "debug_callback_p",
    "debug_nans",
    "explain_cache_misses",
    "print",
    "set_debug_nans",
    "set_explain_cache_misses",
]
