"""Gather, scatter, dynamic slices, indexing and functional updates agree with jax, values and derivatives."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp, vjp
from lawful.batching import vmap
from lawful.laws import RandomChoose, draw_call
from lawful.staging import jit, make_jaxpr

DRAWS = 25
SCATTERS = ("scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max")
MODES = {"clip": "clip", "fill_or_drop": "fill", "promise_in_bounds": "promise_in_bounds"}


def jax_function(name, params):
    params = dict(params)
    if name == "gather":
        params["dimension_numbers"] = jax.lax.GatherDimensionNumbers(*params["dimension_numbers"])
    elif name.startswith("scatter"):
        params["dimension_numbers"] = jax.lax.ScatterDimensionNumbers(*params["dimension_numbers"])
    if "mode" in params:
        params["mode"] = MODES[params["mode"]]
    if name == "dynamic_slice":
        return lambda x, *starts: jax.lax.dynamic_slice(x, starts, allow_negative_indices=False, **params)
    if name == "dynamic_update_slice":
        return lambda x, y, *starts: jax.lax.dynamic_update_slice(x, y, starts, allow_negative_indices=False)
    return lambda *args: getattr(jax.lax, name)(*args, **params)


@pytest.mark.parametrize("name", ["gather", *SCATTERS, "dynamic_slice", "dynamic_update_slice"])
def test_indexing_drawn_calls_agree(name):
    primitive = getattr(ops, f"{name}_p")
    for seed in range(DRAWS):
        call = draw_call(primitive, RandomChoose(seed))
        if name.startswith("scatter") and not call.params["dimension_numbers"][2]:
            continue  # jax 0.12 fails to compile index vectors of no numbers
        theirs = jax_function(name, call.params)
        arrays = [np.asarray(x) for x in call.args]  # some are Python numbers
        want = np.asarray(jax.jit(theirs)(*arrays))
        np.testing.assert_allclose(np.asarray(call(*call.args)), want, rtol=2e-3 if want.dtype.itemsize == 2 else 1e-6)
        floating = [i for i, x in enumerate(arrays) if x.dtype in (np.float64, np.complex128)]
        if not floating:
            continue

        def vary(f, args=arrays, floating=floating):
            def of_floating(*values):
                full = list(args)
                for place, x in zip(floating, values, strict=True):
                    full[place] = x
                return f(*full)

            return of_floating

        xs = [arrays[i] for i in floating]
        random = np.random.default_rng(seed)
        directions = [random.normal(size=x.shape).astype(x.dtype) for x in xs]
        ct = random.normal(size=want.shape).astype(want.dtype)
        tangent = jvp(vary(call), tuple(xs), tuple(directions))[1]
        tangent_want, ct_want = derivatives(vary(theirs), tuple(xs), tuple(directions), ct)
        np.testing.assert_allclose(tangent, tangent_want, rtol=1e-12, atol=1e-12)
        for got, expected in zip(vjp(vary(call), *xs)[1](ct), ct_want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def derivatives(function, xs, directions, ct):
    """Returns jax's tangent and cotangents, compiled at once: op by op it takes much longer."""

    def both(xs, directions, ct):
        return jax.jvp(function, xs, directions)[1], jax.vjp(function, *xs)[1](ct)

    return jax.jit(both)(xs, directions, ct)


X = np.arange(1.0, 25.0).reshape(2, 3, 4)
INDICES = {
    "integer": lambda x, i: x[i[0]],
    "two integers": lambda x, i: x[i[0], ..., i[1]],
    "array": lambda x, i: x[:, i],
    "array outside": lambda x, i: x[:, i + 2],
    "negative": lambda x, i: x[-i - 1],
    "split": lambda x, i: x[i, ::2, i],
    "with slices": lambda x, i: x[::-1, None, i, 1::2],
    "of two dimensions": lambda x, i: x[i[:, None], i],
}


@pytest.mark.parametrize("name", INDICES)
def test_traced_indices_agree_also_outside(name):
    index, i = INDICES[name], np.array([1, 0, 1])
    both = np.stack([i, i - 3])

    def read(vmap):
        return lambda x, i, both: (index(x, i), vmap(index, (None, 0))(x, both))

    def differentiated(grad):
        total = lambda x, i: (index(x, i) ** 3.0).sum()  # noqa: E731
        return lambda x, i: (grad(total)(x, i), grad(lambda x: (grad(total)(x, i) ** 2.0).sum())(x))

    want = jax.jit(read(jax.vmap))(X, i, both)
    # Where indices are outside, jax drops the cotangent of what it has read.
    derivatives = jax.jit(differentiated(jax.grad))(X, i) if name != "array outside" else None
    for backend in ("numpy", "xla"):
        for found, expected in zip(jit(read(vmap), backend=backend)(X, i, both), want, strict=True):
            np.testing.assert_array_equal(found, expected)
        if derivatives is not None:
            for found, expected in zip(jit(differentiated(grad), backend=backend)(X, i), derivatives, strict=True):
                np.testing.assert_allclose(found, expected)


