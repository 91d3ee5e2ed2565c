"""Ufuncs of functions of scalars equal those of NumPy, eager and compiled, with derivatives and batches."""

import operator
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import lawful.numpy as lnp
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.control_flow import scan
from lawful.staging import jit

X = numpy.random.default_rng(0).normal(size=(3, 4))


def combine(x: Any, y: Any) -> Any:
    return x - 2 * y * y


OURS, THEIRS = lnp.frompyfunc(combine, 2, 1), numpy.frompyfunc(combine, 2, 1)

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "call": lambda f, x: f(x, x[0]),
    "reduce": lambda f, x: f.reduce(x),
    "reduce last": lambda f, x: f.reduce(x, -1),
    "reduce keepdims": lambda f, x: f.reduce(x, axis=1, keepdims=True),
    "reduce initial": lambda f, x: f.reduce(x, axis=1, initial=2.0),
    "reduce where": lambda f, x: f.reduce(x, axis=1, initial=2.0, where=X > 0),
    "reduce one element": lambda f, x: f.reduce(x[:1]),
    "reduce no element": lambda f, x: f.reduce(x[:0], initial=2.0),
    "accumulate": lambda f, x: f.accumulate(x),
    "accumulate last": lambda f, x: f.accumulate(x, axis=-1),
    "accumulate one element": lambda f, x: f.accumulate(x[:1]),
    "reduceat": lambda f, x: f.reduceat(x, [0, 2, 1]),
    "reduceat last": lambda f, x: f.reduceat(x, [0, 3, 1, 1], axis=1),
    "reduceat no position": lambda f, x: f.reduceat(x, numpy.array([], dtype=int)),
    "outer": lambda f, x: f.outer(x, x[0]),
}


@pytest.mark.parametrize("name", CALLS)
def test_frompyfunc_method_is_numpy_s(name: str):
    call = CALLS[name]
    wanted = numpy.asarray(call(THEIRS, X)).astype(float)
    for run in (lambda x: call(OURS, x), jit(lambda x: call(OURS, x), backend="numpy")):
        got = run(X)
        assert got.dtype == numpy.float64
        numpy.testing.assert_allclose(got, wanted, rtol=1e-12)
    batched = vmap(lambda x: call(OURS, x))(numpy.stack([X, X[::-1]]))
    if "where" not in name:
        numpy.testing.assert_allclose(batched[1], numpy.asarray(call(THEIRS, X[::-1])).astype(float), rtol=1e-12)


