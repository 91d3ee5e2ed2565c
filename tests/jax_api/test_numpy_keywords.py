"""Arguments of `jax.numpy` that NumPy does not have, through `lawful.jax.numpy`, beside JAX."""

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import numpy as np
import pytest

import lawful.jax as ljax
import lawful.jax.numpy as jnp

X = np.random.default_rng(0).normal(size=(3, 4))


def ufunc(module: Any, function: Any = operator.sub, identity: Any = None) -> Any:
    return module.frompyfunc(function, nin=2, nout=1, identity=identity)


# Functions of a module, JAX's or ours, and of an array.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "polyadd of rows": lambda np, x: np.polyadd(x, x[:2]),
    "polysub of rows": lambda np, x: np.polysub(x[:1], x),
    "polysub of a number": lambda np, x: np.polysub(x, x[0, :1]),
    "frompyfunc": lambda np, x: ufunc(np)(x, 1),
    "frompyfunc reduce": lambda np, x: ufunc(np).reduce(x),
    "frompyfunc reduce identity": lambda np, x: ufunc(np, identity=0.0).reduce(x, axis=None),
    "frompyfunc reduce where": lambda np, x: ufunc(np, operator.add, 0.0).reduce(x, 1, keepdims=True, where=x > 0),
    "frompyfunc accumulate": lambda np, x: ufunc(np).accumulate(x, axis=1),
    "frompyfunc at": lambda np, x: ufunc(np).at(x, np.array([0, 2, 0]), x, inplace=False),
    "frompyfunc outer": lambda np, x: ufunc(np).outer(x, x[0]),
    **{
        f"interp {left} {right}": lambda np, x, left=left, right=right: np.interp(
            4 * x, np.array([-1.0, 0.5, 2.0]), np.array([1.0, 3.0, -2.0]), left, right
        )
        for left in (None, 7.0, "extrapolate")
        for right in (None, 7.0, "extrapolate")
    },
    "interp period": lambda np, x: np.interp(
        x, np.array([0.1, 0.5, 2.0]), np.array([1.0, 3.0, -2.0]), "extrapolate", period=2.5
    ),
    "interp points": lambda np, x: np.interp(
        np.array([-5.0, 0.2, 9.0]), np.array([-1.0, 0.5, 2.0, 3.0]), x[0], "extrapolate", "extrapolate"
    ),
    "unique rows": lambda np, x: np.unique(np.concatenate([x[1:], x[:2]]), axis=0, size=5, fill_value=2.0),
    "unique columns": lambda np, x: np.unique(x[:, np.array([2, 0, 2, 1])], axis=1, size=3),
    "take by booleans": lambda np, x: np.take(x, np.array([True, False]), axis=0),
    "frompyfunc reduceat": lambda np, x: ufunc(np).reduceat(x, np.array([0, 2, 1]), axis=1),
}


@pytest.mark.parametrize("name", CALLS)
def test_keywords_give_the_results_of_jax(name: str) -> None:
    call = CALLS[name]
    if name.startswith("interp"):
        jax.clear_caches()  # JAX's takes static arguments of one call for those of others

    def total(module: Any, x: Any) -> Any:
        return module.numpy.sum(module.numpy.sin(call(module.numpy, x)))

    # JAX compiles one program faster than its parts.
    wanted, theirs = jax.jit(lambda x: (call(jax.numpy, x), jax.grad(partial(total, jax))(x)))(X)
    for run in (lambda x: call(jnp, x), ljax.jit(lambda x: call(jnp, x))):
        got = run(jnp.asarray(X))
        assert isinstance(got, jnp.ndarray)
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
    np.testing.assert_allclose(ljax.grad(partial(total, ljax))(jnp.asarray(X)), theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["frompyfunc", "ufunc", "add"])
def test_ufunc_attributes_are_those_of_jax(name: str) -> None:
    def make(np: Any) -> Any:
        return np.add if name == "add" else getattr(np, name)(operator.add, 2, 1, identity=0)

    ours, theirs = make(jnp), make(jax.numpy)
    assert isinstance(ours, jnp.ufunc)
    for attribute in ("nin", "nout", "nargs", "identity", "__name__"):
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
    assert isinstance(ours.reduce(jnp.arange(3)), jnp.ndarray)
    for attribute in ("nin", "nout", "nargs", "identity"):
        with pytest.raises(AttributeError):
            setattr(ours, attribute, 3)
    assert repr(ours) == repr(theirs)
    assert ours == make(jnp)
    assert hash(ours) == hash(make(jnp))


def test_ufuncs_are_those_of_jax() -> None:
    def names(np: Any) -> set[str]:
        return {name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}

    assert names(jnp) == names(jax.numpy)
    assert not isinstance(jnp.sin, jnp.ufunc)
    with pytest.raises(ValueError, match="nargs"):
        jnp.ufunc(operator.add, 2, 1, nargs=3)


@pytest.mark.parametrize("name", ["abs", "acos", "conj", "frompyfunc", "max", "amax", "permute_dims", "pow"])
def test_functions_have_the_names_of_jax(name: str) -> None:
    assert getattr(jnp, name).__name__ == getattr(jax.numpy, name).__name__ == name


