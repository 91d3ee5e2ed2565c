"""Errors are of NumPy's class, the same eagerly and under a trace, and say what to do."""

import re
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import lawful.numpy as lnp
from lawful.autodiff import grad
from lawful.core import LawfulError
from lawful.staging import jit, make_jaxpr

MATRIX, VECTOR = numpy.ones((3, 4)), numpy.ones(3)

ERRORS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "shapes do not broadcast": (lambda np, x: np.add(x, np.zeros(5)), MATRIX),
    "axis of a reduction": (lambda np, x: np.sum(x, axis=2), MATRIX),
    "axis named twice": (lambda np, x: np.sum(x, axis=(0, 0)), MATRIX),
    "extremum of nothing": (lambda np, x: np.max(x), numpy.zeros((0, 3))),
    "position in nothing": (lambda np, x: np.argmax(x), numpy.zeros((0, 3))),
    "number of elements": (lambda np, x: np.reshape(x, (5, -1)), MATRIX),
    "two unknown lengths": (lambda np, x: np.reshape(x, (-1, -1)), MATRIX),
    "permutation": (lambda np, x: np.transpose(x, (0, 0)), MATRIX),
    "axis to swap": (lambda np, x: np.swapaxes(x, 0, 2), MATRIX),
    "axis to move": (lambda np, x: np.moveaxis(x, 5, 0), MATRIX),
    "places for axes": (lambda np, x: np.moveaxis(x, (0, 1), (0,)), MATRIX),
    "length to squeeze": (lambda np, x: np.squeeze(x, 0), MATRIX),
    "axis to squeeze": (lambda np, x: np.squeeze(x, 2), MATRIX),
    "axis to expand": (lambda np, x: np.expand_dims(x, 4), MATRIX),
    "axis to flip": (lambda np, x: np.flip(x, 2), MATRIX),
    "axis to roll": (lambda np, x: np.roll(x, 1, 2), MATRIX),
    "distances to roll": (lambda np, x: np.roll(x, (1, 2, 3), (0, 1)), MATRIX),
    "nothing to join": (lambda np, x: np.concatenate([]), MATRIX),
    "scalars to join": (lambda np, x: np.concatenate([x, x]), 1.0),
    "shapes to join": (lambda np, x: np.concatenate([x, np.zeros((3, 5))]), MATRIX),
    "shapes to stack": (lambda np, x: np.stack([x, np.zeros((3, 5))]), MATRIX),
    "nothing to stack": (lambda np, x: np.stack([]), MATRIX),
    "place to stack": (lambda np, x: np.stack([x, x], axis=4), MATRIX),
    "unequal parts": (lambda np, x: np.split(x, 2), MATRIX),
    "shape to broadcast": (lambda np, x: np.broadcast_to(x, (3, 5)), MATRIX),
    "shorter shape to broadcast": (lambda np, x: np.broadcast_to(x, (4,)), MATRIX),
    "shapes of arrays": (lambda np, x: np.broadcast_arrays(x, np.zeros(5)), MATRIX),
    "pairs to pad": (lambda np, x: np.pad(x, ((1, 1), (1, 1), (1, 1))), MATRIX),
    "negative padding": (lambda np, x: np.pad(x, -1), MATRIX),
    "negative repetition": (lambda np, x: np.repeat(x, -1), MATRIX),
    "axis to repeat": (lambda np, x: np.repeat(x, 2, axis=2), MATRIX),
    "mode of padding": (lambda np, x: np.pad(x, 1, "corner"), MATRIX),
    "argument of a mode of padding": (lambda np, x: np.pad(x, 1, "edge", end_values=1), MATRIX),
    "type of reflection": (lambda np, x: np.pad(x, 1, "wrap", reflect_type="odd"), MATRIX),
    "nothing to continue": (lambda np, x: np.pad(x, 1, "edge"), numpy.zeros((0, 3))),
    "pairs to ramp to": (lambda np, x: np.pad(x, 1, "linear_ramp", end_values=((1, 2),) * 3), MATRIX),
    "number of repetitions": (lambda np, x: np.repeat(x, [1, 2], 0), MATRIX),
    "position to delete": (lambda np, x: np.delete(x, 3, 0), MATRIX),
    "axis to delete": (lambda np, x: np.delete(x, 0, 2), MATRIX),
    "position to insert": (lambda np, x: np.insert(x, 4, 0, 0), MATRIX),
    "values to insert": (lambda np, x: np.insert(x, 1, np.ones(3), 0), MATRIX),
    "shapes to append": (lambda np, x: np.append(x, np.ones(4), 0), MATRIX),
    "diagonal of a vector": (lambda np, x: np.diagonal(x), VECTOR),
    "diagonal of one axis": (lambda np, x: np.diagonal(x, 0, 1, 1), MATRIX),
    "diagonal of no axis": (lambda np, x: np.diagonal(x, 0, 1, 2), MATRIX),
    "diag of a cube": (lambda np, x: np.diag(x), numpy.ones((2, 2, 2))),
    "trace of a vector": (lambda np, x: np.trace(x), VECTOR),
    "columns to flip": (lambda np, x: np.fliplr(x), VECTOR),
    "rows to flip": (lambda np, x: np.flipud(x), 1.0),
    "axes to turn": (lambda np, x: np.rot90(x, 1, (0, 0)), MATRIX),
    "number of axes to turn": (lambda np, x: np.rot90(x, 1, (0,)), MATRIX),
    "vectors to cross": (lambda np, x: np.cross(x, x), MATRIX),
    "lengths of vectors": (lambda np, x: np.vecdot(x, np.zeros(5)), MATRIX),
    "matrix and vector": (lambda np, x: np.matvec(x, np.zeros(5)), MATRIX),
    "vector and matrix": (lambda np, x: np.vecmat(x[0], x), MATRIX),
    "powers of a matrix": (lambda np, x: np.vander(x), MATRIX),
    "negative number of powers": (lambda np, x: np.vander(x, -1), VECTOR),
    "order of a derivative": (lambda np, x: np.polyder(x, -1), VECTOR),
    "order of an antiderivative": (lambda np, x: np.polyint(x, -1), VECTOR),
    "constants of integration": (lambda np, x: np.polyint(x, 3, [1.0, 2.0]), VECTOR),
    "indexing of a grid": (lambda np, x: np.meshgrid(x, indexing="yx"), VECTOR),
    "samples of a logarithm": (lambda np, x: np.logspace(x, 1.0, -1), VECTOR),
    "number of distances": (lambda np, x: np.gradient(x, 1.0, 1.0, 1.0), MATRIX),
    "number of coordinates": (lambda np, x: np.gradient(x, np.ones(5), axis=0), MATRIX),
    "samples of a gradient": (lambda np, x: np.gradient(x), numpy.ones(1)),
    "edges of a gradient": (lambda np, x: np.gradient(x, edge_order=2), numpy.ones(2)),
    "axis of a gradient": (lambda np, x: np.gradient(x, axis=2), MATRIX),
    "axis to unwrap": (lambda np, x: np.unwrap(x, axis=2), MATRIX),
    "axis to apply along": (lambda np, x: np.apply_along_axis(np.sum, 2, x), MATRIX),
    "dimensions over axes": (lambda np, x: np.apply_over_axes(lambda a, axis: a[0, 0], x, 0), MATRIX),
    "conditions": (lambda np, x: np.select([x > 1], [x, x]), MATRIX),
    "no conditions": (lambda np, x: np.select([], []), MATRIX),
    "numbers as conditions": (lambda np, x: np.select([x], [x]), MATRIX),
    "functions of pieces": (lambda np, x: np.piecewise(x, [x > 1], [1, 2, 3]), MATRIX),
    "signature": (lambda np, x: np.vectorize(np.sum, signature="(n->()")(x), MATRIX),
    "arguments of a signature": (lambda np, x: np.vectorize(np.sum, signature="(n),(n)->()")(x), MATRIX),
    "dimensions of a signature": (lambda np, x: np.vectorize(np.dot, signature="(n),(n)->()")(x, np.ones(5)), MATRIX),
    "matrix product": (lambda np, x: np.matmul(x, x), MATRIX),
    "product with a scalar": (lambda np, x: np.matmul(x, 2.0), MATRIX),
    "inner product": (lambda np, x: np.dot(x, np.zeros(5)), MATRIX),
    "last dimensions": (lambda np, x: np.inner(x, np.zeros(5)), MATRIX),
    "elements": (lambda np, x: np.vdot(x, np.zeros(5)), MATRIX),
    "contracted dimensions": (lambda np, x: np.tensordot(x, np.zeros(5), 1), MATRIX),
    "exact dtype of a float function": (lambda np, x: np.bitwise_and(x, x), MATRIX),
    "difference of booleans": (lambda np, x: np.subtract(x, x), numpy.array([True])),
    "shape of a value": (lambda np, x: np.full((2,), x), VECTOR),
    "negative length": (lambda np, x: np.zeros(-1), VECTOR),
    "negative number of samples": (lambda np, x: np.linspace(0, 1, -1), VECTOR),
    "ragged list": (lambda np, x: np.array([[1, 2], [3]]), VECTOR),
    "ragged list of arrays": (lambda np, x: np.array([x, x[:2]]), VECTOR),
    "too few dimensions": (lambda np, x: np.size(x, 2), VECTOR),
    "two bounds": (lambda np, x: np.clip(x, 0, 1, max=2), VECTOR),
}


