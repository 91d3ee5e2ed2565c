"""Numbers of the gamma distribution, by rejection, with derivatives by the parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful import ops
from lawful.batching import vmap
from lawful.control_flow import while_loop
from lawful.core import get_aval
from lawful.custom_rules import custom_jvp
from lawful.numpy._loops import traced_once
from lawful.random._distributions import exponential, normal, shape_or_that_of
from lawful.random._keys import require_key, split
from lawful.random._uniform import floating, parameters, uniform


def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = float) -> Any:
    """Returns numbers of the gamma distribution with the density ``x^(a - 1) exp(-x) / Γ(a)``.

    Args:
      key: a key.
      a: the parameter, positive, which broadcasts to the shape.
      shape: that of the result; by default that of ``a``.
      dtype: a real floating dtype.

    The derivative by ``a`` is that of the number with its quantile held fixed, so that expectations differentiate.

    Raises:
      ArgumentTypeError: it is not a key, or the dtype is not real and floating.

    Law: the numbers are those of ``jax.random.gamma`` for the same dtype, up to rounding. Sources: Marsaglia and Tsang,
    "A simple method for generating gamma variables", ACM Trans. Math. Softw. 26 (2000); Figurnov, Mohamed and Mnih,
    "Implicit reparameterization gradients", NeurIPS 2018.

    >>> from lawful.random import key
    >>> bool(gamma(key(0), 2.0) > 0)
    True
    """
    require_key("gamma", key)
    key, a, shape = _operands("gamma", key, a, shape, dtype)
    return _shaped(_gamma(key, ops.reshape(a, (-1,))), shape)


def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = float) -> Any:
    """Returns logarithms of numbers of the gamma distribution, which do not underflow where ``a`` is small.

    Args:
      key: a key.
      a: the parameter, positive, which broadcasts to the shape.
      shape: that of the result; by default that of ``a``.
      dtype: a real floating dtype.

    Raises:
      ArgumentTypeError: it is not a key, or the dtype is not real and floating.

    Law: the numbers are those of ``jax.random.loggamma`` for the same dtype, up to rounding.

    >>> from lawful.random import key
    >>> bool(loggamma(key(0), 1e-4) < -100)
    True
    """
    require_key("loggamma", key)
    key, a, shape = _operands("loggamma", key, a, shape, dtype)
    return _shaped(_loggamma(key, ops.reshape(a, (-1,))), shape)


def _operands(name: str, key: Any, a: Any, shape: Any, dtype: Any) -> tuple[Any, Any, tuple[int, ...]]:
    dtype = floating(name, dtype)
    shape = shape_or_that_of(name, shape, a)
    (a,) = parameters(name, dtype, a)
    ndim = get_aval(a).ndim
    return key, ops.broadcast_in_dim(a, shape, tuple(range(len(shape) - ndim, len(shape)))), shape


def _shaped(x: Any, shape: tuple[int, ...]) -> Any:
    return ops.reshape(x, shape) if shape else x[0]


@custom_jvp
@traced_once()
def _gamma(key: Any, a: Any) -> Any:
    def boosted(standard: Any, key: Any, a: Any) -> Any:
        # For a < 1: a number for a + 1, times a power of a uniform number.
        dtype = get_aval(a).dtype
        power = ops.pow(ops.sub(dtype.type(1), uniform(key, (), dtype)), ops.div(dtype.type(1), a))
        return ops.mul(standard, ops.select(ops.ge(a, dtype.type(1)), dtype.type(1), power))

    return _for_each(key, a, lambda d, v, key, a: boosted(ops.mul(d, v), key, a))


@custom_jvp
@traced_once()
def _loggamma(key: Any, a: Any) -> Any:
    def boosted(d: Any, v: Any, key: Any, a: Any) -> Any:
        dtype = get_aval(a).dtype
        log = ops.neg(exponential(key, (), dtype))
        unchanged = ops.bitwise_or(ops.ge(a, dtype.type(1)), ops.eq(log, dtype.type(0)))
        boost = ops.select(unchanged, dtype.type(0), ops.mul(log, ops.div(dtype.type(1), a)))
        return ops.add(ops.add(ops.log(d), ops.log(v)), boost)

    return _for_each(key, a, boosted)


@_gamma.defjvp
def _gamma_jvp(primals: Any, tangents: Any) -> Any:
    key, a = primals
    x = _gamma(key, a)
    return x, ops.mul(tangents[1], ops.random_gamma_grad(a, x))


@_loggamma.defjvp
def _loggamma_jvp(primals: Any, tangents: Any) -> Any:
    key, a = primals
    log = _loggamma(key, a)
    x = ops.exp(log)
    # As x goes to zero, log(x) is log(u) / a up to a constant, and its derivative by a is -log(x) / a.
    dtype = get_aval(a).dtype
    tiny = ops.lt(x, np.asarray(np.finfo(dtype).tiny, dtype))
    safe = ops.select(tiny, ops.full_like(x, 1), x)
    slope = ops.select(tiny, ops.div(ops.neg(log), a), ops.div(ops.random_gamma_grad(a, safe), safe))
    return log, ops.mul(tangents[1], slope)


def _for_each(key: Any, a: Any, finish: Any) -> Any:
    """Returns random numbers for a vector of parameters, each with a separate key."""
    return vmap(lambda key, a: _one(key, a, finish))(split(key, get_aval(a).shape[0]), a)


def _one(key: Any, a: Any, finish: Any) -> Any:
    dtype = get_aval(a).dtype
    one, third = dtype.type(1), dtype.type(1 / 3)
    d = ops.sub(ops.select(ops.ge(a, one), a, ops.add(a, one)), third)
    c = ops.div(third, ops.sqrt(d))

    def is_refused(state: Any) -> Any:
        _, square, cube, u = state
        outside = ops.ge(u, ops.sub(one, ops.mul(dtype.type(0.0331), ops.mul(square, square))))
        bound = ops.mul(d, ops.add(ops.sub(one, cube), ops.log(cube)))
        return ops.bitwise_and(outside, ops.ge(ops.log(u), ops.add(ops.mul(square, dtype.type(0.5)), bound)))

    def draw(state: Any) -> Any:
        key, normal_key, uniform_key = split(state[0], 3)

        def again(pair: Any) -> Any:
            key, now = split(pair[0])
            x = normal(now, (), dtype)
            return key, x, ops.add(one, ops.mul(x, c))

        first = (normal_key, dtype.type(0), dtype.type(-1))
        _, x, v = while_loop(lambda pair: ops.le(pair[2], dtype.type(0)), again, first)
        return key, ops.mul(x, x), ops.mul(ops.mul(v, v), v), uniform(uniform_key, (), dtype)

    loop_key, boost_key = split(key)
    refused = (loop_key, dtype.type(0), one, dtype.type(2))  # not the result of any draw
    _, _, v, _ = while_loop(is_refused, draw, refused)
    return finish(d, v, boost_key, a)