def test_lax_dtype_takes_dtypes() -> None:
    for x in (jnp.float32, np.float32, np.dtype("float32"), np.float32(1.0), jnp.ones(2, "float32")):
        assert ljax.lax.dtype(x) == np.float32


@pytest.mark.parametrize("name", ["eye", "tri"])
def test_diagonal_may_be_traced(name: str) -> None:
    got, wanted = (
        module.jit(module.vmap(lambda k, np=module.numpy: getattr(np, name)(2, 3, k)))(module.numpy.arange(-1, 3))
        for module in (ljax, jax)
    )
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(("a", "b"), [([0, 0, 1.0, 2.0], [0, 3.0, 4.0]), ([0.0, 0.0], [1.0, 2.0]), ([0.0], [2.0])])
def test_leading_zeros_are_trimmed(a: list[float], b: list[float]) -> None:
    got, wanted = (
        module.numpy.polymul(module.numpy.array(a), module.numpy.array(b), trim_leading_zeros=True)
        for module in (ljax, jax)
    )
    np.testing.assert_array_equal(got, wanted)
    with pytest.raises(TypeError, match="polymul: expected polynomials whose coefficients are known"):
        ljax.jit(lambda a: jnp.polymul(a, a, trim_leading_zeros=True))(jnp.array(a))


def test_leading_zeros_of_a_remainder_are_trimmed() -> None:
    got, wanted = (
        np.polydiv(np.array([1.0, 3.0, 3.0, 4.0]), np.array([1.0, 1.0, 1.0]), trim_leading_zeros=True)
        for np in (jnp, jax.numpy)
    )
    for x, y in zip(got, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


@pytest.mark.parametrize("axis", [None, 1, (0, 1), (0, -1), ()])
def test_size_along_several_dimensions(axis: Any) -> None:
    x = np.ones((2, 3, 4))
    assert jnp.size(x, axis=axis) == jnp.size(jnp.asarray(x), axis) == jax.numpy.size(x, axis=axis)
    assert ljax.jit(lambda x: x.sum() * jnp.size(x, axis=axis))(x) == 24 * jax.numpy.size(x, axis=axis)


_DTYPES = ["bfloat16", "float8_e5m2", "int4", "uint2", "float32", "int8", "bool", "complex64", float, int, jnp.bfloat16]
_CATEGORIES = [
    *(np.inexact, np.floating, np.integer, np.signedinteger, np.unsignedinteger, np.number, np.generic),
    *(np.complexfloating, object, np.float64, float, "float32", "bfloat16", np.dtype("bfloat16"), bool),
]


@pytest.mark.parametrize("dtype", [*_DTYPES, np.floating, np.generic])
def test_issubdtype_is_that_of_jax(dtype: Any) -> None:
    theirs = jax.numpy.bfloat16 if dtype is jnp.bfloat16 else dtype
    for category in _CATEGORIES:
        assert jnp.issubdtype(dtype, category) == jax.numpy.issubdtype(theirs, category), category


@pytest.mark.parametrize("dtype", [*_DTYPES[:-1], "float4_e2m1fn", "float6_e2m3fn"])
def test_itemsize_bits_is_that_of_jax(dtype: Any) -> None:
    assert ljax.dtypes.itemsize_bits(dtype) == jax.dtypes.itemsize_bits(dtype)


def test_itemsize_bits_of_none_raises() -> None:
    with pytest.raises(ValueError, match="None"):
        ljax.dtypes.itemsize_bits(None)


SETS = {
    "shared": ([5, 3, 7, 7, 4], [3, 9, 2, 4, 8]),
    "disjoint": ([5, 3, 7, 7, 4], [11, 12]),
    "empty": ([5.0, 3.0], []),
}


# Compiled as one program.
FILLS: list[dict[str, Any]] = [{"size": 1}, {"size": 7}, {"size": 7, "fill_value": -1}]


@pytest.mark.parametrize(
    ("name", "arrays"),
    [
        (name, arrays)
        for name in ("intersect1d", "intersect1d indices", "setdiff1d", "setxor1d", "union1d")
        for arrays in SETS
        if (name, arrays) != ("intersect1d indices", "empty")  # JAX's raises a TypeError
    ],
)
def test_sets_of_a_size_are_filled_as_in_jax(name: str, arrays: str) -> None:
    name, _, indices = name.partition(" ")
    keywords = {"return_indices": True} if indices else {}
    x, y = map(np.array, SETS[arrays])

    def filled(module: Any, x: Any, y: Any) -> list[Any]:
        return [getattr(module, name)(x, y, **fill, **keywords) for fill in FILLS]

    wanted = jax.jit(partial(filled, jax.numpy))(x, y)
    for run in (lambda f: f, ljax.jit):
        got = run(lambda x, y: filled(jnp, x, y))(jnp.asarray(x), jnp.asarray(y))
        for ours, theirs in zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True):
            np.testing.assert_array_equal(ours, theirs)
