"""Spherical harmonics."""

from __future__ import annotations

import math
from typing import Any

import numpy

from lawful import ops
from lawful.control_flow import scan
from lawful.core import ArgumentTypeError, ArgumentValueError, Tracer, get_aval
from lawful.numpy._loops import traced_once
from lawful.special._arguments import floats, silent, static_integer


@silent
def sph_harm_y(n: Any, m: Any, theta: Any, phi: Any, diff_n: Any = None, n_max: int | None = None) -> Any:
    """Returns the spherical harmonic of degree ``n`` and order ``m``, which is 0 for ``|m| > n``.

    It has derivatives in both angles.

    Args:
      n: integers that are not negative.
      m: integers.
      theta: the polar angle, real numbers.
      phi: the azimuth, real numbers.
      diff_n: only None: differentiate the function instead.
      n_max: the largest degree, to which others are clipped. It is needed where ``n`` is traced.

    Returns:
      Complex numbers of the broadcast shape of the first four arguments, of the precision of the angles.

    Raises:
      ArgumentTypeError: an argument is complex, degrees or orders are floats, or ``n`` is traced and ``n_max`` is None.
      ArgumentValueError: ``diff_n`` is not None, or the shapes do not broadcast together.

    >>> sph_harm_y(2, numpy.array([1, -2]), 0.5, 1.0)
    array([-0.17561907-0.27351049j, -0.03694746-0.08073168j])

    Source: ``scipy.special.sph_harm_y``, ``jax.scipy.special.sph_harm_y``.
    """
    if diff_n is not None:
        raise ArgumentValueError(
            f"sph_harm_y: expected diff_n=None, got {diff_n!r}; differentiate the function by theta and phi"
        )
    for name, value in (("degrees n", n), ("orders m", m)):
        if get_aval(value).dtype.kind not in "iu":
            raise ArgumentTypeError(f"sph_harm_y: expected integers as {name}, got {get_aval(value)}; convert them")
    if n_max is None:
        if isinstance(n, Tracer):
            raise ArgumentTypeError("sph_harm_y: expected n_max, as n is traced; give the largest degree as n_max")
        n_max = int(numpy.max(numpy.asarray(n), initial=0))
    n_max = static_integer("sph_harm_y", "n_max", n_max)
    theta, phi = floats("sph_harm_y", theta, phi)
    dtype = get_aval(theta).dtype
    degree, order = (ops.convert_element_type(x, dtype) for x in (n, m))
    degree, order, theta, phi = floats("sph_harm_y", degree, order, theta, phi)
    return _harmonic(degree, order, theta, phi, n_max)


@traced_once(4)
def _harmonic(degree: Any, order: Any, theta: Any, phi: Any, n_max: int) -> Any:
    size = ops.abs(order)
    value = _legendre(ops.min(degree, float(n_max)), size, theta, n_max)
    odd = ops.eq(ops.rem(size, 2.0), 1.0)
    value = ops.where(ops.bitwise_and(ops.lt(order, 0), odd), ops.neg(value), value)
    angle = ops.mul(order, phi)
    return ops.complex(ops.mul(value, ops.cos(angle)), ops.mul(value, ops.sin(angle)))


def _legendre(degree: Any, order: Any, theta: Any, n_max: int) -> Any:
    """Returns the normalized associated Legendre function of ``cos(theta)``, by recurrence in the degree.

    The recurrence is DLMF 14.10.3, from the degree that is the order.
    """
    cosine, sine = ops.cos(theta), ops.sin(theta)
    # Beyond 0 to π it is √(1 - cosine²), as in SciPy. Not by abs, whose derivative at 0 is not that of the sine.
    sine = ops.where(ops.lt(sine, 0), ops.neg(sine), sine)
    dtype = get_aval(theta).dtype
    square = ops.square(order)

    def root(x: Any) -> Any:
        """Returns the square root, and 0 of what is not positive."""
        positive = ops.gt(x, 0)
        return ops.where(positive, ops.sqrt(ops.where(positive, x, 1)), 0)

    def step(carry: Any, k: Any) -> tuple[Any, None]:
        before, here = carry
        diagonal = ops.neg(
            ops.mul(ops.mul(here, sine), ops.sqrt(ops.div(ops.add(ops.mul(k, 2.0), 1.0), ops.mul(k, 2.0))))
        )
        beyond = ops.gt(k, order)
        kk, previous = ops.square(k), ops.square(ops.sub(k, 1.0))
        gap = ops.where(beyond, ops.sub(kk, square), 1)
        scale = ops.sqrt(ops.div(ops.sub(ops.mul(kk, 4.0), 1.0), gap))
        rest = root(ops.div(ops.sub(previous, square), ops.sub(ops.mul(previous, 4.0), 1.0)))
        raised = ops.mul(scale, ops.sub(ops.mul(cosine, here), ops.mul(rest, before)))
        goes_on = ops.le(k, degree)
        following = ops.where(beyond, ops.where(goes_on, raised, here), diagonal)
        before = ops.where(beyond, ops.where(goes_on, here, before), 0)
        return (before, following), None

    start = ops.full_like(theta, 0.5 / math.sqrt(math.pi))
    (_, out), _ = scan(step, (ops.full_like(theta, 0.0), start), numpy.arange(1, n_max + 1).astype(dtype))
    return ops.where(ops.gt(order, degree), 0, out)
