"""The objectives of GradBench: published values, formulas written another way, each backend, and the command."""

import dataclasses
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from lawful import tree
from lawful.autodiff import jvp, value_and_grad
from lawful.staging import jit

from . import _formulas as formulas

FOLDER = Path(__file__).parents[3] / "examples" / "gradbench"
spec = importlib.util.spec_from_file_location("gradbench", FOLDER / "__init__.py")
assert spec is not None
assert spec.loader is not None
sys.modules["gradbench"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["gradbench"])
command = importlib.import_module("gradbench.__main__")
ba, gmm, hand, lstm, rotation = (
    importlib.import_module(f"gradbench.{name}")
    for name in ("bundle_adjustment", "gmm", "hand_tracking", "lstm", "rotation")
)
checking = importlib.import_module("gradbench.objective")

HOW: dict[str, Callable[[Any], Any]] = {
    "eager": lambda f: f,
    "numpy": lambda f: jit(f, backend="numpy"),
    "xla": lambda f: jit(f, backend="xla"),
}
every_objective = pytest.mark.parametrize("name", command.OBJECTIVES)
every_way = pytest.mark.parametrize("how", HOW)


def smallest(name: str) -> tuple[Any, Any, Any]:
    """The smallest form of an objective, its parameters and its data."""
    objective = command.OBJECTIVES[name]
    return objective, *objective.generate(**objective.sizes["tiny"], seed=1)


def by_jax(f: Callable[..., Any], *args: Any) -> Any:
    """Returns JAX's result of a function in double precision."""
    with jax.enable_x64(True):
        return jax.tree.map(np.asarray, jax.jit(f)(*args))


def jacobian_and_value(f: Callable[..., Any]) -> Callable[..., Any]:
    return jax.jacfwd(lambda *args: (f(*args), f(*args)), has_aux=True)


def assert_equal_trees(found: Any, expected: Any, **tolerance: float) -> None:
    for x, y in zip(tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, **tolerance)


# Each objective by every way of running it


@every_objective
@every_way
def test_gradbench_derivative_by_differences_and_by_hand(name: str, how: str) -> None:
    objective, parameters, data = smallest(name)
    both = HOW[how](lambda *at: (objective.value(*at), objective.derivative(*at)))
    value, derivative = both(parameters, data)
    np.testing.assert_allclose(value, objective.value(parameters, data), rtol=1e-12, atol=1e-12)
    assert checking.difference_check(objective, derivative, parameters, data) < 1e-7
    if objective.by_hand is not None:
        assert_equal_trees(derivative, objective.by_hand(parameters, data), rtol=1e-11, atol=1e-11)


@every_objective
def test_gradbench_wrong_derivative_is_seen(name: str) -> None:
    objective, parameters, data = smallest(name)
    derivative = tree.map(lambda x: np.asarray(x) * (1.0 + 1e-5), objective.derivative(parameters, data))
    assert checking.difference_check(objective, derivative, parameters, data) > 1e-6
    if objective.by_hand is not None:
        assert checking.relative_error(derivative, objective.by_hand(parameters, data)) > 1e-6


def test_gradbench_error_that_is_no_number_is_not_lost() -> None:
    assert np.isnan(checking.relative_error([np.ones(2), np.array([1.0, np.nan])], [np.ones(2), np.ones(2)]))
    assert np.isnan(checking.relative_error([np.array(np.nan), np.ones(2)], [np.ones(()), np.ones(2)]))


# Published values, of ADBench's own tests (test/python/modules/common, gmm_instances/gmm1.txt, ba.txt)

GMM_PARAMETERS = (
    np.array([-0.649014, 1.181166, -0.758453]),
    np.array([[0.092339, 0.186260], [0.345561, 0.396767], [0.538817, 0.419195]]),
    np.array([[0.586443, -0.851887], [-1.509405, 0.875874], [0.166813, -1.965419]]),
    np.array([[0.800321], [-0.242790], [-1.270071]]),
)
GMM_POINTS = np.array([[1.175171, 2.029160]])
GMM_VALUE = 8.07380408004975791
GMM_GRADIENT = (
    np.array([1.08662855508652456e-01, -7.41270039523898472e-01, 6.32607184015246071e-01]),
    np.array(
        [
            [1.11692576532787013e00, 1.63333013551455269e-01],
            [-2.19989824071193142e-02, 2.27778292254236098e-01],
            [1.20963025612832187e00, -6.06375920733956339e-02],
        ]
    ),
    np.array(
        [
            [2.58529994051162237e00, 1.12632694524213789e-01],
            [7.35180573182305508e-02, 5.41836362715595232e00],
            [1.71892309775004937e00, 8.60091090790866875e-01],
        ]
    ),
    np.array([[3.85744309849611777e-01], [-3.21494409677446469e-01], [-9.94640930466322848e-01]]),
)


