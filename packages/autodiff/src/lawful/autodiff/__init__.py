"""Derivatives: forward mode, linearization, transposition, reverse mode, and what is made of them.

>>> from lawful.autodiff import grad
>>> grad(lambda x: x**2)(3.0)
6.0
"""

from lawful.autodiff._grad import grad, value_and_grad
from lawful.autodiff._jacobian import hessian, jacfwd, jacrev
from lawful.autodiff._jvp import jvp, jvp_jaxpr
from lawful.autodiff._linearize import LinearFunction, linearize, linearize_jaxpr
from lawful.autodiff._stop_gradient import stop_gradient, stop_gradient_p
from lawful.autodiff._transpose import backward_pass, linear_transpose, transpose_jaxpr
from lawful.autodiff._vjp import VJPFunction, vjp

__all__ = [
    "LinearFunction",
    "VJPFunction",
    "backward_pass",
    "grad",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "jvp_jaxpr",
    "linear_transpose",
    "linearize",
    "linearize_jaxpr",
    "stop_gradient",
    "stop_gradient_p",
    "transpose_jaxpr",
    "value_and_grad",
    "vjp",
]
