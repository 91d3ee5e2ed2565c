"""Every other function is its NumPy namesake: eagerly, compiled, mapped, differentiated, and called by NumPy's name."""

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy
import pytest

import lawful.numpy as lnp
from lawful import tree
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.core import get_aval, is_inexact
from lawful.numpy._ufunc import Ufunc
from lawful.staging import jit

Array = numpy.ndarray[Any, Any]

generator = numpy.random.default_rng(0)
VECTOR = generator.uniform(0.5, 2.0, 4)
MATRIX = generator.uniform(0.5, 2.0, (3, 4))
CUBE = generator.uniform(0.5, 2.0, (2, 3, 4))
THIN = generator.uniform(0.5, 2.0, (1, 4, 1))
COMPLEX = MATRIX + 1j * generator.uniform(0.5, 2.0, (3, 4))
INTEGERS = generator.integers(-5, 6, (3, 4))
BYTES = generator.integers(0, 200, (3, 4)).astype("uint8")
SINGLE = MATRIX.astype("float32")
HALF = MATRIX.astype("float16")
MASK = MATRIX > 1.0
EMPTY = numpy.zeros((0, 3))
SCALAR = numpy.float64(1.25)
HOLES = numpy.where(numpy.eye(3, 4) > 0, numpy.nan, MATRIX)


@dataclass(frozen=True)
class Case:
    """A call of a function ``np.<name>`` of some module ``np``, and the arrays that it is called with."""

    call: Callable[..., Any]
    args: tuple[Any, ...]
    #: NumPy's function does not ask its arguments what they are: it is called in lawful.numpy only.
    creates: bool = False


def case(call: Callable[..., Any], *args: Any) -> Case:
    return Case(call, args)


def creates(call: Callable[..., Any], *args: Any) -> Case:
    return Case(call, args, creates=True)


REDUCTIONS = [
    case(lambda np, x, name=name, kwargs=kwargs: getattr(np, name)(x, **kwargs), x)
    for name in ("sum", "prod", "max", "min", "amax", "amin", "mean", "var", "std", "all", "any")
    for kwargs in ({}, {"axis": 1}, {"axis": (0, -1)}, {"axis": -1, "keepdims": True}, {"keepdims": True}, {"axis": ()})
    for x in (MATRIX, INTEGERS, BYTES, SINGLE, MASK, HALF, CUBE)
    if not (name == "std" and kwargs == {"axis": ()})  # the square root of 0 has no derivative
]