@every_way
def test_gradbench_published_mixture(how: str) -> None:
    def published(parameters: Any, points: Any) -> Any:
        _, _, q, below = parameters
        # ADBench subtracts the prior, where GradBench adds it.
        return gmm.log_likelihood(parameters, points) - gmm.log_prior(q, below)

    value, gradient = HOW[how](value_and_grad(published))(GMM_PARAMETERS, GMM_POINTS)
    np.testing.assert_allclose(value, GMM_VALUE, rtol=1e-13)
    assert_equal_trees(gradient, GMM_GRADIENT, rtol=1e-10, atol=1e-12)


BA_ERROR = np.array([-2.69048849235189402e-01, 2.59944792677901881e-01])
BA_WEIGHT_ERROR = 8.26092651515999976e-01
BA_ROWS = np.loadtxt(
    [
        "2.28877202208246757e+02 6.34574811495545418e+02 -7.82222866259340549e+02",
        "2.42892615607159668e+00 -1.17828079628011313e+01 2.54169312487743460e+00",
        "-1.03657084958518086e+00 4.17022e-01 0.0",
        "-3.50739521096005205e+02 -9.12107773668008576e+02 -2.42892615607159668e+00",
        "1.17828079628011313e+01 -2.54169312487743460e+00 -6.45167039712987389e-01",
        "-1.20542435994996879e+02 -3.85673240766460424e+02 9.75476291403326456e+01",
        "-1.78372108529576567e+00 4.15466799433126077e+00 2.04025718029898906e+00",
        "3.49176397433145880e-01 0.0 4.17022e-01",
        "1.18149147704414503e+02 3.07250108960343255e+02 1.78372108529576567e+00",
        "-4.15466799433126077e+00 -2.04025718029898906e+00 6.23335921553064054e-01",
    ]
).reshape(2, 15)


@every_way
def test_gradbench_published_bundle(how: str) -> None:
    parameters = (np.tile(ba.CAMERA, (2, 1)), np.tile(ba.POINT, (10, 1)), np.full(10, ba.WEIGHT))
    seen = ba.Seen(np.arange(10) % 2, np.arange(10), np.tile(ba.MEASURED, (10, 1)))
    residuals, blocks = HOW[how](lambda *at: (ba.residuals(*at), ba.jacobian(*at)))(parameters, seen)
    np.testing.assert_allclose(residuals[:20], np.tile(BA_ERROR, 10), rtol=1e-10)
    np.testing.assert_allclose(residuals[20:], np.full(10, BA_WEIGHT_ERROR), rtol=1e-14)

    jacobian = ba.sparse(blocks, seen, 2, 10)
    assert jacobian.shape == (30, 62)
    np.testing.assert_allclose(jacobian.data[:300].reshape(10, 2, 15), np.tile(BA_ROWS, (10, 1, 1)), rtol=1e-10)
    np.testing.assert_allclose(jacobian.data[300:], np.full(10, -8.34044e-01), rtol=1e-14)


# The same objectives written another way, and differentiated by JAX


GRADIENTS: dict[str, Callable[..., Any]] = {
    "gmm": formulas.mixture_by_densities,
    "lstm": formulas.loss_by_character,
    "logsumexp": formulas.plain_log_sum_exp,
    "least_squares": formulas.polynomial_misfit,
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradbench_gradients_are_those_of_another_formula(name: str) -> None:
    objective, parameters, data = smallest(name)
    if name == "lstm":  # unrolled, it takes JAX long
        data = data._replace(bits=data.bits[:4])
    value, gradient = by_jax(jax.value_and_grad(GRADIENTS[name]), parameters, data)
    np.testing.assert_allclose(objective.value(parameters, data), value, rtol=1e-12)
    assert_equal_trees(objective.derivative(parameters, data), gradient, rtol=1e-9, atol=1e-12)


def test_gradbench_kmeans_derivatives_by_another_formula() -> None:
    _, centroids, points = smallest("kmeans")
    gradient = by_jax(jax.grad(formulas.distances), centroids, points)
    hessian = by_jax(jax.hessian(formulas.distances), centroids, points).reshape(centroids.size, -1)
    np.testing.assert_array_equal(hessian, np.diag(np.diag(hessian)))
    found = command.OBJECTIVES["kmeans"].derivative(centroids, points)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.hessian, np.diag(hessian).reshape(centroids.shape), rtol=1e-14)
    np.testing.assert_allclose(found.direction, gradient / np.diag(hessian).reshape(centroids.shape), atol=1e-12)


