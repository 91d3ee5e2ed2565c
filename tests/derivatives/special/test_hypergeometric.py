"""The hypergeometric functions against mpmath, over wide domains and at numbers where formulas have poles."""

from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.special

from lawful import special
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.staging import jit

RANDOM = np.random.default_rng(0)
COUNT = 12


def uniform(*intervals: tuple[float, float]) -> list[Any]:
    return [RANDOM.uniform(*interval, COUNT) for interval in intervals]


def integers(low: int, high: int) -> Any:
    return RANDOM.integers(low, high, COUNT).astype(float)


def joined(*groups: Sequence[Any]) -> list[Any]:
    return [np.concatenate(parts) for parts in zip(*groups, strict=True)]


# Arguments of 1F1: of both signs, large, with oscillations, polynomials, asymptotic.
CONFLUENT = joined(
    uniform((0, 10), (0.1, 10), (-100, 100)),
    uniform((-20, 0), (0.1, 10), (-100, 100)),
    (integers(-20, 1), *uniform((0.1, 10), (-100, 100))),
    (integers(-8, 9), integers(1, 9), *uniform((-50, 50))),
    uniform((-5, 5), (-8, 0), (-30, 30)),
    uniform((-5, 5), (0.1, 10), (100, 700)),
    uniform((-100, 100), (0.1, 20), (-50, 50)),
    uniform((-20, 20), (20, 300), (-100, 100)),
    (*uniform((-5, 5), (0.1, 10)), -(10 ** RANDOM.uniform(2, 10, COUNT))),
    # With a large negative second parameter: with oscillations, with terms that grow again, polynomials of both kinds.
    uniform((-40, 40), (-40, 0), (-40, 40)),
    uniform((1, 40), (-150, -100), (-40, -5)),
    uniform((-30, 30), (-130, -80), (20, 60)),
    (integers(-30, 0), *uniform((-40, 0), (-60, 60))),
    (integers(-30, 30) / 8, integers(-30, 0) - 1 / 8, *uniform((-60, 60))),
)
# Of 2F1: near 1, far below 0, with integers as differences of the parameters, large, polynomials.
GAUSS = joined(
    uniform((-3, 3), (-3, 3), (0.1, 5), (-1, 1)),
    (*uniform((-3, 3), (-3, 3), (0.1, 5)), 1 - 10 ** RANDOM.uniform(-12, 0, COUNT)),
    (*uniform((-3, 3), (-3, 3), (0.1, 5)), -(10 ** RANDOM.uniform(0, 6, COUNT))),
    (integers(-6, 6), integers(-6, 6), integers(1, 6), *uniform((-5, 1))),
    (np.full(COUNT, 0.75), np.full(COUNT, 1.25), integers(1, 6), *uniform((0, 1))),
    uniform((-15, 15), (-15, 15), (0.1, 20), (-3, 1)),
    uniform((-50, 50), (-50, 50), (0.1, 50), (-1, 1)),
    uniform((-3, 3), (-3, 3), (-4, 0), (-1, 0.7)),
    (integers(-10, 1), *uniform((-3, 3), (0.1, 5), (-5, 5))),
    # With a large negative third parameter: with oscillations, with terms that grow again.
    uniform((-5, 5), (-5, 5), (-8, 0), (-3, 0.9)),
    uniform((1, 20), (1, 20), (-150, -50), (-1, 0.9)),
    # With one large parameter: a solution decays fast.
    uniform((100, 180), (-1, 1), (0.1, 5), (-30, -5)),
)
CASES = {"hyp1f1": (mp.hyp1f1, CONFLUENT), "hyp2f1": (mp.hyp2f1, GAUSS)}
POINTS = {
    "hyp1f1": [
        *((0.5, 1.5, 2.0), (1.0, 2.0, -3.0), (-2.0, 1.5, 3.0), (-2.5, 0.7, 30.0)),
        *((3.0, 1.2, -40.0), (2.0, 3.0, 100.0), (0.0, 1.0, 2.0), (1.3, 2.5, -200.0)),
        *((16.5, -9.4, -14.7), (-23.0, -15.1, 3.8), (7.6, -36.4, -12.7)),
    ],
    "hyp2f1": [
        *((0.5, 1.5, 2.0, 0.3), (1.0, 2.0, 1.5, -3.0), (-2.0, 1.5, 0.7, 0.6), (0.5, 0.7, 2.2, 0.99)),
        *((0.5, 1.0, 1.5, 0.9), (1.0, 1.0, 2.0, -50.0), (0.0, 1.0, 2.0, 0.4)),
        *((3.5, 7.2, -20.3, 0.7), (-3.4, 6.1, -8.3, -1.2)),
    ],
}


