"""Bundle adjustment: where cameras see points, and where they should. Sparse Jacobian.

A camera is (r, c, f, u, k): a rotation as angle times axis (3 numbers), the centre (3), the focal length (1), the
principal point (2) and radial distortion (2). It sees the point X at

    u + f s q,   q = (y₁, y₂) / y₃,   y = rotate(r, X - c),   s = 1 + k₁ |q|² + k₂ |q|⁴.

Each of p observations of a point by a camera has a weight w, and gives two residuals, w times what is seen minus what
was measured, and a third one, 1 - w². Of the Jacobian's 11 n + 3 m + p columns (n cameras, m points) a row meets only
the 15 numbers of its own observation: these blocks are one `jacrev` of one observation, under `vmap`.

As in ADBench, whose sizes are those of Agarwal et al., Bundle adjustment in the large (2010), all observations are of
one camera and point; here each is shaken a little. Source: ADBench, GradBench.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

import lawful.numpy as np
from lawful.autodiff import grad, jacrev
from lawful.batching import vmap

from .objective import Objective
from .rotation import rotate

SIZES = {
    "tiny": {"n": 2, "m": 10, "p": 10},
    "small": {"n": 49, "m": 7776, "p": 31843},
    "medium": {"n": 21, "m": 11315, "p": 36455},
    "large": {"n": 1197, "m": 126327, "p": 563734},
}

# The first observation of a random instance of ADBench, on which its tests are.
CAMERA = numpy.concatenate(
    [
        [1.797201, 0.590697, -0.635786],  # rotation
        [90.859550, 29.361415, 28.777534],  # centre
        [211.628116],  # focal length
        [-0.284531, -14.762924],  # principal point
        [0.058931, 0.069976],  # distortion
    ]
)
POINT = numpy.array([4.173048, 5.586898, 1.403869])
WEIGHT = 0.417022
MEASURED = numpy.array([-525.672849, 161.811929])


class Seen(NamedTuple):
    """Which camera (p,) saw which point (p,) where (p, 2)."""

    camera: Any
    point: Any
    measured: Any


class Jacobian(NamedTuple):
    """The Jacobian's rows that are not zero elsewhere: by the camera, the point and the weight; and of 1 - w²."""

    by_camera: Any
    by_point: Any
    by_weight: Any
    of_weight: Any


def generate(n: int, m: int, p: int, seed: int) -> tuple[Any, Any]:
    """Returns ``(cameras, points, weights)`` of shapes (n, 11), (m, 3) and (p,), and what was seen."""
    rng = numpy.random.default_rng(seed)

    def shaken(x: Any, *shape: int) -> Any:
        return x * (1.0 + 1e-3 * rng.normal(size=(*shape, *numpy.shape(x))))

    i = numpy.arange(p)
    return (shaken(CAMERA, n), shaken(POINT, m), shaken(WEIGHT, p)), Seen(i % n, i % m, shaken(MEASURED, p))


def project(camera: Any, x: Any) -> Any:
    """Returns where a camera sees the point ``x``."""
    turn, centre, focal, principal, distortion = np.split(camera, [3, 6, 7, 9])
    y = rotate(turn, x - centre)
    q = y[:2] / y[2]
    square = np.sum(np.square(q))
    return principal + focal * q * (1.0 + distortion[0] * square + distortion[1] * np.square(square))


def reprojection_error(camera: Any, x: Any, weight: Any, measured: Any) -> Any:
    """Returns the two residuals of an observation."""
    return weight * (project(camera, x) - measured)


def weight_error(weight: Any) -> Any:
    """Returns the residual that keeps a weight near 1."""
    return 1.0 - np.square(weight)


def residuals(parameters: Any, seen: Seen) -> Any:
    """Returns the 3 p residuals: those of the observations, then those of the weights."""
    cameras, points, weights = parameters
    errors = vmap(reprojection_error)(cameras[seen.camera], points[seen.point], weights, seen.measured)
    return np.concatenate([np.ravel(errors), weight_error(weights)])


def jacobian(parameters: Any, seen: Seen) -> Jacobian:
    """Returns the blocks of the Jacobian, of shapes (p, 2, 11), (p, 2, 3), (p, 2) and (p,)."""
    cameras, points, weights = parameters
    of_observation = vmap(jacrev(reprojection_error, argnums=(0, 1, 2)))
    blocks = of_observation(cameras[seen.camera], points[seen.point], weights, seen.measured)
    return Jacobian(*blocks, vmap(grad(weight_error))(weights))


def sparse(blocks: Jacobian, seen: Seen, n: int, m: int) -> Any:
    """Returns the Jacobian as a sparse matrix of SciPy, with the rows and columns of ADBench."""
    from scipy.sparse import csr_array

    p = len(seen.camera)
    camera_columns = 11 * seen.camera[:, None] + numpy.arange(11)
    point_columns = 11 * n + 3 * seen.point[:, None] + numpy.arange(3)
    weight_columns = 11 * n + 3 * m + numpy.arange(p)[:, None]
    columns = numpy.concatenate([camera_columns, point_columns, weight_columns], axis=1)
    by_weight = numpy.asarray(blocks.by_weight)[..., None]
    values = numpy.concatenate([blocks.by_camera, blocks.by_point, by_weight], axis=2)
    return csr_array(
        (
            numpy.concatenate([values.ravel(), blocks.of_weight]),
            numpy.concatenate([numpy.repeat(columns, 2, axis=0).ravel(), columns[:, -1]]),
            numpy.concatenate([15 * numpy.arange(2 * p), 30 * p + numpy.arange(p + 1)]),
        ),
        shape=(3 * p, 11 * n + 3 * m + p),
    )


def along(blocks: Jacobian, direction: Any, seen: Seen) -> Any:
    """Returns the product of the Jacobian and a direction."""
    cameras, points, _ = direction
    return sparse(blocks, seen, len(cameras), len(points)) @ numpy.concatenate([numpy.ravel(v) for v in direction])


bundle_adjustment = Objective(
    name="bundle_adjustment", sizes=SIZES, generate=generate, value=residuals, derivative=jacobian, along=along
)