def test_gradbench_jacobian_of_bundle_is_that_of_another_formula() -> None:
    _, parameters, seen = smallest("bundle_adjustment")
    blocks, value = by_jax(jacobian_and_value(formulas.residuals_by_observation), parameters, seen)
    np.testing.assert_allclose(ba.residuals(parameters, seen), value, rtol=1e-10)
    found = ba.sparse(ba.jacobian(parameters, seen), seen, 2, 10).toarray()
    np.testing.assert_allclose(found, np.hstack([block.reshape(30, -1) for block in blocks]), rtol=1e-8, atol=1e-9)


def test_gradbench_hand_jacobians_by_another_formula() -> None:
    _, theta, model = smallest("hand_tracking")
    of_vertices, vertices = by_jax(jacobian_and_value(formulas.vertices_by_bone), theta, model)
    chosen = model.corners[:, 0]
    np.testing.assert_allclose(hand.residuals(theta, model), model.points - vertices[chosen], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(hand.jacobian(theta, model), -of_vertices[chosen], rtol=1e-9, atol=1e-11)

    u = np.random.default_rng(1).uniform(size=(len(chosen), 2))
    first, second, third = (vertices[model.corners[:, i]] for i in range(3))
    within = u[:, :1] * first + u[:, 1:] * second + (1.0 - u.sum(axis=1, keepdims=True)) * third
    np.testing.assert_allclose(hand.residuals_complicated((u, theta), model), model.points - within, atol=1e-12)
    found = hand.jacobian_complicated((u, theta), model)
    np.testing.assert_allclose(found[:, :, 0], third - first, atol=1e-12)
    np.testing.assert_allclose(found[:, :, 1], third - second, atol=1e-12)
    barycentric = np.c_[u, 1.0 - u.sum(axis=1)]
    in_theta = np.einsum("nc,ncit->nit", barycentric, of_vertices[model.corners])
    np.testing.assert_allclose(found[:, :, 2:], -in_theta, rtol=1e-9, atol=1e-11)


@every_way
def test_gradbench_ode_is_exact_for_low_degrees(how: str) -> None:
    objective, x, steps = smallest("ode")
    components = importlib.import_module("gradbench.ode").components
    factorials = np.cumprod(np.arange(1, 5))
    exact = np.cumprod(x) * 2.0 ** np.arange(1, 5) / factorials
    np.testing.assert_allclose(HOW[how](components)(x, steps), exact, rtol=1e-13)
    # Component i has the factor x_k for each k up to i.
    gradient = [np.sum(exact[k:]) / x[k] for k in range(4)]
    np.testing.assert_allclose(HOW[how](objective.derivative)(x, steps), gradient, rtol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_gradbench_determinant_is_that_of_numpy(n: int) -> None:
    objective = command.OBJECTIVES["determinant"]
    a, data = objective.generate(n=n, seed=2)
    np.testing.assert_allclose(objective.value(a, data), np.linalg.det(a), rtol=1e-13)
    np.testing.assert_allclose(objective.derivative(a, data), objective.by_hand(a, data), rtol=1e-12)


# Rotations, texts, the command


def test_gradbench_rotation_by_nothing_has_its_derivative() -> None:
    v, x = np.array([0.3, -0.2, 0.5]), np.array([1.0, 2.0, -1.0])
    np.testing.assert_allclose(jvp(lambda v: rotation.rotate(v, x), (0.0 * v,), (v,))[1], np.cross(v, x), rtol=1e-14)
    np.testing.assert_allclose(rotation.rotate(1e-9 * v, x), x + 1e-9 * np.cross(v, x), rtol=1e-14)
    np.testing.assert_allclose(rotation.rotate(np.array([0.0, 0.0, np.pi / 2]), x), [-2.0, 1.0, -1.0], rtol=1e-14)


def test_gradbench_bits_of_a_text() -> None:
    bits = lstm.bits_of("a\u2019")
    assert bits.shape == (2, 14)
    assert [int("".join(str(int(bit)) for bit in row), 2) for row in bits] == [ord("a"), 0x2019]


def test_gradbench_command_measures(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["kmeans", "logsumexp", "--size", "tiny", "--backend", "numpy"]) == 0
    assert command.main(["least_squares", "--size", "tiny", "--eager"]) == 0
    out = capsys.readouterr().out
    assert "k=5 n=100 d=3" in out
    assert "eager" in out


def test_gradbench_command_reports_a_wrong_derivative(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = command.OBJECTIVES["logsumexp"]
    wrong = dataclasses.replace(right, derivative=lambda x, data: 1.001 * right.derivative(x, data))
    monkeypatch.setitem(command.OBJECTIVES, "logsumexp", wrong)
    assert command.main(["logsumexp", "--size", "tiny", "--eager"]) == 1
    assert "logsumexp, n=20: expected errors below 1e-06" in capsys.readouterr().out


def test_gradbench_unknown_objective_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["gm"])
    assert "objective: expected some of gmm, bundle_adjustment" in capsys.readouterr().err
