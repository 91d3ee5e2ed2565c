"""Hand tracking: how far the skin of a posed hand is from measured points. Jacobian, in two variants.

A hand has 22 bones: the wrist, four of each of five fingers and the forearm. Bone b stands to its parent by the matrix
B_b (4 x 4, of homogeneous coordinates) and is turned by angles, A_b = A_parent(b) B_b turn(angles_b). The pose θ has 26
numbers: the rotation and the translation of the hand, and four angles of each finger, two of its second bone and one
of each that follows. A vertex of the skin at v in the hand at rest is carried along by its bones, with weights w:
Σ_b w_b A_b A⁰_b⁻¹ v.

The simple variant compares each measured point with a vertex, and its Jacobian is in θ, 3 n x 26: few columns, hence
`jacfwd`. The complicated one compares it with a place u of a triangle of vertices, where u (two barycentric
coordinates of each point) is a parameter too. Its Jacobian in u has only two entries a row, so it is found by moving
the u of all points at once, and is stored as the first two of 28 columns.

The bones and the skin are random here. Source: Taylor et al., User-specific hand modeling (2014); ADBench; GradBench.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

import lawful.numpy as np
from lawful.autodiff import jacfwd
from lawful.batching import vmap

from .objective import Objective
from .rotation import rotate

BONES = 22
SIZES = {
    "tiny": {"points": 5, "vertices": 30},
    "small": {"points": 100, "vertices": 544},
    "medium": {"points": 1600, "vertices": 544},
    "large": {"points": 25_600, "vertices": 10_000},
}
# The wrist stands to nothing; the first bone of each finger and the forearm stand to the wrist.
PARENTS = (-1, *(0 if i % 4 == 0 else i for i in range(20)), 0)


def _places_of_angles() -> Any:
    """Returns where each bone's bend, spread and twist are among the 20 angles of the fingers; 20 stands for none."""
    places = numpy.full((BONES, 3), 20)
    for finger in range(5):
        second = 4 * finger + 2
        places[second, :2] = 4 * finger, 4 * finger + 1
        places[second + 1, 0] = 4 * finger + 2
        places[second + 2, 0] = 4 * finger + 3
    return places


ANGLES = _places_of_angles()


class Hand(NamedTuple):
    """A hand at rest, and measured points.

    ``relative`` and ``inverse_absolute``, (22, 4, 4), are the bones' B and A⁰⁻¹; ``positions`` (v, 3) and ``weights``
    (v, 22) are of the vertices. Each of the ``points``, (n, 3), has three vertices, (n, 3): the ``corners`` of a
    triangle; the simple variant takes the first.
    """

    relative: Any
    inverse_absolute: Any
    positions: Any
    weights: Any
    corners: Any
    points: Any


def turn(angles: Any) -> Any:
    """Returns the 4 x 4 matrix of a rotation by three angles: bend about x, spread about z, twist about y."""
    (cx, cz, cy), (sx, sz, sy) = np.cos(angles), np.sin(angles)
    about_z = np.array([[cz, -sz, 0.0, 0.0], [sz, cz, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    about_y = np.array([[cy, 0.0, sy, 0.0], [0.0, 1.0, 0.0, 0.0], [-sy, 0.0, cy, 0.0], [0.0, 0.0, 0.0, 1.0]])
    about_x = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, cx, -sx, 0.0], [0.0, sx, cx, 0.0], [0.0, 0.0, 0.0, 1.0]])
    return about_z @ about_y @ about_x


def absolute(relative: Any) -> Any:
    """Returns the bones' A from where they stand to their parents, (22, 4, 4)."""
    chain: list[Any] = []
    for matrix, parent in zip(relative, PARENTS, strict=True):
        chain.append(matrix if parent < 0 else chain[parent] @ matrix)
    return np.stack(chain)


def skin(theta: Any, hand: Hand) -> Any:
    """Returns the vertices of the posed hand, (v, 3)."""
    angles = np.concatenate([theta[6:], np.zeros(1)])[ANGLES]
    transforms = absolute(hand.relative @ vmap(turn)(angles)) @ hand.inverse_absolute
    blended = np.einsum("vb,bij->vij", hand.weights, transforms[:, :3])
    carried = np.einsum("vij,vj->vi", blended[:, :, :3], hand.positions) + blended[:, :, 3]
    return vmap(rotate, in_axes=(None, 0))(theta[:3], carried) + theta[3:6]


