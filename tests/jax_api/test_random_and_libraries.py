"""Random numbers, segments, optimizers and layers of `lawful.jax`, beside JAX."""

from typing import Any

import jax
import jax.example_libraries.optimizers as jax_optimizers
import jax.example_libraries.stax as jax_stax
import numpy as np
import pytest

import lawful.jax as ljax
from lawful import control_flow, custom_rules, random
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.jax import lax
from lawful.jax.example_libraries import optimizers, stax
from lawful.numpy import _raveling, _segments
from lawful.staging import jit

A = np.array([0.5, 2.0, 3.0])
COVARIANCE = np.array([[2.0, 0.5], [0.5, 1.0]])
DISTRIBUTIONS: dict[str, tuple[Any, ...]] = {
    "ball": (3, 2, (4,)),
    "beta": (A, 1.5, (4, 3)),
    "cauchy": ((4,),),
    "chisquare": (A,),
    "dirichlet": (A, (2,)),
    "double_sided_maxwell": (1.0, 2.0, (3,)),
    "f": (3.0, 4.0, (5,)),
    "generalized_normal": (1.5, (4,)),
    "geometric": (0.3, (6,)),
    "laplace": ((4,),),
    "logistic": ((4,),),
    "lognormal": (0.5, (3,)),
    "maxwell": ((3,),),
    "multivariate_normal": (np.zeros(2), COVARIANCE, (3,)),
    "orthogonal": (3, (2,)),
    "pareto": (A,),
    "rademacher": ((5,),),
    "rayleigh": (2.0, (4,)),
    "t": (3.0, (4,)),
    "triangular": (0.0, 1.0, 3.0, (4,)),
    "wald": (2.0, (4,)),
    "weibull_min": (2.0, 1.5, (4,)),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_random_gives_the_numbers_of_jax(name: str) -> None:
    ours = getattr(random, name)(random.key(5), *DISTRIBUTIONS[name])
    # One program: to compile op by op takes longer.
    theirs = jax.jit(lambda key: getattr(jax.random, name)(key, *DISTRIBUTIONS[name]))(jax.random.PRNGKey(5))
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("multivariate_normal", (np.zeros(2, np.float32), COVARIANCE.astype(np.float32))),
        ("multivariate_normal", (np.zeros(2, np.float32), COVARIANCE)),
        ("multivariate_normal", (np.zeros(2, int), np.eye(2, dtype=int))),
        ("geometric", (np.array([0.3, 0.9], np.float32), (20, 2))),
        ("geometric", (np.array([0.3, 0.9], np.float16), (20, 2))),
    ],
)
def test_random_takes_the_dtype_of_parameters(name: str, parameters: tuple[Any, ...]) -> None:
    ours = getattr(random, name)(random.key(5), *parameters)
    theirs = np.asarray(getattr(jax.random, name)(jax.random.PRNGKey(5), *parameters))
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=2e-6)


@pytest.mark.parametrize("name", ["segment_sum", "segment_prod", "segment_max", "segment_min"])
def test_segment_reductions_agree_with_jax(name: str) -> None:
    ids, data = np.array([0, 2, 2, 5, 0]), np.arange(10.0).reshape(5, 2) - 3.0

    def ours(x: Any) -> Any:
        return getattr(_segments, name)(x, ids, 4)

    def theirs(x: Any) -> Any:
        return getattr(jax.ops, name)(x, ids, 4)

    expected = np.asarray(theirs(data))
    assert np.array_equal(ours(data), expected)
    assert np.array_equal(jit(ours)(data), expected)
    assert np.array_equal(vmap(ours)(np.stack([data, data]))[1], expected)
    if name in ("segment_sum", "segment_max"):
        weights = np.arange(8.0).reshape(4, 2)
        finite = np.isfinite(expected)
        found = grad(lambda x: ljax.numpy.sum(ljax.numpy.where(finite, ours(x), 0.0) * weights))(data)
        wanted = jax.grad(lambda x: jax.numpy.sum(jax.numpy.where(finite, theirs(x), 0.0) * weights))(data)
        np.testing.assert_allclose(found, np.asarray(wanted))


def test_ravel_pytree_differentiates_and_restores() -> None:
    tree = {"w": np.ones((2, 2), np.float32), "b": 3.0}
    vector, unravel = _raveling.ravel_pytree(tree)
    assert vector.dtype == np.float64
    assert unravel(vector)["w"].dtype == np.float32
    assert grad(lambda v: unravel(v)["b"] ** 2)(vector)[0] == 6.0
    with pytest.raises(ValueError, match="expected a vector of 5 elements"):
        unravel(vector[:2])


def test_custom_gradient_has_the_given_cotangent() -> None:
    def clipped(x: Any) -> Any:
        return x * x, lambda ct: ct * 7.0 * x

    f = custom_rules.custom_gradient(clipped)
    assert f(3.0) == 9.0
    assert grad(f)(3.0) == jit(grad(f))(3.0) == vmap(grad(f))(np.array([3.0]))[0] == 21.0