@pytest.mark.parametrize("name", CALLS)
def test_frompyfunc_derivatives_are_difference_quotients(name: str):
    def value(x: Any) -> Any:
        return lnp.sum(CALLS[name](OURS, x))

    direction, step = numpy.cos(X), 1e-6
    quotient = (value(X + step * direction) - value(X - step * direction)) / (2 * step)
    assert jvp(value, (X,), (direction,))[1] == pytest.approx(quotient, rel=1e-6, abs=1e-6)
    assert numpy.sum(grad(value)(X) * direction) == pytest.approx(quotient, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("indices", [numpy.array([2, 0, 2]), 1, slice(None, None, 2), numpy.array([True, False, True])])
def test_frompyfunc_at_counts_repeated_positions(indices: Any):
    wanted = X[0, :3].astype(object)
    THEIRS.at(wanted, indices, 0.5)
    for run in (
        lambda x: OURS.at(x, indices, 0.5),
        jit(lambda x: OURS.at(x, indices, 0.5, inplace=False), backend="numpy"),
    ):
        numpy.testing.assert_allclose(run(X[0, :3]), wanted.astype(float), rtol=1e-12)


def test_frompyfunc_at_derivative_and_traced_positions():
    at = jit(lambda x, i, b: OURS.at(x, i, b), backend="numpy")
    numpy.testing.assert_allclose(at(X, numpy.array([0, 0]), X[:2]), OURS.at(X, [0, 0], X[:2]), rtol=1e-12)
    b = numpy.array([1.0, 3.0])
    gradient = grad(lambda b: OURS.at(numpy.zeros(2), numpy.array([0, 0]), b)[0])(b)
    numpy.testing.assert_allclose(gradient, -4 * b)
    square = lnp.frompyfunc(lambda x: x * x, 1, 1)
    numpy.testing.assert_array_equal(square.at(numpy.array([2.0, 3.0]), numpy.array([0, 0])), [16.0, 3.0])


def test_frompyfunc_reduceat_of_traced_positions():
    indices = numpy.array([0, 2, 1])
    wanted = OURS.reduceat(X, indices, axis=1)
    numpy.testing.assert_allclose(
        jit(lambda x, i: OURS.reduceat(x, i, axis=1), backend="numpy")(X, indices), wanted, rtol=1e-12
    )
    numpy.testing.assert_allclose(
        vmap(lambda i: OURS.reduceat(X, i, axis=1))(numpy.stack([indices, indices]))[1], wanted, rtol=1e-12
    )


def test_frompyfunc_reduceat_ignores_elements_of_other_slices():
    """The derivative is that of the slices, also where the function is singular elsewhere."""
    ratio = lnp.frompyfunc(operator.truediv, 2, 1)
    gradient = grad(lambda x: ratio.reduceat(x, [0, 2, 3])[0])(numpy.array([1.0, 2.0, 3.0, 0.0]))
    numpy.testing.assert_allclose(gradient, [0.5, -0.25, 0.0, 0.0])


def test_frompyfunc_attributes():
    add = lnp.frompyfunc(operator.add, 2, 1, identity=0)
    assert (add.nin, add.nout, add.nargs, add.identity) == (2, 1, 3, 0)
    assert (add.__name__, add.__doc__) == ("add", operator.add.__doc__)
    assert repr(add) == "<function lawful.numpy.frompyfunc(add, 2, 1)>"


def test_frompyfunc_identity_is_the_value_of_no_element():
    add = lnp.frompyfunc(operator.add, 2, 1, identity=0)
    assert add.reduce(numpy.zeros(0)) == 0
    numpy.testing.assert_array_equal(add.reduce(X, where=X > 9), numpy.zeros(4))
    assert add.reduce(X, axis=None) == pytest.approx(X.sum())
    assert add.reduce(numpy.float64(3.0)) == 3.0


def test_frompyfunc_dtypes():
    x = numpy.array([1, 2, 4])
    mean = lnp.frompyfunc(lambda x, y: (x + y) / 2, 2, 1)
    assert mean.reduce(x) == 2.75  # integers are converted to what the function gives
    assert mean.reduce(x, dtype=numpy.float32).dtype == numpy.float32
    with pytest.raises(TypeError, match=r"reduce: expected a function that gives numbers .*, got float64 for int64"):
        mean.reduce(x, dtype=int)
    with pytest.raises(TypeError, match=r"lt\.accumulate: expected a function that gives numbers of the dtype"):
        lnp.frompyfunc(operator.lt, 2, 1).accumulate(x)


def test_frompyfunc_of_several_results_and_closures():
    both = lnp.frompyfunc(lambda x, y: (x + y, x * y), 2, 2)
    for run in (both, jit(lambda *args: both(*args), backend="numpy")):
        total, product = run(X, X[0])
        numpy.testing.assert_allclose(total, X + X[0])
        numpy.testing.assert_allclose(product, X * X[0])
    gradient = grad(lambda scale: lnp.frompyfunc(lambda x, y: x + scale * y, 2, 1).reduce(X[0]))(2.0)
    assert gradient == pytest.approx(X[0, 1:].sum())
    last, _ = scan(lambda carry, row: (OURS.reduce(row) + carry, None), 0.0, X)
    assert last == pytest.approx(sum(OURS.reduce(row) for row in X))


def test_frompyfunc_errors():
    with pytest.raises(TypeError, match=r"frompyfunc: expected a function of scalars, got 3 of type int; pass"):
        lnp.frompyfunc(3, 2, 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"frompyfunc: expected an integer as nin, got 2\.0"):
        lnp.frompyfunc(combine, 2.0, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"frompyfunc: expected nout to be at least 1, got 0"):
        lnp.frompyfunc(combine, 2, 0)
    with pytest.raises(TypeError, match=r"combine: expected 2 arguments, got 1"):
        OURS(X)
    with pytest.raises(TypeError, match=r"combine: expected arrays as the only arguments, got out="):
        OURS(X, X, out=X)
    with pytest.raises(TypeError, match=r"combine: expected a tuple of 2 results from the function, got one"):
        lnp.frompyfunc(combine, 2, 2)(X, X)
    with pytest.raises(TypeError, match=r"divmod: expected one result from the function, got a tuple of 2"):
        lnp.frompyfunc(divmod, 2, 1)(7, 2)
    with pytest.raises(TypeError, match="asarray"):
        OURS([1.0], [2.0])
    negative = lnp.frompyfunc(operator.neg, 1, 1)
    for name, args in {"reduce": (X,), "accumulate": (X,), "reduceat": (X, [0]), "outer": (X, X)}.items():
        with pytest.raises(ValueError, match=rf"neg\.{name}: expected a function of two arguments with one result"):
            getattr(negative, name)(*args)
    with pytest.raises(TypeError, match=r"neg\.at: expected 1 operands of a function with one result, got 2"):
        negative.at(X, 0, 1.0)


@pytest.mark.parametrize("run", [lambda f: f(X), lambda f: jit(f, backend="numpy")(X)], ids=["eager", "compiled"])
def test_frompyfunc_method_errors(run: Any):
    with pytest.raises(TypeError, match=r"combine\.reduce: expected no out="):
        run(lambda x: OURS.reduce(x, out=x))
    with pytest.raises(ValueError, match=r"combine\.reduce: expected at most one dimension"):
        run(lambda x: OURS.reduce(x, axis=(0, 1)))
    with pytest.raises(ValueError, match=r"combine\.reduce: expected an initial value with where="):
        run(lambda x: OURS.reduce(x, where=x > 0))
    with pytest.raises(TypeError, match=r"combine\.reduce: expected booleans as where"):
        run(lambda x: OURS.reduce(x, where=x, initial=0))
    with pytest.raises(ValueError, match=r"combine\.reduce: expected at least one element"):
        run(lambda x: OURS.reduce(x[:0]))
    with pytest.raises(numpy.exceptions.AxisError, match=r"combine\.reduce: expected an axis"):
        run(lambda x: OURS.reduce(x, axis=2))
    with pytest.raises(TypeError, match=r"combine\.accumulate: expected an array of at least one dimension"):
        run(lambda x: OURS.accumulate(x[0, 0]))
    with pytest.raises(IndexError, match=r"combine\.reduceat: expected positions from 0 to 2"):
        run(lambda x: OURS.reduceat(x, [0, 5]))
    with pytest.raises(TypeError, match=r"combine\.reduceat: expected integers as indices"):
        jit(OURS.reduceat, backend="numpy")(X, X[0])
    with pytest.raises(ValueError, match=r"combine\.reduceat: expected a vector of indices"):
        jit(OURS.reduceat, backend="numpy")(X, numpy.zeros((2, 2), int))
    with pytest.raises(ValueError, match=r"combine\.at: expected inplace=False"):
        run(lambda x: OURS.at(x, 0, 1.0, inplace=True))
    with pytest.raises(ValueError, match=r"combine\.at: .*broadcast"):
        run(lambda x: OURS.at(x, 0, numpy.zeros(3)))