CASES: dict[str, list[Case]] = {
    "reductions": REDUCTIONS,
    "reductions of no elements": [
        case(lambda np, x: np.sum(x, axis=0), EMPTY),
        case(lambda np, x: np.prod(x), EMPTY),
        case(lambda np, x: np.max(x, axis=0, initial=-1.0), EMPTY),
        case(lambda np, x: np.all(x), EMPTY),
        case(lambda np, x: np.any(x), EMPTY),
        case(lambda np, x: np.min(x, axis=1), EMPTY),
        case(lambda np, x: np.mean(x, axis=1), EMPTY),
    ],
    "reductions with arguments": [
        case(lambda np, x: np.sum(x, dtype="float32"), MATRIX),
        case(lambda np, x: np.sum(x, 0, "int32"), BYTES),
        case(lambda np, x: np.sum(x, initial=10), MATRIX),
        case(lambda np, x, m: np.sum(x, axis=0, where=m), MATRIX, MASK),
        case(lambda np, x, m: np.prod(x, axis=0, where=m, initial=2), MATRIX, MASK),
        case(lambda np, x, m: np.max(x, axis=0, where=m, initial=0.0), MATRIX, MASK),
        case(lambda np, x, m: np.min(x, axis=0, where=m, initial=9.0, keepdims=True), MATRIX, MASK),
        case(lambda np, x, m: np.all(x, axis=0, where=m), INTEGERS, MASK),
        case(lambda np, x, m: np.any(x, axis=0, where=m), INTEGERS, MASK),
        case(lambda np, x: np.mean(x, dtype="float32"), INTEGERS),
        case(lambda np, x: np.var(x, axis=0, ddof=1), MATRIX),
        case(lambda np, x: np.std(x, ddof=1.5), MATRIX),
        case(lambda np, x: np.var(x, axis=1), COMPLEX),
        case(lambda np, x: np.std(x), COMPLEX),
        case(lambda np, x: np.sum(x, axis=0), COMPLEX),
        case(lambda np, x: np.prod(x), COMPLEX),
        case(lambda np, x: np.mean(x), COMPLEX),
        case(lambda np, x: np.sum(x), SCALAR),
        case(lambda np, x: np.mean(x), 3),
        case(lambda np, x: np.max(x), 3.0),
    ],
    "positions": [
        case(lambda np, x, name=name, kwargs=kwargs: getattr(np, name)(x, **kwargs), x)
        for name in ("argmax", "argmin")
        for kwargs in ({}, {"axis": 0}, {"axis": -1, "keepdims": True})
        for x in (MATRIX, INTEGERS, MASK, CUBE)
    ],
    "taken": [
        case(lambda np, x, i: np.take(x, i), MATRIX, numpy.array([[0, -1], [2, 2]])),
        case(lambda np, x, i: np.take(x, i, 1, mode="clip"), MATRIX, numpy.array([-5, 1, 9])),
        case(lambda np, x, i: np.take(x, i, axis=0, mode="wrap"), COMPLEX, numpy.array(7)),
        case(lambda np, x, i: np.take_along_axis(x, i, 1), MATRIX, numpy.argsort(MATRIX, axis=1)),
        case(lambda np, x, i: np.take_along_axis(x, i, axis=0), MATRIX, numpy.array([[1]])),
        case(lambda np, x, i: np.take_along_axis(x, i, None), INTEGERS, numpy.array([1, -1])),
    ],
    "cumulative": [
        case(lambda np, x, name=name, kwargs=kwargs: getattr(np, name)(x, **kwargs), x)
        for name in ("cumsum", "cumprod")
        for kwargs in ({}, {"axis": 1}, {"axis": 0, "dtype": "float32"})
        for x in (MATRIX, INTEGERS, BYTES, MASK, CUBE, COMPLEX)
        if not (x is COMPLEX and "dtype" in kwargs)
    ],
    "products of stacks": [
        case(lambda np, a, b: np.kron(a, b), MATRIX, VECTOR),
        case(lambda np, a, b: np.kron(a, b), CUBE, INTEGERS),
        case(lambda np, a, b: np.kron(a, b), SCALAR, VECTOR),
        case(lambda np, a, b: np.vecdot(a, b), MATRIX, VECTOR),
        case(lambda np, a, b: np.vecdot(a, b), COMPLEX, COMPLEX + 1j),
        case(lambda np, a, b: np.vecdot(a, b), BYTES, INTEGERS),
        case(lambda np, a, b: np.vecdot(a, b, axis=0), MATRIX, MATRIX),
        case(lambda np, a, b: np.matvec(a, b), CUBE, VECTOR),
        case(lambda np, a, b: np.matvec(a, b), COMPLEX, VECTOR),
        case(lambda np, a, b: np.vecmat(a, b), VECTOR, CUBE.swapaxes(1, 2)),
        case(lambda np, a, b: np.vecmat(a, b), COMPLEX[:, 0], COMPLEX),
        case(lambda np, a, b: np.cross(a, b), MATRIX[:, :3], VECTOR[:3]),
        case(lambda np, a, b: np.cross(a, b, axis=0), MATRIX, INTEGERS),
        case(lambda np, a, b: np.cross(a, b, axisa=1, axisb=0, axisc=0), CUBE, MATRIX[:, :1]),
        case(lambda np, a, b: np.einsum("ij,ij->i", a, b), MATRIX, MATRIX),
        creates(lambda np, a: np.ones(len(np.einsum_path("ij,kj", a, a)[0])), MATRIX),
    ],
    "diagonals": [
        *[
            case(lambda np, x, name=name, k=k: getattr(np, name)(x, k), x)
            for name in ("diag", "diagonal", "trace")
            for k in (0, 1, -2, 4, 9, -9)
            for x in (MATRIX, INTEGERS, COMPLEX)
        ],
        *[case(lambda np, x, k=k: np.diag(x, k), VECTOR) for k in (0, 2, -1)],
        case(lambda np, x: np.diag(x), EMPTY[:, 0]),
        case(lambda np, x: np.diagflat(x, 1), MATRIX),
        case(lambda np, x: np.diagonal(x, 1, 2, 0), CUBE),
        case(lambda np, x: np.diagonal(x, axis1=-1, axis2=-2), CUBE),
        case(lambda np, x: np.diagonal(x), EMPTY),
        case(lambda np, x: np.trace(x, -1, 1, 2), CUBE),
        case(lambda np, x: np.trace(x, dtype="float32"), BYTES),
        case(lambda np, x: np.fliplr(x), MATRIX),
        case(lambda np, x: np.flipud(x), VECTOR),
        *[case(lambda np, x, k=k: np.rot90(x, k), MATRIX) for k in range(-1, 5)],
        case(lambda np, x: np.rot90(x, 1, (2, 0)), CUBE),
    ],
    "polynomials": [
        *[
            case(lambda np, x, N=N, up=up: np.vander(x, N, up), x)
            for N in (None, 0, 1, 3)
            for up in (False, True)
            for x in (VECTOR, INTEGERS[0], BYTES[0], COMPLEX[0])
        ],
        case(lambda np, p, x: np.polyval(p, x), VECTOR, MATRIX),
        case(lambda np, p, x: np.polyval(p, x), INTEGERS[0], 3),
        case(lambda np, p, x: np.polyval(p, x), COMPLEX[0], SCALAR),
        case(lambda np, a, b: np.polyadd(a, b), VECTOR, INTEGERS[0, :2]),
        case(lambda np, a, b: np.polysub(a, b), VECTOR[:3], VECTOR),
        case(lambda np, a, b: np.polymul(a, b), VECTOR, VECTOR[1:]),
        case(lambda np, a, b: np.polymul(a, b), 1 + BYTES[0].astype(int), COMPLEX[0]),
        *[case(lambda np, p, m=m: np.polyder(p, m), p) for m in (0, 1, 2, 5) for p in (VECTOR, INTEGERS[0])],
        *[case(lambda np, p, m=m: np.polyint(p, m), p) for m in (0, 1, 3) for p in (VECTOR, COMPLEX[0])],
        case(lambda np, p: np.polyint(p, 2, [1.0, 2.0]), VECTOR),
        case(lambda np, p: np.polyint(p, 2, 3.0), VECTOR),
    ],
    "grids": [
        creates(lambda np, x: np.logspace(x, 2.0, 5), SCALAR),
        creates(lambda np, x: np.logspace(x, 2 * x, 3, base=2), VECTOR),
        creates(lambda np, x: np.logspace(0.0, x, 3, base=x, axis=1), VECTOR),
        creates(lambda np, x: np.logspace(0, x, 4, endpoint=False, dtype="int32"), SCALAR),
        creates(lambda np, x: np.geomspace(x, 100 * x, 5), VECTOR),
        creates(lambda np, x: np.geomspace(-x, -5 * x, 5, endpoint=False), SCALAR),
        creates(lambda np, x: np.geomspace(x, 3 + 2j, 4), SCALAR),
        creates(lambda np, x: np.geomspace(x, 100 * x, 3, axis=1), VECTOR),
        creates(lambda np, x: np.geomspace(x, 2.0, 1), SCALAR),
        creates(lambda np, x: np.geomspace(x, 2.0, 0), SCALAR),
        *[
            case(lambda np, x, y, kwargs=kwargs: np.meshgrid(x, y, **kwargs), VECTOR, INTEGERS[0, :2])
            for kwargs in ({}, {"indexing": "ij"}, {"sparse": True}, {"copy": False})
        ],
        case(lambda np, x, y, z: np.meshgrid(x, y, z), VECTOR, VECTOR[:2], SCALAR),
        case(lambda np, x: np.meshgrid(x), VECTOR),
    ],
    "padding": [
        *[
            case(lambda np, x, mode=mode, width=width: np.pad(x, width, mode), x)
            for mode in ("edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum", "minimum", "mean", "median")
            for width in (1, ((2, 0), (0, 3)), ((7, 5), (9, 1)))
            for x in (MATRIX, INTEGERS, SINGLE)
        ],
        *[
            case(lambda np, x, mode=mode, width=width: np.pad(x, width, mode, reflect_type="odd"), x)
            for mode in ("reflect", "symmetric")
            for width in (1, ((7, 5), (9, 1)))
            for x in (MATRIX, INTEGERS, BYTES, MATRIX[:1])
        ],
        *[
            case(lambda np, x, mode=mode, n=n: np.pad(x, 2, mode, stat_length=n), MATRIX)
            for mode in ("maximum", "minimum", "mean", "median")
            for n in (2, ((1, 2), (3, 99)))
        ],
        case(lambda np, x: np.pad(x, 2, "linear_ramp", end_values=((1, 2), (3, 4))), MATRIX),
        case(lambda np, x: np.pad(x, {0: 1, -1: (0, 2)}), MATRIX),
        case(lambda np, x: np.pad(x, ((0, 0), (1, 1)), "edge"), EMPTY),
        case(lambda np, x: np.pad(x, ((0, 0), (2, 1)), "wrap"), COMPLEX),
        case(lambda np, x: np.pad(x, 1, "symmetric"), MASK),
        case(lambda np, x: np.pad(x, 3, "reflect"), MATRIX[:1]),
    ],
    "edited": [
        case(lambda np, x, y: np.append(x, y), MATRIX, VECTOR),
        case(lambda np, x, y: np.append(x, y, 0), MATRIX, INTEGERS),
        *[
            case(lambda np, x, obj=obj, axis=axis: np.delete(x, obj, axis), MATRIX)
            for obj in (0, -1, [0, 2], slice(None, None, 2), [], [1, 1], numpy.array([True, False, True]))
            for axis in (0, 1, None)
            if not (axis != 0 and isinstance(obj, numpy.ndarray))
        ],
        *[
            case(lambda np, x, v, obj=obj, axis=axis: np.insert(x, obj, v, axis), MATRIX, SCALAR)
            for obj in (0, -1, 2, [0, 2], [1], slice(0, 2), [1, 1])
            for axis in (0, 1, None)
        ],
        case(lambda np, x, v: np.insert(x, 1, v, 0), MATRIX, VECTOR),
        case(lambda np, x, v: np.insert(x, 1, v, 1), MATRIX, VECTOR[:3]),
        case(lambda np, x, v: np.insert(x, [1], v, 1), MATRIX, VECTOR[:3, None]),
        case(lambda np, x, v: np.insert(x, [0, 2], v, 1), MATRIX, MATRIX[:, :2]),
        case(lambda np, x, v: np.insert(x, 1, v), INTEGERS, VECTOR),
        case(lambda np, x: np.repeat(x, [1, 0, 3], axis=0), MATRIX),
        case(lambda np, x: np.repeat(x, numpy.arange(4), axis=1), INTEGERS),
        case(lambda np, x: np.repeat(x, [2]), SCALAR),
    ],
    "signals": [
        *[
            case(lambda np, x, axis=axis, order=order: np.gradient(x, axis=axis, edge_order=order), x)
            for axis in (None, 0, -1, (1, 0))
            for order in (1, 2)
            for x in (MATRIX, INTEGERS, SINGLE, COMPLEX)
        ],
        *[case(lambda np, x, h, order=order: np.gradient(x, h, edge_order=order), MATRIX, SCALAR) for order in (1, 2)],
        *[
            case(
                lambda np, x, h, order=order: np.gradient(x, h, axis=1, edge_order=order), MATRIX, numpy.cumsum(VECTOR)
            )
            for order in (1, 2)
        ],
        case(lambda np, x, h: np.gradient(x, 0.5, h), MATRIX, numpy.array([0.0, 1.0, 3.0, 7.0])),
        case(lambda np, x: np.gradient(x), VECTOR[:2]),
        case(lambda np, x: np.sinc(x), MATRIX),
        case(lambda np, x: np.sinc(x), numpy.array([0.0, 1e-9, 0.01, 0.0318, 0.032, 1.0])),
        case(lambda np, x: np.sinc(x), INTEGERS),
        case(lambda np, x: np.sinc(x), SINGLE),
        case(lambda np, x: np.nan_to_num(x), numpy.array([numpy.nan, numpy.inf, -numpy.inf, 1.0])),
        case(lambda np, x: np.nan_to_num(x, True, 1.0, 2.0, 3), numpy.array([numpy.nan, numpy.inf, -numpy.inf, 1.0])),
        case(lambda np, x: np.nan_to_num(x), numpy.array([complex(numpy.nan, numpy.inf), 1j], "complex64")),
        case(lambda np, x: np.nan_to_num(x, nan=7.0), HALF),
        case(lambda np, x: np.nan_to_num(x), INTEGERS),
        *[
            case(lambda np, x, kwargs=kwargs: np.unwrap(x, **kwargs), x)
            for kwargs in ({}, {"axis": 0}, {"period": 3}, {"discont": 5.0}, {"period": 4})
            for x in (10 * MATRIX, INTEGERS)
        ],
        case(lambda np, x: np.unwrap(x, period=4), numpy.array([0, 2, 0, -2])),
        case(lambda np, x, y: np.heaviside(x, y), MATRIX - 1, SCALAR),
        case(lambda np, x, y: np.heaviside(x, y), numpy.array([0.0, -0.0, numpy.nan, -1.0, 2.0]), 0.5),
        case(lambda np, x, y: np.array_equiv(x, y), MATRIX, MATRIX[:1]),
        case(lambda np, x, y: np.array_equiv(x, y), 0 * MATRIX, 0 * MATRIX[:1]),
        case(lambda np, x, y: np.array_equiv(x, y), MATRIX, VECTOR[:3]),
    ],
    "functional": [
        *[case(lambda np, x, axis=axis: np.apply_along_axis(np.sum, axis, x), CUBE) for axis in (0, 1, -1)],
        case(lambda np, x: np.apply_along_axis(np.cumsum, 1, x), CUBE),
        case(lambda np, x: np.apply_along_axis(np.outer, 1, x, 2.0 * numpy.ones(2)), CUBE),
        case(lambda np, x: np.apply_along_axis(np.diag, 0, x), MATRIX),
        case(lambda np, x: np.apply_along_axis(lambda row, k: row[:2] * k, -1, x, k=3), VECTOR),
        case(lambda np, x: np.apply_over_axes(np.sum, x, (0, -1)), CUBE),
        case(lambda np, x: np.apply_over_axes(np.cumsum, x, 1), CUBE),
        creates(lambda np, x: np.piecewise(x, [x < 1, x > 1.5], [lambda x: -x, lambda x: x**2, 7]), MATRIX),
        creates(lambda np, x: np.piecewise(x, [x < 1.5, x < 1], [lambda x, k: k * x, 2.7], 3.0), MATRIX),
        creates(lambda np, x: np.piecewise(x, [x < 0, x >= 0], [lambda x: -x, lambda x: x]), INTEGERS),
        case(lambda np, x, m: np.select([m, ~m], [x, 2 * x]), MATRIX, MASK),
        case(lambda np, x, m: np.select([m], [x], 9.0), INTEGERS, MASK),
        case(lambda np, x, m: np.select([m, m], [x, 1], x[:1]), SINGLE, MASK),
        creates(lambda np, x, y: np.vectorize(lambda a, b: a * b + 1)(x, y), MATRIX, VECTOR),
        creates(lambda np, x, y: np.vectorize(lambda a, b: a @ b, signature="(m,n),(n)->(m)")(x, y), CUBE, VECTOR),
        creates(lambda np, x, y: np.vectorize(np.outer, signature="(m),(n)->(m,n)")(x, y), MATRIX, CUBE),
        creates(lambda np, x: np.vectorize(lambda a: (a, 2 * a), signature="(n)->(n),(n)")(x), MATRIX),
        creates(lambda np, x: np.vectorize(lambda a, k: a * k, excluded={1})(x, 3), THIN),
        creates(lambda np, x: np.vectorize(lambda a, k=2: a * k, otypes=["float64"])(x, k=3), INTEGERS),
    ],
    "products": [
        case(lambda np, a, b: np.dot(a, b), VECTOR, VECTOR),
        case(lambda np, a, b: np.dot(a, b), MATRIX, VECTOR),
        case(lambda np, a, b: np.dot(a, b), CUBE, MATRIX.T),
        case(lambda np, a, b: np.dot(a, b), 2.0, MATRIX),
        case(lambda np, a, b: np.matmul(a, b), MATRIX, CUBE.transpose(0, 2, 1)),
        case(lambda np, a, b: np.matmul(a, b), SINGLE, INTEGERS.T),
        case(lambda np, a, b: np.matmul(a, b), VECTOR, VECTOR),
        case(lambda np, a, b: np.matmul(a, b), COMPLEX, MATRIX.T),
        case(lambda np, a, b: np.matmul(a, b), MASK, MASK.T),
        case(lambda np, a, b: np.matmul(a, b), HALF, HALF.T),
        case(lambda np, a, b: np.tensordot(a, b), MATRIX, MATRIX),
        case(lambda np, a, b: np.tensordot(a, b, 1), MATRIX, VECTOR),
        case(lambda np, a, b: np.tensordot(a, b, ([0, 2], [1, 0])), CUBE, CUBE.transpose(2, 0, 1)),
        case(lambda np, a, b: np.outer(a, b), VECTOR, MATRIX),
        case(lambda np, a, b: np.vdot(a, b), MATRIX, MATRIX),
        case(lambda np, a, b: np.vdot(a, b), COMPLEX, COMPLEX[::-1]),
        case(lambda np, a, b: np.inner(a, b), MATRIX, CUBE),
        case(lambda np, a, b: np.inner(a, b), 2.0, VECTOR),
        case(lambda np, a: np.trace(a), MATRIX),
        case(lambda np, a: np.trace(a, 1), MATRIX),
        case(lambda np, a: np.trace(a, offset=-2), INTEGERS),
    ],
    "shapes": [
        case(lambda np, x: np.reshape(x, (4, -1)), MATRIX),
        case(lambda np, x: np.reshape(x, 12), CUBE[0]),
        case(lambda np, x: np.reshape(x, (2, 2), copy=True), VECTOR),
        case(lambda np, x: np.ravel(x), CUBE),
        case(lambda np, x: np.transpose(x), CUBE),
        case(lambda np, x: np.transpose(x, (1, 2, 0)), CUBE),
        case(lambda np, x: np.transpose(x, (0, -1, 1)), CUBE),
        case(lambda np, x: np.permute_dims(x, (1, 2, 0)), CUBE),
        case(lambda np, x: np.matrix_transpose(x), CUBE),
        case(lambda np, x: np.swapaxes(x, 0, -1), CUBE),
        case(lambda np, x: np.moveaxis(x, 0, -1), CUBE),
        case(lambda np, x: np.moveaxis(x, (0, 1), (-1, 0)), CUBE),
        case(lambda np, x: np.squeeze(x), THIN),
        case(lambda np, x: np.squeeze(x, axis=-1), THIN),
        case(lambda np, x: np.squeeze(x, axis=(0, 2)), THIN),
        case(lambda np, x: np.expand_dims(x, 0), MATRIX),
        case(lambda np, x: np.expand_dims(x, axis=(0, -1)), MATRIX),
        case(lambda np, x: np.expand_dims(x, ()), MATRIX),
        case(lambda np, x: np.flip(x), MATRIX),
        case(lambda np, x: np.flip(x, axis=(0, -1)), CUBE),
        case(lambda np, x: np.roll(x, 5), MATRIX),
        case(lambda np, x: np.roll(x, -1, axis=1), MATRIX),
        case(lambda np, x: np.roll(x, (1, 2), axis=(0, 1)), MATRIX),
        case(lambda np, x: np.roll(x, 1, axis=(0, 1)), MATRIX),
        case(lambda np, x: np.roll(x, 1), EMPTY),
        case(lambda np, x: np.broadcast_to(x, (2, 3, 4)), VECTOR),
        case(lambda np, x: np.broadcast_to(x, (5, 2, 4, 3)), THIN),
        case(lambda np, x: np.broadcast_to(x, ()), SCALAR),
        case(lambda np, x, y: np.broadcast_arrays(x, y), VECTOR, MATRIX[:, :1]),
        case(lambda np, x: np.atleast_1d(x), SCALAR),
        case(lambda np, x, y: np.atleast_1d(x, y), 2.0, MATRIX),
        case(lambda np, x: np.atleast_2d(x), VECTOR),
        case(lambda np, x: np.atleast_2d(x), SCALAR),
        case(lambda np, x: np.tril(x), MATRIX),
        case(lambda np, x: np.tril(x, -1), CUBE),
        case(lambda np, x: np.triu(x, 1), INTEGERS),
        case(lambda np, x: np.triu(x, k=-1), MATRIX),
    ],
    "joining": [
        case(lambda np, x, y: np.concatenate([x, y]), MATRIX, INTEGERS),
        case(lambda np, x, y: np.concatenate((x, y), axis=-1), SINGLE, BYTES),
        case(lambda np, x, y: np.concatenate((x, y), axis=None), VECTOR, MATRIX),
        case(lambda np, x, y: np.concatenate((x, y), dtype="float32"), VECTOR, VECTOR),
        case(lambda np, x: np.concatenate(x), CUBE),
        case(lambda np, x, y: np.concat([x, y], axis=1), MATRIX, MATRIX),
        case(lambda np, x, y: np.stack([x, y]), MATRIX, INTEGERS),
        case(lambda np, x, y: np.stack([x, y], axis=-1), VECTOR, VECTOR),
        case(lambda np, x, y: np.stack([x, y]), SCALAR, numpy.float32(2)),
        case(lambda np, x: np.stack(x, axis=1), CUBE),
        case(lambda np, x, y: np.vstack([x, y]), VECTOR, MATRIX),
        case(lambda np, x, y: np.hstack([x, y]), MATRIX, MATRIX[:, :1]),
        case(lambda np, x, y: np.hstack([x, y]), VECTOR, VECTOR),
        case(lambda np, x, y: np.hstack([x, y]), SCALAR, VECTOR),
        case(lambda np, x, y: np.column_stack([x, y]), MATRIX[:, 0], MATRIX),
        case(lambda np, x: np.tile(x, 2), MATRIX),
        case(lambda np, x: np.tile(x, (2, 1, 3)), MATRIX),
        case(lambda np, x: np.tile(x, (2,)), CUBE),
        case(lambda np, x: np.tile(x, 3), SCALAR),
        case(lambda np, x: np.repeat(x, 2), MATRIX),
        case(lambda np, x: np.repeat(x, 3, axis=1), MATRIX),
        case(lambda np, x: np.repeat(x, 0, axis=-1), MATRIX),
        case(lambda np, x: np.pad(x, 1), MATRIX),
        case(lambda np, x: np.pad(x, (1, 2)), MATRIX),
        case(lambda np, x: np.pad(x, ((1, 2), (0, 3)), constant_values=7), INTEGERS),
        case(lambda np, x: np.pad(x, ((1, 2), (0, 3)), constant_values=((1, 2), (3, 4))), MATRIX),
        case(lambda np, x: np.pad(x, 1, mode="constant", constant_values=(1, 2)), MATRIX),
        case(lambda np, x: np.split(x, 3), MATRIX),
        case(lambda np, x: np.split(x, [1, 3], axis=1), MATRIX),
        case(lambda np, x: np.split(x, [2, 1, 9, -1], axis=1), MATRIX),
    ],
    "choice": [
        case(lambda np, c, x, y: np.where(c, x, y), MASK, MATRIX, VECTOR),
        case(lambda np, c, x: np.where(c, x, 0), MASK, SINGLE),
        case(lambda np, c, x: np.where(c, 1.5, x), INTEGERS, INTEGERS),
        case(lambda np, x: np.clip(x, 0.75, 1.5), MATRIX),
        case(lambda np, x: np.clip(x, None, 1), SINGLE),
        case(lambda np, x: np.clip(x, -2, 2), INTEGERS),
        case(lambda np, x: np.clip(x, 0.5, 2), INTEGERS),
        case(lambda np, x: np.clip(x, a_min=1.0, a_max=None), MATRIX),
        case(lambda np, x: np.clip(x, min=1.0, max=1.25), MATRIX),
        case(lambda np, x, low: np.clip(x, low, 1.5), MATRIX, VECTOR),
        case(lambda np, x: np.round(x), MATRIX),
        case(lambda np, x: np.round(x, 2), MATRIX),
        case(lambda np, x: np.round(x * 100, -1), MATRIX),
        case(lambda np, x: np.round(x, 1), COMPLEX),
        case(lambda np, x: np.round(x), INTEGERS),
        case(lambda np, x: np.around(x, 3), SINGLE),
        case(lambda np, x: np.real(x), COMPLEX),
        case(lambda np, x: np.imag(x), COMPLEX),
        case(lambda np, x: np.real(x), MATRIX),
        case(lambda np, x: np.imag(x), MATRIX),
        case(lambda np, x, y: np.isclose(x, y), MATRIX, MATRIX + 1e-9 * MASK + 1e-3 * ~MASK),
        case(lambda np, x, y: np.isclose(x, y, equal_nan=True), numpy.array([numpy.nan, numpy.inf, 1]), numpy.inf),
        case(lambda np, x, y: np.isclose(x, y, rtol=0.5, atol=0.0), MATRIX, VECTOR),
        case(lambda np, x, y: np.allclose(x, y), MATRIX, MATRIX + 1e-10),
        case(lambda np, x, y: np.allclose(x, y, atol=1.0), MATRIX, MATRIX + 2),
        case(lambda np, x, y: np.array_equal(x, y), INTEGERS, INTEGERS),
        case(lambda np, x, y: np.array_equal(x, y), INTEGERS, INTEGERS + 1),
    ],
    "sorting": [
        case(lambda np, x, name=name, kwargs=kwargs: getattr(np, name)(x, **kwargs), x)
        for name in ("sort", "argsort")
        for kwargs in ({}, {"axis": 0}, {"axis": None}, {"axis": 1, "stable": True})
        for x in (MATRIX, COMPLEX, SINGLE, HALF)
    ]
    + [
        case(lambda np, x: np.sort(x, axis=0, kind="stable"), INTEGERS),
        case(lambda np, x: np.argsort(x, kind="stable"), MASK),
        case(lambda np, x: np.sort(x), numpy.array([2.0, numpy.nan, -1.0])),
        case(lambda np, x: np.sort(x), EMPTY),
        case(lambda np, x, y: np.lexsort((x, y)), INTEGERS, BYTES),
        case(lambda np, x: np.lexsort(x), INTEGERS),
        case(lambda np, x: np.sort(np.partition(x, 2)), VECTOR),
        case(lambda np, x: np.partition(x, 2, axis=0)[2], MATRIX),
        case(lambda np, x: np.argpartition(x, -1)[:, -1], MATRIX),
        creates(
            lambda np, x: np.unique(x) if np is numpy else np.unique(x, size=7), numpy.arange(14).reshape(2, 7) % 7
        ),
    ],
    "quantiles": [
        case(lambda np, x, name=name, kwargs=kwargs: getattr(np, name)(x, **kwargs), x)
        for name in ("median", "nanmedian")
        for kwargs in ({}, {"axis": 0}, {"axis": (0, -1), "keepdims": True})
        for x in (MATRIX, INTEGERS, BYTES, CUBE, HOLES)
    ]
    + [
        case(lambda np, x, name=name, q=q, kwargs=kwargs: getattr(np, name)(x, q, **kwargs), x)
        for name in ("quantile", "nanquantile")
        for q, kwargs in (
            (0.3, {}),
            (0.5, {"axis": 0}),
            (numpy.array([0.2, 0.9]), {"axis": -1}),
            (0.7, {"axis": (0, -1), "keepdims": True}),
            (1, {"axis": 0}),
            (numpy.array([[0.25, 0.75]]), {}),
        )
        for x in (MATRIX, INTEGERS, CUBE, SINGLE, HOLES)
    ]
    + [
        case(lambda np, x, method=method: np.quantile(x, numpy.array([0.0, 0.13, 0.51, 1.0]), 1, method=method), MATRIX)
        for method in (
            "inverted_cdf",
            "averaged_inverted_cdf",
            "closest_observation",
            "interpolated_inverted_cdf",
            "hazen",
            "weibull",
            "linear",
            "median_unbiased",
            "normal_unbiased",
            "lower",
            "higher",
            "midpoint",
            "nearest",
        )
    ]
    + [
        case(lambda np, x: np.percentile(x, 30, axis=0), MATRIX),
        case(lambda np, x: np.percentile(x, numpy.array([10, 80.0])), SINGLE),
        case(lambda np, x: np.nanpercentile(x, 60.0, axis=1), HOLES),
        case(lambda np, x, q: np.quantile(x, q), MATRIX, numpy.float64(0.37)),
    ],
    "searching": [
        case(lambda np, a, v, side=side: np.searchsorted(a, v, side), a, v)
        for side in ("left", "right")
        for a in (numpy.sort(VECTOR), numpy.array([-2, 1, 1, 3]), numpy.array([0.75, 1.0, numpy.nan]))
        for v in (MATRIX, INTEGERS, SCALAR, HOLES)
    ]
    + [
        case(lambda np, a, v: np.searchsorted(a, v, sorter=numpy.argsort(VECTOR)), VECTOR, MATRIX),
        case(lambda np, x, b: np.digitize(x, b), MATRIX, numpy.array([0.5, 1.0, 1.5])),
        case(lambda np, x, b: np.digitize(x, b, right=True), INTEGERS, numpy.array([3, 1, -2])),
        case(lambda np, x: np.histogram(x, 4), MATRIX),
        case(lambda np, x: np.histogram(x, numpy.array([0.5, 1.0, 1.1, 2.0]), density=True), MATRIX),
        case(lambda np, x: np.histogram(x, 3, range=(0.0, 1.5)), MATRIX),
        case(lambda np, x, w: np.histogram(x, numpy.array([0.5, 1.0, 2.0]), weights=w), MATRIX, MATRIX),
        creates(lambda np, x: np.bincount(x, minlength=9) if np is numpy else np.bincount(x, length=9), BYTES[0] % 9),
        creates(lambda np, x: np.argwhere(x) if np is numpy else np.argwhere(x, size=12), MATRIX),
    ],
    "differences": [
        case(lambda np, x: np.diff(x), MATRIX),
        case(lambda np, x: np.diff(x, 2, axis=0), MATRIX),
        case(lambda np, x: np.diff(x, prepend=1, append=x), INTEGERS),
        case(lambda np, x: np.diff(x), MASK),
        case(lambda np, x: np.diff(x, 0), COMPLEX),
        case(lambda np, x: np.diff(x, 9), VECTOR),
        case(lambda np, x: np.ediff1d(x), MATRIX),
        case(lambda np, x: np.ediff1d(x, to_begin=1, to_end=numpy.array([2, 3])), INTEGERS),
        case(lambda np, y: np.trapezoid(y), MATRIX),
        case(lambda np, y: np.trapezoid(y, dx=0.5, axis=0), MATRIX),
        case(lambda np, y, x: np.trapezoid(y, x), MATRIX, VECTOR.cumsum()),
        case(lambda np, y, x: np.trapezoid(y, x, axis=0), INTEGERS, MATRIX),
        case(lambda np, x, xp, fp: np.interp(x, xp, fp), MATRIX, numpy.array([0.7, 1.0, 1.6]), VECTOR[:3]),
        case(lambda np, x, xp, fp: np.interp(x, xp, fp, -1.0, 7), MATRIX, numpy.array([0.7, 1.0, 1.6]), VECTOR[:3]),
        case(lambda np, fp, x: np.interp(x, numpy.arange(4), fp, period=3.5), VECTOR, 9 * MATRIX),
        case(lambda np, x, fp: np.interp(x, numpy.arange(4), fp), MATRIX, COMPLEX[0]),
    ],
    "correlation": [
        case(lambda np, a, v, name=name, mode=mode: getattr(np, name)(a, v, mode), a, v)
        for name in ("convolve", "correlate")
        for mode in ("full", "same", "valid")
        for a, v in ((VECTOR, MATRIX[0, :3]), (MATRIX[0, :2], VECTOR), (INTEGERS[0], INTEGERS[1]), (COMPLEX[0], VECTOR))
    ]
    + [
        case(lambda np, x: np.cov(x), MATRIX),
        case(lambda np, x: np.cov(x, rowvar=False, bias=True), MATRIX),
        case(lambda np, x, y: np.cov(x, y, ddof=0), VECTOR, VECTOR[::-1]),
        case(lambda np, x: np.cov(x), COMPLEX),
        case(lambda np, x: np.cov(x, fweights=numpy.array([1, 2, 1, 3]), aweights=VECTOR), MATRIX),
        case(lambda np, x: np.corrcoef(x), MATRIX),
        case(lambda np, x, y: np.corrcoef(x, y), INTEGERS, MATRIX),
    ],
    "types": [
        case(lambda np, x: np.astype(x, "float32"), MATRIX),
        case(lambda np, x: np.astype(x, np.int8), MATRIX),
        case(lambda np, x: np.copy(x), MATRIX),
        case(lambda np, x: np.zeros(3) * np.size(x) * np.size(x, 1) + np.ndim(x), MATRIX),
        case(lambda np, x: np.zeros(np.shape(x)), MATRIX),
        case(lambda np, x: np.ones(3) * np.iscomplexobj(x) + 2 * np.isrealobj(x), COMPLEX),
        case(lambda np, x: np.ones(3, np.result_type(x, 1.0, "int8")), SINGLE),
        case(lambda np, x: np.ones(3, np.promote_types(x.dtype, "int64")), SINGLE),
        case(lambda np, x: np.ones(np.broadcast_shapes(x.shape, (1, 1))), SINGLE),
    ],
    "creation": [
        case(lambda np, x: np.zeros_like(x), SINGLE),
        case(lambda np, x: np.ones_like(x), INTEGERS),
        case(lambda np, x: np.ones_like(x, dtype="float32"), INTEGERS),
        case(lambda np, x: np.full_like(x, 2.75), INTEGERS),
        case(lambda np, x: np.full_like(x, 2.75, shape=(2,)), SINGLE),
        case(lambda np, x: np.zeros_like(np.empty_like(x)), SINGLE),
        case(lambda np, x: np.zeros((2, 3)) + np.zeros(3, "int8"), SCALAR),
        case(lambda np, x: np.ones((2, 3)) + np.ones((), "complex64") + np.zeros_like(np.empty((3,))), SCALAR),
        case(lambda np, x: np.full((2, 2), 7), SCALAR),
        case(lambda np, x: np.full((2, 2), 7.5, "float32"), SCALAR),
        creates(lambda np, x: np.full((2, 2), x), SCALAR),
        creates(lambda np, x: np.full((3, 4), x, "float32"), VECTOR),
        case(lambda np, x: np.eye(3), SCALAR),
        case(lambda np, x: np.eye(3, 4, -1, "int8"), SCALAR),
        case(lambda np, x: np.identity(2), SCALAR),
        case(lambda np, x: np.tri(3, 4, 1, dtype="float32"), SCALAR),
        case(lambda np, x: np.arange(5), SCALAR),
        case(lambda np, x: np.arange(5.0), SCALAR),
        case(lambda np, x: np.arange(1, 8, 3), SCALAR),
        case(lambda np, x: np.arange(5, 0, -2), SCALAR),
        case(lambda np, x: np.arange(3, 1), SCALAR),
        case(lambda np, x: np.arange(0.1, 1.0, 0.1), SCALAR),
        case(lambda np, x: np.arange(1.0, 0.0, -0.3, dtype="float32"), SCALAR),
        case(lambda np, x: np.arange(3, dtype="complex64"), SCALAR),
        creates(lambda np, x: np.linspace(x, 3.0, 7), SCALAR),
        creates(lambda np, x: np.linspace(x, 2 * x, 5, axis=1), VECTOR),
        creates(lambda np, x: np.linspace(0.0, x, 5, endpoint=False), SCALAR),
        creates(lambda np, x: np.linspace(0.0, x, 5, retstep=True), SCALAR),
        creates(lambda np, x: np.linspace(0, 10 * x, 4, dtype="int32"), SCALAR),
        creates(lambda np, x: np.linspace(x, 5.0, 1), SCALAR),
        creates(lambda np, x: np.linspace(x, 5.0, 0), SCALAR),
        creates(lambda np, x: np.array(x), MATRIX),
        creates(lambda np, x: np.array(x, "float32"), INTEGERS),
        creates(lambda np, x: np.array(x), 3),
        creates(lambda np, x: np.array([x, 2.0, 3]), SCALAR),
        creates(lambda np, x: np.array([[x, 1], (2, x)], "float32"), SCALAR),
        creates(lambda np, x: np.array([x, x + 1]), numpy.float32(1)),
        creates(lambda np, x: np.array([x, 2.0]), numpy.float32(1)),
        creates(lambda np, x: np.asarray([x, x]), VECTOR),
        creates(lambda np, x: np.asarray(x), SINGLE),
    ],
}
ALL = [pytest.param(entry, id=f"{group} {i}") for group, entries in CASES.items() for i, entry in enumerate(entries)]


