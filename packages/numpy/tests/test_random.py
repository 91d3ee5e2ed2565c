"""Random numbers: known bits, moments, agreement of ways to run, and mistakes."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from lawful import ops, random
from lawful.autodiff import grad, value_and_grad
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError, IntegerOverflowError
from lawful.staging import jit

KEY = random.key(7)


def test_random_known_bits() -> None:
    """The first numbers of ``jax.random`` 0.12 for this key."""
    assert random.key(2**32 + 5).tolist() == [1, 5]
    assert random.split(random.key(0)).tolist() == [[1797259609, 2579123966], [928981903, 3453687069]]
    assert random.bits(random.key(0), (2,)).tolist() == [4070199207, 4202968722]


def test_key_of_a_traced_seed() -> None:
    for seed in (0, 7, 2**40 + 3, -1):
        np.testing.assert_array_equal(jit(random.key, backend="numpy")(np.int64(seed)), random.key(seed))


@pytest.mark.parametrize(
    ("draw", "mean", "deviation"),
    [
        (lambda key, n: random.uniform(key, (n,)), 0.5, 12**-0.5),
        (lambda key, n: random.uniform(key, (n,), minval=-1.0, maxval=3.0), 1.0, 4 * 12**-0.5),
        (lambda key, n: random.normal(key, (n,)), 0.0, 1.0),
        (lambda key, n: random.exponential(key, (n,)), 1.0, 1.0),
        (lambda key, n: random.gamma(key, 2.5, (n,)), 2.5, 2.5**0.5),
        (lambda key, n: random.gamma(key, 0.4, (n,)), 0.4, 0.4**0.5),
        (lambda key, n: random.gumbel(key, (n,)), 0.57721566, np.pi / 6**0.5),
        (lambda key, n: random.bernoulli(key, 0.25, (n,)), 0.25, 0.1875**0.5),
        (lambda key, n: random.randint(key, (n,), -5, 6), 0.0, 10**0.5),
        (lambda key, n: random.choice(key, 4, (n,), p=np.array([0.0, 0.5, 0.25, 0.25])), 1.75, 0.6875**0.5),
        (lambda key, n: random.categorical(key, np.log(np.array([0.5, 0.5])), shape=(n,)), 0.5, 0.5),
    ],
)
def test_random_mean_and_deviation(draw: Callable[[Any, int], Any], mean: float, deviation: float) -> None:
    count = 40_000
    drawn = draw(KEY, count).astype(float)
    assert abs(drawn.mean() - mean) < 5 * deviation / count**0.5
    assert abs(drawn.std() - deviation) < 0.03 * max(deviation, 1.0)


def test_random_bounds() -> None:
    drawn = random.uniform(KEY, (10_000,), "float32", -3.0, 0.5)
    assert drawn.min() >= -3.0
    assert drawn.max() < 0.5
    inside = random.truncated_normal(KEY, -0.5, 0.75, (10_000,))
    assert inside.min() > -0.5
    assert inside.max() < 0.75
    assert set(random.randint(KEY, (500,), 3, 6).tolist()) == {3, 4, 5}
    assert random.randint(KEY, (300,), 0, 256, "uint8").max() > 250


def test_permutation_has_all_elements() -> None:
    x = np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(np.sort(random.permutation(KEY, x, 1), 1), x)
    independent = random.permutation(KEY, x, 1, independent=True)
    np.testing.assert_array_equal(np.sort(independent, 1), x)
    assert sorted(random.choice(KEY, 9, (9,), replace=False).tolist()) == list(range(9))


def test_random_keys_give_different_numbers() -> None:
    drawn = [random.bits(key, (), "uint64").item() for key in random.split(KEY, 1000)]
    assert len(set(drawn)) == 1000
    assert random.fold_in(KEY, 1).tolist() != random.fold_in(KEY, 2).tolist()


def test_uniform_derivative_by_bounds() -> None:
    u = random.uniform(KEY)
    low, high = grad(lambda a, b: random.uniform(KEY, (), float, a, b), (0, 1))(2.0, 5.0)
    np.testing.assert_allclose([low, high], [1 - u, u])


def test_random_vmap_over_keys() -> None:
    batch = random.split(KEY, 3)
    each = [random.normal(key, (2,)) for key in batch]
    np.testing.assert_array_equal(vmap(lambda key: random.normal(key, (2,)))(batch), each)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: random.uniform(3), ArgumentTypeError, "uniform: expected a key, of type u32\\[2\\], got ~i64\\[\\]"),
        (lambda: random.normal(random.split(KEY)), ArgumentTypeError, "map over a batch of keys with vmap"),
        (lambda: random.uniform(KEY, (2,), "int32"), ArgumentTypeError, "expected a real floating dtype, got int32"),
        (lambda: random.bits(KEY, (2,), "int32"), ArgumentTypeError, "expected an unsigned integer dtype, got int32"),
        (lambda: random.uniform(KEY, (2.5,)), ArgumentTypeError, "expected a shape of integers, got \\(2.5,\\)"),
        (lambda: random.uniform(KEY, (-1,)), ArgumentValueError, "sizes that are not negative"),
        (lambda: random.randint(KEY, (2,), 0.0, 3), ArgumentTypeError, "expected integer bounds, got ~f64\\[\\]"),
        (lambda: random.choice(KEY, 3, (4,), replace=False), ArgumentValueError, "at most 3 choices"),
        (lambda: random.choice(KEY, 3, (4,), p=np.ones(2)), ArgumentValueError, "probabilities of shape \\(3,\\)"),
        (lambda: random.bernoulli(KEY, 1), ArgumentTypeError, "expected a real floating p"),
        (lambda: random.key(np.ones(2)), ArgumentTypeError, "expected an integer as seed, got f64\\[2\\]"),
        (lambda: random.fold_in(KEY, 0.5), ArgumentTypeError, "expected an integer as data"),
        (lambda: random.permutation(KEY, np.ones(2), 1), Exception, "axis"),
    ],
)
def test_random_errors(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("name", "args"),
    [
        *[(name, ()) for name in ("uniform", "normal", "exponential", "gumbel", "bernoulli", "bits", "split")],
        *[("truncated_normal", (-1.0, 1.0)), ("gamma", (1.0,)), ("loggamma", (1.0,)), ("randint", ((), 0, 3))],
        *[("permutation", (3,)), ("choice", (3,)), ("categorical", (np.zeros(3),)), ("fold_in", (1,))],
    ],
)
def test_random_error_seed_instead_of_key(name: str, args: tuple[Any, ...]) -> None:
    """The error of a seed in place of a key names the function that was called."""
    with pytest.raises(ArgumentTypeError, match=rf" {name}: expected a key"):
        getattr(random, name)(0, *args)


def test_gamma_derivative_keeps_the_quantile() -> None:
    a, step = 1.7, 1e-5
    x, slope = value_and_grad(lambda a: random.gamma(KEY, a))(a)
    quantile = [ops.igamma(a + h, x + h * slope) for h in (-step, step)]
    assert quantile[0] == pytest.approx(quantile[1], abs=1e-9)


def test_loggamma_does_not_underflow() -> None:
    a = 1e-4
    logs, slopes = vmap(value_and_grad(lambda a, key: random.loggamma(key, a)), (None, 0))(a, random.split(KEY, 20))
    assert np.isfinite(logs).all()
    assert logs.min() < -1000
    np.testing.assert_allclose(slopes[logs < -1000], -logs[logs < -1000] / a, rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: random.key(2**64), "key: expected a seed from"),
        (lambda: random.key(-(2**63) - 1), "key: expected a seed from"),
        (lambda: random.fold_in(KEY, 2**32), "fold_in: expected a number as data from"),
        (lambda: random.fold_in(KEY, -(2**31) - 1), "fold_in: expected a number as data from"),
    ],
)
def test_key_of_an_integer_that_does_not_fit(make: Callable[[], Any], error: str) -> None:
    """Else two seeds would have one key."""
    with pytest.raises(IntegerOverflowError, match=error):
        make()


def test_key_at_the_ends_of_64_bits() -> None:
    assert random.key(2**64 - 1).tolist() == random.key(-1).tolist() == [2**32 - 1, 2**32 - 1]
    assert random.key(-(2**63)).tolist() == [2**31, 0]
    assert random.fold_in(KEY, 2**32 - 1).tolist() == random.fold_in(KEY, -1).tolist()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_uniform_whose_width_overflows(dtype: str) -> None:
    most = float(ml_dtypes.finfo(dtype).max)
    drawn = random.uniform(KEY, (1000,), dtype, -most, most)
    scaled = drawn.astype(float) / most
    assert np.isfinite(scaled).all()
    assert abs(scaled.mean()) < 0.1
    assert scaled.min() < -0.9
    assert scaled.max() > 0.9

    def of_bounds(low: Any, high: Any) -> Any:
        return random.uniform(KEY, (1000,), dtype, low, high)

    bounds = [np.array(bound, dtype)[()] for bound in (-most, most)]
    np.testing.assert_array_equal(jit(of_bounds, backend="numpy")(*bounds), drawn)
    for bounds in (
        [np.array(bound, dtype)[()] for bound in pair] for pair in ((-1.5, 0.25), (0.0, most), (-most, 0.0))
    ):
        np.testing.assert_array_equal(jit(of_bounds, backend="numpy")(*bounds), of_bounds(*bounds))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "float8_e5m2"])
@pytest.mark.parametrize("steps", [1, 2, 3, 5])
@pytest.mark.parametrize("start", [-1.5, -1.0, 0.0, 0.25, 1.0, 3.5])
def test_uniform_is_below_the_upper_bound(start: float, steps: int, dtype: str) -> None:
    """Also where few numbers are between the bounds, and the largest numbers drawn are rounded up."""
    low, high = np.array(start, dtype)[()], np.array(start, dtype)[()]
    for _ in range(steps):
        high = np.nextafter(high, np.array(8.0, dtype)[()])

    def of_bounds(low: Any, high: Any) -> Any:
        return random.uniform(KEY, (300,), dtype, low, high)

    drawn = of_bounds(low, high)
    assert ((drawn >= low) & (drawn < high)).all()
    np.testing.assert_array_equal(jit(of_bounds, backend="numpy")(low, high), drawn)
    np.testing.assert_array_equal(jit(lambda: of_bounds(low, high), backend="numpy")(), drawn)


def test_uniform_with_bounds_in_wrong_order_is_the_lower_one() -> None:
    assert random.uniform(KEY, (3,), float, 2.0, 1.0).tolist() == [2.0] * 3
    assert random.uniform(KEY, (3,), float, 2.0, 2.0).tolist() == [2.0] * 3


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_truncated_normal_with_special_bounds(dtype: str) -> None:
    drawn = random.truncated_normal(KEY, np.array([2.0, 2.0, np.nan]), np.array([-2.0, 2.0, 1.0]), dtype=dtype)
    np.testing.assert_array_equal(drawn.astype(float), [np.nan, 2.0, np.nan])
    for low, high in ((-np.inf, np.inf), (1.0, np.inf), (-np.inf, -1.0)):
        finite = random.truncated_normal(KEY, low, high, (20_000,), dtype).astype(float)
        assert np.abs(finite).max() < 10


def test_randint_up_to_the_ends_of_64_bits() -> None:
    assert (random.randint(KEY, (100,), 0, 2**63) > 2**62).any()
    assert (random.randint(KEY, (100,), 0, 2**64, "uint64") > 2**63).any()
    drawn = random.randint(KEY, (100,), -(2**70), 2**70)
    assert (drawn < -(2**62)).any()
    assert (drawn > 2**62).any()


COMPLEX = {
    "ball": (3, 2j),
    "beta": (1j, 1.0),
    "binomial": (3, 1j),
    "chisquare": (1j,),
    "dirichlet": ([1j, 1.0],),
    "f": (1.0, 1j),
    "gamma": (1j,),
    "generalized_normal": (2j,),
    "geometric": (0.5j,),
    "loggamma": (1j,),
    "multinomial": (3, [0.5j, 0.5]),
    "multivariate_normal": ([1j, 1.0], [[1.0, 0.0], [0.0, 1.0]]),
    "poisson": (1j,),
    "t": (1j,),
    "truncated_normal": (1j, 2.0),
    "uniform": ((), float, 1j, 2.0),
    "weibull_min": (1.0, 1j),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_random_complex_parameters_are_refused(name: str) -> None:
    """They lost their imaginary part."""
    with pytest.raises(ArgumentTypeError, match="expected real parameters, got"):
        getattr(random, name)(random.key(0), *COMPLEX[name])