def test_sequential_vmap_is_the_loop() -> None:
    f = control_flow.sequential_vmap(lambda x, y: x * y)
    assert vmap(f, in_axes=(0, None))(np.arange(3.0), 2.0).tolist() == [0.0, 2.0, 4.0]


OPTIMIZERS: dict[str, tuple[float, ...]] = {
    "sgd": (0.1,),
    "momentum": (0.1, 0.9),
    "nesterov": (0.1, 0.9),
    "adagrad": (0.1,),
    "rmsprop": (0.1,),
    "rmsprop_momentum": (0.1,),
    "adam": (0.1,),
    "adamax": (0.1,),
    "sm3": (0.1,),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer_takes_the_steps_of_jax(name: str) -> None:
    start = {"a": np.array([[1.0, -2.0]]), "b": [np.array(3.0)]}
    results = []
    for library, lib in ((optimizers, ljax), (jax_optimizers, jax)):
        init, update, get_params = getattr(library, name)(*OPTIMIZERS[name])
        state = init(lib.tree.map(lib.numpy.asarray, start))
        for i in range(3):
            state = update(i, lib.tree.map(lambda x: 2 * x + 1, get_params(state)), state)
        results.append(lib.tree.leaves(get_params(state)))
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, np.asarray(theirs), rtol=1e-12)


def test_optimizer_state_passes_through_jit() -> None:
    init, update, get_params = optimizers.adam(optimizers.exponential_decay(0.1, 10, 0.5))
    state = init({"a": ljax.numpy.ones(2)})
    stepped = ljax.jit(lambda i, s: update(i, get_params(s), s))(0, state)
    again = optimizers.pack_optimizer_state(optimizers.unpack_optimizer_state(stepped))
    np.testing.assert_allclose(get_params(again)["a"], 0.9)


@pytest.mark.parametrize(
    ("letters", "window", "strides", "padding", "shape"),
    [
        (("NHWC", "HWIO", "NHWC"), (3, 3), (2, 2), "SAME", (1, 5, 5, 2)),
        (("NCH", "HIO", "NHC"), (3,), (2,), "VALID", (2, 3, 5)),
        (("NHWC", "HWIO", "NHWC"), (3, 2), None, "VALID", (1, 4, 5, 2)),
    ],
)
def test_stax_transposed_convolution(letters: Any, window: Any, strides: Any, padding: str, shape: Any) -> None:
    layers = [library.GeneralConvTranspose(letters, 4, window, strides, padding) for library in (stax, jax_stax)]
    (init, apply), (jax_init, jax_apply) = layers
    out_shape, params = init(random.key(0), shape)
    expected_shape, expected_params = jax_init(jax.random.key(0), shape)
    assert out_shape == expected_shape
    assert [np.shape(x) for x in params] == [np.shape(x) for x in expected_params]
    x = np.arange(float(np.prod(shape))).reshape(shape)
    found = apply([np.asarray(p) for p in expected_params], x)
    np.testing.assert_allclose(found, jax_apply(expected_params, x), rtol=1e-5)


def test_lax_permutations_and_shapes_as_values() -> None:
    for letters in (("NHWC", "HWIO", "NHWC"), ("CN0", "IO0", "NC0"), ("NCHW", "OIWH", "NCHW")):
        assert lax.conv_general_permutations(letters) == jax.lax.conv_general_permutations(letters)
    for wrong in (("NCHW", "OIHW", "NCH"), ("NCHH", "OIHW", "NCHW"), ("NCHW", "OXHW", "NCHW")):
        with pytest.raises(TypeError, match="dimension_numbers"):
            lax.conv_general_permutations(wrong)
    found, expected = lax.shape_as_value((2, 3)), jax.lax.shape_as_value((2, 3))
    assert (found.tolist(), found.dtype) == (expected.tolist(), expected.dtype)
    assert type(lax.conv_dimension_numbers((1,) * 3, (1,) * 3, None)) in lax.ConvGeneralDilatedDimensionNumbers.__args__


def test_stax_layers_have_the_shapes_they_say() -> None:
    init, apply = stax.serial(
        *(
            stax.Conv(4, (3, 3), padding="SAME"),
            stax.BatchNorm(),
            stax.Relu,
            stax.MaxPool((2, 2)),
            stax.AvgPool((2, 2)),
        ),
        *(stax.Flatten, stax.FanOut(2), stax.parallel(stax.Dense(3), stax.Identity), stax.FanInConcat(), stax.Dense(2)),
    )
    shape, params = init(ljax.random.key(0), (-1, 8, 8, 3))
    assert shape == (-1, 2)
    assert apply(params, np.ones((2, 8, 8, 3))).shape == (2, 2)
