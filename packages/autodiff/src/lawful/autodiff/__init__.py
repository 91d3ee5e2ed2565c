"""Derivatives: forward mode, linearization, transposition, reverse mode, Jacobians, and ``checkpoint``.

>>> from lawful.autodiff import grad
>>> grad(lambda x: x**2)(3.0)
6.0
"""

import typing as _typing

from lawful.autodiff._arguments import match_tree
from lawful.autodiff._jvp import JVPTracer, jvp_flat, jvp_jaxpr
from lawful.autodiff._linear_function import LinearFunction
from lawful.autodiff._linearize import linearize_jaxpr, recorded_zeros
from lawful.autodiff._stop_gradient import stop_gradient_p
from lawful.autodiff._transpose import backward_pass, linear_program, linear_transpose, transpose_jaxpr
from lawful.autodiff._vjp import VJPFunction
from lawful.autodiff._zeros import as_tangent_of, instantiated, zero_tangent
from lawful.core import lazy_imports as _lazy_imports

# isort: split
from lawful.autodiff import _fast as _fast  # installs the accelerators

if _typing.TYPE_CHECKING:
    from lawful.autodiff import checkpoint_policies
    from lawful.autodiff._analysis.cost import Cost, CostLine, Costs, cost
    from lawful.autodiff._analysis.memory import Alive, PeakMemory, peak_memory
    from lawful.autodiff._checkpoint.checkpoint import checkpoint, remat
    from lawful.autodiff._checkpoint.primitive import checkpoint_p
    from lawful.autodiff._checkpoint.rematerialization import cut_call
    from lawful.autodiff._checkpoint.saved_residuals import print_saved_residuals, saved_residuals
    from lawful.autodiff._checkpoint_name import checkpoint_name, name_p
    from lawful.autodiff._jacobian import hessian, jacfwd, jacrev
    from lawful.autodiff._typed import jvp, linearize, stop_gradient, vjp
    from lawful.autodiff._typed_grad import grad, value_and_grad
else:
    from lawful.autodiff._grad import grad, value_and_grad
    from lawful.autodiff._jvp import jvp
    from lawful.autodiff._linearize import linearize
    from lawful.autodiff._stop_gradient import stop_gradient
    from lawful.autodiff._vjp import vjp

    __getattr__, __dir__ = _lazy_imports(
        __name__,
        "_analysis.cost",
        "_analysis.memory",
        "_checkpoint.checkpoint",
        "_checkpoint_name",
        "_checkpoint.primitive",
        "_jacobian",
        "_checkpoint.rematerialization",
        "_checkpoint.saved_residuals",
        "checkpoint_policies",
    )

__all__ = [
    "Alive",
    "JVPTracer",
    "PeakMemory",
    "peak_memory",
    "Cost",
    "CostLine",
    "Costs",
    "LinearFunction",
    "VJPFunction",
    "as_tangent_of",
    "backward_pass",
    "cost",
    "checkpoint",
    "checkpoint_name",
    "checkpoint_p",
    "checkpoint_policies",
    "cut_call",
    "grad",
    "hessian",
    "instantiated",
    "jacfwd",
    "jacrev",
    "jvp",
    "jvp_flat",
    "jvp_jaxpr",
    "linear_program",
    "linear_transpose",
    "linearize",
    "linearize_jaxpr",
    "match_tree",
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
    "zero_tangent",
]
