"""Autograd's public API over lawful: a program changes ``autograd`` to ``lawful.autograd`` in its imports.

>>> import lawful.autograd.numpy as np
>>> from lawful.autograd import grad
>>> def tanh(x):
...     y = np.exp(-2.0 * x)
...     return (1.0 - y) / (1.0 + y)
>>> bool(abs(grad(tanh)(1.0) - 0.4199743416140261) < 1e-12)
True

``python -m lawful.autograd script.py`` runs a program that imports ``autograd``, unmodified. It needs no SciPy; the
functions of `scipy` that lawful has not are SciPy's, where that is installed.
"""

from lawful.autograd import _fast as _fast  # installs the accelerators
from lawful.autograd import numpy as numpy
from lawful.autograd.builtins import dict, isinstance, list, tuple, type
from lawful.autograd.core import primitive
from lawful.autograd.differential_operators import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_jvp_reversemode,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)

__all__ = [
    "checkpoint",
    "deriv",
    "dict",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "isinstance",
    "jacobian",
    "list",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_jvp_reversemode",
    "make_vjp",
    "multigrad_dict",
    "primitive",
    "tensor_jacobian_product",
    "tuple",
    "type",
    "value_and_grad",
    "vector_jacobian_product",
]