def same(got: Any, want: Any, digits: float = 16) -> None:
    got, want = (tree.leaves(list(x) if isinstance(x, tuple) else x) for x in (got, want))
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        if isinstance(other, bool):
            other = numpy.bool(other)
        assert get_aval(one).update(weak_type=False) == get_aval(other).update(weak_type=False)
        dtype = numpy.asarray(other).dtype
        tolerance = digits * numpy.finfo(dtype).eps if dtype.kind in "fc" else 0
        numpy.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def numpy_answer(entry: Case) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return entry.call(numpy, *entry.args)


@pytest.mark.parametrize("entry", ALL)
def test_eagerly(entry: Case):
    same(entry.call(lnp, *entry.args), numpy_answer(entry))


@pytest.mark.parametrize("entry", ALL)
def test_compiled(entry: Case):
    same(jit(lambda *args: entry.call(lnp, *args), backend="numpy")(*entry.args), numpy_answer(entry))


@pytest.mark.parametrize("entry", [entry for entry in ALL if not entry.values[0].creates])
def test_by_numpy_s_own_function(entry: Case):
    same(jit(lambda *args: entry.call(numpy, *args), backend="numpy")(*entry.args), numpy_answer(entry))


@pytest.mark.parametrize("entry", ALL)
def test_mapped(entry: Case):
    stacked = [numpy.stack([numpy.asarray(x)] * 2) for x in entry.args]
    got = vmap(lambda *args: entry.call(lnp, *args))(*stacked)
    want = numpy_answer(Case(entry.call, tuple(numpy.asarray(x)[()] for x in entry.args)))
    rows = [tree.map(lambda x, i=i: x[i], list(got) if isinstance(got, tuple) else got) for i in (0, 1)]
    for row in rows:
        same(row, want)


