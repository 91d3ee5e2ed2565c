"""`lawful.spatial.transform`: SciPy's rotations; compiled, batched and differentiated."""

import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.scipy.spatial.transform
import numpy as np
import pytest
from scipy.spatial.transform import Rotation as SciPyRotation
from scipy.spatial.transform import Slerp as SciPySlerp

import lawful.jax
import lawful.numpy as lnp
from lawful import laws, random, tree
from lawful.autodiff import grad, hessian
from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.spatial.transform import Rotation, Slerp
from lawful.staging import jit

from ._held import agree, compiled, held

RANDOM = np.random.default_rng(0)
#: Also none, half a turn around axes, and nearly none.
QUATERNIONS = np.concatenate(
    [RANDOM.normal(size=(6, 4)), [[0, 0, 0, 1.0], [1, 0, 0, 0], [0, -1, 0, 0], [0, 1e-9, 0, 1], [0, 1, 0, 1]]]
)
OURS, SCIPY = Rotation.from_quat(QUATERNIONS), SciPyRotation.from_quat(QUATERNIONS)
VECTORS = RANDOM.normal(size=(11, 3))
SEQUENCES = ["".join(s) for s in itertools.product("xyz", repeat=3) if s[0] != s[1] != s[2]]


@pytest.mark.parametrize("form", ["quat", "matrix", "rotvec", "mrp"])
def test_rotation_forms_are_those_of_scipy(form: str) -> None:
    for ours, theirs in ((OURS, SCIPY), (OURS[0], SCIPY[0])):
        found, expected = getattr(ours, f"as_{form}")(), getattr(theirs, f"as_{form}")()
        agree(found, expected)
        back = getattr(Rotation, f"from_{form}")(found).as_quat()
        agree(back, getattr(SciPyRotation, f"from_{form}")(expected).as_quat(), 1e-9)


def test_rotation_options_are_those_of_scipy() -> None:
    agree(OURS.as_quat(canonical=True), SCIPY.as_quat(canonical=True))
    agree(OURS.as_quat(scalar_first=True), SCIPY.as_quat(scalar_first=True))
    agree(OURS.as_rotvec(degrees=True), SCIPY.as_rotvec(degrees=True))
    vectors = np.concatenate([VECTORS, 1e-5 * VECTORS, 1e-200 * VECTORS, 0 * VECTORS, 9 * VECTORS])
    agree(Rotation.from_rotvec(vectors).as_quat(), SciPyRotation.from_rotvec(vectors).as_quat())
    agree(Rotation.from_rotvec(vectors[0], True).as_quat(), SciPyRotation.from_rotvec(vectors[0], True).as_quat())


@pytest.mark.parametrize("seq", SEQUENCES)
@pytest.mark.filterwarnings("ignore:Gimbal lock")
def test_rotation_euler_angles_are_those_of_scipy(seq: str) -> None:
    angles = RANDOM.uniform(-3, 3, (4, 3))
    for axes in (seq, seq.upper()):
        agree(OURS.as_euler(axes), SCIPY.as_euler(axes), 1e-9)
        agree(OURS[0].as_euler(axes, degrees=True), SCIPY[0].as_euler(axes, degrees=True), 1e-9)
        agree(Rotation.from_euler(axes, angles).as_quat(), SciPyRotation.from_euler(axes, angles).as_quat())
        single = Rotation.from_euler(axes, angles[0], degrees=True)
        agree(single.as_quat(), SciPyRotation.from_euler(axes, angles[0], degrees=True).as_quat())
        back = Rotation.from_euler(axes, OURS.as_euler(axes))
        np.testing.assert_allclose(back.as_matrix(), OURS.as_matrix(), atol=3e-7)


def test_rotation_euler_angles_of_fewer_axes() -> None:
    for seq, angles in (("x", 0.3), ("x", [0.3]), ("z", [[0.1], [0.2]]), ("xy", [0.1, 0.2]), ("ZX", [[0.1, 0.2]])):
        agree(Rotation.from_euler(seq, np.array(angles)).as_quat(), SciPyRotation.from_euler(seq, angles).as_quat())


