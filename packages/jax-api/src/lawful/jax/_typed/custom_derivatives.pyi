"""The names that `lawful.jax.custom_derivatives` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.core._types.aval import Zero as _SymbolicZero
from lawful.custom_rules._custom_jvp import custom_jvp as custom_jvp
from lawful.custom_rules._custom_vjp import custom_vjp as custom_vjp
from lawful.custom_rules._user_rules.derivatives import CustomVJPPrimal as CustomVJPPrimal

SymbolicZero = _SymbolicZero
closure_convert: Callable[..., Any]
custom_gradient: Callable[..., Any]
custom_jvp_call_p: Any
custom_vjp_call_p: Any
custom_vjp_primal_tree_values: Callable[..., Any]
linear_call: Callable[..., Any]
zero_from_primal: Callable[..., Any]