@pytest.mark.parametrize("entry", ALL)
def test_derivatives(entry: Case):
    """The derivative forward is the difference quotient, and the derivative backward is its transpose."""
    chosen = [i for i, x in enumerate(entry.args) if getattr(x, "dtype", None) == numpy.float64 and numpy.size(x)]
    if not chosen or not numpy.all(numpy.isfinite(entry.args[chosen[0]])):
        return

    def function(module: Any) -> Callable[..., Any]:
        def total(x: Any) -> Any:
            args = list(entry.args)
            args[chosen[0]] = x
            leaves = tree.leaves(entry.call(module, *args))
            inexact = [y for y in leaves if is_inexact(get_aval(y).dtype)]
            return sum(
                (module.sum(module.real(y * WEIGHTS[: get_aval(y).size].reshape(get_aval(y).shape))) for y in inexact),
                0.0,
            )

        return total

    x = entry.args[chosen[0]]
    direction = numpy.random.default_rng(1).normal(size=numpy.shape(x))
    if any(numpy.asarray(y).dtype in ("float32", "complex64") for y in tree.leaves(numpy_answer(entry))):
        return  # not enough digits for a difference
    step = 1e-6
    slope = (function(numpy)(x + step * direction) - function(numpy)(x - step * direction)) / (2 * step)
    forward = jvp(function(lnp), (x,), (direction,))[1]
    backward = numpy.sum(grad(lambda x: function(lnp)(x) + 0.0 * lnp.sum(x))(x) * direction)
    assert forward == pytest.approx(slope, rel=1e-6, abs=1e-6)
    assert backward == pytest.approx(forward, rel=1e-12, abs=1e-12)