def test_rotation_operations_are_those_of_scipy() -> None:
    agree(OURS.inv().as_quat(), SCIPY.inv().as_quat())
    agree(OURS.magnitude(), SCIPY.magnitude())
    for i, j in ((slice(None), slice(None, None, -1)), (0, slice(None)), (0, 1), (slice(None), 0)):
        agree((OURS[i] * OURS[j]).as_quat(), (SCIPY[i] * SCIPY[j]).as_quat())
    for vectors, inverse in itertools.product((VECTORS, VECTORS[0]), (False, True)):
        agree(OURS.apply(vectors, inverse), SCIPY.apply(vectors, inverse))
        agree(OURS[0].apply(vectors, inverse), SCIPY[0].apply(vectors, inverse))
    weights = RANDOM.uniform(0, 1, 11)
    for given in (None, weights):
        agree(OURS.mean(given).as_matrix(), SCIPY.mean(given).as_matrix())
    parts = [OURS[:2], OURS[3], OURS[1:4]]
    agree(Rotation.concatenate(parts).as_quat(), OURS.as_quat()[[0, 1, 3, 1, 2, 3]])
    assert (len(OURS), OURS.single, OURS[0].single) == (11, False, True)
    agree(Rotation.identity().as_quat(), SciPyRotation.identity().as_quat())
    agree(Rotation.identity(2).as_quat(), SciPyRotation.identity(2).as_quat())


def test_rotation_random_is_uniform() -> None:
    drawn = Rotation.random(random.key(0), 20000)
    np.testing.assert_allclose(drawn.magnitude().mean(), np.pi / 2 + 2 / np.pi, atol=0.02)
    np.testing.assert_allclose(np.mean(drawn.as_matrix(), axis=0), np.zeros((3, 3)), atol=0.02)
    assert Rotation.random(random.key(0)).single


