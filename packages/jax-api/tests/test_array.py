"""The eager array of `lawful.jax`: what a ``jax.Array`` answers, NumPy's protocols, immutability, weakness."""

import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lawful.jax as jax
import lawful.jax.numpy as jnp
from lawful import ops, staging
from lawful.core import ArgumentTypeError

X = jnp.arange(3.0)


def test_array_functions_return_arrays() -> None:
    for found in (X, X[0], X + 1, 1 + X, -X, X @ X, X.sum(), X.T, X.astype(int), X > 1, np.sum(X), np.ones(3) + X,
                  np.float64(2) * X, X.at[0].set(1), jnp.sin(X), jnp.linalg.norm(X), X.reshape(3, 1), *X):  # fmt: skip
        assert type(found) is jax.Array
        assert not np.asarray(found).flags.writeable


def test_reduction_where_none_takes_all_elements() -> None:
    """JAX's default, which losses pass on; NumPy's methods and ufuncs take None for False."""
    for name in ("sum", "prod", "any", "all"):
        assert getattr(X, name)(where=None) == getattr(X, name)()
    for ufunc in (jnp.add, jnp.multiply, jnp.maximum, jnp.logical_and, jnp.logical_or):
        assert ufunc.reduce(X, where=None) == ufunc.reduce(X)
        assert jax.jit(lambda x, ufunc=ufunc: ufunc.reduce(x, where=None))(X) == ufunc.reduce(X)
    assert jnp.add.reduce(X, where=X > 1.0) == 2.0


def test_array_in_functions_of_numpy_gives_its_arrays() -> None:
    for found in (np.sin(X), np.maximum(X, 1.0), np.stack([X, X]), np.copy(X), np.zeros_like(X), np.where(X > 1, X, 0),
                  np.concatenate([X, np.ones(2)]), np.linalg.inv(jnp.eye(2)), np.add.accumulate(X)):  # fmt: skip
        assert type(found) is np.ndarray
        found[0] = 5.0
    total = np.zeros(3)
    np.sin(X, out=total)
    np.add.at(total, [0, 1], X[:2])
    assert type(total) is np.ndarray
    assert type(np.sin(X[0])) is np.float64
    assert np.dot(a=X, b=X) == 5.0
    total += X
    assert type(total) is jax.Array


def test_array_isinstance_of_arrays_and_tracers() -> None:
    assert jnp.ndarray is jax.Array
    assert isinstance(X, jax.Array)
    assert isinstance(jax.jit(lambda x: x + 1)(X), jax.Array)
    assert not isinstance(np.ones(3), jax.Array)
    assert not isinstance(1.0, jax.Array)
    seen = []
    jax.grad(lambda x: seen.append(isinstance(x, jax.Array)) or x)(1.0)
    assert seen == [True]


def test_array_questions_of_devices() -> None:
    assert X.block_until_ready() is X
    assert X.devices() == {X.device} == set(jax.devices()[:1])
    assert X.sharding.device_set == X.devices()
    assert X.is_fully_addressable
    assert not X.is_deleted()


def test_array_is_immutable() -> None:
    with pytest.raises(ArgumentTypeError, match=r"x = x.at\[...\].set"):
        X[0] = 1.0
    y = X
    y += 1
    assert X.tolist() == [0.0, 1.0, 2.0]
    assert y.tolist() == [1.0, 2.0, 3.0]


FUNCTIONS = [jnp.array, jnp.asarray, jnp.ravel, jnp.transpose, lambda a: jnp.broadcast_to(a, (2, 3))]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_array_is_no_view_of_the_callers_array(function: Callable[..., jax.Array]) -> None:
    mine = np.arange(3.0)
    found = function(mine)
    mine[0] = 7.0
    assert found.ravel()[0] == 0.0


def test_array_of_a_gradient_of_a_number_is_weak() -> None:
    slope = jax.grad(lambda x: x**2)(3.0)
    assert slope.weak_type
    assert (slope * jnp.ones(2, jnp.float32)).dtype == jnp.float32
    assert (slope + 1.0).weak_type
    assert jnp.add(slope, jnp.float32(1)).dtype == np.float32


def test_array_text() -> None:
    assert repr(X) == "Array([0., 1., 2.], dtype=float64)"
    assert f"{X[1]:.2f} {X}" == "1.00 [0. 1. 2.]"
    assert repr(jnp.zeros((0, 2))) == "Array([], shape=(0, 2), dtype=float64)"


def test_array_copies_and_pickles() -> None:
    assert copy.deepcopy(X) is copy.copy(X) is X
    again = pickle.loads(pickle.dumps(X))
    assert type(again) is jax.Array
    assert again.tolist() == X.tolist()


def test_array_conversions_to_python() -> None:
    assert (float(X[1]), int(X[1]), bool(X[1]), X[1].item(), len(X)) == (1.0, 1, True, 1.0, 3)
    assert [10, 20, 30][jnp.array(1)] == 20
    with pytest.raises(TypeError):
        hash(X)


OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge"]


@pytest.mark.parametrize("name", OPERATORS)
def test_array_operators_as_under_jit(name: str) -> None:
    operate = getattr(operator, name)
    for x, y in [(X, X + 1), (X, 2.0), (2, X), (jnp.arange(3) - 1, jnp.array(2)), (jnp.float32(3), 2)]:
        eager, staged = operate(x, y), jax.jit(operate)(x, y)
        assert eager.dtype == staged.dtype
        assert np.array_equal(eager, staged, equal_nan=True)


def test_array_operators_warn_of_nothing() -> None:
    assert np.isnan((jnp.zeros(1) / jnp.zeros(1))[0])
    assert jnp.log(jnp.zeros(())) == -jnp.inf


def test_array_takes_lists_in_operators_as_under_jit() -> None:
    eager, staged = X + [1.0, 2.0, 3.0], jax.jit(lambda x: x + [1.0, 2.0, 3.0])(X)  # noqa: RUF005  # arrays
    assert eager.tolist() == staged.tolist() == [1.0, 3.0, 5.0]


def test_array_index_by_tracer() -> None:
    table = jnp.arange(4.0)
    assert jax.jit(lambda i: table[i])(2) == 2.0
    assert jax.vmap(lambda i: table[i])(jnp.array([3, 0])).tolist() == [3.0, 0.0]


def test_array_methods_of_reductions_take_keywords() -> None:
    m = jnp.arange(6.0).reshape(2, 3)
    assert m.sum(axis=0, keepdims=True).shape == (1, 3)
    assert m.max(axis=1, initial=4.0).tolist() == [4.0, 5.0]
    assert m.cumsum(axis=1)[1, 2] == 12.0
    assert m.argsort(axis=1).shape == (2, 3)


class Parameter:
    """A parameter of a model, which JAX converts to an array by ``__jax_array__``."""

    def __init__(self, value: jax.Array) -> None:
        self.value = value

    def __jax_array__(self) -> jax.Array:
        return self.value


def test_array_of_an_object_with_jax_array() -> None:
    parameter = Parameter(X)
    assert jnp.asarray(parameter).tolist() == X.tolist()
    assert jnp.sum(parameter) == X.sum()
    assert jnp.concatenate([parameter, X]).shape == (6,)
    gradient = jax.grad(lambda x: jnp.sum(jnp.sin(Parameter(x)) * X))(X)
    assert np.allclose(gradient, X * jnp.cos(X))


def test_array_functions_of_derivatives_through_jit() -> None:
    """The functions that vjp and linearize return are pytrees."""
    f_vjp = jax.jit(lambda x: jax.vjp(jnp.sin, x)[1])(X)
    (found,) = f_vjp(jnp.ones(3))
    assert isinstance(found, jax.Array)
    assert np.allclose(found, jnp.cos(X))
    (found,) = jax.jit(lambda g, ct: g(ct))(jax.vjp(jnp.sin, X)[1], jnp.ones(3))
    assert np.allclose(found, jnp.cos(X))
    assert np.allclose(jax.jit(lambda x: jax.linearize(jnp.sin, x)[1])(X)(X), X * jnp.cos(X))


def test_array_leaves_of_functions_of_derivatives() -> None:
    f_vjp = jax.vjp(jnp.sin, X)[1]
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(f_vjp))
    (found,) = jax.tree.map(lambda leaf: leaf.at[0].set(7.0), f_vjp)(jnp.ones(3))
    assert found[0] == 7.0
    for other in (copy.copy(f_vjp), copy.deepcopy(f_vjp)):
        assert other(jnp.ones(3))[0].tolist() == f_vjp(jnp.ones(3))[0].tolist()


def test_array_masked_by_numpy() -> None:
    masked = np.ma.masked_invalid(jnp.array([jnp.nan, 2.0, 1.0]))
    assert masked.max() == 2.0
    assert masked.filled(0.0).tolist() == [0.0, 2.0, 1.0]


def test_methods_of_arrays_and_tracers_agree() -> None:
    x = jnp.array([[3.0, 1.0], [2.0, 4.0]])
    for method in (
        lambda x: x.sort(),
        lambda x: x.sort(0, descending=True),
        lambda x: x.compress(jnp.array([True, False]), axis=1),
        lambda x: x.cumsum(axis=1),
        lambda x: x.sum(0, where=jnp.array([True, False])),
    ):
        assert jax.jit(method)(x).tolist() == method(x).tolist()
    assert x.compress(jnp.array([False, True]), axis=0).tolist() == [[2.0, 4.0]]


UPDATES = [name for name in vars(ops.AtIndex) if not name.startswith("_")]


@pytest.mark.parametrize("name", UPDATES)
def test_every_update_returns_an_array(name: str) -> None:
    operands = {"get": (), "apply": (jnp.sin,)}.get(name, (2.0,))
    assert type(getattr(X.at[1], name)(*operands)) is jax.Array


