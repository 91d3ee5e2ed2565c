"""The objectives of GradBench written another way, for JAX to differentiate."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp


def mixture_by_densities(parameters: Any, points: Any) -> Any:
    """The objective of `gmm` from whole covariance matrices."""
    alpha, means, q, below = parameters
    k, d = means.shape
    density, prior = 0.0, 0.0
    for component in range(k):
        entries = iter(below[component])
        root = jnp.diag(jnp.exp(q[component]))
        for column in range(d):
            for row in range(column + 1, d):
                root = root.at[row, column].set(next(entries))
        precision = root.T @ root
        density += jax.nn.softmax(alpha)[component] * jax.scipy.stats.multivariate_normal.pdf(
            points, means[component], jnp.linalg.inv(precision)
        )
        constant = -0.5 * (d + 1) * d * jnp.log(2.0) - jax.scipy.special.multigammaln(0.5 * (d + 1), d)
        prior += constant - 0.5 * jnp.trace(precision)
    return jnp.sum(jnp.log(density)) + prior


def turned(v: Any) -> Any:
    """The matrix of the rotation about an axis, as an exponential."""
    x, y, z = v
    return jax.scipy.linalg.expm(jnp.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]))


def residuals_by_observation(parameters: Any, seen: Any) -> Any:
    """The objective of `bundle_adjustment`."""
    cameras, points, weights = parameters

    def error(c: Any, point: Any, weight: Any, measured: Any) -> Any:
        y = turned(c[:3]) @ (point - c[3:6])
        square = (y[0] ** 2 + y[1] ** 2) / y[2] ** 2
        where = c[7:9] + c[6] * y[:2] / y[2] * (1.0 + c[9] * square + c[10] * square**2)
        return weight * (where - measured)

    errors = jax.vmap(error)(cameras[seen.camera], points[seen.point], weights, seen.measured)
    return jnp.concatenate([errors.ravel(), 1.0 - weights**2])


def vertices_by_bone(theta: Any, model: Any) -> Any:
    """The skin of `hand_tracking`, bone after bone from the wrist on."""
    vertices, absolute = 0.0, []
    for bone in range(22):
        finger, joint = divmod(bone - 1, 4)
        bend = spread = 0.0
        if 0 < bone < 21 and joint > 0:
            bend = theta[6 + 4 * finger + (0, 0, 2, 3)[joint]]
            spread = theta[7 + 4 * finger] if joint == 1 else 0.0
        # The columns of the matrix: what becomes of the axes, by the bend about x and then by the spread about z.
        rise, reach = jnp.sin(bend), jnp.cos(bend)
        sideways, ahead = jnp.sin(spread), jnp.cos(spread)
        x, y = (ahead, sideways, 0.0, 0.0), (-sideways * reach, ahead * reach, rise, 0.0)
        z = (sideways * rise, -ahead * rise, reach, 0.0)
        placed = model.relative[bone] @ jnp.array([x, y, z, (0.0, 0.0, 0.0, 1.0)]).T
        if bone > 0:
            placed = absolute[bone - 1 if joint > 0 else 0] @ placed
        absolute.append(placed)
        carried = (placed @ model.inverse_absolute[bone])[:3]
        vertices += model.weights[:, bone : bone + 1] * (model.positions @ carried[:, :3].T + carried[:, 3])
    return vertices @ turned(theta[:3]).T + theta[3:6]


def loss_by_character(parameters: Any, text: Any) -> Any:
    """The objective of `lstm`, one character after the other."""
    main, extra = parameters
    hidden, cell, total = list(text.state[0::2]), list(text.state[1::2]), 0.0
    for x, following in itertools.pairwise(text.bits):
        x = x * extra[0]
        for i in range(len(hidden)):
            w, v = main[2 * i].reshape(4, -1), main[2 * i + 1].reshape(4, -1)
            forget, outgate = (jax.nn.sigmoid(x * w[gate] + v[gate]) for gate in (0, 2))
            ingate, change = jax.nn.sigmoid(hidden[i] * w[1] + v[1]), jnp.tanh(hidden[i] * w[3] + v[3])
            cell[i] = cell[i] * forget + ingate * change
            x = hidden[i] = outgate * jnp.tanh(cell[i])
        y = x * extra[1] + extra[2]
        total -= following @ (y - jnp.log(2.0 + jnp.sum(jnp.exp(y))))
    return total / text.bits[1:].size


def polynomial_misfit(x: Any, t: Any) -> Any:
    """The objective of `least_squares`, by Horner's rule."""
    return 0.5 * jnp.sum((jnp.sign(t) - jnp.polyval(x[::-1], t)) ** 2)


def distances(centroids: Any, points: Any) -> Any:
    """The objective of `kmeans`, from all differences."""
    return jnp.sum(jnp.min(jnp.sum((points[:, None] - centroids) ** 2, axis=2), axis=1))


def plain_log_sum_exp(x: Any, _: Any) -> Any:
    """The objective of `logsumexp`, which overflows for large numbers."""
    return jnp.log(jnp.sum(jnp.exp(x)))
