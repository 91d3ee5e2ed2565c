"""Initial parameters: an initializer is a function of a key, a shape and a dtype.

>>> from lawful.nn import initializers
>>> from lawful.random import key
>>> initializers.he_normal()(key(0), (2, 3), "float32").shape
(2, 3)

Source: ``jax.nn.initializers``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy

import lawful.numpy as np
from lawful import random
from lawful.core import ArgumentTypeError, ArgumentValueError, as_dtype

__all__ = [
    "Initializer",
    "constant",
    "delta_orthogonal",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]


class Initializer(Protocol):
    """A function that makes an array of initial parameters.

    >>> def halves(key, shape, dtype=float, out_sharding=None):
    ...     return np.full(shape, 0.5, dtype=dtype)
    >>> init: Initializer = halves
    >>> init(random.key(0), (2,))
    array([0.5, 0.5])
    """

    def __call__(self, key: Any, shape: Sequence[int], dtype: Any = ..., out_sharding: Any = None) -> Any:
        """Returns an array of a shape and dtype, made from a key."""


def zeros(key: Any, shape: Sequence[int], dtype: Any = None, out_sharding: Any = None) -> Any:
    """Returns zeros.

    >>> zeros(random.key(0), (2, 3))
    array([[0., 0., 0.],
           [0., 0., 0.]])
    """
    return _placed(np.zeros(shape, _chosen(dtype)), out_sharding)


def ones(key: Any, shape: Sequence[int], dtype: Any = None, out_sharding: Any = None) -> Any:
    """Returns ones.

    >>> ones(random.key(0), (2,), "float32")
    array([1., 1.], dtype=float32)
    """
    return _placed(np.ones(shape, _chosen(dtype)), out_sharding)


def constant(value: Any, dtype: Any = None) -> Initializer:
    """Returns the initializer of a value, which is broadcast to the shape.

    >>> constant(np.array([1.0, 2.0]))(random.key(0), (2, 2))
    array([[1., 2.],
           [1., 2.]])
    """
    return _initializer(lambda key, shape, dtype: np.full(shape, value, dtype=dtype), dtype)


def uniform(scale: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Returns the initializer of uniform numbers from 0 to ``scale``.

    >>> uniform(0.1)(random.key(0), (3,)).round(4)
    array([0.0418, 0.0216, 0.0965])
    """
    return _initializer(lambda key, shape, dtype: random.uniform(key, shape, dtype) * dtype.type(scale), dtype)


def normal(stddev: Any = 1e-2, dtype: Any = None) -> Initializer:
    """Returns the initializer of normal numbers of a standard deviation.

    >>> normal(0.1)(random.key(0), (3,)).round(4)
    array([-0.0206, -0.0785,  0.1816])
    """
    return _initializer(lambda key, shape, dtype: random.normal(key, shape, dtype) * dtype.type(stddev), dtype)


