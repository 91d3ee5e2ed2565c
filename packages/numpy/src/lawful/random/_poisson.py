"""Numbers of the Poisson distribution, by counting and by rejection."""

from __future__ import annotations

from typing import Any

import numpy

import lawful.numpy as np
from lawful import ops
from lawful.autodiff import stop_gradient
from lawful.control_flow import while_loop
from lawful.core import ArgumentValueError, get_aval
from lawful.numpy._loops import traced_once
from lawful.random._distributions import shape_or_that_of
from lawful.random._keys import require_key, split
from lawful.random._rejection import first_accepted
from lawful.random._uniform import integral, parameters, uniform

_FLOAT = numpy.dtype(numpy.float32)
# Below this mean numbers are counted, above it they are drawn by rejection.
_LARGE = 10


@numpy.errstate(all="ignore")  # infinities are valid on the way to numbers
def poisson(key: Any, lam: Any, shape: Any = None, dtype: Any = int, *, method: str = "exact") -> Any:
    """Returns numbers of the Poisson distribution.

    Args:
      key: a key.
      lam: the mean, not negative, which broadcasts to the shape. It is rounded to float32.
      shape: that of the result; by default that of ``lam``.
      dtype: an integer dtype.
      method: ``"exact"``; taken for ``jax.random``'s sake.

    They have no derivative by ``lam``. Where that is NaN or negative they are -1.

    Raises:
      ArgumentTypeError: it is not a key, the dtype is no integer, or the mean is complex.
      ArgumentValueError: there is no such method.

    Law: the numbers are those of ``jax.random.poisson``, except where rounding decides. Sources: Knuth, "The art of
    computer programming" vol. 2, section 3.4.1; Hörmann, "The transformed rejection method for generating Poisson
    random variables", Insurance: Mathematics and Economics 12 (1993).

    >>> from lawful.random import key
    >>> poisson(key(0), 3.0, (4,)).shape
    (4,)
    """
    require_key("poisson", key)
    dtype = integral("poisson", dtype)
    if method != "exact":
        raise ArgumentValueError(f"poisson: expected the method 'exact', got {method!r}; leave it out")
    (mean,) = parameters("poisson", _FLOAT, stop_gradient(lam))
    shape = shape_or_that_of("poisson", shape, mean)
    return _poisson(key, np.broadcast_to(mean, shape), dtype)


@traced_once(2)
def _poisson(key: Any, mean: Any, dtype: Any) -> Any:
    is_large = mean >= _LARGE
    limit = int(numpy.iinfo(dtype).max)
    counted = _counted(key, np.where(is_large, _FLOAT.type(0), mean), dtype, limit)
    drawn = _drawn(key, np.where(is_large, mean, _FLOAT.type(1e5)), limit).astype(dtype)
    return np.where(mean == 0, dtype.type(0), np.where(is_large, drawn, counted))


def _counted(key: Any, mean: Any, dtype: Any, limit: int) -> Any:
    """Returns how many factors the product of uniform numbers has before it falls below ``exp(-mean)``."""
    shape = get_aval(mean).shape

    def goes_on(state: Any) -> Any:
        logarithm, _, _, iteration = state
        return np.any(logarithm > -mean) & (iteration < limit)

    def step(state: Any) -> Any:
        logarithm, count, key, iteration = state
        key, of_factor = split(key)
        count = np.where(logarithm > -mean, count + dtype.type(1), count)
        return logarithm + np.log(uniform(of_factor, shape, _FLOAT)), count, key, iteration + 1

    start = (np.zeros(shape, _FLOAT), np.zeros(shape, dtype), key, 0)
    return while_loop(goes_on, step, start)[1] - dtype.type(1)


def _drawn(key: Any, mean: Any, limit: int) -> Any:
    """Returns numbers by transformed rejection (Hörmann's PTRS), whose constants are his."""
    log_mean = np.log(mean)
    b = 0.931 + 2.53 * np.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_of_center = 0.9277 - 3.6224 / (b - 2)

    def propose(u: Any, v: Any) -> tuple[Any, Any]:
        edge = 0.5 - np.abs(u)
        candidate = np.floor((2 * a / edge + b) * u + mean + 0.43)
        log_ratio = np.log(v * inverse_alpha / (a / (edge * edge) + b))
        log_probability = candidate * log_mean - mean - ops.lgamma(candidate + 1)
        in_center = (edge >= 0.07) & (v <= v_of_center)
        outside = (candidate < 0) | ((edge < 0.013) & (v > edge))
        return candidate, in_center | (~outside & (log_ratio <= log_probability))

    return first_accepted(key, get_aval(mean).shape, _FLOAT, propose, limit)