def test_getitem_grad_of_index_out_of_bounds():
    """A traced index out of bounds is clipped; the derivative is that of the element read."""
    assert float(grad(lambda x, i: jit(lambda x, i: x[i])(x, i))(np.arange(3.0), 9)[-1]) == 1.0


METHODS = ("set", "add", "subtract", "multiply", "divide", "power", "min", "max")
PLACES = {
    "array": lambda i: i,
    "split": lambda i: (i, slice(0, 2), i),
    "scalar": lambda i: (0, i[0], slice(None, None, -2)),
}


@pytest.mark.parametrize("method", METHODS)
def test_indexing_functional_updates_agree(method):
    cases = [("array", None), ("split", "clip"), ("scalar", None), ("array", "drop")]  # compiled as one program

    def updated(grad, x, v, i):
        def total(x, v, place, mode):
            y = getattr(x.at[PLACES[place](i)], method)(v, mode=mode, unique_indices=True)
            return (y**2.0).sum(), y

        return [grad(total, (0, 1), has_aux=True)(x, v, *case) for case in cases]

    ours, theirs = jit(partial(updated, grad)), jax.jit(partial(updated, jax.grad))
    for i in (np.array([1, 0]), np.array([-1, 5])):
        for (place, mode), found, expected in zip(cases, ours(X, 1.5, i), theirs(X, 1.5, i), strict=True):
            if mode == "clip" and i[1] == 5:
                continue  # both become 1, which the promise says they do not
            for y, want in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
                np.testing.assert_allclose(y, want, rtol=1e-12, err_msg=f"{place}, {mode}")


def test_at_set_grad_of_repeated_indices():
    """At a repeated index the derivative is that of the update that stays."""
    x, i, v = np.arange(4.0), np.array([1, 2, 1, 1]), np.array([5.0, 6.0, 7.0, 8.0])
    f = lambda x, v, i: (x.at[i].set(v) ** 2.0).sum()  # noqa: E731
    for wrt in (0, 1):
        np.testing.assert_allclose(jit(grad(f, wrt))(x, v, i), jax.jit(jax.grad(f, wrt))(x, v, i))


def test_indexing_equal_updates_share_derivative_of_an_extremum():
    x, i, v = np.array([1.0, 5.0, 3.0]), np.array([0, 0, 1, 2]), np.array([4.0, 4.0, 5.0, 2.0])
    for method in ("min", "max"):
        f = lambda x, v, i, method=method: (getattr(x.at[i], method)(v) * np.array([1.0, 10.0, 100.0])).sum()  # noqa: E731
        for wrt in (0, 1):
            np.testing.assert_allclose(jit(grad(f, wrt))(x, v, i), jax.jit(jax.grad(f, wrt))(x, v, i))


def test_indexing_reads_by_mode_agree():
    for mode in ("fill", "clip", "promise_in_bounds"):
        for dtype in ("float32", "int16", "uint8", "bool", "complex64"):
            x, i = np.ones(3, dtype), np.array([0, 2] if mode == "promise_in_bounds" else [0, 7, -9])
            f = lambda x, i, mode=mode: x.at[i].get(mode=mode)  # noqa: E731
            np.testing.assert_array_equal(jit(f)(x, i), jax.jit(f)(jnp.asarray(x), i))


def test_take_and_its_like_agree():
    import lawful.numpy as lnp

    i = np.array([[2, 9], [-1, -7]])
    for mode in (None, "fill", "clip", "wrap"):
        f = lambda np, mode=mode: lambda x, i: np.take(x, i, axis=1, mode=mode)  # noqa: E731
        np.testing.assert_array_equal(jit(f(lnp))(X, i), jax.jit(f(jnp))(X, i))
    order = np.argsort(-X, axis=1)
    for mode in (None, "clip"):
        f = lambda np, mode=mode: lambda x, i: np.take_along_axis(x, i, 1, mode=mode)  # noqa: E731
        for indices in (order, order[:1, :, :1], order + 1):
            np.testing.assert_array_equal(jit(f(lnp))(X, indices), jax.jit(f(jnp))(X, indices))
    put = lambda np: lambda x, i: np.put_along_axis(x, i, 9.0, 1, inplace=False)  # noqa: E731
    np.testing.assert_array_equal(jit(put(lnp))(X, order[:, :1]), jax.jit(put(jnp))(jnp.asarray(X), order[:, :1]))
    nonzero = lambda np: lambda x: np.nonzero(x > 7, size=30, fill_value=-2)  # noqa: E731
    np.testing.assert_array_equal(jit(nonzero(lnp))(X), jax.jit(nonzero(jnp))(X))


def test_getitem_traced_index_primitives():
    """Traced integers are read by one dynamic slice, and traced arrays by one gather."""
    i = np.int64(1)
    text = str(make_jaxpr(lambda x, i: x[i, :, i])(X, i))
    assert text.count("dynamic_slice") == 1
    assert "gather" not in text
    text = str(make_jaxpr(lambda x, i: x[i, ..., i[:, None]])(X, np.array([0, 1])))
    assert text.count("gather[") == 1
    assert str(make_jaxpr(lambda x, y: x.at[1:, 0].set(y))(X, 1.0)).count("dynamic_update_slice") == 1
