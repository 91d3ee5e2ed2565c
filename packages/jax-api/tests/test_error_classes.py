"""Errors are caught by the class that JAX raises for the same mistake."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.jax as jax
import lawful.jax.numpy as jnp
from lawful.core import LawfulError
from lawful.jax import lax

X = np.arange(3.0)


@jax.custom_jvp
def no_jvp(x: Any) -> Any:
    return x


@jax.custom_vjp
def no_vjp(x: Any) -> Any:
    return x


@jax.custom_batching.custom_vmap
def no_vmap(x: Any) -> Any:
    return x


@jax.custom_vjp
def wrong_bwd(x: Any) -> Any:
    return x


wrong_bwd.defvjp(lambda x: (x, None), lambda _, g: (jnp.zeros(4),))


@jax.tree_util.register_pytree_node_class
class Triple:
    def tree_flatten(self) -> Any:
        return 1, 2, 3

    @classmethod
    def tree_unflatten(cls, aux: Any, children: Any) -> Any:
        return cls()


def called_back(result: Any) -> Any:
    return jax.jit(lambda x: jax.pure_callback(lambda _: result, jax.ShapeDtypeStruct((), "float64"), x))(0.0)


MISTAKES: dict[str, tuple[type[Exception], Callable[[], Any]]] = {
    "custom_jvp without a rule": (AttributeError, lambda: no_jvp(1.0)),
    "custom_vjp without rules": (AttributeError, lambda: no_vjp(1.0)),
    "custom_vmap without a rule": (AttributeError, lambda: no_vmap(1.0)),
    "a wrong cotangent of bwd": (ValueError, lambda: jax.grad(lambda x: wrong_bwd(x).sum())(X)),
    "a wrong cotangent": (ValueError, lambda: jax.vjp(jnp.sin, X)[1](np.ones(4))),
    "cotangents of another tree": (ValueError, lambda: jax.vjp(jnp.sin, X)[1]((X, X))),
    "no argument to differentiate by": (TypeError, lambda: jax.grad(lambda x, y: x + y)(x=1.0, y=2.0)),
    "a traced slice": (IndexError, lambda: jax.jit(lambda x, i: x[i : i + 2])(X, 1)),
    "a traced mask": (jax.errors.NonConcreteBooleanIndexError, lambda: jax.jit(lambda x, i: x[i])(X, X > 1)),
    "floating positions": (TypeError, lambda: jnp.take_along_axis(X, X, 0)),
    "a traced length": (
        jax.errors.ConcretizationTypeError,
        lambda: jax.jit(lambda n: lax.scan(lambda c, _: (c, c), 0.0, None, n))(3),
    ),
    "scan over scalars": (ValueError, lambda: lax.scan(lambda c, x: (c, x), 0.0, 1.0)),
    "dimensions of a broadcast": (TypeError, lambda: lax.broadcast_in_dim(X, (2, 3), (0,))),
    "a padding value with dimensions": (ValueError, lambda: lax.pad(X, X, [(0, 0, 0)])),
    "a negative length": (TypeError, lambda: jnp.ones((-1, 1))),
    "hypot of complex numbers": (ValueError, lambda: jnp.hypot(X * 1j, X)),
    "cov of integers": (ValueError, lambda: jnp.cov(X, dtype=int)),
    "where of integers": (ValueError, lambda: jnp.sum(X, where=np.ones(3, int))),
    "normal of integers": (ValueError, lambda: jax.random.normal(jax.random.key(0), (), int)),
    "bits of signed integers": (ValueError, lambda: jax.random.bits(jax.random.key(0), (), "int8")),
    "a masked array": (ValueError, lambda: jax.jit(lambda x: x)(np.ma.array([1, 2], mask=[True, False]))),
    "None in an array": (ValueError, lambda: jnp.array([0.0, None])),
    "a derivative of a callback": (
        ValueError,
        lambda: jax.grad(lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), x.dtype), x))(1.0),
    ),
    "a result of a callback": (RuntimeError, lambda: called_back(X)),
    "a flatten function": (ValueError, lambda: jax.tree_util.tree_flatten(Triple())),
    "a list as an axis": (ValueError, lambda: jnp.fft.fft(X, axis=[0, 0])),
    "None in a shape": (ValueError, lambda: jax.ShapeDtypeStruct((None, 2), "float32")),
    "a static name of a positional-only argument": (ValueError, lambda: jax.jit(lambda a, /: a, static_argnames="a")),
    "a negative size of helmert": (ValueError, lambda: jax.scipy.linalg.helmert(0)),
    "leslie without survivals": (ValueError, lambda: jax.scipy.linalg.leslie(jnp.ones(1), jnp.ones(0))),
    "transpose of another tree": (
        TypeError,
        lambda: jax.tree.transpose(jax.tree.structure([0, 0]), jax.tree.structure([0]), [(1,), (2,)]),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_error_class_is_that_of_jax(name: str) -> None:
    error, mistake = MISTAKES[name]
    with pytest.raises(error) as raised:
        mistake()
    assert isinstance(raised.value, LawfulError)


def test_arrays_like_an_object_with_a_type_do_not_read_it() -> None:
    class Described:
        shape = (2, 3)
        dtype = np.dtype("float32")

        def __jax_array__(self) -> Any:
            raise AssertionError("read")

    for like in (jnp.zeros_like, jnp.ones_like, jnp.empty_like, lambda x: jnp.full_like(x, 2.0)):
        found = like(Described())
        assert type(found) is jax.Array
        assert (found.shape, found.dtype) == ((2, 3), np.float32)


def test_raveled_trees_of_one_dtype_take_vectors_of_others() -> None:
    vector, unravel = jax.flatten_util.ravel_pytree({"a": jnp.ones(2, "float32")})
    assert unravel(vector > 0)["a"].dtype == bool
    vector, unravel = jax.flatten_util.ravel_pytree([jnp.ones(2, "float32"), jnp.ones(2, "float64")])
    with pytest.raises(TypeError, match="expected a vector of dtype float64"):
        unravel(vector > 0)


def test_programs_hold_no_constants_of_random_numbers() -> None:
    assert jax.eval_shape(lambda seed: jax.random.normal(jax.random.key(seed), (10**12,)), 0).shape == (10**12,)


def test_map_computes_all_slices_at_once() -> None:
    seen = []
    lax.map(lambda x: seen.append(x.shape) or x, X, batch_size=0)
    assert seen == [()]


def test_callback_returns_an_array_of_another_library() -> None:
    class Other:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array(42.0)

    assert called_back(Other()) == 42.0


def test_cotangent_stands_for_the_leaves_of_a_subtree() -> None:
    @jax.custom_vjp
    def f(pair: Any, y: Any) -> Any:
        return (pair[0] + pair[1]) * y

    f.defvjp(lambda pair, y: (f(pair, y), (pair, y)), lambda res, g: (res[1] * g, (res[0][0] + res[0][1]) * g))
    assert jax.grad(f)((1.0, 2.0), 3.0) == (3.0, 3.0)