@pytest.mark.parametrize("backend", ["", "numpy", "xla"])
@pytest.mark.parametrize("name", CASES)
def test_hypergeometric_functions_have_all_digits(name: str, backend: str) -> None:
    """The error is a few ulps times one and the condition number."""
    reference, args = CASES[name]
    function = getattr(special, name)
    found = np.asarray((jit(function, backend=backend) if backend else function)(*args))
    # With 40 digits mpmath ends series before their terms grow again.
    with mp.workdps(100):
        for i, numbers in enumerate(zip(*[map(mp.mpf, x.tolist()) for x in args], strict=True)):
            wanted = reference(*numbers)
            condition = mp.mpf(1)
            for k, x in enumerate(numbers):
                moved = [y * (1 + mp.mpf(10) ** -15) if j == k else y for j, y in enumerate(numbers)]
                condition += abs(reference(*moved) - wanted) * mp.mpf(10) ** 15 if x else 0
            assert abs(found[i] - wanted) <= 4e-14 * (abs(wanted) + condition), (numbers, found[i], wanted)


@pytest.mark.parametrize("name", POINTS)
def test_hypergeometric_derivatives_by_all_arguments(name: str) -> None:
    function, (reference, _) = getattr(special, name), CASES[name]
    for point in POINTS[name]:
        n = len(point)
        for i in range(n):
            with mp.workdps(40):
                one = mp.diff(reference, point, tuple([int(j == i) for j in range(n)]), h=mp.mpf(10) ** -15)
            first = grad(function, i)(*point)
            np.testing.assert_allclose(first, float(one), rtol=1e-10)
            forward = jvp(function, point, tuple([float(j == i) for j in range(n)]))[1]
            np.testing.assert_allclose(forward, first, rtol=1e-14)
            k = (i + 1) % n
            with mp.workdps(40):
                order = tuple([int(j == i) + int(j == k) for j in range(n)])
                two = mp.diff(reference, point, order, h=mp.mpf(10) ** -12)
            np.testing.assert_allclose(grad(grad(function, i), k)(*point), float(two), rtol=1e-8)


#: Where terms of a series vanish, but not their derivatives; where a limit is as near as an argument; near 0.
VANISHING: list[tuple[str, tuple[float, ...], tuple[int, ...], float]] = [
    ("hyp1f1", (7.0, 6.0, -3.0), (0,), -0.01875685756056719),
    ("hyp1f1", (7.0, 6.0, -3.0), (1,), 0.022905779924555852),
    ("hyp1f1", (7.0, 6.0, -3.0), (0, 1), -0.0083830434131018677),
    ("hyp1f1", (7.0, 6.0, 90.0), (0,), 5.2753695944889226e40),
    ("hyp1f1", (7.0, 6.0, 90.0), (1, 1), 1.6301229920876497e41),
    ("hyp1f1", (7.0, 6.0, 90.0), (0, 2), 5.3504629144849679e40),
    ("hyp1f1", (7.0, 6.0, 1e-9), (0, 0), 2.3809523833333336e-20),
    ("hyp2f1", (0.5, 0.7, 0.9, 1e-9), (0,), 7.7777777847368419e-10),
    ("hyp2f1", (0.5, 0.7, 0.9, 1e-9), (2,), -4.3209876585940971e-10),
    ("hyp2f1", (0.5, 3.0, 0.9, 1e-9), (0, 0), 7.0175438777979438e-18),
    ("hyp2f1", (0.5, 3.0, 0.9, 1e-9), (1, 1), 4.3859649274047191e-19),
]


