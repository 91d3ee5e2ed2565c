"""Optimizers by gradients of samples: gradient descent with momentum, RMSprop and Adam.

Each takes ``grad(x, i)``, the gradient at ``x`` in iteration ``i``; the start ``x0``, a pytree of arrays; and
``callback(x, i, g)``, called in each iteration before ``x`` changes. It returns the last ``x``.

>>> import numpy
>>> from lawful.autograd import grad
>>> gradient = grad(lambda x, i: numpy.sum((x - 3.0) ** 2))
>>> numpy.round(adam(gradient, numpy.zeros(2), num_iters=500, step_size=0.1), 3)
array([3., 3.])
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy

from lawful.autograd.misc.flatten import flatten

Function = Callable[..., Any]
#: ``step(g, i)`` returns what is added to the vector, in iteration ``i``.
Step = Callable[[Any, int], Any]


def unflatten_optimizer(optimize: Function) -> Function:
    """Returns an optimizer of pytrees.

    Args:
      optimize: an optimizer of vectors, ``optimize(grad, x, callback, *args, **kwargs)``.

    >>> descend = unflatten_optimizer(lambda grad, x, callback: x - 0.1 * grad(x, 0))
    >>> descend(lambda params, i: params, {"w": 1.0})
    {'w': np.float64(0.9)}
    """

    @wraps(optimize)
    def optimize_tree(grad: Function, x0: Any, callback: Function | None = None, *args: Any, **kwargs: Any) -> Any:
        start, unflatten = flatten(x0)

        def gradient(x: Any, i: int) -> Any:
            return flatten(grad(unflatten(x), i))[0]

        def report(x: Any, i: int, g: Any) -> None:
            if callback is not None:
                callback(unflatten(x), i, unflatten(g))

        return unflatten(optimize(gradient, start, report if callback else None, *args, **kwargs))

    return optimize_tree


def _descend(grad: Function, x: Any, callback: Function | None, num_iters: int, step: Step) -> Any:
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        x = x + step(g, i)
    return x


@unflatten_optimizer
def sgd(
    grad: Function,
    x: Any,
    callback: Function | None = None,
    num_iters: int = 200,
    step_size: float = 0.1,
    mass: float = 0.9,
) -> Any:
    """Minimizes by gradient descent with momentum.

    Args:
      grad: ``grad(x, i)`` returns the gradient.
      x: the start.
      callback: called in each iteration.
      num_iters: the number of iterations.
      step_size: what the velocity is multiplied by.
      mass: the factor of the previous velocity.

    >>> numpy.round(sgd(lambda x, i: 2.0 * (x - 3.0), numpy.zeros(2), num_iters=500), 3)
    array([3., 3.])
    """
    velocity: Any = numpy.zeros(len(x))

    def step(g: Any, i: int) -> Any:
        nonlocal velocity
        velocity = mass * velocity - (1.0 - mass) * g
        return step_size * velocity

    return _descend(grad, x, callback, num_iters, step)


@unflatten_optimizer
def rmsprop(
    grad: Function,
    x: Any,
    callback: Function | None = None,
    num_iters: int = 100,
    step_size: float = 0.1,
    gamma: float = 0.9,
    eps: float = 1e-8,
) -> Any:
    """Minimizes by RMSprop: steps are divided by the root of a moving mean of squares.

    Args:
      grad: ``grad(x, i)`` returns the gradient.
      x: the start.
      callback: called in each iteration.
      num_iters: the number of iterations.
      step_size: the size of steps.
      gamma: the factor of the previous mean of squares.
      eps: added to its root.

    >>> numpy.round(rmsprop(lambda x, i: 2.0 * (x - 3.0), numpy.zeros(2), num_iters=500, step_size=0.02), 1)
    array([3., 3.])
    """
    mean_square: Any = numpy.ones(len(x))

    def step(g: Any, i: int) -> Any:
        nonlocal mean_square
        mean_square = gamma * mean_square + (1.0 - gamma) * g**2
        return -step_size * g / (mean_square**0.5 + eps)

    return _descend(grad, x, callback, num_iters, step)


@unflatten_optimizer
def adam(
    grad: Function,
    x: Any,
    callback: Function | None = None,
    num_iters: int = 100,
    step_size: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
) -> Any:
    """Minimizes by Adam (Kingma and Ba, arXiv:1412.6980).

    Args:
      grad: ``grad(x, i)`` returns the gradient.
      x: the start.
      callback: called in each iteration.
      num_iters: the number of iterations.
      step_size: the size of steps.
      b1: the factor of the previous mean.
      b2: the factor of the previous mean of squares.
      eps: added to its root.

    >>> numpy.round(adam(lambda x, i: 2.0 * (x - 3.0), numpy.zeros(2), num_iters=500, step_size=0.1), 3)
    array([3., 3.])
    """
    mean: Any = numpy.zeros(len(x))
    mean_square: Any = numpy.zeros(len(x))

    def step(g: Any, i: int) -> Any:
        nonlocal mean, mean_square
        mean = b1 * mean + (1.0 - b1) * g
        mean_square = b2 * mean_square + (1.0 - b2) * g**2
        unbiased = mean / (1.0 - b1 ** (i + 1))
        unbiased_square = mean_square / (1.0 - b2 ** (i + 1))
        return -step_size * unbiased / (unbiased_square**0.5 + eps)

    return _descend(grad, x, callback, num_iters, step)