@pytest.mark.parametrize("name", ERRORS)
def test_class_of_the_error(name: str):
    call, x = ERRORS[name]
    with pytest.raises(Exception) as numpys:  # noqa: PT011 its class is what is compared
        call(numpy, x)
    built_in = next(
        cls for cls in (numpy.exceptions.AxisError, TypeError, IndexError, ValueError) if isinstance(numpys.value, cls)
    )
    for run in (call, lambda np, x: jit(lambda x: call(np, x), backend="numpy")(x)):
        with pytest.raises(built_in) as ours:
            run(lnp, x)
        assert isinstance(ours.value, LawfulError)
        assert re.search("expected", str(ours.value))
        assert str(ours.value).startswith(__file__)


ONLY_OURS: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "a list": (lambda x: lnp.sum([1, 2]), TypeError, "asarray"),
    "a list to a ufunc": (lambda x: lnp.add(x, [1, 2, 3]), TypeError, "asarray"),
    "out": (lambda x: lnp.sum(x, out=numpy.zeros(())), TypeError, "use the result"),
    "out by position": (lambda x: lnp.sum(x, 0, None, numpy.zeros(())), TypeError, "use the result"),
    "order": (lambda x: lnp.reshape(x, (3, 1), order="F"), ValueError, "transpose"),
    "a condition only": (lambda x: lnp.where(x), TypeError, "depends on values"),
    "where without initial": (lambda x: lnp.max(x, where=x > 0), ValueError, "initial"),
    "strings": (lambda x: lnp.array(["a"]), TypeError, "dtype: expected one of"),
    "objects": (lambda x: lnp.array([object()]), TypeError, "dtype: expected one of"),
    "no parts": (lambda x: lnp.split(x, 0), ValueError, "number of parts"),
    "step of zero": (lambda x: lnp.arange(0, 1, 0), ValueError, "step"),
    "no arrays": (lambda x: lnp.result_type(), ValueError, "at least one"),
    "unknown dtype": (lambda x: lnp.zeros(3, "float31"), TypeError, "float31"),
    "unsupported dtype": (lambda x: lnp.zeros(3, "float128"), TypeError, "float128"),
}


