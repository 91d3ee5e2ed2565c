"""The names that `lawful.jax.experimental.checkify` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.checkify._error import Error as Error
from lawful.checkify._error import ErrorCategory as ErrorCategory
from lawful.checkify._primitive import CheckError as _JaxRuntimeError

JaxRuntimeError = _JaxRuntimeError
all_checks: Any
automatic_checks: Any
check_error: Callable[..., Any]
checkify: Callable[..., Any]
div_checks: Any
float_checks: Any
index_checks: Any
init_error: Any
nan_checks: Any
user_checks: Any