#: Derivatives of polynomials by a parameter that does not end the sum, and beyond their degree.
POLYNOMIALS: list[tuple[str, tuple[float, ...], tuple[int, ...], float]] = [
    ("hyp1f1", (-1.0, -3.0, 2.0), (1,), 2 / 9),
    ("hyp1f1", (0.0, 0.5, -30.0), (1,), 0.0),
    ("hyp1f1", (0.0, 1.5, 800.0), (2,), 0.0),
    ("hyp1f1", (-1.0, 1.5, 800.0), (2, 2), 0.0),
    ("hyp1f1", (-1.0, 1.5, 800.0), (1, 2), 4 / 9),
    ("hyp2f1", (-1.0, 1.5, 2.0, 3.0), (1,), -1.5),
    ("hyp2f1", (-1.0, 1.5, 2.0, 3.0), (2,), 1.125),
    ("hyp2f1", (1.5, -1.0, 2.0, 3.0), (0, 2), 0.75),
    ("hyp2f1", (-1.0, 8.5, -0.5, 0.9999), (2,), 33.9966),
    ("hyp2f1", (-1.0, -5.5, 1.5, -1e6), (1,), 2e6 / 3),
    ("hyp2f1", (-1.0, 1.0, -3.0, 0.5), (2,), 1 / 18),
    ("hyp2f1", (-1.0, -2.0, 4.0, 0.5), (0,), -0.2625),
    ("hyp2f1", (-1.0, 1.5, 2.0, 2.0), (3, 3), 0.0),
    ("hyp2f1", (1.5, -1.0, 2.0, 2.0), (3, 0), -0.5),
    ("hyp2f1", (np.nan, -1.0, 2.0, 2.0), (3, 3), np.nan),
]

#: Next to poles of the gamma function of a parameter, where the sum nearly ends, and at them.
NEAR_POLES: list[tuple[str, tuple[float, ...], tuple[int, ...], float]] = [
    ("hyp1f1", (-0.99999999, 1.5, 100.0), (0, 0, 0), -1.0894431689847669e40),
    ("hyp1f1", (-0.999999999999, 1.5, 60.0), (), -3961230920.0599507),
    ("hyp1f1", (-0.999999999999, 1.5, 60.0), (0, 0), -2.8451393695266397e22),
    ("hyp1f1", (1e-30, 1.5, 60.0), (), 1.0000002234497244),
    ("hyp1f1", (-29.999999999068677, 1.5, 640.0), (0, 0, 1), -1.5739711388409453e224),
    ("hyp1f1", (2.5, 1.5, -100.0), (1,), -9.3301461545022088e-6),
    ("hyp1f1", (2.5, 1.5, -800.0), (0, 1), 2.8902846149421098e-7),
    ("hyp1f1", (-1.0, 1.5, -800.0), (0,), -3197.7578140642862),
    ("hyp1f1", (0.0, 1.5, -800.0), (0, 0, 0), -276.14626463275698),
    ("hyp1f1", (-1.0, 1.5, 800.0), (0, 0, 0), -np.inf),
]


@pytest.mark.parametrize(("name", "point", "numbers", "wanted"), [*VANISHING, *POLYNOMIALS, *NEAR_POLES])
def test_hypergeometric_derivatives_at_special_points(
    name: str, point: tuple[float, ...], numbers: tuple[int, ...], wanted: float
) -> None:
    function = getattr(special, name)
    for number in numbers:
        function = grad(function, number)
    np.testing.assert_allclose(function(*point), wanted, rtol=1e-12)