def test_functions_of_vectors_may_return_arrays() -> None:
    x = jnp.arange(6.0).reshape(2, 3)
    assert jnp.apply_along_axis(jnp.sum, 0, x).tolist() == [3.0, 5.0, 7.0]
    assert jnp.apply_along_axis(jnp.cumsum, 1, x).tolist() == [[0.0, 1.0, 3.0], [3.0, 7.0, 12.0]]
    assert type(jnp.apply_along_axis(jnp.sum, 0, x)) is jax.Array


def test_a_function_of_vectors_may_close_over_a_tracer() -> None:
    x = np.ones((2, 3))
    assert jax.grad(lambda s: jnp.apply_along_axis(lambda v: v.sum() * s, 0, x).sum())(2.0) == 6.0


def test_array_dot_takes_the_arguments_of_jax() -> None:
    assert X.dot(X, precision="highest") == 5.0
    assert X.dot(X, preferred_element_type=complex).dtype == np.complex128
    assert jax.jit(lambda x: x.dot(x, precision="high", preferred_element_type=float))(X) == 5.0


def test_array_methods_take_the_keywords_of_jax() -> None:
    def results(x: Any) -> tuple[Any, ...]:
        small = x.astype(jnp.int8)
        return (
            small.sum(promote_integers=False),
            small.prod(axis=0, promote_integers=False, initial=2),
            x.searchsorted(1.5, method="sort"),
            x.take(jnp.array([0, 9]), mode="fill", fill_value=7.0, unique_indices=True, indices_are_sorted=True),
        )

    for found in (results(X), jax.jit(results)(X), jax.vmap(results)(X[None])):
        assert [x.dtype.name for x in found] == ["int8", "int8", "int64", "float64"]
        assert [x.ravel().tolist() for x in found] == [[3], [0], [2], [0.0, 7.0]]


def test_index_objects_give_arrays() -> None:
    for found in (jnp.mgrid[0:3], *jnp.ogrid[0:2, 0:3], jnp.r_[1:3, X], jnp.c_[X, X]):
        assert type(found) is jax.Array
    assert jnp.mgrid[0:2, 0:1:3j].shape == (2, 2, 3)
    assert jnp.r_["0,2", X].shape == (1, 3)
    assert jax.jit(lambda x: jnp.r_[x, 1.0])(X).tolist() == [0.0, 1.0, 2.0, 1.0]


def test_isscalar_of_arrays_without_dimensions() -> None:
    assert all(map(jnp.isscalar, (3, X[0], np.float32(1), np.array(2), jnp.float32(1))))
    assert not any(map(jnp.isscalar, (X, [1], (1,))))
    assert jax.eval_shape(lambda x: x * jnp.isscalar(x), X[0]).shape == ()


def test_results_of_jaxprs_are_arrays() -> None:
    closed = jax.make_jaxpr(lambda x: x * 2.0)(X)
    for found in (
        *jax.core.eval_jaxpr(closed.jaxpr, closed.consts, X),
        *jax.extend.core.jaxpr_as_fun(closed)(np.arange(3.0)),
    ):
        assert type(found) is jax.Array


def test_results_of_compiled_programs_are_arrays() -> None:
    f = jax.jit(lambda x: {"y": x * 2.0, "none": None})
    for compiled in (f.lower(X).compile(), f.trace(X).lower().compile()):
        assert isinstance(compiled, jax.stages.Compiled)
        assert type(compiled(X)["y"]) is jax.Array
        assert compiled(np.arange(3.0))["y"].at[0].set(1.0).at[1].set(1.0).tolist() == [1.0, 1.0, 4.0]


def test_device_get_gives_plain_arrays() -> None:
    found = jax.device_get({"x": X, "y": 2.0})
    assert type(found["x"]) is np.ndarray
    assert found["y"] == 2.0


def test_gaussian_kde_attributes_are_arrays() -> None:
    estimate = jax.scipy.stats.gaussian_kde(X)
    for found in (estimate.covariance, estimate.inv_cov, estimate.dataset, estimate.weights, estimate.neff):
        assert type(found) is jax.Array
    assert jax.jit(lambda estimate: estimate.covariance)(estimate) == estimate.covariance


def test_methods_of_tracers_are_numpys_where_jax_is_imported() -> None:
    """A program of NumPy's computes the same, whether `lawful.jax` is imported or not."""
    x = np.ones(2, np.int8)
    assert staging.jit(lambda x: x.dot(2))(x).dtype == x.dot(2).dtype


def test_device_put_number() -> None:
    """A Python number yields to the dtype of an array, also on a device."""
    numbers = jax.device_put({"a": 1, "b": (2.0, 3j)})
    assert [x.weak_type for x in jax.tree.leaves(numbers)] == [True, True, True]
    assert (numbers["b"][0] * jnp.ones(2, jnp.float32)).dtype == jnp.float32
    assert not jax.device_put(np.float64(2.0)).weak_type
    assert jax.lax.while_loop(lambda i: i < 3, lambda i: jnp.int32(i + 1), jax.device_put(0)).dtype == jnp.int32
