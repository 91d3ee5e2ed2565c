"""Elementwise activations. Where a function has a kink, its derivative is that of ``jax.nn``.

Products and sums with Python floats are functions of `lawful.numpy`: NumPy's operators promote bfloat16 with a Python
number to float32, those of NumPy 2.1 with every one.
"""

from __future__ import annotations

import math
from typing import Any

import lawful.numpy as np
from lawful import ops
from lawful.core import get_aval
from lawful.custom_rules import custom_jvp
from lawful.special import expit
from lawful.special._arguments import inexact, silent


def identity(x: Any) -> Any:
    """Returns the array itself.

    >>> identity(np.array([-1.0, 2.0]))
    array([-1.,  2.])
    """
    get_aval(x)
    return x


@custom_jvp
def relu(x: Any) -> Any:
    """Returns ``max(x, 0)``, whose derivative at 0 is 0.

    >>> relu(np.array([-1.0, 0.0, 2.0]))
    array([0., 0., 2.])

    Source: ``jax.nn.relu``.
    """
    return np.maximum(x, 0)


@relu.defjvp
def _relu_jvp(primals: Any, tangents: Any) -> Any:
    [x], [x_dot] = primals, tangents
    return relu(x), np.where(x > 0, x_dot, np.zeros_like(x_dot))


@custom_jvp
def relu6(x: Any) -> Any:
    """Returns ``min(max(x, 0), 6)``, whose derivative at 0 and 6 is 0.

    >>> relu6(np.array([-1.0, 2.0, 8.0]))
    array([0., 2., 6.])

    Source: ``jax.nn.relu6``.
    """
    return np.minimum(np.maximum(x, 0), 6)


@relu6.defjvp
def _relu6_jvp(primals: Any, tangents: Any) -> Any:
    [x], [x_dot] = primals, tangents
    return relu6(x), np.where((x > 0) & (x < 6), x_dot, np.zeros_like(x_dot))


def sigmoid(x: Any) -> Any:
    """Returns the logistic function ``1 / (1 + exp(-x))``.

    >>> sigmoid(np.array([-1.0, 0.0, 1.0])).round(3)
    array([0.269, 0.5  , 0.731])

    Source: ``jax.nn.sigmoid``.
    """
    return expit(x)


@silent
def softplus(x: Any) -> Any:
    """Returns ``log(1 + exp(x))``, without overflow.

    >>> softplus(np.array([-1.0, 0.0, 30.0])).round(3)
    array([ 0.313,  0.693, 30.   ])

    Source: ``jax.nn.softplus``.
    """
    return np.logaddexp(inexact("softplus", x), 0)


@silent
def sparse_plus(x: Any) -> Any:
    """Returns 0 for ``x <= -1``, ``x`` for ``x >= 1``, and ``(x + 1)**2 / 4`` between.

    >>> sparse_plus(np.array([-2.0, 0.0, 2.0]))
    array([0.  , 0.25, 2.  ])

    Source: ``jax.nn.sparse_plus``.
    """
    x = inexact("sparse_plus", x)
    is_between = np.logical_not(np.logical_or(x <= -1.0, x >= 1.0))  # or NaN, whose derivative is NaN
    middle = np.where(is_between, x, 0.0)  # the square of a large number would make the derivative NaN
    return np.where(is_between, np.divide(np.square(np.add(middle, 1.0)), 4.0), np.where(x <= -1.0, 0.0, x))


def sparse_sigmoid(x: Any) -> Any:
    """Returns ``clip((x + 1) / 2, 0, 1)``, the derivative of `sparse_plus`.

    >>> sparse_sigmoid(np.array([-2.0, 0.0, 0.5, 2.0]))
    array([0.  , 0.5 , 0.75, 1.  ])

    Source: ``jax.nn.sparse_sigmoid``.
    """
    return np.multiply(0.5, np.clip(np.add(x, 1.0), 0.0, 2.0))


