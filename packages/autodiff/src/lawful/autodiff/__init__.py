"""Derivatives: forward mode, linearization, transposition, reverse mode, and what is made of them.

>>> from lawful.autodiff import grad
>>> grad(lambda x: x**2)(3.0)
6.0
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from lawful.autodiff._grad import grad, value_and_grad
from lawful.autodiff._jvp import jvp, jvp_flat, jvp_jaxpr
from lawful.autodiff._linearize import LinearFunction, linearize, linearize_jaxpr, recorded_zeros
from lawful.autodiff._stop_gradient import stop_gradient, stop_gradient_p
from lawful.autodiff._transpose import backward_pass, linear_transpose, transpose_jaxpr
from lawful.autodiff._vjp import VJPFunction, vjp
from lawful.core import on_demand as _on_demand

# isort: split
from lawful.autodiff import _fast as _fast  # installs the accelerators

if _TYPE_CHECKING:
    from lawful.autodiff import checkpoint_policies
    from lawful.autodiff._checkpoint import checkpoint, remat
    from lawful.autodiff._checkpoint_name import checkpoint_name, name_p
    from lawful.autodiff._checkpoint_primitive import checkpoint_p
    from lawful.autodiff._closure_convert import closure_convert
    from lawful.autodiff._custom_derivatives import (
        custom_jvp_call_p,
        custom_rule_call_p,
        custom_transpose_call_p,
        custom_vjp_call_p,
    )
    from lawful.autodiff._custom_jvp import custom_jvp
    from lawful.autodiff._custom_rule import custom_rule
    from lawful.autodiff._custom_vjp import custom_vjp, custom_vjp_primal_tree_values
    from lawful.autodiff._given_rules import CustomVJPPrimal, SymbolicZero
    from lawful.autodiff._jacobian import hessian, jacfwd, jacrev
    from lawful.autodiff._linear_call import linear_call, linear_call_p
    from lawful.autodiff._rematerialization import cut_call
    from lawful.autodiff._saved_residuals import print_saved_residuals, saved_residuals
else:
    __getattr__, __dir__ = _on_demand(
        __name__,
        "_checkpoint",
        "_checkpoint_name",
        "_checkpoint_primitive",
        "_closure_convert",
        "_custom_derivatives",
        "_custom_jvp",
        "_custom_rule",
        "_custom_vjp",
        "_given_rules",
        "_jacobian",
        "_linear_call",
        "_rematerialization",
        "_saved_residuals",
        "checkpoint_policies",
    )

__all__ = [
    "CustomVJPPrimal",
    "LinearFunction",
    "SymbolicZero",
    "VJPFunction",
    "backward_pass",
    "checkpoint",
    "checkpoint_name",
    "checkpoint_p",
    "checkpoint_policies",
    "closure_convert",
    "custom_jvp",
    "custom_jvp_call_p",
    "custom_rule",
    "custom_rule_call_p",
    "custom_transpose_call_p",
    "custom_vjp",
    "custom_vjp_call_p",
    "custom_vjp_primal_tree_values",
    "cut_call",
    "grad",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "jvp_flat",
    "jvp_jaxpr",
    "linear_call",
    "linear_call_p",
    "linear_transpose",
    "linearize",
    "linearize_jaxpr",
    "name_p",
    "print_saved_residuals",
    "recorded_zeros",
    "remat",
    "saved_residuals",
    "stop_gradient",
    "stop_gradient_p",
    "transpose_jaxpr",
    "value_and_grad",
    "vjp",
]
