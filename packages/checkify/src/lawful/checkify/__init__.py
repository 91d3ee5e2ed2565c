"""Checks of a program, which fail as a value that it returns instead of an exception.

>>> import numpy as np
>>> from lawful.checkify import check, checkify
>>> def inverse(x):
...     check(x != 0.0, "expected a number other than 0, got {}", x)
...     return 1.0 / (x + (x == 0.0))
>>> error, y = checkify(inverse)(np.float64(0.0))
>>> error.get()
'expected a number other than 0, got 0.0 (`check` failed)'
"""

from lawful.checkify import _rules
from lawful.checkify._checkify import checkify
from lawful.checkify._error import (
    Error,
    ErrorCategory,
    all_checks,
    automatic_checks,
    check_error,
    div_checks,
    float_checks,
    index_checks,
    init_error,
    nan_checks,
    user_checks,
)
from lawful.checkify._primitive import CheckError, check, check_p, debug_check

__all__ = [
    "CheckError",
    "Error",
    "ErrorCategory",
    "all_checks",
    "automatic_checks",
    "check",
    "check_error",
    "check_p",
    "checkify",
    "debug_check",
    "div_checks",
    "float_checks",
    "index_checks",
    "init_error",
    "nan_checks",
    "user_checks",
]

# Its import defines the rules of the primitives.
del _rules