def truncated_normal(stddev: Any = 1e-2, dtype: Any = None, lower: Any = -2.0, upper: Any = 2.0) -> Initializer:
    """Returns the initializer of normal numbers between two bounds, times a number.

    >>> truncated_normal(0.1)(random.key(0), (3,)).round(4)
    array([-0.0196, -0.0741,  0.1591])
    """

    def init(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        return random.truncated_normal(key, lower, upper, shape, dtype) * dtype.type(stddev)

    return _initializer(init, dtype)


def variance_scaling(
    scale: Any,
    mode: str,
    distribution: str,
    in_axis: int | Sequence[int] = -2,
    out_axis: int | Sequence[int] = -1,
    batch_axis: int | Sequence[int] = (),
    dtype: Any = None,
) -> Initializer:
    """Returns the initializer of numbers with the variance ``scale / n``.

    Args:
      scale: a positive number.
      mode: what n is: the number of inputs ``"fan_in"``, of outputs ``"fan_out"``, their mean ``"fan_avg"``, or their
        geometric mean ``"fan_geo_avg"``.
      distribution: ``"truncated_normal"``, ``"normal"`` or ``"uniform"``.
      in_axis: the dimensions of inputs.
      out_axis: the dimensions of outputs.
      batch_axis: dimensions that count for neither; others are those of a window, which count for both.
      dtype: the dtype where the initializer gets none.

    Raises:
      ArgumentValueError: there is no such mode or distribution, or the shape has fewer than two dimensions.

    >>> init = variance_scaling(2.0, "fan_in", "normal")
    >>> init(random.key(0), (800, 50)).std().round(3), (2 / 800) ** 0.5
    (np.float64(0.05), 0.05)
    """
    if mode not in _MEANS:
        raise ArgumentValueError(f"variance_scaling: expected a mode of {', '.join(_MEANS)}, got {mode!r}")
    if distribution not in ("truncated_normal", "normal", "uniform"):
        raise ArgumentValueError(
            f"variance_scaling: expected the distribution truncated_normal, normal or uniform, got {distribution!r}"
        )

    def init(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        count = _MEANS[mode](*_fans(shape, in_axis, out_axis, batch_axis))
        real = np.finfo(dtype).dtype
        deviation = np.sqrt(np.array(scale / count, real))
        if distribution == "normal":
            return random.normal(key, shape, dtype) * deviation
        if distribution == "truncated_normal":
            # The standard deviation of normal numbers between -2 and 2; of complex numbers within 2.
            of_drawn = 0.87962566103423978 if dtype.kind != "c" else 0.95311164380491208
            return _within_2(key, shape, dtype) * (deviation / np.array(of_drawn, real))
        if dtype.kind == "c":
            return _polar(lambda u: np.sqrt(2 * u), key, shape, dtype) * deviation
        return random.uniform(key, shape, dtype, -1) * np.sqrt(np.array(3 * scale / count, real))

    return _initializer(init, dtype)


_MEANS: dict[str, Callable[[float, float], float]] = {
    "fan_in": lambda inputs, outputs: inputs,
    "fan_out": lambda inputs, outputs: outputs,
    "fan_avg": lambda inputs, outputs: (inputs + outputs) / 2,
    "fan_geo_avg": lambda inputs, outputs: math.sqrt(inputs * outputs),
}


def _within_2(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Returns normal numbers of an absolute value of at most 2."""
    if dtype.kind != "c":
        return random.truncated_normal(key, -2, 2, shape, dtype)
    return _polar(lambda u: np.sqrt(-np.log(1 - (1 - math.exp(-4)) * u)), key, shape, dtype)


def _polar(radius: Callable[[Any], Any], key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Returns complex numbers of random phase, whose absolute value is a function of uniform numbers."""
    real = np.finfo(dtype).dtype
    of_radius, of_angle = random.split(key)
    r = radius(random.uniform(of_radius, shape, real)).astype(dtype)
    return r * np.exp(1j * (2 * math.pi * random.uniform(of_angle, shape, real)).astype(dtype))


def _fans(shape: tuple[int, ...], *axes: int | Sequence[int]) -> tuple[float, float]:
    """Returns the numbers of inputs and of outputs of an array of parameters."""
    try:
        inputs, outputs, batches = (
            math.prod(shape[i] for i in ((found,) if isinstance(found, int) else found)) for found in axes
        )
    except IndexError as error:
        raise ArgumentValueError(
            f"variance_scaling: expected a shape of inputs and outputs, got {shape}; specify in_axis and out_axis"
        ) from error
    window = math.prod(shape) / inputs / outputs / batches
    return inputs * window, outputs * window


def _scaled(name: str, scale: float, mode: str, distribution: str) -> Callable[..., Initializer]:
    def make(
        in_axis: int | Sequence[int] = -2,
        out_axis: int | Sequence[int] = -1,
        batch_axis: int | Sequence[int] = (),
        dtype: Any = None,
    ) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""Returns `variance_scaling` with scale {scale}, mode {mode} and the distribution {distribution}.

    >>> w = {name}()(random.key(0), (400, 400))
    >>> float((400 * w.var()).round(1))
    {scale}
    """
    return make


glorot_uniform = xavier_uniform = _scaled("glorot_uniform", 1.0, "fan_avg", "uniform")
glorot_normal = xavier_normal = _scaled("glorot_normal", 1.0, "fan_avg", "truncated_normal")
lecun_uniform = _scaled("lecun_uniform", 1.0, "fan_in", "uniform")
lecun_normal = _scaled("lecun_normal", 1.0, "fan_in", "truncated_normal")
he_uniform = kaiming_uniform = _scaled("he_uniform", 2.0, "fan_in", "uniform")
he_normal = kaiming_normal = _scaled("he_normal", 2.0, "fan_in", "truncated_normal")


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Returns the initializer of matrices with orthonormal rows or columns, times ``scale``.

    Args:
      scale: a factor.
      column_axis: the dimension of the columns; all others together are the rows.
      dtype: the dtype where the initializer gets none.

    >>> w = orthogonal()(random.key(0), (3, 2))
    >>> w.shape, bool(np.allclose(w.T @ w, np.eye(2)))
    ((3, 2), True)
    """

    def init(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        if len(shape) < 2:
            raise ArgumentValueError(f"orthogonal: expected a shape of at least two dimensions, got {shape}")
        columns = shape[column_axis]
        rows = math.prod(shape) // columns
        n, m = max(rows, columns), min(rows, columns)
        q = _orthonormal(key, n, m, dtype)
        q = np.matrix_transpose(q) if rows < columns else q
        others = tuple(size for i, size in enumerate(shape) if i != column_axis % len(shape))
        return dtype.type(scale) * np.moveaxis(np.reshape(q, (*others, columns)), -1, column_axis)

    return _initializer(init, dtype)


def _orthonormal(key: Any, n: int, m: int, dtype: Any) -> Any:
    """Returns an n × m matrix with orthonormal columns: of a random orthogonal one."""
    q, r = np.linalg.qr(random.normal(key, (n, m), dtype))
    return q * np.sign(np.diagonal(r))


def delta_orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Returns the initializer of convolution kernels that are orthogonal at their center, and 0 elsewhere.

    The shape has 3 to 5 dimensions: those of the window, then inputs, then outputs, not fewer than inputs.

    >>> w = delta_orthogonal()(random.key(0), (3, 2, 2))
    >>> w[0].tolist(), bool(np.allclose(w[1] @ w[1].T, np.eye(2)))
    ([[0.0, 0.0], [0.0, 0.0]], True)

    Source: Xiao et al. (2018).
    """

    def init(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        if not 3 <= len(shape) <= 5 or shape[-1] < shape[-2]:
            raise ArgumentValueError(
                f"delta_orthogonal: expected a shape of 3 to 5 dimensions with inputs <= outputs, got {shape}"
            )
        matrix = orthogonal(scale, column_axis, dtype)(key, shape[-2:], dtype)
        center = tuple((size - 1) // 2 for size in shape[:-2])
        at_center = numpy.zeros(shape[:-2], bool)
        at_center[center] = True
        return np.where(at_center[..., None, None], matrix, np.zeros((), dtype))

    return _initializer(init, dtype)


def _chosen(dtype: Any) -> Any:
    return as_dtype(np.float64 if dtype is None else dtype)


def _initializer(make: Callable[[Any, tuple[int, ...], Any], Any], default: Any) -> Initializer:
    def init(key: Any, shape: Sequence[int], dtype: Any = None, out_sharding: Any = None) -> Any:
        return _placed(make(key, tuple(shape), _chosen(default if dtype is None else dtype)), out_sharding)

    return init


def _placed(x: Any, sharding: Any) -> Any:
    """Returns an array with a constraint; None is none."""
    if sharding is None:
        return x
    if not hasattr(sharding, "constrain"):
        raise ArgumentTypeError(
            f"initializer: expected a NamedSharding as out_sharding, got {sharding!r}; write NamedSharding(mesh, spec)"
        )
    return sharding.constrain(x)
