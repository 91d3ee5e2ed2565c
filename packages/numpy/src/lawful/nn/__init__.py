"""Functions of neural networks: activations, softmax and normalization, attention, and initial parameters.

>>> import lawful.numpy as np
>>> from lawful.nn import one_hot, relu
>>> relu(np.array([-1.0, 2.0])), one_hot(np.array([1, 0]), 2)
(array([0., 2.]), array([[0., 1.],
       [1., 0.]]))

Source: ``jax.nn``.
"""

from lawful.nn import initializers
from lawful.nn._activations import (
    celu,
    elu,
    gelu,
    glu,
    hard_sigmoid,
    hard_silu,
    hard_swish,
    hard_tanh,
    identity,
    leaky_relu,
    log1mexp,
    log_sigmoid,
    mish,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    soft_sign,
    softplus,
    sparse_plus,
    sparse_sigmoid,
    squareplus,
    swish,
)
from lawful.nn._attention import dot_product_attention
from lawful.nn._normalization import log_softmax, logmeanexp, one_hot, softmax, standardize
from lawful.numpy import tanh
from lawful.special import logsumexp

__all__ = [
    "celu",
    "dot_product_attention",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "initializers",
    "leaky_relu",
    "log1mexp",
    "log_sigmoid",
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "mish",
    "one_hot",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softplus",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "standardize",
    "swish",
    "tanh",
]
