"""Beyond `max_iters`, a reverse mode derivative is an error if the trip count is known, else NaN."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp, vjp
from lawful.batching import vmap
from lawful.control_flow import IterationBoundError, fori_loop, while_loop
from lawful.core import LawfulError
from lawful.custom_rules import custom_vjp
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")


def power(x: Any, n: Any, **options: Any) -> Any:
    """X to the n-th."""
    return while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * x), (0, 1.0), **options)[1]


bounded: Callable[..., Any] = partial(power, max_iters=3)


def test_max_iters_derivative_within_the_bound() -> None:
    for n in range(4):
        assert grad(bounded)(2.0, n) == n * 2.0 ** (n - 1)
        assert jit(grad(bounded))(2.0, n) == n * 2.0 ** (n - 1)


def test_max_iters_exceeded_has_value_and_forward_mode() -> None:
    assert bounded(2.0, 6) == 64.0
    assert jvp(lambda x: bounded(x, 6), (2.0,), (1.0,)) == (64.0, 192.0)
    out, pull = vjp(lambda x: bounded(x, 4), 2.0)
    assert out == 16.0
    with pytest.raises(IterationBoundError):
        pull(1.0)


def test_max_iters_exceeded_error() -> None:
    with pytest.raises(IterationBoundError, match=r"at most max_iters=3 iterations .* got 4; give a larger max_iters"):
        grad(bounded)(2.0, 4)
    assert issubclass(IterationBoundError, LawfulError)
    assert issubclass(IterationBoundError, RuntimeError)


def test_max_iters_exceeded_compiled_is_nan() -> None:
    for n in (4, 5, 100):
        assert np.isnan(jit(grad(bounded))(2.0, n))


def test_max_iters_zero() -> None:
    none = partial(power, max_iters=0)
    assert grad(none)(2.0, 0) == 0.0
    with pytest.raises(IterationBoundError, match="max_iters=0"):
        grad(none)(2.0, 1)
    assert np.isnan(jit(grad(none))(2.0, 1))


def test_max_iters_holds_per_batch_element() -> None:
    xs, ns = np.array([2.0, 2.0, 2.0]), np.array([1, 4, 3])
    expected = [1.0, np.nan, 12.0]
    np.testing.assert_array_equal(vmap(grad(bounded))(xs, ns), expected)
    np.testing.assert_array_equal(jit(vmap(grad(bounded)))(xs, ns), expected)

    def summed(xs: Any, ns: Any) -> Any:
        return ops.reduce_sum(vmap(bounded)(xs, ns), (0,))

    np.testing.assert_array_equal(jit(grad(summed))(xs, ns), expected)
    with pytest.raises(IterationBoundError, match="got 4"):
        grad(summed)(xs, ns)


def test_max_iters_exceeded_makes_shared_cotangents_nan() -> None:
    def summed(x: Any, ns: Any) -> Any:
        return ops.reduce_sum(vmap(bounded, (None, 0))(x, ns), (0,))

    assert np.isnan(jit(grad(summed))(2.0, np.array([1, 4])))
    assert jit(grad(summed))(2.0, np.array([1, 3])) == 13.0


def test_max_iters_of_fori_loop() -> None:
    def function(x: Any, n: Any) -> Any:
        return fori_loop(0, n, lambda i, y: y * x, 1.0, max_iters=3)

    assert jit(grad(function))(2.0, 3) == 12.0
    assert np.isnan(jit(grad(function))(2.0, 4))


def test_max_iters_none_reverses_any_trip_count() -> None:
    for n in (40, 600, 1000):
        np.testing.assert_allclose(jit(grad(power))(0.999, n), n * 0.999 ** (n - 1))


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_max_iters_exceeded_double_transpose_is_nan(dtype: str) -> None:
    """The transpose of a pullback with NaN is NaN too."""

    @custom_vjp
    def ruled(x: Any, n: Any) -> Any:
        return bounded(x, n)

    ruled.defvjp(
        lambda x, n: (bounded(x, n), (x, n)), lambda r, ct: (*vjp(lambda x: bounded(x, r[1]), r[0])[1](ct), None)
    )
    one, two = np.array(1, dtype), np.array(2, dtype)
    pushed = jit(lambda x, n: jvp(lambda x: ruled(x, n), (x,), (one,))[1])
    assert pushed(two, 3) == 12.0
    assert pushed(two, 3).dtype == dtype
    assert np.isnan(pushed(two, 4))


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_max_iters_keeps_infinite_cotangents(dtype: str) -> None:
    def doubled(x: Any, n: Any) -> Any:
        return while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] + s[1]), (0, x), max_iters=3)[1]

    ct = np.array(np.inf, dtype)
    pull = jit(lambda ct, n: vjp(lambda x: doubled(x, n), ct)[1](ct)[0])
    np.testing.assert_array_equal(pull(ct, 2), ct)
    assert np.isnan(pull(ct, 4))