def residuals(theta: Any, hand: Hand) -> Any:
    """Returns the differences of the points and their vertices, (n, 3)."""
    return hand.points - skin(theta, hand)[hand.corners[:, 0]]


def jacobian(theta: Any, hand: Hand) -> Any:
    """Returns the Jacobian in θ, (n, 3, 26)."""
    return jacfwd(residuals)(theta, hand)


def residuals_complicated(parameters: Any, hand: Hand) -> Any:
    """Returns the differences of the points and their places within triangles, (n, 3)."""
    u, theta = parameters
    barycentric = np.concatenate([u, 1.0 - np.sum(u, axis=1, keepdims=True)], axis=1)
    return hand.points - np.einsum("nc,nci->ni", barycentric, skin(theta, hand)[hand.corners])


def jacobian_complicated(parameters: Any, hand: Hand) -> Any:
    """Returns the Jacobian in each point's own u, and in θ, (n, 3, 28)."""
    u, theta = parameters

    def moved(shift: Any, theta: Any) -> Any:
        return residuals_complicated((u + shift, theta), hand)

    return np.concatenate(jacfwd(moved, argnums=(0, 1))(np.zeros(2), theta), axis=2)


def random_hand(points: int, vertices: int, rng: numpy.random.Generator) -> tuple[Any, Hand]:
    """Returns a pose, and a hand whose points are near the skin of a pose that is not far from it."""
    relative = numpy.broadcast_to(numpy.eye(4), (BONES, 4, 4)).copy()
    relative[:, :3, :3] = [turn(angles)[:3, :3] for angles in rng.normal(scale=0.3, size=(BONES, 3))]
    relative[:, :3, 3] = rng.normal(scale=0.3, size=(BONES, 3))
    at_rest = absolute(relative)
    bones = numpy.arange(vertices) % BONES
    weights = numpy.zeros((vertices, BONES))
    weights[numpy.arange(vertices), bones] = 0.5
    weights[numpy.arange(vertices), numpy.maximum(numpy.array(PARENTS)[bones], 0)] += 0.5
    positions = at_rest[bones, :3, 3] + rng.normal(scale=0.1, size=(vertices, 3))
    corners = rng.integers(vertices, size=(points, 3))
    hand = Hand(relative, numpy.linalg.inv(at_rest), positions, weights, corners, numpy.zeros((points, 3)))
    theta = rng.normal(scale=0.5, size=26)
    near = residuals(theta + rng.normal(scale=0.1, size=26), hand)
    return theta, hand._replace(points=rng.normal(scale=0.05, size=near.shape) - near)


def generate(points: int, vertices: int, seed: int) -> tuple[Any, Any]:
    """Returns the pose, (26,), and a hand."""
    return random_hand(points, vertices, numpy.random.default_rng(seed))


def generate_complicated(points: int, vertices: int, seed: int) -> tuple[Any, Any]:
    """Returns ``(u, theta)`` of shapes (n, 2) and (26,), and a hand."""
    rng = numpy.random.default_rng(seed)
    theta, hand = random_hand(points, vertices, rng)
    return (rng.dirichlet(numpy.ones(3), size=points)[:, :2], theta), hand


def along_complicated(jacobian: Any, direction: Any, hand: Hand) -> Any:
    """Returns the product of the packed Jacobian and a direction."""
    u, theta = direction
    jacobian = numpy.asarray(jacobian)
    return numpy.einsum("nic,nc->ni", jacobian[:, :, :2], u) + jacobian[:, :, 2:] @ theta


hand_tracking = Objective(
    name="hand_tracking",
    sizes=SIZES,
    generate=generate,
    value=residuals,
    derivative=jacobian,
    along=lambda derivative, direction, _: numpy.asarray(derivative) @ direction,
)
hand_tracking_complicated = Objective(
    name="hand_tracking_complicated",
    sizes=SIZES,
    generate=generate_complicated,
    value=residuals_complicated,
    derivative=jacobian_complicated,
    along=along_complicated,
)