@silent
def soft_sign(x: Any) -> Any:
    """Returns ``x / (1 + |x|)``.

    >>> soft_sign(np.array([-1.0, 0.0, 3.0]))
    array([-0.5 ,  0.  ,  0.75])

    Source: ``jax.nn.soft_sign``.
    """
    x = inexact("soft_sign", x)
    # Both quotients keep the digits of their derivatives; that of ``x / (1 + |x|)`` cancels for a large ``x``.
    is_large = np.abs(x) > 1.0
    near, far = np.where(is_large, 0.0, x), np.where(is_large, x, 1.0)
    return np.where(is_large, np.sign(far) / np.add(np.reciprocal(np.abs(far)), 1.0), near / np.add(np.abs(near), 1.0))


@silent
def silu(x: Any) -> Any:
    """Returns ``x * sigmoid(x)``.

    >>> silu(np.array([-1.0, 0.0, 1.0])).round(3)
    array([-0.269,  0.   ,  0.731])

    Source: ``jax.nn.silu``.
    """
    x = inexact("silu", x)
    return x * sigmoid(x)


swish = silu


@silent
def mish(x: Any) -> Any:
    """Returns ``x * tanh(softplus(x))``.

    >>> mish(np.array([-1.0, 0.0, 1.0])).round(3)
    array([-0.303,  0.   ,  0.865])

    Source: ``jax.nn.mish``.
    """
    x = inexact("mish", x)
    return x * np.tanh(softplus(x))


@silent
def log_sigmoid(x: Any) -> Any:
    """Returns ``log(sigmoid(x))``, exact where that is small.

    >>> log_sigmoid(np.array([-30.0, 0.0, 1.0])).round(3)
    array([-30.   ,  -0.693,  -0.313])

    Source: ``jax.nn.log_sigmoid``.
    """
    return -softplus(-inexact("log_sigmoid", x))


@silent
def elu(x: Any, alpha: Any = 1.0) -> Any:
    """Returns ``x`` where it is positive, and ``alpha * (exp(x) - 1)`` elsewhere.

    >>> elu(np.array([-1.0, 0.0, 2.0])).round(3)
    array([-0.632,  0.   ,  2.   ])

    Source: ``jax.nn.elu``.
    """
    x = inexact("elu", x)
    return np.where(x > 0, x, np.multiply(alpha, np.expm1(np.where(x > 0, 0.0, x))))


@silent
def leaky_relu(x: Any, negative_slope: Any = 1e-2) -> Any:
    """Returns ``x`` where it is not negative, and ``negative_slope * x`` elsewhere.

    >>> leaky_relu(np.array([-1.0, 0.0, 2.0]))
    array([-0.01,  0.  ,  2.  ])

    Source: ``jax.nn.leaky_relu``.
    """
    x = inexact("leaky_relu", x)
    return np.where(x >= 0, x, np.multiply(negative_slope, x))


@silent
def hard_tanh(x: Any) -> Any:
    """Returns ``x`` between -1 and 1, and the nearer of these elsewhere.

    >>> hard_tanh(np.array([-3.0, 0.5, 2.0]))
    array([-1. ,  0.5,  1. ])

    Source: ``jax.nn.hard_tanh``.
    """
    x = inexact("hard_tanh", x)
    return np.where(x > 1, 1, np.where(x < -1, -1, x)).astype(get_aval(x).dtype)


@silent
def celu(x: Any, alpha: Any = 1.0) -> Any:
    """Returns ``max(x, 0) + alpha * (exp(min(x, 0) / alpha) - 1)``.

    >>> celu(np.array([-1.0, 0.0, 2.0]), 2.0).round(3)
    array([-0.787,  0.   ,  2.   ])

    Source: ``jax.nn.celu``.
    """
    x = inexact("celu", x)
    return np.maximum(x, 0.0) + np.multiply(alpha, np.expm1(np.divide(np.minimum(x, 0.0), alpha)))