WEIGHTS = numpy.random.default_rng(2).uniform(0.5, 1.5, 1000)


class Recorder:
    """A module that notes which of its names are used."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.used.add(name)
        return getattr(lnp, name)


def test_every_function_is_tested():
    recorder = Recorder()
    for param in ALL:
        entry: Case = param.values[0]
        entry.call(recorder, *entry.args)
    constants = {"pi", "e", "euler_gamma", "inf", "nan", "newaxis", "dtype", "finfo", "iinfo", "issubdtype"}
    tested_elsewhere = {"power", "pow", "put_along_axis", "nonzero", "flatnonzero"}  # test_ufuncs.py, test_indexing.py
    rest = {
        name
        for name in lnp.__all__
        if not isinstance(getattr(lnp, name), Ufunc | type | ModuleType) and name not in constants | tested_elsewhere
    }
    assert rest <= recorder.used


def test_the_constants_and_dtypes_are_numpy_s():
    for name in ("pi", "e", "inf", "newaxis", "float32", "bool", "int8", "complex128", "finfo"):
        assert getattr(lnp, name) is getattr(numpy, name)
    assert lnp.zeros(1, lnp.bfloat16).dtype == "bfloat16"


@pytest.mark.parametrize(
    "name", [name for name in lnp.__all__ if not isinstance(getattr(lnp, name), Ufunc | type | ModuleType)]
)
def test_the_arguments_are_numpy_s(name: str):
    """In the order of NumPy's, as far as there are such, so that positional arguments mean the same."""
    ours, theirs = getattr(lnp, name), getattr(numpy, name)
    if not callable(ours) or name in ("dtype", "finfo", "iinfo", "issubdtype"):
        return
    try:
        positional = [
            p.name for p in inspect.signature(theirs).parameters.values() if p.kind <= p.POSITIONAL_OR_KEYWORD
        ]
    except ValueError:
        return  # written in C
    own = [p.name for p in inspect.signature(ours).parameters.values() if p.kind <= p.POSITIONAL_OR_KEYWORD]
    if name in ("real", "imag", "arange"):  # positional only in NumPy, or `val`
        return
    assert own == positional[: len(own)]


def test_a_stable_softmax():
    def softmax(x: Any) -> Any:
        unnormalized = lnp.exp(x - lnp.max(x, axis=-1, keepdims=True))
        return unnormalized / lnp.sum(unnormalized, axis=-1, keepdims=True)

    x = numpy.array([1000.0, 0.0, -1000.0])
    numpy.testing.assert_array_equal(softmax(x), [1.0, 0.0, 0.0])
    gradient = grad(lambda x: softmax(x)[1])(numpy.array([1.0, 2.0, 3.0]))
    p = numpy.exp([1.0, 2.0, 3.0]) / numpy.sum(numpy.exp([1.0, 2.0, 3.0]))
    numpy.testing.assert_allclose(gradient, p[1] * (numpy.array([0, 1, 0]) - p))