@pytest.mark.parametrize("name", POINTS)
def test_hypergeometric_functions_transform(name: str) -> None:
    """Batched, compiled and differentiated in any order, as one by one; in the dtype of the arguments."""
    function = getattr(special, name)
    args = [np.array(x) for x in zip(*POINTS[name], strict=True)]
    last = len(args) - 1

    def slope(*args: Any) -> Any:
        return grad(function, last)(*args)

    single = [function(*point) for point in POINTS[name]]
    np.testing.assert_allclose(vmap(function)(*args), single, rtol=1e-14)
    np.testing.assert_allclose(jit(vmap(slope), backend="xla")(*args), [slope(*p) for p in POINTS[name]], rtol=1e-12)
    for k in range(len(args)):
        whole = grad(lambda *args: np.sum(function(*args)), k)(*args)
        np.testing.assert_allclose(whole, [grad(function, k)(*point) for point in POINTS[name]], rtol=1e-12)
    narrow = function(*[x.astype(np.float32) for x in args])
    assert narrow.dtype == np.float32
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(narrow, np.array(single, np.float32), rtol=1e-4)


SPECIAL: list[tuple[Callable[..., Any], tuple[float, ...], float]] = [
    (special.hyp1f1, (-1.0, -2.0, 1.0), 1.5),
    (special.hyp1f1, (-3.0, -2.0, 1.0), np.inf),
    (special.hyp1f1, (0.5, 0.0, 1.0), np.inf),
    (special.hyp1f1, (0.5, 1.5, 0.0), 1.0),
    (special.hyp1f1, (np.nan, 1.5, 0.0), np.nan),
    (special.hyp1f1, (0.5, 1.5, 800.0), np.inf),
    (special.hyp2f1, (0.5, 1.5, -1.0, 0.5), np.inf),
    (special.hyp2f1, (-1.0, 1.5, -3.0, 0.5), 1.25),
    (special.hyp2f1, (0.5, 0.5, 1.5, 1.0), np.pi / 2),
    (special.hyp2f1, (0.5, 1.5, 1.0, 1.0), np.inf),
    (special.hyp2f1, (0.5, 1.5, -0.5, 1.0), -np.inf),
    (special.hyp2f1, (0.5, 0.5, 1.5, 2.0), np.inf),
    (special.hyp2f1, (-2.0, 0.5, 1.5, 2.0), 7 / 15),
    (special.hyp2f1, (0.5, 0.5, np.nan, 0.5), np.nan),
]


@pytest.mark.parametrize(("function", "args", "expected"), SPECIAL)
def test_hypergeometric_functions_of_special_numbers(
    function: Callable[..., Any], args: tuple[float, ...], expected: float
) -> None:
    np.testing.assert_allclose(function(*args), expected, rtol=1e-14)
    np.testing.assert_allclose(jit(function, backend="xla")(*args), expected, rtol=1e-13)
    if np.isfinite(args).all():
        scipys = getattr(scipy.special, function.__name__)
        np.testing.assert_allclose(function(*args), scipys(*args), rtol=1e-13)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((-160.0, 1.5, 1e6), np.inf),
        ((-161.0, 1.5, 1e6), -np.inf),
        ((-161.0, 1.5, -1e6), np.inf),
        ((-161.0, -20.5, 1e6), np.inf),
        ((-161.0, -20.5, -1e6), -np.inf),
        ((-161.0, -200.0, -1e6), -np.inf),
        # More terms than a recurrence is used for.
        ((-30000.0, 1.5, 1e-5), 0.81166242844469128),
        ((-30000.0, 1.5, -1e-5), 1.2123481987997482),
    ],
)
def test_hyp1f1_of_long_polynomials(args: tuple[float, ...], expected: float) -> None:
    """A polynomial that overflows is infinite, with the sign of its last term: SciPy's are positive."""
    np.testing.assert_allclose(special.hyp1f1(*args), expected, rtol=1e-12)
    np.testing.assert_allclose(jit(special.hyp1f1, backend="xla")(*args), expected, rtol=1e-12)