def selu(x: Any) -> Any:
    """Returns a scaled `elu`, whose scale keeps mean 0 and variance 1 from layer to layer.

    >>> selu(np.array([-1.0, 0.0, 1.0])).round(3)
    array([-1.111,  0.   ,  1.051])

    Source: ``jax.nn.selu``; Klambauer et al. (2017).
    """
    return np.multiply(1.0507009873554804934193349852946, elu(x, 1.6732632423543772848170429916717))


@silent
def gelu(x: Any, approximate: bool = True) -> Any:
    """Returns ``x * Φ(x)`` with the normal distribution function Φ.

    Args:
      x: an array of real numbers.
      approximate: whether Φ is approximated by tanh.

    >>> gelu(np.array([-1.0, 0.0, 1.0])).round(4)
    array([-0.1588,  0.    ,  0.8412])
    >>> gelu(np.array([-1.0, 0.0, 1.0]), approximate=False).round(4)
    array([-0.1587,  0.    ,  0.8413])

    Source: ``jax.nn.gelu``; Hendrycks and Gimpel (2016).
    """
    x = inexact("gelu", x)
    if approximate:
        scaled = np.multiply(math.sqrt(2 / math.pi), x + np.multiply(0.044715, np.power(x, 3)))
        return x * np.multiply(0.5, np.add(1.0, np.tanh(scaled)))
    return np.multiply(0.5, x) * ops.erfc(np.multiply(-x, math.sqrt(0.5)))


@silent
def glu(x: Any, axis: int = -1) -> Any:
    """Returns the first half along a dimension, times the sigmoid of the second half.

    >>> glu(np.array([1.0, 2.0, 0.0, -1.0])).round(3)
    array([0.5  , 0.538])

    Source: ``jax.nn.glu``.
    """
    first, second = np.split(inexact("glu", x), 2, axis)
    return first * sigmoid(second)


@silent
def squareplus(x: Any, b: Any = 4) -> Any:
    """Returns ``(x + sqrt(x**2 + b)) / 2``.

    >>> squareplus(np.array([-1.0, 0.0, 1.0])).round(3)
    array([0.618, 1.   , 1.618])

    Source: ``jax.nn.squareplus``.
    """
    x = inexact("squareplus", x)
    return np.divide(x + np.sqrt(np.add(np.square(x), b)), 2.0)


def hard_sigmoid(x: Any) -> Any:
    """Returns ``relu6(x + 3) / 6``.

    >>> hard_sigmoid(np.array([-4.0, 0.0, 1.5]))
    array([0.  , 0.5 , 0.75])

    Source: ``jax.nn.hard_sigmoid``.
    """
    return np.divide(relu6(np.add(x, 3.0)), 6.0)


def hard_silu(x: Any) -> Any:
    """Returns ``x * hard_sigmoid(x)``.

    >>> hard_silu(np.array([-4.0, 0.0, 1.5, 5.0]))
    array([0.   , 0.   , 1.125, 5.   ])

    Source: ``jax.nn.hard_silu``.
    """
    is_far = np.abs(x) > 3.0
    near = np.where(is_far, 0.0, x)
    # Outside there is no product: infinity times the slope 0 would be NaN.
    return np.where(is_far, np.where(x > 0.0, x, 0.0), near * hard_sigmoid(near))


hard_swish = hard_silu


@silent
def log1mexp(x: Any) -> Any:
    """Returns ``log(1 - exp(-x))`` of positive numbers, exact near 0 and for large ones.

    >>> log1mexp(np.array([0.1, 1.0, 5.0])).round(3)
    array([-2.352, -0.459, -0.007])

    Source: ``jax.nn.log1mexp``; Mächler, "Accurately computing log(1 - exp(-|a|))".
    """
    x = inexact("log1mexp", x)
    is_small = x < math.log(2)
    near, far = np.where(is_small, x, 1.0), np.where(is_small, 1.0, x)  # the other formula has an infinite slope
    return np.where(is_small, np.log(-np.expm1(-near)), np.log1p(-np.exp(-far)))