@pytest.mark.parametrize("name", ONLY_OURS)
def test_errors_of_ours(name: str):
    call, cls, text = ONLY_OURS[name]
    for run in (call, jit(call, backend="numpy")):
        with pytest.raises(cls, match=text):
            run(VECTOR)


def test_a_traced_shape_says_static_argnums():
    for call in (lnp.zeros, lnp.arange, lambda n: lnp.reshape(VECTOR, n), lambda n: lnp.tile(VECTOR, n), lnp.eye):
        with pytest.raises(TypeError, match=r"static_argnums|length of the result"):
            jit(call, backend="numpy")(3)


def test_creation_is_recorded():
    text = str(make_jaxpr(lambda: lnp.zeros((1000,)) + lnp.arange(1000))())
    assert "broadcast_in_dim" in text
    assert "iota" in text


def test_eager_results_are_numpy_arrays_of_their_own():
    for x in (lnp.zeros(3), lnp.full((2, 2), VECTOR[:2]), lnp.tile(VECTOR, 2), lnp.repeat(VECTOR, 2), lnp.copy(VECTOR)):
        assert type(x) is numpy.ndarray
        assert x.flags.writeable
        assert not numpy.shares_memory(x, VECTOR)


def test_the_system_is_usable_after_an_error():
    with pytest.raises(ValueError, match="broadcast"):
        grad(lambda x: lnp.sum(lnp.add(x, numpy.zeros(5))))(VECTOR)
    numpy.testing.assert_array_equal(grad(lnp.sum)(VECTOR), numpy.ones(3))