def test_slerp_is_that_of_scipy() -> None:
    times = np.array([0.0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    ours, theirs = Slerp(times, OURS), SciPySlerp(times, SCIPY)
    for at in (np.array([0, 0.5, 1, 2.0, 8.9, 11]), np.asarray(2.2)):
        agree(ours(at).as_matrix(), theirs(at).as_matrix())
    agree(Slerp.init(times, OURS)(0.5).as_quat(), ours(0.5).as_quat())
    agree(ours.timedelta, np.diff(times))
    assert ours.rotvecs.shape == (10, 3)


CONVERTED: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "quat": (lambda q: Rotation.from_quat(q).as_matrix(), (QUATERNIONS[:3],)),
    "matrix": (lambda m: Rotation.from_matrix(m).as_quat(), (OURS.as_matrix()[:6],)),
    "rotvec": (lambda q: Rotation.from_quat(q).as_rotvec(), (QUATERNIONS[:6],)),
    "mrp": (lambda v: Rotation.from_mrp(Rotation.from_mrp(v).as_mrp()).as_matrix(), (VECTORS[:3],)),
    "euler": (lambda a: Rotation.from_euler("ZYX", a).as_euler("xyx"), (VECTORS[:2],)),
    "apply": (lambda q, v: (Rotation(q) * Rotation(q[0]).inv()).apply(v), (OURS.as_quat()[:3], VECTORS[:3])),
    "mean": (lambda q, w: Rotation(q).mean(w).as_matrix(), (OURS.as_quat()[:4], np.array([0.3, 0.5, 0.7, 0.9]))),
    "slerp": (
        lambda t, q, at: Slerp(t, Rotation.from_quat(q))(at).as_matrix(),
        (np.array([0.0, 1.0, 3.0]), QUATERNIONS[:3], np.array([0.3, 2.1])),
    ),
}


@pytest.mark.parametrize("name", [name for name in CONVERTED if name != "slerp"])
def test_rotation_derivatives_batches_and_programs(name: str) -> None:
    held(*CONVERTED[name], rtol=1e-4)


def test_slerp_derivatives_and_programs() -> None:
    function, args = CONVERTED["slerp"]
    laws.check_grads(function, args, 2, rtol=1e-4)
    for backend in ("numpy", "xla"):
        agree(jit(function, backend=backend)(*args), function(*args))


def test_rotation_derivatives_at_no_rotation() -> None:
    """Where the angle is 0, vectors along the axis are twice the vector part, to the third order."""
    weights = np.array([0.3, -0.5, 0.7])

    def there_and_back(v: Any) -> Any:
        return lnp.sum(Rotation.from_rotvec(v).as_rotvec() * weights)

    for v in (np.zeros(3), np.array([1e-9, 0, 0]), np.array([0.0999, 0, 0]), np.array([0.1001, 0, 0])):
        np.testing.assert_allclose(grad(there_and_back)(v), weights, atol=1e-12)
        np.testing.assert_allclose(hessian(there_and_back)(v), np.zeros((3, 3)), atol=1e-11)
    curvature = hessian(lambda v: Rotation.from_rotvec(v).as_matrix()[0, 0])(np.zeros(3))
    np.testing.assert_allclose(curvature, np.diag([0.0, -1.0, -1.0]), atol=1e-15)


def test_rotation_is_a_pytree() -> None:
    agree(jit(lambda r: r.inv(), backend="numpy")(OURS).as_quat(), OURS.inv().as_quat())
    assert [leaf.shape for leaf in tree.leaves(Slerp(np.arange(11.0), OURS))] == [(11,), (11, 4)]
    single = Rotation.from_rotvec(VECTORS.astype(np.float32))
    assert single.as_quat().dtype == single.as_euler("xyz").dtype == single.as_rotvec().dtype == np.float32
    assert Rotation(np.array([0, 0, 0, 1])).as_matrix().dtype == np.float64
    compiled(lambda q: Rotation(q)[1:].as_quat(canonical=True), (QUATERNIONS,), ("numpy",))


def test_rotation_of_lawful_jax_is_that_of_jax() -> None:
    ours = lawful.jax.scipy.spatial.transform
    with jax.enable_x64(True):
        theirs = jax.scipy.spatial.transform
        mine, other = (module.Rotation.from_quat(QUATERNIONS[:4]) for module in (ours, theirs))
        call = lambda r: (r * r[1]).inv().as_euler("zyx")  # noqa: E731
        assert isinstance(call(mine), lawful.jax.Array)
        np.testing.assert_allclose(call(mine), call(other), atol=1e-12)
        at = np.array([0.5, 1.0, 2.5])
        found, expected = (m.Slerp.init(np.arange(4.0), r)(at) for m, r in ((ours, mine), (theirs, other)))
        np.testing.assert_allclose(found.as_matrix(), expected.as_matrix(), atol=1e-12)
    assert type(found) is ours.Rotation


def test_rotation_refuses_wrong_arguments() -> None:
    for call in (
        lambda: Rotation(np.ones(3)),
        lambda: Rotation.from_matrix(np.ones(9)),
        lambda: Rotation.from_euler("xxy", np.ones(3)),
        lambda: Rotation.from_euler("xYz", np.ones(3)),
        lambda: Rotation.from_euler("xy", np.ones(3)),
        lambda: OURS.as_euler("xy"),
        lambda: OURS.apply(np.ones(4)),
        lambda: OURS.mean(np.ones(2)),
        lambda: Slerp(np.arange(3.0), OURS),
        lambda: Slerp(np.zeros(11), OURS),
    ):
        with pytest.raises(ArgumentValueError, match="expected"):
            call()
    for call in (lambda: len(OURS[0]), lambda: OURS[0][0], lambda: Rotation(QUATERNIONS * 1j)):
        with pytest.raises(ArgumentTypeError, match="expected"):
            call()
