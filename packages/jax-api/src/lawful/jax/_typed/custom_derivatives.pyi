"""The names that `lawful.jax.custom_derivatives` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.core._types.aval import Zero as _SymbolicZero
from lawful.custom_rules._user_rules.derivatives import CustomVJPPrimal as CustomVJPPrimal
from lawful.jax._support.custom_rules import custom_jvp as custom_jvp
from lawful.jax._support.custom_rules import custom_vjp as custom_vjp

SymbolicZero = _SymbolicZero
closure_convert: Callable[..., Any]
custom_gradient: Callable[..., Any]
custom_jvp_call_p: Any
custom_vjp_call_p: Any
custom_vjp_primal_tree_values: Callable[..., Any]
linear_call: Callable[..., Any]
zero_from_primal: Callable[..., Any]
