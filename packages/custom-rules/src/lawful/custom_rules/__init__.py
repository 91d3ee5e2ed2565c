"""Functions that carry their own rules, of differentiation, batching and transposition.

>>> from lawful.autodiff import grad
>>> from lawful.custom_rules import custom_jvp
>>> square = custom_jvp(lambda x: x * x)
>>> square.defjvps(lambda x_dot, out, x: 2.0 * x * x_dot)
>>> grad(square)(3.0)
6.0
"""

import typing as _typing

from lawful.custom_rules._call.callee import Callee, as_function
from lawful.custom_rules._call.derivatives import (
    custom_jvp_call_p,
    custom_rule_call_p,
    custom_transpose_call_p,
    custom_vjp_call_p,
)
from lawful.custom_rules._call.primitive import custom_call, custom_vmap_call_p
from lawful.custom_rules._call.rules import CallRules
from lawful.custom_rules._closure_convert import closure_convert
from lawful.custom_rules._custom_gradient import custom_gradient, zero_from_primal
from lawful.custom_rules._custom_vjp import custom_vjp_primal_tree_values
from lawful.custom_rules._linear_call import linear_call, linear_call_p
from lawful.custom_rules._user_rules.derivatives import CustomVJPPrimal, SymbolicZero

if _typing.TYPE_CHECKING:
    from lawful.custom_rules._typed import custom_jvp, custom_rule, custom_vjp, custom_vmap
else:
    from lawful.custom_rules._custom_jvp import custom_jvp
    from lawful.custom_rules._custom_rule import custom_rule
    from lawful.custom_rules._custom_vjp import custom_vjp
    from lawful.custom_rules._custom_vmap import custom_vmap

__all__ = [
    "CallRules",
    "Callee",
    "CustomVJPPrimal",
    "SymbolicZero",
    "as_function",
    "closure_convert",
    "custom_call",
    "custom_gradient",
    "custom_jvp",
    "custom_jvp_call_p",
    "custom_rule",
    "custom_rule_call_p",
    "custom_transpose_call_p",
    "custom_vjp",
    "custom_vjp_call_p",
    "custom_vjp_primal_tree_values",
    "custom_vmap",
    "custom_vmap_call_p",
    "linear_call",
    "linear_call_p",
    "zero_from_primal",
]
